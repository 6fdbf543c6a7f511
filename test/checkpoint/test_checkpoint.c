// SPDX-License-Identifier: Apache-2.0
/*
 * test_checkpoint.c — a resumed run is bit-identical: all methods, at 20 random instants of a scenario
 * with changes of topology, restored into a fresh simulation and into one that has gone on; functions that are given while
 * a run resumes.
 */
#include "transition/walker.h"

enum { INSTANTS = 20, SAMPLES = 4 };

static int ascending(const void *a, const void *b) {
	const double x = *(const double *)a, y = *(const double *)b;
	return (x > y) - (x < y);
}

/* Times at which advances end: some in equal distances, and INSTANTS at random ones. */
static void draw_times(uint64_t seed, double times[INSTANTS + SAMPLES]) {
	Rng r = rng_make(seed);
	for (int i = 0; i < SAMPLES; i++)
		times[i] = END * (i + 1) / SAMPLES;
	for (int i = 0; i < INSTANTS; i++)
		times[SAMPLES + i] = END * rng_uniform(&r, 0, 1);
	qsort(times, INSTANTS + SAMPLES, sizeof *times, ascending);
}

static void run_along(Run *run, const double *times) {
	for (int i = 0; i < INSTANTS + SAMPLES; i++) {
		if (times[i] > cal_sim_time(run->rig.sim))
			rig_advance(&run->rig, times[i]);
	}
}

/* ---- the same bits ---------------------------------------------------------------------------------------------------- */

static void interrupt(CalMethod method, int projection, uint64_t seed) {
	double times[INSTANTS + SAMPLES];
	Bytes taken[INSTANTS + SAMPLES];
	Run *whole = run_create(method, projection);
	draw_times(test_seed() + seed, times);
	for (int i = 0; i < INSTANTS + SAMPLES; i++) {
		rig_advance(&whole->rig, times[i]);
		taken[i] = take(whole->rig.sim);
	}
	assert_int_equal(cal_sim_generation(whole->rig.sim), HAPPENINGS - 2);
	Run *again = run_create(method, projection);
	for (int i = 0; i < INSTANTS + SAMPLES; i++) {
		Run *fresh = run_create(method, projection);
		restore(fresh->rig.sim, taken[i]);
		assert_true(cal_sim_time(fresh->rig.sim) == times[i]);
		run_along(fresh, times);
		check_same(fresh->rig.sim, whole->rig.sim);
		run_destroy(fresh);
		if (i % 3 != 0)
			continue;
		restore(again->rig.sim, taken[INSTANTS + SAMPLES - 1 - i]); // it is at the end each time but the first
		run_along(again, times);
		check_same(again->rig.sim, whole->rig.sim);
	}
	for (int i = 0; i < INSTANTS + SAMPLES; i++)
		free(taken[i].at);
	run_destroy(again);
	run_destroy(whole);
}

static void rk4_goes_on_with_the_same_bits(void **state) {
	(void)state;
	interrupt(CAL_METHOD_RK4, 0, 1);
}

static void euler_cromer_goes_on_with_the_same_bits(void **state) {
	(void)state;
	interrupt(CAL_METHOD_EULER_CROMER, 3, 2); // every third step is projected
}

static void implicit_goes_on_with_the_same_bits(void **state) {
	(void)state;
	interrupt(CAL_METHOD_IMPLICIT, 0, 3);
}

static void implicit_midpoint_goes_on_with_the_same_bits(void **state) {
	(void)state;
	interrupt(CAL_METHOD_IMPLICIT_MIDPOINT, 0, 4);
}

static void dopri5_goes_on_with_the_same_bits(void **state) {
	(void)state;
	interrupt(CAL_METHOD_DOPRI5, 0, 5);
}

/* ---- inputs and motions that change ------------------------------------------------------------------------------------ */

static int shove(void *user, const CalModel *model, const CalState *state, CalInput *input) {
	(void)model, (void)state;
	input->tau = user;
	return 0;
}

static int glide(void *user, const CalModel *model, double t, double *q, double *u, double *udot) {
	(void)user, (void)model;
	q[0] = 0.2 * t * t, u[0] = 0.4 * t, udot[0] = 0.4;
	return 0;
}

static void functions_given_in_the_run_are_given_again(void **state) {
	(void)state;
	Rig whole = flyers(), fresh = flyers();
	CalError error = {0};
	rig_advance(&whole, 0.5);
	assert_int_equal(cal_sim_set_input(whole.sim, 1, shove, NULL, efforts[1]), CAL_OK);
	assert_int_equal(cal_sim_set_motion(whole.sim, 2, glide, NULL), CAL_OK);
	efforts[1][1] = 0.7;
	rig_advance(&whole, 1);
	const Bytes bytes = take(whole.sim);
	rig_advance(&whole, 2);
	restore(fresh.sim, bytes);
	assert_int_equal(cal_sim_advance(fresh.sim, 2, &error), CAL_ERR_USER);
	assert_non_null(strstr(error.text, "give it its input or motion again"));
	restore(fresh.sim, bytes);
	assert_int_equal(cal_sim_set_input(fresh.sim, 1, shove, NULL, efforts[1]), CAL_OK);
	assert_int_equal(cal_sim_set_motion(fresh.sim, 2, glide, NULL), CAL_OK);
	rig_advance(&fresh, 2);
	check_same(fresh.sim, whole.sim);
	free(bytes.at);
	rig_free(&whole);
	rig_free(&fresh);
}

/* A simulation that was never prepared for changes, restored before its first step too. */
static void a_checkpoint_before_the_start_is_one(void **state) {
	(void)state;
	Rig whole = flyers(), fresh = flyers();
	const Bytes bytes = take(whole.sim);
	memset(cal_sim_state(fresh.sim, 0)->u, 0, 6 * sizeof(double));
	rig_advance(&fresh, 0.3);
	restore(fresh.sim, bytes);
	rig_advance(&whole, 1);
	rig_advance(&fresh, 1);
	check_same(fresh.sim, whole.sim);
	free(bytes.at);
	rig_free(&whole);
	rig_free(&fresh);
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rk4_goes_on_with_the_same_bits),
		cmocka_unit_test(euler_cromer_goes_on_with_the_same_bits),
		cmocka_unit_test(implicit_goes_on_with_the_same_bits),
		cmocka_unit_test(implicit_midpoint_goes_on_with_the_same_bits),
		cmocka_unit_test(dopri5_goes_on_with_the_same_bits),
		cmocka_unit_test(functions_given_in_the_run_are_given_again),
		cmocka_unit_test(a_checkpoint_before_the_start_is_one),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
