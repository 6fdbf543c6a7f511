// SPDX-License-Identifier: Apache-2.0
/*
 * test_golden.c — the reference cases pass, and the runner would notice if they did not.
 *
 * Every quantity that the runner compares is changed in a case by a part in 10^5, one at a time: each must
 * turn the verdict to FAIL and be named.
 */
#include <math.h>

#include "native_support.h"

#define GOLDEN TEST_DATA_DIR "/golden/"

static const char *const scratch = "test_golden_scratch.json"; // in the working directory of the test

static void rigid_trees_pass(void **state) {
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
	                                    "s29_prescribed_chain",
	                                    "t01_dzhanibekov",
	                                    "t02_heavy_top",
	                                    "t03_double_pendulum_3d",
	                                    "t04_free_two_arms",
	                                    "t12_docking_like_free_pair"};
	for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
		char path[512];
		CalGoldenResult result;
		snprintf(path, sizeof path, GOLDEN "%s.json", names[i]);
		assert_int_equal(cal_golden_run(path, &result), CAL_OK);
		if (result.verdict != CAL_GOLDEN_OK)
			fail_msg("%s: %s: %g (tolerance %g)", names[i], result.what, result.worst, result.tolerance);
		assert_string_equal(result.name, names[i]);
		assert_true(result.tolerance <= 1e-10);
	}
}

static void missing_features_are_named(void **state) {
	(void)state;
	static const struct {
		const char *name, *what;
	} rows[] = {
		{"s12_cantilever_static", "flexible bodies"},      {"s23_parallelogram", "loop constraints"},
		{"s33_andrews_initial", "point-to-point springs"}, {"i01_docking_rigid", "impulses"},
		{"t05_flexible_pendulum", "flexible bodies"},
	};
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		char path[512];
		CalGoldenResult result;
		snprintf(path, sizeof path, GOLDEN "%s.json", rows[i].name);
		assert_int_equal(cal_golden_run(path, &result), CAL_OK);
		assert_int_equal(result.verdict, CAL_GOLDEN_SKIP);
		assert_non_null(strstr(result.what, rows[i].what));
	}
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

/* The text with the first number behind `key` (after `section`; the last such key if `last`) a little larger. */
static void store_corrupted(const char *text, const char *section, const char *key, int last) {
	char quoted[80];
	const char *at = strstr(text, section);
	assert_non_null(at);
	snprintf(quoted, sizeof quoted, "\"%s\":", key);
	at = strstr(at, quoted);
	if (!at)
		fail_msg("no %s behind %s", key, section);
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
	// A point mass of 2 kg on node "m", 1 m below node "h" that hangs on a hinge about y at the origin: a simple
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

int main(void) {
	NEEDS_YAML();
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rigid_trees_pass),
		cmocka_unit_test(missing_features_are_named),
		cmocka_unit_test(a_wrong_quantity_fails),
		cmocka_unit_test(a_wrong_sample_fails),
		cmocka_unit_test(a_wrong_model_fails),
		cmocka_unit_test(unreadable_cases_fail),
		cmocka_unit_test(head_nodes_and_lumped_masses_are_mapped),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
