// SPDX-License-Identifier: Apache-2.0
/*
 * test_pendulum.c — pendulums on nodes: their frequencies and damping in a tank at rest and in a rocket that is pushed.
 */
#include "rig.h"

static const double amplitude = 1e-5; // where sin a = a to 2e-11

static CalBodyId add_pendulum(Rig *rig, CalPendulumDef def) {
	CalBodyId id = {0};
	CalError error = {0};
	if (cal_desc_add_pendulum(rig->desc, &def, &id, &error) != CAL_OK)
		fail_msg("%s", error.text);
	return id;
}

/* a cos(w t), damped: with a start at rest a exp(-z w t)(cos + z/sqrt(1 - z^2) sin). */
static double swing(double w, double z, double t) {
	const double d = w * sqrt(1 - z * z);
	return amplitude * exp(-z * w * t) * (cos(d * t) + z / sqrt(1 - z * z) * sin(d * t));
}

/* On the ground, any direction down: w^2 = g/l, damping ratio c/(2 m l^2 w), both angles alike. */
static void it_swings_in_a_tank_at_rest(void **state) {
	(void)state;
	const CalVec3 down[] = {{0, 0, -2}, {1, 0, 0}, {0.3, -0.5, 0.7}};
	for (int k = 0; k < 3; k++) {
		const double length = 0.6, mass = 3, g = 9.81, w = sqrt(g / length), z = 0.05;
		const double norm = sqrt(down[k].x * down[k].x + down[k].y * down[k].y + down[k].z * down[k].z);
		Rig rig = rig_new();
		CalPendulumDef def = cal_pendulum_def();
		def.name = "slosh";
		def.down = down[k];
		def.length = length;
		def.mass = mass;
		def.pivot = (CalVec3){1, 2, 3};
		def.damping = 2 * z * mass * length * length * w;
		add_pendulum(&rig, def);
		cal_desc_set_gravity(rig.desc, (CalGroupId){0},
		                     (CalVec3){g * down[k].x / norm, g * down[k].y / norm, g * down[k].z / norm});
		rig_sim(&rig, CAL_METHOD_DOPRI5, 0);
		CalState *now = cal_sim_state(rig.sim, 0);
		now->q[0] = amplitude;
		now->q[1] = amplitude;
		rig_advance(&rig, 2.2);
		check_near(now->q[0], swing(w, z, 2.2), 1e-6 * amplitude);
		check_near(now->q[1], swing(w, z, 2.2), 1e-6 * amplitude);
		rig_free(&rig);
	}
}

/* A rocket in free space, thrust F through its center of mass M, pendulum m from there: w^2 = a/l (1 + m/M). */
static void it_swings_in_a_rocket(void **state) {
	(void)state;
	const double M = 40, m = 8, F = 96, length = 0.5, a = F / (M + m), w = sqrt(a / length * (1 + m / M));
	Rig rig = rig_new();
	const CalBodyId rocket =
		rig_body(&rig, (CalGroupId){0}, (CalBodyId){0}, "rocket", cal_joint_def(CAL_JOINT_FREE), M, (CalVec3){5, 6, 2});
	CalPendulumDef def = cal_pendulum_def();
	def.name = "slosh";
	def.node = rig_frame(&rig, rocket);
	def.mass = m;
	def.length = length;
	const CalBodyId mass = add_pendulum(&rig, def);
	assert_int_equal(cal_desc_body(rig.desc, mass)->group.value, 1);
	const CalThrusterDef thruster = {.name = "engine", .node = def.node, .thrust = F, .throttle.table = CONSTANT(1)};
	rig_sim(&rig, CAL_METHOD_DOPRI5, 0);
	rig_ok(cal_sim_add_thruster(rig.sim, &thruster, NULL, &rig_error));
	CalState *now = cal_sim_state(rig.sim, 0);
	now->q[7] = amplitude;
	const double t = 4.3;
	rig_advance(&rig, t);
	check_near(now->q[7], amplitude * cos(w * t), 1e-6 * amplitude);
	check_near(now->q[2], a * t * t / 2, 1e-8);
	check_near(rig_balance(&rig).linear.z, F * t, 1e-9 * F * t);
	assert_true(cal_model_find_node(cal_sim_model(rig.sim, 0), "slosh/mass") >= 0);
	rig_free(&rig);
}

static void check_refused(CalPendulumDef def, const char *says) {
	Rig rig = rig_new();
	CalError error = {0};
	rig_body(&rig, (CalGroupId){0}, (CalBodyId){0}, "tank", cal_joint_def(CAL_JOINT_WELD), 1, unit_moments);
	const int bodies = cal_desc_body_count(rig.desc);
	assert_int_equal(cal_desc_add_pendulum(rig.desc, &def, NULL, &error), CAL_ERR_MODEL);
	if (!strstr(error.text, says))
		fail_msg("got \"%s\", wanted \"%s\"", error.text, says);
	assert_int_equal(cal_desc_body_count(rig.desc), bodies);
	rig_free(&rig);
}

static void mistakes_leave_the_description(void **state) {
	(void)state;
	CalPendulumDef good = cal_pendulum_def(), def;
	good.name = "slosh";
	good.mass = good.length = 1;
	def = good, def.name = "";
	check_refused(def, "has no name");
	def = good, def.mass = 0;
	check_refused(def, "its mass must be above zero");
	def = good, def.length = -1;
	check_refused(def, "its length must be above zero");
	def = good, def.down = (CalVec3){0};
	check_refused(def, "\"down\" is no direction");
	def = good, def.damping = NAN;
	check_refused(def, "its damping must not be negative");
	def = good, def.node.value = 77;
	check_refused(def, "there is no node 77");
	def = good, def.name = "tank";
	check_refused(def, "tank");
	def = good, def.name = "tank_joint";
	check_refused(def, "there is a joint of that name");
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(it_swings_in_a_tank_at_rest),
		cmocka_unit_test(it_swings_in_a_rocket),
		cmocka_unit_test(mistakes_leave_the_description),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
