// SPDX-License-Identifier: Apache-2.0
/*
 * memory_pool.c — a chain of blocks; see memory_pool.h.
 *
 * Small requests are cut from the newest block, aligned ones from its front and texts, which need no alignment, from its
 * back; a request larger than a quarter block gets a block of its own, linked after the newest one so that the latter stays
 * in use.
 */
#include "base/memory_pool.h"

#include <stdalign.h>
#include <stdint.h>
#include <string.h>

#include "base/memory.h"

enum { POOL_BLOCK = 16384 };

typedef union Word {
	void *pointer;
	double number;
	int64_t integer;
} Word;

struct PoolBlock {
	PoolBlock *older;
	size_t used, size;                         // of data: the free part is between them
	alignas(max_align_t) unsigned char data[]; //
};

void pool_init(Pool *pool, const CalAllocator *allocator) {
	*pool = (Pool){.allocator = allocator_or_default(allocator)};
}

static PoolBlock *block_new(const Pool *pool, size_t size) {
	size_t whole;
	if (!size_add(sizeof(PoolBlock), size, &whole))
		return NULL;
	PoolBlock *block = memory_alloc(&pool->allocator, whole);
	if (block) {
		block->older = NULL;
		block->used = 0;
		block->size = size;
		memset(block->data, 0, size);
	}
	return block;
}

static int has_room(const PoolBlock *block, size_t size) { return block && block->size - block->used >= size; }

/* A block with room for size bytes, which is the newest one unless they need one of their own; NULL: out of memory. */
static PoolBlock *add_block(Pool *pool, size_t size) {
	const int own = size > POOL_BLOCK / 4;
	PoolBlock *block = block_new(pool, own ? size : POOL_BLOCK);
	if (!block)
		return NULL;
	if (own && pool->last) {
		block->older = pool->last->older;
		pool->last->older = block;
	} else {
		block->older = pool->last;
		pool->last = block;
	}
	return block;
}

/* From the front of a block; unit: a power of two up to the alignment of data. */
static void *alloc_aligned(Pool *pool, size_t size, size_t unit) {
	PoolBlock *block = pool->last;
	const size_t gap = block ? (0 - block->used) & (unit - 1) : 0;
	if (size > SIZE_MAX - unit)
		return NULL;
	if (block && has_room(block, gap + size)) {
		block->used += gap;
	} else {
		block = add_block(pool, size);
		if (!block)
			return NULL;
	}
	void *memory = block->data + block->used;
	block->used += size;
	return memory;
}

void *pool_alloc(Pool *pool, size_t size) { return alloc_aligned(pool, size, alignof(max_align_t)); }

void *pool_array(Pool *pool, size_t count, size_t size) {
	size_t whole;
	return size_mul(count, size, &whole) ? pool_alloc(pool, whole) : NULL;
}

void *pool_array_of_words(Pool *pool, size_t count, size_t size) {
	size_t whole;
	return size_mul(count, size, &whole) ? alloc_aligned(pool, whole, alignof(Word)) : NULL;
}

char *pool_text(Pool *pool, const char *text, size_t length) {
	if (length == SIZE_MAX)
		return NULL;
	PoolBlock *block = has_room(pool->last, length + 1) ? pool->last : add_block(pool, length + 1);
	if (!block)
		return NULL;
	block->size -= length + 1;
	char *copy = (char *)block->data + block->size;
	if (length)
		memcpy(copy, text, length);
	return copy;
}

void pool_free(Pool *pool) {
	for (PoolBlock *block = pool->last; block;) {
		PoolBlock *older = block->older;
		memory_free(&pool->allocator, block);
		block = older;
	}
	pool->last = NULL;
}
