// SPDX-License-Identifier: Apache-2.0
/*
 * test_golden.c — the reference cases pass, and the runner would notice if they did not.
 *
 * Every quantity that the runner compares is changed in a case by a part in 10^5, one at a time: each must
 * turn the verdict to FAIL and be named.
 */
#include <math.h>

#include "golden/golden_runner.h"
#include "support/model_file_support.h"

#define GOLDEN TEST_DATA_DIR "/golden/"

static const char *const scratch = "test_golden_scratch.json"; // in the working directory of the test

static void expect_pass(const char *name, double tolerance) {
	char path[512];
	CalGoldenResult result;
	snprintf(path, sizeof path, GOLDEN "%s.json", name);
	assert_int_equal(cal_golden_run(path, &result), CAL_OK);
	if (result.verdict != CAL_GOLDEN_OK)
		fail_msg("%s: %s: %g (tolerance %g)", name, result.what, result.worst, result.tolerance);
	assert_string_equal(result.name, name);
	assert_true(result.tolerance <= tolerance);
}

static void trees_pass(void **state) {
	(void)state;
	static const char *const names[] = {"s01_revolute",
	                                    "s02_prismatic",
	                                    "s03_screw",
	                                    "s04_spherical",
	                                    "s05_free",
	                                    "s06_weld0",
	                                    "s07_arm6",
	                                    "s08_arm7",
	                                    "s09_all_joints_tree",
	                                    "s10_free_tree",
	                                    "s11_chain20",
	                                    "s12_cantilever_static",
	                                    "s13_hub_beam_eta0",
	                                    "s14_hub_beam_eta",
	                                    "s15_hub_beam_rotary",
	                                    "s16_flex2",
	                                    "s17_flex3_rotary",
	                                    "s18_flex5_free",
	                                    "s19_flex_random_modes",
	                                    "s20_flex_tree",
	                                    "s21_flex_prismatic",
	                                    "s22_foreshortening",
	                                    "s29_prescribed_chain",
	                                    "s30_prescribed_base_flex",
	                                    "s35_spring_damper_flex",
	                                    "s40_head_anywhere_fixed",
	                                    "s41_head_anywhere_free",
	                                    "t01_dzhanibekov",
	                                    "t02_heavy_top",
	                                    "t03_double_pendulum_3d",
	                                    "t04_free_two_arms",
	                                    "t05_flexible_pendulum",
	                                    "t06_flexible_free_chain",
	                                    "t12_docking_like_free_pair"};
	for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
		expect_pass(names[i], strcmp(names[i], "t05_flexible_pendulum") == 0 ? 1e-9 : 1e-10);
}

/* Redundant equations (s23, s25, s31, s33), a knife edge (s32), closures on deformed nodes (s27, s28). */
static void loops_pass(void **state) {
	(void)state;
	static const char *const names[] = {"s23_parallelogram",   "s24_spatial_RSSR", "s25_bricard",
	                                    "s26_two_arms_object", "s27_flex_loop",    "s28_flex_multi_constraints",
	                                    "s31_prescribed_loop", "s32_chaplygin",    "s33_andrews_initial"};
	for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
		expect_pass(names[i], 1e-10);
}

/* Three legs and two arms: plain double solutions are good to 4e-11, 6e-9 and 8e-10. */
static void large_loops_pass(void **state) {
	(void)state;
	expect_pass("s34_jsc_case1", 1e-8);
	expect_pass("s36_jsc_49bodies", 1e-6);
	expect_pass("s37_jsc_case4", 1e-7);
}

static void loop_trajectories_pass(void **state) {
	(void)state;
	static const char *const names[] = {"t07_iftomm_a02_n2", "t08_iftomm_a04_bricard", "t09_flexible_fourbar",
	                                    "t10_andrews", "t11_jsc_case1"};
	for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
		expect_pass(names[i], 1e-9);
}

/* A hundred bodies are ill conditioned in joint coordinates: a plain double solution is good to 1e-6 and 1e-9. */
static void large_flexible_trees_pass(void **state) {
	(void)state;
	static const char *const names[] = {"s38_chain128", "s39_star128"};
	for (size_t i = 0; i < 2; i++)
		expect_pass(names[i], 1e-3);
}

