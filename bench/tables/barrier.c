// SPDX-License-Identifier: Apache-2.0
/*
 * barrier.c — what it costs to call a team of threads and to collect it again, for 2, 4, 8, ... of them.
 *
 * usage: barrier [CALLS]
 */
#define _POSIX_C_SOURCE 200809L // clock_gettime, sysconf
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "base/worker_pool.h"

enum { ROUNDS = 15, MOST = 64 };

static double seconds(void) {
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

typedef struct Place {
	_Alignas(128) ProgressMark mark;
} Place;

typedef struct Ring {
	Place at[MOST];
	uint64_t call;
	int workers;
} Ring;

static int nothing(void *context, int worker) { return (void)context, (void)worker, 0; }

/* A word from worker to worker, and back to the first. */
static int pass_on(void *context, int worker) {
	Ring *ring = context;
	if (worker > 0)
		progress_wait(&ring->at[worker - 1].mark, ring->call);
	progress_post(&ring->at[worker].mark, ring->call);
	return 0;
}

static double best(WorkerPool *pool, WorkerFn run, Ring *ring, int calls) {
	double least = 1;
	for (int round = 0; round < ROUNDS; ++round) {
		const double begin = seconds();
		for (int i = 0; i < calls; ++i) {
			++ring->call;
			worker_pool_run(pool, run, ring);
		}
		const double took = (seconds() - begin) / calls;
		least = took < least ? took : least;
	}
	return least;
}

int main(int argc, char **argv) {
	const int calls = argc > 1 ? atoi(argv[1]) : 2000;
	const long processors = sysconf(_SC_NPROCESSORS_ONLN);
	static Ring ring;
	printf("threads  call and collect [us]  the same, and a word passed from each to the next [us]\n");
	for (int n = 2; n <= processors && n <= MOST; n *= 2) {
		WorkerPool *pool;
		if (calls < 1 || worker_pool_create(n, true, NULL, &pool) != CAL_OK)
			return 1;
		ring.workers = n;
		const double plain = best(pool, nothing, &ring, calls), passed = best(pool, pass_on, &ring, calls);
		printf("%7d  %21.2f  %50.2f\n", n, 1e6 * plain, 1e6 * passed);
		worker_pool_destroy(pool);
	}
	return 0;
}
