// SPDX-License-Identifier: Apache-2.0
/*
 * test_rosenbrock.c — the method rosenbrock: its order, dense output, and systems that are stiff by springs, by inputs that the
 * Jacobian has to find by differences, and with loops: solutions of dopri5, in a number of steps that does not grow with stiffness.
 * What it shares with all methods is in test_integrator.c and in test/sim/test_methods.c.
 */
#include "integrate/systems.h"

static System tumbling_body(void) { return free_body(2, 1, 4, 7.5); }

typedef System (*SystemFn)(void);
static const SystemFn all_systems[] = {double_pendulum, heavy_top, tumbling_body};

/** Steps of exactly h: the tolerances accept everything. */
static CalIntegratorOptions loose(double h) {
	return (CalIntegratorOptions){.method = CAL_METHOD_ROSENBROCK, .step = h, .max_step = h, .rtol = 1e3, .atol = 1e3};
}

static void check_order(double coarse, double fine, double ratio, double order, double slack) {
	const double measured = log(coarse / fine) / log(ratio);
	print_message("errors %.3g and %.3g, order %.3f\n", coarse, fine, measured);
	assert_true(fabs(measured - order) <= slack);
}

/** The Jacobian leaves out how the chart of a quaternion turns: the order does not depend on it. */
static void rosenbrock_has_order_three(void **state) {
	(void)state;
	for (int i = 0; i < 3; i++) {
		System s = all_systems[i]();
		CalState exact = advanced_exactly(&s, 0.8);
		CalState a = advanced(&s, loose(0.8 / 200), 0.8), b = advanced(&s, loose(0.8 / 600), 0.8);
		check_order(state_distance(&s, &exact, &a), state_distance(&s, &exact, &b), 3, 3, 0.15);
		cal_state_destroy(&a);
		cal_state_destroy(&b);
		cal_state_destroy(&exact);
		system_free(&s);
	}
}

static double dense_error(const System *s, double h) {
	CalState state = state_of(s), inside = state_of(s);
	CalIntegrator *integrator = integrator_for(s, loose(h));
	assert_int_equal(cal_integrator_step(integrator, &state, h), CAL_OK);
	double worst = 0;
	for (int k = 1; k < 10; k++) {
		assert_int_equal(cal_integrator_interpolate(integrator, h * k / 10, &inside), CAL_OK);
		CalState exact = advanced_exactly(s, h * k / 10);
		worst = fmax(worst, state_distance(s, &exact, &inside));
		cal_state_destroy(&exact);
	}
	cal_integrator_destroy(integrator);
	cal_state_destroy(&state);
	cal_state_destroy(&inside);
	return worst;
}

/** Cubic: a local error of order 4. */
static void dense_output_has_order_three(void **state) {
	(void)state;
	for (int i = 0; i < 3; i++) {
		System s = all_systems[i]();
		check_order(dense_error(&s, 0.02), dense_error(&s, 0.02 / 3), 3, 4, 0.35);
		system_free(&s);
	}
}

/* ---- stiff ----------------------------------------------------------------------------------------------- */

/** The double pendulum whose elbow is held by a stiff spring with more damping: it creeps. */
static System stiff_pendulum(double rate) {
	CalDesc *desc = desc_with_gravity(9.81);
	CalJointDef elbow = joint_about(CAL_JOINT_REVOLUTE, 0.6, 0.8, 0);
	elbow.dof[0].stiffness = 10 * rate;
	elbow.dof[0].damping = rate;
	const CalBodyId upper = attach_body(desc, ground, origin, joint_about(CAL_JOINT_REVOLUTE, 0, 1, 0), "upper", 1.2,
	                                    0.5, (CalVec3){0.1, 0.12, 0.03});
	attach_body(desc, upper, (CalVec3){0, 0, -1}, elbow, "lower", 0.7, 0.4, (CalVec3){0.05, 0.06, 0.02});
	System s = system_of(desc);
	s.state.q[0] = 1;
	s.state.q[1] = 0.7;
	return s;
}

static CalIntegratorStats run_to(const System *s, CalIntegratorOptions options, double t, CalState *end) {
	*end = state_of(s);
	CalIntegrator *integrator = integrator_for(s, options);
	assert_int_equal(cal_integrator_advance(integrator, end, t), CAL_OK);
	const CalIntegratorStats stats = cal_integrator_stats(integrator);
	cal_integrator_destroy(integrator);
	return stats;
}

