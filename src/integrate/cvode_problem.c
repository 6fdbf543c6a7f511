// SPDX-License-Identifier: Apache-2.0
/*
 * cvode_problem.c — the system as CVODE sees it: y' = f(t, y) of y = (delta, u, x) in the chart at q_base, its error weights, its
 * Jacobian, and the projection of y onto the loops.
 *
 * Error weights are those of dopri5: of u and x their sizes, of delta the way made in the last step, of quadratures the largest
 * of them and the scale that the system gives. The first steps after a restart have a hundredth of the tolerance. They are of
 * order 1 and 2 and grow up to tenfold, where BDF multiplies the errors before (its order 2 is stable to 1 + sqrt(2)); each
 * leaves delta behind by h^2 udot/2, all in the same sense. Between two jumps of a force, there may be no others: a joint that
 * enters a strong force by 2e-5 rad and is thrown out again would leave with a speed that is off by a thousand times rtol.
 *
 * CVODE's clock starts at zero with the history (t_base). Inputs at the end of a step are taken just before it, so that loads that
 * switch there act to the very end.
 */
#include "integrate/cvode_problem.h"

#ifdef CALDER_WITH_SUNDIALS

#include <float.h>
#include <math.h>
#include <string.h>

#include <sunmatrix/sunmatrix_dense.h>

static const double START_SHARE = 0.01; // of the tolerance, for the first steps after a restart,
static const double START_FROM = 1e-9;  // if rtol is not less: step sizes would follow round-off

/* ---- states and rates ---------------------------------------------------------------------- */

double problem_time(const Cvode *c, double clock) {
	const double t = c->t_base + clock;
	const bool past = c->forward ? t > c->t_end : t < c->t_end;
	return past || clock == c->t_end - c->t_base ? c->t_end : t;
}

/** Loads that switch at the end act until there. */
static double input_time(const Cvode *c, double clock) {
	const double t = problem_time(c, clock);
	const bool past = c->forward ? t >= c->t_end : t <= c->t_end;
	return past ? nextafter(c->t_end, c->t_start) : t;
}

void problem_stage(CalIntegrator *ig, const double *y, double t) {
	const Cvode *c = ig->own;
	ig->stage.t = t;
	system_integrate(ig, c->q_base, y, ig->stage.q);
	memcpy(ig->stage.u, y + ig->nu, (size_t)ig->nu * sizeof(double));
	if (ig->nx > 0)
		memcpy(ig->stage.x, y + 2 * (ptrdiff_t)ig->nu, (size_t)ig->nx * sizeof(double));
}

/** Parts whose motion is given do not move in y. */
static void hold_motions(const CalIntegrator *ig, double *rate) {
	for (int k = 0; k < ig->part_count; k++) {
		const SystemPart *part = &ig->parts[k];
		for (int i = part->u; part->is.motion && i < part->u + part->nu; i++)
			rate[i] = rate[ig->nu + i] = 0;
	}
}

int problem_rate(realtype clock, N_Vector y, N_Vector ydot, void *user) {
	CalIntegrator *ig = user;
	Cvode *c = ig->own;
	double *rate = numbers(ydot);
	if (c->fatal != CAL_OK)
		return -1;
	if (c->idle) {
		N_VConst(0, ydot);
		return 0;
	}
	problem_stage(ig, numbers(y), input_time(c, clock));
	c->status = system_impose(ig, &ig->stage);
	if (c->status == CAL_OK)
		c->status = system_evaluate(ig, &ig->stage, &ig->stage, 0, 0, NULL, NULL);
	c->fatal = c->status < 0 ? c->status : CAL_OK;
	if (c->status != CAL_OK)
		return (int)c->status;
	system_rate(ig, numbers(y), ig->stage.u, rate);
	memcpy(rate + ig->nu, ig->u_rate[0], (size_t)ig->nu * sizeof(double));
	if (ig->nx > 0)
		memcpy(rate + 2 * (ptrdiff_t)ig->nu, ig->x_rate[0], (size_t)ig->nx * sizeof(double));
	hold_motions(ig, rate);
	return 0;
}

/* ---- error weights ------------------------------------------------------------------------- */

static void weigh_part(const CalIntegrator *ig, const SystemPart *part, const double *u, double unit, double *w) {
	const Cvode *c = ig->own;
	const double atol = ig->options.atol, rtol = ig->options.rtol;
	for (int i = part->u; i < part->u + part->nu; i++) {
		const double way = fmax(c->way[i], c->h_last * fabs(u[i]));
		w[i] = part->is.motion ? 0 : unit / (atol + rtol * way);
		w[ig->nu + i] = part->is.motion ? 0 : unit / (atol + rtol * fabs(u[i]));
	}
}

