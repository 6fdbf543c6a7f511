// SPDX-License-Identifier: Apache-2.0
/*
 * rk4.c — the classical Runge-Kutta scheme of order 4 (Kutta 1901), fixed step, four evaluations.
 *
 * Explicit and not symplectic: energy of oscillations is lost at the rate (omega h)^6 / 144 per step, and
 * it is stable for |omega h| < 2.8.
 */
#include "integrate/runge_kutta.h"

static const Tableau classical = {
	.stages = 4,
	.c = {0, 0.5, 0.5, 1},
	.A = {{0}, {0.5}, {0, 0.5}, {0, 0, 1}},
	.b = {1.0 / 6, 1.0 / 3, 1.0 / 3, 1.0 / 6},
};

static CalStatus rk4_step(CalIntegrator *ig, CalState *state, double h, double t_new) {
	CalStatus status = runge_kutta_stages(ig, &classical, state, h, t_new, 0, true);
	return status == CAL_OK ? integrator_commit(ig, state, t_new) : status;
}

const Scheme scheme_CAL_METHOD_RK4 = {
	.info = {.name = "rk4",
             .doc = "classical Runge-Kutta scheme with a fixed step",
             .order = 4,
             .evaluations = 4,
             .imaginary_limit = 2.8284271247461903, // sqrt(8)
             .real_limit = 2.785293563405282,       // root of 1 - x + x^2/2 - x^3/6 + x^4/24 = 1
             .damping = 1.0 / 144,
             .damping_order = 6,
             .subsystems = 1,
             .held_matrices = 1,
             .exact_resume = 1},
	.stages = 4,
	.step = rk4_step};
