// SPDX-License-Identifier: Apache-2.0
/*
 * cursor.h — several arrays in one block: the one way in which Calder lays out memory.
 *
 * One function describes a layout and runs twice, first with a cursor that only counts, then with one that has the
 * block, so that size and places cannot differ:
 *
 *     static void layout_work(Work *w, Cursor *cursor) {
 *         CURSOR_ARRAY(cursor, w->tau, w->nu);
 *         CURSOR_ARRAY(cursor, w->order, w->rows);
 *     }
 *
 *     Cursor cursor = {0};
 *     layout_work(&w, &cursor);                   // counts
 *     w.memory = cursor_alloc(&cursor, allocator);
 *     if (!w.memory)
 *         return CAL_ERR_MEMORY;
 *     layout_work(&w, &cursor);                   // places
 *
 * A sum that does not fit a size_t cannot be allocated. An array that the block has no room for, which only a bug can
 * cause, is NULL.
 */
#ifndef CALDER_BASE_CURSOR_H
#define CALDER_BASE_CURSOR_H

#include <calder/base.h>

typedef struct Cursor {
	char *base;   // start of the block; NULL: only counts
	size_t used;  // bytes up to the end of the last array; SIZE_MAX: overflow
	size_t size;  // of the block
	size_t align; // of each array, relative to base: a power of two; 0: MEMORY_ALIGNMENT
} Cursor;

/** The next `count` elements, aligned; NULL while counting. A negative int as count is an overflow. */
void *cursor_array(Cursor *cursor, size_t count, size_t element);

/** array = the next `count` elements of its type. */
#define CURSOR_ARRAY(cursor, array, count) ((array) = cursor_array((cursor), (size_t)(count), sizeof *(array)))

/** A cursor over memory that the caller has. */
Cursor cursor_over(void *memory, size_t size);
/** Bytes so far, rounded up to whole units of the alignment; SIZE_MAX: overflow. */
size_t cursor_size(const Cursor *cursor);

/**
 * After counting: takes a block of the bytes counted whose start has the alignment of the arrays, and rewinds the
 * cursor to it. Returns what memory_free() releases, NULL if memory is short. The block is not cleared.
 */
void *cursor_alloc(Cursor *cursor, const CalAllocator *allocator);
/** The same, all zeros, by memory_alloc_zeroed(). */
void *cursor_alloc_zeroed(Cursor *cursor, const CalAllocator *allocator);
/** The same, the block as the allocator gives it (aligned for any type): its first array is what memory_free() releases. */
void *cursor_alloc_at_start(Cursor *cursor, const CalAllocator *allocator);
/** Zeros all bytes of the block. */
void cursor_clear(const Cursor *cursor);

#endif
