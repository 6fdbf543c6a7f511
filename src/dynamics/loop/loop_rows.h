// SPDX-License-Identifier: Apache-2.0
/*
 * loop_rows.h — from the motion of two frames to the equations of the constraint between them.
 */
#ifndef CALDER_DYNAMICS_LOOP_LOOP_ROWS_H
#define CALDER_DYNAMICS_LOOP_LOOP_ROWS_H

#include "loop/loop_type.h"
#include "model/work.h"

#if CAL_LANES == 1

/* The constraint equations of a loop; returns their number. A coupling reads neither frame. */
int loop_fill(const Loop *loop, const LoopFrame *A, const LoopFrame *B, const LoopContext *at, LoopRow *row);

/* s of a drive, its rate and its acceleration at t. */
void loop_drive_at(const CalDrive *drive, double t, double jet[3]);
/* Whether the loop is driven, not only offset. */
int loop_drives_move(const CalModel *model);
/* What drives supply at t: lambda[rows] times their rates [W]. Redundant equations may share lambda in any way. */
double loop_drives_power(const CalModel *model, double t, const double *lambda);

/* Whether equation i of a loop is one of speeds alone; its value is then zero. */
INLINE int loop_row_is_speed(const Loop *loop, int i) { return i < loop_type(loop->type)->speeds; }

/* What a residual of an equation is large or small beside. */
INLINE double loop_row_unit(const CalModel *model, int row) {
	const Loop *loop = model->loops;
	while (row >= loop->row + loop->rows)
		++loop;
	return loop->unit[row - loop->row];
}

#endif

#endif
