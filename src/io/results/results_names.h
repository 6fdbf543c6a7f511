// SPDX-License-Identifier: Apache-2.0
/*
 * results_names.h — the names of all objects of a simulation, as signals use them.
 */
#ifndef CALDER_IO_RESULTS_RESULTS_NAMES_H
#define CALDER_IO_RESULTS_RESULTS_NAMES_H

#include <calder/sim.h>
#include <stdbool.h>

typedef enum NamesKind {
	NAMES_GROUPS,
	NAMES_BODIES,
	NAMES_JOINTS,
	NAMES_NODES, // "body/node", "body" for its own frame
	NAMES_LOOPS,
	NAMES_KIND_COUNT,
} NamesKind;

typedef struct NameList {
	const char **names; // [count]
	int *groups;        // [count] of the simulation
	int count;
	char *text; // memory of names that are put together
} NameList;

const char *names_kind_text(NamesKind kind); // "groups" and so on
/** False: out of memory. */
bool names_list(CalSim *sim, NamesKind kind, const CalAllocator *allocator, NameList *list);
void names_free(NameList *list, const CalAllocator *allocator);

#endif
