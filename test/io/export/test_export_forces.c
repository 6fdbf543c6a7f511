// SPDX-License-Identifier: Apache-2.0
/*
 * test_export_forces.c — forces that move with a rewriting: actuators over several joints of MJCF have the same efforts at any
 * state, and springs, limits and mimics of SDFormat count from its zero of coordinates.
 */
#define _POSIX_C_SOURCE 200809L // open_memstream

#include "support/round_trip.h"

#include "io/mjcf/mjcf_support.h"

static Robot read_back(const Robot *first, Written *w) {
	*w = write_setup(first->setup, CAL_FORMAT_MJCF, 0);
	CalSetup *setup = read_again(w, 0);
	Robot again = {.setup = setup, .model = model_of(setup, NULL)};
	assert_int_equal(cal_state_create(again.model, &again.state), CAL_OK);
	assert_int_equal(cal_work_create(again.model, &again.work), CAL_OK);
	return again;
}

static void expect_same_outputs(Robot *a, Robot *b, const char *const *devices, int count) {
	for (int k = 0; k < 12; k++) {
		for (int i = 0; i < cal_model_u_count(a->model); i++) {
			a->state.q[i] = b->state.q[i] = 0.7 * sin(3 * k + i);
			a->state.u[i] = b->state.u[i] = 2 * cos(5 * k + 2 * i);
		}
		for (int i = 0; i < count; i++)
			expect_near(devices[i], output_of(b, devices[i], 0), output_of(a, devices[i], 0));
	}
}

#define TWO_JOINTS(more)                                                                               \
	MJCF("<compiler angle='radian'/><worldbody><body name='a'><joint name='it\"s' axis='0 1 0'/>" UNIT \
	     "<body name='b' pos='1 0 0'><joint name='k' axis='0 1 0'/>" UNIT                              \
	     "<body name='c' pos='1 0 0'><joint name='kk' axis='0 1 0'/>" UNIT "</body></body></body></worldbody>" more)

/* A servo on a tendon, with a clamp that acts at some of the states, and one without; names where one begins another. */
static void servos_on_tendons_come_back(void **state) {
	(void)state;
	static const char *const devices[] = {"m_it\"s", "m_k", "n_k", "n_kk"};
	Robot first = robot_of(TWO_JOINTS(
		"<tendon><fixed name='s'><joint joint='it\"s' coef='.5'/><joint joint='k' coef='-.25'/></fixed><fixed name='t'>"
		"<joint joint='k' coef='1'/><joint joint='kk' coef='3'/></fixed></tendon><actuator><position name='m' tendon='s' kp='30' "
		"kv='2' gear='2' forcerange='-5 4'/><general name='n' tendon='t' gainprm='2' biastype='affine' biasprm='1 -3 "
		"-.5'/></actuator><keyframe><key name='home' ctrl='.3 2'/></keyframe>"));
	Written w;
	Robot again = read_back(&first, &w);
	assert_int_equal(written_count(&w, CAL_IMPORT_MISSING), 0);
	written_expect_note(&w, CAL_IMPORT_CHANGED, "m_it\"s", "on a tendon");
	assert_non_null(strstr(w.text, "forcerange=\"-5 4\""));
	assert_int_equal(cal_setup_device_count(again.setup), 4);
	expect_same_outputs(&first, &again, devices, 4);
	robot_close(&again);
	robot_close(&first);
	written_free(&w);
}

/* Springs and dampers of fixed tendons are such forces, too. */
static void springs_of_tendons_come_back(void **state) {
	(void)state;
	static const char *const devices[] = {"s_k", "s_kk"};
	Robot first = robot_of(TWO_JOINTS(
		"<tendon><fixed name='s' stiffness='10' damping='.5' springlength='.2'><joint joint='k' coef='2'/><joint "
		"joint='kk' coef='-1'/></fixed></tendon>"));
	Written w;
	Robot again = read_back(&first, &w);
	assert_int_equal(written_count(&w, CAL_IMPORT_MISSING), 0);
	expect_same_outputs(&first, &again, devices, 2);
	robot_close(&again);
	robot_close(&first);
	written_free(&w);
}

