// SPDX-License-Identifier: Apache-2.0
/*
 * test_forces.c — springs, bushings, stops, friction, thrusters, tables: against closed forms and balances.
 */
#include "rig.h"

#include "device/device.h"

static const CalGroupId main_group = {0};
static const CalBodyId ground = {0};

static Rig slider(double mass) {
	Rig rig = rig_new();
	rig_body(&rig, main_group, ground, "m", rig_joint(CAL_JOINT_PRISMATIC, 1, 0, 0), mass, unit_moments);
	return rig;
}

/* ---- tables ---------------------------------------------------------------------------------------- */

/* Values at the points, rates by differences, jumps where they are announced. */
static void tables_meet_their_points_and_rates(void **state) {
	(void)state;
	const double numbers[] = {0, 1, 3, 4, /**/ 2, 5, -1, 0};
	const CalDevice device = {.table = numbers, .table_count = 8};
	for (int shape = 0; shape < CAL_TABLE_SHAPE_COUNT; shape++) {
		Table table = {.shape = (CalTableShape)shape, .count = 4};
		for (int i = 0; i < 4; i++)
			check_near(table_at(&device, &table, numbers[i]).value, numbers[4 + i], 1e-14);
		if (shape != CAL_TABLE_SPLINE) {
			check_near(table_at(&device, &table, -1).value, 2, 0);
			check_near(table_at(&device, &table, 9).value, 0, 0);
		}
		for (double t = 0.05; t < 4; t += 0.13) {
			const double h = 1e-5;
			const TableValue low = table_at(&device, &table, t - h), at = table_at(&device, &table, t),
							 high = table_at(&device, &table, t + h);
			check_near(at.rate, (high.value - low.value) / (2 * h), 1e-7);
			check_near(at.acceleration, (high.rate - low.rate) / (2 * h), 1e-7);
		}
		assert_true(table_next_switch(&device, &table, -1) == 0 && table_next_switch(&device, &table, 1) == 3 &&
		            isinf(table_next_switch(&device, &table, 4)));
		assert_string_equal(cal_table_shape_name(CAL_TABLE_SMOOTH), "smooth");
	}
	Table smooth = {.shape = CAL_TABLE_SMOOTH, .count = 4}, cubic = {.shape = CAL_TABLE_CUBIC, .count = 4};
	check_near(table_at(&device, &smooth, 1 + 1e-9).rate, 0, 1e-8);
	check_near(table_at(&device, &cubic, 1).rate, -3.0 / 3, 1e-14); // chord from (0, 2) to (3, -1)
}

/* The piece that a table keeps gives the bits of one that keeps none, wherever the next question is. */
static void kept_pieces_have_the_same_bits(void **state) {
	(void)state;
	const double numbers[] = {-0.5, 1, 3, 4.25, /**/ 2, 5, -1, 0.1};
	const double asked[] = {-1, -0.5, 0.3, 0.99, 1, 2.9, 0.2, 4, 4.25, 5, 3, 3.5, -0.4, NAN, 1.5};
	const CalDevice device = {.table = numbers, .table_count = 8};
	for (int shape = 0; shape < CAL_TABLE_SHAPE_COUNT; shape++) {
		const CalTable plain = {(CalTableShape)shape, 4, numbers, numbers + 4};
		Table kept = {.shape = (CalTableShape)shape, .count = 4};
		for (size_t i = 0; i < sizeof asked / sizeof *asked; i++) {
			const TableValue a = table_at(&device, &kept, asked[i]), b = table_value(&plain, asked[i]);
			const double switches[2] = {table_next_switch(&device, &kept, asked[i]), table_next(&plain, asked[i])};
			assert_memory_equal(&a, &b, sizeof a);
			assert_memory_equal(&switches[0], &switches[1], sizeof(double));
		}
	}
}

/* A quartic is met exactly, with both derivatives, at uneven points; outside, the spline continues at its rate. */
static void splines_meet_quartics(void **state) {
	(void)state;
	enum { COUNT = 7 };
	const double time[COUNT] = {-1, -0.7, 0.1, 0.4, 1.3, 1.5, 2};
	double value[COUNT];
	for (int i = 0; i < COUNT; i++)
		value[i] = 1 + time[i] * (2 + time[i] * (-3 + time[i] * (0.5 + time[i] * 0.7)));
	const CalTable table = {CAL_TABLE_SPLINE, COUNT, time, value};
	for (double t = -1; t <= 2; t += 0.0625) {
		const TableValue at = table_value(&table, t);
		check_near(at.value, 1 + t * (2 + t * (-3 + t * (0.5 + t * 0.7))), 1e-13);
		check_near(at.rate, 2 + t * (-6 + t * (1.5 + t * 2.8)), 1e-12);
		check_near(at.acceleration, -6 + t * (3 + t * 8.4), 1e-11);
	}
	const TableValue end = table_value(&table, 2), after = table_value(&table, 3), before = table_value(&table, -2);
	check_near(after.value, end.value + end.rate, 1e-13);
	check_near(after.rate, end.rate, 1e-12);
	check_near(before.rate, table_value(&table, -1).rate, 1e-12);
	assert_true(after.acceleration == 0 && before.acceleration == 0);
	const CalTable line = {CAL_TABLE_SPLINE, 2, time, value};
	check_near(table_value(&line, -0.8).rate, (value[1] - value[0]) / 0.3, 1e-13);
}

