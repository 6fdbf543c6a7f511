// SPDX-License-Identifier: Apache-2.0
/*
 * file_run.h — simulations of model files that tests have as texts. Whatever goes wrong fails the test at once.
 */
#ifndef CALDER_TEST_DEVICE_FILE_RUN_H
#define CALDER_TEST_DEVICE_FILE_RUN_H

#include "rig.h"

typedef struct FileRun {
	CalSetup *setup;
	CalSim *sim;
	CalScenario *scenario;
} FileRun;

/* CAL_OK, or the status and text of what refuses the model. */
static inline CalStatus file_try(const char *text, const CalSimOptions *options, FileRun *run, CalError *error) {
	*run = (FileRun){0};
	CalStatus status = cal_model_file_parse(text, strlen(text), "model.yaml", NULL, &run->setup, error);
	if (status == CAL_ERR_UNSUPPORTED)
		skip(); // a build without YAML
	return status == CAL_OK ? cal_setup_simulate(run->setup, options, &run->sim, &run->scenario, error) : status;
}

static inline void file_free(FileRun *run) {
	cal_scenario_destroy(run->scenario);
	cal_sim_destroy(run->sim);
	cal_setup_destroy(run->setup);
}

static inline FileRun file_run(const char *text, const CalSimOptions *options) {
	FileRun run;
	CalError error = {0};
	if (file_try(text, options, &run, &error) != CAL_OK)
		fail_msg("%s", error.text);
	return run;
}

static inline void file_advance(FileRun *run, double t) {
	CalError error = {0};
	if (cal_sim_advance(run->sim, t, &error) != CAL_OK)
		fail_msg("%s", error.text);
}

/** Output k of a device. */
static inline double file_output(const FileRun *run, const char *device, int k) {
	double outputs[64];
	assert_int_equal(cal_sim_device_outputs(run->sim, cal_sim_find_device(run->sim, device), outputs), CAL_OK);
	return outputs[k];
}

/** The model is refused, and the message has `part` in it. */
static inline void file_refused(const char *text, const char *part) {
	FileRun run;
	CalError error = {0};
	if (file_try(text, NULL, &run, &error) == CAL_OK)
		fail_msg("accepted, though it should say: %s", part);
	if (!strstr(error.text, part))
		fail_msg("\"%s\" does not say \"%s\"", error.text, part);
	file_free(&run);
}

#endif
