// SPDX-License-Identifier: Apache-2.0
/*
 * mode_masses.c — effective masses of the modes of a group: |p'shape|^2 / (shape'M shape) with the rows p of the centroidal momentum
 * matrix. p' shape is the momentum of the system that moves in the mode, and so the force that it feels when the ground is
 * accelerated along that direction.
 */
#include <calder/derivatives.h>
#include <calder/linear.h>

#include "base/error.h"
#include "base/memory.h"
#include "sim/sim_internal.h"

/* |p'shape|^2 over one row p[nu]. */
static double square_of_momentum(int nu, const double *p, const CalSystemMode *mode) {
	double re = 0, im = 0;
	for (int i = 0; i < nu; i++) {
		re += p[i] * mode->shape[i];
		im += p[i] * (mode->shape_imag ? mode->shape_imag[i] : 0);
	}
	return re * re + im * im;
}

/* shape'M shape, by the independent coordinates. */
static double modal_mass(const CalLinear *linear, const double *shape) {
	double sum = 0;
	for (int i = 0; shape && i < linear->count; i++)
		for (int j = 0; j < linear->count; j++)
			sum += shape[linear->dof[i]] * linear->M[(size_t)i * (size_t)linear->count + (size_t)j] *
			       shape[linear->dof[j]];
	return sum;
}

static CalStatus find_masses(const CalModel *model, const CalState *state, const CalLinear *linear,
                             const CalSystemModes *modes, double *A, double (*mass)[6]) {
	CalDerivatives *derivatives = NULL;
	CalStatus status = cal_derivatives_create(model, &derivatives);
	if (status == CAL_OK)
		status = cal_momentum_matrix(model, state, derivatives, A, NULL);
	cal_derivatives_destroy(derivatives);
	for (int k = 0; k < modes->count && status == CAL_OK; k++) {
		const CalSystemMode *mode = &modes->mode[k];
		const double unit = modal_mass(linear, mode->shape) + modal_mass(linear, mode->shape_imag);
		for (int r = 0; r < 6; r++) // translations first
			mass[k][r] = square_of_momentum(linear->nu, A + (size_t)((r + 3) % 6) * (size_t)linear->nu, mode) / unit;
	}
	return status;
}

CalStatus cal_sim_mode_masses(CalSim *sim, int group, const CalLinear *linear, const CalSystemModes *modes,
                              double (*mass)[6], CalError *error) {
	if (!sim || !linear || !modes || !mass)
		return error_null(error, __func__, !sim ? "sim" : !linear ? "linear" : !modes ? "modes" : "mass");
	if (group < 0 || group >= sim->group_count || linear->nu != cal_model_u_count(sim->groups[group].model))
		return error_set(error, CAL_ERR_ARGUMENT, "cal_sim_mode_masses: there is no group %d with these modes", group);
	double *A = memory_alloc(&sim->allocator, (6 * (size_t)linear->nu + 1) * sizeof *A);
	const CalStatus status =
		A ? find_masses(sim->groups[group].model, &sim->groups[group].state, linear, modes, A, mass) : CAL_ERR_MEMORY;
	memory_free(&sim->allocator, A);
	if (status == CAL_OK)
		return CAL_OK;
	return error_set(error, status, "effective masses: %s%s", cal_status_text(status),
	                 status == CAL_ERR_UNSUPPORTED ? "; the model has joints or links with functions of its own" : "");
}