/* Docking in closed form (i01), a weld at a deformed node (i02), locks with a loop and redundant equations (i03). */
static void impulses_pass(void **state) {
	(void)state;
	static const char *const names[] = {"i01_docking_rigid", "i02_grapple_flexible_trees", "i03_tree_touch_and_lock"};
	for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
		expect_pass(names[i], 1e-11);
}

/* ---- corrupted cases ----------------------------------------------------------------------- */

static char *load(const char *name) {
	char path[512];
	snprintf(path, sizeof path, GOLDEN "%s.json", name);
	FILE *stream = fopen(path, "rb");
	assert_non_null(stream);
	char *text = calloc(1, 1 << 20);
	assert_non_null(text);
	assert_true(fread(text, 1, (1 << 20) - 1, stream) > 0);
	fclose(stream);
	return text;
}

static void store(const char *text, size_t length) {
	FILE *stream = fopen(scratch, "wb");
	assert_non_null(stream);
	assert_int_equal(fwrite(text, 1, length, stream), length);
	assert_int_equal(fclose(stream), 0);
}

static void missing_features_are_named(void **state) {
	(void)state;
	static const char *const text =
		"{\"schema\":\"golden-mbd-1\",\"kind\":\"state\",\"name\":\"seven\",\"model\":{\"gravity\":[0,0,0],\"bodies\":["
		"{\"name\":\"b\",\"parent\":null,\"joint\":{\"elements\":[{\"type\":\"free\"},{\"type\":\"revolute\",\"axis\":[0,0,1]}]},"
		"\"rigid\":{\"mass\":1}}]}}";
	CalGoldenResult result;
	store(text, strlen(text));
	assert_int_equal(cal_golden_run(scratch, &result), CAL_OK);
	remove(scratch);
	assert_int_equal(result.verdict, CAL_GOLDEN_SKIP);
	assert_non_null(strstr(result.what, "more than six degrees of freedom"));
}

/* The text with the first number after `key` (after `section`; the last such key if `last`) a little larger. */
static void store_corrupted(const char *text, const char *section, const char *key, int last) {
	char quoted[80];
	const char *at = strstr(text, section);
	assert_non_null(at);
	snprintf(quoted, sizeof quoted, "\"%s\":", key);
	at = strstr(at, quoted);
	if (!at)
		fail_msg("no %s after %s", key, section);
	for (const char *next = at; last && next; next = strstr(next + 1, quoted))
		at = next;
	at += strlen(quoted);
	at += strspn(at, "[{ ");
	char *end;
	const double number = strtod(at, &end);
	assert_true(end > at);
	char *changed = malloc(strlen(text) + 64);
	assert_non_null(changed);
	const int length = sprintf(changed, "%.*s%.17g%s", (int)(at - text), text, number + 1e-5 * (1 + fabs(number)), end);
	store(changed, (size_t)length);
	free(changed);
}

static void expect_failure(const char *key) {
	CalGoldenResult result;
	assert_int_equal(cal_golden_run(scratch, &result), CAL_OK);
	remove(scratch);
	if (result.verdict != CAL_GOLDEN_FAIL)
		fail_msg("a wrong %s is not noticed", key);
	// Accelerations and applied forces also enter the check of inverse dynamics.
	if (strncmp(result.what, key, strlen(key)) != 0 && strncmp(result.what, "inverse", 7) != 0)
		fail_msg("a wrong %s is reported as %s", key, result.what);
	assert_true(result.worst > result.tolerance);
}

static void a_wrong_quantity_fails(void **state) {
	(void)state;
	static const char *const keys[] = {"udot",
	                                   "mass_matrix",
	                                   "bias",
	                                   "gen_gravity",
	                                   "gen_applied",
	                                   "gen_elastic",
	                                   "gen_external",
	                                   "kinetic_energy",
	                                   "gravity_energy",
	                                   "strain_energy",
	                                   "total_energy",
	                                   "mass",
	                                   "com",
	                                   "linear_momentum",
	                                   "angular_momentum_origin",
	                                   "angular_momentum_com"};
	static const char *const fields[] = {"r", "R", "v", "w", "a", "alpha", "joint_force", "joint_moment"};
	char *text = load("s07_arm6");
	for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++) {
		store_corrupted(text, "\"expected\":", keys[i], 0);
		expect_failure(keys[i]);
	}
	for (size_t i = 0; i < sizeof fields / sizeof fields[0]; i++) {
		store_corrupted(text, "\"n_speeds\":", fields[i], 0);
		expect_failure(fields[i]);
	}
	for (size_t i = 0; i < 6; i++) {
		store_corrupted(text, "\"j6/tip\":", fields[i], 0);
		expect_failure(fields[i]);
	}
	free(text);
	text = load("s29_prescribed_chain");
	store_corrupted(text, "\"expected\":", "prescribed_force", 0);
	expect_failure("prescribed_force");
	free(text);
}

