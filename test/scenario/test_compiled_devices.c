// SPDX-License-Identifier: Apache-2.0
/*
 * test_compiled_devices.c — devices and loads within a compiled subsystem: it moves as the same file does in place of it, and
 * what nobody would call in there is refused by name.
 */
#include "scenario_support.h"

#include <calder/subsystem.h>

static const char PART[] = "compiled_part.yaml";

/*
 * A motor with rotor, flexible gear, backlash, integral part and saturation; friction with bristles, an end stop, a cable that is
 * slack at first, a bushing; loads by a table that jumps and by a formula of a device's output.
 */
#define BODIES                                                                                                            \
	"calder: 1\n"                                                                                                         \
	"gravity: [0, 0, -3]\n"                                                                                               \
	"interface: [housing/mount]\n"                                                                                        \
	"bodies:\n"                                                                                                           \
	"  housing: {mass: 3, box: [0.3, 0.2, 0.1], nodes: {mount: [0, 0, -0.05], axis: [0.1, 0, 0.05], ear: [0, 0.3, 0]}}\n" \
	"  flange: {mass: 2, box: [0.4, 0.1, 0.1], nodes: {end: [0.2, 0, 0]}}\n"                                              \
	"  slider: {mass: 1, sphere: 0.1}\n"                                                                                  \
	"joints:\n"                                                                                                           \
	"  base: {type: weld, to: housing/mount}\n"                                                                           \
	"  turn: {type: revolute, from: housing/axis, to: flange, axis: y, outboard: [0.1, 0, 0]}\n"                          \
	"  slide: {type: prismatic, from: flange/end, to: slider, axis: x, dof: {stiffness: 40, damping: 0.5}}\n"             \
	"state: {turn: {q: 10 deg}, slide: {u: 0.3}}\n"
#define MOTOR                                                                                                        \
	"  motor: {type: servo, joint: turn, reference: [[0, 10 deg], [0.4, -50 deg], [1, 30 deg]], proportional: 90,\n" \
	"    integral: 20, derivative: 9, effort_limit: 8, rotor_inertia: 0.2, gear_stiffness: 300, gear_damping: 3,\n"  \
	"    backlash: 0.5 deg}\n"
#define DEVICES                                                                                                              \
	"devices:\n" MOTOR                                                                                                       \
	"  bearing: {type: friction, joint: slide, coulomb: 0.6, stiction: 0.9, stribeck_speed: 0.05, bristle_stiffness: 400,\n" \
	"    bristle_damping: 4, viscous: 0.2}\n"                                                                                \
	"  stop: {type: limit, joint: turn, lower: -25 deg, stiffness: 400, damping: 4}\n"                                       \
	"  cord: {type: spring, from: housing/ear, to: slider, stiffness: 60, damping: 1, length: 0.45, cable: true}\n"          \
	"  pad: {type: bushing, from: housing/ear, to: flange, stiffness: [5, 5, 5], damping: [1, 1, 1]}\n"                      \
	"loads:\n"                                                                                                               \
	"  - {joint: slide, effort: 2, start: 0.15, end: 0.35}\n"                                                                \
	"  - {name: pull, node: slider, force: [\"0.3*device(cord.pull)\", 0, \"sin(7*t)\"]}\n"

#define HUB                                                                                                                     \
	"calder: 1\ngravity: [0, 0, -3]\nbodies: {hub: {mass: 5, box: [1, 2, 3], nodes: {n: {at: [0.5, 0, 0], orientation: {z: 40 " \
	"deg}}}}}\n"                                                                                                                \
	"joints: {fly: {type: spherical, to: hub}}\nstate: {fly: {angular_velocity: [1, 0, 2]}}\n"
#define RUN(method) "run: {duration: 0.8, method: " method "}\n"
#define EXACT RUN("dopri5, rtol: 1e-10, atol: 1e-12")
#define IN_PLACE HUB "subsystems: {part: {file: compiled_part.yaml, attach: {to: hub/n}}}\n"

static void put_part(const char *text) {
	FILE *stream = fopen(PART, "wb");
	assert_non_null(stream);
	assert_true(fputs(text, stream) >= 0);
	assert_int_equal(fclose(stream), 0);
}

static int clean(void **state) {
	(void)state;
	remove(PART);
	return 0;
}

