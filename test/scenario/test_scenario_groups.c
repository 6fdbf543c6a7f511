// SPDX-License-Identifier: Apache-2.0
/*
 * test_scenario_groups.c — groups in files: their propagation and its switches, given motions that end and are followed
 * again, attaching without an impulse.
 */
#include "scenario_support.h"

#define BOOM                                                                                                          \
	"calder: 1\n"                                                                                                     \
	"bodies:\n"                                                                                                       \
	"  hub: {mass: 20, inertia: [3, 4, 5], nodes: {port: [0.5, 0, 0]}}\n"                                             \
	"  boom: {beam: {length: 4 m, section: {shape: tube, diameter: 50 mm, thickness: 2 mm, youngs_modulus: 70 GPa,\n" \
	"         density: 2700 kg/m^3}, modes: 4}}\n"                                                                    \
	"joints: {fly: {type: free, to: hub}, hinge: {type: revolute, axis: z, from: hub/port, to: boom}}\n"
#define MOVES                                                                \
	"state: {fly: {velocity: [0.1, 0, 0], angular_velocity: [0, 0, 0.2]},\n" \
	"        hinge: {u: 0.3, eta: [0.02, 0.01, 0, 0]}}\n"

/* ---- propagation ---------------------------------------------------------------------------------------------- */

static void a_group_that_is_rigid_from_the_start_is_one_that_was_switched_there(void **state) {
	(void)state;
	Run start = run_text("propagation: rigid\n" BOOM MOVES RK4);
	Run later = run_text(BOOM MOVES "events: {now: {at: 0, do: {propagate: main, as: rigid}}}\n" RK4);
	assert_int_equal(cal_sim_propagation(start.sim, 0), CAL_PROPAGATE_RIGID);
	advance(&start, 1);
	advance(&later, 1);
	same_state(start.sim, 0, later.sim, 0);
	assert_near(cal_sim_state(start.sim, 0)->q[8], 0.02, 0);
	assert_string_equal(entry_of(&later, 0).text, "propagate main as rigid");
	run_end(&start);
	run_end(&later);
}

static void switches_are_logged_with_momentum_and_energy(void **state) {
	(void)state;
	Run r = run_text(BOOM MOVES "events: {a: {at: 0.2 s, do: {propagate: main, as: rigid}},\n"
	                            "         b: {at: 0.4 s, do: {propagate: main, as: kinematic}},\n"
	                            "         c: {at: 0.6 s, do: {propagate: main, as: flexible}}}\n"
	                            "run: {duration: 1 s, method: rk4, step: 0.25 ms}\n");
	advance(&r, 1);
	for (int i = 0; i < 3; i++) {
		const CalScenarioEntry entry = entry_of(&r, i);
		assert_true(entry.changed && entry.imposed && entry.refused == CAL_OK);
		assert_true(i == 2 ? entry.kinetic_lost == 0 : entry.kinetic_lost > 1e-3);
		// when it stops being kinematic: by how much the momentum changed since
		assert_true(i == 2 ? entry.linear_jump > 1e-3 : entry.linear_jump < 1e-13 && entry.angular_jump < 1e-13);
	}
	CalSimBalance balance;
	assert_int_equal(cal_sim_balance(r.sim, &balance), CAL_OK);
	assert_near(balance.error, 0, 1e-6);
	run_end(&r);
}

#define TUMBLER                                                                                 \
	"calder: 1\n"                                                                               \
	"groups: {target: {}}\n"                                                                    \
	"bodies: {a: {mass: 1, inertia: [1, 1, 1]},\n"                                              \
	"         b: {group: target, mass: 3, inertia: [1, 2, 3], nodes: {p: [1, 0, 0]},\n"         \
	"             flexible: {stiffness: [30], nodes: {p: {mass: 1, phi: [[0], [1], [0]]}}}}}\n" \
	"joints: {f: {type: free, to: a}, g: {type: free, to: b}}\n"                                \
	"group_motions: {target: {g: {at: [0.5*t, 0, 0], angle: 0.4*t}}}\n"                         \
	"events: {let: {at: 0.25 s, do: {propagate: target, as: rigid}},\n"                         \
	"         take: {at: 0.5 s, do: {propagate: target, as: kinematic}},\n"                     \
	"         same: {at: 0.6 s, do: {propagate: target, as: kinematic}},\n"                     \
	"         again: {at: 0.75 s, do: {propagate: target, as: flexible}}}\n" RK4

