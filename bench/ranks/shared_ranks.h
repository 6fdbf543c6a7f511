// SPDX-License-Identifier: Apache-2.0
/*
 * shared_ranks.h — ranks that are processes of one machine, with rings in shared memory for a transport
 * (calder/distribute.h): what a distributed run costs without MPI.
 */
#ifndef BENCH_RANKS_SHARED_RANKS_H
#define BENCH_RANKS_SHARED_RANKS_H

#include <calder/distribute.h>

typedef int (*SharedRankFn)(void *user, const CalTransport *transport); // 0: all went well

/** Runs a function on so many ranks, rank 0 in this process, each on a processor of its own. 0: all did well. */
int shared_ranks_run(int size, SharedRankFn run, void *user);
/** Processors that this process may use. */
int shared_ranks_processors(void);

#endif
