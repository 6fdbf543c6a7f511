// SPDX-License-Identifier: Apache-2.0
/*
 * cvode.c — CVODE of SUNDIALS (6.x): linear multistep schemes of variable order and step, Adams (1 to 12) for smooth motion and
 * BDF (1 to 5, with a dense Jacobian by differences) for stiff systems. Built with CALDER_WITH_SUNDIALS only.
 *
 * Unknowns y = (delta, u, x) with the configuration integrate(q_base, delta). CVODE's history is of one chart: it is kept from
 * step to step while q_base stays, and given up (CVodeReInit, order 1) when a quaternion has turned far from its base, when
 * the state that is handed over is not the one of the last step, and on cal_integrator_reset() and cal_integrator_renew():
 * jumps, events, changes of topology, checkpoints. A step is one of CVODE's with a stop time at the end; inputs at the end are
 * taken just before it, so that loads that switch there act to the very end. The step is held to a fraction of a turn: a
 * steady spin has no error that would do it. CVODE's clock starts at zero with the history, so that t + h is not rounded at
 * large t while h is not.
 *
 * Error weights are those of dopri5: of u and x their sizes, of delta the way made in the last step, of quadratures the largest
 * of them and the scale that the system gives.
 *
 * Loops: the state that a step hands out is projected. BDF projects its own solution within the step (CVodeSetProjFn), so that
 * history and state agree. CVODE has no such thing for Adams: its solution continues beside the projected one, and is restarted
 * from it when the two are further apart than the error weights allow.
 *
 * SUNDIALS allocates with malloc when an integrator is created, not in steps.
 */
#include "integrate/scheme.h"

#ifdef CALDER_WITH_SUNDIALS

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <cvode/cvode.h>
#include <nvector/nvector_serial.h>
#include <sunlinsol/sunlinsol_dense.h>
#include <sunmatrix/sunmatrix_dense.h>
#include <sunnonlinsol/sunnonlinsol_fixedpoint.h>

#include "integrate/rotations.h"

_Static_assert(sizeof(realtype) == sizeof(double), "SUNDIALS must be built for double precision");

static const double TURN_STEP = 1.5, TURN_BASE = 2.5; // [rad] in one step; from the base before it moves on
static const double APART = 10;  // of the error weights: an Adams solution is that far from its projection
static const double FINE = 1e-7; // a step that is shorter than this share of CVODE's clock restarts the clock

typedef struct Cvode {
	int n;                // numbers of y
	double *memory;       // of the arrays below
	double *q_base;       // [nq]
	double *q_raw;        // [nq] before a projection
	double *moved;        // [2 nu] what it did
	double *before, *way; // [nu] delta before the step at hand; how much the last one changed it
	double t_start;       // of the step at hand
	double t_end;         // it must not pass
	double t_base, clock; // where CVODE's clock is zero, and what it shows
	double clock_before;  // at the start of the last step
	double h_last;        // size of the last step
	double energy;        // scale of quadratures
	long failed;          // error tests since the restart that are in the statistics
	bool forward;         // direction of the history
	bool idle;            // of its first call, while it is created: nothing moves
	bool gap;             // y is no longer that of the history
	CalStatus status;     // of the last right-hand side
	CalStatus fatal;      // what no smaller step can mend; CVODE's fixed-point solver would retry and forget it
	SUNContext context;
	void *cvode;
	N_Vector y, weights, dense; // dense: of the interpolation
	SUNNonlinearSolver fixed_point;
	SUNMatrix jacobian;
	SUNLinearSolver linear;
} Cvode;

static double *numbers(N_Vector v) { return N_VGetArrayPointer(v); }

static void copy_numbers(double *to, const double *from, int count) {
	if (count > 0)
		memcpy(to, from, (size_t)count * sizeof(double));
}

/* ---- what CVODE calls ---------------------------------------------------------------------- */

