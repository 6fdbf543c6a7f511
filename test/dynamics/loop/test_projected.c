// SPDX-License-Identifier: Apache-2.0
/*
 * test_projected.c — dynamics in the independent speeds: the map X with its drift and bias, mass matrix, equations of
 * motion, inverse dynamics with loops held, actuation, and the factors; against the matrices of the reference in quadruple
 * precision, and against forward dynamics with multipliers.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <calder/calder.h>
#include "support/light_loop.h"

enum { CASES = 40 };

/* A model with the loops of its reference at a state on all constraints, and its projection. */
typedef struct Closed {
	Fixture *f;
	CalModel *model;
	CalWork *work;
	CalProjection *p;
	int n, m, k;
} Closed;

static Closed closed_create(Fixture *f) {
	Closed c = {.f = f};
	CalError error = {0};
	check_ok(f->seed,
	         cal_model_compile(f->desc, &(CalCompileOptions){.solver = CAL_SOLVER_RECURSIVE}, &c.model, &error));
	check_ok(f->seed, cal_work_create(c.model, &c.work));
	check_ok(f->seed, cal_projection_create(c.model, &c.p));
	check_ok(f->seed, cal_projection_update(c.p, &f->state, NULL, c.work));
	c.n = cal_model_u_count(c.model), c.m = cal_model_row_count(c.model), c.k = cal_projection_count(c.p);
	return c;
}

static void closed_destroy(Closed *c) {
	cal_projection_destroy(c->p);
	cal_work_destroy(c->work);
	cal_model_destroy(c->model);
	fixture_destroy(c->f);
}

static Closed closed_random(uint64_t seed) {
	Fixture *f = fixture_random_loop(seed, loop_any(seed), CAL_SOLVER_RECURSIVE);
	fixture_close_loops(f);
	return closed_create(f);
}

static Closed closed_made(RefModel *ref, uint64_t seed) {
	Fixture *f = fixture_create(ref, seed, CAL_SOLVER_RECURSIVE);
	ref_model_start(f->ref, f->state.q, f->state.u);
	fixture_close_loops(f);
	return closed_create(f);
}

/* G X = 0, G drift = s', G bias = gamma; rows of X of independent speeds are unit rows. */
static void check_map(Closed *c) {
	const uint64_t seed = c->f->seed;
	const int n = c->n, m = c->m, k = c->k;
	const CalState *s = &c->f->state;
	double *G = fixture_doubles(c->f, m * n), *gamma = fixture_doubles(c->f, m), *rate = fixture_doubles(c->f, m);
	double *u = fixture_doubles(c->f, n), *v = fixture_doubles(c->f, n);
	refq_loop_rows(c->f->ref, s->t, s->q, s->u, NULL, rate, G, gamma);
	const double *X = cal_projection_map(c->p), *bias = cal_projection_bias(c->p);
	const uint8_t *independent = cal_projection_independent(c->p);
	const double most = fmax(1, max_abs(m * n, G));
	for (int r = 0; r < m; r++) {
		double left = -gamma[r];
		for (int i = 0; i < n; i++)
			left += G[r * n + i] * bias[i];
		check_that(seed, fabs(left) < 1e-10 * most * fmax(1, fmax(max_abs(n, bias), fabs(gamma[r]))));
		for (int j = 0; j < k; j++) {
			double sum = 0;
			for (int i = 0; i < n; i++)
				sum += G[r * n + i] * X[i * k + j];
			check_that(seed, fabs(sum) < 1e-11 * most);
		}
	}
	int j = 0;
	for (int i = 0; i < n; i++) {
		check_that(seed, !independent[i] || X[i * k + j] == 1);
		if (independent[i])
			v[j++] = s->u[i];
	}
	check_that(seed, j == k);
	check_ok(seed, cal_projection_speeds(c->p, v, u)); // the state is on the constraints
	check_close_scaled(seed, "X v + drift", n, u, s->u, fmax(1, max_abs(n, s->u)), 1e-10);
}

