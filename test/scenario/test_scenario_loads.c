// SPDX-License-Identifier: Apache-2.0
/*
 * test_scenario_loads.c — loads of a file by numbers, tables and formulas: the same load moves a model in the same way,
 * however it is given; closed forms of loads that vary; names, outputs, events and subsystems.
 */
#include "scenario_support.h"

#define ARM                                                                                                     \
	"calder: 1\n"                                                                                               \
	"bodies:\n"                                                                                                 \
	"  a: {mass: 2, inertia: [0.3, 0.4, 0.5], nodes: {tip: [1, 0, 0]}}\n"                                       \
	"  b: {nodes: {o: [0, 0, 0], p: [1, 0, 0]}, flexible: {stiffness: [40, 90],\n"                              \
	"    nodes: {o: {mass: 1, phi: [[0, 0], [0, 0], [0, 0]]}, p: {mass: 2, phi: [[1, 0], [0, 1], [0, 0]]}}}}\n" \
	"joints: {hook: {type: universal, to: a}, slide: {type: prismatic, axis: y, from: a/tip, to: b}}\n"         \
	"state: {hook: {q: [0.3 rad, 0.2 rad], u: [0.5, -0.4]}, slide: {u: 0.1}}\n"                                 \
	"run: {method: rk4, step: 2 ms, duration: 1 s}\n"

enum { U_COUNT = 5 };

static void speeds_after(const char *loads, double u[U_COUNT]) {
	char text[3000];
	snprintf(text, sizeof text, ARM "loads:\n  - {%s}\n", loads);
	Run r = run_text(text);
	assert_int_equal(cal_model_u_count(cal_sim_model(r.sim, 0)), U_COUNT);
	advance(&r, 1);
	memcpy(u, cal_sim_state(r.sim, 0)->u, U_COUNT * sizeof *u);
	CalSimBalance balance;
	assert_int_equal(cal_sim_balance(r.sim, &balance), CAL_OK);
	assert_near(balance.error, 0, 1e-7);
	run_end(&r);
}

/* Numbers are inputs of the model, tables and formulas devices: they must agree to round-off. */
static void a_load_is_the_same_by_number_table_and_formula(void **state) {
	(void)state;
	static const char *const rows[][3] = {
		{"joint: slide, effort: 3 N", "joint: slide, effort: [[0, 3 N]]", "joint: slide, effort: 1.5*2"},
		{"joint: slide, effort: 3 N, start: 0.234, end: 0.777",
	     "joint: slide, effort: {points: [[0, 3]]}, start: 0.234, end: 0.777",
	     "joint: slide, effort: 3 + 0*t, start: 0.234, end: 0.777"},
		{"joint: hook, effort: [2 N*m, -1 N*m]", "joint: hook, effort: [[[0, 2]], [[0, -1 N*m]]]",
	     "joint: hook, effort: [2, \"cos(0*t) - 2\"]"},
		{"node: a/tip, force: [1, 2, 3 N], moment: [0, 0.1, 0]",
	     "node: a/tip, force: [[[0, 1]], 2, [[0, 3 N]]], moment: [0, 0.1, 0]",
	     "node: a/tip, force: [\"exp(0)\", 2, 3], moment: [0, 0.1, 0]"},
		{"node: b/p, frame: node, force: [1, 2, 3], end: 0.5",
	     "node: b/p, frame: node, force: [1, [[0, 2], [9, 2]], 3], end: 0.5",
	     "node: b/p, frame: node, force: [1, 2 + 0*q(slide), 3], end: 0.5"},
		{"body: b, mode: 2, effort: 4, start: 0.1", "body: b, mode: 2, effort: [[0, 4]], start: 0.1",
	     "body: b, mode: 2, effort: \"4 + 0*t\", start: 0.1"},
		{"body: b, effort: [1, 2]", "body: b, effort: [[[0, 1]], 2]", "body: b, effort: [\"sqrt(1)\", \"2 + 0*t\"]"},
	};
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		double number[U_COUNT], other[U_COUNT];
		speeds_after(rows[i][0], number);
		for (int k = 1; k < 3; k++) {
			speeds_after(rows[i][k], other);
			for (int d = 0; d < U_COUNT; d++)
				if (!(fabs(number[d] - other[d]) <= 1e-12))
					fail_msg("%s: u%d = %.17g, by number %.17g", rows[i][k], d + 1, other[d], number[d]);
		}
	}
}

/* J u' = a t from the start to the end: u = 1 + a (t1^2 - t0^2)/(2 J), if steps end at both. */
static void a_formula_acts_within_its_interval(void **state) {
	(void)state;
	static const char *const loads[] = {"effort: 3*t", "effort: [[0, 0], [9, 27]]"};
	for (int i = 0; i < 2; i++) {
		char text[1000];
		snprintf(text, sizeof text, DOOR "loads: [{name: push, joint: hinge, %s, start: 0.234 s, end: 0.777 s}]\n",
		         loads[i]);
		Run r = run_text(text);
		double output[7];
		assert_int_equal(cal_sim_device_outputs(r.sim, 0, output), CAL_OK);
		assert_near(output[0], 0, 0);
		advance(&r, 0.5);
		assert_int_equal(cal_sim_device_outputs(r.sim, 0, output), CAL_OK);
		assert_near(output[0], 1.5, 1e-15);
		advance(&r, 1);
		assert_near(speed_of(r.sim, "hinge", 0), 1 + 3 * (0.777 * 0.777 - 0.234 * 0.234), 1e-10);
		assert_int_equal(cal_sim_device_outputs(r.sim, 0, output), CAL_OK);
		assert_near(output[0], 0, 0);
		run_end(&r);
	}
}

