// SPDX-License-Identifier: Apache-2.0
/*
 * test_devices.c — every example with devices is read, compiles without a finding, runs, and shows what its comment
 * says.
 */
#include <math.h>

#include "example_support.h"

#define PI 3.14159265358979323846

/* The first coordinate and speed of the joint that carries a body. */
static double *q_of(Running *r, int group, const char *body) {
	return cal_sim_state(r->sim, group)->q + body_of(cal_sim_model(r->sim, group), body).q;
}

static double *u_of(Running *r, int group, const char *body) {
	return cal_sim_state(r->sim, group)->u + body_of(cal_sim_model(r->sim, group), body).u;
}

/* ---- contact ---------------------------------------------------------------------------------------- */

/* Each height by Hunt and Crossley from the one before it; gravity during the impact takes a little more. */
static void ball_bounces_as_hunt_and_crossley_say(void **state) {
	(void)state;
	Running r = example_start("bouncing_ball");
	const double *z = q_of(&r, 0, "ball") + 2, *u = u_of(&r, 0, "ball") + 2;
	const double g = 9.81, c = cal_contact_dissipation(0.75, 4.429);
	double height = 1, last = 0;
	int bounces = 0;
	for (int i = 1; i <= 4000; i++) {
		example_advance(&r, 1e-3 * i);
		if (last > 0 && *u <= 0 && *z > 0.06) {
			const double apex = *z - 0.05 + *u * *u / (2 * g);
			const double e = cal_contact_restitution(c, sqrt(2 * g * height));
			assert_near(apex / (e * e * height), 1, 1e-3);
			height = apex;
			bounces++;
		}
		last = *u;
	}
	assert_int_equal(bounces, 9);
	assert_near(example_balance(&r).error, 0, 1e-6);
	assert_true(example_balance(&r).complete);
	example_finish(&r);
}

/* Slides with mu g, and rolls from 2/7 v0/(mu g) on with 5/7 v0. */
static void ball_rolls_with_five_sevenths_of_its_speed(void **state) {
	(void)state;
	Running r = example_start("rolling_ball");
	const double *u = u_of(&r, 0, "ball"), v0 = 7, mu = 0.2, g = 9.81, radius = 0.11;
	const double roll = 2 * v0 / (7 * mu * g);
	example_advance(&r, 0.5 * roll);
	assert_near(u[0], v0 - mu * g * 0.5 * roll, 3e-4);
	assert_near(u[4] * radius, 2.5 * mu * g * 0.5 * roll, 1e-3);
	double output[28]; // four numbers, then place and force on the lane of the strongest points
	assert_int_equal(cal_sim_device_outputs(r.sim, cal_sim_find_device(r.sim, "lane"), output), CAL_OK);
	assert_near(output[4], cal_sim_state(r.sim, 0)->q[0], 1e-6);
	assert_near(output[7], mu * 6 * g, 0.05);
	assert_near(output[9], -6 * g, 0.2);
	assert_true(output[13] == 0 && output[15] == 0); // there is one point
	example_advance(&r, roll - 5e-3);
	assert_near(u[0] - radius * u[4], 3.5 * mu * g * 5e-3, 2e-3);
	example_advance(&r, roll + 5e-3);
	assert_near(u[0] - radius * u[4], 0, 1e-3);
	assert_near(u[0], 5.0 / 7 * v0, 5e-4);
	example_advance(&r, 2);
	assert_near(u[0], 5.0 / 7 * v0, 5e-4);
	assert_near(example_balance(&r).error, 0, 1e-6 * r.before.groups);
	example_finish(&r);
}

/* ---- spacecraft ------------------------------------------------------------------------------------- */

