// SPDX-License-Identifier: Apache-2.0
/*
 * forward_halves.h — forward dynamics in two halves: all up to the last sweep, and that sweep. In between the accelerations
 * of nodes and what further forces on them would do are known (component/interface.h), and such forces can be added.
 */
#ifndef CALDER_DYNAMICS_FORWARD_HALVES_H
#define CALDER_DYNAMICS_FORWARD_HALVES_H

#include "dynamics/forward_implicit.h"
#include "model/work.h"

#if CAL_LANES == 1
/*
 * The first half, with positions and velocities of the links. h not 0: of a linearly implicit step (implicit_hybrid()). Sets
 * STAGE_INWARD; clear where the model cannot be divided so: dense, loops by cut joints, accelerations to be refined.
 */
CalStatus forward_begin(const CalModel *model, const CalState *state, const CalState *elastic, const CalInput *input,
                        double h, CalWork *work);
/* The second half: udot, and the multipliers of loops. After forward_begin() at the same state with the same input. */
CalStatus forward_finish(const CalModel *model, const CalState *state, const CalInput *input, CalWork *work,
                         double *udot);
#endif

#endif
