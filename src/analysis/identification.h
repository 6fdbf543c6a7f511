// SPDX-License-Identifier: Apache-2.0
/*
 * identification.h — equations A pi = y of a recording and what they determine [THEORY 10.6].
 *
 * Each class of equations (one for each degree of freedom) is kept as the triangular factor of [A y]. Weighted and with columns
 * of unit length, s, in an order that begins with independent ones, the equations are
 *   [R1 R1 K | c]:  R1 b = c,  b = p_i + K p_d,  p = s pi
 * b are the combinations that are determined, z = p_d the parameters that follow from nothing but the prior. x = (b, z) are
 * the unknowns of the search: the equations do not see z at all, not even by round-off.
 */
#ifndef CALDER_ANALYSIS_IDENTIFICATION_H
#define CALDER_ANALYSIS_IDENTIFICATION_H

#include <stdbool.h>

#include <calder/closed.h>
#include <calder/identify.h>

/* Equations of one degree of freedom. */
typedef struct RowClass {
	double *R; // [(p + 1)(p + 1)] upper triangle; NULL: there are none
	size_t count;
	double variance; // of their residuals
	double force;    // sum of squares of y
} RowClass;

/* A body that is unknown: its pseudo-inertia [Sigma h; h' m], Sigma = sum m r r', near the model's. */
typedef struct InertiaPrior {
	int first;    // of its ten unknowns
	double J[16]; // positive definite: the model's, and something more where that is on the limit
	double inverse[16];
} InertiaPrior;

struct CalIdentification {
	const CalModel *model;
	CalAllocator allocator;
	double friction_speed, prior, tolerance;
	bool unconstrained, solved;
	int nu, body_count, p; // p: unknowns
	struct Unknown {
		CalIdentifiedKind kind;
		int object, index;
	} * unknowns;                // [p]
	double *start;               // [p] values of the model
	RowClass *rows;              // [nu]
	CalDerivatives *derivatives; //
	CalWork *work;               //
	CalProjection *projection;   // NULL: no loops
	double *Y;                   // [nu][10 bodies]
	double *A, *rest;            // [nu][p], [nu] of the present instant: forces are rest + A pi
	double *equation;            // [2 p + 2] one equation; scratch
	int body_unknowns;           // bodies that are unknown
	InertiaPrior *bodies;        // [body_unknowns]
	double *spread;              // [p] scale of friction and rotors
	int rank;                    //
	int *order, *place;          // [p] the first `rank` are independent; place of each unknown in the order
	double *F;              // [(p + 1)(p + 1)] factor in this order, columns scaled; rows from `rank` on: what is left
	double *scale;          // [p] lengths of the columns, by unknown
	double *K;              // [rank][p - rank], scaled
	double *b;              // [p] combinations by least squares, scaled
	double *factor;         // [rank][p] of combinations, by unknown
	double *pi, *deviation; // [p]
	double *combination_deviation; // [p] scaled
	double *x, *gradient, *step;   // [p] of the search
	double *next, *slope, *vector; // [p]
	double *data;                  // [rank][rank] R1'R1
	double *H;                     // [p p]
	CalIdentified result;
	void *memory;
};

/** A row of n numbers into the triangle R[n n], by rotations; the row is lost. */
void identification_fold(int n, double *R, double *row);
/** The order of the columns and the rank; then everything that does not need the prior. CAL_ERR_ARGUMENT: too few equations. */
CalStatus identification_reduce(CalIdentification *id, CalError *error);
/** pi: the physically possible values nearest to the model that give the combinations as well as possible. */
CalStatus identification_search(CalIdentification *id);
/** Sum of squares of A pi - y over a class. */
double identification_residual(const CalIdentification *id, const RowClass *class, const double *pi);

/** Pseudo-inertia[4][4] of ten parameters, and back. */
void pseudo_inertia(const double parameters[CAL_INERTIAL_PARAMETERS], double J[16]);
void pseudo_inertia_parameters(const double J[16], double parameters[CAL_INERTIAL_PARAMETERS]);
/** Makes the prior of a body; lengths are those of a body of its kind, mass that of one. */
void inertia_prior(InertiaPrior *prior, const double parameters[CAL_INERTIAL_PARAMETERS], double mass, double length);

#endif
