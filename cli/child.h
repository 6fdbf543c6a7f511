// SPDX-License-Identifier: Apache-2.0
/*
 * child.h — other programs that commands use: started without a shell, each in a process group of its own.
 */
#ifndef CALDER_CLI_CHILD_H
#define CALDER_CLI_CHILD_H

#include <stdbool.h>
#include <stdio.h>
#include <sys/types.h>

typedef struct Child {
	pid_t pid;  // 0: none
	FILE *feed; // its stdin; NULL: none was asked for
} Child;

/**
 * Starts a program that is found by PATH; argv ends in NULL. feeds: its stdin is a pipe, else it is empty; quiet: what it prints
 * is dropped. Returns 0 or the number of the error (ENOENT: there is no such program).
 */
int child_start(Child *child, char *const argv[], bool feeds, bool quiet);
/** Has it ended? Does not wait. */
bool child_ended(Child *child);
/** Closes its stdin and waits. Returns its exit code; -1: a write to it failed, or it was killed. */
int child_wait(Child *child);
/** Ends it and all that it has started. */
void child_kill(Child *child);

#endif
