// SPDX-License-Identifier: Apache-2.0
/*
 * test_scenario_when.c — when events of native files happen, and what becomes of actions that are refused.
 */
#include "scenario_support.h"

/* ---- when ------------------------------------------------------------------------------------------------- */

static void times_periods_and_delays(void **state) {
	(void)state;
	Run r = run_text(DOOR "events:\n"
	                      "  late: {after: tick, delay: 0.3 s, do: {note: x}}\n"
	                      "  each: {after: tick, delay: 0.1 s, once: false}\n"
	                      "  tick: {every: 0.4 s, start: 0.1 s}\n"
	                      "  plain: {every: 0.45 s}\n"
	                      "  one: {at: 0.2 s}\n");
	advance(&r, 0.55);
	advance(&r, 1);
	expect_log(&r, "0.1 tick|0.2 each|0.2 one|0.4 late|0.45 plain|0.5 tick|0.6 each|0.9 tick|0.9 plain|1 each|");
	double last;
	assert_int_equal(cal_sim_event_happened(r.sim, 2, &last), 3);
	assert_true(last == 0.1 + 2 * 0.4);
	run_end(&r);
}

/* A delay that starts anew before it has run out. */
static void a_delay_counts_from_the_last_time(void **state) {
	(void)state;
	Run r = run_text(DOOR "events:\n"
	                      "  tick: {every: 0.2 s}\n"
	                      "  quiet: {after: tick, delay: 0.25 s, once: false}\n");
	advance(&r, 1);
	expect_log(&r, "0.2 tick|0.4 tick|0.6 tick|0.8 tick|1 tick|");
	run_end(&r);
}

static void events_of_one_instant_happen_in_the_order_of_the_file(void **state) {
	(void)state;
	Run r = run_text(DOOR "events:\n"
	                      "  then: {after: second, do: {note: then}}\n"
	                      "  first: {at: 0.5 s, do: {note: 1}}\n"
	                      "  second: {at: 0.5 s, do: {note: 2}}\n"
	                      "  third: {every: 0.5 s, do: {note: 3}}\n"
	                      "  last: {after: then, do: {note: last}}\n");
	advance(&r, 0.7);
	expect_log(&r, "0.5 first|0.5 second|0.5 third|0.5 then|0.5 last|");
	run_end(&r);
}

/* An impulse makes a condition true at once, at an instant that no step would show. */
static void what_actions_make_true_happens_at_the_same_instant(void **state) {
	(void)state;
	Run r = run_text(DOOR "events:\n"
	                      "  rest: {when: u(hinge) < 0.5 rad/s}\n"
	                      "  stop: {at: 0.25 s, do: {lock: hinge}}\n"
	                      "  above: {when: u(hinge) - 0.5 rad/s, do: {note: a number that falls}}\n"
	                      "  rises: {when: u(hinge) - 0.5 rad/s, direction: up}\n");
	advance(&r, 1);
	expect_log(&r, "0.25 stop|0.25 rest|0.25 above|");
	run_end(&r);
}

static void conditions_that_are_true_when_they_are_armed(void **state) {
	(void)state;
	Run r = run_text(DOOR "events:\n"
	                      "  begin: {when: u(hinge) > 0}\n"
	                      "  not_now: {when: u(hinge) < 0}\n"
	                      "  over: {when: u(hinge) < 0, direction: down}\n"
	                      "  number: {when: u(hinge), do: {note: never}}\n"
	                      "  armed: {after: gate, when: q(hinge) > 10 deg}\n"
	                      "  not_yet: {after: gate, when: q(hinge) > 0.7 rad}\n"
	                      "  gate: {at: 0.5 s}\n");
	advance(&r, 0);
	advance(&r, 0);
	expect_log(&r, "0 begin|0 over|");
	advance(&r, 1);
	expect_log(&r, "0 begin|0 over|0.5 gate|0.5 armed|0.7 not_yet|");
	run_end(&r);
}

static void a_condition_may_happen_again(void **state) {
	(void)state;
	Run r = run_text("calder: 1\n"
	                 "bodies: {bob: {mass: 1 kg, inertia: [1, 1, 1]}}\n"
	                 "joints: {swing: {type: revolute, to: bob, dof: {stiffness: 39.47841760435743 N*m/rad}}}\n"
	                 "state: {swing: {q: 0.1 rad}}\n"
	                 "run: {duration: 2 s}\n"
	                 "events:\n"
	                 "  up: {when: q(swing) > 0, once: false}\n"
	                 "  both: {when: q(swing), once: false}\n"
	                 "  one: {when: q(swing) < 0}\n");
	advance(&r, 2); // a period of 1 s
	expect_log(&r, "0 up|0.25 both|0.25 one|0.75 up|0.75 both|1.25 both|1.75 up|1.75 both|");
	run_end(&r);
}