void problem_weigh(const CalIntegrator *ig, const double *y, double share, double *w) {
	const Cvode *c = ig->own;
	const double *u = y + ig->nu, *x = u + ig->nu, atol = ig->options.atol, rtol = ig->options.rtol;
	double *wx = w + 2 * (ptrdiff_t)ig->nu, size = c->energy;
	const int counted = 2 * ig->checked_u + ig->checked_x;
	const double unit = (counted > 0 ? sqrt((double)c->n / counted) : 1) / share;
	for (int k = 0; k < ig->part_count; k++)
		weigh_part(ig, &ig->parts[k], u, unit, w);
	for (int i = 0; i < ig->checked_x; i++)
		wx[i] = unit / (atol + rtol * fabs(x[i]));
	for (int i = ig->checked_x; i < ig->nx; i++)
		size = fmax(size, fabs(x[i]));
	for (int i = ig->checked_x; i < ig->nx; i++)
		wx[i] = unit / (atol + rtol * size);
}

int problem_error_weights(N_Vector y, N_Vector weights, void *user) {
	const CalIntegrator *ig = user;
	const Cvode *c = ig->own;
	const bool starts = c->steps < START_STEPS && ig->options.rtol >= START_FROM;
	problem_weigh(ig, numbers(y), starts ? START_SHARE : 1, numbers(weights));
	return 0;
}

/* ---- Jacobian ------------------------------------------------------------------------------ */

/** Whether a number of y changes anything: quadratures and given motions do not. */
static bool acts(const CalIntegrator *ig, int j) {
	return j >= 2 * ig->nu ? j - 2 * ig->nu < ig->checked_x : system_moves(ig, j % ig->nu);
}

/** What a number of y is large or small beside: of delta 1 rad or 1 m, of u and x what atol takes for zero. */
static double typical_size(const CalIntegrator *ig, int j) {
	const double least = 1e-6, rtol = ig->options.rtol;
	return j < ig->nu || !(rtol > 0) ? 1 : fmax(ig->options.atol / rtol, least);
}

/** A column of the Jacobian by a one-sided difference; y is left as it was. */
static int difference_column(CalIntegrator *ig, realtype clock, N_Vector y, N_Vector fy, int j, double step,
                             N_Vector column) {
	double *at = numbers(y);
	const double kept = at[j];
	at[j] = kept + step;
	const double change = at[j] - kept;
	const int code = problem_rate(clock, y, column, ig);
	at[j] = kept;
	if (code == 0)
		N_VLinearSum(1 / change, column, -1 / change, fy, column);
	return code;
}

/*
 * Columns by one-sided differences, the smaller of the two sides for the reason of system_jacobian.c; where that does not know the
 * whole state.
 *
 * CVODE's own differences allocate a vector each time, evaluate columns that are zero, and take steps of sqrt(eps) |y|: delta
 * is zero after a restart, its columns would be round-off, with the same effect.
 */
static int difference_jacobian(CalIntegrator *ig, realtype clock, N_Vector y, N_Vector fy, SUNMatrix J,
                               N_Vector forward, N_Vector backward) {
	const Cvode *c = ig->own;
	for (int j = 0; j < c->n; j++) {
		if (!acts(ig, j))
			continue;
		const double step = sqrt(DBL_EPSILON) * fmax(fabs(numbers(y)[j]), typical_size(ig, j));
		int code = difference_column(ig, clock, y, fy, j, step, forward);
		if (code == 0)
			code = difference_column(ig, clock, y, fy, j, -step, backward);
		if (code != 0)
			return code;
		N_Vector smaller = N_VMaxNorm(forward) <= N_VMaxNorm(backward) ? forward : backward;
		memcpy(SUNDenseMatrix_Column(J, j), numbers(smaller), (size_t)c->n * sizeof(double));
	}
	return 0;
}

/** How the configuration moves, and the rate of delta changes, with delta_j: in c->tangent. */
static void differentiate_chart(CalIntegrator *ig, const double *y, int j) {
	const Cvode *c = ig->own;
	const double step = 1e-4;
	double *delta = c->tangent, *way = delta + ig->nu, *rate = way + ig->nu, *scratch = rate + ig->nu;
	memcpy(delta, y, (size_t)ig->nu * sizeof *delta);
	memset(way, 0, 2 * (size_t)ig->nu * sizeof *way);
	for (int k = 0; k < 2; k++) {
		const double moved = k ? -step : step;
		delta[j] = y[j] + moved;
		system_integrate(ig, c->q_base, delta, c->q_raw);
		for (int p = 0; p < ig->part_count; p++) {
			const SystemPart *part = &ig->parts[p];
			cal_config_difference(part->is.model, ig->stage.q + part->q, c->q_raw + part->q, scratch + part->u);
		}
		for (int i = 0; i < ig->nu; i++)
			way[i] += scratch[i] / (2 * moved);
		system_rate(ig, delta, y + ig->nu, scratch);
		for (int i = 0; i < ig->nu; i++)
			rate[i] += scratch[i] / (2 * moved);
	}
	hold_motions(ig, way);
}

