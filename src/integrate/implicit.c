// SPDX-License-Identifier: Apache-2.0
/*
 * implicit.c — steps that are linearly implicit in what is stiff: joint springs and dampers, modal stiffness and
 * damping [THEORY (4.18), (4.19)]. The recursion only gets h D + h^2 K added to its inertias, so a step costs as much
 * as an explicit one and is stable however stiff the springs are; everything else, states of devices too, is explicit.
 *
 *   implicit            (M + hD + h^2K) udot = f - hKu,  u+ = u + h udot,  q+ = integrate(q, h u+)
 *                       order 1; damps a mode of frequency w at the rate w^2 h/2
 *   implicit-midpoint   the same with h/2 in the matrix, M and all other forces at the predicted midpoint,
 *                       q+ = integrate(q, h (u + u+)/2): order 2, a linear mode keeps its amplitude
 */
#include "integrate/scheme.h"

static CalStatus implicit_step(CalIntegrator *ig, CalState *state, double h, double t_new) {
	return integrator_half_explicit(ig, state, h, t_new, true);
}

/** The two halves of a step by the midpoint: from what state, over what time. */
typedef struct Half {
	const CalState *start;
	double h;
} Half;

static CalStatus to_midpoint(CalIntegrator *ig, const Slice *slice, const void *argument) {
	const Half *half = argument;
	for (int k = 0, first, count; (count = slice_u(slice, k, &first)) > 0; k++) {
		for (int i = first; i < first + count; i++) {
			ig->stage.u[i] = half->start->u[i] + half->h * ig->u_rate[0][i];
			ig->delta[i] = half->h * ig->stage.u[i];
		}
	}
	slice_integrate(slice, half->start->q, ig->delta, ig->stage.q);
	return CAL_OK;
}

static CalStatus to_end(CalIntegrator *ig, const Slice *slice, const void *argument) {
	const Half *half = argument;
	for (int k = 0, first, count; (count = slice_u(slice, k, &first)) > 0; k++) {
		for (int i = first; i < first + count; i++) {
			ig->stage.u[i] = half->start->u[i] + half->h * ig->u_rate[1][i];
			ig->delta[i] = 0.5 * half->h * (half->start->u[i] + ig->stage.u[i]);
		}
	}
	slice_integrate(slice, half->start->q, ig->delta, ig->stage.q);
	return CAL_OK;
}

static void step_x(CalIntegrator *ig, const CalState *start, int stage, double h) {
	for (int i = 0; i < ig->nx; i++) {
		ig->stage.x[i] = start->x[i] + h * ig->x_rate[stage][i];
	}
}

static CalStatus implicit_midpoint_step(CalIntegrator *ig, CalState *state, double h, double t_new) {
	const Half first = {state, 0.5 * h}, whole = {state, h};
	CalStatus status = system_evaluate(ig, state, state, 0.5 * h, 0, to_midpoint, &first);
	if (status != CAL_OK) {
		return status;
	}
	ig->stage.t = state->t + 0.5 * h;
	step_x(ig, state, 0, 0.5 * h);
	status = system_impose(ig, &ig->stage);
	if (status == CAL_OK) {
		status = system_evaluate(ig, &ig->stage, state, 0.5 * h, 1, to_end, &whole);
	}
	if (status != CAL_OK) {
		return status;
	}
	step_x(ig, state, 1, h);
	return integrator_commit(ig, state, t_new);
}

/* Of |lambda| = (1 + x^2)^-1/2, x = w h, an oscillation loses x^2/2 in a step. */
const Scheme scheme_CAL_METHOD_IMPLICIT = {
	.info = {.name = "implicit",
             .doc = "Euler-Cromer scheme with a fixed step, implicit in springs, dampers and modes; damps oscillations",
             .order = 1,
             .evaluations = 1,
             .implicit_share = 1,
             .imaginary_limit = 2,
             .real_limit = 2,
             .damping = 0.5,
             .damping_order = 2,
             .exact_resume = 1},
	.stages = 1,
	.step = implicit_step};

/* What is explicit has the trace 2 - x^2 + x^4/8 and the determinant 1 - x^4/8. */
const Scheme scheme_CAL_METHOD_IMPLICIT_MIDPOINT = {
	.info = {.name = "implicit-midpoint",
             .doc = "midpoint scheme with a fixed step, implicit in springs, dampers and modes; does not damp them",
             .order = 2,
             .evaluations = 2,
             .implicit_share = 0.5,
             .imaginary_limit = 2,
             .real_limit = 2,
             .exact_resume = 1},
	.stages = 2,
	.step = implicit_midpoint_step};
