// SPDX-License-Identifier: Apache-2.0
/*
 * assemble_nearest.c — the closed state that is nearest to the given one, in the coordinates of the user.
 *
 *   minimise  sum_k w_k (q - q_given)_k^2   subject to   g(q) = 0,   what is frozen or driven held
 * An angle counts in rad, a length in units of the lever arm of the loops; what nobody stated has 1e-4 of the weight of
 * what somebody did. Three attempts, of which the first that closes all loops is taken:
 *   1. joint coordinates that nobody stated move alone,
 *   2. all joint coordinates move,
 *   3. modes too, by the smallest change in the metric of the mass matrix: bodies deform only if nothing else helps.
 * The speeds follow in the same order: G u = s' is linear, and the smallest change is one solve.
 *
 * The projection (cal_loop_project) leads to some closed state. From there steps along the tangent space of the loops,
 *   p = -(e - W^-1 G'(G W^-1 G')^+ G e),   e = q - q_given,
 * each projected again, lead to the nearest one around. If it is far, the search starts again from positions to all sides
 * of the given one, and the nearest of all results counts. The effort is bounded. In systems that are too large for
 * the dense solves the metric is that of the mass matrix throughout.
 */
#include <math.h>
#include <string.h>

#include "dynamics/loop/loops.h"
#include "dynamics/tree/kinematics.h"
#include "joint/joint_type.h"
#include "math/portable.h"
#include "sim/assemble.h"

enum {
	ITERATIONS = 100, // of a projection
	SLIDES = 60,      // steps along the tangent space
	HALVINGS = 8,     // of one of them
	STARTS = 8,       // from other positions
};
static const double UNSTATED = 1e-4;    // weight of what nobody stated
static const double SETTLED = 1e-10;    // step along the tangent space [rad]
static const double FAR = 0.1;          // a change beyond which other positions are tried [rad]
static const double DENSE_MOST = 2e8;   // multiplications of one dense solve
static const double RATE_CLOSED = 1e-9; // of the fastest speed

/* ---- the metric ---------------------------------------------------------------------------------- */

static void find_angles(const CalModel *model, uint8_t *angle) {
	memset(angle, 0, (size_t)model->nu);
	for (int l = 0; l < model->link_count; l++) {
		const Link *link = &model->links[l];
		for (int k = 0; k < link->nu; k++)
			angle[link->u + k] = link->motion == PRIMITIVE_ROTATION || link->motion == PRIMITIVE_SCREW ||
			                     link->motion == PRIMITIVE_SPHERICAL || (link->motion == PRIMITIVE_FREE && k >= 3);
	}
}

static int is_mode(const CalModel *model, int u) {
	const Body *body = &model->bodies[model->dofs[u].body];
	return u >= body->u + body->nu;
}

static int is_length_row(const CalModel *model, int row) {
	char name[96] = "";
	cal_model_row_name(model, row, name, sizeof name);
	const char *dot = strrchr(name, '.');
	return dot && dot[1] == 'd';
}

static void evaluate(const SimGroup *group, const double *q) {
	kinematics_outward(group->model, q, group->state.u, group->work);
	loop_rows(group->model, &(LoopContext){.t = group->state.t, .q = q, .u = group->state.u, .plain = 1}, group->work);
}

/*
 * How far 1 rad of a joint moves the points of the loops at most, at the position at hand; 1 m where no angle does. Where
 * loops are wide open their rows have levers that say little.
 */
static double lever_arm(const SimGroup *group) {
	const CalModel *model = group->model;
	const LoopBlocks *blocks = model->blocks;
	double most = 0;
	evaluate(group, group->state.q);
	loop_drop_speed_rows(model, &group->work->loops);
	loop_jacobian(model, group->work);
	for (int i = 0; i < blocks->count; i++) {
		const LoopBlock *b = &blocks->blocks[i];
		for (int r = 0; r < b->rows; r++) {
			const double *G = loop_block_row(b, group->work->loops.G, r);
			const int counts = is_length_row(model, blocks->rows[b->row + r]);
			for (int k = 0; counts && k < b->columns; k++)
				most = group->assembly->angle[blocks->columns[b->column + k]] ? fmax(most, fabs(G[k])) : most;
		}
	}
	return most > 0 ? most : 1;
}

