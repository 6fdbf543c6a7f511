// SPDX-License-Identifier: Apache-2.0
/*
 * test_applied_load.c — loads by numbers, tables and formulas: against springs, bushings and closed forms, and what is refused.
 */
#include "rig.h"

static const CalGroupId main_group = {0};
static const CalBodyId ground = {0};

static Rig slider(CalDofDef dof) {
	Rig rig = rig_new();
	CalJointDef joint = rig_joint(CAL_JOINT_PRISMATIC, 1, 0, 0);
	joint.dof[0] = dof;
	rig_body(&rig, main_group, ground, "m", joint, 2, unit_moments);
	rig_sim(&rig, CAL_METHOD_RK4, 1e-2);
	cal_sim_state(rig.sim, 0)->q[0] = 0.5;
	cal_sim_state(rig.sim, 0)->u[0] = 0.1;
	return rig;
}

static CalStatus add(Rig *rig, CalAppliedLoadDef def, CalError *error) {
	def.name = "load";
	def.place = "here";
	return cal_sim_add_applied_load(rig->sim, &def, NULL, error);
}

/* A law of feedback -k q - c u is the spring and damper of the joint. */
static void feedback_is_a_spring_of_the_joint(void **state) {
	(void)state;
	Rig spring = slider((CalDofDef){.stiffness = 8, .rest = 0.2, .damping = 0.3}), formula = slider((CalDofDef){0});
	const CalAppliedLoadDef def = {.joint = rig_joint_of(&formula, "m"),
	                               .effort = {.formula = "-8 N/m*(q(m_joint) - 20 cm) - 0.3*u(m_joint)"}};
	rig_ok(add(&formula, def, &rig_error));
	rig_advance(&spring, 3);
	rig_advance(&formula, 3);
	check_near(cal_sim_state(formula.sim, 0)->q[0], cal_sim_state(spring.sim, 0)->q[0], 1e-14);
	check_near(cal_sim_state(formula.sim, 0)->u[0], cal_sim_state(spring.sim, 0)->u[0], 1e-14);
	check_near(rig_balance(&formula).error, 0, 1e-8); // fourth order in the step
	double output[7];
	assert_int_equal(cal_sim_device_outputs(formula.sim, 0, output), CAL_OK);
	const CalState *now = cal_sim_state(formula.sim, 0);
	check_near(output[0], -8 * (now->q[0] - 0.2) - 0.3 * now->u[0], 1e-14);
	rig_free(&spring);
	rig_free(&formula);
}

static Rig flyer(void) {
	Rig rig = rig_new();
	rig_body(&rig, main_group, ground, "b", cal_joint_def(CAL_JOINT_FREE), 2, (CalVec3){0.3, 0.4, 0.5});
	rig_sim(&rig, CAL_METHOD_RK4, 1e-2);
	CalState *now = cal_sim_state(rig.sim, 0);
	for (int i = 0; i < 6; i++)
		now->u[i] = 0.1 * (i + 1);
	now->q[0] = 0.4;
	return rig;
}

/* Forces from places and velocities are a bushing. */
static void forces_by_place_are_a_bushing(void **state) {
	(void)state;
	Rig bushing = flyer(), formula = flyer();
	const CalBushingDef def = {
		.name = "k", .b = cal_desc_find_node(bushing.desc, "b"), .stiffness = {8, 5, 3}, .damping = {0.3, 0.2, 0.1}};
	rig_ok(cal_sim_add_bushing(bushing.sim, &def, NULL, &rig_error));
	const CalAppliedLoadDef load = {.node = cal_desc_find_node(formula.desc, "b"),
	                                .force = {{.formula = "-8*x(b) - 0.3*vx(b)"},
	                                          {.formula = "-5*y(b, ground) - 0.2*vy(b, ground)"},
	                                          {.formula = "-3*z(b) - 0.1*vz(b)"}}};
	rig_ok(add(&formula, load, &rig_error));
	rig_advance(&bushing, 2);
	rig_advance(&formula, 2);
	for (int i = 0; i < 7; i++)
		check_near(cal_sim_state(formula.sim, 0)->q[i], cal_sim_state(bushing.sim, 0)->q[i], 1e-13);
	rig_free(&bushing);
	rig_free(&formula);
}

/* A constant moment about the body's z turns it with angle m t^2/(2 I), its force flies with it. */
static void components_are_in_the_axes_asked_for(void **state) {
	(void)state;
	Rig rig = rig_new();
	rig_body(&rig, main_group, ground, "b", cal_joint_def(CAL_JOINT_FREE), 2, (CalVec3){0.3, 0.4, 0.5});
	rig_sim(&rig, CAL_METHOD_DOPRI5, 0);
	const CalAppliedLoadDef load = {
		.node = cal_desc_find_node(rig.desc, "b"),
		.frame = CAL_FRAME_NODE,
		.moment = {{0}, {0}, {.formula = "0.2 N*m"}},
		.force = {{.formula = "3*cos(-angle(b, ground))"}, {.formula = "-3*sin(angle(b, ground))"}, {0}}};
	rig_ok(add(&rig, load, &rig_error));
	rig_advance(&rig, 2);
	CalExpression *angle;
	assert_int_equal(cal_expression_create("0.2*t^2/2/0.5", NULL, &angle, NULL), CAL_OK);
	double jet[3];
	assert_int_equal(cal_expression_jet(angle, 2, jet), CAL_OK);
	cal_expression_destroy(angle);
	const CalState *now = cal_sim_state(rig.sim, 0);
	check_near(2 * atan2(now->q[6], now->q[3]), jet[0], 1e-9);
	check_near(now->q[0], 3.0 / 2 * 2, 1e-8); // 3 N along x of the world
	check_near(now->q[1], 0, 1e-8);
	check_near(rig_balance(&rig).error, 0, 1e-8);
	rig_free(&rig);
}

