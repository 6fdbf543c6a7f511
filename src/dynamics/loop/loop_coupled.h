// SPDX-License-Identifier: Apache-2.0
/*
 * loop_coupled.h — accelerations and multipliers by an order in which loops between chains couple few links.
 */
#ifndef CALDER_DYNAMICS_LOOP_LOOP_COUPLED_H
#define CALDER_DYNAMICS_LOOP_LOOP_COUPLED_H

#include "dynamics/loop/loops.h"

#if CAL_LANES == 1
/*
 * After an outward sweep, with equations and z in work->loops: udot, accelerations of links and multipliers, as the sweeps
 * with loops leave them. By the order of CalModel.coupled; where that may cost digits, or there is none, by those sweeps.
 * force[nu] of prescribed dofs, or NULL. Returns the dof that is singular, or -1.
 */
int loop_solve_motion(const CalModel *model, const SweepInput *in, CalWork *work, double *udot, double *force);
#endif

#endif
