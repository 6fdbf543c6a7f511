// SPDX-License-Identifier: Apache-2.0
/*
 * random_flex.c — random flexibility for the bodies of a random tree.
 *
 * Shapes are generic (or planar, so that many inertia invariants vanish), vanish at no node and are not
 * mass-orthogonal; stiffness and damping are full. There are always enough masses for the modes, with or without
 * a rigid part, and modal frequencies are some ten rad/s.
 */
#include "support/random_tree.h"

#include <stdlib.h>
#include <string.h>

static double *random_shape(Rng *r, int modes, double size, unsigned rows) {
	double *x = test_doubles(3 * modes);
	for (int i = 0; i < 3; i++)
		if (rows & 1u << i)
			rng_fill(r, size, modes, x + i * modes);
	return x;
}

/* size (B B' / modes + 1/4), B random */
static double *random_definite(Rng *r, int n, double size) {
	double *B = test_doubles(n * n), *A = test_doubles(n * n);
	rng_fill(r, 1, n * n, B);
	for (int i = 0; i < n; i++)
		for (int j = 0; j < n; j++) {
			double s = i == j ? 0.25 : 0;
			for (int k = 0; k < n; k++)
				s += B[i * n + k] * B[j * n + k] / n;
			A[i * n + j] = size * s;
		}
	free(B);
	return A;
}

static void random_shape2(Rng *r, RefNode *n, int modes) {
	n->phi2 = test_doubles(3 * modes * modes);
	for (int i = 0; i < 3; i++)
		for (int j = 0; j < modes; j++)
			for (int k = 0; k <= j; k++)
				n->phi2[(i * modes + j) * modes + k] = n->phi2[(i * modes + k) * modes + j] = rng_uniform(r, -0.1, 0.1);
}

static double *random_geometric(Rng *r, int modes) {
	double *x = test_doubles(CAL_FLEX_GEOMETRIC * modes * modes);
	for (int i = 0; i < CAL_FLEX_GEOMETRIC; i++)
		for (int j = 0; j < modes; j++)
			for (int k = 0; k <= j; k++)
				x[(i * modes + j) * modes + k] = x[(i * modes + k) * modes + j] = rng_uniform(r, -0.1, 0.1);
	return x;
}

void random_flexibility(Rng *r, RefModel *m, int body, const TreeOptions *o) {
	RefBody *b = &m->bodies[body];
	int modes = 1 + rng_int(r, o->max_modes ? o->max_modes : 8), count = 2 + (modes + 6) / 3;
	int rotary = rng_chance(r, 0.6), slopes = rng_chance(r, 0.8);
	unsigned rows = rng_chance(r, 0.25) ? 6u : 7u; // planar: no shape along x
	b->modes = modes;
	b->stiffness = random_definite(r, modes, 60);
	b->damping = rng_chance(r, 0.5) && !o->conservative ? random_definite(r, modes, 0.5) : NULL;
	if (rows == 6u)
		count += 2;
	if (rng_chance(r, 0.3)) {
		b->mass = 0;
		b->com = (CalVec3){0, 0, 0};
		memset(&b->inertia, 0, sizeof b->inertia);
	}
	for (int k = 0; k < count; k++) {
		RefNode *n = &m->nodes[ref_model_add_node(m, body, rng_placement(r))];
		n->phi = random_shape(r, modes, 0.6, rows);
		n->psi = slopes ? random_shape(r, modes, 0.5, rows == 7u ? 7u : 1u) : NULL;
		n->mass = rng_uniform(r, 0.3, 1);
		if (rotary) {
			double *J = random_definite(r, 3, 0.05);
			memcpy(n->inertia.m, J, 9 * sizeof *J);
			free(J);
		}
		if (o->foreshortening)
			random_shape2(r, n, modes);
	}
	b->geometric = o->geometric ? random_geometric(r, modes) : NULL;
}

int random_flex_node(Rng *r, const RefModel *m, int body) {
	int found = -1, seen = 0;
	for (int i = 0; i < m->node_count; i++)
		if (m->nodes[i].body == body && m->nodes[i].phi && rng_int(r, ++seen) == 0)
			found = i;
	return found;
}

void fixture_describe_flexible(Fixture *f, int body, CalBodyId id, const CalNodeId *nodes) {
	const RefModel *m = f->ref;
	const RefBody *b = &m->bodies[body];
	CalFlexNode *list = test_alloc((size_t)m->node_count + 1, sizeof *list);
	CalFlexDef def = {.modes = b->modes, .stiffness = b->stiffness, .damping = b->damping, .nodes = list};
	def.geometric = b->geometric;
	def.unsprung = 1; // some tests take the springs away
	CalError error = {0};
	for (int i = 0; i < m->node_count; i++) {
		const RefNode *n = &m->nodes[i];
		if (n->body == body && n->phi)
			list[def.node_count++] = (CalFlexNode){nodes[i], n->mass, n->inertia, n->phi, n->psi, n->phi2};
	}
	if (cal_desc_set_flexible(f->desc, id, &def, &error) != CAL_OK)
		check_fail_at(__FILE__, __LINE__, f->seed, "flexibility refused: %s", error.text);
	free(list);
}
