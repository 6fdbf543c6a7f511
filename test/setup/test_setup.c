// SPDX-License-Identifier: Apache-2.0
/*
 * test_setup.c — a setup that is filled in C: it runs like the same model from a file, owns what it is given, can be read
 * back, and refuses what does not fit.
 */
#define main docking_main // of the example, which is not run here
#include "../examples/c/setup.c"
#undef main

#include <math.h>
#include <string.h>

#include <calder/calder.h>

#include "support/check.h"
#include "support/failing_allocator.h"

/* The model of examples/c/setup.c as a file. */
static const char docking_text[] =
	"calder: 1\n"
	"title: Docking\n"
	"groups: {visitor: {}}\n"
	"bodies:\n"
	"  station: {mass: 100 kg, inertia: [70, 80, 90], nodes: {port: [1 m, 0, 0]},\n"
	"    visual: {box: [2, 1, 1], color: '#c9ccd2'}}\n"
	"  probe: {group: visitor, mass: 10 kg, inertia: [1, 2, 2.5], nodes: {tip: [-25 cm, 0, 0]}, visual: {sphere: 0.25}}\n"
	"joints: {fly: {type: free, to: station}, visit: {type: free, to: probe}}\n"
	"state:\n"
	"  fly: {u: [0, 0, 0, 0.002, 0, 0.004]}\n"
	"  visit: {q: [2, 0.02, 0.01, 1, 0, 0, 0], u: [-0.05, 0.001, 0, 0, 0.01, 0]}\n"
	"loads: [{node: probe, force: [-0.05 N, 0, 0], end: 4 s}]\n"
	"devices: {wheel: {type: wheel, node: station, axis: z, inertia: 0.05, torque: [[0, 0.1], [20, 0.3]]}}\n"
	"events:\n"
	"  start: {at: 0, do: {switch_off: wheel}}\n"
	"  docking: {when: 'distance(probe/tip, station/port) < 8 cm', do: [\n"
	"    {attach: {name: latch, from: station/port, to: probe/tip, fit: to}}, {switch_on: wheel}]}\n"
	"run: {duration: 20 s, rtol: 1e-9, atol: 1e-9, output: {interval: 0.1 s, signals: [pose, energy]}}\n";

static CalSetup *docking(void) {
	CalSetup *setup = NULL;
	CalError error = {0};
	if (docking_create(NULL, &setup, &error) != CAL_OK)
		fail_msg("%s", error.text);
	return setup;
}

/* ---- the same run ---------------------------------------------------------------------------------- */

typedef struct Run {
	CalSetup *setup;
	CalSim *sim;
	CalScenario *scenario;
} Run;

static Run run_setup(CalSetup *setup) {
	Run run = {.setup = setup};
	CalError error = {0};
	if (cal_setup_simulate(setup, NULL, &run.sim, &run.scenario, &error) != CAL_OK)
		fail_msg("%s", error.text);
	return run;
}

static void end_run(Run *run) {
	cal_scenario_destroy(run->scenario);
	cal_sim_destroy(run->sim);
	cal_setup_destroy(run->setup);
}

static void expect_same_state(const Run *a, const Run *b) {
	assert_int_equal(cal_sim_group_count(a->sim), cal_sim_group_count(b->sim));
	for (int g = 0; g < cal_sim_group_count(a->sim); g++) {
		const CalModel *model = cal_sim_model(a->sim, g);
		const CalState *x = cal_sim_state(a->sim, g), *y = cal_sim_state(b->sim, g);
		assert_memory_equal(x->q, y->q, (size_t)cal_model_q_count(model) * sizeof *x->q);
		assert_memory_equal(x->u, y->u, (size_t)cal_model_u_count(model) * sizeof *x->u);
	}
}

