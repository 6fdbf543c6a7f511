// SPDX-License-Identifier: Apache-2.0
/*
 * test_events.c — every example with events is read, compiles without a finding, runs, and shows what its comment
 * says: closed forms, and what no change of topology may touch.
 */
#include <math.h>

#include "example_support.h"

#define PI 3.14159265358979323846

/* ---- looking ------------------------------------------------------------------------------------------- */

static CalScenarioEntry entry_of(const Running *r, int64_t index) {
	CalScenarioEntry entry;
	assert_int_equal(cal_scenario_entry(r->scenario, index, &entry), CAL_OK);
	assert_int_equal(entry.refused, CAL_OK);
	return entry;
}

/* What all impulses took so far. */
static double lost(const Running *r) {
	double sum = 0;
	for (int64_t i = 0; i < cal_scenario_entry_count(r->scenario); i++)
		sum += entry_of(r, i).kinetic_lost;
	return sum;
}

static CalPose pose_of(Running *r, const char *path, CalSpatial *velocity) {
	CalPose pose = {0};
	for (int i = 0; i < cal_sim_group_count(r->sim); i++) {
		const int node = cal_model_find_node(cal_sim_model(r->sim, i), path);
		CalSimView view;
		if (node < 0)
			continue;
		assert_int_equal(cal_sim_observe(r->sim, i, &view), CAL_OK);
		assert_int_equal(cal_node_pose(view.model, view.work, node, &pose), CAL_OK);
		assert_int_equal(cal_node_velocity(view.model, view.work, node, velocity), CAL_OK);
		return pose;
	}
	fail_msg("no node %s", path);
	return pose;
}

static CalVec3 velocity_of(Running *r, const char *path) {
	CalSpatial velocity;
	pose_of(r, path, &velocity);
	return velocity.linear;
}

static CalDofRef dof_of(Running *r, const char *joint) {
	CalDofRef dof_ref;
	assert_true(cal_sim_find_dof(r->sim, cal_sim_find_joint(r->sim, joint), 0, &dof_ref));
	return dof_ref;
}

static double angle_of(Running *r, const char *joint) {
	const CalDofRef f = dof_of(r, joint);
	return cal_sim_state(r->sim, f.group)->q[f.q];
}

static double length(CalVec3 v) { return sqrt(v.x * v.x + v.y * v.y + v.z * v.z); }

static double distance(CalVec3 a, CalVec3 b) { return length((CalVec3){a.x - b.x, a.y - b.y, a.z - b.z}); }

/* ---- separation ---------------------------------------------------------------------------------------- */

/* Relative rate after the push, to first order in the difference of the springs; see the comment of the example. */
static double tip_off(double k, double difference, double mass, double inertia, double r, double s) {
	const double w = sqrt(4 * k / mass), v = sqrt(2 * k * r * r / inertia);
	return difference * r * s / inertia * (v * sin(v * PI / (2 * w)) - w) / (v * v - w * w);
}

/* The band carries the springs: nothing moves, and the springs keep all of their energy. */
static void band_holds_the_satellite(void **state) {
	(void)state;
	Running r = example_start("separation");
	CalSimView view;
	CalSpatial reaction;
	example_advance(&r, 0.499);
	assert_int_equal(cal_sim_group_count(r.sim), 1);
	assert_near(example_balance(&r).stored, 100, 1e-9);
	assert_near(length(velocity_of(&r, "satellite")), 0, 1e-13);
	assert_int_equal(cal_sim_observe(r.sim, 0, &view), CAL_OK);
	assert_int_equal(cal_reactions(view.model, view.state, view.udot, &view.input, view.work), CAL_OK);
	const int satellite = cal_model_find_body(view.model, "satellite");
	assert_int_equal(cal_joint_reaction(view.model, view.work, satellite, &reaction), CAL_OK);
	assert_near(reaction.linear.z, -4 * 20e3 * 0.05, 1e-9);
	assert_near(reaction.angular.y, 800 * 0.05 * 0.6, 1e-9);
	example_finish(&r);
}

