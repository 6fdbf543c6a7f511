// SPDX-License-Identifier: Apache-2.0
/*
 * test_transition_cases.c — changes of topology whose result is known: docking in closed form, an arm that walks end over
 * end, a latch, gears; what is refused and how it is reported; no allocation, and no memory lost, however often.
 */
#include "support/interpose.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include <calder/calder.h>
#include "support/small_system.h"

static CalPose pose_of(CalSim *sim, CalNodeId node) {
	CalPose pose = {0};
	for (int g = 0; g < cal_sim_group_count(sim); g++) {
		CalSimView view;
		const int index = cal_model_node_index(cal_sim_model(sim, g), node);
		CalNodeInfo info;
		if (index < 0 || cal_model_node(cal_sim_model(sim, g), index, &info) != CAL_OK || info.body < 0)
			continue;
		check_ok(0, cal_sim_observe(sim, g, &view));
		check_ok(0, cal_node_pose(view.model, view.work, index, &pose));
	}
	return pose;
}

static CalJointState state_of(const System *s, CalJointId joint) {
	CalJointState state = CAL_JOINT_OPEN;
	check_ok(0, cal_sim_joint_state(s->sim, joint, &state, NULL));
	return state;
}

/* ---- docking ------------------------------------------------------------------------------------------------ */

/* Two bodies that fly towards each other: 3 kg at 1 m/s, 1 kg at rest; after it both at 0.75 m/s, 3/8 J are lost. */
typedef struct Docking {
	System s;
	CalNodeId port[2];
	CalBodyId body[2];
} Docking;

static Docking docking_create(const CalSimCapacity *capacity) {
	Docking d = {.s = system_begin()};
	const uint32_t other = add_group(&d.s, "other").value;
	d.body[0] = add_box(&d.s, "chaser", 1, 3), d.body[1] = add_box(&d.s, "target", other, 1);
	d.port[0] = add_node(&d.s, d.body[0], "port", (CalVec3){0.5, 0, 0});
	d.port[1] = add_node(&d.s, d.body[1], "port", (CalVec3){-0.5, 0, 0});
	join(&d.s, (CalNodeId){0}, CAL_JOINT_FREE, "f0", cal_desc_body_node(d.s.desc, d.body[0]));
	join(&d.s, (CalNodeId){0}, CAL_JOINT_FREE, "f1", cal_desc_body_node(d.s.desc, d.body[1]));
	system_start(&d.s, capacity);
	cal_sim_state(d.s.sim, 0)->u[0] = 1;
	cal_sim_state(d.s.sim, 1)->q[0] = 1;
	check_ok(0, cal_sim_restart(d.s.sim, &d.s.error));
	return d;
}

static void docking_conserves_what_it_must(void **state) {
	(void)state;
	Docking d = docking_create(&(CalSimCapacity){.groups = 1, .joints = 1});
	CalJointDef latch = cal_joint_def(CAL_JOINT_WELD);
	CalJointId id;
	CalTransition t;
	double before, after, lost = 0.375, force = 0.75;
	const CalMomentum p = momentum(d.s.sim, &before);
	latch.name = "latch";
	check_ok(0, cal_sim_attach(d.s.sim, d.port[0], &latch, d.port[1], NULL, &id, &t, &d.s.error));
	const CalMomentum p1 = momentum(d.s.sim, &after);
	assert_int_equal(cal_sim_group_count(d.s.sim), 1);
	assert_true(t.group == 0 && t.other == -1 && state_of(&d.s, id) == CAL_JOINT_IN_TREE);
	check_close(0, "energy lost", 1, &t.kinetic_lost, &lost, 1e-14);
	check_close(0, "impulse", 1, &t.impulse.linear.x, &force, 1e-14);
	check_close_scaled(0, "linear", 3, &p1.linear.x, &p.linear.x, 1, 1e-14);
	check_close_scaled(0, "angular", 3, &p1.angular_origin.x, &p.angular_origin.x, 1, 1e-14);
	assert_true(fabs(before - after - lost) < 1e-14);
	assert_true(fabs(cal_sim_state(d.s.sim, 0)->u[0] - 0.75) < 1e-14);
	// the group that was emptied may be named again
	check_ok(0, cal_sim_detach(d.s.sim, id, "other", &t, &d.s.error));
	assert_true(t.group == 0 && t.other == 1 && t.kinetic_lost == 0 && cal_sim_group_count(d.s.sim) == 2);
	assert_int_equal(cal_sim_group_of(d.s.sim, d.body[1]), 1);
	check_ok(0, cal_sim_advance(d.s.sim, 0.01, &d.s.error));
	check_ok(0, cal_sim_reattach(d.s.sim, id, NULL, &t, &d.s.error));
	assert_true(fabs(t.kinetic_lost) < 1e-14);
	system_end(&d.s);
}

