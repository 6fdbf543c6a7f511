// SPDX-License-Identifier: Apache-2.0
/*
 * portable.c — exponential, logarithm, power, hyperbolic functions, hypotenuse.
 *
 * log x: x = 2^n m with m in [sqrt(1/2), sqrt 2); log m = 2 artanh s, s = (m - 1)/(m + 1), |s| < 0.172. The first terms of
 * the series are summed in twofold numbers, the others, below 2^-17 of it, in doubles: relative error 2^-69.
 * exp x: x = n log 2 + r, |r| < 0.347, by the Taylor series in the same manner: relative error 2^-62.
 * x^y = exp(y log x) then errs by 2^-59 at most, so that powers that are doubles, like 10^3, come out as such.
 */
#include "math/portable.h"

#include <math.h>
#include <stdbool.h>

#include "math/twofold.h"

static const Twofold LN2 = {0x1.62e42fefa39efp-1, 0x1.abc9e3b39803fp-56};
static const double EXP_MAX = 709.79, EXP_MIN = -745.14; // beyond: infinite, zero
static const double SMALL = 0.03125;                     // hyperbolic functions below this: by their series

/* log x, x > 0 and finite. */
static Twofold log_twofold(Twofold x) {
	static const Twofold third = {0x1.5555555555555p-2, 0x1.5555555555555p-56};
	static const Twofold fifth = {0x1.999999999999ap-3, -0x1.999999999999ap-57};
	static const double rest[] = {1.0 / 7,  1.0 / 9,  1.0 / 11, 1.0 / 13, 1.0 / 15, 1.0 / 17,
	                              1.0 / 19, 1.0 / 21, 1.0 / 23, 1.0 / 25, 1.0 / 27, 1.0 / 29};
	int n;
	frexp(x.hi, &n);
	Twofold m = {ldexp(x.hi, -n), ldexp(x.lo, -n)};
	if (m.hi < 0.70710678118654752) {
		m = twofold_scale(m, 2);
		n--;
	}
	const Twofold s = twofold_divide(twofold_plus(m, -1), twofold_plus(m, 1)), z = twofold_multiply(s, s);
	Twofold sum = twofold_add(fifth, twofold_times(z, polynomial(rest, 12, z.hi)));
	sum = twofold_add(third, twofold_multiply(z, sum));
	sum = twofold_plus(twofold_multiply(z, sum), 1);
	sum = twofold_scale(twofold_multiply(s, sum), 2);
	return n == 0 ? sum : twofold_add(twofold_times(LN2, n), sum);
}

/* exp x = 2^n times the result, which is near 1; |x| < 2^20. */
static Twofold exp_twofold(Twofold x, int *n) {
	static const Twofold sixth = {0x1.5555555555555p-3, 0x1.5555555555555p-57};
	static const double rest[] = {
		1.0 / 24,          1.0 / 120,           1.0 / 720,           1.0 / 5040,      1.0 / 40320,
		1.0 / 362880,      1.0 / 3628800,       1.0 / 39916800,      1.0 / 479001600, 1.0 / 6227020800,
		1.0 / 87178291200, 1.0 / 1307674368000, 1.0 / 20922789888000};
	const double whole = floor(x.hi * 1.4426950408889634 + 0.5);
	const Twofold r = twofold_add(x, twofold_times(LN2, -whole));
	Twofold sum = twofold_add(sixth, twofold_times(r, polynomial(rest, 13, r.hi)));
	sum = twofold_plus(twofold_multiply(r, sum), 0.5);
	sum = twofold_plus(twofold_multiply(r, sum), 1);
	*n = (int)whole;
	return twofold_plus(twofold_multiply(r, sum), 1);
}

static double exp_rounded(Twofold x) {
	if (x.hi > EXP_MAX)
		return INFINITY;
	if (x.hi < EXP_MIN)
		return 0;
	int n;
	const Twofold y = exp_twofold(x, &n);
	return ldexp(y.hi, n);
}

double portable_exp(double x) { return isnan(x) ? x : exp_rounded((Twofold){x, 0}); }

/* Where x is no positive number. */
static double log_edge(double x) {
	if (x == 0)
		return -INFINITY;
	return x < 0 ? NAN : x;
}