/** Of CVODE's clock; its stop time is t_end itself, and rounding leads not beyond it. */
static double time_of(const Cvode *c, double clock) {
	const double t = c->t_base + clock;
	const bool past = c->forward ? t > c->t_end : t < c->t_end;
	return past || clock == c->t_end - c->t_base ? c->t_end : t;
}

/** In the direction of the history; by rounding the clock may be a little short of a time that it has come to. */
static bool is_later(const Cvode *c, double clock, double t) {
	return c->forward ? time_of(c, clock) > t : time_of(c, clock) < t;
}

/** Loads that switch at the end act until there. */
static double input_time(const Cvode *c, double clock) {
	const double t = time_of(c, clock);
	const bool past = c->forward ? t >= c->t_end : t <= c->t_end;
	return past ? nextafter(c->t_end, c->t_start) : t;
}

/** The state of y, without what is imposed on it. */
static void stage_from(CalIntegrator *ig, const double *y, double t) {
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
		const Part *part = &ig->parts[k];
		for (int i = part->u; part->is.motion && i < part->u + part->nu; i++)
			rate[i] = rate[ig->nu + i] = 0;
	}
}

/** y' = (rate(delta, u), udot, xdot): 0, > 0 if a smaller step may help, < 0 if not. */
static int right_hand_side(realtype clock, N_Vector y, N_Vector ydot, void *user) {
	CalIntegrator *ig = user;
	Cvode *c = ig->own;
	double *rate = numbers(ydot);
	if (c->fatal != CAL_OK)
		return -1;
	if (c->idle) {
		N_VConst(0, ydot);
		return 0;
	}
	stage_from(ig, numbers(y), input_time(c, clock));
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

static void weigh_part(const CalIntegrator *ig, const Part *part, const double *u, double unit, double *w) {
	const Cvode *c = ig->own;
	const double atol = ig->options.atol, rtol = ig->options.rtol;
	for (int i = part->u; i < part->u + part->nu; i++) {
		const double way = fmax(c->way[i], c->h_last * fabs(u[i]));
		w[i] = part->is.motion ? 0 : unit / (atol + rtol * way);
		w[ig->nu + i] = part->is.motion ? 0 : unit / (atol + rtol * fabs(u[i]));
	}
}

/** 1 / (atol + rtol size), scaled so that only what counts does in CVODE's mean over all of y. */
static int error_weights(N_Vector y, N_Vector weights, void *user) {
	const CalIntegrator *ig = user;
	const Cvode *c = ig->own;
	const double *u = numbers(y) + ig->nu, *x = u + ig->nu, atol = ig->options.atol, rtol = ig->options.rtol;
	double *w = numbers(weights), *wx = w + 2 * (ptrdiff_t)ig->nu, size = c->energy;
	const int counted = 2 * ig->checked_u + ig->checked_x;
	const double unit = counted > 0 ? sqrt((double)c->n / counted) : 1;
	for (int k = 0; k < ig->part_count; k++)
		weigh_part(ig, &ig->parts[k], u, unit, w);
	for (int i = 0; i < ig->checked_x; i++)
		wx[i] = unit / (atol + rtol * fabs(x[i]));
	for (int i = ig->checked_x; i < ig->nx; i++)
		size = fmax(size, fabs(x[i]));
	for (int i = ig->checked_x; i < ig->nx; i++)
		wx[i] = unit / (atol + rtol * size);
	return 0;
}

/** Whether a number of y changes anything: quadratures and given motions do not. */
static bool acts(const CalIntegrator *ig, int j) {
	if (j >= 2 * ig->nu)
		return j - 2 * ig->nu < ig->checked_x;
	const int u = j % ig->nu;
	for (int k = 0; k < ig->part_count; k++) {
		const Part *part = &ig->parts[k];
		if (u >= part->u && u < part->u + part->nu)
			return !part->is.motion;
	}
	return true;
}

/** WRMS norm, as CVODE's. */
static double norm_of(const double *v, const double *w, int n) {
	double sum = 0;
	for (int i = 0; i < n; i++)
		sum += v[i] * w[i] * v[i] * w[i];
	return sqrt(sum / n);
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
	const int code = right_hand_side(clock, y, column, ig);
	at[j] = kept;
	if (code == 0)
		N_VLinearSum(1 / change, column, -1 / change, fy, column);
	return code;
}

/**
 * A CVLsJacFn: columns by one-sided differences, the smaller of the two sides. Where a force jumps within one of them, that
 * difference is a stiffness that does not exist: a Newton iteration with it moves by too little and ends far from the solution
 * without a failed test. With the stiffness of the other side it converges, or fails and the step is shortened.
 *
 * CVODE's own differences allocate a vector each time, evaluate columns that are zero, and take steps of sqrt(eps) |y|: delta
 * is zero after a restart, its columns would be round-off, with the same effect.
 */
static int jacobian(realtype clock, N_Vector y, N_Vector fy, SUNMatrix J, void *user, N_Vector forward,
                    N_Vector backward, N_Vector other) {
	CalIntegrator *ig = user;
	const Cvode *c = ig->own;
	(void)other;
	SUNMatZero(J);
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
		copy_numbers(SUNDenseMatrix_Column(J, j), numbers(smaller), c->n);
	}
	return 0;
}

