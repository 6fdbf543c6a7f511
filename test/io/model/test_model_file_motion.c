// SPDX-License-Identifier: Apache-2.0
/*
 * test_model_file_motion.c — formulas, motions and pendulums of the native file: reading, running, writing, mistakes.
 */
#include <math.h>

#include <calder/calder.h>

#include "support/failing_allocator.h"
#include "support/model_file_support.h"

#define HEAD                                                                     \
	"calder: 1\n"                                                                \
	"groups: {other: {gravity: [0, 0, -9.81]}}\n"                                \
	"bodies:\n"                                                                  \
	"  hub: {mass: 50 kg, inertia: [9, 12, 10], nodes: {port: [30 cm, 0, 0]}}\n" \
	"  arm: {mass: 2 kg, inertia: [0.1, 0.1, 0.1]}\n"                            \
	"  ball: {mass: 2 kg, inertia: [0.1, 0.1, 0.1]}\n"                           \
	"  cart: {group: other, mass: 4 kg, inertia: [1, 1, 1]}\n"                   \
	"joints:\n"                                                                  \
	"  flight: {type: free, to: hub}\n"                                          \
	"  hinge: {type: revolute, from: hub, to: arm}\n"                            \
	"  socket: {type: spherical, from: hub, to: ball}\n"                         \
	"  rail: {type: prismatic, axis: x, to: cart}\n"

static const char whole[] =
	HEAD "pendulums:\n"
		 "  slosh: {node: cart, mass: 1 kg, length: 20 cm, pivot: [0, 0, 10 cm], down: -z, damping: 0.01 N*m*s/rad}\n"
		 "  bell: {node: ground, group: other, mass: 2 kg, length: 1 m, stiffness: 3 N*m/rad}\n"
		 "state:\n"
		 "  flight: {orientation: {axis: x, angle: 90 deg}}\n"
		 "  hinge: {q: 10 deg}\n"
		 "  slosh: {q: [5 deg, 0]}\n"
		 "devices:\n"
		 "  pull: {type: applied_load, joint: rail, effort: -8*(q(rail) - x(hub)) + 2 N}\n"
		 "  push: {type: applied_load, node: cart, frame: node, force: [0, 3*t, 1 kN], moment: [0, 0, 'sin(t)']}\n"
		 "motions:\n"
		 "  main:\n"
		 "    flight: {at: [0.2 m/s * t, [[0, 0], [2 s, 1 m]], 30 cm], axis: z, angle: 5 deg/s * t}\n"
		 "    socket: {axis: [0, 1, 0], angle: {points: [[0, 0], [1 s, 90 deg]], shape: cubic}}\n"
		 "run: {duration: 1 s}\n";

static void near_to(double got, double want, double tolerance) {
	if (!(fabs(got - want) <= tolerance))
		fail_msg("got %.15g, wanted %.15g", got, want);
}

static void motions_arrive(void **state) {
	(void)state;
	CalSetup *file = file_of(whole);
	CalSim *sim = sim_of(file);
	CalError error = {0};
	if (cal_sim_advance(sim, 0.5, &error) != CAL_OK)
		fail_msg("%s", error.text);
	const CalState *now = cal_sim_state(sim, 0);
	const double deg = acos(-1) / 180, s = 0.25, angle = 2.5 * deg;
	near_to(now->q[0], 0.1, 1e-15);
	near_to(now->q[1], s * s * s * (10 - 15 * s + 6 * s * s), 1e-15); // smooth, unless it says otherwise
	near_to(now->q[2], 0.3, 1e-15);
	near_to(now->u[0], 0.2, 1e-15);
	near_to(now->q[3], cos(angle / 2) * sqrt(0.5), 1e-15);
	near_to(now->q[4], cos(angle / 2) * sqrt(0.5), 1e-15);
	near_to(now->q[6], sin(angle / 2) * sqrt(0.5), 1e-15);
	near_to(now->q[7], 10 * deg, 1e-15); // the hinge stays
	near_to(2 * atan2(now->q[10], now->q[8]), 45 * deg, 1e-15);
	near_to(now->u[8], 1.5 * 90 * deg, 1e-14); // cubic: 1.5 dv/h in the middle
	cal_sim_destroy(sim);
	cal_setup_destroy(file);
}

