// SPDX-License-Identifier: Apache-2.0
/*
 * eigen_general.c — Hessenberg form, complex Schur form, eigenvectors.
 */
#include "math/eigen_general.h"

#include <float.h>
#include <math.h>
#include <stdbool.h>
#include <string.h>

enum { MOST_STEPS = 60 }; // of QR for each value; 2 or 3 are usual

/* ---- complex numbers ------------------------------------------------------------------------ */

static Complex add(Complex a, Complex b) { return (Complex){a.re + b.re, a.im + b.im}; }
static Complex sub(Complex a, Complex b) { return (Complex){a.re - b.re, a.im - b.im}; }
static Complex mul(Complex a, Complex b) { return (Complex){a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re}; }
static Complex conjugate(Complex a) { return (Complex){a.re, -a.im}; }
static Complex times(double s, Complex a) { return (Complex){s * a.re, s * a.im}; }

static double size_of(Complex a) {
	const double large = fmax(fabs(a.re), fabs(a.im)), small = fmin(fabs(a.re), fabs(a.im));
	const double ratio = large > 0 ? small / large : 0;
	return large * sqrt(1 + ratio * ratio);
}

static Complex divide(Complex a, Complex b) {
	const double size = size_of(b);
	return times(1 / size, mul(a, times(1 / size, conjugate(b))));
}

static Complex root(Complex a) {
	const double size = size_of(a);
	const double re = sqrt(0.5 * (size + fabs(a.re))), im = re > 0 ? 0.5 * fabs(a.im) / re : 0;
	return a.re >= 0 ? (Complex){re, a.im < 0 ? -im : im} : (Complex){im, a.im < 0 ? -re : re};
}

/* ---- Hessenberg form ------------------------------------------------------------------------ */

/* The reflection 1 - beta v v' that maps column k below its first element to one number; v[k+1..n-1]. */
static double reflect_column(int n, const Complex *H, int k, double *v) {
	double square = 0;
	for (int i = k + 2; i < n; i++)
		square += H[i * n + k].re * H[i * n + k].re;
	if (square == 0)
		return 0;
	const double first = H[(k + 1) * n + k].re, length = sqrt(square + first * first);
	for (int i = k + 1; i < n; i++)
		v[i] = H[i * n + k].re;
	v[k + 1] += first >= 0 ? length : -length;
	return 2 / (square + v[k + 1] * v[k + 1]);
}

/* H stays real here; Z collects the reflections. */
static void make_hessenberg(int n, Complex *H, Complex *Z, double *v) {
	for (int k = 0; k < n - 2; k++) {
		const double beta = reflect_column(n, H, k, v);
		if (beta == 0)
			continue;
		for (int j = k; j < n; j++) {
			double sum = 0;
			for (int i = k + 1; i < n; i++)
				sum += v[i] * H[i * n + j].re;
			for (int i = k + 1; i < n; i++)
				H[i * n + j].re -= beta * sum * v[i];
		}
		for (int i = 0; i < n; i++) {
			double sum = 0, turned = 0;
			for (int j = k + 1; j < n; j++) {
				sum += H[i * n + j].re * v[j];
				turned += Z[i * n + j].re * v[j];
			}
			for (int j = k + 1; j < n; j++) {
				H[i * n + j].re -= beta * sum * v[j];
				Z[i * n + j].re -= beta * turned * v[j];
			}
		}
		for (int i = k + 2; i < n; i++)
			H[i * n + k].re = 0;
	}
}

/* ---- Schur form ----------------------------------------------------------------------------- */

/* The eigenvalue of the last two rows of the block that is nearer to its last element. */
static Complex wilkinson_shift(int n, const Complex *H, int last) {
	const Complex a = H[(last - 1) * n + last - 1], b = H[(last - 1) * n + last], c = H[last * n + last - 1];
	const Complex d = H[last * n + last], half = times(0.5, sub(a, d));
	const Complex disc = root(add(mul(half, half), mul(b, c)));
	const Complex one = add(half, disc), other = sub(half, disc);
	return add(d, size_of(one) < size_of(other) ? one : other);
}

/* Rotation that maps (a, b) to (r, 0): r = c a + s b, 0 = -conj(s) a + c b. */
typedef struct Rotation {
	double c;
	Complex s;
} Rotation;

static Rotation rotation_of(Complex a, Complex b) {
	const double size_a = size_of(a), size_b = size_of(b), length = size_of((Complex){size_a, size_b});
	if (size_b == 0)
		return (Rotation){1, {0, 0}};
	if (size_a == 0)
		return (Rotation){0, times(1 / size_b, conjugate(b))};
	return (Rotation){size_a / length, times(1 / (size_a * length), mul(a, conjugate(b)))};
}

static void rotate_rows(int n, Complex *H, int k, int from, Rotation r) {
	for (int j = from; j < n; j++) {
		const Complex a = H[k * n + j], b = H[(k + 1) * n + j];
		H[k * n + j] = add(times(r.c, a), mul(r.s, b));
		H[(k + 1) * n + j] = sub(times(r.c, b), mul(conjugate(r.s), a));
	}
}

