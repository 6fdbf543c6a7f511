// SPDX-License-Identifier: Apache-2.0
/*
 * cvode.c — the adapter to CVODE of SUNDIALS (6.x); see calder/cvode.h.
 *
 * Unknowns y = (delta, u) with the configuration integrate(q_base, delta). CVODE's history is of one chart, so it
 * survives from call to call while q_base stays, and is given up (CVodeReInit) when a quaternion has turned far
 * from its base, when the caller changed the state, or on cal_cvode_reset. Stepping is one internal step at
 * a time with a stop time at t_end; inputs at t_end are taken just before it, so that loads that switch there act
 * to the very end. The step is held to a fraction of a turn: a steady spin has no error that would do it. CVODE's clock
 * starts at zero with the history, so that t + h is not rounded at large t while h is not.
 *
 * Loops: the state that a step hands out is always projected. BDF projects its own solution within the step
 * (CVodeSetProjFn), so that history and state agree. CVODE has no such thing for Adams: its solution goes on beside the
 * projected one, and is restarted from it when the two are further apart than the error weights allow.
 */
#include <calder/cvode.h>
#include <calder/loops.h>

#include "base/error.h"

#ifdef CALDER_WITH_SUNDIALS

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include <cvode/cvode.h>
#include <nvector/nvector_serial.h>
#include <sunlinsol/sunlinsol_dense.h>
#include <sunmatrix/sunmatrix_dense.h>
#include <sunnonlinsol/sunnonlinsol_fixedpoint.h>

#include "integrate/rotations.h"
#include "model/work.h"

_Static_assert(sizeof(realtype) == sizeof(double), "SUNDIALS must be built for double precision");

static const double TURN_STEP = 1.5, TURN_BASE = 2.5; // [rad] in one step; from the base before it moves on
static const double APART = 10;  // of the error weights: an Adams solution is that far from its projection
static const double FINE = 1e-7; // a step that is shorter than this share of CVODE's clock restarts the clock

struct CalCvode {
	const CalModel *model;
	CalWork *work;
	CalCvodeOptions options; // defaults filled in
	CalIntegratorStats stats;
	int nq, nu;
	double *memory;                // of the arrays below
	double *q_base, *q_stage;      // [nq]
	double *q_raw, *moved;         // [nq], [2 nu] before a projection, and what it did
	double *u_stage;               // [nu] of a projection
	double *q_last, *u_last;       // the state that the last call left
	double t_last, t_start, t_end; // the latter two: of the current call
	double t_base, clock;          // where CVODE's clock is zero, and what it shows
	int *dof_q;                    // [nu] coordinate of a degree of freedom, -1: none of its own
	int *rotations, rotation_count;
	bool running;     // y and CVODE's history belong to (t_last, q_last, u_last)
	bool apart;       // y is too far from its projection to go on
	bool forward;     // direction of the history
	CalStatus status; // of the last right-hand side
	CalStatus fatal;  // what no smaller step can mend; CVODE's fixed-point solver would retry and forget it
	SUNContext context;
	void *cvode;
	N_Vector y, weights;
	SUNNonlinearSolver fixed_point;
	SUNMatrix jacobian;
	SUNLinearSolver linear;
};

/* ---- what CVODE calls ---------------------------------------------------------------------- */

/** Of CVODE's clock; its stop time is t_end itself. */
static double time_of(const CalCvode *c, double clock) {
	return clock == c->t_end - c->t_base ? c->t_end : c->t_base + clock;
}

static bool at_end(const CalCvode *c) { return c->clock == c->t_end - c->t_base; }

/** Loads that switch at the end act until there. */
static double input_time(const CalCvode *c, double clock) {
	const double t = time_of(c, clock);
	bool past = c->forward ? t >= c->t_end : t <= c->t_end;
	return past ? nextafter(c->t_end, c->t_start) : t;
}

