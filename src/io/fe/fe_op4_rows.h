// SPDX-License-Identifier: Apache-2.0
/*
 * fe_op4_rows.h — which equation a row of a matrix in an OP4 file is: the file has numbers only, bulk data say the rest.
 *
 * Rows are in the order of NASTRAN: grids and scalar points by ascending number, components 1 to 6 of a grid. If the bulk data
 * have ASET, ASET1, BSET, BSET1, CSET, CSET1, QSET or QSET1 cards, these components alone; otherwise all of them.
 */
#ifndef CALDER_IO_FE_FE_OP4_ROWS_H
#define CALDER_IO_FE_FE_OP4_ROWS_H

#include "fe/fe_model.h"

typedef struct Op4Row {
	long point;
	int component; // 0: a scalar point, 1..6
} Op4Row;

typedef struct Op4Rows {
	CalFeModel *fe;
	Op4Row *all, *chosen; // components of all points; those of the sets
	int all_count, all_capacity, chosen_count, chosen_capacity;
	Op4Row *rows; // one of the two, sorted
	int count;
} Op4Rows;

/** Reads GRID, SPOINT and set cards of a file of bulk data; grids become nodes of the model. */
CalStatus op4_rows_read(Op4Rows *rows, const char *path, CalError *error);
void op4_rows_free(Op4Rows *rows);

#endif
