// SPDX-License-Identifier: Apache-2.0
/*
 * actuator.c — an input over a gain, a bias and a gear, on a degree of freedom or a node: the actuator of MJCF.
 *
 *   c = control, within its range        number, table or formula
 *   l = gear q,  l' = gear u             length of the transmission; both 0 on a node
 *   f = (g0 + g1 l + g2 l') c + b0 + b1 l + b2 l',  within its range
 * and gear f acts on the joint, or f times a wrench in axes of the node on the node. Steps end where f reaches or leaves its
 * range. How a formula continues is not known: with one, a limit that is reached and left within one step may be passed over.
 */
#include <float.h>

#include "device/device.h"
#include "device/device_type.h"
#include "device/load_component.h"

extern const DeviceType actuator_type;

enum { PARTS = 8 }; // of the outputs

typedef struct Actuator {
	CalActuatorDef def; // gear not 0, ranges complete
	LoadComponent *control;
	int limit_count;  // of f: 0, 1 or 2
	double limits[2]; // [limit_count]
	CalDofRef dof;
	CalNodeRef at;
} Actuator;

static const Actuator *actuator_of(const CalDevice *device) { return device->data; }

static int actuator_bind(const CalDevice *device, const CalEvalContext *context) {
	Actuator *s = device->data;
	if (s->def.joint.value ? bind_dof(context, s->def.joint, s->def.dof, &s->dof)
	                       : bind_node(context, s->def.node, &s->at) || s->at.group < 0)
		return -1;
	return load_component_bind(s->control, context);
}

/* ---- the force --------------------------------------------------------------------------------------------- */

typedef struct Drive {
	double control, length, speed;
	double wanted, force; // without and with its limits
} Drive;

static double affine(const double k[3], double length, double speed) { return k[0] + k[1] * length + k[2] * speed; }

/* Nonzero: the input has no value. */
static int drive_of(const CalDevice *device, CalEvalContext *context, Drive *out) {
	const Actuator *s = actuator_of(device);
	const CalActuatorDef *def = &s->def;
	*out = (Drive){0};
	if (load_component_value(device, s->control, context, &out->control) != 0)
		return 1;
	if (def->joint.value) {
		out->length = def->gear * cal_context_q(context, s->dof);
		out->speed = def->gear * cal_context_u(context, s->dof);
	}
	out->wanted =
		affine(def->gain, out->length, out->speed) * out->control + affine(def->bias, out->length, out->speed);
	out->force = fmin(fmax(out->wanted, def->lower), def->upper);
	return 0;
}

static void push_node(const Actuator *s, CalEvalContext *context, double force) {
	CalPose pose;
	CalSpatial v;
	cal_context_node_motion(context, s->at, &pose, &v);
	const CalSpatial wrench = {v_scale(force, v_turn(&pose.R, s->def.moment)),
	                           v_scale(force, v_turn(&pose.R, s->def.force))};
	cal_context_apply_wrench(context, s->at, CAL_FRAME_WORLD, wrench);
	cal_context_add_supplied_power(context, v_dot(wrench.angular, v.angular) + v_dot(wrench.linear, v.linear));
}

static int actuator_evaluate(const CalDevice *device, CalEvalContext *context, double *xdot) {
	(void)xdot;
	const Actuator *s = actuator_of(device);
	Drive drive;
	if (drive_of(device, context, &drive) != 0)
		return 1;
	load_component_doubt_peaks(device, s->control, context, INFINITY);
	if (!s->def.joint.value) {
		push_node(s, context, drive.force);
		return 0;
	}
	cal_context_apply_effort(context, s->dof, s->def.gear * drive.force);
	cal_context_add_supplied_power(context, drive.force * drive.speed);
	return 0;
}

