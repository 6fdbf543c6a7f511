// SPDX-License-Identifier: Apache-2.0
/*
 * model_file_support.h — parsing of texts and files in the tests of the native format.
 */
#ifndef TEST_SUPPORT_MODEL_FILE_SUPPORT_H
#define TEST_SUPPORT_MODEL_FILE_SUPPORT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include <calder/io.h>

#include "support/check.h"

/** At the start of main(): without libyaml there is nothing to test but test_unsupported.c. */
#ifdef CALDER_WITH_YAML
#define NEEDS_YAML() ((void)0)
#else
#define NEEDS_YAML() return print_message("built without libyaml: skipped\n"), 0
#endif

/** A file from a text that must be good. */
static inline CalSetup *file_of(const char *text) {
	CalSetup *file = NULL;
	CalError error;
	if (cal_model_file_parse(text, strlen(text), "t.yaml", NULL, &file, &error) != CAL_OK)
		fail_msg("%s", error.text);
	return file;
}

static inline void fail_on_finding(void *user, const CalFinding *finding) {
	(void)user;
	fail_msg("%s", finding->text);
}

/** A file of examples/: it can be read, and is without a finding. */
static inline CalSetup *example_of(const char *name) {
	CalSetup *file = NULL;
	char path[512];
	CalError error;
	snprintf(path, sizeof path, SOURCE_DIR "/examples/%s.yaml", name);
	if (cal_model_file_read(path, NULL, &file, &error) != CAL_OK)
		fail_msg("%s", error.text);
	assert_int_equal(cal_desc_check(cal_setup_desc(file), fail_on_finding, NULL), CAL_OK);
	return file;
}

static inline CalModel *model_of(const CalSetup *file, const char *group) {
	CalModel *model = NULL;
	CalError error;
	CalCompileOptions options = {0};
	if (group)
		options.group = cal_desc_find_group(cal_setup_desc(file), group);
	if (cal_model_compile(cal_setup_desc(file), &options, &model, &error) != CAL_OK)
		fail_msg("%s", error.text);
	return model;
}

/** A simulation of a file with its states, devices and motions. */
static inline CalSim *sim_of(const CalSetup *file) {
	CalSim *sim = NULL;
	CalError error = {0};
	const CalSimOptions options = {.method = {.method = CAL_METHOD_DOPRI5}};
	CalStatus status = cal_sim_create(cal_setup_desc(file), &options, &sim, &error);
	for (int i = 0; status == CAL_OK && i < cal_sim_group_count(sim); i++)
		status = cal_setup_apply_state(file, cal_sim_model(sim, i), cal_sim_state(sim, i), &error);
	if (status == CAL_OK)
		status = cal_setup_apply_devices(file, sim, &error);
	if (status == CAL_OK)
		status = cal_setup_apply_motions(file, sim, &error);
	if (status != CAL_OK)
		fail_msg("%s", error.text);
	return sim;
}

static inline CalBodyInfo body_of(const CalModel *model, const char *name) {
	CalBodyInfo info;
	assert_int_equal(cal_model_body(model, cal_model_find_body(model, name), &info), CAL_OK);
	return info;
}

#endif
