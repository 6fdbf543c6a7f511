// SPDX-License-Identifier: Apache-2.0
/*
 * control_moment_gyro.c — a control moment gyro with one gimbal.
 *
 * State: the gimbal's angle d, driven at the rate d' of a table or a formula. The rotor's momentum is constant in size:
 *   h = H (cos d s + sin d g x s), on the body: -(d' g) x h - w x h,
 * g and s the axes of the gimbal and of the rotor at d = 0. Rotor and gimbal belong to the body's inertia; what the
 * gimbal's motion adds to it is neglected. The motors hold d' and H, and supply what the body gains.
 */
#include "device/device.h"
#include "device/device_type.h"
#include "device/load_component.h"
#include "math/portable.h"

typedef struct Gyro {
	CalCmgDef def; // axes of length one
	LoadComponent *rate;
	CalNodeRef at;
} Gyro;

static int gyro_bind(const CalDevice *device, const CalEvalContext *context) {
	Gyro *s = device->data;
	return bind_node(context, s->def.node, &s->at) != 0 ? -1 : load_component_bind(s->rate, context);
}

static int gyro_start(const CalDevice *device, CalEvalContext *context, double *x) {
	(void)context;
	x[0] = ((const Gyro *)device->data)->def.angle;
	return 0;
}

typedef struct Turn {
	CalNodeRef at;
	double rate;
	CalVec3 h, torque; // world axes; the torque on the body
	double power;      // of it
} Turn;

/* Nonzero: its rate has no value. */
static int turn_of(const CalDevice *device, CalEvalContext *context, Turn *made) {
	const Gyro *s = device->data;
	const double angle = device->x[0];
	CalPose pose;
	CalSpatial v;
	Turn turn = {.at = s->at};
	if (load_component_value(device, s->rate, context, &turn.rate) != 0)
		return 1;
	cal_context_node_motion(context, s->at, &pose, &v);
	const CalVec3 across = v_cross(s->def.gimbal, s->def.spin);
	const CalVec3 axis = v_add(v_scale(portable_cos(angle), s->def.spin), v_scale(portable_sin(angle), across));
	turn.h = v_turn(&pose.R, v_scale(s->def.momentum, axis));
	const CalVec3 driven = v_scale(turn.rate, v_turn(&pose.R, s->def.gimbal));
	turn.torque = v_scale(-1, v_cross(v_add(driven, v.angular), turn.h));
	turn.power = v_dot(turn.torque, v.angular);
	*made = turn;
	return 0;
}

static int gyro_evaluate(const CalDevice *device, CalEvalContext *context, double *xdot) {
	const Gyro *s = device->data;
	Turn turn;
	if (turn_of(device, context, &turn) != 0)
		return 1;
	load_component_doubt_peaks(device, s->rate, context, INFINITY);
	xdot[0] = turn.rate;
	cal_context_apply_wrench(context, turn.at, CAL_FRAME_WORLD, (CalSpatial){.angular = turn.torque});
	cal_context_add_supplied_power(context, turn.power);
	cal_context_add_momentum(context, (CalVec3){0, 0, 0}, turn.h);
	return 0;
}

static double gyro_next_switch(const CalDevice *device, double t) {
	return load_component_next_switch(device, ((const Gyro *)device->data)->rate, t);
}

static int gyro_values(const CalDevice *device, CalEvalContext *context, double *value) {
	return load_component_kinks(((const Gyro *)device->data)->rate, context, value);
}

static int gyro_outlook(const CalDevice *device, CalEvalContext *context, CalLookahead *lookahead) {
	load_component_lookahead(((const Gyro *)device->data)->rate, context, lookahead);
	return 0;
}

static const char *gyro_value_text(const CalDevice *device, int event) {
	return load_component_kink_text(((const Gyro *)device->data)->rate, event);
}

static void gyro_destroy(void *data) { load_component_destroy(((Gyro *)data)->rate); }

static int gyro_outputs(const CalDevice *device, CalEvalContext *context, double *output) {
	Turn turn;
	if (turn_of(device, context, &turn) != 0)
		return 1;
	output[0] = device->x[0];
	output[1] = turn.torque.x;
	output[2] = turn.torque.y;
	output[3] = turn.torque.z;
	return 0;
}

