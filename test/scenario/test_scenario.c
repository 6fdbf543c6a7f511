// SPDX-License-Identifier: Apache-2.0
/*
 * test_scenario.c — events and actions of native files: docking, walking, latches; what is kept and what is reported.
 */
#include "support/interpose.h"

#include "scenario_support.h"

/* ---- docking ------------------------------------------------------------------------------------------- */

static void docking_by_condition_keeps_the_momentum(void **state) {
	(void)state;
	Run r = run_text(FLYERS DOCK "run: {duration: 30 s, max_step: 1 s}\n");
	CalSimBalance before, after;
	assert_int_equal(cal_sim_balance(r.sim, &before), CAL_OK);
	assert_int_equal(cal_sim_group_count(r.sim), 2);
	advance(&r, 30);
	assert_int_equal(cal_sim_balance(r.sim, &after), CAL_OK);
	assert_int_equal(cal_sim_group_count(r.sim), 1);
	assert_int_equal(cal_scenario_entry_count(r.scenario), 1);
	const CalScenarioEntry entry = entry_of(&r, 0);
	assert_string_equal(entry.event, "dock");
	assert_string_equal(entry.text, "attach latch: station/port to probe/tip");
	assert_true(entry.refused == CAL_OK && entry.impulse > 0.1 && entry.time > 5);
	// nothing else takes energy
	assert_near(before.groups - after.groups, entry.kinetic_lost, 1e-12 * before.groups);
	const double scale = 0.5; // 10 kg at 5 cm/s; about the origin at most as many N m s
	assert_near(after.linear.x, before.linear.x, 1e-12 * scale);
	assert_near(after.linear.y, before.linear.y, 1e-12 * scale);
	assert_near(after.linear.z, before.linear.z, 1e-12 * scale);
	assert_near(after.angular.x, before.angular.x, 1e-12 * scale);
	assert_near(after.angular.y, before.angular.y, 1e-12 * scale);
	assert_near(after.angular.z, before.angular.z, 1e-12 * scale);
	run_end(&r);
}

/* The same by calls. */
typedef struct ByCalls {
	CalExpression *formula;
	CalNodeId port, tip;
} ByCalls;

static int distance_value(void *user, CalEvalContext *context, double *value) {
	const ByCalls *own = user;
	return cal_expression_value(own->formula, context, value) != CAL_OK;
}

static double distance_clear(void *user, CalEvalContext *context, double span) {
	const ByCalls *own = user;
	return cal_expression_keeps_sign(own->formula, context, span);
}

static CalStatus dock_by_calls(void *user, CalSim *sim, CalError *error) {
	const ByCalls *own = user;
	CalJointDef latch = cal_joint_def(CAL_JOINT_WELD);
	latch.name = "latch";
	return cal_sim_attach(sim, own->port, &latch, own->tip, &(CalAttachOptions){.fit = CAL_FIT_AT_B}, NULL, NULL,
	                      error);
}

static int bind_formula(const CalDevice *device, const CalEvalContext *context) {
	return cal_expression_bind(((ByCalls **)device->data)[0]->formula, context, NULL) != CAL_OK;
}

static int do_nothing(const CalDevice *device, CalEvalContext *context, double *xdot) {
	(void)device, (void)context, (void)xdot;
	return 0;
}

