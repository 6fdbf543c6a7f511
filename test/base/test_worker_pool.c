// SPDX-License-Identifier: Apache-2.0
/*
 * test_worker_pool.c — threads that work together: every worker takes part in every call, marks order what is written
 * before them, workers that fell asleep come when they are called, a team of more workers than processors is only
 * slower, and so is one whose caller has a priority that the others have not.
 */
#define _GNU_SOURCE // nanosleep, sched_setaffinity

#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "support/failing_allocator.h"
#include "base/worker_pool.h"
#include "support/check.h"

enum { MOST = 12, CALLS = 50 };

static WorkerPool *worker_pool_of(int workers) {
	WorkerPool *pool = NULL;
	assert_int_equal(worker_pool_create(workers, false, NULL, &pool), CAL_OK);
	assert_int_equal(worker_pool_workers(pool), workers);
	return pool;
}

static void rest(double seconds) {
	const struct timespec time = {.tv_nsec = (long)(seconds * 1e9)};
	nanosleep(&time, NULL);
}

/* ---- calls ------------------------------------------------------------------------------------------------------- */

typedef struct Tally {
	int calls[MOST]; // of each worker; only a worker itself writes its own
} Tally;

static int tally(void *context, int worker) {
	((Tally *)context)->calls[worker]++;
	return 1 << worker;
}

static void check_tally(const Tally *t, int workers, int calls) {
	for (int i = 0; i < MOST; i++)
		assert_int_equal(t->calls[i], i < workers ? calls : 0);
}

static void every_worker_takes_part_in_every_call(void **state) {
	(void)state;
	for (int workers = 1; workers <= MOST; workers++) {
		Tally t = {0};
		WorkerPool *pool = worker_pool_of(workers);
		for (int i = 1; i <= CALLS; i++) {
			assert_int_equal(worker_pool_run(pool, tally, &t), (1 << workers) - 1);
			check_tally(&t, workers, i); // all of them have returned
		}
		worker_pool_destroy(pool);
	}
}

static void sleepers_come_when_called(void **state) {
	(void)state;
	static const double pauses[] = {0, 20e-6, 100e-6, 400e-6, 2e-3, 20e-3};
	Tally t = {0};
	WorkerPool *pool = worker_pool_of(4);
	int calls = 0;
	for (int round = 0; round < 4; round++) {
		for (size_t i = 0; i < sizeof pauses / sizeof pauses[0]; i++) {
			rest(pauses[i]);
			worker_pool_run(pool, tally, &t);
			check_tally(&t, 4, ++calls);
		}
	}
	worker_pool_destroy(pool);
}

/* Before the first call, while its workers may still be starting, and after they fell asleep. */
static void a_team_can_leave_at_once(void **state) {
	(void)state;
	for (int i = 0; i < CALLS; i++)
		worker_pool_destroy(worker_pool_of(1 + i % 5));
	WorkerPool *pool = worker_pool_of(3);
	rest(20e-3);
	worker_pool_destroy(pool);
	worker_pool_destroy(NULL);
}

/* ---- marks --------------------------------------------------------------------------------------------------------- */

/* Each worker waits for the one before it, adds to its number, and posts. */
typedef struct Relay {
	struct {
		_Alignas(64) ProgressMark posted;
		long number;
	} at[MOST];
	int workers;
	uint64_t call;
} Relay;

static int pass_on(void *context, int worker) {
	Relay *r = context;
	long carried = 0;
	if (worker > 0) {
		progress_wait(&r->at[worker - 1].posted, r->call);
		carried = r->at[worker - 1].number;
	}
	r->at[worker].number = carried + worker + 1;
	progress_post(&r->at[worker].posted, r->call);
	return 0;
}

/* The other way round: those that are called last go first. */
static int pass_back(void *context, int worker) {
	Relay *r = context;
	long carried = 0;
	if (worker + 1 < r->workers) {
		progress_wait(&r->at[worker + 1].posted, r->call);
		carried = r->at[worker + 1].number;
	}
	r->at[worker].number = carried + worker + 1;
	progress_post(&r->at[worker].posted, r->call);
	return 0;
}

