// SPDX-License-Identifier: Apache-2.0
/*
 * test_model_file_flexible.c — flexible bodies in files: what the keys mean, and what is refused.
 *
 * The body of these tests is two masses on a weightless frame that is welded to the ground, so that each mode is an
 * oscillator whose acceleration can be written down.
 */
#include <math.h>

#include "support/model_file_support.h"

/* 2 kg moved by mode 1 along x, 3 kg moved by mode 2 along z; the first also turns about y with 0.5 kg m^2. */
#define HEAD "calder: 1\njoints: {w: {type: weld, to: b}}\n"
#define STATE "state: {w: {eta: [0.1, -0.2], eta_dot: [1, 2]}}\n"
#define NODES                                                                                                             \
	"bodies: {b: {nodes: {p: [1 m, 0, 0], s: [0, 1 m, 0]}, flexible: {nodes: {p: {mass: 2 kg, inertia: [0.1, 0.5, 0.1], " \
	"phi: [[1, 0], [0, 0], [0, 0]], psi: [[0, 0], [1, 0], [0, 0]]}, s: {mass: 3000 g, phi: [[0, 0], [0, 0], [0, 1]]}}, "

static const double mass[2] = {2.5, 3}, eta[2] = {0.1, -0.2}, eta_dot[2] = {1, 2};

/* Accelerations of the modes of a file made of the parts above and `keys`. */
static void accelerations(const char *keys, double udot[2]) {
	char text[2000];
	CalState state;
	CalWork *work;
	CalError error;
	snprintf(text, sizeof text, HEAD NODES "%s}}}\n" STATE, keys);
	CalSetup *file = file_of(text);
	CalModel *model = model_of(file, NULL);
	assert_int_equal(cal_model_u_count(model), 2);
	assert_int_equal(body_of(model, "b").modes, 2);
	assert_int_equal(cal_state_create(model, &state), CAL_OK);
	assert_int_equal(cal_work_create(model, &work), CAL_OK);
	assert_int_equal(cal_setup_apply_state(file, model, &state, &error), CAL_OK);
	for (int i = 0; i < 2; i++) {
		assert_near(state.q[i], eta[i], 0);
		assert_near(state.u[i], eta_dot[i], 0);
	}
	assert_int_equal(cal_forward_dynamics(model, &state, NULL, work, udot), CAL_OK);
	cal_work_destroy(work);
	cal_state_destroy(&state);
	cal_model_destroy(model);
	cal_setup_destroy(file);
}

/* M udot = -K eta - D eta_dot; K and D row by row. */
static void expect(const char *keys, const double K[4], const double D[4]) {
	double udot[2];
	accelerations(keys, udot);
	for (int i = 0; i < 2; i++) {
		const double force =
			-K[2 * i] * eta[0] - K[2 * i + 1] * eta[1] - D[2 * i] * eta_dot[0] - D[2 * i + 1] * eta_dot[1];
		assert_near(udot[i], force / mass[i], 1e-12 * (1 + fabs(force)));
	}
}

static void stiffness_and_damping_in_every_form(void **state) {
	(void)state;
	static const double none[4] = {0}, K[4] = {40, 0, 0, 90}, full[4] = {40, 5, 5, 90}, D[4] = {0.5, 0, 0, 0.25};
	static const double coupled[4] = {0.5, 0.1, 0.1, 0.25};
	expect("stiffness: [40, 90]", K, none);
	expect("stiffness: [[40, 5], [5, 90]]", full, none);
	expect("stiffness: [40, 90], damping: [0.5, 0.25]", K, D);
	expect("stiffness: [[40, 5], [5, 90]], damping: [[0.5, 0.1], [0.1, 0.25]]", full, coupled);
	static const double slack[4] = {0, 0, 0, 90};
	expect("stiffness: [0, 90], unsprung: true", slack, none);
}

static void frequencies_and_ratios(void **state) {
	(void)state;
	const double w[2] = {2 * 3.14159265358979323846 * 0.5, 7};
	const double K[4] = {mass[0] * w[0] * w[0], 0, 0, mass[1] * w[1] * w[1]}, none[4] = {0};
	const double same[4] = {2 * 0.02 * w[0] * mass[0], 0, 0, 2 * 0.02 * w[1] * mass[1]};
	const double each[4] = {2 * 0.02 * w[0] * mass[0], 0, 0, 2 * 0.1 * w[1] * mass[1]};
	const double given[4] = {40, 0, 0, 90};
	const double of_given[4] = {2 * 0.1 * sqrt(40 * mass[0]), 0, 0, 2 * 0.1 * sqrt(90 * mass[1])};
	expect("frequencies: [0.5 rev/s, 7 rad/s]", K, none);
	expect("frequencies: [0.5 rev/s, 7], damping_ratio: 0.02", K, same);
	expect("frequencies: [0.5 rev/s, 7], damping_ratio: [0.02, 0.1]", K, each);
	expect("stiffness: [40, 90], damping_ratio: 0.1", given, of_given);
}

