// SPDX-License-Identifier: Apache-2.0
/*
 * lu.c — elimination by rows with the largest pivot of each column: sums in ascending order, the same bits on every machine.
 */
#include "math/lu.h"

#include <math.h>
#include <stddef.h>

static void swap_rows(int n, double *a, double *b) {
	for (int j = 0; j < n; j++) {
		const double kept = a[j];
		a[j] = b[j];
		b[j] = kept;
	}
}

bool lu_factor(int n, double *A, int *order) {
	const size_t width = (size_t)n;
	for (int k = 0; k < n; k++) {
		double *top = A + (size_t)k * width;
		int pivot = k;
		for (int i = k + 1; i < n; i++)
			if (fabs(A[(size_t)i * width + (size_t)k]) > fabs(A[(size_t)pivot * width + (size_t)k]))
				pivot = i;
		order[k] = pivot;
		if (pivot != k)
			swap_rows(n, top, A + (size_t)pivot * width);
		if (!(fabs(top[k]) > 0) || !isfinite(top[k]))
			return false;
		for (int i = k + 1; i < n; i++) {
			double *row = A + (size_t)i * width;
			if (row[k] == 0)
				continue;
			const double factor = row[k] /= top[k];
			for (int j = k + 1; j < n; j++)
				row[j] -= factor * top[j];
		}
	}
	return true;
}

void lu_solve(int n, const double *LU, const int *order, double *x) {
	for (int i = 0; i < n; i++) {
		const double kept = x[i];
		x[i] = x[order[i]];
		x[order[i]] = kept;
	}
	for (int i = 0; i < n; i++)
		for (int j = 0; j < i; j++)
			x[i] -= LU[(size_t)i * (size_t)n + (size_t)j] * x[j];
	for (int i = n - 1; i >= 0; i--) {
		for (int j = i + 1; j < n; j++)
			x[i] -= LU[(size_t)i * (size_t)n + (size_t)j] * x[j];
		x[i] /= LU[(size_t)i * (size_t)n + (size_t)i];
	}
}
