// SPDX-License-Identifier: Apache-2.0
/*
 * name_table.c — see name_table.h. The hash is FNV-1a (64 bits), folded so that its low bits depend on all of it.
 */
#include "name_table.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static size_t hash_of(const char *name) {
	uint64_t hash = UINT64_C(0xcbf29ce484222325);
	for (const char *c = name; *c; c++)
		hash = (hash ^ (unsigned char)*c) * UINT64_C(0x100000001b3);
	return (size_t)(hash ^ (hash >> 32));
}

/* Where a name is, or where it would go. */
static NameEntry *entry_of(const NameTable *table, const char *name) {
	size_t i = hash_of(name) & (table->capacity - 1);
	while (table->entries[i].name && strcmp(table->entries[i].name, name) != 0)
		i = (i + 1) & (table->capacity - 1);
	return &table->entries[i];
}

bool name_table_has(const NameTable *table, const char *name) { return table->capacity && entry_of(table, name)->name; }

int name_table_find(const NameTable *table, const char *name) {
	const NameEntry *entry = table->capacity ? entry_of(table, name) : NULL;
	return entry && entry->name ? entry->value : -1;
}

static bool reserve_one(NameTable *table) {
	if (2 * (table->count + 1) <= table->capacity)
		return true;
	NameTable grown = {.capacity = table->capacity ? 2 * table->capacity : 64, .count = table->count};
	grown.entries = calloc(grown.capacity, sizeof *grown.entries);
	if (!grown.entries)
		return false;
	for (size_t i = 0; i < table->capacity; i++)
		if (table->entries[i].name)
			*entry_of(&grown, table->entries[i].name) = table->entries[i];
	free(table->entries);
	*table = grown;
	return true;
}

bool name_table_add(NameTable *table, const char *name, int value) {
	if (!reserve_one(table))
		return false;
	NameEntry *entry = entry_of(table, name);
	if (!entry->name) {
		*entry = (NameEntry){name, value};
		table->count++;
	}
	return true;
}

void name_table_free(NameTable *table) {
	free(table->entries);
	*table = (NameTable){0};
}
