// SPDX-License-Identifier: Apache-2.0
/*
 * ranks.h — `calder run --distribute`: one run on several ranks.
 *
 * All ranks do the same, call by call; what only one of them meets (a file that it cannot write, a signal) they exchange
 * where they meet. Rank 0 speaks, and writes checkpoints and the picture; each result file is written by one
 * rank, several files by several, or in parts by all (parts.h). All functions accept NULL: a run that is not distributed.
 */
#ifndef CALDER_CLI_RANKS_H
#define CALDER_CLI_RANKS_H

#include "checkpoint.h"
#include "summary.h"

typedef struct RunRanks {
	CalTransport transport;
	bool forced;               // --distribute=forced
	bool parts;                // each rank records the columns of its own bodies
	int branches;              // to partition for; 0: as many as ranks
	CalCrossLoops cross_loops; // whether loops may span branches
	double lost_after;         // [s]
	bool lost, loss_reported;  // a rank is; and that was said
	bool opened;               //
	int held;                  // what stderr was while this rank holds its messages back, -1: it does not
	FILE *messages;            // that are held back
	double *room;              // [size * RANKS_WIDTH]
	int *starts;               // [size + 1]
} RunRanks;

/** Joins the others. Messages of ranks other than 0 are held back from here on. Returns an exit code. */
int ranks_open(RunRanks *ranks);
/** The first exit code that is not EXIT_OK, of all ranks. */
int ranks_agree(RunRanks *ranks, int code);
/** The same; if something went wrong, or for the last time, releases what was held back unless rank 0 says it too. */
int ranks_agree_aloud(RunRanks *ranks, int code, bool last);
/** The same with the signal of any of them. */
int ranks_meet(RunRanks *ranks, int code, int *signal);
/** Puts a simulation on the ranks. Returns an exit code, the same on all. */
int ranks_distribute(RunRanks *ranks, CalSim *sim, uint64_t fingerprint, const char *path);
bool ranks_is_first(const RunRanks *ranks);
/** Who writes what: a rank each file, or, with parts, all ranks each HDF5 file. Returns an exit code. */
int ranks_share_files(const RunRanks *ranks, Record *record, const CalSim *sim);
/** Of streams that other ranks have written: how much. Returns an exit code. */
int ranks_count_streams(RunRanks *ranks, const Record *record, CalResultsCount *counts);
/** After a failed advance: prints the reason, and keeps a checkpoint if a rank is lost. Returns an exit code. */
int ranks_failed(RunRanks *ranks, CalSim *sim, const char *path, const char *checkpoint, CalStatus status,
                 const CalError *error);
/** What was sent between ranks, for the summary; all ranks call it. */
int ranks_sum_up(RunRanks *ranks, CalSim *sim, CalDistributionInfo *sum);
/** Returns the code. */
int ranks_close(RunRanks *ranks, int code);

/** FNV-1a. */
uint64_t ranks_hash(uint64_t hash, const void *bytes, size_t size);
uint64_t ranks_hash_text(uint64_t hash, const char *text); // accepts NULL

#endif
