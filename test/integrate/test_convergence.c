// SPDX-License-Identifier: Apache-2.0
/*
 * test_convergence.c — the order of each scheme, of the dense output, and closed forms.
 *
 * The order is the slope of log(error) over log(step) between two step sizes, on a heavy top (quaternion), a
 * double pendulum (coupled, nonlinear) and a free body. References are converged runs of another step control,
 * and for the force-free symmetric top and the oscillator the closed form.
 */
#include "integrate/systems.h"
#include "support/methods.h"

typedef System (*SystemFn)(void);

static System tumbling_body(void) { return free_body(2, 1, 4, 7.5); }

static const SystemFn all_systems[] = {double_pendulum, heavy_top, tumbling_body};
enum { SYSTEM_COUNT = sizeof all_systems / sizeof all_systems[0] };

/** Error at t_end of a scheme with constant step h. */
static double fixed_error(const System *s, CalMethod method, double h, double t_end, const CalState *exact) {
	CalState state = advanced_fixed(s, method, h, t_end);
	double error = state_distance(s, exact, &state);
	cal_state_destroy(&state);
	return error;
}

static void assert_order(double coarse, double fine, double ratio, double order, double slack) {
	double measured = log(coarse / fine) / log(ratio);
	if (!(fabs(measured - order) <= slack)) {
		print_error("errors %g and %g: order %.3f instead of %g\n", coarse, fine, measured, order);
	}
	assert_true(fabs(measured - order) <= slack);
}

static void euler_cromer_has_order_one(void **state) {
	(void)state;
	for (int i = 0; i < SYSTEM_COUNT; i++) {
		System s = all_systems[i]();
		CalState exact = advanced_exactly(&s, 0.8);
		double coarse = fixed_error(&s, CAL_METHOD_EULER_CROMER, 0.8 / 2000, 0.8, &exact);
		double fine = fixed_error(&s, CAL_METHOD_EULER_CROMER, 0.8 / 8000, 0.8, &exact);
		assert_order(coarse, fine, 4, 1, 0.06);
		cal_state_destroy(&exact);
		system_free(&s);
	}
}

static void rk4_has_order_four(void **state) {
	(void)state;
	for (int i = 0; i < SYSTEM_COUNT; i++) {
		System s = all_systems[i]();
		CalState exact = advanced_exactly(&s, 0.8);
		double coarse = fixed_error(&s, CAL_METHOD_RK4, 0.8 / 100, 0.8, &exact);
		double fine = fixed_error(&s, CAL_METHOD_RK4, 0.8 / 400, 0.8, &exact);
		assert_order(coarse, fine, 4, 4, 0.15);
		cal_state_destroy(&exact);
		system_free(&s);
	}
}

/** Steps of exactly h: the tolerances accept everything. */
static CalIntegratorOptions loose(double h) {
	return (CalIntegratorOptions){.method = CAL_METHOD_DOPRI5, .step = h, .max_step = h, .rtol = 1e3, .atol = 1e3};
}

static void dopri5_has_order_five(void **state) {
	(void)state;
	for (int i = 0; i < SYSTEM_COUNT; i++) {
		System s = all_systems[i]();
		CalState exact = advanced_exactly(&s, 0.8);
		CalState a = advanced(&s, loose(0.8 / 50), 0.8), b = advanced(&s, loose(0.8 / 150), 0.8);
		assert_order(state_distance(&s, &exact, &a), state_distance(&s, &exact, &b), 3, 5, 0.35);
		cal_state_destroy(&a);
		cal_state_destroy(&b);
		cal_state_destroy(&exact);
		system_free(&s);
	}
}

