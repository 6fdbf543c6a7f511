// SPDX-License-Identifier: Apache-2.0
/*
 * name_index.h — from a name to the ids that bear it: a hash table of numbers.
 *
 * The table holds (hash, value) pairs only; the names stay with their owner, who compares them. So
 * it needs no strings of its own, and building a description of N bodies costs O(N), not O(N^2).
 * Values are ids and never 0. A scope (the body of a node, else 0) is hashed together with the name.
 */
#ifndef CALDER_BASE_NAME_INDEX_H
#define CALDER_BASE_NAME_INDEX_H

#include <stdbool.h>

#include <calder/base.h>

typedef struct NameSlot {
	uint32_t hash;
	uint32_t value; // 0: empty
} NameSlot;

typedef struct NameIndex {
	NameSlot *slots;   // [capacity], linear probing, at most half full
	uint32_t capacity; // 0 or a power of two
	uint32_t count;
} NameIndex;

uint32_t name_hash(uint32_t scope, const char *name, size_t length);

/** Makes room for one more; false (and unchanged) if memory is short. */
bool name_index_reserve(const CalAllocator *allocator, NameIndex *index);
bool name_index_reserve_many(const CalAllocator *allocator, NameIndex *index, uint32_t more);
/** Needs the room that was reserved; cannot fail. */
void name_index_insert(NameIndex *index, uint32_t hash, uint32_t value);
void name_index_free(const CalAllocator *allocator, NameIndex *index);

/** Next value with this hash, or 0. *cursor starts as 0 and belongs to one walk. */
uint32_t name_index_next(const NameIndex *index, uint32_t hash, uint32_t *cursor);

/*
 * Names of bodies may hold a '/' (arm1/boom), names of their nodes not: a path "body/node" is cut at the last one, a path
 * "ground/node" after the ground.
 */

/** The '/' at which a path is cut, or NULL. */
const char *name_path_split(const char *path);
/** Whether no '/' stands at an end or beside another, and the name is not in the ground's. */
bool name_slashes_are_sound(const char *name);

#endif
