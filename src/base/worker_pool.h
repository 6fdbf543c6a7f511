// SPDX-License-Identifier: Apache-2.0
/*
 * worker_pool.h — threads that work together on one call after another.
 *
 * The caller is worker 0; the others are threads that live as long as the worker pool. Between two calls they watch for
 * the next one, which costs a processor, and go to sleep if it does not come soon. Within a call workers may wait for
 * each other by marks: numbers that only grow, each written by one worker.
 */
#ifndef CALDER_BASE_WORKER_POOL_H
#define CALDER_BASE_WORKER_POOL_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include <calder/base.h>
#include "base/assert.h"

typedef struct WorkerPool WorkerPool;
typedef int (*WorkerFn)(void *context, int worker);

enum { WORKER_POOL_MAX = 256 }; // workers

/**
 * A worker pool of so many workers, the caller among them. pin: each thread but the caller's to a processor of its own.
 * CAL_ERR_UNSUPPORTED: this build has no threads, and more than one worker is wanted.
 */
CalStatus worker_pool_create(int workers, bool pin, const CalAllocator *allocator, WorkerPool **pool);
void worker_pool_destroy(WorkerPool *pool); // accepts NULL
int worker_pool_workers(const WorkerPool *pool);

/** Gives all threads the scheduling policy and priority of the caller's. CAL_ERR_UNSUPPORTED: not permitted. */
CalStatus worker_pool_follow_priority(WorkerPool *pool);

/**
 * All workers call run(context, worker); returns when all have returned, with the bits that any of them returned. Not from
 * within such a call.
 */
int worker_pool_run(WorkerPool *pool, WorkerFn run, void *context);

/* ---- marks ---------------------------------------------------------------------------------- */

/** Whoever holds one beside other things keeps these apart: a cache line that several threads write moves between their cores. */
typedef struct ProgressMark {
	_Atomic uint64_t at;
} ProgressMark;

/** Once per `at`, by the one thread that the mark belongs to. */
static inline void progress_post(ProgressMark *mark, uint64_t at) {
	CAL_ASSERT(atomic_load_explicit(&mark->at, memory_order_relaxed) < at);
	atomic_store_explicit(&mark->at, at, memory_order_release);
}
static inline bool progress_is_posted(const ProgressMark *mark, uint64_t at) {
	return atomic_load_explicit(&mark->at, memory_order_acquire) >= at;
}
/** Until the mark is at `at` or beyond. */
void progress_wait_long(const ProgressMark *mark, uint64_t at);
static inline void progress_wait(const ProgressMark *mark, uint64_t at) {
	if (!progress_is_posted(mark, at))
		progress_wait_long(mark, at);
}

#endif
