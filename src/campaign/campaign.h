// SPDX-License-Identifier: Apache-2.0
/*
 * campaign.h — the inside of a campaign's folder, shared by what writes it and what merges it (docs/sweep.md).
 */
#ifndef CALDER_CAMPAIGN_CAMPAIGN_H
#define CALDER_CAMPAIGN_CAMPAIGN_H

#include "base/memory_pool.h"
#include "campaign/plan.h"

/** What is known of one case. */
typedef struct SweepCase {
	CalCaseStatus status;
	const char *message;   // "": none
	const double *outputs; // NULL: missing
} SweepCase;

struct CalSweep {
	CalAllocator allocator;
	Pool pool; // folder, units
	const char *folder;
	const CalPlan *plan; //
	CalPlan *own_plan;   // of cal_sweep_load(); NULL: the caller's
	char **units;        // [output_count]
	Pool results;        // messages and outputs
	SweepCase *cases;    // [case_count]
	int64_t counts[CAL_CASE_COUNT];
	int shard;       // file descriptor, -1: none is open
	char *record;    // room for one record
	size_t capacity; // of it
};

/** "folder/name" into path; false: too long. */
bool sweep_path(const CalSweep *sweep, const char *name, char *path, size_t size);
/** A name beside a path that no other process takes, on this machine or another. */
void sweep_beside(const char *path, char *beside, size_t size);
/** Behind the last slash: what does not depend on where it is run. */
const char *sweep_last_part(const char *path);

/** Writes the merged tables to a path. */
CalStatus sweep_write_csv(const CalSweep *sweep, const char *path, CalError *error);
/** CAL_ERR_UNSUPPORTED: built without HDF5. */
CalStatus sweep_write_hdf5(const CalSweep *sweep, const char *path, CalError *error);

/** Takes note of a result; of two of one case, the better one stays. message and outputs must last. */
void sweep_note(CalSweep *sweep, int64_t k, SweepCase result);

/** Reads every shard of the folder (campaign_shard.c). */
CalStatus shards_read(CalSweep *sweep, CalError *error);
/** Appends one record to a shard of this process's own. */
CalStatus shard_append(CalSweep *sweep, int64_t k, const SweepCase *result, CalError *error);

/** The file that says what the folder is of (campaign_manifest.c): makes it, or compares it with the plan. */
CalStatus manifest_claim(CalSweep *sweep, CalError *error);
/** Sets own_plan and units by what the file says. */
CalStatus manifest_load(CalSweep *sweep, CalError *error);

#endif
