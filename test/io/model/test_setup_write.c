// SPDX-License-Identifier: Apache-2.0
/*
 * test_setup_write.c — a setup is written as a model file without the text that it came from, and reads back as the same: every
 * example, every device, every action.
 */
#define _POSIX_C_SOURCE 200809L // open_memstream, scandir
#include <dirent.h>
#include <stdlib.h>
#include <string.h>

#include <calder/calder.h>

#include "device/device_type.h"
#include "support/model_file_support.h"

static char *written(const CalSetup *setup, CalStatus *status, CalError *error) {
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);
	assert_non_null(out);
	*status = cal_model_file_write(setup, out, error);
	fclose(out);
	return text;
}

static CalSetup *parse(const char *text, const char *name) {
	CalSetup *setup = NULL;
	CalError error = {0};
	if (cal_model_file_parse(text, strlen(text), name, NULL, &setup, &error) != CAL_OK)
		fail_msg("%s\n%s", error.text, text);
	cal_model_file_trim(setup);
	return setup;
}

/* ---- the same run ---------------------------------------------------------------------------------- */

typedef struct Pair {
	CalSim *sim[2];
	CalScenario *scenario[2];
} Pair;

static void expect_same_states(const Pair *pair, const char *name) {
	assert_int_equal(cal_sim_group_count(pair->sim[0]), cal_sim_group_count(pair->sim[1]));
	for (int g = 0; g < cal_sim_group_count(pair->sim[0]); g++) {
		const CalModel *model = cal_sim_model(pair->sim[0], g);
		const CalState *a = cal_sim_state(pair->sim[0], g), *b = cal_sim_state(pair->sim[1], g);
		if (memcmp(a->q, b->q, (size_t)cal_model_q_count(model) * sizeof *a->q) != 0 ||
		    memcmp(a->u, b->u, (size_t)cal_model_u_count(model) * sizeof *a->u) != 0)
			fail_msg("%s: the states of group %d differ at t = %g s", name, g, cal_sim_time(pair->sim[0]));
	}
}

static void expect_same_run(const CalSetup *a, const CalSetup *b, double duration, const char *name) {
	const CalSetup *setups[] = {a, b};
	Pair pair = {0};
	CalError error = {0};
	for (int i = 0; i < 2; i++)
		if (cal_setup_simulate(setups[i], NULL, &pair.sim[i], &pair.scenario[i], &error) != CAL_OK)
			fail_msg("%s: %s", name, error.text);
	expect_same_states(&pair, name);
	for (int i = 0; i < 2; i++)
		if (cal_sim_advance(pair.sim[i], duration, &error) < 0)
			fail_msg("%s: %s", name, error.text);
	expect_same_states(&pair, name);
	assert_int_equal(cal_scenario_entry_count(pair.scenario[0]), cal_scenario_entry_count(pair.scenario[1]));
	for (int i = 0; i < 2; i++) {
		cal_scenario_destroy(pair.scenario[i]);
		cal_sim_destroy(pair.sim[i]);
	}
}

/* Writes a setup, reads it, writes it again: the two texts are equal, and so are the runs. Returns the text. */
static char *round_trip(const CalSetup *setup, double duration) {
	CalStatus status;
	CalError error = {0};
	const char *name = cal_setup_name(setup);
	char *text = written(setup, &status, &error);
	if (status != CAL_OK)
		fail_msg("%s: %s", name, error.text);
	CalSetup *again = parse(text, name);
	char *second = written(again, &status, &error);
	assert_int_equal(status, CAL_OK);
	assert_string_equal(text, second);
	if (cal_setup_warning_count(again) > 0)
		fail_msg("%s", cal_setup_warning(again, 0));
	assert_int_equal(cal_setup_device_count(setup), cal_setup_device_count(again));
	assert_int_equal(cal_setup_event_count(setup), cal_setup_event_count(again));
	assert_int_equal(cal_setup_state_count(setup), cal_setup_state_count(again));
	assert_int_equal(cal_setup_load_count(setup), cal_setup_load_count(again));
	if (duration > 0)
		expect_same_run(setup, again, duration, name);
	free(second);
	cal_setup_destroy(again);
	return text;
}

static int is_example(const struct dirent *entry) {
	const char *dot = strrchr(entry->d_name, '.');
	return dot && strcmp(dot, ".yaml") == 0;
}

