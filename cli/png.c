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

static pid_t child; // the one that is at work: the command line draws one picture at a time

bool png_is_asked(const char *path) {
	const size_t length = strlen(path);
	return length > 4 && strcmp(path + length - 4, ".png") == 0;
}

FILE *png_open(const char *path) {
	char output[4096];
	int ends[2];
	snprintf(output, sizeof output, "--output=%s", path);
	char *const argv[] = {"rsvg-convert", "--zoom=2", "--background-color=white", output, NULL};
	if (strlen(path) + sizeof "--output=" > sizeof output || pipe2(ends, O_CLOEXEC) != 0) {
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
		say_error(path, failed == ENOENT ? "PNG needs rsvg-convert (Debian: librsvg2-bin); install it, or ask for .svg"
		                                 : strerror(failed));
		return NULL;
	}
	signal(SIGPIPE, SIG_IGN); // a converter that has died is told by its exit code
	return fdopen(ends[1], "w");
}

int png_close(FILE *stream, const char *path) {
	int status = 0;
	const bool bad = ferror(stream) != 0;
	const bool closed = fclose(stream) == 0;
	while (waitpid(child, &status, 0) < 0 && errno == EINTR)
		;
	if (!bad && closed && WIFEXITED(status) && WEXITSTATUS(status) == 0)
		return EXIT_OK;
	say_error(path, WIFEXITED(status) && WEXITSTATUS(status) == 127
	                    ? "PNG needs rsvg-convert (Debian: librsvg2-bin); install it, or ask for .svg"
	                    : "cannot be written: rsvg-convert failed");
	return EXIT_INPUT;
}
