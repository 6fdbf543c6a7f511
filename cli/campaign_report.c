// SPDX-License-Identifier: Apache-2.0
/*
 * campaign_report.c — what came out of a campaign, as one page without scripts that needs nothing else.
 *
 * Of every output: spread, histogram, and how its rank goes with that of each parameter (Spearman's correlation), which
 * finds any monotonic dependence whatever its shape. Failed cases count in no number but their own. The page depends on the
 * results alone.
 */
#define _POSIX_C_SOURCE 200809L // gethostname, getpid

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "svg.h"
#include "campaign.h"

enum { FAILURES_SHOWN = 200, BARS_SHOWN = 12, SCATTERS = 2 };

/* A value and whose it is, for sorting. */
typedef struct Ranked {
	double value;
	size_t index;
} Ranked;

/* The cases that gave outputs, column by column. */
typedef struct Sample {
	const CalCampaign *campaign;
	const CalPlan *plan;
	CalPlanInfo info;
	size_t count;            // cases that count
	double *memory;          // of all that follows but the last
	double *parameters;      // [parameter_count][count]
	double *outputs;         // [output_count][count]
	double *parameter_ranks; // [parameter_count][count]
	double *row, *ranks;     // scratch
	Ranked *sorted;          // scratch
} Sample;

/* ---- numbers ------------------------------------------------------------------------------------- */

static int by_value(const void *a, const void *b) {
	const Ranked *p = a, *q = b;
	return p->value != q->value ? (p->value > q->value) - (p->value < q->value)
	                            : (p->index > q->index) - (p->index < q->index);
}

/* Ranks from 0; equal values share the mean of theirs. Leaves the values in sorted[count]. */
static void rank_values(const double *values, size_t count, Ranked *sorted, double *ranks) {
	for (size_t i = 0; i < count; i++)
		sorted[i] = (Ranked){values[i], i};
	qsort(sorted, count, sizeof *sorted, by_value);
	for (size_t first = 0, last; first < count; first = last) {
		for (last = first + 1; last < count && sorted[last].value == sorted[first].value;)
			last++;
		for (size_t i = first; i < last; i++)
			ranks[sorted[i].index] = 0.5 * (double)(first + last - 1);
	}
}

/* Of ranks; NaN where one of them does not vary. */
static double correlation(const double *a, const double *b, size_t count) {
	double mean = 0.5 * ((double)count - 1), ab = 0, aa = 0, bb = 0;
	for (size_t i = 0; i < count; i++) {
		ab += (a[i] - mean) * (b[i] - mean);
		aa += (a[i] - mean) * (a[i] - mean);
		bb += (b[i] - mean) * (b[i] - mean);
	}
	return aa > 0 && bb > 0 ? ab / sqrt(aa * bb) : (double)NAN;
}

static double quantile(const Ranked *sorted, size_t count, double p) {
	const double at = p * (double)(count - 1);
	const size_t i = (size_t)at;
	return i + 1 < count ? sorted[i].value + (at - (double)i) * (sorted[i + 1].value - sorted[i].value)
	                     : sorted[count - 1].value;
}

/* ---- gathering ----------------------------------------------------------------------------------- */

/* One block for all numbers. */
static bool make_room(Sample *s) {
	const size_t cases = (size_t)s->info.case_count + 1;
	const size_t p = (size_t)s->info.parameter_count, o = (size_t)s->info.output_count;
	s->memory = calloc(cases * (2 * p + o + 1) + p, sizeof *s->memory);
	s->sorted = calloc(cases, sizeof *s->sorted);
	if (!s->memory || !s->sorted)
		return false;
	s->parameters = s->memory;
	s->parameter_ranks = s->parameters + cases * p;
	s->outputs = s->parameter_ranks + cases * p;
	s->ranks = s->outputs + cases * o;
	s->row = s->ranks + cases;
	return true;
}

static void sample_free(Sample *s) {
	free(s->memory);
	free(s->sorted);
}

static bool is_counted(CalCaseStatus status) { return status == CAL_CASE_OK || status == CAL_CASE_LIMIT; }

