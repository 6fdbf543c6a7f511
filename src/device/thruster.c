// SPDX-License-Identifier: Apache-2.0
/*
 * thruster.c — a force of fixed direction on a node, by a table or a formula. The mass of what it expels is neglected.
 */
#include "device/device.h"
#include "device/device_type.h"
#include "device/load_component.h"

extern const DeviceType thruster_type;

typedef struct Thruster {
	CalThrusterDef def; // direction of length one
	LoadComponent *throttle;
	CalNodeRef at;
} Thruster;

static int thruster_bind(const CalDevice *device, const CalEvalContext *context) {
	Thruster *s = device->data;
	if (bind_node(context, s->def.node, &s->at) || s->at.group < 0)
		return -1;
	return load_component_bind(s->throttle, context);
}

/* Nonzero: its throttle has no value. */
static int force_of(const CalDevice *device, CalEvalContext *context, double *force) {
	const Thruster *s = device->data;
	double throttle;
	if (load_component_value(device, s->throttle, context, &throttle) != 0)
		return 1;
	*force = s->def.thrust * throttle;
	return 0;
}

static int thruster_evaluate(const CalDevice *device, CalEvalContext *context, double *xdot) {
	(void)xdot;
	const Thruster *s = device->data;
	double force;
	CalPose pose;
	CalSpatial v;
	if (force_of(device, context, &force) != 0)
		return 1;
	load_component_doubt_peaks(device, s->throttle, context, INFINITY);
	if (force == 0)
		return 0;
	cal_context_node_motion(context, s->at, &pose, &v);
	const CalVec3 f = v_scale(force, v_turn(&pose.R, s->def.direction));
	cal_context_apply_wrench(context, s->at, CAL_FRAME_WORLD, (CalSpatial){.linear = f});
	cal_context_add_supplied_power(context, v_dot(f, v.linear));
	return 0;
}

static double thruster_next_switch(const CalDevice *device, double t) {
	return load_component_next_switch(device, ((const Thruster *)device->data)->throttle, t);
}

static int thruster_outputs(const CalDevice *device, CalEvalContext *context, double *output) {
	return force_of(device, context, output);
}

static int thruster_values(const CalDevice *device, CalEvalContext *context, double *value) {
	return load_component_kinks(((const Thruster *)device->data)->throttle, context, value);
}

static int thruster_outlook(const CalDevice *device, CalEvalContext *context, CalLookahead *lookahead) {
	load_component_lookahead(((const Thruster *)device->data)->throttle, context, lookahead);
	return 0;
}

static const char *thruster_value_text(const CalDevice *device, int event) {
	return load_component_kink_text(((const Thruster *)device->data)->throttle, event);
}

static void thruster_destroy(void *data) { load_component_destroy(((Thruster *)data)->throttle); }

/* A formula may read anything. */
static int thruster_nodes(const CalDevice *device, CalNodeRef *node_refs) {
	const Thruster *s = device->data;
	node_refs[0] = s->at;
	return !s->throttle->formula;
}

/* The throttle too, unless it is a table or a formula. */
static double *thruster_parameter(const CalDevice *device, int index, CalDeviceParameter *about) {
	Thruster *s = device->data;
	return index == 1 ? load_component_parameter(s->throttle, "", about)
	                  : device_parameter(&thruster_type, &s->def, DOF_KIND_SLIDES, index, about);
}

static const char *const names[] = {"force"}, *const units[] = {"N"};
/* Only formulas are watched. */
#define OPS(watch, ahead)                                                                                              \
	{                                                                                                                  \
		.type = "thruster", .bind = thruster_bind, .evaluate = thruster_evaluate, .values = watch, .lookahead = ahead, \
		.value_text = thruster_value_text, .outputs = thruster_outputs, .next_switch = thruster_next_switch,           \
		.destroy = thruster_destroy, .nodes = thruster_nodes, .parameter = thruster_parameter, .output_count = 1,      \
		.output_names = names, .output_units = units                                                                   \
	}
static const CalDeviceOps ops[2] = {OPS(NULL, NULL), OPS(thruster_values, thruster_outlook)};
#undef OPS

CalStatus cal_sim_add_thruster(CalSim *sim, const CalThrusterDef *def, int *device, CalError *error) {
	if (!sim || !def)
		return error_null(error, __func__, "sim or def");
	static const CalLoadValue full = {.number = 1};
	const CalLoadValue *throttle = &def->throttle;
	const CalTable *table = &throttle->table;
	DeviceBuilder d = device_builder(sim, &ops[throttle->formula != NULL], def->name, def->place, error);
	Thruster data = {.def = *def};
	data.def.direction = v_unit(def->direction, (CalVec3){0, 0, 1});
	device_check(&d, isfinite(def->thrust), "thrust is not finite");
	if (!throttle->formula && table->count == 0 && throttle->number == 0)
		throttle = &full;
	data.throttle = load_component_create(&d, "throttle", throttle, 0, 1);
	device_check(&d, throttle->number >= 0 && throttle->number <= 1, "throttle is %g; it is a fraction from 0 to 1",
	             throttle->number);
	for (int i = 0; d.status == CAL_OK && i < table->count; i++)
		device_check(&d, table->value[i] >= 0 && table->value[i] <= 1,
		             "throttle is %g at %g s; it is a fraction from 0 to 1", table->value[i], table->time[i]);
	d.def.wrench_count = 1;
	return load_component_add_device(&d, &data, sizeof data, data.throttle, device);
}

/* ---- in files ----------------------------------------------------------------------------------- */

#define AT(member) offsetof(CalThrusterDef, member)
static const Field fields[] = {
	DEVICE_FIELDS(CalThrusterDef),
	{"node", FIELD_NODE, AT(node), .flags = FIELD_REQUIRED, .doc = "on which it acts"},
	{"direction", FIELD_AXIS, AT(direction), .doc = "of the force, in the node; default `z`"},
	{"thrust", FIELD_NUMBER, AT(thrust), DIM_FORCE, .flags = FIELD_REQUIRED | FIELD_TUNED, .doc = "full thrust"},
	{"throttle", FIELD_LOAD_VALUE, AT(throttle), .flags = FIELD_ZERO_COUNTS,
     .doc = "the fraction that acts, 0 to 1, to which a formula is clipped; tables have the shape `step`; default 1 at "
            "all times; or"},
	{"pulses", FIELD_PULSES, AT(throttle.table), DIM_TIME, .doc = "it fires fully in these times"},
};
#undef AT
DEVICE_ADD(add_thruster, CalThrusterDef, cal_sim_add_thruster)

const DeviceType thruster_type = {.table = {FIELDS("thruster", fields), .doc = "A force of fixed direction on a node."},
                                  DEVICE_DEF(CalThrusterDef),
                                  .add = add_thruster,
                                  .ops = &ops[0]};
