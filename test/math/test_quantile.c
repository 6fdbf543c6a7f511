// SPDX-License-Identifier: Apache-2.0
/*
 * test_quantile.c — quantile functions invert their distribution functions, also far out in the tails.
 */
#include <float.h>
#include <math.h>

#include "math/quantile.h"
#include "support/check.h"

/* Table values to all digits (Abramowitz and Stegun, table 26.5; common critical values). */
static void normal_has_known_values(void **state) {
	(void)state;
	static const struct {
		double p, x;
	} known[] = {{0.5, 0},
	             {0.975, 1.959963984540054},
	             {0.995, 2.5758293035489004},
	             {0.8413447460685429, 1.0},
	             {0.025, -1.959963984540054},
	             {1e-10, -6.361340902404056}};
	for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
		assert_true(fabs(quantile_normal(known[i].p) - known[i].x) <= 4e-15 * fmax(1, fabs(known[i].x)));
}

/* Relative error of p, in units that rounding of x causes: d ln p/dx is about -x in the tail. */
static void normal_inverts_its_distribution(void **state) {
	(void)state;
	for (double p = 0x1p-53; p < 0.5; p *= 1.7) {
		const double x = quantile_normal(p), back = 0.5 * erfc(-x * 0.70710678118654752440);
		assert_true(fabs(back - p) <= 8 * DBL_EPSILON * fmax(1, x * x) * p);
		assert_true(quantile_normal(1 - p) == -quantile_normal(1 - (1 - p)));
	}
}

static void truncated_stays_within_and_matches(void **state) {
	(void)state;
	double last = -INFINITY;
	for (double p = 0.0005; p < 1; p += 0.001) {
		const double x = quantile_truncated(p, 10, 2, 9, 13);
		assert_true(x >= 9 && x <= 13 && x > last);
		last = x;
		// the distribution function of the truncated one, from that of the whole
		const double a = 0.5 * erfc(0.5 * sqrt(0.5)), b = 0.5 * erfc(-1.5 * sqrt(0.5)),
					 at = 0.5 * erfc(-(x - 10) / 2 * sqrt(0.5));
		assert_true(fabs((at - a) / (b - a) - p) < 1e-13);
	}
	assert_true(fabs(quantile_truncated(0.3, 1, 2, -INFINITY, INFINITY) - (1 + 2 * quantile_normal(0.3))) < 1e-14);
}

/* Beyond where 1 - p can be distinguished from 1: twelve deviations out the excess is exponential, with mean 1/12 nearly. */
static void truncated_works_in_the_far_tail(void **state) {
	(void)state;
	const double median = quantile_truncated(0.5, 0, 1, 12, INFINITY);
	assert_true(median > 12 && fabs((median - 12) * 12 / log(2) - 1) < 0.02);
	assert_true(quantile_truncated(0.5, 0, 1, -INFINITY, -12) == -median);
	const double beyond = quantile_truncated(0.5, 0, 1, 50, 60);
	assert_true(beyond >= 50 && beyond <= 60);
	assert_true(isfinite(quantile_truncated(1 - 0x1p-53, 0, 1, -1, INFINITY)));
}

static void triangular_inverts_its_distribution(void **state) {
	(void)state;
	for (double p = 0.005; p < 1; p += 0.01) {
		const double x = quantile_triangular(p, 1, 2, 5);
		const double back = x < 2 ? (x - 1) * (x - 1) / 4 : 1 - (5 - x) * (5 - x) / 12;
		assert_true(fabs(back - p) < 1e-15);
		assert_true(quantile_triangular(p, 1, 1, 2) >= 1 && quantile_triangular(p, 1, 2, 2) <= 2);
	}
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(normal_has_known_values),
		cmocka_unit_test(normal_inverts_its_distribution),
		cmocka_unit_test(truncated_stays_within_and_matches),
		cmocka_unit_test(truncated_works_in_the_far_tail),
		cmocka_unit_test(triangular_inverts_its_distribution),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
