// SPDX-License-Identifier: Apache-2.0
/*
 * check.c — comparisons of the tests.
 */
#include "support/check.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

double max_abs(int n, const double *x) {
	double m = 0;
	for (int i = 0; i < n; i++)
		m = fabs(x[i]) > m || isnan(x[i]) ? fabs(x[i]) : m;
	return m;
}

double max_difference(int n, const double *x, const double *y) {
	double m = 0;
	for (int i = 0; i < n; i++) {
		double d = fabs(x[i] - y[i]);
		if (isnan(d))
			return NAN;
		m = d > m ? d : m;
	}
	return m;
}

void check_close_scaled_at(const char *file, int line, uint64_t seed, const char *what, int n, const double *got,
                           const double *want, double scale, double tolerance) {
	double largest = max_abs(n, want);
	scale = largest > scale || isnan(largest) ? largest : scale;
	int worst = -1;
	for (int i = 0; i < n; i++) {
		double d = fabs(got[i] - want[i]);
		if (!(d <= tolerance * scale) && (worst < 0 || !(d <= fabs(got[worst] - want[worst]))))
			worst = i;
	}
	if (worst < 0)
		return;
	print_error("%s: entry %d of %d: %.17g, expected %.17g; error %.3g of %.3g allowed, relative to %.6g (seed %llu)\n",
	            what, worst, n, got[worst], want[worst], fabs(got[worst] - want[worst]) / scale, tolerance, scale,
	            (unsigned long long)seed);
	_fail(file, line);
}

void check_close_at(const char *file, int line, uint64_t seed, const char *what, int n, const double *got,
                    const double *want, double tolerance) {
	check_close_scaled_at(file, line, seed, what, n, got, want, 0, tolerance);
}

void check_status_at(const char *file, int line, uint64_t seed, const char *what, CalStatus got, CalStatus want) {
	if (got == want)
		return;
	print_error("%s: status %d (%s), expected %d (%s) (seed %llu)\n", what, (int)got, cal_status_text(got), (int)want,
	            cal_status_text(want), (unsigned long long)seed);
	_fail(file, line);
}

void check_fail_at(const char *file, int line, uint64_t seed, const char *format, ...) {
	va_list args;
	char text[512];
	va_start(args, format);
	vsnprintf(text, sizeof text, format, args);
	va_end(args);
	print_error("%s (seed %llu)\n", text, (unsigned long long)seed);
	_fail(file, line);
}

void *test_alloc(size_t count, size_t size) {
	void *p = calloc(count > 0 ? count : 1, size > 0 ? size : 1);
	if (!p) {
		fputs("test: out of memory\n", stderr);
		exit(2);
	}
	return p;
}

double *test_doubles(int count) { return test_alloc((size_t)count, sizeof(double)); }