static bool gather_sample(Sample *s) {
	if (!make_room(s))
		return false;
	s->count = (size_t)(cal_campaign_count(s->campaign, CAL_CASE_OK) + cal_campaign_count(s->campaign, CAL_CASE_LIMIT));
	size_t at = 0;
	for (int64_t k = 0; k < s->info.case_count; k++) {
		CalCaseResult result;
		cal_campaign_result(s->campaign, k, &result);
		if (!is_counted(result.status))
			continue;
		if (cal_plan_values(s->plan, k, s->row, NULL) != CAL_OK)
			return false;
		for (int i = 0; i < s->info.parameter_count; i++)
			s->parameters[(size_t)i * s->count + at] = s->row[i];
		for (int i = 0; i < s->info.output_count; i++)
			s->outputs[(size_t)i * s->count + at] = result.outputs[i];
		at++;
	}
	return true;
}

/* ---- the page ------------------------------------------------------------------------------------ */

static void put_escaped(FILE *out, const char *text) {
	for (; *text; text++) {
		const char *entity = *text == '&'   ? "&amp;"
		                     : *text == '<' ? "&lt;"
		                     : *text == '>' ? "&gt;"
		                     : *text == '"' ? "&quot;"
		                                    : NULL;
		if (entity)
			fputs(entity, out);
		else
			putc(*text, out);
	}
}

static void put_cell(FILE *out, const char *text) {
	fputs("<td>", out);
	put_escaped(out, text);
	fputs("</td>", out);
}

static void put_number(FILE *out, double value) { fprintf(out, "<td class=\"n\">%.5g</td>", value); }

static const char *shown_unit(const char *unit) { return strcmp(unit, "1") == 0 ? "" : unit; }

static const char page_style[] =
	"body{font:15px/1.45 Helvetica,Arial,sans-serif;color:#222;max-width:1780px;margin:24px auto;padding:0 16px}\n"
	"table{border-collapse:collapse;margin:8px 0 20px}\n"
	"td,th{padding:3px 10px;border-bottom:1px solid #ddd;text-align:left;vertical-align:top}\n"
	"td.n,th.n{text-align:right;font-variant-numeric:tabular-nums}\n"
	"h2{margin-top:32px}\nh3{margin:24px 0 4px}\n.bad{color:#b03000}\n";

static void put_head(FILE *out, const Sample *s) {
	const char *title = s->info.title[0] ? s->info.title : s->info.model;
	fputs("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
	      "<meta name=\"viewport\" content=\"width=device-width\">\n<title>",
	      out);
	put_escaped(out, title);
	fprintf(out, "</title>\n<style>\n%s</style>\n</head>\n<body>\n<h1>", page_style);
	put_escaped(out, title);
	fprintf(out, "</h1>\n<p>%lld case%s of <b>", (long long)s->info.case_count, plural(s->info.case_count));
	put_escaped(out, s->info.model);
	fprintf(out, "</b>, design %s, seed %llu, calder %s:", cal_design_name(s->info.design),
	        (unsigned long long)s->info.seed, cal_version());
	const char *before = " ";
	for (int i = 0; i < CAL_CASE_COUNT; i++) {
		const int64_t number = cal_campaign_count(s->campaign, (CalCaseStatus)i);
		if (number == 0)
			continue;
		fprintf(out, "%s<span%s>%lld %s</span>", before, i == CAL_CASE_OK ? "" : " class=\"bad\"", (long long)number,
		        cal_case_status_name((CalCaseStatus)i));
		before = ", ";
	}
	fputs(".</p>\n", out);
}

static void put_parameters(FILE *out, const Sample *s) {
	CalPlanParameter p;
	fputs("<h2>Parameters</h2>\n<table>\n<tr><th>name</th><th>unit</th><th>values</th><th>target</th></tr>\n", out);
	for (int i = 0; cal_plan_parameter(s->plan, i, &p) == CAL_OK; i++) {
		fputs("<tr>", out);
		put_cell(out, p.name);
		put_cell(out, p.unit);
		put_cell(out, p.how);
		fputs("<td>", out);
		for (int k = 0; k < p.target_count; k++) {
			fputs(k ? "<br>" : "", out);
			put_escaped(out, p.targets[k]);
		}
		fputs("</td></tr>\n", out);
	}
	fputs("</table>\n", out);
}

