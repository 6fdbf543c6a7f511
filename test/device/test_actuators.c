// SPDX-License-Identifier: Apache-2.0
/*
 * test_actuators.c — servos, wheels, gyros, slosh and planets: against closed forms and balances.
 */
#include "rig.h"

static const CalGroupId main_group = {0};
static const CalBodyId ground = {0};

/* A flywheel of 0.4 kg m^2 about z. */
static Rig rotor(void) {
	Rig rig = rig_new();
	rig_body(&rig, main_group, ground, "m", rig_joint(CAL_JOINT_REVOLUTE, 0, 0, 1), 1, unit_moments);
	return rig;
}

static Rig flyer(double mass, CalVec3 moments) {
	Rig rig = rig_new();
	rig_body(&rig, main_group, ground, "m", cal_joint_def(CAL_JOINT_FREE), mass, moments);
	return rig;
}

static CalNodeId frame_of(const Rig *rig, const char *body) {
	return rig_frame(rig, cal_desc_find_body(rig->desc, body));
}

/* ---- servos ----------------------------------------------------------------------------------------- */

/* A step of 1 under PD: w^2 = kp/J, 2 z w = kd/J. */
static void pd_control_answers_a_step(void **state) {
	(void)state;
	const double J = 0.4, w = 3, z = 0.5, wd = w * sqrt(1 - z * z), t = 1.1;
	Rig rig = rotor();
	const CalServoDef def = {.name = "servo",
	                         .joint = rig_joint_of(&rig, "m"),
	                         .reference.table = CONSTANT(1),
	                         .proportional = w * w * J,
	                         .derivative = 2 * z * w * J};
	rig_sim(&rig, CAL_METHOD_DOPRI5, 0);
	rig_ok(cal_sim_add_servo(rig.sim, &def, NULL, &rig_error));
	rig_advance(&rig, t);
	check_near(cal_sim_state(rig.sim, 0)->q[0], 1 - exp(-z * w * t) * (cos(wd * t) + z * w / wd * sin(wd * t)), 1e-8);
	check_near(rig_balance(&rig).error, 0, 1e-8);
	rig_free(&rig);
}

/* With the inertia known the reference is followed without error, whatever the gains. */
static void feedforward_follows_a_trajectory(void **state) {
	(void)state;
	const double times[] = {0, 1, 2.5}, values[] = {0, 2, -1};
	Rig rig = rotor();
	const CalServoDef def = {.name = "servo",
	                         .joint = rig_joint_of(&rig, "m"),
	                         .reference.table = TABLE(CAL_TABLE_SMOOTH, 3, times, values),
	                         .proportional = 1,
	                         .derivative = 1,
	                         .inertia = 0.4};
	rig_sim(&rig, CAL_METHOD_DOPRI5, 0);
	rig_ok(cal_sim_add_servo(rig.sim, &def, NULL, &rig_error));
	for (double t = 0.1; t < 3; t += 0.3) {
		double output[4];
		rig_advance(&rig, t);
		assert_int_equal(cal_sim_device_outputs(rig.sim, 0, output), CAL_OK);
		check_near(output[1], 0, 1e-8);
	}
	check_near(cal_sim_state(rig.sim, 0)->q[0], -1, 1e-8);
	rig_free(&rig);
}

/* A formula has its rate and its acceleration too; one that has none, or reads more than the time, is refused by name. */
static void a_formula_is_followed_as_a_table_is(void **state) {
	(void)state;
	for (int sampled = 0; sampled < 2; sampled++) {
		Rig rig = rotor();
		CalServoDef def = {.name = "servo",
		                   .joint = rig_joint_of(&rig, "m"),
		                   .reference.formula = "30 deg*sin(2*t) + if(t > 1, 1, 0)*(t - 1)^3",
		                   .proportional = 9,
		                   .derivative = 1,
		                   .inertia = 0.4,
		                   .effort_limit = sampled ? 1e3 : 0,
		                   .sample_period = sampled ? 1e-4 : 0};
		rig_sim(&rig, CAL_METHOD_DOPRI5, 0);
		rig_ok(cal_sim_add_servo(rig.sim, &def, NULL, &rig_error));
		cal_sim_state(rig.sim, 0)->u[0] = acos(-1) / 3;
		assert_int_equal(cal_sim_restart(rig.sim, NULL), CAL_OK);
		for (double t = 0.1; t < 3; t += 0.3) {
			double output[4];
			rig_advance(&rig, t);
			assert_int_equal(cal_sim_device_outputs(rig.sim, 0, output), CAL_OK);
			check_near(output[0], acos(-1) / 6 * sin(2 * t) + (t > 1 ? pow(t - 1, 3) : 0), 1e-12);
			check_near(output[1], 0, sampled ? 2e-3 : 1e-8);
		}
		def.name = "other", def.reference.formula = "q(m)";
		CalError error = {0};
		assert_int_equal(cal_sim_add_servo(rig.sim, &def, NULL, &error), CAL_ERR_ARGUMENT);
		assert_non_null(strstr(error.text, "reference: \"q(m)\" is no number that depends on the time t alone"));
		rig_free(&rig);
	}
	Rig rig = rotor();
	const CalServoDef def = {
		.name = "servo", .joint = rig_joint_of(&rig, "m"), .reference.formula = "sqrt(1 - t)", .proportional = 9};
	rig_sim(&rig, CAL_METHOD_DOPRI5, 0);
	rig_ok(cal_sim_add_servo(rig.sim, &def, NULL, &rig_error));
	CalError error = {0};
	assert_true(cal_sim_advance(rig.sim, 2, &error) != CAL_OK);
	assert_non_null(strstr(error.text, "servo"));
	rig_free(&rig);
}

