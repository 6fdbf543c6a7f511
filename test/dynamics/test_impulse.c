// SPDX-License-Identifier: Apache-2.0
/*
 * test_impulse.c — inelastic impulses against the reference in quadruple precision: speeds and impulses of smallest norm,
 * given speeds, the equations M du = G'lambda + E'j with the reference's M and G, the energy lost, momentum; rigid and
 * flexible trees without and with loops of every type, driven and redundant ones, by both ways of solving loops.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <calder/calder.h>
#include "support/random_loop.h"

enum { CASES = 40 };

typedef struct Hit {
	Fixture *f;
	CalModel *model;
	CalWork *work;
	int n, m;
	double *M, *G, *rate, *before, *after, *force, *lambda;
	uint8_t *kept, *locked;
	CalImpulseReport report;
} Hit;

static Hit hit_create(Fixture *f, CalLoopSolver loops) {
	Hit h = {.f = f, .n = f->nu};
	CalError error = {0};
	if (f->ref->loop_count)
		fixture_close_loops(f);
	check_ok(f->seed, cal_model_compile(f->desc, &(CalCompileOptions){.loops = loops}, &h.model, &error));
	check_ok(f->seed, cal_work_create(h.model, &h.work));
	h.m = cal_model_row_count(h.model);
	h.M = fixture_doubles(f, h.n * h.n + 1), h.G = fixture_doubles(f, h.m * h.n + 1);
	h.rate = fixture_doubles(f, h.m + 1), h.lambda = fixture_doubles(f, h.m + 1);
	h.before = fixture_doubles(f, h.n + 1), h.after = fixture_doubles(f, h.n + 1),
	h.force = fixture_doubles(f, h.n + 1);
	h.kept = (uint8_t *)fixture_doubles(f, h.n / 8 + 1), h.locked = (uint8_t *)fixture_doubles(f, h.n / 8 + 1);
	return h;
}

static void hit_destroy(Hit *h) {
	cal_work_destroy(h->work);
	cal_model_destroy(h->model);
	fixture_destroy(h->f);
}

static void apply_impulse(Hit *h, const double *speed) {
	const uint64_t seed = h->f->seed;
	const CalImpulse impulse = {.kept = h->kept, .locked = h->locked, .speed = speed};
	memcpy(h->before, h->f->state.u, sizeof(double) * (size_t)h->n);
	check_ok(seed, cal_impulse(h->model, &h->f->state, &impulse, h->work, h->after, h->force, &h->report));
	if (h->m)
		check_ok(seed, cal_loop_multipliers(h->model, h->work, h->lambda));
	refq_mass_matrix(h->f->ref, h->f->state.q, h->M);
	refq_loop_rows(h->f->ref, h->f->state.t, h->f->state.q, h->after, NULL, h->rate, h->G, NULL);
}

/* M (after - before) = G'lambda + E'j, in units of the momenta that are summed. */
static void check_equations(const Hit *h, double condition) {
	double *left = fixture_doubles(h->f, h->n + 1), *right = fixture_doubles(h->f, h->n + 1), size = 0;
	for (int i = 0; i < h->n; i++) {
		double sum = 0;
		right[i] = h->force[i];
		for (int j = 0; j < h->n; j++) {
			left[i] += h->M[i * h->n + j] * (h->after[j] - h->before[j]);
			sum += fabs(h->M[i * h->n + j]) * fmax(fabs(h->after[j]), fabs(h->before[j]));
		}
		for (int r = 0; r < h->m; r++) {
			right[i] += h->G[r * h->n + i] * h->lambda[r];
			sum += fabs(h->G[r * h->n + i] * h->lambda[r]);
		}
		size = fmax(size, sum);
		if (!h->kept[i] && !h->locked[i])
			check_that(h->f->seed, h->force[i] == 0);
	}
	check_close_scaled(h->f->seed, "M du", h->n, left, right, size, 1e-12 + 1e-14 * condition);
}

