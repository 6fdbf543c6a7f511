// SPDX-License-Identifier: Apache-2.0
/*
 * eigen.c — symmetric eigenproblems: Jacobi up to JACOBI_MAX rows, Householder and implicit QL above.
 *
 * Both keep the vectors as rows while they work, so that every inner loop runs over consecutive numbers, and
 * turn them into columns at the end. The input is scaled by a power of two, which costs no accuracy.
 */
#include "math/eigen.h"

#include <float.h>
#include <math.h>
#include <stdbool.h>
#include <string.h>

enum {
	JACOBI_MAX = 48,    // rows up to which Jacobi is used; its vectors are on the stack (18 KB)
	JACOBI_SWEEPS = 60, // 6 to 8 are usual
	QL_ITERATIONS = 60, // per value; 2 are usual
};
static const double SNAP = 1e-12;      // of M - 1 and of K off its diagonal
static const double DEPENDENT = 1e-13; // of a pivot over its diagonal element
static const double TIE = 1e-8;        // components of a vector that count as equally large

/* ---- pieces -------------------------------------------------------------------------------- */

/** sqrt(a^2 + b^2) without underflow in the squares. */
static double length2(double a, double b) {
	double large = fmax(fabs(a), fabs(b)), small = fmin(fabs(a), fabs(b));
	if (large == 0) {
		return 0;
	}
	double ratio = small / large;
	return large * sqrt(1 + ratio * ratio);
}

static double dot_product(int n, const double *x, const double *y) {
	double sum = 0;
	for (int i = 0; i < n; i++) {
		sum += x[i] * y[i];
	}
	return sum;
}

/** y += s x */
static void add_scaled(int n, double s, const double *x, double *y) {
	for (int i = 0; i < n; i++) {
		y[i] += s * x[i];
	}
}

/** (x, y) <- (c x - s y, s x + c y) */
static void rotate_rows(int n, double c, double s, double *x, double *y) {
	for (int i = 0; i < n; i++) {
		double xi = x[i], yi = y[i];
		x[i] = c * xi - s * yi;
		y[i] = s * xi + c * yi;
	}
}

static void swap_rows(int n, double *x, double *y) {
	for (int i = 0; i < n; i++) {
		double xi = x[i];
		x[i] = y[i];
		y[i] = xi;
	}
}

static void transpose(int n, double *A) {
	for (int i = 0; i < n; i++) {
		for (int j = 0; j < i; j++) {
			double a = A[i * n + j];
			A[i * n + j] = A[j * n + i];
			A[j * n + i] = a;
		}
	}
}

static void set_identity(int n, double *A) {
	memset(A, 0, (size_t)n * (size_t)n * sizeof *A);
	for (int i = 0; i < n; i++) {
		A[i * n + i] = 1;
	}
}

/** Makes the lower triangle count: copies it to the upper one, times 2^exponent. False if not finite. */
static bool scale_lower(int n, double *A, int exponent) {
	bool finite = true;
	for (int i = 0; i < n; i++) {
		for (int j = 0; j <= i; j++) {
			double a = ldexp(A[i * n + j], exponent);
			A[i * n + j] = A[j * n + i] = a;
			finite = finite && isfinite(a);
		}
	}
	return finite;
}

/** The exponent e such that 2^e times the largest element of the lower triangle is in [1/2, 1). */
static int scale_exponent(int n, const double *A) {
	double largest = 0;
	for (int i = 0; i < n; i++) {
		for (int j = 0; j <= i; j++) {
			largest = fmax(largest, fabs(A[i * n + j]));
		}
	}
	int exponent = 0;
	if (largest > 0 && isfinite(largest)) {
		frexp(largest, &exponent);
	}
	return -exponent;
}

/** Values ascending, rows of Z along with them; equal values stay in their order. */
static void sort_rows(int n, double *values, double *Z) {
	for (int i = 1; i < n; i++) {
		for (int j = i; j > 0 && values[j - 1] > values[j]; j--) {
			swap_rows(1, &values[j - 1], &values[j]);
			swap_rows(n, &Z[(j - 1) * n], &Z[j * n]);
		}
	}
}

