// SPDX-License-Identifier: Apache-2.0
/*
 * view_campaign.c — a campaign for the viewer: all cases with their parameters and outputs, and replays of some of them, which
 * are run again for that: a campaign keeps no motion.
 */
#define _GNU_SOURCE // mkdtemp, open_memstream

#include <getopt.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "page.h"
#include "view_campaign.h"

/* A campaign that is being written. */
typedef struct Sheet {
	const CampaignView *view;
	CalCampaign *campaign;
	const CalPlan *plan;
	CalPlanInfo info;
	FILE *out;
	double *values;    // [parameter_count], scratch
	char folder[1024]; // of the run of a case
	char model[1100], results[1100];
} Sheet;

bool campaign_is_folder(const char *path) {
	struct stat about;
	char plan[1200];
	snprintf(plan, sizeof plan, "%s/campaign", path);
	return stat(path, &about) == 0 && S_ISDIR(about.st_mode) && stat(plan, &about) == 0;
}

/* ---- the table ------------------------------------------------------------------------------------ */

static void put_axis(FILE *out, const char *name, const char *unit, const char *role, const char *before) {
	fprintf(out, "%s{\"name\":", before);
	json_string(out, name);
	fputs(",\"unit\":", out);
	json_string(out, strcmp(unit, "1") == 0 ? "" : unit);
	fprintf(out, ",\"role\":\"%s\"", role);
}

static void put_axes(const Sheet *s) {
	CalPlanParameter p;
	CalPlanOutput o;
	fputs(",\"axes\":[", s->out);
	for (int i = 0; cal_plan_parameter(s->plan, i, &p) == CAL_OK; i++) {
		put_axis(s->out, p.name, p.unit, "parameter", i ? "," : "");
		for (int k = 0; k < p.text_count; k++) {
			fputs(k ? "," : ",\"texts\":[", s->out);
			json_string(s->out, p.texts[k]);
		}
		fputs(p.text_count ? "]}" : "}", s->out);
	}
	for (int i = 0; cal_plan_output(s->plan, i, &o) == CAL_OK; i++) {
		put_axis(s->out, o.name, cal_campaign_unit(s->campaign, i), "output", s->info.parameter_count + i ? "," : "");
		fputs(",\"above\":", s->out);
		json_number(s->out, o.above);
		fputs(",\"below\":", s->out);
		json_number(s->out, o.below);
		fputs("}", s->out);
	}
	fputs("]", s->out);
}

static CalStatus put_cases(const Sheet *s, CalError *error) {
	fputs(",\"cases\":[", s->out);
	for (int64_t k = 0, written = 0; k < s->info.case_count; k++) {
		CalCaseResult result;
		CalStatus status = cal_campaign_result(s->campaign, k, &result);
		if (status == CAL_OK && result.status == CAL_CASE_MISSING)
			continue;
		if (status == CAL_OK)
			status = cal_plan_values(s->plan, k, s->values, error);
		if (status != CAL_OK)
			return status;
		fprintf(s->out, "%s{\"case\":%lld,\"status\":\"%s\",\"message\":", written++ ? "," : "", (long long)k,
		        cal_case_status_name(result.status));
		json_string(s->out, result.message ? result.message : "");
		fputs(",\"values\":[", s->out);
		for (int i = 0; i < s->info.parameter_count + s->info.output_count; i++) {
			const int output = i - s->info.parameter_count;
			fputs(i ? "," : "", s->out);
			json_number(s->out, output < 0 ? s->values[i] : result.outputs ? result.outputs[output] : (double)NAN);
		}
		fputs("]}", s->out);
	}
	fputs("]", s->out);
	return CAL_OK;
}

/* ---- replays -------------------------------------------------------------------------------------- */

static void add_case(int64_t *cases, int *count, int most, int64_t k) {
	for (int i = 0; i < *count; i++)
		if (cases[i] == k)
			return;
	if (k >= 0 && *count < most)
		cases[(*count)++] = k;
}

/* The cases with the least and with the greatest value of every output, as far as there is room. */
static int extreme_cases(const Sheet *s, int64_t *cases, int most) {
	int count = 0;
	for (int i = 0; i < s->info.output_count; i++) {
		int64_t least = -1, greatest = -1;
		double low = INFINITY, high = -INFINITY;
		for (int64_t k = 0; k < s->info.case_count; k++) {
			CalCaseResult result;
			if (cal_campaign_result(s->campaign, k, &result) != CAL_OK || !result.outputs)
				continue;
			const double value = result.outputs[i];
			if (value < low)
				low = value, least = k;
			if (value > high)
				high = value, greatest = k;
		}
		add_case(cases, &count, most, least);
		add_case(cases, &count, most, greatest);
	}
	return count;
}

static CalStatus write_model(const Sheet *s, int64_t k, CalError *error) {
	CalSetup *setup = NULL;
	CalStatus status = cal_plan_open_case(s->plan, k, &setup, error);
	FILE *file = status == CAL_OK ? fopen(s->model, "w") : NULL;
	if (status == CAL_OK)
		status = file ? cal_model_file_write(setup, file, error) : CAL_ERR_IO;
	if (file && fclose(file) != 0 && status == CAL_OK)
		status = CAL_ERR_IO;
	cal_setup_destroy(setup);
	return status;
}