static void check_energy(const Hit *h, double condition) {
	const RefModel *ref = h->f->ref;
	const double *q = h->f->state.q;
	const double before = refq_energy(ref, q, h->before).kinetic, after = refq_energy(ref, q, h->after).kinetic;
	const double lost = before - after, size = fmax(before, after);
	check_close_scaled(h->f->seed, "energy lost", 1, &h->report.kinetic_lost, &lost, size, 1e-12 + 1e-14 * condition);
}

static void draw(Hit *h, Rng *r, double *speed, double chance) {
	for (int i = 0; i < h->n; i++) {
		h->f->state.u[i] += rng_uniform(r, -0.7, 0.7);
		h->kept[i] = (uint8_t)rng_chance(r, chance);
		h->locked[i] = (uint8_t)rng_chance(r, chance);
		speed[i] = rng_chance(r, 0.5) ? 0 : rng_uniform(r, -1, 1);
	}
}

static void check_given(const Hit *h, const double *speed) {
	for (int i = 0; i < h->n; i++) {
		if (h->locked[i])
			check_that(h->f->seed, h->after[i] == speed[i]);
		else if (h->kept[i])
			check_that(h->f->seed, h->after[i] == h->before[i]);
	}
}

static void locks_of_trees_solve_the_equations(void **state) {
	(void)state;
	for (uint64_t seed = test_seed(); seed < test_seed() + CASES; seed++) {
		Rng r = rng_make(seed);
		const TreeOptions options = seed % 2 ? tree_flexible(seed) : tree_any(seed);
		Hit h = hit_create(fixture_random(seed, options, seed % 3 ? CAL_SOLVER_RECURSIVE : CAL_SOLVER_DENSE), 0);
		double *speed = fixture_doubles(h.f, h.n + 1);
		draw(&h, &r, speed, 0.2);
		apply_impulse(&h, speed);
		check_given(&h, speed);
		check_equations(&h, 1);
		check_energy(&h, 1);
		hit_destroy(&h);
	}
}

/* Loops that were open, some speeds kept: the reference's projection in the metric of M is the impulse. */
static void loops_equal_the_reference(void **state) {
	(void)state;
	for (uint64_t seed = test_seed(); seed < test_seed() + CASES; seed++) {
		Rng r = rng_make(seed);
		Hit h = hit_create(fixture_random_loop(seed, loop_any(seed), CAL_SOLVER_RECURSIVE),
		                   seed % 2 ? CAL_LOOPS_ELIMINATION : CAL_LOOPS_CUT_JOINT);
		double *speed = fixture_doubles(h.f, h.n + 1), *u = fixture_doubles(h.f, h.n + 1),
			   *lambda = fixture_doubles(h.f, h.m + 1);
		draw(&h, &r, speed, 0);
		apply_impulse(&h, NULL);
		RefSolution want = {.rank = 0};
		assert_int_equal(
			refq_loop_forward(h.f->ref, 0, h.f->state.q, h.before, &(CalInput){.prescribed = h.kept}, &want), 0);
		const double condition = 1 / want.kept;
		const RefProjection p =
			refq_project_velocity(h.f->ref, h.f->state.t, h.f->state.q, h.before, REF_MASS, h.kept, u, lambda);
		int rank;
		check_ok(seed, cal_loop_rank(h.model, h.work, &rank, NULL));
		assert_int_equal(rank, p.rank);
		check_close_scaled(seed, "speeds", h.n, h.after, u, max_abs(h.n, h.before), 1e-12 + 1e-14 * condition);
		check_close_scaled(seed, "impulses", h.m, h.lambda, lambda, 1, 1e-11 + 1e-13 * condition);
		check_that(seed, h.report.rate <= (1e-12 + 1e-14 * condition) * fmax(1, max_abs(h.n, h.before)));
		check_equations(&h, condition);
		check_energy(&h, condition);
		hit_destroy(&h);
	}
}