static void every_example_comes_back(void **state) {
	(void)state;
	struct dirent **entries;
	const int count = scandir(SOURCE_DIR "/examples", &entries, is_example, alphasort);
	assert_true(count > 20);
	for (int i = 0; i < count; i++) {
		char *name = entries[i]->d_name;
		*strrchr(name, '.') = 0;
		CalSetup *setup = example_of(name);
		cal_model_file_trim(setup);
		const int bodies = cal_desc_body_count(cal_setup_desc(setup));
		free(round_trip(setup, bodies > 60 ? 0 : 0.01));
		cal_setup_destroy(setup);
		free(entries[i]);
	}
	free(entries);
}

/* ---- everything that a file can say ------------------------------------------------------------------ */

#define BODIES                                                                                                              \
	"calder: 1\ntitle: \"a: title\"\ngravity: [0, 0, -9.81]\ngroups: {sky: {}}\n"                                           \
	"bodies:\n"                                                                                                             \
	"  a: {mass: 2, inertia: [1, 2, 3], nodes: {p: [1, 0, 0]}}\n"                                                           \
	"  b: {mass: 1, inertia: [1, 1, 1], nodes: {p: {at: [0, 1, 0], orientation: {z: 30 deg}}}}\n"                           \
	"  c: {mass: 1, inertia: [1, 1, 1], group: sky, nodes: {p: [0, 0, 1]}}\n"                                               \
	"  d: {mass: 1, inertia: [1, 1, 1], group: sky}\n"                                                                      \
	"  f: {nodes: {p: [1, 0, 0]}, flexible: {frequencies: [1, 2], nodes: {p: {mass: 1, phi: [[0, 0], [1, 0], [0, 1]]}}}}\n" \
	"joints:\n"                                                                                                             \
	"  j: {type: revolute, to: a}\n"                                                                                        \
	"  k: {type: universal, from: a/p, to: b}\n"                                                                            \
	"  l: {type: free, to: c}\n"                                                                                            \
	"  m: {type: spherical, from: c/p, to: d}\n"                                                                            \
	"  n: {type: prismatic, from: b/p, to: f}\n"                                                                            \
	"loops: {tie: {type: spherical, from: a/p, to: ground, a: [1, 2, 3], open: true}}\n"

static void expect_round_trip(const char *sections, double duration, const char *const *expected) {
	char text[6000];
	snprintf(text, sizeof text, "%s%s", BODIES, sections);
	CalSetup *setup = file_of(text);
	cal_model_file_trim(setup);
	char *again = round_trip(setup, duration);
	for (int i = 0; expected && expected[i]; i++)
		if (!strstr(again, expected[i]))
			fail_msg("\"%s\" is not in\n%s", expected[i], again);
	free(again);
	cal_setup_destroy(setup);
}

static void states_come_back(void **state) {
	(void)state;
	static const char *const expected[] = {"title: \"a: title\"",
	                                       "  l: {at: [1, 2, 3], velocity: [",
	                                       "  m: {orientation: [",
	                                       "frozen: [true, false]",
	                                       "guess: true",
	                                       "open: true",
	                                       NULL};
	expect_round_trip("state:\n"
	                  "  j: {q: 900 deg, u: 0.1, frozen: true}\n"
	                  "  k: {q: [0.1, 0.2], frozen: [true, false]}\n"
	                  "  l: {at: [1, 2, 3], velocity: [0.10000000000000001, 0, 1e-3]}\n"
	                  "  m: {orientation: {axis: [1, 2, 3], angle: 40 deg}, angular_velocity: [1, 2, 3]}\n"
	                  "  n: {q: 0.5, eta: [0.01, 0.02], eta_dot: [0, 1], guess: true}\n",
	                  0.01, expected);
}

static void loads_come_back(void **state) {
	(void)state;
	expect_round_trip("loads:\n"
	                  "  - {joint: j, effort: 2 N*m, start: 1 ms, end: 4 ms}\n"
	                  "  - {joint: k, effort: [1, 0], acceleration: [free, 2]}\n"
	                  "  - {joint: l, lock: [true, false, false, false, false, true], start: 5 ms}\n"
	                  "  - {body: f, mode: 2, effort: 3}\n"
	                  "  - {body: f, effort: [1, 2], end: 3 ms}\n"
	                  "  - {node: c/p, force: [1, 2, 3], frame: node}\n"
	                  "  - {node: b, moment: [1, 0, 0]}\n"
	                  "  - {joint: j, effort: sin(t), end: 4 ms}\n"
	                  "  - {name: bend, joint: k, effort: [[[0, 1], [1, 2]], 2], start: 1 ms}\n"
	                  "  - {node: b, frame: node, force: [0, 0.1*t, 1]}\n"
	                  "  - {body: f, mode: 2, effort: {shape: step, points: [[0, 1], [2 ms, 0]]}}\n",
	                  0.01, NULL);
}

