// SPDX-License-Identifier: Apache-2.0
/*
 * convert.c — `calder convert`: a model written anew as a native file, with every number written out.
 *
 * Shapes, beams, panels and modal files become masses, nodes and modes; units become SI. The input cannot be the output:
 * comments, units and definitions would be lost.
 */
#define _GNU_SOURCE // getopt_long, open_memstream

#include <stdlib.h>
#include <string.h>

#include "options.h"
#include "output.h"
#include "read_options.h"

static const char help[] =
	"usage: calder convert FILE -o OUT\n"
	"\n"
	"Writes a model as a native file with every number written out: beams, panels, shapes and modal files become\n"
	"masses, nodes and modes, units become SI. It reads back as the same model, bit for bit. Title, state, loads,\n"
	"devices and run settings are carried over as they stand.\n"
	"  -o, --output OUT  where to write; - is stdout\n"
	"FILE is YAML or JSON (docs/format.md), or a robot file; - reads it from stdin.\n"
	"\n"
	"example: calder convert examples/flexible_arm.yaml -o arm.yaml\n";

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

static int convert(const char *path, const char *output) {
	CalSetup *setup;
	CalError error = {0};
	char *text = NULL;
	size_t length = 0;
	if (strcmp(output, "-") != 0)
		read_options_write_beside(output);
	int code = input_open(path, &setup);
	if (code != EXIT_OK)
		return code;
	code = output_spares_model("convert", (Written){output, "-o"}, path, setup);
	if (code != EXIT_OK) {
		cal_setup_destroy(setup);
		return code;
	}
	FILE *memory = open_memstream(&text, &length);
	CalStatus status = memory ? cal_model_file_write(setup, memory, &error) : CAL_ERR_MEMORY;
	if (memory && fclose(memory) != 0 && status == CAL_OK)
		status = CAL_ERR_MEMORY;
	code = say_status(input_name(path), status, &error);
	if (code == EXIT_OK)
		code = write_text(output, text, length);
	if (code == EXIT_OK) {
		say_counts(output, cal_setup_desc(setup));
		import_remark(input_name(path), setup);
	}
	free(text);
	cal_setup_destroy(setup);
	return code;
}

int command_convert(int argc, char **argv) {
	static const struct option options[] = {
		{"output", required_argument, NULL, 'o'}, {"help", no_argument, NULL, 'h'}, {0}};
	const char *output = NULL;
	for (int option; (option = getopt_long(argc, argv, "ho:", options, NULL)) != -1;) {
		if (option == 'h') {
			fputs(help, stdout);
			return EXIT_OK;
		}
		if (option == '?')
			return option_wrong("convert", argv, options);
		output = optarg;
	}
	if (argc - optind != 1)
		return say_usage("convert", "name one model file (or - for stdin)");
	if (!output)
		return say_usage("convert", "say where to write: -o OUT (or -o - for stdout)");
	return convert(argv[optind], output);
}
