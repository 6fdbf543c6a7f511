// SPDX-License-Identifier: Apache-2.0
/*
 * doubts.h — what there is to doubt in a run, as the commands show it.
 */
#ifndef CALDER_CLI_DOUBTS_H
#define CALDER_CLI_DOUBTS_H

#include "cli.h"

/** One warning for each on stderr. */
void doubts_warn(const CalSim *sim, const char *path);
/** The same for those that an HDF5 result file holds; others hold none that can be read. */
void doubts_warn_file(const char *path);
/** Lines of a summary. */
void doubts_print(const CalDoubt *doubts, int count, FILE *out);
void doubts_print_json(const CalDoubt *doubts, int count, FILE *out);
/** Copies those of a simulation; doubts[CAL_MAX_DOUBTS]. Returns how many. */
int doubts_of(const CalSim *sim, CalDoubt *doubts);

#endif