static void the_same_by_calls_gives_the_same_bits(void **state) {
	(void)state;
	static const CalDeviceOps binder = {.type = "binder", .bind = bind_formula, .evaluate = do_nothing};
	CalError error = {0};
	Run r = run_text(FLYERS "run: {duration: 30 s, max_step: 1 s}\n"),
		from_file = run_text(FLYERS DOCK "run: {duration: 30 s, max_step: 1 s}\n");
	ByCalls own = {0}, *pointer = &own;
	assert_int_equal(cal_expression_create("distance(probe/tip, station/port) < 8 cm", NULL, &own.formula, &error),
	                 CAL_OK);
	own.port = cal_desc_find_node(cal_setup_desc(r.file), "station/port");
	own.tip = cal_desc_find_node(cal_setup_desc(r.file), "probe/tip");
	const CalDeviceDef device = {.name = "binder", .ops = &binder, .data = &pointer, .data_size = sizeof pointer};
	const CalEventDef dock = {.name = "dock",
	                          .value = distance_value,
	                          .event_free = distance_clear,
	                          .direction = 1,
	                          .once = 1,
	                          .level = 1,
	                          .action = dock_by_calls,
	                          .user = &own};
	assert_int_equal(cal_sim_add_device(r.sim, &device, NULL, &error), CAL_OK);
	assert_int_equal(cal_sim_add_event(r.sim, &dock, NULL, &error), CAL_OK);
	assert_int_equal(cal_sim_reserve(r.sim, cal_setup_desc(r.file), &(CalSimCapacity){.joints = 1}, &error), CAL_OK);
	for (int i = 1; i <= 30; i++) {
		advance(&r, i);
		advance(&from_file, i);
		assert_int_equal(cal_sim_group_count(r.sim), cal_sim_group_count(from_file.sim));
		for (int g = 0; g < cal_sim_group_count(r.sim); g++) {
			const CalModel *model = cal_sim_model(r.sim, g);
			const CalState *a = cal_sim_state(r.sim, g), *b = cal_sim_state(from_file.sim, g);
			assert_memory_equal(a->q, b->q, sizeof(double) * (size_t)cal_model_q_count(model));
			assert_memory_equal(a->u, b->u, sizeof(double) * (size_t)cal_model_u_count(model));
		}
	}
	assert_int_equal(cal_sim_group_count(r.sim), 1);
	run_end(&r);
	run_end(&from_file);
	cal_expression_destroy(own.formula);
}

/* ---- walking -------------------------------------------------------------------------------------------- */

static void an_arm_walks_three_steps_and_stops(void **state) {
	(void)state;
	CalSetup *file = NULL;
	CalError error = {0};
	const char *why = NULL;
	if (cal_model_file_read(SOURCE_DIR "/examples/walking_arm.yaml", NULL, &file, &error) != CAL_OK)
		fail_msg("%s", error.text);
	Run r = run_file(file);
	assert_false(cal_scenario_stopped(r.scenario, NULL));
	assert_int_equal(cal_sim_advance(r.sim, cal_setup_run(file).duration, &error), CAL_STOPPED);
	assert_true(cal_scenario_stopped(r.scenario, &why));
	assert_string_equal(why, "the arm stands on port 4");
	assert_int_equal(cal_scenario_entry_count(r.scenario), 10);
	const CalVec3 a = place_of(r.sim, "foot_a/palm"), b = place_of(r.sim, "foot_b/palm");
	assert_near(a.x, 3, 2e-3);
	assert_near(a.z, 0, 2e-3);
	assert_near(b.x, 4, 2e-3);
	assert_near(b.z, 0, 2e-3);
	CalJointState joint;
	int reversed = 0;
	assert_int_equal(cal_sim_joint_state(r.sim, cal_sim_find_joint(r.sim, "grip4"), &joint, NULL), CAL_OK);
	assert_int_equal(joint, CAL_JOINT_IN_TREE);
	assert_int_equal(cal_sim_joint_state(r.sim, cal_sim_find_joint(r.sim, "hold"), &joint, NULL), CAL_OK);
	assert_int_equal(joint, CAL_JOINT_OPEN);
	assert_int_equal(cal_sim_joint_state(r.sim, cal_sim_find_joint(r.sim, "knee"), &joint, &reversed), CAL_OK);
	assert_int_equal(reversed, 1);
	assert_near(angle_of(r.sim, "knee", 0), -120 * acos(-1) / 180, 1e-3); // as the servo's reference counts it
	assert_near(angle_of(r.sim, "wrist_b", 0), 420 * acos(-1) / 180, 1e-3);
	run_end(&r);
}

/* ---- a latch ---------------------------------------------------------------------------------------------- */

static void a_latch_locks_where_the_angle_is_reached(void **state) {
	(void)state;
	Run r = run_text(DOOR "events:\n  latch: {when: q(hinge) >= 30 deg, do: {lock: hinge}}\n"
	                      "  free: {at: 0.9 s, do: [{note: let go}, {unlock: hinge}]}\n");
	advance(&r, 0.8);
	const CalScenarioEntry entry = entry_of(&r, 0);
	assert_near(entry.time, acos(-1) / 6, 1e-11);
	assert_near(angle_of(r.sim, "hinge", 0), acos(-1) / 6, 1e-11);
	assert_near(speed_of(r.sim, "hinge", 0), 0, 0);
	assert_near(entry.kinetic_lost, 0.25, 1e-15);
	advance(&r, 1);
	assert_string_equal(entry_of(&r, 1).text, "note: let go");
	assert_string_equal(entry_of(&r, 2).text, "unlock hinge");
	assert_near(angle_of(r.sim, "hinge", 0), acos(-1) / 6, 1e-11);
	run_end(&r);
}