/* A run of the hub with the part as a compiled subsystem. */
static Run boxed(const char *hub, int *device) {
	Run r = run_text(hub);
	CalSubsystemDef def;
	CalSubsystemTie tie = {.node = cal_desc_find_node(cal_setup_desc(r.file), "hub/n"),
	                       .joint = cal_loop_def(CAL_LOOP_WELD)};
	if (cal_subsystem_from_file(PART, &def, &r.error) != CAL_OK ||
	    cal_sim_add_subsystem(r.sim, "part", &def, &tie, 1, device, &r.error) != CAL_OK)
		fail_msg("%s", r.error.text);
	return r;
}

static void compare_hubs(const Run *whole, const Run *parts, double tolerance) {
	const CalModel *model = cal_sim_model(whole->sim, 0);
	const CalState *x = cal_sim_state(whole->sim, 0), *y = cal_sim_state(parts->sim, 0);
	CalBodyInfo hub;
	assert_int_equal(cal_model_body(model, cal_model_find_body(model, "hub"), &hub), CAL_OK);
	for (int i = 0; i < 4; i++)
		assert_near(y->q[i], x->q[hub.q + i], tolerance);
	for (int i = 0; i < 3; i++)
		assert_near(y->u[i], x->u[hub.u + i], 10 * tolerance);
}

static void a_part_with_devices_moves_as_its_file(void **state) {
	(void)state;
	put_part(BODIES DEVICES);
	int device = -1;
	Run whole = run_text(IN_PLACE EXACT), parts = boxed(HUB EXACT, &device);
	double lowest = 1, pull[2] = {0};
	const int turn = cal_model_find_joint(cal_sim_model(whole.sim, 0), "part/turn");
	CalBodyInfo flange;
	assert_int_equal(cal_model_body(cal_sim_model(whole.sim, 0), turn, &flange), CAL_OK);
	for (int i = 1; i <= 16; i++) {
		advance(&whole, 0.05 * i);
		advance(&parts, 0.05 * i);
		compare_hubs(&whole, &parts, 1e-7);
		lowest = fmin(lowest, cal_sim_state(whole.sim, 0)->q[flange.q]);
		double out[8];
		assert_int_equal(cal_sim_device_outputs(whole.sim, cal_sim_find_device(whole.sim, "part/cord"), out), CAL_OK);
		pull[0] = fmin(pull[0], -out[1]);
		pull[1] += out[1] == 0;
	}
	assert_true(lowest < -25.1 * 3.14159265 / 180); // the stop was reached,
	assert_true(pull[0] < -0.1 && pull[1] > 0);     // the cable was tight and slack
	CalSimBalance a, b;
	assert_int_equal(cal_sim_balance(whole.sim, &a), CAL_OK);
	assert_int_equal(cal_sim_balance(parts.sim, &b), CAL_OK);
	assert_true(a.complete && b.complete);
	assert_near(b.error, 0, 1e-6);
	assert_near(b.dissipated, a.dissipated, 1e-6);
	assert_near(b.supplied, a.supplied, 1e-6);
	run_end(&whole);
	run_end(&parts);
}

/* The devices that can be followed by fixed steps: no ends of forces. */
#define SMOOTH                                                                                              \
	"devices:\n"                                                                                            \
	"  bearing: {type: friction, joint: slide, coulomb: 0.6, bristle_stiffness: 400, bristle_damping: 4}\n" \
	"  pad: {type: bushing, from: housing/ear, to: flange, stiffness: [5, 5, 5], damping: [1, 1, 1]}\n"

static void fixed_steps_follow_it_where_nothing_begins(void **state) {
	(void)state;
	put_part(BODIES SMOOTH);
	int device = -1;
	Run whole = run_text(IN_PLACE RUN("rk4, step: 0.5 ms")), parts = boxed(HUB RUN("rk4, step: 0.5 ms"), &device);
	advance(&whole, 0.8);
	advance(&parts, 0.8);
	compare_hubs(&whole, &parts, 1e-9);
	run_end(&whole);
	run_end(&parts);
	put_part(BODIES DEVICES);
	CalSubsystemDef def;
	Run r = run_text(HUB RUN("rk4, step: 0.5 ms"));
	assert_int_equal(cal_subsystem_from_file(PART, &def, &r.error), CAL_OK);
	assert_int_equal(cal_sim_add_subsystem(r.sim, "part", &def, NULL, 0, &device, &r.error), CAL_ERR_ARGUMENT);
	assert_non_null(strstr(r.error.text, "subsystem \"part\": forces in it begin and end"));
	assert_non_null(strstr(r.error.text, "choose dopri5"));
	def.ops->destroy(def.self);
	run_end(&r);
}

