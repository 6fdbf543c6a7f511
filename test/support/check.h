// SPDX-License-Identifier: Apache-2.0
/*
 * check.h — comparisons that say what differed, by how much, and which seed repeats it.
 *
 * Errors are relative to the largest entry of the expected quantity, or to a larger scale where the
 * quantity is a difference of larger ones. NaN never passes. On failure the test ends.
 */
#ifndef TEST_SUPPORT_CHECK_H
#define TEST_SUPPORT_CHECK_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <calder/base.h>

/** Largest |x_i|, and largest |x_i - y_i|; NaN if any entry is. */
double max_abs(int n, const double *x);
double max_difference(int n, const double *x, const double *y);

void check_close_at(const char *file, int line, uint64_t seed, const char *what, int n, const double *got,
                    const double *want, double tolerance);
void check_close_scaled_at(const char *file, int line, uint64_t seed, const char *what, int n, const double *got,
                           const double *want, double scale, double tolerance);
void check_status_at(const char *file, int line, uint64_t seed, const char *what, CalStatus got, CalStatus want);
/** Fails the test with a formatted message and the seed. */
void check_fail_at(const char *file, int line, uint64_t seed, const char *format, ...)
	__attribute__((format(printf, 4, 5)));

/** (seed, what, n, got, want, tolerance): |got - want| <= tolerance * max|want| */
#define check_close(...) check_close_at(__FILE__, __LINE__, __VA_ARGS__)
/** (seed, what, n, got, want, scale, tolerance): |got - want| <= tolerance * max(scale, max|want|) */
#define check_close_scaled(...) check_close_scaled_at(__FILE__, __LINE__, __VA_ARGS__)
#define check_status(seed, call, want) check_status_at(__FILE__, __LINE__, seed, #call, call, want)
#define check_ok(seed, call) check_status(seed, call, CAL_OK)
#define check_that(seed, condition)                                                   \
	do {                                                                              \
		if (!(condition))                                                             \
			check_fail_at(__FILE__, __LINE__, seed, "does not hold: %s", #condition); \
	} while (0)

/** |a - b| <= tolerance */
#define assert_near(a, b, tolerance)                                       \
	do {                                                                   \
		const double got_ = (a), want_ = (b);                              \
		if (!(got_ - want_ <= (tolerance) && want_ - got_ <= (tolerance))) \
			fail_msg("%s is %.17g, expected %.17g", #a, got_, want_);      \
	} while (0)

/** malloc that ends the test program instead of failing; zeroed. */
void *test_alloc(size_t count, size_t size);
double *test_doubles(int count);

#endif
