// SPDX-License-Identifier: Apache-2.0
/*
 * golden_loop.c — the constraints of a golden case as loops of the description, and their rows in the model.
 *
 * Frames and rows of the schema are those of calder/loops.h. A constraint without a name goes by its place in
 * the list, as in the `constraints` of the file's results. Rows are mapped by name: nothing here relies on the
 * order of the loops in the model.
 */
#include <stdio.h>
#include <string.h>

#include "golden/golden.h"

static const struct {
	const char *name;
	CalLoopType type;
	int rows;
} loop_types[] = {
	{"weld", CAL_LOOP_WELD, 6},
	{"prismatic", CAL_LOOP_PRISMATIC, 5},
	{"point", CAL_LOOP_SPHERICAL, 3},
	{"revolute", CAL_LOOP_REVOLUTE, 5},
	{"cylindrical", CAL_LOOP_CYLINDRICAL, 4},
	{"universal", CAL_LOOP_UNIVERSAL, 4},
	{"inplane", CAL_LOOP_INPLANE, 1},
	{"knife", CAL_LOOP_KNIFE, 1},
};

static const TreeNode *constraints(const GoldenCase *c) {
	const TreeNode *list = tree_get(tree_get(c->root, "model"), "constraints");
	return list && !tree_is_null(list) ? list : NULL;
}

/* The name of constraint i, in buffer if the file gives none. */
static CalStatus loop_name(GoldenCase *c, const TreeNode *node, int i, char buffer[16], const char **name) {
	snprintf(buffer, 16, "%d", i);
	return golden_text(c, tree_get(node, "name"), buffer, name);
}

static CalStatus loop_type(GoldenCase *c, const TreeNode *node, const char *name, int *at) {
	const char *type;
	const int count = (int)(sizeof loop_types / sizeof loop_types[0]);
	const CalStatus status = golden_text(c, tree_get(node, "type"), "", &type);
	if (status != CAL_OK)
		return status;
	for (*at = 0; *at < count && strcmp(loop_types[*at].name, type) != 0; ++*at)
		;
	if (*at < count)
		return CAL_OK;
	return tree_error(&c->error, tree_name(c->tree), node, CAL_ERR_INPUT,
	                  "constraint \"%s\": unknown type \"%s\"; the schema has weld, prismatic, point, revolute, "
	                  "cylindrical, universal, inplane and knife",
	                  name, type);
}

/* Frame A or B: the node it is fixed on ({0}: the ground) and its place there. */
static CalStatus read_side(GoldenCase *c, const TreeNode *constraint, const char *side, const char *name, CalNodeId *id,
                           CalPlacement *placement) {
	const TreeNode *node = tree_get(constraint, side), *body = tree_get(node, "body");
	const char *on, *at;
	*id = (CalNodeId){0};
	if (!node || node->kind != TREE_MAP)
		return tree_error(&c->error, tree_name(c->tree), constraint, CAL_ERR_INPUT, "constraint \"%s\" has no frame %s",
		                  name, side);
	CalStatus status = golden_placement(c, node, placement);
	if (status != CAL_OK || !body || tree_is_null(body))
		return status;
	status = golden_text(c, body, NULL, &on);
	if (status == CAL_OK)
		status = golden_text(c, tree_get(node, "node"), "head", &at);
	if (status == CAL_OK && golden_find_node(c, node, on, at, id) != CAL_OK)
		return tree_error(&c->error, tree_name(c->tree), node, CAL_ERR_INPUT,
		                  "constraint \"%s\": frame %s is on node \"%s\" of body \"%s\", which does not exist", name,
		                  side, at, on);
	return status;
}

static CalStatus add_loop(GoldenCase *c, const TreeNode *node, int i) {
	char buffer[16], place[256];
	const char *name;
	int type;
	CalNodeId a = {0}, b = {0};
	CalStatus status = loop_name(c, node, i, buffer, &name);
	if (status == CAL_OK)
		status = loop_type(c, node, name, &type);
	if (status != CAL_OK)
		return status;
	CalLoopDef def = cal_loop_def(loop_types[type].type);
	def.name = name;
	def.place = tree_place(c->tree, node, place, sizeof place);
	status = read_side(c, node, "A", name, &a, &def.a);
	if (status == CAL_OK && def.type != CAL_LOOP_KNIFE)
		status = read_side(c, node, "B", name, &b, &def.b);
	return status == CAL_OK ? cal_desc_close_loop(c->desc, a, &def, b, NULL, &c->error) : status;
}

CalStatus golden_add_loops(GoldenCase *c) {
	const TreeNode *list = constraints(c);
	if (list && list->kind != TREE_LIST)
		return golden_fail(c, list, "model.constraints is not a list");
	CalStatus status = CAL_OK;
	for (int i = 0; status == CAL_OK && list && i < list->count; i++)
		status = add_loop(c, list->items[i], i);
	return status;
}

CalStatus golden_map_loops(GoldenCase *c) {
	const TreeNode *list = constraints(c);
	const int count = list ? list->count : 0;
	int rows = 0;
	if (cal_model_loop_count(c->model) != count)
		return golden_fail(c, list ? list : c->root, "the compiled model has another number of loops");
	for (int i = 0; i < count; i++) {
		char buffer[16];
		const char *name;
		int type;
		CalLoopInfo info;
		CalStatus status = loop_name(c, list->items[i], i, buffer, &name);
		if (status == CAL_OK)
			status = loop_type(c, list->items[i], name, &type);
		if (status != CAL_OK)
			return status;
		const int loop = cal_model_find_loop(c->model, name);
		if (loop < 0 || cal_model_loop(c->model, loop, &info) != CAL_OK || info.rows != loop_types[type].rows ||
		    rows + info.rows > c->rows)
			return tree_error(&c->error, tree_name(c->tree), list->items[i], CAL_ERR_INPUT,
			                  "the compiled model lacks constraint \"%s\", or has it with another number of rows",
			                  name);
		for (int k = 0; k < info.rows; k++)
			c->row[rows++] = info.row + k;
	}
	return rows == c->rows ? CAL_OK : golden_fail(c, list, "the compiled model has another number of rows");
}
