// SPDX-License-Identifier: Apache-2.0
/*
 * mode_synthesis.h — component-mode synthesis: from the stiffness and mass matrices of a body to a few shapes.
 *
 * Every degree of freedom has a role. Normal modes are those of the body with all but the INTERIOR ones at rest;
 * FRAME ones are then released again, rigidly: they say where the body frame sits, and the modes become those of
 * the body that is free in them. UNIT ones give static shapes, one each (Craig and Bampton 1968). So
 *   clamped: the root HELD; pinned: its translations HELD, its rotations FRAME; free: the root FRAME;
 *   Craig-Bampton: the first interface HELD, the others UNIT.
 *
 * With c the interior and b the FRAME or UNIT degrees of freedom:
 *   1. static shapes R = [1; -K_cc^-1 K_cb], of FRAME ones the rigid motions
 *   2. normal modes K_cc v = omega^2 M_cc v, of FRAME ones with the rigid motion taken off
 *   3. the modes below a limit are kept
 * How the matrices are stored and how their modes are found is left to SynthesisMatrices: beams and panels have a few
 * hundred equations and dense matrices (flexgen/dense_modes.h), finite-element models some 10^5 and sparse ones
 * (fe/fe_solver.h) [THEORY 2.4].
 */
#ifndef CALDER_FLEXBODY_MODE_SYNTHESIS_H
#define CALDER_FLEXBODY_MODE_SYNTHESIS_H

#include <stdbool.h>

#include <calder/base.h>

typedef enum SynthesisRole {
	ROLE_INTERIOR,
	ROLE_HELD,  // zero in every shape
	ROLE_FRAME, // zero in every shape, or the mean rigid motion
	ROLE_UNIT,  // one static shape each, otherwise zero; not together with FRAME
} SynthesisRole;

enum { SYNTHESIS_MAX_FRAME = 6 }; // degrees of freedom: a rigid body has no more

typedef struct Synthesis {
	int n;              // degrees of freedom
	int boundary_count; // FRAME or UNIT
	bool frame;         // these are FRAME
	int *boundary;      // [boundary_count] degrees of freedom
	double *R;          // [boundary_count][n] static shapes or rigid motions
	int statics;        // shapes: boundary_count of UNIT, 0 of FRAME
	int modes;          // kept
	double *shape; // [statics + modes][n]: static ones first, then normal modes in ascending order, of modal mass 1
	double *value; // [statics + modes] squared frequencies of the modes [rad^2/s^2]; 0 for static shapes
	double dropped_from; // frequency of the first mode that was found and not kept [rad/s]; 0: none
	int bad_dof;         // CAL_SINGULAR: the degree of freedom whose stiffness is exhausted; otherwise -1
	CalAllocator allocator;
	void *memory;
} Synthesis;

/** The matrices of a body. All vectors have all degrees of freedom. */
typedef struct SynthesisMatrices {
	void *user;
	/** Prepares K_cc for solve(). CAL_SINGULAR: *bad_dof has no stiffness. NULL: there is no b, and K_cc may be singular. */
	CalStatus (*factor)(void *user, int *bad_dof);
	/** x_c = -K_cb of one b: the forces on the interior that its unit displacement causes; x is zero elsewhere. */
	void (*unit_forces)(void *user, int dof, double *x);
	/** x_c = K_cc^-1 x_c; the rest of x stays zero. */
	void (*solve)(void *user, double *x);
	/**
	 * The *count lowest modes with v'Mv = 1, values ascending; *count shrinks if there are fewer with mass. R and what
	 * comes before it in `s` are known.
	 */
	CalStatus (*modes)(void *user, const Synthesis *s, int *count, double *values, double *vectors);
} SynthesisMatrices;

typedef struct SynthesisInput {
	int n;
	const unsigned char *role; // [n] SynthesisRole
	int modes;                 // at most so many normal modes; < 0: any number
	double max_frequency;      // at most so fast [rad/s]; 0: any
} SynthesisInput;

/**
 * CAL_SINGULAR: HELD, FRAME and UNIT leave a motion without stiffness (bad_dof). CAL_ERR_MEMORY; CAL_ERR_ARGUMENT: FRAME
 * and UNIT, or more than six FRAME; otherwise what the matrices return. Fewer modes than asked for is not an error.
 */
CalStatus synthesis_create(const SynthesisInput *in, const SynthesisMatrices *matrices, const CalAllocator *allocator,
                           Synthesis *out);
void synthesis_free(Synthesis *synthesis); // accepts {0}

#endif
