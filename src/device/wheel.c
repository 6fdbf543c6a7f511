// SPDX-License-Identifier: Apache-2.0
/*
 * wheel.c — a reaction wheel on a node.
 *
 * State: h, the wheel's angular momentum along its axis a, the turning of the body included: h = I (speed + a.w). Then
 *   h' = tau,  on the body: -tau a - w x (h a)
 * hold without the acceleration of the body, and exactly, if the body's inertia lacks I about the axis. tau is that of
 * the motor, within its limits, less the drag of the bearing. The wheel keeps h^2/(2 I); the motor supplies tau speed.
 */
#include "device/device.h"
#include "device/device_type.h"
#include "device/load_component.h"

extern const DeviceType wheel_type;

typedef struct Wheel {
	CalWheelDef def; // axis of length one
	LoadComponent *torque;
	CalNodeRef at;
} Wheel;

static int wheel_bind(const CalDevice *device, const CalEvalContext *context) {
	Wheel *s = device->data;
	return bind_node(context, s->def.node, &s->at) != 0 ? -1 : load_component_bind(s->torque, context);
}

typedef struct Spin {
	CalPose pose;
	CalVec3 axis, w; // world axes
	double h, speed;
	double motor, drag; // torques on the wheel
} Spin;

static double motor_of(const CalWheelDef *def, double torque, double speed) {
	return def->max_speed > 0 && fabs(speed) >= def->max_speed && torque * speed > 0 ? 0 : torque;
}

/* Without its motor. */
static Spin spin_of(const CalDevice *device, CalEvalContext *context, double h) {
	const Wheel *s = device->data;
	CalSpatial v;
	Spin spin = {.h = h};
	cal_context_node_motion(context, s->at, &spin.pose, &v);
	spin.w = v.angular;
	spin.axis = v_turn(&spin.pose.R, s->def.axis);
	spin.speed = h / s->def.inertia - v_dot(spin.axis, spin.w);
	spin.drag = -s->def.drag * spin.speed;
	return spin;
}

/* Nonzero: its torque has no value. */
static int driven_spin(const CalDevice *device, CalEvalContext *context, Spin *spin) {
	const Wheel *s = device->data;
	double torque;
	*spin = spin_of(device, context, device->x[0]);
	if (load_component_value(device, s->torque, context, &torque) != 0)
		return 1;
	spin->motor = motor_of(&s->def, torque, spin->speed);
	return 0;
}

static int wheel_start(const CalDevice *device, CalEvalContext *context, double *x) {
	const Wheel *s = device->data;
	const Spin spin = spin_of(device, context, 0);
	x[0] = s->def.inertia * (s->def.speed + v_dot(spin.axis, spin.w));
	return 0;
}

static int wheel_evaluate(const CalDevice *device, CalEvalContext *context, double *xdot) {
	const Wheel *s = device->data;
	Spin spin;
	if (driven_spin(device, context, &spin) != 0)
		return 1;
	load_component_doubt_peaks(device, s->torque, context, INFINITY);
	const double torque = spin.motor + spin.drag;
	const CalVec3 h = v_scale(spin.h, spin.axis);
	xdot[0] = torque;
	cal_context_apply_wrench(
		context, s->at, CAL_FRAME_WORLD,
		(CalSpatial){.angular = v_scale(-1, v_add(v_scale(torque, spin.axis), v_cross(spin.w, h)))});
	cal_context_add_stored_energy(context, 0.5 * spin.h * spin.h / s->def.inertia);
	cal_context_add_supplied_power(context, spin.motor * spin.speed);
	cal_context_add_dissipated_power(context, -spin.drag * spin.speed);
	cal_context_add_momentum(context, (CalVec3){0, 0, 0}, h);
	return 0;
}

/* Values beyond the limits of a table's torque, where it bends; a formula is clipped within itself, and its kinks follow. */
static bool is_clipped_table(const Wheel *s) { return s->def.max_torque > 0 && !s->torque->formula; }

/* The greatest speed is none: with drag the motor switches on and off. */
static int wheel_values(const CalDevice *device, CalEvalContext *context, double *value) {
	const Wheel *s = device->data;
	if (!is_clipped_table(s))
		return load_component_kinks(s->torque, context, value);
	const double wanted = table_at(device, &s->torque->table, cal_context_time(context)).value;
	value[0] = beyond(wanted, s->def.max_torque);
	value[1] = beyond(wanted, -s->def.max_torque);
	return 0;
}

static int wheel_outlook(const CalDevice *device, CalEvalContext *context, CalLookahead *lookahead) {
	const Wheel *s = device->data;
	Table *table = &s->torque->table;
	double value[2], bend, ignored;
	load_component_lookahead(s->torque, context, lookahead);
	if (!is_clipped_table(s))
		return 0;
	const double t = cal_context_time(context), rate = table_at(device, table, t).rate;
	wheel_values(device, context, value);
	table_ahead(device, table, t, lookahead->horizon, &bend, &ignored);
	for (int i = 0; i < 2; i++)
		if (value[i] != 0)
			lookahead->event_free = fmin(lookahead->event_free, keeps_sign(value[i], rate, bend));
	return 0;
}