/* As those of an applied_load, and the input. */
static int actuator_outputs(const CalDevice *device, CalEvalContext *context, double *output) {
	const Actuator *s = actuator_of(device);
	const CalVec3 m = s->def.moment, f = s->def.force;
	Drive d;
	if (drive_of(device, context, &d) != 0)
		return 1;
	output[0] = s->def.joint.value ? s->def.gear * d.force : 0;
	output[1] = m.x * d.force, output[2] = m.y * d.force, output[3] = m.z * d.force;
	output[4] = f.x * d.force, output[5] = f.y * d.force, output[6] = f.z * d.force;
	output[7] = d.control;
	return 0;
}

/* ---- steps -------------------------------------------------------------------------------------------------- */

static double actuator_next_switch(const CalDevice *device, double t) {
	return load_component_next_switch(device, actuator_of(device)->control, t);
}

/* How far the force is beyond each limit, then the kinks of the input. */
static int actuator_values(const CalDevice *device, CalEvalContext *context, double *value) {
	const Actuator *s = actuator_of(device);
	Drive drive;
	if (drive_of(device, context, &drive) != 0)
		return 1;
	for (int i = 0; i < s->limit_count; i++)
		*value++ = beyond(drive.wanted, s->limits[i]);
	return load_component_kinks(s->control, context, value);
}

/* The speed is known to change by its acceleration alone; a table, by its rate and acceleration. */
static int actuator_lookahead(const CalDevice *device, CalEvalContext *context, CalLookahead *lookahead) {
	const Actuator *s = actuator_of(device);
	const CalActuatorDef *def = &s->def;
	TableValue c = {0};
	double jerk, bend = 0;
	Drive d;
	load_component_lookahead(s->control, context, lookahead);
	if (s->limit_count == 0 || drive_of(device, context, &d) != 0)
		return 0;
	if (s->control->table.count) {
		const double t = cal_context_time(context);
		c = table_at(device, &s->control->table, t);
		table_ahead(device, &s->control->table, t, lookahead->horizon, &bend, &jerk);
	}
	const double udot = def->joint.value ? fabs(def->gear * cal_context_udot(context, s->dof)) : 0;
	const double gain = affine(def->gain, d.length, d.speed);
	const double k_length = def->gain[1] * d.control + def->bias[1], k_speed = def->gain[2] * d.control + def->bias[2];
	const double rate = gain * c.rate + k_length * d.speed, spread = 2 * fabs(k_speed) * udot;
	const double most = fabs(gain) * bend + fabs(k_length) * udot +
	                    2 * fabs(c.rate) * (fabs(def->gain[1] * d.speed) + fabs(def->gain[2]) * udot);
	for (int i = 0; i < s->limit_count; i++) {
		const double value = beyond(d.wanted, s->limits[i]);
		if (value != 0)
			lookahead->event_free =
				fmin(lookahead->event_free, keeps_sign(value, rate - copysign(spread, value), most));
	}
	return 0;
}

static const char *actuator_value_text(const CalDevice *device, int event) {
	const Actuator *s = actuator_of(device);
	return event < s->limit_count ? "limit of the force" : load_component_kink_text(s->control, event - s->limit_count);
}

static void actuator_destroy(void *data) { load_component_destroy(((Actuator *)data)->control); }

/* A formula may read anything. */
static int actuator_one_dof(const CalDevice *device, CalDofRef *dof_ref) {
	const Actuator *s = actuator_of(device);
	*dof_ref = s->dof;
	return s->def.node.value || s->control->formula;
}

static int actuator_nodes(const CalDevice *device, CalNodeRef *node_refs) {
	const Actuator *s = actuator_of(device);
	node_refs[0] = s->at;
	return s->def.node.value && !s->control->formula;
}

static const char *const names[PARTS] = {"effort", "mx", "my", "mz", "fx", "fy", "fz", "control"};
static const char *const units[DOF_KIND_KINDS][PARTS] = {{"N m", "N m", "N m", "N m", "N", "N", "N", "1"},
                                                         {"N", "N m", "N m", "N m", "N", "N", "N", "1"},
                                                         {"N m|N", "N m", "N m", "N m", "N", "N", "N", "1"}};
