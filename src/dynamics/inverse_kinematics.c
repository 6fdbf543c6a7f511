// SPDX-License-Identifier: Apache-2.0
/*
 * inverse_kinematics.c — Levenberg's and Marquardt's method on the manifold of the loops.
 *
 * Errors r of places, and of orientations times the size of the model; with u = X v (dynamics/projection.c) the step is
 *   (X'J'J X + lambda W) dv = X'J'r,   q <- q + X dv,   loops closed again
 * W counts each independent speed by the sum of squares of what it moves. A dof that a step takes to a limit stops there;
 * one that stands at a limit and would move on is held, and X found anew without it.
 */
#include <math.h>
#include <string.h>

#include <calder/inverse_kinematics.h>

#include "base/cursor.h"
#include "base/memory.h"
#include "dynamics/tree/kinematics.h"
#include "math/dense_factor.h"
#include "math/placement.h"
#include "math/portable.h"
#include "math/quat.h"

#if CAL_LANES == 1

static const double TOLERANCE = 1e-10;
static const double STAGNANT = 1e-13;  // of the cost, what a step must gain
static const double TOO_SHORT = 1e-15; // a step [rad]
static const double LONGEST = 0.3;     // the same: a longer one may get to another solution than the nearest
enum { ITERATIONS = 200, TRIES = 30, PER_TARGET = 6 };

typedef struct Reach {
	const CalModel *model;
	const CalNodeTarget *targets;
	int count, rows, nu;
	double size, tolerance; // of the model [m]
	const double *lower, *upper;
	CalState *state, kept;
	CalWork *work;
	CalProjection *projection;
	uint8_t *frozen, *held; // [nu] from the start; in this iteration
	int *q;                 // [nu] coordinate of a dof, -1: none of its own
	double *J;              // [6 nu] of one node
	double *r, *A, *g;      // [rows], [nu nu], [nu]
	double *rows_J;         // [rows nu] X applied: [rows m]
	double *dv, *dq;        // [nu]
	double cost, lambda;
} Reach;

/* ---- errors ------------------------------------------------------------------------------------------- */

/* Column k: an axis of the frame. */
static dvec3 axis_of(const CalMat3 *R, int k) { return (dvec3){R->m[0][k], R->m[1][k], R->m[2][k]}; }

/* The turn, as a vector in world axes, that takes direction a to b by the shorter way; half a turn is about `beside`. */
static dvec3 swing(dvec3 a, dvec3 b, dvec3 beside) {
	const dvec3 n = dcross(a, b);
	const double sine = sqrt(ddot(n, n)), cosine = ddot(a, b);
	if (!(sine > 1e-12))
		return dscale(cosine > 0 ? 0 : 3.14159265358979323846, beside);
	return dscale(portable_atan2(sine, cosine) / sine, n);
}

/* The turn that takes R to the target, world axes. */
static dvec3 whole_turn(const CalMat3 *R, const CalMat3 *target) {
	return dquat_log(quat_of_matrix(dmat_mul(dmat_in(target), dmat_transpose(dmat_in(R)))));
}

static dvec3 turn_to(const CalNodeTarget *t, const CalMat3 *R) {
	for (int f = 0; f < 3; ++f)
		if (t->rotation == (CAL_AXIS_XYZ & ~(1 << f)))
			return swing(axis_of(R, f), axis_of(&t->pose.R, f), axis_of(R, (f + 1) % 3));
	return whole_turn(R, &t->pose.R);
}

/* Errors of one target: turns about the axes of the target, then places along those of the world; those that do not count are 0. */
static void target_error(const CalNodeTarget *t, const CalPose *pose, double e[PER_TARGET]) {
	const dvec3 turn = t->rotation ? turn_to(t, &pose->R) : (dvec3){0, 0, 0};
	const double place[] = {t->pose.r.x - pose->r.x, t->pose.r.y - pose->r.y, t->pose.r.z - pose->r.z};
	for (int k = 0; k < 3; ++k) {
		e[k] = t->rotation & 1 << k ? ddot(axis_of(&t->pose.R, k), turn) : 0;
		e[3 + k] = t->translation & 1 << k ? place[k] : 0;
	}
}

