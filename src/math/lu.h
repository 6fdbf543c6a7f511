// SPDX-License-Identifier: Apache-2.0
/*
 * lu.h — dense square systems by elimination with row pivots, factored once for many right-hand sides.
 */
#ifndef CALDER_MATH_LU_H
#define CALDER_MATH_LU_H

#include <stdbool.h>

/** P A = L U in place, rows swapped as order[n] says. False: singular, or not finite. */
bool lu_factor(int n, double *A, int *order);
/** x = A^-1 x. */
void lu_solve(int n, const double *LU, const int *order, double *x);

#endif