static void a_setup_in_c_runs_like_its_file(void **state) {
	(void)state;
	CalSetup *read = NULL;
	CalError error = {0};
	const CalStatus status =
		cal_model_file_parse(docking_text, strlen(docking_text), "docking.yaml", NULL, &read, &error);
	if (status == CAL_ERR_UNSUPPORTED)
		skip();
	if (status != CAL_OK)
		fail_msg("%s", error.text);
	cal_model_file_trim(read); // the text is not needed any more
	Run built = run_setup(docking()), file = run_setup(read);
	expect_same_state(&built, &file);
	for (int i = 1; i <= 20; i++) {
		assert_int_equal(cal_sim_advance(built.sim, i, &error), CAL_OK);
		assert_int_equal(cal_sim_advance(file.sim, i, &error), CAL_OK);
		expect_same_state(&built, &file);
	}
	assert_int_equal(cal_sim_group_of(built.sim, cal_sim_find_body(built.sim, "probe")), 0); // it has docked
	assert_int_equal(cal_scenario_entry_count(built.scenario), 3);
	for (int i = 0; i < 3; i++) {
		CalScenarioEntry a, b;
		assert_int_equal(cal_scenario_entry(built.scenario, i, &a), CAL_OK);
		assert_int_equal(cal_scenario_entry(file.scenario, i, &b), CAL_OK);
		assert_string_equal(a.text, b.text);
		assert_true(a.time == b.time && a.kinetic_lost == b.kinetic_lost);
	}
	end_run(&built);
	end_run(&file);
}

static void a_setup_in_c_is_written_and_read(void **state) {
	(void)state;
	static char text[10000];
	CalSetup *setup = docking(), *read = NULL;
	CalError error = {0};
	FILE *file = tmpfile();
	assert_non_null(file);
	assert_int_equal(cal_model_file_write(setup, file, &error), CAL_OK);
	rewind(file);
	const size_t length = fread(text, 1, sizeof text, file);
	fclose(file);
	const CalStatus status = cal_model_file_parse(text, length, "docking.yaml", NULL, &read, &error);
	if (status == CAL_ERR_UNSUPPORTED) {
		cal_setup_destroy(setup);
		skip();
	}
	if (status != CAL_OK)
		fail_msg("%s", error.text);
	Run built = run_setup(setup), again = run_setup(read);
	assert_int_equal(cal_sim_advance(built.sim, 20, &error), CAL_OK);
	assert_int_equal(cal_sim_advance(again.sim, 20, &error), CAL_OK);
	expect_same_state(&built, &again);
	end_run(&built);
	end_run(&again);
}

/* ---- reading it back --------------------------------------------------------------------------------- */

static void what_was_added_is_read_back(void **state) {
	(void)state;
	CalSetup *setup = docking();
	const CalDesc *desc = cal_setup_desc(setup);
	CalJointId joint;
	CalStateDef start;
	assert_int_equal(cal_setup_state_count(setup), 2);
	assert_int_equal(cal_setup_state(setup, 1, &joint, &start), CAL_OK);
	assert_string_equal(cal_desc_joint(desc, joint, NULL, NULL)->name, "visit");
	assert_true(start.q[0] == 2 && start.u[0] == -0.05 && !start.frozen && !start.guess);
	CalLoadDef load;
	assert_int_equal(cal_setup_load(setup, 0, &load), CAL_OK);
	assert_true(load.wrench.linear.x == -0.05 && load.start == -INFINITY && load.end == 4);
	const char *type, *name;
	const void *def;
	assert_int_equal(cal_setup_device(setup, 0, &type, &name, &def), CAL_OK);
	assert_string_equal(type, "wheel");
	assert_string_equal(name, "wheel");
	assert_true(((const CalWheelDef *)def)->torque.table.value[1] == 0.3);
	CalSetupEvent event;
	assert_int_equal(cal_setup_find_event(setup, "docking"), 1);
	assert_int_equal(cal_setup_event(setup, 1, &event), CAL_OK);
	assert_int_equal(event.action_count, 2);
	assert_string_equal(event.actions[0].to, "probe/tip");
	const CalVisual *visuals;
	assert_int_equal(cal_setup_visuals(setup, cal_desc_find_body(desc, "station"), &visuals), 1);
	assert_int_equal(visuals[0].color, 0xc9ccd2);
	assert_int_equal(cal_setup_visuals(setup, (CalBodyId){0}, &visuals), 0);
	const CalRunSettings run = cal_setup_run(setup);
	assert_string_equal(run.title, "Docking");
	assert_string_equal(run.streams[0].name, "main");
	assert_string_equal(run.streams[0].signals[1], "energy");
	const CalSimCapacity capacity = cal_setup_capacity(setup);
	assert_true(capacity.joints == 1 && capacity.bodies == 0 && capacity.groups == 0);
	assert_int_equal(cal_setup_load(setup, 1, &load), CAL_ERR_ARGUMENT);
	cal_setup_destroy(setup);
}

