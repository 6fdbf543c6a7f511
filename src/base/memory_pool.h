// SPDX-License-Identifier: Apache-2.0
/*
 * memory_pool.h — memory that is released all at once: what the readers of files build.
 *
 * A pool is a chain of blocks from a CalAllocator. Nothing is freed singly; pool_free() releases
 * everything, the newest block first.
 */
#ifndef CALDER_BASE_MEMORY_POOL_H
#define CALDER_BASE_MEMORY_POOL_H

#include <calder/base.h>

typedef struct PoolBlock PoolBlock;

typedef struct Pool {
	CalAllocator allocator;
	PoolBlock *last; // the block that is being filled; older ones are linked from it
} Pool;

/** allocator NULL or zero: malloc. */
void pool_init(Pool *pool, const CalAllocator *allocator);
/** Zeroed memory aligned for any type, or NULL. */
void *pool_alloc(Pool *pool, size_t size);
/** The same for count items, NULL on overflow too. A count of 0 gives a valid pointer. */
void *pool_array(Pool *pool, size_t count, size_t size);
/** The same, aligned for pointers and numbers only: nothing is lost between small structs of them. */
void *pool_array_of_words(Pool *pool, size_t count, size_t size);
/** A copy of text[0 .. length-1] with a zero after it, at any address, or NULL. */
char *pool_text(Pool *pool, const char *text, size_t length);
void pool_free(Pool *pool);

#endif
