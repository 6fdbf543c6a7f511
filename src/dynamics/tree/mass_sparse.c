// SPDX-License-Identifier: Apache-2.0
/*
 * mass_sparse.c — the sparse mass matrix: its pattern, M = L'D L, solutions, products [Featherstone, ch. 6.5].
 *
 * With p(k) the dofs between the ground and k, from the last dof to the first:
 *
 *   D_k = M_kk,  L_ki = M_ki / D_k,  M_ij -= L_ki M_kj  for i in p(k), j in p(i) and i
 *
 * Entry d of a row is the dof of depth d (model/mass_pattern.h), so row i and the beginning of row k have the same
 * columns, and an update is one product of rows without look-up. depth(k)^2 / 2 products per dof.
 */
#include <calder/sparse_mass.h>
#include "model/work.h"

size_t cal_mass_sparse_count(const CalModel *model) { return model ? model->mass_row[model->nu] : 0; }

CalStatus cal_mass_sparse_pattern(const CalModel *model, size_t *row_start, int *columns) {
	if (!model || !row_start || !columns)
		return CAL_ERR_ARGUMENT;
	memcpy(row_start, model->mass_row, sizeof *row_start * ((size_t)model->nu + 1));
	for (int u = 0; u < model->nu; ++u) {
		int *row = columns + model->mass_row[u];
		for (int v = u; v >= 0; v = model->dof_parent[v])
			row[model->dof_depth[v]] = v;
	}
	return CAL_OK;
}

/* a -= s b */
static void subtract_row(double *restrict a, double s, const double *restrict b, int n) {
	for (int k = 0; k < n; ++k)
		a[k] -= s * b[k];
}

/* Eliminates dof k: its row becomes that of L, and the rows of the dofs between the ground and it lose its part. */
static void eliminate_row(const CalModel *model, int k, double *values) {
	double *row = values + model->mass_row[k];
	const int depth = model->dof_depth[k];
	const double inverse = 1.0 / row[depth];
	for (int i = model->dof_parent[k]; i >= 0; i = model->dof_parent[i]) {
		const int d = model->dof_depth[i];
		const double L = row[d] * inverse;
		subtract_row(values + model->mass_row[i], L, row, d + 1);
		row[d] = L; // rows of smaller d do not read it
	}
}

/* M_kk before any elimination is at most its pivot and what others took: their squares, all positive. */
static CalStatus check_pivot(double pivot, double scale) {
	if (!(pivot - pivot == 0))
		return CAL_NOT_FINITE;
	return pivot > SINGULAR_RATIO * scale ? CAL_OK : CAL_SINGULAR;
}

CalStatus cal_mass_sparse_factor(const CalModel *model, CalWork *work, double *values) {
	if (!model || !work || work->model != model || !values)
		return CAL_ERR_ARGUMENT;
	double *scale = work->rhs; // diagonal as it was
	for (int k = 0; k < model->nu; ++k)
		scale[k] = values[model->mass_row[k + 1] - 1];
	work->failed_dof = -1;
	for (int k = model->nu - 1; k >= 0; --k) {
		const CalStatus status = check_pivot(values[model->mass_row[k + 1] - 1], scale[k]);
		if (status != CAL_OK) {
			work->failed_dof = k;
			return status;
		}
		eliminate_row(model, k, values);
	}
	return CAL_OK;
}

CalStatus cal_mass_sparse_solve(const CalModel *model, const double *factor, const double *b, double *x) {
	if (!model || !factor || !b || !x)
		return CAL_ERR_ARGUMENT;
	memmove(x, b, sizeof *x * (size_t)model->nu);
	for (int k = model->nu - 1; k >= 0; --k) { // L'y = b
		const double *row = factor + model->mass_row[k];
		for (int i = model->dof_parent[k]; i >= 0; i = model->dof_parent[i])
			x[i] -= row[model->dof_depth[i]] * x[k];
	}
	for (int k = 0; k < model->nu; ++k) { // L x = D^-1 y
		const double *row = factor + model->mass_row[k];
		double sum = x[k] / row[model->dof_depth[k]];
		for (int i = model->dof_parent[k]; i >= 0; i = model->dof_parent[i])
			sum -= row[model->dof_depth[i]] * x[i];
		x[k] = sum;
	}
	return CAL_OK;
}

CalStatus cal_mass_sparse_mul(const CalModel *model, const double *values, const double *x, double *y) {
	if (!model || !values || !x || !y)
		return CAL_ERR_ARGUMENT;
	for (int k = 0; k < model->nu; ++k) { // rows to come add to y_k of the dofs between the ground and theirs
		const double *row = values + model->mass_row[k];
		double sum = row[model->dof_depth[k]] * x[k];
		for (int i = model->dof_parent[k]; i >= 0; i = model->dof_parent[i]) {
			sum += row[model->dof_depth[i]] * x[i];
			y[i] += row[model->dof_depth[i]] * x[k];
		}
		y[k] = sum;
	}
	return CAL_OK;
}
