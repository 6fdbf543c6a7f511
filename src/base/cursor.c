// SPDX-License-Identifier: Apache-2.0
/*
 * cursor.c — see cursor.h.
 */
#include "base/cursor.h"

#include <stdint.h>
#include <string.h>

#include "base/memory.h"

static size_t alignment_of(const Cursor *cursor) { return cursor->align ? cursor->align : (size_t)MEMORY_ALIGNMENT; }

/* Rounded up to a multiple of align, a power of two; SIZE_MAX: overflow. */
static size_t round_up(size_t size, size_t align) {
	size_t sum;
	return size_add(size, align - 1, &sum) ? sum & ~(align - 1) : SIZE_MAX;
}

void *cursor_array(Cursor *cursor, size_t count, size_t element) {
	const size_t at = round_up(cursor->used, alignment_of(cursor));
	size_t bytes, end;
	if (at == SIZE_MAX || !size_mul(count, element, &bytes) || !size_add(at, bytes, &end))
		end = SIZE_MAX;
	cursor->used = end;
	return cursor->base && end <= cursor->size ? cursor->base + at : NULL;
}

Cursor cursor_over(void *memory, size_t size) { return (Cursor){.base = memory, .size = size}; }

size_t cursor_size(const Cursor *cursor) { return round_up(cursor->used, alignment_of(cursor)); }

void *cursor_alloc_at_start(Cursor *cursor, const CalAllocator *allocator) {
	void *memory = cursor->used < SIZE_MAX ? memory_alloc(allocator, cursor->used) : NULL;
	*cursor = (Cursor){.base = memory, .size = cursor->used, .align = cursor->align};
	return memory;
}

static void *alloc_with(Cursor *cursor, const CalAllocator *allocator,
                        void *(*alloc)(const CalAllocator *allocator, size_t size)) {
	const size_t size = cursor->used, align = alignment_of(cursor);
	size_t padded;
	char *memory = size_add(size, align, &padded) ? alloc(allocator, padded) : NULL;
	*cursor = (Cursor){.size = size, .align = cursor->align};
	if (memory)
		cursor->base = memory + (align - (uintptr_t)memory % align) % align;
	return memory;
}

void *cursor_alloc(Cursor *cursor, const CalAllocator *allocator) {
	return alloc_with(cursor, allocator, memory_alloc);
}

void *cursor_alloc_zeroed(Cursor *cursor, const CalAllocator *allocator) {
	return alloc_with(cursor, allocator, memory_alloc_zeroed);
}

void cursor_clear(const Cursor *cursor) { memset(cursor->base, 0, cursor->size); }
