// SPDX-License-Identifier: Apache-2.0
/*
 * quantity_read.c — quantities in formulas: finding them by name in an evaluation context, and the values of coordinates,
 * speeds and outputs of devices there.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/suggest.h"
#include "model/model.h"
#include "quantity/quantity.h"
#include "sim/sim_internal.h"

/* ---- values ------------------------------------------------------------------------------------------------- */

CalStatus read_q(const QuantityRef *ref, CalEvalContext *context, double *value) {
	*value = cal_context_q(context, ref->dof_ref);
	return CAL_OK;
}

CalStatus read_u(const QuantityRef *ref, CalEvalContext *context, double *value) {
	*value = cal_context_u(context, ref->dof_ref);
	return CAL_OK;
}

CalStatus read_device(const QuantityRef *ref, CalEvalContext *context, double *value) {
	*value = 0;
	return ref->component < 0 ? CAL_OK : context_output(context, ref->device, ref->component, value);
}

/* Size of the angular velocity of a joint with a quaternion, or of its rate. */
static double turn_size(const QuantityRef *ref, const CalEvalContext *context,
                        double (*of)(const CalEvalContext *context, CalDofRef ref)) {
	double square = 0;
	for (int k = 0; k < 3; k++) {
		const double w = of(context, (CalDofRef){ref->dof_ref.group, ref->turn_u + k, -1});
		square += w * w;
	}
	return sqrt(square);
}

/* A component of a quaternion changes by half the angular velocity at most. */
CalStatus course_q(const QuantityRef *ref, CalEvalContext *context, Course *course) {
	const CalDofRef at = ref->dof_ref;
	if (at.u < 0)
		*course = (Course){.v = cal_context_q(context, at),
		                   .spread = 0.5 * turn_size(ref, context, cal_context_u),
		                   .bend = 0.5 * turn_size(ref, context, cal_context_udot)};
	else
		*course = (Course){.v = cal_context_q(context, at),
		                   .d = cal_context_u(context, at),
		                   .bend = fabs(cal_context_udot(context, at))};
	return CAL_OK;
}

CalStatus course_u(const QuantityRef *ref, CalEvalContext *context, Course *course) {
	*course =
		(Course){.v = cal_context_u(context, ref->dof_ref), .spread = fabs(cal_context_udot(context, ref->dof_ref))};
	return CAL_OK;
}

/* How outputs change is not known: they count as constant. */
CalStatus course_device(const QuantityRef *ref, CalEvalContext *context, Course *course) {
	*course = (Course){0};
	return read_device(ref, context, &course->v);
}

/* ---- coordinates -------------------------------------------------------------------------------------------- */

typedef struct Search {
	const QuantityText *text;
	const CalEvalContext *context;
	QuantityRef *ref;
	CalError *error;
} Search;

static const char *word_of(const Search *s) { return s->text->quantity->info.word; }

/* Group and body of a joint of that name, or of a body of that name. */
typedef int FindFn(const CalModel *model, const char *name);

static bool find_in_groups(const CalEvalContext *context, FindFn *find, const char *name, int *group, int *body) {
	for (*group = 0; *group < context->sim->group_count; ++*group)
		if ((*body = find(context->sim->groups[*group].model, name)) >= 0)
			return true;
	return false;
}

/* "x, y, z, qw, qx, qy, qz" of a joint. */
static void list_coordinates(const Search *s, int group, int body, char *text, size_t size) {
	const bool speed = s->text->quantity->order != ORDER_Q;
	JointCoordinate c;
	size_t used = 0;
	text[0] = '\0';
	for (int i = 0; joint_coordinate(s->context->sim, group, body, speed, i, &c) && used + 1 < size; i++)
		used += (size_t)snprintf(text + used, size - used, "%s%s", i ? ", " : "", c.info.name);
}

static CalStatus bind_coordinate(const Search *s, int group, int body, int i) {
	const CalSim *sim = s->context->sim;
	const CalModel *model = sim->groups[group].model;
	const Body *b = &model->bodies[body];
	JointCoordinate c;
	joint_coordinate(sim, group, body, s->text->quantity->order != ORDER_Q, i, &c);
	if (!joint_coordinate_place(sim, b->joint_id, i, c.dof, &s->ref->dof_ref))
		return error_set(s->error, CAL_ERR_MODEL, "joint \"%.80s\" is reversed and its quaternion cannot be read",
		                 b->joint);
	for (int u = b->u + b->nu - 1; u >= b->u; u--)
		if (model->dofs[u].q < 0)
			s->ref->turn_u = u; // the first without a coordinate of its own
	return CAL_OK;
}

