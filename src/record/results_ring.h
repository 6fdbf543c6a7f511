// SPDX-License-Identifier: Apache-2.0
/*
 * results_ring.h — records from one thread to another without locks: a ring of numbers.
 *
 * A record is one number that gives its stream and then its row. `head` counts the numbers ever put, `tail` those ever
 * taken; each is written by one side only. Each side keeps what it last saw of the other's, and reads it again only when
 * that does not suffice. Releasing a counter publishes the numbers before it.
 */
#ifndef CALDER_RECORD_RESULTS_RING_H
#define CALDER_RECORD_RESULTS_RING_H

#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>

enum { RING_CACHE_LINE = 64 };

typedef struct Ring {
	double *numbers; // [capacity]
	size_t capacity; // a power of two
	char pad0[RING_CACHE_LINE];
	atomic_size_t head; // the producer's
	size_t tail_seen;
	char pad1[RING_CACHE_LINE];
	atomic_size_t tail; // the consumer's
	size_t head_seen;
} Ring;

static inline void ring_copy_in(Ring *ring, size_t at, const double *from, size_t count) {
	size_t place = at & (ring->capacity - 1), first = ring->capacity - place;
	first = first < count ? first : count;
	memcpy(ring->numbers + place, from, first * sizeof *from);
	memcpy(ring->numbers, from + first, (count - first) * sizeof *from);
}

static inline void ring_copy_out(const Ring *ring, size_t at, double *to, size_t count) {
	size_t place = at & (ring->capacity - 1), first = ring->capacity - place;
	first = first < count ? first : count;
	memcpy(to, ring->numbers + place, first * sizeof *to);
	memcpy(to + first, ring->numbers, (count - first) * sizeof *to);
}

/** The producer's: puts a record; false: there is no room. */
static inline bool ring_put(Ring *ring, int stream, const double *row, size_t count) {
	size_t head = atomic_load_explicit(&ring->head, memory_order_relaxed);
	if (ring->capacity - (head - ring->tail_seen) < count + 1) {
		ring->tail_seen = atomic_load_explicit(&ring->tail, memory_order_acquire);
		if (ring->capacity - (head - ring->tail_seen) < count + 1)
			return false;
	}
	double word = stream;
	ring_copy_in(ring, head, &word, 1);
	ring_copy_in(ring, head + 1, row, count);
	atomic_store_explicit(&ring->head, head + count + 1, memory_order_release);
	return true;
}

/** The consumer's: the stream of the oldest record, or -1 if there is none. */
static inline int ring_stream(Ring *ring) {
	size_t tail = atomic_load_explicit(&ring->tail, memory_order_relaxed);
	if (tail == ring->head_seen) {
		ring->head_seen = atomic_load_explicit(&ring->head, memory_order_acquire);
		if (tail == ring->head_seen)
			return -1;
	}
	return (int)ring->numbers[tail & (ring->capacity - 1)];
}

/** The consumer's: takes the oldest record, whose row has `count` numbers. */
static inline void ring_take(Ring *ring, double *row, size_t count) {
	size_t tail = atomic_load_explicit(&ring->tail, memory_order_relaxed);
	ring_copy_out(ring, tail + 1, row, count);
	atomic_store_explicit(&ring->tail, tail + count + 1, memory_order_release);
}

#endif