/* The input too, unless it is a table or a formula. On a node there is no length. */
static double *actuator_parameter(const CalDevice *device, int index, CalDeviceParameter *about) {
	enum { OF_TABLE = 6 };
	Actuator *s = device->data;
	CalActuatorDef *def = &s->def;
	if (index == OF_TABLE)
		return load_component_parameter(s->control, "", about);
	double *number = device_parameter(&actuator_type, def, DOF_KIND_TURNS, index, about);
	if (number && def->node.value && number != &def->gain[0] && number != &def->bias[0])
		about->fixed = "on a node there is no length";
	return number;
}

/* Units by what it acts on; only limits and formulas are watched. */
#define OPS(kind, watch, ahead)                                                                                        \
	{                                                                                                                  \
		.type = "actuator", .bind = actuator_bind, .evaluate = actuator_evaluate, .values = watch, .lookahead = ahead, \
		.value_text = actuator_value_text, .outputs = actuator_outputs, .next_switch = actuator_next_switch,           \
		.destroy = actuator_destroy, .one_dof = actuator_one_dof, .nodes = actuator_nodes,                             \
		.parameter = actuator_parameter, .output_count = PARTS, .output_names = names, .output_units = units[kind]     \
	}
#define OPS_BY_KIND(watch, ahead) \
	{ OPS(DOF_KIND_TURNS, watch, ahead), OPS(DOF_KIND_SLIDES, watch, ahead), OPS(DOF_KIND_EITHER, watch, ahead) }
static const CalDeviceOps ops[2][DOF_KIND_KINDS] = {OPS_BY_KIND(NULL, NULL),
                                                    OPS_BY_KIND(actuator_values, actuator_lookahead)};
#undef OPS_BY_KIND
#undef OPS

/* ---- making ------------------------------------------------------------------------------------------------- */

/* Both ends 0: no range. */
static void complete_range(DeviceBuilder *d, const char *what, double *lower, double *upper) {
	if (*lower == 0 && *upper == 0)
		*lower = -INFINITY, *upper = INFINITY;
	device_check(d, *lower < *upper, "the range of the %s ends at %g, below its start %g", what, *upper, *lower);
}

/* A formula is clipped by numbers on both sides, or not at all. */
static double formula_bound(double bound, const CalActuatorDef *def) {
	const bool limited = isfinite(def->control_lower) || isfinite(def->control_upper);
	return limited ? fmin(fmax(bound, -DBL_MAX), DBL_MAX) : bound;
}

static bool is_finite_vector(CalVec3 v) { return isfinite(v.x) && isfinite(v.y) && isfinite(v.z); }

static void check_definition(DeviceBuilder *d, const CalActuatorDef *def) {
	const bool at_rest = def->gain[1] == 0 && def->gain[2] == 0 && def->bias[1] == 0 && def->bias[2] == 0;
	device_check(d, !!def->joint.value + !!def->node.value == 1, "it acts on either a joint or a node; name one");
	device_check(d, isfinite(def->gear) && is_finite_vector(def->force) && is_finite_vector(def->moment),
	             "gear, force and moment must be finite");
	for (int i = 0; i < 3; i++)
		device_check(d, isfinite(def->gain[i]) && isfinite(def->bias[i]), "gain and bias must be finite");
	device_check(d, !def->node.value || at_rest,
	             "on a node there is no length: gain and bias by length and speed must be 0");
}

static void set_limits(Actuator *s) {
	if (isfinite(s->def.lower))
		s->limits[s->limit_count++] = s->def.lower;
	if (isfinite(s->def.upper))
		s->limits[s->limit_count++] = s->def.upper;
}

