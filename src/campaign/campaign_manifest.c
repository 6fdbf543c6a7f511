// SPDX-License-Identifier: Apache-2.0
/*
 * campaign_manifest.c — the file "campaign", which says what a campaign's folder is of.
 *
 *   calder-sweep 1
 *   version 0.1.0
 *   fingerprint 0123456789abcdef
 *   plan 812 plan.yaml
 *   model 2044
 *   units 12
 *   (the bytes of the plan, the model and the units, one unit a line)
 *
 * It appears whole or not at all: it is written beside its place and linked there, by whichever process comes first.
 */
#define _POSIX_C_SOURCE 200809L // link, fsync

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "base/memory.h"
#include "campaign/campaign.h"

static const char MANIFEST[] = "campaign";

typedef struct Manifest {
	char *text; // all of it, from the allocator
	char version[32];
	uint64_t fingerprint;
	char plan_name[300];
	const char *plan, *model, *units;
	size_t plan_length, model_length, units_length;
} Manifest;

/* ---- writing ------------------------------------------------------------------------------------ */

static bool manifest_print(const CalCampaign *campaign, FILE *out) {
	const CalPlanInfo *info = &campaign->plan->info;
	size_t units = 0;
	for (int i = 0; i < info->output_count; i++)
		units += strlen(campaign->units[i]) + 1;
	fprintf(out, "calder-sweep 1\nversion %s\nfingerprint %016" PRIx64 "\nplan %zu %.299s\nmodel %zu\nunits %zu\n",
	        cal_version(), info->fingerprint, strlen(info->text), campaign_last_part(info->name),
	        campaign->plan->model_length, units);
	fwrite(info->text, 1, strlen(info->text), out);
	fwrite(info->model_text, 1, campaign->plan->model_length, out);
	for (int i = 0; i < info->output_count; i++)
		fprintf(out, "%s\n", campaign->units[i]);
	return fflush(out) == 0 && fsync(fileno(out)) == 0 && !ferror(out);
}

/* CAL_OK also where another process was first. */
static CalStatus manifest_write(const CalCampaign *campaign, const char *path, CalError *error) {
	char beside[1200];
	campaign_beside(path, beside, sizeof beside);
	FILE *out = fopen(beside, "wb");
	bool done = out && manifest_print(campaign, out);
	const int cause = errno;
	if (out && fclose(out) != 0)
		done = false;
	if (!done) {
		unlink(beside);
		return error_set(error, CAL_ERR_IO, "%.400s: cannot be written: %s", path, strerror(cause));
	}
	const bool linked = link(beside, path) == 0 || errno == EEXIST || rename(beside, path) == 0;
	const int why = errno;
	unlink(beside);
	return linked ? CAL_OK : error_set(error, CAL_ERR_IO, "%.400s: cannot be written: %s", path, strerror(why));
}

/* ---- reading ------------------------------------------------------------------------------------ */

static bool manifest_scan(Manifest *m, size_t length) {
	int used = 0;
	const int read = sscanf(
		m->text, "calder-sweep 1\nversion %31s\nfingerprint %16" SCNx64 "\nplan %zu %299[^\n]\nmodel %zu\nunits %zu%n",
		m->version, &m->fingerprint, &m->plan_length, m->plan_name, &m->model_length, &m->units_length, &used);
	if (read != 6 || m->text[used] != '\n')
		return false;
	const size_t rest = length - (size_t)used - 1;
	if (m->plan_length > rest || m->model_length > rest - m->plan_length ||
	    m->units_length != rest - m->plan_length - m->model_length)
		return false;
	m->plan = m->text + used + 1;
	m->model = m->plan + m->plan_length;
	m->units = m->model + m->model_length;
	return true;
}

