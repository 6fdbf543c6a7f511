// SPDX-License-Identifier: Apache-2.0
/*
 * worker_pool.h — threads that work together on one call after another.
 *
 * The caller is worker 0; the others are threads that live as long as the team. Between two calls they watch for the next
 * one, which costs a processor, and go to sleep if it does not come soon. Within a call workers may wait for each other by
 * marks: numbers that only grow, each written by one worker.
 */
#ifndef CALDER_BASE_WORKER_POOL_H
#define CALDER_BASE_WORKER_POOL_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include <calder/base.h>

typedef struct Team Team;
typedef int (*TeamFn)(void *context, int worker);

enum { TEAM_MOST = 256 }; // workers

/** A team of so many workers, the caller among them. pin: each thread but the caller's to a processor of its own. */
CalStatus team_create(int workers, bool pin, const CalAllocator *allocator, Team **team);
void team_destroy(Team *team); // accepts NULL
int team_workers(const Team *team);

/** Gives all threads the scheduling policy and priority of the caller's. CAL_ERR_UNSUPPORTED: not permitted. */
CalStatus team_follow_priority(Team *team);

/**
 * All workers call run(context, worker); returns when all have returned, with the bits that any of them returned. Not from
 * within such a call.
 */
int team_run(Team *team, TeamFn run, void *context);

/* ---- marks ---------------------------------------------------------------------------------- */

/** Whoever holds one beside other things keeps these apart: a line that several write goes to and fro. */
typedef struct TeamMark {
	_Atomic uint64_t at;
} TeamMark;

static inline void team_post(TeamMark *mark, uint64_t at) {
	atomic_store_explicit(&mark->at, at, memory_order_release);
}
static inline bool team_is_posted(const TeamMark *mark, uint64_t at) {
	return atomic_load_explicit(&mark->at, memory_order_acquire) >= at;
}
/** Until the mark is at `at` or beyond. */
void team_wait_long(const TeamMark *mark, uint64_t at);
static inline void team_wait(const TeamMark *mark, uint64_t at) {
	if (!team_is_posted(mark, at))
		team_wait_long(mark, at);
}

#endif