static void changes_do_not_allocate_nor_lose_memory(void **state) {
	(void)state;
	if (!interpose_active())
		skip();
	Docking d = docking_create(&(CalSimCapacity){.groups = 1, .joints = 1});
	CalJointDef latch = cal_joint_def(CAL_JOINT_REVOLUTE);
	CalJointId id;
	CalTransition t;
	latch.name = "latch";
	interpose_begin(0);
	CalStatus status = cal_sim_attach(d.s.sim, d.port[0], &latch, d.port[1], NULL, &id, &t, &d.s.error);
	size_t left = 0;
	for (int i = 0; i < 500 && status == CAL_OK; i++) {
		status = cal_sim_reroot(d.s.sim, d.body[1], &t, &d.s.error);
		if (status == CAL_OK)
			status = cal_sim_lock(d.s.sim, id, -1, &t, &d.s.error);
		if (status == CAL_OK)
			status = cal_sim_unlock(d.s.sim, id, 0, &t, &d.s.error);
		if (status == CAL_OK)
			status = cal_sim_detach(d.s.sim, id, i % 2 ? "other" : "part", &t, &d.s.error);
		if (status == CAL_OK)
			status = cal_sim_reattach(d.s.sim, id, NULL, &t, &d.s.error);
		if (i == 10)
			left = cal_sim_memory_left(d.s.sim);
	}
	const Interpose seen = interpose_end();
	if (status != CAL_OK)
		fail_msg("%s", d.s.error.text);
	assert_int_equal(seen.calls, 0);
	const size_t now = cal_sim_memory_left(d.s.sim); // up to the tags of pieces that are placed otherwise
	assert_true(now + 4096 > left && left + 4096 > now);
	system_end(&d.s);
}

/* ---- an arm that walks -------------------------------------------------------------------------------------------- */

