// SPDX-License-Identifier: Apache-2.0
/*
 * loop_refine.h — accelerations of models with loops made good where their compliances have lost digits.
 */
#ifndef CALDER_DYNAMICS_LOOP_LOOP_REFINE_H
#define CALDER_DYNAMICS_LOOP_LOOP_REFINE_H

#include "dynamics/loop/loops.h"

#if CAL_LANES == 1
/* Forward dynamics at a state: udot[nu] as found so far, and force[nu] of what is prescribed, or NULL. */
typedef struct LoopRefine {
	const CalState *state;
	const uint8_t *prescribed; // may be NULL
	const double *rotor;       // as in SweepInput
	double *udot, *force;
} LoopRefine;

/*
 * Takes what the rows still accelerate by out of udot and adds the forces that does it to lambda, again and again as long
 * as it becomes less. The motion is that of the new udot; what is left is in work->loops.left.
 */
void loop_refine(const CalModel *model, const LoopRefine *at, CalWork *work);
#endif

#endif
