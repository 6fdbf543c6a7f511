// SPDX-License-Identifier: Apache-2.0
/*
 * derivative_difference.c — derivatives of inverse dynamics by differences, for models with functions of the caller.
 *
 * Central, of fourth order with the steps h and 2h: f' = (8 (f(h) - f(-h)) - (f(2h) - f(-2h))) / 12h. With h = 1e-3 the error
 * of the formula, h^4/30 f^(5), and that of round-off, 2e-16 f/h, are about 1e-13 of the forces. In speeds, inertia forces
 * are quadratic: there the formula is exact.
 */
#include <calder/dynamics.h>
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

static CalStatus column(const CalModel *model, const CalState *state, const double *udot, const CalInput *input,
                        int speed, int j, CalDerivatives *d) {
	static const struct { double by, weight; } points[] = {{1, 8}, {-1, -8}, {2, -1}, {-2, 1}};
	const size_t wide = 2 * (size_t)d->stride;
	double *out = (speed ? d->du : d->dq) + j, *tau = d->scratch + d->n;
	for (size_t i = 0; i < (size_t)d->n; ++i)
		out[i * wide] = 0;
	for (size_t p = 0; p < sizeof points / sizeof *points; ++p) {
		displace(model, state, speed, j, points[p].by * STEP, d);
		const CalStatus status = cal_inverse_dynamics(model, &d->at, udot, input, d->work, tau);
		if (status != CAL_OK)
			return status;
		for (size_t i = 0; i < (size_t)d->n; ++i)
			out[i * wide] += points[p].weight / (12 * STEP) * tau[i];
	}
	return CAL_OK;
}

CalStatus derivative_by_differences(const CalModel *model, const CalState *state, const double *udot,
                                    const CalInput *input, CalDerivatives *d) {
	const size_t n = (size_t)d->n, stride = (size_t)d->stride;
	CalStatus status = cal_mass_matrix(model, state, d->work, d->inverse);
	for (size_t i = 0; i < n; ++i)
		memcpy(d->M + i * stride, d->inverse + i * n, sizeof(double) * n);
	for (int j = 0; j < d->n && status == CAL_OK; ++j) {
		status = column(model, state, udot, input, 0, j, d);
		if (status == CAL_OK)
			status = column(model, state, udot, input, 1, j, d);
	}
	return status;
}
