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

void runge_kutta_combine(CalIntegrator *ig, const CalState *start, double h, const double *w, int count) {
	for (int i = 0; i < ig->nu; i++) {
		ig->delta[i] = increment(ig->delta_rate, w, count, i, h);
		ig->stage.u[i] = start->u[i] + increment(ig->u_rate, w, count, i, h);
	}
	for (int i = 0; i < ig->nx; i++) {
		ig->stage.x[i] = start->x[i] + increment(ig->x_rate, w, count, i, h);
	}
	if (count > 0) {
		system_integrate(ig, start->q, ig->delta, ig->stage.q);
	} else {
		memcpy(ig->stage.q, start->q, (size_t)ig->nq * sizeof(double));
	}
}

CalStatus runge_kutta_stages(CalIntegrator *ig, const Tableau *table, const CalState *start, double h, double t_new,
                             int first) {
	for (int i = first; i < table->stages; i++) {
		runge_kutta_combine(ig, start, h, table->A[i], i);
		ig->stage.t = table->c[i] < 1 ? start->t + table->c[i] * h : nextafter(t_new, start->t);
		CalStatus status = system_impose(ig, &ig->stage);
		if (status == CAL_OK) {
			status = system_evaluate(ig, &ig->stage, i);
		}
		if (status != CAL_OK) {
			return status;
		}
		system_rate(ig, ig->delta, ig->stage.u, ig->delta_rate[i]);
	}
	return CAL_OK;
}