/* The joint alone, without a component: it has a single one. */
static CalStatus bind_whole_joint(const Search *s, int group, int body, const char *joint) {
	const Body *b = &s->context->sim->groups[group].model->bodies[body];
	const bool speed = s->text->quantity->order != ORDER_Q;
	const char *what = speed ? "speed" : "coordinate";
	const int count = speed ? b->nu : b->nq;
	char names[160];
	if (count == 1)
		return bind_coordinate(s, group, body, 0);
	list_coordinates(s, group, body, names, sizeof names);
	JointCoordinate first = {0};
	if (!joint_coordinate(s->context->sim, group, body, speed, 0, &first))
		return error_set(s->error, CAL_ERR_MODEL, "joint \"%.80s\" has no %s", joint, what);
	return error_set(s->error, CAL_ERR_MODEL, "joint \"%.80s\" has %d %ss: %s; write e.g. %s(%.80s.%s)", joint, count,
	                 what, names, word_of(s), joint, first.info.name);
}

/* "q(JOINT, 2)", as formulas of earlier versions have it: degree of freedom 2. */
static CalStatus refuse_number(const Search *s) {
	const char *joint = s->text->object[0];
	const bool speed = s->text->quantity->order != ORDER_Q;
	int group, body, k = 0;
	for (const char *c = s->text->object[1]; *c >= '0' && *c <= '9' && k < 1000; c++)
		k = 10 * k + (*c - '0');
	if (!find_in_groups(s->context, cal_model_find_joint, joint, &group, &body))
		return error_set(s->error, CAL_ERR_MODEL, "there is no joint \"%.80s\"", joint);
	JointCoordinate c, found = {.dof = -1};
	int count = 0;
	for (; joint_coordinate(s->context->sim, group, body, speed, count, &c); count++)
		if (k > 0 && c.dof == k - 1)
			found = c;
	if (found.dof < 0)
		return bind_whole_joint(s, group, body, joint);
	return error_set(s->error, CAL_ERR_MODEL, "write %s(%.80s%s%s) instead of a number", word_of(s), joint,
	                 count > 1 ? "." : "", count > 1 ? found.info.name : "");
}

static CalStatus bind_mode(const Search *s, int group, int body, const char *name, const char *component) {
	const CalModel *model = s->context->sim->groups[group].model;
	const bool speed = s->text->quantity->order != ORDER_Q;
	CalBodyInfo info;
	cal_model_body(model, body, &info);
	const int mode = mode_find(model, body, speed, component);
	if (mode < 0)
		return error_set(s->error, CAL_ERR_MODEL, "body \"%.80s\" has no \"%.40s\"; it has %d modes, %s1, %s2, ...",
		                 name, component, info.modes, speed ? "etadot" : "eta", speed ? "etadot" : "eta");
	s->ref->dof_ref = (CalDofRef){group, info.u + info.nu + mode, info.q + info.nq + mode};
	return CAL_OK;
}

/* object: cut before the component. */
static CalStatus bind_component(const Search *s, const char *object, const char *component) {
	const bool speed = s->text->quantity->order != ORDER_Q;
	int group, body, joint_group = -1, joint = -1;
	if (find_in_groups(s->context, cal_model_find_joint, object, &joint_group, &joint)) {
		const int i = joint_coordinate_find(s->context->sim, joint_group, joint, speed, component);
		if (i >= 0)
			return bind_coordinate(s, joint_group, joint, i);
	}
	if (find_in_groups(s->context, cal_model_find_body, object, &group, &body) &&
	    (joint < 0 || strncmp(component, "eta", 3) == 0))
		return bind_mode(s, group, body, object, component);
	if (joint < 0)
		return error_set(s->error, CAL_ERR_MODEL, "there is no joint \"%.80s\"", object);
	char names[160];
	list_coordinates(s, joint_group, joint, names, sizeof names);
	return error_set(s->error, CAL_ERR_MODEL, "joint \"%.80s\" has no %s \"%.40s\"; it has %s", object,
	                 speed ? "speed" : "coordinate", component, names);
}

