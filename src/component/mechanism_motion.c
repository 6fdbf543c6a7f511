// SPDX-License-Identifier: Apache-2.0
/*
 * mechanism_motion.c — the motion of an embedded mechanism as a function of its independent coordinates [THEORY 5.8].
 *
 * Loops are closed from the reference configuration in steps of the independent coordinates that are short beside a radian
 * and the length of the loops' paths: the branch of the configuration (elbow up or down) is the one that the reference leads
 * to, whatever was evaluated before. Whole turns of an angle are left out of the way. With one independent coordinate the
 * configurations at whole steps are kept, as anchors: they too are functions of the reference alone. Between two of them
 * Hermite's polynomial of order five, of values and first and second derivatives, is off by about 1e-9, so that one step
 * of Newton closes the loops.
 */
#include <math.h>
#include <string.h>

#include "base/cursor.h"
#include "base/error.h"
#include "component/mechanism_motion.h"
#include "dynamics/loop/loops.h"
#include "dynamics/tree/kinematics.h"

static const double STEP = 0.1;        // [rad], or of the length
static const double APART = 0.05;      // of anchors, the same
static const double NEAR = 1e-6;       // residuals on the way
static const double TOLERANCE = 1e-15; // at its end: as far as round-off lets them
static const double DEAD = 1e-3;       // pivots of the map, beside those of the reference
enum { MOST_STEPS = 1000, NEWTON_STEPS = 6 };

/* ---- memory -------------------------------------------------------------------------------------------------- */

static void layout_anchors(const Mechanism *m, MechanismAnchor **anchors, Cursor *cursor) {
	const size_t nq = (size_t)m->model->nq;
	CURSOR_ARRAY(cursor, *anchors, MECHANISM_ANCHORS + 1);
	for (int i = 0; i <= MECHANISM_ANCHORS; ++i) {
		MechanismAnchor anchor = {0};
		CURSOR_ARRAY(cursor, anchor.q, nq);
		CURSOR_ARRAY(cursor, anchor.slope, nq);
		CURSOR_ARRAY(cursor, anchor.curvature, nq);
		if (cursor->base)
			(*anchors)[i] = anchor;
	}
}

static void layout_mechanism_work(const Mechanism *m, MechanismWork *w, Cursor *cursor) {
	const size_t nu = (size_t)m->model->nu, nq = (size_t)m->model->nq, dofs = (size_t)m->dofs;
	cursor_array(cursor, 1, sizeof *w);
	CURSOR_ARRAY(cursor, w->key_q, dofs);
	CURSOR_ARRAY(cursor, w->key_u, dofs);
	CURSOR_ARRAY(cursor, w->q, nq);
	CURSOR_ARRAY(cursor, w->begin, nq);
	CURSOR_ARRAY(cursor, w->u, nu);
	CURSOR_ARRAY(cursor, w->udot, nu);
	CURSOR_ARRAY(cursor, w->J, 6 * nu);
	CURSOR_ARRAY(cursor, w->force, nu);
	for (int side = 0; side < 2 && dofs == 1; ++side)
		layout_anchors(m, &w->anchor[side], cursor);
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

/* ---- the map and Newton's method ------------------------------------------------------------------------------- */

/* Equations at w->q. */
static void evaluate_rows(const Mechanism *m, MechanismWork *w, const double *u) {
	kinematics_outward(m->model, w->q, u, w->work);
	loop_rows(m->model, &(LoopContext){.q = w->q, .u = u, .plain = 1}, w->work);
}

/* Closed from w->q, which is near, by whole steps of Newton. Otherwise w->q is lost. */
static CalStatus close_quickly(const Mechanism *m, MechanismWork *w) {
	double before = INFINITY;
	int where;
	for (int i = 0; i < NEWTON_STEPS; ++i) {
		evaluate_rows(m, w, w->work->loops.rest);
		const double residual = loop_largest_value(m->model, w->work, &where);
		if (residual <= loop_round_off(m->model, w->work)) {
			w->at_rest = 1;
			return CAL_OK;
		}
		if (!(residual < before))
			return CAL_NOT_CONVERGED;
		before = residual;
		loop_jacobian(m->model, w->work);
		const CalStatus status = projection_refresh(w->projection, m->independent, w->work);
		if (status != CAL_OK)
			return status;
		cal_config_integrate(m->model, w->q, w->projection->drift, w->q);
	}
	return CAL_NOT_CONVERGED;
}

/* X at w->q, then all speeds u from the independent ones v, then what they accelerate by. */
static CalStatus solve_map(const Mechanism *m, MechanismWork *w, const double *v) {
	if (!w->at_rest)
		evaluate_rows(m, w, w->work->loops.rest);
	w->at_rest = 0;
	loop_jacobian(m->model, w->work);
	CalStatus status = projection_refresh(w->projection, m->independent, w->work);
	if (status != CAL_OK)
		return status;
	memset(w->projection->drift, 0, sizeof(double) * (size_t)m->model->nu);
	cal_projection_speeds(w->projection, v, w->u);
	evaluate_rows(m, w, w->u);
	status = projection_refresh(w->projection, m->independent, w->work);
	memset(w->projection->drift, 0, sizeof(double) * (size_t)m->model->nu);
	return status;
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
	w->at_rest = 0;
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
		memcpy(w->begin, w->q, sizeof(double) * (size_t)m->model->nq);
		CalStatus status = close_quickly(m, w);
		if (status != CAL_OK) {
			memcpy(w->q, w->begin, sizeof(double) * (size_t)m->model->nq);
			status = close_loops(m, s < steps ? NEAR : TOLERANCE, w);
		}
		if (status != CAL_OK)
			return status;
	}
	return CAL_OK;
}

