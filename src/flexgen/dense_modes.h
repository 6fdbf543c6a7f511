// SPDX-License-Identifier: Apache-2.0
/*
 * dense_modes.h — component-mode synthesis (flexbody/mode_synthesis.h) of a body with dense matrices.
 *
 * The eigenproblem is solved as M v = mu K v, mu = 1/omega^2. The lowest modes are then the largest values and
 * come out to full relative accuracy however stiff the rest is, and massless degrees of freedom do no harm.
 * No library is needed, and the modes have the same bits on every machine.
 */
#ifndef CALDER_FLEXGEN_DENSE_MODES_H
#define CALDER_FLEXGEN_DENSE_MODES_H

#include "flexbody/mode_synthesis.h"

typedef struct DenseBody {
	int n;
	const double *K, *M;       // [n][n] symmetric
	const unsigned char *role; // [n] SynthesisRole
	int modes;                 // at most so many normal modes; < 0: any number
	double max_frequency;      // at most so fast [rad/s]; 0: any
	bool mean;                 // FRAME: rigid motions are taken out by mass (M-orthogonal) instead of at the frame
} DenseBody;

typedef struct DenseModes {
	int shapes;         // static ones first, then normal modes in ascending order
	int statics;        //
	double *shape;      // [shapes][n]; normal modes have unit modal mass
	double *stiffness;  // [shapes][shapes]
	double *frequency;  // [shapes] [rad/s]; 0 for static shapes
	double rigid_error; // strain energy of rigid motions over that of moving the frame alone; 0 if K is right
	int bad_dof;        // CAL_SINGULAR: the degree of freedom whose stiffness is exhausted
	Synthesis synthesis;
	void *memory;
} DenseModes;

/** As synthesis_create(); CAL_NOT_FINITE and CAL_NOT_CONVERGED as they say. */
CalStatus dense_modes_create(const DenseBody *in, DenseModes *out);
void dense_modes_free(DenseModes *modes); // accepts {0}

#endif
