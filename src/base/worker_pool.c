// SPDX-License-Identifier: Apache-2.0
/*
 * worker_pool.c — the threads of a worker pool.
 *
 * A call is announced by a number that grows, and handed on along a tree: the caller calls workers 1 to FAN, each of these
 * FAN more; those that are done are collected along the same tree. So no cache line is read by more than a few, and the way
 * is log_FAN(workers) long. Who has watched for a while without being called sleeps on a condition; whoever calls a worker
 * checks whether it sleeps. Only then is a lock taken.
 *
 * Within a call a worker that waits watches, then offers its processor to others, and sleeps for moments in the end: one of
 * real-time priority yields only to its like, and a worker of less may need this very processor.
 *
 * Where there are no threads (CALDER_WITHOUT_THREADS, as in WebAssembly) the caller is the only worker.
 */
#if !defined(_GNU_SOURCE)
#define _GNU_SOURCE // pthread_setaffinity_np, sched_getaffinity
#endif
#include "base/memory.h"
#include "base/worker_pool.h"

#ifdef CALDER_WITHOUT_THREADS

struct WorkerPool {
	CalAllocator allocator;
};

/* Nobody else could post the mark. */
void progress_wait_long(const ProgressMark *mark, uint64_t at) {
	(void)mark;
	(void)at;
	CAL_ASSERT(progress_is_posted(mark, at));
}

int worker_pool_run(WorkerPool *pool, WorkerFn run, void *context) {
	(void)pool;
	return run ? run(context, 0) : 0;
}

CalStatus worker_pool_create(int workers, bool pin, const CalAllocator *allocator, WorkerPool **pool) {
	(void)pin;
	if (workers < 1 || workers > WORKER_POOL_MAX)
		return CAL_ERR_ARGUMENT;
	if (workers > 1)
		return CAL_ERR_UNSUPPORTED;
	const CalAllocator a = allocator_or_default(allocator);
	WorkerPool *made = memory_alloc(&a, sizeof *made);
	if (!made)
		return CAL_ERR_MEMORY;
	made->allocator = a;
	*pool = made;
	return CAL_OK;
}

void worker_pool_destroy(WorkerPool *pool) {
	if (!pool)
		return;
	const CalAllocator allocator = pool->allocator;
	memory_free(&allocator, pool);
}

int worker_pool_workers(const WorkerPool *pool) {
	(void)pool;
	return 1;
}

CalStatus worker_pool_follow_priority(WorkerPool *pool) {
	(void)pool;
	return CAL_OK;
}

#else

#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <time.h>

enum {
	FAN = 15,           // workers that one calls
	WATCH = 40000,      // polls before a worker sleeps: some 100 us
	OFFER = 256,        // of these, one in so many offers the processor to others: a worker may need it
	PATIENCE = 1000,    // polls within a call before that is done
	OFFERS = 2000,      // of the processor within a call before a worker sleeps between them: some 500 us
	NAP = 20000,        // [ns]
	LINE = 64,          //
	SIBLINGS_TEXT = 64, // of a file that lists processors
};

typedef struct Worker {
	_Alignas(2 * LINE) ProgressMark called; // number of the last call, written by who calls it
	WorkerFn run;                           // and what to do, NULL: leave; in the same line
	void *argument;                         //
	_Alignas(2 * LINE) ProgressMark done; // of the last one that it and all that it calls have done, written by itself
	int said;                             // what they returned; beside the mark, so that it comes with it
	_Alignas(2 * LINE) _Atomic bool sleeping; //
	WorkerPool *team;
	int index;
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t wake;
} Worker;

struct WorkerPool {
	CalAllocator allocator;
	void *memory;
	Worker *workers;
	int count;
	_Alignas(2 * LINE) uint64_t call; // workers read what is above
};

static void cpu_pause(void) {
#if defined(__x86_64__) || defined(__i386__)
	__builtin_ia32_pause();
#elif defined(__aarch64__)
	__asm__ volatile("yield");
#endif
}

void progress_wait_long(const ProgressMark *mark, uint64_t at) {
	for (int polls = 0; !progress_is_posted(mark, at); polls += polls < PATIENCE + OFFERS) {
		if (polls < PATIENCE)
			cpu_pause();
		else if (polls < PATIENCE + OFFERS)
			sched_yield(); // there may be fewer processors than workers
		else
			nanosleep(&(struct timespec){.tv_nsec = NAP}, NULL);
	}
}

