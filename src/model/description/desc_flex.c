// SPDX-License-Identifier: Apache-2.0
/*
 * desc_flex.c — cal_desc_set_flexible: the modes of a body, checked and copied.
 *
 * What a description must never hold is refused here: nodes of another body or listed twice, missing arrays,
 * numbers that are not finite. Whether stiffness, shapes and masses make sense as a body is for check_flex.c.
 * The copy is one block (the definition, its nodes, then all numbers), so that it is freed by one call and a
 * failing allocation leaves nothing behind. Second-order shapes are stored symmetric in the two modes.
 */
#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "model/description/desc.h"
#include "model/description/usable.h"

// Squares and their products with small numbers stay within an int; far beyond what a modal body is for.
enum { MAX_MODES = 4096 };

/** The numbers of a definition by kind, for walking over them. */
typedef struct Numbers {
	const double *values;
	size_t count;
	const char *what;
} Numbers;

enum { NODE_ARRAYS = 3 };

static void node_numbers(const CalFlexNode *node, size_t modes, Numbers out[NODE_ARRAYS]) {
	out[0] = (Numbers){node->phi, 3 * modes, "translational shape"};
	out[1] = (Numbers){node->psi, 3 * modes, "slope"};
	out[2] = (Numbers){node->phi2, 3 * modes * modes, "second-order shape"};
}

static bool all_finite(Numbers numbers) {
	for (size_t i = 0; numbers.values && i < numbers.count; i++) {
		if (!number_is_usable(numbers.values[i])) {
			return false;
		}
	}
	return true;
}

/* ---- checks -------------------------------------------------------------------------------- */

static CalStatus definition_check(const CalBodyDef *body, const CalFlexDef *def, CalError *error) {
	if (def->modes <= 0 || def->modes > MAX_MODES) {
		return error_set(error, CAL_ERR_MODEL,
		                 "%s%sbody \"%s\": %d modes; a flexible body has 1 to %d (a rigid one needs no modes)",
		                 PLACE_ARGS(body->place), body->name, def->modes, (int)MAX_MODES);
	}
	if (!def->stiffness) {
		return error_set(error, CAL_ERR_MODEL,
		                 "%s%sbody \"%s\": the modal stiffness is missing; give %d x %d numbers, zeros where there is "
		                 "none",
		                 PLACE_ARGS(body->place), body->name, def->modes, def->modes);
	}
	if (def->node_count < 0 || (def->node_count > 0 && !def->nodes)) {
		return error_set(error, CAL_ERR_ARGUMENT, "%s%sbody \"%s\": %d flexible nodes in %s list of them",
		                 PLACE_ARGS(body->place), body->name, def->node_count, def->nodes ? "the" : "a missing");
	}
	if (!number_is_usable(def->frequency_bound) || def->frequency_bound < 0) {
		return error_set(error, CAL_ERR_MODEL,
		                 "%s%sbody \"%s\": the frequency bound is %g rad/s; it must be positive, or 0 for no bound",
		                 PLACE_ARGS(body->place), body->name, def->frequency_bound);
	}
	size_t square = (size_t)def->modes * (size_t)def->modes;
	const Numbers matrices[] = {{def->stiffness, square, "stiffness"},
	                            {def->damping, square, "damping"},
	                            {def->geometric, CAL_FLEX_GEOMETRIC * square, "geometric stiffness"}};
	for (int i = 0; i < 3; i++) {
		if (!all_finite(matrices[i])) {
			return error_set(error, CAL_ERR_MODEL, "%s%sbody \"%s\": a number of the modal %s " NUMBER_WRONG,
			                 PLACE_ARGS(body->place), body->name, matrices[i].what);
		}
	}
	return CAL_OK;
}

