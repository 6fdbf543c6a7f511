// SPDX-License-Identifier: Apache-2.0
/*
 * golden.c — `calder golden`: runs reference cases and compares every quantity they hold.
 *
 * One line per case: name, ok|FAIL|skip, the worst relative error, and what it was found in (or the
 * feature that is missing). The closing line counts; the exit code is 1 if a case failed.
 */
#define _GNU_SOURCE // getopt_long, strdup

#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "golden/golden_runner.h"
#include "options.h"

static const char help[] = "usage: calder golden DIR|FILE...\n"
						   "\n"
						   "Runs reference cases (schema golden-mbd-1, docs/golden.md). Prints one line per case,\n"
						   "  name ok|FAIL|skip worst-relative-error what\n"
						   "and closes with 'N passed, N failed, N skipped'. Exit code 1 if a case failed.\n"
						   "\n"
						   "example: calder golden test/data/golden\n";

typedef struct Paths {
	char **items;
	size_t count, capacity;
} Paths;

static bool paths_add(Paths *paths, const char *folder, const char *name) {
	if (paths->count == paths->capacity) {
		size_t capacity = paths->capacity ? 2 * paths->capacity : 64;
		char **items = realloc(paths->items, capacity * sizeof *items);
		if (!items)
			return false;
		paths->items = items;
		paths->capacity = capacity;
	}
	size_t size = strlen(folder) + strlen(name) + 2;
	char *path = malloc(size);
	if (!path)
		return false;
	snprintf(path, size, "%s%s%s", folder, folder[0] ? "/" : "", name);
	paths->items[paths->count++] = path;
	return true;
}

static void paths_free(Paths *paths) {
	for (size_t i = 0; i < paths->count; i++)
		free(paths->items[i]);
	free(paths->items);
}

static int by_name(const void *a, const void *b) { return strcmp(*(char *const *)a, *(char *const *)b); }

static bool ends_in_json(const char *name) {
	size_t length = strlen(name);
	return length > 5 && strcmp(name + length - 5, ".json") == 0;
}

/* The files of a folder in the order of their names, or the file itself. */
static bool collect_paths(Paths *paths, const char *path) {
	struct stat info;
	if (stat(path, &info) != 0 || !S_ISDIR(info.st_mode))
		return paths_add(paths, "", path);
	DIR *folder = opendir(path);
	if (!folder)
		return false;
	size_t first = paths->count;
	bool ok = true;
	for (struct dirent *entry = readdir(folder); ok && entry; entry = readdir(folder))
		if (ends_in_json(entry->d_name))
			ok = paths_add(paths, path, entry->d_name);
	closedir(folder);
	if (paths->count > first)
		qsort(paths->items + first, paths->count - first, sizeof *paths->items, by_name);
	return ok;
}

static int run_all(const Paths *paths) {
	static const char *const words[] = {"ok", "FAIL", "skip"};
	int counts[3] = {0};
	for (size_t i = 0; i < paths->count; i++) {
		CalGoldenResult result = {0};
		CalStatus status = cal_golden_run(paths->items[i], &result);
		int verdict = status < 0 ? CAL_GOLDEN_FAIL : (int)result.verdict;
		counts[verdict]++;
		const char *name = result.name[0] ? result.name : paths->items[i];
		if (verdict == CAL_GOLDEN_SKIP)
			printf("%-34s %-4s %9s %s\n", name, words[verdict], "-", result.what);
		else
			printf("%-34s %-4s %9.2e %s\n", name, words[verdict], result.worst, result.what);
		fflush(stdout);
	}
	printf("%d passed, %d failed, %d skipped\n", counts[CAL_GOLDEN_OK], counts[CAL_GOLDEN_FAIL],
	       counts[CAL_GOLDEN_SKIP]);
	return counts[CAL_GOLDEN_FAIL] ? EXIT_CHECK : EXIT_OK;
}

int command_golden(int argc, char **argv) {
	static const struct option options[] = {{"help", no_argument, NULL, 'h'}, {0}};
	for (int option; (option = getopt_long(argc, argv, "h", options, NULL)) != -1;) {
		if (option != 'h')
			return option_wrong("golden", argv, options);
		fputs(help, stdout);
		return EXIT_OK;
	}
	if (optind == argc)
		return say_usage("golden", "name a folder of cases or case files");
	Paths paths = {0};
	int code = EXIT_OK;
	for (int i = optind; i < argc && code == EXIT_OK; i++)
		if (!collect_paths(&paths, argv[i])) {
			say_error(argv[i], "the folder cannot be read");
			code = EXIT_INPUT;
		}
	if (code == EXIT_OK && paths.count == 0) {
		say_error(argv[optind], "no case files (*.json) here");
		code = EXIT_INPUT;
	}
	if (code == EXIT_OK)
		code = run_all(&paths);
	paths_free(&paths);
	return code;
}