/** c->moved: what a projection of the stage did to (delta, u), by c->q_raw and the y that the stage was made from. */
static void find_moved(CalIntegrator *ig, const double *y) {
	const Cvode *c = ig->own;
	double *turn = c->moved + ig->nu; // first as a displacement from q, for which the chart at delta has a rate
	for (int k = 0; k < ig->part_count; k++) {
		const Part *part = &ig->parts[k];
		cal_config_difference(part->is.model, c->q_raw + part->q, ig->stage.q + part->q, turn + part->u);
	}
	system_rate(ig, y, turn, c->moved);
	for (int i = 0; i < ig->nu; i++)
		c->moved[ig->nu + i] = ig->stage.u[i] - y[ig->nu + i];
	hold_motions(ig, c->moved);
}

/** A CVProjFn: the correction that puts y on the loops. */
// NOLINTNEXTLINE(readability-non-const-parameter): the type is CVProjFn's
static int projection(realtype clock, N_Vector y, N_Vector correction, realtype epsilon, N_Vector error, void *user) {
	CalIntegrator *ig = user;
	Cvode *c = ig->own;
	(void)epsilon;
	(void)error;
	if (c->idle) {
		N_VConst(0, correction);
		return 0;
	}
	stage_from(ig, numbers(y), input_time(c, clock));
	memcpy(c->q_raw, ig->stage.q, (size_t)ig->nq * sizeof(double));
	c->status = system_impose(ig, &ig->stage);
	if (c->status == CAL_OK)
		c->status = system_project(ig, ig->stage.t);
	c->fatal = c->status < 0 ? c->status : CAL_OK;
	if (c->status != CAL_OK)
		return c->status > 0 ? 1 : -1;
	find_moved(ig, numbers(y));
	memcpy(numbers(correction), c->moved, 2 * (size_t)ig->nu * sizeof(double));
	if (ig->nx > 0)
		memset(numbers(correction) + 2 * (ptrdiff_t)ig->nu, 0, (size_t)ig->nx * sizeof(double));
	return 0;
}

/** CVODE would print; what went wrong is in its return value. */
// NOLINTNEXTLINE(readability-non-const-parameter): the type is CVErrHandlerFn's
static void ignore_message(int code, const char *module, const char *function, char *message, void *user) {
	(void)code;
	(void)module;
	(void)function;
	(void)message;
	(void)user;
}

/* ---- creation ------------------------------------------------------------------------------ */

static bool take_arrays(const CalIntegrator *ig, Cvode *c) {
	const size_t doubles = 2 * (size_t)ig->nq + 4 * (size_t)ig->nu;
	c->memory = calloc(doubles + 1, sizeof(double));
	if (!c->memory)
		return false;
	c->q_base = c->memory;
	c->q_raw = c->q_base + ig->nq;
	c->moved = c->q_raw + ig->nq;
	c->before = c->moved + 2 * (ptrdiff_t)ig->nu;
	c->way = c->before + ig->nu;
	return true;
}

