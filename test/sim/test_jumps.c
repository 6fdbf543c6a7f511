// SPDX-License-Identifier: Apache-2.0
/*
 * test_jumps.c — jumps of forces. Fixed steps over them: the doubt that they deserve, the size of the error that it states, and
 * motions that deserve none. Adaptive steps: a short stay beyond a jump.
 *
 * A slider of 1 kg feels 4 N up to x = 0.5 m and -7 N from there on, or springs and stops. Exact speeds by the energy.
 */
#include <math.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "support/run.h"

static Run run_text(const char *text) {
	CalSetup *file = NULL;
	CalError error = {0};
	if (cal_model_file_parse(text, strlen(text), "test", NULL, &file, &error) != CAL_OK)
		fail_msg("%s", error.text);
	return run_file(file);
}

static Run slider(const char *rest) {
	char text[1000];
	snprintf(
		text, sizeof text,
		"{calder: 1, bodies: {a: {mass: 1}}, joints: {x: {type: prismatic, axis: x, to: a}}, state: {x: {q: 0.1}}, %s}",
		rest);
	return run_text(text);
}

static double speed_at(Run *r, double t) {
	for (int i = 1; i <= 10; i++) {
		if (cal_sim_advance(r->sim, t * i / 10, &r->error) != CAL_OK)
			fail_msg("%s", r->error.text);
		assert_int_equal(cal_sim_examine(r->sim), CAL_OK);
	}
	return cal_sim_state(r->sim, 0)->u[0];
}

/* The doubt about jumps; false: there is none. */
static bool jump_doubt(const Run *r, CalDoubt *doubt) {
	for (int i = 0; i < cal_sim_doubt_count(r->sim); i++)
		if (cal_sim_doubt(r->sim, i, doubt) == CAL_OK && strstr(doubt->text, "a force jumps within"))
			return true;
	return false;
}

#define JUMP "loads: [{joint: x, effort: \"if(q(x) < 0.5, 4, -7)\"}]"

/* v from rest at 0.1 m: 4 t until t1 = sqrt(0.2) s, then 4 t1 - 7 (t - t1). */
static void a_jump_is_doubted_by_the_size_of_its_error(void **state) {
	(void)state;
	const double t1 = sqrt(0.2), exact = 4 * t1 - 7 * (0.6 - t1);
	const char *const methods[] = {"rk4", "implicit-midpoint"};
	for (int k = 0; k < 2; k++) {
		char rest[300];
		snprintf(rest, sizeof rest, JUMP ", run: {duration: 1, method: %s, step: 20 ms}", methods[k]);
		Run r = slider(rest);
		CalDoubt doubt;
		const double error = fabs(speed_at(&r, 0.6) - exact);
		assert_true(jump_doubt(&r, &doubt));
		assert_int_equal(doubt.kind, CAL_DOUBT_ACCURACY);
		assert_true(doubt.time > t1 - 0.021 && doubt.time < t1);
		printf("%s: error %.3g, doubt %.3g\n", methods[k], error, doubt.value);
		assert_true(doubt.value > 0.3 * error && doubt.value < 0.02 * 11);
		run_end(&r);
	}
}

/* Wherever in a step of 20 ms the force jumps by 11 N: the doubt states the error, up to a tenth of what a step can have. */
static void the_doubt_states_the_error_of_jumps_anywhere_in_a_step(void **state) {
	(void)state;
	const char *const methods[] = {"rk4", "implicit-midpoint"};
	const double most = 0.02 * 11;
	for (int k = 0; k < 20; k++) {
		char rest[300];
		const int place = k / 2;
		const double x1 = 0.5 + 0.0036 * place, t1 = sqrt((x1 - 0.1) / 2), exact = 4 * t1 - 7 * (0.6 - t1);
		snprintf(rest, sizeof rest,
		         "loads: [{joint: x, effort: \"if(q(x) < %g, 4, -7)\"}], run: {duration: 1, method: %s, step: 20 ms}",
		         x1, methods[k % 2]);
		Run r = slider(rest);
		CalDoubt doubt;
		const double error = fabs(speed_at(&r, 0.6) - exact), stated = jump_doubt(&r, &doubt) ? doubt.value : 0;
		printf("%s, jump at %g m: error %.3g, doubt %.3g\n", methods[k % 2], x1, error, stated);
		assert_true(stated > 0 ? fabs(stated - error) < 0.1 * most : error < 0.1 * most + 0.01 * 4 * t1);
		run_end(&r);
	}
}

