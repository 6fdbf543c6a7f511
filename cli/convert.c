// SPDX-License-Identifier: Apache-2.0
/*
 * convert.c — `calder convert`: a model written anew as a native file, with every number written out.
 *
 * Shapes, beams, panels and modal files become masses, nodes and modes; units become SI. The text is made in memory
 * first: a model that cannot be written leaves the output file as it was, and it may be the input file.
 */
#define _GNU_SOURCE // getopt_long, open_memstream

#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"

static const char help[] =
	"usage: calder convert FILE -o OUT\n"
	"\n"
	"Writes a model as a native file with every number written out: beams, panels, shapes and modal files become\n"
	"masses, nodes and modes, units become SI. It reads back as the same model, bit for bit. Title, state, loads,\n"
	"devices and run settings are carried over as they stand.\n"
	"  -o, --output OUT  where to write; - is stdout\n"
	"FILE is YAML or JSON (docs/format.md); - reads it from stdin.\n"
	"\n"
	"example: calder convert examples/flexible_arm.yaml -o arm.yaml\n";

static int write_text(const char *path, const char *text, size_t length) {
	const bool to_stdout = strcmp(path, "-") == 0;
	FILE *out = to_stdout ? stdout : fopen(path, "w");
	bool good = out && fwrite(text, 1, length, out) == length && fflush(out) == 0;
	int why = errno;
	if (out && !to_stdout && fclose(out) != 0 && good) {
		good = false;
		why = errno;
	}
	if (good)
		return EXIT_OK;
	char message[300];
	snprintf(message, sizeof message, "cannot be written: %s", strerror(why));
	say_error(path, message);
	return EXIT_INPUT;
}

/* On stderr when the model itself goes to stdout. */
static void say_counts(const char *path, const CalDesc *desc) {
	const bool to_stdout = strcmp(path, "-") == 0;
	const int own = cal_desc_node_count(desc) - cal_desc_body_count(desc); // every body's frame counts as a node
	fprintf(to_stdout ? stderr : stdout, "%s: %d groups, %d bodies, %d nodes, %d joints, %d loops\n",
	        to_stdout ? "<stdout>" : path, cal_desc_group_count(desc), cal_desc_body_count(desc), own,
	        cal_desc_joint_count(desc), cal_desc_loop_count(desc));
}

static int convert(const char *path, const char *output) {
	CalFile *file;
	CalError error = {0};
	char *text = NULL;
	size_t length = 0;
	int code = input_open(path, &file);
	if (code != EXIT_OK)
		return code;
	FILE *memory = open_memstream(&text, &length);
	CalStatus status = memory ? cal_file_write(file, memory, &error) : CAL_ERR_MEMORY;
	if (memory && fclose(memory) != 0 && status == CAL_OK)
		status = CAL_ERR_MEMORY;
	code = say_status(input_name(path), status, &error);
	if (code == EXIT_OK)
		code = write_text(output, text, length);
	if (code == EXIT_OK)
		say_counts(output, cal_file_desc(file));
	free(text);
	cal_file_destroy(file);
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
			return say_usage("convert", "that option is not known or lacks its value");
		output = optarg;
	}
	if (argc - optind != 1)
		return say_usage("convert", "name one model file (or - for stdin)");
	if (!output)
		return say_usage("convert", "say where to write: -o OUT (or -o - for stdout)");
	return convert(argv[optind], output);
}
