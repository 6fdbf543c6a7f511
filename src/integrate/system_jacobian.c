// SPDX-License-Identifier: Apache-2.0
/*
 * system_jacobian.c — the Jacobian of the rates of a system: that of the dynamics analytically (calder/derivatives.h), with loops;
 * that of what acts by differences.
 *
 * With f the forces that the inputs give, udot = F(q, u, f): its columns are dF/dq, dF/du with f held, and M_c df. Only the inputs are
 * evaluated beside the state, and their forces gathered at the state itself: what these do on the way of their points is in dF/dq.
 *
 * Of the differences of both sides the smaller one is taken. Where a force jumps within one of them, that difference is a
 * stiffness that does not exist: an iteration with it moves by too little and ends far from the solution without a failed test.
 */
#include "integrate/system_jacobian.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/cursor.h"
#include "base/memory.h"

/* ---- making --------------------------------------------------------------------------------- */

static bool is_differentiated(const SystemPart *part) {
	return !part->is.motion && !part->all_prescribed && part->nu > 0 &&
	       (!part->is.branches || branches_know_all(part->is.branches));
}

static void layout_state(Cursor *cursor, const CalIntegrator *ig, CalState *state) {
	CURSOR_ARRAY(cursor, state->q, ig->nq);
	CURSOR_ARRAY(cursor, state->u, ig->nu);
	CURSOR_ARRAY(cursor, state->x, ig->nx);
}

static void layout(Cursor *cursor, const CalIntegrator *ig, SystemJacobian *j) {
	const size_t rows = (size_t)(j->nu + j->nx);
	size_t widest = 0;
	CURSOR_ARRAY(cursor, j->M, rows * (size_t)j->width);
	CURSOR_ARRAY(cursor, j->by_time, rows);
	for (int i = 0; i < ig->part_count; i++) {
		const size_t nu = (size_t)ig->parts[i].nu;
		CURSOR_ARRAY(cursor, j->parts[i].Minv, nu * nu);
		widest = nu > widest ? nu : widest;
	}
	for (int i = 0; i < 2; i++) {
		CURSOR_ARRAY(cursor, j->square[i], widest * widest);
		CURSOR_ARRAY(cursor, j->side[i], rows);
	}
	for (int i = 0; i < 3; i++) {
		CURSOR_ARRAY(cursor, j->force[i], ig->nu);
		CURSOR_ARRAY(cursor, j->rate[i], ig->nx);
	}
	layout_state(cursor, ig, &j->at);
	layout_state(cursor, ig, &j->moved);
}

static CalStatus create_parts(const CalIntegrator *ig, SystemJacobian *j) {
	CalStatus status = CAL_OK;
	for (int i = 0; i < ig->part_count && status == CAL_OK; i++) {
		if (!is_differentiated(&ig->parts[i]))
			continue;
		status = cal_derivatives_create(ig->parts[i].is.model, &j->parts[i].derivatives);
		if (status == CAL_OK)
			status = cal_work_create(ig->parts[i].is.model, &j->parts[i].work);
	}
	return status;
}

CalStatus system_jacobian_create(const CalIntegrator *ig, SystemJacobian *j) {
	const CalAllocator allocator = allocator_or_default(NULL);
	Cursor cursor = {0};
	*j = (SystemJacobian){.nu = ig->nu, .nx = ig->checked_x, .width = 2 * ig->nu + ig->checked_x};
	j->parts = memory_alloc_zeroed(&allocator, (size_t)ig->part_count * sizeof *j->parts);
	if (!j->parts)
		return CAL_ERR_MEMORY;
	layout(&cursor, ig, j);
	j->memory = cursor_alloc_zeroed(&cursor, &allocator);
	if (!j->memory)
		return CAL_ERR_MEMORY;
	layout(&cursor, ig, j);
	return create_parts(ig, j);
}

void system_jacobian_release(const CalIntegrator *ig, SystemJacobian *j) {
	const CalAllocator allocator = allocator_or_default(NULL);
	for (int i = 0; j->parts && i < ig->part_count; i++) {
		cal_derivatives_destroy(j->parts[i].derivatives);
		cal_work_destroy(j->parts[i].work);
	}
	memory_free(&allocator, j->memory);
	memory_free(&allocator, j->parts);
}

/* ---- what acts -------------------------------------------------------------------------------- */

/* Generalized forces on all differentiated parts by the inputs at `state`, and rates of states x. */
static CalStatus find_forces(CalIntegrator *ig, SystemJacobian *j, const CalState *state, int side) {
	CalStatus status = system_inputs(ig, state, j->rate[side]);
	for (int i = 0; i < ig->part_count && status == CAL_OK; i++) {
		const SystemPart *part = &ig->parts[i];
		const CalInput *input = &ig->inputs[i];
		double *force = j->force[side] + part->u;
		memset(force, 0, (size_t)part->nu * sizeof *force);
		if (!j->parts[i].derivatives)
			continue;
		const CalState at = {.t = j->at.t, .q = j->at.q + part->q, .u = j->at.u + part->u};
		if (input->wrench_count > 0)
			status = cal_external_forces(part->is.model, &at, input, j->parts[i].work, force);
		for (int u = 0; input->tau && u < part->nu; u++)
			force[u] += input->tau[u];
	}
	return status;
}

/* ---- dynamics ----------------------------------------------------------------------------------- */

