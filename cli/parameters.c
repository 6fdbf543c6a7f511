// SPDX-License-Identifier: Apache-2.0
/*
 * parameters.c — `calder parameters`: the numbers of a model that may change in a run (calder/parameter.h).
 */
#define _GNU_SOURCE // getopt_long

#include <float.h>
#include <getopt.h>
#include <math.h>

#include "cli.h"
#include "options.h"

static const char help[] =
	"usage: calder parameters [OPTION]... FILE\n"
	"\n"
	"Lists the numbers of a model that may change in a run, with value, unit and range: by the action `set` of an event,\n"
	"in the page of a live run, or from C (docs/parameters.md).\n"
	"      --json             as JSON\n"
	"  -h, --help             print this\n"
	"\n"
	"example: calder parameters examples/slew.yaml\n";

static void print_plain(const CalParameter *p) {
	printf("%s = %.9g%s%s", p->name, p->value, p->unit[0] ? " " : "", p->unit);
	if (p->fixed)
		printf("  (fixed: %s)", p->fixed);
	else if (p->low > -DBL_MAX)
		printf("  (%s %.9g", p->above ? "above" : "from", p->low);
	if (!p->fixed && p->high < DBL_MAX)
		printf("%s up to %.9g", p->low > -DBL_MAX ? "" : "  (", p->high);
	puts(!p->fixed && (p->low > -DBL_MAX || p->high < DBL_MAX) ? ")" : "");
}

static void print_json(const CalParameter *p) {
	fputs("  {\"name\": ", stdout);
	json_string(stdout, p->name);
	fputs(", \"unit\": ", stdout);
	json_string(stdout, p->unit);
	fputs(", \"value\": ", stdout);
	json_number(stdout, p->value);
	fputs(", \"low\": ", stdout);
	json_number(stdout, p->low > -DBL_MAX ? p->low : (double)-INFINITY);
	fputs(", \"high\": ", stdout);
	json_number(stdout, p->high < DBL_MAX ? p->high : (double)INFINITY);
	printf(", \"above\": %s, \"fixed\": ", p->above ? "true" : "false");
	if (p->fixed)
		json_string(stdout, p->fixed);
	else
		fputs("null", stdout);
	putchar('}');
}

static int print_parameters(const char *path, bool json) {
	Loaded loaded = {0};
	CalSetup *setup = NULL;
	CalError error = {0};
	int code = input_open(path, &setup);
	if (code != EXIT_OK)
		return code;
	CalStatus status = loaded_build(&loaded, setup, NULL, &error);
	if (status == CAL_OK && !cal_sim_reserved(loaded.sim, NULL))
		status = cal_sim_reserve(loaded.sim, cal_setup_desc(setup), NULL, &error);
	code = say_status(input_name(path), status, &error);
	if (code == EXIT_OK)
		say_left_out(input_name(path), loaded.sim);
	const int count = code == EXIT_OK ? cal_sim_parameter_count(loaded.sim) : 0;
	if (json && code == EXIT_OK)
		puts("[");
	for (int i = 0; i < count; i++) {
		CalParameter p;
		if (cal_sim_parameter(loaded.sim, i, &p) != CAL_OK)
			continue;
		(json ? print_json : print_plain)(&p);
		if (json)
			puts(i + 1 < count ? "," : "");
	}
	if (json && code == EXIT_OK)
		puts("]");
	loaded_destroy(&loaded);
	return code;
}

int command_parameters(int argc, char **argv) {
	static const struct option long_options[] = {
		{"json", no_argument, NULL, 'j'}, {"help", no_argument, NULL, 'h'}, {0}};
	bool json = false;
	for (int option; (option = getopt_long(argc, argv, "h", long_options, NULL)) != -1;) {
		if (option == 'h') {
			fputs(help, stdout);
			return EXIT_OK;
		}
		if (option != 'j')
			return option_wrong("parameters", argv, long_options);
		json = true;
	}
	if (argc - optind != 1)
		return say_usage("parameters", "name one model file");
	return print_parameters(argv[optind], json);
}