/* With locks the rows that are left may contradict each other; the equations hold all the same. */
static void loops_and_locks_solve_the_equations(void **state) {
	(void)state;
	for (uint64_t seed = test_seed(); seed < test_seed() + CASES; seed++) {
		Rng r = rng_make(seed);
		LoopOptions options = loop_any(seed);
		options.redundant = seed % 4 < 2;
		options.loops = 1;
		Hit h = hit_create(fixture_random_loop(seed, options, CAL_SOLVER_RECURSIVE),
		                   seed % 2 ? CAL_LOOPS_ELIMINATION : CAL_LOOPS_CUT_JOINT);
		double *speed = fixture_doubles(h.f, h.n + 1);
		draw(&h, &r, speed, 0.3);
		apply_impulse(&h, speed);
		check_given(&h, speed);
		check_equations(&h, 100);
		check_energy(&h, 100);
		hit_destroy(&h);
	}
}

/* Free-flying trees that lock inside: nothing changes their momentum. */
static void momentum_of_a_free_flyer_stays(void **state) {
	(void)state;
	for (uint64_t seed = test_seed(); seed < test_seed() + CASES; seed++) {
		Rng r = rng_make(seed);
		TreeOptions options = seed % 2 ? tree_flexible(seed) : tree_any(seed);
		options.floating = 1;
		options.springs = 0; // nor rotors on the free joint, which the ground would hold
		Hit h = hit_create(fixture_random(seed, options, CAL_SOLVER_RECURSIVE), 0);
		double *speed = fixture_doubles(h.f, h.n + 1);
		draw(&h, &r, speed, 0.5);
		memset(h.kept, 0, 6), memset(h.locked, 0, 6);
		apply_impulse(&h, NULL);
		CalMomentum p, p0;
		check_ok(seed, cal_momentum(h.model, &h.f->state, h.work, &p0));
		memcpy(h.f->state.u, h.after, sizeof(double) * (size_t)h.n);
		check_ok(seed, cal_momentum(h.model, &h.f->state, h.work, &p));
		const double size = sqrt(2 * refq_energy(h.f->ref, h.f->state.q, h.before).kinetic * p.mass);
		check_close_scaled(seed, "linear", 3, &p.linear.x, &p0.linear.x, size, 1e-12);
		check_close_scaled(seed, "angular", 3, &p.angular_origin.x, &p0.angular_origin.x, 10 * size, 1e-12);
		hit_destroy(&h);
	}
}

static void wrong_calls_are_refused(void **state) {
	(void)state;
	Fixture *f = fixture_random(test_seed(), tree_any(test_seed()), CAL_SOLVER_RECURSIVE);
	double *u = fixture_doubles(f, f->nu + 1);
	check_status(0, cal_impulse(NULL, &f->state, NULL, f->work, u, NULL, NULL), CAL_ERR_ARGUMENT);
	check_status(0, cal_impulse(f->model, NULL, NULL, f->work, u, NULL, NULL), CAL_ERR_ARGUMENT);
	check_status(0, cal_impulse(f->model, &f->state, NULL, NULL, u, NULL, NULL), CAL_ERR_ARGUMENT);
	check_status(0, cal_impulse(f->model, &f->state, NULL, f->work, NULL, NULL, NULL), CAL_ERR_ARGUMENT);
	check_ok(0, cal_impulse(f->model, &f->state, NULL, f->work, u, NULL, NULL));
	check_close(0, "nothing happens", f->nu, u, f->state.u, 0); // no loops, no locks
	f->state.u[0] = NAN;
	memset(f->prescribed, 1, (size_t)f->nu);
	check_status(0, cal_impulse(f->model, &f->state, NULL, f->work, u, NULL, NULL), CAL_NOT_FINITE);
	check_status(0, cal_impulse(f->model, &f->state, &(CalImpulse){.locked = f->prescribed}, f->work, u, NULL, NULL),
	             CAL_NOT_FINITE);
	fixture_destroy(f);
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(locks_of_trees_solve_the_equations),
		cmocka_unit_test(loops_equal_the_reference),
		cmocka_unit_test(loops_and_locks_solve_the_equations),
		cmocka_unit_test(momentum_of_a_free_flyer_stays),
		cmocka_unit_test(wrong_calls_are_refused),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
