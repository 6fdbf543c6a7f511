// SPDX-License-Identifier: Apache-2.0
/*
 * campaign.c — fuzz target: the folder of a campaign, manifest and a shard of results, that somebody edited.
 *
 * The first byte says what the others edit: the manifest, the shard as it is, or the shard with the checksums of its
 * records made right again. Or they are a manifest themselves.
 */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <calder/campaign.h>

#include "base/serializer.h"
#include "fuzz.h"

static const char plan_text[] = "sweep: 1\nmodel: m.yaml\ndesign: random\ncases: 6\nseed: 1\n"
								"parameters:\n  mass: {target: bodies.rocker.mass, uniform: {min: 1, max: 2}}\n"
								"outputs:\n  end: {signal: t, statistic: [final, max]}\n";

static uint8_t *manifest, *shard;
static size_t manifest_size, shard_size;
static char shard_name[300];
enum { OUTPUTS = 2, HEAD = 24, SHARD_HEAD = 24 }; // of a record and of the file (campaign/campaign_shard.c)

static void keep_shard(const char *folder) {
	DIR *entries = opendir(folder);
	fuzz_expect(entries != NULL, "the folder of a campaign can be read");
	for (const struct dirent *entry; (entry = readdir(entries)) != NULL;) {
		char path[1024];
		if (entry->d_name[0] == '.' || strcmp(entry->d_name, "campaign") == 0)
			continue;
		snprintf(shard_name, sizeof shard_name, "%s", entry->d_name);
		snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
		shard = fuzz_read(path, &shard_size);
	}
	closedir(entries);
	fuzz_expect(shard != NULL, "a campaign has a shard");
}

static void begin(void) {
	const FuzzModel model = fuzz_model(FUZZ_FOUR_BAR);
	CalPlan *plan = NULL;
	CalCampaign *campaign = NULL;
	CalError error = {0};
	const char *folder = fuzz_path("good");
	if (cal_plan_parse(plan_text, sizeof plan_text - 1, "plan.yaml", model.text, model.length, NULL, &plan, &error) !=
	    CAL_OK)
		fuzz_expect(false, error.text);
	fuzz_expect(cal_campaign_open(folder, plan, NULL, NULL, &campaign, &error) == CAL_OK, error.text);
	for (int k = 0; k < 4; k++) {
		const double outputs[OUTPUTS] = {1.0 * k, 2.0 * k};
		const CalCaseResult result = {
			.k = k, .status = (CalCaseStatus)k, .message = k ? "m.yaml: why" : "", .outputs = outputs};
		fuzz_expect(cal_campaign_put(campaign, &result, &error) == CAL_OK, error.text);
	}
	cal_campaign_close(campaign);
	cal_plan_destroy(plan);
	manifest = fuzz_read(fuzz_path("good/campaign"), &manifest_size);
	keep_shard(folder);
	mkdir(fuzz_path("edited"), 0777);
}

/* Hashes of records that are of a size that they may have. */
static void seal(uint8_t *bytes, size_t size) {
	for (size_t at = SHARD_HEAD; at + HEAD + sizeof(uint64_t) <= size;) {
		uint32_t length;
		memcpy(&length, bytes + at + 4, sizeof length);
		if (length < HEAD + sizeof(uint64_t) || length > size - at)
			return;
		const uint64_t hash = serializer_hash(SERIALIZER_HASH_START, bytes + at, length - sizeof hash);
		memcpy(bytes + at + length - sizeof hash, &hash, sizeof hash);
		at += length;
	}
}

static void load(void) {
	CalCampaign *campaign = NULL;
	CalError error;
	CalCaseResult result;
	memset(&error, 0x5a, sizeof error);
	if (cal_campaign_load(fuzz_path("edited"), NULL, &campaign, &error) != CAL_OK) {
		fuzz_expect_error(&error);
		return;
	}
	const CalPlanInfo info = cal_plan_info(cal_campaign_plan(campaign));
	if (cal_campaign_refresh(campaign, &error) == CAL_OK && info.case_count < 10000) {
		for (int64_t k = 0; k < info.case_count && k < 20; k++)
			(void)cal_campaign_result(campaign, k, &result);
		(void)cal_campaign_merge(campaign, &error);
	}
	for (int i = 0; i < info.output_count; i++)
		(void)cal_campaign_unit(campaign, i);
	cal_campaign_close(campaign);
}

static void run(const uint8_t *data, size_t size) {
	if (size < 1)
		return;
	char name[400];
	uint8_t *m = malloc(manifest_size), *s = malloc(shard_size);
	if (!m || !s)
		return;
	memcpy(m, manifest, manifest_size);
	memcpy(s, shard, shard_size);
	const int what = data[0] % 4;
	if (what == 0)
		fuzz_edit(m, 0, manifest_size, data + 1, size - 1);
	else if (what <= 2)
		fuzz_edit(s, what == 1 ? 0 : SHARD_HEAD, shard_size, data + 1, size - 1);
	if (what == 2)
		seal(s, shard_size);
	fuzz_write("edited/campaign", what == 3 ? data + 1 : m, what == 3 ? size - 1 : manifest_size);
	snprintf(name, sizeof name, "edited/%s", shard_name);
	fuzz_write(name, s, shard_size);
	load();
	free(m);
	free(s);
}

const FuzzTarget fuzz_campaign = {"campaign", begin, run};