/* On success m->text is to be freed. */
static CalStatus manifest_read(const CalCampaign *campaign, const char *path, Manifest *m, CalError *error) {
	char *text;
	size_t length;
	*m = (Manifest){0};
	if (tree_text(path, &campaign->allocator, &text, &length, NULL) != CAL_OK) {
		error_set(error, CAL_ERR_IO, "%.400s: not the folder of a campaign: it has no file \"%s\" that can be read",
		          campaign->folder, MANIFEST);
		return CAL_ERR_IO;
	}
	m->text = memory_alloc(&campaign->allocator, length + 1);
	if (m->text) {
		memcpy(m->text, text, length);
		m->text[length] = 0;
	}
	memory_free(&campaign->allocator, text);
	if (!m->text) {
		error_set(error, CAL_ERR_MEMORY, "%.400s: out of memory", path);
		return CAL_ERR_MEMORY;
	}
	if (manifest_scan(m, length))
		return CAL_OK;
	memory_free(&campaign->allocator, m->text);
	error_set(error, CAL_ERR_INPUT, "%.400s: this is not what a campaign is described by, or it is damaged", path);
	return CAL_ERR_INPUT;
}

/* What is different, in words. */
static CalStatus compare_manifest(const CalCampaign *campaign, const Manifest *m, CalError *error) {
	const CalPlan *plan = campaign->plan;
	if (m->fingerprint == plan->info.fingerprint)
		return CAL_OK;
	const char *what = "a file that the model names";
	if (strcmp(m->version, cal_version()) != 0)
		what = "the version of calder";
	else if (m->plan_length != strlen(plan->info.text) || memcmp(m->plan, plan->info.text, m->plan_length) != 0)
		what = plan->info.name;
	else if (m->model_length != plan->model_length || memcmp(m->model, plan->info.model_text, m->model_length) != 0)
		what = plan->info.model_path;
	return error_set(error, CAL_ERR_ARGUMENT,
	                 "%.300s: %.300s has changed since the campaign in this folder began; take another folder, or "
	                 "remove this one",
	                 campaign->folder, what);
}

CalStatus manifest_claim(CalCampaign *campaign, CalError *error) {
	char path[1100];
	Manifest m;
	if (!campaign_path(campaign, MANIFEST, path, sizeof path))
		return error_set(error, CAL_ERR_ARGUMENT, "%.400s: the name of the folder is too long", campaign->folder);
	CalStatus status = access(path, F_OK) == 0 ? CAL_OK : manifest_write(campaign, path, error);
	if (status == CAL_OK)
		status = manifest_read(campaign, path, &m, error);
	if (status != CAL_OK)
		return status;
	status = compare_manifest(campaign, &m, error);
	memory_free(&campaign->allocator, m.text);
	return status;
}

static bool set_units(CalCampaign *campaign, const Manifest *m) {
	const int count = campaign->plan->info.output_count;
	const char *at = m->units, *end = m->units + m->units_length;
	campaign->units = pool_array(&campaign->pool, (size_t)count, sizeof *campaign->units);
	for (int i = 0; campaign->units && i < count; i++) {
		const char *line = memchr(at, '\n', (size_t)(end - at));
		campaign->units[i] = pool_text(&campaign->pool, at, line ? (size_t)(line - at) : 0);
		if (!campaign->units[i])
			return false;
		at = line ? line + 1 : end;
	}
	return campaign->units != NULL;
}

/* The plan of the manifest; files that its model names need not be here. */
static CalStatus set_plan(CalCampaign *campaign, const Manifest *m, CalError *error) {
	if (strcmp(m->version, cal_version()) != 0)
		return error_set(error, CAL_ERR_ARGUMENT, "%.400s: the campaign is of calder %s and this is %s",
		                 campaign->folder, m->version, cal_version());
	const CalStatus status = cal_plan_parse(m->plan, m->plan_length, m->plan_name, m->model, m->model_length,
	                                        &campaign->allocator, &campaign->own_plan, error);
	if (status != CAL_OK)
		return status;
	campaign->plan = campaign->own_plan;
	campaign->own_plan->info.fingerprint = m->fingerprint;
	return set_units(campaign, m) ? CAL_OK
	                              : error_set(error, CAL_ERR_MEMORY, "%.400s: out of memory", campaign->folder);
}

CalStatus manifest_load(CalCampaign *campaign, CalError *error) {
	char path[1100];
	Manifest m;
	if (!campaign_path(campaign, MANIFEST, path, sizeof path))
		return error_set(error, CAL_ERR_ARGUMENT, "%.400s: the name of the folder is too long", campaign->folder);
	CalStatus status = manifest_read(campaign, path, &m, error);
	if (status != CAL_OK)
		return status;
	status = set_plan(campaign, &m, error);
	memory_free(&campaign->allocator, m.text);
	return status;
}
