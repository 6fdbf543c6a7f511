// SPDX-License-Identifier: Apache-2.0
/*
 * campaign_csv.c — the cases of a campaign as a CSV table: number, status, parameters, outputs, message.
 */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "campaign/campaign.h"

/* In quotes where it must be. */
static void put_cell(FILE *out, const char *text, const char *unit) {
	const bool quoted = strpbrk(text, ",\"\n\r") || strpbrk(unit, ",\"");
	if (quoted)
		putc('"', out);
	for (; *text; text++) {
		if (*text == '"')
			putc('"', out);
		putc(*text, out);
	}
	if (unit[0] && strcmp(unit, "1") != 0)
		fprintf(out, " [%s]", unit);
	if (quoted)
		putc('"', out);
}

static void put_head(const CalCampaign *campaign, FILE *out) {
	fputs("case,status", out);
	for (int i = 0; i < campaign->plan->info.parameter_count; i++) {
		putc(',', out);
		put_cell(out, campaign->plan->parameters[i].name, campaign->plan->parameters[i].unit_text);
	}
	for (int i = 0; i < campaign->plan->info.output_count; i++) {
		putc(',', out);
		put_cell(out, campaign->plan->outputs[i].out.name, campaign->units[i]);
	}
	fputs(",message\n", out);
}

static void put_value(FILE *out, double value) {
	char text[NUMBER_TEXT] = "nan";
	if (!isnan(value))
		number_format(value, text);
	fprintf(out, ",%s", text);
}

static CalStatus put_case(const CalCampaign *campaign, int64_t k, double *values, FILE *out, CalError *error) {
	const CalPlan *plan = campaign->plan;
	const CampaignCase *known = &campaign->cases[k];
	const CalStatus status = cal_plan_values(plan, k, values, error);
	if (status != CAL_OK)
		return status;
	fprintf(out, "%lld,%s", (long long)k, cal_case_status_name(known->status));
	for (int i = 0; i < plan->info.parameter_count; i++) {
		if (plan->parameters[i].texts) {
			putc(',', out);
			put_cell(out, plan->parameters[i].texts[(int)values[i]], "");
		} else {
			put_value(out, values[i]);
		}
	}
	for (int i = 0; i < plan->info.output_count; i++)
		put_value(out, known->outputs ? known->outputs[i] : (double)NAN);
	putc(',', out);
	put_cell(out, known->message, "");
	putc('\n', out);
	return CAL_OK;
}

CalStatus campaign_write_csv(const CalCampaign *campaign, const char *path, CalError *error) {
	const size_t count = (size_t)campaign->plan->info.parameter_count;
	double *values = memory_alloc(&campaign->allocator, count * sizeof *values);
	FILE *out = values ? fopen(path, "wb") : NULL;
	CalStatus status = CAL_OK;
	if (!out) {
		memory_free(&campaign->allocator, values);
		return values ? error_set(error, CAL_ERR_IO, "%.400s: cannot be written: %s", path, strerror(errno))
		              : error_set(error, CAL_ERR_MEMORY, "%.400s: out of memory", path);
	}
	put_head(campaign, out);
	for (int64_t k = 0; k < campaign->plan->info.case_count && status == CAL_OK; k++)
		status = put_case(campaign, k, values, out, error);
	const bool bad = ferror(out) != 0;
	if ((fclose(out) != 0 || bad) && status == CAL_OK)
		status = error_set(error, CAL_ERR_IO, "%.400s: cannot be written: %s", path, strerror(errno));
	memory_free(&campaign->allocator, values);
	return status;
}
