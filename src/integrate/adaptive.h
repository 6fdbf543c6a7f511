// SPDX-License-Identifier: Apache-2.0
/*
 * adaptive.h — what one-step methods with an error estimate share: control of the step size, dense output, checkpoints.
 *
 * Rates 0 are those at the start of a step, rates MAX_STAGES - 1 those at its end; in between a method keeps what it wants.
 */
#ifndef CALDER_INTEGRATE_ADAPTIVE_H
#define CALDER_INTEGRATE_ADAPTIVE_H

#include "integrate/scheme.h"

typedef struct AdaptivePair {
	/** Once for each step, when the rates at its start are known; NULL: nothing. */
	CalStatus (*begin)(CalIntegrator *integrator, const CalState *start);
	/** Stages of a step from *start: afterwards stage and delta are at its end, rates MAX_STAGES - 1 too. */
	CalStatus (*stages)(CalIntegrator *integrator, const CalState *start, double h, double t_new);
	double exponent;                 // 1 / (order of the estimate + 1)
	double error_weight[MAX_STAGES]; // of h times the rates: the estimate
	double dense_weight[MAX_STAGES]; // the last coefficient of the dense output; without it that is cubic (Hermite)
} AdaptivePair;

/** One accepted step (Scheme.step). */
CalStatus adaptive_step(CalIntegrator *integrator, const AdaptivePair *pair, CalState *state, double h, double t_end);
/* Scheme.interpolate, acceleration and walk. */
CalStatus adaptive_interpolate(const CalIntegrator *integrator, double t, CalState *out);
CalStatus adaptive_acceleration(const CalIntegrator *integrator, double t, double *udot);
void adaptive_walk(CalIntegrator *integrator, Serializer *archive);

#endif