/* The number after `key` is compared as `what`. */
static void a_wrong_constraint_quantity_fails(void **state) {
	(void)state;
	static const struct {
		const char *name, *section, *key, *what;
	} rows[] = {
		{"s28_flex_multi_constraints", "\"expected\":", "udot", "udot"},
		{"s28_flex_multi_constraints", "\"expected\":", "constraint_jacobian", "constraint_jacobian"},
		{"s28_flex_multi_constraints", "\"expected\":", "constraint_residual", "constraint_residual"},
		{"s28_flex_multi_constraints", "\"expected\":", "constraint_rate", "constraint_rate"},
		{"s28_flex_multi_constraints", "\"expected\":", "gamma", "gamma"},
		{"s28_flex_multi_constraints", "\"expected\":", "lambda", "lambda"},
		{"s28_flex_multi_constraints", "\"expected\":", "constraint_rank", "constraint_rank"},
		{"s28_flex_multi_constraints", "\"expected\":", "constraint_rows", "constraint_rows"},
		{"s28_flex_multi_constraints", "\"expected\":", "n_speeds", "n_speeds"},
		{"s28_flex_multi_constraints", "\"expected\":", "gen_constraint", "gen_constraint"},
		{"s28_flex_multi_constraints", "\"gen_constraint\":", "point", "constraint point"},
		{"s28_flex_multi_constraints", "\"gen_constraint\":", "force", "constraint force"},
		{"s28_flex_multi_constraints", "\"gen_constraint\":", "moment", "constraint moment"},
		{"s28_flex_multi_constraints", "\"n_speeds\":", "joint_force", "joint_force"},
		{"s31_prescribed_loop", "\"expected\":", "prescribed_force", "prescribed_force"},
		{"s33_andrews_initial", "\"expected\":", "lambda", "lambda"},
	};
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		char *text = load(rows[i].name);
		store_corrupted(text, rows[i].section, rows[i].key, 0);
		expect_failure(rows[i].what);
		free(text);
	}
}

static void a_wrong_impulse_quantity_fails(void **state) {
	(void)state;
	static const struct {
		const char *section, *key;
	} rows[] = {
		{"\"expected\":", "u_before"},
		{"\"expected\":", "mass_matrix"},
		{"\"expected\":", "jacobian"},
		{"\"expected\":", "n_speeds"},
		{"\"expected\":", "rows"},
		{"\"expected\":", "u_after"},
		{"\"expected\":", "rate_before"},
		{"\"expected\":", "rate_after"},
		{"\"expected\":", "constraint_residual"},
		{"\"u_after\":", "impulse"},
		{"\"expected\":", "rank"},
		{"\"expected\":", "gen_impulse"},
		{"\"expected\":", "kinetic_energy_of_jump"},
		{"\"gen_impulse\":", "point"},
		{"\"gen_impulse\":", "force_impulse"},
		{"\"expected\":", "moment_impulse"},
		{"\"expected\":", "mass"},
		{"\"expected\":", "com"},
		{"\"before\":", "kinetic_energy"},
		{"\"before\":", "linear_momentum"},
		{"\"before\":", "angular_momentum_origin"},
		{"\"after\":", "kinetic_energy"},
		{"\"after\":", "angular_momentum_com"},
		{"\"before\":", "r"},
		{"\"before\":", "R"},
		{"\"after\":", "v"},
		{"\"after\":", "w"},
	};
	char *text = load("i03_tree_touch_and_lock");
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		store_corrupted(text, rows[i].section, rows[i].key, 0);
		expect_failure(rows[i].key);
	}
	store_corrupted(text, "\"state_after\":", "u", 0);
	expect_failure("state_after u");
	store_corrupted(text, "\"state_after\":", "etadot", 0);
	expect_failure("state_after etadot");
	free(text);
}