/* Against a constant load PD stays off by load/kp; the integral takes that away. */
static void the_integral_removes_a_constant_error(void **state) {
	(void)state;
	for (int with = 0; with < 2; with++) {
		Rig rig = rotor();
		const CalServoDef def = {.name = "servo",
		                         .joint = rig_joint_of(&rig, "m"),
		                         .proportional = 8,
		                         .derivative = 4,
		                         .integral = with ? 6 : 0};
		const CalAppliedLoadDef load = {.name = "load", .joint = rig_joint_of(&rig, "m"), .effort = {.number = 2}};
		rig_sim(&rig, CAL_METHOD_DOPRI5, 0);
		rig_ok(cal_sim_add_servo(rig.sim, &def, NULL, &rig_error));
		rig_ok(cal_sim_add_applied_load(rig.sim, &load, NULL, &rig_error));
		rig_advance(&rig, 40);
		check_near(cal_sim_state(rig.sim, 0)->q[0], with ? 0 : 0.25, 1e-8);
		rig_free(&rig);
	}
}

/* Sampled PD on a mass: the exact recursion of the double integrator with a held effort. */
static void a_sampled_controller_holds_its_command(void **state) {
	(void)state;
	const double J = 0.4, T = 0.05, kp = 2, kd = 0.7;
	const CalMethod methods[] = {CAL_METHOD_RK4, CAL_METHOD_DOPRI5};
	for (int m = 0; m < 2; m++) {
		Rig rig = rotor();
		const CalServoDef def = {.name = "servo",
		                         .joint = rig_joint_of(&rig, "m"),
		                         .reference.table = CONSTANT(1),
		                         .proportional = kp,
		                         .derivative = kd,
		                         .sample_period = T};
		rig_sim(&rig, methods[m], 0.02);
		rig_ok(cal_sim_add_servo(rig.sim, &def, NULL, &rig_error));
		rig_advance(&rig, 40 * T);
		double q = 0, u = 0;
		for (int k = 0; k < 40; k++) {
			const double a = (kp * (1 - q) - kd * u) / J;
			q += u * T + 0.5 * a * T * T;
			u += a * T;
		}
		check_near(cal_sim_state(rig.sim, 0)->q[0], q, 1e-12);
		check_near(cal_sim_state(rig.sim, 0)->u[0], u, 1e-12);
		rig_free(&rig);
	}
}

/* A motor that always wants more runs up to its free speed: u = w0 (1 - e^(-stall t/(J w0))). */
static void a_motor_obeys_its_torque_speed_line(void **state) {
	(void)state;
	const double J = 0.4, stall = 2, w0 = 5;
	Rig rig = rotor();
	const CalServoDef def = {.name = "servo",
	                         .joint = rig_joint_of(&rig, "m"),
	                         .reference.table = CONSTANT(1e9),
	                         .proportional = 1,
	                         .stall_effort = stall,
	                         .free_speed = w0};
	rig_sim(&rig, CAL_METHOD_DOPRI5, 0);
	rig_ok(cal_sim_add_servo(rig.sim, &def, NULL, &rig_error));
	rig_advance(&rig, 1.5);
	check_near(cal_sim_state(rig.sim, 0)->u[0], w0 * (1 - exp(-stall * 1.5 / (J * w0))), 1e-8);
	cal_sim_state(rig.sim, 0)->u[0] = -3; // braking: the whole stall effort
	assert_int_equal(cal_sim_restart(rig.sim, NULL), CAL_OK);
	rig_advance(&rig, 1.5 + 0.1);
	check_near(cal_sim_state(rig.sim, 0)->u[0], -3 + stall * 0.1 / J, 1e-8);
	rig_free(&rig);
}

