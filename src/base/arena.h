// SPDX-License-Identifier: Apache-2.0
/*
 * arena.h — memory taken once, handed out and taken back as a CalAllocator.
 *
 * One block with boundary tags and a list of free pieces; the smallest piece that is large enough is used, and
 * neighbors are joined when they are freed. Memory that is not from the block goes to the fallback allocator when it is
 * freed, so that objects made before can be released through the same allocator.
 */
#ifndef CALDER_BASE_ARENA_H
#define CALDER_BASE_ARENA_H

#include <stdbool.h>

#include <calder/base.h>

typedef struct Arena Arena;

/** NULL if memory is short. size: usable bytes, tags aside. */
Arena *arena_create(const CalAllocator *fallback, size_t size);
void arena_destroy(Arena *arena); // accepts NULL
/** Pieces are aligned to 64 bytes. */
CalAllocator arena_allocator(Arena *arena);
/** From now on everything is taken from the fallback, as if there were no arena; or no more. */
void arena_bypass(Arena *arena, bool on);
/** Where the arena came from. */
CalAllocator arena_allocated_after(const Arena *arena);
/** Bytes in free pieces. */
size_t arena_left(const Arena *arena);

#endif
