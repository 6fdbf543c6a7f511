// SPDX-License-Identifier: Apache-2.0
/*
 * runge_kutta.c — explicit Runge-Kutta stages on the configuration manifold; see runge_kutta.h.
 *
 * The first stage is at the start itself: its configuration is copied rather than integrated over zero, so
 * that no rounding enters.
 */
#include "integrate/runge_kutta.h"

#include <math.h>
#include <string.h>

/** h * sum_j w_j rate_j[i]. */
static double increment(double *const *rate, const double *w, int count, int i, double h) {
	double sum = 0;
	for (int j = 0; j < count; j++) {
		sum += w[j] * rate[j][i];
	}
	return h * sum;
}

/** Weights of what a slice is to be combined to, once the rates of a stage are known (stage -1: of none). */
typedef struct Combination {
	const CalState *start;
	double h;
	int stage;
	const double *w; // NULL: nothing more
	int count;
} Combination;

static CalStatus combine(CalIntegrator *ig, const Slice *slice, const void *argument) {
	const Combination *c = argument;
	if (c->stage >= 0) {
		slice_rate(slice, ig->delta, ig->stage.u, ig->delta_rate[c->stage]);
	}
	for (int k = 0, first, count; c->w && (count = slice_u(slice, k, &first)) > 0; k++) {
		for (int i = first; i < first + count; i++) {
			ig->delta[i] = increment(ig->delta_rate, c->w, c->count, i, c->h);
			ig->stage.u[i] = c->start->u[i] + increment(ig->u_rate, c->w, c->count, i, c->h);
		}
	}
	if (c->w && c->count > 0) {
		slice_integrate(slice, c->start->q, ig->delta, ig->stage.q);
	}
	for (int k = 0, first, count; c->w && c->count == 0 && (count = slice_q(slice, k, &first)) > 0; k++) {
		memcpy(ig->stage.q + first, c->start->q + first, (size_t)count * sizeof(double));
	}
	return CAL_OK;
}

static void combine_x(CalIntegrator *ig, const Combination *c) {
	for (int i = 0; c->w && i < ig->nx; i++) {
		ig->stage.x[i] = c->start->x[i] + increment(ig->x_rate, c->w, c->count, i, c->h);
	}
}

void runge_kutta_combine(CalIntegrator *ig, const CalState *start, double h, const double *w, int count) {
	const Combination c = {start, h, -1, w, count};
	system_each(ig, combine, &c);
	combine_x(ig, &c);
}

static CalStatus run_stage(CalIntegrator *ig, const Tableau *table, const CalState *start, double t_new,
                           const Combination *c) {
	const double fraction = table->c[c->stage];
	ig->stage.t = fraction < 1 ? start->t + fraction * c->h : nextafter(t_new, start->t);
	CalStatus status = system_impose(ig, &ig->stage);
	if (status == CAL_OK) {
		status = system_evaluate(ig, &ig->stage, &ig->stage, 0, c->stage, combine, c);
	}
	if (status == CAL_OK) {
		combine_x(ig, c);
	}
	return status;
}

CalStatus runge_kutta_stages(CalIntegrator *ig, const Tableau *table, const CalState *start, double h, double t_new,
                             int first, bool to_end) {
	CalStatus status = CAL_OK;
	if (first < table->stages) {
		runge_kutta_combine(ig, start, h, table->A[first], first);
	}
	for (int i = first; i < table->stages && status == CAL_OK; i++) {
		const double *next = i + 1 < table->stages ? table->A[i + 1] : to_end ? table->b : NULL;
		system_hold_ranks(ig, i > 0);
		status = run_stage(ig, table, start, t_new, &(Combination){start, h, i, next, i + 1});
	}
	system_hold_ranks(ig, false);
	return status;
}
