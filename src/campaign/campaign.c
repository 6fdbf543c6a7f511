// SPDX-License-Identifier: Apache-2.0
/*
 * campaign.c — the folder of a campaign (calder/campaign.h).
 *
 * It holds a manifest, which says what plan and model it is of, and shards, to which processes append what cases gave. No
 * process ever changes what another one wrote. The whole state of a campaign is thus what can be read there, and resuming
 * after any accident is the same as starting.
 */
#define _POSIX_C_SOURCE 200809L // mkdir, fsync, gethostname

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "base/memory.h"
#include "campaign/campaign.h"

static const char *const status_names[CAL_CASE_COUNT] = {
#define STATUS_NAME(name, value, text) text,
	CAL_CASE_LIST(STATUS_NAME)
#undef STATUS_NAME
};

const char *cal_case_status_name(CalCaseStatus status) {
	return status >= 0 && status < CAL_CASE_COUNT ? status_names[status] : NULL;
}

bool campaign_path(const CalCampaign *campaign, const char *name, char *path, size_t size) {
	const int length = snprintf(path, size, "%s/%s", campaign->folder, name);
	return length >= 0 && (size_t)length < size;
}

void campaign_beside(const char *path, char *beside, size_t size) {
	char host[65] = "";
	if (gethostname(host, sizeof host - 1) != 0 || strchr(host, '/'))
		host[0] = 0;
	snprintf(beside, size, "%s.%s.%ld", path, host, (long)getpid());
}

const char *campaign_last_part(const char *path) {
	const char *slash = strrchr(path, '/');
	return slash ? slash + 1 : path;
}

/* ---- opening ------------------------------------------------------------------------------------ */

static CalCampaign *campaign_new(const char *folder, const CalAllocator *allocator) {
	const CalAllocator source = allocator_or_default(allocator);
	CalCampaign *campaign = memory_alloc(&source, sizeof *campaign);
	if (!campaign)
		return NULL;
	*campaign = (CalCampaign){.allocator = source, .shard = -1};
	pool_init(&campaign->pool, &source);
	pool_init(&campaign->results, &source);
	campaign->folder = pool_text(&campaign->pool, folder, strlen(folder));
	if (campaign->folder)
		return campaign;
	cal_campaign_close(campaign);
	return NULL;
}

static CalStatus make_table(CalCampaign *campaign, CalError *error) {
	const int64_t count = campaign->plan->info.case_count;
	size_t size = 0;
	if (size_mul((size_t)count, sizeof *campaign->cases, &size))
		campaign->cases = memory_alloc(&campaign->allocator, size);
	return campaign->cases ? CAL_OK
	                       : error_set(error, CAL_ERR_MEMORY, "%.400s: out of memory for %lld cases", campaign->folder,
	                                   (long long)count);
}

static CalStatus copy_units(CalCampaign *campaign, const char *const *units, CalError *error) {
	const int count = campaign->plan->info.output_count;
	bool done = (campaign->units = pool_array(&campaign->pool, (size_t)count, sizeof *campaign->units)) != NULL;
	for (int i = 0; done && i < count; i++) {
		const CalStatistic keep = campaign->plan->outputs[i].out.statistic;
		const bool time = keep == CAL_STATISTIC_TIME_OF_MIN || keep == CAL_STATISTIC_TIME_OF_MAX;
		const char *unit = time ? "s" : units ? units[i] : "";
		done = (campaign->units[i] = pool_text(&campaign->pool, unit, strlen(unit))) != NULL;
	}
	return done ? CAL_OK : error_set(error, CAL_ERR_MEMORY, "%.400s: out of memory", campaign->folder);
}

/* The rest, once it is known what the folder is of; closes it on failure. */
static CalStatus campaign_finish(CalCampaign *made, CalStatus status, CalCampaign **campaign, CalError *error) {
	if (status == CAL_OK)
		status = make_table(made, error);
	if (status == CAL_OK)
		status = cal_campaign_refresh(made, error);
	if (status == CAL_OK)
		*campaign = made;
	else
		cal_campaign_close(made);
	return status;
}

