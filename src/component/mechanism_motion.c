// SPDX-License-Identifier: Apache-2.0
/*
 * mechanism_motion.c — the motion of an embedded mechanism as a function of its independent coordinates [THEORY 5.8].
 *
 * Loops are closed from the reference configuration in steps of the independent coordinates that are short beside a radian
 * and the length of the loops' paths: the branch of the configuration (elbow up or down) is the one that the reference leads
 * to, whatever was evaluated before. Whole turns of an angle are left out of the way. With one independent coordinate the
 * configurations at whole steps are kept, as anchors: they too are functions of the reference alone.
 */
#include <math.h>
#include <string.h>

#include "base/cursor.h"
#include "base/error.h"
#include "component/mechanism_motion.h"
#include "dynamics/loop/loops.h"

static const double STEP = 0.1;        // [rad], or of the length
static const double NEAR = 1e-6;       // residuals on the way
static const double TOLERANCE = 1e-15; // at its end: as far as round-off lets them
static const double DEAD = 1e-3;       // pivots of the map, beside those of the reference
enum { MOST_STEPS = 1000 };

/* ---- memory -------------------------------------------------------------------------------------------------- */

static void layout_mechanism_work(const Mechanism *m, MechanismWork *w, Cursor *cursor) {
	const size_t nu = (size_t)m->model->nu, nq = (size_t)m->model->nq, dofs = (size_t)m->dofs;
	cursor_array(cursor, 1, sizeof *w);
	CURSOR_ARRAY(cursor, w->key_q, dofs);
	CURSOR_ARRAY(cursor, w->key_u, dofs);
	CURSOR_ARRAY(cursor, w->q, nq);
	CURSOR_ARRAY(cursor, w->u, nu);
	CURSOR_ARRAY(cursor, w->udot, nu);
	CURSOR_ARRAY(cursor, w->J, 6 * nu);
	CURSOR_ARRAY(cursor, w->force, nu);
	for (int side = 0; side < 2; ++side)
		CURSOR_ARRAY(cursor, w->anchor[side], dofs == 1 ? (MECHANISM_ANCHORS + 1) * nq : 0);
	CURSOR_ARRAY(cursor, w->projection_block, projection_size(m->model));
	CURSOR_ARRAY(cursor, w->work_block, cal_work_size(m->model));
}

size_t mechanism_work_size(const Mechanism *mechanism) {
	MechanismWork counted;
	Cursor cursor = {0};
	layout_mechanism_work(mechanism, &counted, &cursor);
	return cursor_size(&cursor);
}

MechanismWork *mechanism_work(const Mechanism *mechanism, void *block) {
	MechanismWork *w = block;
	if (w->ready)
		return w;
	Cursor cursor = {.base = block, .size = mechanism_work_size(mechanism)};
	layout_mechanism_work(mechanism, w, &cursor);
	w->length = fmax(loop_longest_reach(mechanism->model), 1e-300);
	w->projection = projection_init(mechanism->model, w->projection_block, projection_size(mechanism->model));
	w->ready = cal_work_init(mechanism->model, w->work_block, cal_work_size(mechanism->model), &w->work) == CAL_OK;
	return w;
}

/* ---- positions ----------------------------------------------------------------------------------------------- */

/* The way from the reference to an independent coordinate, without whole turns. */
static double way_to(const Mechanism *m, const double *q, int i) {
	const double way = q[i] - m->start[i], turn = 6.283185307179586;
	return m->turns[i] ? way - turn * round(way / turn) : way;
}

/* Where the independent coordinates are put, loops are closed by the others. */
static CalStatus close_loops(const Mechanism *m, double tolerance, MechanismWork *w) {
	CalState state = {.q = w->q, .u = w->u};
	const CalProjectOptions options = {.frozen = m->independent, .tolerance = tolerance, .euclidean = 1, .search = -1};
	memset(w->u, 0, sizeof(double) * (size_t)m->model->nu);
	return cal_loop_project(m->model, &state, &options, w->work, NULL);
}

