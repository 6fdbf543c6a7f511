// SPDX-License-Identifier: Apache-2.0
/*
 * test_cvode.c — the methods cvode-adams and cvode-bdf: agreement with the library's own schemes, end times, restarts,
 * dense output, failures. What they share with all methods is in test_integrator.c and in test/sim/test_methods.c.
 *
 * Without SUNDIALS it is only checked that the methods are refused.
 */
#include "integrate/systems.h"

#ifdef CALDER_WITH_SUNDIALS

static const CalMethod both[] = {CAL_METHOD_CVODE_ADAMS, CAL_METHOD_CVODE_BDF};

/** Adams where the options name no method. */
static CalIntegrator *cvode_for(const System *s, CalIntegratorOptions options) {
	options.method = options.method == CAL_METHOD_CVODE_BDF ? CAL_METHOD_CVODE_BDF : CAL_METHOD_CVODE_ADAMS;
	return integrator_for(s, options);
}

static System tumbling_body(void) { return free_body(2, 1, 4, 7.5); }

static void cvode_agrees_with_dopri5(void **state) {
	(void)state;
	System (*const systems[])(void) = {double_pendulum, heavy_top, tumbling_body};
	for (int i = 0; i < 3; i++) {
		for (int k = 0; k < 2; k++) {
			System s = systems[i]();
			CalState exact = advanced_exactly(&s, 2);
			CalIntegrator *cvode =
				cvode_for(&s, (CalIntegratorOptions){.method = both[k], .rtol = 1e-10, .atol = 1e-12});
			assert_int_equal(cal_integrator_advance(cvode, &s.state, 2), CAL_OK);
			assert_true(s.state.t == 2);
			assert_true(state_distance(&s, &exact, &s.state) < 1e-6);
			cal_integrator_destroy(cvode);
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
		CalIntegrator *cvode = cvode_for(&s, (CalIntegratorOptions){.rtol = rtol, .atol = 1e-2 * rtol});
		cal_state_copy(s.model, &start, &s.state);
		assert_int_equal(cal_integrator_advance(cvode, &s.state, 1), CAL_OK);
		double error = state_distance(&s, &exact, &s.state);
		assert_true(error < 1e4 * rtol && error < last);
		last = error;
		cal_integrator_destroy(cvode);
	}
	cal_state_destroy(&exact);
	cal_state_destroy(&start);
	system_free(&s);
}

/** After a restart delta is zero: the Jacobian needs its columns all the same, or some tolerances are far worse than others. */
static void bdf_error_follows_every_tolerance(void **state) {
	(void)state;
	System (*const systems[])(void) = {double_pendulum, heavy_top, tumbling_body};
	for (int i = 0; i < 3; i++) {
		System s = systems[i]();
		CalState exact = advanced_exactly(&s, 2), start = state_of(&s);
		for (int k = 0; k < 40; k++) {
			const double rtol = 1e-5 * pow(10, -0.05 * k);
			const CalIntegratorOptions options = {.method = CAL_METHOD_CVODE_BDF, .rtol = rtol, .atol = 1e-2 * rtol};
			CalIntegrator *cvode = cvode_for(&s, options);
			cal_state_copy(s.model, &start, &s.state);
			assert_int_equal(cal_integrator_advance(cvode, &s.state, 2), CAL_OK);
			assert_true(state_distance(&s, &exact, &s.state) < 100 * rtol);
			cal_integrator_destroy(cvode);
		}
		cal_state_destroy(&exact);
		cal_state_destroy(&start);
		system_free(&s);
	}
}

/** A wheel that turns steadily turns as far as the clock goes, also where t + h is rounded to 5 % of h. */
static void cvode_steps_are_those_of_the_clock(void **state) {
	(void)state;
	for (int k = 0; k < 2; k++) {
		System s = wheel();
		const double h = 1e-9, start = 1e6;
		CalIntegrator *cvode = cvode_for(&s, (CalIntegratorOptions){.method = both[k], .step = h, .max_step = h});
		s.state.t = start;
		s.state.q[0] = 0;
		s.state.u[0] = 1;
		assert_int_equal(cal_integrator_advance(cvode, &s.state, start + 1000 * h), CAL_OK);
		assert_true(s.state.t == start + 1000 * h);
		assert_true(fabs(s.state.q[0] / (s.state.t - start) - 1) < 1e-12);
		cal_integrator_destroy(cvode);
		system_free(&s);
	}
}

/** Output times are met exactly, and the history survives them. */
static void cvode_goes_on_from_call_to_call(void **state) {
	(void)state;
	System s = double_pendulum();
	CalState start = state_of(&s);
	CalIntegrator *going = cvode_for(&s, (CalIntegratorOptions){.rtol = 1e-8}),
				  *restarted = cvode_for(&s, (CalIntegratorOptions){.rtol = 1e-8});
	for (int k = 1; k <= 50; k++) {
		assert_int_equal(cal_integrator_advance(going, &s.state, 0.1 * k), CAL_OK);
		assert_true(s.state.t == 0.1 * k);
	}
	cal_state_copy(s.model, &start, &s.state);
	for (int k = 1; k <= 50; k++) {
		assert_int_equal(cal_integrator_advance(restarted, &s.state, 0.1 * k), CAL_OK);
		cal_integrator_reset(restarted);
	}
	CalIntegratorStats a = cal_integrator_stats(going), b = cal_integrator_stats(restarted);
	assert_true(2 * a.evaluations < b.evaluations);
	assert_true(a.steps > 50 && a.evaluations >= a.steps);
	cal_integrator_destroy(going);
	cal_integrator_destroy(restarted);
	cal_state_destroy(&start);
	system_free(&s);
}

static void cvode_notices_a_changed_state(void **state) {
	(void)state;
	System s = wheel();
	CalIntegrator *cvode = cvode_for(&s, (CalIntegratorOptions){0});
	s.state.u[0] = 1;
	assert_int_equal(cal_integrator_advance(cvode, &s.state, 1), CAL_OK);
	assert_true(fabs(s.state.q[0] - 1) < 1e-12);
	s.state.u[0] = -1;
	assert_int_equal(cal_integrator_advance(cvode, &s.state, 2), CAL_OK);
	assert_true(fabs(s.state.q[0]) < 1e-12);
	assert_int_equal(cal_integrator_advance(cvode, &s.state, 0.5), CAL_OK); // backwards
	assert_true(s.state.t == 0.5 && fabs(s.state.q[0] - 1.5) < 1e-11);
	cal_integrator_destroy(cvode);
	system_free(&s);
}

static void cvode_follows_a_steady_spin(void **state) {
	(void)state;
	System s = free_body(2, 3, 1e-7, 100);
	CalIntegrator *cvode = cvode_for(&s, (CalIntegratorOptions){.rtol = 1e-4, .atol = 1e-4});
	assert_int_equal(cal_integrator_advance(cvode, &s.state, 10), CAL_OK);
	assert_true(hypot(s.state.u[3], s.state.u[4]) < 1e-5); // far below the tolerance, not blown up
	double half = 500, sign = s.state.q[3] * cos(half) > 0 ? 1 : -1;
	assert_true(fabs(s.state.q[3] - sign * cos(half)) < 1e-8 && fabs(s.state.q[6] - sign * sin(half)) < 1e-8);
	cal_integrator_destroy(cvode);
	system_free(&s);
}

/** Rates 100 and 10^6 1/s: BDF steps over the fast one once it has died out, an explicit scheme cannot. */
static void bdf_steps_over_stiffness(void **state) {
	(void)state;
	CalDesc *desc = desc_with_gravity(0);
	CalJointDef joint = joint_about(CAL_JOINT_PRISMATIC, 1, 0, 0);
	joint.dof[0].stiffness = 1e7;
	joint.dof[0].damping = 1e6;
	attach_body(desc, ground, origin, joint, "mass", 1, 0, (CalVec3){0.1, 0.1, 0.1});
	System s = system_of(desc);
	s.state.q[0] = 1;
	CalIntegrator *cvode =
		cvode_for(&s, (CalIntegratorOptions){.method = CAL_METHOD_CVODE_BDF, .rtol = 1e-6, .atol = 1e-9});
	assert_int_equal(cal_integrator_advance(cvode, &s.state, 1), CAL_OK);
	double slow = 0.5 * (1e6 - sqrt(1e12 - 4e7));
	assert_true(fabs(s.state.q[0] - exp(-slow)) < 1e-4 * exp(-slow));
	assert_true(cal_integrator_stats(cvode).steps < 1000);
	cal_integrator_destroy(cvode);
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
	CalIntegrator *cvode = cvode_for(&s, (CalIntegratorOptions){.input = drive, .user = &driver});
	assert_int_equal(cal_integrator_advance(cvode, &s.state, 0.5), CAL_OK);
	cal_integrator_reset(cvode);
	assert_int_equal(cal_integrator_advance(cvode, &s.state, 1), CAL_OK);
	assert_true(fabs(s.state.u[0] - 1) < 1e-9 && fabs(s.state.q[0] - 0.75) < 1e-9);
	cal_integrator_destroy(cvode);
	system_free(&s);
}

/** Fails the input at each of its calls in turn; returns how many there are. */
static int fail_every_call(CalMethod method) {
	System s = wheel();
	CalState start = state_of(&s);
	int calls = 0;
	for (CalStatus status = CAL_ERR_USER; status != CAL_OK; calls++) {
		Driver driver = {.fail_at = calls + 1, .until = INFINITY, .tau = 1};
		CalIntegrator *cvode = cvode_for(&s, (CalIntegratorOptions){.method = method, .input = drive, .user = &driver});
		cal_state_copy(s.model, &start, &s.state);
		status = cal_integrator_advance(cvode, &s.state, 1);
		assert_true(status == CAL_ERR_USER || (status == CAL_OK && driver.calls == calls));
		assert_true(fabs(s.state.u[0] - s.state.t) < 1e-9 && (s.state.t < 1) == (status != CAL_OK));
		cal_integrator_destroy(cvode);
	}
	cal_state_destroy(&start);
	system_free(&s);
	return calls;
}

static void failures_leave_the_last_good_state(void **state) {
	(void)state;
	assert_true(fail_every_call(CAL_METHOD_CVODE_ADAMS) > 5);
	assert_true(fail_every_call(CAL_METHOD_CVODE_BDF) > 5);
	System s = wheel();
	CalState start = state_of(&s);
	Driver broken = {.tau = NAN, .until = INFINITY};
	CalIntegrator *cvode = cvode_for(&s, (CalIntegratorOptions){.input = drive, .user = &broken});
	cal_state_copy(s.model, &start, &s.state);
	assert_int_equal(cal_integrator_advance(cvode, &s.state, 1), CAL_NOT_FINITE);
	assert_same_bits(&s, &start, &s.state);
	cal_integrator_destroy(cvode);
	Driver steady = {.tau = 1, .until = INFINITY};
	cvode = cvode_for(&s, (CalIntegratorOptions){.max_steps = 3, .input = drive, .user = &steady});
	assert_int_equal(cal_integrator_advance(cvode, &s.state, 1), CAL_TOO_MANY_STEPS);
	assert_true(s.state.t > 0 && s.state.t < 1);
	assert_int_equal(cal_integrator_stats(cvode).steps, 3);
	cal_integrator_destroy(cvode);
	cal_state_destroy(&start);
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
		cmocka_unit_test(bdf_error_follows_every_tolerance),
		cmocka_unit_test(bdf_steps_over_stiffness),
		cmocka_unit_test(loads_that_switch_between_calls_are_exact),
		cmocka_unit_test(failures_leave_the_last_good_state),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

#else

static void a_method_that_is_not_built_is_refused(void **state) {
	(void)state;
	System s = wheel();
	for (int k = 0; k < 2; k++) {
		const CalMethod method = k ? CAL_METHOD_CVODE_BDF : CAL_METHOD_CVODE_ADAMS;
		CalIntegrator *cvode = NULL;
		assert_non_null(strstr(cal_method_info(method)->missing, "SUNDIALS"));
		assert_int_equal(cal_integrator_create(s.model, s.work, &(CalIntegratorOptions){.method = method}, &cvode),
		                 CAL_ERR_UNSUPPORTED);
		assert_null(cvode);
	}
	system_free(&s);
}

int main(void) {
	const struct CMUnitTest tests[] = {cmocka_unit_test(a_method_that_is_not_built_is_refused)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

#endif
