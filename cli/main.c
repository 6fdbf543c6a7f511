// SPDX-License-Identifier: Apache-2.0
/*
 * main.c — the `calder` command: finds the command by its name and hands over.
 *
 * Exit codes: 0 ok, 1 the check failed, 2 usage, 3 input, 4 numerics.
 */
#define _GNU_SOURCE // opterr, SIGXFSZ

#include <errno.h>
#include <getopt.h>
#include <signal.h>
#include <string.h>

#include "read_options.h"

typedef struct Command {
	const char *name;
	int (*run)(int argc, char **argv);
	const char *summary;
	bool reads_models; // by read_options()
} Command;

static const Command commands[] = {
	{"info", command_info, "print what a model consists of", true},
	{"check", command_check, "find what is wrong or suspicious in a model", true},
	{"run", command_run, "integrate a model in time; write CSV and plots", true},
	{"sweep", command_sweep, "run a model many times with other numbers: Monte-Carlo, grids; tables and report", false},
	{"plot", command_plot, "draw columns of a CSV file", false},
	{"signals", command_signals, "list the quantities that can be recorded, plotted and read in formulas", true},
	{"parameters", command_parameters, "list the numbers of a model that may change in a run", true},
	{"view", command_view, "write a run as a page that any browser opens", true},
	{"render", command_render, "write a run as a film or a picture, without a screen", false},
	{"modes", command_modes, "frequencies, effective masses and checks of flexible bodies", true},
	{"linearize", command_linearize, "write A, B, C, D of a model at a state; poles, Bode and step plots", true},
	{"trim", command_trim, "find equilibria and their stability; write the model at one of them", true},
	{"operators", command_operators, "print mass matrix, factors and compliance with loops held", true},
	{"inverse", command_inverse, "print the forces that a motion takes", true},
	{"identify", command_identify, "find masses, inertias and friction from a recorded motion", true},
	{"pose", command_pose, "find joint coordinates at which nodes are where they are wanted", true},
	{"methods", command_methods, "list the integration methods", false},
	{"mesh", command_mesh, "volume, openings and mass properties of a mesh file", false},
	{"convert", command_convert, "write a model as a native file with every number written out", true},
	{"fmu", command_fmu, "write a model as a functional mock-up unit for other simulators", true},
	{"schema", command_schema, "print the format of model files: JSON schema, tables", false},
	{"golden", command_golden, "compare with reference results", false},
	{"models", command_models, "compare robots with reference dynamics of other programs", true},
	{"bench", command_bench, "compare the speed with other engines", false},
};
enum { COMMAND_COUNT = sizeof commands / sizeof commands[0] };

static void print_help(FILE *out) {
	fprintf(out,
	        "calder %s: order-N dynamics of multibody systems\n\nusage: calder COMMAND [OPTION]... [ARGUMENT]...\n\n",
	        cal_version());
	for (int i = 0; i < COMMAND_COUNT; i++)
		fprintf(out, "  %-10s %s\n", commands[i].name, commands[i].summary);
	fprintf(
		out,
		"\n'calder help COMMAND' explains each, with an example. 'calder --version' prints the version.\n"
		"Exit codes: 0 ok, 1 the check failed, 2 usage, 3 input or output, 4 numerics, 128 + signal if interrupted.\n");
}

static const Command *find_command(const char *name) {
	for (int i = 0; i < COMMAND_COUNT; i++)
		if (strcmp(name, commands[i].name) == 0)
			return &commands[i];
	return NULL;
}

static int no_command(const char *name) {
	const char *names[COMMAND_COUNT];
	for (int i = 0; i < COMMAND_COUNT; i++)
		names[i] = commands[i].name;
	const char *near = cal_name_nearest(name, names, COMMAND_COUNT);
	if (name[0])
		fprintf(stderr, "calder: there is no command '%s'%s%s%s\n", name, near ? "; did you mean '" : "",
		        near ? near : "", near ? "'?" : "");
	print_help(stderr);
	return EXIT_USAGE;
}

static bool asks_for_help(int argc, char **argv) {
	for (int i = 1; i < argc; i++)
		if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0)
			return true;
	return false;
}

/* The options that several commands share are taken out first. */
static int call_command(const Command *command, int argc, char **argv) {
	int code = command->reads_models ? read_options_take(&argc, argv) : EXIT_OK;
	if (code != EXIT_OK)
		return code;
	const bool asks = asks_for_help(argc, argv);
	code = command->run(argc, argv);
	if (code == EXIT_OK && asks && command->reads_models)
		read_options_help();
	return code;
}

static int help(const char *name) {
	const Command *command = find_command(name);
	if (!name[0])
		print_help(stdout);
	else if (!command)
		return no_command(name);
	char *argv[] = {(char *)name, "--help", NULL};
	return command ? call_command(command, 2, argv) : EXIT_OK;
}

static int run_command(int argc, char **argv) {
	const char *name = argc > 1 ? argv[1] : "";
	const Command *command = find_command(name);
	if (command)
		return call_command(command, argc - 1, argv + 1);
	if (strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0 || strcmp(name, "help") == 0)
		return help(argc > 2 ? argv[2] : "");
	if (strcmp(name, "--version") == 0 || strcmp(name, "-V") == 0 || strcmp(name, "version") == 0) {
		printf("calder %s\n", cal_version());
		return EXIT_OK;
	}
	return no_command(name);
}

/* What was printed has to arrive: a full disk under stdout is an error of every command. */
static int close_stdout(int code) {
	errno = 0;
	const bool bad = ferror(stdout) != 0, lost = fflush(stdout) != 0;
	if (!bad && !lost)
		return code;
	char text[200];
	snprintf(text, sizeof text, "cannot be written: %s", errno ? strerror(errno) : "a write failed");
	say_error("<stdout>", text);
	return code == EXIT_OK ? EXIT_INPUT : code;
}

int main(int argc, char **argv) {
	opterr = 0;               // options.c says what is wrong
	signal(SIGXFSZ, SIG_IGN); // a file that may not grow is an error of a write, not the end
	return close_stdout(run_command(argc, argv));
}
