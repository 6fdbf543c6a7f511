// SPDX-License-Identifier: Apache-2.0
/*
 * test_model_file_devices.c — devices of the native file: each type, units by the kind of joint, and mistakes with
 * their place.
 */
#include <math.h>

#include <calder/calder.h>

#include "support/model_file_support.h"

#define HEAD                                                                     \
	"calder: 1\n"                                                                \
	"groups: {other: {}}\n"                                                      \
	"bodies:\n"                                                                  \
	"  hub: {mass: 50 kg, inertia: [9, 12, 10], nodes: {port: [30 cm, 0, 0]}}\n" \
	"  arm: {mass: 2 kg, inertia: [0.1, 0.1, 0.1]}\n"                            \
	"  cart: {group: other, mass: 4 kg, inertia: [1, 1, 1]}\n"                   \
	"joints:\n"                                                                  \
	"  flight: {type: free, to: hub}\n"                                          \
	"  hinge: {type: revolute, from: hub, to: arm}\n"                            \
	"  rail: {type: prismatic, axis: x, to: cart}\n"                             \
	"devices:\n"

static const char every_type[] = HEAD
	"  k: {type: spring, from: hub/port, to: cart, stiffness: 2 N/m, damping: 0.1 N*s/m, length: 10 cm, cable: true}\n"
	"  b: {type: bushing, to: cart, stiffness: [8 N/m, 0, 0], damping: [0, 0, 0], rest: [20 cm, 0, 0],\n"
	"      angular_stiffness: [1, 1, 1], angular_damping: [0, 0, 0]}\n"
	"  stop: {type: limit, joint: rail, lower: -1 m, upper: 1 m, stiffness: 100 N/m, damping: 1 N*s/m}\n"
	"  drag: {type: friction, joint: hinge, coulomb: 0.1 N*m, stiction: 0.2 N*m, stribeck_speed: 1 deg/s, viscous: 0.01,\n"
	"        bristle_stiffness: 100 N*m/rad, bristle_damping: 1 N*m*s/rad}\n"
	"  slow: {type: friction, joint: flight, dof: 2, coulomb: 1 N, smoothing_speed: 1 mm/s}\n"
	"  drive: {type: servo, joint: hinge, reference: [[0, 0], [4 s, 90 deg]], proportional: 5, derivative: 2,\n"
	"          integral: 0.5, stall_effort: 3 N*m, free_speed: 60 rpm, effort_limit: 2 N*m, inertia: 0.1 kg*m^2}\n"
	"  gear: {type: servo, joint: rail, gear_stiffness: 5 N/m, gear_damping: 0.1 N*s/m, rotor_inertia: 1 kg,\n"
	"         backlash: 1 mm, sample_period: 10 ms, rotor_feedback: true, proportional: 1 N/m}\n"
	"  wheel: {type: wheel, node: hub, axis: z, inertia: 0.01, speed: 100 rpm, max_torque: 1 N*m, max_speed: 6000 rpm,\n"
	"          drag: 1e-5, torque: {shape: step, points: [[0, 20 mN*m], [5 s, 0]]}}\n"
	"  cmg: {type: control_moment_gyro, node: hub, gimbal: x, spin: y, momentum: 3, angle: 10 deg, rate: 1 deg/s}\n"
	"  jet: {type: thruster, node: hub/port, direction: -y, thrust: 5 N, pulses: [[1 s, 1.5 s], [2 s, 2.1 s]]}\n"
	"  jet2: {type: thruster, node: hub/port, thrust: 5 N, throttle: 0.5}\n"
	"  jet3: {type: thruster, node: hub/port, thrust: 3 N}\n"
	"  tank: {type: slosh, node: hub, mass: 3 kg, stiffness: [5, 5, 50], damping: [0.1, 0.1, 0.1], position: [1 cm, 0, 0],\n"
	"         velocity: [0, 1 cm/s, 0]}\n"
	"  earth: {type: gravity, group: main, mu: 3.986e14, radius: 6378 km, j2: 1.08e-3, orbit: true, pole: z,\n"
	"          position: [6800 km, 0, 0], velocity: [0, 7.66 km/s, 0]}\n"
	"  push: {type: applied_load, node: arm, frame: node, force: [0, [[0, 0], [1 s, 2 N]], 0], moment: [0, 0, 1 N*m]}\n"
	"  twist: {type: applied_load, joint: hinge, effort: {shape: cubic, points: [[0, 0], [1 s, 1 N*m], [2 s, 0]]}}\n"
	"run: {duration: 1 s}\n";