/** Largest error of the interpolation inside one step of size h. */
static double dense_error(const System *s, double h) {
	CalState state = state_of(s), inside = state_of(s);
	CalIntegrator *integrator = integrator_for(s, loose(h));
	assert_int_equal(cal_integrator_step(integrator, &state, h), CAL_OK);
	assert_true(state.t == h);
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

/** Order 4 means a local error of order 5. */
static void dense_output_has_order_four(void **state) {
	(void)state;
	for (int i = 0; i < SYSTEM_COUNT; i++) {
		System s = all_systems[i]();
		assert_order(dense_error(&s, 0.06), dense_error(&s, 0.02), 3, 5, 0.35);
		system_free(&s);
	}
}

static void adaptive_error_follows_the_tolerance(void **state) {
	(void)state;
	for (int i = 0; i < SYSTEM_COUNT; i++) {
		System s = all_systems[i]();
		CalState exact = advanced_exactly(&s, 3);
		double last = INFINITY;
		const double tolerances[] = {1e-4, 1e-6, 1e-8, 1e-10};
		for (int k = 0; k < 4; k++) {
			double rtol = tolerances[k];
			CalState state_ = advanced(&s, (CalIntegratorOptions){.method = CAL_METHOD_DOPRI5, .rtol = rtol}, 3);
			double error = state_distance(&s, &exact, &state_);
			assert_true(error < 300 * rtol);
			assert_true(error < last);
			last = error;
			cal_state_destroy(&state_);
		}
		cal_state_destroy(&exact);
		system_free(&s);
	}
}

/** Force-free symmetric top: w_z is constant, (w_x, w_y) turns with (C - A) w_z / A (Euler's equations). */
static void symmetric_top_follows_its_closed_form(void **state) {
	(void)state;
	const double A = 2, C = 1, wx = 0.8, wz = 1.5, t = 7;
	System s = free_body(A, C, wx, wz);
	CalState end = advanced(&s, (CalIntegratorOptions){.method = CAL_METHOD_DOPRI5, .rtol = 1e-12, .atol = 1e-14}, t);
	double phase = (C - A) / A * wz * t;
	assert_true(fabs(end.u[3] - wx * cos(phase)) < 1e-10);
	assert_true(fabs(end.u[4] - wx * sin(phase)) < 1e-10);
	assert_true(fabs(end.u[5] - wz) < 1e-12);
	// The body's axis precesses about the angular momentum h at the rate |h| / A: its height over h is constant.
	CalMomentum momentum;
	CalPose pose;
	assert_int_equal(cal_momentum(s.model, &end, s.work, &momentum), CAL_OK);
	assert_true(fabs(momentum.angular_com.x - A * wx) < 1e-10 && fabs(momentum.angular_com.y) < 1e-10 &&
	            fabs(momentum.angular_com.z - C * wz) < 1e-10);
	assert_int_equal(cal_kinematics(s.model, &end, NULL, s.work), CAL_OK);
	CalBodyInfo body;
	assert_int_equal(cal_model_body(s.model, 0, &body), CAL_OK);
	assert_int_equal(cal_node_pose(s.model, s.work, body.node, &pose), CAL_OK);
	double h = hypot(A * wx, C * wz), rate = h / A, angle = rate * t;
	// Rodrigues: the axis e_z turned about h / |h| by that angle
	double nx = A * wx / h, nz = C * wz / h;
	assert_true(fabs(pose.R.m[0][2] - nx * nz * (1 - cos(angle))) < 1e-9);
	assert_true(fabs(pose.R.m[1][2] + nx * sin(angle)) < 1e-9);
	assert_true(fabs(pose.R.m[2][2] - (cos(angle) + nz * nz * (1 - cos(angle)))) < 1e-9);
	cal_state_destroy(&end);
	system_free(&s);
}

static void oscillator_follows_its_closed_form(void **state) {
	(void)state;
	const double omega = 3, t = 10;
	System s = oscillator(omega);
	CalState end = advanced(&s, (CalIntegratorOptions){.method = CAL_METHOD_DOPRI5, .rtol = 1e-11, .atol = 1e-13}, t);
	assert_true(fabs(end.q[0] - cos(omega * t)) < 1e-8);
	assert_true(fabs(end.u[0] + omega * sin(omega * t)) < 1e-8);
	cal_state_destroy(&end);
	system_free(&s);
}

/** Symplectic: over 10^5 steps of omega h = 0.1 the energy stays within the ellipse, 5 % wide. */
static void euler_cromer_keeps_the_energy_bounded(void **state) {
	(void)state;
	System s = oscillator(1);
	CalIntegrator *integrator = integrator_for(&s, (CalIntegratorOptions){.method = CAL_METHOD_EULER_CROMER});
	double least = INFINITY, most = 0;
	for (int k = 0; k < 100000; k++) {
		assert_int_equal(cal_integrator_step(integrator, &s.state, 0.1), CAL_OK);
		double energy = 0.5 * (s.state.q[0] * s.state.q[0] + s.state.u[0] * s.state.u[0]);
		least = fmin(least, energy);
		most = fmax(most, energy);
	}
	assert_true(most < 0.5 * 1.06 && least > 0.5 * 0.94);
	cal_integrator_destroy(integrator);
	system_free(&s);
}

static void energy_is_kept_to_the_tolerance(void **state) {
	(void)state;
	const SystemFn conservative[] = {double_pendulum, heavy_top};
	for (int i = 0; i < 2; i++) {
		System s = conservative[i]();
		CalEnergy before, after;
		assert_int_equal(cal_energy(s.model, &s.state, s.work, &before), CAL_OK);
		CalState end =
			advanced(&s, (CalIntegratorOptions){.method = CAL_METHOD_DOPRI5, .rtol = 1e-11, .atol = 1e-13}, 5);
		assert_int_equal(cal_energy(s.model, &end, s.work, &after), CAL_OK);
		assert_true(fabs(after.total - before.total) < 1e-8);
		cal_state_destroy(&end);
		system_free(&s);
	}
}

static void every_scheme_can_be_run_backwards(void **state) {
	(void)state;
	const CalIntegratorOptions options[] = {{.method = CAL_METHOD_RK4, .step = 1e-3},
	                                        {.method = CAL_METHOD_DOPRI5, .rtol = 1e-12, .atol = 1e-14}};
	for (int i = 0; i < SYSTEM_COUNT; i++) {
		for (int k = 0; k < 2; k++) {
			System s = all_systems[i]();
			CalState start = state_of(&s);
			CalIntegrator *integrator = integrator_for(&s, options[k]);
			assert_int_equal(cal_integrator_advance(integrator, &s.state, 1), CAL_OK);
			assert_true(state_distance(&s, &start, &s.state) > 0.1);
			assert_int_equal(cal_integrator_advance(integrator, &s.state, 0), CAL_OK);
			assert_true(s.state.t == 0);
			assert_true(state_distance(&s, &start, &s.state) < 1e-9);
			cal_integrator_destroy(integrator);
			cal_state_destroy(&start);
			system_free(&s);
		}
	}
}

static double quaternion_norm(const double *q) { return sqrt(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3]); }