static void rotate_columns(int n, Complex *H, int k, int to, Rotation r) {
	for (int i = 0; i < to; i++) {
		const Complex a = H[i * n + k], b = H[i * n + k + 1];
		H[i * n + k] = add(times(r.c, a), mul(conjugate(r.s), b));
		H[i * n + k + 1] = sub(times(r.c, b), mul(r.s, a));
	}
}

/* One step on the rows first..last; the rotation of a row is needed one row later, when it acts on columns. */
static void qr_step(int n, Complex *H, Complex *Z, int first, int last, Complex shift) {
	Rotation before = {1, {0, 0}};
	for (int k = first; k <= last; k++)
		H[k * n + k] = sub(H[k * n + k], shift);
	for (int k = first; k <= last; k++) {
		Rotation now = {1, {0, 0}};
		if (k < last) {
			now = rotation_of(H[k * n + k], H[(k + 1) * n + k]);
			rotate_rows(n, H, k, k, now);
		}
		if (k > first) {
			rotate_columns(n, H, k - 1, k + 1, before);
			rotate_columns(n, Z, k - 1, n, before);
		}
		before = now;
	}
	for (int k = first; k <= last; k++)
		H[k * n + k] = add(H[k * n + k], shift);
}

/* First row of the block that ends with `last`; what couples it to the rows above is negligible. */
static int block_start(int n, Complex *H, int last) {
	for (int k = last; k > 0; k--) {
		const double near = size_of(H[k * n + k]) + size_of(H[(k - 1) * n + k - 1]);
		if (size_of(H[k * n + k - 1]) <= DBL_EPSILON * near || size_of(H[k * n + k - 1]) < DBL_MIN) {
			H[k * n + k - 1] = (Complex){0, 0};
			return k;
		}
	}
	return 0;
}

static bool make_schur(int n, Complex *H, Complex *Z) {
	for (int last = n - 1, steps = 0; last > 0;) {
		const int first = block_start(n, H, last);
		if (first == last) {
			last--;
			steps = 0;
			continue;
		}
		if (++steps > MOST_STEPS)
			return false;
		Complex shift = wilkinson_shift(n, H, last);
		if (steps % 10 == 0) // a cycle: another shift ends it
			shift = add(shift, (Complex){0.75 * size_of(H[last * n + last - 1]), 0});
		qr_step(n, H, Z, first, last, shift);
	}
	return true;
}

/* ---- vectors -------------------------------------------------------------------------------- */

/* x[0..k] with T x = T_kk x. */
static void solve_triangular(int n, const Complex *T, int k, double norm, Complex *x) {
	x[k] = (Complex){1, 0};
	for (int i = k - 1; i >= 0; i--) {
		Complex sum = {0, 0}, pivot = sub(T[i * n + i], T[k * n + k]);
		for (int j = i + 1; j <= k; j++)
			sum = add(sum, mul(T[i * n + j], x[j]));
		if (size_of(pivot) < DBL_EPSILON * norm)
			pivot = (Complex){DBL_EPSILON * norm, 0};
		x[i] = times(-1, divide(sum, pivot));
		const double size = size_of(x[i]);
		for (int j = i; j <= k && size > 1e100; j++)
			x[j] = times(1 / size, x[j]);
	}
}

/* Z becomes the vectors: those of T in the axes of Z, column after column from the last on. */
static void find_vectors(int n, const Complex *T, Complex *Z, Complex *x, Complex *row) {
	double norm = DBL_MIN;
	for (int i = 0; i < n * n; i++)
		norm = fmax(norm, size_of(T[i]));
	for (int k = n - 1; k >= 0; k--) {
		double square = 0;
		solve_triangular(n, T, k, norm, x);
		for (int i = 0; i < n; i++) {
			Complex sum = {0, 0};
			for (int j = 0; j <= k; j++)
				sum = add(sum, mul(Z[i * n + j], x[j]));
			row[i] = sum;
			square += sum.re * sum.re + sum.im * sum.im;
		}
		for (int i = 0; i < n; i++)
			Z[i * n + k] = times(1 / sqrt(square), row[i]);
	}
}

CalStatus eigen_general(int n, const double *A, Complex *values, Complex *vectors, Complex *scratch) {
	Complex *H = scratch, *x = scratch + (size_t)n * (size_t)n, *row = x + n;
	for (int i = 0; i < n * n; i++) {
		if (!isfinite(A[i]))
			return CAL_NOT_FINITE;
		H[i] = (Complex){A[i], 0};
		vectors[i] = (Complex){i % (n + 1) == 0 ? 1 : 0, 0};
	}
	make_hessenberg(n, H, vectors, (double *)(void *)x);
	if (!make_schur(n, H, vectors))
		return CAL_NOT_CONVERGED;
	for (int i = 0; i < n; i++)
		values[i] = H[i * n + i];
	find_vectors(n, H, vectors, x, row);
	return CAL_OK;
}
