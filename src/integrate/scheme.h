// SPDX-License-Identifier: Apache-2.0
/*
 * scheme.h — the integrator object as its schemes see it.
 *
 * A scheme is one file that defines `scheme_CAL_METHOD_...`, with all that others may know of the method (CalMethodInfo);
 * CAL_METHOD_LIST makes the table. Within a step the unknown is (delta, u), where the configuration is integrate(q_n, delta) and q_n is that at the
 * start of the step: delta' = rate(delta, u), u' = forward dynamics. States x of devices are plain numbers beside them:
 * x' = what the input says. A scheme writes to the caller's state only when it has succeeded.
 *
 * Several models are one to a scheme: their arrays follow one another, and the functions of system.c go from part to
 * part. Parts whose motion is given take no part in the arithmetic; system_impose() puts them where they belong.
 */
#ifndef CALDER_INTEGRATE_SCHEME_H
#define CALDER_INTEGRATE_SCHEME_H

#include <stdbool.h>

#include <calder/integrate.h>

#include "base/serializer.h"
#include "component/branch_step.h"

enum {
	MAX_STAGES = 7,
	DENSE_TERMS = 4, // of the interpolation polynomial, beside its value at the start
};

typedef struct Scheme {
	CalMethodInfo info;
	int stages;      // rates kept at once
	int dense_terms; // of CalIntegrator.dense that it uses, DENSE_TERMS or 0
	/** Memory of its own beside the integrator's, in CalIntegrator.own, and giving it back. NULL: it has none. */
	CalStatus (*create)(CalIntegrator *integrator);
	void (*destroy)(CalIntegrator *integrator);
	/** One step from *state: of size h to t_new, or (adaptive) in that direction by at most h. */
	CalStatus (*step)(CalIntegrator *integrator, CalState *state, double h, double t_new);
	CalStatus (*interpolate)(const CalIntegrator *integrator, double t, CalState *out); // NULL: cannot
	CalStatus (*acceleration)(const CalIntegrator *integrator, double t, double *udot); // NULL: cannot
	void (*walk)(CalIntegrator *integrator, Serializer *archive); // what it keeps for checkpoints, NULL: nothing
} Scheme;

#define SCHEME_DECLARE(id) extern const Scheme scheme_##id;
CAL_METHOD_LIST(SCHEME_DECLARE)
#undef SCHEME_DECLARE

/** What an adaptive scheme remembers from step to step. */
typedef struct StepControl {
	double h_next;     // size to try next, > 0; 0: to be chosen
	double h_min;      // of the current call
	double error_last; // error norm of the last accepted step
	double failed_at;  // about where evaluations failed,
	int failures;      // and how often
	int *rotations;    // [rotation_count] first of the three speeds of each quaternion
	int rotation_count;
	bool reusable; // the last stage is the first one of a step from (t_last, q_last, u_last, x_last)
	double t_last, *q_last, *u_last, *x_last;
} StepControl;

/** The last accepted step as polynomials in theta = (t - t0) / h. */
typedef struct DenseOutput {
	bool valid;
	double t0, t1;
	double *q0, *u0, *x0;       // at t0
	double *delta[DENSE_TERMS]; // [nu] each
	double *u[DENSE_TERMS];     // [nu] each
	double *x[DENSE_TERMS];     // [nx] each
} DenseOutput;

/** A model and where its numbers are among those of all. */
typedef struct SystemPart {
	CalSystemPart is;
	int q, nq, u, nu;
	bool has_loops;
	bool all_prescribed; // as described
	bool rows_move;      // constraint equations are driven
} SystemPart;

/** The state after a step, which it must not change. */
typedef void (*StepEndFn)(void *user, const CalState *state);

struct CalIntegrator {
	SystemPart *parts;
	int part_count;
	CalState *states;             // [part_count] scratch: a state of all, seen by each part
	CalInput *inputs;             // [part_count] scratch
	const CalState *elastic;      // of the evaluation at hand, if it is linearly implicit,
	double implicit_step;         // and its step; 0: it is not
	bool projecting;              // inputs are asked for what is held, not for forces
	CalSystemFn input;            // NULL: options.input, for each part
	CalSystemScaleFn scale;       // of quadratures, NULL: none
	CalSystemDoneFn done;         // NULL: none
	void *user;                   // handed to input
	CalIntegratorOptions options; // defaults filled in
	const Scheme *scheme;
	CalIntegratorStats stats;
	void *owned;    // memory to release, or NULL if the caller's
	void *own;      // of the scheme (Scheme.create), or NULL
	int failed_dof; // part of the last failure, -1: none of them
	int reached;    // parts of the last evaluation before one that failed
	int nq, nu, nx;
	int checked_u, checked_x;       // speeds that count for the step size; states x that are not quadratures
	bool has_loops, has_motions;    // some part has; drives are motions of single coordinates
	CalState stage;                 // t, q, u, x of the evaluation at hand
	double *delta;                  // [nu] displacement of stage.q from the start of the step
	double *delta_rate[MAX_STAGES]; // [nu] each
	double *u_rate[MAX_STAGES];     // [nu] each
	double *x_rate[MAX_STAGES];     // [nx] each
	double *scratch;                // [max(nu, nx)] rates that nobody wants
	StepControl control;            // adaptive schemes
	DenseOutput dense;              // adaptive schemes
	const volatile int *stop;       // nonzero: an advance ends after the step at hand; NULL: none
	int turned_part,
		turned_u;        // of a rotational spring that passed half a turn, where its moment jumps, in a step; -1: none
	double turned_at;    // [s] end of that step
	StepEndFn step_end;  // called after each step of cal_integrator_advance(), NULL: none
	void *step_end_user; //
};