/* Errors of sin(3 t) fall with the fourth power of the spacing, those of its acceleration with the third. */
static void splines_converge(void **state) {
	(void)state;
	enum { MOST = 81 };
	double error[2][2];
	for (int fine = 0; fine < 2; fine++) {
		double time[MOST], value[MOST];
		const int count = fine ? 81 : 41;
		for (int i = 0; i < count; i++)
			time[i] = 2.0 * i / (count - 1), value[i] = sin(3 * time[i]);
		const CalTable table = {CAL_TABLE_SPLINE, count, time, value};
		error[fine][0] = error[fine][1] = 0;
		for (double t = 0; t <= 2; t += 0.001) {
			const TableValue at = table_value(&table, t);
			error[fine][0] = fmax(error[fine][0], fabs(at.value - sin(3 * t)));
			error[fine][1] = fmax(error[fine][1], fabs(at.acceleration + 9 * sin(3 * t)));
		}
	}
	assert_true(error[0][0] / error[1][0] > 14 && error[0][1] / error[1][1] > 7);
}

/* ---- springs and bushings -------------------------------------------------------------------------- */

/* Distance 2 + cos(w t) with w^2 = k/m; a cable lets go below its length. */
static void a_spring_swings_along_its_line(void **state) {
	(void)state;
	Rig rig = slider(2);
	const CalSpringDef def = {
		.name = "s", .a = {0}, .b = rig_frame(&rig, cal_desc_find_body(rig.desc, "m")), .stiffness = 8, .length = 2};
	rig_sim(&rig, CAL_METHOD_DOPRI5, 0);
	rig_ok(cal_sim_add_spring(rig.sim, &def, NULL, &rig_error));
	cal_sim_state(rig.sim, 0)->q[0] = 3;
	rig_advance(&rig, 1.3);
	check_near(cal_sim_state(rig.sim, 0)->q[0], 2 + cos(2 * 1.3), 1e-8);
	double output[2];
	assert_int_equal(cal_sim_device_outputs(rig.sim, 0, output), CAL_OK);
	check_near(output[1], 8 * cos(2 * 1.3), 1e-7);
	rig_free(&rig);
}

/* From 3 inwards: a quarter of a swing, then free flight at the speed w. */
static void a_cable_does_not_push(void **state) {
	(void)state;
	Rig rig = slider(2);
	const CalSpringDef def = {
		.name = "s", .b = rig_frame(&rig, cal_desc_find_body(rig.desc, "m")), .stiffness = 8, .length = 2, .cable = 1};
	rig_sim(&rig, CAL_METHOD_DOPRI5, 0);
	rig_ok(cal_sim_add_spring(rig.sim, &def, NULL, &rig_error));
	cal_sim_state(rig.sim, 0)->q[0] = 3;
	rig_advance(&rig, 1.3);
	check_near(cal_sim_state(rig.sim, 0)->q[0], 2 - 2 * (1.3 - acos(-1) / 4), 1e-7);
	check_near(rig_balance(&rig).error, 0, 1e-7);
	rig_free(&rig);
}

/* From 1 outwards: a quarter of a swing, then free flight at the speed w; nothing is stored any more. */
static void a_strut_does_not_pull(void **state) {
	(void)state;
	Rig rig = slider(2);
	CalSpringDef def = {
		.name = "s", .b = rig_frame(&rig, cal_desc_find_body(rig.desc, "m")), .stiffness = 8, .length = 2, .strut = 1};
	rig_sim(&rig, CAL_METHOD_DOPRI5, 0);
	rig_ok(cal_sim_add_spring(rig.sim, &def, NULL, &rig_error));
	cal_sim_state(rig.sim, 0)->q[0] = 1;
	rig_advance(&rig, 0.5);
	check_near(cal_sim_state(rig.sim, 0)->q[0], 2 - cos(2 * 0.5), 1e-8);
	check_near(rig_balance(&rig).stored, 4 * cos(1) * cos(1), 1e-7);
	rig_advance(&rig, 1.3);
	check_near(cal_sim_state(rig.sim, 0)->q[0], 2 + 2 * (1.3 - acos(-1) / 4), 1e-7);
	assert_true(rig_balance(&rig).stored == 0);
	check_near(rig_balance(&rig).error, 0, 1e-7);
	CalError error = {0};
	def.name = "both", def.cable = 1;
	assert_int_equal(cal_sim_add_spring(rig.sim, &def, NULL, &error), CAL_ERR_ARGUMENT);
	assert_non_null(strstr(error.text, "it cannot be both"));
	rig_free(&rig);
}

