// SPDX-License-Identifier: Apache-2.0
/*
 * test_loop_rows.c — constraint equations: their derivatives three ways, and the work of their forces.
 *
 * The reference makes rates and biases by the product rule from the frames' motion. Here they are compared with
 * residuals differentiated numerically in quad, and, for loops given by directions, with the explicit formulas that
 * an engine would use. States are on the constraints or anywhere: all of it holds off them too.
 */
#include "support/random_loop.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CASES = 6 };

/* A model of one type of loop with a state: its own one, or (away) any near it at another time. */
typedef struct Sample {
	RefModel *m;
	int n, rows;
	double t, *q, *u;
} Sample;

static Sample sample_make(uint64_t seed, RefLoopType type, int away) {
	Rng r = rng_make(seed * 1000 + (uint64_t)type);
	LoopOptions o = {.tree = tree_flexible(seed), .loops = 1, .types = 1u << type, .driven = rng_chance(&r, 0.5)};
	o.tree.bodies = 3 + rng_int(&r, 2);
	o.tree.max_modes = 3;
	o.tree.rate = 1;
	Sample s = {.m = random_loop(&r, o)};
	s.n = s.m->nu;
	s.rows = ref_model_rows(s.m);
	s.q = test_doubles(s.m->nq);
	s.u = test_doubles(s.n);
	ref_model_start(s.m, s.q, s.u);
	if (away) {
		double *dq = test_doubles(s.n), *q = test_doubles(s.m->nq);
		rng_fill(&r, 0.1, s.n, dq);
		ref_config_integrate(s.m, s.q, dq, q);
		free(dq), free(s.q);
		s.q = q;
		s.t = 0.7;
		rng_fill(&r, 1, s.n, s.u);
	}
	return s;
}

static void sample_free(Sample *s) {
	ref_model_destroy(s->m);
	free(s->q), free(s->u);
}

/* On the constraints and away from them by turns; made once for all tests. */
static Sample samples[CASES][REF_LOOP_TYPE_COUNT];

static int make_samples(void **state) {
	(void)state;
	for (int i = 0; i < CASES; i++)
		for (int type = 0; type < REF_LOOP_TYPE_COUNT; type++)
			samples[i][type] = sample_make(test_seed() + (uint64_t)i, (RefLoopType)type, i % 2);
	return 0;
}

static int free_samples(void **state) {
	(void)state;
	for (int i = 0; i < CASES; i++)
		for (int type = 0; type < REF_LOOP_TYPE_COUNT; type++)
			sample_free(&samples[i][type]);
	return 0;
}

typedef void (*SampleFn)(uint64_t seed, const Sample *s, RefLoop *l);

static void for_all_samples(SampleFn check) {
	for (int i = 0; i < CASES; i++)
		for (int type = 0; type < REF_LOOP_TYPE_COUNT; type++)
			check(test_seed() + (uint64_t)i, &samples[i][type], samples[i][type].m->loops);
}

static void check_start(uint64_t seed, const Sample *s, RefLoop *l) {
	double *g = test_doubles(2 * s->rows), *zero = test_doubles(2 * s->rows);
	double *q = test_doubles(s->m->nq), *u = test_doubles(s->n);
	ref_model_start(s->m, q, u);
	refq_loop_rows(s->m, 0, q, u, g, g + s->rows, NULL, NULL);
	check_close_scaled(seed, ref_loop_type_name(l->type), 2 * s->rows, g, zero, 1, 1e-14);
	free(g), free(zero), free(q), free(u);
}

static void start_states_are_on_the_constraints(void **state) {
	(void)state;
	for_all_samples(check_start);
}

static void check_derivatives(uint64_t seed, const Sample *s, RefLoop *l) {
	int size = s->rows * (s->n + 2);
	double *direct = test_doubles(size), *other = test_doubles(size);
	double *G = other + s->rows, *gamma = G + s->rows * s->n;
	refq_loop_rows(s->m, s->t, s->q, s->u, NULL, direct, direct + (G - other), direct + (gamma - other));
	refq_loop_rows_numeric(s->m, s->t, s->q, s->u, other, G, gamma);
	check_close_scaled(seed, ref_loop_type_name(l->type), size, other, direct, 1e-3, 1e-14);
	ref_loop_rows(s->m, s->t, s->q, s->u, NULL, other, G, gamma);
	check_close_scaled(seed, "double", size, other, direct, 1e-3, 1e-12);
	free(direct), free(other);
}

