// SPDX-License-Identifier: Apache-2.0
/*
 * euler_cromer.c — the semi-implicit Euler scheme: u first, then q with the new u; fixed step.
 *
 *   u+ = u + h udot(t, q, u, x),  x+ = x + h xdot(t, q, u, x),  q+ = integrate(q, h u+)
 * Order 1 with one evaluation. Where forces do not depend on u and M is constant it is symplectic: the
 * energy error stays bounded for all time. It is stable for omega h < 2.
 */
#include "integrate/scheme.h"

static CalStatus euler_cromer_step(CalIntegrator *ig, CalState *state, double h, double t_new) {
	return integrator_half_explicit(ig, state, h, t_new, false);
}

const Scheme scheme_CAL_METHOD_EULER_CROMER = {
	.info = {.name = "euler-cromer",
             .doc = "semi-implicit Euler scheme with a fixed step: u first, then q with the new u",
             .order = 1,
             .evaluations = 1,
             .imaginary_limit = 2,
             .real_limit = 2,
             .subsystems = 1,
             .held_matrices = 1,
             .exact_resume = 1},
	.stages = 1,
	.step = euler_cromer_step};
