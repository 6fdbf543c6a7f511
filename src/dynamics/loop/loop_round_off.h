// SPDX-License-Identifier: Apache-2.0
/*
 * loop_round_off.h — how far round-off of forces moves the joints of loops.
 */
#ifndef CALDER_DYNAMICS_LOOP_LOOP_ROUND_OFF_H
#define CALDER_DYNAMICS_LOOP_LOOP_ROUND_OFF_H

#include "dynamics/loop/loops.h"

#if CAL_LANES == 1

/* Of all loops, those that share joints taken together. Mobilities are accelerations under a unit force [1/(kg m^2)]. */
typedef struct LoopRoundOff {
	double least;        // 1/D of the heaviest joint; 0: there is none
	double spread;       // by how much 1/D differ
	double moved;        // the largest of the diagonal of M^-1, over the least 1/D
	double acceleration; // what round-off of the forces of loops moves a joint by, at most
} LoopRoundOff;

/*
 * lambda[m] are the forces of the loops, NULL: none. From what the inward sweep of the last forward dynamics, or
 * loop_factor(), has left in work; uses work->articulated.
 */
LoopRoundOff loop_round_off_of(const CalModel *model, const double *lambda, CalWork *work);
#endif

#endif
