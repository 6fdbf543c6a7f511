// SPDX-License-Identifier: Apache-2.0
/*
 * applied_load.c — an effort on a degree of freedom or a mode, or a wrench on a node, over an interval. Each component is a
 * number, a table over time or a formula over the simulation.
 *
 * The components are beside the device: its data is a pointer to them, so that the caller can read why a formula could not
 * be bound.
 */
#include "base/error.h"
#include "base/memory.h"
#include "device/device.h"
#include "device/device_type.h"
#include "device/load_component.h"
#include "sim/sim_internal.h"

enum { PARTS = 7 };

static const char *const names[PARTS] = {"effort", "mx", "my", "mz", "fx", "fy", "fz"};
static const char *const units[DOF_KIND_KINDS][PARTS] = {{"N m", "N m", "N m", "N m", "N", "N", "N"},
                                                         {"N", "N m", "N m", "N m", "N", "N", "N"},
                                                         {"N m|N", "N m", "N m", "N m", "N", "N", "N"}};

typedef struct AppliedLoad {
	CalNodeId node;
	CalJointId joint;
	CalBodyId body;
	CalFrame frame;
	int dof, mode;
	double start, end;
	bool has_formula;
	LoadComponent part[PARTS]; // effort, moment, force
	int varying;               // those from here on are numbers
	CalNodeRef node_ref;
	CalDofRef dof_ref;
} AppliedLoad;

static AppliedLoad *load_of(const CalDevice *device) { return *(AppliedLoad **)device->data; }

static int bind_place(AppliedLoad *s, const CalEvalContext *context) {
	if (s->joint.value)
		return bind_dof(context, s->joint, s->dof, &s->dof_ref);
	if (s->body.value)
		return cal_context_find_mode(context, s->body, s->mode, &s->dof_ref) ? 0 : -1;
	return bind_node(context, s->node, &s->node_ref) || s->node_ref.group < 0 ? -1 : 0;
}

static int load_bind(const CalDevice *device, const CalEvalContext *context) {
	AppliedLoad *s = load_of(device);
	if (bind_place(s, context) != 0)
		return -1;
	for (int i = 0; i < PARTS; i++)
		if (load_component_bind(&s->part[i], context) != 0)
			return -1;
	return 0;
}

/* ---- values ------------------------------------------------------------------------------------- */

static bool is_active(const AppliedLoad *s, double t) { return s->start <= t && t < s->end; }

/* Values of components from..end - 1, zero outside the interval; nonzero after saying which one is not a number. */
static int evaluate_parts(const CalDevice *device, CalEvalContext *context, int from, int end, double value[PARTS]) {
	AppliedLoad *s = load_of(device);
	const bool active = is_active(s, cal_context_time(context));
	for (int i = from; i < end; i++) {
		value[i] = 0;
		if (active && load_component_value(device, &s->part[i], context, &value[i]) != 0)
			return 1;
	}
	return 0;
}

/* ---- steps -------------------------------------------------------------------------------------- */

static double load_next_switch(const CalDevice *device, double t) {
	AppliedLoad *s = load_of(device);
	double next = s->start > t ? s->start : s->end > t ? s->end : INFINITY;
	for (int i = 0; i < s->varying; i++)
		next = fmin(next, load_component_next_switch(device, &s->part[i], t));
	return next;
}

static void doubt_peaks(const CalDevice *device, CalEvalContext *context) {
	AppliedLoad *s = load_of(device);
	const double t = cal_context_time(context), span = load_next_switch(device, t) - t;
	for (int i = 0; i < PARTS; i++)
		load_component_doubt_peaks(device, &s->part[i], context, span);
}

/* Kinks are watched outside the interval too: their signs must not jump where it begins. */
static int load_values(const CalDevice *device, CalEvalContext *context, double *value) {
	AppliedLoad *s = load_of(device);
	for (int i = 0; i < PARTS; i++) {
		if (load_component_kinks(&s->part[i], context, value) != 0)
			return 1;
		value += load_component_kink_count(&s->part[i]);
	}
	return 0;
}

static int load_lookahead(const CalDevice *device, CalEvalContext *context, CalLookahead *lookahead) {
	AppliedLoad *s = load_of(device);
	for (int i = 0; i < PARTS; i++)
		load_component_lookahead(&s->part[i], context, lookahead);
	return 0;
}

static const char *load_value_text(const CalDevice *device, int event) {
	AppliedLoad *s = load_of(device);
	for (int i = 0; i < PARTS; i++) {
		const int count = load_component_kink_count(&s->part[i]);
		if (event < count)
			return load_component_kink_text(&s->part[i], event);
		event -= count;
	}
	return NULL;
}

/* ---- the load ----------------------------------------------------------------------------------- */

