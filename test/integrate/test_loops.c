// SPDX-License-Identifier: Apache-2.0
/*
 * test_loops.c — schemes on mechanisms with closed loops: implicit steps keep their order and the loops, a stiff spring
 * in a loop is no matter for them; CVODE keeps the loops, the energy and its tolerance.
 */
#include "integrate/linkages.h"

#include <stdio.h>

/* ---- projection now and then ------------------------------------------------------------------------ */

/* Residual after 1 s of steps of 1 ms; projection as in the options. */
static double residual_after(System *s, int projection) {
	const CalIntegratorOptions options = {.method = CAL_METHOD_EULER_CROMER, .step = 1e-3, .projection = projection};
	CalIntegrator *integrator;
	CalState end;
	assert_int_equal(cal_state_create(s->model, &end), CAL_OK);
	cal_state_copy(s->model, &s->state, &end);
	assert_int_equal(cal_integrator_create(s->model, s->work, &options, &integrator), CAL_OK);
	assert_int_equal(cal_integrator_advance(integrator, &end, 1.0), CAL_OK);
	const double left = loop_error(s, &end);
	cal_integrator_destroy(integrator);
	cal_state_destroy(&end);
	return left;
}

/* Every step, every seventh (1000 = 142 * 7 + 6: six steps of drift are left), never. */
static void projection_is_made_as_often_as_asked(void **state) {
	(void)state;
	System s = slider_crank(0);
	const double each = residual_after(&s, 0), seldom = residual_after(&s, 7), never = residual_after(&s, -1);
	assert_true(each < 1e-12);
	assert_true(seldom > 1e-9 && seldom < 1e-2);
	assert_true(never > 10 * seldom);
	system_free(&s);
}

/* ---- implicit steps ------------------------------------------------------------------------------- */

static double error_at(const System *s, CalMethod method, double h, double t_end, const CalState *exact) {
	CalState end = advanced_fixed(s, method, h, t_end);
	const double error = state_distance(s, exact, &end);
	assert_true(loop_error(s, &end) < 1e-11);
	cal_state_destroy(&end);
	return error;
}

/* A spring of 30 N m/rad on the crank, ten turns a second: errors fall by 2^order when the step is halved. */
static void implicit_steps_keep_their_order_and_the_loops(void **state) {
	(void)state;
	static const struct {
		CalMethod method;
		double order;
	} schemes[] = {{CAL_METHOD_IMPLICIT, 1}, {CAL_METHOD_IMPLICIT_MIDPOINT, 2}};
	System s = slider_crank(30);
	CalState exact = advanced_exactly(&s, 0.3);
	for (int k = 0; k < 2; k++) {
		double error[4];
		for (int i = 0; i < 4; i++)
			error[i] = error_at(&s, schemes[k].method, 1e-3 / (1 << i), 0.3, &exact);
		const double order = log2(error[2] / error[3]);
		if (!(fabs(order - schemes[k].order) < 0.1))
			fail_msg("%s: order %.3f, errors %.2e %.2e %.2e %.2e", cal_method_name(schemes[k].method), order, error[0],
			         error[1], error[2], error[3]);
	}
	cal_state_destroy(&exact);
	system_free(&s);
}

/* The same pentagon with its middle joint locked: what a spring comes to as it gets stiff. */
static int lock_middle(void *user, const CalModel *model, const CalState *state, CalInput *input) {
	(void)model;
	(void)state;
	input->prescribed = user;
	return 0;
}

/*
 * A spring of 1e8 N m/rad: its frequency is above 1e4 rad/s, a step of 10 ms a hundred times too long for explicit
 * schemes. Implicit steps follow the locked mechanism; the projection, which knows masses and no springs, moves the spring by
 * some h^2.
 */