/* A strut with a damper is let go early on its way out, and never pulls. */
static void a_damped_strut_never_pulls(void **state) {
	(void)state;
	Rig rig = slider(2);
	const CalSpringDef def = {.name = "s",
	                          .b = rig_frame(&rig, cal_desc_find_body(rig.desc, "m")),
	                          .stiffness = 8,
	                          .damping = 3,
	                          .length = 2,
	                          .strut = 1};
	rig_sim(&rig, CAL_METHOD_DOPRI5, 0);
	rig_ok(cal_sim_add_spring(rig.sim, &def, NULL, &rig_error));
	cal_sim_state(rig.sim, 0)->q[0] = 1;
	double speed = 0;
	for (int i = 1; i <= 200; i++) {
		double output[2];
		rig_advance(&rig, 0.01 * i);
		assert_int_equal(cal_sim_device_outputs(rig.sim, 0, output), CAL_OK);
		assert_true(output[1] <= 0);
		assert_true(cal_sim_state(rig.sim, 0)->u[0] >= speed - 1e-12); // it is never braked
		speed = cal_sim_state(rig.sim, 0)->u[0];
	}
	assert_true(speed > 0.5 && cal_sim_state(rig.sim, 0)->q[0] > 2);
	check_near(rig_balance(&rig).error, 0, 1e-7);
	rig_free(&rig);
}

/* Where the nodes of a spring meet its force has no direction: nothing acts, and that is said. A slack cable has none. */
static void a_spring_between_nodes_that_meet_says_so(void **state) {
	(void)state;
	for (int i = 0; i < 4; i++) { // a spring, one that is apart, one without a length, a cable
		Rig rig = slider(2);
		const CalSpringDef def = {.name = "s",
		                          .b = rig_frame(&rig, cal_desc_find_body(rig.desc, "m")),
		                          .stiffness = 8,
		                          .length = i == 2 ? 0 : 2,
		                          .cable = i == 3};
		rig_sim(&rig, CAL_METHOD_DOPRI5, 0);
		rig_ok(cal_sim_add_spring(rig.sim, &def, NULL, &rig_error));
		cal_sim_state(rig.sim, 0)->q[0] = i == 1 ? 1e-6 : 0;
		rig_advance(&rig, 0.1);
		assert_int_equal(cal_sim_doubt_count(rig.sim), i == 0 ? 1 : 0);
		CalDoubt doubt;
		if (i == 0) {
			assert_int_equal(cal_sim_doubt(rig.sim, 0, &doubt), CAL_OK);
			assert_int_equal(doubt.kind, CAL_DOUBT_ACCURACY);
			assert_string_equal(doubt.object, "device \"s\"");
		}
		rig_free(&rig);
	}
}

/* Two tumbling bodies of different groups, tied off their centers: nothing is lost but what the dampers take. */
static void bushings_between_groups_keep_energy_and_momentum(void **state) {
	(void)state;
	for (int damped = 0; damped < 2; damped++) {
		Rig rig = rig_new();
		const CalGroupId other = rig_group(&rig, "other");
		const CalVec3 moments = {0.3, 0.5, 0.6};
		const CalBodyId a = rig_body(&rig, main_group, ground, "a", cal_joint_def(CAL_JOINT_FREE), 2, moments);
		const CalBodyId b = rig_body(&rig, other, ground, "b", cal_joint_def(CAL_JOINT_FREE), 1, moments);
		const double s = damped ? 1 : 0;
		const CalBushingDef def = {.name = "tie",
		                           .a = rig_node(&rig, a, "port", (CalVec3){0.4, 0.1, 0}),
		                           .b = rig_node(&rig, b, "port", (CalVec3){-0.3, 0, 0.2}),
		                           .rest = {{0.2, 0, 0.1}, {0.8, 0.6, 0, 0}},
		                           .stiffness = {20, 30, 40},
		                           .angular_stiffness = {3, 4, 5},
		                           .damping = {s, 2 * s, 3 * s},
		                           .angular_damping = {0.1 * s, 0.2 * s, 0.3 * s}};
		rig_sim(&rig, CAL_METHOD_DOPRI5, 0);
		rig_ok(cal_sim_add_bushing(rig.sim, &def, NULL, &rig_error));
		for (int i = 0; i < 6; i++) {
			cal_sim_state(rig.sim, 0)->u[i] = 0.2 * (i + 1);
			cal_sim_state(rig.sim, 1)->u[i] = 0.5 - 0.3 * i;
		}
		cal_sim_state(rig.sim, 1)->q[0] = 0.9;
		const CalSimBalance start = rig_balance(&rig);
		rig_advance(&rig, 4);
		const CalSimBalance end = rig_balance(&rig);
		assert_true(end.complete);
		check_near(end.error, 0, 1e-8);
		assert_true(damped ? end.dissipated > 0.5 : end.dissipated == 0);
		assert_true(fabs(end.stored - start.stored) > 1e-2);
		const double momenta[] = {end.linear.x - start.linear.x,   end.linear.y - start.linear.y,
		                          end.linear.z - start.linear.z,   end.angular.x - start.angular.x,
		                          end.angular.y - start.angular.y, end.angular.z - start.angular.z};
		for (int i = 0; i < 6; i++)
			check_near(momenta[i], 0, 1e-8);
		rig_free(&rig);
	}
}