static void numerical_derivatives_of_residuals_are_the_rows(void **state) {
	(void)state;
	for_all_samples(check_derivatives);
}

/* ---- the formulas of an engine -------------------------------------------------------------- */

static CalVec3 plus(CalVec3 a, CalVec3 b) { return (CalVec3){a.x + b.x, a.y + b.y, a.z + b.z}; }
static CalVec3 minus(CalVec3 a, CalVec3 b) { return (CalVec3){a.x - b.x, a.y - b.y, a.z - b.z}; }
static CalVec3 times(double s, CalVec3 a) { return (CalVec3){s * a.x, s * a.y, s * a.z}; }
static double dot(CalVec3 a, CalVec3 b) { return a.x * b.x + a.y * b.y + a.z * b.z; }
static CalVec3 cross(CalVec3 a, CalVec3 b) {
	return (CalVec3){a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}
static CalVec3 turned(const CalMat3 *R, CalVec3 a) {
	return (CalVec3){R->m[0][0] * a.x + R->m[0][1] * a.y + R->m[0][2] * a.z,
	                 R->m[1][0] * a.x + R->m[1][1] * a.y + R->m[1][2] * a.z,
	                 R->m[2][0] * a.x + R->m[2][1] * a.y + R->m[2][2] * a.z};
}

/* A frame fixed in a node: axes, origin, motion without udot, and Jacobian (angular rows, then linear). */
typedef struct End {
	CalVec3 axis[3], r, v, a, w, alpha;
	double *J; // [6][nu] of the frame's origin
} End;

static CalMat3 quat_matrix(CalQuat q) {
	double n = q.w * q.w + q.x * q.x + q.y * q.y + q.z * q.z, s = n > 0 ? 2 / n : 0;
	return (CalMat3){{{1 - s * (q.y * q.y + q.z * q.z), s * (q.x * q.y - q.z * q.w), s * (q.x * q.z + q.y * q.w)},
	                  {s * (q.x * q.y + q.z * q.w), 1 - s * (q.x * q.x + q.z * q.z), s * (q.y * q.z - q.x * q.w)},
	                  {s * (q.x * q.z - q.y * q.w), s * (q.y * q.z + q.x * q.w), 1 - s * (q.x * q.x + q.y * q.y)}}};
}

static CalVec3 jacobian_column(const double *J, int n, int j, int row) {
	return (CalVec3){J[row * n + j], J[(row + 1) * n + j], J[(row + 2) * n + j]};
}

static End end_make(const Sample *s, int node, const CalPlacement *p) {
	RefMotion *motion = test_alloc((size_t)s->m->node_count + 1, sizeof *motion);
	RefMotion f = {.pose.R = {{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}}};
	End e = {.J = test_doubles(6 * s->n)};
	CalMat3 S = quat_matrix(p->orientation);
	ref_kinematics(s->m, s->q, s->u, NULL, NULL, motion);
	if (node >= 0) {
		f = motion[node];
		ref_jacobian(s->m, s->q, node, e.J);
	}
	CalVec3 arm = turned(&f.pose.R, p->position);
	e.w = f.velocity.angular, e.alpha = f.acceleration.angular;
	e.r = plus(f.pose.r, arm);
	e.v = plus(f.velocity.linear, cross(e.w, arm));
	e.a = plus(f.acceleration.linear, plus(cross(e.alpha, arm), cross(e.w, cross(e.w, arm))));
	for (int k = 0; k < 3; k++)
		e.axis[k] = turned(&f.pose.R, (CalVec3){S.m[0][k], S.m[1][k], S.m[2][k]});
	for (int j = 0; j < s->n; j++) {
		CalVec3 turn = cross(jacobian_column(e.J, s->n, j, 0), arm);
		e.J[3 * s->n + j] += turn.x, e.J[4 * s->n + j] += turn.y, e.J[5 * s->n + j] += turn.z;
	}
	free(motion);
	return e;
}

/* d_k: G = a_k . (J_vB - J_vA + rho x J_wA), bias from [THEORY (5.2)]. */
static double translation_row(const Sample *s, const End *A, const End *B, int k, double *G) {
	CalVec3 a = A->axis[k], rho = minus(B->r, A->r), rate = minus(B->v, A->v);
	for (int j = 0; j < s->n; j++) {
		CalVec3 v = minus(jacobian_column(B->J, s->n, j, 3), jacobian_column(A->J, s->n, j, 3));
		G[j] = dot(a, plus(v, cross(rho, jacobian_column(A->J, s->n, j, 0))));
	}
	CalVec3 x = minus(minus(B->a, A->a), cross(A->alpha, rho));
	x = plus(minus(x, times(2, cross(A->w, rate))), cross(A->w, cross(A->w, rho)));
	return -dot(a, x);
}

/* c S_ij = c a_i . b_j: G += m . (J_wB - J_wA), m = c b_j x a_i; relative rotation W = w_B - w_A. */
static double rotation_part(const Sample *s, const End *A, const End *B, double c, int i, int j, double *G) {
	CalVec3 a = A->axis[i], b = B->axis[j], m = times(c, cross(b, a)), W = minus(B->w, A->w);
	for (int k = 0; k < s->n; k++)
		G[k] += dot(m, minus(jacobian_column(B->J, s->n, k, 0), jacobian_column(A->J, s->n, k, 0)));
	CalVec3 relative = minus(minus(B->alpha, A->alpha), cross(A->w, B->w));
	return -dot(m, relative) - c * dot(a, cross(W, cross(W, b)));
}

/* What loop.h says of rotations, entry by entry: {factor, i, j} twice for each row. */
static int rotation_table(int set, double entry[3][2][3]) {
	static const double table[8][3][2][3] = {
		[REF_XYZ] = {{{.5, 2, 1}, {-.5, 1, 2}}, {{.5, 0, 2}, {-.5, 2, 0}}, {{.5, 1, 0}, {-.5, 0, 1}}},
		[REF_X | REF_Y] = {{{-1, 1, 2}}, {{1, 0, 2}}},
		[REF_Y | REF_Z] = {{{-1, 2, 0}}, {{1, 1, 0}}},
		[REF_X | REF_Z] = {{{1, 2, 1}}, {{-1, 0, 1}}},
		[REF_X] = {{{1, 1, 2}}},
		[REF_Y] = {{{1, 2, 0}}},
		[REF_Z] = {{{1, 0, 1}}},
	};
	memcpy(entry, table[set], sizeof table[set]);
	return (set & 1) + (set >> 1 & 1) + (set >> 2 & 1);
}

static void check_formulas(uint64_t seed, const Sample *s, RefLoop *l) {
	int n = s->n, translation, rotation, at = 0;
	double entry[3][2][3], *G = test_doubles(s->rows * n), *gamma = test_doubles(s->rows);
	double *G0 = test_doubles(s->rows * n), *gamma0 = test_doubles(s->rows);
	ref_loop_directions(l, &translation, &rotation);
	End A = end_make(s, l->node_a, &l->frame_a), B = end_make(s, l->node_b, &l->frame_b);
	ref_loop_rows(s->m, s->t, s->q, s->u, NULL, NULL, G0, gamma0);
	for (int k = 0; k < 3; k++)
		if (translation >> k & 1) {
			gamma[at] = translation_row(s, &A, &B, k, G + at * n);
			at++;
		}
	int turns = rotation_table(rotation, entry);
	for (int k = 0; k < turns; k++, at++)
		for (int p = 0; p < 2 && entry[k][p][0] != 0; p++)
			gamma[at] += rotation_part(s, &A, &B, entry[k][p][0], (int)entry[k][p][1], (int)entry[k][p][2], G + at * n);
	for (int k = 0; k < at; k++) {
		const RefDrive *d = &l->drive[k];
		double w = d->frequency;
		gamma[k] += d->acceleration - d->amplitude * w * w * sin(w * s->t + d->phase);
	}
	if (l->type == REF_LOOP_SCREW) { /* its third row is another one */
		memcpy(G + 2 * n, G0 + 2 * n, sizeof *G * (size_t)n);
		gamma[2] = gamma0[2];
	}
	check_close_scaled(seed, ref_loop_type_name(l->type), at * n, G, G0, 1, 1e-13);
	check_close_scaled(seed, ref_loop_type_name(l->type), at, gamma, gamma0, max_abs(n, s->u), 1e-12);
	free(G), free(gamma), free(G0), free(gamma0), free(A.J), free(B.J);
}

static void explicit_formulas_are_the_rows(void **state) {
	(void)state;
	for_all_samples(check_formulas);
}

/* ---- forces --------------------------------------------------------------------------------- */

static void check_work(uint64_t seed, const Sample *s, RefLoop *l) {
	Rng r = rng_make(seed);
	int n = s->n;
	double *lambda = test_doubles(s->rows), *G = test_doubles(s->rows * n), *Q = test_doubles(n);
	double *want = test_doubles(n);
	RefLoopForce f;
	End A = end_make(s, l->node_a, &l->frame_a), B = end_make(s, l->node_b, &l->frame_b);
	rng_fill(&r, 1, s->rows, lambda);
	ref_loop_rows(s->m, s->t, s->q, s->u, NULL, NULL, G, NULL);
	ref_loop_forces(s->m, s->q, lambda, &f);
	for (int j = 0; j < n; j++) {
		for (int i = 0; i < s->rows; i++)
			want[j] += G[i * n + j] * lambda[i];
		Q[j] = dot(jacobian_column(A.J, n, j, 0), f.on_a.angular) + dot(jacobian_column(A.J, n, j, 3), f.on_a.linear) +
		       dot(jacobian_column(B.J, n, j, 0), f.on_b.angular) + dot(jacobian_column(B.J, n, j, 3), f.on_b.linear);
	}
	if (l->type != REF_LOOP_COUPLING)
		check_close_scaled(seed, ref_loop_type_name(l->type), n, Q, want, 1, 1e-13);
	free(lambda), free(G), free(Q), free(want), free(A.J), free(B.J);
}

static void forces_do_the_work_of_the_multipliers(void **state) {
	(void)state;
	for_all_samples(check_work);
}

/* What acts on A is the opposite of what acts on B: forces cancel, and so do moments about any point. */
static void check_balance(uint64_t seed, const Sample *s, RefLoop *l) {
	Rng r = rng_make(seed);
	double *lambda = test_doubles(s->rows), zero[6] = {0}, sum[6];
	RefLoopForce f;
	rng_fill(&r, 1, s->rows, lambda);
	ref_loop_forces(s->m, s->q, lambda, &f);
	CalVec3 force = plus(f.on_a.linear, f.on_b.linear), moment = plus(f.on_a.angular, f.on_b.angular);
	moment = plus(moment, plus(cross(f.point_a, f.on_a.linear), cross(f.point_b, f.on_b.linear)));
	memcpy(sum, &force, sizeof force), memcpy(sum + 3, &moment, sizeof moment);
	if (l->type == REF_LOOP_KNIFE) /* the ground takes it */
		check_that(seed, max_abs(3, &f.on_b.linear.x) == 0 && max_abs(3, &f.on_a.angular.x) == 0);
	else
		check_close_scaled(seed, ref_loop_type_name(l->type), 6, sum, zero, 1, 1e-13);
	free(lambda);
}

static void forces_on_both_ends_cancel(void **state) {
	(void)state;
	for_all_samples(check_balance);
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(start_states_are_on_the_constraints),
		cmocka_unit_test(numerical_derivatives_of_residuals_are_the_rows),
		cmocka_unit_test(explicit_formulas_are_the_rows),
		cmocka_unit_test(forces_do_the_work_of_the_multipliers),
		cmocka_unit_test(forces_on_both_ends_cancel),
	};
	return cmocka_run_group_tests(tests, make_samples, free_samples);
}
