// SPDX-License-Identifier: Apache-2.0
/*
 * twofold.h — numbers of about 106 bits as unevaluated sums of two doubles (Dekker 1971).
 *
 * Only + - * / and sqrt, no fused multiply-add: the same bits on every machine. |hi| < 2^996, because products split
 * their factors. Relative errors are below 2^-100 where nothing cancels.
 */
#ifndef CALDER_MATH_TWOFOLD_H
#define CALDER_MATH_TWOFOLD_H

#include <math.h>

typedef struct Twofold {
	double hi, lo; // |lo| is at most half a unit in the last place of hi
} Twofold;

static inline Twofold twofold_from(double a) { return (Twofold){a, 0}; }

/* a + b exactly, |a| >= |b| or a = 0. */
static inline Twofold twofold_join(double a, double b) {
	const double s = a + b;
	return (Twofold){s, b - (s - a)};
}

/* a + b exactly. */
static inline Twofold twofold_sum(double a, double b) {
	const double s = a + b, t = s - a;
	return (Twofold){s, (a - (s - t)) + (b - t)};
}

/* a b exactly: either factor is split into two of 26 bits. */
static inline Twofold twofold_product(double a, double b) {
	const double splitter = 134217729.0, p = a * b, a_up = splitter * a, b_up = splitter * b; // 2^27 + 1
	const double a1 = a_up - (a_up - a), a2 = a - a1, b1 = b_up - (b_up - b), b2 = b - b1;
	return (Twofold){p, a2 * b2 - (((p - a1 * b1) - a2 * b1) - a1 * b2)};
}

static inline Twofold twofold_negate(Twofold a) { return (Twofold){-a.hi, -a.lo}; }

/* Times a power of two. */
static inline Twofold twofold_scale(Twofold a, double power) { return (Twofold){a.hi * power, a.lo * power}; }

static inline Twofold twofold_add(Twofold a, Twofold b) {
	Twofold s = twofold_sum(a.hi, b.hi);
	const Twofold t = twofold_sum(a.lo, b.lo);
	s = twofold_join(s.hi, s.lo + t.hi);
	return twofold_join(s.hi, s.lo + t.lo);
}

static inline Twofold twofold_plus(Twofold a, double b) {
	const Twofold s = twofold_sum(a.hi, b);
	return twofold_join(s.hi, s.lo + a.lo);
}

static inline Twofold twofold_times(Twofold a, double b) {
	const Twofold p = twofold_product(a.hi, b);
	return twofold_join(p.hi, p.lo + a.lo * b);
}

/* a + x b, for long sums: errors are below 2^-100 of the larger of both. */
static inline Twofold twofold_madd(Twofold a, double x, Twofold b) {
	const Twofold p = twofold_product(x, b.hi), s = twofold_sum(a.hi, p.hi);
	return twofold_join(s.hi, s.lo + (a.lo + (p.lo + x * b.lo)));
}

static inline Twofold twofold_multiply(Twofold a, Twofold b) {
	const Twofold p = twofold_product(a.hi, b.hi);
	return twofold_join(p.hi, p.lo + (a.hi * b.lo + a.lo * b.hi));
}

static inline Twofold twofold_divide(Twofold a, Twofold b) {
	const double q = a.hi / b.hi;
	const Twofold p = twofold_product(b.hi, q);
	return twofold_join(q, ((a.hi - p.hi) - p.lo + (a.lo - q * b.lo)) / b.hi);
}

static inline Twofold twofold_sqrt(Twofold a) {
	if (a.hi <= 0)
		return (Twofold){0, 0};
	const double s = sqrt(a.hi);
	const Twofold p = twofold_product(s, s);
	return twofold_join(s, ((a.hi - p.hi) - p.lo + a.lo) / (2 * s));
}

/* c[0] + c[1] x + ... + c[n - 1] x^(n - 1) */
static inline double polynomial(const double *c, int n, double x) {
	double sum = c[n - 1];
	for (int k = n - 2; k >= 0; k--)
		sum = sum * x + c[k];
	return sum;
}

#endif
