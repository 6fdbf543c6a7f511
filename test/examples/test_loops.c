// SPDX-License-Identifier: Apache-2.0
/*
 * test_loops.c — every example with closed loops is read, compiles without a finding, is assembled, runs, and shows
 * what its comment says. The benchmark problems among them are measured further by bench/tables/iftomm.c.
 */
#include <math.h>
#include <stdlib.h>

#include <calder/loops.h>
#include <calder/scenario.h>
#include <calder/sim.h>

#include "support/model_file_support.h"

#define PI 3.14159265358979323846

typedef struct Running {
	CalSetup *file;
	CalSetupLoads *loads[2];
	CalSim *sim;
} Running;

static double next_switch(void *loads, double t) { return cal_setup_loads_next_switch(loads, t); }

static Running start(const char *name) {
	Running r = {.file = example_of(name)};
	CalError error;
	const CalSimOptions options = {.method = cal_setup_run(r.file).method};
	assert_int_equal(cal_sim_create(cal_setup_desc(r.file), &options, &r.sim, &error), CAL_OK);
	for (int i = 0; i < cal_sim_group_count(r.sim); i++) {
		const CalModel *model = cal_sim_model(r.sim, i);
		assert_int_equal(cal_setup_apply_state(r.file, model, cal_sim_state(r.sim, i), &error), CAL_OK);
		uint8_t q[256], u[256];
		assert_true(cal_model_u_count(model) <= 256);
		assert_int_equal(cal_setup_stated(r.file, model, q, u, &error), CAL_OK);
		assert_int_equal(cal_sim_set_stated(r.sim, i, q, u), CAL_OK);
		assert_int_equal(cal_setup_loads_create(r.file, model, &r.loads[i], &error), CAL_OK);
		assert_int_equal(cal_sim_set_input(r.sim, i, cal_setup_loads_input, next_switch, r.loads[i]), CAL_OK);
	}
	if (cal_sim_restart(r.sim, &error) != CAL_OK) // assembles
		fail_msg("%s", error.text);
	return r;
}

static void finish(Running *r) {
	cal_sim_destroy(r->sim);
	cal_setup_loads_destroy(r->loads[0]);
	cal_setup_loads_destroy(r->loads[1]);
	cal_setup_destroy(r->file);
}

static void advance(Running *r, double t) {
	CalError error;
	if (cal_sim_advance(r->sim, t, &error) != CAL_OK)
		fail_msg("%s", error.text);
}

static CalSimMonitor monitor(Running *r) {
	CalSimMonitor m;
	assert_int_equal(cal_sim_monitor(r->sim, 0, &m), CAL_OK);
	return m;
}

static double coordinate(Running *r, const char *joint, int index) {
	const CalModel *model = cal_sim_model(r->sim, 0);
	CalBodyInfo info;
	assert_int_equal(cal_model_body(model, cal_model_find_joint(model, joint), &info), CAL_OK);
	return cal_sim_state(r->sim, 0)->q[info.q + index];
}

static CalPose pose_in(Running *r, int group, const char *path) {
	CalSimView view;
	CalPose pose;
	assert_int_equal(cal_sim_observe(r->sim, group, &view), CAL_OK);
	assert_int_equal(cal_node_pose(view.model, view.work, cal_model_find_node(view.model, path), &pose), CAL_OK);
	return pose;
}

static CalVec3 place(Running *r, const char *path) { return pose_in(r, 0, path).r; }

/* Checks how many rows matter, and that all are met. */
static void check_loops(Running *r, int rows, int rank) {
	CalSimView view;
	double g[64];
	int found;
	assert_int_equal(cal_sim_observe(r->sim, 0, &view), CAL_OK);
	assert_int_equal(cal_model_row_count(view.model), rows);
	assert_int_equal(cal_loop_rank(view.model, view.work, &found, NULL), CAL_OK);
	assert_int_equal(found, rank);
	assert_int_equal(cal_loop_residual(view.model, view.state, view.work, g, NULL), CAL_OK);
	for (int i = 0; i < rows; i++)
		assert_true(fabs(g[i]) <= 1e-12);
}

/* Extreme positions of the rocker: crank and coupler in line, 70 cm or 30 cm long together. */
static void four_bar_turns_and_rocks(void **state) {
	(void)state;
	Running r = start("four_bar");
	double least = PI, most = 0;
	check_loops(&r, 5, 2);
	for (int i = 1; i <= 1000; i++) {
		advance(&r, 2e-3 * i);
		const double q = coordinate(&r, "rocker", 0);
		least = fmin(least, q), most = fmax(most, q);
	}
	check_loops(&r, 5, 2);
	assert_true(coordinate(&r, "crank", 0) > 3 * 2 * PI);
	assert_near(least, PI - acos(-0.2), 1e-3);
	assert_near(most, PI - acos(0.8), 1e-3);
	assert_true(fabs(monitor(&r).energy_change) < 1e-5);
	finish(&r);
}