/* Its blocks; nothing where the part is singular. */
static CalStatus differentiate_part(CalIntegrator *ig, SystemJacobian *j, int i) {
	const SystemPart *part = &ig->parts[i];
	const size_t nu = (size_t)part->nu, width = (size_t)j->width, bytes = nu * sizeof(double);
	const CalState at = {.t = j->at.t, .q = j->at.q + part->q, .u = j->at.u + part->u};
	const CalStatus status = cal_forward_derivatives(part->is.model, &at, &ig->inputs[i], j->parts[i].derivatives, NULL,
	                                                 j->square[0], j->square[1], j->parts[i].Minv);
	if (status != CAL_OK)
		memset(j->parts[i].Minv, 0, nu * bytes);
	for (size_t r = 0; r < nu && status == CAL_OK; r++) {
		double *row = j->M + ((size_t)part->u + r) * width + part->u;
		memcpy(row, j->square[0] + r * nu, bytes);
		memcpy(row + j->nu, j->square[1] + r * nu, bytes);
	}
	return status < 0 ? status : CAL_OK;
}

/* ---- columns ------------------------------------------------------------------------------------- */

bool system_moves(const CalIntegrator *ig, int u) {
	for (int k = 0; k < ig->part_count; k++) {
		const SystemPart *part = &ig->parts[k];
		if (u >= part->u && u < part->u + part->nu)
			return !part->is.motion;
	}
	return true;
}

/* What a number is large or small beside: of displacements 1 rad or 1 m, of u and x what atol takes for zero. */
static double step_of(const CalIntegrator *ig, const SystemJacobian *j, int column) {
	const double least = 1e-6, rtol = ig->options.rtol, root = sqrt(DBL_EPSILON);
	if (column == j->width) // seconds that the clock resolves
		return fmax(root, 1e3 * DBL_EPSILON * fabs(j->at.t));
	if (column < j->nu)
		return root;
	const double value = column < 2 * j->nu ? j->at.u[column - j->nu] : j->at.x[column - 2 * j->nu];
	return root * fmax(fabs(value), rtol > 0 ? fmax(ig->options.atol / rtol, least) : 1);
}

/* The state moved along a column; returns by how much. */
static double move_along(const CalIntegrator *ig, SystemJacobian *j, int column, double step) {
	const CalState *at = &j->at;
	memcpy(j->moved.q, at->q, (size_t)ig->nq * sizeof(double));
	memcpy(j->moved.u, at->u, (size_t)ig->nu * sizeof(double));
	if (ig->nx > 0)
		memcpy(j->moved.x, at->x, (size_t)ig->nx * sizeof(double));
	j->moved.t = at->t;
	if (column == j->width) {
		j->moved.t = at->t + step;
		return j->moved.t - at->t;
	}
	if (column < j->nu) {
		double *way = j->force[1];
		memset(way, 0, (size_t)ig->nu * sizeof *way);
		way[column] = step;
		system_integrate(ig, at->q, way, j->moved.q);
		return step;
	}
	double *to = column < 2 * j->nu ? &j->moved.u[column - j->nu] : &j->moved.x[column - 2 * j->nu];
	const double kept = *to;
	*to += step;
	return *to - kept;
}

/* (M_c df, dxdot) over the displacement; returns its largest element. */
static double find_side(const CalIntegrator *ig, SystemJacobian *j, double change, double *side) {
	double most = 0;
	for (int i = 0; i < ig->part_count; i++) {
		const SystemPart *part = &ig->parts[i];
		const size_t nu = (size_t)part->nu;
		double *out = side + part->u, *force = j->force[1] + part->u;
		memset(out, 0, nu * sizeof *out);
		for (size_t k = 0; k < nu && j->parts[i].derivatives; k++) {
			const double slope = (force[k] - j->force[0][(size_t)part->u + k]) / change;
			for (size_t r = 0; r < nu && slope != 0; r++)
				out[r] += j->parts[i].Minv[r * nu + k] * slope;
		}
	}
	for (int i = 0; i < j->nx; i++)
		side[j->nu + i] = (j->rate[1][i] - j->rate[0][i]) / change;
	for (int i = 0; i < j->nu + j->nx; i++)
		most = fmax(most, fabs(side[i]));
	return most;
}

/* Column `width` is that of time. */
static CalStatus add_column(CalIntegrator *ig, SystemJacobian *j, int column) {
	const double step = step_of(ig, j, column);
	double size[2] = {0, 0};
	for (int k = 0; k < 2; k++) {
		const double change = move_along(ig, j, column, k ? -step : step);
		const CalStatus status = find_forces(ig, j, &j->moved, 1);
		if (status != CAL_OK)
			return status;
		size[k] = find_side(ig, j, change, j->side[k]);
	}
	const double *smaller = j->side[size[0] <= size[1] ? 0 : 1];
	for (int r = 0; r < j->nu + j->nx && column < j->width; r++)
		j->M[(size_t)r * (size_t)j->width + (size_t)column] += smaller[r];
	if (column == j->width)
		memcpy(j->by_time, smaller, (size_t)(j->nu + j->nx) * sizeof *smaller);
	return CAL_OK;
}

CalStatus system_jacobian_find(CalIntegrator *ig, SystemJacobian *j, const CalState *state) {
	memset(j->M, 0, (size_t)(j->nu + j->nx) * (size_t)j->width * sizeof(double));
	j->at.t = state->t;
	memcpy(j->at.q, state->q, (size_t)ig->nq * sizeof(double));
	memcpy(j->at.u, state->u, (size_t)ig->nu * sizeof(double));
	if (ig->nx > 0)
		memcpy(j->at.x, state->x, (size_t)ig->nx * sizeof(double));
	CalStatus status = find_forces(ig, j, &j->at, 0);
	for (int i = 0; i < ig->part_count && status == CAL_OK; i++)
		if (j->parts[i].derivatives)
			status = differentiate_part(ig, j, i);
	const bool acts = ig->input || ig->options.input;
	for (int column = 0; column <= j->width && acts && status == CAL_OK; column++)
		if (column >= 2 * j->nu || system_moves(ig, column % j->nu))
			status = add_column(ig, j, column);
	return status;
}