/* A lock holds against the loads of the file, which push again when it opens. */
static void a_lock_holds_against_loads(void **state) {
	(void)state;
	Run r = run_text(DOOR "loads: [{joint: hinge, effort: 1 N*m}]\n"
	                      "events: {shut: {at: 0.25 s, do: {lock: hinge}}, open: {at: 0.5 s, do: {unlock: hinge}}}\n");
	advance(&r, 0.25);
	assert_near(speed_of(r.sim, "hinge", 0), 0, 0);
	const double angle = angle_of(r.sim, "hinge", 0);
	assert_near(angle, 0.25 + 0.5 * 2 * 0.0625, 1e-12);
	advance(&r, 0.5);
	assert_near(angle_of(r.sim, "hinge", 0), angle, 0);
	advance(&r, 1);
	assert_near(speed_of(r.sim, "hinge", 0), 2 * 0.5, 1e-12);
	run_end(&r);
}

/* A latch on the axis of the only joint on its way: placements cancel to round-off, which is not the size of the loop. */
static void a_latch_on_its_own_axis_closes(void **state) {
	(void)state;
	static const char *const types[] = {"weld", "spherical"};
	for (int i = 0; i < 2; i++) {
		char text[1000];
		snprintf(text, sizeof text,
		         "calder: 1\n"
		         "gravity: [0, 0, -9.81]\n"
		         "bodies: {b: {mass: 0.5, com: [0.1, 0, 0], box: [0.3, 0.2, 0.1], nodes: {end: [0.1, 0.5, 0]}}}\n"
		         "joints: {hinge: {type: revolute, to: b, axis: [0.452412, -0.80743, 0.378657]}}\n"
		         "state: {hinge: {q: 0.3, u: 1}}\n"
		         "events: {meet: {at: 0.2, do: {attach: {type: %s, to: b/end, fit: from}}}}\n",
		         types[i]);
		Run r = run_text(text);
		advance(&r, 0.2);
		const double angle = angle_of(r.sim, "hinge", 0), speed = speed_of(r.sim, "hinge", 0);
		advance(&r, 1);
		if (i == 0)
			assert_near(angle_of(r.sim, "hinge", 0), angle, 1e-12);
		else
			assert_true(fabs(speed) > 0.1 && fabs(angle_of(r.sim, "hinge", 0) - angle) > 0.1);
		run_end(&r);
	}
}

/* ---- loads and names that follow ------------------------------------------------------------------------------- */

static void loads_follow_their_bodies(void **state) {
	(void)state;
	Run r = run_text("calder: 1\n"
	                 "bodies: {a: {mass: 3 kg, inertia: [1, 1, 1]}, b: {mass: 1 kg, inertia: [1, 1, 1]},\n"
	                 "  c: {mass: 1 kg, inertia: [1, 1, 1]}}\n"
	                 "joints: {fly: {type: free, to: a}, tie: {type: weld, from: a, to: b},\n"
	                 "  spin: {type: revolute, from: b, to: c}}\n"
	                 "loads: [{node: b, force: [2 N, 0, 0]}, {joint: spin, effort: 0.1 N*m, start: 1.5 s}]\n"
	                 "events:\n"
	                 "  part: {at: 1 s, do: {detach: tie, group: free}}\n"
	                 "  turn: {at: 1.25 s, do: {reroot: c}}\n"
	                 "run: {duration: 2 s}\n");
	advance(&r, 1);
	const double start = 2.0 / 5; // 2 N on 5 kg for 1 s
	assert_near(speed_of(r.sim, "fly", 0), start, 1e-12);
	advance(&r, 2);
	assert_int_equal(cal_sim_group_count(r.sim), 2);
	assert_near(speed_of(r.sim, "fly", 0), start, 1e-12); // alone now
	const int group = cal_sim_find_group(r.sim, "free");
	CalSimMonitor monitor;
	assert_int_equal(cal_sim_monitor(r.sim, group, &monitor), CAL_OK);
	assert_near(monitor.momentum.linear.x, 2 * (start + 2.0 / 2), 1e-11); // 2 N on 2 kg for 1 s
	assert_near(speed_of(r.sim, "spin", 0), 0.1 * 2 * 0.5, 1e-11);        // on two wheels of 1 kg m^2 for 0.5 s
	run_end(&r);
}

