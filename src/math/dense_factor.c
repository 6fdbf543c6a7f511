// SPDX-License-Identifier: Apache-2.0
/*
 * dense_factor.c — Cholesky by rows, four rows at a time, the sums in eight lanes; elimination with pivots.
 *
 * Dense matrices get wide registers where the processor has them, as the recursion does. The lanes are the same everywhere, and so are the results.
 */
#include <math.h>
#include <stddef.h>
#include <string.h>

#include "math/dense_factor.h"

enum { LANES = 8, ROWS = 4 };
typedef double Lanes __attribute__((vector_size(LANES * sizeof(double))));

/* sums[r] = a_r . b over the first n, a_r the rows of `a` that are `stride` apart. */
typedef void (*DotsFn)(const double *a, int stride, const double *b, int n, double *sums);

#define ALWAYS static inline __attribute__((always_inline))

ALWAYS double sum_of(const Lanes *at) {
	const double *s = (const double *)at;
	return ((s[0] + s[1]) + (s[2] + s[3])) + ((s[4] + s[5]) + (s[6] + s[7]));
}

ALWAYS void dots_body(const double *a, int stride, const double *b, int n, double *sums) {
	Lanes s[ROWS] = {{0}};
	int k = 0;
	for (; k + LANES <= n; k += LANES) {
		Lanes x, y;
		memcpy(&y, b + k, sizeof y);
		for (int r = 0; r < ROWS; r++) {
			memcpy(&x, a + (long)r * stride + k, sizeof x);
			s[r] += x * y;
		}
	}
	for (int r = 0; r < ROWS; r++) {
		sums[r] = sum_of(&s[r]);
		for (int i = k; i < n; i++)
			sums[r] += a[(long)r * stride + i] * b[i];
	}
}

static void dots_plain(const double *a, int stride, const double *b, int n, double *sums) {
	dots_body(a, stride, b, n, sums);
}

#if defined(__x86_64__)
__attribute__((target("avx2"))) static void dots_avx2(const double *a, int stride, const double *b, int n,
                                                      double *sums) {
	dots_body(a, stride, b, n, sums);
}

__attribute__((target("avx512f"))) static void dots_avx512(const double *a, int stride, const double *b, int n,
                                                           double *sums) {
	dots_body(a, stride, b, n, sums);
}

static DotsFn dots_here(void) {
	if (__builtin_cpu_supports("avx512f"))
		return dots_avx512;
	return __builtin_cpu_supports("avx2") ? dots_avx2 : dots_plain;
}
#else
static DotsFn dots_here(void) { return dots_plain; }
#endif

static double dot(const double *a, const double *b, int n) {
	double s = 0;
	for (int k = 0; k < n; k++)
		s += a[k] * b[k];
	return s;
}

/* Row i from column `from` on, the columns before it being done. Returns 0 where the pivot is not positive. */
static int finish_row(double *A, int n, int i, int from) {
	double *row = A + (long)i * n;
	for (int j = from; j < i; j++)
		row[j] = (row[j] - dot(row, A + (long)j * n, j)) / A[(long)j * n + j];
	const double d = row[i] - dot(row, row, i);
	row[i] = sqrt(d);
	return d > 0;
}

int factor_lower(double *A, int n) {
	const DotsFn dots = dots_here();
	int i = 0;
	for (; i + ROWS <= n; i += ROWS) {
		double *rows = A + (long)i * n, sums[ROWS];
		for (int j = 0; j < i; j++) {
			dots(rows, n, A + (long)j * n, j, sums);
			for (int r = 0; r < ROWS; r++)
				rows[(long)r * n + j] = (rows[(long)r * n + j] - sums[r]) / A[(long)j * n + j];
		}
		for (int r = 0; r < ROWS; r++)
			if (!finish_row(A, n, i + r, i))
				return i + r;
	}
	for (; i < n; i++)
		if (!finish_row(A, n, i, 0))
			return i;
	return -1;
}

void factor_forward(const double *L, int n, double *x) {
	const DotsFn dots = dots_here();
	int i = 0;
	for (; i + ROWS <= n; i += ROWS) {
		const double *rows = L + (long)i * n;
		double sums[ROWS];
		dots(rows, n, x, i, sums);
		for (int r = 0; r < ROWS; r++) {
			const double *row = rows + (long)r * n;
			x[i + r] = (x[i + r] - sums[r] - dot(row + i, x + i, r)) / row[i + r];
		}
	}
	for (; i < n; i++)
		x[i] = (x[i] - dot(L + (long)i * n, x, i)) / L[(long)i * n + i];
}

/* By rows too: each unknown is taken off those above it. */
void factor_backward(const double *L, int n, double *x) {
	for (int i = n - 1; i >= 0; i--) {
		const double *row = L + (long)i * n;
		const double xi = x[i] /= row[i];
		for (int k = 0; k < i; k++)
			x[k] -= row[k] * xi;
	}
}

/* ---- without symmetry: by rows with the largest pivot of each column, sums in ascending order ---------------- */

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
