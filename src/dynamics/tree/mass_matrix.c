// SPDX-License-Identifier: Apache-2.0
/*
 * mass_matrix.c — the mass matrix by composite bodies: dense, one triangle of it, sparse; its trace.
 */
#include <calder/dynamics.h>
#include <calder/sparse_mass.h>
#include "dynamics/tree/composite.h"
#include "dynamics/tree/kernels.h"

static int arguments_ok(const CalModel *model, const CalState *state, const CalWork *work, const void *out) {
	return model && state && work && work->model == model && out;
}

/* Every entry of the matrix is written: no two branches, and no modes, whose entries are sums. */
static int is_full(const CalModel *model) {
	const size_t n = (size_t)model->nu;
	return model->flex_count == 0 && model->mass_row[n] == n * (n + 1) / 2;
}

/* Entries off the paths of the tree are zero in M already. */
static void fill_matrix(const CalModel *model, const CalState *state, MassForm form, CalWork *work, double *M) {
	const InertiaKernels *kernels = inertia_kernels(model->isa);
	kernels->composite_outward(model, state->q, work);
	kernels->composite_matrix(model, form, work, M);
	work->stage = STAGE_POSE;
}

CalStatus cal_mass_matrix(const CalModel *model, const CalState *state, CalWork *work, double *M) {
	if (!arguments_ok(model, state, work, M))
		return CAL_ERR_ARGUMENT;
	const size_t n = (size_t)model->nu;
	if (!is_full(model))
		memset(M, 0, sizeof(double) * n * n);
	fill_matrix(model, state, MASS_DENSE, work, M);
	return CAL_OK;
}

CalStatus cal_mass_matrix_lower(const CalModel *model, const CalState *state, CalWork *work, double *M) {
	if (!arguments_ok(model, state, work, M))
		return CAL_ERR_ARGUMENT;
	const size_t n = (size_t)model->nu;
	for (size_t u = 0; u < n && !is_full(model); ++u)
		memset(M + u * n, 0, sizeof(double) * (u + 1));
	fill_matrix(model, state, MASS_LOWER, work, M);
	return CAL_OK;
}

CalStatus cal_mass_sparse(const CalModel *model, const CalState *state, CalWork *work, double *values) {
	if (!arguments_ok(model, state, work, values))
		return CAL_ERR_ARGUMENT;
	if (model->flex_count > 0) // modes that a node does not move
		memset(values, 0, sizeof(double) * model->mass_row[model->nu]);
	fill_matrix(model, state, MASS_SPARSE, work, values);
	return CAL_OK;
}

CalStatus cal_mass_trace(const CalModel *model, const CalState *state, CalWork *work, double *trace) {
	if (!arguments_ok(model, state, work, trace))
		return CAL_ERR_ARGUMENT;
	const InertiaKernels *kernels = inertia_kernels(model->isa);
	kernels->composite_outward(model, state->q, work);
	kernels->composite_inward(model, work);
	double sum = 0;
	for (int i = 0; i < model->link_count; ++i) {
		const Link *link = &model->links[i];
		for (int k = 0; k < link->nu; ++k) {
			const spatial S = link_column(work, link, i, k);
			sum += spatial_dot(S, composite_mul(&work->composite[i], S)) + model->rotor[link->u + k];
		}
	}
	for (int f = 0; f < model->flex_count; ++f) {
		for (int k = 0; k < model->flexes[f].m; ++k)
			sum += work->flex[f].M[k * (model->flexes[f].n + 1)];
	}
	*trace = sum;
	work->stage = STAGE_POSE;
	return CAL_OK;
}
