// SPDX-License-Identifier: Apache-2.0
/*
 * test_motor.c — actuators: input, gain, bias, gear and ranges against closed forms; on nodes against applied loads.
 */
#include "rig.h"

static const CalGroupId main_group = {0};
static const CalBodyId ground = {0};

static Rig slider(double mass) {
	Rig rig = rig_new();
	rig_body(&rig, main_group, ground, "m", rig_joint(CAL_JOINT_PRISMATIC, 1, 0, 0), mass, unit_moments);
	return rig;
}

static CalActuatorDef motor_on(const Rig *rig, double gear, double control) {
	return (CalActuatorDef){
		.name = "a", .joint = rig_joint_of(rig, "m"), .gear = gear, .gain = {1, 0, 0}, .control = {.number = control}};
}

static double *q_of(Rig *rig) { return cal_sim_state(rig->sim, 0)->q; }

static double output_of(Rig *rig, int output) {
	double values[8];
	assert_int_equal(cal_sim_device_outputs(rig->sim, 0, values), CAL_OK);
	return values[output];
}

/* x = gear gain c t^2/2m; a gear of 0 is 1; ranges of both ends 0 are none. */
static void a_motor_pushes_by_its_gear(void **state) {
	(void)state;
	static const double gears[] = {-4, 0, 2.5};
	for (int i = 0; i < 3; i++) {
		Rig rig = slider(2);
		CalActuatorDef def = motor_on(&rig, gears[i], 3);
		const double effort = (gears[i] == 0 ? 1 : gears[i]) * 0.5 * 3;
		def.gain[0] = 0.5;
		rig_sim(&rig, CAL_METHOD_DOPRI5, 0);
		rig_ok(cal_sim_add_actuator(rig.sim, &def, NULL, &rig_error));
		rig_advance(&rig, 2);
		check_near(q_of(&rig)[0], effort / 2 * 2, 1e-12);
		check_near(output_of(&rig, 0), effort, 1e-14);
		check_near(output_of(&rig, 7), 3, 0);
		check_near(rig_balance(&rig).error, 0, 1e-11);
		rig_free(&rig);
	}
}

/* A reference that has no value is refused, also where the effort is limited. */
static void a_servo_refuses_a_reference_without_value(void **state) {
	(void)state;
	for (int limited = 0; limited < 2; limited++) {
		Rig rig = slider(2);
		CalError error = {0};
		const CalServoDef def = {.name = "s",
		                         .joint = rig_joint_of(&rig, "m"),
		                         .reference.formula = "sqrt(0.5 - t)",
		                         .proportional = 10,
		                         .effort_limit = limited ? 5 : 0};
		rig_sim(&rig, CAL_METHOD_RK4, 0.01);
		rig_ok(cal_sim_add_servo(rig.sim, &def, NULL, &rig_error));
		assert_int_not_equal(cal_sim_advance(rig.sim, 1, &error), CAL_OK);
		assert_non_null(strstr(error.text, "its command is not finite"));
		rig_free(&rig);
	}
}

/* m x'' = g (k (c - g x) - d g x'): a damped oscillator about c/g. */
static void a_servo_swings_about_its_input(void **state) {
	(void)state;
	const double m = 2, g = 3, k = 5, d = 0.4, c = 1.2, t = 1.7;
	Rig rig = slider(m);
	CalActuatorDef def = motor_on(&rig, g, c);
	def.gain[0] = k;
	def.bias[1] = -k;
	def.bias[2] = -d;
	rig_sim(&rig, CAL_METHOD_DOPRI5, 0);
	rig_ok(cal_sim_add_actuator(rig.sim, &def, NULL, &rig_error));
	rig_advance(&rig, t);
	const double rate = g * g * d / (2 * m), w = sqrt(g * g * k / m - rate * rate);
	check_near(q_of(&rig)[0], c / g * (1 - exp(-rate * t) * (cos(w * t) + rate / w * sin(w * t))), 1e-9);
	rig_free(&rig);
}

/*
 * f = c - x, at most 1, from rest with c = 3: x = t^2/2 until x = 2 at t = 2, then x = 3 - cos(t - 2) + 2 sin(t - 2). The
 * limit is found although steps of a constant force are long; the same with the gain that depends on length and speed.
 */
static void forces_leave_their_limit_in_time(void **state) {
	(void)state;
	for (int variant = 0; variant < 2; variant++) {
		Rig rig = slider(1);
		CalActuatorDef def = motor_on(&rig, 1, variant == 0 ? 3 : -1);
		def.bias[1] = variant == 0 ? -1 : 0;
		if (variant == 1) // (-3 + x) (-1) = 3 - x
			def.gain[0] = -3, def.gain[1] = 1;
		def.lower = -INFINITY;
		def.upper = 1;
		rig_sim(&rig, CAL_METHOD_DOPRI5, 0);
		rig_ok(cal_sim_add_actuator(rig.sim, &def, NULL, &rig_error));
		rig_advance(&rig, 1.5);
		check_near(q_of(&rig)[0], 1.125, 1e-12);
		rig_advance(&rig, 2 + 1.3);
		check_near(q_of(&rig)[0], 3 - cos(1.3) + 2 * sin(1.3), 2e-9);
		check_near(rig_balance(&rig).error, 0, 1e-8);
		rig_free(&rig);
	}
}