/* Largest deflection of the tip of a wing out of its plane, and the range of the pointing angle, from now to t. */
static void watch(Running *r, int group, const char *hub, const char *wing, double t, double *swing, double range[2]) {
	char tip[64];
	snprintf(tip, sizeof tip, "%s/tip", wing);
	const double *q = q_of(r, group, hub);
	*swing = 0;
	range[0] = INFINITY, range[1] = -INFINITY;
	while (cal_sim_time(r->sim) < t) {
		CalSimView view;
		CalPose node, frame;
		example_advance(r, cal_sim_time(r->sim) + 0.25);
		assert_int_equal(cal_sim_observe(r->sim, group, &view), CAL_OK);
		assert_int_equal(cal_node_pose(view.model, view.work, cal_model_find_node(view.model, tip), &node), CAL_OK);
		assert_int_equal(cal_node_pose(view.model, view.work, cal_model_find_node(view.model, wing), &frame), CAL_OK);
		const CalVec3 d = {node.r.x - frame.r.x, node.r.y - frame.r.y, node.r.z - frame.r.z};
		const double angle = 2 * atan2(q[4], q[3]);
		*swing = fmax(*swing, fabs(d.x * frame.R.m[0][2] + d.y * frame.R.m[1][2] + d.z * frame.R.m[2][2]));
		range[0] = fmin(range[0], angle), range[1] = fmax(range[1], angle);
	}
}

/* Inertia about x of hub and wings: the momentum of a rigid turn at 1 rad/s. */
static double rigid_inertia(Running *r) {
	CalSimMonitor monitor;
	double *u = u_of(r, 0, "hub");
	u[3] = 1;
	assert_int_equal(cal_sim_monitor(r->sim, 0, &monitor), CAL_OK);
	u[3] = 0;
	return monitor.momentum.angular_com.x;
}

static void slew_ends_at_the_angle_of_a_rigid_body(void **state) {
	(void)state;
	for (int group = 0; group < 2; group++) {
		Running r = example_start("wheel_slew");
		const double J = rigid_inertia(&r), angle = 0.4 * 30 * 30 / J;
		const char *hub = group ? "smooth_hub" : "hub", *wing = group ? "smooth_left" : "left";
		double range[2], swing;
		assert_near(J, 619.385, 1e-3);
		watch(&r, group, hub, wing, 60, &swing, range);
		assert_near(swing, group ? 0.0121 : 0.0173, 2e-4);
		watch(&r, group, hub, wing, 80, &swing, range);
		assert_near(swing, group ? 1.0e-4 : 6.1e-3, group ? 5e-6 : 2e-4);
		assert_near(0.5 * (range[0] + range[1]), angle, group ? 1e-5 : 1e-4);
		assert_near((range[1] - range[0]) * 180 / PI, group ? 1.1e-3 : 0.066, group ? 1e-4 : 3e-3);
		const CalSimBalance now = example_balance(&r);
		assert_near(now.angular.x, 0, 1e-12);
		assert_near(now.angular.y, 0, 1e-12);
		assert_near(now.angular.z, 0, 1e-12);
		example_finish(&r);
	}
}

/* The wheel in the middle of the slew has what the craft has, the other way. */
static void wheel_takes_the_momentum_of_the_craft(void **state) {
	(void)state;
	Running r = example_start("wheel_slew");
	CalSimMonitor monitor;
	double output[3];
	example_advance(&r, 30);
	assert_int_equal(cal_sim_monitor(r.sim, 0, &monitor), CAL_OK);
	assert_int_equal(cal_sim_device_outputs(r.sim, cal_sim_find_device(r.sim, "wheel_x"), output), CAL_OK);
	assert_near(output[1], -12, 1e-12);
	assert_near(monitor.momentum.angular_com.x, 12, 1e-12);
	assert_int_equal(cal_sim_device_outputs(r.sim, cal_sim_find_device(r.sim, "wheel_y"), output), CAL_OK);
	assert_near(output[1], 0, 1e-14);
	example_finish(&r);
}

/* Angle between the hub and its target [deg], both nodes. */
static double pointing_error(Running *r) {
	CalSampler *sampler;
	double row[2];
	assert_int_equal(cal_sampler_create(NULL, &sampler, NULL), CAL_OK);
	assert_int_equal(cal_sampler_add(sampler, r->sim, "angle:hub,ground/target", NULL), CAL_OK);
	assert_int_equal(cal_sampler_sample(sampler, r->sim, row), CAL_OK);
	cal_sampler_destroy(sampler);
	return row[1] * 180 / PI;
}

