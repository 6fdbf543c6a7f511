// SPDX-License-Identifier: Apache-2.0
/*
 * example_support.h — an example of examples/ that is read, compiles without a finding, and runs.
 */
#ifndef TEST_EXAMPLES_EXAMPLE_SUPPORT_H
#define TEST_EXAMPLES_EXAMPLE_SUPPORT_H

#include <calder/calder.h>

#include "support/model_file_support.h"

typedef struct Running {
	CalSetup *file;
	CalSim *sim;
	CalScenario *scenario;
	CalSimBalance before; // at the start
} Running;

static inline CalSimBalance example_balance(Running *r) {
	CalSimBalance now;
	assert_int_equal(cal_sim_balance(r->sim, &now), CAL_OK);
	return now;
}

/** Takes the file. */
static inline Running file_start(CalSetup *file) {
	Running r = {.file = file};
	CalError error;
	const CalSimOptions options = {.method = cal_setup_run(r.file).method};
	if (cal_sim_create(cal_setup_desc(r.file), &options, &r.sim, &error) != CAL_OK ||
	    cal_scenario_create(r.file, r.sim, &r.scenario, &error) != CAL_OK || cal_sim_restart(r.sim, &error) != CAL_OK)
		fail_msg("%s", error.text);
	r.before = example_balance(&r);
	return r;
}

static inline Running example_start(const char *name) { return file_start(example_of(name)); }

static inline void example_advance(Running *r, double t) {
	CalError error;
	if (cal_sim_advance(r->sim, t, &error) != CAL_OK)
		fail_msg("%s", error.text);
}

static inline void example_finish(Running *r) {
	cal_scenario_destroy(r->scenario);
	cal_sim_destroy(r->sim);
	cal_setup_destroy(r->file);
}

#endif
