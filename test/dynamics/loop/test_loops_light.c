// SPDX-License-Identifier: Apache-2.0
/*
 * test_loops_light.c — closed loops with light links: what is independent is a matter of geometry, and accelerations are as
 * good as the geometry allows, whatever the masses. Rings, ladders on the ground and on a free body, walkers whose feet
 * are pinned to the ground, spatial four-bars, with some links up to 1e12 times lighter than others, both ways of solving
 * loops against the reference in quadruple precision.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <calder/calder.h>
#include "support/light_loop.h"

enum { CASES = 24 };

/* ---- accelerations ------------------------------------------------------------------------------------- */

typedef struct Errors {
	double udot[2], lambda[2]; // by CAL_LOOPS_*, largest so far
} Errors;

static double relative(int n, const double *got, const double *want) {
	return max_difference(n, got, want) / fmax(max_abs(n, want), 1e-300);
}

static void compare(Fixture *f, CalLoopSolver way, Errors *errors) {
	CalModel *model;
	CalWork *work;
	CalError error = {0};
	int rank;
	const CalCompileOptions options = {.solver = CAL_SOLVER_RECURSIVE, .loops = way};
	check_ok(f->seed, cal_model_compile(f->desc, &options, &model, &error));
	check_ok(f->seed, cal_work_create(model, &work));
	const int n = cal_model_u_count(model), m = cal_model_row_count(model);
	double *udot = test_doubles(2 * n), *lambda = test_doubles(2 * m);
	RefSolution want = {.udot = udot + n, .lambda = lambda + m, .rank_tolerance = 1e-20};
	const CalState *s = &f->state;
	assert_int_equal(refq_loop_forward(f->ref, s->t, s->q, s->u, NULL, &want), 0);
	check_ok(f->seed, cal_forward_dynamics(model, s, NULL, work, udot));
	check_ok(f->seed, cal_loop_multipliers(model, work, lambda));
	check_ok(f->seed, cal_loop_rank(model, work, &rank, NULL));
	check_that(f->seed, rank == want.rank);
	const int i = way == CAL_LOOPS_CUT_JOINT;
	errors->udot[i] = fmax(errors->udot[i], relative(n, udot, udot + n));
	errors->lambda[i] = fmax(errors->lambda[i], relative(m, lambda, lambda + m));
	free(udot), free(lambda);
	cal_work_destroy(work);
	cal_model_destroy(model);
}

static void check_mechanism(RefModel *(*make)(Rng *), const char *name) {
	for (int decades = 0; decades <= 12; decades += 3) {
		Errors errors = {0};
		for (uint64_t seed = test_seed(); seed < test_seed() + CASES; seed++) {
			Rng r = rng_make(seed);
			RefModel *ref = make(&r);
			make_light(ref, &r, pow(10, -decades));
			Fixture *f = fixture_create(ref, seed, CAL_SOLVER_RECURSIVE);
			ref_model_start(f->ref, f->state.q, f->state.u);
			fixture_close_loops(f);
			compare(f, CAL_LOOPS_ELIMINATION, &errors);
			compare(f, CAL_LOOPS_CUT_JOINT, &errors);
			fixture_destroy(f);
		}
		print_message("%s, masses 1:1e%d: accelerations %.1e, %.1e, forces %.1e, %.1e\n", name, decades, errors.udot[0],
		              errors.udot[1], errors.lambda[0], errors.lambda[1]);
		/* What loops leave free of a light link, cut joints know no better than its forces over its mass. */
		const double tolerance[2] = {1e-10, 1e-9 + 1e-16 * pow(10, decades)};
		for (int way = 0; way < 2; way++)
			check_that(test_seed(), errors.udot[way] < tolerance[way] && errors.lambda[way] < 1e-10);
	}
}

static void rings_with_light_bars(void **state) { (void)state, check_mechanism(light_ring, "ring"); }
static void ladders_with_light_links(void **state) { (void)state, check_mechanism(light_ladder, "ladder"); }
static void ladders_on_a_free_body(void **state) { (void)state, check_mechanism(light_free_ladder, "free ladder"); }
static void walkers_with_light_legs(void **state) { (void)state, check_mechanism(light_feet, "feet"); }
static void spatial_four_bars(void **state) { (void)state, check_mechanism(light_spatial, "spatial four-bar"); }

/*
 * Three light bars between heavy ones: rows that are nothing but round-off have compliances like others. Forces are as good
 * as ever; the light bars move by forces that nearly cancel, over their masses.
 */
static void light_bars_in_a_row(void **state) {
	(void)state;
	for (int decades = 6; decades <= 9; decades += 3) { // beyond, the model is refused
		Errors errors = {0};
		Rng r = rng_make(7);
		RefModel *ref = light_ring(&r);
		make_light(ref, &r, pow(10, -decades));
		Fixture *f = fixture_create(ref, 7, CAL_SOLVER_RECURSIVE);
		ref_model_start(f->ref, f->state.q, f->state.u);
		fixture_close_loops(f);
		compare(f, CAL_LOOPS_ELIMINATION, &errors);
		compare(f, CAL_LOOPS_CUT_JOINT, &errors);
		fixture_destroy(f);
		print_message("three light bars, masses 1:1e%d: accelerations %.1e, %.1e, forces %.1e, %.1e\n", decades,
		              errors.udot[0], errors.udot[1], errors.lambda[0], errors.lambda[1]);
		for (int way = 0; way < 2; way++)
			check_that(7, errors.udot[way] < 1e-15 * pow(10, decades) && errors.lambda[way] < 1e-10);
	}
}

static Fixture *ladder_fixture(uint64_t seed, int decades) {
	Rng r = rng_make(seed);
	RefModel *ref = light_ladder(&r);
	make_light(ref, &r, pow(10, -decades));
	Fixture *f = fixture_create(ref, seed, CAL_SOLVER_RECURSIVE);
	ref_model_start(f->ref, f->state.q, f->state.u);
	fixture_close_loops(f);
	return f;
}

/* Lighter than numbers can tell from nothing: the answer is that of no mass at all, or there is none. */
static void nothing_wrong_without_a_word(void **state) {
	(void)state;
	int refused = 0;
	for (uint64_t seed = test_seed(); seed < test_seed() + 8; seed++) {
		Fixture *f = ladder_fixture(seed, 12);
		double want[32], udot[32];
		RefSolution solution = {.udot = want, .rank_tolerance = 1e-20};
		assert_true(f->nu <= 32);
		assert_int_equal(refq_loop_forward(f->ref, 0, f->state.q, f->state.u, NULL, &solution), 0);
		fixture_destroy(f);
		for (int decades = 13; decades <= 24; decades++) {
			CalModel *model;
			CalWork *work;
			f = ladder_fixture(seed, decades);
			check_ok(seed, cal_model_compile(f->desc, NULL, &model, NULL));
			check_ok(seed, cal_work_create(model, &work));
			const CalStatus status = cal_forward_dynamics(model, &f->state, NULL, work, udot);
			check_that(seed, status != CAL_OK || relative(f->nu, udot, want) < 1e-5);
			refused += status != CAL_OK;
			cal_work_destroy(work);
			cal_model_destroy(model);
			fixture_destroy(f);
		}
	}
	print_message("%d refused\n", refused);
	assert_true(refused > 0);
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rings_with_light_bars),  cmocka_unit_test(ladders_with_light_links),
		cmocka_unit_test(ladders_on_a_free_body), cmocka_unit_test(walkers_with_light_legs),
		cmocka_unit_test(spatial_four_bars),      cmocka_unit_test(nothing_wrong_without_a_word),
		cmocka_unit_test(light_bars_in_a_row),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