static void a_second_state_replaces_the_first(void **state) {
	(void)state;
	CalSetup *setup = docking();
	const CalJointId joint = cal_desc_find_joint(cal_setup_desc(setup), "visit");
	const double q[7] = {5, 0, 0, 2 * 0.5001, 0, 0, 0}; // and the quaternion is made unit
	CalJointId found;
	CalStateDef def;
	CalError error;
	assert_int_equal(cal_setup_set_state(setup, joint, &(CalStateDef){.q = q}, &error), CAL_OK);
	assert_int_equal(cal_setup_state_count(setup), 2);
	assert_int_equal(cal_setup_state(setup, 1, &found, &def), CAL_OK);
	assert_true(def.q[0] == 5 && def.q[3] == 1 && !def.u);
	cal_setup_destroy(setup);
}

/* The caller's memory is overwritten after each call. */
static void a_setup_owns_copies(void **state) {
	(void)state;
	CalSetup *setup = docking();
	CalError error;
	char name[] = "spring", formula[] = "t > 1", note[] = "later", place[] = "here:1:2", title[] = "a title";
	double time[] = {0, 1}, value[] = {1, 2};
	CalSpringDef spring = {.name = name, .b = {1}, .stiffness = 1, .length = 1, .place = place};
	assert_int_equal(cal_setup_add_device(setup, "spring", &spring, &error), CAL_OK);
	name[0] = 'S';
	CalThrusterDef thruster = {
		.name = name, .node = {1}, .thrust = 1, .throttle.table = {CAL_TABLE_LINEAR, 2, time, value}};
	assert_int_equal(cal_setup_add_device(setup, "thruster", &thruster, &error), CAL_OK);
	CalActionDef action = cal_action_def(CAL_ACTION_NOTE);
	CalSetupEvent event = cal_setup_event_def();
	action.name = note, action.place = place;
	event.name = name, event.when = formula, event.actions = &action, event.action_count = 1;
	assert_int_equal(cal_setup_add_event(setup, &event, &error), CAL_OK);
	assert_int_equal(cal_setup_set_title(setup, title, &error), CAL_OK);
	memset(name, 'x', 6), memset(formula, 'x', 5), memset(note, 'x', 5), memset(place, 'x', 8), memset(title, 'x', 7);
	time[1] = value[1] = -1;
	memset(&action, 0, sizeof action);
	const char *device;
	const void *def;
	assert_int_equal(cal_setup_device(setup, 1, NULL, &device, NULL), CAL_OK);
	assert_string_equal(device, "spring");
	assert_int_equal(cal_setup_device(setup, 2, NULL, NULL, &def), CAL_OK);
	assert_true(((const CalThrusterDef *)def)->throttle.table.time[1] == 1);
	assert_int_equal(cal_setup_event(setup, 2, &event), CAL_OK);
	assert_string_equal(event.when, "t > 1");
	assert_string_equal(event.actions[0].name, "later");
	assert_string_equal(event.actions[0].place, "here:1:2");
	assert_string_equal(cal_setup_run(setup).title, "a title");
	cal_setup_destroy(setup);
}

static void count_destroyed(void *object) { ++*(int *)object; }

static void what_is_kept_is_destroyed_once(void **state) {
	(void)state;
	CalSetup *setup = docking();
	int destroyed = 0;
	assert_int_equal(cal_setup_keep(setup, &destroyed, count_destroyed, NULL), CAL_OK);
	assert_int_equal(destroyed, 0);
	cal_setup_destroy(setup);
	assert_int_equal(destroyed, 1);
}

/* ---- refusals ------------------------------------------------------------------------------------------ */

static void expect(CalStatus status, const CalError *error, const char *text) {
	assert_true(status < 0);
	assert_int_equal(error->status, status);
	if (!strstr(error->text, text))
		fail_msg("\"%s\" does not say \"%s\"", error->text, text);
}

