// SPDX-License-Identifier: Apache-2.0
/*
 * test_scenario.c — events and actions of native files: when they happen, what they do, what is kept and what is told.
 */
#include "support/interpose.h"

#include <math.h>

#include <calder/calder.h>

#include "native_support.h"

typedef struct Run {
	CalFile *file;
	CalSim *sim;
	CalScenario *scenario;
	CalError error;
} Run;

static Run run_file(CalFile *file) {
	Run r = {.file = file};
	const CalSimOptions options = {.method = cal_file_run(file).method};
	if (cal_sim_create(cal_file_desc(file), &options, &r.sim, &r.error) != CAL_OK ||
	    cal_scenario_create(file, r.sim, &r.scenario, &r.error) != CAL_OK || cal_sim_restart(r.sim, &r.error) != CAL_OK)
		fail_msg("%s", r.error.text);
	return r;
}

static Run run_text(const char *text) { return run_file(file_of(text)); }

static void run_end(Run *r) {
	cal_scenario_destroy(r->scenario);
	cal_sim_destroy(r->sim);
	cal_file_destroy(r->file);
}

static void advance(Run *r, double t) {
	if (cal_sim_advance(r->sim, t, &r->error) != CAL_OK)
		fail_msg("%s", r->error.text);
}

static CalScenarioEntry entry_of(const Run *r, int64_t index) {
	CalScenarioEntry entry;
	assert_int_equal(cal_scenario_entry(r->scenario, index, &entry), CAL_OK);
	return entry;
}

/* The log from an entry on, as "time event|time event|". */
static void expect_log(const Run *r, const char *want) {
	char got[2000] = "";
	for (int64_t i = 0; i < cal_scenario_entry_count(r->scenario); i++) {
		const CalScenarioEntry entry = entry_of(r, i);
		const size_t used = strlen(got);
		snprintf(got + used, sizeof got - used, "%.6g %s|", entry.time, entry.event);
	}
	assert_string_equal(got, want);
}

static CalVec3 place_of(CalSim *sim, const char *path) {
	for (int i = 0; i < cal_sim_group_count(sim); i++) {
		const int node = cal_model_find_node(cal_sim_model(sim, i), path);
		CalSimView view;
		CalPose pose;
		if (node < 0)
			continue;
		assert_int_equal(cal_sim_observe(sim, i, &view), CAL_OK);
		assert_int_equal(cal_node_pose(view.model, view.work, node, &pose), CAL_OK);
		return pose.r;
	}
	fail_msg("no node %s", path);
	return (CalVec3){0, 0, 0};
}

static double speed_of(CalSim *sim, const char *joint, int dof) {
	CalFreedom freedom;
	assert_true(cal_sim_find_freedom(sim, cal_sim_find_joint(sim, joint), dof, &freedom));
	return cal_sim_state(sim, freedom.group)->u[freedom.u];
}

static double angle_of(CalSim *sim, const char *joint, int dof) {
	CalFreedom freedom;
	assert_true(cal_sim_find_freedom(sim, cal_sim_find_joint(sim, joint), dof, &freedom));
	return cal_sim_state(sim, freedom.group)->q[freedom.q];
}

/* ---- docking ------------------------------------------------------------------------------------------- */

#define FLYERS                                                                                     \
	"calder: 1\n"                                                                                  \
	"groups: {visitor: {}}\n"                                                                      \
	"bodies:\n"                                                                                    \
	"  station: {mass: 100 kg, inertia: [70, 80, 90], nodes: {port: [1 m, 0, 0]}}\n"               \
	"  probe: {group: visitor, mass: 10 kg, inertia: [1, 2, 2.5], nodes: {tip: [-25 cm, 0, 0]}}\n" \
	"joints: {fly: {type: free, to: station}, visit: {type: free, to: probe}}\n"                   \
	"state:\n"                                                                                     \
	"  fly: {angular_velocity: [0.1 deg/s, 0, 0.2 deg/s]}\n"                                       \
	"  visit: {at: [2 m, 2 cm, 1 cm], velocity: [-5 cm/s, 1 mm/s, 0], angular_velocity: [0, 0.5 deg/s, 0]}\n"
#define DOCK                                               \
	"events:\n"                                            \
	"  dock:\n"                                            \
	"    when: distance(probe/tip, station/port) < 8 cm\n" \
	"    do: {attach: {name: latch, from: station/port, to: probe/tip, fit: to}}\n"

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

static int distance_value(void *user, CalScene *scene, double *value) {
	const ByCalls *own = user;
	return cal_expression_value(own->formula, scene, value) != CAL_OK;
}

static double distance_clear(void *user, CalScene *scene, double span) {
	const ByCalls *own = user;
	return cal_expression_keeps_sign(own->formula, scene, span);
}

static CalStatus dock_by_calls(void *user, CalSim *sim, CalError *error) {
	const ByCalls *own = user;
	CalJointDef latch = cal_joint_def(CAL_JOINT_WELD);
	latch.name = "latch";
	return cal_sim_attach(sim, own->port, &latch, own->tip, &(CalAttachOptions){.fit = CAL_FIT_AT_B}, NULL, NULL,
	                      error);
}

static int bind_formula(const CalDevice *device, const CalScene *scene) {
	return cal_expression_bind(((ByCalls **)device->data)[0]->formula, scene, NULL) != CAL_OK;
}

