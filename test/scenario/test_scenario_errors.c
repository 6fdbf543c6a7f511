// SPDX-License-Identifier: Apache-2.0
/*
 * test_scenario_errors.c — mistakes in events and actions, each reported with its place and a remedy; scenarios for which
 * memory runs out; events and open loops that are written again.
 */
#define _POSIX_C_SOURCE 200809L // open_memstream

#include <calder/calder.h>

#include "support/failing_allocator.h"
#include "support/model_file_support.h"

#define HEAD                                                                                \
	"calder: 1\n"                                                                           \
	"ground: {nodes: {wall: [1, 0, 0], post: [0, 1, 0]}}\n"                                 \
	"groups: {other: {}}\n"                                                                 \
	"bodies:\n"                                                                             \
	"  hub: {mass: 50 kg, inertia: [9, 12, 10], nodes: {port: [30 cm, 0, 0]}}\n"            \
	"  cart: {group: other, mass: 4 kg, inertia: [1, 1, 1]}\n"                              \
	"joints: {flight: {type: free, to: hub}, rail: {type: prismatic, axis: x, to: cart}}\n" \
	"devices: {jet: {type: thruster, node: hub, thrust: 1 N}}\n"                            \
	"events:\n"

static void check_refused(const char *events, const char *want) {
	char text[2000];
	CalSetup *file = NULL;
	CalError error = {0};
	snprintf(text, sizeof text, "%s%s", HEAD, events);
	if (cal_model_file_parse(text, strlen(text), "e.yaml", NULL, &file, &error) == CAL_OK)
		fail_msg("was read: %s", events);
	if (!strstr(error.text, want))
		fail_msg("got \"%s\", wanted \"%s\"", error.text, want);
}

static void mistakes_about_when(void **state) {
	(void)state;
	check_refused("  a: {do: {stop: true}}\n", "e.yaml:10:3: error: event \"a\": when does it happen?");
	check_refused("  a: {at: 1 s, every: 2 s}\n", "only one of \"at\", \"every\" and \"when\"");
	check_refused("  a: {at: 1 s, after: b}\n  b: {at: 2 s}\n",
	              "e.yaml:10:23: error: event \"a\": \"after\" goes alone");
	check_refused("  a: {at: 1 s, start: 2 s}\n", "\"start\" is the first time of \"every\"");
	check_refused("  a: {at: 1 s, delay: 2 s}\n", "\"delay\" counts from the event");
	check_refused("  a: {after: b, when: t > 1, delay: 2 s}\n  b: {at: 1 s}\n", "do not go together");
	check_refused("  a: {at: 1 s, direction: up}\n", "\"direction\" belongs to \"when\"");
	check_refused("  a: {when: t - 1, direction: upp}\n", "unknown direction \"upp\"; did you mean \"up\"");
	check_refused("  a: {when: t - 1, direction: sideways}\n", "write up, down or both");
	check_refused("  a: {every: 1 s, once: true}\n", "\"once\" belongs to");
	check_refused("  a: {every: 0 s}\n", "e.yaml:10:14: error: event \"a\"");
	check_refused("  a: {at: 1 m}\n", "a time");
	check_refused("  a: {at: -1 s}\n", "e.yaml:10:11: error: event \"a\"");
	check_refused("  dock: {at: 1 s}\n  a: {after: dok}\n",
	              "e.yaml:11:14: error: event \"a\": unknown event \"dok\"; did you mean \"dock\"");
	check_refused("  a: {after: a}\n", "cannot come after itself");
	check_refused("  a: {when: 'distance(hub, cart) <'}\n", "e.yaml:10:13: error: event \"a\": formula");
	check_refused("  a: {wen: 1}\n", "unknown key \"wen\"; did you mean \"when\"");
	check_refused("  - {name: a, at: 1 s}\n  - {name: a, at: 2 s}\n", "two events are called \"a\"");
	check_refused("  - {at: 1 s}\n", "needs the key \"name\"");
	check_refused("  a: 5\n", "expected a map (see \"event\"");
}

#define DO(action) "  a: {at: 1 s, do: " action "}\n"

