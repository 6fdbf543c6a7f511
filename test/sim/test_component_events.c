// SPDX-License-Identifier: Apache-2.0
/*
 * test_component_events.c — impulses, locks, propagation, checkpoints and components that are let go: what happens to the same
 * machine written flat.
 */
#define _POSIX_C_SOURCE 200809L // fmemopen

#include "component_machine.h"

static void reserve(Machine *m) {
	CalError error;
	if (cal_sim_reserve(m->sim, cal_setup_desc(m->setup), &(CalSimCapacity){.joints = 4}, &error) != CAL_OK)
		fail_msg("%s", error.text);
}

/* Ties the load to the tip as they are, and returns the joint. */
static CalJointId attach(Machine *m, CalTransition *report) {
	CalJointId joint;
	CalError error;
	CalJointDef def = cal_joint_def(CAL_JOINT_WELD);
	def.name = "catch";
	if (cal_sim_attach(m->sim, node_id(m, "fore/tip"), &def, node_id(m, "load"),
	                   &(CalAttachOptions){.fit = CAL_FIT_AT_B}, &joint, report, &error) != CAL_OK)
		fail_msg("%s", error.text);
	return joint;
}

static void impulses_pass_through_components(void **state) {
	(void)state;
	const CalSimOptions options = precise();
	Machine flat = machine_of(SPACE_FLAT(""), &options), parts = machine_of(SPACE_PARTS(""), &options);
	Machine *const both[] = {&flat, &parts};
	CalTransition report[2], lock[2];
	CalSimBalance before, after;
	CalJointId joint[2];
	CalError error;
	assert_int_equal(cal_sim_group_count(flat.sim), 2);
	assert_int_equal(cal_sim_group_count(parts.sim), 3);
	for (int i = 0; i < 2; i++) {
		reserve(both[i]);
		advance(both[i], 1);
		assert_int_equal(cal_sim_balance(both[i]->sim, &before), CAL_OK);
		joint[i] = attach(both[i], &report[i]);
		assert_int_equal(cal_sim_balance(both[i]->sim, &after), CAL_OK);
		assert_true(fabs(after.linear.x - before.linear.x) < 1e-12 && fabs(after.angular.y - before.angular.y) < 1e-11);
		assert_true(fabs(after.error) < 1e-10);
	}
	AGREE(flat, parts, space_nodes, 0, 18, 1e-10);
	assert_true(report[0].kinetic_lost > 0.1 && fabs(report[0].kinetic_lost - report[1].kinetic_lost) < 1e-9);
	for (int i = 0; i < 2; i++) {
		advance(both[i], 2);
		if (cal_sim_lock(both[i]->sim, cal_sim_find_joint(both[i]->sim, "elbow"), -1, &lock[i], &error) != CAL_OK)
			fail_msg("%s", error.text);
	}
	AGREE(flat, parts, space_nodes, 0, 18, 1e-9);
	assert_true(lock[0].kinetic_lost > 1e-4 && fabs(lock[0].kinetic_lost - lock[1].kinetic_lost) < 1e-9);
	for (int i = 0; i < 2; i++) {
		advance(both[i], 3);
		if (cal_sim_detach(both[i]->sim, joint[i], "load", NULL, &error) != CAL_OK)
			fail_msg("%s", error.text);
		advance(both[i], 4);
	}
	AGREE(flat, parts, space_nodes, 0, 18, 1e-9);
	assert_int_equal(cal_sim_balance(parts.sim, &after), CAL_OK);
	assert_true(after.complete && fabs(after.error) < 1e-8);
	machine_free(&flat);
	machine_free(&parts);
}

/* Attach, lock and detach; the status of the first that fails. */
static CalStatus change_topology(Machine *m, CalError *error) {
	CalJointDef def = cal_joint_def(CAL_JOINT_WELD);
	CalNodeId tip = {0}, load = {0};
	CalJointId joint;
	def.name = "catch";
	cal_sim_find_node(m->sim, "fore/tip", &tip);
	cal_sim_find_node(m->sim, "load", &load);
	CalStatus status = cal_sim_advance(m->sim, 1, error);
	if (status == CAL_OK)
		status = cal_sim_attach(m->sim, tip, &def, load, &(CalAttachOptions){.fit = CAL_FIT_AT_B}, &joint, NULL, error);
	if (status == CAL_OK)
		status = cal_sim_advance(m->sim, 2, error);
	if (status == CAL_OK)
		status = cal_sim_lock(m->sim, cal_sim_find_joint(m->sim, "elbow"), -1, NULL, error);
	if (status == CAL_OK)
		status = cal_sim_advance(m->sim, 3, error);
	if (status == CAL_OK)
		status = cal_sim_detach(m->sim, joint, "load", NULL, error);
	return status == CAL_OK ? cal_sim_advance(m->sim, 4, error) : status;
}

