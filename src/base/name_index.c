// SPDX-License-Identifier: Apache-2.0
/*
 * name_index.c — hash table with linear probing; see name_index.h.
 *
 * The hash is FNV-1a (32 bits), finished by a multiply and shift so that its low bits, which choose
 * the slot, depend on all of it. Nothing is ever removed, so a walk ends at the first empty slot.
 */
#include "base/name_index.h"

#include <string.h>

#include "base/memory.h"

uint32_t name_hash(uint32_t scope, const char *name, size_t length) {
	uint32_t hash = 2166136261u ^ scope;
	hash *= 16777619u;
	for (size_t i = 0; i < length; i++) {
		hash = (hash ^ (unsigned char)name[i]) * 16777619u;
	}
	hash ^= hash >> 16;
	hash *= 0x7feb352du;
	return hash ^ (hash >> 15);
}

void name_index_insert(NameIndex *index, uint32_t hash, uint32_t value) {
	uint32_t mask = index->capacity - 1;
	uint32_t i = hash & mask;
	while (index->slots[i].value != 0) {
		i = (i + 1) & mask;
	}
	index->slots[i] = (NameSlot){.hash = hash, .value = value};
	index->count++;
}

bool name_index_reserve_many(const CalAllocator *allocator, NameIndex *index, uint32_t more) {
	const uint64_t needed = 2 * ((uint64_t)index->count + more);
	if (needed <= index->capacity) {
		return true;
	}
	uint32_t capacity = index->capacity > 0 ? index->capacity : 16;
	while (capacity < needed && capacity <= UINT32_MAX / 2) {
		capacity *= 2;
	}
	size_t size;
	if (capacity < needed || !size_mul(capacity, sizeof(NameSlot), &size)) {
		return false;
	}
	NameIndex grown = {.slots = memory_alloc(allocator, size), .capacity = capacity};
	if (!grown.slots) {
		return false;
	}
	memset(grown.slots, 0, size);
	for (uint32_t i = 0; i < index->capacity; i++) {
		if (index->slots[i].value != 0) {
			name_index_insert(&grown, index->slots[i].hash, index->slots[i].value);
		}
	}
	memory_free(allocator, index->slots);
	*index = grown;
	return true;
}

bool name_index_reserve(const CalAllocator *allocator, NameIndex *index) {
	return name_index_reserve_many(allocator, index, 1);
}

void name_index_free(const CalAllocator *allocator, NameIndex *index) {
	memory_free(allocator, index->slots);
	*index = (NameIndex){0};
}

uint32_t name_index_next(const NameIndex *index, uint32_t hash, uint32_t *cursor) {
	if (index->capacity == 0) {
		return 0;
	}
	uint32_t mask = index->capacity - 1;
	for (;;) {
		const NameSlot *slot = &index->slots[(hash + *cursor) & mask];
		if (slot->value == 0) {
			return 0;
		}
		++*cursor;
		if (slot->hash == hash) {
			return slot->value;
		}
	}
}

const char *name_path_split(const char *path) {
	static const char ground[] = "ground/";
	return strncmp(path, ground, sizeof ground - 1) == 0 ? path + sizeof ground - 2 : strrchr(path, '/');
}

bool name_slashes_are_sound(const char *name) {
	const size_t length = strlen(name);
	return name[0] != '/' && (length == 0 || name[length - 1] != '/') && !strstr(name, "//") &&
	       strncmp(name, "ground/", strlen("ground/")) != 0;
}
