// SPDX-License-Identifier: Apache-2.0
/*
 * expression_load.c — a wrench on a node or an effort on a joint, by formulas over the simulation.
 *
 * The formulas are beside the device: its data is a pointer to them, so that the caller can read why they could not be
 * bound.
 */
#include <stdio.h>

#include <calder/expression.h>

#include "base/error.h"
#include "base/memory.h"
#include "device/device.h"
#include "device/device_type.h"

enum { PARTS = 7 };

static const char *const names[PARTS] = {"effort", "mx", "my", "mz", "fx", "fy", "fz"};
static const char *const units[DOF_KIND_KINDS][PARTS] = {{"N m", "N m", "N m", "N m", "N", "N", "N"},
                                                         {"N", "N m", "N m", "N m", "N", "N", "N"},
                                                         {"N m|N", "N m", "N m", "N m", "N", "N", "N"}};

typedef struct ExpressionLoad {
	bool on_joint;
	CalNodeId node;
	CalJointId joint;
	CalFrame frame;
	int dof;
	CalExpression *part[PARTS]; // effort, moment, force; NULL: zero
	CalNodeRef node_ref;
	CalDofRef dof_ref;
	CalError why;   // it could not be bound
	char text[200]; // of a kink, for messages
} ExpressionLoad;

static ExpressionLoad *load_of(const CalDevice *device) { return *(ExpressionLoad **)device->data; }

static int load_bind(const CalDevice *device, const CalEvalContext *context) {
	ExpressionLoad *s = load_of(device);
	s->why = (CalError){0};
	if (s->on_joint ? bind_dof(context, s->joint, s->dof, &s->dof_ref)
	                : bind_node(context, s->node, &s->node_ref) || s->node_ref.group < 0)
		return -1;
	for (int i = 0; i < PARTS; i++)
		if (s->part[i] && cal_expression_bind(s->part[i], context, &s->why) != CAL_OK)
			return -1;
	return 0;
}

/* Values of all parts; nonzero after saying which one is not a number. */
static int evaluate_parts(const ExpressionLoad *s, CalEvalContext *context, double value[PARTS]) {
	char why[200];
	for (int i = 0; i < PARTS; i++) {
		value[i] = 0;
		if (!s->part[i])
			continue;
		const CalStatus status = cal_expression_value(s->part[i], context, &value[i]);
		if (status == CAL_OK && isfinite(value[i]))
			continue;
		if (status == CAL_OK)
			snprintf(why, sizeof why, "%s = %.100s is %g at t = %.9g s", names[i], cal_expression_text(s->part[i]),
			         value[i], cal_context_time(context));
		else
			snprintf(why, sizeof why, "%s = %.100s has no value at t = %.9g s: %.50s", names[i],
			         cal_expression_text(s->part[i]), cal_context_time(context), cal_status_text(status));
		cal_context_explain_failure(context, why);
		return 1;
	}
	return 0;
}

static void push_node(const ExpressionLoad *s, CalEvalContext *context, const double f[6]) {
	CalSpatial wrench = {{f[0], f[1], f[2]}, {f[3], f[4], f[5]}}, v;
	CalPose pose;
	cal_context_node_motion(context, s->node_ref, &pose, &v);
	if (s->frame == CAL_FRAME_NODE)
		wrench = (CalSpatial){v_turn(&pose.R, wrench.angular), v_turn(&pose.R, wrench.linear)};
	cal_context_apply_wrench(context, s->node_ref, CAL_FRAME_WORLD, wrench);
	cal_context_add_supplied_power(context, v_dot(wrench.angular, v.angular) + v_dot(wrench.linear, v.linear));
}

static double load_next_switch(const CalDevice *device, double t) {
	const ExpressionLoad *s = load_of(device);
	double next = INFINITY;
	for (int i = 0; i < PARTS; i++)
		next = fmin(next, cal_expression_next_switch(s->part[i], t));
	return next;
}