/* The whole weight of a body is lifted, or none of it, in SDFormat; in MJCF any part of it. */
static void lifted_weights_come_back(void **state) {
	(void)state;
	static const struct {
		const char *part;
		int missing;
	} cases[] = {{"1", 0}, {".5", 1}};
	for (int i = 0; i < 2; i++) {
		char text[600];
		snprintf(
			text, sizeof text,
			MJCF(
				"<option gravity='1 2 -9.81'/><worldbody><body name='a' gravcomp='%s'><freejoint/><inertial pos='.1 .2 .3' "
				"mass='3' diaginertia='1 1 1'/></body></worldbody>"),
			cases[i].part);
		Robot first = robot_of(text);
		Written w = write_setup(first.setup, CAL_FORMAT_SDF, 1);
		assert_int_equal(written_count(&w, CAL_IMPORT_MISSING), cases[i].missing);
		assert_true((strstr(w.text, "<gravity>false</gravity>") != NULL) == !cases[i].missing);
		if (!cases[i].missing) {
			CalSetup *again = read_again(&w, 0);
			assert_null(strstr(w.text, "gravcomp"));
			assert_int_equal(cal_setup_device_count(again), 1);
			const char *type;
			const void *a, *b;
			assert_int_equal(cal_setup_device(first.setup, 0, &type, NULL, &a), CAL_OK);
			assert_int_equal(cal_setup_device(again, 0, &type, NULL, &b), CAL_OK);
			for (int k = 0; k < 3; k++)
				assert_true(((const CalAppliedLoadDef *)a)->force[k].number ==
				            ((const CalAppliedLoadDef *)b)->force[k].number);
			cal_setup_destroy(again);
		}
		written_free(&w);
		robot_close(&first);
	}
}

/* Formulas that are no force along a tendon are missing: not in proportion, not affine, on one joint only, twice on one. */
static void other_formulas_are_missing(void **state) {
	(void)state;
#define MODEL(devices)                                                                                                      \
	"calder: 1\nbodies: {a: {mass: 1, sphere: 1}, b: {mass: 1, sphere: 1}}\njoints: {j: {type: revolute, to: a, axis: z}, " \
	"k: {type: revolute, from: a, to: b, axis: z}}\ngravity: [0, 0, -9.81]\ndevices: {" devices "}\n"
#define LOAD(name, joint, effort) name ": {type: applied_load, joint: " joint ", effort: \"" effort "\"}"
	static const char *const cases[] = {
		MODEL(LOAD("x", "j", "(2)*(q(j) + q(k))") ", " LOAD("y", "k", "(1)*(q(j) + q(k))")),
		MODEL(LOAD("x", "j", "(1)*(q(j)*q(k))") ", " LOAD("y", "k", "(1)*(q(j)*q(k))")),
		MODEL(LOAD("x", "j", "(1)*(q(j) + q(k))")),
		MODEL(LOAD("x", "j", "(1)*(q(j) + q(k) + t)") ", " LOAD("y", "k", "(1)*(q(j) + q(k) + t)")),
		MODEL(LOAD("x", "j", "(1)*(q(j) + q(k))") ", " LOAD("y", "k", "(1)*(q(j) + q(k))") ", " LOAD(
			"z", "k", "(1)*(q(j) + q(k))")),
	};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		CalSetup *setup = NULL;
		CalError error = {0};
		if (cal_model_parse(cases[i], strlen(cases[i]), "t.yaml", NULL, NULL, &setup, &error) != CAL_OK)
			fail_msg("%s", error.text);
		Written w = write_setup(setup, CAL_FORMAT_MJCF, 0);
		assert_int_equal(w.status, CAL_ERR_UNSUPPORTED);
		assert_true(written_count(&w, CAL_IMPORT_MISSING) > 0);
		written_free(&w);
		cal_setup_destroy(setup);
	}
}

