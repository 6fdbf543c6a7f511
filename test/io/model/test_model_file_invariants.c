// SPDX-License-Identifier: Apache-2.0
/*
 * test_model_file_invariants.c — inertia invariants in files: the same body as cal_flex_set_invariants() makes, its
 * mass matrix against closed forms, and what is refused.
 */
#include "model_file_flex_support.h"

/* A rod of 3 kg on 1 m that bends along y as x^2 eta: integrals of polynomials (docs/format.md has the same). */
#define ROD                                                                                                              \
	"mass: 3 kg, com: [0.5, 0, 0], inertia: [0, 0.25, 0.25], nodes: {tip: [1, 0, 0]}, flexible: {frequencies: 2 rev/s, " \
	"nodes: {tip: {phi: [0, 1, 0], psi: [0, 0, 2]}}, invariants: {linear: [0, 1, 0], position: {xy: 0.75}, shape: {yy: 0.6}}}"

static const double two_pi = 6.283185307179586;

/* On a hinge about z: J = integral of x^2 + x^4 eta^2, coupling 3/4, modal mass 3/5. */
static void a_rod_has_its_closed_form(void **state) {
	(void)state;
	const double eta = 0.7;
	CalState at;
	CalWork *work;
	CalFlexReport report;
	CalFlexMode mode;
	double M[4];
	CalSetup *file = file_of("calder: 1\nbodies: {b: {" ROD "}}\njoints: {j: {type: revolute, to: b}}\n");
	CalModel *model = model_of(file, NULL);
	const CalBodyId id = cal_desc_find_body(cal_setup_desc(file), "b");
	assert_int_equal(cal_flex_report(cal_setup_desc(file), id, &report, &mode, 1, NULL), CAL_OK);
	assert_near(report.mass, 3, 1e-14);
	assert_near(report.com.x, 0.5, 1e-14);
	assert_near(report.inertia.m[2][2], 0.25, 1e-14);
	assert_near(mode.frequency, 2 * two_pi, 1e-12);
	assert_near(mode.effective_mass[1], 1 / 0.6, 1e-13);
	assert_int_equal(cal_state_create(model, &at), CAL_OK);
	assert_int_equal(cal_work_create(model, &work), CAL_OK);
	at.q[1] = eta;
	assert_int_equal(cal_mass_matrix(model, &at, work, M), CAL_OK);
	assert_near(M[0], 1 + 0.6 * eta * eta, 1e-14);
	assert_near(M[1], 0.75, 1e-14);
	assert_near(M[3], 0.6, 1e-14);
	cal_work_destroy(work);
	cal_state_destroy(&at);
	cal_model_destroy(model);
	cal_setup_destroy(file);
}

/*
 * Two modes on three masses with rotary inertia: all keys, in every order that a slip could swap. Sums by hand:
 * masses 1, 2, 3 at (1,0,0), (0,1,0), (0,0,2) with shapes (1,0,0|0,2,0), (0,1,0|0,0,1), (0,0,1|1,0,0), and on the
 * first J = diag(1, 2, 3) with slopes (1,0,0|0,0,1).
 */
