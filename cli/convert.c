// SPDX-License-Identifier: Apache-2.0
/*
 * convert.c — `calder convert`: a model written anew, as a model file with every number written out, or as a robot file.
 *
 * Shapes, beams, panels and modal files become masses, nodes and modes; units become SI. The input cannot be the output:
 * comments, units and definitions would be lost. What a robot file cannot say is reported on stderr.
 */
#define _GNU_SOURCE // getopt_long, open_memstream

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "export_report.h"
#include "options.h"
#include "output.h"
#include "read_options.h"

static const char help[] =
	"usage: calder convert [--to FORMAT] [--report json] FILE -o OUT\n"
	"\n"
	"Writes a model in another format: model file, URDF, MJCF or SDFormat. A model file has every number written out: beams,\n"
	"panels, shapes and modal files become masses, nodes and modes, units become SI. It reads back as the same model, bit\n"
	"for bit. Title, state, loads, devices and run settings are carried over as they stand. What a robot file cannot say is\n"
	"listed on stderr with its place; what changes the motion is refused without --partial (docs/export.md).\n"
	"  -o, --output OUT  where to write; - is stdout\n"
	"  --to FORMAT       model, urdf, mjcf or sdf; without it the name of OUT says it: .urdf, .mjcf and .xml (MJCF),\n"
	"                    .sdf and .world; any other name is a model file\n"
	"  --report json     the export report as JSON on stdout, instead of lines on stderr\n"
	"FILE is YAML or JSON (docs/format.md), or a robot file; - reads it from stdin.\n"
	"\n"
	"example: calder convert examples/double_pendulum.yaml -o pendulum.xml\n";

/* ---- the format ---------------------------------------------------------------------------------------- */

static const char *ending_of(const char *path) {
	const char *slash = strrchr(path, '/'), *dot = strrchr(path, '.');
	return dot && (!slash || dot > slash) ? dot : "";
}

static CalFormat format_of_path(const char *path) {
	static const struct {
		const char *ending;
		CalFormat format;
	} endings[] = {{".urdf", CAL_FORMAT_URDF},
	               {".mjcf", CAL_FORMAT_MJCF},
	               {".xml", CAL_FORMAT_MJCF},
	               {".sdf", CAL_FORMAT_SDF},
	               {".world", CAL_FORMAT_SDF}};
	for (size_t i = 0; i < sizeof endings / sizeof *endings; i++)
		if (strcasecmp(ending_of(path), endings[i].ending) == 0)
			return endings[i].format;
	return CAL_FORMAT_MODEL;
}

/* CAL_FORMAT_COUNT: there is none of this name. */
static CalFormat format_of_name(const char *name) {
	int format = 0;
	while (format < CAL_FORMAT_COUNT && strcmp(name, cal_format_name((CalFormat)format)) != 0)
		format++;
	return (CalFormat)format;
}

/* ---- the files ----------------------------------------------------------------------------------------- */

typedef struct Conversion {
	const char *input, *output;
	CalFormat format;
	bool json; // the export report
} Conversion;

static int write_text(const char *path, const char *text, size_t length) {
	OutputFile out;
	const int code = output_open(&out, path);
	if (code != EXIT_OK)
		return code;
	fwrite(text, 1, length, out.stream);
	return output_close(&out, EXIT_OK);
}

/* On stderr when the model itself goes to stdout. */
static void say_counts(const char *path, const CalDesc *desc) {
	const bool to_stdout = strcmp(path, "-") == 0;
	const int groups = cal_desc_group_count(desc), bodies = cal_desc_body_count(desc);
	const int joints = cal_desc_joint_count(desc), loops = cal_desc_loop_count(desc);
	const int own = cal_desc_node_count(desc) - bodies; // every body's frame counts as a node
	fprintf(to_stdout ? stderr : stdout, "%s: %d group%s, %d bod%s, %d node%s, %d joint%s, %d loop%s\n",
	        to_stdout ? "<stdout>" : path, groups, plural(groups), bodies, bodies == 1 ? "y" : "ies", own, plural(own),
	        joints, plural(joints), loops, plural(loops));
}

/* Lines on stderr, or JSON; a refusal without a report has its message only. */
static int report_export(const Conversion *c, CalStatus status, const CalExportReport *report, const CalError *error) {
	const bool listed = status == CAL_ERR_UNSUPPORTED && cal_export_note_count(report) > 0;
	if (c->json && report)
		export_report_print(c->output, report);
	else
		export_report_say(input_name(c->input), report, status != CAL_OK);
	if (!listed || c->json)
		return say_status(input_name(c->input), status, error);
	say_note(input_name(c->input), "nothing was written; --partial writes the rest");
	return exit_code_of(status);
}

static int write_model(const Conversion *c, const CalSetup *setup) {
	const CalWriteOptions options = {.partial = read_options_partial()};
	CalExportReport *report = NULL;
	CalError error = {0};
	char *text = NULL;
	size_t length = 0;
	FILE *memory = open_memstream(&text, &length);
	CalStatus status =
		memory ? cal_model_write(setup, c->format, &options, memory, NULL, &report, &error) : CAL_ERR_MEMORY;
	if (memory && fclose(memory) != 0 && status == CAL_OK)
		status = CAL_ERR_MEMORY;
	int code = report_export(c, status, report, &error);
	if (code == EXIT_OK)
		code = write_text(c->output, text, length);
	cal_export_report_destroy(report);
	free(text);
	return code;
}

static int convert(const Conversion *c) {
	CalSetup *setup;
	if (strcmp(c->output, "-") != 0)
		read_options_write_beside(c->output);
	int code = input_open(c->input, &setup);
	if (code != EXIT_OK)
		return code;
	code = output_spares_model("convert", (Written){c->output, "-o"}, c->input, setup);
	if (code == EXIT_OK)
		code = write_model(c, setup);
	if (code == EXIT_OK && !c->json)
		say_counts(c->output, cal_setup_desc(setup));
	cal_setup_destroy(setup);
	return code;
}

/* ---- the command --------------------------------------------------------------------------------------- */

static int check_usage(Conversion *c, const char *to) {
	if (!c->output)
		return say_usage("convert", "say where to write: -o OUT (or -o - for stdout)");
	c->format = to ? format_of_name(to) : format_of_path(c->output);
	if (c->format == CAL_FORMAT_COUNT)
		return say_usage("convert", "--to is model, urdf, mjcf or sdf, not '%s'", to);
	if (c->json && strcmp(c->output, "-") == 0)
		return say_usage("convert", "the report is on stdout: write the model to a file");
	return convert(c);
}

int command_convert(int argc, char **argv) {
	static const struct option options[] = {{"output", required_argument, NULL, 'o'},
	                                        {"to", required_argument, NULL, 't'},
	                                        {"report", required_argument, NULL, 'r'},
	                                        {"help", no_argument, NULL, 'h'},
	                                        {0}};
	Conversion c = {0};
	const char *to = NULL;
	for (int option; (option = getopt_long(argc, argv, "ho:", options, NULL)) != -1;) {
		if (option == 'h') {
			fputs(help, stdout);
			return EXIT_OK;
		}
		if (option == '?')
			return option_wrong("convert", argv, options);
		if (option == 'r' && strcmp(optarg, "json") != 0)
			return say_usage("convert", "--report json is the only form, not '%s'", optarg);
		c.json = c.json || option == 'r';
		c.output = option == 'o' ? optarg : c.output;
		to = option == 't' ? optarg : to;
	}
	if (argc - optind != 1)
		return say_usage("convert", "name one model file (or - for stdin)");
	c.input = argv[optind];
	return check_usage(&c, to);
}
