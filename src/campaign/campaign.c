// SPDX-License-Identifier: Apache-2.0
/*
 * campaign.c — the folder of a campaign (calder/sweep.h).
 *
 * It holds a manifest, which says what plan and model it is of, and shards, to which processes append what cases gave. No
 * process ever changes what another one wrote. The whole state of a campaign is thus what can be read there, and going on
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

bool sweep_path(const CalSweep *sweep, const char *name, char *path, size_t size) {
	const int length = snprintf(path, size, "%s/%s", sweep->folder, name);
	return length >= 0 && (size_t)length < size;
}

void sweep_beside(const char *path, char *beside, size_t size) {
	char host[65] = "";
	if (gethostname(host, sizeof host - 1) != 0 || strchr(host, '/'))
		host[0] = 0;
	snprintf(beside, size, "%s.%s.%ld", path, host, (long)getpid());
}

const char *sweep_last_part(const char *path) {
	const char *slash = strrchr(path, '/');
	return slash ? slash + 1 : path;
}

/* ---- opening ------------------------------------------------------------------------------------ */

static CalSweep *sweep_new(const char *folder, const CalAllocator *allocator) {
	const CalAllocator source = allocator_or_default(allocator);
	CalSweep *sweep = memory_alloc(&source, sizeof *sweep);
	if (!sweep)
		return NULL;
	*sweep = (CalSweep){.allocator = source, .shard = -1};
	pool_init(&sweep->pool, &source);
	pool_init(&sweep->results, &source);
	sweep->folder = pool_text(&sweep->pool, folder, strlen(folder));
	if (sweep->folder)
		return sweep;
	cal_sweep_close(sweep);
	return NULL;
}

static CalStatus make_table(CalSweep *sweep, CalError *error) {
	const int64_t count = sweep->plan->info.case_count;
	size_t size = 0;
	if (size_mul((size_t)count, sizeof *sweep->cases, &size))
		sweep->cases = memory_alloc(&sweep->allocator, size);
	return sweep->cases ? CAL_OK
	                    : error_set(error, CAL_ERR_MEMORY, "%.400s: out of memory for %lld cases", sweep->folder,
	                                (long long)count);
}

static CalStatus copy_units(CalSweep *sweep, const char *const *units, CalError *error) {
	const int count = sweep->plan->info.output_count;
	bool done = (sweep->units = pool_array(&sweep->pool, (size_t)count, sizeof *sweep->units)) != NULL;
	for (int i = 0; done && i < count; i++) {
		const CalKeep keep = sweep->plan->outputs[i].out.keep;
		const bool time = keep == CAL_KEEP_TIME_OF_MIN || keep == CAL_KEEP_TIME_OF_MAX;
		const char *unit = time ? "s" : units ? units[i] : "";
		done = (sweep->units[i] = pool_text(&sweep->pool, unit, strlen(unit))) != NULL;
	}
	return done ? CAL_OK : error_set(error, CAL_ERR_MEMORY, "%.400s: out of memory", sweep->folder);
}

/* The rest, once it is known what the folder is of; closes it on failure. */
static CalStatus sweep_finish(CalSweep *made, CalStatus status, CalSweep **sweep, CalError *error) {
	if (status == CAL_OK)
		status = make_table(made, error);
	if (status == CAL_OK)
		status = cal_sweep_refresh(made, error);
	if (status == CAL_OK)
		*sweep = made;
	else
		cal_sweep_close(made);
	return status;
}

CalStatus cal_sweep_open(const char *folder, const CalPlan *plan, const char *const *units,
                         const CalAllocator *allocator, CalSweep **sweep, CalError *error) {
	if (!folder || !plan || !sweep || !allocator_is_valid(allocator))
		return error_set(error, CAL_ERR_ARGUMENT,
		                 "cal_sweep_open: folder, plan or sweep is NULL, or the allocator has only one function");
	*sweep = NULL;
	CalStatus status = plan_check_units(plan, units, error);
	if (status != CAL_OK)
		return status;
	if (mkdir(folder, 0777) != 0 && errno != EEXIST)
		return error_set(error, CAL_ERR_IO, "%.400s: the folder cannot be made: %s", folder, strerror(errno));
	CalSweep *made = sweep_new(folder, allocator);
	if (!made)
		return error_set(error, CAL_ERR_MEMORY, "%.400s: out of memory", folder);
	made->plan = plan;
	status = copy_units(made, units, error);
	if (status == CAL_OK)
		status = manifest_claim(made, error);
	return sweep_finish(made, status, sweep, error);
}

CalStatus cal_sweep_load(const char *folder, const CalAllocator *allocator, CalSweep **sweep, CalError *error) {
	if (!folder || !sweep || !allocator_is_valid(allocator))
		return error_set(error, CAL_ERR_ARGUMENT,
		                 "cal_sweep_load: folder or sweep is NULL, or the allocator has only one function");
	*sweep = NULL;
	CalSweep *made = sweep_new(folder, allocator);
	if (!made)
		return error_set(error, CAL_ERR_MEMORY, "%.400s: out of memory", folder);
	return sweep_finish(made, manifest_load(made, error), sweep, error);
}

void cal_sweep_close(CalSweep *sweep) {
	if (!sweep)
		return;
	if (sweep->shard >= 0) {
		fsync(sweep->shard);
		close(sweep->shard);
	}
	cal_plan_destroy(sweep->own_plan);
	memory_free(&sweep->allocator, sweep->cases);
	memory_free(&sweep->allocator, sweep->record);
	pool_free(&sweep->results);
	pool_free(&sweep->pool);
	const CalAllocator allocator = sweep->allocator;
	memory_free(&allocator, sweep);
}

