// SPDX-License-Identifier: Apache-2.0
/*
 * main.c — the `calder` command: finds the command by its name and hands over.
 *
 * Exit codes: 0 ok, 1 the check failed, 2 usage, 3 input, 4 numerics.
 */
#include <string.h>

#include "cli.h"

typedef struct Command {
	const char *name;
	int (*run)(int argc, char **argv);
	const char *summary;
} Command;

static const Command commands[] = {
	{"info", command_info, "say what a model consists of"},
	{"check", command_check, "find what is wrong or suspicious in a model"},
	{"run", command_run, "integrate a model in time; write CSV and plots"},
	{"sweep", command_sweep, "run a model many times with other numbers: Monte-Carlo, grids; tables and report"},
	{"plot", command_plot, "draw columns of a CSV file"},
	{"view", command_view, "write a run as a page that any browser opens"},
	{"modes", command_modes, "frequencies, effective masses and checks of flexible bodies"},
	{"convert", command_convert, "write a model as a native file with every number written out"},
	{"golden", command_golden, "compare with reference results"},
	{"bench", command_bench, "compare the speed with other engines"},
};
enum { COMMAND_COUNT = sizeof commands / sizeof commands[0] };

static void print_help(FILE *out) {
	fprintf(out,
	        "calder %s: order-N dynamics of multibody systems\n\nusage: calder COMMAND [OPTION]... [ARGUMENT]...\n\n",
	        cal_version());
	for (int i = 0; i < COMMAND_COUNT; i++)
		fprintf(out, "  %-8s %s\n", commands[i].name, commands[i].summary);
	fprintf(out, "\n'calder COMMAND --help' explains each, with an example. 'calder --version' prints the version.\n"
	             "Exit codes: 0 ok, 1 the check failed, 2 usage, 3 input, 4 numerics.\n");
}

int main(int argc, char **argv) {
	const char *name = argc > 1 ? argv[1] : "";
	if (strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0 || strcmp(name, "help") == 0) {
		print_help(stdout);
		return EXIT_OK;
	}
	if (strcmp(name, "--version") == 0) {
		printf("calder %s\n", cal_version());
		return EXIT_OK;
	}
	for (int i = 0; i < COMMAND_COUNT; i++)
		if (strcmp(name, commands[i].name) == 0)
			return commands[i].run(argc - 1, argv + 1);
	if (name[0])
		fprintf(stderr, "calder: there is no command '%s'\n", name);
	print_help(stderr);
	return EXIT_USAGE;
}
