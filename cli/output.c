// SPDX-License-Identifier: Apache-2.0
/*
 * output.c — see output.h.
 */
#define _GNU_SOURCE // realpath

#include "output.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* ---- writing ----------------------------------------------------------------------------------- */

static int cannot_write(const char *path, int why) {
	char text[256];
	snprintf(text, sizeof text, "cannot be written: %s", strerror(why));
	say_error(path, text);
	return EXIT_INPUT;
}

int output_open(OutputFile *output, const char *path) {
	*output = (OutputFile){.path = path, .stream = stdout};
	if (strcmp(path, "-") == 0)
		return EXIT_OK;
	CalError error = {0};
	const int code = say_status(path, cal_output_open(path, NULL, &output->place, &error), &error);
	if (code != EXIT_OK)
		return code;
	output->stream = fopen(cal_output_part(output->place), "wb");
	if (output->stream)
		return EXIT_OK;
	const int why = errno;
	cal_output_close(output->place);
	return cannot_write(path, why);
}

int output_close(OutputFile *output, int code) {
	errno = 0;
	bool bad = ferror(output->stream) != 0;
	bad |= (output->place ? fclose(output->stream) : fflush(output->stream)) != 0;
	if (bad && code == EXIT_OK)
		code = cannot_write(output->place ? output->path : "<stdout>", errno ? errno : EIO);
	if (code == EXIT_OK && output->place) {
		CalError error = {0};
		code = say_status(output->path, cal_output_publish(output->place, &error), &error);
	}
	cal_output_close(output->place);
	*output = (OutputFile){0};
	return code;
}

/* ---- outputs that would destroy something ------------------------------------------------------ */

/* Devices and pipes may be named twice: nothing is lost by it. */
static bool is_file(const struct stat *info) { return S_ISREG(info->st_mode) || S_ISDIR(info->st_mode); }

/* The folder of a path, and the name in it. */
static const char *split_path(const char *path, char folder[PATH_MAX]) {
	const char *slash = strrchr(path, '/');
	snprintf(folder, PATH_MAX, "%.*s", slash ? (int)(slash - path) + 1 : 1, slash ? path : ".");
	return slash ? slash + 1 : path;
}

static bool is_same_place(const char *a, const char *b) {
	char folder_a[PATH_MAX], folder_b[PATH_MAX];
	struct stat x, y;
	if (strcmp(split_path(a, folder_a), split_path(b, folder_b)) != 0)
		return false;
	return stat(folder_a, &x) == 0 && stat(folder_b, &y) == 0 && x.st_dev == y.st_dev && x.st_ino == y.st_ino;
}

bool is_same_file(const char *a, const char *b) {
	struct stat x, y;
	if (!a || !b || strcmp(a, "-") == 0 || strcmp(b, "-") == 0)
		return false;
	const bool has_a = stat(a, &x) == 0, has_b = stat(b, &y) == 0;
	if (has_a && has_b)
		return is_file(&x) && x.st_dev == y.st_dev && x.st_ino == y.st_ino;
	return !has_a && !has_b && is_same_place(a, b);
}

int output_spares(const char *command, Written output, const char *input, const char *what) {
	if (!is_same_file(output.path, input))
		return EXIT_OK;
	return say_usage(command, "%s %s would overwrite %s (%s); choose another name", output.option, output.path, what,
	                 input);
}

static int spares_sources(const char *command, Written output, const CalSetup *setup) {
	int code = EXIT_OK;
	for (int i = 0; i < cal_setup_source_count(setup) && code == EXIT_OK; i++)
		code = output_spares(command, output, cal_setup_source(setup, i), "a file of the model");
	return code;
}

int output_spares_model(const char *command, Written output, const char *path, const CalSetup *setup) {
	const int code = output_spares(command, output, path, "the model");
	return code == EXIT_OK ? spares_sources(command, output, setup) : code;
}

/* A result file whose model cannot be read is refused where it is shown. */
int output_spares_results(const char *command, Written output, const char *path, const char *what) {
	CalResultsAbout about;
	CalSetup *setup = NULL;
	int code = output_spares(command, output, path, what);
	if (code != EXIT_OK || !path || !output.path || !cal_results_is_hdf5(path) ||
	    cal_results_about(path, &about, NULL) != CAL_OK)
		return code;
	if (cal_model_file_parse(about.model_text, strlen(about.model_text), about.model_name, NULL, &setup, NULL) ==
	    CAL_OK)
		code = spares_sources(command, output, setup);
	cal_setup_destroy(setup);
	cal_results_about_free(&about);
	return code;
}

int outputs_differ(const char *command, const Written *outputs, int count) {
	for (int i = 0; i < count; i++)
		for (int k = 0; k < i; k++)
			if (is_same_file(outputs[i].path, outputs[k].path))
				return say_usage(command, "%s and %s both write %s; give each a file of its own", outputs[k].option,
				                 outputs[i].option, outputs[i].path);
	return EXIT_OK;
}