/* From w->q, where the independent coordinates are `from`, to q in steps. */
static CalStatus follow(const Mechanism *m, MechanismWork *w, const double *q, double from) {
	double most = 0;
	for (int i = 0; i < m->dofs; ++i)
		most = fmax(most, fabs(way_to(m, q, i)) / (m->turns[i] ? 1 : w->length));
	const int steps = 1 + (int)fmin(MOST_STEPS, fmax(0, most - from) / STEP);
	for (int s = 1; s <= steps; ++s) {
		const double share = most > 0 ? (from + (most - from) * s / steps) / most : 1;
		for (int i = 0; i < m->dofs; ++i)
			w->q[m->at[i]] = s < steps ? m->start[i] + way_to(m, q, i) * share : q[i];
		const CalStatus status = close_loops(m, s < steps ? NEAR : TOLERANCE, w);
		if (status != CAL_OK)
			return status;
	}
	return CAL_OK;
}

/* Anchor k to a side of the reference, and those on the way to it. */
static CalStatus find_anchor(const Mechanism *m, MechanismWork *w, int side, int k) {
	const size_t nq = (size_t)m->model->nq, size = sizeof(double) * nq;
	const double step = (side ? -STEP : STEP) * (m->turns[0] ? 1 : w->length);
	memcpy(w->anchor[side], m->q, size);
	for (int i = w->anchors[side] + 1; i <= k; ++i) {
		memcpy(w->q, w->anchor[side] + (size_t)(i - 1) * nq, size);
		w->q[m->at[0]] = m->start[0] + step * i;
		const CalStatus status = close_loops(m, NEAR, w);
		if (status != CAL_OK)
			return status;
		memcpy(w->anchor[side] + (size_t)i * nq, w->q, size);
		w->anchors[side] = i;
	}
	memcpy(w->q, w->anchor[side] + (size_t)k * nq, size);
	return CAL_OK;
}

static CalStatus solve_positions(const Mechanism *m, MechanismWork *w, const double *q) {
	memcpy(w->q, m->q, sizeof(double) * (size_t)m->model->nq);
	if (m->dofs != 1)
		return follow(m, w, q, 0);
	const double way = way_to(m, q, 0) / (m->turns[0] ? 1 : w->length);
	const int k = (int)fmin(MECHANISM_ANCHORS, fabs(way) / STEP);
	const CalStatus status = find_anchor(m, w, way < 0, k);
	return status == CAL_OK ? follow(m, w, q, k * STEP) : status;
}

/* ---- speeds -------------------------------------------------------------------------------------------------- */

static CalStatus update_map_at(const Mechanism *m, MechanismWork *w, double *q) {
	const CalState state = {.q = q, .u = w->u};
	const CalProjectionOptions options = {.independent = m->independent};
	return cal_projection_update(w->projection, &state, &options, w->work);
}

/*
 * Next to a dead center, at an angle e, configurations that are right to 1e-16 leave a map that is wrong by 1e-16/e^2
 * (docs/decisions/0026-rank-of-loops-is-geometry.md). Steps that are adapted to errors would shrink in that noise and get nowhere: before
 * it reaches 1e-10 the motion ends.
 */
static CalStatus update_map(const Mechanism *m, MechanismWork *w) {
	CalStatus status = CAL_OK;
	if (w->least == 0) {
		status = update_map_at(m, w, m->q);
		w->least = status == CAL_OK ? DEAD * w->projection->least : 0;
	}
	if (status == CAL_OK)
		status = update_map_at(m, w, w->q);
	return status == CAL_OK && w->projection->least < w->least ? CAL_SINGULAR : status;
}

/* X, then the speeds of all, then what they accelerate by. */
static CalStatus solve_speeds(const Mechanism *m, MechanismWork *w) {
	memset(w->u, 0, sizeof(double) * (size_t)m->model->nu);
	CalStatus status = update_map(m, w);
	if (status == CAL_OK)
		status = cal_projection_speeds(w->projection, w->key_u, w->u);
	return status == CAL_OK ? update_map(m, w) : status;
}

static int is_same(const double *a, const double *b, int n) { return memcmp(a, b, sizeof(double) * (size_t)n) == 0; }

static int are_finite(int n, const double *q, const double *u) {
	int finite = 1;
	for (int i = 0; i < n; ++i)
		finite &= isfinite(q[i]) && (!u || isfinite(u[i]));
	return finite;
}

