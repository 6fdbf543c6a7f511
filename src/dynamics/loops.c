// SPDX-License-Identifier: Apache-2.0
/*
 * loops.c — forces of closed loops by cut joints [THEORY 5]: the tree moves without them, then
 *   G M^-1 G' lambda = -(second derivatives of the rows)
 * M^-1 G' by the recursion, one column for each row; the system by pivoted Cholesky with the smallest solution.
 */
#include <stdio.h>

#include <calder/loops.h>
#include "dynamics/kinematics.h"
#include "dynamics/loops.h"
#include "math/min_norm.h"

#if CAL_LANES == 1

/*
 * A row whose pivot is below this part of what it came with follows from the others. Round-off leaves 1e-15 of it times
 * the condition of the rows before; two bars of a linkage come within 1e-10 of parallel only where they pass it.
 */
static const double DEPENDENT = 1e-11;

static size_t at(const CalModel *model, int row) { return (size_t)row * (size_t)model->nu; }

static double product(const double *a, const double *b, int n) {
	double sum = 0;
	for (int i = 0; i < n; ++i)
		sum += a[i] * b[i];
	return sum;
}

CalStatus loop_factor(const CalModel *model, const double *q, const uint8_t *prescribed, const double *rotor,
                      int euclidean, CalWork *work) {
	LoopWork *w = &work->loops;
	const int m = model->row_count, n = model->nu;
	if (!euclidean) {
		pose_outward_x1(model, q, prescribed, work);
		const int culprit = factor_inward_x1(model, prescribed, rotor, work);
		if (culprit >= 0) {
			work->culprit = culprit;
			return CAL_SINGULAR;
		}
	}
	for (int i = 0; i < m; ++i) {
		double *X = w->X + at(model, i);
		if (!euclidean) {
			factor_solve_x1(model, prescribed, work, w->G + at(model, i), X);
		} else {
			for (int k = 0; k < n; ++k)
				X[k] = prescribed && prescribed[k] ? 0 : w->G[at(model, i) + (size_t)k];
		}
	}
	for (int i = 0; i < m; ++i) {
		for (int j = 0; j <= i; ++j)
			w->Lambda[i * m + j] = w->Lambda[j * m + i] = product(w->G + at(model, i), w->X + at(model, j), n);
	}
	w->rank = min_norm_factor(m, w->Lambda, DEPENDENT, w->order, w->independent, w->scratch);
	return CAL_OK;
}

void loop_solve(const CalModel *model, CalWork *work, const double *z, double *lambda) {
	LoopWork *w = &work->loops;
	min_norm_solve(model->row_count, w->rank, w->Lambda, w->order, w->scratch, z, lambda);
}

CalStatus loop_forces(const CalModel *model, const CalState *state, const uint8_t *prescribed, const double *rotor,
                      const double *udot, CalWork *work) {
	LoopWork *w = &work->loops;
	kinematics_outward(model, state->q, state->u, work);
	kinematics_accelerate(model, udot, work);
	loop_rows(model, work, 1);
	loop_jacobian(model, work);
	for (int i = 0; i < model->row_count; ++i)
		w->z[i] = -w->acceleration[i];
	const CalStatus status = loop_factor(model, state->q, prescribed, rotor, 0, work);
	if (status != CAL_OK)
		return status;
	loop_solve(model, work, w->z, w->lambda);
	w->acting = 1;
	return CAL_OK;
}

/* ---- public -------------------------------------------------------------------------------------- */

int cal_model_loop_count(const CalModel *model) { return model ? model->loop_count : 0; }
int cal_model_row_count(const CalModel *model) { return model ? model->row_count : 0; }

CalStatus cal_model_loop(const CalModel *model, int loop, CalLoopInfo *info) {
	if (!model || !info || loop < 0 || loop >= model->loop_count)
		return CAL_ERR_ARGUMENT;
	const Loop *l = &model->loops[loop];
	*info = (CalLoopInfo){l->name, l->id, l->type, l->node_a, l->node_b, l->def_a, l->def_b, l->row, l->rows};
	return CAL_OK;
}

int cal_model_find_loop(const CalModel *model, const char *name) {
	for (int i = 0; model && name && i < model->loop_count; ++i) {
		if (strcmp(model->loops[i].name, name) == 0)
			return i;
	}
	return -1;
}

