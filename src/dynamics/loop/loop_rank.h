// SPDX-License-Identifier: Apache-2.0
/*
 * loop_rank.h — which rows of loops are independent: a matter of geometry, whatever the masses [THEORY 5.4].
 *
 * Compliances G M^-1 G' tell a row that nothing moves from one that only heavy links move as little as they tell a singular
 * position from a light link. What is small there is looked at here once more, with the gains of the rows alone: each over
 * the largest that its column could have. Masses and units do not enter.
 */
#ifndef CALDER_DYNAMICS_LOOP_LOOP_RANK_H
#define CALDER_DYNAMICS_LOOP_LOOP_RANK_H

#include "dynamics/loop/loops.h"
#include "model/loop_plan.h"

#if CAL_LANES == 1
/* What is left of a row whose gains were combined with those of others. */
typedef struct LoopRemainder {
	double compliance; // lambda'Lambda lambda: a sum of squares, in which nothing cancels
	double geometric;  // the same sum without masses, over that of the row alone
} LoopRemainder;

/*
 * Of rows lambda (by row offsets) on the columns outboard of a link, of which `alone` [rows of the loop] is of one loop
 * by itself.
 */
LoopRemainder loop_remainder(const CalModel *model, const CalWork *work, int loop, const double *alone,
                             const double *lambda);
/* The largest part of what the columns on its path could move row r by that any of them does, squared. */
double loop_mobility_of_row(const CalModel *model, const CalWork *work, int loop, int r);
/* block (LOOP_STRIDE) = the sum of p p' over the columns on the path of a loop, without masses. */
void loop_geometric_block(const CalModel *model, const CalWork *work, int loop, double *block);
#endif

#endif