/* Two links of 1 m on the ground; feet are 1 m apart. */
static void an_arm_walks_end_over_end(void **state) {
	(void)state;
	System s = system_begin();
	const CalBodyId lower = add_box(&s, "lower", 1, 2), upper = add_box(&s, "upper", 1, 1);
	const CalNodeId ends[2] = {add_node(&s, lower, "hand", (CalVec3){0, 0, 0}),
	                           add_node(&s, upper, "hand", (CalVec3){1, 0, 0})};
	const CalNodeId elbow[2] = {add_node(&s, lower, "elbow", (CalVec3){1, 0, 0}),
	                            add_node(&s, upper, "elbow", (CalVec3){0, 0, 0})};
	CalJointId hold[2] = {join(&s, (CalNodeId){0}, CAL_JOINT_REVOLUTE, "grip", ends[0])};
	const CalJointId knee = join(&s, elbow[0], CAL_JOINT_REVOLUTE, "knee", elbow[1]);
	CalTransition t;
	system_start(&s, &(CalSimCapacity){.joints = 8});
	CalState *at = cal_sim_state(s.sim, 0);
	at->q[0] = 1, at->q[1] = -2, at->u[0] = 0.3, at->u[1] = -0.4;
	for (int step = 0; step < 4; step++) {
		const int foot = step % 2, hand = 1 - foot;
		char name[16];
		CalJointDef grip = cal_joint_def(CAL_JOINT_REVOLUTE);
		double before, after;
		int reversed;
		snprintf(name, sizeof name, "grip%d", step);
		grip.name = name;
		const CalVec3 where = pose_of(s.sim, ends[hand]).r, elbow_at = pose_of(s.sim, elbow[1]).r;
		check_ok(0, cal_sim_attach(s.sim, (CalNodeId){0}, &grip, ends[hand], &(CalAttachOptions){.fit = CAL_FIT_AT_B},
		                           &hold[hand], &t, &s.error));
		assert_int_equal(state_of(&s, hold[hand]), CAL_JOINT_IN_LOOP); // both ends are on the ground
		assert_true(t.kinetic_lost >= 0);
		momentum(s.sim, &before);
		if (step % 3 == 1) // with or without turning it over beforehand
			check_ok(0, cal_sim_reroot(s.sim, hand ? upper : lower, &t, &s.error));
		check_ok(0, cal_sim_detach(s.sim, hold[foot], NULL, &t, &s.error));
		momentum(s.sim, &after);
		assert_true(t.other == -1 && cal_sim_group_count(s.sim) == 1);
		assert_int_equal(state_of(&s, hold[hand]), CAL_JOINT_IN_TREE);
		assert_int_equal(state_of(&s, hold[foot]), CAL_JOINT_OPEN);
		assert_int_equal(cal_model_u_count(cal_sim_model(s.sim, 0)), 2);
		assert_int_equal(cal_model_row_count(cal_sim_model(s.sim, 0)), 0);
		check_ok(0, cal_sim_joint_state(s.sim, knee, &(CalJointState){0}, &reversed));
		assert_int_equal(reversed, hand == 1); // the hand that holds carries the arm
		check_close_scaled(0, "energy", 1, &after, &before, 1, 1e-13);
		const CalVec3 now = pose_of(s.sim, ends[hand]).r, elbow_now = pose_of(s.sim, elbow[1]).r;
		check_close_scaled(0, "hand", 3, &now.x, &where.x, 1, 1e-13);
		check_close_scaled(0, "elbow", 3, &elbow_now.x, &elbow_at.x, 1, 1e-13);
		check_ok(0, cal_sim_advance(s.sim, 0.05 * (step + 1), &s.error));
		const CalVec3 held = pose_of(s.sim, ends[hand]).r;
		check_close_scaled(0, "the hand stays", 3, &held.x, &where.x, 1, 1e-12);
	}
	system_end(&s);
}

/* ---- loops and gears ------------------------------------------------------------------------------------------------ */

typedef struct Train {
	System s;
	CalBodyId body[3];
	CalJointId joint[3];
	CalNodeId tip;
} Train;

/* Three links in a row on a free body, geared 1 to 2 between the last two. */
static Train train_create(CalLoopId *gear, const CalSimCapacity *capacity) {
	Train t = {.s = system_begin()};
	CalLoopDef def = cal_loop_def(CAL_LOOP_COUPLING);
	const char *const names[] = {"a", "b", "c"}, *const joints[] = {"ja", "jb", "jc"};
	CalNodeId on = {0};
	for (int i = 0; i < 3; i++) {
		t.body[i] = add_box(&t.s, names[i], 1, 1 + i);
		t.joint[i] =
			join(&t.s, on, i ? CAL_JOINT_REVOLUTE : CAL_JOINT_FREE, joints[i], cal_desc_body_node(t.s.desc, t.body[i]));
		on = add_node(&t.s, t.body[i], "tip", (CalVec3){1, 0.2, 0});
	}
	t.tip = on;
	def.name = "gear";
	def.term_count = 2;
	def.term[0] = (CalLoopTerm){t.body[1], 0, 2};
	def.term[1] = (CalLoopTerm){t.body[2], 0, -1};
	check_ok(0, cal_desc_close_loop(t.s.desc, (CalNodeId){0}, &def, (CalNodeId){0}, gear, &t.s.error));
	system_start(&t.s, capacity);
	return t;
}