static void events_without_end_are_an_error(void **state) {
	(void)state;
	Run r = run_text(DOOR "devices: {push: {type: applied_load, joint: hinge, effort: 0.5 N*m}}\n"
	                      "events:\n"
	                      "  off: {when: 'device(push.effort) > 0.1', once: false, do: {switch_off: push}}\n"
	                      "  on: {when: 'device(push.effort) < 0.1', once: false, do: {switch_on: push}}\n");
	assert_int_equal(cal_sim_advance(r.sim, 1, &r.error), CAL_NOT_CONVERGED);
	if (!strstr(r.error.text, "t = 0 s: events make each other happen without end"))
		fail_msg("%s", r.error.text);
	run_end(&r);
}

/* ---- refusals ----------------------------------------------------------------------------------------------- */

#define FAR "do: {attach: {from: station/port, to: probe/tip}"

static void a_refused_action_ends_the_run_with_its_place(void **state) {
	(void)state;
	Run r = run_text(FLYERS "events:\n  dock:\n    at: 1 s\n    " FAR "}\nrun: {duration: 2 s}\n");
	assert_int_equal(cal_sim_advance(r.sim, 2, &r.error), CAL_ERR_MODEL);
	if (!strstr(r.error.text, "t.yaml:11:3: event \"dock\", t = 1 s: attach dock: station/port to probe/tip (line 13): "
	                          "joint \"dock\" does not fit"))
		fail_msg("%s", r.error.text);
	assert_near(cal_sim_time(r.sim), 1, 0);
	assert_int_equal(entry_of(&r, 0).refused, CAL_ERR_MODEL);
	run_end(&r);
}

static void a_refusal_may_be_ignored(void **state) {
	(void)state;
	Run r = run_text(FLYERS "events:\n"
	                        "  dock: {at: 1 s, " FAR ", if_refused: ignore}}\n"
	                        "  gone: {at: 1.5 s, do: [{detach: dock, if_refused: ignore}, {note: on we go}]}\n"
	                        "run: {duration: 2 s}\n");
	advance(&r, 2);
	assert_int_equal(cal_sim_group_count(r.sim), 2);
	assert_int_equal(cal_scenario_entry_count(r.scenario), 3);
	assert_int_equal(entry_of(&r, 0).refused, CAL_ERR_MODEL);
	assert_non_null(strstr(entry_of(&r, 0).why, "does not fit"));
	assert_string_equal(entry_of(&r, 1).why, "there is no joint \"dock\" at this time");
	assert_true(entry_of(&r, 2).refused == CAL_OK && !entry_of(&r, 2).why[0]);
	run_end(&r);
}

/* A four-bar whose crank is welded to the ground on one side, and closed by a loop of the file. */
static void a_weld_in_a_loop_is_not_detached(void **state) {
	(void)state;
	Run r = run_text("calder: 1\n"
	                 "bodies: {a: {mass: 1, inertia: [1, 1, 1]}, b: {mass: 1, inertia: [1, 1, 1]}}\n"
	                 "joints: {foot: {type: weld, to: a}, arm: {type: weld, from: a, to: b}}\n"
	                 "loops: {tie: {type: spherical, from: a, to: b}}\n"
	                 "events: {cut: {at: 0.5 s, do: {detach: arm, group: new}}}\n"
	                 "run: {duration: 1 s}\n");
	assert_int_equal(cal_sim_advance(r.sim, 1, &r.error), CAL_ERR_MODEL);
	if (!strstr(r.error.text,
	            "event \"cut\", t = 0.5 s: detach arm (line 5): joint \"arm\" is inside a loop: loop \"tie\""))
		fail_msg("%s", r.error.text);
	run_end(&r);
}

int main(void) {
	NEEDS_YAML();
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(times_periods_and_delays),
		cmocka_unit_test(a_delay_counts_from_the_last_time),
		cmocka_unit_test(events_of_one_instant_happen_in_the_order_of_the_file),
		cmocka_unit_test(what_actions_make_true_happens_at_the_same_instant),
		cmocka_unit_test(conditions_that_are_true_when_they_are_armed),
		cmocka_unit_test(a_condition_may_happen_again),
		cmocka_unit_test(events_without_end_are_an_error),
		cmocka_unit_test(a_refused_action_ends_the_run_with_its_place),
		cmocka_unit_test(a_refusal_may_be_ignored),
		cmocka_unit_test(a_weld_in_a_loop_is_not_detached),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