CalStatus cal_campaign_open(const char *folder, const CalPlan *plan, const char *const *units,
                            const CalAllocator *allocator, CalCampaign **campaign, CalError *error) {
	if (!folder || !plan || !campaign || !allocator_is_valid(allocator))
		return error_set(error, CAL_ERR_ARGUMENT,
		                 "cal_campaign_open: folder, plan or campaign is NULL, or the allocator has only one function");
	*campaign = NULL;
	CalStatus status = plan_check_units(plan, units, error);
	if (status != CAL_OK)
		return status;
	if (mkdir(folder, 0777) != 0 && errno != EEXIST)
		return error_set(error, CAL_ERR_IO, "%.400s: the folder cannot be made: %s", folder, strerror(errno));
	CalCampaign *made = campaign_new(folder, allocator);
	if (!made)
		return error_set(error, CAL_ERR_MEMORY, "%.400s: out of memory", folder);
	made->plan = plan;
	status = copy_units(made, units, error);
	if (status == CAL_OK)
		status = manifest_claim(made, error);
	return campaign_finish(made, status, campaign, error);
}

CalStatus cal_campaign_load(const char *folder, const CalAllocator *allocator, CalCampaign **campaign,
                            CalError *error) {
	if (!folder || !campaign || !allocator_is_valid(allocator))
		return error_set(error, CAL_ERR_ARGUMENT,
		                 "cal_campaign_load: folder or campaign is NULL, or the allocator has only one function");
	*campaign = NULL;
	CalCampaign *made = campaign_new(folder, allocator);
	if (!made)
		return error_set(error, CAL_ERR_MEMORY, "%.400s: out of memory", folder);
	return campaign_finish(made, manifest_load(made, error), campaign, error);
}

void cal_campaign_close(CalCampaign *campaign) {
	if (!campaign)
		return;
	if (campaign->shard >= 0) {
		fsync(campaign->shard);
		close(campaign->shard);
	}
	cal_plan_destroy(campaign->own_plan);
	memory_free(&campaign->allocator, campaign->cases);
	memory_free(&campaign->allocator, campaign->record);
	pool_free(&campaign->results);
	pool_free(&campaign->pool);
	const CalAllocator allocator = campaign->allocator;
	memory_free(&allocator, campaign);
}

const CalPlan *cal_campaign_plan(const CalCampaign *campaign) { return campaign ? campaign->plan : NULL; }

const char *cal_campaign_unit(const CalCampaign *campaign, int output) {
	return campaign && output >= 0 && output < campaign->plan->info.output_count ? campaign->units[output] : "";
}

/* ---- results ------------------------------------------------------------------------------------ */

void campaign_note(CalCampaign *campaign, int64_t k, CampaignCase result) {
	CampaignCase *known = &campaign->cases[k];
	if (result.status > known->status ||
	    (result.status == known->status && strcmp(result.message, known->message) >= 0))
		return;
	campaign->counts[known->status]--;
	campaign->counts[result.status]++;
	*known = result;
}

CalStatus cal_campaign_refresh(CalCampaign *campaign, CalError *error) {
	if (!campaign)
		return error_null(error, __func__, "campaign");
	const int64_t count = campaign->plan->info.case_count;
	for (int64_t k = 0; k < count; k++)
		campaign->cases[k] = (CampaignCase){CAL_CASE_MISSING, "", NULL};
	memset(campaign->counts, 0, sizeof campaign->counts);
	campaign->counts[CAL_CASE_MISSING] = count;
	pool_free(&campaign->results);
	return shards_read(campaign, error);
}

CalCaseStatus cal_campaign_status(const CalCampaign *campaign, int64_t k) {
	return campaign && k >= 0 && k < campaign->plan->info.case_count ? campaign->cases[k].status : CAL_CASE_MISSING;
}