/* The potential holds at large angles too: a body on a ball joint with an angular bushing to the ground. */
static void a_bushing_has_a_potential_at_large_angles(void **state) {
	(void)state;
	Rig rig = rig_new();
	const CalBodyId a =
		rig_body(&rig, main_group, ground, "a", cal_joint_def(CAL_JOINT_SPHERICAL), 2, (CalVec3){0.3, 0.5, 0.6});
	const CalBushingDef def = {.name = "tie", .b = rig_frame(&rig, a), .angular_stiffness = {3, 4, 5}};
	rig_sim(&rig, CAL_METHOD_DOPRI5, 0);
	rig_ok(cal_sim_add_bushing(rig.sim, &def, NULL, &rig_error));
	const double u[] = {4, 3, -2};
	memcpy(cal_sim_state(rig.sim, 0)->u, u, sizeof u);
	double largest = 0, output[12];
	for (int i = 1; i <= 40; i++) {
		rig_advance(&rig, 0.1 * i);
		assert_int_equal(cal_sim_device_outputs(rig.sim, 0, output), CAL_OK);
		largest = fmax(largest, sqrt(output[3] * output[3] + output[4] * output[4] + output[5] * output[5]));
		check_near(rig_balance(&rig).error, 0, 1e-7);
	}
	assert_true(largest > 1.5 && largest < 3.1);
	rig_free(&rig);
}

/* A disc about z on a bushing of stiffness 3 about it, at this speed. */
static Rig disc_on_bushing(CalMethod method, double step, double speed) {
	Rig rig = rig_new();
	const CalBodyId b =
		rig_body(&rig, main_group, ground, "b", rig_joint(CAL_JOINT_REVOLUTE, 0, 0, 1), 1, (CalVec3){1, 1, 1});
	const CalBushingDef def = {.name = "tie", .a = {0}, .b = rig_frame(&rig, b), .angular_stiffness = {3, 3, 3}};
	rig_sim(&rig, method, step);
	rig_ok(cal_sim_add_bushing(rig.sim, &def, NULL, &rig_error));
	cal_sim_state(rig.sim, 0)->u[0] = speed;
	return rig;
}

static int range_doubts(const Rig *rig) {
	int count = 0;
	CalDoubt doubt;
	for (int i = 0; i < cal_sim_doubt_count(rig->sim); i++)
		count += cal_sim_doubt(rig->sim, i, &doubt) == CAL_OK && doubt.kind == CAL_DOUBT_RANGE;
	return count;
}

/*
 * theta = u0/w sin(w t) with w^2 = 3, until half a turn; there the moment turns round, and the way back to theta = 0 is the
 * same. Both take t = asin(pi w/u0)/w, so a full turn has taken twice that, at the speed of the start.
 */
static void a_bushing_that_turns_over_says_so(void **state) {
	(void)state;
	const double w = sqrt(3), pi = acos(-1), speed = 6, turn = 2 * asin(pi * w / speed) / w;
	for (int i = 0; i < 2; i++) {
		Rig rig = disc_on_bushing(i == 0 ? CAL_METHOD_DOPRI5 : CAL_METHOD_RK4, i == 0 ? 0 : 1e-4, speed);
		rig_advance(&rig, 0.45 * turn);
		assert_int_equal(range_doubts(&rig), 0);
		rig_advance(&rig, turn);
		check_near(cal_sim_state(rig.sim, 0)->q[0], 2 * pi, i == 0 ? 1e-9 : 1e-3);
		check_near(cal_sim_state(rig.sim, 0)->u[0], speed, i == 0 ? 1e-8 : 1e-3);
		assert_int_equal(range_doubts(&rig), 1);
		rig_free(&rig);
	}
	for (int i = 0; i < 2; i++) { // up to 3.1 rad and back
		Rig rig = disc_on_bushing(i == 0 ? CAL_METHOD_DOPRI5 : CAL_METHOD_RK4, i == 0 ? 0 : 1e-3, 3.1 * w);
		rig_advance(&rig, 10);
		assert_int_equal(range_doubts(&rig), 0);
		rig_free(&rig);
	}
}

