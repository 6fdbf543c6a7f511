// SPDX-License-Identifier: Apache-2.0
/*
 * check.c — `calder check`: everything that is wrong or suspicious in a model, not only the first.
 *
 * Three checks: can the file be read (exit code 3 if not); what does the library say about the whole
 * description; and does it run, that is, can it be compiled and does it have finite accelerations in its
 * initial state under its loads. Errors make the exit code 1, warnings only with --strict. Loops are closed before: rows
 * that cannot be met are errors, redundant constraint equations warnings; what is left of the dofs is printed.
 */
#define _GNU_SOURCE // getopt_long

#include <stdlib.h>
#include <string.h>

#include "doctor.h"
#include "mobility.h"
#include "options.h"
#include "read_options.h"

static const char help[] =
	"usage: calder check [--json] [--strict] [--report json] [--fix OUT] FILE\n"
	"\n"
	"Reports everything that is wrong (errors) or suspicious (warnings) in a model, with the place in the\n"
	"file, and the mobility of each group: degrees of freedom less independent constraint equations.\n"
	"Code in shared objects that the model names (library: ...) is not run. Exit code 0 if there is no error, 1 if there\n"
	"is one, 3 if the file cannot be read.\n"
	"The doctor examines mass properties, limits and states: what does not fit each other, the shapes or the other\n"
	"bodies is a warning with evidence, likely cause and fix (docs/doctor.md).\n"
	"  --strict  warnings count as errors\n"
	"  --json    findings as JSON on stdout\n"
	"  --report json  only the import report of a robot file (docs/import.md), as JSON on stdout; without it the report is\n"
	"            printed line by line. What changes the motion and is left out is an error, with --partial a warning\n"
	"  --fix OUT  write a model file with the mass properties that the doctor proposes, and list what was changed\n"
	"FILE is YAML or JSON (docs/format.md); - reads it from stdin.\n"
	"\n"
	"example: calder check examples/pendulum.yaml\n";

typedef struct Report {
	const char *path;
	bool json;
	bool only_import; // as JSON
	int errors, warnings;
	int printed;        // findings as JSON
	Mobility *mobility; // [groups]
	int groups;
	Proposals proposals;
} Report;

static void add_json(Report *report, const char *severity, const char *text) {
	printf("%s\n    {\"severity\": \"%s\", \"text\": ", report->printed++ ? "," : "", severity);
	json_string(stdout, text);
	printf("}");
}

static void add_finding(Report *report, bool is_error, const char *text) {
	*(is_error ? &report->errors : &report->warnings) += 1;
	if (report->only_import)
		return;
	if (report->json) {
		add_json(report, is_error ? "error" : "warning", text);
	} else if (is_error) {
		say_error(report->path, text);
	} else {
		say_warning(report->path, text);
	}
}

/* What a robot file says and the setup does not. */
static void add_import(Report *report, const CalSetup *setup) {
	CalImportNote note;
	for (int i = 0; cal_setup_import_note(setup, i, &note) == CAL_OK; i++) {
		char text[1600];
		const bool missing = note.kind == CAL_IMPORT_MISSING;
		snprintf(text, sizeof text, "%s:%d:%d: %s: %s: %s", note.file, note.line, note.column,
		         cal_import_name(note.kind), note.element, note.text);
		if (missing)
			add_finding(report, !read_options_partial(), text);
		else if (!report->json && !report->only_import)
			say_note(note.file, text);
	}
}

static void print_import(const char *path, const CalSetup *setup) {
	printf("{\n  \"file\": ");
	json_string(stdout, path);
	for (int kind = 0; kind < CAL_IMPORT_COUNT; kind++)
		printf(",\n  \"%s\": %d", cal_import_name((CalImportKind)kind), import_count(setup, (CalImportKind)kind));
	printf(",\n  \"notes\": ");
	import_json(setup, stdout);
	printf("\n}\n");
}

static void on_finding(void *user, const CalFinding *finding) { add_finding(user, finding->status < 0, finding->text); }