static void a_wrong_sample_fails(void **state) {
	(void)state;
	static const char *const keys[] = {
		"u", "kinetic_energy", "total_energy", "linear_momentum", "angular_momentum_origin", "com", "r", "R", "v", "w"};
	char *text = load("t12_docking_like_free_pair");
	for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++) {
		const int state_key = strcmp(keys[i], "u") == 0; // the last body is welded: it has none
		store_corrupted(text, state_key ? "\"t\":10.0" : "\"samples\":", keys[i], !state_key);
		expect_failure(keys[i]);
	}
	store_corrupted(text, "\"t\":10.0", "q", 0);
	expect_failure("q");
	free(text);
}

/* A wrong input must show as well: the comparisons are not of the file with itself. */
static void a_wrong_model_fails(void **state) {
	(void)state;
	static const struct {
		const char *section, *key;
	} rows[] = {{"\"model\":", "gravity"},   {"\"model\":", "mass"},     {"\"model\":", "inertia"},
	            {"\"parent_offset\":", "r"}, {"\"state\":{", "q"},       {"\"state\":{", "u"},
	            {"\"applied\":", "force"},   {"\"applied\":", "moment"}, {"\"tip\"", "p"},
	            {"\"tau\":", "j3"}};
	char *text = load("s07_arm6");
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		CalGoldenResult result;
		store_corrupted(text, rows[i].section, rows[i].key, 0);
		assert_int_equal(cal_golden_run(scratch, &result), CAL_OK);
		remove(scratch);
		if (result.verdict != CAL_GOLDEN_FAIL)
			fail_msg("a wrong %s is not noticed", rows[i].key);
	}
	free(text);
}

static void expect_wrong(const char *text, const char *section, const char *key) {
	CalGoldenResult result;
	store_corrupted(text, section, key, 0);
	assert_int_equal(cal_golden_run(scratch, &result), CAL_OK);
	remove(scratch);
	if (result.verdict != CAL_GOLDEN_FAIL)
		fail_msg("a wrong %s after %s is not noticed", key, section);
}

static void a_wrong_flexible_model_fails(void **state) {
	(void)state;
	static const struct {
		const char *section, *key;
	} rows[] = {{"\"n2\"", "m"},     {"\"n2\"", "phi"},      {"\"n2\"", "psi"},        {"\"n2\"", "J"},
	            {"\"model\":", "K"}, {"\"state\":{", "eta"}, {"\"state\":{", "etadot"}};
	static const struct {
		const char *section, *key;
	} spring_rows[] = {{"\"springs\":", "k"},
	                   {"\"springs\":", "c"},
	                   {"\"springs\":", "l0"},
	                   {"\"springs\":", "r"},
	                   {"\"body\":null", "r"}};
	char *text = load("s41_head_anywhere_free");
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
		expect_wrong(text, rows[i].section, rows[i].key);
	free(text);
	text = load("s35_spring_damper_flex");
	for (size_t i = 0; i < sizeof spring_rows / sizeof spring_rows[0]; i++)
		expect_wrong(text, spring_rows[i].section, spring_rows[i].key);
	free(text);
	text = load("s17_flex3_rotary");
	expect_wrong(text, "\"model\":", "D");
	free(text);
	text = load("s22_foreshortening");
	expect_wrong(text, "\"n4\"", "phi2");
	free(text);
	text = load("s28_flex_multi_constraints");
	expect_wrong(text, "\"uni\"", "r");
	expect_wrong(text, "\"uni\"", "quat");
	expect_wrong(text, "\"cyl\"", "r");
	expect_wrong(text, "\"plane\"", "quat");
	free(text);
	text = load("t06_flexible_free_chain");
	static const char *const keys[] = {"eta", "etadot"};
	for (size_t i = 0; i < 2; i++) {
		store_corrupted(text, "\"samples\":", keys[i], 1);
		expect_failure(keys[i]);
	}
	free(text);
}

/* ---- cases that cannot be run ----------------------------------------------------------------- */

