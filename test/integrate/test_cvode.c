// SPDX-License-Identifier: Apache-2.0
/*
 * test_cvode.c — the adapter to CVODE: agreement with the library's own schemes, end times, restarts, failures.
 *
 * Without SUNDIALS it is only checked that the adapter says so.
 */
#include "integrate/systems.h"

#include <calder/cvode.h>

#ifdef CALDER_WITH_SUNDIALS

static const CalCvodeMethod both[] = {CAL_CVODE_ADAMS, CAL_CVODE_BDF};

static CalCvode *cvode_for(const System *s, CalCvodeOptions options) {
	CalCvode *cvode = NULL;
	CalError error = {0};
	assert_int_equal(cal_cvode_create(s->model, s->work, &options, &cvode, &error), CAL_OK);
	return cvode;
}

static System tumbling_body(void) { return free_body(2, 1, 4, 7.5); }

static void cvode_agrees_with_dopri5(void **state) {
	(void)state;
	System (*const systems[])(void) = {double_pendulum, heavy_top, tumbling_body};
	for (int i = 0; i < 3; i++) {
		for (int k = 0; k < 2; k++) {
			System s = systems[i]();
			CalState exact = advanced_exactly(&s, 2);
			CalCvode *cvode = cvode_for(&s, (CalCvodeOptions){.method = both[k], .rtol = 1e-10, .atol = 1e-12});
			assert_int_equal(cal_cvode_advance(cvode, &s.state, 2), CAL_OK);
			assert_true(s.state.t == 2);
			assert_true(state_distance(&s, &exact, &s.state) < 1e-6);
			cal_cvode_destroy(cvode);
			cal_state_destroy(&exact);
			system_free(&s);
		}
	}
}

static void cvode_error_follows_the_tolerance(void **state) {
	(void)state;
	System s = heavy_top();
	CalState exact = advanced_exactly(&s, 1), start = state_of(&s);
	double last = INFINITY;
	const double tolerances[] = {1e-5, 1e-8, 1e-11};
	for (int k = 0; k < 3; k++) {
		double rtol = tolerances[k];
		CalCvode *cvode = cvode_for(&s, (CalCvodeOptions){.rtol = rtol, .atol = 1e-2 * rtol});
		cal_state_copy(s.model, &start, &s.state);
		assert_int_equal(cal_cvode_advance(cvode, &s.state, 1), CAL_OK);
		double error = state_distance(&s, &exact, &s.state);
		assert_true(error < 1e4 * rtol && error < last);
		last = error;
		cal_cvode_destroy(cvode);
	}
	cal_state_destroy(&exact);
	cal_state_destroy(&start);
	system_free(&s);
}

/** A wheel that turns steadily turns as far as the clock goes, also where t + h is rounded to 5 % of h. */
static void cvode_steps_are_those_of_the_clock(void **state) {
	(void)state;
	for (int k = 0; k < 2; k++) {
		System s = wheel();
		const double h = 1e-9, start = 1e6;
		CalCvode *cvode = cvode_for(&s, (CalCvodeOptions){.method = both[k], .step = h, .max_step = h});
		s.state.t = start;
		s.state.q[0] = 0;
		s.state.u[0] = 1;
		assert_int_equal(cal_cvode_advance(cvode, &s.state, start + 1000 * h), CAL_OK);
		assert_true(s.state.t == start + 1000 * h);
		assert_true(fabs(s.state.q[0] / (s.state.t - start) - 1) < 1e-12);
		cal_cvode_destroy(cvode);
		system_free(&s);
	}
}

/** Output times are met exactly, and the history survives them. */
static void cvode_goes_on_from_call_to_call(void **state) {
	(void)state;
	System s = double_pendulum();
	CalState start = state_of(&s);
	CalCvode *going = cvode_for(&s, (CalCvodeOptions){.rtol = 1e-8}),
			 *restarted = cvode_for(&s, (CalCvodeOptions){.rtol = 1e-8});
	for (int k = 1; k <= 50; k++) {
		assert_int_equal(cal_cvode_advance(going, &s.state, 0.1 * k), CAL_OK);
		assert_true(s.state.t == 0.1 * k);
	}
	cal_state_copy(s.model, &start, &s.state);
	for (int k = 1; k <= 50; k++) {
		assert_int_equal(cal_cvode_advance(restarted, &s.state, 0.1 * k), CAL_OK);
		cal_cvode_reset(restarted);
	}
	CalIntegratorStats a = cal_cvode_stats(going), b = cal_cvode_stats(restarted);
	assert_true(2 * a.evaluations < b.evaluations);
	assert_true(a.steps > 50 && a.evaluations >= a.steps);
	cal_cvode_destroy(going);
	cal_cvode_destroy(restarted);
	cal_state_destroy(&start);
	system_free(&s);
}