static void a_gear_stays_when_its_tree_turns_over(void **state) {
	(void)state;
	CalLoopId gear;
	Train t = train_create(&gear, &(CalSimCapacity){.groups = 1});
	CalTransition report;
	CalState *at = cal_sim_state(t.s.sim, 0);
	double before, after, g, rate;
	at->q[7] = 0.3, at->q[8] = 0.6, at->u[6] = 1, at->u[7] = 2, at->u[4] = 0.5;
	check_ok(0, cal_sim_restart(t.s.sim, &t.s.error));
	const CalMomentum p = momentum(t.s.sim, &before);
	check_ok(0, cal_sim_reroot(t.s.sim, t.body[2], &report, &t.s.error));
	const CalMomentum p1 = momentum(t.s.sim, &after);
	CalSimView view;
	check_ok(0, cal_sim_observe(t.s.sim, 0, &view));
	check_ok(0, cal_loop_residual(view.model, view.state, view.work, &g, &rate));
	assert_true(fabs(g) < 1e-14 && fabs(rate) < 1e-14);
	check_close(0, "energy", 1, &after, &before, 1e-13);
	check_close_scaled(0, "angular", 3, &p1.angular_origin.x, &p.angular_origin.x, 1, 1e-13);
	// without one of its joints it cannot be
	assert_int_equal(cal_sim_detach(t.s.sim, t.joint[2], "part", &report, &t.s.error), CAL_ERR_MODEL);
	assert_non_null(strstr(t.s.error.text, "gear"));
	check_ok(0, cal_sim_open_loop(t.s.sim, gear, &report, &t.s.error));
	check_ok(0, cal_sim_detach(t.s.sim, t.joint[2], "part", &report, &t.s.error));
	assert_int_equal(cal_sim_detach(t.s.sim, t.joint[1], "part2", &report, &t.s.error), CAL_ERR_MEMORY);
	assert_non_null(strstr(t.s.error.text, "CalSimCapacity.groups"));
	check_ok(0, cal_sim_reattach(t.s.sim, t.joint[2], NULL, &report, &t.s.error));
	check_ok(0, cal_sim_reclose_loop(t.s.sim, gear, &report, &t.s.error));
	assert_true(fabs(report.kinetic_lost) < 1e-14);
	system_end(&t.s);
}

static void a_latch_stops_what_it_holds(void **state) {
	(void)state;
	CalLoopId gear;
	Train t = train_create(&gear, &(CalSimCapacity){.loops = 1});
	CalTransition report;
	CalLoopDef stop = cal_loop_def(CAL_LOOP_COUPLING);
	CalLoopId id;
	double before, after;
	CalState *at = cal_sim_state(t.s.sim, 0);
	at->u[6] = 1, at->u[7] = 2;
	check_ok(0, cal_sim_restart(t.s.sim, &t.s.error));
	const CalMomentum p = momentum(t.s.sim, &before);
	stop.name = "stop";
	stop.term_count = 1;
	stop.term[0] = (CalLoopTerm){t.body[1], 0, 1};
	if (cal_sim_close_loop(t.s.sim, (CalNodeId){0}, &stop, (CalNodeId){0}, &id, &report, &t.s.error) != CAL_OK)
		fail_msg("%s", t.s.error.text);
	const CalMomentum p1 = momentum(t.s.sim, &after);
	at = cal_sim_state(t.s.sim, 0);
	assert_true(fabs(at->u[6]) < 1e-14 && fabs(at->u[7]) < 1e-14 && report.kinetic_lost > 0.01);
	assert_true(fabs(before - after - report.kinetic_lost) < 1e-13);
	check_close_scaled(0, "linear", 3, &p1.linear.x, &p.linear.x, 1, 1e-14);
	check_close_scaled(0, "angular", 3, &p1.angular_origin.x, &p.angular_origin.x, 1, 1e-14);
	check_ok(0, cal_sim_lock(t.s.sim, t.joint[1], 0, &report, &t.s.error));
	assert_true(cal_sim_state(t.s.sim, 0)->u[6] == 0);
	system_end(&t.s);
}

/* ---- refusals ------------------------------------------------------------------------------------------------------- */

static void expect(CalStatus got, CalStatus want, const CalError *error, const char *word) {
	if (got != want || !strstr(error->text, word))
		fail_msg("status %d (wanted %d), \"%s\" lacks \"%s\"", got, want, error->text, word);
}

