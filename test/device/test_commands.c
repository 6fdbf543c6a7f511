// SPDX-License-Identifier: Apache-2.0
/*
 * test_commands.c — wheels, gyros and thrusters commanded by numbers, tables and formulas: the three ways alike, feedback
 * against closed forms, attitude in formulas, and what is refused.
 */
#include "rig.h"

static const CalGroupId main_group = {0};
static const CalBodyId ground = {0};

static Rig free_body(void) {
	Rig rig = rig_new();
	rig_body(&rig, main_group, ground, "bus", cal_joint_def(CAL_JOINT_FREE), 50, (CalVec3){8, 6, 4});
	rig_sim(&rig, CAL_METHOD_DOPRI5, 0);
	return rig;
}

static CalNodeId bus_of(const Rig *rig) { return rig_frame(rig, cal_desc_find_body(rig->desc, "bus")); }

static Rig rotor(double inertia) {
	Rig rig = rig_new();
	rig_body(&rig, main_group, ground, "bus", rig_joint(CAL_JOINT_REVOLUTE, 0, 0, 1), 50, (CalVec3){8, 6, inertia});
	rig_sim(&rig, CAL_METHOD_DOPRI5, 0);
	return rig;
}

typedef CalStatus AddFn(Rig *rig, CalLoadValue command, CalError *error);

static CalStatus add_wheel(Rig *rig, CalLoadValue command, CalError *error) {
	const CalWheelDef def = {
		.name = "wheel", .node = bus_of(rig), .axis = {1, 2, 3}, .inertia = 0.1, .torque = command};
	return cal_sim_add_wheel(rig->sim, &def, NULL, error);
}

static CalStatus add_gyro(Rig *rig, CalLoadValue command, CalError *error) {
	const CalCmgDef def = {
		.name = "gyro", .node = bus_of(rig), .gimbal = {1, 0, 0}, .spin = {0, 1, 0}, .momentum = 3, .rate = command};
	return cal_sim_add_cmg(rig->sim, &def, NULL, error);
}

static CalStatus add_thruster(Rig *rig, CalLoadValue command, CalError *error) {
	const CalThrusterDef def = {
		.name = "jet", .node = bus_of(rig), .direction = {0, 1, 1}, .thrust = 7, .throttle = command};
	return cal_sim_add_thruster(rig->sim, &def, NULL, error);
}

/* 0.25 as a number, a table and a formula. */
static void a_number_a_table_and_a_formula_are_alike(void **state) {
	(void)state;
	AddFn *const adds[] = {add_wheel, add_gyro, add_thruster};
	const CalLoadValue commands[] = {
		{.number = 0.25}, {.table = CONSTANT(0.25)}, {.formula = "1/4 + 0*q(bus_joint.x)"}};
	for (size_t k = 0; k < sizeof adds / sizeof adds[0]; k++) {
		double u[3][6];
		for (int i = 0; i < 3; i++) {
			Rig rig = free_body();
			rig_ok(adds[k](&rig, commands[i], &rig_error));
			cal_sim_state(rig.sim, 0)->u[4] = 0.3;
			rig_advance(&rig, 2);
			memcpy(u[i], cal_sim_state(rig.sim, 0)->u, sizeof u[i]);
			check_near(rig_balance(&rig).error, 0, 1e-8);
			rig_free(&rig);
		}
		assert_true(fabs(u[0][4] - 0.3) + fabs(u[0][1]) > 1e-3); // it acts
		for (int c = 0; c < 6; c++) {
			check_near(u[1][c], u[0][c], 1e-12);
			check_near(u[2][c], u[0][c], 1e-9);
		}
	}
}