/* Rotor and joint on the gear's spring: w^2 = k (1/I + 1/J); the mean keeps its speed. */
static void a_gear_swings_between_rotor_and_joint(void **state) {
	(void)state;
	const double J = 0.4, I = 0.1, k = 8, w = sqrt(k * (1 / I + 1 / J)), t = 0.8;
	Rig rig = rotor();
	const CalServoDef def = {
		.name = "servo", .joint = rig_joint_of(&rig, "m"), .rotor_inertia = I, .gear_stiffness = k};
	int device;
	CalDeviceInfo info;
	rig_sim(&rig, CAL_METHOD_DOPRI5, 0);
	rig_ok(cal_sim_add_servo(rig.sim, &def, &device, &rig_error));
	assert_int_equal(cal_sim_restart(rig.sim, NULL), CAL_OK);
	assert_int_equal(cal_sim_device(rig.sim, device, &info), CAL_OK);
	info.x[0] = 0.3;
	assert_int_equal(cal_sim_restart(rig.sim, NULL), CAL_OK);
	rig_advance(&rig, t);
	check_near(cal_sim_state(rig.sim, 0)->q[0], 0.3 * I / (I + J) * (1 - cos(w * t)), 1e-8);
	check_near(info.x[0] - cal_sim_state(rig.sim, 0)->q[0], 0.3 * cos(w * t), 1e-8);
	check_near(rig_balance(&rig).error, 0, 1e-9);
	rig_free(&rig);
}

/* In the play the joint stays; on the other side it is taken along. The time between is play/speed. */
static void backlash_leaves_the_joint_alone(void **state) {
	(void)state;
	const double pi = acos(-1), J = 0.4, I = 0.1, k = 800, b = 0.2, w = sqrt(k * (1 / I + 1 / J));
	Rig rig = rotor();
	const CalServoDef def = {
		.name = "servo", .joint = rig_joint_of(&rig, "m"), .rotor_inertia = I, .gear_stiffness = k, .backlash = b};
	int device;
	CalDeviceInfo info;
	rig_sim(&rig, CAL_METHOD_DOPRI5, 0);
	rig_ok(cal_sim_add_servo(rig.sim, &def, &device, &rig_error));
	assert_int_equal(cal_sim_restart(rig.sim, NULL), CAL_OK);
	assert_int_equal(cal_sim_device(rig.sim, device, &info), CAL_OK);
	info.x[1] = 1; // the rotor starts in the middle of the play
	assert_int_equal(cal_sim_restart(rig.sim, NULL), CAL_OK);
	rig_advance(&rig, 0.5 * b - 1e-3);
	assert_true(cal_sim_state(rig.sim, 0)->u[0] == 0);
	// an elastic collision of half a period: the relative speed changes its sign
	rig_advance(&rig, 0.5 * b + pi / w + 1e-3);
	const double mean = I / (I + J);
	check_near(cal_sim_state(rig.sim, 0)->u[0], 2 * mean, 1e-7);
	check_near(info.x[1], 2 * mean - 1, 1e-7);
	check_near(rig_balance(&rig).error, 0, 1e-8);
	rig_free(&rig);
}

/* With damping the sides part where k s + c s' = 0, at the restitution of a damped stop: steps end there. */
static void a_damped_gear_lets_go_to_tolerance(void **state) {
	(void)state;
	const double J = 0.4, I = 0.1, k = 800, z = 0.3, w = sqrt(k * (1 / I + 1 / J)), wd = w * sqrt(1 - z * z);
	const double c = 2 * z * k / w, t = (acos(-1) - atan2(c * wd, k - c * z * w)) / wd;
	const double away = exp(-z * w * t) * (cos(wd * t) - z * w / wd * sin(wd * t)), mean = I / (I + J);
	for (double rtol = 1e-4; rtol > 1e-11; rtol /= 10) {
		Rig rig = rotor();
		const CalServoDef def = {.name = "servo",
		                         .joint = rig_joint_of(&rig, "m"),
		                         .rotor_inertia = I,
		                         .gear_stiffness = k,
		                         .gear_damping = c,
		                         .backlash = 0.2};
		const CalSimOptions options = {.method = {.method = CAL_METHOD_DOPRI5, .rtol = rtol, .atol = 1e-3 * rtol}};
		int device;
		CalDeviceInfo info;
		rig_ok(cal_sim_create(rig.desc, &options, &rig.sim, &rig_error));
		rig_ok(cal_sim_add_servo(rig.sim, &def, &device, &rig_error));
		assert_int_equal(cal_sim_restart(rig.sim, NULL), CAL_OK);
		assert_int_equal(cal_sim_device(rig.sim, device, &info), CAL_OK);
		info.x[1] = 1;
		assert_int_equal(cal_sim_restart(rig.sim, NULL), CAL_OK);
		rig_advance(&rig, 0.1 + t + 0.05);
		check_near(info.x[1] - cal_sim_state(rig.sim, 0)->u[0], away, 4 * rtol);
		check_near(J * cal_sim_state(rig.sim, 0)->u[0] + I * info.x[1], mean * (I + J), 4 * rtol);
		rig_free(&rig);
	}
}

