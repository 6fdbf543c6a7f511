// SPDX-License-Identifier: Apache-2.0
/*
 * dense.h — the same equations by mass matrix and Cholesky.
 */
#ifndef CALDER_DYNAMICS_TREE_DENSE_H
#define CALDER_DYNAMICS_TREE_DENSE_H

#include "dynamics/tree/articulated.h"

/* After forward_outward and wrenches: rhs[nu] = tau - S'(sum of outboard forces needed at udot = 0). */
void dense_gather(const CalModel *model, const SweepInput *in, CalWork *work, double *rhs);

/*
 * After forward_outward and wrenches: udot (and A of the links) from M udot = tau - bias over the free
 * degrees of freedom; force[nu] of prescribed ones, or NULL. Returns the singular DOF, or -1.
 */
int dense_solve(const CalModel *model, const SweepInput *in, CalWork *work, double *udot, double *force);

#endif