static void every_key_reaches_its_place(void **state) {
	(void)state;
	static const double mass[3] = {1, 2, 3}, p[3][3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 2}};
	static const double phi[3][6] = {{1, 0, 0, 2, 0, 0}, {0, 0, 1, 0, 0, 1}, {0, 1, 0, 0, 1, 0}}; // [row x, y, z][mode]
	static const double psi[6] = {1, 0, 0, 0, 0, 1}, J[3] = {1, 2, 3};
	double linear[6] = {0}, angular[6] = {0}, position[18] = {0}, shape[36] = {0}, modal[4] = {0};
	CalFlexInvariants in = {
		.modes = 2, .linear = linear, .angular = angular, .position = position, .shape = shape, .modal_mass = modal};
	for (int i = 0; i < 3; i++)
		in.mass += mass[i];
	for (int i = 0; i < 3; i++) {
		in.com.x += mass[i] * p[i][0] / in.mass;
		in.com.y += mass[i] * p[i][1] / in.mass;
		in.com.z += mass[i] * p[i][2] / in.mass;
	}
	const double com[3] = {in.com.x, in.com.y, in.com.z};
	for (int i = 0; i < 3; i++) {
		double square = 0;
		for (int c = 0; c < 3; c++)
			square += (p[i][c] - com[c]) * (p[i][c] - com[c]);
		for (int c = 0; c < 9; c++)
			in.inertia.m[c / 3][c % 3] +=
				mass[i] * ((c % 4 == 0 ? square : 0) - (p[i][c / 3] - com[c / 3]) * (p[i][c % 3] - com[c % 3])) +
				(i == 0 && c % 4 == 0 ? J[c / 3] : 0);
		for (int a = 0; a < 2; a++)
			for (int c = 0; c < 3; c++) {
				const int y = (c + 1) % 3, z = (c + 2) % 3;
				linear[2 * c + a] += mass[i] * phi[i][2 * c + a];
				angular[2 * c + a] += mass[i] * (p[i][y] * phi[i][2 * z + a] - p[i][z] * phi[i][2 * y + a]) +
				                      (i == 0 ? J[c] * psi[2 * c + a] : 0);
				for (int d = 0; d < 3; d++) {
					position[(3 * c + d) * 2 + a] += mass[i] * p[i][c] * phi[i][2 * d + a];
					for (int e = 0; e < 2; e++)
						shape[((3 * c + d) * 2 + a) * 2 + e] += mass[i] * phi[i][2 * c + a] * phi[i][2 * d + e];
				}
				for (int e = 0; e < 2; e++)
					modal[2 * a + e] += mass[i] * phi[i][2 * c + a] * phi[i][2 * c + e] +
					                    (i == 0 ? J[c] * psi[2 * c + a] * psi[2 * c + e] : 0);
			}
	}
	char text[3000];
	int used =
		snprintf(text, sizeof text,
	             "calder: 1\nbodies: {b: {mass: %.17g, com: [%.17g, %.17g, %.17g], inertia: [[%.17g, %.17g, %.17g], "
	             "[%.17g, %.17g, %.17g], [%.17g, %.17g, %.17g]], flexible: {stiffness: [5, 7], nodes: {}, invariants: "
	             "{linear: [[%g, %g], [%g, %g], [%g, %g]], angular: [[%g, %g], [%g, %g], [%g, %g]], position: {",
	             in.mass, com[0], com[1], com[2], in.inertia.m[0][0], in.inertia.m[0][1], in.inertia.m[0][2],
	             in.inertia.m[1][0], in.inertia.m[1][1], in.inertia.m[1][2], in.inertia.m[2][0], in.inertia.m[2][1],
	             in.inertia.m[2][2], linear[0], linear[1], linear[2], linear[3], linear[4], linear[5], angular[0],
	             angular[1], angular[2], angular[3], angular[4], angular[5]);
	for (int k = 0; k < 9; k++)
		used += snprintf(text + used, sizeof text - (size_t)used, "%c%c: [%g, %g], ", "xyz"[k / 3], "xyz"[k % 3],
		                 position[2 * k], position[2 * k + 1]);
	used += snprintf(text + used, sizeof text - (size_t)used, "}, shape: {");
	for (int k = 0; k < 9; k++)
		if (k / 3 <= k % 3 || k == 7) // zy beside yz: the same with rows and columns exchanged
			used += snprintf(text + used, sizeof text - (size_t)used, "%c%c: [[%g, %g], [%g, %g]], ", "xyz"[k / 3],
			                 "xyz"[k % 3], shape[4 * k], shape[4 * k + 1], shape[4 * k + 2], shape[4 * k + 3]);
	snprintf(text + used, sizeof text - (size_t)used, "}, modal_mass: [[%g, %g], [%g, %g]]}}}}\n", modal[0], modal[1],
	         modal[2], modal[3]);

	CalDesc *desc;
	CalBodyId id;
	CalError error = {0};
	const double K[4] = {5, 0, 0, 7};
	const CalFlexDef def = {.modes = 2, .stiffness = K};
	CalBodyDef body = cal_body_def();
	body.name = "b";
	assert_int_equal(cal_desc_create(NULL, &desc), CAL_OK);
	assert_int_equal(cal_desc_add_body(desc, &body, &id, &error), CAL_OK);
	if (cal_flex_set_invariants(desc, id, &def, &in, &error) != CAL_OK)
		fail_msg("%s", error.text);
	CalSetup *file = file_of(text);
	assert_same_body(cal_setup_desc(file), desc, "b", 0);
	cal_setup_destroy(file);
	cal_desc_destroy(desc);
}

/* Masses of nodes come on top; damping ratios and frequencies count them. */
static void node_masses_come_on_top(void **state) {
	(void)state;
	CalFlexReport report;
	CalFlexMode mode;
	CalSetup *file =
		file_of("calder: 1\nbodies: {b: {mass: 3 kg, com: [0.5, 0, 0], inertia: [0, 0.25, 0.25], nodes: {tip: "
	            "[1, 0, 0]}, flexible: {frequencies: 2 rev/s, damping_ratio: 0.1, nodes: {tip: {mass: 1, phi: "
	            "[0, 1, 0]}}, invariants: {linear: [0, 1, 0], position: {xy: 0.75}, shape: {yy: 0.6}}}}}\n");
	const CalBodyId id = cal_desc_find_body(cal_setup_desc(file), "b");
	assert_int_equal(cal_flex_report(cal_setup_desc(file), id, &report, &mode, 1, NULL), CAL_OK);
	assert_near(report.mass, 4, 1e-14);
	assert_near(mode.frequency, 2 * two_pi, 1e-12);
	assert_near(mode.damping_ratio, 0.1, 1e-14);
	assert_near(mode.effective_mass[1], 4 / 1.6, 1e-13);
	cal_setup_destroy(file);
}

