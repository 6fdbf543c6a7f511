// SPDX-License-Identifier: Apache-2.0
/*
 * quantile.c — see quantile.h.
 *
 * The normal quantile starts from a rational approximation that is good to 4.5e-4 (Abramowitz and Stegun, 26.2.23) and
 * takes two of Halley's steps, each of which triples the number of good digits. Everything is done in the lower tail,
 * whose probability is known to a few units in the last place: 1/2 + phi(x) (x + x^3/3 + x^5/15 + ...) near the middle, outside
 * phi(x)/(|x| + 1/(|x| + 2/(|x| + ...))) (Abramowitz and Stegun, 26.2.11 and 26.2.14).
 */
#include "math/quantile.h"

#include <math.h>

#include "math/portable.h"

static const double SQRT_2PI = 2.50662827463100050242;
static const double MIDDLE = 1.5; // the series loses three bits there, the fraction needs 200 terms

/* Probability of values below x <= 0. */
static double tail(double x) {
	const double density = portable_exp(-0.5 * x * x) / SQRT_2PI;
	if (x < -MIDDLE) {
		double fraction = -x;
		for (int k = 200; k >= 1; k--)
			fraction = -x + k / fraction;
		return density / fraction;
	}
	double sum = 1;
	for (int k = 45; k >= 3; k -= 2)
		sum = 1 + x * x / k * sum;
	return 0.5 + density * x * sum;
}

static double lower_tail(double x) { return x <= 0 ? tail(x) : 1 - tail(-x); }

/* p <= 1/2 */
static double lower_quantile(double p) {
	const double t = sqrt(-2 * portable_log(p));
	double x = (2.515517 + t * (0.802853 + t * 0.010328)) / (1 + t * (1.432788 + t * (0.189269 + t * 0.001308))) - t;
	for (int i = 0; i < 2; i++) {
		const double step = (lower_tail(x) - p) * SQRT_2PI * portable_exp(0.5 * x * x);
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