static void every_type_can_be_read_and_runs(void **state) {
	(void)state;
	CalSetup *file = file_of(every_type);
	CalSim *sim = sim_of(file);
	CalError error = {0};
	assert_int_equal(cal_setup_device_count(file), 16);
	assert_int_equal(cal_sim_device_count(sim), 16);
	if (cal_sim_advance(sim, 0.5, &error) != CAL_OK)
		fail_msg("%s", error.text);
	cal_sim_destroy(sim);
	cal_setup_destroy(file);
}

static double output_of(CalSim *sim, const char *device, int k) {
	double output[16];
	const int index = cal_sim_find_device(sim, device);
	assert_int_equal(cal_sim_device_outputs(sim, index, output), CAL_OK);
	return output[k];
}

/* Units by the kind of coordinate, tables with their shapes, pulses that begin with zero. */
static void values_arrive_in_si(void **state) {
	(void)state;
	const double pi = acos(-1);
	CalSetup *file = file_of(every_type);
	CalSim *sim = sim_of(file);
	cal_sim_state(sim, 1)->q[0] = -0.5;
	assert_int_equal(cal_sim_restart(sim, NULL), CAL_OK);
	assert_true(fabs(output_of(sim, "wheel", 0) - 100 * 2 * pi / 60) < 1e-12);
	assert_true(fabs(output_of(sim, "wheel", 2) - 0.02) < 1e-15);
	assert_true(fabs(output_of(sim, "cmg", 0) - 10 * pi / 180) < 1e-15);
	assert_true(output_of(sim, "jet", 0) == 0 && output_of(sim, "jet2", 0) == 2.5);
	assert_true(output_of(sim, "jet3", 0) == 3); // no throttle: all of it
	assert_true(fabs(output_of(sim, "k", 0) - 0.8) < 1e-15);
	assert_true(fabs(output_of(sim, "b", 6) - 8 * 0.7) < 1e-14);
	assert_true(output_of(sim, "earth", 0) == 6.8e6 && output_of(sim, "earth", 4) == 7660);
	assert_int_equal(cal_sim_advance(sim, 1.25, NULL), CAL_OK);
	assert_true(output_of(sim, "jet", 0) == 5);
	const double s = 1.25 / 4, smooth = s * s * s * (10 - 15 * s + 6 * s * s);
	assert_true(fabs(output_of(sim, "drive", 0) - smooth * pi / 2) < 1e-14);
	assert_true(fabs(output_of(sim, "push", 5) - 2) < 1e-15);
	cal_sim_destroy(sim);
	cal_setup_destroy(file);
}

/* Of an angle or of a length, as the dof has it. */
static void outputs_have_the_unit_of_what_they_act_on(void **state) {
	(void)state;
	static const struct {
		const char *device;
		int output;
		const char *unit;
	} want[] = {{"stop", 0, "m"},    {"stop", 1, "N"},    {"drag", 0, "N m"}, {"slow", 0, "N"},
	            {"drive", 0, "rad"}, {"drive", 2, "N m"}, {"gear", 3, "m"},   {"gear", 2, "N"},
	            {"twist", 0, "N m"}, {"push", 4, "N"},    {"push", 3, "N m"}};
	CalSetup *file = file_of(every_type);
	CalSim *sim = sim_of(file);
	for (size_t i = 0; i < sizeof want / sizeof *want; i++) {
		CalDeviceInfo info;
		assert_int_equal(cal_sim_device(sim, cal_sim_find_device(sim, want[i].device), &info), CAL_OK);
		assert_string_equal(info.ops->output_units[want[i].output], want[i].unit);
	}
	cal_sim_destroy(sim);
	cal_setup_destroy(file);
	file = file_of(
		HEAD "  a: {type: applied_load, joint: rail, effort: 1}\n  b: {type: applied_load, joint: rail, effort: 1}\n"
			 "  c: {type: applied_load, joint: hinge, effort: 1}\n");
	sim = sim_of(file);
	static const char *const units[] = {"N", "N", "N m"};
	for (int i = 0; i < 3; i++) {
		CalDeviceInfo info;
		assert_int_equal(cal_sim_device(sim, i, &info), CAL_OK);
		assert_string_equal(info.ops->output_units[0], units[i]);
	}
	cal_sim_destroy(sim);
	cal_setup_destroy(file);
}

