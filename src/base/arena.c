// SPDX-License-Identifier: Apache-2.0
/*
 * arena.c — see arena.h. A piece is a tag of 64 bytes and its payload, a multiple of 64; pieces follow each other without
 * gaps, the last one is a tag that is never free.
 */
#include "base/arena.h"

#include <string.h>

#include "base/memory.h"

typedef struct Tag {
	_Alignas(MEMORY_ALIGNMENT) size_t size; // of the payload
	struct Tag *before;                     // the piece in front of it, NULL: the first
	struct Tag *next, *last;                // of the free list
	int free;                               //
} Tag;

_Static_assert(sizeof(Tag) == MEMORY_ALIGNMENT, "payloads are aligned as the block is");

struct Arena {
	CalAllocator fallback;
	void *memory; // to be released
	char *base;   // aligned
	size_t size;  // of all pieces
	Tag *list;    // free pieces
	bool bypass;  //
};

static Tag *next_tag(Tag *tag) { return (Tag *)(void *)((char *)(tag + 1) + tag->size); }

static void list_add(Arena *arena, Tag *tag) {
	tag->free = 1;
	tag->last = NULL;
	tag->next = arena->list;
	if (arena->list)
		arena->list->last = tag;
	arena->list = tag;
}

static void list_remove(Arena *arena, Tag *tag) {
	tag->free = 0;
	if (tag->next)
		tag->next->last = tag->last;
	if (tag->last)
		tag->last->next = tag->next;
	else
		arena->list = tag->next;
}

/* Gives what a piece has beyond `size` back, if it is worth a tag. */
static void split_block(Arena *arena, Tag *tag, size_t size) {
	if (tag->size < size + 2 * sizeof(Tag))
		return;
	Tag *rest = (Tag *)(void *)((char *)(tag + 1) + size);
	*rest = (Tag){.size = tag->size - size - sizeof(Tag), .before = tag};
	next_tag(rest)->before = rest;
	tag->size = size;
	list_add(arena, rest);
}

static void *arena_alloc(void *user, size_t size) {
	Arena *arena = user;
	Tag *best = NULL;
	if (arena->bypass)
		return memory_alloc(&arena->fallback, size);
	if (size > arena->size)
		return NULL;
	const size_t rounded = (size + sizeof(Tag) - 1) / sizeof(Tag) * sizeof(Tag);
	for (Tag *tag = arena->list; tag; tag = tag->next) {
		if (tag->size >= rounded && (!best || tag->size < best->size))
			best = tag;
	}
	if (!best)
		return NULL;
	list_remove(arena, best);
	split_block(arena, best, rounded);
	return best + 1;
}

static void arena_free(void *user, void *memory) {
	Arena *arena = user;
	if ((char *)memory < arena->base || (char *)memory >= arena->base + arena->size) {
		memory_free(&arena->fallback, memory);
		return;
	}
	Tag *tag = (Tag *)memory - 1, *after = next_tag(tag);
	if (after->free) {
		list_remove(arena, after);
		tag->size += sizeof(Tag) + after->size;
		next_tag(tag)->before = tag;
	}
	if (tag->before && tag->before->free) {
		Tag *before = tag->before;
		list_remove(arena, before);
		before->size += sizeof(Tag) + tag->size;
		next_tag(before)->before = before;
		tag = before;
	}
	list_add(arena, tag);
}

Arena *arena_create(const CalAllocator *fallback, size_t size) {
	const size_t rounded = (size + sizeof(Tag) - 1) / sizeof(Tag) * sizeof(Tag) + 2 * sizeof(Tag);
	Arena *arena = memory_alloc(fallback, sizeof *arena);
	void *memory = arena ? memory_alloc(fallback, rounded + MEMORY_ALIGNMENT) : NULL;
	if (!memory) {
		memory_free(fallback, arena);
		return NULL;
	}
	// the system gives the pages now, and not when a change needs them
	memset(memory, 0, rounded + MEMORY_ALIGNMENT);
	char *base = memory;
	base += MEMORY_ALIGNMENT - (uintptr_t)base % MEMORY_ALIGNMENT;
	*arena = (Arena){.fallback = *fallback, .memory = memory, .base = base, .size = rounded};
	Tag *first = (Tag *)(void *)base;
	*first = (Tag){.size = rounded - 2 * sizeof(Tag)};
	*next_tag(first) = (Tag){.before = first};
	list_add(arena, first);
	return arena;
}

void arena_destroy(Arena *arena) {
	if (!arena)
		return;
	const CalAllocator fallback = arena->fallback;
	memory_free(&fallback, arena->memory);
	memory_free(&fallback, arena);
}

CalAllocator arena_allocator(Arena *arena) { return (CalAllocator){arena_alloc, arena_free, arena}; }

void arena_bypass(Arena *arena, bool on) { arena->bypass = on; }

CalAllocator arena_allocated_after(const Arena *arena) { return arena->fallback; }

size_t arena_left(const Arena *arena) {
	size_t sum = 0;
	for (const Tag *tag = arena->list; tag; tag = tag->next)
		sum += tag->size;
	return sum;
}
