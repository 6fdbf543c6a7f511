// SPDX-License-Identifier: Apache-2.0
/*
 * test_given_motion.c — groups that move as given: coordinates, orientations, what stays, kinks, and what is refused.
 */
#include "rig.h"

#include <calder/motion.h>

#include "support/interpose.h"

static const CalBodyId ground = {0};

/* Group "show": a free hub that carries an arm on a hinge and a ball on a spherical joint. Group "main": a cart. */
static Rig scenery(CalMethod method, double step) {
	Rig rig = rig_new();
	rig_body(&rig, (CalGroupId){0}, ground, "cart", rig_joint(CAL_JOINT_PRISMATIC, 1, 0, 0), 2, unit_moments);
	const CalGroupId show = rig_group(&rig, "show");
	const CalBodyId hub = rig_body(&rig, show, ground, "hub", cal_joint_def(CAL_JOINT_FREE), 1, unit_moments);
	rig_body(&rig, show, hub, "arm", rig_joint(CAL_JOINT_REVOLUTE, 0, 0, 1), 1, unit_moments);
	rig_body(&rig, show, hub, "ball", cal_joint_def(CAL_JOINT_SPHERICAL), 1, unit_moments);
	rig_sim(&rig, method, step);
	CalState *now = cal_sim_state(rig.sim, 1);
	const double q[] = {1, 2, 3, 0.6, 0, 0.8, 0, 0.25, 0.8, 0.6, 0, 0};
	memcpy(now->q, q, sizeof q);
	return rig;
}

static void coordinates_follow_formulas_and_tables(void **state) {
	(void)state;
	Rig rig = scenery(CAL_METHOD_DOPRI5, 0);
	const double time[] = {0, 2}, value[] = {0, 1};
	const CalJointMotion joints[] = {
		{.joint = rig_joint_of(&rig, "hub"), .q = {{.formula = "0.3*sin(2*t)"}, {.table = CONSTANT(5)}}},
		{.joint = rig_joint_of(&rig, "arm"), .q = {{.table = TABLE(CAL_TABLE_SMOOTH, 2, time, value)}}}};
	const CalMotionDef def = {.name = "dance", .group = "show", .joints = joints, .joint_count = 2};
	rig_ok(cal_sim_add_motion(rig.sim, &def, NULL, &rig_error));
	rig_advance(&rig, 0.7);
	const CalState *now = cal_sim_state(rig.sim, 1);
	const double t = 0.7, s = t / 2;
	CalSimView view;
	check_near(now->q[0], 0.3 * sin(2 * t), 1e-15);
	check_near(now->u[0], 0.6 * cos(2 * t), 1e-15);
	check_near(now->q[1], 5, 0);
	check_near(now->q[2], 3, 0); // has no function
	check_near(now->q[7], s * s * s * (10 - 15 * s + 6 * s * s), 1e-15);
	check_near(now->u[6], 15 * s * s * (1 - s) * (1 - s), 1e-15);
	check_near(now->q[3], 0.6, 1e-15);
	check_near(now->q[8], 0.8, 1e-15);
	assert_int_equal(cal_sim_observe(rig.sim, 1, &view), CAL_OK);
	check_near(view.udot[0], -1.2 * sin(2 * t), 1e-14);
	CalSimMonitor monitor;
	assert_int_equal(cal_sim_monitor(rig.sim, 1, &monitor), CAL_OK);
	assert_true(!monitor.energy_conserved && !monitor.momentum_conserved);
	check_near(view.udot[6], 15 * s * (1 - 3 * s + 2 * s * s), 1e-14);
	rig_free(&rig);
}