static const char *wheel_value_text(const CalDevice *device, int event) {
	const Wheel *s = device->data;
	return is_clipped_table(s) ? "torque limit" : load_component_kink_text(s->torque, event);
}

static double wheel_next_switch(const CalDevice *device, double t) {
	return load_component_next_switch(device, ((const Wheel *)device->data)->torque, t);
}

static int wheel_outputs(const CalDevice *device, CalEvalContext *context, double *output) {
	Spin spin;
	if (driven_spin(device, context, &spin) != 0)
		return 1;
	output[0] = spin.speed;
	output[1] = spin.h;
	output[2] = spin.motor;
	return 0;
}

static void wheel_destroy(void *data) { load_component_destroy(((Wheel *)data)->torque); }

/* A formula may read anything. */
static int wheel_nodes(const CalDevice *device, CalNodeRef *node_refs) {
	const Wheel *s = device->data;
	node_refs[0] = s->at;
	return !s->torque->formula;
}

/* The torque too, unless it is a table or a formula. */
static double *wheel_parameter(const CalDevice *device, int index, CalDeviceParameter *about) {
	enum { OF_TABLE = 2 };
	Wheel *s = device->data;
	return index == OF_TABLE ? load_component_parameter(s->torque, "N m", about)
	                         : device_parameter(&wheel_type, &s->def, DOF_KIND_TURNS, index, about);
}

static const char *const names[] = {"speed", "momentum", "torque"}, *const units[] = {"rad/s", "N m s", "N m"};
static const CalDeviceOps ops = {.type = "wheel",
                                 .bind = wheel_bind,
                                 .start = wheel_start,
                                 .evaluate = wheel_evaluate,
                                 .values = wheel_values,
                                 .lookahead = wheel_outlook,
                                 .value_text = wheel_value_text,
                                 .outputs = wheel_outputs,
                                 .nodes = wheel_nodes,
                                 .parameter = wheel_parameter,
                                 .next_switch = wheel_next_switch,
                                 .destroy = wheel_destroy,
                                 .output_count = 3,
                                 .output_names = names,
                                 .output_units = units};

CalStatus cal_sim_add_wheel(CalSim *sim, const CalWheelDef *def, int *device, CalError *error) {
	if (!sim || !def)
		return error_null(error, __func__, "sim or def");
	DeviceBuilder d = device_builder(sim, &ops, def->name, def->place, error);
	Wheel data = {.def = *def};
	data.def.axis = v_unit(def->axis, (CalVec3){0, 0, 1});
	device_check(&d, isfinite(def->inertia) && def->inertia > 0, "inertia is %g; give one above zero", def->inertia);
	device_check(&d, isfinite(def->speed), "the speed at the start is not finite");
	device_not_negative(&d, "max torque", def->max_torque);
	device_not_negative(&d, "max speed", def->max_speed);
	device_not_negative(&d, "drag", def->drag);
	const double most = def->max_torque > 0 ? def->max_torque : INFINITY;
	data.torque = load_component_create(&d, "torque", &def->torque, -most, most);
	if (d.status == CAL_OK && is_clipped_table(&data))
		d.def.event_count = 2;
	d.def.nx = 1;
	d.def.wrench_count = 1;
	return load_component_add_device(&d, &data, sizeof data, data.torque, device);
}

/* ---- in files ----------------------------------------------------------------------------------- */

#define AT(member) offsetof(CalWheelDef, member)
static const Field fields[] = {
	DEVICE_FIELDS(CalWheelDef),
	{"node", FIELD_NODE, AT(node), .flags = FIELD_REQUIRED, .doc = "that carries it"},
	{"axis", FIELD_AXIS, AT(axis), .doc = "in the node; default `z`"},
	{"inertia", FIELD_NUMBER, AT(inertia), DIM_INERTIA, .flags = FIELD_REQUIRED | FIELD_TUNED_ABOVE_0,
     .doc = "about the axis, > 0"},
	{"speed", FIELD_NUMBER, AT(speed), DIM_RATE, .doc = "at the start, relative to the body; default 0"},
	{"torque", FIELD_LOAD_VALUE, AT(torque), DIM_TORQUE, .doc = "of the motor on the wheel; default 0"},
	{"max_torque", FIELD_NUMBER, AT(max_torque), DIM_TORQUE, .doc = "default none"},
	{"max_speed", FIELD_NUMBER, AT(max_speed), DIM_RATE,
     .doc = "beyond it the motor does not accelerate the wheel further; default none"},
	{"drag", FIELD_NUMBER, AT(drag), DIM_ANGULAR_DAMPING, .flags = FIELD_TUNED_FROM_0,
     .doc = "of the bearing; default 0"},
};
#undef AT
static const CalWheelDef start = {.torque.table.shape = CAL_TABLE_LINEAR};
DEVICE_ADD(add_wheel, CalWheelDef, cal_sim_add_wheel)

const DeviceType wheel_type = {
	.table = {FIELDS("wheel", fields),
              .doc = "A reaction wheel. Its mass and its inertia perpendicular to the axis belong to the body, its "
                     "inertia about the axis does not."},
	DEVICE_DEF(CalWheelDef),
	.add = add_wheel,
	.ops = &ops,
	.start = &start};