/* ---- wheels and gyros ----------------------------------------------------------------------------------- */

/* Rest to rest: torque +-tau for T each turns the body by -tau T^2/J, and the wheel stands again. */
static void a_wheel_slews_its_body(void **state) {
	(void)state;
	const double T = 4, tau = 0.02, times[] = {0, 4, 8}, values[] = {0.02, -0.02, 0};
	const CalMethod methods[] = {CAL_METHOD_RK4, CAL_METHOD_DOPRI5};
	for (int m = 0; m < 2; m++) {
		Rig rig = flyer(5, (CalVec3){0.3, 0.5, 0.4});
		const CalWheelDef def = {.name = "wheel",
		                         .node = frame_of(&rig, "m"),
		                         .axis = {0, 0, 2},
		                         .inertia = 0.01,
		                         .torque.table = TABLE(CAL_TABLE_STEP, 3, times, values)};
		double output[3];
		rig_sim(&rig, methods[m], 0.1);
		rig_ok(cal_sim_add_wheel(rig.sim, &def, NULL, &rig_error));
		rig_advance(&rig, T);
		check_near(cal_sim_state(rig.sim, 0)->u[5], -tau * T / 0.4, 1e-12);
		assert_int_equal(cal_sim_device_outputs(rig.sim, 0, output), CAL_OK);
		check_near(output[0], tau * T * (1 / 0.01 + 1 / 0.4), 1e-10); // relative to the body
		rig_advance(&rig, 10);
		const double *q = cal_sim_state(rig.sim, 0)->q;
		check_near(2 * atan2(q[6], q[3]), -tau * T * T / 0.4, 1e-10);
		check_near(cal_sim_state(rig.sim, 0)->u[5], 0, 1e-12);
		const CalSimBalance balance = rig_balance(&rig);
		assert_true(balance.complete);
		check_near(balance.error, 0, 1e-10);
		check_near(balance.angular.z, 0, 1e-13);
		rig_free(&rig);
	}
}

/* A spinning wheel on a tumbling body: total momentum stays in size and direction, energy too. */
static void a_spinning_wheel_keeps_the_momentum(void **state) {
	(void)state;
	for (int drag = 0; drag < 2; drag++) {
		Rig rig = flyer(5, (CalVec3){0.3, 0.5, 0.4});
		const CalWheelDef def = {.name = "wheel",
		                         .node = frame_of(&rig, "m"),
		                         .axis = {1, 1, 0},
		                         .inertia = 0.01,
		                         .speed = 60,
		                         .drag = drag ? 2e-4 : 0};
		rig_sim(&rig, CAL_METHOD_DOPRI5, 0);
		rig_ok(cal_sim_add_wheel(rig.sim, &def, NULL, &rig_error));
		const double u[] = {0, 0, 0, 0.2, -0.3, 0.5};
		memcpy(cal_sim_state(rig.sim, 0)->u, u, sizeof u);
		const CalSimBalance start = rig_balance(&rig);
		check_near(start.angular.x, 0.3 * 0.2 + 0.01 * (60 + (0.2 - 0.3) * sqrt(0.5)) * sqrt(0.5), 1e-13);
		rig_advance(&rig, 20);
		const CalSimBalance end = rig_balance(&rig);
		check_near(end.error, 0, 1e-7);
		assert_true(drag ? end.dissipated > 1 : end.dissipated == 0);
		check_near(end.angular.x, start.angular.x, 1e-8);
		check_near(end.angular.y, start.angular.y, 1e-8);
		check_near(end.angular.z, start.angular.z, 1e-8);
		rig_free(&rig);
	}
}