static void satellite_separates_by_energy_and_momentum(void **state) {
	(void)state;
	Running r = example_start("separation");
	const double I1 = 1500 * (16.0 / 12 + 0.64 / 4), I2 = 300.0 / 12 * (1.4 * 1.4 + 0.6 * 0.6);
	CalSpatial stage, satellite;
	assert_near(r.before.stored, 100, 1e-9);
	example_advance(&r, 0.8);
	assert_int_equal(cal_scenario_entry_count(r.scenario), 1);
	assert_true(entry_of(&r, 0).time == 0.5 && lost(&r) == 0);
	assert_int_equal(cal_sim_group_count(r.sim), 2);
	const CalSimBalance now = example_balance(&r);
	pose_of(&r, "stage", &stage);
	pose_of(&r, "satellite", &satellite);
	assert_near(now.stored, 0, 1e-12);
	assert_near(now.groups, 100, 1e-4);
	assert_near(satellite.linear.z - stage.linear.z, sqrt(2 * 100 / 250.0), 2e-4);
	assert_near(300 * satellite.linear.z, -1500 * stage.linear.z, 1e-10);
	assert_near(now.linear.z, 0, 1e-11);
	assert_near(now.angular.y, 0, 1e-11);
	const double rate = tip_off(20e3, 800, 250, I1 * I2 / (I1 + I2), 0.6, 0.05) * I1 / (I1 + I2);
	assert_near(-satellite.angular.y / rate, 1.033, 2e-3); // springs that lean over push a little more
	assert_near(satellite.angular.x, 0, 1e-15);
	example_finish(&r);
}

/* ---- deployment ---------------------------------------------------------------------------------------- */

/* What an impulse on a hinge that stops it costs: u^2/2 over the acceleration by a unit of torque. */
static double cost_of_a_stop(Running *r, const char *joint, double ahead) {
	const CalDofRef f = dof_of(r, joint);
	CalSimView view;
	double with[64], without[64], tau[64] = {0};
	assert_int_equal(cal_sim_observe(r->sim, f.group, &view), CAL_OK);
	assert_true(cal_model_u_count(view.model) <= 64);
	const double u = view.state->u[f.u] + ahead * view.udot[f.u];
	tau[f.u] = 1;
	assert_int_equal(cal_forward_dynamics(view.model, view.state, &(CalInput){0}, view.work, without), CAL_OK);
	assert_int_equal(cal_forward_dynamics(view.model, view.state, &(CalInput){.tau = tau}, view.work, with), CAL_OK);
	return 0.5 * u * u / (with[f.u] - without[f.u]);
}

static void expect_same_momentum(CalSimBalance before, CalSimBalance after, double linear, double angular) {
	assert_near(distance(after.linear, before.linear), 0, linear);
	assert_near(distance(after.angular, before.angular), 0, angular);
}

typedef struct Latch {
	const char *joint;
	double angle, time, lost; // [deg, s, J] as the comment of the example says
} Latch;

/* Energy of each latch by the compliance of the hinge, momentum through it, and the balance of it all. */
static void panels_latch_and_momentum_stays(void **state) {
	(void)state;
	static const Latch latches[] = {{"right_third", 180, 4.15, 0.086},
	                                {"left_root", 90, 5.76, 1.096},
	                                {"right_second", 180, 6.00, 0.147},
	                                {"right_root", 90, 9.01, 0.076}};
	Running first = example_start("panel_deployment"), r = example_start("panel_deployment");
	const double around = 1e-6;
	CalSimMonitor monitor;
	example_advance(&first, 10);
	assert_near(r.before.groups, 0.6 * PI * PI + 2 * 0.5 * 1.5 * 1.5 * PI * PI, 1e-12); // springs, wound up
	int64_t seen = 0;
	for (int i = 0; i < 4; i++) {
		while (strstr(entry_of(&first, seen).text, latches[i].joint) == NULL)
			seen++;
		const double t = entry_of(&first, seen).time;
		example_advance(&r, t - around);
		const CalSimBalance before = example_balance(&r);
		const double cost = cost_of_a_stop(&r, latches[i].joint, around);
		assert_true(cal_scenario_entry_count(r.scenario) == seen);
		example_advance(&r, t + around);
		const CalSimBalance after = example_balance(&r);
		const CalScenarioEntry entry = entry_of(&r, seen);
		assert_near(t, latches[i].time, 0.01);
		assert_near(entry.kinetic_lost, latches[i].lost, 1e-3);
		assert_near(entry.kinetic_lost, cost, 1e-5 * cost);
		assert_near(before.error, after.error, 1e-12);
		assert_true(after.dissipated - before.dissipated >= entry.kinetic_lost - 1e-12); // and the friction of hinges
		expect_same_momentum(before, after, 1e-12, 1e-12);                               // the hub has 15 kg m/s
		assert_near(angle_of(&r, latches[i].joint), latches[i].angle * PI / 180, 1e-10);
	}
	example_advance(&r, 30);
	assert_near(example_balance(&r).error, 0, 1e-6);
	expect_same_momentum(r.before, example_balance(&r), 1e-7, 1e-7);
	assert_int_equal(cal_sim_monitor(r.sim, 0, &monitor), CAL_OK);
	assert_true(monitor.momentum_conserved);
	for (int i = 0; i < 4; i++)
		assert_near(angle_of(&r, latches[i].joint), latches[i].angle * PI / 180, 1e-10);
	example_finish(&first);
	example_finish(&r);
}

