// SPDX-License-Identifier: Apache-2.0
/*
 * schema.c — `calder schema`: the format of model files and plans, as the reader knows it.
 */
#define _GNU_SOURCE // getopt_long

#include "options.h"

static const char help[] =
	"usage: calder schema [--markdown] [--plan]\n"
	"\n"
	"Prints the format of model files as a JSON schema, for editors that complete and check while typing. It is made from\n"
	"the tables by which files are read, as are the tables of docs/format.md and docs/sweep.md.\n"
	"  --markdown  the tables of keys instead: kind of value, unit, meaning; devices with their outputs\n"
	"  --plan      the format of plans of calder sweep\n"
	"\n"
	"example: calder schema > calder.schema.json\n";

int command_schema(int argc, char **argv) {
	static const struct option options[] = {
		{"markdown", no_argument, NULL, 'm'}, {"plan", no_argument, NULL, 'p'}, {"help", no_argument, NULL, 'h'}, {0}};
	bool markdown = false, plan = false;
	CalError error = {0};
	for (int option; (option = getopt_long(argc, argv, "h", options, NULL)) != -1;) {
		if (option == 'h') {
			fputs(help, stdout);
			return EXIT_OK;
		}
		if (option == '?')
			return option_wrong("schema", argv, options);
		markdown |= option == 'm';
		plan |= option == 'p';
	}
	if (optind < argc)
		return say_usage("schema", "it takes no file; '%s' is not used", argv[optind]);
	CalStatus status = plan       ? (markdown ? cal_plan_write_tables : cal_plan_write_schema)(stdout, &error)
	                   : markdown ? cal_format_write_tables(stdout, &error)
	                              : cal_format_write_schema(stdout, &error);
	return say_status("<stdout>", status, &error);
}
