// SPDX-License-Identifier: Apache-2.0
/*
 * system_matrices.h — stiffness and damping of a model, and the motions that its loops leave, as dense matrices.
 */
#ifndef CALDER_LINEAR_SYSTEM_MATRICES_H
#define CALDER_LINEAR_SYSTEM_MATRICES_H

#include <calder/linear.h>

/**
 * K[nu nu] and C[nu nu] of modes, joint springs and joint dampers. Exact, but for the springs of spherical and user
 * joints, whose forces are differenced about state. at: a state of the model, force: [2 nu], both scratch. C may be NULL.
 */
CalStatus elastic_matrices(const CalModel *model, const CalState *state, CalWork *work, CalState *at, double *force,
                           double *K, double *C);

/** Motions that loops and prescribed dofs leave. The caller has the memory. */
typedef struct NullSpace {
	int count, rank;      // n; rank of G over the free speeds
	int *dof;             // [nu] the first n: independent speeds
	double *N;            // [nu nu] the first nu n: by rows, N[i n + k]
	double *G, *gamma;    // [rows nu], [rows] at the state
	uint8_t *frozen;      // [nu] what is prescribed
	uint8_t *independent; // [nu] speeds
	uint8_t *rows;        // [rows] independent ones
	int *dependent;       // [nu] the first rank: dependent speeds
	double *square;       // [rank rank] scratch
	double *right;        // [rank nu] scratch
} NullSpace;

/** Fills count, rank, G, gamma and which speeds and rows are independent; `frozen` is given. */
CalStatus null_space_count(const CalModel *model, const CalState *state, CalWork *work, NullSpace *space);
/** Fills all of it but `frozen`. */
CalStatus null_space_find(const CalModel *model, const CalState *state, CalWork *work, NullSpace *space);

/** out[n n] = N' A N with A[nu nu]; scratch[nu n]. */
void null_space_project(const NullSpace *space, int nu, const double *A, double *scratch, double *out);

#endif
