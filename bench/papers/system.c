// SPDX-License-Identifier: Apache-2.0
/*
 * system.c — the system-level formulation: the system matrices of the library (calder/linear.h), all modes retained.
 */
#include <stdlib.h>

#include "system.h"

CalStatus system_open(PaperRun *run, System *system) {
	const CalFormulationOptions all = {.kind = CAL_FORMULATION_SYSTEM};
	*system = (System){.run = run, .n = cal_model_u_count(run->model)};
	system->memory = calloc(2 * (size_t)system->n + 1, sizeof *system->memory);
	if (!system->memory)
		return CAL_ERR_MEMORY;
	system->delta = system->memory;
	system->udot = system->memory + system->n;
	return cal_system_form_create(run->model, &all, NULL, &system->form);
}

void system_close(System *system) {
	cal_system_form_destroy(system->form);
	free(system->memory);
}

CalStatus system_update(System *system) {
	const PaperRun *run = system->run;
	return cal_system_form_update(system->form, &run->state, NULL, run->work);
}

CalStatus system_accelerate(System *system) {
	const PaperRun *run = system->run;
	return cal_system_form_dynamics(system->form, &run->state, paper_drive(run, run->state.t), run->work, system->udot,
	                                NULL);
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
