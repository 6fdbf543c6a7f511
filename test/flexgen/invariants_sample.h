// SPDX-License-Identifier: Apache-2.0
/*
 * invariants_sample.h — random lumped bodies, their inertia invariants by direct sums, and bodies made of these.
 */
#ifndef TEST_FLEXGEN_INVARIANTS_SAMPLE_H
#define TEST_FLEXGEN_INVARIANTS_SAMPLE_H

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <calder/calder.h>

#include "support/check.h"
#include "support/rng.h"

enum { MODES = 5, NODES = 12, BODIES = 3, CASES = 30 };

/* A lumped body; the last node stands for what does not deform. */
typedef struct Lumped {
	int modes, count;
	CalVec3 p[NODES + 1];
	double mass[NODES + 1];
	CalMat3 J[NODES + 1];
	double phi[NODES + 1][3 * MODES], psi[NODES + 1][3 * MODES];
	double K[MODES * MODES], D[MODES * MODES];
} Lumped;

/* Invariants with their storage. */
typedef struct Sums {
	CalFlexInvariants in;
	double linear[3 * MODES], angular[3 * MODES], position[9 * MODES], shape[9 * MODES * MODES], modal[MODES * MODES];
} Sums;

/* What a body of the tests is like. */
typedef struct Kind {
	int modes, count;
	bool rotary, slopes, rigid;
	unsigned rows;  // of the shapes: bits x, y, z
	unsigned plane; // of the positions
} Kind;

static inline void component(CalVec3 *v, int i, double value) { *(i == 0 ? &v->x : i == 1 ? &v->y : &v->z) = value; }

static inline double part(CalVec3 v, int i) { return i == 0 ? v.x : i == 1 ? v.y : v.z; }

static inline void random_definite(Rng *r, int n, double size, double *A) {
	double B[MODES * MODES];
	rng_fill(r, 1, n * n, B);
	for (int i = 0; i < n * n; i++) {
		A[i] = i / n == i % n ? size / 4 : 0;
		for (int k = 0; k < n; k++) {
			A[i] += size / n * B[i / n * n + k] * B[i % n * n + k];
		}
	}
}

static inline void random_lumped(Rng *r, Kind kind, Lumped *b) {
	*b = (Lumped){.modes = kind.modes, .count = kind.count + 1};
	for (int i = 0; i <= kind.count; i++) {
		bool rigid = i == kind.count;
		for (int c = 0; c < 3; c++) {
			component(&b->p[i], c, kind.plane & 1u << c ? rng_uniform(r, -1, 2) : 0);
			for (int a = 0; a < kind.modes && !rigid; a++) {
				double size = a == 0 ? 0.01 : 1; // modes of unequal scaling
				b->phi[i][c * kind.modes + a] = kind.rows & 1u << c ? rng_uniform(r, -size, size) : 0;
				b->psi[i][c * kind.modes + a] = kind.slopes ? 0.15 * rng_uniform(r, -size, size) : 0; // below 2 rad
			}
		}
		b->mass[i] = rigid && !kind.rigid ? 0 : rng_uniform(r, 0.3, 1);
		if (rigid ? kind.rigid : kind.rotary) {
			random_definite(r, 3, 0.1, &b->J[i].m[0][0]);
		}
	}
	random_definite(r, kind.modes, 60, b->K);
	random_definite(r, kind.modes, 0.5, b->D);
}

static inline double total_mass(const Lumped *b, CalVec3 *com) {
	double mass = 0;
	*com = (CalVec3){0, 0, 0};
	for (int i = 0; i < b->count; i++) {
		mass += b->mass[i];
		for (int c = 0; c < 3; c++) {
			component(com, c, part(*com, c) + b->mass[i] * part(b->p[i], c));
		}
	}
	*com = (CalVec3){com->x / mass, com->y / mass, com->z / mass};
	return mass;
}

