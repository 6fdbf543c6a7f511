// SPDX-License-Identifier: Apache-2.0
/*
 * differences.c — one column of a derivative, and the steps that fit the coordinates of a model.
 */
#include <math.h>
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

/* ---- steps ------------------------------------------------------------------------------------ */

static bool is_angle(const CalModel *model, int u) {
	CalCoordinateInfo info;
	return cal_model_speed(model, u, &info) == CAL_OK && info.kind == CAL_COORDINATE_ANGLE;
}

/*
 * What counts like 1 rad: of lengths and modes what moves the mass as far as that does, sqrt(M_ii / m) meters for each
 * unit, against the longest radius of gyration about a joint.
 */
void difference_scales(const CalModel *model, const double *M, double *scale) {
	const size_t nu = (size_t)cal_model_u_count(model);
	double mass = 0, radius = 0;
	for (int i = 0; i < cal_model_body_count(model); i++) {
		CalBodyInfo info;
		mass += cal_model_body(model, i, &info) == CAL_OK ? info.mass + info.lumped_mass : 0;
	}
	for (size_t i = 0; i < nu; i++)
		if (is_angle(model, (int)i))
			radius = fmax(radius, sqrt(M[i * nu + i] / mass));
	radius = radius > 0 && isfinite(radius) ? radius : 1;
	for (size_t i = 0; i < nu; i++) {
		const double moved = sqrt(M[i * nu + i] / mass);
		scale[i] = is_angle(model, (int)i) || !(moved > 0) || !isfinite(moved) ? 1 : radius / moved;
	}
}
