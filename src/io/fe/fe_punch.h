// SPDX-License-Identifier: Apache-2.0
/*
 * fe_punch.h — tables of results in a NASTRAN punch file (SORT1): eigenvectors with their eigenvalues. Other tables are passed
 * over.
 *
 * A table starts with lines "$KEY = value"; $EIGENVALUE = x  MODE = n comes before the displacements of a mode. A point has
 * two lines of 80 columns: number, G or S, three translations; -CONT- and three rotations.
 */
#ifndef CALDER_IO_FE_FE_PUNCH_H
#define CALDER_IO_FE_FE_PUNCH_H

#include "fe/fe_model.h"

typedef struct PunchRow {
	int mode; // index
	long grid;
	double x[6];
} PunchRow;

typedef struct PunchModes {
	CalFeModel *fe;
	double *values; // [count] squared frequencies
	int count, capacity;
	PunchRow *rows;
	int row_count, row_capacity;
	bool in_table, of_mode; // a table is open; it belongs to the last mode
	bool half;              // the rotations of the last row are still to come
} PunchModes;

/** True if the line belongs to a table; *status otherwise than CAL_OK: it is wrong. */
bool punch_take_line(PunchModes *modes, FeText *text, CalStatus *status);
/**
 * Shapes of the model from the tables, once its nodes are sorted; the equations of their grids are numbered by
 * `equation`, which returns -1 for a grid that is unknown and -2 for one too many.
 */
CalStatus punch_complete(const PunchModes *modes, int (*equation)(void *user, long grid, int component), void *user,
                         CalError *error);
void punch_free(PunchModes *modes);

#endif