/* Turning about an axis of the inboard frame from the orientation of the state on; speeds against differences. */
static void orientations_turn_about_their_axis(void **state) {
	(void)state;
	Rig rig = scenery(CAL_METHOD_RK4, 1e-3);
	const CalJointMotion joints[] = {
		{.joint = rig_joint_of(&rig, "hub"), .axis = {0, 0, 2}, .angle = {.formula = "0.4*t + 0.3*t^2"}},
		{.joint = rig_joint_of(&rig, "ball"), .axis = {1, 2, -1}, .angle = {.formula = "sin(t)"}}};
	const CalMotionDef def = {.name = "dance", .group = "show", .joints = joints, .joint_count = 2};
	rig_ok(cal_sim_add_motion(rig.sim, &def, NULL, &rig_error));
	rig_ok(cal_sim_restart(rig.sim, &rig_error));
	const double h = 1e-3, angle = 0.4 * 2 * h + 0.3 * 4 * h * h;
	const CalModel *model = cal_sim_model(rig.sim, 1);
	double q[3][12], u[10], udot[10], du[3][10], mean[10];
	for (int k = 0; k < 3; k++) {
		CalSimView view;
		rig_advance(&rig, (k + 1) * h);
		memcpy(q[k], cal_sim_state(rig.sim, 1)->q, sizeof q[k]);
		memcpy(du[k], cal_sim_state(rig.sim, 1)->u, sizeof du[k]);
		assert_int_equal(cal_sim_observe(rig.sim, 1, &view), CAL_OK);
		if (k == 1) {
			memcpy(u, view.state->u, sizeof u);
			memcpy(udot, view.udot, sizeof udot);
		}
	}
	cal_config_difference(model, q[0], q[2], mean);
	for (int i = 0; i < 10; i++) {
		check_near(u[i], mean[i] / (2 * h), 1e-6);
		check_near(udot[i], (du[2][i] - du[0][i]) / (2 * h), 1e-6);
	}
	// (cos a/2, 0, 0, sin a/2) (0.6, 0, 0.8, 0)
	check_near(q[1][3], 0.6 * cos(angle / 2), 1e-15);
	check_near(q[1][4], -0.8 * sin(angle / 2), 1e-15);
	check_near(q[1][5], 0.8 * cos(angle / 2), 1e-15);
	check_near(q[1][6], 0.6 * sin(angle / 2), 1e-15);
	rig_free(&rig);
}

/* A cart on a spring to a point that runs away linearly from 0.333 s on: closed form, if steps end at the kink. */
static void others_feel_the_motion_and_steps_end_at_kinks(void **state) {
	(void)state;
	Rig rig = scenery(CAL_METHOD_RK4, 0.004);
	const double time[] = {0.333, 2.333}, value[] = {0, 2};
	const CalJointMotion joints[] = {
		{.joint = rig_joint_of(&rig, "hub"), .q = {{.table = TABLE(CAL_TABLE_LINEAR, 2, time, value)}}}};
	const CalMotionDef def = {.name = "dance", .group = "show", .joints = joints, .joint_count = 1};
	const CalAppliedLoadDef spring = {
		.name = "k", .joint = rig_joint_of(&rig, "cart"), .effort = {.formula = "-8*(q(cart_joint) - x(hub))"}};
	rig_ok(cal_sim_add_motion(rig.sim, &def, NULL, &rig_error));
	rig_ok(cal_sim_add_applied_load(rig.sim, &spring, NULL, &rig_error));
	rig_advance(&rig, 1.5);
	const double w = 2, t = 1.5 - 0.333; // x'' = w^2 (t - x)
	check_near(cal_sim_state(rig.sim, 0)->q[0], t - sin(w * t) / w, 1e-10);
	rig_free(&rig);
}

static void check_refused(CalJointMotion joint, const char *body, const char *says) {
	Rig rig = scenery(CAL_METHOD_RK4, 1e-2);
	CalError error = {0};
	joint.joint = rig_joint_of(&rig, body);
	const CalMotionDef def = {.name = "dance", .group = "show", .joints = &joint, .joint_count = 1, .place = "here"};
	assert_int_equal(cal_sim_add_motion(rig.sim, &def, NULL, &error), CAL_ERR_ARGUMENT);
	if (!strstr(error.text, "here: device \"dance\" (motion): ") || !strstr(error.text, says))
		fail_msg("got \"%s\", wanted \"%s\"", error.text, says);
	rig_advance(&rig, 0.05); // by its dynamics
	rig_free(&rig);
}