/* A rotor whose wheel is driven by a PD law of its attitude: a damped oscillator, momentum kept. */
static void a_wheel_controls_attitude_by_its_formula(void **state) {
	(void)state;
	const double J = 4, w = 0.8, z = 0.4, wd = w * sqrt(1 - z * z), t = 5;
	Rig rig = rotor(J);
	char law[100];
	snprintf(law, sizeof law, "%.17g*q(bus_joint) + %.17g*body_rate(bus.wz)", J * w * w, J * 2 * z * w);
	const CalWheelDef def = {.name = "wheel", .node = bus_of(&rig), .inertia = 0.1, .torque.formula = law};
	rig_ok(cal_sim_add_wheel(rig.sim, &def, NULL, &rig_error));
	cal_sim_state(rig.sim, 0)->q[0] = 0.5;
	rig_advance(&rig, t);
	check_near(cal_sim_state(rig.sim, 0)->q[0], 0.5 * exp(-z * w * t) * (cos(wd * t) + z * w / wd * sin(wd * t)), 1e-8);
	check_near(rig_balance(&rig).angular.z, 0, 1e-9);
	check_near(rig_balance(&rig).error, 0, 1e-8);
	rig_free(&rig);
}

/* Quaternion feedback on three wheels brings any attitude to rest, the short way round. */
static void quaternion_feedback_comes_to_rest(void **state) {
	(void)state;
	const CalVec3 axes[] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
	const char *const laws[] = {"4*qx(bus) + 6*body_rate(bus.wx)", "4*pose(bus.qy) + 6*body_rate(bus.wy)",
	                            "4*qz(bus, ground) + 6*body_rate(bus, ground.wz)"};
	Rig rig = free_body();
	for (int i = 0; i < 3; i++) {
		char name[32];
		snprintf(name, sizeof name, "w%d", i);
		const CalWheelDef def = {
			.name = name, .node = bus_of(&rig), .axis = axes[i], .inertia = 0.1, .torque.formula = laws[i]};
		rig_ok(cal_sim_add_wheel(rig.sim, &def, NULL, &rig_error));
	}
	CalState *now = cal_sim_state(rig.sim, 0);
	now->q[3] = -0.2, now->q[4] = 0.4, now->q[5] = 0.6, now->q[6] = sqrt(1 - 0.04 - 0.16 - 0.36); // w < 0
	rig_advance(&rig, 80);
	now = cal_sim_state(rig.sim, 0);
	check_near(fabs(now->q[3]), 1, 1e-8);
	for (int i = 3; i < 6; i++)
		check_near(now->u[i], 0, 1e-6);
	assert_true(now->q[3] < 0); // not by a whole turn
	check_near(rig_balance(&rig).error, 0, 1e-7);
	rig_free(&rig);
}

/* The quaternion with qw >= 0 jumps at half a turn: steps end there, and the run is exact. Force 5 sin(a/2), a in -pi..pi. */
static void a_quaternion_jumps_at_half_a_turn(void **state) {
	(void)state;
	const double w = 2, t = 6.5, pi = acos(-1), m = 2;
	Rig rig = rig_new();
	rig_body(&rig, main_group, ground, "bus", rig_joint(CAL_JOINT_REVOLUTE, 1, 2, -1), 1, unit_moments);
	rig_body(&rig, main_group, ground, "slide", rig_joint(CAL_JOINT_PRISMATIC, 1, 0, 0), m, unit_moments);
	rig_sim(&rig, CAL_METHOD_DOPRI5, 0);
	const CalAppliedLoadDef def = {
		.name = "load", .joint = rig_joint_of(&rig, "slide"), .effort.formula = "-5*sqrt(6)*qz(bus)"};
	rig_ok(cal_sim_add_applied_load(rig.sim, &def, NULL, &rig_error));
	CalState *now = cal_sim_state(rig.sim, 0);
	now->u[0] = w;
	double v = 0;
	int jumps = 0;
	for (double at = 0; at < t;) { // from jump to jump: the integral of 5 sin(w s/2)/m from a to b
		const double next = fmin(t, (2 * jumps + 1) * pi / w), whole = 2 * pi * jumps;
		v += 10 / (w * m) * (cos((w * at - whole) / 2) - cos((w * next - whole) / 2));
		at = next, jumps++;
	}
	rig_advance(&rig, t);
	assert_true(jumps == 3);
	check_near(cal_sim_state(rig.sim, 0)->u[1], v, 1e-8);
	rig_free(&rig);
}