/* ---- stops ------------------------------------------------------------------------------------------ */

/* Without damping the mass comes back with its speed after half a period of the stop. */
static void a_stop_sends_the_mass_back(void **state) {
	(void)state;
	const double pi = acos(-1);
	Rig rig = slider(2);
	const CalLimitDef def = {
		.name = "stop", .joint = rig_joint_of(&rig, "m"), .lower = -0.5, .upper = 1, .stiffness = 800};
	rig_sim(&rig, CAL_METHOD_DOPRI5, 0);
	rig_ok(cal_sim_add_limit(rig.sim, &def, NULL, &rig_error));
	cal_sim_state(rig.sim, 0)->u[0] = 1;
	rig_advance(&rig, 1 + 0.5 * pi / 20); // w = 20
	check_near(cal_sim_state(rig.sim, 0)->q[0], 1 + 1.0 / 20, 1e-8);
	rig_advance(&rig, 3);
	const double hit = 1 + pi / 20 + 1.5; // the lower stop
	check_near(cal_sim_state(rig.sim, 0)->q[0], -0.5 + (3 - hit - pi / 20), 1e-7);
	check_near(cal_sim_state(rig.sim, 0)->u[0], 1, 1e-7);
	check_near(rig_balance(&rig).error, 0, 1e-7);
	rig_free(&rig);
}

/*
 * With damping it pushes until k p + c p' = 0, and never pulls: p = v/w_d e^-zwt sin(w_d t), so tan(w_d t) =
 * -c w_d/(k - c z w). The speed then is the restitution.
 */
static void a_damped_stop_never_pulls(void **state) {
	(void)state;
	const double m = 2, k = 800, z = 0.3, w = 20, c = 2 * z * w * m, wd = w * sqrt(1 - z * z);
	Rig rig = slider(m);
	const CalLimitDef def = {
		.name = "stop", .joint = rig_joint_of(&rig, "m"), .lower = -INFINITY, .upper = 1, .stiffness = k, .damping = c};
	rig_sim(&rig, CAL_METHOD_DOPRI5, 0);
	rig_ok(cal_sim_add_limit(rig.sim, &def, NULL, &rig_error));
	cal_sim_state(rig.sim, 0)->u[0] = 1;
	rig_advance(&rig, 3);
	const double t = (acos(-1) - atan2(c * wd, k - c * z * w)) / wd;
	const double away = exp(-z * w * t) * (cos(wd * t) - z * w / wd * sin(wd * t));
	check_near(cal_sim_state(rig.sim, 0)->u[0], away, 1e-7);
	assert_true(away < -0.3);
	check_near(rig_balance(&rig).error, 0, 1e-7);
	check_near(rig_balance(&rig).dissipated, 0.5 * m * (1 - away * away), 1e-7);
	rig_free(&rig);
}

/* The force has a kink where a damped stop lets go, before it has relaxed: steps end there, so each tolerance is kept. */
static void a_damped_stop_lets_go_to_tolerance(void **state) {
	(void)state;
	const double m = 2, k = 800, z = 0.3, w = 20, c = 2 * z * w * m, wd = w * sqrt(1 - z * z);
	const double t = (acos(-1) - atan2(c * wd, k - c * z * w)) / wd;
	const double away = exp(-z * w * t) * (cos(wd * t) - z * w / wd * sin(wd * t));
	for (double rtol = 1e-4; rtol > 1e-11; rtol /= 10) {
		Rig rig = slider(m);
		const CalLimitDef def = {.name = "stop",
		                         .joint = rig_joint_of(&rig, "m"),
		                         .lower = -INFINITY,
		                         .upper = 1,
		                         .stiffness = k,
		                         .damping = c};
		const CalSimOptions options = {.method = {.method = CAL_METHOD_DOPRI5, .rtol = rtol, .atol = 1e-3 * rtol}};
		rig_ok(cal_sim_create(rig.desc, &options, &rig.sim, &rig_error));
		rig_ok(cal_sim_add_limit(rig.sim, &def, NULL, &rig_error));
		cal_sim_state(rig.sim, 0)->u[0] = 1;
		rig_advance(&rig, 3);
		check_near(cal_sim_state(rig.sim, 0)->u[0], away, 4 * rtol);
		rig_free(&rig);
	}
}