static void set_weights(const SimGroup *group, const uint8_t *stated) {
	const Assembly *a = group->assembly;
	for (int k = 0; k < group->model->nu; k++) {
		const double unit = a->angle[k] || is_mode(group->model, k) ? 1 : 1 / a->length;
		a->weight[k] = (stated[k] ? 1 : UNSTATED) * unit * unit;
	}
}

/* Rotations about an axis are the same a turn further, unless a coupling counts the turns. */
static void unwind(const SimGroup *group, double *q) {
	static const double turn = 6.283185307179586;
	const CalModel *model = group->model;
	for (int l = 0; l < model->link_count; l++) {
		const Link *link = &model->links[l];
		int counted = link->motion != PRIMITIVE_ROTATION;
		for (int i = 0; model->any_coupling && i < model->loop_count && !counted; i++)
			for (int k = 0; k < model->loops[i].term_count; k++)
				counted |= model->loops[i].term[k].u == link->u;
		if (!counted)
			q[link->q] -= turn * round((q[link->q] - group->assembly->q_given[link->q]) / turn);
	}
}

/* ---- positions ----------------------------------------------------------------------------------- */

static int is_dense(const CalModel *model) { return loop_blocks_cost(model->blocks) <= DENSE_MOST; }

/* From group->state.q on, with what the mask leaves free; speeds stay. */
static CalStatus close_loops(SimGroup *group, int euclidean, int search, CalProjectReport *left) {
	const Assembly *a = group->assembly;
	const CalProjectOptions options = {.frozen = a->mask,
	                                   .max_iterations = ITERATIONS,
	                                   .euclidean = euclidean,
	                                   .weight = euclidean ? a->weight : NULL,
	                                   .search = search};
	const CalStatus status = cal_loop_project(group->model, &group->state, &options, group->work, left);
	memcpy(group->state.u, a->u_given, (size_t)group->model->nu * sizeof(double));
	if (status == CAL_OK)
		unwind(group, group->state.q);
	return status;
}

/* change[nu] of positions from the given ones; its weighted square. */
static double distance(const SimGroup *group, const double *q, double *change) {
	const Assembly *a = group->assembly;
	double sum = 0;
	cal_config_difference(group->model, a->q_given, q, change);
	for (int k = 0; k < group->model->nu; k++)
		sum += a->weight[k] * change[k] * change[k];
	return sum;
}

/* z = G change, of what the mask leaves free. */
static void multiply_change(const SimGroup *group, const LoopBlock *b) {
	const LoopBlocks *blocks = group->model->blocks;
	const Assembly *a = group->assembly;
	LoopWork *w = &group->work->loops;
	for (int r = 0; r < b->rows; r++) {
		const double *G = loop_block_row(b, w->G, r);
		double sum = 0;
		for (int k = 0; k < b->columns; k++) {
			const int u = blocks->columns[b->column + k];
			sum += G[k] * (a->mask[u] ? 0 : a->change[u]);
		}
		w->z[blocks->rows[b->row + r]] = sum;
	}
}

/* The tangential step towards the given state at group->state.q, into step[nu]; its weighted square. */
static double tangent(const SimGroup *group, double *step) {
	const CalModel *model = group->model;
	const Assembly *a = group->assembly;
	LoopWork *w = &group->work->loops;
	const size_t n = (size_t)model->nu;
	evaluate(group, group->state.q);
	loop_drop_speed_rows(model, w);
	loop_jacobian(model, group->work);
	for (int i = 0; i < model->blocks->count; i++)
		multiply_change(group, &model->blocks->blocks[i]);
	w->weight = a->weight;
	loop_correct(model, group->state.q, a->mask, 1, group->work); // Euclidean: it cannot fail
	w->weight = NULL;
	double sum = 0;
	for (size_t k = 0; k < n; k++) {
		step[k] = a->mask[k] ? 0 : -(a->change[k] + w->dq[k]);
		sum += a->weight[k] * step[k] * step[k];
	}
	return sum;
}