/** dopri5 needs steps of about 3/(fastest rate); these need as many as the motion. */
static void stiffness_does_not_cost_steps(void **state) {
	(void)state;
	const double rates[] = {1e3, 1e5};
	int64_t steps[2];
	for (int k = 0; k < 2; k++) {
		System s = stiff_pendulum(rates[k]);
		CalState want, got;
		const CalIntegratorStats explicit =
			run_to(&s, (CalIntegratorOptions){.method = CAL_METHOD_DOPRI5, .rtol = 1e-10, .atol = 1e-12}, 2, &want);
		const CalIntegratorStats stats =
			run_to(&s, (CalIntegratorOptions){.method = CAL_METHOD_ROSENBROCK, .rtol = 1e-6, .atol = 1e-9}, 2, &got);
		const double error = state_distance(&s, &want, &got);
		steps[k] = stats.steps;
		print_message("rate %g: %d steps (dopri5 %d), error %.2g\n", rates[k], (int)stats.steps, (int)explicit.steps,
		              error);
		assert_true(error < 2e-5);
		cal_state_destroy(&want);
		cal_state_destroy(&got);
		system_free(&s);
	}
	assert_true(steps[1] < 2 * steps[0]);
}

/** A controller of the shoulder, much faster than the pendulum: the library knows nothing of it but its forces. */
typedef struct Controller {
	double tau[2];
	double rate;
} Controller;

static int control(void *user, const CalModel *model, const CalState *state, CalInput *input) {
	Controller *c = user;
	(void)model;
	c->tau[0] = -c->rate * (state->u[0] - sin(3 * state->t)); // follows a speed
	input->tau = c->tau;
	return 0;
}

static void inputs_are_part_of_the_jacobian(void **state) {
	(void)state;
	int64_t steps[2];
	for (int k = 0; k < 2; k++) {
		System s = double_pendulum();
		Controller c = {.rate = k ? 1e5 : 1e3};
		CalState want, got;
		run_to(&s,
		       (CalIntegratorOptions){
				   .method = CAL_METHOD_DOPRI5, .rtol = 1e-10, .atol = 1e-12, .input = control, .user = &c},
		       0.5, &want);
		const CalIntegratorStats stats =
			run_to(&s,
		           (CalIntegratorOptions){
					   .method = CAL_METHOD_ROSENBROCK, .rtol = 1e-8, .atol = 1e-11, .input = control, .user = &c},
		           0.5, &got);
		const double error = state_distance(&s, &want, &got);
		steps[k] = stats.steps;
		print_message("gain %g: %d steps, error %.2g\n", c.rate, (int)stats.steps, error);
		assert_true(error < 5e-6);
		cal_state_destroy(&want);
		cal_state_destroy(&got);
		system_free(&s);
	}
	assert_true(steps[1] < 2 * steps[0]);
}

/* ---- failures ---------------------------------------------------------------------------------------------- */

static int refuse(void *user, const CalModel *model, const CalState *state, CalInput *input) {
	int *left = user;
	(void)model;
	(void)state;
	(void)input;
	return --*left < 0;
}

/** Whenever the input refuses, in a stage or while the Jacobian is found, the state stays at the last good step. */
static void a_refusal_is_reported_and_leaves_the_state(void **state) {
	(void)state;
	System s = double_pendulum();
	for (int calls = 0; calls < 40; calls++) {
		int left = calls;
		CalState at = state_of(&s);
		CalIntegrator *integrator = integrator_for(
			&s, (CalIntegratorOptions){
					.method = CAL_METHOD_ROSENBROCK, .step = 1e-3, .max_step = 1e-3, .input = refuse, .user = &left});
		const CalStatus status = cal_integrator_step(integrator, &at, 1e-3);
		if (status != CAL_OK) {
			assert_int_equal(status, CAL_ERR_USER);
			assert_same_bits(&s, &s.state, &at);
		}
		cal_integrator_destroy(integrator);
		cal_state_destroy(&at);
	}
	system_free(&s);
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rosenbrock_has_order_three),
		cmocka_unit_test(dense_output_has_order_three),
		cmocka_unit_test(stiffness_does_not_cost_steps),
		cmocka_unit_test(inputs_are_part_of_the_jacobian),
		cmocka_unit_test(a_refusal_is_reported_and_leaves_the_state),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