/* With fixed steps nothing ends a step at a peak: it can only be said that it may have been passed. */
static void doubt_peaks(const CalDevice *device, CalEvalContext *context) {
	const ExpressionLoad *s = load_of(device);
	const double step = cal_context_fixed_step(context), t = cal_context_time(context);
	if (!(step > 0))
		return;
	const double span = fmin(step, load_next_switch(device, t) - t);
	for (int i = 0; i < PARTS; i++) {
		const double unseen = s->part[i] ? cal_expression_unseen(s->part[i], context, span) : INFINITY;
		if (!(unseen < span))
			continue;
		CalDoubt doubt = {.kind = CAL_DOUBT_FORMULA, .time = t, .value = step, .limit = unseen};
		snprintf(doubt.object, sizeof doubt.object, "%s = %.80s", names[i], cal_expression_text(s->part[i]));
		snprintf(doubt.text, sizeof doubt.text,
		         "%s = %.200s has a peak between two steps of %.4g s, and may not have acted; take a shorter step, or "
		         "%s",
		         names[i], cal_expression_text(s->part[i]), step, cal_method_name(CAL_METHOD_DEFAULT));
		cal_context_add_doubt(context, &doubt);
	}
}

static int load_evaluate(const CalDevice *device, CalEvalContext *context, double *xdot) {
	const ExpressionLoad *s = load_of(device);
	double value[PARTS];
	(void)xdot;
	if (evaluate_parts(s, context, value) != 0)
		return 1;
	doubt_peaks(device, context);
	if (s->on_joint) {
		cal_context_apply_effort(context, s->dof_ref, value[0]);
		cal_context_add_supplied_power(context, value[0] * cal_context_u(context, s->dof_ref));
	} else {
		push_node(s, context, value + 1);
	}
	return 0;
}

static int load_values(const CalDevice *device, CalEvalContext *context, double *value) {
	const ExpressionLoad *s = load_of(device);
	for (int i = 0; i < PARTS; i++) {
		if (s->part[i] && cal_expression_kinks(s->part[i], context, value) != CAL_OK)
			return 1;
		value += cal_expression_kink_count(s->part[i]);
	}
	return 0;
}

static int load_outlook(const CalDevice *device, CalEvalContext *context, CalLookahead *lookahead) {
	const ExpressionLoad *s = load_of(device);
	for (int i = 0; i < PARTS; i++) {
		if (!s->part[i])
			continue;
		lookahead->event_free =
			fmin(lookahead->event_free, cal_expression_clear(s->part[i], context, lookahead->horizon));
		lookahead->max_step = fmin(lookahead->max_step, cal_expression_unseen(s->part[i], context, lookahead->horizon));
	}
	return 0;
}

/* "effort = -3*sign(u(hinge)): sign()" */
static const char *load_value_text(const CalDevice *device, int event) {
	ExpressionLoad *s = load_of(device);
	for (int i = 0; i < PARTS; i++) {
		const int count = cal_expression_kink_count(s->part[i]);
		if (event < count) {
			const char *what = cal_expression_kink_text(s->part[i], event);
			snprintf(s->text, sizeof s->text, "%s of %s = %.150s", what, names[i], cal_expression_text(s->part[i]));
			return s->text;
		}
		event -= count;
	}
	return NULL;
}

static int load_outputs(const CalDevice *device, CalEvalContext *context, double *output) {
	return evaluate_parts(load_of(device), context, output);
}

static void load_free(ExpressionLoad *s) {
	const CalAllocator allocator = allocator_or_default(NULL);
	for (int i = 0; s && i < PARTS; i++)
		cal_expression_destroy(s->part[i]);
	memory_free(&allocator, s);
}

static void load_destroy(void *data) { load_free(*(ExpressionLoad **)data); }

/* Units by what it acts on. */
#define OPS(kind)                                                                                               \
	{                                                                                                           \
		.type = "expression", .bind = load_bind, .evaluate = load_evaluate, .values = load_values,              \
		.lookahead = load_outlook, .value_text = load_value_text, .outputs = load_outputs,                      \
		.next_switch = load_next_switch, .destroy = load_destroy, .output_count = PARTS, .output_names = names, \
		.output_units = units[kind]                                                                             \
	}