static void on_diagnosis(void *user, const CalDiagnosis *d) {
	Report *report = user;
	char text[1600];
	proposals_add(&report->proposals, d);
	if (!report->json) {
		add_finding(report, false, diagnosis_text(d, text, sizeof text));
		return;
	}
	report->warnings++;
	printf("%s\n    ", report->printed++ ? "," : "");
	diagnosis_json(d, stdout);
}

static const char *text_of(const CalError *error, CalStatus status) {
	return error->text[0] ? error->text : cal_status_text(status);
}

static void check_loops(Report *report, const Mobility *m) {
	char text[1600], names[1024];
	if (m->status != CAL_OK)
		add_finding(report, true, text_of(&m->error, m->status));
	if (m->refused != CAL_OK) {
		add_finding(report, true, text_of(&m->why_refused, m->refused));
	} else if (m->doubtful) {
		snprintf(text, sizeof text, "group \"%s\": %s", cal_model_name(m->model), m->moved);
		add_finding(report, false, text);
	}
	mobility_redundant(m, names, sizeof names);
	if (names[0]) {
		snprintf(
			text, sizeof text,
			"group \"%s\": redundant constraint equations (%s); their forces are not unique, those of least norm are taken",
			cal_model_name(m->model), names);
		add_finding(report, false, text);
	}
	mobility_driven(m, names, sizeof names);
	if (m->overdriven > 0) {
		snprintf(
			text, sizeof text,
			"group \"%s\": the loops tie driven degrees of freedom to each other (%s): %d too many are driven, or the position "
			"is singular; leave some free unless their motions agree",
			cal_model_name(m->model), names, m->overdriven);
		add_finding(report, false, text);
	}
}

/* Loops, then accelerations in the state that closes them, under the loads of the file. */
static void try_group(Report *report, CalSim *sim, int group) {
	const CalModel *model = cal_sim_model(sim, group);
	Mobility *m = &report->mobility[group];
	CalSimView view;
	CalStatus status = mobility_find(m, sim, group);
	if (status == CAL_OK)
		check_loops(report, m);
	if (status == CAL_OK && m->status == CAL_OK)
		status = cal_sim_observe(sim, group, &view);
	if (status != CAL_OK) {
		char text[512], place[256];
		snprintf(text, sizeof text, "group \"%.100s\" in its initial state: %s%s", cal_model_name(model),
		         cal_status_text(status), failure_place(sim, place, sizeof place));
		add_finding(report, true, text);
	}
}

/* Code is not run by a check, so that nothing is known of what it does. */
static void note_code(Report *report, CalSim *sim) {
	CalDeviceInfo info;
	if (!report->json)
		say_left_out(report->path, sim);
	for (int i = 0; report->json && cal_sim_device(sim, i, &info) == CAL_OK; i++) {
		char text[256];
		if (left_out(&info, text, sizeof text)[0])
			add_json(report, "note", text);
	}
}

static void try_to_run(Report *report, Loaded *loaded) {
	CalError error = {0};
	CalStatus status = loaded_build(loaded, loaded->setup, NULL, &error);
	const int groups = status == CAL_OK ? cal_sim_group_count(loaded->sim) : 0;
	if (status == CAL_OK) {
		report->mobility = calloc((size_t)groups, sizeof *report->mobility);
		status = report->mobility ? CAL_OK : CAL_ERR_MEMORY;
	}
	if (status != CAL_OK)
		add_finding(report, true, text_of(&error, status));
	else
		note_code(report, loaded->sim);
	for (int i = 0; status == CAL_OK && i < groups; i++) {
		report->groups++;
		try_group(report, loaded->sim, i);
	}
}