static void unreadable_cases_fail(void **state) {
	(void)state;
	CalGoldenResult result;
	assert_int_equal(cal_golden_run("no/such/case.json", &result), CAL_ERR_IO);
	assert_int_equal(result.verdict, CAL_GOLDEN_FAIL);
	assert_string_equal(result.name, "case");
	static const struct {
		const char *text, *what;
	} rows[] = {
		{"{", "not valid YAML"},
		{"[]", "a text is missing"},
		{"{\"schema\":\"golden-mbd-2\",\"name\":\"x\",\"kind\":\"state\"}", "schema"},
		{"{\"schema\":\"golden-mbd-1\",\"name\":\"x\",\"kind\":\"state\",\"model\":{}}", "model.bodies"},
		{"{\"schema\":\"golden-mbd-1\",\"name\":\"x\",\"kind\":\"other\",\"model\":{\"bodies\":[{\"name\":\"a\",\"joint\":{\"elements\":[]},"
	     "\"rigid\":{\"mass\":1}}]}}",
	     "unknown kind"},
		{"{\"schema\":\"golden-mbd-1\",\"name\":\"x\",\"kind\":\"state\",\"model\":{\"bodies\":[{\"name\":\"a\",\"joint\":{\"elements\":[]},"
	     "\"rigid\":{\"mass\":\"heavy\"}}]}}",
	     "expected a number"},
		{"{\"schema\":\"golden-mbd-1\",\"name\":\"x\",\"kind\":\"state\",\"model\":{\"bodies\":[{\"name\":\"a\",\"joint\":{\"elements\":[]},"
	     "\"rigid\":{\"mass\":1}}]},\"state\":{\"a\":{\"q\":[],\"u\":[]}},\"expected\":{}}",
	     "no expected.udot"},
		{"{\"schema\":\"golden-mbd-1\",\"name\":\"x\",\"kind\":\"state\",\"model\":{\"bodies\":[{\"name\":\"a\",\"joint\":{\"elements\":"
	     "[{\"type\":\"hinge\"}]},\"rigid\":{\"mass\":1}}]}}",
	     "unknown type of joint element"},
		{"{\"schema\":\"golden-mbd-1\",\"name\":\"x\",\"kind\":\"state\",\"model\":{\"bodies\":[{\"name\":\"a\",\"joint\":{\"elements\":[]},"
	     "\"nm\":1.5,\"K\":[[1]]}]}}",
	     "expected a number of modes"},
		{"{\"schema\":\"golden-mbd-1\",\"name\":\"x\",\"kind\":\"state\",\"model\":{\"bodies\":[{\"name\":\"a\",\"joint\":{\"elements\":[]},"
	     "\"nm\":5000,\"K\":[[1]]}]}}",
	     "nm does not fit"},
		{"{\"schema\":\"golden-mbd-1\",\"name\":\"x\",\"kind\":\"state\",\"model\":{\"bodies\":[{\"name\":\"a\",\"joint\":{\"elements\":[]},"
	     "\"nm\":2,\"K\":[[1,0],[0,1]],\"nodes\":[{\"name\":\"n\",\"p\":[0,0,0],\"phi\":[[1],[2],[3]]}]}]}}",
	     "expected a list of 6 numbers"},
		{"{\"schema\":\"golden-mbd-1\",\"name\":\"x\",\"kind\":\"state\",\"model\":{\"bodies\":[{\"name\":\"a\",\"joint\":{\"elements\":[]},"
	     "\"rigid\":{\"mass\":1}}],\"springs\":[{\"A\":{\"body\":null},\"B\":{\"body\":\"z\"},\"k\":1}]},\"state\":{},\"expected\":{\"udot\":[]}}",
	     "a spring on an unknown node"},
		{"{\"schema\":\"golden-mbd-1\",\"name\":\"x\",\"kind\":\"state\",\"model\":{\"bodies\":[{\"name\":\"a\",\"joint\":{\"elements\":[]},"
	     "\"rigid\":{\"mass\":1}}],\"constraints\":[{\"name\":\"c\",\"type\":\"glue\"}]}}",
	     "constraint \"c\": unknown type \"glue\""},
		{"{\"schema\":\"golden-mbd-1\",\"name\":\"x\",\"kind\":\"state\",\"model\":{\"bodies\":[{\"name\":\"a\",\"joint\":{\"elements\":[]},"
	     "\"rigid\":{\"mass\":1}}],\"constraints\":[{\"name\":\"c\",\"type\":\"weld\",\"A\":{\"body\":null}}]}}",
	     "constraint \"c\" has no frame B"},
		{"{\"schema\":\"golden-mbd-1\",\"name\":\"x\",\"kind\":\"state\",\"model\":{\"bodies\":[{\"name\":\"a\",\"joint\":{\"elements\":[]},"
	     "\"rigid\":{\"mass\":1}}],\"constraints\":[{\"name\":\"c\",\"type\":\"point\",\"A\":{\"body\":\"a\",\"node\":\"tip\"}}]}}",
	     "frame A is on node \"tip\" of body \"a\", which does not exist"},
		{"{\"schema\":\"golden-mbd-1\",\"name\":\"x\",\"kind\":\"state\",\"model\":{\"bodies\":[{\"name\":\"a\",\"joint\":{\"elements\":[]},"
	     "\"rigid\":{\"mass\":1}}],\"constraints\":{\"name\":\"c\"}}}",
	     "model.constraints is not a list"},
	};
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		store(rows[i].text, strlen(rows[i].text));
		const CalStatus status = cal_golden_run(scratch, &result);
		remove(scratch);
		assert_true(status < 0);
		assert_int_equal(result.verdict, CAL_GOLDEN_FAIL);
		if (!strstr(result.what, rows[i].what))
			fail_msg("\"%s\" does not say \"%s\"", result.what, rows[i].what);
	}
	assert_int_equal(cal_golden_run(NULL, &result), CAL_ERR_ARGUMENT);
}

