// SPDX-License-Identifier: Apache-2.0
/*
 * min_norm.c — pivoted Cholesky, P'AP = L L' with L of n rows and r columns, and Householder's QR of L where r < n:
 * then A = Q R R'Q' and A^+ = Q R'^-1 R^-1 Q', which costs no more digits than the condition of A on its range does.
 */
#include <math.h>
#include <stddef.h>
#include <string.h>

#include "math/min_norm.h"
#include "math/real.h"

static const double NOTHING = 1e-24; // of the largest diagonal: the square of round-off in what the rows are made of

static void exchange(double *a, double *b) {
	const double t = *a;
	*a = *b, *b = t;
}

/* Row i of A to place k < i in the order, in the lower triangle. */
static void exchange_pivot(int n, double *A, int *order, double *diagonal, int i, int k) {
	if (i == k)
		return;
	for (int j = 0; j < k; ++j)
		exchange(&A[i * n + j], &A[k * n + j]);
	for (int j = k + 1; j < i; ++j)
		exchange(&A[j * n + k], &A[i * n + j]);
	for (int j = i + 1; j < n; ++j)
		exchange(&A[j * n + i], &A[j * n + k]);
	exchange(&A[i * (n + 1)], &A[k * (n + 1)]);
	exchange(&diagonal[i], &diagonal[k]);
	const int row = order[i];
	order[i] = order[k], order[k] = row;
}

/* What is left of a row, relative to the diagonal that it came with; a row that was nothing has nothing left. */
INLINE double remaining_diagonal(int n, const double *A, const double *diagonal, int i) {
	return diagonal[i] > 0 ? A[i * (n + 1)] / diagonal[i] : 0;
}

/* The row that has the most left. */
INLINE int find_pivot(int n, const double *A, const double *diagonal, int k, double *rest) {
	int best = k;
	*rest = remaining_diagonal(n, A, diagonal, k);
	for (int i = k + 1; i < n; ++i) {
		const double own = remaining_diagonal(n, A, diagonal, i);
		if (own > *rest) {
			best = i;
			*rest = own;
		}
	}
	return best;
}

/* Column k of L, kept as row k of the upper triangle too, taken out of the rows below. */
INLINE void eliminate_row(int n, double *A, int k) {
	double *restrict column = A + k * n;
	const double pivot = sqrt(column[k]);
	column[k] = pivot;
	for (int i = k + 1; i < n; ++i)
		column[i] = A[i * n + k] /= pivot;
	for (int i = k + 1; i < n; ++i) {
		double *restrict row = A + i * n;
		const double own = row[k];
		for (int j = k + 1; j <= i; ++j)
			row[j] -= own * column[j];
	}
}

INLINE int factor_by_pivots(int n, double *A, MinNormRows *rows, int *order, double *diagonal) {
	rows->left = 1;
	rows->rest = 0;
	for (int k = 0; k < n; ++k) {
		double rest;
		exchange_pivot(n, A, order, diagonal, find_pivot(n, A, diagonal, k, &rest), k);
		if (!(rest > (k < rows->known ? 0 : rows->tolerance))) {
			rows->rest = fmax(rest, 0);
			return k;
		}
		rows->left = fmin(rows->left, rest);
		eliminate_row(n, A, k);
	}
	return n;
}

/* Six rows are the commonest: those of a weld. */
static int cholesky(int n, double *A, MinNormRows *rows, int *order, double *diagonal) {
	return n == 6 ? factor_by_pivots(6, A, rows, order, diagonal) : factor_by_pivots(n, A, rows, order, diagonal);
}

/* QR of L (n rows, r columns, copied to Q): reflectors from the diagonal down, R above, its diagonal apart. */
static void householder(int n, int r, double *Q, double *diagonal) {
	for (int k = 0; k < r; ++k) {
		double size = 0;
		for (int i = k; i < n; ++i)
			size += Q[i * n + k] * Q[i * n + k];
		size = sqrt(size);
		diagonal[k] = Q[k * n + k] > 0 ? -size : size;
		Q[k * n + k] -= diagonal[k];
		double square = 0;
		for (int i = k; i < n; ++i)
			square += Q[i * n + k] * Q[i * n + k];
		for (int j = k + 1; j < r; ++j) {
			double dot = 0;
			for (int i = k; i < n; ++i)
				dot += Q[i * n + k] * Q[i * n + j];
			const double f = square > 0 ? 2 * dot / square : 0;
			for (int i = k; i < n; ++i)
				Q[i * n + j] -= f * Q[i * n + k];
		}
	}
}

static double scale_to_units(int n, const double *A, const double *unit, int i) {
	return unit ? A[i * (n + 1)] / (unit[i] * unit[i]) : A[i * (n + 1)];
}

/* order and diagonal to begin with; a row that is nothing beside the others has none. */
static void copy_scaled(int n, const double *A, const double *unit, int *order, double *diagonal) {
	double most = 0;
	for (int i = 0; i < n; ++i)
		most = fmax(most, scale_to_units(n, A, unit, i));
	for (int i = 0; i < n; ++i) {
		order[i] = i;
		diagonal[i] = scale_to_units(n, A, unit, i) > NOTHING * most ? A[i * (n + 1)] : 0;
	}
}

