// SPDX-License-Identifier: Apache-2.0
/*
 * name_table.h — a hash table from texts to numbers, which keeps the texts of its owner.
 */
#ifndef CALDER_CLI_NAME_TABLE_H
#define CALDER_CLI_NAME_TABLE_H

#include <stdbool.h>
#include <stddef.h>

typedef struct NameEntry {
	const char *name; // NULL: empty
	int value;
} NameEntry;

typedef struct NameTable {
	NameEntry *entries; // [capacity], linear probing, at most half full
	size_t capacity;    // 0 or a power of two
	size_t count;
} NameTable;

bool name_table_has(const NameTable *table, const char *name);
/** The number of a name, or -1. */
int name_table_find(const NameTable *table, const char *name);
/** Adds a name, which has to outlive the table; one that is there keeps its number. False: out of memory. */
bool name_table_add(NameTable *table, const char *name, int value);
void name_table_free(NameTable *table);

#endif