/* The wheel saturates: the motor drives no further. */
static void a_wheel_saturates(void **state) {
	(void)state;
	Rig rig = flyer(5, (CalVec3){0.3, 0.5, 0.4});
	const CalWheelDef def = {.name = "wheel",
	                         .node = frame_of(&rig, "m"),
	                         .inertia = 0.01,
	                         .torque.table = CONSTANT(0.5),
	                         .max_torque = 0.1,
	                         .max_speed = 20};
	double output[3];
	rig_sim(&rig, CAL_METHOD_RK4, 1e-3);
	rig_ok(cal_sim_add_wheel(rig.sim, &def, NULL, &rig_error));
	const double rate = 0.1 * (1 / 0.01 + 1 / 0.4);
	rig_advance(&rig, 1);
	assert_int_equal(cal_sim_device_outputs(rig.sim, 0, output), CAL_OK);
	check_near(output[0], rate, 1e-10);
	rig_advance(&rig, 5);
	assert_int_equal(cal_sim_device_outputs(rig.sim, 0, output), CAL_OK);
	check_near(output[0], 20, rate * 1e-3);
	rig_free(&rig);
}

/* A gimbal that turns by d moves H (1 - cos d, -sin d) of momentum into the body. */
static void a_gyro_hands_its_momentum_to_the_body(void **state) {
	(void)state;
	Rig rig = flyer(5, (CalVec3){30, 50, 40});
	const double times[] = {0, 2}, values[] = {0.6, 0}, H = 3, d = 1.2;
	const CalCmgDef def = {.name = "gyro",
	                       .node = frame_of(&rig, "m"),
	                       .gimbal = {0, 0, 1},
	                       .spin = {1, 0, 0},
	                       .momentum = H,
	                       .rate.table = TABLE(CAL_TABLE_STEP, 2, times, values)};
	rig_sim(&rig, CAL_METHOD_DOPRI5, 0);
	rig_ok(cal_sim_add_cmg(rig.sim, &def, NULL, &rig_error));
	CalSimView view;
	double output[4];
	assert_int_equal(cal_sim_device_outputs(rig.sim, 0, output), CAL_OK);
	check_near(output[2], -0.6 * H, 1e-13); // -(g x s) H d'
	assert_int_equal(cal_sim_observe(rig.sim, 0, &view), CAL_OK);
	check_near(view.udot[4], -0.6 * H / 50, 1e-14);
	rig_advance(&rig, 3);
	assert_int_equal(cal_sim_device_outputs(rig.sim, 0, output), CAL_OK);
	check_near(output[0], d, 1e-12);
	const CalSimBalance end = rig_balance(&rig);
	check_near(end.angular.x, H, 1e-9);
	check_near(end.angular.y, 0, 1e-9);
	check_near(end.angular.z, 0, 1e-9);
	check_near(end.error, 0, 1e-8);
	rig_free(&rig);
}

/* ---- slosh ------------------------------------------------------------------------------------------------- */

/* Free tank M, liquid m: w^2 = k (1/m + 1/M). */
static void slosh_has_its_frequency(void **state) {
	(void)state;
	const double M = 10, m = 2, k = 5, w = sqrt(k * (1 / m + 1 / M)), t = 2.3;
	Rig rig = flyer(M, unit_moments);
	const CalSloshDef def = {
		.name = "tank", .node = frame_of(&rig, "m"), .mass = m, .stiffness = {k, k, 50}, .position = {0.1, 0, 0}};
	double output[6];
	rig_sim(&rig, CAL_METHOD_DOPRI5, 0);
	rig_ok(cal_sim_add_slosh(rig.sim, &def, NULL, &rig_error));
	rig_advance(&rig, t);
	assert_int_equal(cal_sim_device_outputs(rig.sim, 0, output), CAL_OK);
	check_near(output[0], 0.1 * cos(w * t), 1e-9);
	check_near(cal_sim_state(rig.sim, 0)->q[0], 0.1 * m / (m + M) * (1 - cos(w * t)), 1e-9);
	check_near(rig_balance(&rig).linear.x, 0, 1e-13);
	rig_free(&rig);
}

/* In a tumbling tank, off the center, under gravity and with damping: accounts are kept. */
static void slosh_keeps_energy_and_momentum(void **state) {
	(void)state;
	Rig rig = flyer(10, (CalVec3){0.9, 1.5, 1.2});
	const CalBodyId body = cal_desc_find_body(rig.desc, "m");
	const CalSloshDef def = {.name = "tank",
	                         .node = rig_node(&rig, body, "tank", (CalVec3){0.3, -0.2, 0.5}),
	                         .mass = 2,
	                         .stiffness = {20, 30, 200},
	                         .damping = {0.5, 0.4, 0.3},
	                         .position = {0.05, -0.02, 0.01},
	                         .velocity = {0.1, 0.2, 0}};
	rig_sim(&rig, CAL_METHOD_DOPRI5, 0);
	rig_ok(cal_sim_add_slosh(rig.sim, &def, NULL, &rig_error));
	const double u[] = {0.1, 0.3, -0.2, 0.7, -0.4, 0.9};
	memcpy(cal_sim_state(rig.sim, 0)->u, u, sizeof u);
	const CalSimBalance start = rig_balance(&rig);
	rig_advance(&rig, 5);
	const CalSimBalance end = rig_balance(&rig);
	assert_true(end.complete);
	check_near(end.error, 0, 1e-8);
	assert_true(end.dissipated > 1e-3);
	check_near(end.linear.y, start.linear.y, 1e-9);
	check_near(end.angular.x, start.angular.x, 1e-8);
	check_near(end.angular.y, start.angular.y, 1e-8);
	check_near(end.angular.z, start.angular.z, 1e-8);
	rig_free(&rig);
}

