// SPDX-License-Identifier: Apache-2.0
/*
 * run.h — a setup at work: its simulation and scenario, which end together.
 */
#ifndef TEST_SUPPORT_RUN_H
#define TEST_SUPPORT_RUN_H

#include <calder/calder.h>

#include "support/check.h"

typedef struct Run {
	CalSetup *file;
	CalSim *sim;
	CalScenario *scenario;
	CalError error;
} Run;

/** At its start; takes the setup. What failed is in r->error. */
static inline CalStatus run_open(CalSetup *file, const CalSimOptions *options, Run *r) {
	*r = (Run){.file = file};
	CalStatus status = cal_sim_create(cal_setup_desc(file), options, &r->sim, &r->error);
	if (status == CAL_OK)
		status = cal_scenario_create(file, r->sim, &r->scenario, &r->error);
	return status == CAL_OK ? cal_sim_restart(r->sim, &r->error) : status;
}

/** By the method that the file asks for. */
static inline Run run_file(CalSetup *file) {
	Run r;
	const CalSimOptions options = {.method = cal_setup_run(file).method};
	if (run_open(file, &options, &r) != CAL_OK)
		fail_msg("%s", r.error.text);
	return r;
}

static inline void run_end(Run *r) {
	cal_scenario_destroy(r->scenario);
	cal_sim_destroy(r->sim);
	cal_setup_destroy(r->file);
}

#endif