/** Turns the vectors (columns of V) so that the first of their largest components is positive. */
static void fix_signs(int n, double *V) {
	for (int k = 0; k < n; k++) {
		double largest = 0;
		for (int i = 0; i < n; i++) {
			largest = fmax(largest, fabs(V[i * n + k]));
		}
		int first = 0;
		while (first < n - 1 && fabs(V[first * n + k]) < (1 - TIE) * largest) {
			first++;
		}
		if (V[first * n + k] < 0) {
			for (int i = 0; i < n; i++) {
				V[i * n + k] = 0 - V[i * n + k]; // no negative zeros
			}
		}
	}
}

/* ---- Jacobi -------------------------------------------------------------------------------- */

/**
 * A <- G'AG with the rotation G in the plane (p, q), p < q, that makes A_pq zero; rows p and q of V follow.
 * False if A_pq is already negligible beside the geometric mean of its diagonal elements.
 */
static bool jacobi_rotate(int n, double *A, double *V, int p, int q) {
	double app = A[p * n + p], aqq = A[q * n + q], apq = A[q * n + p];
	if (fabs(apq) <= DBL_EPSILON * sqrt(fabs(app)) * sqrt(fabs(aqq)) || fabs(apq) < DBL_MIN) {
		return false;
	}
	double theta = (aqq - app) / (2 * apq);
	double t = copysign(1, theta) / (fabs(theta) + length2(theta, 1));
	double c = 1 / sqrt(t * t + 1), s = t * c;
	for (int i = 0; i < n; i++) {
		double *ip = i < p ? &A[p * n + i] : &A[i * n + p], *iq = i < q ? &A[q * n + i] : &A[i * n + q];
		if (i != p && i != q) {
			rotate_rows(1, c, s, ip, iq);
		}
	}
	A[p * n + p] = app - t * apq;
	A[q * n + q] = aqq + t * apq;
	A[q * n + p] = 0;
	rotate_rows(n, c, s, &V[p * n], &V[q * n]);
	return true;
}

static CalStatus jacobi(int n, double *A, double *values) {
	double V[JACOBI_MAX * JACOBI_MAX];
	set_identity(n, V);
	bool turned = true;
	for (int sweep = 0; turned; sweep++) {
		if (sweep == JACOBI_SWEEPS) {
			return CAL_NOT_CONVERGED;
		}
		turned = false;
		for (int p = 0; p < n - 1; p++) {
			for (int q = p + 1; q < n; q++) {
				turned = jacobi_rotate(n, A, V, p, q) || turned;
			}
		}
	}
	for (int i = 0; i < n; i++) {
		values[i] = A[i * n + i];
	}
	memcpy(A, V, (size_t)n * (size_t)n * sizeof *A);
	return CAL_OK;
}

/* ---- Householder and QL -------------------------------------------------------------------- */

/**
 * The reflection 1 - beta v v' that maps x[0..k-1] to a multiple of its last element; v replaces x. Returns
 * beta, 0 if there is nothing to do; *image is the multiple.
 */
static double reflector(int k, double *x, double *image) {
	double largest = 0;
	for (int i = 0; i < k - 1; i++) {
		largest = fmax(largest, fabs(x[i]));
	}
	*image = x[k - 1];
	if (largest == 0) {
		return 0;
	}
	largest = fmax(largest, fabs(x[k - 1]));
	for (int i = 0; i < k; i++) {
		x[i] /= largest;
	}
	double length = copysign(sqrt(dot_product(k, x, x)), x[k - 1]);
	*image = -length * largest;
	x[k - 1] += length;
	return 1 / (length * x[k - 1]);
}

/**
 * Q'AQ tridiagonal with diagonal d and, in e[1..n-1], the elements beside it; A is replaced by Q'. Row k, from
 * the last, is reflected within its first k elements; the reflections act on the block above only.
 */
