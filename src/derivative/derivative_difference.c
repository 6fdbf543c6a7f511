// SPDX-License-Identifier: Apache-2.0
/*
 * derivative_difference.c — derivatives of inverse dynamics by differences, for models with functions of the caller.
 *
 * Central, of fourth order with the steps h and 2h: f' = (8 (f(h) - f(-h)) - (f(2h) - f(-2h))) / 12h. With h = 1e-3 the error
 * of the formula, h^4/30 f^(5), and that of round-off, 2e-16 f/h, are about 1e-13 of the forces. In speeds, inertia forces
 * are quadratic: there the formula is exact.
 */
#include <calder/loops.h>
#include "derivative/derivative.h"

static const double STEP = 1e-3;

/* The state with coordinate or speed j changed. */
static void displace(const CalModel *model, const CalState *state, int speed, int j, double by, CalDerivatives *d) {
	double *dq = d->scratch;
	d->at.t = state->t;
	memcpy(d->at.u, state->u, sizeof(double) * (size_t)d->n);
	if (speed) {
		memcpy(d->at.q, state->q, sizeof(double) * (size_t)model->nq);
		d->at.u[j] += by;
		return;
	}
	memset(dq, 0, sizeof(double) * (size_t)d->n);
	dq[j] = by;
	cal_config_integrate(model, state->q, dq, d->at.q);
}

/* What is differenced: tau - G'lambda, and with loops the accelerations of the constraint equations at udot. */
typedef struct Differenced {
	const CalModel *model;
	const double *udot;
	const CalInput *input;
	int loops;
	CalDerivatives *d;
} Differenced;

/* z[m]: 2 damping frequency rate + frequency^2 residual of each equation. */
static void add_stabilization(const CalModel *model, const double *residual, const double *rate, double *z) {
	for (int l = 0; l < model->loop_count; ++l) {
		const Loop *loop = &model->loops[l];
		const double w = loop->frequency;
		for (int r = loop->row; w > 0 && r < loop->row + loop->rows; ++r)
			z[r] += 2 * loop->damping * w * rate[r] + w * w * residual[r];
	}
}

static CalStatus evaluate_loops(const Differenced *f, double *tau, double *z) {
	CalDerivatives *d = f->d;
	const size_t n = (size_t)d->n, m = (size_t)f->model->row_count;
	double *gamma = d->loop_scratch, *residual = d->unit, *G = d->ordered;
	CalStatus status = cal_loop_residual(f->model, &d->at, d->work, residual, z);
	if (status == CAL_OK)
		status = cal_loop_jacobian(f->model, &d->at, d->work, G, gamma);
	memcpy(d->GX, z, sizeof(double) * m); // rates
	for (size_t r = 0; r < m; ++r) {
		z[r] = -gamma[r];
		for (size_t i = 0; i < n; ++i) {
			z[r] += G[r * n + i] * (f->udot ? f->udot[i] : 0);
			tau[i] -= G[r * n + i] * d->lambda[r];
		}
	}
	add_stabilization(f->model, residual, d->GX, z);
	return status;
}

/* Column j of dq and of dz/dq, or (speed) of du and dz/du. */
static CalStatus difference_column(const Differenced *f, const CalState *state, int speed, int j) {
	static const struct { double by, weight; } points[] = {{1, 8}, {-1, -8}, {2, -1}, {-2, 1}};
	CalDerivatives *d = f->d;
	const size_t wide = 2 * (size_t)d->stride, n = (size_t)d->n, m = f->loops ? (size_t)f->model->row_count : 0;
	double *out = (speed ? d->du : d->dq) + j, *dz = d->dz + (speed ? d->stride : 0) + j;
	double *tau = d->scratch + d->n, *z = d->Lambda;
	for (size_t i = 0; i < n; ++i)
		out[i * wide] = 0;
	for (size_t r = 0; r < m; ++r)
		dz[r * wide] = 0;
	for (size_t p = 0; p < sizeof points / sizeof *points; ++p) {
		const double weight = points[p].weight / (12 * STEP);
		displace(f->model, state, speed, j, points[p].by * STEP, d);
		CalStatus status = cal_inverse_dynamics(f->model, &d->at, f->udot, f->input, d->work, tau);
		if (status == CAL_OK && m > 0)
			status = evaluate_loops(f, tau, z);
		if (status != CAL_OK)
			return status;
		for (size_t i = 0; i < n; ++i)
			out[i * wide] += weight * tau[i];
		for (size_t r = 0; r < m; ++r)
			dz[r * wide] += weight * z[r];
	}
	return CAL_OK;
}

CalStatus derivative_by_differences(const CalModel *model, const CalState *state, const double *udot,
                                    const CalInput *input, int loops, CalDerivatives *d) {
	const size_t n = (size_t)d->n, stride = (size_t)d->stride;
	const Differenced f = {model, udot, input, loops, d};
	CalStatus status = cal_mass_matrix(model, state, d->work, d->inverse);
	for (size_t i = 0; i < n; ++i)
		memcpy(d->M + i * stride, d->inverse + i * n, sizeof(double) * n);
	for (int j = 0; j < d->n && status == CAL_OK; ++j) {
		status = difference_column(&f, state, 0, j);
		if (status == CAL_OK)
			status = difference_column(&f, state, 1, j);
	}
	return status;
}
