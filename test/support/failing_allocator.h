// SPDX-License-Identifier: Apache-2.0
/*
 * failing_allocator.h — an allocator for tests that counts live blocks and fails on demand.
 *
 * Usage: for k = 1, 2, ...: set fail_at = k, run the call; it must fail cleanly until k exceeds the number of
 * allocations that it makes. live must be back where it was after each failure.
 */
#ifndef CALDER_TEST_FAILING_ALLOCATOR_H
#define CALDER_TEST_FAILING_ALLOCATOR_H

#include <stdlib.h>

#include <calder/base.h>

typedef struct FailingAllocator {
	long live;    // blocks allocated and not yet freed
	long calls;   // allocations asked for since calls was last set to 0
	long fail_at; // this allocation fails (counted by calls, from 1); 0: none
} FailingAllocator;

static inline void *failing_alloc(void *user, size_t size) {
	FailingAllocator *f = user;
	f->calls++;
	if (f->calls == f->fail_at) {
		return NULL;
	}
	void *memory = malloc(size);
	f->live += memory != NULL;
	return memory;
}

static inline void failing_free(void *user, void *memory) {
	FailingAllocator *f = user;
	f->live -= memory != NULL;
	free(memory);
}

static inline CalAllocator failing_allocator(FailingAllocator *f) {
	return (CalAllocator){.alloc = failing_alloc, .free = failing_free, .user = f};
}

#endif