/** Adams iterates on the function, BDF solves with a dense Jacobian. */
static bool create_solvers(const CalIntegrator *ig, Cvode *c, int kind) {
	if (kind == CV_ADAMS) {
		c->fixed_point = SUNNonlinSol_FixedPoint(c->y, 0, c->context);
		return c->fixed_point && CVodeSetNonlinearSolver(c->cvode, c->fixed_point) == CV_SUCCESS;
	}
	c->jacobian = SUNDenseMatrix(c->n, c->n, c->context);
	c->linear = c->jacobian ? SUNLinSol_Dense(c->y, c->jacobian, c->context) : NULL;
	if (!c->linear || CVodeSetLinearSolver(c->cvode, c->linear, c->jacobian) != CV_SUCCESS ||
	    CVodeSetJacFn(c->cvode, jacobian) != CV_SUCCESS)
		return false;
	const int every = ig->options.projection ? ig->options.projection : 1;
	return !ig->has_loops || every < 0 ||
	       (CVodeSetProjFn(c->cvode, projection) == CV_SUCCESS &&
	        CVodeSetProjErrEst(c->cvode, SUNFALSE) == CV_SUCCESS &&
	        CVodeSetProjFrequency(c->cvode, every) == CV_SUCCESS);
}

/** Everything of SUNDIALS. */
static bool create_sundials(CalIntegrator *ig, Cvode *c, int kind) {
	if (SUNContext_Create(NULL, &c->context) != 0)
		return false;
	c->y = N_VNew_Serial(c->n, c->context);
	c->weights = c->y ? N_VClone(c->y) : NULL;
	c->dense = c->weights ? N_VClone(c->y) : NULL;
	c->cvode = c->dense ? CVodeCreate(kind, c->context) : NULL;
	if (!c->cvode)
		return false;
	N_VConst(0, c->y);
	return CVodeSetErrHandlerFn(c->cvode, ignore_message, NULL) == CV_SUCCESS &&
	       CVodeInit(c->cvode, right_hand_side, 0, c->y) == CV_SUCCESS &&
	       CVodeSetUserData(c->cvode, ig) == CV_SUCCESS && CVodeWFtolerances(c->cvode, error_weights) == CV_SUCCESS &&
	       CVodeSetMinStep(c->cvode, ig->options.min_step) == CV_SUCCESS && create_solvers(ig, c, kind);
}

/** CVODE allocates in its first step; here nothing moves in it. */
static bool take_idle_step(Cvode *c) {
	double clock = 0;
	c->idle = true;
	const int code = CVode(c->cvode, 1, c->y, &clock, CV_ONE_STEP);
	c->idle = false;
	return code >= 0;
}

static void cvode_destroy(CalIntegrator *ig) {
	Cvode *c = ig->own;
	if (!c)
		return;
	CVodeFree(&c->cvode);
	SUNNonlinSolFree(c->fixed_point);
	SUNLinSolFree(c->linear);
	if (c->jacobian)
		SUNMatDestroy(c->jacobian);
	for (int i = 0; i < 3; i++) {
		N_Vector v = i == 0 ? c->y : i == 1 ? c->weights : c->dense;
		if (v)
			N_VDestroy(v);
	}
	SUNContext_Free(&c->context);
	free(c->memory);
	free(c);
	ig->own = NULL;
}

/** A system without a single number to integrate needs none of it. */
static CalStatus create(CalIntegrator *ig, int kind) {
	const int n = 2 * ig->nu + ig->nx;
	if (n == 0)
		return CAL_OK;
	Cvode *c = calloc(1, sizeof *c);
	if (!c)
		return CAL_ERR_MEMORY;
	c->n = n;
	ig->own = c;
	if (take_arrays(ig, c) && create_sundials(ig, c, kind) && take_idle_step(c))
		return CAL_OK;
	cvode_destroy(ig);
	return CAL_ERR_MEMORY;
}