static void push_node(const AppliedLoad *s, CalEvalContext *context, const double f[6]) {
	CalSpatial wrench = {{f[0], f[1], f[2]}, {f[3], f[4], f[5]}}, v;
	CalPose pose;
	cal_context_node_motion(context, s->node_ref, &pose, &v);
	if (s->frame == CAL_FRAME_NODE)
		wrench = (CalSpatial){v_turn(&pose.R, wrench.angular), v_turn(&pose.R, wrench.linear)};
	cal_context_apply_wrench(context, s->node_ref, CAL_FRAME_WORLD, wrench);
	cal_context_add_supplied_power(context, v_dot(wrench.angular, v.angular) + v_dot(wrench.linear, v.linear));
}

static int load_evaluate(const CalDevice *device, CalEvalContext *context, double *xdot) {
	AppliedLoad *s = load_of(device);
	double value[PARTS];
	(void)xdot;
	value[0] = 0;
	if (s->node.value ? evaluate_parts(device, context, 1, PARTS, value) != 0
	                  : is_active(s, context->t) && load_component_value(device, &s->part[0], context, value) != 0)
		return 1;
	if (s->has_formula && cal_context_fixed_step(context) > 0)
		doubt_peaks(device, context);
	if (s->node.value) {
		push_node(s, context, value + 1);
		return 0;
	}
	context_apply_effort(context, s->dof_ref, value[0]);
	context->supplied += value[0] * context_u(context, s->dof_ref);
	return 0;
}

static int load_outputs(const CalDevice *device, CalEvalContext *context, double *output) {
	return evaluate_parts(device, context, 0, PARTS, output);
}

/* A formula may read anything. */
static int load_one_dof(const CalDevice *device, CalDofRef *dof_ref) {
	AppliedLoad *s = load_of(device);
	*dof_ref = s->dof_ref;
	return s->node.value || s->has_formula;
}

static int load_nodes(const CalDevice *device, CalNodeRef *node_refs) {
	AppliedLoad *s = load_of(device);
	node_refs[0] = s->node_ref;
	return s->node.value && !s->has_formula;
}

static void load_free(AppliedLoad *s) {
	const CalAllocator allocator = allocator_or_default(NULL);
	for (int i = 0; s && i < PARTS; i++)
		load_component_release(&s->part[i]);
	memory_free(&allocator, s);
}

static void load_destroy(void *data) { load_free(*(AppliedLoad **)data); }

/* Its components that are numbers: of a wrench six, otherwise the effort. */
static double *load_parameter(const CalDevice *device, int index, CalDeviceParameter *about) {
	AppliedLoad *s = load_of(device);
	const int first = s->node.value ? 1 : 0, count = s->node.value ? 6 : 1;
	if (index < 0 || index >= count)
		return NULL;
	return load_component_parameter(&s->part[first + index], first == 0 ? "N m|N" : index < 3 ? "N m" : "N", about);
}

/* Units by what it acts on; only formulas are watched. */
#define OPS(kind, watch, ahead)                                                                                    \
	{                                                                                                              \
		.type = "applied_load", .bind = load_bind, .evaluate = load_evaluate, .values = watch, .lookahead = ahead, \
		.value_text = load_value_text, .outputs = load_outputs, .next_switch = load_next_switch,                   \
		.destroy = load_destroy, .one_dof = load_one_dof, .nodes = load_nodes, .parameter = load_parameter,        \
		.output_count = PARTS, .output_names = names, .output_units = units[kind]                                  \
	}
#define OPS_BY_KIND(watch, ahead) \
	{ OPS(DOF_KIND_TURNS, watch, ahead), OPS(DOF_KIND_SLIDES, watch, ahead), OPS(DOF_KIND_EITHER, watch, ahead) }
static const CalDeviceOps ops[2][DOF_KIND_KINDS] = {OPS_BY_KIND(NULL, NULL), OPS_BY_KIND(load_values, load_lookahead)};
#undef OPS_BY_KIND
#undef OPS

/* ---- making ------------------------------------------------------------------------------------- */

static void take_component(DeviceBuilder *d, AppliedLoad *s, int i, const CalLoadValue *value) {
	static const char *const parts[PARTS] = {"effort",  "moment x", "moment y", "moment z",
	                                         "force x", "force y",  "force z"};
	load_component_take(d, &s->part[i], names[i], parts[i], value, -INFINITY, INFINITY);
	if (load_component_varies(&s->part[i]) && s->varying <= i)
		s->varying = i + 1;
}

static bool has_formula(const CalAppliedLoadDef *def) {
	bool any = def->effort.formula != NULL;
	for (int i = 0; i < 3; i++)
		any |= def->moment[i].formula || def->force[i].formula;
	return any;
}

