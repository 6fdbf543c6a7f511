// SPDX-License-Identifier: Apache-2.0
/*
 * models.c — `calder models`: models in folders against reference dynamics of other programs.
 *
 * One line per model: name, ok|FAIL|skip, the worst relative error of each quantity, and what is wrong. The closing line
 * counts; the exit code is 1 if a model failed.
 */
#define _GNU_SOURCE // getopt_long, strdup

#include <dirent.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "models_compare.h"
#include "options.h"

static const char help[] =
	"usage: calder models DIR\n"
	"\n"
	"Reads every model of which DIR or a folder in it has a reference (NAME.ref.json, docs/import.md#references), and\n"
	"compares mass matrix, bias forces, inverse and forward dynamics, poses, center of mass, and accelerations with closed\n"
	"loops. Prints one line per model with the worst relative errors, and closes with 'N passed, N failed, N skipped'.\n"
	"A folder without a reference is skipped if its models can be read. Exit code 1 if a model failed.\n"
	"\n"
	"example: calder models test/data/models\n";

typedef struct Names {
	char **items;
	int count, capacity;
} Names;

static bool names_add(Names *names, const char *folder, const char *name) {
	if (names->count == names->capacity) {
		const int capacity = names->capacity ? 2 * names->capacity : 64;
		char **items = realloc(names->items, (size_t)capacity * sizeof *items);
		if (!items)
			return false;
		names->items = items;
		names->capacity = capacity;
	}
	const size_t size = strlen(folder) + strlen(name) + 2;
	char *path = malloc(size);
	if (!path)
		return false;
	snprintf(path, size, "%s/%s", folder, name);
	names->items[names->count++] = path;
	return true;
}

static void names_free(Names *names) {
	for (int i = 0; i < names->count; i++)
		free(names->items[i]);
	free(names->items);
}

static int by_name(const void *a, const void *b) { return strcmp(*(char *const *)a, *(char *const *)b); }

/* What a folder holds, without hidden files, in the order of the names. */
static bool list_folder(const char *path, Names *names) {
	DIR *folder = opendir(path);
	if (!folder)
		return false;
	bool done = true;
	for (struct dirent *entry = readdir(folder); done && entry; entry = readdir(folder))
		if (entry->d_name[0] != '.')
			done = names_add(names, path, entry->d_name);
	closedir(folder);
	if (names->count)
		qsort(names->items, (size_t)names->count, sizeof *names->items, by_name);
	return done;
}

static bool ends_with(const char *name, const char *ending) {
	const size_t length = strlen(name), tail = strlen(ending);
	return length > tail && strcmp(name + length - tail, ending) == 0;
}

static bool is_folder(const char *path) {
	struct stat about;
	return stat(path, &about) == 0 && S_ISDIR(about.st_mode);
}

/* ---- one model ------------------------------------------------------------------------------------------ */

static void print_result(const char *path, const ModelResult *result) {
	static const char *const words[] = {"ok", "FAIL", "skip"};
	static const char *const labels[] = {
#define COMPARED_LABEL(name, text, tolerance) text,
		COMPARED_LIST(COMPARED_LABEL)
#undef COMPARED_LABEL
	};
	const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
	printf("%-28.*s %-4s", (int)strcspn(name, "."), name, words[result->verdict]);
	for (int i = 0; i < COMPARED_COUNT; i++)
		if (result->worst[i] >= 0)
			printf(" %s %.1e", labels[i], result->worst[i]);
	printf("%s%s\n", result->what[0] ? "  " : "", result->what);
	fflush(stdout);
}

static void compare_reference(const char *path, const char *folder, ModelResult *result) {
	size_t length = 0;
	FILE *in = fopen(path, "rb");
	char *text = in ? input_read(in, INPUT_MOST, &length) : NULL;
	JsonTree *tree = NULL;
	*result = (ModelResult){.verdict = MODEL_FAILED, .what = "cannot be read"};
	for (int i = 0; i < COMPARED_COUNT; i++)
		result->worst[i] = -1;
	if (in)
		fclose(in);
	if (text)
		tree = json_tree_parse(text, result->what, sizeof result->what);
	if (tree)
		models_compare(json_tree_root(tree), folder, result);
	json_tree_destroy(tree);
	free(text);
}

/* Of one folder; counts by verdict. */
static bool compare_folder(const char *folder, int counts[3]) {
	Names names = {0};
	const bool listed = list_folder(folder, &names);
	for (int i = 0; listed && i < names.count; i++) {
		ModelResult result;
		if (!ends_with(names.items[i], ".ref.json") || is_folder(names.items[i]))
			continue;
		compare_reference(names.items[i], folder, &result);
		counts[result.verdict]++;
		print_result(names.items[i], &result);
	}
	names_free(&names);
	return listed;
}