static CalStatus find_motion(const Mechanism *mechanism, MechanismWork *w, const double *q, const double *u) {
	const int n = mechanism->dofs;
	CalStatus status = !w->ready ? CAL_ERR_MEMORY : are_finite(n, q, u) ? CAL_OK : CAL_NOT_FINITE;
	if (status != CAL_OK)
		return status;
	if (!w->closed || !is_same(w->key_q, q, n)) {
		w->closed = w->moving = 0;
		memcpy(w->key_q, q, sizeof(double) * (size_t)n);
		status = solve_positions(mechanism, w, q);
		w->closed = status == CAL_OK;
	}
	for (int i = 0; i < n && status == CAL_OK; ++i) {
		w->moving &= w->key_u[i] == (u ? u[i] : 0);
		w->key_u[i] = u ? u[i] : 0;
	}
	if (status == CAL_OK && !w->moving) {
		w->swept = 0;
		status = solve_speeds(mechanism, w);
		w->moving = status == CAL_OK;
	}
	return status;
}

CalStatus mechanism_move(const Mechanism *mechanism, MechanismWork *w, const double *q, const double *u) {
	w->fault = find_motion(mechanism, w, q, u);
	return w->fault;
}

/* ---- calls --------------------------------------------------------------------------------------------------- */

static MechanismWork *work_of(const Mechanism *m, CalWork *work) {
	return mechanism_work(m, work->flex[m->flex].user_scratch);
}

CalStatus cal_mechanism_motion(const CalModel *model, int mechanism, const CalState *state, const double *udot,
                               CalWork *work, const double **q, const double **u, const double **accelerations) {
	if (!model || !state || !work || work->model != model || mechanism < 0 || mechanism >= model->mechanism_count ||
	    (accelerations && !udot))
		return CAL_ERR_ARGUMENT;
	const Mechanism *m = model->mechanisms[mechanism];
	const Flex *flex = &model->flexes[m->flex];
	MechanismWork *w = work_of(m, work);
	const CalStatus status = mechanism_move(m, w, state->q + flex->q, state->u + flex->u);
	if (status != CAL_OK)
		return status;
	if (q)
		*q = w->q;
	if (u)
		*u = w->u;
	if (accelerations) {
		w->swept = 0;
		cal_projection_accelerations(w->projection, udot + flex->u, w->udot);
		*accelerations = w->udot;
	}
	return CAL_OK;
}

static CalStatus explain(const Mechanism *m, CalStatus status, CalError *error) {
	char joint[96] = "";
	cal_model_dof_name(m->model, m->dof[0], joint, sizeof joint);
	if (status == CAL_NOT_FINITE)
		return error_set(error, status, "embedded loop \"%s\": joint \"%s\": its coordinate or speed is not finite",
		                 m->name, joint);
	if (status == CAL_SINGULAR || status == CAL_ERR_ARGUMENT)
		return error_set(error, CAL_SINGULAR,
		                 "embedded loop \"%s\": its configuration is singular: the independent joint \"%s\"%s does not "
		                 "determine the others here (a dead center); choose another independent joint, or do not embed "
		                 "the loop",
		                 m->name, joint, m->dofs > 1 ? " with the others" : "");
	return error_set(error, status,
	                 "embedded loop \"%s\": the loop cannot be closed where the independent joint \"%s\"%s is now; "
	                 "choose another independent joint, or do not embed the loop",
	                 m->name, joint, m->dofs > 1 ? " with the others" : "");
}

CalStatus cal_mechanism_fault(const CalModel *model, const CalState *state, CalWork *work, CalError *error) {
	if (!model || !state || !work || work->model != model)
		return error_set(error, CAL_ERR_ARGUMENT, "cal_mechanism_fault: model, state or work is missing");
	for (int i = 0; i < model->mechanism_count; ++i) {
		const Mechanism *m = model->mechanisms[i];
		const Flex *flex = &model->flexes[m->flex];
		const CalStatus status = mechanism_move(m, work_of(m, work), state->q + flex->q, state->u + flex->u);
		if (status != CAL_OK)
			return explain(m, status, error);
	}
	return CAL_OK;
}

CalStatus mechanism_last_fault(const CalModel *model, const CalWork *work, CalError *error) {
	for (int i = 0; i < model->mechanism_count; ++i) {
		const Mechanism *m = model->mechanisms[i];
		const MechanismWork *w = work->flex[m->flex].user_scratch;
		if (w->fault != CAL_OK)
			return explain(m, w->fault, error);
	}
	return CAL_OK;
}
