// SPDX-License-Identifier: Apache-2.0
/*
 * golden_bind.c — a golden case on a compiled model: memory, map of speeds, state, inputs.
 *
 * The speeds of a body are those of its joint, then its modal ones, in the file as in the model.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "golden/golden.h"

static CalStatus no_memory(GoldenCase *c) {
	return tree_error(&c->error, tree_name(c->tree), NULL, CAL_ERR_MEMORY, "out of memory");
}

static size_t at_least_one(size_t n) { return n ? n : 1; }

/* Wrenches of `applied` here or of the segment of a schedule that has most. */
static int wrench_count(const TreeNode *root) {
	const TreeNode *own = tree_get(tree_get(root, "applied"), "wrenches"), *schedule = tree_get(root, "schedule");
	int most = own && own->kind == TREE_LIST ? own->count : 0;
	for (int i = 0; schedule && schedule->kind == TREE_LIST && i < schedule->count; i++) {
		const TreeNode *list = tree_get(tree_get(schedule->items[i], "applied"), "wrenches");
		if (list && list->kind == TREE_LIST && list->count > most)
			most = list->count;
	}
	return most;
}

static CalStatus take_row_memory(GoldenCase *c) {
	const size_t n = at_least_one((size_t)c->nu), rows = at_least_one((size_t)c->rows);
	c->numbers = calloc(n > rows ? n : rows, sizeof *c->numbers);
	c->row = calloc(rows, sizeof *c->row);
	c->by_row = calloc(rows * GOLDEN_VECTORS, sizeof *c->by_row);
	c->matrix = calloc(rows, n * sizeof *c->matrix);
	return c->numbers && c->row && c->by_row && c->matrix ? CAL_OK : no_memory(c);
}

static CalStatus take_memory(GoldenCase *c) {
	const size_t n = at_least_one((size_t)c->nu);
	const TreeNode *springs = tree_get(tree_get(c->root, "model"), "springs");
	c->spring_count = springs && springs->kind == TREE_LIST ? springs->count : 0;
	c->wrench_capacity = wrench_count(c->root) + 2 * c->spring_count;
	c->bodies = calloc(at_least_one((size_t)c->body_count), sizeof *c->bodies);
	c->speed = calloc(n, sizeof *c->speed);
	c->scratch = calloc(n * GOLDEN_VECTORS, sizeof *c->scratch);
	c->square = calloc(n, n * sizeof *c->square);
	c->tau = calloc(n, sizeof *c->tau);
	c->udot_given = calloc(n, sizeof *c->udot_given);
	c->prescribed = calloc(n, sizeof *c->prescribed);
	c->wrenches = calloc(at_least_one((size_t)c->wrench_capacity), sizeof *c->wrenches);
	c->springs = calloc(at_least_one((size_t)c->spring_count), sizeof *c->springs);
	if (!c->bodies || !c->speed || !c->scratch || !c->square || !c->tau || !c->udot_given || !c->prescribed ||
	    !c->wrenches || !c->springs)
		return no_memory(c);
	if (cal_work_create(c->model, &c->work) != CAL_OK || cal_work_create(c->model, &c->spring_work) != CAL_OK ||
	    cal_state_create(c->model, &c->state) != CAL_OK)
		return no_memory(c);
	return take_row_memory(c);
}

/* Bodies of the file in the model, and where each of their speeds went. */
static CalStatus map_bodies(GoldenCase *c) {
	const TreeNode *list = tree_get(tree_get(c->root, "model"), "bodies");
	int u = 0;
	for (int i = 0; i < c->body_count; i++) {
		GoldenBody *body = &c->bodies[i];
		CalStatus status = golden_text(c, tree_get(list->items[i], "name"), NULL, &body->name);
		if (status != CAL_OK)
			return status;
		body->node = list->items[i];
		body->u = u;
		const int index = cal_model_find_body(c->model, body->name);
		if (index < 0 || cal_model_body(c->model, index, &body->info) != CAL_OK)
			return golden_fail(c, body->node, "the compiled model lacks this body");
		for (int k = 0; k < body->info.nu + body->info.modes && u < c->nu; k++)
			c->speed[u++] = body->info.u + k;
	}
	return u == c->nu ? CAL_OK : golden_fail(c, list, "the compiled model has another number of speeds");
}