/* Rows of the Jacobian of such errors, which fall as the node moves. */
static void add_target_rows(Reach *s, int i) {
	const CalNodeTarget *t = &s->targets[i];
	const size_t nu = (size_t)s->nu;
	for (int k = 0; k < 3; ++k) {
		const dvec3 axis = axis_of(&t->pose.R, k);
		double *turn = s->rows_J + (size_t)(PER_TARGET * i + k) * nu, *place = turn + 3 * nu;
		for (size_t u = 0; u < nu; ++u) {
			const dvec3 w = {s->J[u], s->J[nu + u], s->J[2 * nu + u]};
			turn[u] = t->rotation & 1 << k ? s->size * ddot(axis, w) : 0;
			place[u] = t->translation & 1 << k ? s->J[(size_t)(3 + k) * nu + u] : 0;
		}
	}
}

static CalStatus find_errors(Reach *s, double *cost) {
	CalStatus status = cal_kinematics(s->model, s->state, NULL, s->work);
	*cost = 0;
	for (int i = 0; i < s->count && status == CAL_OK; ++i) {
		CalPose pose;
		double *e = s->r + PER_TARGET * i;
		status = cal_node_pose(s->model, s->work, s->targets[i].node, &pose);
		target_error(&s->targets[i], &pose, e);
		for (int k = 0; k < PER_TARGET; ++k) {
			e[k] *= k < 3 ? s->size : 1;
			*cost += 0.5 * e[k] * e[k];
		}
	}
	return isfinite(*cost) ? status : CAL_NOT_FINITE;
}

static CalStatus find_rows(Reach *s) {
	CalStatus status = CAL_OK;
	for (int i = 0; i < s->count && status == CAL_OK; ++i) {
		status = cal_node_jacobian(s->model, s->work, s->targets[i].node, s->J);
		add_target_rows(s, i);
	}
	return status;
}

static void report_errors(const Reach *s, CalReach *report) {
	double worst = s->tolerance;
	*report = (CalReach){.target = -1, .iterations = report->iterations};
	for (int i = 0; i < s->count; ++i) {
		const double *e = s->r + PER_TARGET * i;
		const double angle = sqrt(e[0] * e[0] + e[1] * e[1] + e[2] * e[2]) / s->size;
		const double distance = sqrt(e[3] * e[3] + e[4] * e[4] + e[5] * e[5]);
		report->angle = fmax(report->angle, angle);
		report->distance = fmax(report->distance, distance);
		if (fmax(angle, distance / s->size) > worst) {
			worst = fmax(angle, distance / s->size);
			report->target = i;
		}
	}
}

/* ---- a step --------------------------------------------------------------------------------------------- */

static double lower_of(const Reach *s, int u) { return s->lower && s->q[u] >= 0 ? s->lower[u] : -INFINITY; }
static double upper_of(const Reach *s, int u) { return s->upper && s->q[u] >= 0 ? s->upper[u] : INFINITY; }

/* A'A and A'r of the errors over the independent speeds; m of them. */
static void find_normal(Reach *s, const double *X, size_t m) {
	const size_t nu = (size_t)s->nu;
	memset(s->A, 0, m * m * sizeof *s->A);
	memset(s->g, 0, m * sizeof *s->g);
	for (int i = 0; i < s->rows; ++i) {
		const double *row = s->rows_J + (size_t)i * nu;
		double *a = s->dv; // J X of this row
		memset(a, 0, m * sizeof *a);
		for (size_t u = 0; u < nu; ++u)
			for (size_t k = 0; row[u] != 0 && k < m; ++k)
				a[k] += row[u] * X[u * m + k];
		for (size_t k = 0; k < m; ++k) {
			s->g[k] += a[k] * s->r[i];
			for (size_t j = 0; a[k] != 0 && j <= k; ++j)
				s->A[k * m + j] += a[k] * a[j];
		}
	}
}