/** d(delta', u', x')/d delta_j: udot and xdot change along the tangent of the chart. */
static void fill_chart_column(CalIntegrator *ig, const double *y, int j, double *column) {
	const Cvode *c = ig->own;
	const SystemJacobian *s = &c->system;
	differentiate_chart(ig, y, j);
	const double *way = c->tangent + ig->nu, *rate = way + ig->nu;
	memcpy(column, rate, (size_t)ig->nu * sizeof *column);
	for (int i = 0; i < s->nu + s->nx; i++) {
		const double *row = s->M + (size_t)i * (size_t)s->width;
		double sum = 0;
		for (int k = 0; k < ig->nu; k++)
			sum += row[k] * way[k];
		column[ig->nu + i] = sum;
	}
}

/** d(delta', u', x') by a speed (the rate of delta is linear in u) or a state of a device. */
static void fill_speed_column(CalIntegrator *ig, const double *y, int j, double *column) {
	const Cvode *c = ig->own;
	const SystemJacobian *s = &c->system;
	if (j < 2 * ig->nu) {
		memset(c->tangent, 0, (size_t)ig->nu * sizeof(double));
		c->tangent[j - ig->nu] = 1;
		system_rate(ig, y, c->tangent, column);
	}
	for (int i = 0; i < s->nu + s->nx; i++)
		column[ig->nu + i] = s->M[(size_t)i * (size_t)s->width + (size_t)j];
}

static int analytical_jacobian(CalIntegrator *ig, realtype clock, const double *y, SUNMatrix J) {
	Cvode *c = ig->own;
	problem_stage(ig, y, input_time(c, clock));
	c->status = system_impose(ig, &ig->stage);
	if (c->status == CAL_OK)
		c->status = system_jacobian_find(ig, &c->system, &ig->stage);
	c->fatal = c->status < 0 ? c->status : CAL_OK;
	for (int j = 0; j < c->n && c->status == CAL_OK; j++) {
		if (acts(ig, j))
			(j < ig->nu ? fill_chart_column : fill_speed_column)(ig, y, j, SUNDenseMatrix_Column(J, j));
	}
	return (int)c->status;
}

int problem_jacobian(realtype clock, N_Vector y, N_Vector fy, SUNMatrix J, void *user, N_Vector forward,
                     N_Vector backward, N_Vector other) {
	CalIntegrator *ig = user;
	const Cvode *c = ig->own;
	(void)other;
	SUNMatZero(J);
	if (c->idle)
		return 0;
	return c->analytical ? analytical_jacobian(ig, clock, numbers(y), J)
	                     : difference_jacobian(ig, clock, y, fy, J, forward, backward);
}

/* ---- projection ---------------------------------------------------------------------------- */

void problem_find_moved(CalIntegrator *ig, const double *y) {
	const Cvode *c = ig->own;
	double *turn = c->moved + ig->nu; // first as a displacement from q, for which the chart at delta has a rate
	for (int k = 0; k < ig->part_count; k++) {
		const SystemPart *part = &ig->parts[k];
		cal_config_difference(part->is.model, c->q_raw + part->q, ig->stage.q + part->q, turn + part->u);
	}
	system_rate(ig, y, turn, c->moved);
	for (int i = 0; i < ig->nu; i++)
		c->moved[ig->nu + i] = ig->stage.u[i] - y[ig->nu + i];
	hold_motions(ig, c->moved);
}

// NOLINTNEXTLINE(readability-non-const-parameter): the type is CVProjFn's
int problem_project(realtype clock, N_Vector y, N_Vector correction, realtype epsilon, N_Vector error, void *user) {
	CalIntegrator *ig = user;
	Cvode *c = ig->own;
	(void)epsilon;
	(void)error;
	if (c->idle) {
		N_VConst(0, correction);
		return 0;
	}
	problem_stage(ig, numbers(y), input_time(c, clock));
	memcpy(c->q_raw, ig->stage.q, (size_t)ig->nq * sizeof(double));
	c->status = system_impose(ig, &ig->stage);
	if (c->status == CAL_OK)
		c->status = system_project(ig, ig->stage.t);
	c->fatal = c->status < 0 ? c->status : CAL_OK;
	if (c->status != CAL_OK)
		return c->status > 0 ? 1 : -1;
	problem_find_moved(ig, numbers(y));
	memcpy(numbers(correction), c->moved, 2 * (size_t)ig->nu * sizeof(double));
	if (ig->nx > 0)
		memset(numbers(correction) + 2 * (ptrdiff_t)ig->nu, 0, (size_t)ig->nx * sizeof(double));
	return 0;
}

#endif
