// SPDX-License-Identifier: Apache-2.0
/*
 * common.c — messages and input for the commands.
 *
 * The library's errors begin with the place in the file where it is known ("arm.yaml:41:3: ..."); the
 * form on the screen is that of compilers, so that editors can jump to it. Color only on a terminal
 * and without NO_COLOR.
 */
#define _POSIX_C_SOURCE 200809L // isatty, fileno

#include <ctype.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif

#include "cli.h"
#include "doubts.h"
#include "read_options.h"

/* ---- messages ---------------------------------------------------------------------------------- */

static bool use_color(void) {
	const char *no_color = getenv("NO_COLOR");
	return isatty(fileno(stderr)) && !(no_color && no_color[0]);
}

static const char *skip_number(const char *s) {
	while (isdigit((unsigned char)*s))
		s++;
	return s;
}

/* Length of "path:", "path:line:" or "path:line:col:" at the beginning of text; 0 if there is none. */
static size_t place_length(const char *path, const char *text) {
	size_t length = strlen(path);
	if (strncmp(text, path, length) != 0 || text[length] != ':')
		return 0;
	const char *end = text + length;
	for (const char *next = skip_number(end + 1); next > end + 1 && *next == ':'; next = skip_number(end + 1))
		end = next;
	return (size_t)(end - text) + 1;
}

/* Length of "file:line:col:" of another file, that the first one names, at the beginning of text; 0 if there is none. */
static size_t other_place_length(const char *text) {
	const char *colon = strchr(text, ':');
	const char *column = colon ? skip_number(colon + 1) : NULL, *end = column ? skip_number(column + 1) : NULL;
	const bool is_place = column && column > colon + 1 && *column == ':' && end > column + 1 && *end == ':';
	return is_place && !memchr(text, '"', (size_t)(colon - text)) ? (size_t)(end - text) + 1 : 0;
}

static void print_message(const char *path, const char *severity, const char *color, const char *text) {
	size_t place = place_length(path, text);
	place = place ? place : other_place_length(text);
	const char *rest = text + place;
	while (*rest == ' ')
		rest++;
	size_t length = strlen(severity);
	if (strncmp(rest, severity, length) == 0 && rest[length] == ':')
		rest += length + 1 + strspn(rest + length + 1, " ");
	if (place)
		fprintf(stderr, "%.*s ", (int)place, text);
	else
		fprintf(stderr, "%s: ", path);
	if (use_color())
		fprintf(stderr, "\033[1;%sm%s:\033[0m %s\n", color, severity, rest);
	else
		fprintf(stderr, "%s: %s\n", severity, rest);
}

void say_error(const char *path, const char *text) { print_message(path, "error", "31", text); }

void say_warning(const char *path, const char *text) { print_message(path, "warning", "33", text); }

void say_note(const char *path, const char *text) { print_message(path, "note", "36", text); }

void say_file_warnings(const char *path, const CalSetup *setup) {
	for (int i = 0; i < cal_setup_warning_count(setup); i++)
		say_warning(path, cal_setup_warning(setup, i));
}

const char *left_out(const CalDeviceInfo *info, char *text, size_t size) {
	text[0] = 0;
	if (info->not_loaded)
		snprintf(text, size, "\"%.100s\" is code in a shared object, which only a run loads; it was left out here",
		         info->name);
	return text;
}

void say_left_out(const char *path, CalSim *sim) {
	CalDeviceInfo info;
	for (int i = 0; cal_sim_device(sim, i, &info) == CAL_OK; i++) {
		char text[256];
		if (left_out(&info, text, sizeof text)[0])
			say_note(path, text);
	}
}

int say_usage(const char *command, const char *format, ...) {
	va_list args;
	va_start(args, format);
	fprintf(stderr, "calder %s: ", command);
	vfprintf(stderr, format, args);
	fprintf(stderr, "\nTry 'calder %s --help'.\n", command);
	va_end(args);
	return EXIT_USAGE;
}

int exit_code_of(CalStatus status) {
	if (status == CAL_ERR_LOST)
		return EXIT_LOST;
	return status == CAL_OK ? EXIT_OK : status > 0 || status == CAL_ERR_USER ? EXIT_NUMERICS : EXIT_INPUT;
}

int say_status(const char *path, CalStatus status, const CalError *error) {
	if (status == CAL_OK)
		return EXIT_OK;
	say_error(path, error && error->text[0] ? error->text : cal_status_text(status));
	return exit_code_of(status);
}

/* ---- input ------------------------------------------------------------------------------------- */

char *input_read(FILE *in, size_t most, size_t *length) {
	size_t capacity = 1 << 16, got = 0;
	char *text = malloc(capacity);
	while (text) {
		got += fread(text + got, 1, capacity - 1 - got, in);
		text[got] = 0;
		if (got < capacity - 1 || got > most)
			break;
		char *more = realloc(text, capacity *= 2);
		if (!more)
			free(text);
		text = more;
	}
	*length = got;
	return text;
}