/* dq = X dv of the damped equations; false: there is none. */
static int solve_step(Reach *s, const double *X, size_t m) {
	double most = 0;
	find_normal(s, X, m);
	for (size_t k = 0; k < m; ++k)
		most = fmax(most, s->A[k * m + k]);
	if (!(most > 0))
		return 0;
	for (size_t k = 0; k < m; ++k) // those that move nothing stay where they are
		s->A[k * m + k] += s->lambda * fmax(s->A[k * m + k], 1e-6 * most);
	memcpy(s->dv, s->g, m * sizeof *s->dv);
	if (factor_lower(s->A, (int)m) >= 0)
		return 0;
	factor_forward(s->A, (int)m, s->dv);
	factor_backward(s->A, (int)m, s->dv);
	for (size_t u = 0; u < (size_t)s->nu; ++u) {
		s->dq[u] = 0;
		for (size_t k = 0; k < m; ++k)
			s->dq[u] += X[u * m + k] * s->dv[k];
	}
	return 1;
}

/* Holds dofs that stand at a limit and would move on; returns how many. */
static int hold_limited(Reach *s) {
	int count = 0;
	for (int u = 0; u < s->nu; ++u) {
		if (s->held[u] || s->q[u] < 0)
			continue;
		const double q = s->kept.q[s->q[u]];
		if ((q >= upper_of(s, u) && s->dq[u] > 0) || (q <= lower_of(s, u) && s->dq[u] < 0))
			s->held[u] = 1, ++count;
	}
	return count;
}

/* The step with as many dofs held as have to be; CAL_SINGULAR: nothing can move. */
static CalStatus find_step(Reach *s) {
	memcpy(s->held, s->frozen, (size_t)s->nu);
	for (;;) {
		const CalProjectionOptions options = {.held = s->held};
		const CalStatus status = cal_projection_update(s->projection, &s->kept, &options, s->work);
		if (status != CAL_OK)
			return status;
		const int m = cal_projection_count(s->projection);
		if (m == 0 || !solve_step(s, cal_projection_map(s->projection), (size_t)m))
			return CAL_SINGULAR;
		if (hold_limited(s) == 0)
			return CAL_OK;
	}
}

/* How far a step goes: angles [rad], lengths in sizes of the model. */
static double length_of_step(const Reach *s) {
	double most = 0;
	for (int u = 0; u < s->nu; ++u) {
		CalCoordinateInfo info;
		const int slides = cal_model_speed(s->model, u, &info) == CAL_OK && info.kind == CAL_COORDINATE_LENGTH;
		most = fmax(most, fabs(s->dq[u]) / (slides ? s->size : 1));
	}
	return most;
}

/* The part of the step that is not too long, and at which the first limit is met. */
static double part_to_take(const Reach *s) {
	double part = fmin(1, LONGEST / length_of_step(s));
	for (int u = 0; u < s->nu; ++u) {
		if (s->q[u] < 0 || s->dq[u] == 0)
			continue;
		const double room = (s->dq[u] > 0 ? upper_of(s, u) : lower_of(s, u)) - s->kept.q[s->q[u]];
		if (isfinite(room) && fabs(s->dq[u]) * part > fabs(room))
			part = fabs(room / s->dq[u]);
	}
	return part;
}