static void every_device_comes_back(void **state) {
	(void)state;
	static const char devices[] =
		"devices:\n"
		"  spring: {type: spring, from: a/p, to: c, stiffness: 3, damping: 0.1, length: 1, cable: true}\n"
		"  bushing: {type: bushing, from: ground, to: b/p, rest: {at: [1, 0, 0], orientation: {x: 10 deg}}, stiffness: [1, 2, 3],\n"
		"    angular_damping: [0.1, 0, 0]}\n"
		"  limit: {type: limit, joint: k, dof: 2, lower: -1 rad, stiffness: 10}\n"
		"  friction: {type: friction, joint: j, coulomb: 0.1, smoothing_speed: 0.01}\n"
		"  servo: {type: servo, joint: j, reference: [[0, 0], [1, 30 deg]], proportional: 4, derivative: 1}\n"
		"  joint_drive: {type: joint_drive, joint: n, q: 0.1 * sin(t)}\n"
		"  wheel: {type: wheel, node: c, inertia: 0.1, torque: {shape: step, points: [[0, 1], [2 ms, -1]]}}\n"
		"  gyro: {type: control_moment_gyro, node: c, gimbal: x, spin: z, momentum: 1, rate: 0.1}\n"
		"  thruster: {type: thruster, node: c/p, thrust: 1, direction: [1, 1, 0], pulses: [[1 ms, 2 ms], [3 ms, 4 ms]]}\n"
		"  drag: {type: drag, node: c/p, density: 1.2, coefficient: 0.5, area: 0.1, flow: [1, 0, 0]}\n"
		"  slosh: {type: slosh, node: c, mass: 1, stiffness: [1, 2, 3], position: [0.1, 0, 0]}\n"
		"  gravity: {type: gravity, group: sky, mu: 3.986e14, position: [7e6, 0, 0]}\n"
		"  table_load: {type: applied_load, node: c/p, frame: node, force: [0, [[0, 1], [1, 2]], 0]}\n"
		"  effort: {type: applied_load, joint: k, dof: 1, effort: [[0, 1], [1, 2]]}\n"
		"  modal: {type: applied_load, body: f, mode: 2, effort: 3, start: 1 ms, end: 5 ms}\n"
		"  contact: {type: contact, material: {stiffness: 1e4, friction_dynamic: 0.1}, shapes: {\n"
		"    floor: {type: plane, at: [0, 0, -9], layers: [ground], material: {stiffness: rigid, torsion_radius: 1 mm}},\n"
		"    ball: {type: sphere, node: c, radius: 0.1, owner: me, layers: [toy, default], mask: [ground]},\n"
		"    pill: {type: capsule, node: d, radius: 0.1, length: 0, owner: me, margin: 1 mm},\n"
		"    box: {type: box, node: a, half: [0.1, 0.2, 0.3], orientation: {y: 20 deg}}}}\n"
		"  expression: {type: applied_load, node: c, force: [\"sin(t)\", \"0\", \"-u(j)\"]}\n"
		"  pid: {type: pid, joint: k, dof: 2, measured: \"q(k.angle2)\", set_point: [[0, 0], [1, 2]], sample_period: 1 ms, upper: 2,\n"
		"    anti_windup: none, measured_rate: 0, delay: 2}\n"
		"  blocks: {type: state_space, inputs: [\"q(j)\", 2, [[0, 1], [1, 2]]], A: [[0.5, 1], [0, 0.25]], B: [[1, 0, 0], [0, 1, 2]],\n"
		"    C: [[1, 0]], D: [[0, 0, 1]], initial: [1, 2], sample_period: 1 ms, sample_offset: 0.5 ms}\n"
		"  transfer: {type: transfer_function, input: \"u(j)\", numerator: 3, denominator: [1, 2, 3], discretization: tustin,\n"
		"    sample_period: 1 ms}\n"
		"  filter: {type: filter, kind: notch, input: \"device(pid.output)\", frequency: 30 rad/s, damping: 0.1, sample_period: 1 ms}\n"
		"  map: {type: lookup, inputs: [\"q(j)\", \"u(j)\"], x: [0, 1], y: [0, 2, 3], table: [[1, 2, 3], [4, 5, 6]], interpolation: step,\n"
		"    sample_period: 1 ms}\n"
		"  follow: {type: servo, joint: j, reference: \"0.1*sin(3*t)\", proportional: 2}\n"
		"  rates: {type: rate_gyro, node: c/p, bias: [1, 2, 3], noise: 0.1, resolution: 1e-3, range: 20, seed: 5, sample_period: 1 ms}\n"
		"  stars: {type: star_tracker, node: c, from: a/p, noise: 1 deg, sample_period: 2 ms}\n"
		"  count: {type: encoder, joint: n, resolution: 1 mm, sample_period: 1 ms}\n"
		"  load_cell: {type: force_sensor, joint: k, noise_force: 1 N, bias_moment: [1, 0, 0], sample_period: 2 ms}\n"
		"  fall: {type: accelerometer, node: c/p, bias: [1, 0, 0], sample_period: 1 ms}\n";
	expect_round_trip(devices, 0.01, NULL);
	/* Devices are written by the kinds of their fields: a new kind needs a line above, a new type does not. */
	bool written[FIELD_KIND_COUNT] = {[FIELD_FILE] = true, [FIELD_TEXT] = true}; // of shared objects
	for (int pass = 0; pass < 2; pass++)
		for (int i = 0; device_type(i); i++) {
			const FieldTable *table = &device_type(i)->table;
			char line[80];
			snprintf(line, sizeof line, "type: %s,", table->what);
			const bool listed = strstr(devices, line);
			for (int k = 0; k < table->count; k++) {
				written[table->fields[k].kind] |= listed && pass == 0;
				if (pass == 1 && !written[table->fields[k].kind])
					fail_msg("no value of the kind of %s.%s is written here", table->what, table->fields[k].name);
			}
		}
}