/* Slides from the closed state at hand to the nearest one around; returns its weighted square of the distance. */
static double descend_along_constraints(SimGroup *group) {
	const CalModel *model = group->model;
	const Assembly *a = group->assembly;
	const size_t nq = (size_t)model->nq * sizeof(double);
	double *step = a->speed_change, least = distance(group, group->state.q, a->change); // speeds come later
	for (int i = 0, better = 1; i < SLIDES && better; i++) {
		if (!(tangent(group, step) > SETTLED * SETTLED))
			break;
		memcpy(a->q, group->state.q, nq);
		better = 0;
		for (int half = 0; half < HALVINGS && !better; half++) {
			CalProjectReport left;
			cal_config_integrate(model, a->q, step, group->state.q);
			const int closed = close_loops(group, 1, 0, &left) == CAL_OK;
			const double now = closed ? distance(group, group->state.q, a->change) : INFINITY;
			better = now < least;
			least = better ? now : least;
			for (int k = 0; k < model->nu; k++)
				step[k] *= 0.5;
		}
		if (!better)
			memcpy(group->state.q, a->q, nq);
		distance(group, group->state.q, a->change);
	}
	return least;
}

/* What moved most among the free, in units of the metric without the weights of stating. */
static double farthest(const SimGroup *group) {
	const Assembly *a = group->assembly;
	double most = 0;
	distance(group, group->state.q, a->change);
	for (int k = 0; k < group->model->nu; k++)
		most = fmax(most, fabs(a->change[k]) / (a->angle[k] || is_mode(group->model, k) ? 1 : a->length));
	return most;
}

/* Free coordinates of the given state pushed aside: a fixed pattern that favours none of them. */
static void perturb(SimGroup *group, int start) {
	const Assembly *a = group->assembly;
	const double by = start < STARTS / 2 ? 0.5 : 1.5;
	for (int k = 0; k < group->model->nu; k++)
		a->change[k] = a->mask[k] ? 0 : by * portable_sin(2.4 * (k + 1) + 1.7 * start) * (a->angle[k] ? 1 : a->length);
	cal_config_integrate(group->model, a->q_given, a->change, group->state.q);
}

/* The nearest closed position with what the mask leaves free. */
static CalStatus nearest(SimGroup *group, CalProjectReport *left) {
	const Assembly *a = group->assembly;
	const size_t nq = (size_t)group->model->nq * sizeof(double);
	const int euclidean = is_dense(group->model);
	memcpy(group->state.q, a->q_given, nq);
	const CalStatus status = close_loops(group, euclidean, 1, left);
	if (status != CAL_OK || !euclidean)
		return status;
	group->assembly->length = lever_arm(group);
	set_weights(group, a->stated_q);
	double least = descend_along_constraints(group);
	memcpy(a->best, group->state.q, nq);
	const int starts = farthest(group) > FAR ? STARTS : 0;
	for (int start = 0; start < starts; start++) {
		CalProjectReport other;
		perturb(group, start);
		if (close_loops(group, 1, 0, &other) != CAL_OK)
			continue;
		const double found = descend_along_constraints(group);
		if (found < (1 - 1e-6) * least) {
			least = found;
			memcpy(a->best, group->state.q, nq);
		}
	}
	memcpy(group->state.q, a->best, nq);
	return CAL_OK;
}

/* ---- speeds -------------------------------------------------------------------------------------- */

