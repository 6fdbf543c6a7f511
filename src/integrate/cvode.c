// SPDX-License-Identifier: Apache-2.0
/*
 * cvode.c — CVODE of SUNDIALS (6.x): linear multistep schemes of variable order and step, Adams (1 to 12) for smooth motion and
 * BDF (1 to 5, with a dense Jacobian) for stiff systems. Built with CALDER_WITH_SUNDIALS only.
 *
 * Unknowns y = (delta, u, x) with the configuration integrate(q_base, delta). CVODE's history is of one chart: it is kept from
 * step to step while q_base stays, and given up (CVodeReInit, order 1) when a quaternion has turned far from its base, when
 * the state that is handed over is not the one of the last step, and on cal_integrator_reset() and cal_integrator_renew():
 * jumps, events, changes of topology, checkpoints. A step is one of CVODE's with a stop time at the end; inputs at the end are
 * taken just before it, so that loads that switch there act to the very end. The step is held to a fraction of a turn: a
 * steady spin has no error that would do it. CVODE's clock starts at zero with the history, so that t + h is not rounded at
 * large t while h is not.
 *
 * Loops: the state that a step hands out is projected. BDF projects its own solution within the step (CVodeSetProjFn), so that
 * history and state agree. CVODE has no such thing for Adams: its solution continues beside the projected one, and is restarted
 * from it when the two are further apart than the error weights allow.
 *
 * SUNDIALS allocates with malloc when an integrator is created, not in steps.
 */
#include "integrate/cvode_problem.h"

#ifdef CALDER_WITH_SUNDIALS

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <sunlinsol/sunlinsol_dense.h>
#include <sunmatrix/sunmatrix_dense.h>
#include <sunnonlinsol/sunnonlinsol_fixedpoint.h>

#include "integrate/rotations.h"

_Static_assert(sizeof(realtype) == sizeof(double), "SUNDIALS must be built for double precision");

static const double TURN_STEP = 1.5, TURN_BASE = 2.5; // [rad] in one step; from the base before it moves on
static const double APART = 10;  // of the error weights: an Adams solution is that far from its projection
static const double FINE = 1e-7; // a step that is shorter than this share of CVODE's clock restarts the clock

static void copy_numbers(double *to, const double *from, int count) {
	if (count > 0)
		memcpy(to, from, (size_t)count * sizeof(double));
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
	const size_t doubles = 2 * (size_t)ig->nq + 8 * (size_t)ig->nu;
	c->memory = calloc(doubles + 1, sizeof(double));
	if (!c->memory)
		return false;
	c->q_base = c->memory;
	c->q_raw = c->q_base + ig->nq;
	c->moved = c->q_raw + ig->nq;
	c->before = c->moved + 2 * (ptrdiff_t)ig->nu;
	c->way = c->before + ig->nu;
	c->tangent = c->way + ig->nu;
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
	    CVodeSetJacFn(c->cvode, problem_jacobian) != CV_SUCCESS)
		return false;
	const int every = ig->options.projection ? ig->options.projection : 1;
	return !ig->has_loops || every < 0 ||
	       (CVodeSetProjFn(c->cvode, problem_project) == CV_SUCCESS &&
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
	       CVodeInit(c->cvode, problem_rate, 0, c->y) == CV_SUCCESS && CVodeSetUserData(c->cvode, ig) == CV_SUCCESS &&
	       CVodeWFtolerances(c->cvode, problem_error_weights) == CV_SUCCESS &&
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
	system_jacobian_release(ig, &c->system);
	free(c->memory);
	free(c);
	ig->own = NULL;
}

/** Where branches of the model are on other ranks, it is differenced. */
static CalStatus create_jacobian(const CalIntegrator *ig, Cvode *c) {
	c->analytical = true;
	for (int i = 0; i < ig->part_count; i++)
		c->analytical &= !ig->parts[i].is.branches || branches_know_all(ig->parts[i].is.branches);
	return c->analytical ? system_jacobian_create(ig, &c->system) : CAL_OK;
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
	const CalStatus status = kind == CV_BDF ? create_jacobian(ig, c) : CAL_OK;
	if (status == CAL_OK && take_arrays(ig, c) && create_sundials(ig, c, kind) && take_idle_step(c))
		return CAL_OK;
	cvode_destroy(ig);
	return status != CAL_OK ? status : CAL_ERR_MEMORY;
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
	c->steps = 0;
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

/** WRMS norm, as CVODE's. */
static double norm_of(const double *v, const double *w, int n) {
	double sum = 0;
	for (int i = 0; i < n; i++)
		sum += v[i] * w[i] * v[i] * w[i];
	return sqrt(sum / n);
}

/** Of c->moved in CVODE's norm. */
static double correction_size(CalIntegrator *ig) {
	const Cvode *c = ig->own;
	problem_weigh(ig, numbers(c->y), 1, numbers(c->weights));
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

/** In the direction of the history; by rounding the clock may be a little short of a time that it has come to. */
static bool is_later(const Cvode *c, double clock, double t) {
	return c->forward ? problem_time(c, clock) > t : problem_time(c, clock) < t;
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
	*t = problem_time(c, clock);
	c->clock_before = c->clock;
	c->clock = clock;
	c->steps += c->steps < START_STEPS;
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
	problem_find_moved(ig, y);
	return correction_size(ig) <= APART;
}

static CalStatus commit(CalIntegrator *ig, CalState *state, double t) {
	const Cvode *c = ig->own;
	StepControl *s = &ig->control;
	problem_stage(ig, numbers(c->y), t);
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
