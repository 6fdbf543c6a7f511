// SPDX-License-Identifier: Apache-2.0
/*
 * campaign.h — the parts of `calder sweep`: which cases this process runs, one case, the pool of processes, report.
 */
#ifndef CALDER_CLI_CAMPAIGN_H
#define CALDER_CLI_CAMPAIGN_H

#include "cli.h"

/* ---- which cases (campaign_place.c) ----------------------------------------------------------------- */

/** One of `count` processes that share the cases: it runs those whose number modulo count is its index. */
typedef struct Place {
	int64_t index, count;
	const char *from; // what said so, in words; NULL: it is alone
} Place;

/** From what mpirun, srun and job arrays of Slurm put into the environment of a process. */
Place place_of_environment(void);
/** "I/N"; false: it is none. */
bool place_parse(const char *text, Place *place);

/* ---- one case (campaign_case.c) --------------------------------------------------------------------- */

/** What became of a case. */
typedef struct CaseOutcome {
	CalCaseStatus status;
	char message[900];
	double *outputs; // [output_count], room of the caller
} CaseOutcome;

/** Runs case k. no_code: a case that names a shared object fails. series: path for its samples, NULL: none are kept. */
void case_run(const CalPlan *plan, int64_t k, bool no_code, const char *series, CaseOutcome *outcome);
/**
 * Checks that the model as it stands can be set up and has all signals; units[output_count] get texts from malloc. Returns
 * an exit code.
 */
int case_check(const CalPlan *plan, bool no_code, char **units);

/* ---- many of them (campaign_pool.c) ----------------------------------------------------------------- */

typedef struct PoolOptions {
	int jobs;             // processes at once
	double timeout;       // [s] of wall time for a case; 0: none
	bool progress;        // on stderr
	const int64_t *cases; // [count] to run
	int64_t count;
	bool no_code;       // cases that name a shared object fail
	const char *series; // folder of the series, NULL: none are kept
} PoolOptions;

/** Runs cases and puts what they gave. Returns an exit code; *ended_by: the signal that ended it early, 0: none did. */
int process_pool_run(CalCampaign *campaign, const PoolOptions *options, int *ended_by);

/* ---- what came out (campaign_report.c) -------------------------------------------------------------- */

/** Writes report.html to the folder. Returns an exit code. */
int report_write(const CalCampaign *campaign, const char *folder);

#endif