static void quaternions_stay_unit(void **state) {
	(void)state;
	for (int method = method_first(); method < CAL_METHOD_COUNT; method = method_next(method)) {
		System s = heavy_top();
		CalState end = advanced(&s, (CalIntegratorOptions){.method = (CalMethod)method, .step = 1e-3}, 20);
		assert_true(fabs(quaternion_norm(end.q) - 1) < 1e-14);
		cal_state_destroy(&end);
		system_free(&s);
	}
}

/**
 * A fast spin with a wobble far below the tolerance: nothing but the limit on turns holds the step, and beyond it
 * the chart would blow the wobble up.
 */
static void a_steady_spin_keeps_its_angle_and_wobble(void **state) {
	(void)state;
	System s = free_body(2, 3, 1e-7, 100);
	CalState end = advanced(&s, (CalIntegratorOptions){.method = CAL_METHOD_DOPRI5, .rtol = 1e-4, .atol = 1e-4}, 10);
	double half = 0.5 * 100 * 10, sign = end.q[3] * cos(half) > 0 ? 1 : -1; // q and -q are the same rotation
	assert_true(fabs(end.q[3] - sign * cos(half)) < 1e-9 && fabs(end.q[6] - sign * sin(half)) < 1e-9);
	assert_true(fabs(end.u[5] - 100) < 1e-12 && fabs(hypot(end.u[3], end.u[4]) - 1e-7) < 1e-8);
	cal_state_destroy(&end);
	system_free(&s);
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(euler_cromer_has_order_one),
		cmocka_unit_test(rk4_has_order_four),
		cmocka_unit_test(dopri5_has_order_five),
		cmocka_unit_test(dense_output_has_order_four),
		cmocka_unit_test(adaptive_error_follows_the_tolerance),
		cmocka_unit_test(symmetric_top_follows_its_closed_form),
		cmocka_unit_test(oscillator_follows_its_closed_form),
		cmocka_unit_test(euler_cromer_keeps_the_energy_bounded),
		cmocka_unit_test(energy_is_kept_to_the_tolerance),
		cmocka_unit_test(every_scheme_can_be_run_backwards),
		cmocka_unit_test(quaternions_stay_unit),
		cmocka_unit_test(a_steady_spin_keeps_its_angle_and_wobble),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
