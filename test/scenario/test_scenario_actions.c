// SPDX-License-Identifier: Apache-2.0
/*
 * test_scenario_actions.c — what actions of native files do: bodies, loops, groups, modes, devices and motions.
 */
#include "scenario_support.h"

/* ---- the other actions -------------------------------------------------------------------------------------- */

static void bodies_come_and_go(void **state) {
	(void)state;
	Run r = run_text(FLYERS "events:\n"
	                        "  eject:\n"
	                        "    at: 1 s\n"
	                        "    do:\n"
	                        "      add_body: {name: cube, mass: 1 kg, box: [10 cm, 10 cm, 10 cm], at: [5 m, 0, 0],\n"
	                        "                 velocity: [1 m/s, 0, 0], nodes: {corner: [5 cm, 5 cm, 5 cm]}}\n"
	                        "  grab: {at: 2 s, do: {attach: {name: net, from: probe, to: cube/corner, fit: to}}}\n"
	                        "  drop: {at: 3 s, do: [{detach: net, group: cube}, {remove_body: cube}]}\n"
	                        "  pass: {after: eject, when: x(cube) > 5.5 m}\n"
	                        "run: {duration: 5 s}\n");
	advance(&r, 1.25);
	assert_int_equal(cal_sim_group_count(r.sim), 3);
	assert_near(place_of(r.sim, "cube").x, 5.25, 1e-12);
	advance(&r, 2.5);
	assert_int_equal(cal_sim_group_count(r.sim), 2);
	advance(&r, 5);
	assert_int_equal(cal_sim_group_count(r.sim), 2);
	assert_int_equal(cal_sim_group_of(r.sim, cal_sim_find_body(r.sim, "cube")), -1);
	expect_log(&r, "1 eject|1.5 pass|2 grab|3 drop|3 drop|");
	run_end(&r);
}

static void loops_open_and_close(void **state) {
	(void)state;
	Run r =
		run_text("calder: 1\n"
	             "gravity: [0, -9.81, 0]\n"
	             "bodies: {a: {mass: 1, inertia: [1, 1, 1], com: [1, 0, 0]}, b: {mass: 1, inertia: [1, 1, 1]}}\n"
	             "joints: {p: {type: revolute, to: a}, s: {type: prismatic, axis: x, to: b}}\n"
	             "loops: {lid: {type: coupling, terms: [{joint: p, factor: 1}, {joint: s, factor: 1}], open: true}}\n"
	             "state: {p: {u: 1}}\n"
	             "events:\n"
	             "  shut: {at: 0, do: {close: lid}}\n"
	             "  go: {at: 0.5 s, do: {open: lid}}\n"
	             "run: {duration: 1 s}\n");
	assert_int_equal(cal_model_row_count(cal_sim_model(r.sim, 0)), 0); // it starts open
	assert_near(speed_of(r.sim, "p", 0), 1, 0);
	advance(&r, 0);
	assert_int_equal(cal_model_row_count(cal_sim_model(r.sim, 0)), 1);
	assert_near(speed_of(r.sim, "p", 0) + speed_of(r.sim, "s", 0), 0, 1e-14);
	assert_near(entry_of(&r, 0).kinetic_lost, 0.5 * 2 * 1 / 3.0, 1e-14); // of 2 kg m^2 with 1 kg more
	advance(&r, 1);
	assert_int_equal(cal_model_row_count(cal_sim_model(r.sim, 0)), 0);
	run_end(&r);
}

