// SPDX-License-Identifier: Apache-2.0
/*
 * driven_support.h — simulations of files in which something follows a function of time, by every method.
 */
#ifndef TEST_IO_MODEL_DRIVEN_SUPPORT_H
#define TEST_IO_MODEL_DRIVEN_SUPPORT_H

#include <calder/calder.h>
#include "support/model_file_support.h"

static const CalMethod methods[] = {CAL_METHOD_DOPRI5, CAL_METHOD_RK4, CAL_METHOD_EULER_CROMER, CAL_METHOD_IMPLICIT,
                                    CAL_METHOD_IMPLICIT_MIDPOINT};
enum { METHODS = sizeof methods / sizeof *methods };

/* A four-bar without the loop that closes it. */
#define THREE_BARS                                                                                 \
	"calder: 1\n"                                                                                  \
	"gravity: [0, -9.81, 0]\n"                                                                     \
	"bodies:\n"                                                                                    \
	"  crank: {mass: 1, rod: {from: [0, 0, 0], to: [0.2, 0, 0]}, nodes: {end: [0.2, 0, 0]}}\n"     \
	"  coupler: {mass: 2.5, rod: {from: [0, 0, 0], to: [0.5, 0, 0]}, nodes: {end: [0.5, 0, 0]}}\n" \
	"  rocker: {mass: 2, rod: {from: [0, 0, 0], to: [0.4, 0, 0]}, nodes: {end: [0.4, 0, 0]}}\n"    \
	"joints:\n"                                                                                    \
	"  crank: {type: revolute, to: crank}\n"                                                       \
	"  elbow: {type: revolute, from: crank/end, to: coupler}\n"                                    \
	"  rocker: {type: revolute, to: rocker, inboard: [0.5, 0, 0]}\n"

typedef struct Driven {
	CalSetup *file;
	CalSim *sim;
	CalScenario *scenario;
	CalError error;
	CalState *state;
} Driven;

/* Made, but not started; branches 0: in one piece. Takes the file. */
static inline CalStatus driven_open(CalSetup *file, CalMethod method, double step, int branches, int threads,
                                    Driven *d) {
	*d = (Driven){.file = file};
	const CalSimOptions options = {.method = {.method = method, .step = step, .rtol = 1e-10, .atol = 1e-12},
	                               .branches = branches,
	                               .threads = threads,
	                               .branches_forced = branches > 1,
	                               .not_pinned = 1};
	CalStatus status = cal_sim_create(cal_setup_desc(file), &options, &d->sim, &d->error);
	if (status == CAL_OK)
		status = cal_scenario_create(file, d->sim, &d->scenario, &d->error);
	d->state = d->sim ? cal_sim_state(d->sim, 0) : NULL;
	return status;
}

static inline Driven start_file(CalSetup *file, CalMethod method, double step) {
	Driven d;
	if (driven_open(file, method, step, 0, 0, &d) != CAL_OK || cal_sim_restart(d.sim, &d.error) != CAL_OK)
		fail_msg("%s", d.error.text);
	return d;
}

static inline Driven start(const char *text, CalMethod method, double step) {
	return start_file(file_of(text), method, step);
}

static inline void advance(Driven *d, double t) {
	if (cal_sim_advance(d->sim, t, &d->error) != CAL_OK)
		fail_msg("%s", d->error.text);
	d->state = cal_sim_state(d->sim, 0);
}

static inline void finish(Driven *d) {
	cal_scenario_destroy(d->scenario);
	cal_sim_destroy(d->sim);
	cal_setup_destroy(d->file);
}

#endif