/* Bristles, the rotor and the integral are among its hidden states. */
static void checkpoints_hold_its_devices(void **state) {
	(void)state;
	put_part(BODIES DEVICES);
	int device = -1;
	Run whole = boxed(HUB EXACT, &device), fresh = boxed(HUB EXACT, &device);
	advance(&whole, 0.3);
	const size_t size = cal_checkpoint_size(whole.sim);
	size_t used = 0;
	void *bytes = malloc(size);
	assert_non_null(bytes);
	assert_int_equal(cal_checkpoint_take(whole.sim, bytes, size, &used), CAL_OK);
	advance(&fresh, 0.1);
	if (cal_checkpoint_restore(fresh.sim, bytes, used, &fresh.error) != CAL_OK)
		fail_msg("%s", fresh.error.text);
	advance(&whole, 0.8);
	advance(&fresh, 0.8);
	CalDeviceInfo a, b;
	assert_int_equal(cal_sim_device(whole.sim, device, &a), CAL_OK);
	assert_int_equal(cal_sim_device(fresh.sim, device, &b), CAL_OK);
	assert_true(a.nx >= 9 + 8 + 4); // coordinates and speeds of the three bodies, states of motor and friction
	assert_int_equal(a.nx, b.nx);
	assert_memory_equal(a.x, b.x, (size_t)a.nx * sizeof(double));
	free(bytes);
	run_end(&whole);
	run_end(&fresh);
}

/* A spring without a direction: the doubt of a device inside is one of the run. */
static void doubts_of_its_devices_are_those_of_the_run(void **state) {
	(void)state;
	put_part("calder: 1\ninterface: [a]\nbodies: {a: {mass: 1, sphere: 0.1}, b: {mass: 1, sphere: 0.1}}\n"
	         "joints: {base: {type: weld, to: a}, slide: {type: prismatic, from: a, to: b, axis: x}}\n"
	         "devices: {coil: {type: spring, from: a, to: b, stiffness: 10, length: 0.5}}\n");
	int device = -1;
	Run r = boxed(HUB EXACT, &device);
	advance(&r, 0.1);
	assert_int_equal(cal_sim_doubt_count(r.sim), 1);
	CalDoubt doubt;
	assert_int_equal(cal_sim_doubt(r.sim, 0, &doubt), CAL_OK);
	assert_non_null(
		strstr(doubt.text, "subsystem \"part\": device \"box/coil\" (spring): its nodes are at the same place"));
	run_end(&r);
}

static void what_nobody_would_call_is_refused(void **state) {
	(void)state;
	static const struct {
		const char *part, *what;
	} list[] = {
		{"devices: {m: {type: servo, joint: turn, reference: 0, proportional: 9, sample_period: 10 ms}}\n",
	     "the device \"box/m\" (servo) samples"},
		{"devices: {d: {type: joint_drive, joint: turn, q: 0.1 * t}}\n", "(joint_drive) drives a degree of freedom"},
		{"events: {e: {when: q(turn) > 1, do: {note: far}}}\n", "it has events"},
		{"group_motions: {main: {turn: {q: 0.1 * t}, slide: {q: 0.1 * t}}}\n", "group_motions"},
	};
	for (size_t i = 0; i < sizeof list / sizeof *list; i++) {
		char text[3000];
		CalError error = {0};
		CalSubsystemDef def;
		snprintf(text, sizeof text, "%s%s", BODIES, list[i].part);
		put_part(text);
		const CalStatus status = cal_subsystem_from_file(PART, &def, &error);
		if (status != CAL_ERR_UNSUPPORTED || !strstr(error.text, list[i].what) || !strstr(error.text, PART))
			fail_msg("%s: %d, %s", list[i].what, (int)status, error.text);
	}
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_part_with_devices_moves_as_its_file),
		cmocka_unit_test(fixed_steps_follow_it_where_nothing_begins),
		cmocka_unit_test(checkpoints_hold_its_devices),
		cmocka_unit_test(doubts_of_its_devices_are_those_of_the_run),
		cmocka_unit_test(what_nobody_would_call_is_refused),
	};
	return cmocka_run_group_tests(tests, NULL, clean);
}