/* ---- planets -------------------------------------------------------------------------------------------------- */

static const double mu = 3.986004418e14, earth = 6378137, j2 = 1.08262668e-3;

/* A circular orbit about a point mass in inertial axes closes after 2 pi sqrt(r^3/mu). */
static void a_circular_orbit_closes(void **state) {
	(void)state;
	const double r = 6.8e6, n = sqrt(mu / (r * r * r)), pi = acos(-1);
	Rig rig = flyer(100, (CalVec3){10, 10, 10});
	const CalGravityDef def = {.name = "earth", .mu = mu, .position = {r, 0, 0}};
	rig_sim(&rig, CAL_METHOD_DOPRI5, 0);
	rig_ok(cal_sim_add_gravity(rig.sim, &def, NULL, &rig_error));
	cal_sim_state(rig.sim, 0)->u[1] = n * r;
	rig_advance(&rig, 2 * pi / n);
	const double *q = cal_sim_state(rig.sim, 0)->q;
	check_near(q[0], 0, 1e-2);
	check_near(q[1], 0, 1e-2);
	const CalSimBalance balance = rig_balance(&rig);
	assert_true(balance.complete);
	check_near(balance.error / balance.groups, 0, 1e-9);
	rig_free(&rig);
}

/*
 * Beside an orbiting origin: relative motion by Clohessy and Wiltshire, x radial and y along the orbit in turning axes:
 * with x0 = d alone, x = (4 - 3 cos nt) d, y = 6 (sin nt - nt) d. What they leave out is of the size (x^2 + y^2)/r.
 */
static void a_body_beside_the_orbit_moves_as_clohessy_and_wiltshire_say(void **state) {
	(void)state;
	const double r = 6.8e6, n = sqrt(mu / (r * r * r)), d = 1, t = 1800;
	Rig rig = flyer(100, (CalVec3){10, 10, 10});
	const CalGravityDef def = {.name = "earth", .mu = mu, .orbit = 1, .position = {r, 0, 0}, .velocity = {0, n * r, 0}};
	rig_sim(&rig, CAL_METHOD_DOPRI5, 0);
	rig_ok(cal_sim_add_gravity(rig.sim, &def, NULL, &rig_error));
	cal_sim_state(rig.sim, 0)->q[0] = d;
	cal_sim_state(rig.sim, 0)->u[1] = n * d; // at rest in the turning axes
	rig_advance(&rig, t);
	const double *q = cal_sim_state(rig.sim, 0)->q, c = cos(n * t), s = sin(n * t);
	const double x = (4 - 3 * c) * d, y = 6 * (s - n * t) * d;
	check_near(c * q[0] + s * q[1], x, (x * x + y * y) / r);
	check_near(-s * q[0] + c * q[1], y, (x * x + y * y) / r);
	rig_free(&rig);
}

/* Micrometers at 6800 km: a body at rest on the origin stays there to 1e-9 m for an orbit, oblateness included. */
static void the_origin_of_the_orbit_keeps_its_micrometers(void **state) {
	(void)state;
	const double r = 6.8e6, v = sqrt(mu / r);
	Rig rig = flyer(100, (CalVec3){10, 10, 10});
	const CalGravityDef def = {.name = "earth",
	                           .mu = mu,
	                           .radius = earth,
	                           .j2 = j2,
	                           .orbit = 1,
	                           .position = {r, 0, 0},
	                           .velocity = {0, 0.6 * v, 0.8 * v}};
	rig_sim(&rig, CAL_METHOD_RK4, 10);
	rig_ok(cal_sim_add_gravity(rig.sim, &def, NULL, &rig_error));
	cal_sim_state(rig.sim, 0)->q[2] = 1e-6;
	rig_advance(&rig, 5600);
	const double *q = cal_sim_state(rig.sim, 0)->q;
	assert_true(sqrt(q[0] * q[0] + q[1] * q[1] + q[2] * q[2]) < 2e-5);
	assert_true(fabs(q[2]) > 1e-8); // and it does move
	rig_free(&rig);
}