static CalStatus bind_joint(const Search *s) {
	char *object = s->text->object[0], *dot = strrchr(object, '.');
	int group, body;
	if (s->text->object[1])
		return refuse_number(s);
	if (find_in_groups(s->context, cal_model_find_joint, object, &group, &body))
		return bind_whole_joint(s, group, body, object);
	if (!dot)
		return error_set(s->error, CAL_ERR_MODEL, "there is no joint \"%.80s\"", object);
	*dot = '\0';
	const CalStatus status = bind_component(s, object, dot + 1);
	*dot = '.';
	return status;
}

/* ---- nodes -------------------------------------------------------------------------------------------------- */

static CalStatus bind_nodes(const Search *s) {
	s->ref->node_ref[0] = s->ref->node_ref[1] = (CalNodeRef){-1, -1}; // the world
	for (int i = 0; i < 2 && s->text->object[i]; i++)
		if (!cal_context_find_node_by_name(s->context, s->text->object[i], &s->ref->node_ref[i]) &&
		    strcmp(s->text->object[i], "ground") != 0)
			return error_set(s->error, CAL_ERR_MODEL, "there is no node \"%.80s\"; write body, body/node or ground",
			                 s->text->object[i]);
	return CAL_OK;
}

/* Components after the last node. */
static CalStatus bind_node_component(const Search *s) {
	const CalQuantityInfo *info = &s->text->quantity->info;
	char *last = s->text->object[s->text->object[1] ? 1 : 0], *dot = strrchr(last, '.');
	const char *name = s->text->component ? s->text->component : dot ? dot + 1 : "";
	s->ref->component = info->component_count == 1 ? 0 : quantity_component(s->text->quantity, name);
	if (s->ref->component < 0)
		return error_set(s->error, CAL_ERR_MODEL, "%s() needs one of its components %s to %s, e.g. %s(%.80s.%s)",
		                 info->word, info->components[0], info->components[info->component_count - 1], info->word, last,
		                 info->components[0]);
	if (info->component_count == 1 || s->text->component || !dot)
		return bind_nodes(s);
	*dot = '\0';
	const CalStatus status = bind_nodes(s);
	*dot = '.';
	return status;
}

/* ---- devices ------------------------------------------------------------------------------------------------ */

static CalStatus bind_output_of(const Search *s, const char *name, const char *output) {
	const CalSim *sim = s->context->sim;
	const int device = s->ref->device = cal_sim_find_device(sim, name);
	s->ref->component = -1;
	if (device < 0 && sim->comes && sim->comes(sim->comes_user, name))
		return CAL_OK; // bound again when it is there
	if (device < 0)
		return error_set(s->error, CAL_ERR_MODEL, "there is no device \"%.80s\"", name);
	const CalDeviceOps *ops = sim->devices[device].def.ops;
	Suggestion suggestion = {.word = output};
	char hint[128];
	if (sim->devices[device].not_loaded) // what outputs it has is not known
		return CAL_OK;
	if (ops->output_count > CONTEXT_OUTPUTS)
		return error_set(s->error, CAL_ERR_MODEL,
		                 "device \"%.80s\" (%.40s) has more than %d outputs, too many to be read in a formula", name,
		                 ops->type, CONTEXT_OUTPUTS);
	for (int i = 0; ops->output_names && i < ops->output_count; i++) {
		s->ref->component = i;
		if (strcmp(ops->output_names[i], output) == 0)
			return CAL_OK;
		suggestion_offer(&suggestion, ops->output_names[i]);
	}
	return error_set(s->error, CAL_ERR_MODEL, "device \"%.80s\" (%.40s) has no output \"%.80s\"%s", name, ops->type,
	                 output, suggestion_text(&suggestion, hint, sizeof hint));
}

static CalStatus bind_output(const Search *s) {
	char *object = s->text->object[0], *dot = strrchr(object, '.');
	if (!dot || cal_sim_find_device(s->context->sim, object) >= 0)
		return error_set(s->error, CAL_ERR_MODEL, "name an output of the device: device(%.80s.OUTPUT)", object);
	*dot = '\0';
	const CalStatus status = bind_output_of(s, object, dot + 1);
	*dot = '.';
	return status;
}

CalStatus quantity_bind(const QuantityText *text, const CalEvalContext *context, QuantityRef *ref, CalError *error) {
	const Search search = {text, context, ref, error};
	switch (text->quantity->info.about) {
	case CAL_ABOUT_COORDINATE:
		return bind_joint(&search);
	case CAL_ABOUT_NODE:
	case CAL_ABOUT_NODES:
		return bind_node_component(&search);
	default:
		return bind_output(&search);
	}
}