static const CalDeviceOps ops[DOF_KIND_KINDS] = {OPS(DOF_KIND_TURNS), OPS(DOF_KIND_SLIDES), OPS(DOF_KIND_EITHER)};
#undef OPS

static void parse_part(DeviceBuilder *d, ExpressionLoad *s, int i, const char *text) {
	CalError error = {0};
	if (!text || d->status != CAL_OK)
		return;
	const CalStatus status = cal_expression_create(text, NULL, &s->part[i], &error);
	if (status == CAL_ERR_MEMORY)
		d->status = error_set(d->error, status, "device \"%s\": %s", d->def.name, error.text);
	device_check(d, status == CAL_OK, "%s: %s", names[i], error.text);
	device_check(d, !cal_expression_is_condition(s->part[i]),
	             "%s = %.200s is a condition; write if(condition, a, b) to make a number of it", names[i], text);
}

CalStatus cal_sim_add_expression_load(CalSim *sim, const CalExpressionLoadDef *def, int *device, CalError *error) {
	if (!sim || !def)
		return error_null(error, __func__, "sim or def");
	const DofKind kind = def->joint.value ? dof_kind(sim, def->joint, def->dof) : DOF_KIND_TURNS;
	DeviceBuilder d = device_builder(sim, &ops[kind], def->name, def->place, error);
	const CalAllocator allocator = allocator_or_default(NULL);
	ExpressionLoad *s = memory_alloc(&allocator, sizeof *s);
	if (!s)
		return error_set(error, CAL_ERR_MEMORY, "device \"%s\": %s", def->name ? def->name : "",
		                 cal_status_text(CAL_ERR_MEMORY));
	*s = (ExpressionLoad){.on_joint = def->joint.value != 0,
	                      .node = def->node,
	                      .joint = def->joint,
	                      .frame = def->frame,
	                      .dof = def->dof};
	device_check(&d, !def->joint.value != !def->node.value, "it acts on either a node of a body or a joint; name one");
	parse_part(&d, s, 0, def->effort);
	for (int i = 0; i < 3; i++) {
		parse_part(&d, s, 1 + i, def->moment[i]);
		parse_part(&d, s, 4 + i, def->force[i]);
	}
	d.def.wrench_count = def->node.value ? 1 : 0;
	for (int i = 0; i < PARTS; i++)
		d.def.event_count += cal_expression_kink_count(s->part[i]);
	CalStatus status = device_add(&d, &s, sizeof(ExpressionLoad *), device);
	if (status == CAL_ERR_ARGUMENT && d.status == CAL_OK && s->why.status != CAL_OK)
		device_check(&d, false, "%s", s->why.text);
	if (status != CAL_OK)
		load_free(s);
	return status;
}

/* ---- in files ----------------------------------------------------------------------------------- */

#define AT(member) offsetof(CalExpressionLoadDef, member)
static const Field fields[] = {
	DEVICE_FIELDS(CalExpressionLoadDef),
	{"joint", FIELD_JOINT, AT(joint), .doc = "on which it acts, with"},
	{"dof", FIELD_DOF, AT(dof), .doc = "which of the degrees of freedom of the joint; needed if it has several"},
	{"effort", FIELD_FORMULA, AT(effort), .doc = "on the degree of freedom [N m or N]; or"},
	{"node", FIELD_NODE, AT(node), .doc = "on which it acts, with"},
	{"frame", FIELD_CHOICE, AT(frame), .doc = "axes of the components; default `world`", .words = FRAME_WORDS},
	{"force", FIELD_FORMULAS, AT(force), .doc = "for x, y and z [N]"},
	{"moment", FIELD_FORMULAS, AT(moment), .doc = "for x, y and z [N m]"},
};
#undef AT
DEVICE_ADD(add_expression_load, CalExpressionLoadDef, cal_sim_add_expression_load)

const DeviceType expression_load_type = {
	.table = {FIELDS("expression", fields),
              .doc = "A load by [formulas](expressions.md): a wrench on a node, or an effort on a joint."},
	DEVICE_DEF(CalExpressionLoadDef),
	.add = add_expression_load,
	.ops = &ops[DOF_KIND_EITHER]};
