// SPDX-License-Identifier: Apache-2.0
/*
 * dopri5.c — the embedded Runge-Kutta pair 5(4) of Dormand and Prince (1980) with dense output of order 4 (Hairer, Norsett,
 * Wanner, Solving ODEs I, II.4-II.6). Its last stage is at the end of the step.
 */
#include "integrate/adaptive.h"
#include "integrate/runge_kutta.h"

static const Tableau dormand_prince = {
	.stages = 7,
	.c = {0, 1.0 / 5, 3.0 / 10, 4.0 / 5, 8.0 / 9, 1, 1},
	.A = {{0},
          {1.0 / 5},
          {3.0 / 40, 9.0 / 40},
          {44.0 / 45, -56.0 / 15, 32.0 / 9},
          {19372.0 / 6561, -25360.0 / 2187, 64448.0 / 6561, -212.0 / 729},
          {9017.0 / 3168, -355.0 / 33, 46732.0 / 5247, 49.0 / 176, -5103.0 / 18656},
          {35.0 / 384, 0, 500.0 / 1113, 125.0 / 192, -2187.0 / 6784, 11.0 / 84}},
	.b = {35.0 / 384, 0, 500.0 / 1113, 125.0 / 192, -2187.0 / 6784, 11.0 / 84, 0},
};

static CalStatus dopri5_stages(CalIntegrator *ig, const CalState *start, double h, double t_new) {
	return runge_kutta_stages(ig, &dormand_prince, start, h, t_new, 1, false);
}

static const AdaptivePair pair = {
	.stages = dopri5_stages,
	.exponent = 0.2,
	// b of order 5 minus b of order 4
	.error_weight = {71.0 / 57600, 0, -71.0 / 16695, 71.0 / 1920, -17253.0 / 339200, 22.0 / 525, -1.0 / 40},
	// the fifth coefficient of the dense output
	.dense_weight = {-12715105075.0 / 11282082432, 0, 87487479700.0 / 32700410799, -10690763975.0 / 1880347072,
                     701980252875.0 / 199316789632, -1453857185.0 / 822651844, 69997945.0 / 29380423},
};

static CalStatus dopri5_step(CalIntegrator *ig, CalState *state, double h, double t_end) {
	return adaptive_step(ig, &pair, state, h, t_end);
}

const Scheme scheme_CAL_METHOD_DOPRI5 = {.info = {.name = "dopri5",
                                                  .doc = "Dormand-Prince pair 5(4) with adaptive steps",
                                                  .order = 5,
                                                  .evaluations = 6,
                                                  .adaptive = 1,
                                                  .rtol = 1e-9,
                                                  .atol = 1e-12,
                                                  .subsystems = 1,
                                                  .held_matrices = 1,
                                                  .exact_resume = 1},
                                         .stages = MAX_STAGES,
                                         .dense_terms = DENSE_TERMS,
                                         .walk = adaptive_walk,
                                         .step = dopri5_step,
                                         .interpolate = adaptive_interpolate,
                                         .acceleration = adaptive_acceleration};