/* With one mode, numbers may stand alone; a node in a list has its name beside it. */
static void one_mode_needs_no_lists(void **state) {
	(void)state;
	static const char *const text =
		"calder: 1\nbodies: {b: {mass: 1, nodes: {p: [1, 0, 0]}, flexible: {stiffness: 8, damping: 1, frequency_bound: 100 rad/s, "
		"nodes: [{name: p, mass: 2, phi: [1, 0, 0]}]}}}\njoints: {w: {type: weld, to: b}}\nstate: {w: {eta: 0.5, eta_dot: 3}}\n";
	CalState at;
	CalWork *work;
	CalError error;
	double udot;
	CalSetup *file = file_of(text);
	CalModel *model = model_of(file, NULL);
	assert_int_equal(cal_state_create(model, &at), CAL_OK);
	assert_int_equal(cal_work_create(model, &work), CAL_OK);
	assert_int_equal(cal_setup_apply_state(file, model, &at, &error), CAL_OK);
	assert_int_equal(cal_forward_dynamics(model, &at, NULL, work, &udot), CAL_OK);
	assert_near(udot, -(8 * 0.5 + 3) / 2, 1e-14);
	cal_work_destroy(work);
	cal_state_destroy(&at);
	cal_model_destroy(model);
	cal_setup_destroy(file);
}

/* phi2 of the second mode shortens node s along y: it sits at 1 - 0.5 eta2^2. */
static void second_order_shapes_move_the_node(void **state) {
	(void)state;
	static const char *const text =
		"calder: 1\nbodies: {b: {nodes: {p: [1, 0, 0], s: [0, 1, 0]}, flexible: {stiffness: [4, 5], nodes: {p: {mass: 2, "
		"phi: [[1, 0], [0, 0], [0, 0]]}, s: {mass: 3, phi: [[0, 0], [0, 0], [0, 1]], phi2: [[0, 0], [[0, 0], [0, -0.5]], "
		"[0, 0]]}}}}}\njoints: {w: {type: weld, to: b}}\nstate: {w: {eta: [0.1, 0.4]}}\n";
	CalState at;
	CalWork *work;
	CalError error;
	CalPose pose;
	CalSetup *file = file_of(text);
	CalModel *model = model_of(file, NULL);
	assert_int_equal(cal_state_create(model, &at), CAL_OK);
	assert_int_equal(cal_work_create(model, &work), CAL_OK);
	assert_int_equal(cal_setup_apply_state(file, model, &at, &error), CAL_OK);
	assert_int_equal(cal_kinematics(model, &at, NULL, work), CAL_OK);
	assert_int_equal(cal_node_pose(model, work, cal_model_find_node(model, "b/s"), &pose), CAL_OK);
	assert_near(pose.r.y, 1 - 0.5 * 0.16, 1e-15);
	assert_near(pose.r.z, 0.4, 1e-15);
	cal_work_destroy(work);
	cal_state_destroy(&at);
	cal_model_destroy(model);
	cal_setup_destroy(file);
}

/* A mode along z with geometric stiffness 3 per unit W_xx = -w^2: spun at 2 rad/s it needs (4 - 12) eta. */
static void geometric_stiffness_acts_in_rotation(void **state) {
	(void)state;
	static const char *const text =
		"calder: 1\nbodies: {b: {nodes: {p: [1, 0, 0]}, flexible: {stiffness: 4, nodes: {p: {mass: 2, phi: [0, 0, 1]}}, "
		"geometric: [0, 0, 0, 3, 0, 0, 0, 0, 0, 0, 0, 0]}}}\njoints: {w: {type: revolute, to: b}}\n"
		"state: {w: {q: 0, u: 2, eta: 0.1}}\n";
	CalState at;
	CalWork *work;
	CalError error;
	double tau[2];
	CalSetup *file = file_of(text);
	CalModel *model = model_of(file, NULL);
	assert_int_equal(cal_state_create(model, &at), CAL_OK);
	assert_int_equal(cal_work_create(model, &work), CAL_OK);
	assert_int_equal(cal_setup_apply_state(file, model, &at, &error), CAL_OK);
	assert_int_equal(cal_inverse_dynamics(model, &at, (double[2]){0}, NULL, work, tau), CAL_OK);
	assert_near(tau[1], (4 - 4 * 3) * 0.1, 1e-14);
	cal_work_destroy(work);
	cal_state_destroy(&at);
	cal_model_destroy(model);
	cal_setup_destroy(file);
}