CalStatus golden_bind(GoldenCase *c, CalSolver solver) {
	const CalCompileOptions options = {.solver = solver};
	CalStatus status = cal_model_compile(c->desc, &options, &c->model, &c->error);
	if (status != CAL_OK)
		return status;
	c->nu = cal_model_u_count(c->model);
	c->rows = cal_model_row_count(c->model);
	c->body_count = cal_model_body_count(c->model);
	if (c->body_count != tree_get(tree_get(c->root, "model"), "bodies")->count)
		return golden_fail(c, c->root, "the compiled model has another number of bodies");
	status = take_memory(c);
	if (status == CAL_OK)
		status = map_bodies(c);
	if (status == CAL_OK)
		status = golden_map_loops(c);
	if (status == CAL_OK)
		status = golden_springs_bind(c);
	return status == CAL_OK ? golden_set_state(c, tree_get(c->root, "state")) : status;
}

void golden_unbind(GoldenCase *c) {
	cal_state_destroy(&c->state);
	cal_work_destroy(c->work);
	cal_work_destroy(c->spring_work);
	cal_model_destroy(c->model);
	free(c->bodies);
	free(c->speed);
	free(c->scratch);
	free(c->square);
	free(c->numbers);
	free(c->row);
	free(c->by_row);
	free(c->matrix);
	free(c->tau);
	free(c->udot_given);
	free(c->prescribed);
	free(c->wrenches);
	free(c->springs);
	const GoldenCase kept = *c;
	*c = (GoldenCase){.tree = kept.tree,
	                  .root = kept.root,
	                  .error = kept.error,
	                  .desc = kept.desc,
	                  .tolerance = kept.tolerance,
	                  .tally = kept.tally};
}

static CalStatus set_body_state(GoldenCase *c, const GoldenBody *body, const TreeNode *entry) {
	const CalBodyInfo *info = &body->info;
	double *q = c->state.q + info->q, *u = c->state.u + info->u;
	CalStatus status = golden_numbers(c, tree_get(entry, "q"), q, info->nq);
	if (status == CAL_OK)
		status = golden_numbers(c, tree_get(entry, "u"), u, info->nu);
	if (status == CAL_OK)
		status = golden_numbers(c, tree_get(entry, "eta"), q + info->nq, info->modes);
	if (status == CAL_OK)
		status = golden_numbers(c, tree_get(entry, "etadot"), u + info->nu, info->modes);
	return status;
}

CalStatus golden_set_state(GoldenCase *c, const TreeNode *state) {
	for (int i = 0; i < c->body_count; i++) {
		const GoldenBody *body = &c->bodies[i];
		const TreeNode *entry = tree_get(state, body->name);
		if (!entry && body->info.nu == 0 && body->info.modes == 0)
			continue;
		if (!entry || (body->info.nu > 0 && (!tree_get(entry, "q") || !tree_get(entry, "u"))) ||
		    (body->info.modes > 0 && (!tree_get(entry, "eta") || !tree_get(entry, "etadot"))))
			return golden_fail(c, body->node, "the case gives no state for this body");
		const CalStatus status = set_body_state(c, body, entry);
		if (status != CAL_OK)
			return status;
	}
	if (cal_config_normalize(c->model, c->state.q) != CAL_OK)
		return golden_fail(c, state ? state : c->root, "a quaternion of the state is zero");
	c->state.t = 0;
	return CAL_OK;
}

static const GoldenBody *find_body(const GoldenCase *c, const char *name) {
	for (int i = 0; i < c->body_count; i++) {
		if (strcmp(c->bodies[i].name, name) == 0)
			return &c->bodies[i];
	}
	return NULL;
}

/* Forces on joint speeds, or on modal speeds. */
static CalStatus set_tau(GoldenCase *c, const TreeNode *tau, int modal) {
	for (int i = 0; tau && tau->kind == TREE_MAP && i < tau->count; i++) {
		const GoldenBody *body = find_body(c, tree_key(tau, i)->text);
		if (!body)
			return golden_fail(c, tree_key(tau, i), "unknown body");
		const CalStatus status = golden_numbers(c, tau->items[i], c->tau + body->info.u + (modal ? body->info.nu : 0),
		                                        modal ? body->info.modes : body->info.nu);
		if (status != CAL_OK)
			return status;
	}
	return CAL_OK;
}

