// SPDX-License-Identifier: Apache-2.0
/*
 * summary.h — what a run says about itself at the end: steps, invariants, speed.
 */
#ifndef CALDER_CLI_SUMMARY_H
#define CALDER_CLI_SUMMARY_H

#include "cli.h"
#include "name_table.h"
#include "realtime.h"

/** The largest changes of the invariants of one group at the samples of a run. */
typedef struct Drift {
	char *name;            // of the group
	double energy;         // [J]
	double scale;          // largest kinetic energy [J]
	bool worked, pushed;   // something acted that may change its energy, its momentum
	double linear;         // [kg m/s]
	double angular;        // [kg m^2/s]
	double residual;       // of loops, and where it was; 0 without loops
	char residual_row[96]; //
} Drift;

/** Momentum of all groups and devices together, at the start and the most that it changed by. */
typedef struct TotalDrift {
	CalVec3 start_linear, start_angular;
	double linear, angular; // [kg m/s], [kg m^2/s]
	bool started;
	bool pushed;     // something acted on a group
	bool held;       // the ground or gravity may have, or a motion was given
	bool incomplete; // the balance was not complete
	bool devices;    // there are some
} TotalDrift;

/** A stream that was written. */
typedef struct SummaryStream {
	const char *name, *file;
	CalResultsCount count;
} SummaryStream;

typedef struct Summary {
	const char *path;
	const char *title;
	CalMethod method;
	bool cut; // it was to be in several branches
	size_t samples;
	const SummaryStream *streams; // [stream_count] that were written
	int stream_count;
	const char *svg; // what was drawn, or NULL
	Drift *drift;    // [drift_count] of each group that there was
	int drift_count, drift_capacity;
	NameTable drift_names; // values: index
	TotalDrift total;
	CalScenario *scenario;
	const RealTime *paced;     // NULL: the run was not
	int examined;              // how often what there is to doubt was looked for
	CalDistributionInfo ranks; // of all together; size 0: it was not distributed
} Summary;

/** Takes the monitors of all groups at the present time. */
CalStatus summary_watch(Summary *summary, CalSim *sim);
void summary_free(Summary *summary);
void summary_print(const Summary *summary, CalSim *sim, FILE *out);
void summary_print_json(const Summary *summary, CalSim *sim, FILE *out);

#endif