static void pendulums_are_bodies(void **state) {
	(void)state;
	CalSetup *file = file_of(whole);
	const CalDesc *desc = cal_setup_desc(file);
	CalNodeId inboard, outboard;
	const CalJointDef *joint = cal_desc_joint(desc, cal_desc_find_joint(desc, "slosh"), &inboard, &outboard);
	const CalBodyDef *body = cal_desc_body(desc, cal_desc_find_body(desc, "slosh"));
	assert_int_equal(joint->type, CAL_JOINT_UNIVERSAL);
	assert_int_equal(inboard.value, cal_desc_find_node(desc, "cart").value);
	near_to(joint->dof[1].damping, 0.01, 0);
	near_to(joint->inboard.position.z, 0.1, 0);
	near_to(body->mass, 1, 0);
	near_to(body->com.z, -0.2, 1e-16);
	assert_string_equal(cal_desc_group(desc, body->group)->name, "other");
	body = cal_desc_body(desc, cal_desc_find_body(desc, "bell"));
	assert_string_equal(cal_desc_group(desc, body->group)->name, "other");
	near_to(cal_desc_joint(desc, cal_desc_find_joint(desc, "bell"), NULL, NULL)->dof[0].stiffness, 3, 0);
	CalSim *sim = sim_of(file);
	const CalModel *model = cal_sim_model(sim, 1);
	CalBodyInfo info;
	assert_int_equal(cal_model_body(model, cal_model_find_body(model, "slosh"), &info), CAL_OK);
	near_to(cal_sim_state(sim, 1)->q[info.q], 5 * acos(-1) / 180, 1e-15);
	cal_sim_destroy(sim);
	cal_setup_destroy(file);
}

static double output_of(CalSim *sim, const char *device, int k) {
	double output[16];
	assert_int_equal(cal_sim_device_outputs(sim, cal_sim_find_device(sim, device), output), CAL_OK);
	return output[k];
}

static void formulas_act(void **state) {
	(void)state;
	CalSetup *file = file_of(whole);
	CalSim *sim = sim_of(file);
	CalError error = {0};
	assert_int_equal(cal_setup_device_count(file), 2);
	if (cal_sim_advance(sim, 0.5, &error) != CAL_OK)
		fail_msg("%s", error.text);
	near_to(output_of(sim, "pull", 0), -8 * (cal_sim_state(sim, 1)->q[0] - 0.1) + 2, 1e-13);
	near_to(output_of(sim, "push", 5), 1.5, 1e-15);
	near_to(output_of(sim, "push", 6), 1000, 0);
	near_to(output_of(sim, "push", 3), sin(0.5), 1e-15);
	cal_sim_destroy(sim);
	cal_setup_destroy(file);
}

/* Written and read again it moves in the same way; pendulums have become bodies and joints. */
static void it_reads_back(void **state) {
	(void)state;
	CalSetup *file = file_of(whole);
	FILE *stream = tmpfile();
	char text[8000];
	assert_non_null(stream);
	assert_int_equal(cal_model_file_write(file, stream, NULL), CAL_OK);
	rewind(stream);
	text[fread(text, 1, sizeof text - 1, stream)] = 0;
	fclose(stream);
	assert_null(strstr(text, "pendulums"));
	assert_non_null(strstr(text, "motions"));
	CalSetup *again = file_of(text);
	CalSim *first = sim_of(file), *second = sim_of(again);
	assert_int_equal(cal_sim_advance(first, 0.5, NULL), CAL_OK);
	assert_int_equal(cal_sim_advance(second, 0.5, NULL), CAL_OK);
	for (int g = 0; g < 2; g++)
		for (int i = 0; i < cal_model_q_count(cal_sim_model(first, g)); i++)
			assert_true(cal_sim_state(first, g)->q[i] == cal_sim_state(second, g)->q[i]);
	cal_sim_destroy(first);
	cal_sim_destroy(second);
	cal_setup_destroy(file);
	cal_setup_destroy(again);
}

static void every_allocation_may_fail(void **state) {
	(void)state;
	CalStatus status = CAL_ERR_MEMORY;
	for (long k = 1; status != CAL_OK; k++) {
		FailingAllocator counter = {.fail_at = k};
		const CalAllocator allocator = failing_allocator(&counter);
		CalSetup *file = NULL;
		CalError error = {0};
		status = cal_model_file_parse(whole, strlen(whole), "t.yaml", &allocator, &file, &error);
		if (status != CAL_OK) {
			assert_int_equal(status, CAL_ERR_MEMORY);
			assert_non_null(strstr(error.text, "out of memory"));
			assert_null(file);
		}
		cal_setup_destroy(file);
		assert_int_equal(counter.live, 0);
	}
}

static void check_refused(const char *section, const char *want) {
	char text[2000];
	CalSetup *file = NULL;
	CalError error = {0};
	snprintf(text, sizeof text, "%s%s", HEAD, section);
	if (cal_model_file_parse(text, strlen(text), "t.yaml", NULL, &file, &error) == CAL_OK)
		fail_msg("was read: %s", section);
	if (!strstr(error.text, want))
		fail_msg("got \"%s\", wanted \"%s\"", error.text, want);
}