static void mistakes_are_refused(void **state) {
	(void)state;
	static const Mistake rows[] = {
		{"{linear: [0, 1, 0], position: {xy: 0.75}}", "{l", {"body \"b\"", "\"shape\" is missing (see \"invariants\""}},
		{"{position: {xy: 0.75}, shape: {yy: 0.6}}", "{p", {"\"linear\" is missing"}},
		{"{linear: [0, 1, 0], position: {yy: [1, 2]}, shape: {yy: 0.6}}",
	     "[1, 2]",
	     {"\"yy\": expected a list of 1 number"}},
		{"{linear: [0, 1], position: {xy: 0.75}, shape: {yy: 0.6}}", "[0", {"\"linear\": expected a list of 3 rows"}},
		{"{linear: [0, 1, 0], position: {xw: 0.75}, shape: {yy: 0.6}}", "xw", {"unknown key \"xw\""}},
		{"{linear: [0, 1, 0], position: {xy: 0.75}, shape: {yw: 0.6}}", "yw", {"unknown key \"yw\""}},
		{"{linear: [0, 1, 0], position: {xy: 0.75 m}, shape: {yy: 0.6}}", "0.75 m", {"a number without unit"}},
		{"{linear: [0, 1, 0], position: {xy: 0.75}, shape: {yy: [[1, 2]]}}",
	     "[1, 2]",
	     {"\"yy\": expected a list of 1"}},
		{"{linear: [0, 1, 0], position: {xy: 0.75}, shape: {yy: 0.6}, modalmass: 1}", "modalmass", {"\"modal_mass\"?"}},
		{"{linear: [0, 1, 0], position: {xy: 0.75}, shape: {yy: 0.2}}", "b: {", {"body \"b\"", "linear: along y"}},
		{"{linear: [0, 1, 0], position: {xy: 7.5}, shape: {yy: 0.6}}", "b: {", {"body \"b\"", "inertia is too small"}},
		{"{linear: [0, 1, 0], position: {xy: 0.75}, shape: {yy: 0.6}, modal_mass: 0.5}",
	     "b: {",
	     {"modal_mass of mode 1"}},
		{"{linear: [0, 1, 0], position: {xy: 0.75}, shape: {yy: 0.6}, angular: [0, 0, 3]}",
	     "b: {",
	     {"angular: about z"}},
		{"{linear: [0, 1, 0], position: {xy: 0.75}, shape: {yy: 0.6, xy: 0.1, yx: 0.2}}",
	     "b: {",
	     {"shape is not symmetric"}},
		{"7", "7", {"expected a map (see \"invariants\""}},
	};
	REFUSE_ALL(
		"calder: 1\nbodies:\n  b: {mass: 3 kg, com: [0.5, 0, 0], inertia: [0, 0.25, 0.25], nodes: {tip: [1, 0, 0]}, "
		"flexible: {stiffness: 9, nodes: {tip: {phi: [0, 1, 0]}}, invariants: %s}}\n",
		rows);
	static const Mistake bodies[] = {
		{"{com: [0.5, 0, 0], inertia: [0, 0.25, 0.25], ", "b: {", {"body \"b\"", "its mass is 0 kg"}},
		{"{mass: 3, com: [0.5, 0, 0], ", "b: {", {"body \"b\"", "inertia is too small"}},
		{"{mass: 0.003, com: [0.5, 0, 0], inertia: [0, 0.25, 0.25], ",
	     "b: {",
	     {"body \"b\"", "with 0.003 kg", "is the mass in other units"}},
		{"{mass: 3, com: [0.5, 0, 0], inertia: [0, 0.25, 0.25], nodes: {mass1: [0, 0, 0]}, ",
	     "b: {",
	     {"node \"mass1\"", "rename it"}},
	};
	REFUSE_ALL(
		"calder: 1\nbodies:\n  b: %sflexible: {stiffness: 9, nodes: {}, invariants: {linear: [0, 1, 0], position: {xy: "
		"0.75}, shape: {yy: 0.6}}}}\n",
		bodies);
}

int main(void) {
	NEEDS_YAML();
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_rod_has_its_closed_form),
		cmocka_unit_test(every_key_reaches_its_place),
		cmocka_unit_test(node_masses_come_on_top),
		cmocka_unit_test(mistakes_are_refused),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
