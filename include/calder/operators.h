// SPDX-License-Identifier: Apache-2.0
/*
 * calder/operators.h — the spatial operators of the recursion, as products with vectors.
 *
 * The model is a tree of elementary links: one per joint element (a universal joint is two links, the
 * first without mass; a welded body is part of its parent's link). Link k has a reference point O_k
 * fixed in it; all components are in world axes. Stacked spatial vectors x[nl] hold one per link.
 *   V = A' H' u          scatter of the joint columns
 *   M = H A M_s A' H'    Newton-Euler factorization, M_s = blkdiag(link inertias about O_k), rotors apart
 *   M = L D L',  M^-1 = (L^-1)' D^-1 L^-1   with L = 1 + H A K (unit triangular by elimination
 *                        order), L^-1 = 1 - H psi K, D diagonal and positive
 * A = phi: A(k,k) = 1, force of an outboard link shifted inward to O_k. psi: the same with each shift
 * preceded by the projection that leaves no work on the joint: psi(parent,k) = A(parent,k)(1 - G_k H_k).
 * All need cal_mass_factor (which does not depend on u). Vectors x and y of one type may be the same array.
 */
#ifndef CALDER_OPERATORS_H
#define CALDER_OPERATORS_H

#include <calder/dynamics.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Flexible bodies. A node that the modes move and that carries a joint is a link without dofs of its own
 * (nu = 0): the one before the joint's links, CalBodyInfo.link - 1. The body frame B is fixed to the last link of
 * the body's joint or, if its head moves with the modes or it is welded, to a link of its own, again with nu = 0.
 * A mode is a dof whose column has entries on several links: those of the nodes and, if the head moves, that
 * of B. So V = A' H' u holds for all links. The modes of a body set out from the link that its head is fixed to,
 * as the dofs of a joint do from its parent.
 *   M = T' M_s T         T = [A' H'; 1_e]: V and the modal speeds. The link that carries B has [M_rr E; E' M_ee] in M_s
 *   M = L D L'           L = 1 + H A K as above, K of a mode on the link that it sets out from. The modes of a body
 *                        are eliminated before its joint; modes, and the columns of a link, first to last
 *   psi^-1 = A^-1 + K H  with the dofs of a link, and the modes of a body, as one block. psi' x is the motion of
 *                        all links if each dof follows, without force, that of the link it sets out from
 */

/** y = A x: gather, tips to base (forces). x, y: [link_count]. */
CAL_API CalStatus cal_operator_gather(const CalModel *model, const CalWork *work, const CalSpatial *x, CalSpatial *y);
/** y = A' x: scatter, base to tips (motions). */
CAL_API CalStatus cal_operator_scatter(const CalModel *model, const CalWork *work, const CalSpatial *x, CalSpatial *y);
/** y = psi x, y = psi' x: the articulated versions. */
CAL_API CalStatus cal_operator_gather_articulated(const CalModel *model, const CalWork *work, const CalSpatial *x,
                                                  CalSpatial *y);
CAL_API CalStatus cal_operator_scatter_articulated(const CalModel *model, const CalWork *work, const CalSpatial *x,
                                                   CalSpatial *y);
/** y[nu] = H x and y[link_count] = H' x[nu]: the columns of joints and modes. */
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

/** Parent link (-1: ground), first degree of freedom and their number, modes not counted. */
CAL_API CalStatus cal_link_info(const CalModel *model, int link, int *parent, int *u, int *nu);
/**
 * 6x6 row-major inertias about O_k, world axes: of the link, of it and all outboard rigidly, articulated. Flexible
 * bodies count as they are deformed (M_rr); articulated: modes that set out from the link or outboard of it are free.
 */
CAL_API CalStatus cal_link_inertia(const CalModel *model, const CalWork *work, int link, double M[36]);
CAL_API CalStatus cal_link_composite_inertia(const CalModel *model, const CalWork *work, int link, double R[36]);
CAL_API CalStatus cal_link_articulated_inertia(const CalModel *model, const CalWork *work, int link, double P[36]);

/** The link that carries the frame B of a flexible body, and the one that its modes set out from (-1: ground). */
CAL_API CalStatus cal_flex_links(const CalModel *model, int body, int *carrier, int *head);
/**
 * What a flexible body with m modes has beside cal_link_inertia() of its carrier: E[6 m], the force per modal
 * acceleration about O_carrier in world axes, and the modal mass Mee[m m]; both row-major, without what is outboard.
 */
CAL_API CalStatus cal_flex_inertia(const CalModel *model, CalWork *work, int body, double *E, double *Mee);

#ifdef __cplusplus
}
#endif
#endif
