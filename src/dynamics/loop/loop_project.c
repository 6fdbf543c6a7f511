// SPDX-License-Identifier: Apache-2.0
/*
 * loop_project.c — states brought back to the constraints [THEORY 5.6, (5.20), (5.21)].
 *
 *   positions   dq = -W^-1 G'(G W^-1 G')^+ g, again and again (Gauss and Newton); W = M or a diagonal of weights
 *   speeds      u -= W^-1 G'(G W^-1 G')^+ (G u - s'), s' the rates of the drives at the time of the state
 * A step that makes the residual larger is halved. Where steps no longer reduce it, loop_search.c continues.
 * Residuals are large or small beside the unit of their equation, the length of the loop's path or 1 rad: mechanisms of
 * micrometers and of kilometers are closed alike.
 */
#include <float.h>

#include <calder/loops.h>
#include "dynamics/loop/loops.h"
#include "dynamics/tree/kinematics.h"

#if CAL_LANES == 1

double loop_largest_value(const CalModel *model, const CalWork *work, int *where) {
	double most = 0;
	for (int l = 0; l < model->loop_count; ++l) {
		const Loop *loop = &model->loops[l];
		for (int i = 0; i < loop->rows; ++i) {
			const double value = fabs(work->loops.row[loop->row + i].value) / loop->unit[i];
			if (value > most || isnan(value)) {
				most = value;
				*where = loop->row + i;
			}
		}
	}
	return most;
}

/* Constraint equations at q, with the speeds and the time of state. Forward dynamics there continues from the sweep. */
static void evaluate_rows(const CalModel *model, const CalState *state, const double *q, CalWork *work) {
	kinematics_begin(model, model->gravity, q, state->u, work);
	loop_rows(model, &(LoopContext){.t = state->t, .q = q, .u = state->u, .plain = 1}, work);
}

/* The same at rest, for the first step on positions: loop_correct() continues from the sweep. */
static double residual_at_rest(const CalModel *model, const CalState *state, CalWork *work) {
	const double *rest = work->loops.rest;
	kinematics_begin(model, (dvec3){0, 0, 0}, state->q, rest, work);
	loop_rows(model, &(LoopContext){.t = state->t, .q = state->q, .u = rest, .plain = 1}, work);
	return loop_squared_residual(model, work);
}

/* Sum of squares of the residuals at q, in units of the equations. */
static double weighted_residual(const CalModel *model, const CalState *state, const double *q, CalWork *work) {
	evaluate_rows(model, state, q, work);
	return loop_squared_residual(model, work);
}

double loop_squared_residual(const CalModel *model, const CalWork *work) {
	double sum = 0;
	for (int l = 0; l < model->loop_count; ++l) {
		const Loop *loop = &model->loops[l];
		for (int i = 0; i < loop->rows; ++i) {
			const double value = work->loops.row[loop->row + i].value / loop->unit[i];
			sum += value * value;
		}
	}
	return sum;
}

static const double RATE_ROUND_OFF = 1e-14; // of the fastest speed

void loop_drop_speed_rows(const CalModel *model, LoopWork *w) {
	for (int l = 0; l < model->loop_count; ++l) {
		const Loop *loop = &model->loops[l];
		for (int i = 0; i < loop->rows; ++i) {
			if (loop_row_is_speed(loop, i))
				w->row[loop->row + i].direction = spatial_zero();
		}
	}
}

enum { HALVINGS = 12, FINE_STEPS = 4, SPEED_STEPS = 8 };
static const double WORTHWHILE = 0.95; // a step should leave at most this part of the sum of squares

/*
 * One step of Gauss and Newton on q, whose equations work holds. Returns 1 if it made the misfit smaller, and they are
 * then those of the new q; 0 if nothing did, -1 if M is singular.
 */
