// SPDX-License-Identifier: Apache-2.0
/*
 * clock.c — the wall clock of runs that are paced.
 */
#define _GNU_SOURCE // clock_nanosleep

#include "clock.h"

#include <errno.h>
#include <math.h>
#include <time.h>

#include "interrupt.h"

double clock_now(void) {
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* In slices: a signal that comes just before a sleep begins does not end it, nor one that another thread receives. */
void clock_sleep_until(double when) {
	static const double slice = 0.05; // [s]
	for (double now = clock_now(); now < when && !interrupt_caught(); now = clock_now()) {
		const double until = fmin(when, now + slice);
		const struct timespec t = {(time_t)until, (long)(1e9 * (until - floor(until)))};
		clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL);
	}
}

void clock_pause(double seconds) {
	struct timespec left = {(time_t)seconds, (long)(1e9 * (seconds - floor(seconds)))};
	while (clock_nanosleep(CLOCK_MONOTONIC, 0, &left, &left) == EINTR)
		;
}
