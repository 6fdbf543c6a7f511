// SPDX-License-Identifier: Apache-2.0
/*
 * null_space.c — motions that loops and prescribed degrees of freedom leave [THEORY (9.5)]: N is the map X of the
 * independent speeds (dynamics/projection.c), prescribed ones being held.
 *
 * Its derivatives along the motion are differences over five states on a path with the velocity and the acceleration of the
 * motion, each closed again: what the path lacks is of third order, which the formulas do not see.
 */
#include <math.h>
#include <string.h>

#include <calder/loops.h>

#include "dynamics/projection.h"
#include "linear/system_matrices.h"
#include "loop/loop_type.h"
#include "model/model.h"

const char *nonholonomic_loop(const CalModel *model) {
	for (int i = 0; i < model->loop_count; i++)
		if (loop_type(model->loops[i].type)->speeds > 0)
			return model->loops[i].name;
	return NULL;
}

void null_space_layout(const CalModel *model, Cursor *cursor, NullSpace *space) {
	const size_t nu = (size_t)cal_model_u_count(model), rows = (size_t)cal_model_row_count(model);
	const size_t size = projection_size(model);
	char *block;
	CURSOR_ARRAY(cursor, space->G, rows * nu);
	CURSOR_ARRAY(cursor, space->gamma, rows);
	CURSOR_ARRAY(cursor, space->dof, nu);
	CURSOR_ARRAY(cursor, space->dependent, nu);
	CURSOR_ARRAY(cursor, space->frozen, nu);
	CURSOR_ARRAY(cursor, space->independent, nu);
	CURSOR_ARRAY(cursor, block, size);
	if (cursor->base)
		space->projection = projection_init(model, block, size);
}

/* Independent speeds to `dof`, those that follow from them to `dependent`. */
static void sort_speeds(NullSpace *s, int nu) {
	const uint8_t *independent = cal_projection_independent(s->projection);
	s->count = s->rank = 0;
	for (int i = 0; i < nu; i++) {
		if (independent[i])
			s->dof[s->count++] = i;
		else if (!s->frozen[i])
			s->dependent[s->rank++] = i;
	}
}

CalStatus null_space_find(const CalModel *model, const CalState *state, CalWork *work, NullSpace *s) {
	const CalProjectionOptions options = {.held = s->frozen};
	CalStatus status = cal_projection_update(s->projection, state, &options, work);
	if (status == CAL_OK && cal_model_row_count(model) > 0)
		status = cal_loop_jacobian(model, state, work, s->G, s->gamma);
	if (status != CAL_OK)
		return status;
	sort_speeds(s, cal_model_u_count(model));
	s->N = cal_projection_map(s->projection);
	return CAL_OK;
}

/* Rows of speeds that move alone need no sum. */
void null_space_project(const NullSpace *s, int nu, const double *A, double *scratch, double *out) {
	const size_t n = (size_t)s->count;
	for (int i = 0; i < nu; i++) { // scratch = A N
		double *row = scratch + (size_t)i * n;
		const double *a = A + (size_t)i * (size_t)nu;
		for (size_t k = 0; k < n; k++)
			row[k] = a[s->dof[k]];
		for (int d = 0; d < s->rank; d++) {
			const double *N = s->N + (size_t)s->dependent[d] * n;
			for (size_t k = 0; k < n; k++)
				row[k] += a[s->dependent[d]] * N[k];
		}
	}
	for (size_t k = 0; k < n; k++)
		memcpy(out + k * n, scratch + (size_t)s->dof[k] * n, n * sizeof *out);
	for (int d = 0; d < s->rank; d++) {
		const double *N = s->N + (size_t)s->dependent[d] * n, *row = scratch + (size_t)s->dependent[d] * n;
		for (size_t k = 0; k < n; k++)
			for (size_t j = 0; N[k] != 0 && j < n; j++)
				out[k * n + j] += N[k] * row[j];
	}
}

/* ---- along the motion -------------------------------------------------------------------------- */

/* How fast the fastest coordinate moves, in units of its scale [1/s]. */
static double fastest(int nu, const double *u, const double *udot, const double *scale) {
	double rate = 0;
	for (int i = 0; i < nu; i++)
		rate = fmax(rate, fmax(fabs(u[i]) / scale[i], sqrt(fabs(udot[i]) / scale[i])));
	return rate;
}

/* The state at a time t from now, with its loops closed. */
static CalStatus move_along(const CalModel *model, const CalState *state, double t, CalWork *work, NullSpaceRates *r,
                            const uint8_t *frozen) {
	const CalProjectOptions options = {.frozen = frozen};
	for (int i = 0; i < cal_model_u_count(model); i++)
		r->way[i] = t * state->u[i] + 0.5 * t * t * r->udot[i];
	cal_config_integrate(model, state->q, r->way, r->at.q);
	memcpy(r->at.u, state->u, sizeof(double) * (size_t)cal_model_u_count(model));
	r->at.t = state->t + t;
	return cal_loop_project(model, &r->at, &options, work, NULL);
}

CalStatus null_space_rates(const CalModel *model, const CalState *state, CalWork *work, NullSpace *s, NullSpaceRates *r,
                           bool *moves) {
	static const double step = 3e-3, at_rest = 1e-6;
	static const struct {
		double at, first, second;
	} points[] = {{0, 0, -30}, {1, 8, 16}, {-1, -8, 16}, {2, -1, -1}, {-2, 1, -1}};
	const int nu = cal_model_u_count(model);
	const size_t size = (size_t)nu * (size_t)s->count;
	const double rate = fastest(nu, state->u, r->udot, r->scale), h = step / rate;
	uint8_t *chosen = s->independent;
	*moves = cal_model_row_count(model) > 0 && rate > at_rest;
	memset(r->first, 0, size * sizeof *r->first);
	memset(r->second, 0, size * sizeof *r->second);
	memcpy(chosen, cal_projection_independent(s->projection), (size_t)nu);
	const CalProjectionOptions options = {.held = s->frozen, .independent = chosen};
	for (size_t p = 0; *moves && p < sizeof points / sizeof *points; p++) {
		CalStatus status = move_along(model, state, points[p].at * h, work, r, s->frozen);
		if (status == CAL_OK)
			status = cal_projection_update(s->projection, &r->at, &options, work);
		if (status != CAL_OK)
			return status;
		const double *N = cal_projection_map(s->projection);
		for (size_t i = 0; i < size; i++) {
			r->first[i] += points[p].first * N[i] / (12 * h);
			r->second[i] += points[p].second * N[i] / (12 * h * h);
		}
	}
	return CAL_OK;
}

void null_space_add(int nu, int n, const double *N, double factor, const double *A, const double *X, double *scratch,
                    double *out) {
	const size_t m = (size_t)nu, k = (size_t)n;
	memset(scratch, 0, m * k * sizeof *scratch);
	for (size_t i = 0; i < m; i++)
		for (size_t j = 0; j < m; j++)
			for (size_t c = 0; A[i * m + j] != 0 && c < k; c++)
				scratch[i * k + c] += A[i * m + j] * X[j * k + c];
	for (size_t i = 0; i < m; i++)
		for (size_t a = 0; a < k; a++)
			for (size_t c = 0; N[i * k + a] != 0 && c < k; c++)
				out[a * k + c] += factor * N[i * k + a] * scratch[i * k + c];
}
