// SPDX-License-Identifier: Apache-2.0
/*
 * clock.c — the wall clock of runs that are paced.
 */
#define _GNU_SOURCE // clock_nanosleep

#include "clock.h"

#include <errno.h>
#include <math.h>
#include <time.h>

double clock_now(void) {
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

void clock_sleep_until(double when) {
	const struct timespec t = {(time_t)when, (long)(1e9 * (when - floor(when)))};
	while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL) == EINTR)
		;
}
