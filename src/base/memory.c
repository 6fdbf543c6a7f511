// SPDX-License-Identifier: Apache-2.0
/*
 * memory.c — memory of build-time objects; see memory.h.
 *
 * Growing an array allocates a new one and copies, since a user's allocator has no realloc.
 */
#include "base/memory.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

static void *default_alloc(void *user, size_t size) {
	(void)user;
	return malloc(size);
}

static void default_free(void *user, void *memory) {
	(void)user;
	free(memory);
}

CalAllocator allocator_or_default(const CalAllocator *allocator) {
	if (allocator && allocator->alloc) {
		return *allocator;
	}
	return (CalAllocator){.alloc = default_alloc, .free = default_free, .user = NULL};
}

bool allocator_is_valid(const CalAllocator *allocator) {
	return !allocator || (allocator->alloc != NULL) == (allocator->free != NULL);
}

void *memory_alloc(const CalAllocator *allocator, size_t size) {
	return allocator->alloc(allocator->user, size > 0 ? size : 1);
}

void *memory_alloc_zeroed(const CalAllocator *allocator, size_t size) {
	if (allocator->alloc == default_alloc) {
		return calloc(size > 0 ? size : 1, 1);
	}
	void *memory = memory_alloc(allocator, size);
	return memory ? memset(memory, 0, size) : NULL;
}

void memory_free(const CalAllocator *allocator, void *memory) {
	if (memory) {
		allocator->free(allocator->user, memory);
	}
}

bool size_mul(size_t a, size_t b, size_t *product) {
	if (b != 0 && a > SIZE_MAX / b) {
		return false;
	}
	*product = a * b;
	return true;
}

bool size_add(size_t a, size_t b, size_t *sum) {
	if (a > SIZE_MAX - b) {
		return false;
	}
	*sum = a + b;
	return true;
}

/** The capacity to grow to, or 0 if it cannot be an int. */
static int grown_capacity(int count, int extra, int capacity) {
	if (extra > INT_MAX - count) {
		return 0;
	}
	int needed = count + extra;
	int grown = capacity <= INT_MAX - capacity / 2 - 4 ? capacity + capacity / 2 + 4 : INT_MAX;
	return grown > needed ? grown : needed;
}

void *array_reserve(const CalAllocator *allocator, void *array, int count, int extra, int *capacity, size_t element) {
	if (extra <= *capacity - count) {
		return array;
	}
	int grown = grown_capacity(count, extra, *capacity);
	size_t size;
	if (grown == 0 || !size_mul((size_t)grown, element, &size)) {
		return NULL;
	}
	void *memory = memory_alloc(allocator, size);
	if (!memory) {
		return NULL;
	}
	if (count > 0) {
		memcpy(memory, array, (size_t)count * element);
	}
	memory_free(allocator, array);
	*capacity = grown;
	return memory;
}

char *string_copy(const CalAllocator *allocator, const char *text) {
	size_t size = strlen(text) + 1;
	char *copy = memory_alloc(allocator, size);
	if (copy) {
		memcpy(copy, text, size);
	}
	return copy;
}

void *memory_alloc_aligned(size_t size) {
	if (size > SIZE_MAX - MEMORY_ALIGNMENT) {
		return NULL;
	}
	size_t rounded = (size + MEMORY_ALIGNMENT - 1) / MEMORY_ALIGNMENT * MEMORY_ALIGNMENT;
	return aligned_alloc(MEMORY_ALIGNMENT, rounded > 0 ? rounded : MEMORY_ALIGNMENT);
}

void memory_free_aligned(void *memory) { free(memory); }
