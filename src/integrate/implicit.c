// SPDX-License-Identifier: Apache-2.0
/*
 * implicit.c — steps that are linearly implicit in what is stiff: joint springs and dampers, modal stiffness and
 * damping [THEORY 4]. The recursion only gets h D + h^2 K added to its inertias, so a step costs as much as an
 * explicit one and is stable however stiff the springs are; everything else, states of devices too, is explicit.
 *
 *   implicit            (M + hD + h^2K) udot = f - hKu,  u+ = u + h udot,  q+ = integrate(q, h u+)
 *                       order 1; damps a mode of frequency w at the rate w^2 h/2
 *   implicit-midpoint   the same with h/2 in the matrix, M and all other forces at the predicted midpoint,
 *                       q+ = integrate(q, h (u + u+)/2): order 2, a linear mode keeps its amplitude
 */
#include "integrate/scheme.h"

static CalStatus implicit_step(CalIntegrator *ig, CalState *state, double h, double t_new) {
	CalStatus status = system_evaluate_implicit(ig, state, state, h, 0);
	if (status != CAL_OK) {
		return status;
	}
	system_rates(ig, state, 0, h);
	for (int i = 0; i < ig->nu; i++) {
		ig->delta[i] = h * ig->stage.u[i];
	}
	system_integrate(ig, state->q, ig->delta, ig->stage.q);
	return integrator_commit(ig, state, t_new);
}

static CalStatus implicit_midpoint_step(CalIntegrator *ig, CalState *state, double h, double t_new) {
	CalStatus status = system_evaluate_implicit(ig, state, state, 0.5 * h, 0);
	if (status != CAL_OK) {
		return status;
	}
	ig->stage.t = state->t + 0.5 * h;
	system_rates(ig, state, 0, 0.5 * h);
	for (int i = 0; i < ig->nu; i++) {
		ig->delta[i] = 0.5 * h * ig->stage.u[i];
	}
	system_integrate(ig, state->q, ig->delta, ig->stage.q);
	status = system_impose(ig, &ig->stage);
	if (status == CAL_OK) {
		status = system_evaluate_implicit(ig, &ig->stage, state, 0.5 * h, 1);
	}
	if (status != CAL_OK) {
		return status;
	}
	system_rates(ig, state, 1, h);
	for (int i = 0; i < ig->nu; i++) {
		ig->delta[i] = 0.5 * h * (state->u[i] + ig->stage.u[i]);
	}
	system_integrate(ig, state->q, ig->delta, ig->stage.q);
	return integrator_commit(ig, state, t_new);
}

const Scheme scheme_CAL_METHOD_IMPLICIT = {.stages = 1, .step = implicit_step};
const Scheme scheme_CAL_METHOD_IMPLICIT_MIDPOINT = {.stages = 2, .step = implicit_midpoint_step};