/* ---- mistakes ----------------------------------------------------------------------------------- */

static void mistakes_are_refused_with_a_remedy(void **state) {
	(void)state;
	static const struct {
		const char *keys, *said[2]; // keys: of `flexible`, besides the nodes
	} rows[] = {
		{"", {"either \"stiffness\" or \"frequencies\""}},
		{"stiffness: [1, 2], frequencies: [1, 2]", {"either \"stiffness\" or \"frequencies\""}},
		{"stifness: [1, 2]", {"unknown key \"stifness\"", "did you mean \"stiffness\"?"}},
		{"stiffness: {}", {"one entry for each mode"}},
		{"stiffness: [1, 2 N/m]", {"a number without unit"}},
		{"stiffness: [1, 2, 3]", {"flexible node \"b/p\"", "\"phi\": expected a list of 3 numbers"}},
		{"stiffness: [[1, 0], [0]]", {"\"stiffness\": expected a list of 2 numbers, one for each mode"}},
		{"stiffness: [[1, 2], [0, 4]]", {"body \"b\"", "symmetric"}},
		{"stiffness: [0, 2]", {"body \"b\": the stiffness is singular: mode 1 has none (0)", "unsprung"}},
		{"stiffness: [[1, 2], [2, 4]]", {"singular: modes 1 to 2 together can deflect without resistance"}},
		{"stiffness: [[1, 3], [3, 4]], unsprung: true", {"not positive semidefinite", "check the signs"}},
		{"stiffness: [1, 2], unsprung: 3", {"true or false"}},
		{"frequencies: [1 N, 2]", {"wrong unit", "an angular speed"}},
		{"frequencies: [1 rev/s, 0]", {"\"frequencies\" must be greater than zero"}},
		{"frequencies: [3 Hz, 4 Hz]", {"unknown unit \"Hz\"", "an angular speed"}},
		{"stiffness: [1, 2], damping: [1]", {"\"damping\": expected a list of 2 numbers"}},
		{"stiffness: [1, 2], damping: [1, 1], damping_ratio: 0.1", {"either \"damping\" or \"damping_ratio\""}},
		{"stiffness: [1, 2], damping_ratio: -0.1", {"\"damping_ratio\" must not be negative"}},
		{"stiffness: [[1, 0.5], [0.5, 2]], damping_ratio: 0.1", {"couples modes 1 and 2", "the matrix \"damping\""}},
		{"stiffness: [1, 2], frequency_bound: 3 m", {"wrong unit", "an angular speed"}},
		{"stiffness: [1, 2], frequency_bound: 0", {"must be greater than zero"}},
	};
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		char text[2000];
		CalSetup *file = NULL;
		CalError error = {0};
		snprintf(text, sizeof text, HEAD NODES "%s}}}\n", rows[i].keys);
		CalStatus status = cal_model_file_parse(text, strlen(text), "t.yaml", NULL, &file, &error);
		if (status == CAL_OK) { // what the validation finds
			CalModel *model = NULL;
			status = cal_model_compile(cal_setup_desc(file), NULL, &model, &error);
			cal_model_destroy(model);
		}
		cal_setup_destroy(file);
		if (status == CAL_OK)
			fail_msg("accepted: %s", rows[i].keys);
		assert_int_equal(strncmp(error.text, "t.yaml:3:", 9), 0);
		for (int k = 0; k < 2 && rows[i].said[k]; k++) {
			if (!strstr(error.text, rows[i].said[k]))
				fail_msg("row %zu: \"%s\" does not say \"%s\"", i, error.text, rows[i].said[k]);
		}
	}
}