static void slider_crank_keeps_its_energy(void **state) {
	(void)state;
	Running r = start("slider_crank");
	check_loops(&r, 5, 2);
	advance(&r, 2);
	check_loops(&r, 5, 2);
	assert_true(fabs(monitor(&r).energy_change) < 1e-6);
	finish(&r);
}

/* Against the pendulum that it moves like, by the same method; four singular positions in 3 s. */
/* The motor turns the crank twice, from rest to rest; its power is that of inverse dynamics: loops do no work. */
static void driven_four_bar_needs_what_inverse_dynamics_say(void **state) {
	(void)state;
	const double pi = acos(-1);
	CalSetup *file = example_of("driven_four_bar");
	const CalSimOptions options = {.method = cal_setup_run(file).method};
	CalSim *sim = NULL;
	CalScenario *scenario = NULL;
	CalError error;
	assert_int_equal(cal_sim_create(cal_setup_desc(file), &options, &sim, &error), CAL_OK);
	assert_int_equal(cal_scenario_create(file, sim, &scenario, &error), CAL_OK);
	for (int k = 0; k <= 20; k++) {
		const double t = 0.25 * k, s = fmin(t / 4, 1);
		const double turned = 4 * pi * s * s * s * (10 + s * (-15 + s * 6)),
					 speed = pi * 30 * s * s * (1 + s * (-2 + s));
		double out[2], tau[3], power = 0;
		CalSimView view;
		if (cal_sim_advance(sim, t, &error) != CAL_OK)
			fail_msg("%s", error.text);
		assert_int_equal(cal_sim_device_outputs(sim, cal_sim_find_device(sim, "motor"), out), CAL_OK);
		assert_int_equal(cal_sim_observe(sim, 0, &view), CAL_OK);
		assert_near(view.state->q[0], 0.5 * pi + turned, 1e-13);
		assert_near(view.state->u[0], speed, 1e-13);
		assert_int_equal(cal_inverse_dynamics(view.model, view.state, view.udot, NULL, view.work, tau), CAL_OK);
		for (int i = 0; i < 3; i++)
			power += tau[i] * view.state->u[i];
		assert_near(out[1], power, 1e-9);
	}
	CalSimBalance balance;
	assert_int_equal(cal_sim_balance(sim, &balance), CAL_OK);
	assert_true(balance.complete && fabs(balance.error) < 1e-8 && cal_sim_doubt_count(sim) == 0);
	cal_scenario_destroy(scenario);
	cal_sim_destroy(sim);
	cal_setup_destroy(file);
}

static void four_bar_windows_have_their_closed_form(void **state) {
	(void)state;
	Running r = start("n_four_bar");
	const double h = 1e-3, N = 10, c = 9.81 * ((N + 1) / 2 + N) / ((N + 1) / 3 + N);
	double th = PI / 2, rate = -1;
	check_loops(&r, 50, 20);
	advance(&r, 3);
	check_loops(&r, 50, 20);
	for (int i = 0; i < 3000; i++) {
		const double a1 = -c * cos(th), a2 = -c * cos(th + h / 2 * rate), r2 = rate + h / 2 * a1;
		const double a3 = -c * cos(th + h / 2 * r2), r3 = rate + h / 2 * a2, r4 = rate + h * a3;
		const double a4 = -c * cos(th + h * r3);
		th += h / 6 * (rate + 2 * r2 + 2 * r3 + r4);
		rate += h / 6 * (a1 + 2 * a2 + 2 * a3 + a4);
	}
	assert_near(coordinate(&r, "foot0", 0), th, 1e-7);
	assert_near(coordinate(&r, "foot10", 0), th, 1e-7);
	assert_true(fabs(monitor(&r).energy_change) < 1e-6);
	finish(&r);
}

/* P3 at 5 s of the golden case t08. */
static void bricard_comes_back(void **state) {
	(void)state;
	Running r = start("bricard");
	check_loops(&r, 5, 4);
	advance(&r, 5);
	check_loops(&r, 5, 4);
	const CalVec3 P3 = place(&r, "rod2/end");
	assert_near(P3.x, 0.9999327423020672, 1e-9);
	assert_near(P3.y, -0.999999997738353, 1e-9);
	assert_near(P3.z, -6.7255436201548e-05, 1e-9);
	assert_true(fabs(monitor(&r).energy_change) < 1e-9);
	finish(&r);
}

