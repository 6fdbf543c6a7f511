// SPDX-License-Identifier: Apache-2.0
/*
 * loop_project.c — states brought back to the constraints [THEORY 5, post-stabilisation].
 *
 *   positions   dq = -W^-1 G'(G W^-1 G')^+ g, again and again (Gauss and Newton); W = M or 1
 *   speeds      u -= W^-1 G'(G W^-1 G')^+ G u
 * A step that makes the residual larger is halved. Where no step makes it smaller, the rows cannot be met from here.
 */
#include <calder/loops.h>
#include "dynamics/kinematics.h"
#include "dynamics/loops.h"

#if CAL_LANES == 1

static double largest(const double *x, int n, int *where) {
	double most = 0;
	for (int i = 0; i < n; ++i) {
		if (fabs(x[i]) > most || isnan(x[i])) {
			most = fabs(x[i]);
			*where = i;
		}
	}
	return most;
}

/* Sum of squares of the residuals at q. */
static double misfit(const CalModel *model, const double *q, const double *u, CalWork *work) {
	double sum = 0;
	kinematics_outward(model, q, u, work);
	loop_rows(model, work, 0);
	for (int i = 0; i < model->row_count; ++i)
		sum += work->loops.value[i] * work->loops.value[i];
	return sum;
}

/* out = -sum_i lambda_i X_i */
static void combine(const CalModel *model, const LoopWork *w, double *out) {
	memset(out, 0, sizeof(double) * (size_t)model->nu);
	for (int i = 0; i < model->row_count; ++i) {
		for (int k = 0; k < model->nu; ++k)
			out[k] -= w->lambda[i] * w->X[(size_t)i * (size_t)model->nu + (size_t)k];
	}
}

/* Rows without position have no part in it. */
static void leave_out_speeds(const CalModel *model, LoopWork *w) {
	const size_t n = (size_t)model->nu;
	for (int l = 0; l < model->loop_count; ++l) {
		if (model->loops[l].type == CAL_LOOP_KNIFE)
			memset(w->G + (size_t)model->loops[l].row * n, 0, sizeof(double) * n);
	}
}

enum { HALVINGS = 12 };

/*
 * One step of Gauss and Newton on q, whose rows are in work. Returns 1 if it made the misfit smaller, and the rows are
 * then those of the new q; 0 if nothing did, -1 if M is singular.
 */
static int improve(const CalModel *model, CalState *state, const CalProjectOptions *options, double *least,
                   CalWork *work) {
	LoopWork *w = &work->loops;
	loop_jacobian(model, work);
	leave_out_speeds(model, w);
	memcpy(w->z, w->value, sizeof(double) * (size_t)model->row_count);
	const CalStatus status = loop_factor(model, state->q, options->frozen, NULL, options->euclidean, work);
	if (status != CAL_OK)
		return -1;
	loop_solve(model, work, w->z, w->lambda);
	combine(model, w, w->dq);
	for (int half = 0; half < HALVINGS; ++half) {
		cal_config_integrate(model, state->q, w->dq, w->q);
		const double after = misfit(model, w->q, state->u, work);
		if (after < *least) {
			*least = after;
			memcpy(state->q, w->q, sizeof(double) * (size_t)model->nq);
			return 1;
		}
		for (int k = 0; k < model->nu; ++k)
			w->dq[k] *= 0.5;
	}
	return 0;
}

static CalStatus project_speeds(const CalModel *model, CalState *state, const CalProjectOptions *options,
                                CalWork *work) {
	LoopWork *w = &work->loops;
	kinematics_outward(model, state->q, state->u, work);
	loop_rows(model, work, 0);
	loop_jacobian(model, work);
	const CalStatus status = loop_factor(model, state->q, options->frozen, NULL, options->euclidean, work);
	if (status != CAL_OK)
		return status;
	for (int again = 0; again < 2; ++again) { // the second removes the round-off of the first
		for (int i = 0; i < model->row_count; ++i) {
			w->z[i] = 0;
			for (int k = 0; k < model->nu; ++k)
				w->z[i] += w->G[(size_t)i * (size_t)model->nu + (size_t)k] * state->u[k];
		}
		loop_solve(model, work, w->z, w->lambda);
		combine(model, w, w->dq);
		for (int k = 0; k < model->nu; ++k)
			state->u[k] += w->dq[k];
	}
	return CAL_OK;
}

/* Positions; the best state found is left. */
static CalStatus project_positions(const CalModel *model, CalState *state, const CalProjectOptions *options,
                                   CalWork *work, CalProjectReport *report) {
	const double tolerance = options->tolerance > 0 ? options->tolerance : 1e-12;
	const int most = options->max_iterations > 0 ? options->max_iterations : 20;
	double least = misfit(model, state->q, state->u, work);
	for (report->iterations = 0; report->iterations < most; ++report->iterations) {
		report->residual = largest(work->loops.value, model->row_count, &report->row);
		if (report->residual <= tolerance)
			return CAL_OK;
		const int better = improve(model, state, options, &least, work);
		if (better < 0)
			return CAL_SINGULAR;
		if (!better) {
			report->reachable = report->residual <= 100 * tolerance;
			misfit(model, state->q, state->u, work);
			break;
		}
	}
	report->residual = largest(work->loops.value, model->row_count, &report->row);
	return report->residual <= tolerance ? CAL_OK : CAL_NOT_CONVERGED;
}

CalStatus cal_loop_project(const CalModel *model, CalState *state, const CalProjectOptions *options, CalWork *work,
                           CalProjectReport *report) {
	const CalProjectOptions defaults = {0};
	CalProjectReport own;
	if (!model || !state || !work || work->model != model)
		return CAL_ERR_ARGUMENT;
	CalProjectOptions used = options ? *options : defaults;
	if (!used.frozen && model->any_prescribed)
		used.frozen = model->prescribed;
	options = &used;
	report = report ? report : &own;
	*report = (CalProjectReport){.row = -1, .reachable = 1};
	if (model->row_count == 0)
		return CAL_OK;
	work->loops.acting = 0;
	CalStatus status = project_positions(model, state, options, work, report);
	if (status == CAL_OK) {
		report->row = -1;
		status = project_speeds(model, state, options, work);
	}
	kinematics_outward(model, state->q, state->u, work);
	loop_rows(model, work, 0);
	int where = -1;
	report->residual = largest(work->loops.value, model->row_count, &where);
	report->rate = largest(work->loops.rate, model->row_count, &where);
	return status;
}

#endif
