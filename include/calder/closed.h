// SPDX-License-Identifier: Apache-2.0
/*
 * calder/closed.h — closed-chain operators: the mass matrix of a model with its loops held.
 *
 * G u = s' are the constraint equations of the loops (calder/loops.h). Under generalized forces b, at rest and without gravity, a model
 * with loops accelerates by
 *   x = M_c b,   M_c = M^-1 - M^-1 G'(G M^-1 G')^+ G M^-1
 * M_c is symmetric, G M_c = 0. Its products take one sweep over tree and loops each, O(N + rows) where loops are
 * eliminated where they close; light links are refined as in forward dynamics. docs/loops.md
 */
#ifndef CALDER_CLOSED_H
#define CALDER_CLOSED_H

#include <calder/loops.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * Prepares M_c at state->q and state->t. held ([nu] nonzero; NULL: none) do not move: their rows and columns of M_c are
 * zero. Leaves in work what the call below and cal_node_compliance(), cal_node_inertia(), cal_node_pose() and
 * cal_node_jacobian() need; any other call with this work ends that. A model without loops will do.
 */
CAL_API CalStatus cal_closed_factor(const CalModel *model, const CalState *state, const uint8_t *held, CalWork *work);
/** x[nu] = M_c b; x may be b. After cal_closed_factor. Statuses as from forward dynamics. */
CAL_API CalStatus cal_closed_solve(const CalModel *model, CalWork *work, const double *b, double *x);

/* ---- dynamics in the independent speeds ------------------------------------------------------------------- */

/*
 * v[count]: independent speeds, a choice among u (cal_loop_mobility()), in their order. All others follow:
 *   u = X v + drift,   udot = X vdot + bias,   G X = 0
 * drift is what drives and held speeds move them by, bias what speeds and drives accelerate them by, held accelerations
 * included. With the generalized forces Q = X'tau the equations of motion have no multipliers:
 *   X'M X vdot + X'(M bias + h - Q_gravity - Q_elastic - Q_external) = Q
 * X, M and their products are dense: memory and time are those of the number of speeds squared, the factor of
 * count^3/6 multiplications. Without loops X is the identity.
 */
typedef struct CalProjection CalProjection;

/** Which speeds are independent and which are held. Zero-initialized: chosen by rank, held as described in the model. */
typedef struct CalProjectionOptions {
	const uint8_t *independent; // [nu] nonzero: independent; NULL: chosen as by cal_loop_mobility()
	const uint8_t *held;        // [nu] nonzero: u and udot are given; NULL: those described as prescribed
	const double *udot;         // [nu] read where held; NULL: zero
} CalProjectionOptions;

/** Memory of one projection. The model must outlive it. */
CAL_API CalStatus cal_projection_create(const CalModel *model, CalProjection **projection);
CAL_API void cal_projection_destroy(CalProjection *projection); // NULL: nothing happens
/**
 * X, drift and bias at a state, which should meet the loops (cal_loop_project()). CAL_SINGULAR: the speeds that were
 * chosen do not determine the others here; CAL_ERR_ARGUMENT: they are too many, too few, or held.
 */
CAL_API CalStatus cal_projection_update(CalProjection *projection, const CalState *state,
                                        const CalProjectionOptions *options, CalWork *work);

/* What the last update left; pointers are valid until the next. */

/** How many speeds are independent; 0 before an update. */
CAL_API int cal_projection_count(const CalProjection *projection);
/** [nu] 1: independent. */
CAL_API const uint8_t *cal_projection_independent(const CalProjection *projection);
/** X[nu count]. */
CAL_API const double *cal_projection_map(const CalProjection *projection);
/** drift[nu] and bias[nu]. */
CAL_API const double *cal_projection_drift(const CalProjection *projection);
CAL_API const double *cal_projection_bias(const CalProjection *projection);
/** u[nu] = X v + drift. */
CAL_API CalStatus cal_projection_speeds(const CalProjection *projection, const double *v, double *u);
/** udot[nu] = X vdot + bias; vdot NULL: zero. */
CAL_API CalStatus cal_projection_accelerations(const CalProjection *projection, const double *vdot, double *udot);
/** Q[count] = X'tau. */
CAL_API CalStatus cal_projection_forces(const CalProjection *projection, const double *tau, double *Q);

/* At the state of the last update: */

/** M[count count] = X'M X, exactly symmetric. */
CAL_API CalStatus cal_projected_mass(CalProjection *projection, const CalState *state, CalWork *work, double *M);
/**
 * Inverse dynamics with loops held: Q[count] that makes the independent speeds accelerate with vdot (NULL: zero) under
 * input's wrenches, gravity, springs and dampers. No constraint force works on them: any tau[nu] with X'tau = Q will do.
 */
CAL_API CalStatus cal_projected_inverse_dynamics(CalProjection *projection, const CalState *state, const double *vdot,
                                                 const CalInput *input, CalWork *work, double *Q);
/**
 * tau[nu] of smallest norm (SI units) with X'tau = Q that acts on the actuated dofs alone ([nu] nonzero; NULL: all that
 * are not held). CAL_SINGULAR: these cannot bring about Q; tau is then as near to it as they come.
 */
CAL_API CalStatus cal_projected_actuation(CalProjection *projection, const uint8_t *actuated, const double *Q,
                                          double *tau);
/**
 * Forward dynamics: vdot[count] and udot[nu] (either may be NULL) under input (its prescribed and udot are not read: the
 * update has them). Factors X'M X anew. Agrees with cal_forward_dynamics(); for checks and for small mechanisms.
 */
CAL_API CalStatus cal_projected_forward_dynamics(CalProjection *projection, const CalState *state,
                                                 const CalInput *input, CalWork *work, double *vdot, double *udot);

/**
 * Factors X'M X = L D L', L unit triangular in the order in which the recursion eliminates dofs: without loops these are
 * the factors of calder/operators.h. CAL_SINGULAR: an independent speed moves no mass, cal_work_failed_dof() says which.
 * The calls below use the factor until the next update.
 */
CAL_API CalStatus cal_projected_factor(CalProjection *projection, const CalState *state, CalWork *work);
/** x[count] = (X'M X)^-1 b; x may be b. */
CAL_API CalStatus cal_projected_solve(const CalProjection *projection, const double *b, double *x);
/** log(det X'M X). */
CAL_API CalStatus cal_projected_logdet(const CalProjection *projection, double *logdet);
/** y[count] = L x, L' x, L^-1 x, (L^-1)' x; y may be x. */
CAL_API CalStatus cal_projected_innovations_mul(const CalProjection *projection, const double *x, double *y);
CAL_API CalStatus cal_projected_innovations_mul_transpose(const CalProjection *projection, const double *x, double *y);
CAL_API CalStatus cal_projected_innovations_solve(const CalProjection *projection, const double *x, double *y);
CAL_API CalStatus cal_projected_innovations_solve_transpose(const CalProjection *projection, const double *x,
                                                            double *y);
/** d[count] = diagonal of D. */
CAL_API CalStatus cal_projected_innovations_diagonal(const CalProjection *projection, double *d);

#ifdef __cplusplus
}
#endif
#endif
