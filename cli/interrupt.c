// SPDX-License-Identifier: Apache-2.0
/*
 * interrupt.c — see interrupt.h.
 */
#define _POSIX_C_SOURCE 200809L // sigaction

#include "interrupt.h"

#include <signal.h>
#include <stddef.h>

static volatile sig_atomic_t caught; // the signal that asks for an end, 0: none

static void note_signal(int number) { caught = number; }

void interrupt_listen(void) {
	struct sigaction action = {.sa_handler = note_signal, .sa_flags = (int)SA_RESETHAND};
	sigemptyset(&action.sa_mask);
	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
}

int interrupt_caught(void) { return caught; }

const volatile int *interrupt_flag(void) { return &caught; }
