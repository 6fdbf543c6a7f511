// SPDX-License-Identifier: Apache-2.0
/*
 * doubts.c — what there is to doubt in a run: as warnings, in the summary, in JSON (calder/doubt.h).
 */
#include "doubts.h"

int doubts_of(const CalSim *sim, CalDoubt *doubts) {
	int count = 0;
	while (count < CAL_MAX_DOUBTS && cal_sim_doubt(sim, count, &doubts[count]) == CAL_OK)
		count++;
	return count;
}

void doubts_warn(const CalSim *sim, const char *path) {
	CalDoubt doubt;
	for (int i = 0; cal_sim_doubt(sim, i, &doubt) == CAL_OK; i++)
		if (doubt.kind != CAL_DOUBT_INPUT) // said when the file was read
			say_warning(path, doubt.text);
	const long long left_out = (long long)cal_sim_doubts_left_out(sim);
	if (left_out == 0)
		return;
	char text[80];
	snprintf(text, sizeof text, "%lld more things to doubt are not listed", left_out);
	say_warning(path, text);
}

void doubts_warn_file(const char *path) {
	CalResultsAbout about;
	if (!cal_results_is_hdf5(path) || cal_results_about(path, &about, NULL) != CAL_OK)
		return;
	for (int i = 0; i < about.doubt_count; i++)
		say_warning(path, about.doubts[i].text);
	cal_results_about_free(&about);
}

static void print_times(const CalDoubt *doubt, FILE *out) {
	if (doubt->count > 1)
		fprintf(out, " (seen %lld times, first at t = %.6g s)", (long long)doubt->count, doubt->time);
}

void doubts_print(const CalDoubt *doubts, int count, FILE *out) {
	for (int i = 0; i < count; i++) {
		fprintf(out, "  DOUBT       %s", doubts[i].text);
		print_times(&doubts[i], out);
		putc('\n', out);
	}
}

void doubts_print_json(const CalDoubt *doubts, int count, FILE *out) {
	fprintf(out, "[");
	for (int i = 0; i < count; i++) {
		const CalDoubt *doubt = &doubts[i];
		fprintf(out, "%s\n    {\"kind\": ", i ? "," : "");
		json_string(out, cal_doubt_name(doubt->kind));
		fprintf(out, ", \"object\": ");
		json_string(out, doubt->object);
		fprintf(out, ", \"time\": ");
		json_number(out, doubt->time);
		fprintf(out, ", \"value\": ");
		json_number(out, doubt->value);
		fprintf(out, ", \"limit\": ");
		json_number(out, doubt->limit);
		fprintf(out, ", \"count\": %lld, \"text\": ", (long long)doubt->count);
		json_string(out, doubt->text);
		putc('}', out);
	}
	fprintf(out, "]");
}
