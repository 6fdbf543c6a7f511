// SPDX-License-Identifier: Apache-2.0
/*
 * thruster.c — a force of fixed direction on a node, by a schedule. The mass of what it expels is neglected.
 */
#include "device/device.h"
#include "device/device_type.h"

typedef struct Thruster {
	CalThrusterDef def; // direction of length one
	Table throttle;
	CalNodeRef at;
} Thruster;

static int thruster_bind(const CalDevice *device, const CalEvalContext *context) {
	Thruster *s = device->data;
	return bind_node(context, s->def.node, &s->at) || s->at.group < 0 ? -1 : 0;
}

static double force_of(const CalDevice *device, double t) {
	const Thruster *s = device->data;
	return s->def.thrust * table_at(device, s->throttle, t).value;
}

static int thruster_evaluate(const CalDevice *device, CalEvalContext *context, double *xdot) {
	(void)xdot;
	const Thruster *s = device->data;
	const double force = force_of(device, cal_context_time(context));
	CalPose pose;
	CalSpatial v;
	if (force == 0)
		return 0;
	cal_context_node_motion(context, s->at, &pose, &v);
	const CalVec3 f = v_scale(force, v_turn(&pose.R, s->def.direction));
	cal_context_apply_wrench(context, s->at, CAL_FRAME_WORLD, (CalSpatial){.linear = f});
	cal_context_add_supplied_power(context, v_dot(f, v.linear));
	return 0;
}

static double thruster_next_switch(const CalDevice *device, double t) {
	return table_next_switch(device, ((const Thruster *)device->data)->throttle, t);
}

static int thruster_outputs(const CalDevice *device, CalEvalContext *context, double *output) {
	output[0] = force_of(device, cal_context_time(context));
	return 0;
}

static const char *const names[] = {"force"}, *const units[] = {"N"};
static const CalDeviceOps ops = {.type = "thruster",
                                 .bind = thruster_bind,
                                 .evaluate = thruster_evaluate,
                                 .outputs = thruster_outputs,
                                 .next_switch = thruster_next_switch,
                                 .output_count = 1,
                                 .output_names = names,
                                 .output_units = units};

CalStatus cal_sim_add_thruster(CalSim *sim, const CalThrusterDef *def, int *device, CalError *error) {
	if (!sim || !def)
		return error_null(error, __func__, "sim or def");
	static const double zero = 0, one = 1;
	static const CalTable full = {CAL_TABLE_STEP, 1, &zero, &one};
	DeviceBuilder d = device_builder(sim, &ops, def->name, def->place, error);
	Thruster data = {.def = *def};
	data.def.direction = v_unit(def->direction, (CalVec3){0, 0, 1});
	device_check(&d, isfinite(def->thrust), "thrust is not finite");
	data.throttle = device_table(&d, "throttle", def->throttle.count == 0 ? &full : &def->throttle);
	for (int i = 0; d.status == CAL_OK && i < def->throttle.count; i++)
		device_check(&d, def->throttle.value[i] >= 0 && def->throttle.value[i] <= 1,
		             "throttle is %g at %g s; it is a fraction from 0 to 1", def->throttle.value[i],
		             def->throttle.time[i]);
	d.def.wrench_count = 1;
	return device_add(&d, &data, sizeof data, device);
}

/* ---- in files ----------------------------------------------------------------------------------- */

#define AT(member) offsetof(CalThrusterDef, member)
static const Field fields[] = {
	DEVICE_FIELDS(CalThrusterDef),
	{"node", FIELD_NODE, AT(node), .flags = FIELD_REQUIRED, .doc = "on which it acts"},
	{"direction", FIELD_AXIS, AT(direction), .doc = "of the force, in the node; default `z`"},
	{"thrust", FIELD_NUMBER, AT(thrust), DIM_FORCE, .flags = FIELD_REQUIRED, .doc = "full thrust"},
	{"throttle", FIELD_TABLE, AT(throttle),
     .doc = "the fraction that acts, 0 to 1; shape `step`; default 1 at all times; or"},
	{"pulses", FIELD_PULSES, AT(throttle), DIM_TIME, .doc = "it fires fully in these times"},
};
#undef AT
DEVICE_ADD(add_thruster, CalThrusterDef, cal_sim_add_thruster)

const DeviceType thruster_type = {.table = {FIELDS("thruster", fields), .doc = "A force of fixed direction on a node."},
                                  DEVICE_DEF(CalThrusterDef),
                                  .add = add_thruster,
                                  .ops = &ops};
