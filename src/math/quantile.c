// SPDX-License-Identifier: Apache-2.0
/*
 * quantile.c — see quantile.h.
 *
 * The normal quantile starts from a rational approximation that is good to 4.5e-4 (Abramowitz and Stegun, 26.2.23) and
 * takes two of Halley's steps, each of which triples the number of good digits. Everything is done in the lower tail,
 * where erfc() keeps its relative accuracy.
 */
#include "math/quantile.h"

#include <math.h>

static const double SQRT_HALF = 0.70710678118654752440, SQRT_2PI = 2.50662827463100050242;

static double lower_tail(double x) { return 0.5 * erfc(-x * SQRT_HALF); }

/* p <= 1/2 */
static double lower_quantile(double p) {
	const double t = sqrt(-2 * log(p));
	double x = (2.515517 + t * (0.802853 + t * 0.010328)) / (1 + t * (1.432788 + t * (0.189269 + t * 0.001308))) - t;
	for (int i = 0; i < 2; i++) {
		const double step = (lower_tail(x) - p) * SQRT_2PI * exp(0.5 * x * x);
		x -= step / (1 + 0.5 * x * step);
	}
	return x;
}

double quantile_normal(double p) { return p <= 0.5 ? lower_quantile(p) : -lower_quantile(1 - p); }

double quantile_truncated(double p, double mean, double std, double low, double high) {
	double a = (low - mean) / std, b = (high - mean) / std;
	const int mirrored = a > 0; // the whole interval is in the upper tail
	if (mirrored) {
		const double kept = a;
		a = -b;
		b = -kept;
		p = 1 - p;
	}
	const double from = lower_tail(a), to = lower_tail(b), at = fmin(from + p * (to - from), 1 - 0x1p-53);
	double x = at > 0 ? quantile_normal(at) : b; // so far out that there is nothing but the near end
	x = mirrored ? mean - std * x : mean + std * x;
	return fmin(fmax(x, low), high);
}

double quantile_triangular(double p, double low, double mode, double high) {
	const double peak = (mode - low) / (high - low);
	if (p < peak)
		return low + sqrt(p * (high - low) * (mode - low));
	return high - sqrt((1 - p) * (high - low) * (high - mode));
}