/* The crank at 0.03 s of the golden case t10, and the work of the motor. */
static void andrews_squeezer_runs_up(void **state) {
	(void)state;
	Running r = start("andrews");
	const double q0 = coordinate(&r, "O", 0);
	check_loops(&r, 12, 8);
	advance(&r, 0.03);
	assert_near(coordinate(&r, "O", 0), 15.810771195154443, 1e-9);
	advance(&r, 0.05);
	check_loops(&r, 12, 8);
	assert_near(monitor(&r).energy_change, 0.033 * (coordinate(&r, "O", 0) - q0), 1e-10);
	finish(&r);
}

static void governor_keeps_its_spin(void **state) {
	(void)state;
	Running r = start("flyball_governor");
	double least = 1, most = 0;
	check_loops(&r, 10, 4);
	for (int i = 1; i <= 200; i++) {
		advance(&r, 0.01 * i);
		const double s = place(&r, "slider").z;
		least = fmin(least, s), most = fmax(most, s);
		assert_true(monitor(&r).energy_change < 1e-4);
	}
	check_loops(&r, 10, 4);
	assert_near(least, 0.500, 1e-3);
	assert_near(most, 0.744, 1e-3);
	assert_true(fabs(monitor(&r).angular_change.z) < 1e-4 * monitor(&r).momentum.angular_origin.z);
	finish(&r);
}

/* Alternate legs turn the platform about the axis, two neighbors tilt it, and it comes back. */
static void stewart_platform_turns_and_tilts(void **state) {
	(void)state;
	Running r = start("stewart");
	check_loops(&r, 18, 18);
	advance(&r, 2);
	const CalVec3 rest = place(&r, "platform");
	advance(&r, 4);
	CalPose turned = pose_in(&r, 0, "platform");
	assert_true(hypot(turned.r.x, turned.r.y) < 1e-9);
	assert_near(turned.R.m[2][2], 1, 1e-12);
	assert_near(atan2(turned.R.m[1][0], turned.R.m[0][0]), 5.9 * PI / 180, 0.1 * PI / 180);
	advance(&r, 8);
	CalPose tilted = pose_in(&r, 0, "platform");
	assert_true(fabs(tilted.R.m[2][0]) > 0.01 && fabs(tilted.R.m[2][1]) < 1e-4);
	advance(&r, 12);
	check_loops(&r, 18, 18);
	const CalVec3 end = place(&r, "platform");
	assert_near(end.x, rest.x, 1e-3);
	assert_near(end.y, rest.y, 1e-3);
	assert_near(end.z, rest.z, 1e-3);
	finish(&r);
}

/* Triangles of bars move as rigid ones do. */
static void six_bars_move_like_two_triangles(void **state) {
	(void)state;
	Running r = start("six_body_pendulum");
	check_loops(&r, 10, 4);
	for (int i = 1; i <= 20; i++) {
		advance(&r, i);
		const CalVec3 bars = place(&r, "lower3/end"), rigid = pose_in(&r, 1, "lower/corner").r;
		assert_near(bars.x, rigid.x, 1e-10);
		assert_near(bars.y, rigid.y, 1e-10);
	}
	assert_true(fabs(monitor(&r).energy_change) < 1e-5);
	finish(&r);
}

/* Accelerations of the catalogue's 49 bodies at the start; its data are rounded to six digits. Then the momentum. */
static void plate_on_three_legs_starts_as_known(void **state) {
	(void)state;
	Running r = start("jsc_plate");
	static const double base[6] = {-0.008101107301635777, -0.012606218960831818, 0.005857646148252738,
	                               0.003923924187822482,  -0.008108987856641603, -0.005133630048551106};
	CalSimView view;
	assert_int_equal(cal_model_body_count(cal_sim_model(r.sim, 0)), 49);
	assert_int_equal(cal_model_u_count(cal_sim_model(r.sim, 0)), 105);
	check_loops(&r, 18, 18);
	assert_int_equal(cal_sim_observe(r.sim, 0, &view), CAL_OK);
	for (int i = 0; i < 6; i++)
		assert_near(view.udot[i], base[i], 1e-8);
	advance(&r, 1);
	const CalVec3 p = monitor(&r).momentum.linear;
	assert_near(p.x, 220, 1e-3);
	assert_near(p.y, -90, 1e-3);
	assert_near(p.z, 35, 1e-3);
	finish(&r);
}

int main(void) {
	NEEDS_YAML();
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(four_bar_turns_and_rocks),
		cmocka_unit_test(slider_crank_keeps_its_energy),
		cmocka_unit_test(driven_four_bar_needs_what_inverse_dynamics_say),
		cmocka_unit_test(four_bar_windows_have_their_closed_form),
		cmocka_unit_test(bricard_comes_back),
		cmocka_unit_test(andrews_squeezer_runs_up),
		cmocka_unit_test(governor_keeps_its_spin),
		cmocka_unit_test(stewart_platform_turns_and_tilts),
		cmocka_unit_test(six_bars_move_like_two_triangles),
		cmocka_unit_test(plate_on_three_legs_starts_as_known),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