static void put_limits(FILE *out, const CalPlanOutput *o) {
	fputs("<td>", out);
	if (isfinite(o->above))
		fprintf(out, "&gt; %.5g ", o->above);
	if (isfinite(o->below))
		fprintf(out, "&lt; %.5g", o->below);
	fputs("</td>", out);
}

static void put_spread(FILE *out, Sample *s, int output) {
	static const double parts[] = {0, 0.05, 0.5, 0.95, 1};
	const double *values = s->outputs + (size_t)output * s->count, n = (double)s->count;
	CalPlanOutput o;
	double mean = 0, square = 0;
	int64_t outside = 0;
	cal_plan_output(s->plan, output, &o);
	for (size_t i = 0; i < s->count; i++) {
		mean += values[i] / n;
		outside += !(values[i] > o.above && values[i] < o.below);
	}
	for (size_t i = 0; i < s->count; i++)
		square += (values[i] - mean) * (values[i] - mean);
	rank_values(values, s->count, s->sorted, s->ranks);
	fputs("<tr>", out);
	put_cell(out, o.name);
	put_cell(out, shown_unit(cal_campaign_unit(s->campaign, output)));
	put_number(out, mean);
	put_number(out, s->count > 1 ? sqrt(square / (n - 1)) : 0);
	for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++)
		put_number(out, quantile(s->sorted, s->count, parts[i]));
	put_limits(out, &o);
	fprintf(out, "<td class=\"n\">%lld</td></tr>\n", (long long)outside);
}

static void put_outputs(FILE *out, Sample *s) {
	static const char *const heads[] = {"mean", "std", "min", "5 %", "median", "95 %", "max"};
	fputs("<h2>Outputs</h2>\n", out);
	if (s->count == 0) {
		fputs("<p>No case gave any.</p>\n", out);
		return;
	}
	fputs("<table>\n<tr><th>name</th><th>unit</th>", out);
	for (size_t i = 0; i < sizeof heads / sizeof heads[0]; i++)
		fprintf(out, "<th class=\"n\">%s</th>", heads[i]);
	fputs("<th>limits</th><th class=\"n\">outside</th></tr>\n", out);
	for (int i = 0; i < s->info.output_count; i++)
		put_spread(out, s, i);
	fputs("</table>\n", out);
}

/* ---- pictures ------------------------------------------------------------------------------------ */

typedef struct Influence {
	int parameter;
	double value; // rank correlation
} Influence;

static int by_influence(const void *a, const void *b) {
	const Influence *p = a, *q = b;
	const double x = fabs(p->value), y = fabs(q->value);
	return x != y ? (x < y) - (x > y) : (p->parameter > q->parameter) - (p->parameter < q->parameter);
}

/* The strongest first; parameters that do not vary, and texts, are left out. */
static int list_influences(Sample *s, int output, Influence *list) {
	int count = 0;
	rank_values(s->outputs + (size_t)output * s->count, s->count, s->sorted, s->ranks);
	for (int i = 0; i < s->info.parameter_count; i++) {
		CalPlanParameter p;
		cal_plan_parameter(s->plan, i, &p);
		const double value = correlation(s->parameter_ranks + (size_t)i * s->count, s->ranks, s->count);
		if (!p.text_count && !isnan(value))
			list[count++] = (Influence){i, value};
	}
	qsort(list, (size_t)count, sizeof *list, by_influence);
	return count;
}

static void put_bars(FILE *out, const Sample *s, const Influence *list, int count) {
	const char *names[BARS_SHOWN];
	double values[BARS_SHOWN];
	const int shown = count < BARS_SHOWN ? count : BARS_SHOWN;
	for (int i = 0; i < shown; i++) {
		CalPlanParameter p;
		cal_plan_parameter(s->plan, list[i].parameter, &p);
		names[i] = p.name;
		values[i] = list[i].value;
	}
	if (shown > 0)
		svg_bars(out, "rank correlation", names, values, shown);
}

