// SPDX-License-Identifier: Apache-2.0
/*
 * flex_builder.c — from a builder to a body of the description; modal damping.
 *
 * Damping is asked for as one ratio for all modes of the body with B held. In the builder's own coordinates, with
 * K v = w^2 M v and V'MV = 1, that is D = M V diag(2 zeta w) V' M.
 */
#include "flexgen/flex_builder.h"

#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "flexbody/modal.h"
#include "math/eigen.h"

const char *cal_flex_boundary_name(CalFlexBoundary boundary) {
	switch (boundary) {
#define BOUNDARY_CASE(name, text) \
	case name:                    \
		return text;
		CAL_FLEX_BOUNDARY_LIST(BOUNDARY_CASE)
#undef BOUNDARY_CASE
	case CAL_FLEX_BOUNDARY_COUNT:
		break;
	}
	return NULL;
}

const char *choice_fault(const CalFlexChoice *c) {
	if (!cal_flex_boundary_name(c->boundary)) {
		return "the boundary is none of CAL_FLEX_...";
	}
	if (c->modes < 0 || !(c->max_frequency >= 0) || !isfinite(c->max_frequency)) {
		return "modes and max_frequency must not be negative";
	}
	if (c->modes == 0 && c->max_frequency == 0 && c->boundary != CAL_FLEX_CRAIG_BAMPTON) {
		return "no modes are asked for; set choice.modes or choice.max_frequency";
	}
	if (!(c->damping_ratio >= 0) || !isfinite(c->damping_ratio)) {
		return "damping_ratio must not be negative";
	}
	if (!(c->bound >= 0) || !isfinite(c->bound)) {
		return "the frequency bound must not be negative";
	}
	return NULL;
}

CalStatus flex_builder_create(int nodes, int modes, bool second_order, FlexBuilder *builder) {
	size_t m = (size_t)modes, per_node = 6 * m + (second_order ? 3 * m * m : 0);
	size_t count = (size_t)nodes, doubles, bytes, head = 0, squares = 1 + (second_order ? CAL_FLEX_GEOMETRIC : 0);
	*builder = (FlexBuilder){0};
	if (!size_mul(count, per_node, &doubles) || !size_add(doubles, squares * m * m, &doubles) ||
	    !size_mul(doubles, sizeof(double), &bytes) || !size_mul(count, sizeof(FlexBuilderNode), &head) ||
	    !size_add(bytes, head, &bytes)) {
		return CAL_ERR_MEMORY;
	}
	CalAllocator allocator = allocator_or_default(NULL);
	builder->memory = memory_alloc(&allocator, bytes);
	if (!builder->memory) {
		return CAL_ERR_MEMORY;
	}
	memset(builder->memory, 0, bytes);
	builder->modes = modes;
	builder->node_count = nodes;
	builder->stiffness = builder->memory;
	builder->geometric = second_order ? builder->stiffness + m * m : NULL;
	double *next = builder->stiffness + squares * m * m;
	builder->nodes = (FlexBuilderNode *)(next + count * per_node);
	for (int i = 0; i < nodes; i++, next += per_node) {
		builder->nodes[i].phi = next;
		builder->nodes[i].psi = next + 3 * m;
		builder->nodes[i].phi2 = second_order ? next + 6 * m : NULL;
	}
	return CAL_OK;
}

void flex_builder_free(FlexBuilder *builder) {
	CalAllocator allocator = allocator_or_default(NULL);
	memory_free(&allocator, builder->memory);
	*builder = (FlexBuilder){0};
}

/* ---- damping ------------------------------------------------------------------------------- */

/** D[m*m] from M[m*m] and K[m*m], which are kept; work[2 m*m + 3 m]. */
static CalStatus modal_damping(int m, const double *M, const double *K, double ratio, double *D, double *work) {
	size_t size = (size_t)m * (size_t)m;
	double *V = work, *L = work + size, *values = L + size, *scratch = values + m;
	memcpy(V, K, size * sizeof *V);
	memcpy(L, M, size * sizeof *L);
	CalStatus status = eigen_generalized(m, V, L, values, scratch);
	if (status != CAL_OK) {
		return status;
	}
	double *MV = L;
	for (int i = 0; i < m; i++) {
		for (int k = 0; k < m; k++) {
			double sum = 0;
			for (int j = 0; j < m; j++) {
				sum += M[i * m + j] * V[j * m + k];
			}
			MV[i * m + k] = sum;
		}
	}
	for (int i = 0; i < m; i++) {
		for (int j = 0; j < m; j++) {
			double sum = 0;
			for (int k = 0; k < m; k++) {
				sum += MV[i * m + k] * 2 * ratio * sqrt(fmax(values[k], 0)) * MV[j * m + k];
			}
			D[i * m + j] = sum;
		}
	}
	return CAL_OK;
}