static void dofs_keep_their_numbers_when_a_tree_turns_over(void **state) {
	(void)state;
	Run r = run_text("calder: 1\n"
	                 "bodies: {a: {mass: 3 kg, inertia: [1, 2, 3]}, b: {mass: 1 kg, inertia: [1, 2, 1.5]}}\n"
	                 "joints: {fly: {type: free, to: a}, hook: {type: universal, from: a, to: b, inboard: [1, 0, 0]}}\n"
	                 "state: {hook: {q: [0.3 rad, 0.5 rad], u: [1 rad/s, 2 rad/s]}}\n"
	                 "loads: [{joint: hook, effort: [0.1 N*m, 0.7 N*m]}]\n"
	                 "events: {turn: {at: 0, do: {reroot: b}}}\n"
	                 "run: {duration: 1 s}\n");
	CalSimView view;
	CalDofRef dof_ref;
	double before[2], after[2];
	const CalJointId hook = cal_sim_find_joint(r.sim, "hook");
	for (int turned = 0; turned < 2; turned++) {
		assert_int_equal(cal_sim_observe(r.sim, 0, &view), CAL_OK);
		for (int i = 0; i < 2; i++) {
			assert_true(cal_sim_find_dof(r.sim, hook, i, &dof_ref));
			assert_near(view.state->q[dof_ref.q], i ? 0.5 : 0.3, 0);
			assert_near(view.state->u[dof_ref.u], i ? 2 : 1, 0);
			assert_near(view.input.tau[dof_ref.u], i ? 0.7 : 0.1, 0);
			(turned ? after : before)[i] = view.udot[dof_ref.u];
		}
		advance(&r, 0);
	}
	int reversed = 0;
	assert_int_equal(cal_sim_joint_state(r.sim, hook, &(CalJointState){0}, &reversed), CAL_OK);
	assert_int_equal(reversed, 1);
	assert_near(after[0], before[0], 1e-12);
	assert_near(after[1], before[1], 1e-12);
	assert_false(cal_sim_find_dof(r.sim, hook, 2, &dof_ref));
	run_end(&r);
}

static void objects_are_found_by_name(void **state) {
	(void)state;
	CalNodeId node;
	for (int reserved = 0; reserved < 2; reserved++) {
		Run r = run_text(reserved ? FLYERS DOCK "run: {duration: 1 s}\n" : FLYERS "run: {duration: 1 s}\n");
		assert_true(cal_sim_find_body(r.sim, "probe").value && !cal_sim_find_body(r.sim, "pro").value);
		assert_true(cal_sim_find_joint(r.sim, "visit").value && !cal_sim_find_joint(r.sim, "latch").value);
		assert_true(!cal_sim_find_loop(r.sim, "visit").value);
		assert_true(cal_sim_find_node(r.sim, "probe/tip", &node) && node.value);
		assert_true(cal_sim_find_node(r.sim, "probe", &node) && node.value);
		assert_true(cal_sim_find_node(r.sim, "ground", &node) && !node.value);
		assert_false(cal_sim_find_node(r.sim, "probe/tap", &node));
		assert_false(cal_sim_find_node(r.sim, "nobody", &node));
		run_end(&r);
	}
}

/* ---- log, memory --------------------------------------------------------------------------------------------- */

