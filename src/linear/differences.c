// SPDX-License-Identifier: Apache-2.0
/*
 * differences.c — one column of a derivative.
 */
#include <string.h>

#include "linear/differences.h"

/* The state with one position or speed changed; scratch[nu]. */
static void displace(const Difference *d, double by, double *scratch) {
	const int nu = cal_model_u_count(d->model);
	cal_state_copy(d->model, d->about, d->at);
	if (d->speed) {
		d->at->u[d->dof] += by;
		return;
	}
	memset(scratch, 0, (size_t)nu * sizeof *scratch);
	scratch[d->dof] = by;
	cal_config_integrate(d->model, d->about->q, scratch, d->at->q);
}

CalStatus difference_column(const Difference *d, DifferenceFn force, void *user, double *column, double *scratch) {
	static const struct { double by, weight; } points[] = {{1, 8}, {-1, -8}, {2, -1}, {-2, 1}};
	const int nu = cal_model_u_count(d->model);
	CalStatus status = CAL_OK;
	memset(column, 0, (size_t)nu * sizeof *column);
	for (size_t p = 0; p < sizeof points / sizeof *points && status == CAL_OK; p++) {
		displace(d, points[p].by * d->step, scratch);
		status = force(user, d->at, scratch);
		for (int i = 0; i < nu; i++)
			column[i] += points[p].weight * scratch[i];
	}
	for (int i = 0; i < nu; i++)
		column[i] /= 12 * d->step;
	return status;
}