/* To the new place; dofs that round-off has left beyond a limit are put on it. */
static CalStatus take_step(Reach *s, double part) {
	for (int u = 0; u < s->nu; ++u)
		s->dq[u] *= part;
	cal_config_integrate(s->model, s->kept.q, s->dq, s->state->q);
	CalStatus status = CAL_OK;
	if (cal_model_row_count(s->model) > 0)
		status =
			cal_loop_project(s->model, s->state, &(CalProjectOptions){.frozen = s->held, .search = -1}, s->work, NULL);
	for (int u = 0; u < s->nu; ++u)
		if (s->q[u] >= 0 && !s->frozen[u])
			s->state->q[s->q[u]] = fmin(fmax(s->state->q[s->q[u]], lower_of(s, u)), upper_of(s, u));
	return status;
}

/* One step downhill, with more damping until it is; CAL_NOT_CONVERGED: there is none. */
static CalStatus descend(Reach *s) {
	CalStatus status = find_rows(s);
	cal_state_copy(s->model, s->state, &s->kept);
	for (int try = 0; try < TRIES && status == CAL_OK; ++try) {
		double cost = INFINITY;
		status = find_step(s);
		if (status == CAL_OK && !(length_of_step(s) > TOO_SHORT))
			status = CAL_NOT_CONVERGED;
		if (status != CAL_OK)
			break;
		const double part = part_to_take(s);
		if (take_step(s, part) == CAL_OK)
			status = find_errors(s, &cost);
		if (status == CAL_OK && cost < s->cost * (1 - STAGNANT)) {
			s->lambda = fmax(1e-12, s->lambda / (part < 1 ? 1 : 8));
			s->cost = cost;
			return CAL_OK;
		}
		cal_state_copy(s->model, &s->kept, s->state);
		if (status == CAL_OK)
			status = find_errors(s, &cost);
		s->lambda = fmax(4 * s->lambda, 1e-9);
	}
	return status == CAL_OK || status == CAL_SINGULAR ? CAL_NOT_CONVERGED : status;
}

/* ---- all of it --------------------------------------------------------------------------------------------- */

/* Distance of the farthest node from the middle of all. */
static double size_of(const CalModel *model, const CalWork *work) {
	const int count = cal_model_node_count(model);
	double low[3] = {INFINITY, INFINITY, INFINITY}, high[3] = {-INFINITY, -INFINITY, -INFINITY}, size = 0;
	for (int i = 0; i < count; ++i) {
		CalPose pose;
		if (cal_node_pose(model, work, i, &pose) != CAL_OK)
			continue;
		const double r[] = {pose.r.x, pose.r.y, pose.r.z};
		for (int k = 0; k < 3; ++k)
			low[k] = fmin(low[k], r[k]), high[k] = fmax(high[k], r[k]);
	}
	for (int k = 0; k < 3; ++k)
		size = fmax(size, high[k] - low[k]);
	return size > 0 && isfinite(size) ? size : 1;
}

static void layout_reach(Reach *s, Cursor *cursor) {
	const size_t nu = (size_t)s->nu, rows = (size_t)s->rows;
	CURSOR_ARRAY(cursor, s->J, 6 * nu);
	CURSOR_ARRAY(cursor, s->r, rows);
	CURSOR_ARRAY(cursor, s->A, nu * nu);
	CURSOR_ARRAY(cursor, s->g, nu);
	CURSOR_ARRAY(cursor, s->rows_J, rows * nu);
	CURSOR_ARRAY(cursor, s->dv, nu);
	CURSOR_ARRAY(cursor, s->dq, nu);
	CURSOR_ARRAY(cursor, s->q, nu);
	CURSOR_ARRAY(cursor, s->frozen, nu);
	CURSOR_ARRAY(cursor, s->held, nu);
}

static int are_valid(const CalModel *model, const CalNodeTarget *targets, int count) {
	for (int i = 0; i < count; ++i) {
		const CalNodeTarget *t = &targets[i];
		if (t->node < 0 || t->node >= cal_model_node_count(model) || t->translation & ~CAL_AXIS_XYZ ||
		    t->rotation & ~CAL_AXIS_XYZ || (t->rotation && !(t->rotation & (t->rotation - 1))) ||
		    !isfinite(t->pose.r.x + t->pose.r.y + t->pose.r.z))
			return 0;
		for (int k = 0; t->rotation && k < 9; ++k)
			if (!isfinite(t->pose.R.m[k / 3][k % 3]))
				return 0;
	}
	return 1;
}