/* A tendon has the name of no other: neither of a spring nor of a coupling. */
static void names_of_tendons_differ(void **state) {
	(void)state;
	static const char text[] =
		"calder: 1\ngravity: [0, 0, -9.81]\nbodies: {a: {mass: 1, sphere: 1, nodes: {n: [1, 0, 0]}}, b: {mass: 1, sphere: 1}, "
		"c: {mass: 1, sphere: 1}}\njoints: {j: {type: revolute, to: a, axis: z}, k: {type: revolute, from: a, to: b, axis: z}, "
		"l: {type: revolute, from: b, to: c, axis: z}}\nloops: {m_tendon: {type: coupling, terms: [{joint: j, factor: 1}, "
		"{joint: k, factor: 2}, {joint: l, factor: 3}]}}\n"
		"devices: {m_j: {type: applied_load, joint: j, effort: \"(1)*(q(j) + q(k))\"}, m_k: {type: applied_load, joint: k, "
		"effort: \"(1)*(q(j) + q(k))\"}, m_tendon_2: {type: spring, from: ground, to: a/n, stiffness: 1}}\n";
	CalSetup *setup = NULL;
	CalError error = {0};
	if (cal_model_parse(text, strlen(text), "t.yaml", NULL, NULL, &setup, &error) != CAL_OK)
		fail_msg("%s", error.text);
	Written w = write_setup(setup, CAL_FORMAT_MJCF, 0);
	CalSetup *again = read_again(&w, 0); // names of tendons that are there twice are refused
	assert_int_equal(cal_setup_device_count(again), 3);
	written_free(&w);
	cal_setup_destroy(again);
	cal_setup_destroy(setup);
}

/* ---- SDFormat: another zero ------------------------------------------------------------------------------------- */

/* A parallelogram whose rocker is a right angle off at zero, closed at 0.5, -0.5 and 0.5 - 90 degrees. */
#define PARALLELOGRAM(pin)                                                                                                                                                         \
	"calder: 1\ngravity: [0, -9.81, 0]\nbodies: {a: {mass: 1, com: [0.4, 0, 0], inertia: [1, 1, 1], nodes: {end: [1, 0, 0]}}, b: {mass: 1, com: [0.4, 0, 0], inertia: [1, 1, 1], " \
	"nodes: {end: [2, 0, 0]}}, c: {mass: 1, com: [0.4, 0, 0], inertia: [1, 1, 1], nodes: {end: [1, 0, 0]}}, d: {mass: 1, sphere: 1}}\n"                                            \
	"joints: {crank: {type: revolute, to: a, axis: z, dof: {stiffness: 5, rest: 0.1}}, pin: {type: " pin                                                                           \
	", from: a/end, to: b"                                                                                                                                                         \
	"}, rocker: {type: revolute, to: c, axis: z, inboard: {at: [2, 0, 0], orientation: {z: 90 deg}}}, "                                                                            \
	"gear: {type: revolute, from: a, to: d, axis: z}}\nloops: {tie: {type: revolute, from: b/end, to: c/end}, follow: {type: "                                                     \
	"coupling, terms: [{joint: gear, factor: 1}, {joint: crank, factor: -2}], drive: {offset: 0.3}}}\n"                                                                            \
	"devices: {stop: {type: limit, joint: rocker, lower: -2, upper: 1, stiffness: 10}}\nstate: {crank: {q: 0.5}, rocker: {q: "                                                     \
	"-1.0707963267948966}, pin: "

static CalSetup *setup_of(const char *text) {
	CalSetup *setup = NULL;
	CalError error = {0};
	if (cal_model_parse(text, strlen(text), "t.yaml", NULL, NULL, &setup, &error) != CAL_OK)
		fail_msg("%s", error.text);
	return setup;
}