static void cvode_notices_a_changed_state(void **state) {
	(void)state;
	System s = wheel();
	CalCvode *cvode = cvode_for(&s, (CalCvodeOptions){0});
	s.state.u[0] = 1;
	assert_int_equal(cal_cvode_advance(cvode, &s.state, 1), CAL_OK);
	assert_true(fabs(s.state.q[0] - 1) < 1e-12);
	s.state.u[0] = -1;
	assert_int_equal(cal_cvode_advance(cvode, &s.state, 2), CAL_OK);
	assert_true(fabs(s.state.q[0]) < 1e-12);
	assert_int_equal(cal_cvode_advance(cvode, &s.state, 0.5), CAL_OK); // backwards
	assert_true(s.state.t == 0.5 && fabs(s.state.q[0] - 1.5) < 1e-11);
	cal_cvode_destroy(cvode);
	system_free(&s);
}

static void cvode_follows_a_steady_spin(void **state) {
	(void)state;
	System s = free_body(2, 3, 1e-7, 100);
	CalCvode *cvode = cvode_for(&s, (CalCvodeOptions){.rtol = 1e-4, .atol = 1e-4});
	assert_int_equal(cal_cvode_advance(cvode, &s.state, 10), CAL_OK);
	assert_true(hypot(s.state.u[3], s.state.u[4]) < 1e-5); // far below the tolerance, not blown up
	double half = 500, sign = s.state.q[3] * cos(half) > 0 ? 1 : -1;
	assert_true(fabs(s.state.q[3] - sign * cos(half)) < 1e-8 && fabs(s.state.q[6] - sign * sin(half)) < 1e-8);
	cal_cvode_destroy(cvode);
	system_free(&s);
}

/** Rates 100 and 10^6 1/s: BDF steps over the fast one once it has died out, an explicit scheme cannot. */
static void bdf_steps_over_stiffness(void **state) {
	(void)state;
	CalDesc *desc = desc_with_gravity(0);
	CalJointDef joint = joint_about(CAL_JOINT_PRISMATIC, 1, 0, 0);
	joint.dof[0].stiffness = 1e7;
	joint.dof[0].damping = 1e6;
	hang(desc, ground, origin, joint, "mass", 1, 0, (CalVec3){0.1, 0.1, 0.1});
	System s = system_of(desc);
	s.state.q[0] = 1;
	CalCvode *cvode = cvode_for(&s, (CalCvodeOptions){.method = CAL_CVODE_BDF, .rtol = 1e-6, .atol = 1e-9});
	assert_int_equal(cal_cvode_advance(cvode, &s.state, 1), CAL_OK);
	double slow = 0.5 * (1e6 - sqrt(1e12 - 4e7));
	assert_true(fabs(s.state.q[0] - exp(-slow)) < 1e-4 * exp(-slow));
	assert_true(cal_cvode_stats(cvode).steps < 1000);
	cal_cvode_destroy(cvode);
	system_free(&s);
}

typedef struct Driver {
	int calls, fail_at;
	double tau, until;
	double value[1];
} Driver;

static int drive(void *user, const CalModel *model, const CalState *state, CalInput *input) {
	Driver *d = user;
	(void)model;
	d->calls++;
	d->value[0] = state->t < d->until ? d->tau : 0;
	input->tau = d->value;
	return d->calls == d->fail_at;
}

static void loads_that_switch_between_calls_are_exact(void **state) {
	(void)state;
	System s = wheel();
	Driver driver = {.tau = 2, .until = 0.5};
	CalCvode *cvode = cvode_for(&s, (CalCvodeOptions){.input = drive, .user = &driver});
	assert_int_equal(cal_cvode_advance(cvode, &s.state, 0.5), CAL_OK);
	cal_cvode_reset(cvode);
	assert_int_equal(cal_cvode_advance(cvode, &s.state, 1), CAL_OK);
	assert_true(fabs(s.state.u[0] - 1) < 1e-9 && fabs(s.state.q[0] - 0.75) < 1e-9);
	cal_cvode_destroy(cvode);
	system_free(&s);
}

