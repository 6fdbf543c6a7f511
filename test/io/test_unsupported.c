// SPDX-License-Identifier: Apache-2.0
/*
 * test_unsupported.c — the calls of calder/io.h exist in every build; without libyaml they say what is missing.
 */
#include "golden/golden_runner.h"
#include "support/model_file_support.h"

static void files_are_read_or_the_build_says_why_not(void **state) {
	(void)state;
	static const char *const text = "calder: 1\nbodies: {a: {mass: 1}}\n";
	CalSetup *file = NULL;
	CalError error = {0};
	const CalStatus status = cal_model_file_parse(text, strlen(text), "t.yaml", NULL, &file, &error);
#ifdef CALDER_WITH_YAML
	assert_int_equal(status, CAL_OK);
	assert_int_equal(cal_desc_body_count(cal_setup_desc(file)), 1);
#else
	assert_int_equal(status, CAL_ERR_UNSUPPORTED);
	assert_null(file);
	assert_non_null(strstr(error.text, "CALDER_WITH_YAML"));
#endif
	cal_setup_destroy(file);
}

static void golden_cases_run_or_the_build_says_why_not(void **state) {
	(void)state;
	CalGoldenResult result;
	const CalStatus status = cal_golden_run(TEST_DATA_DIR "/golden/s01_revolute.json", &result);
#ifdef CALDER_WITH_YAML
	assert_int_equal(status, CAL_OK);
	assert_int_equal(result.verdict, CAL_GOLDEN_OK);
#else
	assert_int_equal(status, CAL_ERR_UNSUPPORTED);
	assert_int_equal(result.verdict, CAL_GOLDEN_FAIL);
#endif
}

/* Without a file there is nothing, and nothing breaks. */
static void null_is_accepted_where_it_can_be(void **state) {
	(void)state;
	CalSetupLoads *loads;
	cal_setup_destroy(NULL);
	cal_setup_loads_destroy(NULL);
	assert_null(cal_setup_desc(NULL));
	assert_string_equal(cal_setup_run(NULL).title, "");
	assert_int_equal(cal_setup_apply_state(NULL, NULL, NULL, NULL), CAL_ERR_ARGUMENT);
	assert_int_equal(cal_setup_loads_create(NULL, NULL, &loads, NULL), CAL_ERR_ARGUMENT);
	assert_true(cal_setup_loads_input(NULL, NULL, NULL, NULL) != 0);
	assert_true(cal_setup_loads_next_switch(NULL, 0) > 1e300);
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(files_are_read_or_the_build_says_why_not),
		cmocka_unit_test(golden_cases_run_or_the_build_says_why_not),
		cmocka_unit_test(null_is_accepted_where_it_can_be),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
