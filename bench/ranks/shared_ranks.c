// SPDX-License-Identifier: Apache-2.0
/*
 * shared_ranks.c — see shared_ranks.h.
 *
 * Each rank writes to each other one a ring of numbers: tag, count, numbers. A receiver takes messages off the ring in
 * order and keeps those with other tags for later. A gather goes through one common array between two barriers.
 */
#define _GNU_SOURCE // sched_setaffinity

#include "shared_ranks.h"

#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { RING = 1 << 14, COMMON = 1 << 20, LINE = 64, KEPT = 256, SPINS = 2000 };

typedef struct Ring {
	_Alignas(LINE) _Atomic uint64_t written;
	_Alignas(LINE) _Atomic uint64_t read;
	_Alignas(LINE) double x[RING];
} Ring;

typedef struct Shared {
	_Alignas(LINE) _Atomic uint64_t arrived;
	_Alignas(LINE) _Atomic int failed; // some rank has; nobody waits any more
	_Alignas(LINE) double common[COMMON];
	Ring rings[]; // [from][to]
} Shared;

/* A message that came before it was asked for. */
typedef struct Kept {
	int from, tag, count; // count 0: free
	double *x;
} Kept;

typedef struct Rank {
	int rank, size;
	Shared *shared;
	uint64_t meetings;
	Kept kept[KEPT];
	uint64_t order[KEPT], next; // in which they came
} Rank;

static void pause_spin(const Rank *rank, int spin) {
	if (spin > SPINS || shared_ranks_processors() < rank->size)
		sched_yield();
}

static Ring *ring_of(const Rank *rank, int from, int to) {
	return &rank->shared->rings[(size_t)from * (size_t)rank->size + (size_t)to];
}

static int send_numbers(void *user, int to, int tag, const double *x, int count) {
	Rank *rank = user;
	Ring *ring = ring_of(rank, rank->rank, to);
	uint64_t at = atomic_load_explicit(&ring->written, memory_order_relaxed);
	for (int spin = 0; at + (uint64_t)count + 2 - atomic_load_explicit(&ring->read, memory_order_acquire) > RING;
	     spin++) {
		if (atomic_load(&rank->shared->failed))
			return 1 + to;
		pause_spin(rank, spin);
	}
	ring->x[at++ % RING] = tag;
	ring->x[at++ % RING] = count;
	for (int k = 0; k < count; k++)
		ring->x[at++ % RING] = x[k];
	atomic_store_explicit(&ring->written, at, memory_order_release);
	return 0;
}

/* The next message of the ring; false: there is none. tag and count are filled in; x: room, or NULL: it is kept. */
static bool take_next(Rank *rank, int from, int wanted, double *x, bool *taken) {
	Ring *ring = ring_of(rank, from, rank->rank);
	uint64_t at = atomic_load_explicit(&ring->read, memory_order_relaxed);
	if (at == atomic_load_explicit(&ring->written, memory_order_acquire))
		return false;
	const int tag = (int)ring->x[at++ % RING], count = (int)ring->x[at++ % RING];
	double *to = x;
	*taken = tag == wanted;
	if (!*taken) {
		int k = 0;
		while (k < KEPT - 1 && rank->kept[k].count)
			k++;
		to = realloc(rank->kept[k].x, (size_t)(count + 1) * sizeof *to);
		if (!to)
			abort();
		rank->kept[k] = (Kept){from, tag, count, to};
		rank->order[k] = rank->next++;
	}
	for (int k = 0; k < count; k++)
		to[k] = ring->x[at++ % RING];
	atomic_store_explicit(&ring->read, at, memory_order_release);
	return true;
}

static Kept *find_kept(Rank *rank, int from, int tag) {
	Kept *first = NULL;
	for (int k = 0; k < KEPT; k++) {
		Kept *kept = &rank->kept[k];
		if (kept->count && kept->from == from && kept->tag == tag &&
		    (!first || rank->order[k] < rank->order[first - rank->kept]))
			first = kept;
	}
	return first;
}

