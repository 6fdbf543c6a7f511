// SPDX-License-Identifier: Apache-2.0
/*
 * runge_kutta.h — explicit Runge-Kutta stages on the configuration manifold, from a table.
 *
 * For (delta, u) with the rates d = delta', a = u':
 *   delta_i = h sum_j A_ij d_j,  u_i = u_n + h sum_j A_ij a_j,  q_i = integrate(q_n, delta_i), x_i as u_i.
 * Sums run over j in ascending order and skip no term, so results do not depend on anything but the
 * table. delta is one chart of the manifold throughout the step, so the order of the table is kept.
 */
#ifndef CALDER_INTEGRATE_RUNGE_KUTTA_H
#define CALDER_INTEGRATE_RUNGE_KUTTA_H

#include "integrate/scheme.h"

/** A Butcher table. */
typedef struct Tableau {
	int stages;
	double c[MAX_STAGES];
	double A[MAX_STAGES][MAX_STAGES]; // strictly lower triangular
	double b[MAX_STAGES];
} Tableau;

/** Sets stage.q, stage.u, stage.x and delta to those of weights w[count] after h from *start. */
void runge_kutta_combine(CalIntegrator *integrator, const CalState *start, double h, const double *w, int count);

/**
 * Rates of the stages first ... stages-1 of a step from *start to t_new; those before are known. Inputs at
 * the end of the step are taken just before t_new: loads that switch there act to the very end of the step. to_end: stage
 * and delta are then those at the end of the step, by the weights b.
 */
CalStatus runge_kutta_stages(CalIntegrator *integrator, const Tableau *table, const CalState *start, double h,
                             double t_new, int first, bool to_end);

#endif
