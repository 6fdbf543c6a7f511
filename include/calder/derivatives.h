// SPDX-License-Identifier: Apache-2.0
/*
 * calder/derivatives.h — derivatives of the dynamics by coordinates, speeds, forces and inertias.
 *
 * Analytical, to round-off, O(N depth) for inverse dynamics: joints of all types but user joints, flexible bodies, springs,
 * dampers, rotors, gravity, wrenches. Derivatives by the configuration are along the tangent space that
 * cal_config_integrate() moves in, one for each speed: of a ball joint by turns about the axes of its outboard frame, not
 * by its quaternion; speeds stay as they are. Matrices are dense and row-major: dq[i nu + j] is by coordinate j.
 * Where a model has functions of the caller (user joints, user links, embedded mechanisms) or applied wrenches in loops,
 * cal_derivatives_exact() is 0: inverse dynamics is differenced, by formulas of fourth order, with errors of about 1e-11
 * of the forces. What devices and other inputs do is given: it is not differentiated.
 * No call but create and destroy allocates. docs/derivatives.md
 */
#ifndef CALDER_DERIVATIVES_H
#define CALDER_DERIVATIVES_H

#include <calder/dynamics.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Memory of derivatives of one model, a workspace among it; one per thread. The model must outlive it. */
typedef struct CalDerivatives CalDerivatives;

/** Bytes; the memory must be aligned to 64 bytes. */
CAL_API size_t cal_derivatives_size(const CalModel *model);
CAL_API CalStatus cal_derivatives_init(const CalModel *model, void *memory, size_t size, CalDerivatives **derivatives);
/** The same with memory from malloc. */
CAL_API CalStatus cal_derivatives_create(const CalModel *model, CalDerivatives **derivatives);
CAL_API void cal_derivatives_destroy(CalDerivatives *derivatives); // accepts NULL
/** 1: analytical; 0: inverse dynamics of this model is differenced. */
CAL_API int cal_derivatives_exact(const CalDerivatives *derivatives);
/** After CAL_SINGULAR or CAL_NOT_FINITE: the degree of freedom that was met first, or -1. */
CAL_API int cal_derivatives_failed_dof(const CalDerivatives *derivatives);

/* ---- dynamics -------------------------------------------------------------------------------- */

/**
 * Of tau = cal_inverse_dynamics(udot, input): dq[nu nu], du[nu nu] and M[nu nu] = dtau/dudot, rotors included. udot NULL:
 * zero; any output may be NULL. Loops are open.
 */
CAL_API CalStatus cal_inverse_derivatives(const CalModel *model, const CalState *state, const double *udot,
                                          const CalInput *input, CalDerivatives *derivatives, double *dq, double *du,
                                          double *M);
/**
 * Of udot = cal_forward_dynamics(input): udot[nu] itself, dq[nu nu], du[nu nu] and dtau[nu nu] = M^-1, exactly symmetric.
 * Any output may be NULL. Rows of prescribed dofs, whose udot is given, are zero, and so are their columns of dtau.
 * With loops, drives and stabilization included, rank and redundant equations stay what they are at the state: a change
 * of coordinates or speeds that the loops allow changes udot as dq and du say, and dtau is M_c of calder/closed.h.
 */
CAL_API CalStatus cal_forward_derivatives(const CalModel *model, const CalState *state, const CalInput *input,
                                          CalDerivatives *derivatives, double *udot, double *dq, double *du,
                                          double *dtau);

/**
 * Second derivatives: how the results of cal_inverse_derivatives() change along v[3 nu], a displacement (in the tangent space),
 * a change of speeds and one of udot: d/ds of dq, du and M at (integrate(q, s v_q), u + s v_u, udot + s v_a), s = 0. Their rows
 * times multipliers are products of the Hessian of these with v. By sixth-order differences of the analytical first
 * derivatives, to about 1e-10 of the largest entry, without allocation. udot NULL: zero; any output may be NULL. Loops are open.
 */
