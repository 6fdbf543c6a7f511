// SPDX-License-Identifier: Apache-2.0
/*
 * beam_basis.c — polynomials on one beam element, and Gauss's quadrature.
 *
 * With Legendre polynomials P_n on [-1, 1], the integral from -1 of P_n is (P_{n+1} - P_{n-1})/(2n+1) and vanishes
 * at both ends for n >= 1: a bubble for fields that are continuous. Integrated twice, for n >= 2, it vanishes with
 * its derivative: a bubble for deflections with continuous slope (Szabo and Babuska, Finite Element Analysis).
 */
#include <math.h>

#include "flexgen/beam.h"
#include "math/portable.h"

enum { LEGENDRE_MAX = 24 };

/** P[0..n] at x. */
static void legendre(int n, double x, double *P) {
	P[0] = 1;
	P[1] = x;
	for (int k = 1; k < n; k++) {
		P[k + 1] = ((2 * k + 1) * x * P[k] - k * P[k - 1]) / (k + 1);
	}
}

void gauss_rule(int n, double *x, double *w) {
	static const double PI = 3.14159265358979323846;
	double P[LEGENDRE_MAX + 1] = {0};
	for (int i = 0; i < n; i++) {
		double root = -portable_cos(PI * (i + 0.75) / (n + 0.5)), slope = 1;
		for (int step = 0; step < 8; step++) {
			legendre(n, root, P);
			slope = n * (root * P[n] - P[n - 1]) / (root * root - 1);
			root -= P[n] / slope;
		}
		x[i] = root;
		w[i] = 2 / ((1 - root * root) * slope * slope);
	}
}

/** First integral of P_n from -1, n >= 1. */
static double integral_once(const double *P, int n) { return (P[n + 1] - P[n - 1]) / (2 * n + 1); }

/** Second integral of P_n from -1, n >= 2. */
static double integral_twice(const double *P, int n) {
	return (integral_once(P, n + 1) - integral_once(P, n - 1)) / (2 * n + 1);
}

/** A continuous field: two hats and bubbles up to the order. f, df/dx go to stride-1 arrays. */
static void continuous_basis(int order, double h, double xi, const double *P, double *f, double *df) {
	f[0] = 0.5 * (1 - xi);
	f[1] = 0.5 * (1 + xi);
	df[0] = -1 / h;
	df[1] = 1 / h;
	for (int k = 2; k <= order; k++) {
		f[k] = integral_once(P, k - 1);
		df[k] = P[k - 1] * 2 / h;
	}
}

static void scalar_basis(int order, double h, double xi, const double *P, BeamBasis *out) {
	continuous_basis(order, h, xi, P, out->w, out->dw);
	out->count = order + 1;
}

/** Local order: deflection and slope of either node, bubbles. Slopes are d/dx. */
static void euler_basis(int order, double h, double xi, const double *P, BeamBasis *out) {
	double s = 0.5 * (1 + xi), s2 = s * s, s3 = s2 * s;
	const double w[] = {1 - 3 * s2 + 2 * s3, h * (s - 2 * s2 + s3), 3 * s2 - 2 * s3, h * (s3 - s2)};
	const double d1[] = {(6 * s2 - 6 * s) / h, 1 - 4 * s + 3 * s2, (6 * s - 6 * s2) / h, 3 * s2 - 2 * s};
	const double d2[] = {(12 * s - 6) / (h * h), (6 * s - 4) / h, (6 - 12 * s) / (h * h), (6 * s - 2) / h};
	for (int a = 0; a < 4; a++) {
		out->w[a] = w[a];
		out->dw[a] = out->r[a] = d1[a];
		out->dr[a] = d2[a];
	}
	for (int k = 4; k <= order; k++) {
		out->w[k] = integral_twice(P, k - 2);
		out->dw[k] = out->r[k] = integral_once(P, k - 2) * 2 / h;
		out->dr[k] = P[k - 2] * 4 / (h * h);
	}
	out->count = order + 1;
}

/** Local order: deflection and rotation of either node, bubbles of the deflection, bubbles of the rotation. */
static void timoshenko_basis(int order, double h, double xi, const double *P, BeamBasis *out) {
	double f[CAL_BEAM_MAX_ORDER + 1], df[CAL_BEAM_MAX_ORDER + 1];
	continuous_basis(order, h, xi, P, f, df);
	for (int a = 0; a < 2; a++) {
		out->w[2 * a] = out->r[2 * a + 1] = f[a];
		out->dw[2 * a] = out->dr[2 * a + 1] = df[a];
	}
	int next = 4;
	for (int k = 2; k <= order; k++, next++) {
		out->w[next] = f[k];
		out->dw[next] = df[k];
	}
	for (int k = 2; k < order; k++, next++) {
		out->r[next] = f[k];
		out->dr[next] = df[k];
	}
	out->count = next;
}

void beam_basis(BeamKind kind, int order, double h, double xi, BeamBasis *out) {
	double P[LEGENDRE_MAX + 1] = {0};
	legendre(order + 2, xi, P);
	*out = (BeamBasis){0};
	switch (kind) {
	case BEAM_SCALAR:
		scalar_basis(order, h, xi, P, out);
		break;
	case BEAM_EULER:
		euler_basis(order, h, xi, P, out);
		break;
	case BEAM_TIMOSHENKO:
		timoshenko_basis(order, h, xi, P, out);
		break;
	}
}