static int put_replay(const Sheet *s, int64_t k, const char *before) {
	char title[300];
	CalError error = {0};
	char *argv[] = {"run", "--quiet", "-o", (char *)s->results, (char *)s->model, NULL};
	CalReplayOptions options = *s->view->replay;
	int code = say_status(s->model, write_model(s, k, &error), &error);
	optind = 0; // getopt_long() begins anew
	if (code == EXIT_OK)
		code = command_run(5, argv);
	if (code != EXIT_OK)
		return code;
	snprintf(title, sizeof title, "%.250s, case %lld", s->info.title[0] ? s->info.title : s->info.model, (long long)k);
	options.title = title;
	options.page = NULL;
	fprintf(s->out, "%s{\"case\":%lld,\"replay\":", before, (long long)k);
	code = say_status(s->results, cal_replay_write(s->results, &options, s->out, &error), &error);
	fputs("}", s->out);
	return code;
}

static int say_no_case(const Sheet *s, int64_t k) {
	char text[120];
	snprintf(text, sizeof text, "there is no case %lld: there are %lld", (long long)k, (long long)s->info.case_count);
	say_error(s->view->folder, text);
	return EXIT_INPUT;
}

static int put_replays(Sheet *s) {
	int64_t cases[CAMPAIGN_REPLAYS];
	int count = 0, code = EXIT_OK;
	const char *parent = getenv("TMPDIR");
	for (int i = 0; i < s->view->case_count; i++)
		add_case(cases, &count, CAMPAIGN_REPLAYS, s->view->cases[i]);
	for (int i = 0; i < count; i++)
		if (cases[i] >= s->info.case_count)
			return say_no_case(s, cases[i]);
	if (count == 0)
		count = extreme_cases(s, cases, 8);
	snprintf(s->folder, sizeof s->folder, "%.900s/calder-XXXXXX", parent && parent[0] ? parent : "/tmp");
	if (!mkdtemp(s->folder)) {
		say_error(s->folder, "a folder for the runs cannot be made; set TMPDIR");
		return EXIT_INPUT;
	}
	snprintf(s->model, sizeof s->model, "%s/case.yaml", s->folder);
	snprintf(s->results, sizeof s->results, "%s/case.h5", s->folder);
	fputs(",\"replays\":[", s->out);
	for (int i = 0; i < count && code == EXIT_OK; i++)
		code = put_replay(s, cases[i], i ? "," : "");
	fputs("]", s->out);
	remove(s->model);
	remove(s->results);
	rmdir(s->folder);
	return code;
}

static int write_document(const CampaignView *view, FILE *out) {
	Sheet s = {.view = view, .out = out};
	CalError error = {0};
	int code = say_status(view->folder, cal_campaign_load(view->folder, NULL, &s.campaign, &error), &error);
	if (code != EXIT_OK)
		return code;
	s.plan = cal_campaign_plan(s.campaign);
	s.info = cal_plan_info(s.plan);
	s.values = calloc((size_t)s.info.parameter_count + 1, sizeof *s.values);
	fputs("{\"format\":\"calder-campaign\",\"version\":1,\"title\":", out);
	json_string(out, s.info.title[0] ? s.info.title : s.info.model);
	fputs(",\"model\":", out);
	json_string(out, s.info.model);
	put_axes(&s);
	code = say_status(view->folder, s.values ? put_cases(&s, &error) : CAL_ERR_MEMORY, &error);
	if (code == EXIT_OK)
		code = put_replays(&s);
	fputs("}\n", out);
	free(s.values);
	cal_campaign_close(s.campaign);
	return code;
}

/* The document in the page: no text in it can end the element that holds it. */
static void put_in_page(const char *document, size_t length, FILE *out) {
	static const char marker[] = "@CALDER_REPLAY_JSON@";
	const char *page = page_text(), *place = memmem(page, page_length(), marker, sizeof marker - 1);
	fwrite(page, 1, (size_t)(place - page), out);
	for (const char *c = document; c < document + length; c++) {
		if (*c == '<')
			fputs("\\u003c", out);
		else
			putc(*c, out);
	}
	place += sizeof marker - 1;
	fwrite(place, 1, page_length() - (size_t)(place - page), out);
}

int campaign_view_write(const CampaignView *view, FILE *out) {
	char *document = NULL;
	size_t length = 0;
	FILE *text = open_memstream(&document, &length);
	int code = text ? write_document(view, text) : say_status(view->folder, CAL_ERR_MEMORY, NULL);
	if (text && fclose(text) != 0 && code == EXIT_OK)
		code = say_status(view->folder, CAL_ERR_MEMORY, NULL);
	if (code == EXIT_OK && view->replay->page)
		put_in_page(document, length, out);
	else if (code == EXIT_OK)
		fwrite(document, 1, length, out);
	free(document);
	return code;
}