const CalPlan *cal_sweep_plan(const CalSweep *sweep) { return sweep ? sweep->plan : NULL; }

const char *cal_sweep_unit(const CalSweep *sweep, int output) {
	return sweep && output >= 0 && output < sweep->plan->info.output_count ? sweep->units[output] : "";
}

/* ---- results ------------------------------------------------------------------------------------ */

void sweep_note(CalSweep *sweep, int64_t k, SweepCase result) {
	SweepCase *known = &sweep->cases[k];
	if (result.status > known->status ||
	    (result.status == known->status && strcmp(result.message, known->message) >= 0))
		return;
	sweep->counts[known->status]--;
	sweep->counts[result.status]++;
	*known = result;
}

CalStatus cal_sweep_refresh(CalSweep *sweep, CalError *error) {
	if (!sweep)
		return error_null(error, __func__, "sweep");
	const int64_t count = sweep->plan->info.case_count;
	for (int64_t k = 0; k < count; k++)
		sweep->cases[k] = (SweepCase){CAL_CASE_MISSING, "", NULL};
	memset(sweep->counts, 0, sizeof sweep->counts);
	sweep->counts[CAL_CASE_MISSING] = count;
	pool_free(&sweep->results);
	return shards_read(sweep, error);
}

CalCaseStatus cal_sweep_status(const CalSweep *sweep, int64_t k) {
	return sweep && k >= 0 && k < sweep->plan->info.case_count ? sweep->cases[k].status : CAL_CASE_MISSING;
}

int64_t cal_sweep_count(const CalSweep *sweep, CalCaseStatus status) {
	return sweep && status >= 0 && status < CAL_CASE_COUNT ? sweep->counts[status] : 0;
}

CalStatus cal_sweep_result(const CalSweep *sweep, int64_t k, CalCaseResult *result) {
	if (!sweep || !result || k < 0 || k >= sweep->plan->info.case_count)
		return CAL_ERR_ARGUMENT;
	const SweepCase *known = &sweep->cases[k];
	*result = (CalCaseResult){.k = k, .status = known->status, .message = known->message, .outputs = known->outputs};
	return CAL_OK;
}

/* Copies of what the caller gave: messages without the folder of the model, one kind of NaN. */
static bool keep_result(CalSweep *sweep, const CalCaseResult *result, SweepCase *kept) {
	const CalPlanInfo *info = &sweep->plan->info;
	const char *message = result->message ? result->message : "";
	const size_t place = strlen(info->model_path);
	char told[1024];
	const bool placed = strncmp(message, info->model_path, place) == 0 && message[place] == ':';
	snprintf(told, sizeof told, "%s%s", placed ? info->model : "", placed ? message + place : message);
	double *outputs = pool_array(&sweep->results, (size_t)info->output_count, sizeof *outputs);
	*kept = (SweepCase){result->status, pool_text(&sweep->results, told, strlen(told)), outputs};
	for (int i = 0; outputs && i < info->output_count; i++)
		outputs[i] = result->outputs && !isnan(result->outputs[i]) ? result->outputs[i] : (double)NAN;
	return kept->message && outputs;
}

CalStatus cal_sweep_put(CalSweep *sweep, const CalCaseResult *result, CalError *error) {
	SweepCase kept;
	if (!sweep || !result || result->k < 0 || result->k >= sweep->plan->info.case_count || result->status < 0 ||
	    result->status >= CAL_CASE_MISSING)
		return error_set(error, CAL_ERR_ARGUMENT, "cal_sweep_put: there is no such case, or it has no result");
	if (!keep_result(sweep, result, &kept))
		return error_set(error, CAL_ERR_MEMORY, "%.400s: out of memory", sweep->folder);
	const CalStatus status = shard_append(sweep, result->k, &kept, error);
	if (status == CAL_OK)
		sweep_note(sweep, result->k, kept);
	return status;
}

/* ---- merging ------------------------------------------------------------------------------------ */

/* Written beside its place and then moved there: nobody ever sees half of it. */
static CalStatus write_table(const CalSweep *sweep, const char *name,
                             CalStatus (*write)(const CalSweep *, const char *, CalError *), CalError *error) {
	char path[1100], beside[1200];
	if (!sweep_path(sweep, name, path, sizeof path))
		return error_set(error, CAL_ERR_ARGUMENT, "%.400s: the name of the folder is too long", sweep->folder);
	sweep_beside(path, beside, sizeof beside);
	CalStatus status = write(sweep, beside, error);
	if (status == CAL_OK && rename(beside, path) != 0)
		status = error_set(error, CAL_ERR_IO, "%.400s: cannot be written: %s", path, strerror(errno));
	if (status != CAL_OK)
		unlink(beside);
	return status;
}

CalStatus cal_sweep_merge(const CalSweep *sweep, CalError *error) {
	if (!sweep)
		return error_set(error, CAL_ERR_ARGUMENT, "cal_sweep_merge: sweep is NULL");
	CalStatus status = write_table(sweep, "cases.csv", sweep_write_csv, error);
	if (status != CAL_OK)
		return status;
	status = write_table(sweep, "cases.h5", sweep_write_hdf5, error);
	return status == CAL_ERR_UNSUPPORTED ? CAL_OK : status;
}
