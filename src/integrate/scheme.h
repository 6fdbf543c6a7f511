// SPDX-License-Identifier: Apache-2.0
/*
 * scheme.h — the integrator object as its schemes see it.
 *
 * A scheme is one file that defines `scheme_CAL_METHOD_...`; CAL_METHOD_LIST makes the table. Within a
 * step the unknown is (delta, u), where the configuration is integrate(q_n, delta) and q_n is that at the
 * start of the step: delta' = rate(delta, u), u' = forward dynamics. A scheme writes to the caller's state
 * only when it has succeeded.
 */
#ifndef CALDER_INTEGRATE_SCHEME_H
#define CALDER_INTEGRATE_SCHEME_H

#include <stdbool.h>

#include <calder/integrate.h>

enum {
	MAX_STAGES = 7,
	DENSE_TERMS = 4, // of the interpolation polynomial, beside its value at the start
};

typedef struct Scheme {
	int stages;    // rates kept at once
	bool adaptive; // chooses its step size and interpolates
	/** One step from *state: of size h to t_new, or (adaptive) in that direction by at most h. */
	CalStatus (*step)(CalIntegrator *integrator, CalState *state, double h, double t_new);
	CalStatus (*interpolate)(const CalIntegrator *integrator, double t, CalState *out); // NULL: cannot
} Scheme;

#define SCHEME_DECLARE(name, text, order) extern const Scheme scheme_##name;
CAL_METHOD_LIST(SCHEME_DECLARE)
#undef SCHEME_DECLARE

/** What an adaptive scheme remembers from step to step. */
typedef struct StepControl {
	double h_next;     // size to try next, > 0; 0: to be chosen
	double h_min;      // of the current call
	double error_last; // error norm of the last accepted step
	int *rotations;    // [rotation_count] first of the three speeds of each quaternion
	int rotation_count;
	bool reusable; // the last stage is the first one of a step from (t_last, q_last, u_last)
	double t_last, *q_last, *u_last;
} StepControl;

/** The last accepted step as polynomials in theta = (t - t0) / h. */
typedef struct DenseOutput {
	bool valid;
	double t0, t1;
	double *q0, *u0;            // at t0
	double *delta[DENSE_TERMS]; // [nu] each
	double *u[DENSE_TERMS];     // [nu] each
} DenseOutput;

struct CalIntegrator {
	const CalModel *model;
	CalWork *work;
	CalIntegratorOptions options; // defaults filled in
	const Scheme *scheme;
	CalIntegratorStats stats;
	void *owned; // memory to release, or NULL if the caller's
	int nq, nu;
	CalState stage;                 // t, q, u of the evaluation at hand
	double *delta;                  // [nu] displacement of stage.q from the start of the step
	double *delta_rate[MAX_STAGES]; // [nu] each
	double *u_rate[MAX_STAGES];     // [nu] each
	StepControl control;            // adaptive schemes
	DenseOutput dense;              // adaptive schemes
};

/** udot at a state under the inputs at its time. */
CalStatus integrator_evaluate(CalIntegrator *integrator, const CalState *state, double *udot);
/** The same with elastic forces taken from `elastic` a time h later (cal_implicit_dynamics). */
CalStatus integrator_evaluate_implicit(CalIntegrator *integrator, const CalState *state, const CalState *elastic,
                                       double h, double *udot);
/** Copies stage.q, stage.u to *state at time t if they are finite; else CAL_NOT_FINITE, state unchanged. */
CalStatus integrator_commit(CalIntegrator *integrator, CalState *state, double t);

#endif
