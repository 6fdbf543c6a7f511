// SPDX-License-Identifier: Apache-2.0
/*
 * finite.h — are all numbers of an array finite? Zero times a number is zero only if it is.
 */
#ifndef CALDER_MATH_FINITE_H
#define CALDER_MATH_FINITE_H

/* Four sums at once, so that no addition waits for the one before it. */
static inline int all_finite(const double *x, int count) {
	double a = 0, b = 0, c = 0, d = 0;
	int i = 0;
	for (; i + 4 <= count; i += 4) {
		a += x[i] * 0.0;
		b += x[i + 1] * 0.0;
		c += x[i + 2] * 0.0;
		d += x[i + 3] * 0.0;
	}
	for (; i < count; ++i)
		a += x[i] * 0.0;
	return (a + b) + (c + d) == 0;
}

#endif