/* A polynomial between jumps is exact for RK4 only if steps end at the jumps. */
static void steps_end_where_the_time_is_compared(void **state) {
	(void)state;
	Rig rig = rig_new();
	rig_body(&rig, main_group, ground, "m", rig_joint(CAL_JOINT_PRISMATIC, 1, 0, 0), 2, unit_moments);
	rig_sim(&rig, CAL_METHOD_RK4, 0.1);
	const CalAppliedLoadDef load = {.joint = rig_joint_of(&rig, "m"),
	                                .effort = {.formula = "6*step(t, 0.234) - if(t > 0.777 s, 6, 0)"}};
	rig_ok(add(&rig, load, &rig_error));
	rig_advance(&rig, 1);
	const double on = 0.777 - 0.234;
	check_near(cal_sim_state(rig.sim, 0)->u[0], 3 * on, 1e-14);
	check_near(cal_sim_state(rig.sim, 0)->q[0], 1.5 * on * on + 3 * on * (1 - 0.777), 1e-14);
	rig_free(&rig);
}

static void what_has_no_value_ends_the_run(void **state) {
	(void)state;
	Rig rig = slider((CalDofDef){0});
	const CalAppliedLoadDef load = {.node = cal_desc_find_node(rig.desc, "m"),
	                                .force = {{0}, {.formula = "sqrt(1 - 2*t)"}, {0}}};
	CalError error = {0};
	rig_ok(add(&rig, load, &rig_error));
	assert_int_equal(cal_sim_advance(rig.sim, 1, &error), CAL_ERR_USER);
	assert_non_null(strstr(error.text, "device \"load\" (applied_load), t = 0.5 s: fy = sqrt(1 - 2*t) is "));
	assert_non_null(strstr(error.text, "nan at t = 0.505 s"));
	check_near(cal_sim_time(rig.sim), 0.5, 1e-12);
	rig_free(&rig);
}

/* One that reads another's output, and two that read each other. */
static void outputs_of_devices_can_be_read(void **state) {
	(void)state;
	Rig rig = slider((CalDofDef){0});
	CalError error = {0};
	CalAppliedLoadDef a = {.name = "a", .joint = rig_joint_of(&rig, "m"), .effort = {.formula = "5 N"}};
	CalAppliedLoadDef b = {.name = "b", .joint = rig_joint_of(&rig, "m"), .effort = {.formula = "-device(a.effort)"}};
	CalAppliedLoadDef self = {
		.name = "self", .joint = rig_joint_of(&rig, "m"), .effort = {.formula = "device(self.effort)"}};
	rig_ok(cal_sim_add_applied_load(rig.sim, &a, NULL, &rig_error));
	rig_ok(cal_sim_add_applied_load(rig.sim, &b, NULL, &rig_error));
	rig_advance(&rig, 1);
	check_near(cal_sim_state(rig.sim, 0)->q[0], 0.6, 1e-14); // uniform motion
	rig_ok(cal_sim_add_applied_load(rig.sim, &self, NULL, &rig_error));
	assert_int_equal(cal_sim_advance(rig.sim, 2, &error), CAL_ERR_USER);
	assert_non_null(strstr(error.text, "device \"self\" (applied_load)"));
	assert_non_null(strstr(error.text, "effort = device(self.effort) has no value"));
	rig_free(&rig);
}

static void check_refused(CalAppliedLoadDef def, const char *says) {
	Rig rig = slider((CalDofDef){0});
	CalError error = {0};
	if (def.dof == -1) {
		def.joint = rig_joint_of(&rig, "m");
		def.dof = 0;
	}
	assert_int_equal(add(&rig, def, &error), CAL_ERR_ARGUMENT);
	if (!strstr(error.text, "here: device \"load\" (applied_load): ") || !strstr(error.text, says))
		fail_msg("got \"%s\", wanted \"%s\"", error.text, says);
	assert_int_equal(cal_sim_device_count(rig.sim), 0);
	rig_advance(&rig, 0.1);
	rig_free(&rig);
}

static void mistakes_are_reported(void **state) {
	(void)state;
	check_refused((CalAppliedLoadDef){.effort = {.formula = "1"}}, "either a node of a body or a joint");
	check_refused((CalAppliedLoadDef){.dof = -1, .effort = {.formula = "1 +"}},
	              "effort: formula \"1 +\", column 4: expected");
	check_refused((CalAppliedLoadDef){.dof = -1, .effort = {.formula = "t < 1"}}, "is a condition");
	check_refused((CalAppliedLoadDef){.dof = -1, .effort = {.formula = "q(elbow)"}},
	              "column 1: there is no joint \"elbow\"");
	check_refused((CalAppliedLoadDef){.dof = -1, .effort = {.formula = "device(elbow.x)"}},
	              "there is no device \"elbow\"");
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(feedback_is_a_spring_of_the_joint),
		cmocka_unit_test(forces_by_place_are_a_bushing),
		cmocka_unit_test(components_are_in_the_axes_asked_for),
		cmocka_unit_test(steps_end_where_the_time_is_compared),
		cmocka_unit_test(what_has_no_value_ends_the_run),
		cmocka_unit_test(outputs_of_devices_can_be_read),
		cmocka_unit_test(mistakes_are_reported),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