int cal_model_row_name(const CalModel *model, int row, char *buffer, size_t size) {
	static const char *const names[CAL_LOOP_TYPE_COUNT][CAL_LOOP_MAX_ROWS] = {
		[CAL_LOOP_WELD] = {"dx", "dy", "dz", "rx", "ry", "rz"},
		[CAL_LOOP_REVOLUTE] = {"dx", "dy", "dz", "rx", "ry"},
		[CAL_LOOP_PRISMATIC] = {"dx", "dy", "rx", "ry", "rz"},
		[CAL_LOOP_CYLINDRICAL] = {"dx", "dy", "rx", "ry"},
		[CAL_LOOP_UNIVERSAL] = {"dx", "dy", "dz", "xy"},
		[CAL_LOOP_SPHERICAL] = {"dx", "dy", "dz"},
		[CAL_LOOP_PLANAR] = {"dz", "rx", "ry"},
		[CAL_LOOP_INPLANE] = {"dz"},
		[CAL_LOOP_DISTANCE] = {"distance"},
		[CAL_LOOP_KNIFE] = {"vy"},
	};
	for (int i = 0; model && i < model->loop_count; ++i) {
		const Loop *l = &model->loops[i];
		if (row >= l->row && row < l->row + l->rows)
			return snprintf(buffer, size, "%s.%s", l->name, names[l->type][row - l->row]);
	}
	return snprintf(buffer, size, "%s", "");
}

static int arguments_ok(const CalModel *model, const CalState *state, const CalWork *work) {
	return model && state && work && work->model == model;
}

static void copy(double *to, const double *from, size_t count) {
	if (to)
		memcpy(to, from, sizeof(double) * count);
}

CalStatus cal_loop_residual(const CalModel *model, const CalState *state, CalWork *work, double *g, double *rate) {
	if (!arguments_ok(model, state, work))
		return CAL_ERR_ARGUMENT;
	work->loops.acting = 0;
	kinematics_outward(model, state->q, state->u, work);
	loop_rows(model, work, 0);
	copy(g, work->loops.value, (size_t)model->row_count);
	copy(rate, work->loops.rate, (size_t)model->row_count);
	return CAL_OK;
}

CalStatus cal_loop_jacobian(const CalModel *model, const CalState *state, CalWork *work, double *G, double *gamma) {
	if (!arguments_ok(model, state, work) || !G)
		return CAL_ERR_ARGUMENT;
	work->loops.acting = 0;
	kinematics_outward(model, state->q, state->u, work);
	memset(work->rhs, 0, sizeof(double) * (size_t)model->nu);
	kinematics_accelerate(model, work->rhs, work);
	loop_rows(model, work, 1);
	loop_jacobian(model, work);
	copy(G, work->loops.G, at(model, model->row_count));
	for (int i = 0; gamma && i < model->row_count; ++i)
		gamma[i] = -work->loops.acceleration[i];
	return CAL_OK;
}

static CalStatus check_acting(const CalModel *model, const CalWork *work, const void *out) {
	if (!model || !work || work->model != model || !out)
		return CAL_ERR_ARGUMENT;
	return work->loops.acting ? CAL_OK : CAL_ERR_STAGE;
}

CalStatus cal_loop_multipliers(const CalModel *model, const CalWork *work, double *lambda) {
	const CalStatus status = check_acting(model, work, lambda);
	if (status == CAL_OK)
		copy(lambda, work->loops.lambda, (size_t)model->row_count);
	return status;
}

CalStatus cal_loop_wrench(const CalModel *model, const CalWork *work, int loop, CalSpatial *wrench, CalVec3 *point) {
	const CalStatus status = check_acting(model, work, wrench);
	if (status != CAL_OK || loop < 0 || loop >= model->loop_count)
		return status != CAL_OK ? status : CAL_ERR_ARGUMENT;
	const Loop *l = &model->loops[loop];
	spatial sum = spatial_zero();
	for (int row = l->row; row < l->row + l->rows; ++row)
		sum = spatial_madd(sum, work->loops.lambda[row], work->loops.direction[row]);
	*wrench = spatial_out(sum);
	if (point)
		*point = vec_out(work->loops.point[loop]);
	return CAL_OK;
}

CalStatus cal_loop_rank(const CalModel *model, const CalWork *work, int *rank, uint8_t *independent) {
	const CalStatus status = check_acting(model, work, rank);
	if (status != CAL_OK)
		return status;
	*rank = work->loops.rank;
	if (independent)
		memcpy(independent, work->loops.independent, (size_t)model->row_count);
	return CAL_OK;
}

#endif
