// SPDX-License-Identifier: Apache-2.0
/*
 * info_results.c — `calder info RUN.h5`: what a result file stores about its run, and what there is to doubt in it.
 */
#include "doubts.h"
#include "info_results.h"

static void print_text(const char *path, const CalResultsAbout *about) {
	printf("%s%s%s\n", path, about->title[0] ? ": " : "", about->title);
	printf("  model       %s\n", about->model_name[0] ? about->model_name : "(not noted)");
	printf("  written     %s by calder %s%s\n", about->created, about->software_version,
	       about->closed ? "" : "; NOT CLOSED: the run is in progress, or was killed");
	if (about->method[0])
		printf("  method      %s, step %g s, rtol %g, atol %g\n", about->method, about->step, about->rtol, about->atol);
	for (int i = 0; i < about->stream_count; i++)
		printf("  stream      %s\n", about->streams[i]);
	doubts_print(about->doubts, about->doubt_count, stdout);
}

static void print_json(const char *path, const CalResultsAbout *about) {
	printf("{\n  \"file\": ");
	json_string(stdout, path);
	printf(", \"title\": ");
	json_string(stdout, about->title);
	printf(", \"model\": ");
	json_string(stdout, about->model_name);
	printf(",\n  \"created\": ");
	json_string(stdout, about->created);
	printf(", \"software_version\": ");
	json_string(stdout, about->software_version);
	printf(", \"closed\": %s,\n  \"method\": ", about->closed ? "true" : "false");
	json_string(stdout, about->method);
	printf(", \"step\": ");
	json_number(stdout, about->step);
	printf(", \"rtol\": ");
	json_number(stdout, about->rtol);
	printf(", \"atol\": ");
	json_number(stdout, about->atol);
	printf(",\n  \"streams\": [");
	for (int i = 0; i < about->stream_count; i++) {
		fputs(i ? ", " : "", stdout);
		json_string(stdout, about->streams[i]);
	}
	printf("],\n  \"doubts\": ");
	doubts_print_json(about->doubts, about->doubt_count, stdout);
	printf("\n}\n");
}

int info_results(const char *path, bool json) {
	CalResultsAbout about;
	CalError error = {0};
	const CalStatus status = cal_results_about(path, &about, &error);
	if (status != CAL_OK)
		return say_status(path, status, &error);
	(json ? print_json : print_text)(path, &about);
	cal_results_about_free(&about);
	return EXIT_OK;
}
