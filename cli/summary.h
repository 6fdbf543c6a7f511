// SPDX-License-Identifier: Apache-2.0
/*
 * summary.h — what a run says about itself at the end: steps, invariants, speed.
 */
#ifndef CALDER_CLI_SUMMARY_H
#define CALDER_CLI_SUMMARY_H

#include "cli.h"
#include "realtime.h"

/** The largest changes of the invariants of one group at the samples of a run. */
typedef struct Drift {
	double energy;    // [J]
	double linear;    // [kg m/s]
	double angular;   // [kg m^2/s]
	double residual;  // of loops, and where it was; 0 without loops
	int residual_row; //
} Drift;

/** A stream that was written. */
typedef struct SummaryStream {
	const char *name, *file;
	CalResultsCount count;
} SummaryStream;

typedef struct Summary {
	const char *path;
	const char *title;
	CalMethod method;
	size_t samples;
	const SummaryStream *streams; // [stream_count] that were written
	int stream_count;
	const char *svg;       // what was drawn, or NULL
	Drift *drift;          // one per group
	const RealTime *paced; // NULL: the run was not
} Summary;

/** Takes the monitors of all groups at the present time. */
CalStatus summary_watch(Summary *summary, CalSim *sim);
void summary_print(const Summary *summary, CalSim *sim, FILE *out);
void summary_print_json(const Summary *summary, CalSim *sim, FILE *out);

#endif