static void a_given_motion_ends_and_is_followed_again(void **state) {
	(void)state;
	Run r = run_text(TUMBLER);
	const int target = cal_sim_find_group(r.sim, "target");
	static const CalPropagation want[] = {CAL_PROPAGATE_KINEMATIC, CAL_PROPAGATE_RIGID, CAL_PROPAGATE_KINEMATIC,
	                                      CAL_PROPAGATE_FLEXIBLE};
	for (int i = 0; i < 4; i++) {
		const double t = 0.25 * i + 0.2;
		advance(&r, t);
		assert_int_equal(cal_sim_propagation(r.sim, target), want[i]);
		assert_int_equal(cal_sim_is_moved(r.sim, target), i == 0 || i == 2);
		if (i == 0 || i == 2)
			assert_near(cal_sim_state(r.sim, target)->q[0], 0.5 * t, 1e-15);
	}
	const CalScenarioEntry take = entry_of(&r, 1), same = entry_of(&r, 2), again = entry_of(&r, 3);
	assert_true(take.imposed && !take.changed && again.imposed && again.changed);
	// 4 kg at 0.5 m/s, and 1 kg of it 1 m from the axis: what leaves the sum (let go at 0.25 s), what comes back
	assert_near(take.linear_jump, hypot(2 - 0.4 * sin(0.1), 0.4 * cos(0.1)), 1e-9);
	assert_near(again.linear_jump, hypot(2 - 0.4 * sin(0.3), 0.4 * cos(0.3)), 1e-14);
	assert_near(same.linear_jump, 0, 0);
	CalSimBalance balance;
	assert_int_equal(cal_sim_balance(r.sim, &balance), CAL_OK);
	assert_near(balance.error, 0, 1e-9);
	run_end(&r);
}

/* In every part of that run. */
static void checkpoints_know_which_motion_is_followed(void **state) {
	(void)state;
	for (int i = 0; i < 4; i++) {
		Run whole = run_text(TUMBLER), fresh = run_text(TUMBLER);
		CalError error = {0};
		advance(&whole, 0.25 * i + 0.1);
		const size_t size = cal_checkpoint_size(whole.sim);
		char *bytes = malloc(size);
		assert_non_null(bytes);
		assert_int_equal(cal_checkpoint_take(whole.sim, bytes, size, NULL), CAL_OK);
		if (cal_checkpoint_restore(fresh.sim, bytes, size, &error) != CAL_OK ||
		    cal_scenario_resume(fresh.scenario) != CAL_OK)
			fail_msg("%s", error.text);
		advance(&whole, 1);
		advance(&fresh, 1);
		for (int group = 0; group < 2; group++)
			same_state(whole.sim, group, fresh.sim, group);
		free(bytes);
		run_end(&whole);
		run_end(&fresh);
	}
}

/* ---- attach without an impulse -------------------------------------------------------------------------------- */

static void a_kinematic_attach_says_what_it_did_to_the_momentum(void **state) {
	(void)state;
	Run r = run_text("calder: 1\ngroups: {v: {}}\n"
	                 "bodies: {a: {mass: 100, inertia: [70, 80, 90]}, b: {group: v, mass: 10, inertia: [1, 2, 2]}}\n"
	                 "joints: {f: {type: free, to: a}, g: {type: free, to: b}}\n"
	                 "state: {g: {at: [2, 0, 0], velocity: [-5 cm/s, 0, 0]}}\n"
	                 "events: {dock: {at: 1 s, do: {attach: {name: l, from: a, to: b, fit: from, kinematic: true}}}}\n"
	                 "run: {duration: 2 s}\n");
	advance(&r, 2);
	const CalScenarioEntry dock = entry_of(&r, 0);
	assert_true(dock.imposed && dock.impulse == 0);
	assert_near(dock.linear_jump, 10 * 0.05, 1e-15); // all that b had: a stands still
	assert_near(dock.kinetic_lost, 0.5 * 10 * 0.05 * 0.05, 1e-15);
	CalSimBalance balance;
	assert_int_equal(cal_sim_balance(r.sim, &balance), CAL_OK);
	assert_near(balance.dissipated, dock.kinetic_lost, 1e-15);
	assert_near(balance.error, 0, 1e-15);
	run_end(&r);
}

/* ---- mistakes -------------------------------------------------------------------------------------------------- */

static void mistakes_are_reported_with_their_place(void **state) {
	(void)state;
#define EVENT(action) BOOM "events: {e: {at: 1 s, do: {" action "}}}\nrun: {duration: 2 s}\n"
	static const struct {
		const char *text, *want;
	} cases[] = {
		{EVENT("propagate: main"), "\"as\" is flexible, rigid or kinematic"},
		{EVENT("propagate: man, as: rigid"), "unknown group \"man\"; did you mean \"main\"?"},
		{EVENT("propagate: main, as: rigd"), "did you mean \"rigid\"?"},
		{EVENT("lock: hinge, as: rigid"), "\"as\" belongs to propagate, not to lock"},
		{EVENT("detach: hinge, group: off, kinematic: true"), "\"kinematic\" belongs to reattach"},
		{"propagation: soft\n" BOOM, "unknown propagation \"soft\"; write flexible, rigid or kinematic"},
	};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
		expect_error(cases[i].text, cases[i].want);
}

int main(void) {
	NEEDS_YAML();
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_group_that_is_rigid_from_the_start_is_one_that_was_switched_there),
		cmocka_unit_test(switches_are_logged_with_momentum_and_energy),
		cmocka_unit_test(a_given_motion_ends_and_is_followed_again),
		cmocka_unit_test(checkpoints_know_which_motion_is_followed),
		cmocka_unit_test(a_kinematic_attach_says_what_it_did_to_the_momentum),
		cmocka_unit_test(mistakes_are_reported_with_their_place),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