static CalStatus adams_create(CalIntegrator *ig) { return create(ig, CV_ADAMS); }

static CalStatus bdf_create(CalIntegrator *ig) { return create(ig, CV_BDF); }

/* ---- stepping ------------------------------------------------------------------------------ */

static CalStatus status_of(const Cvode *c, int code) {
	switch (code) {
	case CV_RHSFUNC_FAIL:
	case CV_FIRST_RHSFUNC_ERR:
	case CV_REPTD_RHSFUNC_ERR:
	case CV_UNREC_RHSFUNC_ERR:
		return c->status != CAL_OK ? c->status : CAL_NOT_FINITE;
	case CV_ERR_FAILURE:
	case CV_TOO_MUCH_ACC:
	case CV_TOO_CLOSE:
	case CV_CONV_FAILURE:
	case CV_LSETUP_FAIL:
	case CV_LSOLVE_FAIL:
		return CAL_STEP_TOO_SMALL;
	case CV_PROJFUNC_FAIL:
	case CV_REPTD_PROJFUNC_ERR:
		return c->status != CAL_OK ? c->status : CAL_NOT_CONVERGED;
	case CV_MEM_FAIL:
		return CAL_ERR_MEMORY;
	default:
		return code < 0 ? CAL_ERR_ARGUMENT : CAL_OK;
	}
}

static bool same_numbers(const double *a, const double *b, int count) {
	return count == 0 || memcmp(a, b, (size_t)count * sizeof(double)) == 0;
}

/** The history is that of *state, and of the direction of the step. A caller may have rounded the time. */
static bool continues(const CalIntegrator *ig, const CalState *state) {
	const StepControl *s = &ig->control;
	const Cvode *c = ig->own;
	const bool same_time = fabs(state->t - s->t_last) <= 4 * DBL_EPSILON * fmax(fabs(state->t), fabs(s->t_last));
	return s->reusable && c->forward == (c->t_end > state->t) && same_time &&
	       same_numbers(state->q, s->q_last, ig->nq) && same_numbers(state->u, s->u_last, ig->nu) &&
	       same_numbers(state->x, s->x_last, ig->nx);
}

/** Makes *state the base and forgets the history. */
static CalStatus restart(CalIntegrator *ig, const CalState *state) {
	Cvode *c = ig->own;
	double *y = numbers(c->y);
	copy_numbers(c->q_base, state->q, ig->nq);
	memset(y, 0, (size_t)ig->nu * sizeof(double));
	copy_numbers(y + ig->nu, state->u, ig->nu);
	copy_numbers(y + 2 * (ptrdiff_t)ig->nu, state->x, ig->nx);
	memset(c->way, 0, (size_t)ig->nu * sizeof(double));
	c->forward = c->t_end > state->t;
	c->t_base = state->t;
	c->clock = c->h_last = 0;
	c->failed = 0;
	const double first = copysign(ig->control.h_next, c->t_end - state->t); // 0: chosen
	ig->control.h_next = 0;
	const int code = CVodeReInit(c->cvode, 0, c->y);
	return status_of(c, code == CV_SUCCESS ? CVodeSetInitStep(c->cvode, first) : code);
}

static CalStatus limit_step(const CalIntegrator *ig, const CalState *state) {
	const Cvode *c = ig->own;
	const double fastest = rotations_largest(ig->control.rotations, ig->control.rotation_count, state->u);
	double most = ig->options.max_step > 0 ? ig->options.max_step : INFINITY;
	most = fastest > 0 ? fmin(most, TURN_STEP / fastest) : most;
	most = fmax(most, ig->options.min_step);
	const CalStatus status = status_of(c, CVodeSetMaxStep(c->cvode, isinf(most) ? 0 : most)); // 0: none
	return status == CAL_OK ? status_of(c, CVodeSetStopTime(c->cvode, c->t_end - c->t_base)) : status;
}

/** Of c->moved in CVODE's norm. */
static double correction_size(CalIntegrator *ig) {
	const Cvode *c = ig->own;
	error_weights(c->y, c->weights, ig);
	return norm_of(c->moved, numbers(c->weights), 2 * ig->nu);
}

