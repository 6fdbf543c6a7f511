// SPDX-License-Identifier: Apache-2.0
/*
 * dense_factor.h — Cholesky's factors of a dense matrix, row-major, only the lower triangle read and written.
 */
#ifndef CALDER_MATH_DENSE_FACTOR_H
#define CALDER_MATH_DENSE_FACTOR_H

/** A = L L' in place. Returns the first row whose pivot is not positive, or -1. */
int factor_lower(double *A, int n);
/** x = L^-1 x. */
void factor_forward(const double *L, int n, double *x);
/** x = L^-T x. */
void factor_backward(const double *L, int n, double *x);

#endif
