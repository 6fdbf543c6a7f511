// SPDX-License-Identifier: Apache-2.0
/*
 * turning.h — how displacements change while the configuration that they are counted from moves [THEORY 9.1].
 *
 * A displacement delta of q0 is in the tangent space at q0. Where q0 moves with the speeds u and the displaced configuration
 * with u + nu, delta' = nu + B(u) delta: the axes of rotations turn with the joint. Joints of one degree of freedom have no
 * such terms.
 */
#ifndef CALDER_LINEAR_TURNING_H
#define CALDER_LINEAR_TURNING_H

#include <stdbool.h>

#include <calder/model.h>

#include "base/cursor.h"

typedef struct TurningScratch {
	double *q[2];   // [nq]
	double *u[2];   // [nu]
	double *column; // [nu]
} TurningScratch;

/** Its arrays in the caller's block, which counts first (base/cursor.h). */
void turning_layout(const CalModel *model, Cursor *cursor, TurningScratch *scratch);
/** B[nu nu] at q, by differences in both variables, to about 1e-11 of the fastest speed. false: u and B are zero, B is not set. */
bool turning_matrix(const CalModel *model, const double *q, const double *u, TurningScratch *scratch, double *B);

#endif