static void mistakes_about_what(void **state) {
	(void)state;
	check_refused(DO("{}"), "e.yaml:10:20: error: event \"a\": this action does nothing");
	check_refused(DO("5"), "expected a map (see \"action\"");
	check_refused(DO("{lock: rail, stop: true}"), "write \"lock\" and \"stop\" as two");
	check_refused(DO("{detch: rail}"), "unknown key \"detch\"; did you mean \"detach\"");
	check_refused(DO("{detach: rial}"),
	              "e.yaml:10:29: error: event \"a\": unknown joint \"rial\"; did you mean \"rail\"");
	check_refused(DO("{detach: [rail]}"), "expected a text");
	check_refused(DO("{reroot: hob}"), "unknown body \"hob\"; did you mean \"hub\"");
	check_refused(DO("{remove_body: cat}"), "unknown body \"cat\"; did you mean \"cart\"");
	check_refused(DO("{switch_off: jot}"), "unknown device \"jot\"; did you mean \"jet\"");
	check_refused(DO("{open: lid}"), "unknown loop \"lid\"");
	check_refused(DO("{release: othr}"), "unknown group \"othr\"; did you mean \"other\"");
	check_refused(DO("{lock: flight, dof: 7}"), "from 1 to 6, the degrees of freedom of joint \"flight\"");
	check_refused(DO("{lock: flight, dof: 0}"), "from 1 to 6");
	check_refused(DO("{lock: flight, dof: 1.5}"), "whole number");
	check_refused(DO("{split: hob}"), "unknown body \"hob\"; did you mean \"hub\"");
	check_refused(DO("{lock_modes: hob}"), "unknown body \"hob\"; did you mean \"hub\"");
	check_refused(DO("{lock_modes: hub}"), "body \"hub\" is rigid: it has no modes");
	check_refused(DO("{lock: rail, mode: 1}"), "\"mode\" belongs to lock_modes and unlock_modes, not to lock");
	check_refused(DO("{stop: true, dof: 1}"), "\"dof\" belongs to lock and unlock, not to stop");
	check_refused(DO("{lock: rail, group: x}"), "\"group\" belongs to detach and split, not to lock");
	check_refused(DO("{detach: rail, fit: to}"), "\"fit\" belongs to reattach");
	check_refused(DO("{stop: false}"), "\"stop\" is true, or a text");
	check_refused(DO("{detach: rail, if_refused: never}"), "fail or ignore");
	check_refused(DO("{attach: rail}"), "expected a map (see \"attach\"");
	check_refused(DO("{attach: {from: hub}}"), "the key \"to\" is missing");
	check_refused(DO("{attach: {from: hub/prt, to: cart}}"), "\"hub\" has no node \"prt\"; did you mean \"port\"");
	check_refused(DO("{attach: {from: hub/port, to: hub/port}}"), "attach node \"hub/port\" to itself");
	check_refused(DO("{attach: {from: ground/wall, to: ground/post}}"), "both sides are on the ground");
	check_refused(DO("{attach: {to: ground/post}}"), "both sides are on the ground");
	check_refused(DO("{attach: {name: rail, to: cart}}"), "is in the file already; write reattach: rail");
	check_refused(DO("{attach: {to: cart, fit: tight}}"), "write none, from or to");
	check_refused(DO("{attach: {to: cart, tolerance: -1 mm}}"), "must not be negative");
	check_refused(DO("{attach: {to: cart, tolerance: 1 s}}"), "a length");
	check_refused(DO("{attach: {to: cart, type: revolt}}"), "unknown type of joint");
	check_refused(DO("{attach: {to: cart, type: weld, axis: x}}"), "a weld joint has no \"axis\"");
	check_refused(DO("{attach: {to: cart, type: user}}"), "made of C functions");
	check_refused(DO("[{attach: {name: l, from: hub, to: cart}}, {attach: {name: l, from: hub/port, to: cart}}]"),
	              "joint \"l\" is between other nodes in line 10");
	check_refused(DO("{attach: {name: a/, to: cart}}"), "has a '/' at an end");
	check_refused(DO("{detach: rail, group: 'a,b'}"), "a character that names cannot hold");
	check_refused(DO("{add_body: {name: ground/y, mass: 1 kg, sphere: 1 m}}"), "after \"ground\"");
	check_refused(DO("{attach: {to: cart}, add_body: {name: n, mass: 1 kg, sphere: 1 m}, group: m}"),
	              "as two, in a list");
	check_refused(DO("{add_body: {mass: 1 kg, sphere: 1 m}}"), "the key \"name\" is missing");
	check_refused(DO("{add_body: {name: hub, mass: 1 kg, sphere: 1 m}}"), "there is a body \"hub\" already");
	check_refused(DO("{add_body: {name: new, mass: 1 kg, beam: {}}}"), "the beam gives this body its mass");
	check_refused("  a: {at: 1 s, do: {add_body: {name: new, mass: 1 kg, sphere: 1 m, nodes: {top: [0, 0, 1]}}}}\n"
	              "  b: {at: 2 s, do: {attach: {from: hub, to: new/tip}}}\n",
	              "unknown node of the new body \"tip\"; did you mean \"top\"");
}

/* What only a simulation can find, before it runs. */
static void names_in_formulas_are_checked(void **state) {
	(void)state;
	CalSetup *file = file_of(HEAD "  a: {when: q(rale) > 1 m}\n");
	const CalSimOptions options = {.method = {.method = CAL_METHOD_DOPRI5}};
	CalSim *sim = NULL;
	CalScenario *scenario = NULL;
	CalError error = {0};
	assert_int_equal(cal_sim_create(cal_setup_desc(file), &options, &sim, &error), CAL_OK);
	assert_int_equal(cal_scenario_create(file, sim, &scenario, &error), CAL_ERR_MODEL);
	assert_null(scenario);
	if (!strstr(error.text, "t.yaml:10:13: event \"a\": ") || !strstr(error.text, "\"rale\""))
		fail_msg("%s", error.text);
	cal_sim_destroy(sim);
	cal_setup_destroy(file);
	assert_int_equal(cal_scenario_create(NULL, NULL, &scenario, &error), CAL_ERR_ARGUMENT);
	cal_scenario_destroy(NULL);
	assert_int_equal(cal_scenario_resume(NULL), CAL_ERR_ARGUMENT);
	assert_int_equal(cal_scenario_stopped(NULL, NULL), 0);
	assert_int_equal(cal_scenario_entry_count(NULL), 0);
}