/* A body carried by one of its nodes, and masses on its nodes: rigid, so no feature is missing. */
static void head_nodes_and_lumped_masses_are_mapped(void **state) {
	(void)state;
	// A point mass of 2 kg on node "m", 1 m below node "h" of a hinge about y at the origin: a simple
	// pendulum at angle 0.5, so udot = -g sin(q).
	static const char *const text =
		"{\"schema\":\"golden-mbd-1\",\"kind\":\"state\",\"name\":\"pendulum\",\"accuracy\":{},"
		"\"model\":{\"gravity\":[0,0,-10],\"bodies\":[{\"name\":\"b\",\"parent\":null,\"head\":\"h\",\"joint\":{\"elements\":["
		"{\"type\":\"revolute\",\"axis\":[0,1,0]}]},\"nodes\":[{\"name\":\"h\",\"p\":[0,0,3]},{\"name\":\"m\",\"p\":[0,0,2],\"m\":2}]}]},"
		"\"state\":{\"b\":{\"q\":[0.5],\"u\":[0]}},"
		"\"expected\":{\"udot\":[%.17g],\"mass_matrix\":[[2]],\"mass\":2,\"com\":[%.17g,0,%.17g]}}";
	char filled[2000];
	for (int wrong = 0; wrong < 2; wrong++) {
		CalGoldenResult result;
		const int length =
			snprintf(filled, sizeof filled, text, -10 * sin(0.5) * (1 + 1e-9 * wrong), -sin(0.5), -cos(0.5));
		store(filled, (size_t)length);
		assert_int_equal(cal_golden_run(scratch, &result), CAL_OK);
		remove(scratch);
		if (result.verdict != (wrong ? CAL_GOLDEN_FAIL : CAL_GOLDEN_OK))
			fail_msg("%s: %g", result.what, result.worst);
	}
}

/* Two masses of 2 kg, each moved by a mode of its own: modal forces and prescribed modes reach the right speeds. */
static void modal_forces_and_prescribed_modes_are_mapped(void **state) {
	(void)state;
	static const char *const text =
		"{\"schema\":\"golden-mbd-1\",\"kind\":\"state\",\"name\":\"modes\",\"accuracy\":{},\"model\":{\"gravity\":[0,0,0],\"bodies\":["
		"{\"name\":\"b\",\"parent\":null,\"joint\":{\"elements\":[{\"type\":\"prismatic\",\"axis\":[0,0,1]}]},\"nm\":2,"
		"\"K\":[[4,0],[0,6]],\"nodes\":[{\"name\":\"m\",\"p\":[1,0,0],\"m\":2,\"phi\":[[1,0],[0,1],[0,0]]}]}]},"
		"\"state\":{\"b\":{\"q\":[0],\"u\":[0],\"eta\":[0.5,0.25],\"etadot\":[0,0]}},"
		"\"applied\":{\"tau\":{\"b\":[8]},\"modal\":{\"b\":[3,1]}},\"prescribed\":{\"b\":{\"dofs\":[2],\"udot\":[7]}},"
		"\"expected\":{\"udot\":[4,%.17g,7],\"gen_applied\":[8,3,1],\"prescribed_speeds\":[2],\"prescribed_force\":[%.17g]}}";
	char filled[2000];
	for (int wrong = 0; wrong < 3; wrong++) {
		CalGoldenResult result;
		const double udot = (3 - 4 * 0.5) / 2 + (wrong == 1 ? 1e-9 : 0);
		const double force = 2 * 7 + 6 * 0.25 - 1 + (wrong == 2 ? 1e-8 : 0);
		store(filled, (size_t)snprintf(filled, sizeof filled, text, udot, force));
		assert_int_equal(cal_golden_run(scratch, &result), CAL_OK);
		remove(scratch);
		if (result.verdict != (wrong ? CAL_GOLDEN_FAIL : CAL_GOLDEN_OK))
			fail_msg("%d: %s: %g", wrong, result.what, result.worst);
	}
}