/* A formula is not evaluated where its load does not act. */
static void a_formula_needs_no_value_outside_its_interval(void **state) {
	(void)state;
	Run r = run_text(DOOR "loads: [{joint: hinge, effort: 0.5*sqrt(t - 0.5), start: 0.5 s}]\n");
	advance(&r, 1);
	assert_near(speed_of(r.sim, "hinge", 0), 1 + 2.0 / 3 * pow(0.5, 1.5), 1e-7);
	run_end(&r);
}

/* Devices come first, then loads in their order: later ones read earlier ones. Events switch them by name. */
static void loads_have_names_and_outputs(void **state) {
	(void)state;
	Run r = run_text(DOOR "loads:\n"
	                      "  - {name: push, joint: hinge, effort: 0.5 + 0*t}\n"
	                      "  - {joint: hinge, effort: device(push.effort) + device(hold.effort)}\n"
	                      "devices: {hold: {type: applied_load, joint: hinge, effort: 0.25}}\n"
	                      "events: {off: {at: 0.5 s, do: {switch_off: load2}}}\n");
	advance(&r, 1);
	assert_near(speed_of(r.sim, "hinge", 0), 1 + (0.75 + 0.75 * 0.5) / 0.5, 1e-12);
	run_end(&r);
}

/* Of several degrees of freedom each has its number in the name. */
static void each_degree_of_freedom_is_a_device(void **state) {
	(void)state;
	static const char *const want[] = {"twist_1", "twist_2", "load2_1", "load3"};
	CalSetup *file = file_of(ARM "loads:\n"
	                             "  - {name: twist, joint: hook, effort: [t, 2*t]}\n"
	                             "  - {body: b, effort: [t, 2]}\n"
	                             "  - {body: b, mode: 2, effort: t, acceleration: 3}\n"
	                             "  - {joint: slide, effort: 2}\n");
	assert_int_equal(cal_setup_device_count(file), 4);
	for (int i = 0; i < 4; i++) {
		const char *type, *name;
		const void *def;
		assert_int_equal(cal_setup_device(file, i, &type, &name, &def), CAL_OK);
		assert_string_equal(type, "applied_load");
		assert_string_equal(name, want[i]);
		const CalAppliedLoadDef *load = def;
		assert_int_equal(i < 2 ? load->dof : load->mode, i == 0 || i == 2 ? 0 : 1);
	}
	assert_int_equal(cal_setup_load_count(file), 3); // a mode by number, one by acceleration, the joint
	cal_setup_destroy(file);
}

static void mistakes_are_reported(void **state) {
	(void)state;
	static const char *const rows[][2] = {
		{"joint: slide, effort: 3*", "formula \"3*\""},
		{"joint: slide, effort: 3 N*m", "expected a force"},
		{"joint: slide, effort: t < 1", "is a condition"},
		{"joint: slide, effort: [[0, 1 s]]", "expected a force"},
		{"joint: slide, effort: [[1, 2], [1, 3]]", "times of a table ascend"},
		{"joint: hook, effort: 3*t", "one value for each of its 2 degrees of freedom"},
		{"joint: hook, effort: {points: [[0, 1]]}", "one value for each of its 2 degrees of freedom"},
		{"joint: slide, acceleration: 3*t", "acceleration"},
		{"node: a/tip, force: 3*t", "three numbers"},
		{"node: a/tip, force: [1, 3*t, q(]", "formula"},
		{"name: x/y.z, joint: slide, effort: t, start: 2, end: 1", "before it starts"},
	};
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		char text[2000];
		CalError error = {0};
		CalSetup *file = NULL;
		snprintf(text, sizeof text, ARM "loads:\n  - {%s}\n", rows[i][0]);
		assert_int_not_equal(cal_model_file_parse(text, strlen(text), "t.yaml", NULL, &file, &error), CAL_OK);
		if (!strstr(error.text, rows[i][1]) || strncmp(error.text, "t.yaml:", 7) != 0)
			fail_msg("{%s}: got \"%s\", wanted \"%s\"", rows[i][0], error.text, rows[i][1]);
	}
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_load_is_the_same_by_number_table_and_formula),
		cmocka_unit_test(a_formula_acts_within_its_interval),
		cmocka_unit_test(a_formula_needs_no_value_outside_its_interval),
		cmocka_unit_test(loads_have_names_and_outputs),
		cmocka_unit_test(each_degree_of_freedom_is_a_device),
		cmocka_unit_test(mistakes_are_reported),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
