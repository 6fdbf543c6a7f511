// SPDX-License-Identifier: Apache-2.0
/*
 * eigen_general.h — eigenvalues and vectors of a real matrix without symmetry.
 *
 * Householder reflections to Hessenberg form, then QR steps with Wilkinson's shift in complex numbers to Schur form, and
 * back substitution (Golub and Van Loan, ch. 7). No function of the C library is involved but sqrt.
 */
#ifndef CALDER_MATH_EIGEN_GENERAL_H
#define CALDER_MATH_EIGEN_GENERAL_H

#include <calder/base.h>

typedef struct Complex {
	double re, im;
} Complex;

/**
 * A v = value v. A[n n] row-major; vectors[n n]: vectors[i*n+k] is component i of vector k, of length one. Values in no
 * order; pairs are conjugate to round-off. scratch[n n + 2 n]. CAL_NOT_CONVERGED, CAL_NOT_FINITE: the rest is unspecified.
 */
CalStatus eigen_general(int n, const double *A, Complex *values, Complex *vectors, Complex *scratch);

#endif
