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

/** The cut of a model for so many workers, as a table. */
CalStatus branches_print(const CalModel *model, int workers, FILE *out, CalError *error);
/** The same as the value of a JSON field. */
CalStatus branches_json(const CalModel *model, int workers, FILE *out, CalError *error);

#endif
