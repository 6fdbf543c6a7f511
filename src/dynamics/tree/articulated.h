// SPDX-License-Identifier: Apache-2.0
/*
 * articulated.h — the articulated-body recursion over `real`: inputs, and the sweeps that other algorithms
 * build on.
 */
#ifndef CALDER_DYNAMICS_TREE_ARTICULATED_H
#define CALDER_DYNAMICS_TREE_ARTICULATED_H

#include "dynamics/tree/sweep.h"

/* The base of the first link where that is not the ground: it turns, and what it accelerates by is found elsewhere. */
typedef struct SweepBase {
	mat3 R;
	vec3 w;
	spatial A; // for the last sweep, beyond (0, -gravity)
} SweepBase;

/*
 * Loops in the sweeps (dynamics/loop/loop_sweep.c). If all close on the ground, they act before and after the sweeps; with
 * `within`, some close on a link, and these are called on the links that loops reach.
 */
typedef struct LoopHooks {
	int within;
	/* Inward, modes eliminated: loops that close on the link change its inertia and force. */
	void (*close)(const CalModel *model, const Link *link, CalWork *work, ArticulatedBody *total);
	/* Inward, joint eliminated: its open loops move on to the parent. */
	void (*pass)(const CalModel *model, const Link *link, int i, const uint8_t *prescribed, CalWork *work);
	/* Outward, before the joint: the forces of its open loops. */
	void (*apply)(const CalModel *model, const Link *link, CalWork *work);
	/* Outward, with A of the link: multipliers of loops that close on it, then their forces on the modes that it carries. */
	void (*release)(const CalModel *model, const Link *link, CalWork *work, const spatial *A);
} LoopHooks;

/* What acts: all arrays over `real`; pointers may be NULL where the comment says so. */
typedef struct SweepInput {
	const real *q, *u;
	const real *tau;           // [nu] total applied generalized force
	const uint8_t *prescribed; // [nu] NULL: none
	const real *udot;          // [nu] of prescribed degrees of freedom, NULL: zero
	const spatial *external;   // [link_count] external wrenches at the link origins, NULL: none
	const LoopHooks *loops;    // that are eliminated in the sweeps, NULL: none
	const double *rotor;       // [nu] inertia along each degree of freedom beside the bodies', NULL: the model's rotors
	// of a branch (src/component)
	const SweepBase *base;           // NULL: the ground
	const ArticulatedBody *arriving; // [accumulator_count] what other branches bring, NULL: nothing
	ArticulatedBody *leaving;        // what links without a parent bring to the base, at its origin; NULL: nobody asks
	int prepared;                    // sines, cosines and modal coordinates are in work
	// of a component
	int columns; // joints and modes one by one, as component/interface.h wants them
} SweepInput;

/* Outward: poses, and accelerations at udot = 0 (prescribed parts included). */
void LANED(forward_outward)(const CalModel *model, const SweepInput *in, CalWork *work);
/* The same in a field of gravity without prescribed accelerations, for kinematics: nothing of the inertia. */
void LANED(motion_outward)(const CalModel *model, dvec3 gravity, const real *q, const real *u, CalWork *work);
/* What that leaves to do of forward_outward(), where no acceleration is prescribed. */
void LANED(forward_outward_rest)(const CalModel *model, const SweepInput *in, CalWork *work);
/* The same in another field of gravity than the model's. */
void LANED(forward_outward_in)(const CalModel *model, dvec3 gravity, const SweepInput *in, CalWork *work);
/* Inward: articulated inertias, gains, residual forces. Returns the innermost DOF with D <= 0, or -1. */
int LANED(forward_inward)(const CalModel *model, const SweepInput *in, CalWork *work);
/* Outward again: udot and what it adds to the accelerations; force[nu] of prescribed DOFs, or NULL. */
void LANED(forward_accelerate)(const CalModel *model, const SweepInput *in, CalWork *work, real *udot, real *force);

/*
 * Outward poses alone, then inward factorization of M that keeps the articulated inertias. prescribed (NULL: none) are
 * held; rotor (NULL: the model's) as in SweepInput.
 */
void LANED(pose_outward)(const CalModel *model, const real *q, const uint8_t *prescribed, CalWork *work);
int LANED(factor_inward)(const CalModel *model, const uint8_t *prescribed, const double *rotor, CalWork *work);
/* x = M^-1 b with the factors, zero where prescribed; x may be b. Uses work->force and the links' A. */
void LANED(factor_solve)(const CalModel *model, const uint8_t *prescribed, CalWork *work, const real *b, real *x);

#endif
