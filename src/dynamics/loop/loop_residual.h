// SPDX-License-Identifier: Apache-2.0
/*
 * loop_residual.h — what accelerations and multipliers leave of the equations of motion and constraints, to twice the digits.
 */
#ifndef CALDER_DYNAMICS_LOOP_LOOP_RESIDUAL_H
#define CALDER_DYNAMICS_LOOP_LOOP_RESIDUAL_H

#include <calder/dynamics.h>
#include "dynamics/loop/loops.h"

#if CAL_LANES == 1
/* Forward dynamics at a state: udot[nu] as found so far, and force[nu] of what is prescribed, or NULL. */
typedef struct LoopRefine {
	const CalState *state;
	const CalInput *input;     // may be NULL
	const uint8_t *prescribed; // may be NULL
	const double *rotor;       // as in SweepInput
	double *udot, *force;
	int at_rest; // nonzero: the forces are those of work->tau and refined.external alone, and rows start from zero
} LoopRefine;

/*
 * With udot and lambda of work->loops.refined: residual[nu] = tau + G'lambda + f - M udot there (prescribed: 0), and what the
 * constraints accelerate by in work->loops.z. With flexible bodies z alone is found, to the digits of double.
 */
void loop_residual(const CalModel *model, const LoopRefine *at, CalWork *work);
#endif

#endif