int min_norm_rank(int n, double *A, double tolerance, int *order, double *scratch) {
	copy_scaled(n, A, NULL, order, scratch);
	return cholesky(n, A, &(MinNormRows){.tolerance = tolerance}, order, scratch);
}

int min_norm_factor(int n, double *A, double tolerance, int *order, uint8_t *independent, double *scratch) {
	return min_norm_factor_rows(n, A, &(MinNormRows){.tolerance = tolerance}, order, independent, scratch);
}

int min_norm_factor_rows(int n, double *A, MinNormRows *rows, int *order, uint8_t *independent, double *scratch) {
	double *Q = scratch, *diagonal = scratch + n * n;
	copy_scaled(n, A, rows->unit, order, diagonal);
	const int r = cholesky(n, A, rows, order, diagonal);
	for (int i = 0; i < n; ++i)
		independent[order[i]] = i < r;
	if (r == n)
		return r;
	for (int i = 0; i < n; ++i) {
		for (int j = 0; j < r; ++j)
			Q[i * n + j] = j <= i ? A[i * n + j] : 0;
	}
	householder(n, r, Q, diagonal);
	return r;
}

/* L L'x = b. */
static void solve_full(int n, const double *L, double *x) {
	for (int i = 0; i < n; ++i) {
		for (int j = 0; j < i; ++j)
			x[i] -= L[i * n + j] * x[j];
		x[i] /= L[i * (n + 1)];
	}
	for (int i = n - 1; i >= 0; --i) {
		for (int j = i + 1; j < n; ++j)
			x[i] -= L[j * n + i] * x[j];
		x[i] /= L[i * (n + 1)];
	}
}

/* x = H_k x */
static void reflect(int n, const double *Q, int k, double *x) {
	double square = 0, dot = 0;
	for (int i = k; i < n; ++i) {
		square += Q[i * n + k] * Q[i * n + k];
		dot += Q[i * n + k] * x[i];
	}
	const double f = square > 0 ? 2 * dot / square : 0;
	for (int i = k; i < n; ++i)
		x[i] -= f * Q[i * n + k];
}

/* A = Q R R'Q' on the range: y = Q'b, R R'w = y, x = Q w. */
static void solve_deficient(int n, int r, const double *Q, const double *diagonal, double *x) {
	for (int k = 0; k < r; ++k)
		reflect(n, Q, k, x);
	for (int i = r - 1; i >= 0; --i) { // R
		for (int j = i + 1; j < r; ++j)
			x[i] -= Q[i * n + j] * x[j];
		x[i] /= diagonal[i];
	}
	for (int i = 0; i < r; ++i) { // R'
		for (int j = 0; j < i; ++j)
			x[i] -= Q[j * n + i] * x[j];
		x[i] /= diagonal[i];
	}
	for (int i = r; i < n; ++i)
		x[i] = 0;
	for (int k = r - 1; k >= 0; --k)
		reflect(n, Q, k, x);
}

/* L L'X = B for several columns at once. */
INLINE void solve_full_columns(int n, int columns, const double *L, double *X) {
	for (int i = 0; i < n; ++i) {
		double *restrict x = X + i * columns;
		for (int j = 0; j < i; ++j) {
			const double *restrict known = X + j * columns;
			for (int c = 0; c < columns; ++c)
				x[c] -= L[i * n + j] * known[c];
		}
		for (int c = 0; c < columns; ++c)
			x[c] /= L[i * (n + 1)];
	}
	for (int i = n - 1; i >= 0; --i) {
		double *restrict x = X + i * columns;
		for (int j = i + 1; j < n; ++j) {
			const double *restrict known = X + j * columns;
			for (int c = 0; c < columns; ++c)
				x[c] -= L[j * n + i] * known[c];
		}
		for (int c = 0; c < columns; ++c)
			x[c] /= L[i * (n + 1)];
	}
}

void min_norm_solve_columns(int n, int rank, int columns, const double *A, const int *order, double *scratch,
                            double *ordered, double *X) {
	double *column = ordered;
	for (int c = 0; c < columns && rank < n; ++c) {
		for (int i = 0; i < n; ++i)
			column[i] = X[i * columns + c];
		min_norm_solve(n, rank, A, order, scratch, column, column);
		for (int i = 0; i < n; ++i)
			X[i * columns + c] = column[i];
	}
	if (rank < n)
		return;
	for (int i = 0; i < n; ++i)
		memcpy(ordered + i * columns, X + order[i] * columns, sizeof(double) * (size_t)columns);
	if (n == 6 && columns == 6)
		solve_full_columns(6, 6, A, ordered);
	else
		solve_full_columns(n, columns, A, ordered);
	for (int i = 0; i < n; ++i)
		memcpy(X + order[i] * columns, ordered + i * columns, sizeof(double) * (size_t)columns);
}

void min_norm_solve(int n, int rank, const double *A, const int *order, double *scratch, const double *b, double *x) {
	const double *Q = scratch, *diagonal = scratch + n * n;
	double *y = scratch + n * n + n;
	for (int i = 0; i < n; ++i)
		y[i] = b[order[i]];
	if (rank == n) {
		solve_full(n, A, y);
	} else {
		solve_deficient(n, rank, Q, diagonal, y);
	}
	for (int i = 0; i < n; ++i)
		x[order[i]] = y[i];
}