static CalStatus node_finite(const CalBodyDef *body, const char *name, const CalFlexNode *node, int modes,
                             CalError *error) {
	const char *what = number_is_usable(node->mass) ? NULL : "mass";
	if (!all_finite((Numbers){&node->inertia.m[0][0], 9, NULL})) {
		what = "rotary inertia";
	}
	Numbers arrays[NODE_ARRAYS];
	node_numbers(node, (size_t)modes, arrays);
	for (int i = 0; i < NODE_ARRAYS && !what; i++) {
		what = all_finite(arrays[i]) ? NULL : arrays[i].what;
	}
	return what ? error_set(error, CAL_ERR_MODEL, "%s%sbody \"%s\", node \"%s\": its %s " NUMBER_WRONG,
	                        PLACE_ARGS(body->place), body->name, name, what)
	            : CAL_OK;
}

static CalStatus node_check(const CalDesc *desc, CalBodyId id, const CalFlexDef *def, int index, CalError *error) {
	const CalBodyDef *body = &desc_body(desc, id)->def;
	const CalFlexNode *node = &def->nodes[index];
	if (node->node.value == 0 || node->node.value > (uint32_t)desc->node_count) {
		return error_set(
			error, CAL_ERR_ARGUMENT,
			"%s%sbody \"%s\": flexible node %d of %d does not exist (id %u); add the node to the body first",
			PLACE_ARGS(body->place), body->name, index + 1, def->node_count, (unsigned)node->node.value);
	}
	const DescNode *record = desc_node(desc, node->node);
	if (record->body.value != id.value) {
		return error_set(error, CAL_ERR_MODEL,
		                 "%s%sbody \"%s\": flexible node \"%s\" belongs to \"%s\"; list nodes of \"%s\" only",
		                 PLACE_ARGS(body->place), body->name, record->def.name,
		                 record->body.value ? desc_body(desc, record->body)->def.name : "ground", body->name);
	}
	return node_finite(body, record->def.name, node, def->modes, error);
}

/** True if no node is listed twice; else the index of the second listing in *twice. */
static bool nodes_differ(const CalDesc *desc, const CalFlexDef *def, bool *seen, int *twice) {
	memset(seen, 0, (size_t)desc->node_count * sizeof *seen);
	for (int i = 0; i < def->node_count; i++) {
		bool *mark = &seen[def->nodes[i].node.value - 1];
		if (*mark) {
			*twice = i;
			return false;
		}
		*mark = true;
	}
	return true;
}

/* ---- copying ------------------------------------------------------------------------------- */

/** Bytes of the block; false on overflow. */
static bool block_size(const CalFlexDef *def, size_t *size) {
	size_t modes = (size_t)def->modes, nodes;
	size_t numbers = modes * modes * (size_t)((def->damping ? 2 : 1) + (def->geometric ? CAL_FLEX_GEOMETRIC : 0));
	for (int i = 0; i < def->node_count; i++) {
		Numbers arrays[NODE_ARRAYS];
		node_numbers(&def->nodes[i], modes, arrays);
		for (int k = 0; k < NODE_ARRAYS; k++) {
			if (arrays[k].values && !size_add(numbers, arrays[k].count, &numbers)) {
				return false;
			}
		}
	}
	return size_mul(numbers, sizeof(double), &numbers) &&
	       size_mul((size_t)def->node_count, sizeof(CalFlexNode), &nodes) && size_add(nodes, numbers, size) &&
	       size_add(*size, sizeof(CalFlexDef), size);
}

/** Copies numbers to *cursor and moves it on; NULL for NULL. */
static const double *numbers_copy(const double *values, size_t count, double **cursor) {
	if (!values) {
		return NULL;
	}
	double *copy = *cursor;
	memcpy(copy, values, count * sizeof *copy);
	*cursor += count;
	return copy;
}

/** Of `count` matrices [modes][modes] only the symmetric parts, which is all that eta'phi2 eta sees of them. */
static const double *symmetric_copy(const double *values, size_t count, size_t modes, double **cursor) {
	double *copy = *cursor;
	for (size_t i = 0; values && i < count * modes * modes; i++) {
		size_t slab = i / (modes * modes), row = i / modes % modes, column = i % modes;
		copy[i] = 0.5 * values[i] + 0.5 * values[(slab * modes + column) * modes + row];
	}
	*cursor += values ? count * modes * modes : 0;
	return values ? copy : NULL;
}

