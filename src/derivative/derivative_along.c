// SPDX-License-Identifier: Apache-2.0
/*
 * derivative_along.c — second derivatives: the first ones differenced along a direction.
 *
 * Central, of sixth order: f' = (45 (f(h) - f(-h)) - 9 (f(2h) - f(-2h)) + f(3h) - f(-3h)) / 60h. Speeds, accelerations and
 * forces enter as polynomials of at most second degree, for which it is exact; displacements are up to 0.015 rad or m, where the
 * error of the formula, h^6/140 f^(7), is about 1e-16 and that of round-off 1e-16/h.
 */
#include <math.h>

#include "derivative/derivative.h"

static const double STEP = 5e-3;

typedef struct Along {
	const CalModel *model;
	const CalState *state;
	const double *force;   // [nu] udot of inverse dynamics, tau of forward dynamics; NULL: zero
	const CalInput *input; // may be NULL
	const double *v;       // [3 nu]
	int inverse;
	CalDerivatives *d;
	double *out[3]; // dq, du, M or dtau; may be NULL
} Along;

static double largest_of(int n, const double *v) {
	double most = 0;
	for (int i = 0; i < n; ++i)
		most = fmax(most, fabs(v[i]));
	return most;
}

static double step_along(const Along *a) {
	const int n = a->d->n;
	const double way = largest_of(n, a->v), others = largest_of(2 * n, a->v + n);
	return way > 0 ? STEP / way : others > 0 ? 1 / others : 1;
}

/* First derivatives at s; they are left in the rows of d. */
static CalStatus differentiate_at(const Along *a, double s) {
	CalDerivatives *d = a->d;
	const double *v_u = a->v + d->n, *v_force = v_u + d->n;
	for (int i = 0; i < d->n; ++i) {
		d->moved_force[i] = s * a->v[i];
		d->moved.u[i] = a->state->u[i] + s * v_u[i];
	}
	cal_config_integrate(a->model, a->state->q, d->moved_force, d->moved.q);
	d->moved.t = a->state->t;
	for (int i = 0; i < d->n; ++i)
		d->moved_force[i] = (a->force ? a->force[i] : 0) + s * v_force[i];
	if (a->inverse)
		return cal_inverse_derivatives(a->model, &d->moved, d->moved_force, a->input, d, NULL, NULL, NULL);
	CalInput input = a->input ? *a->input : (CalInput){0};
	input.tau = d->moved_force;
	return cal_forward_derivatives(a->model, &d->moved, &input, d, NULL, NULL, NULL,
	                               a->out[2] ? d->Lt : NULL); // which nobody reads any more
}

static void add_rows(const CalDerivatives *d, const double *from, size_t stride, double weight, double *to) {
	const size_t n = (size_t)d->n;
	for (size_t i = 0; to && i < n; ++i)
		for (size_t j = 0; j < n; ++j)
			to[i * n + j] += weight * from[i * stride + j];
}

static CalStatus run_along(const Along *a) {
	static const struct { double at, weight; } points[] = {{1, 45}, {-1, -45}, {2, -9}, {-2, 9}, {3, 1}, {-3, -1}};
	const CalDerivatives *d = a->d;
	const size_t n = (size_t)d->n, stride = (size_t)d->stride;
	const double h = step_along(a);
	for (int k = 0; k < 3; ++k)
		if (a->out[k])
			memset(a->out[k], 0, sizeof(double) * n * n);
	for (size_t p = 0; p < sizeof points / sizeof *points; ++p) {
		const double weight = points[p].weight / (60 * h);
		const CalStatus status = differentiate_at(a, points[p].at * h);
		if (status != CAL_OK)
			return status;
		add_rows(d, d->dq, 2 * stride, weight, a->out[0]);
		add_rows(d, d->du, 2 * stride, weight, a->out[1]);
		add_rows(d, a->inverse ? d->M : d->inverse, stride, weight, a->out[2]);
	}
	return CAL_OK;
}

CalStatus cal_inverse_derivatives_along(const CalModel *model, const CalState *state, const double *udot,
                                        const CalInput *input, const double *v, CalDerivatives *derivatives, double *dq,
                                        double *du, double *M) {
	if (!v || !model || !state || !state->q || !state->u || !derivatives || derivatives->model != model)
		return CAL_ERR_ARGUMENT;
	return run_along(&(Along){model, state, udot, input, v, 1, derivatives, {dq, du, M}});
}

CalStatus cal_forward_derivatives_along(const CalModel *model, const CalState *state, const CalInput *input,
                                        const double *v, CalDerivatives *derivatives, double *dq, double *du,
                                        double *dtau) {
	if (!v || !model || !state || !state->q || !state->u || !derivatives || derivatives->model != model)
		return CAL_ERR_ARGUMENT;
	const double *tau = input ? input->tau : NULL;
	return run_along(&(Along){model, state, tau, input, v, 0, derivatives, {dq, du, dtau}});
}
