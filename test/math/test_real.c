// SPDX-License-Identifier: Apache-2.0
/*
 * test_real.c — our own sine and cosine: error below one unit in the last place against quadruple
 * precision, the same bits one at a time and four at a time, and sane answers beyond the reduced range.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <cmocka.h>

#include "math/real.h"
#include "support/rng.h"

/* sin and cos by Taylor series in long double after reduction by pi/2 in 128 bits: 64-bit mantissa, error far
 * below an ulp of double for |x| <= 1e6. */
static void exact_sincos(double x, long double *s, long double *c) {
	const long double n = rintl((long double)x * 0.636619772367581343075535053490057448L);
	// pi/2 in three parts whose products with n are exact or nearly so
	long double r = (long double)x - n * 0xc90fdaa2216p-43L;
	r -= n * 0x8c234c4c662p-87L;
	r -= n * 0x8b80dc1cd129024ep-151L; // what the two above leave of pi/2
	long double sum_s = 0, sum_c = 0, term = 1;
	for (int k = 0; k < 30; ++k) { // term = r^k / k!
		if (k % 2) {
			sum_s += k % 4 == 1 ? term : -term;
		} else {
			sum_c += k % 4 == 0 ? term : -term;
		}
		term *= r / (k + 1);
	}
	const int quadrant = (int)((long long)n & 3);
	*s = quadrant == 0 ? sum_s : quadrant == 1 ? sum_c : quadrant == 2 ? -sum_s : -sum_c;
	*c = quadrant == 0 ? sum_c : quadrant == 1 ? -sum_s : quadrant == 2 ? -sum_c : sum_s;
}

static double ulps(double got, long double want) {
	const double spacing = nextafter(fabs((double)want), INFINITY) - fabs((double)want);
	return (double)(fabsl((long double)got - want) / (long double)spacing);
}

static void sine_and_cosine_err_below_one_ulp(void **state) {
	(void)state;
	Rng r = rng_make(7);
	double worst = 0;
	for (int i = 0; i < 400000; ++i) {
		const double range = i % 4 == 0 ? 1.0 : i % 4 == 1 ? 10.0 : i % 4 == 2 ? 1e3 : 9e5;
		const double x = rng_uniform(&r, -range, range);
		double s, c;
		long double es, ec;
		sincos_double(x, &s, &c);
		exact_sincos(x, &es, &ec);
		if (fabsl(es) > 1e-9L)
			worst = fmax(worst, ulps(s, es));
		if (fabsl(ec) > 1e-9L)
			worst = fmax(worst, ulps(c, ec));
	}
	printf("largest error %.3f ulp\n", worst);
	assert_true(worst < 1.0);
}

static void four_at_a_time_gives_the_same_bits(void **state) {
	(void)state;
	Rng r = rng_make(8);
	for (int round = 0; round < 2000; ++round) {
		const int n = 1 + round % 11;
		double x[11], s[11], c[11];
		for (int i = 0; i < n; ++i)
			x[i] = rng_uniform(&r, -1, 1) * pow(10.0, rng_uniform(&r, -12, 8));
		sincos_array(x, s, c, n);
		for (int i = 0; i < n; ++i) {
			double s1, c1;
			sincos_double(x[i], &s1, &c1);
			assert_memory_equal(&s[i], &s1, sizeof s1);
			assert_memory_equal(&c[i], &c1, sizeof c1);
		}
	}
}

static void exact_and_special_arguments(void **state) {
	(void)state;
	double s, c;
	sincos_double(0.0, &s, &c);
	assert_true(s == 0.0 && c == 1.0);
	sincos_double(NAN, &s, &c);
	assert_true(isnan(s) && isnan(c));
	sincos_double(INFINITY, &s, &c);
	assert_true(isnan(s) && isnan(c));
	sincos_double(1e22, &s, &c); // far beyond the reduced range: the C library's answer
	assert_true(fabs(s - -0.8522008497671888) < 1e-15 && fabs(c - 0.5232147853951389) < 1e-15);
	sincos_double(1e-300, &s, &c);
	assert_true(s == 1e-300 && c == 1.0);
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sine_and_cosine_err_below_one_ulp),
		cmocka_unit_test(four_at_a_time_gives_the_same_bits),
		cmocka_unit_test(exact_and_special_arguments),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
