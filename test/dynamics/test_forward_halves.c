// SPDX-License-Identifier: Apache-2.0
/*
 * test_forward_halves.c — forward dynamics in two halves is forward dynamics: random trees, rigid and flexible, with and
 * without loops, held dofs and implicit steps.
 */
#include <math.h>

#include <calder/calder.h>

#include "dynamics/forward_halves.h"
#include "support/light_loop.h"

enum { CASES = 60 };

/* What both ways give, and whether the model could be divided. */
static bool divided_as_a_whole(Fixture *f, const CalModel *model, CalWork *work, double h, const uint8_t *held,
                               uint64_t seed) {
	const int n = cal_model_u_count(model);
	double *whole = fixture_doubles(f, n), *halves = fixture_doubles(f, n);
	const CalInput in = {
		.tau = f->tau, .prescribed = held, .udot = f->udot, .wrenches = f->wrenches, .wrench_count = 4};
	const CalStatus status = h == 0 ? cal_forward_dynamics(model, &f->state, &in, work, whole)
	                                : cal_implicit_dynamics(model, &f->state, &f->state, &in, h, work, whole);
	if (status != CAL_OK)
		return false;
	check_ok(seed, forward_begin(model, &f->state, &f->state, &in, h, work));
	if (!(work->stage & STAGE_INWARD))
		return false;
	check_ok(seed, forward_finish(model, &f->state, &in, work, halves));
	check_close_scaled(seed, "accelerations", n, halves, whole, fmax(1, max_abs(n, whole)), 1e-10);
	return true;
}

static void two_halves_are_a_whole(void **state) {
	(void)state;
	static const double steps[] = {0, 0, 1e-2};
	int divided = 0;
	for (uint64_t seed = test_seed(); seed < test_seed() + CASES; seed++) {
		Rng r = rng_make(seed + 77);
		Fixture *f = seed % 2
		                 ? fixture_random_loop(seed, loop_any(seed), CAL_SOLVER_RECURSIVE)
		                 : fixture_random(seed, seed % 4 ? tree_flexible(seed) : tree_any(seed), CAL_SOLVER_RECURSIVE);
		CalModel *model;
		CalWork *work;
		CalError error = {0};
		if (seed % 2)
			fixture_close_loops(f);
		check_ok(seed,
		         cal_model_compile(f->desc, &(CalCompileOptions){.solver = CAL_SOLVER_RECURSIVE}, &model, &error));
		check_ok(seed, cal_work_create(model, &work));
		uint8_t *held = (uint8_t *)fixture_doubles(f, cal_model_u_count(model) / 8 + 1);
		for (int k = 0; k < cal_model_u_count(model); k++)
			held[k] = seed % 5 == 0 && rng_int(&r, 5) == 0;
		divided += divided_as_a_whole(f, model, work, steps[seed % 3], held, seed);
		cal_work_destroy(work);
		cal_model_destroy(model);
		fixture_destroy(f);
	}
	assert_true(divided > CASES / 2); // others have accelerations to be refined
}

/* What cannot be divided says so, and does nothing. */
static void a_dense_model_is_not_divided(void **state) {
	(void)state;
	Fixture *f = fixture_random(3, tree_any(3), CAL_SOLVER_DENSE);
	check_ok(3, forward_begin(f->model, &f->state, &f->state, NULL, 0, f->work));
	assert_int_equal(f->work->stage & STAGE_INWARD, 0);
	fixture_destroy(f);
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(two_halves_are_a_whole),
		cmocka_unit_test(a_dense_model_is_not_divided),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
