// SPDX-License-Identifier: Apache-2.0
/*
 * calder/operators.h — the spatial operators of the recursion, as products with vectors.
 *
 * The model is a tree of elementary links: one per joint element (a universal joint is two links, the
 * first without mass; a welded body is part of its parent's link). Link k has a reference point O_k
 * fixed in it; all components are in world axes. Stacked spatial vectors x[nl] hold one per link.
 *   V = A' H' u          scatter of the joint columns
 *   M = H A M_s A' H'    Newton-Euler factorisation, M_s = blkdiag(link inertias about O_k)
 *   M = L D L',  M^-1 = (L^-1)' D^-1 L^-1   with L = 1 + H A K (unit triangular by elimination
 *                        order), L^-1 = 1 - H psi K, D diagonal and positive
 * A = phi: A(k,k) = 1, force of an outboard link shifted inward to O_k. psi: the same with each shift
 * preceded by the projection that leaves no work on the joint: psi(parent,k) = A(parent,k)(1 - G_k H_k).
 * All need cal_mass_factor (which does not depend on u). Vectors of one call may be the same array. Models with
 * flexible bodies: CAL_ERR_UNSUPPORTED.
 */
#ifndef CALDER_OPERATORS_H
#define CALDER_OPERATORS_H

#include <calder/dynamics.h>

#ifdef __cplusplus
extern "C" {
#endif

/** y = A x: gather, tips to base (forces). x, y: [link_count]. */
CAL_API CalStatus cal_operator_gather(const CalModel *model, const CalWork *work, const CalSpatial *x, CalSpatial *y);
/** y = A' x: scatter, base to tips (motions). */
CAL_API CalStatus cal_operator_scatter(const CalModel *model, const CalWork *work, const CalSpatial *x, CalSpatial *y);
/** y = psi x, y = psi' x: the articulated versions. */
CAL_API CalStatus cal_operator_gather_articulated(const CalModel *model, const CalWork *work, const CalSpatial *x,
                                                  CalSpatial *y);
CAL_API CalStatus cal_operator_scatter_articulated(const CalModel *model, const CalWork *work, const CalSpatial *x,
                                                   CalSpatial *y);
/** y[nu] = H x and y[link_count] = H' x[nu]: the joint columns. */
CAL_API CalStatus cal_operator_joint(const CalModel *model, const CalWork *work, const CalSpatial *x, double *y);
CAL_API CalStatus cal_operator_joint_transpose(const CalModel *model, const CalWork *work, const double *x,
                                               CalSpatial *y);
/** y = L x, L' x, L^-1 x, (L^-1)' x with M = L D L'. x, y: [nu]. */
CAL_API CalStatus cal_innovations_mul(const CalModel *model, const CalWork *work, const double *x, double *y);
CAL_API CalStatus cal_innovations_mul_transpose(const CalModel *model, const CalWork *work, const double *x, double *y);
CAL_API CalStatus cal_innovations_solve(const CalModel *model, const CalWork *work, const double *x, double *y);
CAL_API CalStatus cal_innovations_solve_transpose(const CalModel *model, const CalWork *work, const double *x,
                                                  double *y);
/** d[nu] = diagonal of D. */
CAL_API CalStatus cal_innovations_diagonal(const CalModel *model, const CalWork *work, double *d);

/** Parent link (-1: ground), first degree of freedom and their number. */
CAL_API CalStatus cal_link_info(const CalModel *model, int link, int *parent, int *u, int *nu);
/** 6x6 row-major inertias about O_k, world axes: of the link, of it and all outboard rigidly, articulated. */
CAL_API CalStatus cal_link_inertia(const CalModel *model, const CalWork *work, int link, double M[36]);
CAL_API CalStatus cal_link_composite_inertia(const CalModel *model, const CalWork *work, int link, double R[36]);
CAL_API CalStatus cal_link_articulated_inertia(const CalModel *model, const CalWork *work, int link, double P[36]);

#ifdef __cplusplus
}
#endif
#endif