/* Where a run begins at the stop its damper acts at once. */
static void a_damped_stop_acts_where_it_begins(void **state) {
	(void)state;
	const double m = 2, k = 800, z = 0.3, w = 20, c = 2 * z * w * m, wd = w * sqrt(1 - z * z), rtol = 1e-6;
	const double t = (acos(-1) - atan2(c * wd, k - c * z * w)) / wd;
	const double away = exp(-z * w * t) * (cos(wd * t) - z * w / wd * sin(wd * t));
	for (int i = 0; i < 3; i++) {
		Rig rig = slider(m);
		const CalNodeId node = rig_frame(&rig, cal_desc_find_body(rig.desc, "m"));
		const CalLimitDef stop = {
			.name = "d", .joint = rig_joint_of(&rig, "m"), .lower = -9, .upper = 1, .stiffness = k, .damping = c};
		const CalSpringDef line = {
			.name = "d", .b = node, .stiffness = k, .damping = c, .length = 1, .cable = i == 1, .strut = i == 2};
		const CalSimOptions options = {.method = {.method = CAL_METHOD_DOPRI5, .rtol = rtol, .atol = 1e-3 * rtol}};
		rig_ok(cal_sim_create(rig.desc, &options, &rig.sim, &rig_error));
		if (i == 0)
			rig_ok(cal_sim_add_limit(rig.sim, &stop, NULL, &rig_error));
		else
			rig_ok(cal_sim_add_spring(rig.sim, &line, NULL, &rig_error));
		cal_sim_state(rig.sim, 0)->q[0] = 1;
		cal_sim_state(rig.sim, 0)->u[0] = i == 2 ? -1 : 1;
		rig_advance(&rig, 0.3);
		check_near(cal_sim_state(rig.sim, 0)->u[0], i == 2 ? -away : away, 4 * rtol);
		rig_free(&rig);
	}
}

/* ---- friction ---------------------------------------------------------------------------------------- */

/* A sliding mass comes to rest after v^2/(2 mu): where tanh is 1 to the last digit nearly all the way. */
static void coulomb_friction_stops_a_mass(void **state) {
	(void)state;
	Rig rig = slider(2);
	const CalFrictionDef def = {.name = "f", .joint = rig_joint_of(&rig, "m"), .coulomb = 1, .smoothing_speed = 1e-5};
	rig_sim(&rig, CAL_METHOD_DOPRI5, 0);
	rig_ok(cal_sim_add_friction(rig.sim, &def, NULL, &rig_error));
	cal_sim_state(rig.sim, 0)->u[0] = 1;
	rig_advance(&rig, 1);
	check_near(cal_sim_state(rig.sim, 0)->u[0], 0.5, 1e-9);
	rig_advance(&rig, 2.1);
	check_near(cal_sim_state(rig.sim, 0)->q[0], 1, 1e-6);
	check_near(rig_balance(&rig).dissipated, 1, 1e-6);
	rig_free(&rig);
}

/* Bristles hold below the stiction: the mass yields by F/s0 and comes to rest. */
static void bristles_hold_a_load(void **state) {
	(void)state;
	Rig rig = slider(1);
	const CalFrictionDef friction = {.name = "f",
	                                 .joint = rig_joint_of(&rig, "m"),
	                                 .coulomb = 1,
	                                 .stiction = 1.5,
	                                 .stribeck_speed = 0.01,
	                                 .bristle_stiffness = 1e4,
	                                 .bristle_damping = 200};
	const CalAppliedLoadDef load = {.name = "load", .joint = rig_joint_of(&rig, "m"), .effort = {.number = 0.5}};
	rig_sim(&rig, CAL_METHOD_DOPRI5, 0);
	rig_ok(cal_sim_add_friction(rig.sim, &friction, NULL, &rig_error));
	rig_ok(cal_sim_add_applied_load(rig.sim, &load, NULL, &rig_error));
	rig_advance(&rig, 1);
	check_near(cal_sim_state(rig.sim, 0)->u[0], 0, 1e-7);
	double first = cal_sim_state(rig.sim, 0)->q[0];
	assert_true(first > 0.5e-4 && first < 1.2e-4);
	check_near(rig_balance(&rig).error, 0, 1e-9);
	rig_free(&rig);
}

static int belt(void *user, const CalModel *model, double t, double *q, double *u, double *udot) {
	const double *speed = user;
	(void)model;
	q[0] = *speed * t;
	u[0] = *speed;
	udot[0] = 0;
	return 0;
}

typedef struct Slips {
	double times[32];
	int count;
} Slips;

static int spring_force(void *user, CalEvalContext *context, double *value) {
	(void)user;
	*value = cal_context_state(context, 0)->u[0] - 0.05; // of the mass: it slips
	return 0;
}

static CalStatus note_slip(void *user, CalSim *sim, CalError *error) {
	Slips *slips = user;
	(void)error;
	slips->times[slips->count++] = cal_sim_time(sim);
	return CAL_OK;
}

/*
 * A mass that a spring drags along a floor, its end moving at V: it sticks until the spring has the stiction Fs, slips
 * while the spring swings about Fc, and sticks again. With a = (Fs - Fc)/k and w^2 = k/m the period is
 * 2 a/V + 2 (pi - atan(a w/V))/w for rigid bristles and a drop of no width.
 */