static void states_and_loads_are_checked(void **state) {
	(void)state;
	CalSetup *setup = docking();
	const CalJointId fly = cal_desc_find_joint(cal_setup_desc(setup), "fly");
	const double bad[7] = {0, 0, 0, 2, 0, 0, 0}, nan[7] = {NAN, 0, 0, 1, 0, 0, 0};
	const uint8_t frozen[6] = {1};
	CalError e;
	expect(cal_setup_set_state(setup, (CalJointId){7}, &(CalStateDef){0}, &e), &e, "there is no joint 7 in the desc");
	expect(cal_setup_set_state(setup, fly, &(CalStateDef){.q = bad, .place = "f:3:1"}, &e), &e,
	       "f:3:1: state of joint \"fly\": the quaternion (w, x, y, z) in q has the norm 2; it must be 1");
	expect(cal_setup_set_state(setup, fly, &(CalStateDef){.q = nan}, &e), &e, "\"fly\": a number is not finite");
	expect(cal_setup_set_state(setup, fly, &(CalStateDef){.eta = bad}, &e), &e, "\"fly\": the body that this joint");
	expect(cal_setup_set_state(setup, fly, &(CalStateDef){.guess = 1, .frozen = frozen}, &e), &e, "cannot be frozen");
	CalLoadDef load = cal_load_def();
	expect(cal_setup_add_load(setup, &load, &e), &e, "load 2: it acts on either a joint or the modes of a body or");
	load.joint = fly, load.place = "f:9:2";
	expect(cal_setup_add_load(setup, &load, &e), &e, "f:9:2: load 2 on joint \"fly\": dofs must have one value");
	load = cal_load_def(), load.node = cal_desc_find_node(cal_setup_desc(setup), "probe/tip"),
	load.end = load.start = 1;
	expect(cal_setup_add_load(setup, &load, &e), &e, "load 2 on node \"tip\": it must end after it starts");
	load = cal_load_def(), load.body.value = 1;
	expect(cal_setup_add_load(setup, &load, &e), &e, "\"station\": the body is rigid: it has no modes to load");
	assert_int_equal(cal_setup_load_count(setup), 1);
	cal_setup_destroy(setup);
}

static void devices_and_motions_are_checked(void **state) {
	(void)state;
	CalSetup *setup = docking();
	CalSpringDef spring = {.name = "s", .b = {99}, .place = "f:2:2"};
	CalLimitDef limit = {.name = "l", .joint = {9}};
	CalWheelDef wheel = {.name = "wheel"};
	CalError e;
	expect(cal_setup_add_device(setup, "sprin", &spring, &e), &e, "type of device \"sprin\"; did you mean \"spring\"?");
	expect(cal_setup_add_device(setup, "spring", &spring, &e), &e,
	       "f:2:2: device \"s\": a node that it names is not in the description; add it first");
	expect(cal_setup_add_device(setup, "limit", &limit, &e), &e, "device \"l\": the joint that it names is not in the");
	expect(cal_setup_add_device(setup, "wheel", &wheel, &e), &e, "\"wheel\": there is another device of that name");
	expect(cal_setup_add_device(setup, "gravity", &(CalGravityDef){.name = "g", .group = "moon"}, &e), &e, "the group");
	spring.name = NULL;
	expect(cal_setup_add_device(setup, "spring", &spring, &e), &e, "f:2:2: a spring has no name; give it one");
	assert_int_equal(cal_setup_device_count(setup), 1);
	const CalJointMotion joint = {.joint = {1}};
	CalMotionDef motion = {.name = "m", .group = "visitor", .joints = &joint, .joint_count = 1};
	expect(cal_setup_add_motion(setup, &motion, &e), &e, "motion of group \"visitor\": a joint that it moves is in an");
	motion.group = "moon";
	expect(cal_setup_add_motion(setup, &motion, &e), &e, "motion of group \"moon\": there is no such group");
	expect(cal_setup_open_loop(setup, (CalLoopId){1}, &e), &e, "there is no loop 1");
	expect(cal_setup_add_interface_node(setup, "probe/nose", &e), &e,
	       "interface node \"probe/nose\": there is no such");
	expect(cal_setup_add_subsystem(setup, &(CalSubsystemUse){.name = "s"}, &e), &e,
	       "subsystem \"s\": a component needs ties, a compiled subsystem a lib");
	expect(cal_setup_add_visual(setup, (CalBodyId){1}, &(CalVisual){.kind = CAL_VISUAL_MESH}, &e), &e,
	       "visual of \"station\": a mesh needs a file");
	expect(cal_setup_set_run(setup, &(CalRunSettings){.duration = -1}, &e), &e, "run settings: the duration must be");
	cal_setup_destroy(setup);
}

