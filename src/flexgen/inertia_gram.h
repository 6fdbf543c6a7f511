// SPDX-License-Identifier: Apache-2.0
/*
 * inertia_gram.h — a matrix of sums over masses turned back into masses: G = LL', one column of L per mass.
 *
 * G holds the sums of products of two of n functions. Any L with LL' = G is a set of masses with the same sums, and
 * LQ is another one for any rotation Q. Functions are measured by `scale`, so that round-off is checked against the size
 * of each. The factor comes from eigenvectors; those with values of round-off size, or negative, are left out.
 */
#ifndef CALDER_FLEXGEN_INERTIA_GRAM_H
#define CALDER_FLEXGEN_INERTIA_GRAM_H

#include <calder/base.h>
#include "base/cursor.h"

typedef struct InertiaGram {
	int n;
	double *G;          // [n][n] symmetric; then scaled; then L [n][rank] in the functions' own units
	double *scale;      // [n] > 0; 0: the function vanishes
	double *values;     // [n] eigenvalues of the scaled matrix, ascending
	double *scratch;    // [2n]
	double floor;       // eigenvalues of the scaled matrix up to it are round-off; 0: by their own size
	int rank;           //
	double lowest;      // smallest eigenvalue of the scaled matrix
	int worst_function; // the function that takes the largest part in it
} InertiaGram;

/** The arrays of a matrix of n functions. */
void inertia_gram_layout(InertiaGram *g, int n, Cursor *cursor);

/** Scales G and finds its eigenvectors, which replace it, as columns. CAL_NOT_FINITE, CAL_NOT_CONVERGED. */
CalStatus inertia_gram_solve(InertiaGram *g);
/** After inertia_gram_solve(): L in place of the eigenvectors. */
void inertia_gram_factor(InertiaGram *g);
/** After inertia_gram_factor(): reflects the columns so that the entries of e'L are equal and positive; e[n]. */
void inertia_gram_level(InertiaGram *g, const double *e);

#endif