static void change_on_rank(void *user, const CalTransport *transport) {
	RankRuns *runs = user;
	Machine *m = &runs->machine[transport->rank];
	CalError *error = &runs->error[transport->rank];
	const CalSimOptions options = precise();
	const CalDistribution how = {.transport = transport, .branches = RANKS, .forced = 1};
	CalStatus status = machine_try(SPACE_PARTS(""), &options, m, error);
	if (status == CAL_OK)
		status = cal_sim_reserve(m->sim, cal_setup_desc(m->setup), &(CalSimCapacity){.joints = 4}, error);
	if (status == CAL_OK)
		status = cal_sim_distribute(m->sim, &how, error);
	runs->status[transport->rank] = status == CAL_OK ? change_topology(m, error) : status;
}

/* All ranks make the same changes and divide the groups anew. */
static void components_change_their_topology_on_ranks(void **state) {
	(void)state;
	const CalSimOptions options = precise();
	Machine flat = machine_of(SPACE_FLAT(""), &options);
	RankRuns runs = {0};
	CalError error;
	reserve(&flat);
	assert_int_equal(change_topology(&flat, &error), CAL_OK);
	thread_ranks_run(RANKS, change_on_rank, &runs);
	for (int r = 0; r < RANKS; r++) {
		if (runs.status[r] != CAL_OK)
			fail_msg("rank %d: %s", r, runs.error[r].text);
		AGREE(flat, runs.machine[r], space_nodes, 0, 18, 1e-9);
		machine_free(&runs.machine[r]);
	}
	machine_free(&flat);
}

/* Right after an attachment between the component and the one that carries it, both sides of its tie are in one group. */
static void a_component_may_join_its_carrier(void **state) {
	(void)state;
	const CalSimOptions options = precise();
	Machine flat = machine_of(SPACE_FLAT(""), &options), parts = machine_of(SPACE_PARTS(""), &options);
	Machine *const both[] = {&flat, &parts};
	for (int i = 0; i < 2; i++) {
		CalJointDef def = cal_joint_def(CAL_JOINT_SPHERICAL);
		CalError error;
		def.name = "stay";
		reserve(both[i]);
		if (cal_sim_attach(both[i]->sim, node_id(both[i], "hub"), &def, node_id(both[i], "fore/tip"),
		                   &(CalAttachOptions){.fit = CAL_FIT_AT_B}, NULL, NULL, &error) != CAL_OK)
			fail_msg("%s", error.text);
	}
	assert_int_equal(cal_sim_group_count(parts.sim), 2);
	AGREE(flat, parts, space_nodes, 12, 24, 1e-11);
	for (int i = 0; i < 2; i++)
		advance(both[i], 1);
	AGREE(flat, parts, space_nodes, 0, 18, 1e-9);
	machine_free(&flat);
	machine_free(&parts);
}

/* The only flexible body, as a component or in the machine's own group, stops to bend and bends again. */
static void a_component_may_be_rigid_for_a_while(void **state) {
	(void)state;
	CalTransition report[2];
	Machine m[2];
	for (int k = 0; k < 2; k++) {
		m[k] = layout_machine(k ? layouts[1] : (Layout){"false", "false", 1, 0}, 2, 1);
		CalError error;
		const char *const name = k ? "left/boom" : "main";
		advance(&m[k], 0.1);
		for (int i = 0; i < 2; i++) {
			const CalPropagation as = i ? CAL_PROPAGATE_FLEXIBLE : CAL_PROPAGATE_RIGID;
			if (cal_sim_set_propagation(m[k].sim, cal_sim_find_group(m[k].sim, name), as, i ? NULL : &report[k],
			                            &error) != CAL_OK)
				fail_msg("%s", error.text);
			advance(&m[k], 0.2 + 0.1 * i);
		}
	}
	AGREE(m[0], m[1], machine_nodes, 0, 18, 1e-9);
	assert_true(report[0].kinetic_lost > 1e-5 && fabs(report[0].kinetic_lost - report[1].kinetic_lost) < 1e-9);
	// what the rail holds of the impulse
	const CalVec3 a = report[0].linear_change, b = report[1].linear_change;
	assert_true(fabs(a.z) > 1e-4 && fabs(a.x - b.x) < 1e-9 && fabs(a.z - b.z) < 1e-9);
	for (int k = 0; k < 2; k++)
		machine_free(&m[k]);
}

/* The propagation in the file of a component is that of its group. */
static void a_component_brings_its_propagation(void **state) {
	(void)state;
	static const char text[] =
		"calder: 1\nbodies: {hub: {mass: 9, box: [1, 1, 1]}}\njoints: {fly: {type: free, to: hub}}\n"
		"subsystems: {boom: {file: " SOURCE_DIR "/examples/components/boom.yaml, component: true,\n"
		"  set: {propagation: rigid}, attach: {interface: boom/root, to: hub}}}\n";
	const CalSimOptions options = precise();
	Machine m = machine_of(text, &options);
	assert_int_equal(cal_sim_propagation(m.sim, cal_sim_find_group(m.sim, "boom")), CAL_PROPAGATE_RIGID);
	assert_int_equal(cal_sim_propagation(m.sim, cal_sim_find_group(m.sim, "main")), CAL_PROPAGATE_FLEXIBLE);
	machine_free(&m);
}