static bool is_positive(double x) { return x > 0 && x < INFINITY; }

double portable_log(double x) { return is_positive(x) ? log_twofold((Twofold){x, 0}).hi : log_edge(x); }

double portable_log1p(double x) {
	if (!is_positive(1 + x))
		return log_edge(1 + x);
	return fabs(x) < 0x1p-54 ? x : log_twofold(twofold_sum(1, x)).hi;
}

double portable_log10(double x) {
	static const Twofold per_ln10 = {0x1.bcb7b1526e50ep-2, 0x1.95355baaafad3p-57};
	return is_positive(x) ? twofold_multiply(log_twofold((Twofold){x, 0}), per_ln10).hi : log_edge(x);
}

/* |x|^y, x not zero, both finite. */
static double power_of(double x, double y) {
	const Twofold log_x = log_twofold((Twofold){fabs(x), 0});
	const double size = y * log_x.hi;
	if (size == 0)
		return 1;
	if (fabs(size) > 1000 || fabs(y) < 0x1p-900) // the product would leave the range of twofold numbers
		return exp_rounded((Twofold){size, 0});
	return exp_rounded(twofold_times(log_x, y));
}

double portable_pow(double x, double y) {
	if (y == 2)
		return x * x;
	if (y == 0 || x == 1 || (x == -1 && isinf(y)))
		return 1;
	if (isnan(x) || isnan(y))
		return x + y;
	const bool whole = floor(y) == y, odd = whole && fmod(y, 2) != 0; // infinite y: whole and even
	const double size = fabs(x), sign = signbit(x) && odd ? -1 : 1;
	if (isinf(y))
		return (size > 1) == (y > 0) ? INFINITY : 0;
	if (size == 0 || isinf(size))
		return sign * ((size == 0) == (y > 0) ? 0 : INFINITY);
	return x < 0 && !whole ? NAN : sign * power_of(x, y);
}

/* (e^x + sign e^-x) / 2, x >= SMALL. */
static double half_sum(double x, double sign) {
	if (x > 720)
		return INFINITY;
	int n;
	Twofold e = exp_twofold((Twofold){x, 0}, &n);
	if (x > 40) // the other one is below 2^-115
		return ldexp(e.hi, n - 1);
	e = twofold_scale(e, ldexp(1, n));
	const Twofold inverse = twofold_divide((Twofold){sign, 0}, e);
	return 0.5 * twofold_add(e, inverse).hi;
}

double portable_sinh(double x) {
	const double z = x * x;
	if (fabs(x) < SMALL)
		return x + x * z * (1.0 / 6 + z * (1.0 / 120 + z * (1.0 / 5040 + z / 362880)));
	return isnan(x) ? x : copysign(half_sum(fabs(x), -1), x);
}

double portable_cosh(double x) { return isnan(x) ? x : half_sum(fabs(x), 1); }

double portable_tanh(double x) {
	const double z = x * x;
	if (x == 0)
		return x; // of either sign
	if (fabs(x) < SMALL)
		return x - x * z * (1.0 / 3 - z * (2.0 / 15 - z * (17.0 / 315 - z * (62.0 / 2835 - z * 1382.0 / 155925))));
	if (isnan(x) || fabs(x) > 22)
		return isnan(x) ? x : copysign(1, x);
	int n;
	Twofold e = exp_twofold((Twofold){2 * fabs(x), 0}, &n);
	e = twofold_scale(e, ldexp(1, n));
	return copysign(twofold_divide(twofold_plus(e, -1), twofold_plus(e, 1)).hi, x);
}

double portable_hypot(double x, double y) {
	const double a = fmax(fabs(x), fabs(y)), b = fmin(fabs(x), fabs(y));
	if (isinf(x) || isinf(y))
		return INFINITY;
	if (isnan(x) || isnan(y))
		return x + y;
	if (a == 0)
		return 0;
	const double scale = a > 0x1p400 ? 0x1p-600 : a < 0x1p-400 ? 0x1p600 : 1;
	const double u = a * scale, v = b * scale;
	return twofold_sqrt(twofold_add(twofold_product(u, u), twofold_product(v, v))).hi / scale;
}