static void motions_come_back(void **state) {
	(void)state;
	expect_round_trip("group_motions:\n"
	                  "  sky:\n"
	                  "    l: {at: [t, [[0, 0], [1, 2]], 0], axis: [1, 1, 0], angle: 30 deg * sin(2*t)}\n"
	                  "    m: {angle: {shape: cubic, points: [[0, 0], [1, 1]]}}\n",
	                  0.01, NULL);
}

static void every_action_comes_back(void **state) {
	(void)state;
	static const char events[] =
		"devices: {push: {type: spring, from: a/p, to: b, stiffness: 1}}\n"
		"group_motions: {sky: {}}\n"
		"events:\n"
		"  first: {at: 1 ms, do: [{switch_off: push}, {switch_on: push}, {note: \"so: far\"}, {close: tie}, {open: tie}]}\n"
		"  again: {every: 2 ms, start: 0, do: {lock: k, dof: 2}}\n"
		"  rise: {when: \"q(j) > 0.1\", direction: down, once: false, do: {unlock: k, dof: 2}}\n"
		"  cross: {when: t - 3 ms, do: [{lock_modes: f}, {unlock_modes: f, mode: 1}, {release: sky}]}\n"
		"  later: {after: cross, delay: 1 ms, do: [{attach: {name: hold, type: universal, axis: x, axis2: y, from: ground, to: c,\n"
		"    inboard: [1, 0, 0], fit: from, tolerance: 1 mm, loop: true}, if_refused: ignore},\n"
		"    {detach: m, group: part, if_refused: ignore}, {reattach: m, fit: to, if_refused: ignore}]}\n"
		"  new: {after: later, when: \"t > 5 ms\", do: [{add_body: {name: e, mass: 1, inertia: [1, 2, 2], com: [0, 0, 1], at: [9, 9, 9],\n"
		"    velocity: [1, 0, 0], nodes: {q: [1, 2, 3]}}}, {remove_body: e}, {reroot: d, if_refused: ignore},\n"
		"    {split: c, group: half, if_refused: ignore}]}\n"
		"  bend: {at: 6 ms, do: [{add_body: {name: g, mass: 1, inertia: [1, 2, 2], at: [9, 9, 9], nodes: {q: [1, 2, 3]},\n"
		"    flexible: {stiffness: [8, 3], nodes: {q: {mass: 2, phi: [[1, 0], [0, 1], [0.5, 0]]}}}, eta: [0.1, 0.2], eta_dot: [0, 1]}},\n"
		"    {attach: {name: grip, from: c, to: g/q, fit: to, kinematic: true}, if_refused: ignore},\n"
		"    {propagate: sky, as: rigid}, {propagate: sky, as: kinematic}]}\n"
		"  change: {at: 7 ms, do: [{set: device:push.stiffness, value: 2.5}, {set: body:a.mass, value: 3}]}\n"
		"  end: {at: 8 ms, do: {stop: enough}}\n"
		"  halt: {at: 9 ms, do: {stop: true}}\n";
	expect_round_trip(events, 0.01, NULL);
	for (int i = 0; cal_action_name((CalActionKind)i); i++) {
		char word[40];
		snprintf(word, sizeof word, "{%s: ", cal_action_name((CalActionKind)i));
		if (!strstr(events, word))
			fail_msg("no action %s is written here", cal_action_name((CalActionKind)i));
	}
}

