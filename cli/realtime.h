// SPDX-License-Identifier: Apache-2.0
/*
 * realtime.h — a run paced to the wall clock: each step ends when its time has come, and those that end later are counted.
 */
#ifndef CALDER_CLI_REALTIME_H
#define CALDER_CLI_REALTIME_H

#include "cli.h"

enum { REALTIME_BINS = 24 }; // of the histogram: below 1 us, 2 us, 4 us ... 2^22 us, and all above

typedef struct RealTime {
	double rate;     // simulated seconds per second; 0: the run is not paced
	double ahead;    // [s] that a step may be ready before it is due
	double t0, wall; // where both clocks started [s]
	int64_t steps, missed;
	double late;    // the worst [s]
	double longest; // step, without waiting [s]
	int64_t bins[REALTIME_BINS];
	bool locked, prior; // memory is locked, the thread has a real-time priority
} RealTime;

/** Locks memory and asks for priority for all threads, as far as the system lets, and starts the clocks. */
void realtime_start(RealTime *r, CalSim *sim);
/** One step of the simulation, at most to t_limit; then waits for its time, or until that is not farther than `ahead`. */
CalStatus realtime_step(RealTime *r, CalSim *sim, double t_limit, CalError *error);
/** Waits until the present state is due. */
void realtime_end(const RealTime *r, const CalSim *sim);
void realtime_print(const RealTime *r, FILE *out);
void realtime_print_json(const RealTime *r, FILE *out);

#endif
