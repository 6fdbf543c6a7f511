// SPDX-License-Identifier: Apache-2.0
/*
 * beam.h — a straight beam in pieces: sections, polynomials on an element, one way of deforming at a time.
 *
 * Sections are symmetric, so stretching, twisting and bending in either plane do not know of one another: each is
 * a family with its own small matrices. An element's fields are polynomials of any degree (nodal functions and
 * bubbles from integrated Legendre polynomials), so few elements give many digits. Mass matrices are sums over
 * Gauss points of a finite number of particles, and those particles become the body's mass nodes: the modal body
 * has the consistent mass matrix exactly, with nothing but point masses [THEORY 2.2].
 */
#ifndef CALDER_FLEXGEN_BEAM_H
#define CALDER_FLEXGEN_BEAM_H

#include <stdbool.h>

#include <calder/flex.h>

#include "flexgen/dense_modes.h"

/* Properties of a cross-section, per length. */
typedef struct SectionValues {
	double EA, GJ, EIy, EIz, kGAy, kGAz;
	double rhoA, rhoIy, rhoIz;
} SectionValues;

SectionValues section_values(const CalSection *section);
/** What is wrong with a section ("the thickness 0.2 exceeds half of ..."), or NULL. */
const char *section_fault(const CalSection *section);
/** At fraction s of the way from a to b: dimensions, or direct properties, vary linearly. */
CalSection section_between(const CalSection *a, const CalSection *b, double s);

enum { GAUSS_MAX = 16 };

/** Nodes in (-1, 1) and weights of n <= GAUSS_MAX points; exact to degree 2n - 1. */
void gauss_rule(int n, double *x, double *w);

typedef enum BeamKind {
	BEAM_SCALAR,     // one continuous field: stretch or twist
	BEAM_EULER,      // deflection with continuous slope, rotation = slope
	BEAM_TIMOSHENKO, // deflection and rotation independent; rotation one degree lower, which prevents locking
} BeamKind;

enum { BEAM_LOCAL_MAX = 2 * CAL_BEAM_MAX_ORDER + 1 };

/* The functions of one element at one point: field w, dw/dx, rotation r, dr/dx. SCALAR: r is 0. */
typedef struct BeamBasis {
	int count;
	double w[BEAM_LOCAL_MAX], dw[BEAM_LOCAL_MAX];
	double r[BEAM_LOCAL_MAX], dr[BEAM_LOCAL_MAX];
} BeamBasis;

/** Functions of an element of length h at xi in [-1, 1]: those of its first node, of its second, then bubbles. */
void beam_basis(BeamKind kind, int order, double h, double xi, BeamBasis *out);

typedef enum BeamFamilyId { BEAM_BEND_Y, BEAM_BEND_Z, BEAM_TORSION, BEAM_AXIAL, BEAM_FAMILIES } BeamFamilyId;

/* One way of deforming: its numbering, matrices and shapes. */
typedef struct BeamFamily {
	BeamFamilyId id;
	BeamKind kind;
	int per_node, bubbles; // degrees of freedom of a node; functions inside an element
	int n;
	DenseModes modes;
} BeamFamily;

/* A shape and its derivatives at one place. */
typedef struct BeamPoint {
	double w, dw, r;
} BeamPoint;

/** Assembles K and M of a family and reduces them; limit: at most so many normal modes, < 0: any number. */
CalStatus beam_family_solve(const CalBeamDef *def, BeamFamilyId id, int limit, BeamFamily *family, CalError *error);
/** Value at x of shape k of a solved family. */
BeamPoint beam_family_at(const CalBeamDef *def, const BeamFamily *family, int k, double x);

/** Gauss points per element: enough for consistent masses, also of tapered sections. */
int beam_gauss_count(const CalBeamDef *def);

#endif