static void adaptive_steps_and_fine_steps_over_a_jump_are_not(void **state) {
	(void)state;
	const char *const runs[] = {JUMP ", run: {duration: 1}", JUMP ", run: {duration: 1, method: rk4, step: 0.2 ms}"};
	for (int k = 0; k < 2; k++) {
		Run r = slider(runs[k]);
		CalDoubt doubt;
		speed_at(&r, 0.6);
		assert_false(jump_doubt(&r, &doubt));
		run_end(&r);
	}
}

/* A stop whose force begins at zero has a kink there: the error is of second order. */
static void a_stop_without_a_jump_is_not_doubted(void **state) {
	(void)state;
	Run r =
		slider("loads: [{joint: x, effort: 4}], devices: {stop: {type: limit, joint: x, upper: 0.5, stiffness: 100}},"
	           " run: {duration: 2, method: rk4, step: 10 ms}");
	CalDoubt doubt;
	speed_at(&r, 2);
	assert_false(jump_doubt(&r, &doubt));
	run_end(&r);
}

static void one_advance_and_many_see_the_same_jump(void **state) {
	(void)state;
	Run a = slider(JUMP ", run: {duration: 1, method: rk4, step: 20 ms}");
	Run b = slider(JUMP ", run: {duration: 1, method: rk4, step: 20 ms}");
	if (cal_sim_advance(a.sim, 0.6, &a.error) != CAL_OK)
		fail_msg("%s", a.error.text);
	for (int i = 1; i <= 30; i++)
		if (cal_sim_advance(b.sim, 0.02 * i, &b.error) != CAL_OK)
			fail_msg("%s", b.error.text);
	CalDoubt doubt;
	assert_int_equal(cal_sim_examine(a.sim), CAL_OK);
	assert_int_equal(cal_sim_examine(b.sim), CAL_OK);
	assert_true(jump_doubt(&a, &doubt) && jump_doubt(&b, &doubt)); // in one advance and in many
	assert_true(fabs(cal_sim_state(a.sim, 0)->u[0] - cal_sim_state(b.sim, 0)->u[0]) < 1e-12);
	run_end(&a);
	run_end(&b);
}

/*
 * A light slider beside a heavy body: 4 m/s^2 up to 0.5 m, -35000 m/s^2 from there on, where it stays for 0.1 ms and 46 um and
 * leaves with the speed v that it came with. An error of q in there is one of the speed, 20000 times as large.
 */
static void a_short_stay_beyond_a_jump_returns_the_speed(void **state) {
	(void)state;
	const double t1 = sqrt(0.2), v = 4 * t1, exact = -v + 4 * (0.6 - t1 - 2 * v / 35000), rtol = 1e-6;
	const CalMethod methods[] = {CAL_METHOD_DOPRI5, CAL_METHOD_CVODE_ADAMS, CAL_METHOD_CVODE_BDF};
	for (int k = 0; k < 3; k++) {
		if (cal_method_info(methods[k])->missing)
			continue;
		char text[1000];
		snprintf(text, sizeof text,
		         "{calder: 1, bodies: {a: {mass: 0.001}, b: {mass: 10, box: [1, 1, 1]}},"
		         " joints: {x: {type: prismatic, axis: x, to: a}, f: {type: free, to: b}},"
		         " state: {x: {q: 0.1}, f: {velocity: [1, 2, 3], angular_velocity: [0.1, 0.2, 0.3]}},"
		         " loads: [{joint: x, effort: \"if(q(x) < 0.5, 0.004, -35)\"}],"
		         " run: {duration: 1, method: %s, rtol: %g, atol: 1e-8}}",
		         cal_method_name(methods[k]), rtol);
		Run r = run_text(text);
		const double error = fabs(speed_at(&r, 0.6) - exact);
		printf("%s: error %.3g\n", cal_method_name(methods[k]), error);
		assert_true(error < 30 * rtol * v);
		run_end(&r);
	}
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_jump_is_doubted_by_the_size_of_its_error),
		cmocka_unit_test(the_doubt_states_the_error_of_jumps_anywhere_in_a_step),
		cmocka_unit_test(adaptive_steps_and_fine_steps_over_a_jump_are_not),
		cmocka_unit_test(a_stop_without_a_jump_is_not_doubted),
		cmocka_unit_test(one_advance_and_many_see_the_same_jump),
		cmocka_unit_test(a_short_stay_beyond_a_jump_returns_the_speed),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
