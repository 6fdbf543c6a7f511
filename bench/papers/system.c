// SPDX-License-Identifier: Apache-2.0
/*
 * system.c — the system-level formulation, on the public interface: cal_mass_matrix(), cal_inverse_dynamics() for the
 * forces, cal_loop_jacobian() and cal_loop_residual() for the rows; Cholesky here.
 */
#include <stdlib.h>
#include <string.h>

#include "factor.h"
#include "system.h"

CalStatus system_open(PaperRun *run, System *system) {
	CalLoopInfo loop = {0};
	*system = (System){.run = run};
	const size_t n = (size_t)cal_model_u_count(run->model), m = (size_t)cal_model_row_count(run->model);
	system->n = (int)n, system->rows = (int)m;
	if (m > 0)
		cal_model_loop(run->model, 0, &loop);
	system->frequency = loop.frequency, system->damping = loop.damping;
	double *at = system->memory = calloc(n * n + 2 * m * n + m * m + 4 * m + 2 * n, sizeof *at);
	if (!at)
		return CAL_ERR_MEMORY;
	system->L = at, at += n * n;
	system->Y = at, at += m * n;
	system->G = at, at += m * n;
	system->W = at, at += m * m;
	system->gamma = at, at += m;
	system->g = at, at += m;
	system->rate = at, at += m;
	system->lambda = at, at += m;
	system->delta = at, at += n;
	system->udot = at;
	return CAL_OK;
}

void system_close(System *system) { free(system->memory); }

static double dot(const double *a, const double *b, int n) {
	double s = 0;
	for (int i = 0; i < n; i++)
		s += a[i] * b[i];
	return s;
}

static CalStatus update_rows(System *s) {
	const PaperRun *run = s->run;
	const CalStatus status = cal_loop_jacobian(run->model, &run->state, run->work, s->G, s->gamma);
	if (status != CAL_OK)
		return status;
	s->fresh = 1;
	memcpy(s->Y, s->G, sizeof *s->Y * (size_t)(s->rows * s->n));
	for (int r = 0; r < s->rows; r++) {
		factor_forward(s->L, s->n, s->Y + r * s->n);
		for (int k = 0; k <= r; k++)
			s->W[r * s->rows + k] = dot(s->Y + r * s->n, s->Y + k * s->n, s->n);
	}
	return factor_lower(s->W, s->rows) < 0 ? CAL_OK : CAL_SINGULAR;
}

CalStatus system_update(System *s) {
	const PaperRun *run = s->run;
	const CalStatus status = cal_mass_matrix(run->model, &run->state, run->work, s->L);
	if (status != CAL_OK)
		return status;
	if (factor_lower(s->L, s->n) >= 0)
		return CAL_SINGULAR;
	return s->rows > 0 ? update_rows(s) : CAL_OK;
}

/* lambda from z = L^-1 f, and z under it too. */
static CalStatus add_loop_forces(System *s, double *z) {
	const PaperRun *run = s->run;
	const double ww = s->frequency * s->frequency, dw = 2 * s->damping * s->frequency;
	CalStatus status = CAL_OK;
	if (!s->fresh)
		status = cal_loop_jacobian(run->model, &run->state, run->work, s->G, s->gamma);
	s->fresh = 0;
	if (status == CAL_OK)
		status = cal_loop_residual(run->model, &run->state, run->work, s->g, s->rate);
	if (status != CAL_OK)
		return status;
	for (int r = 0; r < s->rows; r++)
		s->lambda[r] = s->gamma[r] - dw * s->rate[r] - ww * s->g[r] - dot(s->Y + r * s->n, z, s->n);
	factor_forward(s->W, s->rows, s->lambda);
	factor_backward(s->W, s->rows, s->lambda);
	for (int r = 0; r < s->rows; r++)
		for (int i = 0; i < s->n; i++)
			z[i] += s->Y[r * s->n + i] * s->lambda[r];
	return CAL_OK;
}

CalStatus system_accelerate(System *s) {
	const PaperRun *run = s->run;
	const CalInput *input = paper_drive(run, run->state.t);
	CalStatus status = cal_inverse_dynamics(run->model, &run->state, NULL, input, run->work, s->udot);
	for (int i = 0; i < s->n; i++)
		s->udot[i] = input->tau[i] - s->udot[i];
	factor_forward(s->L, s->n, s->udot);
	if (status == CAL_OK && s->rows > 0)
		status = add_loop_forces(s, s->udot);
	factor_backward(s->L, s->n, s->udot);
	return status;
}

CalStatus system_step(System *s, int64_t first, int64_t steps, int64_t interval) {
	CalState *state = &s->run->state;
	const double h = s->run->paper->step;
	CalStatus status = CAL_OK;
	for (int64_t i = first; status == CAL_OK && i < first + steps; i++) {
		if (i % interval == 0)
			status = system_update(s);
		if (status == CAL_OK)
			status = system_accelerate(s);
		for (int k = 0; status == CAL_OK && k < s->n; k++) {
			state->u[k] += h * s->udot[k];
			s->delta[k] = h * state->u[k];
		}
		cal_config_integrate(s->run->model, state->q, s->delta, state->q);
		state->t += h;
	}
	return status;
}
