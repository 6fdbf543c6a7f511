// SPDX-License-Identifier: Apache-2.0
/*
 * read_options.c — see read_options.h. The library reads no environment: the folders of ROS become roots here.
 */
#define _POSIX_C_SOURCE 200809L // strdup

#include "read_options.h"

#include <stdlib.h>
#include <string.h>

enum { ROOTS_MOST = 128, FOLDER_MOST = 4096 };

static struct {
	CalReadOptions options;
	const char *roots[ROOTS_MOST];
	bool partial; // as the command line says
	char beside[FOLDER_MOST];
	char *lists[2]; // of the environment, which roots point into
	int list_count;
} chosen;

static bool add_root(const char *path) {
	if (!path || chosen.options.root_count == ROOTS_MOST)
		return false;
	chosen.roots[chosen.options.root_count++] = path;
	chosen.options.roots = chosen.roots;
	return true;
}

/* Folders of a list that is separated by ':'; they last until the program ends. */
static void add_roots_of(const char *variable) {
	const char *list = getenv(variable);
	char *copy = list && list[0] && chosen.list_count < 2 ? strdup(list) : NULL, *rest = NULL;
	if (copy)
		chosen.lists[chosen.list_count++] = copy;
	for (char *folder = copy ? strtok_r(copy, ":", &rest) : NULL; folder; folder = strtok_r(NULL, ":", &rest))
		add_root(folder);
}

static int set_base(const char *command, const char *value) {
	if (strcmp(value, "fixed") == 0)
		chosen.options.base = CAL_BASE_FIXED;
	else if (strcmp(value, "free") == 0)
		chosen.options.base = CAL_BASE_FREE;
	else
		return say_usage(command, "--base is fixed or free, not '%s'", value);
	return EXIT_OK;
}

/* The value of an option "--name VALUE" or "--name=VALUE" at argv[*i]; NULL: it is another one. */
static const char *value_of(const char *name, char **argv, int argc, int *i) {
	const size_t length = strlen(name);
	if (strncmp(argv[*i], name, length) != 0)
		return NULL;
	if (argv[*i][length] == '=')
		return argv[*i] + length + 1;
	if (argv[*i][length] != '\0')
		return NULL;
	return *i + 1 < argc ? argv[++*i] : "";
}

/* Whether argv[*i] is one of the options; *code: of its value. */
static bool take_one(char **argv, int argc, int *i, int *code) {
	const char *value;
	if (strcmp(argv[*i], "--partial") == 0) {
		chosen.partial = true;
	} else if ((value = value_of("--base", argv, argc, i))) {
		*code = set_base(argv[0], value);
	} else if ((value = value_of("--root", argv, argc, i))) {
		if (!value[0])
			*code = say_usage(argv[0], "'--root' needs a folder");
		else if (!add_root(value))
			*code =
				say_usage(argv[0], "at most %d folders by --root, ROS_PACKAGE_PATH and AMENT_PREFIX_PATH", ROOTS_MOST);
	} else {
		return false;
	}
	return true;
}

int read_options_take(int *argc, char **argv) {
	int kept = 1, code = EXIT_OK;
	bool ended = false;
	for (int i = 1; i < *argc && code == EXIT_OK; i++) {
		ended |= strcmp(argv[i], "--") == 0;
		if (ended || !take_one(argv, *argc, &i, &code))
			argv[kept++] = argv[i];
	}
	*argc = kept;
	argv[kept] = NULL;
	chosen.options.partial = chosen.partial;
	add_roots_of("ROS_PACKAGE_PATH");
	add_roots_of("AMENT_PREFIX_PATH");
	return code;
}

void read_options_help(void) {
	fputs(
		"\nModels are also read from robot files: URDF, MJCF, SDFormat (docs/import.md).\n"
		"  --base fixed|free  how the root of a robot is held where the file does not say (fixed)\n"
		"  --root DIR         where package:// and model:// paths are sought, besides the folder of the file, its package,\n"
		"                     ROS_PACKAGE_PATH and AMENT_PREFIX_PATH; may be repeated\n"
		"  --partial          leave out what changes the motion and cannot be taken over, instead of refusing the file\n",
		stdout);
}

const CalReadOptions *read_options(void) { return &chosen.options; }
void read_options_read_all(void) { chosen.options.partial = 1; }
bool read_options_partial(void) { return chosen.partial; }

void read_options_write_beside(const char *path) {
	const char *slash = strrchr(path, '/');
	const size_t length = slash ? (size_t)(slash - path) : 0;
	if (length >= sizeof chosen.beside)
		return;
	snprintf(chosen.beside, sizeof chosen.beside, "%.*s", (int)length, path);
	if (!slash)
		snprintf(chosen.beside, sizeof chosen.beside, ".");
	else if (length == 0)
		snprintf(chosen.beside, sizeof chosen.beside, "/");
	chosen.options.paths_from = chosen.beside;
}

/* ---- the import report ---------------------------------------------------------------------------- */

int import_count(const CalSetup *setup, CalImportKind kind) {
	int count = 0;
	CalImportNote note;
	for (int i = 0; cal_setup_import_note(setup, i, &note) == CAL_OK; i++)
		count += note.kind == kind;
	return count;
}

const char *import_summary(const CalSetup *setup, char *text, size_t size) {
	text[0] = '\0';
	for (int kind = 0; kind < CAL_IMPORT_COUNT; kind++) {
		const int count = import_count(setup, (CalImportKind)kind);
		const size_t used = strlen(text);
		if (count)
			snprintf(text + used, size - used, "%s%d %s", used ? ", " : "", count,
			         cal_import_name((CalImportKind)kind));
	}
	return text;
}

void import_remark(const char *path, const CalSetup *setup) {
	char summary[200], text[400];
	if (!import_summary(setup, summary, sizeof summary)[0])
		return;
	snprintf(text, sizeof text, "import report: %s; 'calder check' lists them", summary);
	say_note(path, text);
}

void import_json(const CalSetup *setup, FILE *out) {
	CalImportNote note;
	fputc('[', out);
	for (int i = 0; cal_setup_import_note(setup, i, &note) == CAL_OK; i++) {
		fprintf(out, "%s\n    {\"kind\": \"%s\", \"file\": ", i ? "," : "", cal_import_name(note.kind));
		json_string(out, note.file);
		fprintf(out, ", \"line\": %d, \"column\": %d, \"element\": ", note.line, note.column);
		json_string(out, note.element);
		fputs(", \"text\": ", out);
		json_string(out, note.text);
		fputc('}', out);
	}
	fputs("]", out);
}