/*
 * A mass of 2 kg on three translations, guided along z of a frame turned by 0.5 about y: it slides down with
 * g.z_A, and the guide carries m g.x_A. The constraint has no name, so the results call it "0".
 */
static void a_prismatic_constraint_is_mapped(void **state) {
	(void)state;
	static const char *const text =
		"{\"schema\":\"golden-mbd-1\",\"kind\":\"state\",\"name\":\"slide\",\"accuracy\":{},"
		"\"model\":{\"gravity\":[0,0,-10],\"bodies\":[{\"name\":\"b\",\"parent\":null,\"joint\":{\"elements\":["
		"{\"type\":\"prismatic\",\"axis\":[1,0,0]},{\"type\":\"prismatic\",\"axis\":[0,1,0]},"
		"{\"type\":\"prismatic\",\"axis\":[0,0,1]}]},\"rigid\":{\"mass\":2}}],\"constraints\":[{\"type\":\"prismatic\","
		"\"A\":{\"body\":null,\"quat\":[%.17g,0,%.17g,0]},\"B\":{\"body\":\"b\",\"quat\":[%.17g,0,%.17g,0]}}]},"
		"\"state\":{\"b\":{\"q\":[0,0,0],\"u\":[0,0,0]}},"
		"\"expected\":{\"udot\":[%.17g,0,%.17g],\"lambda\":[%.17g,0,0,0,0],\"constraint_rank\":%d,"
		"\"constraints\":{\"0\":{\"point\":[0,0,0],\"force\":[%.17g,0,%.17g]}}}}";
	char filled[2000];
	for (int wrong = 0; wrong < 4; wrong++) {
		CalGoldenResult result;
		const double w = cos(0.25), y = sin(0.25), s = sin(0.5), k = cos(0.5), carried = -20 * s;
		const int length = snprintf(filled, sizeof filled, text, w, y, w, y, -10 * k * s, -10 * k * k,
		                            carried + (wrong == 1 ? 1e-8 : 0), wrong == 2 ? 3 : 2,
		                            carried * k + (wrong == 3 ? 1e-8 : 0), -carried * s);
		store(filled, (size_t)length);
		assert_int_equal(cal_golden_run(scratch, &result), CAL_OK);
		remove(scratch);
		if (result.verdict != (wrong ? CAL_GOLDEN_FAIL : CAL_GOLDEN_OK))
			fail_msg("%d: %s: %g", wrong, result.what, result.worst);
	}
}

int main(void) {
	NEEDS_YAML();
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(trees_pass),
		cmocka_unit_test(large_flexible_trees_pass),
		cmocka_unit_test(loops_pass),
		cmocka_unit_test(large_loops_pass),
		cmocka_unit_test(loop_trajectories_pass),
		cmocka_unit_test(impulses_pass),
		cmocka_unit_test(missing_features_are_named),
		cmocka_unit_test(a_wrong_quantity_fails),
		cmocka_unit_test(a_wrong_constraint_quantity_fails),
		cmocka_unit_test(a_wrong_impulse_quantity_fails),
		cmocka_unit_test(a_wrong_sample_fails),
		cmocka_unit_test(a_wrong_model_fails),
		cmocka_unit_test(a_wrong_flexible_model_fails),
		cmocka_unit_test(unreadable_cases_fail),
		cmocka_unit_test(modal_forces_and_prescribed_modes_are_mapped),
		cmocka_unit_test(head_nodes_and_lumped_masses_are_mapped),
		cmocka_unit_test(a_prismatic_constraint_is_mapped),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
