// SPDX-License-Identifier: Apache-2.0
/*
 * eigen3.h — eigenvalues of a symmetric 3x3 matrix by Jacobi rotations.
 *
 * For checking inertias when a model is built, not for a step. Jacobi rather than the closed form by
 * cosines: that one loses half of the digits where two eigenvalues meet, and rods, plates and spheres
 * are exactly there. Absolute accuracy is a few ulp of the largest eigenvalue.
 */
#ifndef CALDER_MATH_EIGEN3_H
#define CALDER_MATH_EIGEN3_H

#include <math.h>

#include <calder/base.h>

#include "math/portable.h"

/** a <- G' a G with the rotation G in the plane (p, q) that makes a[p][q] zero; r is the third index. */
static inline void eigen3_rotate(double a[3][3], int p, int q, int r) {
	if (a[p][q] == 0) {
		return;
	}
	double theta = (a[q][q] - a[p][p]) / (2 * a[p][q]);
	double t = copysign(1, theta) / (fabs(theta) + portable_hypot(theta, 1));
	double c = 1 / sqrt(t * t + 1), s = t * c;
	double arp = a[r][p], arq = a[r][q];
	a[p][p] -= t * a[p][q];
	a[q][q] += t * a[p][q];
	a[p][q] = a[q][p] = 0;
	a[r][p] = a[p][r] = c * arp - s * arq;
	a[r][q] = a[q][r] = s * arp + c * arq;
}

static inline void eigen3_order(double *low, double *high) {
	double a = *low, b = *high;
	*low = a < b ? a : b;
	*high = a < b ? b : a;
}

/** Eigenvalues, ascending, of the symmetric part of m (finite). */
static inline void eigen3_values(const CalMat3 *m, double values[3]) {
	double a[3][3], scale = 0;
	for (int i = 0; i < 3; i++) {
		for (int j = 0; j < 3; j++) {
			scale = fmax(scale, fabs(m->m[i][j]));
		}
	}
	scale = scale > 0 ? scale : 1;
	for (int i = 0; i < 3; i++) {
		for (int j = 0; j < 3; j++) {
			a[i][j] = 0.5 * (m->m[i][j] / scale) + 0.5 * (m->m[j][i] / scale);
		}
	}
	for (int sweep = 0; sweep < 30 && fabs(a[0][1]) + fabs(a[0][2]) + fabs(a[1][2]) > 1e-18; sweep++) {
		eigen3_rotate(a, 0, 1, 2);
		eigen3_rotate(a, 0, 2, 1);
		eigen3_rotate(a, 1, 2, 0);
	}
	for (int i = 0; i < 3; i++) {
		values[i] = scale * a[i][i];
	}
	eigen3_order(&values[0], &values[1]);
	eigen3_order(&values[1], &values[2]);
	eigen3_order(&values[0], &values[1]);
}

#endif