static void wrong_changes_are_refused_by_name(void **state) {
	(void)state;
	Docking d = docking_create(&(CalSimCapacity){.groups = 1, .joints = 2});
	CalSim *sim = d.s.sim;
	CalError *e = &d.s.error;
	CalJointDef weld = cal_joint_def(CAL_JOINT_WELD);
	CalJointId id;
	CalBodyId none;
	expect(cal_sim_attach(sim, d.port[0], &weld, d.port[1], NULL, &id, NULL, e), CAL_ERR_ARGUMENT, e, "name");
	weld.name = "w";
	expect(cal_sim_attach(sim, d.port[0], &weld, d.port[0], NULL, &id, NULL, e), CAL_ERR_MODEL, e, "itself");
	expect(cal_sim_attach(sim, d.port[0], &weld, cal_desc_body_node(d.s.desc, d.body[0]), NULL, &id, NULL, e),
	       CAL_ERR_MODEL, e, "itself");
	expect(cal_sim_attach(sim, (CalNodeId){0}, &weld, (CalNodeId){0}, NULL, &id, NULL, e), CAL_ERR_MODEL, e, "ground");
	expect(cal_sim_attach(sim, d.port[0], &weld, (CalNodeId){99}, NULL, &id, NULL, e), CAL_ERR_ARGUMENT, e, "node");
	expect(cal_sim_attach(sim, (CalNodeId){0}, &weld, d.port[1], NULL, &id, NULL, e), CAL_ERR_MODEL, e, "off by");
	weld.name = "f0";
	expect(cal_sim_attach(sim, d.port[0], &weld, d.port[1], NULL, &id, NULL, e), CAL_ERR_MODEL, e, "in use");
	expect(cal_sim_detach(sim, (CalJointId){77}, "x", NULL, e), CAL_ERR_ARGUMENT, e, "joint");
	expect(cal_sim_detach(sim, (CalJointId){1}, "x", NULL, e), CAL_ERR_MODEL, e, "flies freely");
	expect(cal_sim_reattach(sim, (CalJointId){1}, NULL, NULL, e), CAL_ERR_MODEL, e, "not open");
	expect(cal_sim_reroot(sim, (CalBodyId){9}, NULL, e), CAL_ERR_ARGUMENT, e, "body");
	expect(cal_sim_lock(sim, (CalJointId){1}, 6, NULL, e), CAL_ERR_ARGUMENT, e, "6 degrees of freedom");
	expect(cal_sim_open_loop(sim, (CalLoopId){1}, NULL, e), CAL_ERR_ARGUMENT, e, "loop");
	CalNewBody made = {.body = {.name = "new", .mass = 1}, .group = "g"};
	expect(cal_sim_add_body(sim, &made, &none, NULL, NULL, e), CAL_ERR_MEMORY, e, "CalSimCapacity.bodies");
	weld.name = "w1";
	check_ok(0, cal_sim_attach(sim, d.port[0], &weld, d.port[1], NULL, &id, NULL, e));
	expect(cal_sim_detach(sim, id, NULL, NULL, e), CAL_ERR_ARGUMENT, e, "name");
	expect(cal_sim_detach(sim, id, "main", NULL, e), CAL_ERR_MODEL, e, "main");
	weld.name = "w2"; // a second weld of the same two bodies is a loop, redundant and all
	CalJointId second;
	check_ok(0, cal_sim_attach(sim, d.port[1], &weld, d.port[0], NULL, &second, NULL, e));
	assert_int_equal(state_of(&d.s, second), CAL_JOINT_IN_LOOP);
	weld.name = "w3";
	expect(cal_sim_attach(sim, d.port[1], &weld, d.port[0], NULL, &second, NULL, e), CAL_ERR_MEMORY, e,
	       "CalSimCapacity.joints");
	expect(cal_sim_remove_body(sim, d.body[1], NULL, e), CAL_ERR_MODEL, e, "w2");
	system_end(&d.s);
}

static void a_weld_inside_a_loop_is_not_detached(void **state) {
	(void)state;
	Docking d = docking_create(&(CalSimCapacity){.groups = 1, .joints = 1, .loops = 1});
	CalSim *sim = d.s.sim;
	CalJointDef weld = cal_joint_def(CAL_JOINT_WELD);
	CalLoopDef rod = cal_loop_def(CAL_LOOP_DISTANCE);
	CalJointId id;
	CalLoopId loop;
	weld.name = "w", rod.name = "rod", rod.length = 1;
	check_ok(0, cal_sim_attach(sim, d.port[0], &weld, d.port[1], NULL, &id, NULL, &d.s.error));
	const CalNodeId a = cal_desc_body_node(d.s.desc, d.body[0]), b = cal_desc_body_node(d.s.desc, d.body[1]);
	check_ok(0, cal_sim_close_loop(sim, a, &rod, b, &loop, NULL, &d.s.error));
	expect(cal_sim_detach(sim, id, "part", NULL, &d.s.error), CAL_ERR_MODEL, &d.s.error, "rod");
	assert_int_equal(state_of(&d.s, id), CAL_JOINT_IN_TREE);
	check_ok(0, cal_sim_open_loop(sim, loop, NULL, &d.s.error));
	check_ok(0, cal_sim_detach(sim, id, "part", NULL, &d.s.error));
	expect(cal_sim_reclose_loop(sim, loop, NULL, &d.s.error), CAL_ERR_MODEL, &d.s.error, "two groups");
	system_end(&d.s);
}