static void sdf_has_a_zero_where_loops_are_closed(void **state) {
	(void)state;
	CalSetup *setup = setup_of(PARALLELOGRAM("revolute, axis: z") "{q: -0.5}, gear: {q: 1.3}}\n");
	Written w = write_setup(setup, CAL_FORMAT_SDF, 0);
	CalSetup *again = read_again(&w, 0);
	const CalDesc *desc = cal_setup_desc(again);
	const double crank = .5, rocker = .5 - PI / 2, gear = 2 * crank + .3;
	expect_near("rest", cal_desc_joint(desc, cal_desc_find_joint(desc, "crank"), NULL, NULL)->dof[0].rest, .1 - crank);
	const void *def = NULL;
	assert_int_equal(cal_setup_device(again, 0, NULL, NULL, &def), CAL_OK);
	expect_near("lower", ((const CalLimitDef *)def)->lower, -2 - rocker);
	expect_near("upper", ((const CalLimitDef *)def)->upper, 1 - rocker);
	const CalLoopDef *follow = NULL;
	for (uint32_t i = 1; i <= (uint32_t)cal_desc_loop_count(desc); i++)
		if (cal_desc_loop(desc, (CalLoopId){i}, NULL, NULL)->type == CAL_LOOP_COUPLING)
			follow = cal_desc_loop(desc, (CalLoopId){i}, NULL, NULL);
	assert_non_null(follow);
	expect_near("offset", follow->drive[0].offset, .3 + 2 * crank - gear);
	written_expect_note(&w, CAL_IMPORT_CHANGED, "crank", "its zero is at 0.5");
	assert_null(strstr(w.text, "initial_position"));
	expect_same_dynamics_from("parallelogram to sdf", setup, again, 0.1, 1e-12, true);
	written_free(&w);
	cal_setup_destroy(again);
	cal_setup_destroy(setup);
}

/* A ball has no other zero: a loop over one that is turned is missing. */
static void loops_over_turned_balls_are_missing_in_sdf(void **state) {
	(void)state;
	CalSetup *setup = setup_of(PARALLELOGRAM("spherical") "{orientation: {z: -0.5 rad}}, gear: {q: 1.3}}\n");
	Written w = write_setup(setup, CAL_FORMAT_SDF, 0);
	assert_int_equal(w.status, CAL_ERR_UNSUPPORTED);
	written_expect_note(&w, CAL_IMPORT_MISSING, "tie", "write MJCF");
	written_free(&w);
	cal_setup_destroy(setup);
}

/* Loops that are closed at qpos0 tie bodies, as MuJoCo before 3 knows them; open ones tie sites. */
static void loops_closed_at_zero_tie_bodies_in_mjcf(void **state) {
	(void)state;
	CalSetup *setup = setup_of(
		"calder: 1\nground: {nodes: {up: [0, 0, 1], side: [0, 0.5, 0]}}\nbodies: {a: {mass: 1, sphere: 1, nodes: {n: [0, 0, "
		"1]}}, b: {mass: 1, sphere: 1, nodes: {n: [0, -0.5, 1]}}}\njoints: {ja: {type: revolute, axis: [0, 1, 0], to: a}, jb: "
		"{type: revolute, axis: [0, 1, 0], from: ground/side, to: b}}\nloops: {pin: {type: spherical, from: a/n, to: b/n}, "
		"hinge: {type: revolute, from: ground/up, to: a/n}, rod: {type: weld, from: a, to: b/n}}\n");
	Written w = write_setup(setup, CAL_FORMAT_MJCF, 0);
	assert_non_null(strstr(w.text, "<connect name=\"pin\" body1=\"a\" body2=\"b\" anchor=\"0 0 1\"/>"));
	assert_non_null(strstr(w.text, "<connect name=\"hinge\" body1=\"world\" body2=\"a\" anchor=\"0 0 1\"/>"));
	assert_non_null(strstr(w.text, "<connect name=\"hinge_axis\" body1=\"world\" body2=\"a\" anchor=\"0 0 1.1"));
	assert_non_null(strstr(w.text, "<weld name=\"rod\" site1=")); // 1 m apart
	CalSetup *again = read_again(&w, 0);
	const CalLoopDef *pin = cal_desc_loop(cal_setup_desc(again), (CalLoopId){1}, NULL, NULL);
	assert_int_equal(cal_desc_loop_count(cal_setup_desc(again)), 4);
	expect_near("anchor of b", pin->b.position.y, -0.5);
	cal_setup_destroy(again);
	written_free(&w);
	cal_setup_destroy(setup);
}