static void mistakes_are_reported(void **state) {
	(void)state;
	const double time[] = {0, 1}, value[] = {0, 1};
	check_refused((CalJointMotion){.q = {{.formula = "t"}}}, "cart", "is not in group \"show\"");
	check_refused((CalJointMotion){.q = {{.formula = "t +"}}}, "arm", "arm_joint: formula \"t +\", column 4");
	check_refused((CalJointMotion){.q = {{.formula = "q(cart_joint)"}}}, "arm", "depends on the time t alone");
	check_refused((CalJointMotion){.q = {{.formula = "t < 1"}}}, "arm", "is no number");
	check_refused((CalJointMotion){.q = {{.table = TABLE(CAL_TABLE_STEP, 2, time, value)}}}, "arm", "jumps");
	check_refused((CalJointMotion){.q = {{0}, {.formula = "t"}}}, "arm", "has no degree of freedom 1");
	check_refused((CalJointMotion){.q = {{.formula = "t"}}}, "ball", "part of a quaternion");
	check_refused((CalJointMotion){.angle = {.formula = "t"}}, "arm", "has no quaternion");
}

static void a_motion_that_is_not_defined_ends_the_run(void **state) {
	(void)state;
	Rig rig = scenery(CAL_METHOD_RK4, 0.01);
	const CalJointMotion joints[] = {{.joint = rig_joint_of(&rig, "arm"), .q = {{.formula = "sqrt(1 - 2*t)"}}}};
	const CalMotionDef def = {.name = "dance", .group = "show", .joints = joints, .joint_count = 1};
	CalError error = {0};
	rig_ok(cal_sim_add_motion(rig.sim, &def, NULL, &rig_error));
	assert_int_equal(cal_sim_advance(rig.sim, 1, &error), CAL_ERR_USER);
	if (!strstr(error.text, "the motion of \"arm_joint\", sqrt(1 - 2*t), is not finite at t = "))
		fail_msg("%s", error.text);
	rig_free(&rig);
}

/* Each allocation of adding fails in turn; afterwards a run needs none. */
static void memory_is_asked_for_when_adding_only(void **state) {
	(void)state;
	if (!interpose_active())
		skip();
	Rig rig = scenery(CAL_METHOD_RK4, 0.01);
	const CalJointMotion joints[] = {
		{.joint = rig_joint_of(&rig, "hub"), .q = {{.formula = "0.3*sin(2*t)"}, {.table = CONSTANT(5)}}},
		{.joint = rig_joint_of(&rig, "ball"), .axis = {1, 2, -1}, .angle = {.formula = "smooth(t, 0, 1) + min(t, 2)"}}};
	const CalMotionDef motion = {.name = "dance", .group = "show", .joints = joints, .joint_count = 2};
	const CalAppliedLoadDef load = {
		.name = "k",
		.node = cal_desc_find_node(rig.desc, "cart"),
		.force = {{.formula = "-8*x(cart, hub) + device(dance2.effort)"}, {.formula = "t"}, {0}}};
	const CalAppliedLoadDef other = {
		.name = "dance2", .joint = rig_joint_of(&rig, "cart"), .effort = {.formula = "q(cart_joint)"}};
	rig_ok(cal_sim_add_applied_load(rig.sim, &other, NULL, &rig_error));
	int failures = 0;
	for (int what = 0; what < 2; what++) {
		CalStatus status = CAL_ERR_MEMORY;
		for (long k = 1; status != CAL_OK; k++) {
			CalError error = {0};
			interpose_begin(k);
			status = what == 0 ? cal_sim_add_motion(rig.sim, &motion, NULL, &error)
			                   : cal_sim_add_applied_load(rig.sim, &load, NULL, &error);
			const Interpose seen = interpose_end();
			if (status != CAL_OK) {
				failures++;
				assert_int_equal(status, CAL_ERR_MEMORY);
				assert_non_null(strstr(error.text, "out of memory"));
				assert_int_equal(cal_sim_device_count(rig.sim), 1 + what);
				assert_true(seen.live <= 1); // the list of devices may have grown
			}
		}
	}
	assert_true(failures > 8);
	rig_advance(&rig, 0.1);
	interpose_begin(0);
	const CalStatus status = cal_sim_advance(rig.sim, 0.5, NULL);
	const Interpose seen = interpose_end();
	assert_int_equal(status, CAL_OK);
	assert_int_equal(seen.calls, 0);
	rig_free(&rig);
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(coordinates_follow_formulas_and_tables),
		cmocka_unit_test(orientations_turn_about_their_axis),
		cmocka_unit_test(others_feel_the_motion_and_steps_end_at_kinks),
		cmocka_unit_test(mistakes_are_reported),
		cmocka_unit_test(memory_is_asked_for_when_adding_only),
		cmocka_unit_test(a_motion_that_is_not_defined_ends_the_run),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