static double stick_slip_period(double speed) {
	Rig rig = slider(1);
	const CalGroupId other = rig_group(&rig, "drive");
	rig_body(&rig, other, ground, "end", rig_joint(CAL_JOINT_PRISMATIC, 1, 0, 0), 1, unit_moments);
	const CalNodeId m = rig_frame(&rig, cal_desc_find_body(rig.desc, "m"));
	const CalNodeId end = rig_frame(&rig, cal_desc_find_body(rig.desc, "end"));
	const CalBushingDef spring = {.name = "k", .a = end, .b = m, .stiffness = {4, 0, 0}};
	const CalFrictionDef friction = {.name = "f",
	                                 .joint = rig_joint_of(&rig, "m"),
	                                 .coulomb = 1,
	                                 .stiction = 1.5,
	                                 .stribeck_speed = 3e-3,
	                                 .bristle_stiffness = 1e5,
	                                 .bristle_damping = 300};
	const CalSimOptions options = {.method = {.method = CAL_METHOD_DOPRI5, .rtol = 1e-7, .atol = 1e-9}};
	rig_ok(cal_sim_create(rig.desc, &options, &rig.sim, &rig_error));
	rig_ok(cal_sim_add_bushing(rig.sim, &spring, NULL, &rig_error));
	rig_ok(cal_sim_add_friction(rig.sim, &friction, NULL, &rig_error));
	Slips slips = {0};
	assert_int_equal(cal_sim_set_motion(rig.sim, 1, belt, &speed), CAL_OK);
	const CalEventDef slip = {
		.name = "slip", .value = spring_force, .direction = 1, .action = note_slip, .user = &slips};
	rig_ok(cal_sim_add_event(rig.sim, &slip, NULL, &rig_error));
	rig_advance(&rig, 9);
	assert_true(slips.count >= 3);
	const double period = slips.times[slips.count - 1] - slips.times[slips.count - 2];
	rig_free(&rig);
	return period;
}

/* Bristles of 1e5 N/m and a drop over 3 mm/s leave 0.4 %. */
static void stick_slip_has_its_period(void **state) {
	(void)state;
	const double a = 0.5 / 4, w = 2, V = 0.3;
	const double want = 2 * a / V + 2 * (acos(-1) - atan(a * w / V)) / w;
	check_near(stick_slip_period(V), want, 0.005 * want);
}

/* ---- thrusters and loads ----------------------------------------------------------------------------- */

static void a_thruster_fires_by_its_schedule(void **state) {
	(void)state;
	const double times[] = {1, 1.25, 3}, values[] = {1, 0, 0.5};
	const CalMethod methods[] = {CAL_METHOD_RK4, CAL_METHOD_DOPRI5};
	for (int m = 0; m < 2; m++) {
		Rig rig = rig_new();
		const CalBodyId a = rig_body(&rig, main_group, ground, "a", cal_joint_def(CAL_JOINT_FREE), 2, unit_moments);
		const double throttle_times[] = {0, 1, 1.25, 3}, throttle[] = {0, values[0], values[1], values[2]};
		const CalThrusterDef def = {.name = "t",
		                            .node = rig_frame(&rig, a),
		                            .direction = {0, 2, 0},
		                            .thrust = 8,
		                            .throttle.table = TABLE(CAL_TABLE_STEP, 4, throttle_times, throttle)};
		rig_sim(&rig, methods[m], 0.7);
		rig_ok(cal_sim_add_thruster(rig.sim, &def, NULL, &rig_error));
		rig_advance(&rig, 4);
		const double first = 4 * (times[1] - times[0]), last = 2 * (4 - times[2]);
		check_near(cal_sim_state(rig.sim, 0)->u[1], first + last, 1e-13);
		check_near(rig_balance(&rig).error, 0, 1e-12);
		rig_free(&rig);
	}
}

static void a_thruster_without_a_throttle_burns_all_the_time(void **state) {
	(void)state;
	Rig rig = rig_new();
	const CalBodyId a = rig_body(&rig, main_group, ground, "a", cal_joint_def(CAL_JOINT_FREE), 2, unit_moments);
	const CalThrusterDef def = {.name = "t", .node = rig_frame(&rig, a), .thrust = 8};
	rig_sim(&rig, CAL_METHOD_RK4, 0.7);
	rig_ok(cal_sim_add_thruster(rig.sim, &def, NULL, &rig_error));
	rig_advance(&rig, 4);
	check_near(cal_sim_state(rig.sim, 0)->u[2], 4 * 4, 1e-13);
	rig_free(&rig);
}

