// SPDX-License-Identifier: Apache-2.0
/*
 * system.c — several models as one: what a scheme does with the configuration, the rates and the loops of all of them.
 *
 * Arrays of all parts lie behind one another, in the order of the parts; a part sees its piece of them. All inputs are
 * asked for before the first part is evaluated, so that forces between parts are those of one instant.
 */
#include <math.h>
#include <string.h>

#include <calder/loops.h>
#include "integrate/scheme.h"

void system_integrate(const CalIntegrator *ig, const double *q0, const double *delta, double *q) {
	for (int i = 0; i < ig->part_count; i++) {
		const Part *part = &ig->parts[i];
		cal_config_integrate(part->is.model, q0 + part->q, delta + part->u, q + part->q);
	}
}

void system_rate(const CalIntegrator *ig, const double *delta, const double *u, double *delta_rate) {
	for (int i = 0; i < ig->part_count; i++) {
		const Part *part = &ig->parts[i];
		cal_config_rate(part->is.model, delta + part->u, u + part->u, delta_rate + part->u);
	}
}

static CalState seen_by(const Part *part, const CalState *state) {
	return (CalState){.t = state->t, .q = state->q + part->q, .u = state->u + part->u};
}

/** The part whose motion refused, -1: none. */
static int impose(const CalIntegrator *ig, CalState *state) {
	for (int i = 0; ig->has_motions && i < ig->part_count; i++) {
		const Part *part = &ig->parts[i];
		if (part->is.motion && part->is.motion(part->is.motion_user, part->is.model, state->t, state->q + part->q,
		                                       state->u + part->u, ig->scratch) != 0) {
			return i;
		}
	}
	return -1;
}

CalStatus system_impose(CalIntegrator *ig, CalState *state) {
	int refused = impose(ig, state);
	ig->culprit = refused >= 0 ? refused : ig->culprit;
	return refused >= 0 ? CAL_ERR_USER : CAL_OK;
}

CalStatus system_motion(const CalIntegrator *ig, CalState *state) {
	return impose(ig, state) >= 0 ? CAL_ERR_USER : CAL_OK;
}

/* ---- evaluation ---------------------------------------------------------------------------- */

/** Fills ig->states and ig->inputs, and xdot. */
static CalStatus ask_inputs(CalIntegrator *ig, const CalState *state, double *xdot) {
	for (int i = 0; i < ig->part_count; i++) {
		ig->states[i] = seen_by(&ig->parts[i], state);
		ig->inputs[i] = (CalInput){0};
	}
	if (ig->nx > 0) {
		memset(xdot, 0, (size_t)ig->nx * sizeof(double));
	}
	if (ig->input) {
		return ig->input(ig->user, state, ig->states, ig->inputs, xdot);
	}
	for (int i = 0; ig->options.input && i < ig->part_count; i++) {
		if (ig->options.input(ig->options.user, ig->parts[i].is.model, &ig->states[i], &ig->inputs[i]) != 0) {
			ig->culprit = i;
			return CAL_ERR_USER;
		}
	}
	return CAL_OK;
}

/** udot is known without dynamics. Loops would still have forces. */
static bool nothing_is_free(const Part *part, const CalInput *input) {
	if (part->has_loops || part->nu == 0 || !input->prescribed) {
		return !part->has_loops && part->nu > 0 && part->all_prescribed;
	}
	for (int u = 0; u < part->nu; u++) {
		if (!input->prescribed[u]) {
			return false;
		}
	}
	return true;
}

/** h not zero: for a linearly implicit step of that size. */
static CalStatus evaluate_part(CalIntegrator *ig, int i, const CalState *elastic, double h, double *udot) {
	const Part *part = &ig->parts[i];
	const CalInput *input = &ig->inputs[i];
	if (part->is.motion) {
		memset(udot, 0, (size_t)part->nu * sizeof(double));
		return CAL_OK;
	}
	if (nothing_is_free(part, input)) {
		for (int u = 0; u < part->nu; u++) {
			udot[u] = input->udot ? input->udot[u] : 0;
		}
		return CAL_OK;
	}
	ig->stats.evaluations++;
	if (h == 0) {
		return cal_forward_dynamics(part->is.model, &ig->states[i], input, part->is.work, udot);
	}
	const CalState from = seen_by(part, elastic);
	return cal_implicit_dynamics(part->is.model, &ig->states[i], &from, input, h, part->is.work, udot);
}

static CalStatus evaluate(CalIntegrator *ig, const CalState *state, const CalState *elastic, double h, int stage) {
	CalStatus status = ask_inputs(ig, state, ig->x_rate[stage]);
	for (int i = 0; status == CAL_OK && i < ig->part_count; i++) {
		status = evaluate_part(ig, i, elastic, h, ig->u_rate[stage] + ig->parts[i].u);
		if (status != CAL_OK) {
			ig->culprit = i;
		}
	}
	return status;
}

CalStatus system_evaluate(CalIntegrator *ig, const CalState *state, int stage) {
	return evaluate(ig, state, state, 0, stage);
}

CalStatus system_evaluate_implicit(CalIntegrator *ig, const CalState *state, const CalState *elastic, double h,
                                   int stage) {
	return evaluate(ig, state, elastic, h, stage);
}

/* ---- steps --------------------------------------------------------------------------------- */

void system_rates(CalIntegrator *ig, const CalState *start, int stage, double h) {
	for (int i = 0; i < ig->nu; i++) {
		ig->stage.u[i] = start->u[i] + h * ig->u_rate[stage][i];
	}
	for (int i = 0; i < ig->nx; i++) {
		ig->stage.x[i] = start->x[i] + h * ig->x_rate[stage][i];
	}
}

CalStatus system_project(CalIntegrator *ig, double t) {
	ig->stage.t = t;
	CalStatus status = ask_inputs(ig, &ig->stage, ig->scratch);
	for (int i = 0; status == CAL_OK && i < ig->part_count; i++) {
		const Part *part = &ig->parts[i];
		if (!part->has_loops) {
			continue;
		}
		const CalProjectOptions options = {.frozen = ig->inputs[i].prescribed};
		status = cal_loop_project(part->is.model, &ig->states[i], &options, part->is.work, NULL);
		if (status != CAL_OK) {
			ig->culprit = i;
		}
	}
	return status;
}