static void mistakes_are_reported_with_their_place(void **state) {
	(void)state;
	check_refused("devices:\n  a: {type: applied_load, joint: rail, effort: 3*q(rail}\n",
	              "t.yaml:14:48: error: device \"a\": formula \"3*q(rail\", column 9: expected");
	check_refused("devices:\n  a: {type: applied_load, joint: rail, effort: t < 3}\n", "is a condition");
	check_refused("devices:\n  a: {type: applied_load, node: hub, force: t}\n", "three numbers, tables or formulas");
	check_refused("motions: [1]\n", "map by names of groups");
	check_refused("motions: {nowhere: {}}\n", "t.yaml:13:11: error: motion of group \"nowhere\": there is no group");
	check_refused("motions: {main: 5}\n", "map by names of joints");
	check_refused("motions: {main: {hing: {q: t}}}\n", "unknown joint \"hing\"; did you mean \"hinge\"");
	check_refused("motions: {main: {rail: {q: t}}}\n", "joint \"rail\" is in group \"other\"");
	check_refused("motions: {main: {hinge: {q: u(hinge)}}}\n",
	              "motion of joint \"hinge\": \"u(hinge)\" depends on the state");
	check_refused("motions: {main: {hinge: {q: 3 mm}}}\n", "wrong unit in \"3 mm\"; expected an angle");
	check_refused("motions: {main: {hinge: {q: [[0, 0], [1, 3 mm]]}}}\n", "wrong unit");
	check_refused("motions: {main: {hinge: {q: 3 *}}}\n", "column 4: expected a number");
	check_refused("motions: {main: {hinge: {at: [0, 0, 0]}}}\n", "\"at\" is for free joints");
	check_refused("motions: {main: {hinge: {angle: t}}}\n", "\"angle\" is for free and spherical joints");
	check_refused("motions: {main: {socket: {axis: z}}}\n", "needs an \"angle\"");
	check_refused("motions: {main: {socket: {q: t}}}\n", "a spherical joint has no \"q\"");
	check_refused("motions: {main: {flight: {q: [t, t, t]}}}\n", "a free joint moves by \"at\"");
	check_refused("motions: {main: {flight: {at: [t, t]}}}\n", "takes 3 functions");
	check_refused("motions: {main: {hinge: {speed: 1}}}\n", "unknown key \"speed\"");
	check_refused("pendulums: {p: {node: nowhere, mass: 1, length: 1}}\n", "nowhere");
	check_refused("pendulums: {p: {node: hub, length: 1}}\n", "\"mass\" is missing");
	check_refused("pendulums: {p: {node: hub, mass: 1, length: 0}}\n", "length");
	check_refused("pendulums: {p: {node: hub, group: other, mass: 1, length: 1}}\n",
	              "belongs to the group of its node");
	check_refused("pendulums: {p: {node: ground, group: third, mass: 1, length: 1}}\n", "no group \"third\"");
	check_refused("pendulums: {hub: {node: hub, mass: 1, length: 1}}\n", "hub");
	check_refused("pendulums: {hinge: {node: hub, mass: 1, length: 1}}\n", "there is a joint of that name");
}

/* A table that the reader alone cannot check. */
static void tables_that_jump_are_refused_with_their_place(void **state) {
	(void)state;
	CalSetup *file = file_of(HEAD "motions: {main: {hinge: {q: {shape: step, points: [[0, 0], [1, 1]]}}}}\n");
	CalSim *sim = NULL;
	CalError error = {0};
	const CalSimOptions options = {.method = {.method = CAL_METHOD_DOPRI5}};
	assert_int_equal(cal_sim_create(cal_setup_desc(file), &options, &sim, &error), CAL_OK);
	assert_int_equal(cal_setup_apply_motions(file, sim, &error), CAL_ERR_ARGUMENT);
	if (!strstr(error.text, "t.yaml:13:11: device \"motion of main\" (motion): the table of hinge jumps"))
		fail_msg("%s", error.text);
	cal_sim_destroy(sim);
	cal_setup_destroy(file);
}

int main(void) {
	NEEDS_YAML();
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(motions_arrive),
		cmocka_unit_test(pendulums_are_bodies),
		cmocka_unit_test(formulas_act),
		cmocka_unit_test(it_reads_back),
		cmocka_unit_test(every_allocation_may_fail),
		cmocka_unit_test(mistakes_are_reported_with_their_place),
		cmocka_unit_test(tables_that_jump_are_refused_with_their_place),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
