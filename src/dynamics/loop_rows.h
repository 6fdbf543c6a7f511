// SPDX-License-Identifier: Apache-2.0
/*
 * loop_rows.h — from the motion of two frames to the rows of the constraint between them.
 */
#ifndef CALDER_DYNAMICS_LOOP_ROWS_H
#define CALDER_DYNAMICS_LOOP_ROWS_H

#include "model/model.h"

#if CAL_LANES == 1

/* A frame of a loop in the world. */
typedef struct LoopFrame {
	mat3 R;
	vec3 r, w, v, al, a;
} LoopFrame;

/* A row: its direction is the wrench at the loop's point on node `plus` per unit of its multiplier. */
typedef struct LoopRow {
	spatial direction;
	double value, rate, acceleration;
} LoopRow;

/* Rows of a loop; returns their number. */
int loop_fill(const Loop *loop, const LoopFrame *A, const LoopFrame *B, LoopRow *row);

#endif

#endif
