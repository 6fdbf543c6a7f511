// SPDX-License-Identifier: Apache-2.0
/*
 * euler_cromer.c — the semi-implicit Euler scheme: u first, then q with the new u; fixed step.
 *
 *   u+ = u + h udot(t, q, u),  q+ = integrate(q, h u+)
 * Order 1 with one evaluation. Where forces do not depend on u and M is constant it is symplectic: the
 * energy error stays bounded for all time. It is stable for omega h < 2.
 */
#include "integrate/scheme.h"

static CalStatus euler_cromer_step(CalIntegrator *ig, CalState *state, double h, double t_new) {
	CalStatus status = integrator_evaluate(ig, state, ig->u_rate[0]);
	if (status != CAL_OK) {
		return status;
	}
	for (int i = 0; i < ig->nu; i++) {
		ig->stage.u[i] = state->u[i] + h * ig->u_rate[0][i];
		ig->delta[i] = h * ig->stage.u[i];
	}
	cal_config_integrate(ig->model, state->q, ig->delta, ig->stage.q);
	return integrator_commit(ig, state, t_new);
}

const Scheme scheme_CAL_METHOD_EULER_CROMER = {.stages = 1, .step = euler_cromer_step};
