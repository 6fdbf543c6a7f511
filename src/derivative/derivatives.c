// SPDX-License-Identifier: Apache-2.0
/*
 * derivatives.c — derivatives of inverse and forward dynamics [THEORY 10].
 *
 * Inverse dynamics: one outward sweep with all accelerations, what each dof does to its link (derivative_motion.c), one
 * inward sweep (derivative_sweep.c). Forward dynamics: udot, then those at udot, and
 *   dudot/dq = -M^-1 dtau/dq,  dudot/du = -M^-1 dtau/du,  dudot/dtau = M^-1
 * of the dofs that are not prescribed; loops are in derivative_loop.c.
 */
#include "derivative/derivative_loop.h"
#include "dynamics/tree/forces.h"
#include "dynamics/tree/kernels.h"

static int arguments_ok(const CalModel *model, const CalState *state, const CalInput *input, const CalDerivatives *d) {
	return model && state && state->q && state->u && d && d->model == model && forces_check(model, input) == CAL_OK;
}

void derivative_outward(const CalModel *model, const DerivativePoint *at, CalDerivatives *d) {
	CalWork *work = d->work;
	memset(work->tau, 0, sizeof(double) * (size_t)d->n);
	const SweepInput in = {
		.q = at->q, .u = at->u, .tau = work->tau, .prescribed = work->all_prescribed, .udot = at->udot};
	forward_kernels(model->isa)->outward_in(model, at->gravity, &in, work);
	work->stage = STAGE_POSE;
	derivative_motions(model, at->u, d);
}

void derivative_inverse(const CalModel *model, const DerivativePoint *at, CalDerivatives *d) {
	const DerivativeKernels *kernels = derivative_kernels(model->isa);
	kernels->clear(d);
	derivative_outward(model, at, d);
	kernels->own(model, d);
	derivative_flex_begin(model, d);
	derivative_wrenches(model, at->input, d);
	if (at->loops)
		derivative_loop_wrenches(model, at->loops, d);
	kernels->inward(model, d);
	kernels->assemble(d);
}

/* loops: they act with d->lambda. */
static CalStatus inverse_at(const CalModel *model, const CalState *state, const double *udot, const CalInput *input,
                            int loops, CalDerivatives *d) {
	if (!d->exact)
		return derivative_by_differences(model, state, udot, input, loops, d);
	derivative_inverse(model, &(DerivativePoint){state->q, state->u, udot, model->gravity, input, loops ? state : NULL},
	                   d);
	derivative_elastic(model, state->q, d);
	if (loops)
		derivative_loop_terms(model, state, d);
	return CAL_OK;
}

/* Rows of `stride` numbers as a matrix of the caller's. */
static void copy_rows(const CalDerivatives *d, const double *from, size_t stride, double *to) {
	const size_t n = (size_t)d->n;
	for (size_t i = 0; to && i < n; ++i)
		memcpy(to + i * n, from + i * stride, sizeof(double) * n);
}

CalStatus cal_inverse_derivatives(const CalModel *model, const CalState *state, const double *udot,
                                  const CalInput *input, CalDerivatives *derivatives, double *dq, double *du,
                                  double *M) {
	CalDerivatives *d = derivatives;
	if (!arguments_ok(model, state, input, d))
		return CAL_ERR_ARGUMENT;
	const size_t stride = (size_t)d->stride;
	d->failed_dof = -1;
	const CalStatus status = inverse_at(model, state, udot, input, 0, d);
	if (status != CAL_OK)
		return status;
	d->failed_dof = derivative_kernels(model->isa)->not_finite(d);
	copy_rows(d, d->dq, 2 * stride, dq);
	copy_rows(d, d->du, 2 * stride, du);
	copy_rows(d, d->M, stride, M);
	return d->failed_dof < 0 ? CAL_OK : CAL_NOT_FINITE;
}

/* ---- forward ------------------------------------------------------------------------------------- */

/* dq and du become those of udot. */
static CalStatus solve_forward(const CalModel *model, const CalInput *input, int inverse, CalDerivatives *d) {
	const DerivativeKernels *kernels = derivative_kernels(model->isa);
	d->failed_dof = kernels->factor(d, forces_prescribed(model, input));
	if (d->failed_dof >= 0) {
		const size_t at = (size_t)d->failed_dof * ((size_t)d->stride + 1);
		return isfinite(d->L[at]) ? CAL_SINGULAR : CAL_NOT_FINITE;
	}
	kernels->solve(d);
	if (inverse || model->row_count > 0)
		kernels->invert(d);
	if (model->row_count > 0)
		derivative_close(model, d);
	return CAL_OK;
}

CalStatus cal_forward_derivatives(const CalModel *model, const CalState *state, const CalInput *input,
                                  CalDerivatives *derivatives, double *udot, double *dq, double *du, double *dtau) {
	CalDerivatives *d = derivatives;
	if (!arguments_ok(model, state, input, d))
		return CAL_ERR_ARGUMENT;
	const size_t n = (size_t)d->n, stride = (size_t)d->stride;
	CalStatus status = cal_forward_dynamics(model, state, input, d->work, d->udot);
	d->failed_dof = d->work->failed_dof;
	if (status == CAL_OK && model->row_count > 0)
		status = derivative_multipliers(model, state, d);
	if (status == CAL_OK)
		status = inverse_at(model, state, d->udot, input, model->row_count > 0, d);
	if (status == CAL_OK)
		status = solve_forward(model, input, dtau != NULL, d);
	if (status != CAL_OK)
		return status;
	d->failed_dof = derivative_kernels(model->isa)->not_finite(d);
	if (udot)
		memcpy(udot, d->udot, sizeof(double) * n);
	copy_rows(d, d->dq, 2 * stride, dq);
	copy_rows(d, d->du, 2 * stride, du);
	copy_rows(d, d->inverse, stride, dtau);
	return d->failed_dof < 0 ? CAL_OK : CAL_NOT_FINITE;
}
