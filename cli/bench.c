// SPDX-License-Identifier: Apache-2.0
/*
 * bench.c — `calder bench`: hands over to calder-bench, a program of its own.
 *
 * The benchmark links the engines that Calder is compared with and is written in C++, so it is not part
 * of this program. It is looked for beside it, and in the bench folder of a build.
 */
#define _GNU_SOURCE // readlink, getopt_long

#include <getopt.h>
#include <string.h>
#include <unistd.h>

#include "cli.h"

static const char help[] =
	"usage: calder bench [OPTION]... [SUITE]\n"
	"\n"
	"Runs the program calder-bench, which times Calder beside other engines on the same models.\n"
	"In the source folder './dev bench' builds and runs it.\n"
	"  --json FILE  write the rows as JSON\n"
	"\n"
	"example: calder bench trees --json trees.json\n";

int command_bench(int argc, char **argv) {
	if (argc > 1 && (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0)) {
		fputs(help, stdout);
		return EXIT_OK;
	}
	static const char *const places[] = {"calder-bench", "../bench/calder-bench"};
	char own[4096];
	ssize_t length = readlink("/proc/self/exe", own, sizeof own - 1);
	own[length > 0 ? length : 0] = 0;
	char *slash = strrchr(own, '/');
	for (size_t i = 0; slash && i < sizeof places / sizeof places[0]; i++) {
		char path[4200];
		snprintf(path, sizeof path, "%.*s/%s", (int)(slash - own), own, places[i]);
		if (access(path, X_OK) == 0)
			execv(path, argv);
	}
	fputs("calder bench: the program calder-bench is not here. In the source folder run './dev bench',\n"
	      "or configure with -DCALDER_BENCH=ON and build the target calder-bench.\n",
	      stderr);
	return EXIT_INPUT;
}
