// SPDX-License-Identifier: Apache-2.0
/*
 * run_options.h — the options of `calder run`.
 */
#ifndef CALDER_CLI_RUN_OPTIONS_H
#define CALDER_CLI_RUN_OPTIONS_H

#include <stdbool.h>
#include <string.h>

#include <calder/results.h>

#include "checkpoint.h"
#include "ranks.h"

enum { MAX_SIGNALS = 256 };

typedef struct RunOptions {
	const char *path;
	const char *out, *svg;
	const char *recorded[MAX_SIGNALS]; // by --signal
	int recorded_count;
	const char *plotted[MAX_SIGNALS]; // after FILE
	int plotted_count;
	const char *method;
	double duration, interval, step, rtol, atol; // NAN: as the file says
	double threads, branches;                    // likewise
	const char *cross_loops;                     // NULL: as the file says
	int formulation, unretained;                 // likewise, -1: as the file says
	double update, retain;                       // likewise
	double assemble;                             // likewise [rad]
	int whole_steps; // 1: samples at the ends of steps, -1: at their times, 0: as the file says
	double flush;    // [s]; 0: default
	CalResultsFull when_full;
	bool when_full_set;
	double real_time; // rate; 0: as fast as it can
	double ahead;     // [s] of the wall clock
	bool live, no_browser;
	bool wait, stay;  // of --live: for a page, at the end
	double live_port; // 0: any that is free
	double replay;    // interval of the viewer's stream; 0: along with the others
	bool no_replay;
	Checkpoints checkpoints;
	double lost_after; // [s]
	RunRanks *ranks;   // NULL: one process
	bool distribute, branches_forced, parts;
	bool no_code; // what the model names is not loaded
	bool json, quiet, strict;
} RunOptions;

/** A path of these that means the standard output. */
static inline bool is_stdout(const char *path) { return path && strcmp(path, "-") == 0; }

/** Exit code, or -1 to continue. */
int run_options_parse(RunOptions *options, int argc, char **argv);
/** What is given overrides the settings of the file. Exit code. */
int run_options_apply(const RunOptions *options, CalRunSettings *settings);

#endif