static void count_failed(CalIntegrator *ig) {
	Cvode *c = ig->own;
	long failed = 0;
	if (CVodeGetNumErrTestFails(c->cvode, &failed) == CV_SUCCESS) {
		ig->stats.rejected += failed - c->failed;
		c->failed = failed;
	}
}

/**
 * A time that a double has no room for is left to t_end: y is carried on by it along its rate, and the history ends. (Steps of
 * 1 ns at t = 1e6 s, which is known to 0.1 ns.)
 */
static CalStatus fill_gap(Cvode *c, double gap) {
	const int code = CVodeGetDky(c->cvode, c->clock, 1, c->dense);
	if (code == CV_SUCCESS)
		N_VLinearSum(1, c->y, gap, c->dense, c->y);
	return status_of(c, code);
}

/** CVODE's own step; several where the first are shorter than a double resolves at this time. */
static CalStatus run_cvode(CalIntegrator *ig, const CalState *state, double *clock) {
	enum { MOST_UNSEEN = 100 };
	Cvode *c = ig->own;
	CalStatus status = CAL_OK;
	c->status = CAL_OK;
	for (int k = 0; k < MOST_UNSEEN && status == CAL_OK && !is_later(c, *clock, state->t); k++)
		status = status_of(c, CVode(c->cvode, c->t_end - c->t_base, c->y, clock, CV_ONE_STEP));
	count_failed(ig);
	if (c->fatal != CAL_OK || status != CAL_OK)
		return c->fatal != CAL_OK ? c->fatal : status;
	return is_later(c, *clock, state->t) ? CAL_OK : CAL_STEP_TOO_SMALL;
}

/** One step; its solution is in y. *t: the time that it has come to. */
static CalStatus take_step(CalIntegrator *ig, const CalState *state, double *t) {
	Cvode *c = ig->own;
	const double *delta = numbers(c->y);
	double clock = c->clock;
	copy_numbers(c->before, delta, ig->nu);
	CalStatus status = limit_step(ig, state);
	if (status == CAL_OK)
		status = run_cvode(ig, state, &clock);
	if (status != CAL_OK)
		return status;
	for (int i = 0; i < ig->nu; i++)
		c->way[i] = fabs(delta[i] - c->before[i]);
	*t = time_of(c, clock);
	c->clock_before = c->clock;
	c->clock = clock;
	c->h_last = fabs(clock - c->clock_before);
	const double gap = c->t_end - c->t_base - clock;
	c->gap = *t == c->t_end && gap != 0;
	return c->gap ? fill_gap(c, gap) : CAL_OK;
}

/** Whether the history can be continued from the state that a step has ended with, which is in the stage. */
static bool can_continue(CalIntegrator *ig) {
	const Cvode *c = ig->own;
	const double *y = numbers(c->y);
	if (c->gap || rotations_largest(ig->control.rotations, ig->control.rotation_count, y) > TURN_BASE ||
	    c->h_last < FINE * fabs(c->clock))
		return false;
	if (!ig->has_loops)
		return true;
	find_moved(ig, y);
	return correction_size(ig) <= APART;
}

static CalStatus commit(CalIntegrator *ig, CalState *state, double t) {
	const Cvode *c = ig->own;
	StepControl *s = &ig->control;
	stage_from(ig, numbers(c->y), t);
	copy_numbers(c->q_raw, ig->stage.q, ig->nq);
	ig->dense.t0 = state->t;
	const CalStatus status = integrator_commit(ig, state, t);
	ig->dense.valid = s->reusable = status == CAL_OK;
	if (status != CAL_OK)
		return status;
	ig->dense.t1 = t;
	s->reusable = can_continue(ig);
	copy_numbers(s->q_last, state->q, ig->nq);
	copy_numbers(s->u_last, state->u, ig->nu);
	copy_numbers(s->x_last, state->x, ig->nx);
	s->t_last = t;
	return CAL_OK;
}