/* X'M X with the mass matrix of the reference. */
static void check_mass(Closed *c) {
	const int n = c->n, k = c->k;
	double *M = fixture_doubles(c->f, n * n), *want = fixture_doubles(c->f, k * k), *got = fixture_doubles(c->f, k * k);
	const double *X = cal_projection_map(c->p);
	refq_mass_matrix(c->f->ref, c->f->state.q, M);
	for (int a = 0; a < k; a++)
		for (int b = 0; b < k; b++) {
			long double sum = 0;
			for (int i = 0; i < n; i++)
				for (int j = 0; j < n; j++)
					sum += (long double)X[i * k + a] * M[i * n + j] * X[j * k + b];
			want[a * k + b] = (double)sum;
		}
	check_ok(c->f->seed, cal_projected_mass(c->p, &c->f->state, c->work, got));
	check_close_scaled(c->f->seed, "X'M X", k * k, got, want, fmax(1e-300, max_abs(k * k, want)), 1e-12);
}

static void map_and_mass_matrix(void **state) {
	(void)state;
	for (uint64_t seed = test_seed(); seed < test_seed() + CASES; seed++) {
		Closed c = closed_random(seed);
		check_map(&c);
		check_mass(&c);
		closed_destroy(&c);
	}
}

/* Accelerations without multipliers are those with them; inverse dynamics gives back the forces. */
static double check_motion(Closed *c, double tolerance) {
	const uint64_t seed = c->f->seed;
	const int n = c->n, k = c->k;
	const CalState *s = &c->f->state;
	const CalInput *in = &c->f->input;
	double *want = fixture_doubles(c->f, n), *udot = fixture_doubles(c->f, n), *vdot = fixture_doubles(c->f, n);
	double *Q = fixture_doubles(c->f, n), *back = fixture_doubles(c->f, n), *tau = fixture_doubles(c->f, n);
	const uint8_t *independent = cal_projection_independent(c->p);
	RefSolution exact = {.udot = want, .rank_tolerance = 1e-27};
	assert_int_equal(refq_loop_forward(c->f->ref, s->t, s->q, s->u, &c->f->ref_input, &exact), 0);
	check_ok(seed, cal_projected_forward_dynamics(c->p, s, in, c->work, vdot, udot));
	const double scale = fmax(1, max_abs(n, want)), error = max_difference(n, udot, want) / scale;
	check_close_scaled(seed, "udot without multipliers", n, udot, want, scale, tolerance);
	for (int i = 0, j = 0; i < n; i++)
		if (independent[i])
			check_that(seed, fabs(vdot[j++] - udot[i]) <= 1e-12 * scale);
	check_ok(seed, cal_projected_inverse_dynamics(c->p, s, vdot, in, c->work, Q));
	for (int i = 0; i < n; i++)
		tau[i] = in->tau ? in->tau[i] : 0;
	check_ok(seed, cal_projection_forces(c->p, tau, back));
	check_close_scaled(seed, "X'tau", k, Q, back, fmax(1, fixture_force_scale(c->f, want)), 1e-9);
	return error;
}

static void motion_without_multipliers(void **state) {
	(void)state;
	double worst = 0;
	for (uint64_t seed = test_seed(); seed < test_seed() + CASES; seed++) {
		Closed c = closed_random(seed);
		worst = fmax(worst, check_motion(&c, 1e-9));
		closed_destroy(&c);
	}
	print_message("random loops: accelerations within %.1e\n", worst);
}

static void motion_of_linkages(void **state) {
	(void)state;
	RefModel *(*const make[])(Rng *) = {light_ring, light_ladder, light_free_ladder, light_feet, light_spatial};
	double worst = 0;
	for (uint64_t seed = test_seed(); seed < test_seed() + 20; seed++) {
		Rng r = rng_make(seed);
		Closed c = closed_made(seed % 6 == 5 ? loop_windows(4, 0.7, 1, REF_LOOP_REVOLUTE) : make[seed % 5](&r), seed);
		check_map(&c);
		check_mass(&c);
		worst = fmax(worst, check_motion(&c, 1e-12));
		closed_destroy(&c);
	}
	print_message("linkages: accelerations within %.1e\n", worst);
}

/* A coupler of a four-bar without hardly any mass: no difference of large forces is left. */
static void light_links_cost_no_digits(void **state) {
	(void)state;
	double worst = 0;
	for (uint64_t seed = test_seed(); seed < test_seed() + 10; seed++) {
		Rng r = rng_make(seed);
		RefModel *ref = seed % 2 ? light_ladder(&r) : light_spatial(&r);
		make_light(ref, &r, 1e-9);
		Closed c = closed_made(ref, seed);
		worst = fmax(worst, check_motion(&c, 1e-11));
		closed_destroy(&c);
	}
	print_message("light links, 1:1e9: accelerations within %.1e\n", worst);
}