/* The cables keep the left hinges in step. Nothing pushes from outside: the center of mass stays. */
static void cables_synchronise_one_wing(void **state) {
	(void)state;
	Running r = example_start("panel_deployment");
	CalSimMonitor begin, end;
	assert_int_equal(cal_sim_monitor(r.sim, 0, &begin), CAL_OK);
	for (int i = 1; i <= 10; i++) {
		example_advance(&r, i);
		assert_near(angle_of(&r, "left_second"), 2 * angle_of(&r, "left_root"), 1e-12);
		assert_near(angle_of(&r, "left_third"), 2 * angle_of(&r, "left_root"), 1e-12);
	}
	assert_int_equal(cal_sim_monitor(r.sim, 0, &end), CAL_OK);
	assert_near(distance(end.momentum.com, begin.momentum.com), 0, 1e-9);
	example_finish(&r);
}

/* ---- docking ------------------------------------------------------------------------------------------- */

static void docking_keeps_the_momentum_of_all_three(void **state) {
	(void)state;
	Running r = example_start("docking");
	const double p = length(r.before.linear), L = length(r.before.angular);
	for (int i = 1; i <= 240; i++) {
		example_advance(&r, 0.5 * i);
		expect_same_momentum(r.before, example_balance(&r), 1e-12 * p, 1e-12 * L);
		if (0.5 * i == 20 || 0.5 * i == 80)
			assert_near(example_balance(&r).error, 0, 1e-8);
	}
	assert_string_equal(entry_of(&r, 1).event, "dock");
	assert_string_equal(entry_of(&r, 2).event, "refuel");
	assert_near(entry_of(&r, 1).misfit, 0.05, 1e-6);
	assert_near(entry_of(&r, 1).kinetic_lost, 9.10, 0.01);
	assert_near(entry_of(&r, 2).kinetic_lost, 14.62, 0.01);
	example_finish(&r);
}

/* Released, the spring gives all that it holds to the two. */
static void chaser_leaves_by_the_spring(void **state) {
	(void)state;
	Running r = example_start("docking");
	CalSpatial unused;
	example_advance(&r, 89.9);
	assert_int_equal(cal_sim_group_count(r.sim), 1);
	assert_near(example_balance(&r).stored, 0, 0);
	const double s = 0.4 - distance(pose_of(&r, "station/pusher", &unused).r, pose_of(&r, "chaser/nose", &unused).r);
	const double energy = 0.5 * 1000 * s * s, mass = 1 / (1 / 2012.886 + 1 / 26000.0);
	example_advance(&r, 120);
	assert_int_equal(cal_sim_group_count(r.sim), 2);
	assert_near(example_balance(&r).stored, 0, 0);
	assert_near(example_balance(&r).supplied, energy, 1e-4); // it was not there before it was switched on
	assert_near(example_balance(&r).error, 0, 1e-6);
	const double speed = distance(velocity_of(&r, "chaser"), velocity_of(&r, "station"));
	assert_near(speed / sqrt(2 * energy / mass), 1, 0.01); // a part turns them
	example_finish(&r);
}

/* The boom swings like a cantilever with a mass at its end, by the formula of Rayleigh. */
static void docking_makes_the_boom_ring(void **state) {
	(void)state;
	Running r = example_start("docking");
	const double a = 0.05, b = 0.046, EI = 70e9 * PI / 64 * (pow(a, 4) - pow(b, 4));
	const double boom = 2700 * PI / 4 * (a * a - b * b) * 6;
	const double period = 2 * PI / sqrt(3 * EI / (216 * (8 + 33.0 / 140 * boom)));
	double first = 0, latest = 0, last = 0;
	int count = -1;
	for (int i = 1; i <= 720; i++) {
		CalSpatial unused;
		example_advance(&r, 10 + 0.05 * i);
		const CalPose root = pose_of(&r, "boom", &unused), tip = pose_of(&r, "boom/tip", &unused);
		const double z = (tip.r.x - root.r.x) * root.R.m[0][2] + (tip.r.y - root.r.y) * root.R.m[1][2] +
		                 (tip.r.z - root.r.z) * root.R.m[2][2];
		if (last < 0 && z >= 0) {
			latest = 10 + 0.05 * (i - z / (z - last));
			first = ++count == 0 ? latest : first;
		}
		last = z;
	}
	assert_true(count > 10);
	assert_near((latest - first) / count / period, 1, 2e-3);
	example_finish(&r);
}

/* ---- walking ------------------------------------------------------------------------------------------- */

