// SPDX-License-Identifier: Apache-2.0
/*
 * campaign.h — the inside of a campaign's folder, shared by what writes it and what merges it (docs/sweep.md).
 */
#ifndef CALDER_CAMPAIGN_CAMPAIGN_H
#define CALDER_CAMPAIGN_CAMPAIGN_H

#include "base/memory_pool.h"
#include "campaign/plan.h"

/** What is known of one case. */
typedef struct CampaignCase {
	CalCaseStatus status;
	const char *message;   // "": none
	const double *outputs; // NULL: missing
} CampaignCase;

struct CalCampaign {
	CalAllocator allocator;
	Pool pool; // folder, units
	const char *folder;
	const CalPlan *plan; //
	CalPlan *own_plan;   // of cal_campaign_load(); NULL: the caller's
	char **units;        // [output_count]
	Pool results;        // messages and outputs
	CampaignCase *cases; // [case_count]
	int64_t counts[CAL_CASE_COUNT];
	int shard;       // file descriptor, -1: none is open
	char *record;    // room for one record
	size_t capacity; // of it
};

/** "folder/name" into path; false: too long. */
bool campaign_path(const CalCampaign *campaign, const char *name, char *path, size_t size);
/** A name beside a path that no other process takes, on this machine or another. */
void campaign_beside(const char *path, char *beside, size_t size);
/** After the last slash: what does not depend on where it is run. */
const char *campaign_last_part(const char *path);

/** Writes the merged tables to a path. */
CalStatus campaign_write_csv(const CalCampaign *campaign, const char *path, CalError *error);
/** CAL_ERR_UNSUPPORTED: built without HDF5. */
CalStatus campaign_write_hdf5(const CalCampaign *campaign, const char *path, CalError *error);

/** Takes note of a result; of two of one case, the better one stays. message and outputs must last. */
void campaign_note(CalCampaign *campaign, int64_t k, CampaignCase result);

/** Reads every shard of the folder (campaign_shard.c). */
CalStatus shards_read(CalCampaign *campaign, CalError *error);
/** Appends one record to a shard of this process's own. */
CalStatus shard_append(CalCampaign *campaign, int64_t k, const CampaignCase *result, CalError *error);

/** The file that says what the folder is of (campaign_manifest.c): makes it, or compares it with the plan. */
CalStatus manifest_claim(CalCampaign *campaign, CalError *error);
/** Sets own_plan and units by what the file says. */
CalStatus manifest_load(CalCampaign *campaign, CalError *error);

#endif
