// SPDX-License-Identifier: Apache-2.0
/*
 * converter.c — pictures as PNG and PDF. The other program reads what we write from a pipe.
 */
#include "converter.h"

#include <errno.h>
#include <string.h>

#include "child.h"
#include "cli.h"

/* The picture that is being made: the command line draws one at a time. */
static Child converter;
static CalOutput *place;

static bool ends_in(const char *path, const char *ending) {
	const size_t length = strlen(path), most = strlen(ending);
	return length > most && strcmp(path + length - most, ending) == 0;
}

bool converter_is_asked(const char *path) { return ends_in(path, ".png") || ends_in(path, ".pdf"); }

static void say_not_installed(const char *path) {
	char text[120];
	snprintf(text, sizeof text, "%s needs rsvg-convert (Debian: librsvg2-bin); install it, or ask for .svg",
	         ends_in(path, ".pdf") ? "PDF" : "PNG");
	say_error(path, text);
}

/* Starts the converter, which writes to `part`; false after saying why it does not. */
static bool start_converter(const char *path, const char *part) {
	char output[4096];
	const bool pdf = ends_in(path, ".pdf");
	if (strlen(part) + sizeof "--output=" > sizeof output) {
		say_error(path, "cannot be written: the path is too long");
		return false;
	}
	snprintf(output, sizeof output, "--output=%s", part);
	char *const argv[] = {"rsvg-convert",
	                      pdf ? "--format=pdf" : "--format=png",
	                      pdf ? "--zoom=1" : "--zoom=2",
	                      "--background-color=white",
	                      output,
	                      NULL};
	const int failed = child_start(&converter, argv, true, false);
	if (failed == ENOENT)
		say_not_installed(path);
	else if (failed)
		say_error(path, strerror(failed));
	return failed == 0;
}

FILE *converter_open(const char *path) {
	CalError error = {0};
	if (say_status(path, cal_output_open(path, NULL, &place, &error), &error) != EXIT_OK)
		return NULL;
	if (start_converter(path, cal_output_part(place)))
		return converter.feed;
	cal_output_close(place);
	return NULL;
}

int converter_close(const char *path) {
	int code = EXIT_INPUT;
	const int ended = child_wait(&converter);
	CalError error = {0};
	if (ended == 0)
		code = say_status(path, cal_output_publish(place, &error), &error);
	else if (ended == 127)
		say_not_installed(path);
	else
		say_error(path, "cannot be written: rsvg-convert failed");
	cal_output_close(place);
	return code;
}