const char *input_name(const char *path) { return strcmp(path, "-") == 0 ? "<stdin>" : path; }

int input_open_quietly(const char *path, CalSetup **setup) {
	CalError error = {0};
	*setup = NULL;
	if (strcmp(path, "-") != 0)
		return say_status(path, cal_model_read(path, read_options(), NULL, setup, &error), &error);
	size_t length = 0;
	char *text = input_read(stdin, INPUT_MOST, &length);
	if (!text)
		return say_status("<stdin>", CAL_ERR_MEMORY, NULL);
	CalStatus status = cal_model_parse(text, length, "<stdin>", read_options(), NULL, setup, &error);
	free(text);
	return say_status("<stdin>", status, &error);
}

int input_open(const char *path, CalSetup **setup) {
	const int code = input_open_quietly(path, setup);
	if (code == EXIT_OK) {
		import_remark(input_name(path), *setup);
		say_file_warnings(input_name(path), *setup);
	}
	return code;
}

/* Without settings of its own a command is not the run of one file alone: it has the file's branches, and so its bits. */
static CalSimOptions options_of(const Loaded *loaded, const CalRunSettings *settings) {
	const CalRunSettings *from = settings ? settings : &loaded->settings;
	return (CalSimOptions){.method = from->method,
	                       .threads = settings ? settings->threads : 0,
	                       .branches = from->branches ? from->branches : from->threads,
	                       .cross_loops = from->cross_loops,
	                       .plugins = loaded->refuses_code ? CAL_PLUGIN_REFUSE
	                                  : loaded->runs_code  ? CAL_PLUGIN_LOAD
	                                                       : CAL_PLUGIN_SKIP,
	                       .stop = loaded->stop,
	                       .formulation = from->formulation,
	                       .assembly_limit = from->assembly_limit};
}

void give_memory_back(CalSetup *setup) {
	cal_model_file_trim(setup);
#ifdef __GLIBC__
	malloc_trim(0);
#endif
}

CalStatus loaded_build(Loaded *loaded, CalSetup *setup, const CalRunSettings *settings, CalError *error) {
	loaded->setup = setup;
	loaded->settings = cal_setup_run(setup);
	give_memory_back(setup);
	CalSimOptions options = options_of(loaded, settings);
	CalStatus status = cal_sim_create(cal_setup_desc(setup), &options, &loaded->sim, error);
	return status == CAL_OK ? cal_scenario_create(setup, loaded->sim, &loaded->scenario, error) : status;
}

int loaded_create(Loaded *loaded, CalSetup *setup, const char *path, const CalRunSettings *settings) {
	CalError error = {0};
	CalStatus status = loaded_build(loaded, setup, settings, &error);
	if (status == CAL_OK)
		status = cal_sim_restart(loaded->sim, &error);
	return say_status(path, status, &error);
}

int loaded_at(Loaded *loaded, CalSetup *setup, const char *path, double time) {
	CalError error = {0};
	int code = loaded_create(loaded, setup, path, NULL);
	if (code != EXIT_OK)
		return code;
	say_left_out(path, loaded->sim);
	if (time > 0) {
		code = say_status(path, cal_sim_examine(loaded->sim), NULL);
		if (code == EXIT_OK)
			code = say_status(path, cal_sim_advance(loaded->sim, time, &error), &error);
		if (code == EXIT_OK)
			code = say_status(path, cal_sim_examine(loaded->sim), NULL);
	}
	doubts_warn(loaded->sim, path);
	return code;
}

void loaded_destroy(Loaded *loaded) {
	cal_scenario_destroy(loaded->scenario);
	cal_sim_destroy(loaded->sim);
	cal_setup_destroy(loaded->setup);
	*loaded = (Loaded){0};
}

/* ---- failures ---------------------------------------------------------------------------------- */

/* Whether the dof is one of several of its joint, whose axes may come to be parallel. */
static bool is_of_several(const CalModel *model, int dof) {
	CalBodyInfo info;
	for (int i = 0; i < cal_model_body_count(model); i++)
		if (cal_model_body(model, i, &info) == CAL_OK && dof >= info.u && dof < info.u + info.nu)
			return info.nu > 1;
	return false;
}

const char *failure_place(CalSim *sim, char *text, size_t size) {
	text[0] = 0;
	for (int g = 0; g < cal_sim_group_count(sim); g++) {
		CalSimView view;
		const CalStatus status = g == 0 ? cal_sim_observe(sim, g, &view) : cal_sim_observe_also(sim, g, &view);
		const int dof = status == CAL_SINGULAR || status == CAL_NOT_FINITE ? cal_work_failed_dof(view.work) : -1;
		if (dof < 0)
			continue;
		char name[96] = "";
		cal_model_dof_name(view.model, dof, name, sizeof name);
		snprintf(
			text, size, " (joint \"%s\"%s)", name,
			status == CAL_SINGULAR && is_of_several(view.model, dof)
				? "; if two of its axes are parallel now, that is gimbal lock: start elsewhere, or use a spherical "
				  "joint"
				: "");
		return text;
	}
	return text;
}