static CalStatus read_wrench(GoldenCase *c, const TreeNode *node, CalWrench *wrench) {
	const char *body, *name, *frame;
	double f[3], m[3];
	char path[256];
	CalStatus status = golden_text(c, tree_get(node, "body"), NULL, &body);
	if (status == CAL_OK)
		status = golden_text(c, tree_get(node, "node"), "head", &name);
	if (status == CAL_OK)
		status = golden_text(c, tree_get(node, "frame"), "world", &frame);
	if (status == CAL_OK)
		status = golden_numbers(c, tree_get(node, "force"), f, 3);
	if (status == CAL_OK)
		status = golden_numbers(c, tree_get(node, "moment"), m, 3);
	if (status != CAL_OK)
		return status;
	snprintf(path, sizeof path, "%s/%s", body, name);
	wrench->node = cal_model_find_node(c->model, strcmp(name, "head") == 0 ? body : path);
	wrench->frame = strcmp(frame, "node") == 0 ? CAL_FRAME_NODE : CAL_FRAME_WORLD;
	wrench->f = (CalSpatial){{m[0], m[1], m[2]}, {f[0], f[1], f[2]}};
	return wrench->node >= 0 ? CAL_OK : golden_fail(c, node, "a wrench on an unknown node");
}

static CalStatus set_wrenches(GoldenCase *c, const TreeNode *list) {
	c->applied_wrenches = 0;
	for (int i = 0; list && list->kind == TREE_LIST && i < list->count; i++) {
		const CalStatus status = read_wrench(c, list->items[i], &c->wrenches[i]);
		if (status != CAL_OK)
			return status;
		c->applied_wrenches = i + 1;
	}
	return CAL_OK;
}

static CalStatus set_prescribed(GoldenCase *c, const TreeNode *prescribed) {
	memset(c->prescribed, 0, (size_t)c->nu);
	for (int i = 0; prescribed && prescribed->kind == TREE_MAP && i < prescribed->count; i++) {
		const GoldenBody *body = find_body(c, tree_key(prescribed, i)->text);
		const TreeNode *dofs = tree_get(prescribed->items[i], "dofs"), *udot = tree_get(prescribed->items[i], "udot");
		if (!body || !dofs || dofs->kind != TREE_LIST || !udot || udot->kind != TREE_LIST || udot->count != dofs->count)
			return golden_fail(c, tree_key(prescribed, i), "unknown body, or no lists of dofs and udot");
		for (int k = 0; k < dofs->count; k++) {
			double index, value;
			CalStatus status = golden_number(c, dofs->items[k], 0, &index);
			if (status == CAL_OK)
				status = golden_number(c, udot->items[k], 0, &value);
			if (status == CAL_OK && !(index >= 0 && index < body->info.nu + body->info.modes))
				status = golden_fail(c, dofs, "a degree of freedom that the body does not have");
			if (status != CAL_OK)
				return status;
			c->prescribed[body->info.u + (int)index] = 1;
			c->udot_given[body->info.u + (int)index] = value;
		}
	}
	return CAL_OK;
}

CalStatus golden_set_input(GoldenCase *c, const TreeNode *applied, const TreeNode *prescribed) {
	memset(c->tau, 0, (size_t)c->nu * sizeof *c->tau);
	CalStatus status = set_tau(c, tree_get(applied, "tau"), 0);
	if (status == CAL_OK)
		status = set_tau(c, tree_get(applied, "modal"), 1);
	if (status == CAL_OK)
		status = set_wrenches(c, tree_get(applied, "wrenches"));
	if (status == CAL_OK)
		status = set_prescribed(c, prescribed);
	c->input.tau = c->tau;
	c->input.prescribed = c->prescribed;
	c->input.udot = c->udot_given;
	c->input.wrenches = c->wrenches;
	return status == CAL_OK ? golden_springs_apply(c, &c->state) : status;
}
