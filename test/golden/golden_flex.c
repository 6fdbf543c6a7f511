// SPDX-License-Identifier: Apache-2.0
/*
 * golden_flex.c — the modes of a flexible body of a golden case, through the public builder.
 *
 * The schema's body is the library's: nodes at p + phi eta (+ eta'phi2 eta) with axes exp([psi eta]x), point
 * masses and rotary inertias constant in B on the nodes, the rigid part in the body itself.
 */
#include "golden/golden.h"

static CalStatus no_memory(GoldenCase *c) {
	return tree_error(&c->error, tree_name(c->tree), NULL, CAL_ERR_MEMORY, "out of memory");
}

/* n numbers in memory of the tree; *out stays NULL if the key is absent. */
static CalStatus read_array(GoldenCase *c, const TreeNode *node, int n, const double **out) {
	*out = NULL;
	if (!node)
		return CAL_OK;
	double *numbers = tree_array(c->tree, (size_t)n, sizeof *numbers);
	if (!numbers)
		return no_memory(c);
	*out = numbers;
	return golden_numbers(c, node, numbers, n);
}

static CalStatus read_node(GoldenCase *c, const TreeNode *node, int modes, CalFlexNode *out) {
	CalStatus status = golden_number(c, tree_get(node, "m"), 0, &out->mass);
	if (status == CAL_OK)
		status = golden_numbers(c, tree_get(node, "J"), &out->inertia.m[0][0], 9);
	if (status == CAL_OK)
		status = read_array(c, tree_get(node, "phi"), 3 * modes, &out->phi);
	if (status == CAL_OK)
		status = read_array(c, tree_get(node, "psi"), 3 * modes, &out->psi);
	if (status == CAL_OK)
		status = read_array(c, tree_get(node, "phi2"), 3 * modes * modes, &out->phi2);
	return status;
}

CalStatus golden_add_flexibility(GoldenCase *c, const TreeNode *body, CalBodyId id, const CalNodeId *nodes) {
	const TreeNode *list = tree_get(body, "nodes");
	CalFlexDef def = {.unsprung = 1}; // whatever a case has in K is meant
	CalStatus status = golden_modes(c, body, &def.modes);
	if (status != CAL_OK || def.modes == 0)
		return status;
	if (!tree_get(body, "K"))
		return golden_fail(c, body, "a flexible body without K");
	if ((size_t)def.modes * (size_t)def.modes > body->weight) // the numbers of K are nodes of the tree
		return golden_fail(c, tree_get(body, "K"), "nm does not fit the size of K");
	const int count = list && list->kind == TREE_LIST ? list->count : 0;
	def.node_count = count;
	CalFlexNode *flex = tree_array(c->tree, (size_t)count + 1, sizeof *flex);
	if (!flex)
		return no_memory(c);
	def.nodes = flex;
	status = read_array(c, tree_get(body, "K"), def.modes * def.modes, &def.stiffness);
	if (status == CAL_OK)
		status = read_array(c, tree_get(body, "D"), def.modes * def.modes, &def.damping);
	for (int i = 0; status == CAL_OK && i < count; i++) {
		flex[i].node = nodes[i];
		status = read_node(c, list->items[i], def.modes, &flex[i]);
	}
	return status == CAL_OK ? cal_desc_set_flexible(c->desc, id, &def, &c->error) : status;
}