static void fill_load(DeviceBuilder *d, AppliedLoad *s, const CalAppliedLoadDef *def) {
	const bool always = def->start == 0 && def->end == 0;
	*s = (AppliedLoad){.node = def->node,
	                   .joint = def->joint,
	                   .body = def->body,
	                   .frame = def->frame,
	                   .dof = def->dof,
	                   .mode = def->mode,
	                   .start = always ? -INFINITY : def->start,
	                   .end = always ? INFINITY : def->end,
	                   .has_formula = has_formula(def)};
	device_check(d, !!def->joint.value + !!def->body.value + !!def->node.value == 1,
	             "it acts on either a node of a body or a joint or a mode of a body; name one");
	device_check(d, s->start < s->end, "it ends (%g s) before it starts (%g s)", s->end, s->start);
	take_component(d, s, 0, &def->effort);
	for (int i = 0; i < 3; i++) {
		take_component(d, s, 1 + i, &def->moment[i]);
		take_component(d, s, 4 + i, &def->force[i]);
	}
	d->def.wrench_count = def->node.value ? 1 : 0;
}

CalStatus cal_sim_add_applied_load(CalSim *sim, const CalAppliedLoadDef *def, int *device, CalError *error) {
	if (!sim || !def)
		return error_null(error, __func__, "sim or def");
	const DofKind kind = def->joint.value  ? dof_kind(sim, def->joint, def->dof)
	                     : def->body.value ? DOF_KIND_EITHER
	                                       : DOF_KIND_TURNS;
	DeviceBuilder d = device_builder(sim, &ops[has_formula(def)][kind], def->name, def->place, error);
	const CalAllocator allocator = allocator_or_default(NULL);
	AppliedLoad *s = memory_alloc(&allocator, sizeof *s);
	if (!s)
		return error_set(error, CAL_ERR_MEMORY, "device \"%s\": %s", def->name ? def->name : "",
		                 cal_status_text(CAL_ERR_MEMORY));
	fill_load(&d, s, def);
	CalStatus status = device_add(&d, &s, sizeof(AppliedLoad *), device);
	for (int i = 0; i < PARTS && status == CAL_ERR_ARGUMENT && d.status == CAL_OK; i++)
		device_check(&d, s->part[i].why.status == CAL_OK, "%s", s->part[i].why.text);
	if (status != CAL_OK)
		load_free(s);
	return status;
}

/* ---- in files ----------------------------------------------------------------------------------- */

#define AT(member) offsetof(CalAppliedLoadDef, member)
static const Field fields[] = {
	DEVICE_FIELDS(CalAppliedLoadDef),
	{"joint", FIELD_JOINT, AT(joint), .doc = "on which it acts, with"},
	{"dof", FIELD_DOF, AT(dof), .doc = "which of the degrees of freedom of the joint; needed if it has several"},
	{"body", FIELD_BODY, AT(body), .doc = "flexible, on one of whose modes it acts, with"},
	{"mode", FIELD_MODE, AT(mode), .doc = "which of them; default the first"},
	{"effort", FIELD_LOAD_VALUE, AT(effort), DIM_TORQUE, .flags = FIELD_BY_DOF,
     .doc = "on the degree of freedom or the mode; or"},
	{"node", FIELD_NODE, AT(node), .doc = "on which it acts, with"},
	{"frame", FIELD_CHOICE, AT(frame), .doc = "axes of the components; default `world`", .words = FRAME_WORDS},
	{"force", FIELD_LOAD_VALUES, AT(force), DIM_FORCE, .doc = "for x, y and z"},
	{"moment", FIELD_LOAD_VALUES, AT(moment), DIM_TORQUE, .doc = "for x, y and z"},
	{"start", FIELD_NUMBER, AT(start), DIM_TIME, .doc = "default from the beginning"},
	{"end", FIELD_NUMBER, AT(end), DIM_TIME, .doc = "default none"},
};
#undef AT
#define LINEAR \
	{ .table.shape = CAL_TABLE_LINEAR }
static const CalAppliedLoadDef start = {.effort = LINEAR,
                                        .moment = {LINEAR, LINEAR, LINEAR},
                                        .force = {LINEAR, LINEAR, LINEAR},
                                        .start = -INFINITY,
                                        .end = INFINITY};
#undef LINEAR
DEVICE_ADD(add_applied_load, CalAppliedLoadDef, cal_sim_add_applied_load)

const DeviceType applied_load_type = {
	.table = {FIELDS("applied_load", fields), .doc =
                                                  "A load while `start` <= t < `end`, as `loads` make it of tables and "
                                                  "formulas: a wrench on a node, or an effort on a joint or a mode."},
	DEVICE_DEF(CalAppliedLoadDef),
	.add = add_applied_load,
	.ops = &ops[0][DOF_KIND_EITHER],
	.start = &start,
	.former = {"table_load", "expression"}};