/* As everywhere in files. */
static void dofs_count_from_one(void **state) {
	(void)state;
	CalSetup *file =
		file_of(HEAD "  a: {type: applied_load, joint: flight, dof: 2, effort: 1 N}\n"
	                 "  b: {type: applied_load, joint: flight, dof: 1, effort: 2}\n"
	                 "  c: {type: friction, joint: flight, dof: 3, coulomb: 1 N, smoothing_speed: 1 cm/s}\n"
	                 "run: {duration: 1 s}\n");
	CalSim *sim = sim_of(file);
	cal_sim_state(sim, 0)->u[2] = 0.1;
	assert_int_equal(cal_sim_advance(sim, 1e-3, NULL), CAL_OK);
	const double *u = cal_sim_state(sim, 0)->u;
	assert_true(fabs(u[0] / u[1] - 2) < 1e-3 && u[1] > 0 && u[2] < 0.1);
	assert_true(output_of(sim, "c", 0) < -0.9);
	cal_sim_destroy(sim);
	cal_setup_destroy(file);
}

static void check_refused(const char *devices, const char *want) {
	char text[2000];
	CalSetup *file = NULL;
	CalError error = {0};
	snprintf(text, sizeof text, "%s%s", HEAD, devices);
	if (cal_model_file_parse(text, strlen(text), "t.yaml", NULL, &file, &error) == CAL_OK)
		fail_msg("was read: %s", devices);
	if (!strstr(error.text, want))
		fail_msg("got \"%s\", wanted \"%s\"", error.text, want);
}

static void mistakes_are_reported_with_their_place(void **state) {
	(void)state;
	check_refused("  a: {type: sprung}\n",
	              "t.yaml:12:13: error: device \"a\": unknown type of device \"sprung\"; did you mean \"spring\"");
	check_refused("  a: {type: zzz}\n", "the types are spring, bushing");
	check_refused("  a: {stiffness: 1}\n", "\"type\" is missing");
	check_refused("  a: {type: spring, to: hub, stifness: 1}\n", "did you mean \"stiffness\"");
	check_refused("  a: {type: spring, to: hubb}\n", "hubb");
	check_refused("  a: {type: limit, joint: flight, stiffness: 1}\n", "say with \"dof\" which one");
	check_refused("  a: {type: limit, joint: flight, dof: 7, stiffness: 1}\n",
	              "from 1 to 6, the degrees of freedom of joint");
	check_refused("  a: {type: limit, joint: flight, dof: 0, stiffness: 1}\n", "from 1 to 6");
	check_refused("  a: {type: limit, joint: rail, stiffness: 1 N*m/rad}\n", "stiffness");
	check_refused("  a: {type: limit, stiffness: 1}\n", "\"joint\" is missing");
	check_refused("  a: {type: applied_load, node: hub, effort: 1}\n", "needs a \"joint\"");
	check_refused("  a: {type: applied_load, node: hub, dof: 1}\n", "name the \"joint\" too");
	check_refused("  a: {type: applied_load, node: hub, force: 1}\n", "three numbers, tables or formulas");
	check_refused("  a: {type: applied_load, node: hub, frame: body}\n", "unknown frame");
	check_refused("  a: {type: wheel, node: hub, inertia: 1, torque: [[0, 1], [0, 2]]}\n", "times of a table ascend");
	check_refused("  a: {type: wheel, node: hub, inertia: 1, torque: [0, 1]}\n", "[time, value]");
	check_refused("  a: {type: wheel, node: hub, inertia: 1, torque: {points: [[0, 1]], shape: smoth}}\n",
	              "did you mean \"smooth\"");
	check_refused("  a: {type: thruster, node: hub, thrust: 1, pulses: [1, 2]}\n", "[start, end]");
	check_refused("  a: {type: thruster, node: hub, thrust: 1, throttle: 1, pulses: []}\n", "not both");
	check_refused("  a: {type: gravity, group: nowhere, mu: 1, position: [1, 0, 0]}\n", "no group \"nowhere\"");
}

