// SPDX-License-Identifier: Apache-2.0
/*
 * projection.h — the map from independent speeds to all speeds, and what is derived from it.
 */
#ifndef CALDER_DYNAMICS_PROJECTION_H
#define CALDER_DYNAMICS_PROJECTION_H

#include <calder/closed.h>
#include "model/work.h"

struct CalProjection {
	const CalModel *model;
	CalAllocator allocator;
	int count;            // independent speeds
	int factored;         // M holds the factor
	double least;         // smallest pivot of the dependent speeds, of equations of length 1: 0 at a dead center
	uint8_t *independent; // [nu]
	uint8_t *held;        // [nu]
	int *speed;           // [count] of a column of X
	int *order;           // [count] columns in the order of elimination
	double *X;            // [nu][count]
	double *drift, *bias; // [nu]
	double *M;            // [count][count] by order: L below the diagonal
	double *D;            // [count] by order
	double *x, *y, *z;    // [nu] scratch
	double *scratch;      // [(count + 2) count] of the least squares of actuation
	int *pivot;           // [count] of the same
	uint8_t *row;         // [count]
};

#if CAL_LANES == 1
/* The same in memory of the caller, aligned for doubles. */
size_t projection_size(const CalModel *model);
CalProjection *projection_init(const CalModel *model, void *memory, size_t size);
/*
 * For chosen independent speeds, none of them held, and equations without drives, which work holds at some state with their
 * Jacobian G: X; drift are the changes of the dependent coordinates that close the loops to first order, bias is that of the
 * state. CAL_SINGULAR: the chosen speeds do not determine the others.
 */
CalStatus projection_refresh(CalProjection *projection, const uint8_t *chosen, CalWork *work);
#endif

#endif