/* Inputs by table and by formula, within their range: 2 from t = 0, then 5, of which 4 count; above 0 only. */
static void inputs_stay_within_their_range(void **state) {
	(void)state;
	const double time[] = {0, 1}, value[] = {2, 5};
	for (int formula = 0; formula < 2; formula++) {
		Rig rig = slider(1);
		CalActuatorDef def = motor_on(&rig, 1, 0);
		def.control_lower = -INFINITY;
		def.control_upper = 4;
		if (formula)
			def.control.formula = "if(t < 1, 2, 5)";
		else
			def.control.table = (CalTable){.shape = CAL_TABLE_STEP, .count = 2, .time = time, .value = value};
		rig_sim(&rig, CAL_METHOD_DOPRI5, 0);
		rig_ok(cal_sim_add_actuator(rig.sim, &def, NULL, &rig_error));
		rig_advance(&rig, 3);
		check_near(q_of(&rig)[0], 1 + 2 * 2 + 0.5 * 4 * 4, 1e-11);
		rig_free(&rig);
	}
}

/* On a node of a tumbling body: the same motion as by a load in the axes of the node. */
static void wrenches_are_those_of_loads(void **state) {
	(void)state;
	double q[2][7];
	for (int load = 0; load < 2; load++) {
		Rig rig = rig_new();
		const CalBodyId body =
			rig_body(&rig, main_group, ground, "m", rig_joint(CAL_JOINT_FREE, 0, 0, 1), 2, (CalVec3){1, 2, 2.5});
		const CalNodeId node = rig_node(&rig, body, "n", (CalVec3){0.3, -0.2, 0.5});
		const CalActuatorDef motor = {.name = "a",
		                              .node = node,
		                              .force = {1, 2, -0.5},
		                              .moment = {-1, 0.5, 0.25},
		                              .gain = {3, 0, 0},
		                              .bias = {1, 0, 0},
		                              .control = {.number = 0.5},
		                              .lower = -1,
		                              .upper = 2}; // f = 2.5, limited to 2
		const CalAppliedLoadDef same = {.name = "a",
		                                .node = node,
		                                .frame = CAL_FRAME_NODE,
		                                .force = {{.number = 2}, {.number = 4}, {.number = -1}},
		                                .moment = {{.number = -2}, {.number = 1}, {.number = 0.5}}};
		rig_sim(&rig, CAL_METHOD_DOPRI5, 0);
		if (load)
			rig_ok(cal_sim_add_applied_load(rig.sim, &same, NULL, &rig_error));
		else
			rig_ok(cal_sim_add_actuator(rig.sim, &motor, NULL, &rig_error));
		check_near(output_of(&rig, 3), 0.5, 1e-15);
		check_near(output_of(&rig, 5), 4, 1e-15);
		rig_advance(&rig, 1);
		memcpy(q[load], q_of(&rig), sizeof q[load]);
		rig_free(&rig);
	}
	assert_memory_equal(q[0], q[1], sizeof q[0]);
}

static void refuse(void (*spoil)(CalActuatorDef *def), const char *said) {
	Rig rig = slider(1);
	CalActuatorDef def = motor_on(&rig, 1, 1);
	CalError error = {0};
	spoil(&def);
	rig_sim(&rig, CAL_METHOD_DOPRI5, 0);
	assert_int_equal(cal_sim_add_actuator(rig.sim, &def, NULL, &error), CAL_ERR_ARGUMENT);
	if (!strstr(error.text, said) || !strstr(error.text, "\"a\""))
		fail_msg("\"%s\" does not hold \"%s\"", error.text, said);
	rig_free(&rig);
}

static void name_no_place(CalActuatorDef *def) { def->joint.value = 0; }
static void swap_range(CalActuatorDef *def) { def->lower = 2, def->upper = 1; }
static void swap_input(CalActuatorDef *def) { def->control_lower = 0, def->control_upper = -1; }
static void spoil_gear(CalActuatorDef *def) { def->gear = NAN; }
static void spoil_bias(CalActuatorDef *def) { def->bias[2] = INFINITY; }
static void spoil_formula(CalActuatorDef *def) { def->control.formula = "q(nobody)"; }

static void mistakes_are_named(void **state) {
	(void)state;
	refuse(name_no_place, "either a joint or a node");
	refuse(swap_range, "range of the force ends at 1, below its start 2");
	refuse(swap_input, "range of the control ends at -1");
	refuse(spoil_gear, "gear, force and moment must be finite");
	refuse(spoil_bias, "gain and bias must be finite");
	refuse(spoil_formula, "nobody");
}

int main(void) {
	const struct CMUnitTest tests[] = {cmocka_unit_test(a_motor_pushes_by_its_gear),
	                                   cmocka_unit_test(a_servo_swings_about_its_input),
	                                   cmocka_unit_test(a_servo_refuses_a_reference_without_value),
	                                   cmocka_unit_test(forces_leave_their_limit_in_time),
	                                   cmocka_unit_test(inputs_stay_within_their_range),
	                                   cmocka_unit_test(wrenches_are_those_of_loads),
	                                   cmocka_unit_test(mistakes_are_named)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