/* M_c = X (X'M X)^-1 X'. */
static void inverse_is_that_of_closed_chains(void **state) {
	(void)state;
	for (uint64_t seed = test_seed(); seed < test_seed() + CASES / 2; seed++) {
		Closed c = closed_random(seed);
		const CalState *s = &c.f->state;
		uint8_t *none = calloc((size_t)c.n + 1, 1);
		double *b = fixture_doubles(c.f, c.n), *want = fixture_doubles(c.f, c.n), *x = fixture_doubles(c.f, c.n);
		rng_fill(&(Rng){seed, 0}, 1, c.n, b);
		check_ok(seed, cal_projection_update(c.p, s, &(CalProjectionOptions){.held = none}, c.work));
		check_ok(seed, cal_projected_factor(c.p, s, c.work));
		check_ok(seed, cal_closed_factor(c.model, s, NULL, c.work));
		check_ok(seed, cal_closed_solve(c.model, c.work, b, want));
		check_ok(seed, cal_projection_forces(c.p, b, x));
		check_ok(seed, cal_projected_solve(c.p, x, x));
		const double *X = cal_projection_map(c.p);
		const int k = cal_projection_count(c.p);
		double *got = fixture_doubles(c.f, c.n);
		for (int i = 0; i < c.n; i++)
			for (int j = 0; j < k; j++)
				got[i] += X[i * k + j] * x[j];
		check_close_scaled(seed, "X (X'M X)^-1 X'b", c.n, got, want, fmax(1e-2, max_abs(c.n, want)), 1e-9);
		free(none);
		closed_destroy(&c);
	}
}

/* L D L' = X'M X, half-solves undo products, the determinant; without loops all are those of the tree. */
static void factors(void **state) {
	(void)state;
	for (uint64_t seed = test_seed(); seed < test_seed() + CASES / 2; seed++) {
		Closed c = closed_random(seed);
		const int k = c.k;
		double *M = fixture_doubles(c.f, k * k), *x = fixture_doubles(c.f, k), *y = fixture_doubles(c.f, k);
		double *d = fixture_doubles(c.f, k), *back = fixture_doubles(c.f, k), *want = fixture_doubles(c.f, k), logdet,
			   sum = 0;
		rng_fill(&(Rng){seed, 0}, 1, k, x);
		check_ok(seed, cal_projected_mass(c.p, &c.f->state, c.work, M));
		check_ok(seed, cal_projected_factor(c.p, &c.f->state, c.work));
		check_ok(seed, cal_projected_innovations_diagonal(c.p, d));
		check_ok(seed, cal_projected_logdet(c.p, &logdet));
		check_ok(seed, cal_projected_innovations_mul_transpose(c.p, x, y));
		for (int i = 0; i < k; i++) {
			check_that(seed, d[i] > 0);
			sum += log(d[i]);
			y[i] *= d[i];
			for (int j = 0; j < k; j++)
				want[i] += M[i * k + j] * x[j];
		}
		check_ok(seed, cal_projected_innovations_mul(c.p, y, y));
		check_close_scaled(seed, "L D L'x", k, y, want, max_abs(k * k, M), 1e-12);
		check_close(seed, "log det", 1, &logdet, &sum, 1e-12);
		check_ok(seed, cal_projected_innovations_mul(c.p, x, y));
		check_ok(seed, cal_projected_innovations_solve(c.p, y, back));
		check_close_scaled(seed, "L^-1 L x", k, back, x, fmax(1, max_abs(k, y)), 1e-10);
		check_ok(seed, cal_projected_innovations_mul_transpose(c.p, x, y));
		check_ok(seed, cal_projected_innovations_solve_transpose(c.p, y, back));
		check_close_scaled(seed, "L'^-1 L'x", k, back, x, fmax(1, max_abs(k, y)), 1e-10);
		closed_destroy(&c);
	}
}

