// SPDX-License-Identifier: Apache-2.0
/*
 * eigen.h — symmetric eigenproblems, standard and generalized, for building models.
 *
 * Matrices are square, row-major and symmetric; of a symmetric input only the lower triangle counts. Vectors
 * come back as columns, values ascending. Signs are fixed (the largest component of a vector is positive) and
 * no function of the C library is involved but sqrt, so that a model has the same bits everywhere.
 *
 * Modal stiffnesses are graded: soft bending beside stiff stretching, 1e12 apart in one matrix. A method that
 * errs by an ulp of the largest value has then lost the smallest, so small problems go through Jacobi
 * rotations, whose error is relative to each value (Demmel and Veselic 1992), large ones through a
 * tridiagonal form from the bottom up, which keeps a matrix graded upwards graded. A diagonal matrix comes
 * back as it is, with the identity for vectors.
 */
#ifndef CALDER_MATH_EIGEN_H
#define CALDER_MATH_EIGEN_H

#include <calder/base.h>

/**
 * A v = value v. A is replaced by its unit vectors: A[i*n+k] is component i of vector k.
 * scratch[2n]. CAL_NOT_FINITE or CAL_NOT_CONVERGED: A and values are unspecified.
 */
CalStatus eigen_symmetric(int n, double *A, double *values, double *scratch);

/**
 * K v = value M v with M positive definite. K is replaced by the vectors as columns, V'MV = 1; M by its
 * Cholesky factor. If M is 1 and K diagonal to 1e-12, the rest is taken for round-off: V is then the identity
 * (or a permutation, where the values do not ascend), and no pair of equal values is turned.
 * scratch[2n]. CAL_SINGULAR: M is not positive definite to working accuracy.
 */
CalStatus eigen_generalized(int n, double *K, double *M, double *values, double *scratch);

/**
 * A = LL' in the lower triangle; above it zeros. Returns -1, or the first row whose pivot is not above
 * tolerance * reference[row] (reference NULL: the diagonal of A): that row is, to this accuracy, a combination of
 * those before it. A is then partly overwritten.
 */
int cholesky_factor(int n, double *A, const double *reference, double tolerance);
/** x = (LL')^-1 x with such a factor. */
void cholesky_solve(int n, const double *L, double *x);

#endif
