// SPDX-License-Identifier: Apache-2.0
/*
 * projected.c — equations of motion in the independent speeds [THEORY (5.25)]:
 *   X'M X vdot + X'(M bias + h - Q_applied) = Q
 *
 * All of it by Newton and Euler: a column of M X is the force that the tree needs at rest for a column of X, the rest
 * that for udot = X vdot + bias. Constraint forces G'lambda do no work on the independent speeds: X'G' = 0.
 */
#include "dynamics/projection.h"
#include "math/min_norm.h"

#if CAL_LANES == 1

static const double DEPENDENT = 1e-13;   // of a row of X'X: actuated dofs that do the same
static const double UNREACHABLE = 1e-10; // of the forces: what actuated dofs leave of them

static int arguments_ok(const CalProjection *p, const CalState *state, const CalWork *work) {
	return p && state && work && work->model == p->model;
}

CalStatus cal_projected_mass(CalProjection *projection, const CalState *state, CalWork *work, double *M) {
	CalProjection *p = projection;
	if (!arguments_ok(p, state, work) || !M)
		return CAL_ERR_ARGUMENT;
	const int n = p->count, nu = p->model->nu;
	for (int j = 0; j < n; ++j) {
		for (int i = 0; i < nu; ++i)
			p->x[i] = p->X[(size_t)i * (size_t)n + (size_t)j];
		const CalStatus status = cal_mass_mul(p->model, state, p->x, work, p->y);
		if (status != CAL_OK)
			return status;
		cal_projection_forces(p, p->y, M + (size_t)j * (size_t)n);
	}
	for (int i = 0; i < n; ++i) {
		for (int j = 0; j < i; ++j)
			M[i * n + j] = M[j * n + i] = 0.5 * (M[i * n + j] + M[j * n + i]);
	}
	return CAL_OK;
}

CalStatus cal_projected_inverse_dynamics(CalProjection *projection, const CalState *state, const double *vdot,
                                         const CalInput *input, CalWork *work, double *Q) {
	CalProjection *p = projection;
	if (!arguments_ok(p, state, work) || !Q)
		return CAL_ERR_ARGUMENT;
	cal_projection_accelerations(p, vdot, p->x);
	const CalStatus status = cal_inverse_dynamics(p->model, state, p->x, input, work, p->y);
	return status == CAL_OK ? cal_projection_forces(p, p->y, Q) : status;
}

/* ---- actuation ----------------------------------------------------------------------------------------------- */

static int acts(const CalProjection *p, const uint8_t *actuated, int i) {
	return actuated ? actuated[i] != 0 : !p->held[i];
}

/* X_a'X_a of the actuated rows, in p->M. */
static void gram(const CalProjection *p, const uint8_t *actuated) {
	const int n = p->count;
	memset(p->M, 0, sizeof(double) * (size_t)n * (size_t)n);
	for (int i = 0; i < p->model->nu; ++i) {
		const double *X = p->X + (size_t)i * (size_t)n;
		for (int j = 0; acts(p, actuated, i) && j < n; ++j) {
			for (int k = 0; X[j] != 0 && k < n; ++k)
				p->M[j * n + k] += X[j] * X[k];
		}
	}
}

/* tau += X_a y; returns the largest part of Q - X'tau that is left in z. */
static double add_forces(const CalProjection *p, const uint8_t *actuated, const double *Q, const double *y,
                         double *tau) {
	double left = 0;
	for (int i = 0; i < p->model->nu; ++i) {
		for (int j = 0; acts(p, actuated, i) && j < p->count; ++j)
			tau[i] += p->X[(size_t)i * (size_t)p->count + (size_t)j] * y[j];
	}
	cal_projection_forces(p, tau, p->z);
	for (int j = 0; j < p->count; ++j) {
		p->z[j] = Q[j] - p->z[j];
		left = fmax(left, fabs(p->z[j]));
	}
	return left;
}

CalStatus cal_projected_actuation(CalProjection *projection, const uint8_t *actuated, const double *Q, double *tau) {
	CalProjection *p = projection;
	if (!p || !Q || !tau)
		return CAL_ERR_ARGUMENT;
	const int n = p->count;
	double size = 0, left = 0;
	p->factored = 0;
	gram(p, actuated);
	const int rank = min_norm_factor(n, p->M, DEPENDENT, p->pivot, p->row, p->scratch);
	memset(tau, 0, sizeof(double) * (size_t)p->model->nu);
	for (int j = 0; j < n; ++j) {
		p->z[j] = Q[j];
		size = fmax(size, fabs(Q[j]));
	}
	for (int turn = 0; turn < 2; ++turn) { // X'X has lost half of the digits: the second turn brings them back
		min_norm_solve(n, rank, p->M, p->pivot, p->scratch, p->z, p->y);
		left = add_forces(p, actuated, Q, p->y, tau);
	}
	return left <= UNREACHABLE * size ? CAL_OK : CAL_SINGULAR;
}

/* ---- forward ------------------------------------------------------------------------------------------------- */

CalStatus cal_projected_forward_dynamics(CalProjection *projection, const CalState *state, const CalInput *input,
                                         CalWork *work, double *vdot, double *udot) {
	CalProjection *p = projection;
	CalStatus status = cal_projected_factor(p, state, work);
	if (status == CAL_OK)
		status = cal_projected_inverse_dynamics(p, state, NULL, input, work, p->z);
	if (status != CAL_OK)
		return status;
	memset(p->x, 0, sizeof(double) * (size_t)p->model->nu);
	if (input && input->tau)
		cal_projection_forces(p, input->tau, p->x);
	for (int j = 0; j < p->count; ++j)
		p->z[j] = p->x[j] - p->z[j];
	cal_projected_solve(p, p->z, p->z);
	if (vdot)
		memcpy(vdot, p->z, sizeof(double) * (size_t)p->count);
	return udot ? cal_projection_accelerations(p, p->z, udot) : CAL_OK;
}

#endif