/* The node of a circular orbit drifts by -3/2 n J2 (R/r)^2 cos i; J2 also makes it osculate by parts in 1e3. */
static void oblateness_turns_the_orbit(void **state) {
	(void)state;
	const double r = 7e6, n = sqrt(mu / (r * r * r)), i = 0.9, pi = acos(-1), orbits = 20;
	Rig rig = flyer(100, (CalVec3){10, 10, 10});
	const CalGravityDef def = {.name = "earth",
	                           .mu = mu,
	                           .radius = earth,
	                           .j2 = j2,
	                           .orbit = 1,
	                           .position = {r, 0, 0},
	                           .velocity = {0, n * r * cos(i), n * r * sin(i)}};
	double x[6];
	rig_sim(&rig, CAL_METHOD_RK4, 10);
	rig_ok(cal_sim_add_gravity(rig.sim, &def, NULL, &rig_error));
	rig_advance(&rig, orbits * 2 * pi / n);
	assert_int_equal(cal_sim_device_outputs(rig.sim, 0, x), CAL_OK);
	const double hx = x[1] * x[5] - x[2] * x[4], hy = x[2] * x[3] - x[0] * x[5]; // normal of the orbit
	const double node = atan2(hx, -hy), want = -1.5 * n * j2 * pow(earth / r, 2) * cos(i) * orbits * 2 * pi / n;
	check_near(node, want, 0.01 * fabs(want));
	rig_free(&rig);
}

/* Pitch libration about the vertical: w = n sqrt(3 (Ix - Iz)/Iy), x along the orbit, z to the planet, y its normal. */
static void gravity_gradient_makes_it_librate(void **state) {
	(void)state;
	const double r = 6.8e6, n = sqrt(mu / (r * r * r)), pi = acos(-1);
	const CalVec3 moments = {50, 60, 20};
	const double w = n * sqrt(3 * (moments.x - moments.z) / moments.y), small = 1e-3, t = 2 * pi / w * 1.3;
	Rig rig = flyer(100, moments);
	// the world's z is the orbit's normal: the body's axes are x -> world y, y -> -world z, z -> -world x (down)
	const CalGravityDef def = {.name = "earth", .mu = mu, .orbit = 1, .position = {r, 0, 0}, .velocity = {0, n * r, 0}};
	rig_sim(&rig, CAL_METHOD_DOPRI5, 0);
	rig_ok(cal_sim_add_gravity(rig.sim, &def, NULL, &rig_error));
	CalState *state0 = cal_sim_state(rig.sim, 0);
	const double q[] = {0.5, -0.5, -0.5, 0.5}; // its matrix has these columns: y, -z, -x
	memcpy(state0->q + 3, q, sizeof q);
	state0->u[4] = -n - small * w; // about its y: with the orbit, and a little more
	rig_advance(&rig, t);
	CalSimView view;
	CalPose pose;
	assert_int_equal(cal_sim_observe(rig.sim, 0, &view), CAL_OK);
	CalBodyInfo body;
	cal_model_body(view.model, 0, &body);
	assert_int_equal(cal_node_pose(view.model, view.work, body.node, &pose), CAL_OK);
	const double along = -pose.R.m[0][2], across = -pose.R.m[1][2]; // its -z points up: at the angle nt + pitch
	const double pitch = remainder(atan2(across, along) - n * t, 2 * pi);
	check_near(pitch, small * sin(w * t), 2e-3 * small);
	assert_true(fabs(sin(w * t)) > 0.5);
	rig_free(&rig);
}

/* Force and moment of a body belong to one potential: nothing turns it about the planet, and energy is kept. */
static void the_field_keeps_angular_momentum_about_the_planet(void **state) {
	(void)state;
	const CalVec3 R = {1, 2, 3};
	const CalGravityDef def = {.name = "planet", .mu = 20, .position = R};
	Rig rig = flyer(2, (CalVec3){0.3, 0.4, 0.5});
	rig_sim(&rig, CAL_METHOD_DOPRI5, 0);
	rig_ok(cal_sim_add_gravity(rig.sim, &def, NULL, &rig_error));
	const double u[] = {0.8, 0.9, -1, 0.5, -0.4, 0.3};
	memcpy(cal_sim_state(rig.sim, 0)->u, u, sizeof u);
	CalVec3 first = {0};
	for (int i = 0; i <= 10; i++) {
		rig_advance(&rig, 0.2 * i);
		const CalSimBalance b = rig_balance(&rig);
		const CalVec3 p = b.linear, about = {b.angular.x + R.y * p.z - R.z * p.y, b.angular.y + R.z * p.x - R.x * p.z,
		                                     b.angular.z + R.x * p.y - R.y * p.x};
		first = i == 0 ? about : first;
		check_near(about.x - first.x, 0, 1e-8);
		check_near(about.y - first.y, 0, 1e-8);
		check_near(about.z - first.z, 0, 1e-8);
		check_near(b.error, 0, 1e-8);
	}
	rig_free(&rig);
}