static void tridiagonalize(int n, double *A, double *d, double *e) {
	for (int k = n - 1; k > 0; k--) {
		double *v = &A[k * n];
		d[k] = v[k];
		double beta = reflector(k, v, &e[k]);
		v[k] = beta;
		if (beta == 0) {
			continue;
		}
		double *w = d; // d[0..k-1] is free until its rows are reached
		for (int i = 0; i < k; i++) {
			w[i] = beta * dot_product(k, &A[i * n], v);
		}
		add_scaled(k, -0.5 * beta * dot_product(k, w, v), v, w);
		for (int i = 0; i < k; i++) {
			for (int j = 0; j < k; j++) {
				A[i * n + j] -= v[i] * w[j] + w[i] * v[j]; // the same bits in A_ij and A_ji
			}
		}
	}
	d[0] = A[0];
	A[0] = 1;
	for (int k = 1; k < n; k++) {
		double *v = &A[k * n], beta = v[k];
		for (int i = 0; beta != 0 && i < k; i++) {
			add_scaled(k, -beta * dot_product(k, &A[i * n], v), v, &A[i * n]);
		}
		for (int i = 0; i < k; i++) {
			A[i * n + k] = v[i] = 0;
		}
		v[k] = 1;
	}
}

/** One implicit QL step on rows l..m of the tridiagonal (d, e[i] between i and i+1), with Wilkinson's shift. */
static void ql_step(int n, int l, int m, double *d, double *e, double *Z) {
	double g = (d[l + 1] - d[l]) / (2 * e[l]);
	g = d[m] - d[l] + e[l] / (g + copysign(length2(g, 1), g));
	double s = 1, c = 1, p = 0;
	for (int i = m - 1; i >= l; i--) {
		double f = s * e[i], b = c * e[i], r = length2(f, g);
		e[i + 1] = r;
		if (r == 0) { // the matrix falls apart here
			d[i + 1] -= p;
			e[m] = 0;
			return;
		}
		s = f / r;
		c = g / r;
		g = d[i + 1] - p;
		r = (d[i] - g) * s + 2 * c * b;
		p = s * r;
		d[i + 1] = g + p;
		g = c * r - b;
		rotate_rows(n, c, s, &Z[i * n], &Z[(i + 1) * n]);
	}
	d[l] -= p;
	e[l] = g;
	e[m] = 0;
}

/** The values of the tridiagonal (d, e[1..n-1]) in d; the rows of Z follow. */
static CalStatus ql(int n, double *d, double *e, double *Z) {
	for (int i = 1; i < n; i++) {
		e[i - 1] = e[i];
	}
	e[n - 1] = 0;
	for (int l = 0; l < n; l++) {
		for (int iteration = 0;; iteration++) {
			int m = l;
			while (m < n - 1 && fabs(e[m]) > DBL_EPSILON * sqrt(fabs(d[m])) * sqrt(fabs(d[m + 1])) &&
			       fabs(e[m]) > DBL_EPSILON * DBL_EPSILON) {
				m++;
			}
			if (m == l) {
				break;
			}
			if (iteration == QL_ITERATIONS) {
				return CAL_NOT_CONVERGED;
			}
			ql_step(n, l, m, d, e, Z);
		}
	}
	return CAL_OK;
}

/* ---- the two problems ---------------------------------------------------------------------- */

/** As eigen_symmetric, signs as they come. */
static CalStatus eigen_unsigned(int n, double *A, double *values, double *scratch) {
	int exponent = scale_exponent(n, A);
	if (!scale_lower(n, A, exponent)) {
		return CAL_NOT_FINITE;
	}
	CalStatus status;
	if (n <= JACOBI_MAX) {
		status = jacobi(n, A, values);
	} else {
		tridiagonalize(n, A, values, scratch);
		status = ql(n, values, scratch, A);
	}
	if (status != CAL_OK) {
		return status;
	}
	sort_rows(n, values, A);
	transpose(n, A);
	for (int i = 0; i < n; i++) {
		values[i] = ldexp(values[i], -exponent);
	}
	return CAL_OK;
}