/* Derivatives at an anchor, w->q: those of a motion at unit speed. */
static void differentiate_anchor(const Mechanism *m, MechanismWork *w, MechanismAnchor *anchor) {
	static const double unit = 1;
	const size_t size = sizeof(double) * (size_t)m->model->nq;
	w->at_rest = 0;
	anchor->smooth = m->model->nq == m->model->nu && solve_map(m, w, &unit) == CAL_OK;
	if (!anchor->smooth)
		return;
	memcpy(anchor->slope, w->u, size);
	memcpy(anchor->curvature, w->projection->bias, size);
}

/* Anchor k to a side of the reference, and those on the way to it; its configuration in w->q. */
static CalStatus find_anchor(const Mechanism *m, MechanismWork *w, int side, int k) {
	const size_t size = sizeof(double) * (size_t)m->model->nq;
	const double step = (side ? -APART : APART) * (m->turns[0] ? 1 : w->length);
	MechanismAnchor *anchor = w->anchor[side];
	for (int i = w->anchors[side]; i <= k; ++i) {
		CalStatus status = w->unreachable[side];
		memcpy(w->q, i > 0 ? anchor[i - 1].q : m->q, size);
		if (i > 0 && status == CAL_OK) {
			w->q[m->at[0]] = m->start[0] + step * i;
			status = close_loops(m, NEAR, w);
		}
		w->unreachable[side] = status;
		if (status != CAL_OK)
			return status;
		memcpy(anchor[i].q, w->q, size);
		differentiate_anchor(m, w, &anchor[i]);
		w->anchors[side] = i + 1;
	}
	memcpy(w->q, anchor[k].q, size);
	return CAL_OK;
}

/* w->q between two anchors, at s of the step h from the first. */
static void interpolate(const Mechanism *m, const MechanismAnchor *a, const MechanismAnchor *b, double s, double h,
                        MechanismWork *w) {
	const double s2 = s * s, s3 = s2 * s, s4 = s3 * s, s5 = s4 * s, rise = 10 * s3 - 15 * s4 + 6 * s5;
	const double slope_a = h * (s - 6 * s3 + 8 * s4 - 3 * s5), slope_b = h * (7 * s4 - 4 * s3 - 3 * s5);
	const double curve_a = h * h * (s2 - 3 * s3 + 3 * s4 - s5) / 2, curve_b = h * h * (s3 - 2 * s4 + s5) / 2;
	for (int i = 0; i < m->model->nq; ++i)
		w->q[i] = a->q[i] + rise * (b->q[i] - a->q[i]) + slope_a * a->slope[i] + slope_b * b->slope[i] +
		          curve_a * a->curvature[i] + curve_b * b->curvature[i];
}

/* With one independent coordinate: between two anchors, or from the last one before it. */
static CalStatus solve_one(const Mechanism *m, MechanismWork *w, const double *q) {
	const double unit = m->turns[0] ? 1 : w->length, way = way_to(m, q, 0) / unit;
	const int k = (int)fmin(MECHANISM_ANCHORS, fabs(way) / APART), side = way < 0;
	CalStatus status = find_anchor(m, w, side, k);
	if (status != CAL_OK)
		return status;
	const MechanismAnchor *anchor = &w->anchor[side][k];
	if (k < MECHANISM_ANCHORS && find_anchor(m, w, side, k + 1) == CAL_OK && anchor[0].smooth && anchor[1].smooth) {
		interpolate(m, &anchor[0], &anchor[1], fabs(way) / APART - k, (side ? -APART : APART) * unit, w);
		w->q[m->at[0]] = q[0];
		if (close_quickly(m, w) == CAL_OK)
			return CAL_OK;
	}
	memcpy(w->q, anchor->q, sizeof(double) * (size_t)m->model->nq);
	return follow(m, w, q, k * APART);
}

static CalStatus solve_positions(const Mechanism *m, MechanismWork *w, const double *q) {
	w->at_rest = 0;
	if (m->dofs == 1)
		return solve_one(m, w, q);
	memcpy(w->q, m->q, sizeof(double) * (size_t)m->model->nq);
	return follow(m, w, q, 0);
}

/* ---- speeds -------------------------------------------------------------------------------------------------- */

/* The smallest pivot of the map at the reference. */
static CalStatus measure_reference(const Mechanism *m, MechanismWork *w) {
	const CalState state = {.q = m->q, .u = w->work->loops.rest};
	const CalProjectionOptions options = {.independent = m->independent};
	const CalStatus status = cal_projection_update(w->projection, &state, &options, w->work);
	w->least = status == CAL_OK ? DEAD * w->projection->least : 0;
	w->at_rest = 0;
	return status;
}

/*
 * Next to a dead center, at an angle e, configurations that are right to 1e-16 leave a map that is wrong by 1e-16/e^2
 * (docs/decisions/0026-rank-of-loops-is-geometry.md). Steps that are adapted to errors would shrink in that noise and get nowhere: before
 * it reaches 1e-10 the motion ends.
 */
static CalStatus solve_speeds(const Mechanism *m, MechanismWork *w) {
	CalStatus status = w->least == 0 ? measure_reference(m, w) : CAL_OK;
	if (status == CAL_OK)
		status = solve_map(m, w, w->key_u);
	return status == CAL_OK && w->projection->least < w->least ? CAL_SINGULAR : status;
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