/* What only the simulation can check names the place too. */
static void definitions_are_refused_with_their_place(void **state) {
	(void)state;
	CalSetup *file = file_of(HEAD "  a: {type: limit, joint: rail, lower: 2 m, upper: 1 m, stiffness: 1}\n");
	CalSim *sim = NULL;
	CalError error = {0};
	const CalSimOptions options = {.method = {.method = CAL_METHOD_DOPRI5}};
	assert_int_equal(cal_sim_create(cal_setup_desc(file), &options, &sim, &error), CAL_OK);
	assert_int_equal(cal_setup_apply_devices(file, sim, &error), CAL_ERR_ARGUMENT);
	assert_string_equal(error.text, "t.yaml:12:3: device \"a\" (limit): the lower limit 2 is not below the upper 1");
	cal_sim_destroy(sim);
	cal_setup_destroy(file);
}

/* A file with an old name is read as before, with a warning that has the new one. */
static void a_former_name_of_a_type_is_a_warning(void **state) {
	(void)state;
	static const char text[] = HEAD "  cmg: {type: gyro, node: hub, gimbal: x, spin: y, momentum: 3}\n";
	CalSetup *file = file_of(text);
	assert_int_equal(cal_setup_device_count(file), 1);
	assert_int_equal(cal_setup_warning_count(file), 1);
	assert_non_null(strstr(cal_setup_warning(file, 0), "device \"cmg\": the type \"gyro\" is now called "
	                                                   "\"control_moment_gyro\""));
	cal_setup_destroy(file);
	file = file_of(HEAD "  a: {type: table_load, joint: hinge, effort: [[0, 1], [1, 2]]}\n"
	                    "  b: {type: expression, joint: hinge, effort: -q(hinge)}\n");
	assert_int_equal(cal_setup_device_count(file), 2);
	assert_int_equal(cal_setup_warning_count(file), 2);
	assert_non_null(strstr(cal_setup_warning(file, 0), "the type \"table_load\" is now called \"applied_load\""));
	assert_non_null(strstr(cal_setup_warning(file, 1), "the type \"expression\" is now called \"applied_load\""));
	cal_setup_destroy(file);
}

/* Likewise for keys; both names at once are a mistake. */
static void a_former_name_of_a_key_is_a_warning(void **state) {
	(void)state;
	static const char text[] =
		"calder: 1\nbodies: {a: {mass: 1}, b: {mass: 1}}\njoints: {j: {type: free, to: a}, k: {type: free, to: b}}\n"
		"loops:\n  l: {type: weld, from: a, to: b, known: {force: [1, 0, 0]}}\nborder: [a]\n";
	static const char both[] = "calder: 1\nbodies: {a: {mass: 1}}\njoints: {j: {type: free, to: a}}\nborder: [a]\n"
							   "interface: [a]\n";
	CalSetup *file = file_of(text);
	assert_int_equal(cal_setup_warning_count(file), 2);
	assert_non_null(strstr(cal_setup_warning(file, 0), "the key \"border\" is now called \"interface\""));
	assert_non_null(strstr(cal_setup_warning(file, 1), "the key \"known\" is now called \"applied_wrench\""));
	assert_int_equal(cal_setup_interface_node_count(file), 1);
	cal_setup_destroy(file);
	CalError error = {0};
	assert_int_equal(cal_model_file_parse(both, strlen(both), "t.yaml", NULL, &file, &error), CAL_ERR_INPUT);
	assert_non_null(strstr(error.text, "\"border\" is the former name of \"interface\"; give one of them"));
}

int main(void) {
	NEEDS_YAML();
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_type_can_be_read_and_runs),
		cmocka_unit_test(values_arrive_in_si),
		cmocka_unit_test(outputs_have_the_unit_of_what_they_act_on),
		cmocka_unit_test(dofs_count_from_one),
		cmocka_unit_test(mistakes_are_reported_with_their_place),
		cmocka_unit_test(definitions_are_refused_with_their_place),
		cmocka_unit_test(a_former_name_of_a_type_is_a_warning),
		cmocka_unit_test(a_former_name_of_a_key_is_a_warning),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