static void take_dofs(Reach *s, const CalReachOptions *o) {
	for (int u = 0; u < s->nu; ++u) {
		CalDofInfo info;
		(void)cal_model_dof(s->model, u, &info);
		s->frozen[u] = o->frozen ? o->frozen[u] != 0 : info.prescribed != 0;
		s->q[u] = info.q;
	}
	s->lower = o->lower, s->upper = o->upper;
}

/* The start: within limits, loops closed, at rest. */
static CalStatus begin(Reach *s, const CalReachOptions *o) {
	memset(s->state->u, 0, sizeof(double) * (size_t)s->nu);
	take_dofs(s, o);
	for (int u = 0; u < s->nu; ++u)
		if (s->q[u] >= 0 && !s->frozen[u])
			s->state->q[s->q[u]] = fmin(fmax(s->state->q[s->q[u]], lower_of(s, u)), upper_of(s, u));
	CalStatus status = CAL_OK;
	if (cal_model_row_count(s->model) > 0)
		status = cal_loop_project(s->model, s->state, &(CalProjectOptions){.frozen = s->frozen}, s->work, NULL);
	if (status == CAL_OK)
		status = cal_kinematics(s->model, s->state, NULL, s->work);
	s->size = size_of(s->model, s->work);
	s->lambda = 1e-3;
	return status == CAL_OK ? find_errors(s, &s->cost) : status;
}

static CalStatus run(Reach *s, const CalReachOptions *o, CalReach *report) {
	const int most = o->max_iterations > 0 ? o->max_iterations : ITERATIONS;
	CalStatus status = begin(s, o);
	while (status == CAL_OK) {
		report_errors(s, report);
		if (report->target < 0)
			break;
		if (report->iterations == most)
			status = CAL_NOT_CONVERGED;
		else
			status = descend(s);
		++report->iterations;
	}
	report_errors(s, report);
	for (int u = 0; u < s->nu; ++u)
		report->at_limit +=
			s->q[u] >= 0 && (s->state->q[s->q[u]] <= lower_of(s, u) || s->state->q[s->q[u]] >= upper_of(s, u));
	return status;
}

CalStatus cal_inverse_kinematics(const CalModel *model, CalState *state, const CalNodeTarget *targets, int count,
                                 const CalReachOptions *options, CalWork *work, CalReach *report) {
	static const CalReachOptions none = {0};
	const CalReachOptions *o = options ? options : &none;
	CalReach own = {0};
	if (!model || !state || !work || count < 0 || (count > 0 && !targets) || !are_valid(model, targets, count) ||
	    !(o->tolerance >= 0))
		return CAL_ERR_ARGUMENT;
	Reach s = {.model = model,
	           .targets = targets,
	           .count = count,
	           .rows = PER_TARGET * count,
	           .nu = cal_model_u_count(model),
	           .tolerance = o->tolerance > 0 ? o->tolerance : TOLERANCE,
	           .state = state,
	           .work = work};
	Cursor cursor = {.align = sizeof(double)};
	layout_reach(&s, &cursor);
	void *memory = cursor_alloc_zeroed(&cursor, &model->allocator);
	if (!memory)
		return CAL_ERR_MEMORY;
	layout_reach(&s, &cursor);
	CalStatus status = cal_state_create(model, &s.kept);
	if (status == CAL_OK)
		status = cal_projection_create(model, &s.projection);
	if (status == CAL_OK)
		status = run(&s, o, &own);
	if (report)
		*report = own;
	cal_projection_destroy(s.projection);
	cal_state_destroy(&s.kept);
	memory_free(&model->allocator, memory);
	return status;
}

#endif