/* ---- calling ---------------------------------------------------------------------------------- */

/*
 * The stores of the call and the reads of `sleeping` must not pass each other, nor their counterparts in sleep_until(). One
 * fence for all of them lets the stores go out side by side. ThreadSanitizer knows no fences.
 */
#if defined(__SANITIZE_THREAD__)
static const memory_order CALL_ORDER = memory_order_seq_cst;
static void call_fence(void) {}
#else
static const memory_order CALL_ORDER = memory_order_release;
static void call_fence(void) { atomic_thread_fence(memory_order_seq_cst); }
#endif

static void wake_worker(Worker *worker) {
	pthread_mutex_lock(&worker->lock);
	pthread_cond_signal(&worker->wake);
	pthread_mutex_unlock(&worker->lock);
}

/* The workers that one calls are [first, the number that it returns). */
static int called_by(const WorkerPool *pool, int worker, int *first) {
	const int end = FAN * worker + FAN + 1;
	*first = FAN * worker + 1;
	return end < pool->count ? end : pool->count;
}

static void call_next(const WorkerPool *pool, int worker, uint64_t call, WorkerFn run, void *argument) {
	int first;
	const int end = called_by(pool, worker, &first);
	if (first >= end)
		return;
	for (int k = first; k < end; ++k) {
		pool->workers[k].run = run;
		pool->workers[k].argument = argument;
		atomic_store_explicit(&pool->workers[k].called.at, call, CALL_ORDER);
	}
	call_fence();
	for (int k = first; k < end; ++k) {
		if (atomic_load_explicit(&pool->workers[k].sleeping, memory_order_seq_cst))
			wake_worker(&pool->workers[k]);
	}
}

static int collect_results(const WorkerPool *pool, int worker, uint64_t call) {
	int first, said = 0;
	const int end = called_by(pool, worker, &first);
	for (int k = first; k < end; ++k) // most are done by now: their lines come side by side
		__builtin_prefetch(&pool->workers[k].done);
	for (int k = first; k < end; ++k) {
		progress_wait(&pool->workers[k].done, call);
		said |= pool->workers[k].said;
	}
	return said;
}

static void sleep_until(Worker *worker, uint64_t call) {
	pthread_mutex_lock(&worker->lock);
	atomic_store_explicit(&worker->sleeping, true, memory_order_seq_cst);
	while (atomic_load_explicit(&worker->called.at, memory_order_seq_cst) < call)
		pthread_cond_wait(&worker->wake, &worker->lock);
	atomic_store_explicit(&worker->sleeping, false, memory_order_seq_cst);
	pthread_mutex_unlock(&worker->lock);
}

static void await_call(Worker *worker, uint64_t call) {
	for (int polls = 0; polls < WATCH; ++polls) {
		if (progress_is_posted(&worker->called, call))
			return;
		if (polls % OFFER == OFFER - 1)
			sched_yield();
		else
			cpu_pause();
	}
	sleep_until(worker, call);
}

static void *worker_main(void *argument) {
	Worker *worker = argument;
	const WorkerPool *pool = worker->team;
	for (uint64_t call = 1;; ++call) {
		await_call(worker, call);
		const WorkerFn run = worker->run;
		void *given = worker->argument;
		call_next(pool, worker->index, call, run, given);
		const int own = run ? run(given, worker->index) : 0;
		worker->said = own | collect_results(pool, worker->index, call);
		progress_post(&worker->done, call);
		if (!run)
			return NULL;
	}
}

int worker_pool_run(WorkerPool *pool, WorkerFn run, void *context) {
	++pool->call;
	call_next(pool, 0, pool->call, run, context);
	const int own = run ? run(context, 0) : 0;
	return own | collect_results(pool, 0, pool->call);
}

/* ---- processors --------------------------------------------------------------------------------- */

/* The first processor of the core that `cpu` is part of; `cpu` itself if nobody says. */
static int first_of_core(int cpu) {
	char path[96], text[SIBLINGS_TEXT] = "";
	snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu%d/topology/thread_siblings_list", cpu);
	FILE *file = fopen(path, "r");
	int first = cpu;
	if (!file)
		return cpu;
	if (!fgets(text, sizeof text, file) || sscanf(text, "%d", &first) != 1)
		first = cpu;
	fclose(file);
	return first;
}

