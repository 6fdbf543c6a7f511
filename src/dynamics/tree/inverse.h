// SPDX-License-Identifier: Apache-2.0
/*
 * inverse.h — Newton-Euler sweeps in link axes, over `real`.
 */
#ifndef CALDER_DYNAMICS_TREE_INVERSE_H
#define CALDER_DYNAMICS_TREE_INVERSE_H

#include "dynamics/tree/sweep.h"

/* Outward: motion of every link in its own axes for the accelerations udot (NULL: zero). */
void LANED(inverse_outward)(const CalModel *model, dvec3 gravity, const real *q, const real *u, const real *udot,
                            CalWork *work);
/* Inward: tau[nu] = S'F of the forces that work->local[] holds; rotors not included. */
void LANED(inverse_inward)(const CalModel *model, CalWork *work, real *tau);

#endif
