// SPDX-License-Identifier: Apache-2.0
/*
 * regressor.c — inverse dynamics as a linear function of inertial parameters [THEORY 10.3].
 *
 * A body needs, at the origin of its frame with acceleration a (gravity subtracted), angular velocity w and acceleration al,
 *   f = m a + W mc,   n = mc x a + I al + w x I w,   W = [al]x + [w]x[w]x
 * One wrench per parameter, and its moments and forces along the columns of the dofs inboard of the body. In forward dynamics
 * dudot/dpi = -M^-1 Y, with loops -M_c Y, since their equations do not depend on inertias.
 */
#include <calder/derivatives.h>
#include "derivative/derivative.h"
#include "dynamics/flex/flexible.h"

static const int I_ROW[6] = {0, 1, 2, 0, 0, 1}, I_COLUMN[6] = {0, 1, 2, 1, 2, 2}; // xx yy zz xy xz yz

CalStatus cal_inertial_parameters(const CalModel *model, int body, double parameters[CAL_INERTIAL_PARAMETERS]) {
	if (!model || !parameters || body < 0 || body >= model->body_count)
		return CAL_ERR_ARGUMENT;
	const Body *b = &model->bodies[body];
	const dvec3 c = b->com;
	const double r[3] = {c.x, c.y, c.z}, rr = ddot(c, c);
	const CalMat3 I = dmat_out(b->inertia);
	parameters[0] = b->mass;
	for (int i = 0; i < 3; ++i)
		parameters[1 + i] = b->mass * r[i];
	for (int k = 0; k < 6; ++k) {
		const int i = I_ROW[k], j = I_COLUMN[k];
		parameters[4 + k] = I.m[i][j] + b->mass * ((i == j ? rr : 0) - r[i] * r[j]);
	}
	return CAL_OK;
}

INLINE vec3 axis_of(const mat3 *R, int k) { return k == 0 ? R->x : k == 1 ? R->y : R->z; }

/* I v for a unit of the moment of inertia k in the axes of R. */
static vec3 unit_inertia(const mat3 *R, int k, vec3 v) {
	const vec3 x = axis_of(R, I_ROW[k]), y = axis_of(R, I_COLUMN[k]);
	return I_ROW[k] == I_COLUMN[k] ? scale(dot(x, v), x) : add(scale(dot(y, v), x), scale(dot(x, v), y));
}

/* Wrenches of the parameters of a body at the origin of its link. */
static void parameter_wrenches(const Body *body, const LinkWork *l, spatial wrench[CAL_INERTIAL_PARAMETERS]) {
	const mat3 R = mat_mul_dmat(l->R, body->in_link.R);
	const vec3 r = mat_mul_dvec(l->R, body->in_link.r), a = add(l->a, mat_mul_vec(acceleration_field(l->w, l->al), r));
	wrench[0] = (spatial){vec_zero(), a};
	for (int k = 0; k < 3; ++k) {
		const vec3 e = axis_of(&R, k);
		wrench[1 + k] = (spatial){cross(e, a), mat_mul_vec(acceleration_field(l->w, l->al), e)};
	}
	for (int k = 0; k < 6; ++k) {
		const vec3 n = add(unit_inertia(&R, k, l->al), cross(l->w, unit_inertia(&R, k, l->w)));
		wrench[4 + k] = (spatial){n, vec_zero()};
	}
	for (int k = 0; k < CAL_INERTIAL_PARAMETERS; ++k)
		wrench[k] = force_shift(wrench[k], r);
}

static void add_row(double *row, spatial S, const spatial wrench[CAL_INERTIAL_PARAMETERS]) {
	for (int k = 0; k < CAL_INERTIAL_PARAMETERS; ++k)
		row[k] += spatial_dot(S, wrench[k]);
}

/* Columns of one body, `width` numbers a row. */
static void body_columns(const CalModel *model, const Body *body, const CalWork *work, size_t width, double *Y) {
	spatial wrench[CAL_INERTIAL_PARAMETERS];
	if (body->link < 0)
		return; // fixed to the ground
	parameter_wrenches(body, &work->links[body->link], wrench);
	for (int i = body->link; i >= 0; i = model->links[i].parent) {
		const Link *link = &model->links[i];
		for (int k = 0; k < link->nu; ++k)
			add_row(Y + (size_t)(link->u + k) * width, link_column(work, link, i, k), wrench);
		const Flex *flex = link->flex >= 0 ? &model->flexes[link->flex] : NULL;
		for (int k = 0; flex && k < flex->m; ++k)
			add_row(Y + (size_t)(flex->u + k) * width, flexible_column(model, link, work, k), wrench);
		for (int k = 0; k < CAL_INERTIAL_PARAMETERS; ++k)
			wrench[k] = force_shift(wrench[k], work->links[i].r);
	}
}

CalStatus cal_inverse_regressor(const CalModel *model, const CalState *state, const double *udot,
                                CalDerivatives *derivatives, double *Y) {
	CalDerivatives *d = derivatives;
	if (!model || !state || !state->q || !state->u || !d || d->model != model || !Y)
		return CAL_ERR_ARGUMENT;
	const size_t width = CAL_INERTIAL_PARAMETERS * (size_t)model->body_count;
	memset(Y, 0, sizeof(double) * width * (size_t)model->nu);
	derivative_outward(model, &(DerivativePoint){.q = state->q, .u = state->u, .udot = udot, .gravity = model->gravity},
	                   d);
	for (int b = 0; b < model->body_count; ++b)
		body_columns(model, &model->bodies[b], d->work, width, Y + (size_t)b * CAL_INERTIAL_PARAMETERS);
	return CAL_OK;
}

/* ---- forward dynamics --------------------------------------------------------------------------- */

/* The column at `v`, `width` numbers from row to row, times -M^-1. */
static void solve_column(CalDerivatives *d, size_t width, double *v) {
	const size_t n = (size_t)d->n, stride = (size_t)d->stride;
	for (size_t i = 0; i < n; ++i) {
		double sum = 0;
		for (size_t k = 0; k < n; ++k)
			sum += d->inverse[i * stride + k] * v[k * width];
		d->moved_force[i] = -sum;
	}
	for (size_t i = 0; i < n; ++i)
		v[i * width] = d->moved_force[i];
}

CalStatus cal_forward_parameter_derivatives(const CalModel *model, const CalState *state, const CalInput *input,
                                            CalDerivatives *derivatives, double *udot, double *dpi) {
	CalDerivatives *d = derivatives;
	if (!dpi || !model || !d || d->model != model)
		return CAL_ERR_ARGUMENT;
	const size_t n = (size_t)d->n, width = CAL_INERTIAL_PARAMETERS * (size_t)model->body_count;
	CalStatus status = cal_forward_derivatives(model, state, input, d, NULL, NULL, NULL,
	                                           d->Lt); // which nobody reads any more: for M^-1 to be found
	if (status == CAL_OK)
		status = cal_inverse_regressor(model, state, d->udot, d, dpi);
	if (status != CAL_OK)
		return status;
	for (size_t j = 0; j < width; ++j)
		solve_column(d, width, dpi + j);
	if (udot)
		memcpy(udot, d->udot, sizeof(double) * n);
	return CAL_OK;
}
