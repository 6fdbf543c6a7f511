// SPDX-License-Identifier: Apache-2.0
/*
 * calder/sparse_mass.h — the mass matrix without the zeros that branches give, its factor M = L'D L, and solutions.
 *
 * Entries of the lower triangle, row after row, in compressed rows: row i has the degrees of freedom between the ground and
 * i, in this order, and ends with the diagonal. The pattern depends on the model alone. Eliminating from the last degree of
 * freedom to the first fills no zero (Featherstone, Rigid Body Dynamics Algorithms, ch. 6.5): the factor has the same
 * pattern. On a serial chain the pattern is the full triangle; with many branches it is much smaller, and a factor costs
 * O(nu depth^2), a solution O(nu depth). cal_mass_factor() (calder/dynamics.h) is O(nu) and forms no matrix; the matrix here
 * is for those that need its entries, change them (a diagonal term, say) and solve.
 *
 * The mass matrix is that of the tree: loops (calder/loops.h) are open. No call allocates.
 */
#ifndef CALDER_SPARSE_MASS_H
#define CALDER_SPARSE_MASS_H

#include <calder/model.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Number of entries. 0 for NULL. */
CAL_API size_t cal_mass_sparse_count(const CalModel *model);
/** row_start[nu + 1]: first entry of each row, then the count; columns[count]: ascending within a row. */
CAL_API CalStatus cal_mass_sparse_pattern(const CalModel *model, size_t *row_start, int *columns);
/** values[count] of M, reflected rotor inertias included: the bits of cal_mass_matrix(). */
CAL_API CalStatus cal_mass_sparse(const CalModel *model, const CalState *state, CalWork *work, double *values);
/**
 * M = L'D L in place: D on the diagonal, L below it with a diagonal of ones that is not stored. values may be those of
 * cal_mass_sparse() or any symmetric positive definite matrix of the pattern. CAL_SINGULAR: a pivot is not positive or
 * below 1e-14 of its diagonal entry, CAL_NOT_FINITE: it is not a number; values are then spoiled, and
 * cal_work_failed_dof() says where.
 */
CAL_API CalStatus cal_mass_sparse_factor(const CalModel *model, CalWork *work, double *values);
/** x[nu] = M^-1 b from the factor; x may be b. */
CAL_API CalStatus cal_mass_sparse_solve(const CalModel *model, const double *factor, const double *b, double *x);
/** y[nu] = M x from the values; y is not x. */
CAL_API CalStatus cal_mass_sparse_mul(const CalModel *model, const double *values, const double *x, double *y);

#ifdef __cplusplus
}
#endif
#endif