/* The formula is clipped to the limit of the motor, and to the fractions that a throttle can have. */
static void commands_are_clipped(void **state) {
	(void)state;
	double output[4];
	Rig rig = rotor(4);
	const CalWheelDef def = {
		.name = "wheel", .node = bus_of(&rig), .inertia = 0.1, .torque.formula = "10*sin(t)", .max_torque = 0.2};
	rig_ok(cal_sim_add_wheel(rig.sim, &def, NULL, &rig_error));
	rig_ok(add_thruster(&rig, (CalLoadValue){.formula = "3*cos(t)"}, &rig_error));
	const double pi = acos(-1), bend = asin(0.02);
	rig_advance(&rig, pi);
	assert_int_equal(cal_sim_device_outputs(rig.sim, 0, output), CAL_OK);
	check_near(output[1], 2 * 10 * (1 - cos(bend)) + 0.2 * (pi - 2 * bend),
	           1e-10); // the integral of the clipped torque
	assert_int_equal(cal_sim_device_outputs(rig.sim, 1, output), CAL_OK);
	check_near(output[0], 0, 0);
	rig_advance(&rig, 2 * pi);
	assert_int_equal(cal_sim_device_outputs(rig.sim, 1, output), CAL_OK);
	check_near(output[0], 7, 0);
	rig_free(&rig);
}

/* A zero that is given counts: the engine is off. */
static void a_throttle_of_zero_is_off(void **state) {
	(void)state;
	Rig rig = free_body();
	double output[1];
	const CalFieldValue values[] = {
		{.field = "node", .node = bus_of(&rig)}, {.field = "thrust", .number = 7}, {.field = "throttle", .number = 0}};
	rig_ok(cal_sim_add_device_of_type(rig.sim, "thruster", "off", values, 3, NULL, &rig_error));
	rig_ok(cal_sim_add_device_of_type(rig.sim, "thruster", "on", values, 2, NULL, &rig_error));
	rig_ok(cal_sim_restart(rig.sim, &rig_error));
	assert_int_equal(cal_sim_device_outputs(rig.sim, 0, output), CAL_OK);
	check_near(output[0], 0, 0);
	assert_int_equal(cal_sim_device_outputs(rig.sim, 1, output), CAL_OK);
	check_near(output[0], 7, 0);
	rig_free(&rig);
}

static void mistakes_are_named(void **state) {
	(void)state;
	static const struct {
		AddFn *add;
		CalLoadValue command;
		const char *want;
	} rows[] = {
		{add_wheel, {.formula = "3*"}, "device \"wheel\" (wheel): torque: "},
		{add_wheel, {.formula = "q(bus_joint.x) < 1"}, "torque = q(bus_joint.x) < 1 is a condition"},
		{add_wheel, {.formula = "q(hinge)"}, "there is no joint \"hinge\""},
		{add_wheel, {.number = NAN}, "torque is not a finite number"},
		{add_gyro, {.formula = "body_rate(buss.wx)"}, "there is no node \"buss\""},
		{add_gyro, {.formula = "body_rate(bus)"}, "body_rate() needs one of its components wx to wz"},
		{add_thruster, {.number = 1.5}, "throttle is 1.5; it is a fraction from 0 to 1"},
		{add_thruster, {.formula = "x("}, "throttle: "},
	};
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		CalError error = {0};
		Rig rig = free_body();
		assert_int_equal(rows[i].add(&rig, rows[i].command, &error), CAL_ERR_ARGUMENT);
		if (!strstr(error.text, rows[i].want))
			fail_msg("row %d: %s", (int)i, error.text);
		rig_free(&rig);
	}
	CalError error = {0};
	Rig rig = free_body();
	rig_ok(add_wheel(&rig, (CalLoadValue){.formula = "log(1 - t)"}, &rig_error));
	assert_true(cal_sim_advance(rig.sim, 2, &error) != CAL_OK);
	assert_non_null(strstr(error.text, "torque = log(1 - t) is "));
	rig_free(&rig);
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_number_a_table_and_a_formula_are_alike),
		cmocka_unit_test(a_wheel_controls_attitude_by_its_formula),
		cmocka_unit_test(quaternion_feedback_comes_to_rest),
		cmocka_unit_test(a_quaternion_jumps_at_half_a_turn),
		cmocka_unit_test(commands_are_clipped),
		cmocka_unit_test(a_throttle_of_zero_is_off),
		cmocka_unit_test(mistakes_are_named),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