static inline bool integrator_is_stopped(const CalIntegrator *integrator) {
	return integrator->stop && *integrator->stop;
}

/**
 * While inputs are asked for: the step of a linearly implicit evaluation, and what springs and modes of the part start
 * from; 0: it is a plain one.
 */
double integrator_implicit_step(const CalIntegrator *integrator, int part, CalState *elastic);
/** Whether inputs are asked for by a projection of loops, which wants to know what is held and no forces. */
bool integrator_is_projecting(const CalIntegrator *integrator);

/* ---- all parts at once (system.c) ---------------------------------------------------------- */

/** q = integrate(q0, delta), and the rate of delta at speeds u; by the caller's thread. */
void system_integrate(const CalIntegrator *integrator, const double *q0, const double *delta, double *q);
void system_rate(const CalIntegrator *integrator, const double *delta, const double *u, double *delta_rate);
/** What acts at a state: ig->states, ig->inputs and xdot[nx]. */
CalStatus system_inputs(CalIntegrator *integrator, const CalState *state, double *xdot);
/** Sets q and u of parts whose motion is given, and of coordinates that are driven, to what they are at state->t. */
CalStatus system_impose(CalIntegrator *integrator, CalState *state);
/** The same without noting which part refused. */
CalStatus system_motion(const CalIntegrator *integrator, CalState *state);
/**
 * A piece of the arrays of all: those of a part, or of one of its branches. What a scheme does with numbers it does piece
 * by piece, so that the thread that found the rates of a branch also advances it.
 */
typedef struct Slice {
	const SystemPart *part;
	const BranchSlice *branch; // NULL: all of the part
} Slice;

typedef CalStatus (*SliceFn)(CalIntegrator *integrator, const Slice *slice, const void *argument);

/** The runs of speeds, or coordinates, of a slice: k-th [*first, *first + count); returns count, 0 after the last. */
int slice_u(const Slice *slice, int k, int *first);
int slice_q(const Slice *slice, int k, int *first);
/** q = integrate(q0, delta), and the rate of delta at speeds u, of a slice; arrays are those of all. q may be q0. */
void slice_integrate(const Slice *slice, const double *q0, const double *delta, double *q);
void slice_rate(const Slice *slice, const double *delta, const double *u, double *delta_rate);

/** run() for all slices; the first status that is not CAL_OK. */
CalStatus system_each(CalIntegrator *integrator, SliceFn run, const void *argument);
/**
 * u_rate[stage] and x_rate[stage] at a state under the inputs at its time; h not zero: with elastic forces taken from
 * `elastic` a time h later (cal_implicit_dynamics). Then run() (not NULL) for each slice as soon as its u_rate is known,
 * whatever it is like; for those of parts from ig->reached on not at all.
 */
CalStatus system_evaluate(CalIntegrator *integrator, const CalState *state, const CalState *elastic, double h,
                          int stage, SliceFn run, const void *argument);

/** The same for stage 0, whose udot run() takes from a branch itself (BranchSlice.udot): u_rate is not set for it. */
CalStatus system_evaluate_own(CalIntegrator *integrator, const CalState *state, double h, SliceFn run,
                              const void *argument);

/**
 * Some equations of loops are redundant only where the loops are closed. Stages of a step are off by a little, and there
 * such an equation would ask for any acceleration: what is redundant in evaluations before `hold` stays so until it ends.
 */
void system_hold_ranks(CalIntegrator *integrator, bool hold);
/** Loops: stage goes back to the constraints at t; driven degrees of freedom stay where they are. */
CalStatus system_project(CalIntegrator *integrator, double t);

/**
 * Evaluates at `state` as system_evaluate() does (implicit: with the step itself as h), then u += h u', and q by h times the
 * new u: to *state at time t.
 */
CalStatus integrator_half_explicit(CalIntegrator *integrator, CalState *state, double h, double t, bool implicit);
/** Where in the last step a time is, 0 to 1. */
CalStatus dense_place(const DenseOutput *dense, double t, double *theta);
/** Copies stage.q, stage.u, stage.x to *state at time t if they are finite; else CAL_NOT_FINITE, state unchanged. */
CalStatus integrator_commit(CalIntegrator *integrator, CalState *state, double t);

/* ---- what is carried from call to call (integrator_checkpoint.c) ----------------------------- */

/** For checkpoints. Reads into an integrator of the same system. */
void integrator_walk(CalIntegrator *integrator, Serializer *archive);
void stats_walk(CalIntegratorStats *stats, Serializer *archive);
/** One fixed step, which ends at t_new exactly. On failure state is unchanged. */
CalStatus integrator_step_to(CalIntegrator *integrator, CalState *state, double t_new);
/** Has a function called after each step of cal_integrator_advance(); NULL: none. */
void integrator_watch(CalIntegrator *integrator, StepEndFn step_end, void *user);
/** Puts another function in the place of one that gives the motion of a part. */
void integrator_set_motion(CalIntegrator *integrator, int part, CalMotionFn motion, void *user);
/** Drives coordinates of a part, or none (NULL). */
void integrator_set_drive(CalIntegrator *integrator, int part, CalPrescribedFn drive, void *user);
/* Once all of them are set. */
void integrator_note_motions(CalIntegrator *integrator);

#endif