static void mistakes_in_nodes_and_state(void **state) {
	(void)state;
	static const struct {
		const char *nodes, *rest, *said[2];
	} rows[] = {
		{"{q: {mass: 1, phi: [1, 0, 0]}}", "", {"the body has no node \"q\"", "add it to the \"nodes\""}},
		{"{tipp: {mass: 1, phi: [1, 0, 0]}}", "", {"did you mean \"tip\"?"}},
		{"{tip: {mass: -1, phi: [1, 0, 0]}}", "", {"flexible node \"b/tip\"", "must not be negative"}},
		{"{tip: {mass: 1 m, phi: [1, 0, 0]}}", "", {"wrong unit", "a mass"}},
		{"{tip: {mass: 1, phi: [1, 0]}}", "", {"\"phi\": expected a list of 3 rows"}},
		{"{tip: {mass: 1, phi: [1 mm, 0, 0]}}", "", {"a number without unit"}},
		{"{tip: {mass: 1, phi: [1, 0, 0], inertia: [1, 2]}}", "", {"an inertia is [xx, yy, zz]"}},
		{"{tip: {mass: 1, phi: [1, 0, 0], phi2: [1, 2]}}", "", {"\"phi2\": expected three matrices"}},
		{"{tip: {mass: 1, phi: [1, 0, 0]}}, geometric: [1, 2]", "", {"\"geometric\": expected twelve matrices"}},
		{"{tip: {mass: 1, psi: [1, 0, 0]}}", "", {"mode 1 moves no mass"}},
		{"{tip: {mass: 1, phi: [1, 0, 0]}}",
	     "state: {w: {eta: [1, 2]}}\n",
	     {"\"eta\" takes 1 number, one for each mode"}},
		{"{tip: {mass: 1, phi: [1, 0, 0]}}", "state: {w: {eta_dot: 1 m/s}}\n", {"a number without unit"}},
		{"{tip: {mass: 1, phi: [1, 0, 0]}}", "state: {c: {eta: 1}}\n", {"the body is rigid; remove", "remove \"eta\""}},
	};
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		char text[2000];
		CalSetup *file = NULL;
		CalError error = {0};
		snprintf(
			text, sizeof text,
			"calder: 1\nbodies: {b: {nodes: {tip: [1, 0, 0]}, flexible: {frequencies: 3, nodes: %s}}, rigid: {mass: 1}}\n"
			"joints: {w: {type: weld, to: b}, c: {type: weld, to: rigid}}\n%s",
			rows[i].nodes, rows[i].rest);
		if (cal_model_file_parse(text, strlen(text), "t.yaml", NULL, &file, &error) == CAL_OK)
			fail_msg("accepted: %s %s", rows[i].nodes, rows[i].rest);
		assert_int_equal(strncmp(error.text, rows[i].rest[0] ? "t.yaml:4:" : "t.yaml:2:", 9), 0);
		for (int k = 0; k < 2 && rows[i].said[k]; k++) {
			if (!strstr(error.text, rows[i].said[k]))
				fail_msg("row %zu: \"%s\" does not say \"%s\"", i, error.text, rows[i].said[k]);
		}
	}
}

/* Modes that the mass couples: the short forms have no meaning. */
static void coupled_modes_are_distinguished(void **state) {
	(void)state;
	static const char *const keys[] = {"frequencies: [1, 2]", "stiffness: [1, 2], damping_ratio: 0.1"};
	for (size_t i = 0; i < 2; i++) {
		char text[1000];
		CalSetup *file = NULL;
		CalError error = {0};
		snprintf(
			text, sizeof text,
			"calder: 1\nbodies: {b: {nodes: {p: [1, 0, 0]}, flexible: {%s, nodes: {p: {mass: 1, phi: [[1, 1], [0, 1], [0, 0]]}}}}}",
			keys[i]);
		assert_int_equal(cal_model_file_parse(text, strlen(text), "t.yaml", NULL, &file, &error), CAL_ERR_INPUT);
		assert_non_null(strstr(error.text, "modes 1 and 2 are coupled by the mass (0.71 of"));
		assert_non_null(strstr(error.text, "give the matrices"));
	}
}

int main(void) {
	NEEDS_YAML();
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(stiffness_and_damping_in_every_form),
		cmocka_unit_test(frequencies_and_ratios),
		cmocka_unit_test(one_mode_needs_no_lists),
		cmocka_unit_test(second_order_shapes_move_the_node),
		cmocka_unit_test(geometric_stiffness_acts_in_rotation),
		cmocka_unit_test(mistakes_are_refused_with_a_remedy),
		cmocka_unit_test(mistakes_in_nodes_and_state),
		cmocka_unit_test(coupled_modes_are_distinguished),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
