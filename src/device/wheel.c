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

typedef struct Wheel {
	CalWheelDef def; // axis of length one
	Table torque;
	CalNodeRef at;
} Wheel;

static int wheel_bind(const CalDevice *device, const CalEvalContext *context) {
	Wheel *s = device->data;
	return bind_node(context, s->def.node, &s->at);
}

typedef struct Spin {
	CalPose pose;
	CalVec3 axis, w; // world axes
	double h, speed;
	double motor, drag; // torques on the wheel
} Spin;

static double motor_of(const CalWheelDef *def, double wanted, double speed) {
	const double torque = def->max_torque > 0 ? fmin(fmax(wanted, -def->max_torque), def->max_torque) : wanted;
	return def->max_speed > 0 && fabs(speed) >= def->max_speed && torque * speed > 0 ? 0 : torque;
}

static Spin spin_of(const CalDevice *device, CalEvalContext *context, double h) {
	const Wheel *s = device->data;
	CalSpatial v;
	Spin spin = {.h = h};
	cal_context_node_motion(context, s->at, &spin.pose, &v);
	spin.w = v.angular;
	spin.axis = v_turn(&spin.pose.R, s->def.axis);
	spin.speed = h / s->def.inertia - v_dot(spin.axis, spin.w);
	spin.motor = motor_of(&s->def, table_at(device, s->torque, cal_context_time(context)).value, spin.speed);
	spin.drag = -s->def.drag * spin.speed;
	return spin;
}

static int wheel_start(const CalDevice *device, CalEvalContext *context, double *x) {
	const Wheel *s = device->data;
	const Spin spin = spin_of(device, context, 0);
	x[0] = s->def.inertia * (s->def.speed + v_dot(spin.axis, spin.w));
	return 0;
}

static int wheel_evaluate(const CalDevice *device, CalEvalContext *context, double *xdot) {
	const Wheel *s = device->data;
	const Spin spin = spin_of(device, context, device->x[0]);
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

/* Beyond the limits of the torque, where it bends. The greatest speed is none: with drag the motor switches on and off. */
static int wheel_values(const CalDevice *device, CalEvalContext *context, double *value) {
	const Wheel *s = device->data;
	const double wanted = table_at(device, s->torque, cal_context_time(context)).value;
	value[0] = beyond(wanted, s->def.max_torque);
	value[1] = beyond(wanted, -s->def.max_torque);
	return 0;
}

static int wheel_outlook(const CalDevice *device, CalEvalContext *context, CalLookahead *lookahead) {
	const Wheel *s = device->data;
	const double t = cal_context_time(context), rate = table_at(device, s->torque, t).rate;
	double value[2], bend, ignored;
	if (!(s->def.max_torque > 0))
		return 0;
	wheel_values(device, context, value);
	table_ahead(device, s->torque, t, lookahead->horizon, &bend, &ignored);
	for (int i = 0; i < 2; i++)
		if (value[i] != 0)
			lookahead->event_free = fmin(lookahead->event_free, keeps_sign(value[i], rate, bend));
	return 0;
}

static const char *wheel_value_text(const CalDevice *device, int event) {
	(void)device;
	(void)event;
	return "torque limit";
}

static double wheel_next_switch(const CalDevice *device, double t) {
	return table_next_switch(device, ((const Wheel *)device->data)->torque, t);
}

static int wheel_outputs(const CalDevice *device, CalEvalContext *context, double *output) {
	const Spin spin = spin_of(device, context, device->x[0]);
	output[0] = spin.speed;
	output[1] = spin.h;
	output[2] = spin.motor;
	return 0;
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
                                 .next_switch = wheel_next_switch,
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
	data.torque = device_table(&d, "torque", &def->torque);
	d.def.nx = 1;
	d.def.event_count = def->max_torque > 0 ? 2 : 0;
	d.def.wrench_count = 1;
	return device_add(&d, &data, sizeof data, device);
}

/* ---- in files ----------------------------------------------------------------------------------- */

#define AT(member) offsetof(CalWheelDef, member)
static const Field fields[] = {
	DEVICE_FIELDS(CalWheelDef),
	{"node", FIELD_NODE, AT(node), .flags = FIELD_REQUIRED, .doc = "that carries it"},
	{"axis", FIELD_AXIS, AT(axis), .doc = "in the node; default `z`"},
	{"inertia", FIELD_NUMBER, AT(inertia), DIM_INERTIA, .flags = FIELD_REQUIRED, .doc = "about the axis, > 0"},
	{"speed", FIELD_NUMBER, AT(speed), DIM_RATE, .doc = "at the start, relative to the body; default 0"},
	{"torque", FIELD_TABLE, AT(torque), DIM_TORQUE, .doc = "of the motor on the wheel; default 0"},
	{"max_torque", FIELD_NUMBER, AT(max_torque), DIM_TORQUE, .doc = "default none"},
	{"max_speed", FIELD_NUMBER, AT(max_speed), DIM_RATE,
     .doc = "beyond it the motor does not accelerate the wheel further; default none"},
	{"drag", FIELD_NUMBER, AT(drag), DIM_ANGULAR_DAMPING, .doc = "of the bearing; default 0"},
};
#undef AT
static const CalWheelDef start = {.torque.shape = CAL_TABLE_LINEAR};
DEVICE_ADD(add_wheel, CalWheelDef, cal_sim_add_wheel)

const DeviceType wheel_type = {
	.table = {FIELDS("wheel", fields),
              .doc = "A reaction wheel. Its mass and its inertia perpendicular to the axis belong to the body, its "
                     "inertia about the axis does not."},
	DEVICE_DEF(CalWheelDef),
	.add = add_wheel,
	.ops = &ops,
	.start = &start};
