// SPDX-License-Identifier: Apache-2.0
/*
 * limit.c — stops of a joint.
 *
 * Beyond a stop, with p >= 0 the depth and p' its rate, a spring and damper push back: max(0, k p + c p'). The damper
 * never pulls towards the stop, so a joint leaves it without sticking. Steps end at p = 0, where the force
 * jumps when it is met, and where it lets go, which a damper makes it do before it has relaxed.
 */
#include <float.h>

#include "device/device.h"
#include "device/device_type.h"

extern const DeviceType limit_type;

typedef struct Limit {
	CalLimitDef def;
	CalDofRef at;
	DofKind kind;
} Limit;

static int limit_bind(const CalDevice *device, const CalEvalContext *context) {
	Limit *s = device->data;
	return bind_dof(context, s->def.joint, s->def.dof, &s->at);
}

/* Depth beyond the stop that is met (negative: inside of both) and which: +1 upper, -1 lower. */
static double depth_of(const Limit *s, double q, double *side) {
	const double above = q - s->def.upper, below = s->def.lower - q;
	*side = above >= below ? 1 : -1;
	return fmax(above, below);
}

static double force_of(const Limit *s, double depth, double rate) {
	return depth >= 0 ? fmax(0, s->def.stiffness * depth + s->def.damping * rate) : 0;
}

static int limit_evaluate(const CalDevice *device, CalEvalContext *context, double *xdot) {
	(void)xdot;
	const Limit *s = device->data;
	double side;
	const double depth = depth_of(s, cal_context_q(context, s->at), &side), rate = side * cal_context_u(context, s->at);
	if (!(depth >= 0))
		return 0;
	const double force = force_of(s, depth, rate), elastic = s->def.stiffness * depth;
	cal_context_apply_effort(context, s->at, -side * force);
	cal_context_add_stored_energy(context, 0.5 * elastic * depth);
	cal_context_add_dissipated_power(context, (force - elastic) * rate);
	return 0;
}

/* Depth beyond each stop and its rate, upper first. A stop that is not there is far away. */
static void depths_of(const Limit *s, CalEvalContext *context, double depth[2], double rate[2]) {
	const double q = cal_context_q(context, s->at), u = cal_context_u(context, s->at);
	depth[0] = fmax(q - s->def.upper, -DBL_MAX);
	depth[1] = fmax(s->def.lower - q, -DBL_MAX);
	rate[0] = u;
	rate[1] = -u;
}

/* Above zero: beyond the stop; with a damper, a second pair: it pushes. */
static int limit_values(const CalDevice *device, CalEvalContext *context, double *value) {
	const Limit *s = device->data;
	const double k = s->def.stiffness, c = s->def.damping;
	double depth[2], rate[2];
	depths_of(s, context, depth, rate);
	for (int i = 0; i < 2; i++) {
		value[i] = depth[i];
		if (c > 0)
			value[2 + i] = is_pushing(k, c, depth[i], rate[i]);
	}
	return 0;
}

static int limit_outlook(const CalDevice *device, CalEvalContext *context, CalLookahead *lookahead) {
	const Limit *s = device->data;
	const double k = s->def.stiffness, c = s->def.damping, udot = cal_context_udot(context, s->at);
	double depth[2], rate[2];
	depths_of(s, context, depth, rate);
	for (int i = 0; i < 2; i++) {
		const double meets = keeps_sign(depth[i], rate[i], udot);
		lookahead->event_free = fmin(lookahead->event_free, fmin(meets, keeps_pushing(k, c, depth[i], rate[i], udot)));
	}
	return 0;
}

static const char *limit_value_text(const CalDevice *device, int event) {
	(void)device;
	return event % 2 == 0 ? "upper stop" : "lower stop";
}

static int limit_outputs(const CalDevice *device, CalEvalContext *context, double *output) {
	const Limit *s = device->data;
	double side;
	const double depth = depth_of(s, cal_context_q(context, s->at), &side), rate = side * cal_context_u(context, s->at);
	output[0] = fmax(depth, 0);
	output[1] = -side * force_of(s, depth, rate);
	return 0;
}

