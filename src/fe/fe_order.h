// SPDX-License-Identifier: Apache-2.0
/*
 * fe_order.h — the order in which the equations of a finite element model are eliminated: nested dissection.
 *
 * Equations of one node are one point of a graph. A set of points, the separator, is taken out so that the rest falls into
 * two parts without a coupling; the separator is eliminated after both, and each part is split the same way. What is
 * eliminated together is a front; the fronts form a tree, children before their parents.
 */
#ifndef CALDER_FE_FE_ORDER_H
#define CALDER_FE_FE_ORDER_H

#include "fe/fe_model.h"

typedef struct FeFront {
	int first, count;         // points of this front by their place in the order
	int parent;               // -1: none
	int rows_first, rows;     // of FeOrder.rows: later points that couple with this front or its children, ascending
	int columns, row_columns; // equations of its points and of its rows
} FeFront;

typedef struct FeOrder {
	Pool pool;
	int equations;     // inside
	int points;        //
	int *first;        // [points + 1] place of the first equation of a point, in the order of elimination
	int *equation;     // [equations] of the model at each place
	int *place;        // [dof_count] place of an equation of the model, -1: outside
	int *point;        // [dof_count] point of an equation of the model in the order, -1: outside
	FeFront *fronts;   // children before parents
	int front_count;   //
	int *front_of;     // [points]
	int *rows;         // points
	int *row_at;       // parallel to rows: where the equations of that row start in the panel of its front
	int widest_rows;   // greatest number of rows of a front, in equations
	int widest_column; // the same of its columns
} FeOrder;

/** False: out of memory; the order is freed. Held equations, those that `inside` does not mark, are left out. */
bool fe_order_create(FeOrder *order, const CalFeModel *fe, const bool *inside);
void fe_order_free(FeOrder *order); // accepts {0}

#endif