static int do_nothing(const CalDevice *device, CalScene *scene, double *xdot) {
	(void)device, (void)scene, (void)xdot;
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
	own.port = cal_desc_find_node(cal_file_desc(r.file), "station/port");
	own.tip = cal_desc_find_node(cal_file_desc(r.file), "probe/tip");
	const CalDeviceDef device = {.name = "binder", .ops = &binder, .data = &pointer, .data_size = sizeof pointer};
	const CalEventDef dock = {.name = "dock",
	                          .value = distance_value,
	                          .clear = distance_clear,
	                          .direction = 1,
	                          .once = 1,
	                          .level = 1,
	                          .action = dock_by_calls,
	                          .user = &own};
	assert_int_equal(cal_sim_add_device(r.sim, &device, NULL, &error), CAL_OK);
	assert_int_equal(cal_sim_add_event(r.sim, &dock, NULL, &error), CAL_OK);
	assert_int_equal(cal_sim_reserve(r.sim, cal_file_desc(r.file), &(CalSimCapacity){.joints = 1}, &error), CAL_OK);
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
	CalFile *file = NULL;
	CalError error = {0};
	const char *why = NULL;
	if (cal_file_read(SOURCE_DIR "/examples/walking_arm.yaml", NULL, &file, &error) != CAL_OK)
		fail_msg("%s", error.text);
	Run r = run_file(file);
	assert_false(cal_scenario_stopped(r.scenario, NULL));
	assert_int_equal(cal_sim_advance(r.sim, cal_file_run(file).duration, &error), CAL_STOPPED);
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

#define DOOR                                                   \
	"calder: 1\n"                                              \
	"bodies: {door: {mass: 2 kg, inertia: [0.3, 0.3, 0.5]}}\n" \
	"joints: {hinge: {type: revolute, to: door}}\n"            \
	"state: {hinge: {u: 1 rad/s}}\n"                           \
	"run: {duration: 1 s}\n"

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
	Run r = run_text(DOOR "devices: {push: {type: table_load, joint: hinge, effort: 0.5 N*m}}\n"
	                      "events:\n"
	                      "  off: {when: 'device(push, effort) > 0.1', once: false, do: {switch_off: push}}\n"
	                      "  on: {when: 'device(push, effort) < 0.1', once: false, do: {switch_on: push}}\n");
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
	"events: {gate: {when: 'device(s, length) < 2', do: {note: through}}}\n"
	Run bounded = run_text(GATE "run: {duration: 300 s}\n"),
		leaping = run_text(GATE "run: {duration: 300 s, max_step: 300 s}\n");
	assert_near(cal_file_run(bounded.file).method.max_step, 0, 0);
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
		CalFile *file = file_of(others[i].text);
		assert_near(cal_file_run(file).method.max_step, others[i].want, 0);
		cal_file_destroy(file);
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

/* 2 kg on a spring of 8 N/m: w = 2 rad/s. Mode 2, on its own, goes on. */
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
	Run r = run_text(DOOR "devices: {push: {type: table_load, joint: hinge, effort: 0.5 N*m}}\n"
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

static void freedoms_keep_their_numbers_when_a_tree_turns_over(void **state) {
	(void)state;
	Run r = run_text("calder: 1\n"
	                 "bodies: {a: {mass: 3 kg, inertia: [1, 2, 3]}, b: {mass: 1 kg, inertia: [1, 2, 1.5]}}\n"
	                 "joints: {fly: {type: free, to: a}, hook: {type: universal, from: a, to: b, inboard: [1, 0, 0]}}\n"
	                 "state: {hook: {q: [0.3 rad, 0.5 rad], u: [1 rad/s, 2 rad/s]}}\n"
	                 "loads: [{joint: hook, effort: [0.1 N*m, 0.7 N*m]}]\n"
	                 "events: {turn: {at: 0, do: {reroot: b}}}\n"
	                 "run: {duration: 1 s}\n");
	CalSimView view;
	CalFreedom freedom;
	double before[2], after[2];
	const CalJointId hook = cal_sim_find_joint(r.sim, "hook");
	for (int turned = 0; turned < 2; turned++) {
		assert_int_equal(cal_sim_observe(r.sim, 0, &view), CAL_OK);
		for (int i = 0; i < 2; i++) {
			assert_true(cal_sim_find_freedom(r.sim, hook, i, &freedom));
			assert_near(view.state->q[freedom.q], i ? 0.5 : 0.3, 0);
			assert_near(view.state->u[freedom.u], i ? 2 : 1, 0);
			assert_near(view.input.tau[freedom.u], i ? 0.7 : 0.1, 0);
			(turned ? after : before)[i] = view.udot[freedom.u];
		}
		advance(&r, 0);
	}
	int reversed = 0;
	assert_int_equal(cal_sim_joint_state(r.sim, hook, &(CalJointState){0}, &reversed), CAL_OK);
	assert_int_equal(reversed, 1);
	assert_near(after[0], before[0], 1e-12);
	assert_near(after[1], before[1], 1e-12);
	assert_false(cal_sim_find_freedom(r.sim, hook, 2, &freedom));
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
	static const char *const want[][2] = {{"a", ""}, {"b", "lock hinge, freedom 1"}, {"b", "stop"}};
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
		cmocka_unit_test(bodies_come_and_go),
		cmocka_unit_test(loops_open_and_close),
		cmocka_unit_test(a_condition_of_a_hundredth_of_the_run_is_seen),
		cmocka_unit_test(parts_of_a_group_become_groups),
		cmocka_unit_test(modes_lock_and_go_on),
		cmocka_unit_test(devices_are_switched_and_motions_released),
		cmocka_unit_test(loads_follow_their_bodies),
		cmocka_unit_test(freedoms_keep_their_numbers_when_a_tree_turns_over),
		cmocka_unit_test(objects_are_found_by_name),
		cmocka_unit_test(the_log_keeps_the_last_entries),
		cmocka_unit_test(actions_are_listed),
		cmocka_unit_test(a_scenario_may_be_made_again_in_the_middle),
		cmocka_unit_test(nothing_allocates_in_the_run),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
