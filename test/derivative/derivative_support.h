// SPDX-License-Identifier: Apache-2.0
/*
 * derivative_support.h — derivatives of functions of (q, u) by central differences of eighth order. The functions are those
 * of the reference in quadruple precision, rounded once: with h = 4e-3 the error is about 1e-13 of their values.
 */
#ifndef TEST_DERIVATIVE_SUPPORT_H
#define TEST_DERIVATIVE_SUPPORT_H

#include <stdlib.h>
#include <string.h>

#include "support/random_tree.h"

typedef void (*ReferenceFn)(void *user, const double *q, const double *u, double *out);

/** out[count nu] of df/dq, or df/du (speed), of f[count] at the fixture's state. */
static inline void reference_derivative_of(Fixture *f, ReferenceFn fn, int count, int speed, double h, double *out) {
	static const double weight[] = {4.0 / 5, -1.0 / 5, 4.0 / 105, -1.0 / 280};
	const int n = f->nu;
	double *x = test_doubles(f->nq + 2 * n + count + 1), *q = x, *u = x + f->nq, *dq = u + n, *value = dq + n;
	memset(out, 0, sizeof *out * (size_t)(count * n));
	for (int j = 0; j < n; j++)
		for (int p = -4; p <= 4; p++) {
			if (p == 0)
				continue;
			memcpy(q, f->state.q, sizeof *q * (size_t)f->nq);
			memcpy(u, f->state.u, sizeof *u * (size_t)n);
			memset(dq, 0, sizeof *dq * (size_t)n);
			if (speed) {
				u[j] += p * h;
			} else {
				dq[j] = p * h;
				refq_config_integrate(f->ref, f->state.q, dq, q);
			}
			fn(f, q, u, value);
			for (int i = 0; i < count; i++)
				out[i * n + j] += (p > 0 ? 1 : -1) * weight[abs(p) - 1] / h * value[i];
		}
	free(x);
}

static inline void reference_derivative(Fixture *f, ReferenceFn fn, int speed, double *out) {
	reference_derivative_of(f, fn, f->nu, speed, 4e-3, out);
}

#endif