int64_t cal_campaign_count(const CalCampaign *campaign, CalCaseStatus status) {
	return campaign && status >= 0 && status < CAL_CASE_COUNT ? campaign->counts[status] : 0;
}

CalStatus cal_campaign_result(const CalCampaign *campaign, int64_t k, CalCaseResult *result) {
	if (!campaign || !result || k < 0 || k >= campaign->plan->info.case_count)
		return CAL_ERR_ARGUMENT;
	const CampaignCase *known = &campaign->cases[k];
	*result = (CalCaseResult){.k = k, .status = known->status, .message = known->message, .outputs = known->outputs};
	return CAL_OK;
}

/* Copies of what the caller gave: messages without the folder of the model, one kind of NaN. */
static bool keep_result(CalCampaign *campaign, const CalCaseResult *result, CampaignCase *kept) {
	const CalPlanInfo *info = &campaign->plan->info;
	const char *message = result->message ? result->message : "";
	const size_t place = strlen(info->model_path);
	char message_text[1024];
	const bool placed = strncmp(message, info->model_path, place) == 0 && message[place] == ':';
	snprintf(message_text, sizeof message_text, "%s%s", placed ? info->model : "", placed ? message + place : message);
	double *outputs = pool_array(&campaign->results, (size_t)info->output_count, sizeof *outputs);
	*kept = (CampaignCase){result->status, pool_text(&campaign->results, message_text, strlen(message_text)), outputs};
	for (int i = 0; outputs && i < info->output_count; i++)
		outputs[i] = result->outputs && !isnan(result->outputs[i]) ? result->outputs[i] : (double)NAN;
	return kept->message && outputs;
}

CalStatus cal_campaign_put(CalCampaign *campaign, const CalCaseResult *result, CalError *error) {
	CampaignCase kept;
	if (!campaign || !result || result->k < 0 || result->k >= campaign->plan->info.case_count || result->status < 0 ||
	    result->status >= CAL_CASE_MISSING)
		return error_set(error, CAL_ERR_ARGUMENT, "cal_campaign_put: there is no such case, or it has no result");
	if (!keep_result(campaign, result, &kept))
		return error_set(error, CAL_ERR_MEMORY, "%.400s: out of memory", campaign->folder);
	const CalStatus status = shard_append(campaign, result->k, &kept, error);
	if (status == CAL_OK)
		campaign_note(campaign, result->k, kept);
	return status;
}

/* ---- merging ------------------------------------------------------------------------------------ */

/* Written beside its place and then moved there: nobody ever sees half of it. */
static CalStatus write_table(const CalCampaign *campaign, const char *name,
                             CalStatus (*write)(const CalCampaign *, const char *, CalError *), CalError *error) {
	char path[1100], beside[1200];
	if (!campaign_path(campaign, name, path, sizeof path))
		return error_set(error, CAL_ERR_ARGUMENT, "%.400s: the name of the folder is too long", campaign->folder);
	campaign_beside(path, beside, sizeof beside);
	CalStatus status = write(campaign, beside, error);
	if (status == CAL_OK && rename(beside, path) != 0)
		status = error_set(error, CAL_ERR_IO, "%.400s: cannot be written: %s", path, strerror(errno));
	if (status != CAL_OK)
		unlink(beside);
	return status;
}

CalStatus cal_campaign_merge(const CalCampaign *campaign, CalError *error) {
	if (!campaign)
		return error_set(error, CAL_ERR_ARGUMENT, "cal_campaign_merge: campaign is NULL");
	CalStatus status = write_table(campaign, "cases.csv", campaign_write_csv, error);
	if (status != CAL_OK)
		return status;
	status = write_table(campaign, "cases.h5", campaign_write_hdf5, error);
	return status == CAL_ERR_UNSUPPORTED ? CAL_OK : status;
}
