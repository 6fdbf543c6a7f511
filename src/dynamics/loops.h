// SPDX-License-Identifier: Apache-2.0
/*
 * loops.h — constraints that close loops: rows and their derivatives, the forces that hold them.
 */
#ifndef CALDER_DYNAMICS_LOOPS_H
#define CALDER_DYNAMICS_LOOPS_H

#include "dynamics/articulated.h"

#if CAL_LANES == 1
/* Directions, values, rates and second derivatives of all rows, from what cal_kinematics left in work: accelerations as
 * far as `accelerated`, otherwise second derivatives are not formed. */
void loop_rows(const CalModel *model, CalWork *work, int accelerated);
/* G from the directions. */
void loop_jacobian(const CalModel *model, CalWork *work);
/* X = M^-1 G' and the factor of G X', prescribed degrees of freedom held (NULL: none); euclidean: with 1 in place of M.
 * rotor as in SweepInput. */
CalStatus loop_factor(const CalModel *model, const double *q, const uint8_t *prescribed, const double *rotor,
                      int euclidean, CalWork *work);
/* lambda = (G M^-1 G')^+ z. */
void loop_solve(const CalModel *model, CalWork *work, const double *z, double *lambda);
/* The multipliers that keep the rows at rest, udot being the accelerations without them. */
CalStatus loop_forces(const CalModel *model, const CalState *state, const uint8_t *prescribed, const double *rotor,
                      const double *udot, CalWork *work);
/* Wrench of a loop on B at the origin of its frame B (KNIFE: on A). */
INLINE spatial loop_wrench(const Loop *loop, const LoopWork *w) {
	spatial sum = spatial_zero();
	for (int row = loop->row; row < loop->row + loop->rows; ++row)
		sum = spatial_madd(sum, w->lambda[row], w->direction[row]);
	return sum;
}
/* Adds the forces of lambda to wrenches at the link origins, and to the generalised forces of modes. */
void loop_act(const CalModel *model, const CalWork *work, spatial *external, double *tau);
#endif

#endif
