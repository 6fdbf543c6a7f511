// SPDX-License-Identifier: Apache-2.0
/*
 * loop_rank.h — which constraint equations are independent: a matter of geometry, whatever the masses [THEORY 5.4].
 *
 * Compliances G M^-1 G' do not distinguish an equation that nothing moves from one that only heavy links move, nor a
 * singular position from a light link. What is small there is examined here once more, by gains without masses: each over
 * the largest that its column could have. Masses and units do not enter.
 */
#ifndef CALDER_DYNAMICS_LOOP_LOOP_RANK_H
#define CALDER_DYNAMICS_LOOP_LOOP_RANK_H

#include "dynamics/loop/loops.h"
#include "model/loop_plan.h"

#if CAL_LANES == 1
/* What is left of an equation whose gains were combined with those of others. */
typedef struct LoopPivot {
	double compliance; // lambda'Lambda lambda: a sum of squares, in which nothing cancels
	double geometric;  // the same sum without masses, over that of the equation alone
} LoopPivot;

/*
 * Of multipliers lambda (by row offsets) on the columns outboard of a link; `alone` [rows] is the part of one loop
 * by itself.
 */
LoopPivot loop_pivot(const CalModel *model, const CalWork *work, int loop, const double *alone, const double *lambda);
/* The largest part of what the columns on its path could move equation r by that any of them does, squared. */
double loop_mobility_of_row(const CalModel *model, const CalWork *work, int loop, int r);
/* block (LOOP_STRIDE) = the sum of p p' over the columns on the path of a loop, without masses. */
void loop_geometric_block(const CalModel *model, const CalWork *work, int loop, double *block);
#endif

#endif
