// SPDX-License-Identifier: Apache-2.0
/*
 * png.c — pictures as PNG. The other program is started without a shell, and reads what we write from a pipe.
 */
#define _GNU_SOURCE // pipe2

#include "png.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli.h"

/* The picture that is being made: the command line draws one at a time. */
static pid_t child;
static CalOutput *place;

bool png_is_asked(const char *path) {
	const size_t length = strlen(path);
	return length > 4 && strcmp(path + length - 4, ".png") == 0;
}

static const char not_installed[] = "PNG needs rsvg-convert (Debian: librsvg2-bin); install it, or ask for .svg";

/* Starts the converter, which writes to `part`; the stream to it, or NULL after saying why there is none. */
static FILE *start_converter(const char *path, const char *part) {
	char output[4096];
	int ends[2];
	snprintf(output, sizeof output, "--output=%s", part);
	char *const argv[] = {"rsvg-convert", "--zoom=2", "--background-color=white", output, NULL};
	if (strlen(part) + sizeof "--output=" > sizeof output || pipe2(ends, O_CLOEXEC) != 0) {
		say_error(path, "cannot be written: no pipe, or the path is too long");
		return NULL;
	}
	posix_spawn_file_actions_t actions;
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_adddup2(&actions, ends[0], STDIN_FILENO);
	const int failed = posix_spawnp(&child, argv[0], &actions, NULL, argv, environ);
	posix_spawn_file_actions_destroy(&actions);
	close(ends[0]);
	if (failed) {
		close(ends[1]);
		say_error(path, failed == ENOENT ? not_installed : strerror(failed));
		return NULL;
	}
	signal(SIGPIPE, SIG_IGN); // a converter that has died is noticed by its exit code
	return fdopen(ends[1], "w");
}

FILE *png_open(const char *path) {
	CalError error = {0};
	if (say_status(path, cal_output_open(path, NULL, &place, &error), &error) != EXIT_OK)
		return NULL;
	FILE *stream = start_converter(path, cal_output_part(place));
	if (!stream)
		cal_output_close(place);
	return stream;
}

int png_close(FILE *stream, const char *path) {
	int status = 0, code = EXIT_INPUT;
	const bool bad = ferror(stream) != 0;
	const bool closed = fclose(stream) == 0;
	while (waitpid(child, &status, 0) < 0 && errno == EINTR)
		;
	CalError error = {0};
	if (!bad && closed && WIFEXITED(status) && WEXITSTATUS(status) == 0)
		code = say_status(path, cal_output_publish(place, &error), &error);
	else
		say_error(path, WIFEXITED(status) && WEXITSTATUS(status) == 127 ? not_installed
		                                                                : "cannot be written: rsvg-convert failed");
	cal_output_close(place);
	return code;
}