/* ---- memory -------------------------------------------------------------------------------------------------- */

static const char all_of_it[] =
	HEAD "  a: {when: 'distance(hub, cart) < 1 cm', do: {attach: {from: hub, to: cart, fit: from}}}\n"
		 "  b: {after: a, delay: 1 s, do: [{detach: a, group: new}, {note: x}, {stop: why}]}\n"
		 "  c: {every: 1 s, do: {add_body: {name: n, mass: 1 kg, sphere: 1 m, nodes: {top: [0, 0, 1]}}}}\n"
		 "loads: [{node: hub, force: [1 N, 0, 0]}]\n"
		 "run: {duration: 1 s}\n";

/* Reading and setting up, with the k-th allocation of both failing. */
static void every_allocation_may_fail(void **state) {
	(void)state;
	long failures = 0;
	for (long k = 1;; k++) {
		FailingAllocator counter = {.fail_at = k};
		const CalAllocator allocator = failing_allocator(&counter);
		const CalSimOptions options = {.method = {.method = CAL_METHOD_DOPRI5}, .allocator = allocator};
		CalSetup *file = NULL;
		CalSim *sim = NULL;
		CalScenario *scenario = NULL;
		CalError error = {0};
		CalStatus status = cal_model_file_parse(all_of_it, strlen(all_of_it), "m.yaml", &allocator, &file, &error);
		if (status == CAL_OK)
			status = cal_sim_create(cal_setup_desc(file), &options, &sim, &error);
		const int set_up = status == CAL_OK;
		if (set_up)
			status = cal_scenario_create(file, sim, &scenario, &error);
		cal_scenario_destroy(scenario);
		cal_sim_destroy(sim);
		cal_setup_destroy(file);
		assert_int_equal(counter.live, 0);
		if (counter.calls < k) {
			assert_int_equal(status, CAL_OK);
			break;
		}
		failures++;
		if (status != CAL_ERR_MEMORY || (set_up && error.status != CAL_ERR_MEMORY))
			fail_msg("allocation %ld: status %d, \"%s\"", k, (int)status, error.text);
		assert_null(scenario);
	}
	assert_true(failures > 40);
}

/* ---- writing --------------------------------------------------------------------------------------------------- */

static void events_and_open_loops_are_written_again(void **state) {
	(void)state;
	static const char text[] =
		"calder: 1\n"
		"bodies: {a: {mass: 1, inertia: [1, 1, 1]}, b: {mass: 1, inertia: [1, 1, 1]}}\n"
		"joints: {p: {type: revolute, to: a}, s: {type: revolute, to: b}}\n"
		"loops: {lid: {type: spherical, from: a, to: b, open: yes}, tie: {type: spherical, from: a, to: b}}\n"
		"events: {e: {when: 'q(p) > 10 deg', do: [{close: lid}, {note: 'it: closes'}]}}\n";
	CalSetup *file = file_of(text), *again = NULL;
	CalError error = {0};
	char *out = NULL;
	size_t size = 0;
	FILE *stream = open_memstream(&out, &size);
	assert_int_equal(cal_model_file_write(file, stream, &error), CAL_OK);
	fclose(stream);
	if (cal_model_file_parse(out, size, "again.yaml", NULL, &again, &error) != CAL_OK)
		fail_msg("%s\n%s", error.text, out);
	const CalSimOptions options = {.method = {.method = CAL_METHOD_DOPRI5}};
	CalSim *sim = NULL;
	CalScenario *scenario = NULL;
	const char *event, *action;
	assert_int_equal(cal_sim_create(cal_setup_desc(again), &options, &sim, &error), CAL_OK);
	if (cal_scenario_create(again, sim, &scenario, &error) != CAL_OK)
		fail_msg("%s", error.text);
	assert_int_equal(cal_model_loop_count(cal_sim_model(sim, 0)), 1); // the other one starts open
	assert_int_equal(cal_scenario_action_count(scenario), 2);
	assert_int_equal(cal_scenario_action(scenario, 1, &event, &action), CAL_OK);
	assert_string_equal(action, "note: it: closes");
	cal_scenario_destroy(scenario);
	cal_sim_destroy(sim);
	cal_setup_destroy(again);
	cal_setup_destroy(file);
	free(out);
}

int main(void) {
	NEEDS_YAML();
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(mistakes_about_when),
		cmocka_unit_test(mistakes_about_what),
		cmocka_unit_test(names_in_formulas_are_checked),
		cmocka_unit_test(every_allocation_may_fail),
		cmocka_unit_test(events_and_open_loops_are_written_again),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