/* A formula may read anything. */
static int gyro_nodes(const CalDevice *device, CalNodeRef *node_refs) {
	const Gyro *s = device->data;
	node_refs[0] = s->at;
	return !s->rate->formula;
}

static const char *const names[] = {"angle", "mx", "my", "mz"}, *const units[] = {"rad", "N m", "N m", "N m"};
/* Only formulas are watched. */
#define OPS(watch, ahead)                                                                                 \
	{                                                                                                     \
		.type = "control_moment_gyro", .bind = gyro_bind, .start = gyro_start, .evaluate = gyro_evaluate, \
		.values = watch, .lookahead = ahead, .value_text = gyro_value_text, .outputs = gyro_outputs,      \
		.next_switch = gyro_next_switch, .destroy = gyro_destroy, .nodes = gyro_nodes, .output_count = 4, \
		.output_names = names, .output_units = units                                                      \
	}
static const CalDeviceOps ops[2] = {OPS(NULL, NULL), OPS(gyro_values, gyro_outlook)};
#undef OPS

CalStatus cal_sim_add_cmg(CalSim *sim, const CalCmgDef *def, int *device, CalError *error) {
	if (!sim || !def)
		return error_null(error, __func__, "sim or def");
	DeviceBuilder d = device_builder(sim, &ops[def->rate.formula != NULL], def->name, def->place, error);
	Gyro data = {.def = *def};
	data.def.gimbal = v_unit(def->gimbal, (CalVec3){0, 0, 0});
	data.def.spin = v_unit(def->spin, (CalVec3){0, 0, 0});
	device_check(&d, v_norm(data.def.gimbal) > 0 && v_norm(data.def.spin) > 0, "give the axes of gimbal and spin");
	device_check(&d, fabs(v_dot(data.def.gimbal, data.def.spin)) < 1e-9,
	             "the axes of gimbal and spin are not perpendicular");
	device_check(&d, isfinite(def->momentum) && def->momentum != 0, "momentum is %g; give one that is not zero",
	             def->momentum);
	device_check(&d, isfinite(def->angle), "the angle at the start is not finite");
	data.rate = load_component_create(&d, "rate", &def->rate, -INFINITY, INFINITY);
	d.def.nx = 1;
	d.def.wrench_count = 1;
	return load_component_add_device(&d, &data, sizeof data, data.rate, device);
}

/* ---- in files ----------------------------------------------------------------------------------- */

#define AT(member) offsetof(CalCmgDef, member)
static const Field fields[] = {
	DEVICE_FIELDS(CalCmgDef),
	{"node", FIELD_NODE, AT(node), .flags = FIELD_REQUIRED, .doc = "that carries it"},
	{"gimbal", FIELD_AXIS, AT(gimbal), .flags = FIELD_REQUIRED, .doc = "of the gimbal, in the node"},
	{"spin", FIELD_AXIS, AT(spin), .flags = FIELD_REQUIRED,
     .doc = "of the rotor at angle zero, perpendicular to the gimbal"},
	{"momentum", FIELD_NUMBER, AT(momentum), .flags = FIELD_REQUIRED, .doc = "of the rotor, a plain number [N m s]"},
	{"angle", FIELD_NUMBER, AT(angle), DIM_ANGLE, .doc = "of the gimbal at the start; default 0"},
	{"rate", FIELD_LOAD_VALUE, AT(rate), DIM_RATE, .doc = "of the gimbal; default 0"},
};
#undef AT
static const CalCmgDef start = {.rate.table.shape = CAL_TABLE_LINEAR};
DEVICE_ADD(add_cmg, CalCmgDef, cal_sim_add_cmg)

const DeviceType control_moment_gyro_type = {
	.table = {FIELDS("control_moment_gyro", fields),
              .doc = "A control moment gyro: a rotor of constant momentum whose axis turns about the gimbal's at a "
                     "given rate."},
	DEVICE_DEF(CalCmgDef),
	.add = add_cmg,
	.ops = &ops[0],
	.start = &start,
	.former = {"gyro"}};
