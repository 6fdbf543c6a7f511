// SPDX-License-Identifier: Apache-2.0
/*
 * derivative_loop.h — derivatives with closed loops.
 */
#ifndef CALDER_DERIVATIVE_DERIVATIVE_LOOP_H
#define CALDER_DERIVATIVE_DERIVATIVE_LOOP_H

#include "derivative/derivative_kernels.h"

/* Multipliers after a forward dynamics in d->work, and the constraint equations' Jacobian. */
CalStatus derivative_multipliers(const CalModel *model, const CalState *state, CalDerivatives *d);
/* dq -= d(G'lambda)/dq; d->dz: derivatives of the accelerations of the equations at udot. After the inverse derivatives. */
CalStatus derivative_loop_terms(const CalModel *model, const CalState *state, CalDerivatives *d);
/* After the solve for the tree: dq and du as the loops leave them, and inverse becomes M_c. */
CalStatus derivative_close(const CalModel *model, const CalState *state, const uint8_t *held, CalDerivatives *d);

#endif