/* A gate of 4 m on a flight of 300 m at 1 m/s; one step would do for the whole of it. Of devices steps are bounded. */
static void a_condition_of_a_hundredth_of_the_run_is_seen(void **state) {
	(void)state;
#define GATE                                       \
	"calder: 1\n"                                  \
	"bodies: {a: {mass: 1, inertia: [1, 1, 1]}}\n" \
	"joints: {fly: {type: free, to: a}}\n"         \
	"state: {fly: {velocity: [1, 0, 0]}}\n"        \
	"events: {gate: {when: abs(x(a) - 150.3) < 2, do: {note: through}}}\n"
#define OUTPUT                                            \
	"calder: 1\n"                                         \
	"bodies: {a: {mass: 1, inertia: [1, 1, 1]}}\n"        \
	"joints: {fly: {type: free, to: a}}\n"                \
	"devices: {s: {type: spring, to: a, stiffness: 1}}\n" \
	"events: {gate: {when: 'device(s.length) < 2', do: {note: through}}}\n"
	Run bounded = run_text(GATE "run: {duration: 300 s}\n"),
		leaping = run_text(GATE "run: {duration: 300 s, max_step: 300 s}\n");
	assert_near(cal_setup_run(bounded.file).method.max_step, 0, 0);
	advance(&bounded, 300);
	expect_log(&bounded, "148.3 gate|");
	advance(&leaping, 300);
	expect_log(&leaping, "148.3 gate|");
	run_end(&bounded);
	run_end(&leaping);
	static const struct {
		const char *text;
		double want;
	} others[] = {
		{FLYERS "run: {duration: 30 s}\n", 0},
		{FLYERS "events: {a: {at: 3 s}}\nrun: {duration: 30 s}\n", 0},
		{GATE "run: {duration: 300 s}\n", 0},
		{OUTPUT "run: {duration: 300 s, method: rk4, step: 1 s}\n", 3},
		{OUTPUT "run: {duration: 300 s, min_step: 5 s}\n", 5},
		{OUTPUT "run: {duration: 300 s, max_step: 7 s}\n", 7},
	};
	for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
		CalSetup *file = file_of(others[i].text);
		assert_near(cal_setup_run(file).method.max_step, others[i].want, 0);
		cal_setup_destroy(file);
	}
}

/* Two flyers in one group: each becomes a group of its own, by the name of the body if none is given. */
static void parts_of_a_group_become_groups(void **state) {
	(void)state;
	Run r = run_text("calder: 1\n"
	                 "bodies: {a: {mass: 1, inertia: [1, 1, 1]}, b: {mass: 2, inertia: [1, 1, 1]},\n"
	                 "         c: {mass: 3, inertia: [1, 1, 1]}}\n"
	                 "joints: {fa: {type: free, to: a}, fb: {type: free, to: b}, fc: {type: free, to: c}}\n"
	                 "state: {fa: {velocity: [1, 0, 0]}, fb: {velocity: [2, 0, 0]}, fc: {velocity: [3, 0, 0]}}\n"
	                 "loads: [{node: b, force: [2, 0, 0]}]\n"
	                 "events:\n"
	                 "  one: {at: 1 s, do: {split: b}}\n"
	                 "  two: {at: 2 s, do: [{split: c, group: third}, {split: a, if_refused: ignore}]}\n"
	                 "run: {duration: 3 s}\n");
	advance(&r, 1);
	assert_int_equal(cal_sim_group_count(r.sim), 2);
	assert_int_equal(cal_sim_find_group(r.sim, "b"), 1);
	advance(&r, 3);
	assert_int_equal(cal_sim_group_count(r.sim), 3);
	assert_int_equal(cal_sim_find_group(r.sim, "third"), 2);
	assert_int_equal(cal_sim_group_of(r.sim, cal_sim_find_body(r.sim, "c")), 2);
	assert_near(place_of(r.sim, "a").x, 3, 1e-12);
	assert_near(place_of(r.sim, "b").x, 2 * 3 + 0.5 * 1 * 9, 1e-10); // the load goes with it
	assert_near(place_of(r.sim, "c").x, 9, 1e-12);
	assert_int_equal(cal_scenario_entry_count(r.scenario), 3);
	assert_true(entry_of(&r, 2).refused != CAL_OK); // a is the whole of its group by then
	run_end(&r);
}