CAL_API CalStatus cal_inverse_derivatives_along(const CalModel *model, const CalState *state, const double *udot,
                                                const CalInput *input, const double *v, CalDerivatives *derivatives,
                                                double *dq, double *du, double *M);
/**
 * The same of cal_forward_derivatives(): v[3 nu] is a displacement, a change of speeds and one of tau. Any output may be NULL. With loops the equations
 * must be independent: where they are redundant, only directions that the loops allow to second order have a meaning.
 */
CAL_API CalStatus cal_forward_derivatives_along(const CalModel *model, const CalState *state, const CalInput *input,
                                                const double *v, CalDerivatives *derivatives, double *dq, double *du,
                                                double *dtau);

/* ---- inertial parameters ----------------------------------------------------------------------- */

enum { CAL_INERTIAL_PARAMETERS = 10 };

/**
 * Mass, first moments (x, y, z) and moments of inertia (xx, yy, zz, xy, xz, yz) of a body, about the origin and in the axes
 * of its frame; of a flexible body: of its rigid part.
 */
CAL_API CalStatus cal_inertial_parameters(const CalModel *model, int body, double parameters[CAL_INERTIAL_PARAMETERS]);
/**
 * Y[nu (10 bodies)]: tau = Y pi + (all that does not depend on them: rotors, springs, dampers, wrenches, the masses of
 * flexible bodies) for the parameters pi of all bodies, body after body. udot NULL: zero.
 */
CAL_API CalStatus cal_inverse_regressor(const CalModel *model, const CalState *state, const double *udot,
                                        CalDerivatives *derivatives, double *Y);

/**
 * dpi[nu (10 bodies)] of udot = cal_forward_dynamics(input), by the parameters of all bodies: -dtau Y with Y at udot. Loops are
 * held, prescribed dofs have zero rows. udot[nu] itself may be NULL.
 */
CAL_API CalStatus cal_forward_parameter_derivatives(const CalModel *model, const CalState *state, const CalInput *input,
                                                    CalDerivatives *derivatives, double *udot, double *dpi);

/* ---- kinematics --------------------------------------------------------------------------------- */

/**
 * Of the motion of a node, V = J u and A = J udot + bias (world axes, angular first, as cal_node_velocity() and
 * cal_node_acceleration() have it): dV_dq[6 nu], dA_dq[6 nu], dA_du[6 nu]; dV_du is J. With any vector in place of state->u
 * dV_dq is the derivative of J times that vector. udot NULL: zero; any output may be NULL. CAL_ERR_UNSUPPORTED if
 * cal_derivatives_exact() is 0.
 */
CAL_API CalStatus cal_node_derivatives(const CalModel *model, const CalState *state, const double *udot, int node,
                                       CalDerivatives *derivatives, double *dV_dq, double *dA_dq, double *dA_du);
/** J[6 nu] of a node and its rate dJ/dt[6 nu] at the speeds of the state: bias = Jdot u. Either may be NULL. As above. */
CAL_API CalStatus cal_node_jacobian_rate(const CalModel *model, const CalState *state, int node,
                                         CalDerivatives *derivatives, double *J, double *Jdot);
/**
 * The centroidal momentum matrix A[6 nu]: A u is the angular momentum about the center of mass and the linear momentum, and
 * its rate dA/dt[6 nu] at the speeds of the state, which may be NULL. CAL_ERR_UNSUPPORTED as above.
 */
CAL_API CalStatus cal_momentum_matrix(const CalModel *model, const CalState *state, CalDerivatives *derivatives,
                                      double *A, double *Adot);
/** Of the total energy of cal_energy(): dq[nu] and du[nu] = M u. Either may be NULL. CAL_ERR_UNSUPPORTED as above. */
CAL_API CalStatus cal_energy_gradient(const CalModel *model, const CalState *state, CalDerivatives *derivatives,
                                      double *dq, double *du);

#ifdef __cplusplus
}
#endif
#endif