/* A ramp of moment about the body's z: angle t^3/6 over the inertia. */
static void a_table_load_pushes_a_node(void **state) {
	(void)state;
	const double times[] = {0, 2}, values[] = {0, 2};
	Rig rig = rig_new();
	const CalBodyId a =
		rig_body(&rig, main_group, ground, "a", rig_joint(CAL_JOINT_REVOLUTE, 0, 0, 1), 2, unit_moments);
	CalAppliedLoadDef def = {.name = "l", .node = rig_frame(&rig, a), .frame = CAL_FRAME_NODE};
	def.moment[2].table = (CalTable)TABLE(CAL_TABLE_LINEAR, 2, times, values);
	rig_sim(&rig, CAL_METHOD_RK4, 0.1);
	rig_ok(cal_sim_add_applied_load(rig.sim, &def, NULL, &rig_error));
	rig_advance(&rig, 1.5);
	check_near(cal_sim_state(rig.sim, 0)->q[0], 1.5 * 1.5 * 1.5 / 6 / 0.4, 1e-13);
	rig_free(&rig);
}

static void wrong_definitions_say_what_is_wrong(void **state) {
	(void)state;
	Rig rig = slider(1);
	CalError error = {0};
	const CalNodeId m = rig_frame(&rig, cal_desc_find_body(rig.desc, "m"));
	const double times[] = {1, 1}, values[] = {0, 3};
	rig_sim(&rig, CAL_METHOD_RK4, 0.1);
	const CalSpringDef spring = {.name = "s", .a = m, .b = m, .place = "file:3:4"};
	assert_int_equal(cal_sim_add_spring(rig.sim, &spring, NULL, &error), CAL_ERR_ARGUMENT);
	assert_string_equal(error.text, "file:3:4: device \"s\" (spring): it ties a node to itself; name two nodes");
	const CalSpringDef unnamed = {.b = m};
	assert_int_equal(cal_sim_add_spring(rig.sim, &unnamed, NULL, &error), CAL_ERR_ARGUMENT);
	const CalLimitDef limit = {.name = "l", .joint = rig_joint_of(&rig, "m"), .lower = 1, .upper = 1, .stiffness = 1};
	assert_int_equal(cal_sim_add_limit(rig.sim, &limit, NULL, &error), CAL_ERR_ARGUMENT);
	const CalFrictionDef friction = {.name = "f", .joint = rig_joint_of(&rig, "m"), .coulomb = 1};
	assert_int_equal(cal_sim_add_friction(rig.sim, &friction, NULL, &error), CAL_ERR_ARGUMENT);
	assert_non_null(strstr(error.text, "smoothing speed"));
	const CalThrusterDef thruster = {
		.name = "t", .node = m, .thrust = 1, .throttle.table = TABLE(CAL_TABLE_STEP, 2, times, values)};
	assert_int_equal(cal_sim_add_thruster(rig.sim, &thruster, NULL, &error), CAL_ERR_ARGUMENT);
	assert_non_null(strstr(error.text, "do not ascend"));
	const CalLimitDef lost = {.name = "l", .joint = rig_joint_of(&rig, "m"), .dof = 3, .upper = 1, .stiffness = 1};
	assert_int_equal(cal_sim_add_limit(rig.sim, &lost, NULL, &error), CAL_ERR_ARGUMENT);
	assert_int_equal(cal_sim_device_count(rig.sim), 0);
	rig_free(&rig);
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(tables_meet_their_points_and_rates),
		cmocka_unit_test(kept_pieces_have_the_same_bits),
		cmocka_unit_test(splines_meet_quartics),
		cmocka_unit_test(splines_converge),
		cmocka_unit_test(a_spring_swings_along_its_line),
		cmocka_unit_test(a_cable_does_not_push),
		cmocka_unit_test(a_strut_does_not_pull),
		cmocka_unit_test(a_damped_strut_never_pulls),
		cmocka_unit_test(a_spring_between_nodes_that_meet_says_so),
		cmocka_unit_test(bushings_between_groups_keep_energy_and_momentum),
		cmocka_unit_test(a_bushing_has_a_potential_at_large_angles),
		cmocka_unit_test(a_bushing_that_turns_over_says_so),
		cmocka_unit_test(a_stop_sends_the_mass_back),
		cmocka_unit_test(a_damped_stop_never_pulls),
		cmocka_unit_test(a_damped_stop_lets_go_to_tolerance),
		cmocka_unit_test(a_damped_stop_acts_where_it_begins),
		cmocka_unit_test(coulomb_friction_stops_a_mass),
		cmocka_unit_test(bristles_hold_a_load),
		cmocka_unit_test(stick_slip_has_its_period),
		cmocka_unit_test(a_thruster_fires_by_its_schedule),
		cmocka_unit_test(a_thruster_without_a_throttle_burns_all_the_time),
		cmocka_unit_test(a_table_load_pushes_a_node),
		cmocka_unit_test(wrong_definitions_say_what_is_wrong),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