/* From 240 s on better than the noise of one sample of its sensors, in spite of the bias of the gyro. */
static void sampled_control_points_at_its_target(void **state) {
	(void)state;
	Running r = example_start("attitude_control");
	double output[5];
	assert_near(pointing_error(&r), 40, 1e-9);
	example_advance(&r, 5); // at its limit
	assert_int_equal(cal_sim_device_outputs(r.sim, cal_sim_find_device(r.sim, "pid_x"), output), CAL_OK);
	assert_true(output[0] == 0.5 && output[4] > 0.5);
	for (double t = 240; t <= 300; t += 5) {
		example_advance(&r, t);
		assert_true(pointing_error(&r) < 0.005);
	}
	const CalSimBalance now = example_balance(&r);
	assert_near(now.angular.x, 0, 1e-12);
	assert_near(now.angular.y, 0, 1e-12);
	assert_near(now.angular.z, 0, 1e-12);
	example_finish(&r);
}

static double agm(double a, double b) {
	for (int i = 0; i < 20; i++) {
		const double mean = 0.5 * (a + b);
		b = sqrt(a * b);
		a = mean;
	}
	return a;
}

/* The twin swings with the period of a pendulum of twice the angle; the one with the damper comes to rest. */
static void gravity_gradient_captures_the_satellite(void **state) {
	(void)state;
	Running r = example_start("gravity_gradient");
	const double n = sqrt(3.986004418e14 / pow(7e6, 3));
	const double ball = 0.4 * 3 * 0.08 * 0.08, rod = 4 * 100 / 12.0;
	const double Ix = 60.0 / 12 * (0.36 + 0.64) + 2 * (0.5 * 64 / 3 + 3 * 64 + ball);
	const double Iz = 60.0 / 12 * (0.36 + 0.36) + 2 * ball + rod, Iy = Ix + rod;
	const double period = 2 * PI / (n * sqrt(3 * (Ix - Iz) / Iy)) / agm(1, cos(50 * PI / 180));
	const double *free = q_of(&r, 0, "hub"), *bare = q_of(&r, 1, "bare_hub");
	double crossings[8], last = 1, late = 0;
	int count = 0;
	for (int i = 1; i <= 2880; i++) {
		example_advance(&r, 10 * i);
		if (last > 0 && bare[3] <= 0)
			crossings[count++] = 10 * i - 10 * bare[3] / (bare[3] - last);
		last = bare[3];
		late = i > 2700 ? fmax(late, fabs(free[3])) : late;
		assert_true(fabs(free[4]) < 1e-10 && fabs(free[5]) < 1e-10); // no roll, no yaw
	}
	assert_int_equal(count, 7);
	assert_near(period, 4520, 0.1);
	assert_near((crossings[6] - crossings[0]) / 6 / period, 1, 2e-6);
	assert_true(late > 1e-4 * PI / 180 && late < 0.1 * PI / 180);
	// The pull of the second moment, 3 mu/r^4 s inward with s = (S_zz - (S_xx + S_yy)/2)/m, makes the orbit of the center of mass
	// lower by 3 s/r and ahead by 6 n t s/r (Clohessy and Wiltshire); less while the satellite still swings.
	const double across = 2 * 60 * 0.36 / 12 + rod, s = (60 * 0.64 / 12 + 64 / 3.0 + 6 * 64 - 0.5 * across) / 71;
	const double ahead = 6 * n * 28800 * s / 7e6;
	assert_true(free[0] > 0.9 * ahead && free[0] < ahead);
	assert_true(fabs(free[2]) < 2 * 3 * s / 7e6);
	example_finish(&r);
}

int main(void) {
	NEEDS_YAML();
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(ball_bounces_as_hunt_and_crossley_say),
		cmocka_unit_test(ball_rolls_with_five_sevenths_of_its_speed),
		cmocka_unit_test(slew_ends_at_the_angle_of_a_rigid_body),
		cmocka_unit_test(sampled_control_points_at_its_target),
		cmocka_unit_test(wheel_takes_the_momentum_of_the_craft),
		cmocka_unit_test(gravity_gradient_captures_the_satellite),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