/* Processors that this process may use, one of each core first. Returns their number. */
static int list_processors(const cpu_set_t *allowed, int *list) {
	int count = 0;
	for (int second = 0; second < 2; ++second) {
		for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
			if (CPU_ISSET((size_t)cpu, allowed) && (first_of_core(cpu) != cpu) == second)
				list[count++] = cpu;
		}
	}
	return count;
}

/* Worker i to the i-th processor after that of the caller, where there are enough of them. */
static void pin_workers(const WorkerPool *pool) {
	cpu_set_t allowed;
	int list[CPU_SETSIZE], own = 0;
	if (sched_getaffinity(0, sizeof allowed, &allowed) != 0)
		return;
	const int count = list_processors(&allowed, list), here = sched_getcpu();
	if (count < pool->count)
		return;
	for (int i = 0; i < count; ++i)
		own = list[i] == here ? i : own;
	for (int i = 1; i < pool->count; ++i) {
		cpu_set_t one;
		CPU_ZERO(&one);
		CPU_SET((size_t)list[(own + i) % count], &one);
		pthread_setaffinity_np(pool->workers[i].thread, sizeof one,
		                       &one); // a wish; without it the worker pool works too
	}
}

/* ---- life ----------------------------------------------------------------------------------------- */

static CalStatus start_worker(WorkerPool *pool, int index) {
	Worker *worker = &pool->workers[index];
	worker->team = pool;
	worker->index = index;
	if (pthread_mutex_init(&worker->lock, NULL) != 0)
		return CAL_ERR_MEMORY;
	if (pthread_cond_init(&worker->wake, NULL) != 0) {
		pthread_mutex_destroy(&worker->lock);
		return CAL_ERR_MEMORY;
	}
	if (pthread_create(&worker->thread, NULL, worker_main, worker) != 0) {
		pthread_cond_destroy(&worker->wake);
		pthread_mutex_destroy(&worker->lock);
		return CAL_ERR_MEMORY;
	}
	return CAL_OK;
}

CalStatus worker_pool_create(int workers, bool pin, const CalAllocator *allocator, WorkerPool **pool) {
	if (workers < 1 || workers > WORKER_POOL_MAX)
		return CAL_ERR_ARGUMENT;
	const CalAllocator a = allocator_or_default(allocator);
	char *memory = memory_alloc(&a, sizeof(WorkerPool) + (size_t)workers * sizeof(Worker) + 2 * LINE);
	if (!memory)
		return CAL_ERR_MEMORY;
	char *aligned = memory + 2 * LINE - (uintptr_t)memory % (2 * LINE);
	WorkerPool *made = (WorkerPool *)(void *)aligned;
	*made = (WorkerPool){.allocator = a, .memory = memory, .count = 1};
	made->workers = (Worker *)(void *)(aligned + sizeof(WorkerPool));
	for (int i = 0; i < workers; ++i)
		made->workers[i] = (Worker){0};
	CalStatus status = CAL_OK;
	int started = 1;
	for (int i = 1; i < workers && status == CAL_OK; ++i) {
		status = start_worker(made, i);
		started += status == CAL_OK;
	}
	made->count = started;
	if (status != CAL_OK) {
		worker_pool_destroy(made);
		return status;
	}
	if (pin && workers > 1)
		pin_workers(made);
	*pool = made;
	return CAL_OK;
}

void worker_pool_destroy(WorkerPool *pool) {
	if (!pool)
		return;
	if (pool->count > 1)
		worker_pool_run(pool, NULL, NULL);
	for (int i = 1; i < pool->count; ++i) {
		Worker *worker = &pool->workers[i];
		pthread_join(worker->thread, NULL);
		pthread_cond_destroy(&worker->wake);
		pthread_mutex_destroy(&worker->lock);
	}
	const CalAllocator allocator = pool->allocator;
	memory_free(&allocator, pool->memory);
}

int worker_pool_workers(const WorkerPool *pool) { return pool->count; }

CalStatus worker_pool_follow_priority(WorkerPool *pool) {
	int policy, refused = 0;
	struct sched_param param;
	if (pthread_getschedparam(pthread_self(), &policy, &param) != 0)
		return CAL_ERR_ARGUMENT;
	for (int i = 1; i < pool->count; ++i)
		refused |= pthread_setschedparam(pool->workers[i].thread, policy, &param);
	return refused ? CAL_ERR_UNSUPPORTED : CAL_OK;
}

#endif
