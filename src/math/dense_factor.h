// SPDX-License-Identifier: Apache-2.0
/*
 * dense_factor.h — factors of a dense matrix, row-major: Cholesky's, only the lower triangle read and written, and LU.
 */
#ifndef CALDER_MATH_DENSE_FACTOR_H
#define CALDER_MATH_DENSE_FACTOR_H

#include <stdbool.h>

/** A = L L' in place. Returns the first row whose pivot is not positive, or -1. */
int factor_lower(double *A, int n);
/** x = L^-1 x. */
void factor_forward(const double *L, int n, double *x);
/** x = L^-T x. */
void factor_backward(const double *L, int n, double *x);

/** P A = L U in place, rows swapped as order[n] says. False: singular, or not finite. */
bool lu_factor(int n, double *A, int *order);
/** x = A^-1 x. */
void lu_solve(int n, const double *LU, const int *order, double *x);

#endif
