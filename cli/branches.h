// SPDX-License-Identifier: Apache-2.0
/*
 * branches.h — the partition of a model into branches (docs/parallel.md), for `calder info`.
 */
#ifndef CALDER_CLI_BRANCHES_H
#define CALDER_CLI_BRANCHES_H

#include "cli.h"

enum { BRANCHES_MOST = 256 }; // workers that a model can be partitioned for

/** A number of threads or branches: a whole one from 1 to BRANCHES_MOST. */
bool branches_parse(double value, int *workers);

/** "auto", "never" or "always". */
bool cross_loops_parse(const char *word, CalCrossLoops *cross_loops);

/** What a model is to be partitioned for; 0 workers: nothing is asked of branches. */
typedef struct BranchesAsked {
	int workers;
	CalCrossLoops cross_loops;
} BranchesAsked;

/** The partition of a model, as a table. */
CalStatus branches_print(const CalModel *model, BranchesAsked asked, FILE *out, CalError *error);
/** The same as the value of a JSON field. */
CalStatus branches_json(const CalModel *model, BranchesAsked asked, FILE *out, CalError *error);

#endif