/* ---- contact ---------------------------------------------------------------------------------------------------- */

/* Shapes of contact are collision shapes of partial files, with their margins, where their nodes are; the device is missing. */
static void contact_has_its_shapes_in_partial_files(void **state) {
	(void)state;
	CalSetup *setup = setup_of(
		"calder: 1\ngravity: [0, 0, -9.81]\nbodies: {a: {mass: 1, sphere: 1, nodes: {n: [0, 0, 2]}}}\njoints: {j: {type: free, to: "
		"a}}\ndevices: {touch: {type: contact, shapes: {floor: {type: plane, node: ground, material: {stiffness: 1e5}}, rod: {type: capsule, node: a/n, "
		"radius: 0.1, length: 3, margin: 0.05, material: {stiffness: 1e5, friction_dynamic: 0.4}}, brick: {type: box, node: a, half: [1, 2, 3], material: {stiffness: 1e5}}}}}\n");
	Written urdf = write_setup(setup, CAL_FORMAT_URDF, 0), sdf = write_setup(setup, CAL_FORMAT_SDF, 1);
	assert_int_equal(urdf.status, CAL_ERR_UNSUPPORTED);
	written_free(&urdf);
	urdf = write_setup(setup, CAL_FORMAT_URDF, 1);
	written_expect_note(&urdf, CAL_IMPORT_MISSING, "touch", "collision shapes");
	written_expect_note(&urdf, CAL_IMPORT_IGNORED, "floor", "no such collision shape");
	assert_non_null(strstr(urdf.text, "<cylinder radius=\"0.15000000000000002\" length=\"3\"/>"));
	assert_non_null(strstr(urdf.text, "<sphere radius=\"0.15000000000000002\"/>"));
	assert_non_null(strstr(urdf.text, "<collision name=\"rod_end2\">"));
	assert_non_null(strstr(urdf.text, "<origin xyz=\"0 0 3.5\"/>")); // of the second end
	assert_non_null(strstr(urdf.text, "<box size=\"2 4 6\"/>"));
	assert_null(strstr(urdf.text, "version=\"1.2\"")); // nothing is younger than 1.0
	written_expect_note(&urdf, CAL_IMPORT_CHANGED, "robot", "capsules");
	written_expect_note(&sdf, CAL_IMPORT_MISSING, "touch", "collision shapes");
	written_expect_note(&sdf, CAL_IMPORT_IGNORED, "floor", "of the ground");
	assert_non_null(strstr(sdf.text, "<pose>0 0 2 0 0 0</pose>"));
	assert_non_null(strstr(sdf.text, "<mu>0.4"));
	CalSetup *again = read_again(&urdf, 0);
	cal_setup_destroy(again);
	again = read_again(&sdf, 0);
	cal_setup_destroy(again);
	written_free(&urdf);
	written_free(&sdf);
	cal_setup_destroy(setup);
}

int main(void) {
	NEEDS_YAML();
	NEEDS_EXPAT();
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(servos_on_tendons_come_back),
		cmocka_unit_test(springs_of_tendons_come_back),
		cmocka_unit_test(lifted_weights_come_back),
		cmocka_unit_test(other_formulas_are_missing),
		cmocka_unit_test(names_of_tendons_differ),
		cmocka_unit_test(sdf_has_a_zero_where_loops_are_closed),
		cmocka_unit_test(loops_over_turned_balls_are_missing_in_sdf),
		cmocka_unit_test(loops_closed_at_zero_tie_bodies_in_mjcf),
		cmocka_unit_test(contact_has_its_shapes_in_partial_files),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