static void factors_of_a_tree(void **state) {
	(void)state;
	for (uint64_t seed = test_seed(); seed < test_seed() + CASES / 2; seed++) {
		Fixture *f = fixture_random(seed, seed % 2 ? tree_flexible(seed) : tree_any(seed), CAL_SOLVER_RECURSIVE);
		CalProjection *p;
		uint8_t *none = calloc((size_t)f->nu + 1, 1);
		const int n = f->nu;
		double *want = fixture_doubles(f, n), *got = fixture_doubles(f, n), a, b;
		check_ok(seed, cal_projection_create(f->model, &p));
		check_ok(seed, cal_projection_update(p, &f->state, &(CalProjectionOptions){.held = none}, f->work));
		check_that(seed, cal_projection_count(p) == n);
		check_ok(seed, cal_projected_factor(p, &f->state, f->work));
		check_ok(seed, cal_mass_factor(f->model, &f->state, f->work));
		check_ok(seed, cal_mass_logdet(f->model, f->work, &a));
		check_ok(seed, cal_projected_logdet(p, &b));
		check_close_scaled(seed, "log det", 1, &b, &a, fmax(1, fabs(a)), 1e-9);
		check_ok(seed, cal_innovations_solve(f->model, f->work, f->tau, want));
		check_ok(seed, cal_projected_innovations_solve(p, f->tau, got));
		check_close_scaled(seed, "L^-1 x", n, got, want, fmax(1, max_abs(n, want)), 1e-7);
		cal_projection_destroy(p);
		free(none);
		fixture_destroy(f);
	}
}

/* Forces on a motor alone cause the same motion as forces everywhere; without a motor there are none. */
static void actuation_of_a_four_bar(void **state) {
	(void)state;
	Rng r = rng_make(5);
	Closed c = closed_made(random_linkage(&r, 3, REF_LOOP_REVOLUTE), 5);
	const CalState *s = &c.f->state;
	double vdot[1] = {3.5}, Q[1], tau[3], udot[3], want[3];
	uint8_t motor[3] = {1, 0, 0}, nothing[3] = {0};
	assert_int_equal(c.k, 1);
	check_ok(5, cal_projected_inverse_dynamics(c.p, s, vdot, NULL, c.work, Q));
	check_ok(5, cal_projection_accelerations(c.p, vdot, want));
	for (int all = 0; all < 2; all++) {
		check_ok(5, cal_projected_actuation(c.p, all ? NULL : motor, Q, tau));
		check_that(5, all || (tau[1] == 0 && tau[2] == 0));
		check_ok(5, cal_forward_dynamics(c.model, s, &(CalInput){.tau = tau}, c.work, udot));
		check_close_scaled(5, "udot", 3, udot, want, max_abs(3, want), 1e-12);
	}
	check_status(5, cal_projected_actuation(c.p, nothing, Q, tau), CAL_SINGULAR);
	closed_destroy(&c);
}

/* A speed of the caller's choice; one that cannot be chosen; too many; held ones. */
static void choices(void **state) {
	(void)state;
	Rng r = rng_make(5);
	Closed c = closed_made(random_linkage(&r, 3, REF_LOOP_REVOLUTE), 5);
	for (int i = 0; i < 3; i++) {
		uint8_t one[3] = {i == 0, i == 1, i == 2};
		check_ok(5, cal_projection_update(c.p, &c.f->state, &(CalProjectionOptions){.independent = one}, c.work));
		check_that(5, cal_projection_count(c.p) == 1 && cal_projection_independent(c.p)[i] == 1);
		check_map(&c);
		check_motion(&c, 1e-12);
		check_status(
			5,
			cal_projection_update(c.p, &c.f->state, &(CalProjectionOptions){.independent = one, .held = one}, c.work),
			CAL_ERR_ARGUMENT);
	}
	uint8_t all[3] = {1, 1, 1};
	check_status(5, cal_projection_update(c.p, &c.f->state, &(CalProjectionOptions){.independent = all}, c.work),
	             CAL_ERR_ARGUMENT);
	closed_destroy(&c);
	c = closed_made(loop_windows(1, 0, 1, REF_LOOP_REVOLUTE), 0); // flat: the crank alone says nothing of the others
	check_that(0, c.k == 2);
	uint8_t crank[3] = {1, 0, 0};
	check_status(0, cal_projection_update(c.p, &c.f->state, &(CalProjectionOptions){.independent = crank}, c.work),
	             CAL_ERR_ARGUMENT);
	double x[3] = {0};
	check_status(0, cal_projected_solve(c.p, x, x), CAL_ERR_STAGE);
	closed_destroy(&c);
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(map_and_mass_matrix),
		cmocka_unit_test(motion_without_multipliers),
		cmocka_unit_test(motion_of_linkages),
		cmocka_unit_test(light_links_cost_no_digits),
		cmocka_unit_test(inverse_is_that_of_closed_chains),
		cmocka_unit_test(factors),
		cmocka_unit_test(factors_of_a_tree),
		cmocka_unit_test(actuation_of_a_four_bar),
		cmocka_unit_test(choices),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