static CalFlexDef *block_fill(void *block, const CalFlexDef *def) {
	_Static_assert(sizeof(CalFlexDef) % _Alignof(CalFlexNode) == 0, "the nodes follow the definition");
	_Static_assert(sizeof(CalFlexNode) % _Alignof(double) == 0, "the numbers follow the nodes");
	CalFlexDef *flex = block;
	CalFlexNode *nodes = (CalFlexNode *)(flex + 1);
	double *cursor = (double *)(nodes + def->node_count);
	size_t modes = (size_t)def->modes;
	*flex = *def;
	flex->nodes = nodes;
	flex->stiffness = numbers_copy(def->stiffness, modes * modes, &cursor);
	flex->damping = numbers_copy(def->damping, modes * modes, &cursor);
	for (int i = 0; i < def->node_count; i++) {
		nodes[i] = def->nodes[i];
		nodes[i].phi = numbers_copy(def->nodes[i].phi, 3 * modes, &cursor);
		nodes[i].psi = numbers_copy(def->nodes[i].psi, 3 * modes, &cursor);
		nodes[i].phi2 = symmetric_copy(def->nodes[i].phi2, 3, modes, &cursor);
	}
	flex->geometric = symmetric_copy(def->geometric, CAL_FLEX_GEOMETRIC, modes, &cursor);
	return flex;
}

static CalStatus no_memory(const DescBody *body, CalError *error) {
	return error_set(error, CAL_ERR_MEMORY, "body \"%s\": out of memory for its modes", body->def.name);
}

static CalStatus doubles_check(const CalDesc *desc, const DescBody *body, const CalFlexDef *def, CalError *error) {
	bool *seen = memory_alloc(&desc->allocator, (size_t)desc->node_count * sizeof *seen);
	if (!seen) {
		return no_memory(body, error);
	}
	int twice = 0;
	bool differ = nodes_differ(desc, def, seen, &twice);
	memory_free(&desc->allocator, seen);
	return differ
	           ? CAL_OK
	           : error_set(error, CAL_ERR_MODEL,
	                       "%s%sbody \"%s\": flexible node \"%s\" is listed twice; give its shapes and its mass once",
	                       PLACE_ARGS(body->def.place), body->def.name,
	                       desc_node(desc, def->nodes[twice].node)->def.name);
}

CalStatus flex_def_check(const CalDesc *desc, CalBodyId body, const CalFlexDef *def, CalError *error) {
	const DescBody *record = desc_body(desc, body);
	CalStatus status = definition_check(&record->def, def, error);
	for (int i = 0; i < def->node_count && status == CAL_OK; i++) {
		status = node_check(desc, body, def, i, error);
	}
	return status == CAL_OK ? doubles_check(desc, record, def, error) : status;
}

static CalStatus flex_store(CalDesc *desc, DescBody *body, const CalFlexDef *def, CalError *error) {
	size_t size;
	void *block = block_size(def, &size) ? memory_alloc(&desc->allocator, size) : NULL;
	if (!block) {
		return no_memory(body, error);
	}
	body->flex = block_fill(block, def);
	return CAL_OK;
}

CalStatus cal_desc_set_flexible(CalDesc *desc, CalBodyId body, const CalFlexDef *def, CalError *error) {
	if (!desc || !def) {
		return error_set(error, CAL_ERR_ARGUMENT, "cal_desc_set_flexible: desc or def is NULL");
	}
	if (body.value == 0 || body.value > (uint32_t)desc->body_count) {
		return error_set(error, CAL_ERR_ARGUMENT, "cal_desc_set_flexible: the description has no body with id %u%s",
		                 (unsigned)body.value, body.value ? "" : " (the ground is rigid)");
	}
	DescBody *record = &desc->bodies[body.value - 1];
	if (record->flex) {
		return error_set(error, CAL_ERR_MODEL,
		                 "%s%sbody \"%s\": it is flexible already, with %d modes; give all modes in one call",
		                 PLACE_ARGS(record->def.place), record->def.name, record->flex->modes);
	}
	const CalStatus status = flex_def_check(desc, body, def, error);
	return status == CAL_OK ? flex_store(desc, record, def, error) : status;
}