static void the_log_keeps_the_last_entries(void **state) {
	(void)state;
	Run r = run_text(DOOR "events: {tick: {every: 0.5 ms, do: {note: tick}}}\n");
	CalScenarioEntry entry;
	advance(&r, 1);
	assert_int_equal(cal_scenario_entry_count(r.scenario), 2000);
	assert_int_equal(cal_scenario_dropped(r.scenario), 2000 - CAL_SCENARIO_LOG);
	assert_int_equal(cal_scenario_entry(r.scenario, 2000 - CAL_SCENARIO_LOG - 1, &entry), CAL_ERR_ARGUMENT);
	assert_int_equal(cal_scenario_entry(r.scenario, 2000, &entry), CAL_ERR_ARGUMENT);
	assert_near(entry_of(&r, 2000 - CAL_SCENARIO_LOG).time, 0.5e-3 * (2000 - CAL_SCENARIO_LOG + 1), 1e-12);
	assert_near(entry_of(&r, 1999).time, 1, 1e-12);
	run_end(&r);
}

static void actions_are_listed(void **state) {
	(void)state;
	Run r = run_text(DOOR "events:\n  a: {at: 1 s}\n  b: {at: 2 s, do: [{lock: hinge, dof: 1}, {stop: true}]}\n");
	const char *event, *text;
	assert_int_equal(cal_scenario_action_count(r.scenario), 3);
	static const char *const want[][2] = {{"a", ""}, {"b", "lock hinge, degree of freedom 1"}, {"b", "stop"}};
	for (int i = 0; i < 3; i++) {
		assert_int_equal(cal_scenario_action(r.scenario, i, &event, &text), CAL_OK);
		assert_string_equal(event, want[i][0]);
		assert_string_equal(text, want[i][1]);
	}
	assert_int_equal(cal_scenario_action(r.scenario, 3, NULL, NULL), CAL_ERR_ARGUMENT);
	run_end(&r);
}

static void a_scenario_may_be_made_again_in_the_middle(void **state) {
	(void)state;
	Run r = run_text(FLYERS DOCK "loads: [{node: probe, force: [1 mN, 0, 0]}]\nrun: {duration: 30 s, max_step: 1 s}\n");
	advance(&r, 20);
	assert_int_equal(cal_scenario_resume(r.scenario), CAL_OK);
	advance(&r, 30);
	assert_int_equal(cal_scenario_entry_count(r.scenario), 1);
	run_end(&r);
}

static void nothing_allocates_in_the_run(void **state) {
	(void)state;
	if (!interpose_active())
		skip();
	Run r = run_text(
		FLYERS "loads: [{node: probe, force: [1 mN, 0, 0]}]\n"
			   "devices: {jet: {type: thruster, node: probe, thrust: 1 mN, throttle: 1}}\n"
			   "events:\n"
			   "  dock:\n"
			   "    when: distance(probe/tip, station/port) < 8 cm\n"
			   "    once: false\n"
			   "    do: [{attach: {name: latch, from: station/port, to: probe/tip, fit: to}}, {switch_off: jet}]\n"
			   "  part: {after: dock, delay: 1 s, once: false, do: {detach: latch, group: visitor}}\n"
			   "  cube: {at: 3 s, do: {add_body: {name: cube, mass: 1 kg, box: [1, 1, 1]}}}\n"
			   "run: {duration: 30 s, max_step: 1 s}\n");
	interpose_begin(0);
	const CalStatus status = cal_sim_advance(r.sim, 30, &r.error);
	const Interpose seen = interpose_end();
	if (status != CAL_OK)
		fail_msg("%s", r.error.text);
	assert_int_equal(seen.calls, 0);
	assert_true(cal_scenario_entry_count(r.scenario) >= 4);
	run_end(&r);
}

int main(void) {
	NEEDS_YAML();
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(docking_by_condition_keeps_the_momentum),
		cmocka_unit_test(the_same_by_calls_gives_the_same_bits),
		cmocka_unit_test(an_arm_walks_three_steps_and_stops),
		cmocka_unit_test(a_latch_locks_where_the_angle_is_reached),
		cmocka_unit_test(a_lock_holds_against_loads),
		cmocka_unit_test(a_latch_on_its_own_axis_closes),
		cmocka_unit_test(loads_follow_their_bodies),
		cmocka_unit_test(dofs_keep_their_numbers_when_a_tree_turns_over),
		cmocka_unit_test(objects_are_found_by_name),
		cmocka_unit_test(the_log_keeps_the_last_entries),
		cmocka_unit_test(actions_are_listed),
		cmocka_unit_test(a_scenario_may_be_made_again_in_the_middle),
		cmocka_unit_test(nothing_allocates_in_the_run),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