/** Fails the input at each of its calls in turn; returns how many there are. */
static int fail_every_call(CalCvodeMethod method) {
	System s = wheel();
	CalState start = state_of(&s);
	int calls = 0;
	for (CalStatus status = CAL_ERR_USER; status != CAL_OK; calls++) {
		Driver driver = {.fail_at = calls + 1, .until = INFINITY, .tau = 1};
		CalCvode *cvode = cvode_for(&s, (CalCvodeOptions){.method = method, .input = drive, .user = &driver});
		cal_state_copy(s.model, &start, &s.state);
		status = cal_cvode_advance(cvode, &s.state, 1);
		assert_true(status == CAL_ERR_USER || (status == CAL_OK && driver.calls == calls));
		assert_true(fabs(s.state.u[0] - s.state.t) < 1e-9 && (s.state.t < 1) == (status != CAL_OK));
		cal_cvode_destroy(cvode);
	}
	cal_state_destroy(&start);
	system_free(&s);
	return calls;
}

static void failures_leave_the_last_good_state(void **state) {
	(void)state;
	assert_true(fail_every_call(CAL_CVODE_ADAMS) > 5);
	assert_true(fail_every_call(CAL_CVODE_BDF) > 5);
	System s = wheel();
	CalState start = state_of(&s);
	Driver broken = {.tau = NAN, .until = INFINITY};
	CalCvode *cvode = cvode_for(&s, (CalCvodeOptions){.input = drive, .user = &broken});
	cal_state_copy(s.model, &start, &s.state);
	assert_int_equal(cal_cvode_advance(cvode, &s.state, 1), CAL_NOT_FINITE);
	assert_same_bits(&s, &start, &s.state);
	cal_cvode_destroy(cvode);
	Driver steady = {.tau = 1, .until = INFINITY};
	cvode = cvode_for(&s, (CalCvodeOptions){.max_steps = 3, .input = drive, .user = &steady});
	assert_int_equal(cal_cvode_advance(cvode, &s.state, 1), CAL_TOO_MANY_STEPS);
	assert_true(s.state.t > 0 && s.state.t < 1);
	assert_int_equal(cal_cvode_stats(cvode).steps, 3);
	cal_cvode_destroy(cvode);
	cal_state_destroy(&start);
	system_free(&s);
}

static void wrong_options_are_refused(void **state) {
	(void)state;
	System s = wheel();
	const CalCvodeOptions wrong[] = {{.method = CAL_CVODE_METHOD_COUNT},
	                                 {.rtol = -1},
	                                 {.atol = NAN},
	                                 {.max_step = -1},
	                                 {.max_steps = -1},
	                                 {.step = -1}};
	for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
		CalCvode *cvode = NULL;
		CalError error = {0};
		assert_int_equal(cal_cvode_create(s.model, s.work, &wrong[i], &cvode, &error), CAL_ERR_ARGUMENT);
		assert_null(cvode);
		assert_non_null(strstr(error.text, "option"));
	}
	cal_cvode_destroy(NULL);
	system_free(&s);
}

static void a_model_without_freedom_still_has_time(void **state) {
	(void)state;
	CalDesc *desc = desc_with_gravity(9.81);
	hang(desc, ground, origin, cal_joint_def(CAL_JOINT_WELD), "rock", 1, 0, (CalVec3){1, 1, 1});
	System s = system_of(desc);
	CalCvode *cvode = cvode_for(&s, (CalCvodeOptions){0});
	assert_int_equal(cal_cvode_advance(cvode, &s.state, 3), CAL_OK);
	assert_true(s.state.t == 3);
	assert_int_equal(cal_cvode_stats(cvode).evaluations, 0);
	cal_cvode_destroy(cvode);
	system_free(&s);
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(cvode_agrees_with_dopri5),
		cmocka_unit_test(cvode_error_follows_the_tolerance),
		cmocka_unit_test(cvode_goes_on_from_call_to_call),
		cmocka_unit_test(cvode_steps_are_those_of_the_clock),
		cmocka_unit_test(cvode_notices_a_changed_state),
		cmocka_unit_test(cvode_follows_a_steady_spin),
		cmocka_unit_test(bdf_steps_over_stiffness),
		cmocka_unit_test(loads_that_switch_between_calls_are_exact),
		cmocka_unit_test(failures_leave_the_last_good_state),
		cmocka_unit_test(wrong_options_are_refused),
		cmocka_unit_test(a_model_without_freedom_still_has_time),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

#else

static void the_adapter_says_that_it_is_missing(void **state) {
	(void)state;
	System s = wheel();
	CalCvode *cvode = NULL;
	CalError error = {0};
	assert_int_equal(cal_cvode_create(s.model, s.work, &(CalCvodeOptions){0}, &cvode, &error), CAL_ERR_UNSUPPORTED);
	assert_non_null(strstr(error.text, "SUNDIALS"));
	assert_null(cvode);
	system_free(&s);
}

int main(void) {
	const struct CMUnitTest tests[] = {cmocka_unit_test(the_adapter_says_that_it_is_missing)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

#endif
