// SPDX-License-Identifier: Apache-2.0
/*
 * calder/closed.h — closed-chain operators: the mass matrix of a model with its loops held.
 *
 * G u = s' are the rows of the loops (calder/loops.h). Under generalized forces b, at rest and without gravity, a model
 * with loops accelerates by
 *   x = M_c b,   M_c = M^-1 - M^-1 G'(G M^-1 G')^+ G M^-1
 * M_c is symmetric, G M_c = 0. Its products take one sweep over tree and loops each, O(N + rows) where loops are
 * eliminated where they close; light links are refined as in forward dynamics. docs/loops.md
 */
#ifndef CALDER_CLOSED_H
#define CALDER_CLOSED_H

#include <calder/loops.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * Prepares M_c at state->q and state->t. held ([nu] nonzero; NULL: none) do not move: their rows and columns of M_c are
 * zero. Leaves in work what the call below and cal_node_compliance(), cal_node_inertia(), cal_node_pose() and
 * cal_node_jacobian() need; any other call with this work ends that. A model without loops will do.
 */
CAL_API CalStatus cal_closed_factor(const CalModel *model, const CalState *state, const uint8_t *held, CalWork *work);
/** x[nu] = M_c b; x may be b. After cal_closed_factor. Statuses as from forward dynamics. */
CAL_API CalStatus cal_closed_solve(const CalModel *model, CalWork *work, const double *b, double *x);

#ifdef __cplusplus
}
#endif
#endif