/** y' = (rate(delta, u), udot): 0, > 0 if a smaller step may help, < 0 if not. */
static int right_hand_side(realtype clock, N_Vector y, N_Vector ydot, void *user) {
	CalCvode *c = user;
	if (c->fatal != CAL_OK) {
		return -1;
	}
	double *delta = N_VGetArrayPointer(y), *rate = N_VGetArrayPointer(ydot);
	CalState stage = {.t = input_time(c, clock), .q = c->q_stage, .u = delta + c->nu};
	cal_config_integrate(c->model, c->q_base, delta, stage.q);
	CalInput input = {0};
	if (c->options.input && c->options.input(c->options.user, c->model, &stage, &input) != 0) {
		c->fatal = CAL_ERR_USER;
		return -1;
	}
	c->stats.evaluations++;
	c->status = cal_forward_dynamics(c->model, &stage, &input, c->work, rate + c->nu);
	cal_config_rate(c->model, delta, stage.u, rate);
	c->fatal = c->status < 0 ? c->status : CAL_OK;
	return (int)c->status;
}

/** Brings stage (q_stage and its speeds) to the loops; driven degrees of freedom stay. */
static CalStatus project_stage(CalCvode *c, CalState *stage) {
	CalInput input = {0};
	if (c->options.input && c->options.input(c->options.user, c->model, stage, &input) != 0) {
		c->fatal = CAL_ERR_USER;
		return CAL_ERR_USER;
	}
	const CalProjectOptions options = {.frozen = input.prescribed};
	return cal_loop_project(c->model, stage, &options, c->work, NULL);
}

/** c->moved: y of the projected state less y = (delta, u); the projection is of q = integrate(q_base, delta). */
static CalStatus project_solution(CalCvode *c, double clock, const double *y, CalState *stage) {
	double *turn = c->moved + c->nu; // first as a displacement from q, for which the chart at delta has a rate
	stage->t = input_time(c, clock);
	cal_config_integrate(c->model, c->q_base, y, stage->q);
	memcpy(c->q_raw, stage->q, (size_t)c->nq * sizeof(double));
	memcpy(stage->u, y + c->nu, (size_t)c->nu * sizeof(double));
	CalStatus status = project_stage(c, stage);
	if (status != CAL_OK) {
		return status;
	}
	cal_config_difference(c->model, c->q_raw, stage->q, turn);
	cal_config_rate(c->model, y, turn, c->moved);
	for (int i = 0; i < c->nu; i++) {
		c->moved[c->nu + i] = stage->u[i] - y[c->nu + i];
	}
	return CAL_OK;
}

/** A CVProjFn: the correction that puts y on the loops. */
// NOLINTNEXTLINE(readability-non-const-parameter): the type is CVProjFn's
static int projection(realtype clock, N_Vector y, N_Vector correction, realtype epsilon, N_Vector error, void *user) {
	CalCvode *c = user;
	(void)epsilon;
	(void)error;
	CalState stage = {.q = c->q_stage, .u = c->u_stage};
	c->status = project_solution(c, clock, N_VGetArrayPointer(y), &stage);
	memcpy(N_VGetArrayPointer(correction), c->moved, 2 * (size_t)c->nu * sizeof(double));
	return c->status == CAL_OK ? 0 : c->status > 0 ? 1 : -1;
}

