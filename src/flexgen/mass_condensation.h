// SPDX-License-Identifier: Apache-2.0
/*
 * mass_condensation.h — many moving particles replaced by a few with the same inertia.
 *
 * Every inertia term of a modal body without rotary inertia is a sum over particles of products of two of the 4 + 3m
 * functions 1, x, y, z and the components of the shapes [THEORY 2.2]. So any set of particles with the same matrix of
 * these sums is the same body, for any motion and any deflection, and as many particles as the matrix has rank are
 * enough: G = L L' with L turned so that the entries of the function 1 are equal; the columns are the particles.
 */
#ifndef CALDER_FLEXGEN_MASS_CONDENSATION_H
#define CALDER_FLEXGEN_MASS_CONDENSATION_H

#include "flexgen/inertia_gram.h"

/* A set of particles with m shapes. */
typedef struct MassPoints {
	int count, modes;
	double *mass; // [count]
	double *f;    // [count][3 + 3 modes]: position, then phi[3][modes]
} MassPoints;

/** Particles that mass_points_condense() makes at most. */
int mass_points_limit(int modes);

/**
 * The particles with the sums of a solved Gram matrix, whose functions are 1, position from com, and the shapes;
 * room for mass_points_limit() of them, few->modes is not touched.
 */
void mass_points_of_gram(InertiaGram *g, const double com[3], MassPoints *few);

/** Fills *few (room for mass_points_limit() particles). CAL_ERR_MEMORY; CAL_NOT_CONVERGED or CAL_NOT_FINITE. */
CalStatus mass_points_condense(const MassPoints *many, MassPoints *few);

#endif