CalStatus eigen_symmetric(int n, double *A, double *values, double *scratch) {
	CalStatus status = eigen_unsigned(n, A, values, scratch);
	if (status == CAL_OK) {
		fix_signs(n, A);
	}
	return status;
}

int cholesky_factor(int n, double *A, const double *reference, double tolerance) {
	for (int i = 0; i < n; i++) {
		double *row = &A[i * n], least = tolerance * (reference ? reference[i] : row[i]);
		for (int j = 0; j < i; j++) {
			row[j] = (row[j] - dot_product(j, row, &A[j * n])) / A[j * n + j];
		}
		double pivot = row[i] - dot_product(i, row, row);
		if (!(pivot > 0 && pivot > least) || !isfinite(pivot)) {
			return i;
		}
		row[i] = sqrt(pivot);
		memset(row + i + 1, 0, (size_t)(n - 1 - i) * sizeof *row);
	}
	return -1;
}

void cholesky_solve(int n, const double *L, double *x) {
	const size_t stride = (size_t)n;
	for (int i = 0; i < n; i++) {
		const double *row = &L[(size_t)i * stride];
		for (int j = 0; j < i; j++) {
			x[i] -= row[j] * x[j];
		}
		x[i] /= row[i];
	}
	for (int i = n - 1; i >= 0; i--) {
		const double *row = &L[(size_t)i * stride];
		x[i] /= row[i];
		for (int j = 0; j < i; j++) {
			x[j] -= row[j] * x[i];
		}
	}
}

/** X <- L^-1 X, n rows. */
static void solve_lower(int n, const double *L, double *X) {
	for (int i = 0; i < n; i++) {
		for (int j = 0; j < i; j++) {
			if (L[i * n + j] != 0) {
				add_scaled(n, -L[i * n + j], &X[j * n], &X[i * n]);
			}
		}
		for (int k = 0; k < n; k++) {
			X[i * n + k] /= L[i * n + i];
		}
	}
}

/** X <- L'^-1 X, n rows. */
static void solve_lower_transposed(int n, const double *L, double *X) {
	for (int i = n - 1; i >= 0; i--) {
		for (int j = i + 1; j < n; j++) {
			if (L[j * n + i] != 0) {
				add_scaled(n, -L[j * n + i], &X[j * n], &X[i * n]);
			}
		}
		for (int k = 0; k < n; k++) {
			X[i * n + k] /= L[i * n + i];
		}
	}
}

/** M is 1 and K diagonal but for round-off: makes them so. */
static void clear_round_off(int n, double *K, double *M) {
	for (int i = 0; i < n; i++) {
		for (int j = 0; j <= i; j++) {
			double off = i == j ? 0 : fabs(K[i * n + j]);
			double size = sqrt(fabs(K[i * n + i])) * sqrt(fabs(K[j * n + j]));
			if (!(fabs(M[i * n + j] - (i == j)) <= SNAP && off <= SNAP * size)) {
				return;
			}
		}
	}
	for (int i = 0; i < n; i++) {
		memset(&K[i * n], 0, (size_t)i * sizeof *K);
	}
	set_identity(n, M);
}

CalStatus eigen_generalized(int n, double *K, double *M, double *values, double *scratch) {
	clear_round_off(n, K, M);
	if (!scale_lower(n, K, 0) || !scale_lower(n, M, 0)) {
		return CAL_NOT_FINITE;
	}
	if (cholesky_factor(n, M, NULL, DEPENDENT) >= 0) {
		return CAL_SINGULAR;
	}
	solve_lower(n, M, K);
	transpose(n, K);
	solve_lower(n, M, K);
	CalStatus status = eigen_unsigned(n, K, values, scratch);
	if (status != CAL_OK) {
		return status;
	}
	solve_lower_transposed(n, M, K);
	fix_signs(n, K);
	return CAL_OK;
}