CalStatus cal_sim_add_actuator(CalSim *sim, const CalActuatorDef *def, int *device, CalError *error) {
	if (!sim || !def)
		return error_null(error, __func__, "sim or def");
	Actuator data = {.def = *def};
	CalActuatorDef *made = &data.def;
	const DofKind kind = def->joint.value ? dof_kind(sim, def->joint, def->dof) : DOF_KIND_TURNS;
	DeviceBuilder d = device_builder(sim, &ops[0][kind], def->name, def->place, error);
	made->gear = def->gear == 0 ? 1 : def->gear;
	complete_range(&d, "control", &made->control_lower, &made->control_upper);
	complete_range(&d, "force", &made->lower, &made->upper);
	check_definition(&d, made);
	set_limits(&data);
	d.def.ops = &ops[data.limit_count > 0 || def->control.formula][kind];
	d.def.event_count = data.limit_count;
	data.control = load_component_create(&d, "control", &def->control, formula_bound(made->control_lower, made),
	                                     formula_bound(made->control_upper, made));
	d.def.wrench_count = def->node.value ? 1 : 0;
	return load_component_add_device(&d, &data, sizeof data, data.control, device);
}

/* ---- in files ----------------------------------------------------------------------------------------------- */

#define AT(member) offsetof(CalActuatorDef, member)
static const Field fields[] = {
	DEVICE_FIELDS(CalActuatorDef),
	{"joint", FIELD_JOINT, AT(joint), .doc = "on which it acts, with"},
	{"dof", FIELD_DOF, AT(dof), .doc = "which of the degrees of freedom of the joint; needed if it has several; and"},
	{"gear", FIELD_NUMBER, AT(gear), .doc = "effort over force, and length over coordinate; default 1; or"},
	{"node", FIELD_NODE, AT(node), .doc = "on which it acts, with"},
	{"force", FIELD_VECTOR, AT(force), .doc = "on the node in its axes, for a force of 1"},
	{"moment", FIELD_VECTOR, AT(moment), .doc = "likewise"},
	{"control", FIELD_LOAD_VALUE, AT(control), .doc = "the input; default 0"},
	{"control_lower", FIELD_NUMBER, AT(control_lower), .doc = "to which it is clipped; default none"},
	{"control_upper", FIELD_NUMBER, AT(control_upper), .doc = "likewise"},
	{"gain", FIELD_NUMBER, AT(gain[0]), .flags = FIELD_TUNED, .doc = "force per input; default 1"},
	{"gain_length", FIELD_NUMBER, AT(gain[1]), .flags = FIELD_TUNED, .doc = "part of the gain per length; default 0"},
	{"gain_speed", FIELD_NUMBER, AT(gain[2]), .flags = FIELD_TUNED,
     .doc = "part of the gain per speed of the length; default 0"},
	{"bias", FIELD_NUMBER, AT(bias[0]), .flags = FIELD_TUNED, .doc = "force without input; default 0"},
	{"bias_length", FIELD_NUMBER, AT(bias[1]), .flags = FIELD_TUNED, .doc = "force per length; default 0"},
	{"bias_speed", FIELD_NUMBER, AT(bias[2]), .flags = FIELD_TUNED, .doc = "force per speed of the length; default 0"},
	{"lower", FIELD_NUMBER, AT(lower), .doc = "to which the force is clipped, before the gear; default none"},
	{"upper", FIELD_NUMBER, AT(upper), .doc = "likewise"},
};
#undef AT
static const CalActuatorDef start = {.control = {.table.shape = CAL_TABLE_LINEAR},
                                     .gear = 1,
                                     .gain = {1, 0, 0},
                                     .control_lower = -INFINITY,
                                     .control_upper = INFINITY,
                                     .lower = -INFINITY,
                                     .upper = INFINITY};
DEVICE_ADD(add_actuator, CalActuatorDef, cal_sim_add_actuator)

const DeviceType actuator_type = {
	.table = {FIELDS("actuator", fields),
              .doc = "A motor or servo as in MJCF: an input over a gain, a bias and a gear, on a joint or a node."},
	DEVICE_DEF(CalActuatorDef),
	.add = add_actuator,
	.ops = &ops[0][DOF_KIND_EITHER],
	.start = &start};