static void functions_of_drives_come_back(void **state) {
	(void)state;
	static const char *const expected[] = {"value: 10 deg * sin(3*t)", "shape: cubic", NULL};
	const char *text = "calder: 1\nbodies: {a: {mass: 1, inertia: [1, 1, 1]}, b: {mass: 1, inertia: [1, 1, 1]}}\n"
					   "joints: {j: {type: revolute, to: a}, k: {type: prismatic, to: b}}\nloops:\n"
					   "  x: {type: coupling, terms: [{joint: j, factor: 1}], drive: {value: 10 deg * sin(3*t)}}\n"
					   "  y: {type: inplane, from: b, drive: {value: {shape: cubic, points: [[0, 0], [1, 10 cm]]}}}\n";
	CalSetup *setup = parse(text, "t.yaml");
	char *again = round_trip(setup, 0.01);
	for (int i = 0; expected[i]; i++)
		assert_non_null(strstr(again, expected[i]));
	free(again);
	cal_setup_destroy(setup);
}

/* Not run: there is no such code. */
static void libraries_come_back(void **state) {
	(void)state;
	static const char *const expected[] = {"library: \"./dev.so\"",        "arguments: \"a=1, b\"",
	                                       "library: sub/box.so",          "interface: tip",
	                                       "stabilisation: {frequency: 5", NULL};
	expect_round_trip("devices: {own: {type: shared, library: ./dev.so, arguments: \"a=1, b\"}}\n"
	                  "subsystems: {box: {library: sub/box.so, attach: [{to: a/p}, {to: c/p, interface: tip,\n"
	                  "  joint: {type: spherical, a: [1, 0, 0], stabilisation: {frequency: 5}}}]}}\n",
	                  0, expected);
}

static void run_settings_come_back(void **state) {
	(void)state;
	static const char *const expected[] = {
		"method: rk4", "assemble: any", "projection: none", "branches: 2", "fine.csv", "whole_steps: true", NULL};
	expect_round_trip(
		"interface: [a/p, c]\n"
		"run: {duration: 2 s, method: rk4, step: 1 ms, projection: none, threads: 1, branches: 2, assemble: any, whole_steps: true,\n"
		"  output: [{interval: 10 ms, signals: [q, \"node:a/p\", \"momentum:Lz\"]}, {name: fine, file: fine.csv}]}\n",
		0.01, expected);
	expect_round_trip("run: {duration: 1 s, rtol: 1e-6, atol: 1e-8, min_step: 1e-9, max_step: 0.1, max_steps: 1000}\n",
	                  0.01, NULL);
	static const char *const cut[] = {"whole_steps: false", NULL};
	expect_round_trip("run: {duration: 1 s, whole_steps: false}\n", 0.01, cut);
	static const char *const held[] = {"formulation: system", "update: 0.01", "retain: 25", "unretained: bounded",
	                                   NULL};
	expect_round_trip("run: {duration: 1 s, method: rk4, step: 1 ms, formulation: system, update: 10 ms,\n"
	                  "  retain: 40 Hz, unretained: bounded}\n",
	                  0, held); // not run: the model's topology changes, which is refused
}

/* ---- what a file cannot hold -------------------------------------------------------------------------- */