/* A hub and an arm that both keep their velocities cannot stay together: the component is named. */
static void kinematic_sides_that_part_are_named(void **state) {
	(void)state;
	const CalSimOptions options = precise();
	Machine m = machine_of(SPACE_PARTS(""), &options);
	CalError error = {0};
	reserve(&m);
	for (int i = 0; i < 2; i++)
		if (cal_sim_set_propagation(m.sim, cal_sim_find_group(m.sim, i ? "arm" : "main"), CAL_PROPAGATE_KINEMATIC, NULL,
		                            &error) != CAL_OK)
			fail_msg("%s", error.text);
	assert_int_equal(cal_sim_advance(m.sim, 1, &error), CAL_ERR_USER);
	assert_non_null(strstr(error.text, "\"arm\""));
	assert_non_null(strstr(error.text, "move as given"));
	machine_free(&m);
}

static void checkpoints_are_bit_identical(void **state) {
	(void)state;
	const CalSimOptions options = precise();
	static unsigned char memory[1 << 20];
	CalError error;
	size_t used;
	Machine first = machine_of(SPACE_PARTS(""), &options), again = machine_of(SPACE_PARTS(""), &options);
	reserve(&first);
	reserve(&again);
	attach(&first, NULL);
	advance(&first, 1);
	assert_int_equal(cal_checkpoint_take(first.sim, memory, sizeof memory, &used), CAL_OK);
	if (cal_checkpoint_restore(again.sim, memory, used, &error) != CAL_OK)
		fail_msg("%s", error.text);
	advance(&first, 2);
	advance(&again, 2);
	assert_int_equal(cal_sim_group_count(first.sim), cal_sim_group_count(again.sim));
	for (int g = 0; g < cal_sim_group_count(first.sim); g++) {
		const size_t nq = (size_t)cal_model_q_count(cal_sim_model(first.sim, g)) * sizeof(double);
		const size_t nu = (size_t)cal_model_u_count(cal_sim_model(first.sim, g)) * sizeof(double);
		assert_memory_equal(cal_sim_state(first.sim, g)->q, cal_sim_state(again.sim, g)->q, nq);
		assert_memory_equal(cal_sim_state(first.sim, g)->u, cal_sim_state(again.sim, g)->u, nu);
	}
	machine_free(&first);
	machine_free(&again);
}

static void a_component_can_be_let_go_and_caught(void **state) {
	(void)state;
	const CalSimOptions options = precise();
	Machine parts = machine_of(SPACE_PARTS(""), &options);
	const int device = cal_sim_find_device(parts.sim, "arm");
	CalError error;
	assert_true(device >= 0);
	assert_int_equal(cal_sim_switch(parts.sim, device, 0, &error), CAL_OK);
	const Motion still = motion_of(parts.sim, "hub");
	for (int k = 21; k < 24; k++)
		assert_true(fabs(still.of[k]) < 1e-13); // nothing pulls at the hub
	assert_int_equal(cal_sim_switch(parts.sim, device, 1, &error), CAL_OK);
	const Motion pulled = motion_of(parts.sim, "hub");
	assert_true(fabs(pulled.of[21]) > 1e-3);
	assert_int_equal(cal_sim_switch(parts.sim, device, 0, &error), CAL_OK);
	advance(&parts, 0.5);
	assert_int_equal(cal_sim_switch(parts.sim, device, 1, &error), CAL_ERR_ARGUMENT);
	assert_non_null(strstr(error.text, "\"arm\""));
	machine_free(&parts);
}

/* The same from a file: switching a component off opens its ties, as detaching its joint does in the flat machine. */
static void an_event_lets_a_component_go(void **state) {
	(void)state;
	const CalSimOptions options = precise();
	Machine flat = machine_of(SPACE_FLAT("events: {part: {at: 0.5, do: {detach: mount, group: arm}}}\n"), &options),
			parts = machine_of(SPACE_PARTS("events: {part: {at: 0.5, do: {switch_off: arm}}}\n"), &options);
	advance(&flat, 2);
	advance(&parts, 2);
	AGREE(flat, parts, space_nodes, 0, 18, 1e-9);
	const Motion a = motion_of(parts.sim, "hub/port"), b = motion_of(parts.sim, "upper/in");
	assert_true(fabs(a.of[11] - b.of[11]) > 1e-3); // they are apart
	machine_free(&flat);
	machine_free(&parts);
}

int main(void) {
	NEEDS_YAML();
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(impulses_pass_through_components),
		cmocka_unit_test(components_change_their_topology_on_ranks),
		cmocka_unit_test(a_component_may_join_its_carrier),
		cmocka_unit_test(a_component_may_be_rigid_for_a_while),
		cmocka_unit_test(a_component_brings_its_propagation),
		cmocka_unit_test(kinematic_sides_that_part_are_named),
		cmocka_unit_test(checkpoints_are_bit_identical),
		cmocka_unit_test(a_component_can_be_let_go_and_caught),
		cmocka_unit_test(an_event_lets_a_component_go),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