/* A dumbbell falls as its two masses do: 1 kg each, 0.1 m from the center. What is left out is of the size (0.1/r)^4. */
static void a_dumbbell_falls_as_its_masses_do(void **state) {
	(void)state;
	const double d = 0.1, R[3] = {2, 3, 6}, mass_mu = 500;
	const CalGravityDef def = {.name = "planet", .mu = mass_mu, .position = {R[0], R[1], R[2]}};
	Rig rig = flyer(2, (CalVec3){2 * d * d, 2 * d * d, 1e-9});
	CalSimView view;
	rig_sim(&rig, CAL_METHOD_DOPRI5, 0);
	rig_ok(cal_sim_add_gravity(rig.sim, &def, NULL, &rig_error));
	assert_int_equal(cal_sim_observe(rig.sim, 0, &view), CAL_OK);
	for (int i = 0; i < 3; i++) {
		double mean = 0;
		for (int side = -1; side <= 1; side += 2) {
			const double z = R[2] + side * d, r = sqrt(R[0] * R[0] + R[1] * R[1] + z * z);
			mean -= 0.5 * mass_mu / (r * r * r) * (i == 2 ? z : R[i]);
		}
		const double point = -mass_mu / 343 * R[i]; // |R| = 7
		assert_true(fabs(mean - point) > 1e-4);
		check_near(view.udot[i], mean, 2e-6);
	}
	rig_free(&rig);
}

/* A flexible body falls as a whole: its modes do not feel a field that is uniform. */
static void a_flexible_body_falls_without_bending(void **state) {
	(void)state;
	Rig rig = flyer(2, unit_moments);
	const CalBodyId body = cal_desc_find_body(rig.desc, "m");
	const double phi[] = {0, 1, 0}, stiffness = 40;
	const CalFlexNode node = {.node = rig_node(&rig, body, "tip", (CalVec3){1, 0, 0}), .mass = 1, .phi = phi};
	const CalFlexDef flex = {.modes = 1, .stiffness = &stiffness, .node_count = 1, .nodes = &node};
	assert_int_equal(cal_desc_set_flexible(rig.desc, body, &flex, NULL), CAL_OK);
	const double r = 6.8e6;
	const CalGravityDef def = {.name = "earth", .mu = mu, .position = {0, r, 0}};
	CalSimView view;
	rig_sim(&rig, CAL_METHOD_DOPRI5, 0);
	rig_ok(cal_sim_add_gravity(rig.sim, &def, NULL, &rig_error));
	assert_int_equal(cal_sim_observe(rig.sim, 0, &view), CAL_OK);
	check_near(view.udot[1], -mu / (r * r), 1e-5);
	check_near(view.udot[6], 0, 1e-5);   // the gradient alone is left
	assert_true(view.input.tau[6] < -8); // g times 1 kg
	rig_free(&rig);
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(pd_control_answers_a_step),
		cmocka_unit_test(feedforward_follows_a_trajectory),
		cmocka_unit_test(a_formula_is_followed_as_a_table_is),
		cmocka_unit_test(the_integral_removes_a_constant_error),
		cmocka_unit_test(a_sampled_controller_holds_its_command),
		cmocka_unit_test(a_motor_obeys_its_torque_speed_line),
		cmocka_unit_test(a_gear_swings_between_rotor_and_joint),
		cmocka_unit_test(backlash_leaves_the_joint_alone),
		cmocka_unit_test(a_damped_gear_lets_go_to_tolerance),
		cmocka_unit_test(a_wheel_slews_its_body),
		cmocka_unit_test(a_spinning_wheel_keeps_the_momentum),
		cmocka_unit_test(a_wheel_saturates),
		cmocka_unit_test(a_gyro_hands_its_momentum_to_the_body),
		cmocka_unit_test(slosh_has_its_frequency),
		cmocka_unit_test(slosh_keeps_energy_and_momentum),
		cmocka_unit_test(a_circular_orbit_closes),
		cmocka_unit_test(a_body_beside_the_orbit_moves_as_clohessy_and_wiltshire_say),
		cmocka_unit_test(the_origin_of_the_orbit_keeps_its_micrometers),
		cmocka_unit_test(oblateness_turns_the_orbit),
		cmocka_unit_test(gravity_gradient_makes_it_librate),
		cmocka_unit_test(the_field_keeps_angular_momentum_about_the_planet),
		cmocka_unit_test(a_dumbbell_falls_as_its_masses_do),
		cmocka_unit_test(a_flexible_body_falls_without_bending),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