/* The foot that stands does not move; the two feet are a port apart, so that links and ports make a triangle. */
static void walking_arm_stands_still_where_it_stands(void **state) {
	(void)state;
	Running r = example_start("walking_arm");
	CalError error;
	CalSpatial velocity;
	static const char *const feet[] = {"foot_a/palm", "foot_b/palm", "foot_a/palm"};
	for (int i = 0; i < 3; i++) {
		for (int k = 0; k < 10; k++) {
			if (cal_sim_advance(r.sim, 1.5 * i + 0.09 * (k + 1), &error) != CAL_OK)
				fail_msg("%s", error.text);
			assert_near(pose_of(&r, feet[i], &velocity).r.x, 1 + i, 2e-3);
			assert_near(length(velocity.linear), 0, 1e-12);
		}
	}
	assert_int_equal(cal_sim_advance(r.sim, 4.5, &error), CAL_STOPPED);
	assert_near(fabs(angle_of(&r, "knee")), 2 * PI / 3, 2e-3);
	assert_near(example_balance(&r).error, 0, 1e-6);
	example_finish(&r);
}

/* ---- fidelity ------------------------------------------------------------------------------------------ */

/* The gap closes at 10 cm/s: caught at 42 s. Then all of it moves with the momentum of both, but for the antenna. */
static void groups_are_switched_and_momentum_is_accounted_for(void **state) {
	(void)state;
	Running r = example_start("fidelity");
	CalSpatial unused;
	const double tube = 2700 * PI / 4 * (0.06 * 0.06 - 0.056 * 0.056) * 5;
	const double antenna = 2700 * PI / 4 * (0.03 * 0.03 - 0.028 * 0.028) * 3;
	const int servicer = cal_sim_find_group(r.sim, "servicer");
	for (int i = 0; i < 3; i++) {
		static const CalPropagation want[] = {CAL_PROPAGATE_KINEMATIC, CAL_PROPAGATE_RIGID, CAL_PROPAGATE_FLEXIBLE};
		example_advance(&r, 15 + 10 * i);
		assert_int_equal(cal_sim_propagation(r.sim, servicer), want[i]);
		assert_near(pose_of(&r, "servicer", &unused).r.x, 0.12 * (15 + 10 * i), 1e-12);
	}
	example_advance(&r, 41.999);
	assert_int_equal(cal_sim_group_count(r.sim), 2);
	example_advance(&r, 59);
	const CalScenarioEntry comes = entry_of(&r, 2), caught = entry_of(&r, 3);
	assert_near(comes.time, 42, 1e-9);
	assert_near(comes.linear_jump, 300 * 0.02, 1e-12);
	assert_true(caught.linear_jump < 1e-12 && caught.angular_jump < 1e-12);
	assert_near(example_balance(&r).linear.x, (800 + tube) * 0.12 + 6, 1e-9);
	// the most that a straight inelastic collision takes; some of it turns everything and rings in the boom
	const double most = 0.5 * (800 + tube) * 300 / (1100 + tube) * 0.1 * 0.1;
	assert_true(caught.kinetic_lost > 0.5 * most && caught.kinetic_lost < most);
	example_advance(&r, 60);
	const CalScenarioEntry held = entry_of(&r, 5);
	const CalVec3 root = velocity_of(&r, "antenna/root"), tip = velocity_of(&r, "antenna/tip"); // it is straight yet
	const CalVec3 mean = {(root.x + tip.x) / 2, (root.y + tip.y) / 2, (root.z + tip.z) / 2};
	assert_near(held.linear_jump, antenna * length(mean), 1e-9);
	assert_true(held.kinetic_lost < 0); // it was at rest
	const CalVec3 p = example_balance(&r).linear;
	example_advance(&r, 80);
	assert_true(entry_of(&r, 6).kinetic_lost > 1e-3 && entry_of(&r, 6).linear_jump < 1e-12);
	assert_near(distance(example_balance(&r).linear, p), 0, 1e-7);
	const CalVec3 from = pose_of(&r, "boom/tip", &unused).r;
	const double before = distance(from, pose_of(&r, "servicer", &unused).r);
	example_advance(&r, 90);
	assert_near(distance(pose_of(&r, "boom/tip", &unused).r, pose_of(&r, "servicer", &unused).r), before, 1e-9);
	assert_near(example_balance(&r).error, 0, 1e-7);
	example_finish(&r);
}

int main(void) {
	NEEDS_YAML();
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(band_holds_the_satellite),
		cmocka_unit_test(satellite_separates_by_energy_and_momentum),
		cmocka_unit_test(panels_latch_and_momentum_stays),
		cmocka_unit_test(cables_synchronise_one_wing),
		cmocka_unit_test(docking_keeps_the_momentum_of_all_three),
		cmocka_unit_test(chaser_leaves_by_the_spring),
		cmocka_unit_test(docking_makes_the_boom_ring),
		cmocka_unit_test(walking_arm_stands_still_where_it_stands),
		cmocka_unit_test(groups_are_switched_and_momentum_is_accounted_for),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
