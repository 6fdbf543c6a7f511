// SPDX-License-Identifier: Apache-2.0
/*
 * system_matrices.h — stiffness and damping of a model, and the motions that its loops leave, as dense matrices.
 */
#ifndef CALDER_LINEAR_SYSTEM_MATRICES_H
#define CALDER_LINEAR_SYSTEM_MATRICES_H

#include <calder/closed.h>
#include <calder/linear.h>
#include <stdbool.h>

#include "base/cursor.h"

/**
 * K[nu nu] and C[nu nu] of modes, joint springs and joint dampers. Exact, but for the springs of spherical and user
 * joints, whose forces are differenced about state. at: a state of the model, force: [2 nu], both scratch. C may be NULL.
 */
CalStatus elastic_matrices(const CalModel *model, const CalState *state, CalWork *work, CalState *at, double *force,
                           double *K, double *C);

/** Motions that loops and prescribed dofs leave: u = N v of n independent speeds v. */
typedef struct NullSpace {
	int count, rank;           // n; rank of G over the free speeds
	int *dof;                  // [nu] the first n: independent speeds
	int *dependent;            // [nu] the first rank: dependent speeds
	const double *N;           // [nu n] by rows, N[i n + k]
	double *G, *gamma;         // [rows nu], [rows] at the state
	uint8_t *frozen;           // [nu] what is prescribed
	uint8_t *independent;      // [nu] scratch
	CalProjection *projection; // that has N
} NullSpace;

/** The name of a loop with equations of speeds alone, which leaves more displacements than speeds; NULL: there is none. */
const char *nonholonomic_loop(const CalModel *model);
/** Its arrays in the caller's block, which counts first (base/cursor.h). */
void null_space_layout(const CalModel *model, Cursor *cursor, NullSpace *space);
/** Fills all of it but `frozen`, which is given. */
CalStatus null_space_find(const CalModel *model, const CalState *state, CalWork *work, NullSpace *space);

/** out[n n] = N' A N with A[nu nu]; scratch[nu n]. */
void null_space_project(const NullSpace *space, int nu, const double *A, double *scratch, double *out);

/** How N changes along the motion, by differences. */
typedef struct NullSpaceRates {
	const double *udot;     // [nu] accelerations at the state
	const double *scale;    // [nu] what counts like 1 rad
	CalState at;            // scratch: a state of the model
	double *way;            // [nu] scratch
	double *first, *second; // [nu n] dN/dt and d2N/dt2
} NullSpaceRates;
/**
 * Fills both; *moves false: nothing moves, and they are zero. N of the space is that of another state afterwards: copy it
 * before.
 */
CalStatus null_space_rates(const CalModel *model, const CalState *state, CalWork *work, NullSpace *space,
                           NullSpaceRates *rates, bool *moves);
/** out[n n] += factor N' A X with A[nu nu], N[nu n] and X[nu n]; scratch[nu n]. */
void null_space_add(int nu, int n, const double *N, double factor, const double *A, const double *X, double *scratch,
                    double *out);

#endif