/* An action of an event that cannot be added. */
/* A type that has no definition in a public header: by the names of its fields, as in a file. */
static void a_device_by_the_names_of_its_fields_runs_like_its_file(void **state) {
	(void)state;
	static const char text[] = "calder: 1\ngravity: [0, 0, -9.81]\nbodies: {ball: {mass: 2}}\n"
							   "joints: {fall: {type: prismatic, axis: z, to: ball}}\n"
							   "devices: {air: {type: drag, node: ball, density: 1.2, coefficient: 0.8, area: 0.5}}\n";
	Run runs[2];
	CalError error = {0};
	for (int i = 0; i < 2; i++) {
		CalSetup *setup = NULL;
		const char *end = i == 0 ? text + strlen(text) : strstr(text, "devices");
		const CalStatus status = cal_model_file_parse(text, (size_t)(end - text), "fall.yaml", NULL, &setup, &error);
		if (status == CAL_ERR_UNSUPPORTED)
			skip(); // a build without YAML
		assert_int_equal(status, CAL_OK);
		const CalDesc *desc = cal_setup_desc(setup);
		const CalFieldValue values[] = {
			{.field = "node", .node = cal_desc_body_node(desc, cal_desc_find_body(desc, "ball"))},
			{.field = "density", .number = 1.2},
			{.field = "coefficient", .number = 0.8},
			{.field = "area", .number = 0.5}};
		if (i == 1 && cal_setup_add_device_of_type(setup, "drag", "air", values, 4, &error) != CAL_OK)
			fail_msg("%s", error.text);
		runs[i] = run_setup(setup);
		assert_int_equal(cal_sim_advance(runs[i].sim, 1, &error), CAL_OK);
	}
	expect_same_state(&runs[0], &runs[1]);
	assert_true(cal_sim_state(runs[0].sim, 0)->u[0] > -9.5); // it does brake
	static const CalFieldValue wrong = {.field = "aera", .number = 1};
	expect(cal_setup_add_device_of_type(runs[0].setup, "drag", "d", &wrong, 1, &error), &error,
	       "device \"d\" (drag): unknown field \"aera\"; did you mean \"area\"?");
	end_run(&runs[0]);
	end_run(&runs[1]);
}

static void expect_action(CalSetup *setup, const CalActionDef *action, const char *text) {
	CalSetupEvent event = cal_setup_event_def();
	CalError error;
	event.name = "e", event.at = 1, event.place = "f:5:1", event.actions = action, event.action_count = 1;
	expect(cal_setup_add_event(setup, &event, &error), &error, text);
	assert_int_equal(cal_setup_event_count(setup), 2);
}

static void events_are_checked(void **state) {
	(void)state;
	CalSetup *setup = docking();
	CalSetupEvent event = cal_setup_event_def();
	CalError e;
	expect(cal_setup_add_event(setup, &event, &e), &e, "an event has no name");
	event.name = "docking", event.at = 1;
	expect(cal_setup_add_event(setup, &event, &e), &e, "event \"docking\": there is another event of that name");
	event.name = "e", event.at = NAN, event.place = "f:5:1";
	expect(cal_setup_add_event(setup, &event, &e), &e, "f:5:1: event \"e\": when does it happen?");
	event.when = "t >", event.when_place = "f:6:2";
	expect(cal_setup_add_event(setup, &event, &e), &e, "f:6:2: event \"e\": ");
	event.when = NULL, event.after = "e";
	expect(cal_setup_add_event(setup, &event, &e), &e, "an event cannot come after itself");
	CalActionDef a = cal_action_def(CAL_ACTION_ATTACH);
	a.to = "probe", a.name = "fly", a.place = "f:7:4";
	expect_action(setup, &a, "f:7:4: event \"e\": attach: joint \"fly\" is in the description already");
	a.name = "latch";
	expect_action(setup, &a, "joint \"latch\" is between other nodes in another action");
	a.name = "grip", a.to = "ground/x";
	expect_action(setup, &a, "both sides are on the ground");
	a = cal_action_def(CAL_ACTION_LOCK), a.name = "fly", a.dof = 6;
	expect_action(setup, &a, "f:5:1: event \"e\": lock: joint \"fly\" has no such degree of freedom");
	a = cal_action_def(CAL_ACTION_LOCK_MODES), a.name = "station";
	expect_action(setup, &a, "body \"station\" is rigid");
	a = cal_action_def(CAL_ACTION_ADD_BODY), a.body.body.name = "probe";
	expect_action(setup, &a, "there is a body \"probe\" already");
	a = cal_action_def(CAL_ACTION_DETACH);
	expect_action(setup, &a, "detach: it needs a name");
	a.kind = CAL_ACTION_COUNT;
	expect_action(setup, &a, "unknown kind of action");
	cal_setup_destroy(setup);
}

