// SPDX-License-Identifier: Apache-2.0
/*
 * fe_nastran.h — matrices of NASTRAN as they come from a file (DMIG cards, OP4): entries by grid and component. Numbering the
 * equations, choosing stiffness and mass, and the differential stiffness per unit load are the same for all of them.
 */
#ifndef CALDER_IO_FE_FE_NASTRAN_H
#define CALDER_IO_FE_FE_NASTRAN_H

#include "fe/fe_model.h"
#include "io/fe/fe_punch.h"

enum { NASTRAN_NAMES = 128 };

/* An entry before the equations are numbered. */
typedef struct NastranEntry {
	long row_node, col_node;
	int row_component, col_component; // 0: scalar, 1..6
	int matrix;                       // which name
	int line;                         // of the file, 0: it has no lines
	double value;
} NastranEntry;

typedef struct NastranName {
	char name[16];
	bool square; // both triangles are given
} NastranName;

typedef struct Nastran {
	CalFeModel *fe;
	CalError *error;
	NastranName names[NASTRAN_NAMES];
	int name_count;
	NastranEntry *entries;
	int entry_count, entry_capacity;
	PunchModes modes; // that take the place of a stiffness
} Nastran;

/** Index of a matrix, -1: there is none. */
int nastran_find(const Nastran *n, const char *name);
/** Adds an entry; CAL_ERR_MEMORY. */
CalStatus nastran_add_entry(Nastran *n, const NastranEntry *entry);
/**
 * Once all is read: equations, K, M, loads and frames of the model; modes instead of K where the file has them alone. Names
 * NULL: the usual ones.
 */
CalStatus nastran_complete(Nastran *n, const char *stiffness, const char *mass);
void nastran_free(Nastran *n);

#endif