static int gauss_newton_step(const CalModel *model, CalState *state, const CalProjectOptions *options, double *least,
                             CalWork *work) {
	LoopWork *w = &work->loops;
	loop_drop_speed_rows(model, w);
	for (int i = 0; i < model->row_count; ++i)
		w->z[i] = w->row[i].value;
	if (loop_correct(model, state->q, options->frozen, options->euclidean, work) != CAL_OK)
		return -1;
	for (int half = 0; half < HALVINGS; ++half) {
		cal_config_integrate(model, state->q, w->dq, w->q);
		const double after = weighted_residual(model, state, w->q, work);
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

/* Largest rate of the constraints in work, in their units; the rates are kept in z. */
static double load_rates(const CalModel *model, LoopWork *w) {
	double most = 0;
	for (int l = 0; l < model->loop_count; ++l) {
		const Loop *loop = &model->loops[l];
		for (int i = 0; i < loop->rows; ++i) {
			w->z[loop->row + i] = w->row[loop->row + i].rate;
			most = fmax(most, fabs(w->z[loop->row + i]) / loop->unit[i]);
		}
	}
	return most;
}

/*
 * The equations are those of state, before and after. More than once, if the first step left more than round-off; more than
 * twice, where light links let each step leave a part of what was there.
 */
static CalStatus project_speeds(const CalModel *model, CalState *state, const CalProjectOptions *options,
                                CalWork *work) {
	LoopWork *w = &work->loops;
	double fastest = 0;
	for (int k = 0; k < model->nu; ++k)
		fastest = fmax(fastest, fabs(state->u[k]));
	double before = INFINITY;
	for (int step = 0; step < SPEED_STEPS; ++step) {
		const double left = load_rates(model, w);
		if (!(left > RATE_ROUND_OFF * fastest) || (step > 1 && left > 0.1 * before))
			break;
		before = left;
		const CalStatus status = loop_correct(model, state->q, options->frozen, options->euclidean, work);
		if (status != CAL_OK)
			return status;
		for (int k = 0; k < model->nu; ++k)
			state->u[k] += w->dq[k];
		evaluate_rows(model, state, state->q, work);
	}
	return CAL_OK;
}

double loop_round_off(const CalModel *model, const CalWork *work) {
	double size = 0;
	for (int l = 0; l < model->loop_count; ++l) {
		const vec3 r = work->loops.point[l];
		size = fmax(size, fmax(fabs(r.x), fmax(fabs(r.y), fabs(r.z))) / model->loops[l].reach);
	}
	return 16 * DBL_EPSILON * fmax(size, 1);
}

/*
 * Positions; the best state found is left. What is good enough is improved all the same, as long as a few steps do it: next
 * to a singular position a small residual is a large displacement, which the accelerations there would make larger
 * still.
 */
static CalStatus project_positions(const CalModel *model, CalState *state, const CalProjectOptions *options,
                                   CalWork *work, CalProjectReport *report) {
	const int most = options->max_iterations > 0 ? options->max_iterations : 20;
	double least = residual_at_rest(model, state, work);
	const double fine = loop_round_off(model, work);
	const double tolerance = fmax(options->tolerance > 0 ? options->tolerance : 1e-12, fine);
	if (!isfinite(least))
		return CAL_NOT_FINITE;
	for (report->iterations = 0; report->iterations < most; ++report->iterations) {
		report->residual = loop_largest_value(model, work, &report->row);
		if (report->residual <= (report->iterations < FINE_STEPS ? fine : tolerance))
			return CAL_OK;
		const double before = least;
		const int better = gauss_newton_step(model, state, options, &least, work);
		if (better < 0)
			return CAL_SINGULAR;
		if (!better)
			weighted_residual(model, state, state->q, work);
		if (report->residual <= tolerance && !better)
			break;
		if (report->residual > tolerance && (!better || least > WORTHWHILE * before)) {
			if (options->search >= 0)
				report->reachable = loop_search(model, state, options->frozen, tolerance, options->search, work,
				                                &report->iterations) != LOOP_UNREACHABLE;
			break;
		}
	}
	report->residual = loop_largest_value(model, work, &report->row);
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
	work->loops.weight = options->weight;
	CalStatus status = project_positions(model, state, options, work, report);
	if (status == CAL_OK && report->iterations == 0)
		evaluate_rows(model, state, state->q, work); // those at hand are at rest
	if (status == CAL_OK) {
		report->row = -1;
		status = project_speeds(model, state, options, work);
	}
	work->loops.weight = NULL;
	if (status != CAL_OK)
		evaluate_rows(model, state, state->q, work);
	report->residual = report->rate = 0;
	for (int i = 0; i < model->row_count; ++i) {
		report->residual = fmax(report->residual, fabs(work->loops.row[i].value));
		report->rate = fmax(report->rate, fabs(work->loops.row[i].rate));
	}
	return status;
}

#endif