/* Each kind with a name that nothing has; what an action makes may be named before it is made. */
static void names_of_actions_are_checked_together(void **state) {
	(void)state;
	static const struct {
		CalActionKind kind;
		const char *name, *text;
	} cases[] = {
		{CAL_ACTION_DETACH, "latc", "detach: unknown joint \"latc\"; did you mean \"latch\"?"},
		{CAL_ACTION_REROOT, "prob", "reroot: unknown body \"prob\"; did you mean \"probe\"?"},
		{CAL_ACTION_CLOSE, "pin", "close: unknown loop \"pin\""},
		{CAL_ACTION_SWITCH_ON, "whel", "switch_on: unknown device \"whel\"; did you mean \"wheel\"?"},
		{CAL_ACTION_RELEASE, "visitr", "release: unknown group \"visitr\"; did you mean \"visitor\"?"},
	};
	CalError error;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		CalSetup *setup = docking();
		CalActionDef action = cal_action_def(cases[i].kind);
		CalSetupEvent event = cal_setup_event_def();
		action.name = cases[i].name;
		event.name = "e", event.at = 1, event.place = "f:5:1", event.actions = &action, event.action_count = 1;
		assert_int_equal(cal_setup_check(setup, &error), CAL_OK);
		assert_int_equal(cal_setup_add_event(setup, &event, &error), CAL_OK);
		expect(cal_setup_check(setup, &error), &error, cases[i].text);
		CalSim *sim;
		CalScenario *scenario;
		expect(cal_setup_simulate(setup, NULL, &sim, &scenario, &error), &error, cases[i].text);
		assert_true(!sim && !scenario);
		cal_setup_destroy(setup);
	}
	CalSetup *setup = docking();
	CalSetupEvent event = cal_setup_event_def();
	event.name = "e", event.after = "dockin";
	assert_int_equal(cal_setup_add_event(setup, &event, &error), CAL_OK);
	expect(cal_setup_check(setup, &error), &error, "event \"e\": unknown event \"dockin\"; did you mean \"docking\"?");
	cal_setup_destroy(setup);
}

/* ---- memory ---------------------------------------------------------------------------------------------- */

static void every_allocation_may_fail(void **state) {
	(void)state;
	long failures = 0;
	for (long k = 1;; k++) {
		FailingAllocator counter = {.fail_at = k};
		const CalAllocator allocator = failing_allocator(&counter);
		CalSetup *setup = NULL;
		CalError error = {0};
		const CalStatus status = docking_create(&allocator, &setup, &error);
		cal_setup_destroy(setup);
		assert_int_equal(counter.live, 0);
		if (status == CAL_OK)
			break;
		assert_int_equal(status, CAL_ERR_MEMORY);
		failures++;
	}
	assert_true(failures > 20);
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_setup_in_c_runs_like_its_file),
		cmocka_unit_test(a_setup_in_c_is_written_and_read),
		cmocka_unit_test(what_was_added_is_read_back),
		cmocka_unit_test(a_second_state_replaces_the_first),
		cmocka_unit_test(a_setup_owns_copies),
		cmocka_unit_test(what_is_kept_is_destroyed_once),
		cmocka_unit_test(states_and_loads_are_checked),
		cmocka_unit_test(devices_and_motions_are_checked),
		cmocka_unit_test(events_are_checked),
		cmocka_unit_test(a_device_by_the_names_of_its_fields_runs_like_its_file),
		cmocka_unit_test(names_of_actions_are_checked_together),
		cmocka_unit_test(every_allocation_may_fail),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
