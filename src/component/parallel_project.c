// SPDX-License-Identifier: Apache-2.0
/*
 * parallel_project.c — states brought back to the constraints over the assembly of branches [THEORY 5.6, 6.4].
 *
 * A step of Gauss and Newton is a forward dynamics of everything at rest, with displacements in place of accelerations and
 * residuals in place of what the constraints accelerate by. A step that makes the residuals larger is halved.
 */
#include <float.h>
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "component/branch_step.h"
#include "model/model.h"

enum { STEPS = 20, HALVINGS = 12, FINE_STEPS = 4 };
static const double TOLERANCE = 1e-12, FINE = 16 * DBL_EPSILON, RATE_ROUND_OFF = 1e-14;

/* Numbers of a projection. */
typedef struct Projection {
	CalBranches *branches;
	const CalModel *model;
	const uint8_t *frozen;
	double *value, *rate; // [rows]
	double *dq, *q;       // [nu], [nq]
	bool doubtful;        // found: branches cannot determine the motion
} Projection;

/* In units of the constraint equations (model/model.h). */
static double square_sum(const CalModel *model, const double *x) {
	double sum = 0;
	for (int l = 0; l < model->loop_count; ++l) {
		const Loop *loop = &model->loops[l];
		for (int i = 0; i < loop->rows; ++i)
			sum += x[loop->row + i] * x[loop->row + i] / (loop->unit[i] * loop->unit[i]);
	}
	return sum;
}

/* The largest in the same units, and where; *plain: as it is. */
static double largest(const CalModel *model, const double *x, int *where, double *plain) {
	double most = 0;
	*plain = 0;
	for (int l = 0; l < model->loop_count; ++l) {
		const Loop *loop = &model->loops[l];
		for (int i = 0; i < loop->rows; ++i) {
			const double size = fabs(x[loop->row + i]);
			*plain = fmax(*plain, size);
			if (size / loop->unit[i] > most || isnan(size)) {
				most = size / loop->unit[i];
				*where = loop->row + i;
			}
		}
	}
	return most;
}

/* Residuals at q with the speeds of state. */
static double residual_norm(const Projection *p, const CalState *state, double *q) {
	const CalState at = {.t = state->t, .q = q, .u = state->u};
	branches_residual(p->branches, &at, p->value, p->rate);
	return square_sum(p->model, p->value);
}

static CalStatus find_correction(Projection *p, const CalState *state, const double *z, bool positions) {
	const CalStatus status = branches_correct(p->branches, state, z, p->frozen, positions, p->dq);
	p->doubtful = status == CAL_NOT_CONVERGED;
	return status;
}

/* 1: the residuals became smaller, and are those of the new q; 0: they did not; -1: M is singular, or there is a doubt. */
static int gauss_newton_step(Projection *p, CalState *state, double *least) {
	if (find_correction(p, state, p->value, true) != CAL_OK)
		return -1;
	for (int half = 0; half < HALVINGS; ++half) {
		cal_config_integrate(p->model, state->q, p->dq, p->q);
		const double after = residual_norm(p, state, p->q);
		if (after < *least) {
			*least = after;
			memcpy(state->q, p->q, sizeof(double) * (size_t)p->model->nq);
			return 1;
		}
		for (int k = 0; k < p->model->nu; ++k)
			p->dq[k] *= 0.5;
	}
	return 0;
}

static CalStatus project_positions(Projection *p, CalState *state, const CalProjectOptions *options,
                                   CalProjectReport *report) {
	const int steps = options->max_iterations > 0 ? options->max_iterations : STEPS;
	const double tolerance = options->tolerance > 0 ? options->tolerance : TOLERANCE;
	double least = residual_norm(p, state, state->q);
	if (!isfinite(least))
		return CAL_NOT_FINITE;
	for (report->iterations = 0; report->iterations < steps; ++report->iterations) {
		if (largest(p->model, p->value, &report->row, &report->residual) <=
		    (report->iterations < FINE_STEPS ? FINE : tolerance))
			return CAL_OK;
		const int better = gauss_newton_step(p, state, &least);
		if (better < 0)
			return CAL_SINGULAR;
		if (!better) {
			residual_norm(p, state, state->q);
			break;
		}
	}
	return largest(p->model, p->value, &report->row, &report->residual) <= tolerance ? CAL_OK : CAL_NOT_CONVERGED;
}

static CalStatus project_speeds(Projection *p, CalState *state) {
	int where;
	double plain, fastest = 0;
	for (int k = 0; k < p->model->nu; ++k)
		fastest = fmax(fastest, fabs(state->u[k]));
	for (int again = 0; again < 2; ++again) {
		if (largest(p->model, p->rate, &where, &plain) <= RATE_ROUND_OFF * fastest)
			break;
		const CalStatus status = find_correction(p, state, p->rate, false);
		if (status != CAL_OK)
			return status;
		for (int k = 0; k < p->model->nu; ++k)
			state->u[k] += p->dq[k];
		residual_norm(p, state, state->q);
	}
	return CAL_OK;
}

CalStatus cal_branches_project(CalBranches *branches, CalState *state, const CalProjectOptions *options,
                               CalProjectReport *report) {
	CalProjectReport own;
	CalProjectOptions used = {0};
	if (!branches || !state)
		return CAL_ERR_ARGUMENT;
	if (options)
		used = *options;
	if (used.euclidean || used.search || !branches_are_here(branches))
		return CAL_ERR_UNSUPPORTED;
	report = report ? report : &own;
	*report = (CalProjectReport){.row = -1, .reachable = 1};
	Projection p = {.branches = branches, .model = branches_model(branches), .frozen = used.frozen};
	if (p.model->row_count == 0)
		return CAL_OK;
	double *numbers = branches_numbers(branches);
	p.value = numbers;
	p.rate = p.value + p.model->row_count;
	p.dq = p.rate + p.model->row_count;
	p.q = p.dq + p.model->nu;
	if (!p.frozen && p.model->any_prescribed)
		p.frozen = p.model->prescribed;
	CalStatus status = project_positions(&p, state, &used, report);
	if (status == CAL_OK)
		status = project_speeds(&p, state);
	if (p.doubtful)
		return cal_loop_project(p.model, state, &used, branches_whole(branches), report);
	int where = -1;
	largest(p.model, p.value, &where, &report->residual);
	report->row = status == CAL_OK ? -1 : where;
	largest(p.model, p.rate, &where, &report->rate);
	return status;
}
