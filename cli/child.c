// SPDX-License-Identifier: Apache-2.0
/*
 * child.c — see child.h.
 */
#define _GNU_SOURCE // pipe2

#include "child.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

/* What the program finds as its first three files. ends: of the pipe; NULL: no input. */
static void set_files(posix_spawn_file_actions_t *actions, const int *ends, bool quiet) {
	posix_spawn_file_actions_init(actions);
	if (ends)
		posix_spawn_file_actions_adddup2(actions, ends[0], STDIN_FILENO);
	else
		posix_spawn_file_actions_addopen(actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
	if (!quiet)
		return;
	posix_spawn_file_actions_addopen(actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
	posix_spawn_file_actions_addopen(actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
}

int child_start(Child *child, char *const argv[], bool feeds, bool quiet) {
	int ends[2];
	*child = (Child){0};
	if (feeds && pipe2(ends, O_CLOEXEC) != 0)
		return errno;
	posix_spawn_file_actions_t actions;
	posix_spawnattr_t attributes;
	set_files(&actions, feeds ? ends : NULL, quiet);
	posix_spawnattr_init(&attributes);
	posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
	const int failed = posix_spawnp(&child->pid, argv[0], &actions, &attributes, argv, environ);
	posix_spawn_file_actions_destroy(&actions);
	posix_spawnattr_destroy(&attributes);
	if (feeds)
		close(ends[0]);
	if (failed) {
		child->pid = 0;
		if (feeds)
			close(ends[1]);
		return failed;
	}
	if (feeds) {
		signal(SIGPIPE, SIG_IGN); // a program that has died is noticed by its exit code
		child->feed = fdopen(ends[1], "w");
	}
	return feeds && !child->feed ? errno : 0;
}

bool child_ended(Child *child) {
	siginfo_t about = {0};
	return child->pid == 0 ||
	       (waitid(P_PID, (id_t)child->pid, &about, WEXITED | WNOHANG | WNOWAIT) == 0 && about.si_pid);
}

int child_wait(Child *child) {
	int status = 0;
	const bool lost = child->feed && ferror(child->feed) != 0;
	const bool closed = !child->feed || fclose(child->feed) == 0;
	while (child->pid > 0 && waitpid(child->pid, &status, 0) < 0 && errno == EINTR)
		;
	*child = (Child){0};
	return !lost && closed && WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

void child_kill(Child *child) {
	if (child->pid > 0)
		kill(-child->pid, SIGKILL);
	child_wait(child);
}
