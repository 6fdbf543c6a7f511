// SPDX-License-Identifier: Apache-2.0
/*
 * fe_mass.h — mass points that have given moments of mass, position and shapes.
 *
 * In the Lagrangian of a modal body [THEORY (2.7)] a mass m_i at p_i with shapes phi_i enters only through sums of m_i
 * times products of two of the numbers z_i = (1, p_i, phi_i): the matrix A = sum m_i z_i z_i', of size 4 + 3 modes.
 * Whatever the mass distribution (consistent mass matrices, integrals of a SID file), any factorization A = BB' whose
 * first row is constant is a set of points with the same A, hence the same body. A pivoted Cholesky factor, turned by
 * one Householder reflection, is such a factorization; all points have the same mass.
 */
#ifndef CALDER_FE_FE_MASS_H
#define CALDER_FE_FE_MASS_H

#include <calder/fe.h>

/** What must be met at rest. Position of z: 0 is the 1, 1..3 are p, 4 + 3a + c is component c of shape a. */
typedef struct FeMoments {
	int modes;
	double mass;
	double first[3];        // sum m p
	double second[3][3];    // sum m p p'
	const double *linear;   // [3][modes] sum m phi
	const double *position; // [modes][3][3] sum m p_c phi_d: odd part exact, even part as well as it is known
	const double *stretch;  // [3][modes] sum m p_c phi_c, a second opinion; NULL: as in position
	const double *modal;    // [modes][modes] M_ee
	const double *full;     // [D][D] an A that is right or close, NULL: not known
} FeMoments;

static inline int fe_moment_size(int modes) { return 4 + 3 * modes; }

/** p p' of a body with this inertia about the same point: tr(J)/2 - J. */
void fe_second_moment(const double inertia[3][3], double second[3][3]);

/* What the points keep besides the kinetic energy at rest, which is always exact. */
typedef enum FeMassQuality {
	FE_MASS_EXACT,   // all moments: every inertia term at any deflection
	FE_MASS_FIRST,   // and what is linear in the deflection, as `position` has it
	FE_MASS_STRETCH, // and the change of inertia by stretching
	FE_MASS_REST,    // nothing more
} FeMassQuality;

/**
 * Points z[count][D], each of mass `mass / count`; count <= D. Where `full` does not have the moments, or no mass
 * distribution has them, what is not needed at rest is changed until it fits: *quality says how. CAL_ERR_INPUT: not even
 * what is needed at rest fits; path is for the message.
 */
CalStatus fe_mass_points(const FeMoments *m, const char *path, const CalAllocator *allocator, double *z, int *count,
                         FeMassQuality *quality, CalError *error);

#endif
