// SPDX-License-Identifier: Apache-2.0
/*
 * null_space.c — motions that loops and prescribed degrees of freedom leave [THEORY (9.5)].
 *
 * cal_loop_mobility() finds independent constraint equations and independent speeds, by complete pivoting with exchanges: no dependent
 * speed is larger than the sum of the independent ones. With G = (G_d G_i) over them N = (1; -G_d^-1 G_i).
 */
#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "linear/system_matrices.h"

static void swap_rows(double *A, int n, int a, int b) {
	for (int k = 0; k < n; k++) {
		const double kept = A[a * n + k];
		A[a * n + k] = A[b * n + k];
		A[b * n + k] = kept;
	}
}

/* B[n m] = A^-1 B by elimination with partial pivoting; A[n n] is lost. False: singular. */
static bool solve_square(int n, double *A, int m, double *B) {
	for (int k = 0; k < n; k++) {
		int pivot = k;
		for (int i = k + 1; i < n; i++)
			pivot = fabs(A[i * n + k]) > fabs(A[pivot * n + k]) ? i : pivot;
		if (!(fabs(A[pivot * n + k]) > 0))
			return false;
		swap_rows(A, n, k, pivot);
		swap_rows(B, m, k, pivot);
		for (int i = k + 1; i < n; i++) {
			const double factor = A[i * n + k] / A[k * n + k];
			for (int j = k + 1; j < n && factor != 0; j++)
				A[i * n + j] -= factor * A[k * n + j];
			for (int j = 0; j < m && factor != 0; j++)
				B[i * m + j] -= factor * B[k * m + j];
		}
	}
	for (int k = n - 1; k >= 0; k--) {
		for (int j = 0; j < m; j++) {
			double sum = B[k * m + j];
			for (int i = k + 1; i < n; i++)
				sum -= A[k * n + i] * B[i * m + j];
			B[k * m + j] = sum / A[k * n + k];
		}
	}
	return true;
}

/* Independent speeds to `dof`, those that follow from them to `dependent`. */
static void sort_speeds(NullSpace *s, int nu) {
	int dependent = 0;
	s->count = 0;
	for (int i = 0; i < nu; i++) {
		if (s->independent[i])
			s->dof[s->count++] = i;
		else if (!s->frozen[i])
			s->dependent[dependent++] = i;
	}
	s->rank = dependent;
}

static CalStatus solve_dependent(NullSpace *s, int nu, int rows) {
	const int n = s->count, rank = s->rank;
	int at = 0;
	for (int r = 0; r < rows; r++) {
		if (!s->rows[r])
			continue;
		for (int j = 0; j < rank; j++)
			s->square[at * rank + j] = s->G[(size_t)r * (size_t)nu + (size_t)s->dependent[j]];
		for (int k = 0; k < n; k++)
			s->right[at * n + k] = -s->G[(size_t)r * (size_t)nu + (size_t)s->dof[k]];
		at++;
	}
	if (!solve_square(rank, s->square, n, s->right))
		return CAL_SINGULAR;
	for (int j = 0; j < rank; j++)
		memcpy(s->N + (size_t)s->dependent[j] * (size_t)n, s->right + (size_t)j * (size_t)n, (size_t)n * sizeof *s->N);
	return CAL_OK;
}

CalStatus null_space_count(const CalModel *model, const CalState *state, CalWork *work, NullSpace *s) {
	const int nu = cal_model_u_count(model), rows = cal_model_row_count(model);
	CalMobility mobility;
	CalStatus status = CAL_OK;
	for (int i = 0; i < nu; i++)
		s->independent[i] = !s->frozen[i];
	if (rows > 0)
		status = cal_loop_mobility(model, state, s->frozen, work, &mobility, s->rows, s->independent);
	if (status == CAL_OK && rows > 0)
		status = cal_loop_jacobian(model, state, work, s->G, s->gamma);
	if (status == CAL_OK)
		sort_speeds(s, nu);
	return status;
}

CalStatus null_space_find(const CalModel *model, const CalState *state, CalWork *work, NullSpace *s) {
	const int nu = cal_model_u_count(model), rows = cal_model_row_count(model);
	const CalStatus status = null_space_count(model, state, work, s);
	if (status != CAL_OK)
		return status;
	memset(s->N, 0, (size_t)nu * (size_t)s->count * sizeof *s->N);
	for (int k = 0; k < s->count; k++)
		s->N[(size_t)s->dof[k] * (size_t)s->count + (size_t)k] = 1;
	return s->rank > 0 ? solve_dependent(s, nu, rows) : CAL_OK;
}

/* Rows of speeds that move alone need no sum. */
void null_space_project(const NullSpace *s, int nu, const double *A, double *scratch, double *out) {
	const size_t n = (size_t)s->count;
	for (int i = 0; i < nu; i++) { // scratch = A N
		double *row = scratch + (size_t)i * n;
		const double *a = A + (size_t)i * (size_t)nu;
		for (size_t k = 0; k < n; k++)
			row[k] = a[s->dof[k]];
		for (int d = 0; d < s->rank; d++) {
			const double *N = s->N + (size_t)s->dependent[d] * n;
			for (size_t k = 0; k < n; k++)
				row[k] += a[s->dependent[d]] * N[k];
		}
	}
	for (size_t k = 0; k < n; k++)
		memcpy(out + k * n, scratch + (size_t)s->dof[k] * n, n * sizeof *out);
	for (int d = 0; d < s->rank; d++) {
		const double *N = s->N + (size_t)s->dependent[d] * n, *row = scratch + (size_t)s->dependent[d] * n;
		for (size_t k = 0; k < n; k++)
			for (size_t j = 0; N[k] != 0 && j < n; j++)
				out[k * n + j] += N[k] * row[j];
	}
}
