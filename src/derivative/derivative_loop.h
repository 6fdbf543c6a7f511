// SPDX-License-Identifier: Apache-2.0
/*
 * derivative_loop.h — derivatives with closed loops.
 */
#ifndef CALDER_DERIVATIVE_DERIVATIVE_LOOP_H
#define CALDER_DERIVATIVE_DERIVATIVE_LOOP_H

#include "derivative/derivative_kernels.h"

/* Multipliers, rank and G, after a forward dynamics in d->work. */
CalStatus derivative_multipliers(const CalModel *model, const CalState *state, CalDerivatives *d);
/* Wrenches of the multipliers among the forces of the subtrees, before the inward sweep. */
void derivative_loop_wrenches(const CalModel *model, const CalState *state, CalDerivatives *d);
/* What their directions change in dq; d->dz: derivatives of the accelerations of the equations at udot. After the sweep. */
void derivative_loop_terms(const CalModel *model, const CalState *state, CalDerivatives *d);
/* After the solve for the tree: dq and du as the loops leave them, and inverse becomes M_c. */
void derivative_close(const CalModel *model, CalDerivatives *d);

#endif