static CalStatus cvode_step(CalIntegrator *ig, CalState *state, double h, double t_end) {
	Cvode *c = ig->own;
	(void)h;
	if (!c) {
		state->t = t_end;
		ig->stats.steps++;
		return CAL_OK;
	}
	ig->dense.valid = false;
	c->fatal = CAL_OK;
	c->t_start = state->t;
	c->t_end = t_end;
	c->energy = ig->scale && ig->nx > ig->checked_x ? ig->scale(ig->user, state) : 0;
	double t = state->t;
	CalStatus status = continues(ig, state) ? CAL_OK : restart(ig, state);
	ig->control.reusable = false;
	if (status == CAL_OK)
		status = take_step(ig, state, &t);
	return status == CAL_OK ? commit(ig, state, t) : status;
}

/* ---- dense output -------------------------------------------------------------------------- */

/** The k-th derivative of y at a time of the last step, in c->dense. */
static CalStatus derivative(const CalIntegrator *ig, double t, int k) {
	const Cvode *c = ig->own;
	double theta = 0;
	const CalStatus status = c ? dense_place(&ig->dense, t, &theta) : CAL_ERR_STAGE;
	if (status != CAL_OK)
		return status;
	double last = 0;
	CVodeGetLastStep(c->cvode, &last);
	double clock = c->clock_before + theta * (c->clock - c->clock_before);
	clock = fabs(c->clock - clock) > fabs(last) ? c->clock - last : clock; // further back times cannot be distinguished
	return CVodeGetDky(c->cvode, clock, k, c->dense) == CV_SUCCESS ? CAL_OK : CAL_ERR_STAGE;
}

static CalStatus cvode_interpolate(const CalIntegrator *ig, double t, CalState *out) {
	const Cvode *c = ig->own;
	const CalStatus status = derivative(ig, t, 0);
	if (status != CAL_OK)
		return status;
	const double *y = numbers(c->dense);
	system_integrate(ig, c->q_base, y, out->q);
	copy_numbers(out->u, y + ig->nu, ig->nu);
	copy_numbers(out->x, y + 2 * (ptrdiff_t)ig->nu, ig->nx);
	out->t = t;
	return system_motion(ig, out);
}

static CalStatus cvode_acceleration(const CalIntegrator *ig, double t, double *udot) {
	const Cvode *c = ig->own;
	const CalStatus status = derivative(ig, t, 1);
	if (status == CAL_OK)
		copy_numbers(udot, numbers(c->dense) + ig->nu, ig->nu);
	return status;
}

#define CVODE_MISSING NULL
#define CVODE_FUNCTIONS(kind)                                                                                \
	.create = kind##_create, .destroy = cvode_destroy, .step = cvode_step, .interpolate = cvode_interpolate, \
	.acceleration = cvode_acceleration

#else

#define CVODE_MISSING "SUNDIALS (libsundials-dev, CALDER_WITH_SUNDIALS=ON)"
#define CVODE_FUNCTIONS(kind) .step = NULL // integrators of a method that is missing are not made

#endif

const Scheme scheme_CAL_METHOD_CVODE_ADAMS = {
	.info = {.name = "cvode-adams",
             .doc = "Adams schemes of order 1 to 12 with adaptive steps, by CVODE of SUNDIALS: long smooth motion",
             .order = 12,
             .adaptive = 1,
             .rtol = 1e-9,
             .atol = 1e-12,
             .missing = CVODE_MISSING},
	.stages = 1,
	CVODE_FUNCTIONS(adams)};

const Scheme scheme_CAL_METHOD_CVODE_BDF = {
	.info = {.name = "cvode-bdf",
             .doc = "backward differentiation of order 1 to 5 with adaptive steps, by CVODE of SUNDIALS: stiff systems",
             .order = 5,
             .adaptive = 1,
             .rtol = 1e-9,
             .atol = 1e-12,
             .missing = CVODE_MISSING},
	.stages = 1,
	CVODE_FUNCTIONS(bdf)};
