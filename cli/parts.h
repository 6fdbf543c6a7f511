// SPDX-License-Identifier: Apache-2.0
/*
 * parts.h — `calder run --distribute --parts`: a stream of which each rank records the columns of its own bodies.
 *
 * The parts of run.h5 are run.rank0.h5, run.rank1.h5 and so on, for ranks that have columns; rank 0 has those that belong
 * to no body, and writes run.h5, which joins the parts. Who records what is decided at the start and stays: after a change
 * of topology any rank still knows the whole state at a sample.
 */
#ifndef CALDER_CLI_PARTS_H
#define CALDER_CLI_PARTS_H

#include "cli.h"

typedef struct StreamParts {
	char **files;     // [count] their names, without the folder
	int count;        //
	int *part_of;     // [columns of the stream]
	int own;          // this rank's among the files, -1: none
	char *path;       // of that file, NULL: none
	int *columns;     // [column_count] of the stream that are in it, the time first
	int column_count; //
	double *row;      // [column_count] the last sample
} StreamParts;

/** Divides the columns of a stream with that file among ranks. Returns an exit code. */
int parts_create(const CalSampler *sampler, const CalSim *sim, const char *path, int rank, int size,
                 StreamParts **parts);
/** Values of this rank's columns. */
const double *parts_pick(const StreamParts *parts, const double *row);
void parts_destroy(StreamParts *parts); // accepts NULL

#endif