static inline void add_node_sums(const Lumped *b, int i, Sums *s) {
	int m = b->modes;
	const double *phi = b->phi[i], *psi = b->psi[i];
	for (int c = 0; c < 3; c++) {
		int y = (c + 1) % 3, z = (c + 2) % 3;
		for (int a = 0; a < m; a++) {
			s->linear[c * m + a] += b->mass[i] * phi[c * m + a];
			s->angular[c * m + a] +=
				b->mass[i] * (part(b->p[i], y) * phi[z * m + a] - part(b->p[i], z) * phi[y * m + a]);
			for (int d = 0; d < 3; d++) {
				s->angular[c * m + a] += b->J[i].m[c][d] * psi[d * m + a];
				s->position[(c * 3 + d) * m + a] += b->mass[i] * part(b->p[i], c) * phi[d * m + a];
				for (int e = 0; e < m; e++) {
					s->shape[((c * 3 + d) * m + a) * m + e] += b->mass[i] * phi[c * m + a] * phi[d * m + e];
					s->modal[a * m + e] += psi[c * m + a] * b->J[i].m[c][d] * psi[d * m + e] +
					                       (c == d ? b->mass[i] * phi[c * m + a] * phi[c * m + e] : 0);
				}
			}
		}
	}
}

static inline void sums_of(const Lumped *b, Sums *s) {
	*s = (Sums){.in.modes = b->modes};
	s->in.mass = total_mass(b, &s->in.com);
	for (int i = 0; i < b->count; i++) {
		double d[3], square = 0;
		for (int c = 0; c < 3; c++) {
			d[c] = part(b->p[i], c) - part(s->in.com, c);
			square += d[c] * d[c];
		}
		for (int c = 0; c < 9; c++) {
			s->in.inertia.m[c / 3][c % 3] +=
				b->mass[i] * ((c % 4 == 0 ? square : 0) - d[c / 3] * d[c % 3]) + b->J[i].m[c / 3][c % 3];
		}
		add_node_sums(b, i, s);
	}
	s->in.linear = s->linear;
	s->in.angular = s->angular;
	s->in.position = s->position;
	s->in.shape = s->shape;
	s->in.modal_mass = s->modal;
}

static inline Kind random_kind(Rng *r) {
	Kind kind = {.modes = 1 + rng_int(r, MODES), .count = 8 + rng_int(r, NODES - 7), .rows = 7, .plane = 7};
	kind.rotary = rng_chance(r, 0.6);
	kind.slopes = rng_chance(r, 0.7);
	kind.rigid = rng_chance(r, 0.5);
	if (rng_chance(r, 0.3)) {
		kind.rows = 6; // no shape along x
	}
	if (rng_chance(r, 0.2)) {
		kind.plane = 3; // flat
	}
	return kind;
}

/** Body and nodes "n0", "n1", ...; the last node of a lumped body is the rigid part. */
static inline CalBodyId add_body(CalDesc *desc, const Lumped *b, bool invariants, const char *name,
                                 CalFlexNode *nodes) {
	CalBodyDef def = cal_body_def();
	CalBodyId body;
	int rigid = b->count - 1;
	def.name = name;
	def.idealized = 1;
	if (!invariants) {
		def.mass = b->mass[rigid];
		def.com = b->p[rigid];
		def.inertia = b->J[rigid];
	}
	assert_int_equal(cal_desc_add_body(desc, &def, &body, NULL), CAL_OK);
	for (int i = 0; i < rigid; i++) {
		char label[16];
		CalNodeDef node = cal_node_def();
		snprintf(label, sizeof label, "n%d", i);
		node.name = label;
		node.placement.position = b->p[i];
		nodes[i] = (CalFlexNode){.phi = b->phi[i], .psi = b->psi[i]};
		if (!invariants) {
			nodes[i].mass = b->mass[i];
			nodes[i].inertia = b->J[i];
		}
		assert_int_equal(cal_desc_add_node(desc, body, &node, &nodes[i].node, NULL), CAL_OK);
	}
	return body;
}

static inline CalStatus make_flexible(CalDesc *desc, const Lumped *b, const Sums *sums, CalBodyId body,
                                      const CalFlexNode *nodes, CalError *error) {
	CalFlexDef def = {
		.modes = b->modes, .stiffness = b->K, .damping = b->D, .nodes = nodes, .node_count = b->count - 1};
	return sums ? cal_flex_set_invariants(desc, body, &def, &sums->in, error)
	            : cal_desc_set_flexible(desc, body, &def, error);
}

