// SPDX-License-Identifier: Apache-2.0
/*
 * memory.h — memory of build-time objects: allocator with its default, checked sizes, growing arrays.
 *
 * Nothing here is called in a step. Every function that can fail returns NULL or false and has then
 * changed nothing; whoever called it reports CAL_ERR_MEMORY.
 */
#ifndef CALDER_BASE_MEMORY_H
#define CALDER_BASE_MEMORY_H

#include <stdbool.h>

#include <calder/base.h>

enum { MEMORY_ALIGNMENT = 64 }; // of workspaces and integrators: one cache line

/** *allocator, or malloc and free for NULL and {0}. */
CalAllocator allocator_or_default(const CalAllocator *allocator);
/** Both functions are given, or none. */
bool allocator_is_valid(const CalAllocator *allocator);

void *memory_alloc(const CalAllocator *allocator, size_t size); // size 0 gives a valid pointer
/** Zeros. From malloc: large blocks have no pages until they are used, so that what is never used takes no memory. */
void *memory_alloc_zeroed(const CalAllocator *allocator, size_t size);
void memory_free(const CalAllocator *allocator, void *memory); // accepts NULL

/** *product = a * b, *sum = a + b; false on overflow. */
bool size_mul(size_t a, size_t b, size_t *product);
bool size_add(size_t a, size_t b, size_t *sum);

/**
 * The array, moved if need be, with room for `extra` more elements after the first `count`; NULL if
 * memory is short (array and *capacity are then as before). Grows by at least half, so that appending
 * costs amortised O(1).
 */
void *array_reserve(const CalAllocator *allocator, void *array, int count, int extra, int *capacity, size_t element);

/** A copy of a string; NULL on failure. */
char *string_copy(const CalAllocator *allocator, const char *text);

/** From the C library, aligned to MEMORY_ALIGNMENT; released by memory_free_aligned. */
void *memory_alloc_aligned(size_t size);
void memory_free_aligned(void *memory);

#endif
