// SPDX-License-Identifier: Apache-2.0
/*
 * check.c — `calder check`: everything that is wrong or suspicious in a model, not only the first.
 *
 * Three looks: can the file be read (exit code 3 if not); what does the library say about the whole
 * description; and does it run, that is, can it be compiled and does it have finite accelerations in its
 * initial state under its loads. Errors make the exit code 1, warnings only with --strict.
 */
#define _GNU_SOURCE // getopt_long

#include <getopt.h>

#include "cli.h"

static const char help[] =
	"usage: calder check [--json] [--strict] FILE\n"
	"\n"
	"Reports everything that is wrong (errors) or suspicious (warnings) in a model, with the place in the\n"
	"file. Exit code 0 if there is no error, 1 if there is one, 3 if the file cannot be read.\n"
	"  --strict  warnings count as errors\n"
	"  --json    findings as JSON on stdout\n"
	"FILE is YAML or JSON (docs/format.md); - reads it from stdin.\n"
	"\n"
	"example: calder check examples/pendulum.yaml\n";

typedef struct Report {
	const char *path;
	bool json;
	int errors, warnings;
} Report;

static void add_finding(Report *report, bool is_error, const char *text) {
	int before = report->errors + report->warnings;
	*(is_error ? &report->errors : &report->warnings) += 1;
	if (report->json) {
		printf("%s\n    {\"severity\": \"%s\", \"text\": ", before ? "," : "", is_error ? "error" : "warning");
		json_string(stdout, text);
		printf("}");
	} else if (is_error) {
		say_error(report->path, text);
	} else {
		say_warning(report->path, text);
	}
}

static void on_finding(void *user, const CalFinding *finding) { add_finding(user, finding->status < 0, finding->text); }

static const char *text_of(const CalError *error, CalStatus status) {
	return error->text[0] ? error->text : cal_status_text(status);
}

/* Accelerations in the initial state, under the loads of the file. */
static CalStatus try_group(CalSim *sim, int group, const CalFile *file, CalError *error) {
	const CalModel *model = cal_sim_model(sim, group);
	CalFileLoads *loads = NULL;
	CalSimView view;
	CalStatus status = cal_file_state(file, model, cal_sim_state(sim, group), error);
	if (status == CAL_OK)
		status = cal_file_loads_create(file, model, &loads, error);
	if (status == CAL_OK)
		status = cal_sim_set_input(sim, group, cal_file_loads_input, NULL, loads);
	if (status == CAL_OK) {
		status = cal_sim_observe(sim, group, &view);
		if (status != CAL_OK)
			snprintf(error->text, sizeof error->text, "group \"%s\" in its initial state: %s", cal_model_name(model),
			         cal_status_text(status));
	}
	cal_file_loads_destroy(loads);
	return status;
}

static void try_to_run(Report *report, const CalFile *file) {
	CalError error = {0};
	CalSim *sim = NULL;
	CalSimOptions options = {.method = cal_file_run(file).method};
	CalStatus status = cal_sim_create(cal_file_desc(file), &options, &sim, &error);
	if (status != CAL_OK)
		add_finding(report, true, text_of(&error, status));
	for (int i = 0; sim && i < cal_sim_group_count(sim); i++) {
		error = (CalError){0};
		status = try_group(sim, i, file, &error);
		if (status != CAL_OK)
			add_finding(report, true, text_of(&error, status));
	}
	cal_sim_destroy(sim);
}

static int check_file(const char *path, bool json, bool strict) {
	CalFile *file;
	int code = input_open(path, &file);
	if (code != EXIT_OK)
		return code;
	Report report = {.path = input_name(path), .json = json};
	if (json)
		printf("{\n  \"findings\": [");
	cal_desc_check(cal_file_desc(file), on_finding, &report);
	if (report.errors == 0)
		try_to_run(&report, file);
	if (json)
		printf("],\n  \"errors\": %d,\n  \"warnings\": %d\n}\n", report.errors, report.warnings);
	else
		printf("%s: %d errors, %d warnings\n", report.path, report.errors, report.warnings);
	cal_file_destroy(file);
	return report.errors || (strict && report.warnings) ? EXIT_CHECK : EXIT_OK;
}

int command_check(int argc, char **argv) {
	static const struct option options[] = {
		{"json", no_argument, NULL, 'j'}, {"strict", no_argument, NULL, 's'}, {"help", no_argument, NULL, 'h'}, {0}};
	bool json = false, strict = false;
	for (int option; (option = getopt_long(argc, argv, "h", options, NULL)) != -1;) {
		if (option == 'h') {
			fputs(help, stdout);
			return EXIT_OK;
		}
		if (option == '?')
			return say_usage("check", "that option is not known");
		json |= option == 'j';
		strict |= option == 's';
	}
	if (argc - optind != 1)
		return say_usage("check", "name one model file (or - for stdin)");
	return check_file(argv[optind], json, strict);
}