static void a_stiff_spring_in_a_loop_is_stable_at_large_steps(void **state) {
	(void)state;
	static const CalMethod methods[] = {CAL_METHOD_IMPLICIT, CAL_METHOD_IMPLICIT_MIDPOINT};
	static const double allowed[] = {5e-2, 1e-4}; // they follow the locked motion with their own order
	static uint8_t middle[] = {0, 1, 0, 0};
	const double h = 1e-2, t_end = 0.5;
	System s = five_bar(1e8);
	const CalProjectOptions hold = {.frozen = middle, .max_iterations = 100};
	assert_int_equal(cal_loop_project(s.model, &s.state, &hold, s.work, NULL), CAL_OK);
	CalState locked = advanced(
		&s, (CalIntegratorOptions){.method = CAL_METHOD_DOPRI5, .rtol = 1e-11, .input = lock_middle, .user = middle},
		t_end);
	assert_true(fabs(locked.q[0] - s.state.q[0]) > 0.1); // it does move
	for (int k = 0; k < 2; k++) {
		CalState end = advanced_fixed(&s, methods[k], h, t_end);
		assert_true(loop_error(&s, &end) < 1e-11);
		assert_true(fabs(end.q[1]) < 5 * h * h);
		double apart = 0;
		for (int i = 0; i < s.nu; i++)
			apart = fmax(apart, fabs(end.q[i] - locked.q[i]));
		if (!(apart < allowed[k]))
			fail_msg("%s: %.2e from the locked motion", cal_method_name(methods[k]), apart);
		cal_state_destroy(&end);
	}
	CalState explicit_end = state_of(&s); // an explicit scheme is lost at this step
	CalIntegrator *rk4 = integrator_for(&s, (CalIntegratorOptions){.method = CAL_METHOD_RK4, .step = h});
	assert_true(cal_integrator_advance(rk4, &explicit_end, t_end) != CAL_OK || fabs(explicit_end.q[1]) > 1);
	cal_integrator_destroy(rk4);
	cal_state_destroy(&explicit_end);
	cal_state_destroy(&locked);
	system_free(&s);
}

/* ---- CVODE ------------------------------------------------------------------------------------------ */

#ifdef CALDER_WITH_SUNDIALS

static System free_crank(void) { return slider_crank(0); }

static void cvode_keeps_loops_and_energy(void **state) {
	(void)state;
	System (*const systems[])(void) = {free_crank, bricard};
	for (int i = 0; i < 2; i++) {
		for (int method = CAL_METHOD_CVODE_ADAMS; method <= CAL_METHOD_CVODE_BDF; method++) {
			System s = systems[i]();
			CalState exact =
				advanced(&s, (CalIntegratorOptions){.method = CAL_METHOD_DOPRI5, .rtol = 1e-12, .atol = 1e-13}, 3);
			const double start = energy_of(&s, &s.state);
			CalIntegrator *cvode;
			const CalIntegratorOptions options = {.method = (CalMethod)method, .rtol = 1e-9, .atol = 1e-11};
			assert_int_equal(cal_integrator_create(s.model, s.work, &options, &cvode), CAL_OK);
			for (int k = 1; k <= 30; k++) {
				assert_int_equal(cal_integrator_advance(cvode, &s.state, 0.1 * k), CAL_OK);
				assert_true(loop_error(&s, &s.state) <= 1e-10);
				assert_true(fabs(energy_of(&s, &s.state) - start) < 1e-5);
			}
			assert_true(state_distance(&s, &exact, &s.state) < 2e-5);
			assert_true(cal_integrator_stats(cvode).evaluations < 5000); // the history survives most projections
			cal_integrator_destroy(cvode);
			cal_state_destroy(&exact);
			system_free(&s);
		}
	}
}

/* A driven crank: its angle is prescribed, the projection must not touch it. */
static int drive_crank(void *user, const CalModel *model, const CalState *state, CalInput *input) {
	static const uint8_t crank[] = {1, 0, 0};
	double *udot = user;
	(void)model;
	udot[0] = cos(state->t);
	input->prescribed = crank;
	input->udot = udot;
	return 0;
}

static void cvode_leaves_driven_dofs_where_they_are(void **state) {
	(void)state;
	for (int method = CAL_METHOD_CVODE_ADAMS; method <= CAL_METHOD_CVODE_BDF; method++) {
		double udot[3] = {0};
		System s = free_crank();
		const double q = s.state.q[0], u = s.state.u[0];
		CalIntegrator *cvode;
		const CalIntegratorOptions options = {
			.method = (CalMethod)method, .rtol = 1e-9, .atol = 1e-11, .input = drive_crank, .user = udot};
		assert_int_equal(cal_integrator_create(s.model, s.work, &options, &cvode), CAL_OK);
		assert_int_equal(cal_integrator_advance(cvode, &s.state, 1), CAL_OK);
		assert_true(fabs(s.state.u[0] - (u + sin(1))) < 1e-7);
		assert_true(fabs(s.state.q[0] - (q + u + 1 - cos(1))) < 1e-7);
		assert_true(loop_error(&s, &s.state) <= 1e-10);
		cal_integrator_destroy(cvode);
		system_free(&s);
	}
}

#endif

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(projection_is_made_as_often_as_asked),
		cmocka_unit_test(implicit_steps_keep_their_order_and_the_loops),
		cmocka_unit_test(a_stiff_spring_in_a_loop_is_stable_at_large_steps),
#ifdef CALDER_WITH_SUNDIALS
		cmocka_unit_test(cvode_keeps_loops_and_energy),
		cmocka_unit_test(cvode_leaves_driven_dofs_where_they_are),
#endif
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