/** 1 / (atol + rtol size): the size of a displacement is that of its coordinate, 1 where it has none. */
static int error_weights(N_Vector y, N_Vector weights, void *user) {
	const CalCvode *c = user;
	const double *delta = N_VGetArrayPointer(y), *u = delta + c->nu;
	double *w = N_VGetArrayPointer(weights);
	for (int i = 0; i < c->nu; i++) {
		double size = c->dof_q[i] < 0 ? 1 : fabs(c->q_base[c->dof_q[i]] + delta[i]);
		w[i] = 1 / (c->options.atol + c->options.rtol * size);
		w[c->nu + i] = 1 / (c->options.atol + c->options.rtol * fabs(u[i]));
	}
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

static bool at_least_zero(double x) { return isfinite(x) && x >= 0; }

static bool options_are_valid(const CalCvodeOptions *o) {
	return (int)o->method >= 0 && o->method < CAL_CVODE_METHOD_COUNT && at_least_zero(o->step) &&
	       at_least_zero(o->rtol) && at_least_zero(o->atol) && at_least_zero(o->max_step) && o->max_steps >= 0;
}

static bool allocate(CalCvode *c) {
	size_t doubles = 4 * (size_t)c->nq + 4 * (size_t)c->nu;
	c->memory = calloc(doubles + 1, sizeof(double));
	c->dof_q = calloc((size_t)c->nu + 1, sizeof(int));
	c->rotations = calloc((size_t)c->nu / 3 + 1, sizeof(int));
	if (!c->memory || !c->dof_q || !c->rotations) {
		return false;
	}
	c->q_base = c->memory;
	c->q_stage = c->q_base + c->nq;
	c->q_last = c->q_stage + c->nq;
	c->u_last = c->q_last + c->nq;
	c->q_raw = c->u_last + c->nu;
	c->u_stage = c->q_raw + c->nq;
	c->moved = c->u_stage + c->nu;
	return true;
}

/** Adams iterates on the function, BDF solves with a dense Jacobian. */
static bool create_solvers(CalCvode *c) {
	if (c->options.method == CAL_CVODE_ADAMS) {
		c->fixed_point = SUNNonlinSol_FixedPoint(c->y, 0, c->context);
		return c->fixed_point && CVodeSetNonlinearSolver(c->cvode, c->fixed_point) == CV_SUCCESS;
	}
	c->jacobian = SUNDenseMatrix(2 * c->nu, 2 * c->nu, c->context);
	c->linear = c->jacobian ? SUNLinSol_Dense(c->y, c->jacobian, c->context) : NULL;
	if (!c->linear || CVodeSetLinearSolver(c->cvode, c->linear, c->jacobian) != CV_SUCCESS) {
		return false;
	}
	return cal_model_row_count(c->model) == 0 ||
	       (CVodeSetProjFn(c->cvode, projection) == CV_SUCCESS && CVodeSetProjErrEst(c->cvode, SUNFALSE) == CV_SUCCESS);
}

/** Everything of SUNDIALS; a model without dof needs none of it. */
static bool create_cvode(CalCvode *c) {
	if (c->nu == 0) {
		return true;
	}
	if (SUNContext_Create(NULL, &c->context) != 0) {
		return false;
	}
	c->y = N_VNew_Serial(2 * c->nu, c->context);
	c->weights = c->y ? N_VClone(c->y) : NULL;
	c->cvode = c->weights ? CVodeCreate(c->options.method == CAL_CVODE_ADAMS ? CV_ADAMS : CV_BDF, c->context) : NULL;
	if (!c->cvode) {
		return false;
	}
	N_VConst(0, c->y);
	return CVodeSetErrHandlerFn(c->cvode, ignore_message, NULL) == CV_SUCCESS &&
	       CVodeInit(c->cvode, right_hand_side, 0, c->y) == CV_SUCCESS && CVodeSetUserData(c->cvode, c) == CV_SUCCESS &&
	       CVodeWFtolerances(c->cvode, error_weights) == CV_SUCCESS && create_solvers(c);
}

CalStatus cal_cvode_create(const CalModel *model, CalWork *work, const CalCvodeOptions *options, CalCvode **cvode,
                           CalError *error) {
	if (!model || !work || !options || !cvode || !options_are_valid(options)) {
		return error_set(error, CAL_ERR_ARGUMENT,
		                 "cal_cvode_create: an argument is NULL, or an option is negative, not finite or unknown");
	}
	*cvode = NULL;
	CalCvode *c = calloc(1, sizeof *c);
	if (!c) {
		return error_set(error, CAL_ERR_MEMORY, "cal_cvode_create: out of memory");
	}
	c->model = model;
	c->work = work;
	work->loops.singular = LOOP_SINGULAR_ADAPTIVE;
	c->options = *options;
	c->options.rtol = options->rtol > 0 ? options->rtol : 1e-9;
	c->options.atol = options->atol > 0 ? options->atol : 1e-12;
	c->options.max_steps = options->max_steps > 0 ? options->max_steps : 1000000000;
	c->nq = cal_model_q_count(model);
	c->nu = cal_model_u_count(model);
	if (!allocate(c) || !create_cvode(c)) {
		cal_cvode_destroy(c);
		return error_set(error, CAL_ERR_MEMORY, "cal_cvode_create: out of memory");
	}
	for (int u = 0; u < c->nu; u++) {
		CalDofInfo dof;
		c->dof_q[u] = cal_model_dof(model, u, &dof) == CAL_OK ? dof.q : -1;
	}
	c->rotation_count = rotations_find(model, c->rotations);
	*cvode = c;
	return CAL_OK;
}

void cal_cvode_destroy(CalCvode *cvode) {
	if (!cvode) {
		return;
	}
	CVodeFree(&cvode->cvode);
	SUNNonlinSolFree(cvode->fixed_point);
	SUNLinSolFree(cvode->linear);
	if (cvode->jacobian) {
		SUNMatDestroy(cvode->jacobian);
	}
	if (cvode->y) {
		N_VDestroy(cvode->y);
	}
	if (cvode->weights) {
		N_VDestroy(cvode->weights);
	}
	SUNContext_Free(&cvode->context);
	free(cvode->memory);
	free(cvode->dof_q);
	free(cvode->rotations);
	free(cvode);
}

void cal_cvode_reset(CalCvode *cvode) {
	if (cvode)
		cvode->running = false;
}

CalIntegratorStats cal_cvode_stats(const CalCvode *cvode) {
	if (!cvode)
		return (CalIntegratorStats){0};
	CalIntegratorStats stats = cvode->stats;
	long failed = 0;
	if (cvode->cvode && CVodeGetNumErrTestFails(cvode->cvode, &failed) == CV_SUCCESS) {
		stats.rejected += failed; // those before the last restart are counted already
	}
	return stats;
}

/* ---- stepping ------------------------------------------------------------------------------ */

static CalStatus status_of(const CalCvode *c, int code) {
	switch (code) {
	case CV_RHSFUNC_FAIL:
	case CV_FIRST_RHSFUNC_ERR:
	case CV_REPTD_RHSFUNC_ERR:
	case CV_UNREC_RHSFUNC_ERR:
		return c->status != CAL_OK ? c->status : CAL_NOT_FINITE;
	case CV_ERR_FAILURE:
	case CV_TOO_MUCH_ACC:
	case CV_TOO_CLOSE:
		return CAL_STEP_TOO_SMALL;
	case CV_PROJFUNC_FAIL:
	case CV_REPTD_PROJFUNC_ERR:
		return c->status != CAL_OK ? c->status : CAL_NOT_CONVERGED;
	case CV_CONV_FAILURE:
	case CV_LSETUP_FAIL:
	case CV_LSOLVE_FAIL:
		return CAL_NOT_CONVERGED;
	case CV_MEM_FAIL:
		return CAL_ERR_MEMORY;
	default:
		return code < 0 ? CAL_ERR_ARGUMENT : CAL_OK;
	}
}

/** Makes *state the base and forgets the history. */
static CalStatus restart(CalCvode *c, const CalState *state) {
	double *y = N_VGetArrayPointer(c->y);
	c->stats = cal_cvode_stats(c);
	c->apart = false;
	memcpy(c->q_base, state->q, (size_t)c->nq * sizeof(double));
	memset(y, 0, (size_t)c->nu * sizeof(double));
	memcpy(y + c->nu, state->u, (size_t)c->nu * sizeof(double));
	c->forward = c->t_end > state->t;
	c->t_base = state->t;
	c->clock = 0;
	int code = CVodeReInit(c->cvode, 0, c->y);
	if (code == CV_SUCCESS) {
		code = CVodeSetInitStep(c->cvode, copysign(c->options.step, c->t_end - state->t));
	}
	if (code == CV_SUCCESS) {
		code = CVodeSetStopTime(c->cvode, c->t_end - c->t_base);
	}
	return status_of(c, code);
}

static bool continues(const CalCvode *c, const CalState *state) {
	return c->running && c->forward == (c->t_end > state->t) && state->t == c->t_last &&
	       memcmp(state->q, c->q_last, (size_t)c->nq * sizeof(double)) == 0 &&
	       memcmp(state->u, c->u_last, (size_t)c->nu * sizeof(double)) == 0;
}

static CalStatus limit_step(CalCvode *c, const CalState *state) {
	double fastest = rotations_largest(c->rotations, c->rotation_count, state->u);
	double most = c->options.max_step > 0 ? c->options.max_step : INFINITY;
	most = fastest > 0 ? fmin(most, TURN_STEP / fastest) : most;
	return status_of(c, CVodeSetMaxStep(c->cvode, isinf(most) ? 0 : most)); // 0: none
}

/** Of c->moved in CVODE's norm. */
static double correction_size(CalCvode *c) {
	double sum = 0;
	error_weights(c->y, c->weights, c);
	const double *w = N_VGetArrayPointer(c->weights);
	for (int i = 0; i < 2 * c->nu; i++) {
		sum += c->moved[i] * w[i] * c->moved[i] * w[i];
	}
	return sqrt(sum / (2 * c->nu));
}

/** One internal step; *state follows it. */
static CalStatus take_step(CalCvode *c, CalState *state) {
	CalStatus status = limit_step(c, state);
	if (status != CAL_OK) {
		return status;
	}
	double clock = c->clock;
	c->status = CAL_OK;
	status = status_of(c, CVode(c->cvode, c->t_end - c->t_base, c->y, &clock, CV_ONE_STEP));
	if (c->fatal != CAL_OK || status != CAL_OK) {
		return c->fatal != CAL_OK ? c->fatal : status;
	}
	const double t = time_of(c, clock), h = clock - c->clock;
	c->clock = clock;
	const double *delta = N_VGetArrayPointer(c->y);
	CalState stage = {.t = t, .q = c->q_stage, .u = c->u_stage};
	if (cal_model_row_count(c->model) > 0) {
		status = project_solution(c, clock, delta, &stage);
		c->apart = status == CAL_OK && correction_size(c) > APART;
	} else {
		cal_config_integrate(c->model, c->q_base, delta, stage.q);
		memcpy(stage.u, delta + c->nu, (size_t)c->nu * sizeof(double));
	}
	if (status != CAL_OK) {
		return status;
	}
	stage.t = t;
	c->stats.steps++;
	c->stats.last_step = h;
	cal_state_copy(c->model, &stage, state);
	bool far = rotations_largest(c->rotations, c->rotation_count, delta) > TURN_BASE;
	far = far || fabs(h) < FINE * fabs(clock);
	return (far || c->apart) && !at_end(c) ? restart(c, state) : CAL_OK;
}

static CalStatus advance(CalCvode *c, CalState *state) {
	CalStatus status =
		continues(c, state) ? status_of(c, CVodeSetStopTime(c->cvode, c->t_end - c->t_base)) : restart(c, state);
	for (int64_t k = 0; status == CAL_OK && !at_end(c); k++) {
		status = k < c->options.max_steps ? take_step(c, state) : CAL_TOO_MANY_STEPS;
	}
	const double *delta = N_VGetArrayPointer(c->y);
	c->running =
		status == CAL_OK && !c->apart && rotations_largest(c->rotations, c->rotation_count, delta) <= TURN_BASE;
	c->t_last = state->t;
	memcpy(c->q_last, state->q, (size_t)c->nq * sizeof(double));
	memcpy(c->u_last, state->u, (size_t)c->nu * sizeof(double));
	return status;
}

CalStatus cal_cvode_advance(CalCvode *cvode, CalState *state, double t_end) {
	if (!cvode || !state || !isfinite(t_end) || !isfinite(state->t)) {
		return CAL_ERR_ARGUMENT;
	}
	if (cvode->nu == 0 || state->t == t_end) {
		state->t = t_end;
		return CAL_OK;
	}
	cvode->fatal = CAL_OK;
	cvode->t_start = state->t;
	cvode->t_end = t_end;
	return advance(cvode, state);
}

#else

CalStatus cal_cvode_create(const CalModel *model, CalWork *work, const CalCvodeOptions *options, CalCvode **cvode,
                           CalError *error) {
	(void)model;
	(void)work;
	(void)options;
	(void)cvode;
	return error_set(error, CAL_ERR_UNSUPPORTED,
	                 "this library was built without SUNDIALS; install libsundials-dev and build again with "
	                 "CALDER_WITH_SUNDIALS=ON");
}

void cal_cvode_destroy(CalCvode *cvode) { (void)cvode; }

CalStatus cal_cvode_advance(CalCvode *cvode, CalState *state, double t_end) {
	(void)cvode;
	(void)state;
	(void)t_end;
	return CAL_ERR_UNSUPPORTED;
}

void cal_cvode_reset(CalCvode *cvode) { (void)cvode; }

CalIntegratorStats cal_cvode_stats(const CalCvode *cvode) {
	(void)cvode;
	return (CalIntegratorStats){0};
}

#endif
