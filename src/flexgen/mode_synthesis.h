// SPDX-License-Identifier: Apache-2.0
/*
 * mode_synthesis.h — from the stiffness and mass matrices of a body to a few shapes.
 *
 * Every degree of freedom has a role. Normal modes are those of the body with all but the INTERIOR ones at rest;
 * FRAME ones are then released again, rigidly: they say where the body frame sits, and the modes become those of
 * the body that is free in them. UNIT ones give static shapes, one each (Craig and Bampton 1968). So
 *   clamped: the root HELD; pinned: its translations HELD, its rotations FRAME; free: the root FRAME;
 *   Craig-Bampton: the first interface HELD, the others UNIT.
 * No shape is a rigid motion: HELD and FRAME together must leave none, which the factorisation finds out.
 *
 * The eigenproblem is solved as M v = mu K v, mu = 1/omega^2. The lowest modes are then the largest values and
 * come out to full relative accuracy however stiff the rest is, and massless degrees of freedom do no harm.
 */
#ifndef CALDER_FLEXGEN_MODE_SYNTHESIS_H
#define CALDER_FLEXGEN_MODE_SYNTHESIS_H

#include <stdbool.h>

#include <calder/base.h>

typedef enum ReduceRole {
	REDUCE_INTERIOR,
	REDUCE_HELD,  // zero in every shape
	REDUCE_FRAME, // zero in every shape, or the mean rigid motion if `mean`
	REDUCE_UNIT,  // one static shape each, otherwise zero; not together with FRAME
} ReduceRole;

typedef struct ReduceInput {
	int n;
	const double *K, *M;       // [n][n] symmetric
	const unsigned char *role; // [n] ReduceRole
	int modes;                 // at most so many normal modes; < 0: any number
	double max_frequency;      // at most so fast [rad/s]; 0: any
	bool mean;                 // FRAME: rigid motions are taken out by mass (M-orthogonal) instead of at the frame
} ReduceInput;

typedef struct Reduced {
	int shapes;         // static ones first, then normal modes in ascending order
	int statics;        //
	double *shape;      // [n][shapes]; normal modes have unit modal mass
	double *stiffness;  // [shapes][shapes]
	double *frequency;  // [shapes] [rad/s]; 0 for static shapes
	double rigid_error; // strain energy of rigid motions over that of moving the frame alone; 0 if K is right
	int bad_dof;        // CAL_SINGULAR: the degree of freedom whose stiffness is exhausted
	void *memory;
} Reduced;

/**
 * CAL_SINGULAR: HELD, FRAME and UNIT leave a motion without stiffness (bad_dof). CAL_ERR_MEMORY, CAL_ERR_ARGUMENT,
 * CAL_NOT_FINITE and CAL_NOT_CONVERGED as they say. Fewer shapes than asked for is not an error.
 */
CalStatus reduce(const ReduceInput *in, Reduced *out);
void reduced_free(Reduced *reduced); // accepts {0}

#endif