/** The damping of the builder's flexibility; *D NULL without damping, else freed by the caller. */
static CalStatus damping_of(const ModalBody *body, double ratio, double **D) {
	*D = NULL;
	if (ratio == 0) {
		return CAL_OK;
	}
	int m = body->flex->modes;
	size_t size = (size_t)m * (size_t)m;
	CalAllocator allocator = allocator_or_default(NULL);
	*D = memory_alloc(&allocator, (4 * size + 3 * (size_t)m) * sizeof(double));
	if (!*D) {
		return CAL_ERR_MEMORY;
	}
	double *M = *D + size, *work = M + size;
	modal_mass(body, NULL, NULL, M);
	return modal_damping(m, M, body->flex->stiffness, ratio, *D, work);
}

/* ---- into the description ------------------------------------------------------------------ */

CalStatus flex_builder_add_nodes(const FlexBuilder *builder, CalDesc *desc, CalBodyId body, const char *place,
                                 CalFlexNode *nodes, CalError *error) {
	CalStatus status = CAL_OK;
	for (int i = 0; status == CAL_OK && i < builder->node_count; i++) {
		CalNodeDef def = cal_node_def();
		def.name = builder->nodes[i].name;
		def.placement.position = builder->nodes[i].p;
		def.place = place;
		status = cal_desc_add_node(desc, body, &def, &nodes[i].node, error);
	}
	return status;
}

/** The numbers, or NULL if all are zero: a node that does not move that way costs nothing. */
static const double *or_null(const double *numbers, size_t count) {
	for (size_t i = 0; i < count; i++) {
		if (numbers[i] != 0) {
			return numbers;
		}
	}
	return NULL;
}

void flex_builder_flex_nodes(const FlexBuilder *builder, CalFlexNode *nodes) {
	size_t m = (size_t)builder->modes;
	for (int i = 0; i < builder->node_count; i++) {
		const FlexBuilderNode *n = &builder->nodes[i];
		nodes[i] = (CalFlexNode){.mass = n->mass, .inertia = n->inertia};
		nodes[i].phi = or_null(n->phi, 3 * m);
		nodes[i].psi = or_null(n->psi, 3 * m);
		nodes[i].phi2 = n->phi2 ? or_null(n->phi2, 3 * m * m) : NULL;
	}
}

static CalStatus add_all(const FlexBuilder *builder, CalDesc *desc, const CalBodyDef *body, const CalFlexChoice *choice,
                         CalFlexNode *nodes, CalVec3 *positions, CalBodyId *id, CalError *error) {
	CalFlexDef flex = {.modes = builder->modes,
	                   .stiffness = builder->stiffness,
	                   .node_count = builder->node_count,
	                   .nodes = nodes,
	                   .frequency_bound = choice->bound};
	flex_builder_flex_nodes(builder, nodes);
	flex.geometric =
		builder->geometric ? or_null(builder->geometric, CAL_FLEX_GEOMETRIC * (size_t)(flex.modes * flex.modes)) : NULL;
	for (int i = 0; i < builder->node_count; i++) {
		positions[i] = builder->nodes[i].p;
	}
	const ModalBody modal = {.body = body, .flex = &flex, .position = positions};
	double *D;
	CalStatus status = damping_of(&modal, choice->damping_ratio, &D);
	flex.damping = D;
	if (status != CAL_OK) {
		error_set(error, status, "%s%sbody \"%s\": no modal damping: %s", PLACE_ARGS(body->place), body->name,
		          cal_status_text(status));
	} else {
		status = cal_desc_add_body(desc, body, id, error);
	}
	if (status == CAL_OK) {
		status = flex_builder_add_nodes(builder, desc, *id, body->place, nodes, error);
	}
	if (status == CAL_OK) {
		status = cal_desc_set_flexible(desc, *id, &flex, error);
	}
	CalAllocator allocator = allocator_or_default(NULL);
	memory_free(&allocator, D);
	return status;
}

CalStatus flex_builder_add(const FlexBuilder *builder, CalDesc *desc, const CalBodyDef *body,
                           const CalFlexChoice *choice, CalBodyId *id, CalError *error) {
	CalAllocator allocator = allocator_or_default(NULL);
	CalBodyId local = {0};
	size_t count = (size_t)builder->node_count;
	CalFlexNode *nodes = memory_alloc(&allocator, count * (sizeof(CalFlexNode) + sizeof(CalVec3)));
	if (!nodes) {
		return error_set(error, CAL_ERR_MEMORY, "body \"%s\": out of memory", body->name);
	}
	CalStatus status = add_all(builder, desc, body, choice, nodes, (CalVec3 *)(nodes + count), &local, error);
	memory_free(&allocator, nodes);
	if (status == CAL_OK && id) {
		*id = local;
	}
	return status;
}