static int receive_numbers(void *user, int from, int tag, double *x, int count) {
	Rank *rank = user;
	Kept *kept = find_kept(rank, from, tag);
	if (kept) {
		memcpy(x, kept->x, (size_t)count * sizeof *x);
		kept->count = 0;
		return 0;
	}
	bool taken = false;
	for (int spin = 0; !taken; spin++) {
		if (take_next(rank, from, tag, x, &taken))
			continue;
		if (atomic_load(&rank->shared->failed))
			return 1 + from;
		pause_spin(rank, spin);
	}
	return 0;
}

static int meet(Rank *rank) {
	Shared *shared = rank->shared;
	const uint64_t all = ++rank->meetings * (uint64_t)rank->size;
	atomic_fetch_add(&shared->arrived, 1);
	for (int spin = 0; atomic_load_explicit(&shared->arrived, memory_order_acquire) < all; spin++) {
		if (atomic_load(&shared->failed))
			return -1;
		pause_spin(rank, spin);
	}
	return 0;
}

static int gather_numbers(void *user, const int *starts, double *x) {
	Rank *rank = user;
	const size_t own = (size_t)(starts[rank->rank + 1] - starts[rank->rank]);
	if (starts[rank->size] > COMMON)
		return -1;
	memcpy(rank->shared->common + starts[rank->rank], x + starts[rank->rank], own * sizeof *x);
	if (meet(rank) != 0)
		return -1;
	memcpy(x, rank->shared->common, (size_t)starts[rank->size] * sizeof *x);
	return meet(rank);
}

int shared_ranks_processors(void) {
	static int known;
	cpu_set_t allowed;
	if (!known)
		known = sched_getaffinity(0, sizeof allowed, &allowed) == 0 ? CPU_COUNT(&allowed) : 1;
	return known;
}

/* The processor of a rank among those that are allowed. */
static void pin(int rank) {
	cpu_set_t allowed, own;
	if (sched_getaffinity(0, sizeof allowed, &allowed) != 0 || rank >= CPU_COUNT(&allowed))
		return;
	int cpu = 0;
	for (int seen = -1; cpu < CPU_SETSIZE; cpu++) {
		seen += CPU_ISSET((size_t)cpu, &allowed) != 0;
		if (seen == rank)
			break;
	}
	CPU_ZERO(&own);
	CPU_SET((size_t)cpu, &own);
	sched_setaffinity(0, sizeof own, &own);
}

static int work(Shared *shared, int rank, int size, SharedRankFn run, void *user) {
	static Rank own; // of this process
	own = (Rank){.rank = rank, .size = size, .shared = shared};
	const CalTransport transport = {rank, size, &own, send_numbers, receive_numbers, gather_numbers};
	const int failed = run(user, &transport);
	if (failed)
		atomic_store(&shared->failed, 1);
	return failed;
}

int shared_ranks_run(int size, SharedRankFn run, void *user) {
	const size_t bytes = sizeof(Shared) + (size_t)(size * size) * sizeof(Ring);
	Shared *shared = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	pid_t *children = calloc((size_t)size, sizeof *children);
	cpu_set_t before;
	if (shared == MAP_FAILED || !children)
		return 1;
	shared_ranks_processors();
	sched_getaffinity(0, sizeof before, &before);
	for (int r = 1; r < size; r++) {
		children[r] = fork();
		if (children[r] == 0) {
			pin(r);
			_exit(work(shared, r, size, run, user));
		}
	}
	pin(0);
	int failed = work(shared, 0, size, run, user);
	for (int r = 1; r < size; r++) {
		int status = 1;
		failed |= children[r] < 0 || waitpid(children[r], &status, 0) < 0 || status != 0;
	}
	sched_setaffinity(0, sizeof before, &before);
	free(children);
	munmap(shared, bytes);
	return failed;
}