static void expect_refused(const CalSetup *setup, const char *text) {
	CalStatus status;
	CalError error = {0};
	char *out = written(setup, &status, &error);
	assert_int_equal(status, CAL_ERR_UNSUPPORTED);
	assert_string_equal(out, "");
	if (!strstr(error.text, text))
		fail_msg("\"%s\" does not say \"%s\"", error.text, text);
	free(out);
}

static void what_a_file_cannot_hold_is_refused_before_the_first_byte(void **state) {
	(void)state;
	CalSetup *setup = file_of(BODIES);
	CalError error;
	const double q[7] = {1, 2, 3, 1, 0, 0, 0};
	const uint8_t assumed[6] = {1};
	const CalJointId joint = cal_desc_find_joint(cal_setup_desc(setup), "l");
	cal_model_file_trim(setup);
	const CalStateDef state_def = {.q = q, .assumed_q = assumed};
	assert_int_equal(cal_setup_set_state(setup, joint, &state_def, &error), CAL_OK);
	expect_refused(setup, "state of joint \"l\": a file cannot hold a part of it that is assumed");
	assert_int_equal(cal_setup_set_state(setup, joint, &(CalStateDef){.q = q}, &error), CAL_OK);
	free(round_trip(setup, 0));
	CalActionDef action = cal_action_def(CAL_ACTION_ADD_BODY);
	CalSetupEvent event = cal_setup_event_def();
	action.body.body.name = "new", action.body.body.mass = 1;
	event.name = "e", event.at = 1, event.actions = &action, event.action_count = 1;
	assert_int_equal(cal_setup_add_event(setup, &event, &error), CAL_OK);
	expect_refused(setup, "event \"e\": it adds a body with a gravity of its own");
	cal_setup_destroy(setup);
	static const CalVec3 corners[] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
	static const int faces[] = {0, 2, 1, 0, 1, 3, 1, 2, 3, 0, 3, 2};
	CalMesh *mesh = NULL;
	assert_int_equal(cal_mesh_create("solid", corners, 4, faces, 4, NULL, &mesh, &error), CAL_OK);
	const CalShapeDef shapes[] = {{.name = "floor", .type = CAL_SHAPE_PLANE},
	                              {.name = "rock", .type = CAL_SHAPE_MESH, .mesh = mesh}};
	const CalNodeId nodes[2] = {{0}, {1}};
	const CalContactDef contact = {.name = "touch", .shapes = shapes, .nodes = nodes, .shape_count = 2};
	setup = parse(BODIES, "t.yaml");
	assert_int_equal(cal_setup_add_device(setup, "contact", &contact, &error), CAL_OK);
	expect_refused(setup, "device \"touch\": one of its shapes is a mesh in memory");
	cal_setup_destroy(setup);
	cal_mesh_destroy(mesh);
}

/* A placement without orientation, as C programs give it. */
static void visuals_without_orientation_come_back(void **state) {
	(void)state;
	CalSetup *setup = parse(BODIES, "t.yaml");
	CalError error = {0};
	CalStatus status;
	const CalVisual box = {
		.kind = CAL_VISUAL_BOX, .placement = {.position = {1, 2, 3}}, .size = {1, 1, 1}, .color = -1};
	assert_int_equal(cal_setup_add_visual(setup, (CalBodyId){1}, &box, &error), CAL_OK);
	char *text = written(setup, &status, &error);
	assert_int_equal(status, CAL_OK);
	CalSetup *again = parse(text, "t.yaml");
	const CalVisual *visuals;
	const int count = cal_setup_visuals(again, (CalBodyId){1}, &visuals);
	assert_true(count >= 1);
	assert_true(visuals[count - 1].placement.position.y == 2 && visuals[count - 1].placement.orientation.w == 1);
	free(text);
	cal_setup_destroy(again);
	cal_setup_destroy(setup);
}

int main(void) {
	NEEDS_YAML();
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_example_comes_back),
		cmocka_unit_test(states_come_back),
		cmocka_unit_test(loads_come_back),
		cmocka_unit_test(every_device_comes_back),
		cmocka_unit_test(motions_come_back),
		cmocka_unit_test(every_action_comes_back),
		cmocka_unit_test(functions_of_drives_come_back),
		cmocka_unit_test(libraries_come_back),
		cmocka_unit_test(run_settings_come_back),
		cmocka_unit_test(visuals_without_orientation_come_back),
		cmocka_unit_test(what_a_file_cannot_hold_is_refused_before_the_first_byte),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