/* 2 kg on a spring of 8 N/m: w = 2 rad/s. Mode 2, on its own, continues. */
static void modes_lock_and_go_on(void **state) {
	(void)state;
	Run r = run_text("calder: 1\n"
	                 "bodies:\n"
	                 "  b:\n"
	                 "    mass: 1\n"
	                 "    nodes: {p: [1, 0, 0], s: [0, 1, 0]}\n"
	                 "    flexible:\n"
	                 "      stiffness: [8, 3]\n"
	                 "      nodes: {p: {mass: 2, phi: [[1, 0], [0, 0], [0, 0]]},\n"
	                 "              s: {mass: 3, phi: [[0, 0], [0, 0], [0, 1]]}}\n"
	                 "joints: {w: {type: weld, to: b}}\n"
	                 "state: {w: {eta: [0.5, 0.25]}}\n"
	                 "events:\n"
	                 "  hold: {at: 0.3 s, do: {lock_modes: b, mode: 1}}\n"
	                 "  let: {at: 0.6 s, do: {unlock_modes: b}}\n"
	                 "  all: {at: 0.9 s, do: {lock_modes: b}}\n"
	                 "run: {duration: 1 s, rtol: 1e-12}\n");
	const double *q, *u;
	advance(&r, 0.5);
	const double held = 0.5 * cos(0.6), speed = -0.5 * 2 * sin(0.6);
	q = cal_sim_state(r.sim, 0)->q, u = cal_sim_state(r.sim, 0)->u;
	assert_near(entry_of(&r, 0).kinetic_lost, 0.5 * 2 * speed * speed, 1e-10);
	assert_near(q[0], held, 1e-10);
	assert_near(u[0], 0, 0);
	assert_near(q[1], 0.25 * cos(0.5), 1e-10);
	advance(&r, 0.8);
	q = cal_sim_state(r.sim, 0)->q;
	assert_near(q[0], held * cos(2 * 0.2), 1e-10);
	assert_near(q[1], 0.25 * cos(0.8), 1e-10);
	advance(&r, 1);
	q = cal_sim_state(r.sim, 0)->q, u = cal_sim_state(r.sim, 0)->u;
	assert_near(q[0], held * cos(2 * 0.3), 1e-10);
	assert_near(q[1], 0.25 * cos(0.9), 1e-10);
	assert_true(u[0] == 0 && u[1] == 0);
	static const char *const want[] = {"lock modes of b, mode 1", "unlock modes of b", "lock modes of b"};
	for (int i = 0; i < 3; i++) {
		const char *text;
		assert_int_equal(cal_scenario_action(r.scenario, i, NULL, &text), CAL_OK);
		assert_string_equal(text, want[i]);
	}
	run_end(&r);
}

static int turn_steadily(void *user, const CalModel *model, double t, double *q, double *u, double *udot) {
	(void)user, (void)model;
	q[0] = 2 * t, u[0] = 2, udot[0] = 0;
	return 0;
}

static void devices_are_switched_and_motions_released(void **state) {
	(void)state;
	Run r = run_text(DOOR "devices: {push: {type: applied_load, joint: hinge, effort: 0.5 N*m}}\n"
	                      "events:\n"
	                      "  go: {at: 0.25 s, do: {release: main}}\n"
	                      "  off: {at: 0.5 s, do: {switch_off: push}}\n"
	                      "  on: {at: 0.75 s, do: {switch_on: push}}\n");
	assert_int_equal(cal_sim_set_motion(r.sim, 0, turn_steadily, NULL), CAL_OK);
	assert_int_equal(cal_sim_restart(r.sim, &r.error), CAL_OK);
	advance(&r, 0.25);
	assert_near(speed_of(r.sim, "hinge", 0), 2, 0);
	advance(&r, 0.5);
	assert_near(speed_of(r.sim, "hinge", 0), 2.25, 1e-12); // 0.5 N m on 0.5 kg m^2
	advance(&r, 0.75);
	assert_near(speed_of(r.sim, "hinge", 0), 2.25, 1e-12);
	advance(&r, 1);
	assert_near(speed_of(r.sim, "hinge", 0), 2.5, 1e-12);
	run_end(&r);
}

int main(void) {
	NEEDS_YAML();
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(bodies_come_and_go),
		cmocka_unit_test(loops_open_and_close),
		cmocka_unit_test(a_condition_of_a_hundredth_of_the_run_is_seen),
		cmocka_unit_test(parts_of_a_group_become_groups),
		cmocka_unit_test(modes_lock_and_go_on),
		cmocka_unit_test(devices_are_switched_and_motions_released),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