static int limit_one_dof(const CalDevice *device, CalDofRef *dof_ref) {
	*dof_ref = ((const Limit *)device->data)->at;
	return 0;
}

static double *limit_parameter(const CalDevice *device, int index, CalDeviceParameter *about) {
	Limit *s = device->data;
	return device_parameter(&limit_type, &s->def, s->kind, index, about);
}

static const char *const names[] = {"depth", "effort"};
static const char *const units[DOF_KIND_KINDS][2] = {{"rad", "N m"}, {"m", "N"}, {"rad|m", "N m|N"}};
/* Units by what it acts on. */
#define OPS(kind)                                                                                         \
	{                                                                                                     \
		.type = "limit", .bind = limit_bind, .evaluate = limit_evaluate, .values = limit_values,          \
		.lookahead = limit_outlook, .value_text = limit_value_text, .outputs = limit_outputs,             \
		.one_dof = limit_one_dof, .parameter = limit_parameter, .output_count = 2, .output_names = names, \
		.output_units = units[kind]                                                                       \
	}
static const CalDeviceOps ops[DOF_KIND_KINDS] = {OPS(DOF_KIND_TURNS), OPS(DOF_KIND_SLIDES), OPS(DOF_KIND_EITHER)};
#undef OPS

CalStatus cal_sim_add_limit(CalSim *sim, const CalLimitDef *def, int *device, CalError *error) {
	if (!sim || !def)
		return error_null(error, __func__, "sim or def");
	const DofKind kind = dof_kind(sim, def->joint, def->dof);
	DeviceBuilder d = device_builder(sim, &ops[kind], def->name, def->place, error);
	const Limit data = {.def = *def, .kind = kind};
	device_check(&d, def->lower < def->upper, "the lower limit %g is not below the upper %g", def->lower, def->upper);
	device_check(&d, isfinite(def->stiffness) && def->stiffness > 0, "stiffness is %g; give one above zero",
	             def->stiffness);
	device_not_negative(&d, "damping", def->damping);
	d.def.event_count = def->damping > 0 ? 4 : 2;
	return device_add(&d, &data, sizeof data, device);
}

/* ---- in files ----------------------------------------------------------------------------------- */

#define AT(member) offsetof(CalLimitDef, member)
static const Field fields[] = {
	DEVICE_FIELDS(CalLimitDef),
	{"joint", FIELD_JOINT, AT(joint), .flags = FIELD_REQUIRED, .doc = "on which it acts"},
	{"dof", FIELD_DOF, AT(dof), .doc = "which of the degrees of freedom of the joint; needed if it has several"},
	{"lower", FIELD_NUMBER, AT(lower), DIM_ANGLE, .flags = FIELD_BY_DOF, .doc = "default none"},
	{"upper", FIELD_NUMBER, AT(upper), DIM_ANGLE, .flags = FIELD_BY_DOF, .doc = "default none"},
	{"stiffness", FIELD_NUMBER, AT(stiffness), DIM_ANGULAR_STIFFNESS,
     .flags = FIELD_REQUIRED | FIELD_BY_DOF | FIELD_TUNED_ABOVE_0, .doc = "> 0"},
	{"damping", FIELD_NUMBER, AT(damping), DIM_ANGULAR_DAMPING, .flags = FIELD_BY_DOF | FIELD_TUNED_ABOVE_0,
     .doc = "default 0"},
};
#undef AT
static const CalLimitDef start = {.lower = -INFINITY, .upper = INFINITY};
DEVICE_ADD(add_limit, CalLimitDef, cal_sim_add_limit)

const DeviceType limit_type = {
	.table = {FIELDS("limit", fields),
              .doc = "Stops of a joint: a spring and damper beyond each, which only push back."},
	DEVICE_DEF(CalLimitDef),
	.add = add_limit,
	.ops = &ops[DOF_KIND_EITHER],
	.start = &start};