static void print_report(const Report *report, const CalSetup *setup) {
	if (report->only_import) {
		print_import(report->path, setup);
		return;
	}
	if (report->json) {
		printf("]");
		if (cal_setup_format(setup)[0]) {
			printf(",\n  \"import\": ");
			import_json(setup, stdout);
		}
		printf(",\n  \"errors\": %d,\n  \"warnings\": %d,\n  \"groups\": [", report->errors, report->warnings);
	}
	for (int i = 0; i < report->groups; i++) {
		const Mobility *m = &report->mobility[i];
		if (!m->chosen)
			continue;
		if (report->json) {
			printf("%s\n    {\"name\": ", i ? "," : "");
			json_string(stdout, cal_model_name(m->model));
			printf(",\n      ");
			mobility_json(m, stdout);
			putchar('}');
		} else {
			printf("group \"%s\"\n", cal_model_name(m->model));
			mobility_print(m, stdout);
		}
	}
	if (report->json)
		printf("]\n}\n");
	else
		printf("%s: %d error%s, %d warning%s\n", report->path, report->errors, plural(report->errors), report->warnings,
		       plural(report->warnings));
}

typedef struct CheckOptions {
	bool json, strict, only_import;
	const char *fixed; // model file with what the doctor proposes; NULL: none
} CheckOptions;

static void examine(Report *report, Loaded *loaded) {
	for (int i = 0; i < cal_setup_warning_count(loaded->setup); i++)
		add_finding(report, false, cal_setup_warning(loaded->setup, i));
	add_import(report, loaded->setup);
	cal_desc_check(cal_setup_desc(loaded->setup), on_finding, report);
	if (!report->only_import)
		cal_setup_diagnose(loaded->setup, on_diagnosis, report, NULL);
	if (report->errors == 0)
		try_to_run(report, loaded);
}

static int check_file(const char *path, const CheckOptions *o) {
	Loaded loaded = {0};
	read_options_read_all();
	int code = input_open_quietly(path, &loaded.setup);
	if (code == EXIT_OK)
		code = output_spares_model("check", (Written){o->fixed, "--fix"}, path, loaded.setup);
	if (code != EXIT_OK) {
		loaded_destroy(&loaded);
		return code;
	}
	Report report = {.path = input_name(path), .json = o->json && !o->only_import, .only_import = o->only_import};
	if (report.json)
		printf("{\n  \"findings\": [");
	if (!o->fixed)
		give_memory_back(loaded.setup);
	examine(&report, &loaded);
	print_report(&report, loaded.setup);
	for (int i = 0; i < report.groups; i++)
		mobility_free(&report.mobility[i]);
	free(report.mobility);
	if (o->fixed)
		code = proposals_write(&report.proposals, report.path, loaded.setup, o->fixed);
	proposals_free(&report.proposals);
	loaded_destroy(&loaded);
	return code != EXIT_OK ? code : report.errors || (o->strict && report.warnings) ? EXIT_CHECK : EXIT_OK;
}

int command_check(int argc, char **argv) {
	static const struct option options[] = {
		{"json", no_argument, NULL, 'j'},         {"strict", no_argument, NULL, 's'},
		{"report", required_argument, NULL, 'r'}, {"fix", required_argument, NULL, 'f'},
		{"help", no_argument, NULL, 'h'},         {0}};
	CheckOptions o = {0};
	for (int option; (option = getopt_long(argc, argv, "h", options, NULL)) != -1;) {
		if (option == 'h') {
			fputs(help, stdout);
			return EXIT_OK;
		}
		if (option == '?')
			return option_wrong("check", argv, options);
		o.json |= option == 'j';
		o.strict |= option == 's';
		if (option == 'r' && strcmp(optarg, "json") != 0)
			return say_usage("check", "--report json is the only form, not '%s'", optarg);
		o.only_import |= option == 'r';
		if (option == 'f')
			o.fixed = optarg;
	}
	if (argc - optind != 1)
		return say_usage("check", "name one model file (or - for stdin)");
	if (o.fixed && o.json && strcmp(o.fixed, "-") == 0)
		return say_usage("check", "--json writes to stdout: give --fix the name of a file");
	if (o.fixed && o.only_import)
		return say_usage("check", "--report json prints the import report only: leave --fix out");
	return check_file(argv[optind], &o);
}