static void put_pictures(FILE *out, Sample *s, int output, Influence *list) {
	const double *values = s->outputs + (size_t)output * s->count;
	CalPlanOutput o;
	cal_plan_output(s->plan, output, &o);
	const SvgAxis axis = {o.name, shown_unit(cal_campaign_unit(s->campaign, output))};
	fputs("<h3>", out);
	put_escaped(out, o.name);
	fprintf(out, "</h3>\n<p>%s of ", cal_statistic_name(o.statistic));
	put_escaped(out, o.signal);
	fputs("</p>\n<div>\n", out);
	svg_histogram(out, axis, values, s->count, o.above, o.below);
	const int count = list_influences(s, output, list);
	put_bars(out, s, list, count);
	for (int i = 0; i < count && i < SCATTERS; i++) {
		CalPlanParameter p;
		cal_plan_parameter(s->plan, list[i].parameter, &p);
		svg_scatter(out, (SvgAxis){p.name, p.unit}, axis, s->parameters + (size_t)list[i].parameter * s->count, values,
		            s->count);
	}
	fputs("</div>\n", out);
}

static void put_failures(FILE *out, const Sample *s) {
	int64_t shown = 0;
	const int64_t all = s->info.case_count - (int64_t)s->count - cal_campaign_count(s->campaign, CAL_CASE_MISSING);
	if (all == 0)
		return;
	fputs("<h2>Failed cases</h2>\n<table>\n<tr><th class=\"n\">case</th><th>status</th><th>message</th></tr>\n", out);
	for (int64_t k = 0; k < s->info.case_count && shown < FAILURES_SHOWN; k++) {
		CalCaseResult result;
		cal_campaign_result(s->campaign, k, &result);
		if (is_counted(result.status) || result.status == CAL_CASE_MISSING)
			continue;
		fprintf(out, "<tr><td class=\"n\">%lld</td>", (long long)k);
		put_cell(out, cal_case_status_name(result.status));
		put_cell(out, result.message);
		fputs("</tr>\n", out);
		shown++;
	}
	fputs("</table>\n", out);
	if (all > shown)
		fprintf(out, "<p>And %lld more: see cases.csv.</p>\n", (long long)(all - shown));
}

static bool put_page(FILE *out, Sample *s) {
	Influence *list = calloc((size_t)s->info.parameter_count + 1, sizeof *list);
	if (!list)
		return false;
	for (int i = 0; i < s->info.parameter_count; i++)
		rank_values(s->parameters + (size_t)i * s->count, s->count, s->sorted,
		            s->parameter_ranks + (size_t)i * s->count);
	put_head(out, s);
	put_outputs(out, s);
	put_parameters(out, s);
	put_failures(out, s);
	if (s->count > 0)
		fputs("<h2>Distributions and influences</h2>\n", out);
	for (int i = 0; i < s->info.output_count && s->count > 0; i++)
		put_pictures(out, s, i, list);
	fputs("</body>\n</html>\n", out);
	free(list);
	return !ferror(out);
}

int report_write(const CalCampaign *campaign, const char *folder) {
	Sample s = {.campaign = campaign, .plan = cal_campaign_plan(campaign)};
	char path[1200], beside[1300], host[65] = "";
	s.info = cal_plan_info(s.plan);
	snprintf(path, sizeof path, "%s/report.html", folder);
	gethostname(host, sizeof host - 1);
	snprintf(beside, sizeof beside, "%s.%s.%ld", path, host, (long)getpid());
	FILE *out = gather_sample(&s) ? fopen(beside, "wb") : NULL;
	bool done = out && put_page(out, &s);
	if (out)
		done = fclose(out) == 0 && done && rename(beside, path) == 0;
	sample_free(&s);
	if (done)
		return EXIT_OK;
	char text[300];
	snprintf(text, sizeof text, "cannot be written: %s", strerror(errno));
	say_error(path, text);
	unlink(beside);
	return EXIT_INPUT;
}