/* total_mass of a file of counts if it is about this model; NAN: it is not known. */
static double counted_mass(const char *count_file, const char *path) {
	char why[200];
	size_t length = 0;
	double mass = NAN;
	FILE *in = count_file ? fopen(count_file, "rb") : NULL;
	char *text = in ? input_read(in, INPUT_MOST, &length) : NULL;
	JsonTree *tree = text ? json_tree_parse(text, why, sizeof why) : NULL;
	const JsonValue *root = tree ? json_tree_root(tree) : NULL;
	const char *file = json_text(json_member(root, "file")), *slash = strrchr(path, '/');
	if (strcmp(file, slash ? slash + 1 : path) == 0)
		mass = json_value(json_member(root, "total_mass"));
	json_tree_destroy(tree);
	free(text);
	if (in)
		fclose(in);
	return mass;
}

/* A model without reference: it can be read, and its mass is right where it is known. */
static void load_model(const char *path, const char *count_file, ModelResult *result) {
	const CalReadOptions options = {.partial = 1};
	const double expected = counted_mass(count_file, path);
	CalSetup *setup = NULL;
	CalError error = {0};
	double mass = 0;
	*result = (ModelResult){.verdict = MODEL_SKIPPED, .what = "no reference; it can be read"};
	for (int i = 0; i < COMPARED_COUNT; i++)
		result->worst[i] = -1;
	if (cal_model_read(path, &options, NULL, &setup, &error) != CAL_OK) {
		result->verdict = MODEL_FAILED;
		snprintf(result->what, sizeof result->what, "%s", error.text);
	}
	for (int i = 1; setup && i <= cal_desc_body_count(cal_setup_desc(setup)); i++)
		mass += cal_desc_body(cal_setup_desc(setup), (CalBodyId){(uint32_t)i})->mass;
	if (setup && fabs(mass - expected) > 1e-9 * expected) {
		result->verdict = MODEL_FAILED;
		snprintf(result->what, sizeof result->what, "total mass %g kg, not %g kg", mass, expected);
	}
	cal_setup_destroy(setup);
}

static bool has_reference(const char *folder) {
	Names names = {0};
	bool found = false;
	list_folder(folder, &names);
	for (int i = 0; i < names.count; i++)
		found |= ends_with(names.items[i], ".ref.json");
	names_free(&names);
	return found;
}

static bool is_robot(const char *path) {
	return ends_with(path, ".urdf") || ends_with(path, ".sdf") || ends_with(path, ".xml");
}

static void load_folder(const char *folder, int counts[3]) {
	Names names = {0};
	const char *count_file = NULL;
	list_folder(folder, &names);
	for (int i = 0; i < names.count; i++)
		count_file = ends_with(names.items[i], ".counts.json") ? names.items[i] : count_file;
	for (int i = 0; i < names.count; i++) {
		ModelResult result;
		if (!is_robot(names.items[i]))
			continue;
		load_model(names.items[i], count_file, &result);
		counts[result.verdict]++;
		print_result(folder, &result);
	}
	names_free(&names);
}

static int compare_tree(const char *folder) {
	Names names = {0};
	int counts[3] = {0};
	const bool listed = list_folder(folder, &names) && compare_folder(folder, counts);
	for (int i = 0; listed && i < names.count; i++) {
		if (!is_folder(names.items[i]))
			continue;
		if (has_reference(names.items[i]))
			compare_folder(names.items[i], counts);
		else
			load_folder(names.items[i], counts);
	}
	names_free(&names);
	if (!listed) {
		say_error(folder, "the folder cannot be read");
		return EXIT_INPUT;
	}
	printf("%d passed, %d failed, %d skipped\n", counts[MODEL_PASSED], counts[MODEL_FAILED], counts[MODEL_SKIPPED]);
	return counts[MODEL_FAILED] ? EXIT_CHECK : EXIT_OK;
}

int command_models(int argc, char **argv) {
	static const struct option options[] = {{"help", no_argument, NULL, 'h'}, {0}};
	for (int option; (option = getopt_long(argc, argv, "h", options, NULL)) != -1;) {
		if (option != 'h')
			return option_wrong("models", argv, options);
		fputs(help, stdout);
		return EXIT_OK;
	}
	if (argc - optind != 1)
		return say_usage("models", "name one folder of models with references");
	return compare_tree(argv[optind]);
}