/* ---- links of the caller's own --------------------------------------------------------------- */

static CalStatus link_check(const DescBody *body, const CalLinkDef *def, CalError *error) {
	const CalBodyDef *of = &body->def;
	if (!def->ops || !def->ops->name || !def->ops->inertia || (def->node_count > 0 && !def->ops->node)) {
		return error_set(error, CAL_ERR_MODEL,
		                 "%s%sbody \"%s\": a link of one's own needs a name, the function inertia, and node where it "
		                 "moves nodes; set them in its CalLinkOps",
		                 PLACE_ARGS(of->place), of->name);
	}
	if (def->node_count < 0 || (def->node_count > 0 && !def->nodes)) {
		return error_set(error, CAL_ERR_ARGUMENT, "%s%sbody \"%s\": %d nodes in %s list of them", PLACE_ARGS(of->place),
		                 of->name, def->node_count, def->nodes ? "the" : "a missing");
	}
	if (def->dofs <= 0 || def->dofs > MAX_MODES) {
		return error_set(error, CAL_ERR_MODEL,
		                 "%s%sbody \"%s\": %d dofs of its own; a link has 1 to %d (without any it is a rigid body)",
		                 PLACE_ARGS(of->place), of->name, def->dofs, (int)MAX_MODES);
	}
	for (int i = 0; i < def->node_count; i++) {
		if (def->nodes[i].value == body->frame.value) {
			return error_set(error, CAL_ERR_MODEL,
			                 "%s%sbody \"%s\": its own frame is among the nodes that its dofs move; they are measured "
			                 "from it, leave it out",
			                 PLACE_ARGS(of->place), of->name);
		}
	}
	return CAL_OK;
}

/* As a flexible body whose shapes and stiffness are zero: the functions add all that moves. */
static CalStatus link_store(CalDesc *desc, CalBodyId body, const CalLinkDef *def, CalError *error) {
	const size_t dofs = (size_t)def->dofs, nodes = (size_t)def->node_count;
	const size_t numbers = dofs * dofs > 3 * dofs ? dofs * dofs : 3 * dofs;
	double *zeros = memory_alloc(&desc->allocator, numbers * sizeof *zeros);
	CalFlexNode *list = memory_alloc(&desc->allocator, (nodes + 1) * sizeof *list);
	CalStatus status = zeros && list ? CAL_OK : no_memory(desc_body(desc, body), error);
	if (zeros && list) {
		memset(zeros, 0, numbers * sizeof *zeros);
		for (size_t i = 0; i < nodes; i++) {
			list[i] = (CalFlexNode){.node = def->nodes[i], .phi = zeros};
		}
		status = cal_desc_set_flexible(
			desc, body,
			&(CalFlexDef){
				.modes = def->dofs, .stiffness = zeros, .node_count = def->node_count, .nodes = list, .unsprung = 1},
			error);
	}
	memory_free(&desc->allocator, zeros);
	memory_free(&desc->allocator, list);
	return status;
}

CalStatus cal_desc_set_link(CalDesc *desc, CalBodyId body, const CalLinkDef *def, CalError *error) {
	if (!desc || !def) {
		return error_set(error, CAL_ERR_ARGUMENT, "cal_desc_set_link: desc or def is NULL");
	}
	if (body.value == 0 || body.value > (uint32_t)desc->body_count) {
		return error_set(error, CAL_ERR_ARGUMENT, "cal_desc_set_link: the description has no body with id %u%s",
		                 (unsigned)body.value, body.value ? "" : " (the ground does not move)");
	}
	DescBody *record = &desc->bodies[body.value - 1];
	CalStatus status = link_check(record, def, error);
	if (status == CAL_OK) {
		status = link_store(desc, body, def, error);
	}
	if (status == CAL_OK) {
		record->link = def->ops;
		record->link_data = def->data;
	}
	return status;
}