static void marks_order_what_workers_write(void **state) {
	(void)state;
	for (int workers = 2; workers <= MOST; workers += 5) {
		Relay *r = aligned_alloc(64, (sizeof *r + 63) / 64 * 64);
		assert_non_null(r);
		memset(r, 0, sizeof *r);
		r->workers = workers;
		WorkerPool *pool = worker_pool_of(workers);
		for (int i = 0; i < CALLS; i++) {
			r->call++;
			worker_pool_run(pool, pass_on, r);
			assert_int_equal(r->at[workers - 1].number, workers * (workers + 1) / 2);
			r->call++;
			worker_pool_run(pool, pass_back, r);
			assert_int_equal(r->at[0].number, workers * (workers + 1) / 2);
		}
		worker_pool_destroy(pool);
		free(r);
	}
}

/* ---- priority ------------------------------------------------------------------------------------------------------- */

static bool set_policy(int policy) {
	const struct sched_param param = {.sched_priority = sched_get_priority_min(policy)};
	return sched_setscheduler(0, policy, &param) == 0;
}

static int note_policy(void *context, int worker) {
	struct sched_param param;
	return pthread_getschedparam(pthread_self(), &((int *)context)[worker], &param);
}

/* All of them on one processor, so that the caller takes it from the others; without their like only sleep gives it back. */
static void a_caller_of_priority_does_not_starve_the_others(void **state) {
	(void)state;
	cpu_set_t all, one;
	assert_int_equal(sched_getaffinity(0, sizeof all, &all), 0);
	CPU_ZERO(&one);
	CPU_SET((size_t)sched_getcpu(), &one);
	assert_int_equal(sched_setaffinity(0, sizeof one, &one), 0);
	WorkerPool *pool = worker_pool_of(3);
	Relay *r = calloc(1, sizeof *r + 64);
	assert_non_null(r);
	Relay *aligned = (Relay *)(((uintptr_t)r + 63) / 64 * 64);
	aligned->workers = 3;
	const bool permitted = set_policy(SCHED_FIFO);
	for (int i = 0; i < 4 * CALLS; i++) {
		aligned->call++;
		worker_pool_run(pool, i % 2 ? pass_on : pass_back, aligned);
	}
	int policy[MOST] = {0};
	assert_int_equal(worker_pool_follow_priority(pool), CAL_OK);
	assert_int_equal(worker_pool_run(pool, note_policy, policy), 0);
	for (int i = 0; i < 3; i++)
		assert_int_equal(policy[i], permitted ? SCHED_FIFO : SCHED_OTHER);
	assert_true(set_policy(SCHED_OTHER));
	assert_int_equal(worker_pool_follow_priority(pool), CAL_OK);
	worker_pool_destroy(pool);
	free(r);
	assert_int_equal(sched_setaffinity(0, sizeof all, &all), 0);
}

/* ---- life ------------------------------------------------------------------------------------------------------------- */

static void limits_and_lack_of_memory_are_reported(void **state) {
	(void)state;
	WorkerPool *pool = NULL;
	FailingAllocator memory = {0};
	const CalAllocator allocator = failing_allocator(&memory);
	assert_int_equal(worker_pool_create(0, true, NULL, &pool), CAL_ERR_ARGUMENT);
	assert_int_equal(worker_pool_create(WORKER_POOL_MAX + 1, true, NULL, &pool), CAL_ERR_ARGUMENT);
	memory.fail_at = 1;
	assert_int_equal(worker_pool_create(2, true, &allocator, &pool), CAL_ERR_MEMORY);
	assert_int_equal(memory.live, 0);
	assert_int_equal(worker_pool_create(2, true, &allocator, &pool), CAL_OK);
	Tally t = {0};
	worker_pool_run(pool, tally, &t);
	check_tally(&t, 2, 1);
	worker_pool_destroy(pool);
	assert_int_equal(memory.live, 0);
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_worker_takes_part_in_every_call),
		cmocka_unit_test(sleepers_come_when_called),
		cmocka_unit_test(a_team_can_leave_at_once),
		cmocka_unit_test(marks_order_what_workers_write),
		cmocka_unit_test(a_caller_of_priority_does_not_starve_the_others),
		cmocka_unit_test(limits_and_lack_of_memory_are_reported),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
