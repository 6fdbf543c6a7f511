// SPDX-License-Identifier: Apache-2.0
/*
 * pace.c — what a machine makes of a loop of 1 kHz that has nothing to do with Calder: it adds numbers for some time, sleeps
 * until its millisecond is over, and counts when it is late. The measure for what `calder run --real-time` reports there.
 *
 *   pace [SECONDS [WORK_US]]     10, 120
 *
 * Memory is locked and real-time priority taken where that is permitted, as the program does it.
 */
#define _GNU_SOURCE // clock_nanosleep, sched_setscheduler

#include <math.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>

static const double period = 1e-3;

static double wall(void) {
	struct timespec t = {0};
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void sleep_until(double when) {
	const struct timespec t = {(time_t)when, (long)(1e9 * (when - floor(when)))};
	clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL);
}

/* Additions that depend on each other. */
static double work(double x, long count) {
	for (long i = 0; i < count; i++)
		x = x * 0.9999999 + 1e-9;
	return x;
}

/* How many of them take so many seconds, by the quickest of many tries. */
static long calibrate(double seconds) {
	const long count = 100000;
	double best = INFINITY;
	volatile double sink = 1;
	for (int i = 0; i < 100; i++) {
		const double start = wall();
		sink = work(sink, count);
		best = fmin(best, wall() - start);
	}
	return (long)((double)count * seconds / best);
}

int main(int argc, char **argv) {
	const double seconds = argc > 1 ? strtod(argv[1], NULL) : 10;
	const double load = 1e-6 * (argc > 2 ? strtod(argv[2], NULL) : 120);
	if (!(seconds > 0 && seconds < 1e5 && load >= 0 && load < period)) {
		fprintf(stderr, "usage: pace [SECONDS [WORK_US]]\n");
		return 2;
	}
	const struct sched_param param = {.sched_priority = sched_get_priority_min(SCHED_FIFO) + 10};
	const int locked = mlockall(MCL_CURRENT | MCL_FUTURE) == 0;
	const int prior = sched_setscheduler(0, SCHED_FIFO, &param) == 0;
	const long count = calibrate(load), cycles = (long)(seconds / period);
	volatile double sink = 1;
	double longest = 0, late = 0;
	long missed = 0;
	const double start = wall();
	for (long k = 1; k <= cycles; k++) {
		const double begin = wall(), due = start + (double)k * period;
		sink = work(sink, count);
		const double end = wall();
		longest = fmax(longest, end - begin);
		if (end > due) {
			missed++;
			late = fmax(late, end - due);
		} else {
			sleep_until(due);
		}
	}
	printf(
		"%ld cycles of 1 ms with %.0f us of work: %ld late (worst by %.3g ms), longest work %.3g ms; memory %s, priority %s\n",
		cycles, 1e6 * load, missed, 1e3 * late, 1e3 * longest, locked ? "locked" : "not locked",
		prior ? "real-time" : "as usual");
	return 0;
}
