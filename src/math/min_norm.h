// SPDX-License-Identifier: Apache-2.0
/*
 * min_norm.h — symmetric positive semidefinite systems, solved in the least-squares sense with the smallest solution.
 */
#ifndef CALDER_MATH_MIN_NORM_H
#define CALDER_MATH_MIN_NORM_H

#include <stdint.h>

/*
 * Factors A[n n] in place: A = L L' with rows taken in the order of their pivots, the largest first, relative to the
 * diagonal that they came with; those that fall below `tolerance` of it depend on the others. scratch[(n + 2) n].
 * Returns the rank; order[n]: rows by pivot; independent[n].
 */
int min_norm_factor(int n, double *A, double tolerance, int *order, uint8_t *independent, double *scratch);

/* What is known of the rows beside A. */
typedef struct MinNormRows {
	double tolerance;   // as above
	int known;          // so many are independent, whatever is left of their pivots, as long as it is positive
	const double *unit; // [n] what is nothing beside others is so in these units; NULL: 1
	double left;        // found: the smallest part of its diagonal that an independent equation has left
	double rest;        // found: the largest that a dependent one has, 0: there is none
} MinNormRows;
int min_norm_factor_rows(int n, double *A, MinNormRows *rows, int *order, uint8_t *independent, double *scratch);
/* The rank alone: no system can be solved afterwards. scratch[n]. */
int min_norm_rank(int n, double *A, double tolerance, int *order, double *scratch);
/* x = A^+ b with the factors and the same scratch; x may be b. */
void min_norm_solve(int n, int rank, const double *A, const int *order, double *scratch, const double *b, double *x);
/* X[n][columns] = A^+ X, the bits of one column after the other. ordered[n max(columns, 1)] is scratch too. */
void min_norm_solve_columns(int n, int rank, int columns, const double *A, const int *order, double *scratch,
                            double *ordered, double *X);

#endif