/* Whatever runs out of memory, the simulation continues as it was. */
static void too_little_memory_changes_nothing(void **state) {
	(void)state;
	int refused = 0, done = 0;
	for (size_t memory = 20000; memory < 400000 && done < 3; memory += memory / 16) {
		System s = system_begin();
		const CalBodyId body = add_box(&s, "a", 1, 1), other = add_box(&s, "b", 1, 1);
		join(&s, (CalNodeId){0}, CAL_JOINT_FREE, "ja", cal_desc_body_node(s.desc, body));
		const CalJointId j =
			join(&s, cal_desc_body_node(s.desc, body), CAL_JOINT_REVOLUTE, "jb", cal_desc_body_node(s.desc, other));
		const CalSimOptions options = {.method = {.method = CAL_METHOD_RK4, .step = 1e-3}};
		check_ok(0, cal_sim_create(s.desc, &options, &s.sim, &s.error));
		const CalStatus reserved =
			cal_sim_reserve(s.sim, s.desc, &(CalSimCapacity){.groups = 1, .memory = memory}, &s.error);
		if (reserved == CAL_OK) {
			const CalStatus status = cal_sim_detach(s.sim, j, "part", NULL, &s.error);
			if (status != CAL_OK)
				expect(status, CAL_ERR_MEMORY, &s.error, "CalSimCapacity.memory");
			refused += status != CAL_OK;
			done += status == CAL_OK;
			assert_int_equal(cal_sim_group_count(s.sim), status == CAL_OK ? 2 : 1);
		} else {
			assert_int_equal(reserved, CAL_ERR_MEMORY);
		}
		check_ok(0, cal_sim_advance(s.sim, 0.01, &s.error));
		system_end(&s);
	}
	assert_true(refused > 2 && done == 3);
}

static void what_is_not_prepared_says_so(void **state) {
	(void)state;
	System s = system_begin();
	const CalBodyId body = add_box(&s, "a", 1, 1);
	join(&s, (CalNodeId){0}, CAL_JOINT_FREE, "ja", cal_desc_body_node(s.desc, body));
	const CalSimOptions options = {.method = {.method = CAL_METHOD_RK4, .step = 1e-3}};
	check_ok(0, cal_sim_create(s.desc, &options, &s.sim, &s.error));
	expect(cal_sim_reroot(s.sim, body, NULL, &s.error), CAL_ERR_ARGUMENT, &s.error, "cal_sim_reserve");
	assert_int_equal(cal_sim_memory_left(s.sim), 0);
	check_ok(0, cal_sim_reserve(s.sim, s.desc, NULL, &s.error));
	expect(cal_sim_reserve(s.sim, s.desc, NULL, &s.error), CAL_ERR_ARGUMENT, &s.error, "already");
	expect(cal_sim_remove_body(s.sim, body, NULL, &s.error), CAL_ERR_MODEL, &s.error, "last");
	assert_true(cal_sim_memory_left(s.sim) > 0);
	system_end(&s);
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(docking_conserves_what_it_must),
		cmocka_unit_test(changes_do_not_allocate_nor_lose_memory),
		cmocka_unit_test(an_arm_walks_end_over_end),
		cmocka_unit_test(a_gear_stays_when_its_tree_turns_over),
		cmocka_unit_test(a_latch_stops_what_it_holds),
		cmocka_unit_test(wrong_changes_are_refused_by_name),
		cmocka_unit_test(a_weld_inside_a_loop_is_not_detached),
		cmocka_unit_test(too_little_memory_changes_nothing),
		cmocka_unit_test(what_is_not_prepared_says_so),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
