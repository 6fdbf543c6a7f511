// SPDX-License-Identifier: Apache-2.0
/*
 * discrete_system.c — discretization of linear systems: matrix exponential by scaling, Taylor series and squaring; Tustin's
 * rule by Gaussian elimination. Only sums, products and quotients: the same bits on every machine.
 */
#include "math/discrete_system.h"

#include <math.h>
#include <string.h>

size_t discretize_scratch(int n, int m, int p) {
	const size_t order = (size_t)n + (size_t)m, width = (size_t)n + (size_t)m + (size_t)p;
	return 4 * order * order + 2 * width * width;
}

/* out = a b, n x n each; out is neither. */
static void multiply(int n, const double *a, const double *b, double *out) {
	for (int i = 0; i < n; i++)
		for (int k = 0; k < n; k++) {
			double sum = 0;
			for (int j = 0; j < n; j++)
				sum += a[i * n + j] * b[j * n + k];
			out[i * n + k] = sum;
		}
}

/* The largest sum of a row. */
static double row_norm(int n, const double *a) {
	double largest = 0;
	for (int i = 0; i < n; i++) {
		double sum = 0;
		for (int k = 0; k < n; k++)
			sum += fabs(a[i * n + k]);
		largest = fmax(largest, sum);
	}
	return largest;
}

/* By scaling, series and squaring: 18 terms are exact to round-off for a norm of at most 1/2. */
void matrix_exponential(int n, double *M, double *E, double *power, double *next) {
	enum { TERMS = 18, MOST_SQUARES = 1100 };
	const size_t bytes = (size_t)n * (size_t)n * sizeof(double);
	int squares = 0;
	for (double norm = row_norm(n, M); norm > 0.5 && squares < MOST_SQUARES; norm *= 0.5, squares++)
		for (int i = 0; i < n * n; i++)
			M[i] *= 0.5;
	memset(E, 0, bytes);
	for (int i = 0; i < n; i++)
		E[i * n + i] = 1;
	memcpy(power, E, bytes);
	for (int term = 1; term <= TERMS; term++) {
		multiply(n, power, M, next);
		for (int i = 0; i < n * n; i++) {
			power[i] = next[i] / term;
			E[i] += power[i];
		}
	}
	for (int i = 0; i < squares; i++) {
		multiply(n, E, E, next);
		memcpy(E, next, bytes);
	}
}

void discretize_hold(StateMatrices *s, double T, double *scratch) {
	const int n = s->n, m = s->m, order = n + m;
	const size_t size = (size_t)order * (size_t)order;
	double *M = scratch, *E = M + size;
	memset(M, 0, size * sizeof *M);
	for (int i = 0; i < n; i++) {
		for (int k = 0; k < n; k++)
			M[i * order + k] = s->A[i * n + k] * T;
		for (int k = 0; k < m; k++)
			M[i * order + n + k] = s->B[i * m + k] * T;
	}
	matrix_exponential(order, M, E, E + size, E + 2 * size);
	for (int i = 0; i < n; i++) {
		memcpy(s->A + (ptrdiff_t)i * n, E + (ptrdiff_t)i * order, (size_t)n * sizeof(double));
		memcpy(s->B + (ptrdiff_t)i * m, E + (ptrdiff_t)i * order + n, (size_t)m * sizeof(double));
	}
}

static void swap_rows(double *a, int width, int i, int k) {
	for (int j = 0; j < width; j++) {
		const double kept = a[i * width + j];
		a[i * width + j] = a[k * width + j];
		a[k * width + j] = kept;
	}
}

/* Solves M X = R with the largest pivots of the columns; R, n x width, becomes X. False: singular. */
static bool solve(int n, double *M, int width, double *R) {
	for (int i = 0; i < n; i++) {
		int pivot = i;
		for (int k = i + 1; k < n; k++)
			if (fabs(M[k * n + i]) > fabs(M[pivot * n + i]))
				pivot = k;
		if (!(fabs(M[pivot * n + i]) > 0))
			return false;
		swap_rows(M, n, i, pivot);
		swap_rows(R, width, i, pivot);
		for (int k = 0; k < n; k++) {
			const double factor = k == i ? 0 : M[k * n + i] / M[i * n + i];
			for (int j = i; j < n && factor != 0; j++)
				M[k * n + j] -= factor * M[i * n + j];
			for (int j = 0; j < width && factor != 0; j++)
				R[k * width + j] -= factor * R[i * width + j];
		}
	}
	for (int i = 0; i < n; i++)
		for (int j = 0; j < width; j++)
			R[i * width + j] /= M[i * n + i];
	return true;
}

/* With M = I - A T/2: A = M^-1 (I + A T/2), B = M^-1 B T, D += C M^-1 B T/2, C = C M^-1. */
bool discretize_tustin(StateMatrices *s, double T, double *scratch) {
	const int n = s->n, m = s->m, p = s->p, width = n + m;
	double *M = scratch, *R = M + (ptrdiff_t)n * n, *inverse = R + (ptrdiff_t)n * width;
	for (int i = 0; i < n; i++) {
		for (int k = 0; k < n; k++) {
			M[i * n + k] = (i == k) - 0.5 * T * s->A[i * n + k];
			R[i * width + k] = i == k;
		}
		for (int k = 0; k < m; k++)
			R[i * width + n + k] = T * s->B[i * m + k];
	}
	if (!solve(n, M, width, R))
		return false;
	for (int i = 0; i < n; i++) {
		for (int k = 0; k < n; k++)
			inverse[i * n + k] = R[i * width + k];
		for (int k = 0; k < m; k++)
			s->B[i * m + k] = R[i * width + n + k];
	}
	for (int i = 0; i < p; i++) {
		for (int k = 0; k < m; k++)
			for (int j = 0; j < n; j++)
				s->D[i * m + k] += 0.5 * s->C[i * n + j] * s->B[j * m + k];
		for (int k = 0; k < n; k++) {
			M[k] = 0;
			for (int j = 0; j < n; j++)
				M[k] += s->C[i * n + j] * inverse[j * n + k];
		}
		memcpy(s->C + (ptrdiff_t)i * n, M, (size_t)n * sizeof(double));
	}
	for (int i = 0; i < n; i++) // (I + A T/2) = 2 I - M, and M^-1 (2 I - M) = 2 M^-1 - I
		for (int k = 0; k < n; k++)
			s->A[i * n + k] = 2 * inverse[i * n + k] - (i == k);
	return true;
}

void system_of_transfer(const double *num, const double *den, StateMatrices *s) {
	const int n = s->n;
	const double direct = num[0] / den[0];
	memset(s->A, 0, (size_t)n * (size_t)n * sizeof(double));
	for (int i = 0; i < n; i++) {
		s->A[i] = -den[i + 1] / den[0];
		if (i > 0)
			s->A[i * n + i - 1] = 1;
		s->B[i] = i == 0;
		s->C[i] = num[i + 1] / den[0] - den[i + 1] / den[0] * direct;
	}
	s->D[0] = direct;
}