/** A body of the description as a Lumped without limits: its sums are added to *s. */
static inline void sums_of_body(uint64_t seed, const CalDesc *desc, const char *name, Sums *s, int *count) {
	CalFlexNodeInfo info;
	CalBodyDef rigid;
	CalFlexDef flex;
	const CalBodyId body = cal_desc_find_body(desc, name);
	check_ok(seed, cal_flex_body(desc, body, &rigid, &flex));
	Lumped *all = test_alloc(1, sizeof *all);
	*s = (Sums){.in.modes = flex.modes};
	CalVec3 first = {0, 0, 0};
	double origin[9] = {0};
	*count = 0;
	for (int i = 0; i < flex.node_count; i++) {
		check_ok(seed, cal_flex_node(desc, body, i, &info));
		*all = (Lumped){.modes = flex.modes, .count = 1};
		all->p[0] = info.placement.position;
		all->mass[0] = info.flex.mass;
		all->J[0] = info.flex.inertia;
		for (int k = 0; k < 3 * flex.modes; k++) {
			all->phi[0][k] = info.flex.phi ? info.flex.phi[k] : 0;
			all->psi[0][k] = info.flex.psi ? info.flex.psi[k] : 0;
		}
		add_node_sums(all, 0, s);
		s->in.mass += info.flex.mass;
		*count += info.flex.mass > 0;
		for (int c = 0; c < 3; c++) {
			component(&first, c, part(first, c) + info.flex.mass * part(all->p[0], c));
		}
		for (int c = 0; c < 9; c++) {
			double square = part(all->p[0], 0) * part(all->p[0], 0) + part(all->p[0], 1) * part(all->p[0], 1) +
			                part(all->p[0], 2) * part(all->p[0], 2);
			origin[c] +=
				info.flex.mass * ((c % 4 == 0 ? square : 0) - part(all->p[0], c / 3) * part(all->p[0], c % 3)) +
				info.flex.inertia.m[c / 3][c % 3];
		}
	}
	free(all);
	s->in.com = (CalVec3){first.x / s->in.mass, first.y / s->in.mass, first.z / s->in.mass};
	for (int c = 0; c < 9; c++) {
		double square = 0;
		for (int k = 0; k < 3; k++) {
			square += part(s->in.com, k) * part(s->in.com, k);
		}
		s->in.inertia.m[c / 3][c % 3] =
			origin[c] - s->in.mass * ((c % 4 == 0 ? square : 0) - part(s->in.com, c / 3) * part(s->in.com, c % 3));
	}
}

static inline void compare_sums(uint64_t seed, const Sums *got, const Sums *want, double tolerance) {
	int m = want->in.modes;
	check_close(seed, "inertia", 9, &got->in.inertia.m[0][0], &want->in.inertia.m[0][0], tolerance);
	check_close(seed, "linear", 3 * m, got->linear, want->linear, tolerance);
	check_close(seed, "angular", 3 * m, got->angular, want->angular, tolerance);
	check_close(seed, "position", 9 * m, got->position, want->position, tolerance);
	check_close(seed, "shape", 9 * m * m, got->shape, want->shape, tolerance);
	check_close(seed, "modal mass", m * m, got->modal, want->modal, tolerance);
}

/** The invariants of `sums` on a body of their own; got: what its nodes have. */
static inline CalStatus try_sums(const Lumped *b, const Sums *sums, Sums *got, CalError *error) {
	CalDesc *desc;
	CalFlexNode nodes[NODES];
	int count;
	assert_int_equal(cal_desc_create(NULL, &desc), CAL_OK);
	CalBodyId body = add_body(desc, b, true, "boom", nodes);
	CalStatus status = make_flexible(desc, b, sums, body, nodes, error);
	if (status == CAL_OK && got) {
		sums_of_body(0, desc, "boom", got, &count);
	}
	cal_desc_destroy(desc);
	return status;
}

static inline void must_take(uint64_t seed, const Lumped *b, const Sums *sums, const Sums *want, double tolerance) {
	CalError error = {0};
	Sums got;
	if (try_sums(b, sums, &got, &error) != CAL_OK) {
		check_fail_at(__FILE__, __LINE__, seed, "%s", error.text);
	}
	assert_int_equal(error.count, 0); // nothing is said about what is taken
	compare_sums(seed, &got, want, tolerance);
}

#endif