static double largest_rate(const SimGroup *group) {
	LoopWork *w = &group->work->loops;
	double most = 0;
	evaluate(group, group->state.q);
	for (int i = 0; i < group->model->row_count; i++) {
		w->z[i] = w->row[i].rate;
		most = fmax(most, fabs(w->z[i]));
	}
	return most;
}

static double fastest(const SimGroup *group) {
	double most = 0;
	for (int k = 0; k < group->model->nu; k++)
		most = fmax(most, fabs(group->state.u[k]));
	return most;
}

/* Speeds with what the mask leaves free, from the given ones; true if they keep the loops. */
static int correct_speeds(SimGroup *group) {
	const Assembly *a = group->assembly;
	LoopWork *w = &group->work->loops;
	const int euclidean = is_dense(group->model);
	memcpy(group->state.u, a->u_given, (size_t)group->model->nu * sizeof(double));
	for (int again = 0; again < 3 && largest_rate(group) > 1e-14 * fastest(group); again++) {
		w->weight = euclidean ? a->weight : NULL;
		const CalStatus status = loop_correct(group->model, group->state.q, a->mask, euclidean, group->work);
		w->weight = NULL;
		for (int k = 0; k < group->model->nu && status == CAL_OK; k++)
			group->state.u[k] += w->dq[k];
	}
	return largest_rate(group) <= RATE_CLOSED * fastest(group);
}

/* ---- attempts ------------------------------------------------------------------------------------ */

/* What attempt 1, 2 or 3 holds; the number of free coordinates. */
static int set_mask(const SimGroup *group, const uint8_t *stated, int attempt) {
	const CalModel *model = group->model;
	const Assembly *a = group->assembly;
	int movable = 0;
	for (int k = 0; k < model->nu; k++) {
		a->mask[k] = group->held[k] || (attempt == 1 && stated[k]) || (attempt < 3 && is_mode(model, k));
		movable += !a->mask[k];
	}
	return movable;
}

static CalStatus project_all(SimGroup *group, CalProjectReport *left) {
	const CalProjectOptions options = {.frozen = group->held, .max_iterations = ITERATIONS, .search = 1};
	return cal_loop_project(group->model, &group->state, &options, group->work, left);
}

static CalStatus find_positions(SimGroup *group, CalProjectReport *left) {
	const Assembly *a = group->assembly;
	CalStatus status = CAL_NOT_CONVERGED;
	set_weights(group, a->stated_q);
	for (int attempt = 1; attempt <= 2 && status == CAL_NOT_CONVERGED; attempt++)
		if (set_mask(group, a->stated_q, attempt) > 0)
			status = nearest(group, left);
	if (status == CAL_NOT_CONVERGED) {
		memcpy(group->state.q, a->q_given, (size_t)group->model->nq * sizeof(double));
		status = project_all(group, left);
	}
	return status;
}

static CalStatus find_speeds(SimGroup *group, CalProjectReport *left) {
	const Assembly *a = group->assembly;
	int done = 0;
	set_weights(group, a->stated_u);
	for (int attempt = 1; attempt <= 2 && !done; attempt++)
		done = set_mask(group, a->stated_u, attempt) > 0 && correct_speeds(group);
	if (!done) {
		memcpy(group->state.u, a->u_given, (size_t)group->model->nu * sizeof(double));
		return project_all(group, left);
	}
	left->rate = largest_rate(group);
	return CAL_OK;
}

CalStatus assemble_nearest(SimGroup *group, CalProjectReport *left) {
	Assembly *a = group->assembly;
	find_angles(group->model, a->angle);
	a->length = lever_arm(group);
	if (a->residual <= ASSEMBLY_CLOSED && a->rate <= ASSEMBLY_CLOSED * fmax(1, fastest(group)))
		return project_all(group, left); // round-off of the numbers that were given
	CalStatus status = CAL_OK;
	if (a->residual > ASSEMBLY_CLOSED)
		status = find_positions(group, left);
	else
		status = project_all(group, left);
	return status == CAL_OK ? find_speeds(group, left) : status;
}
