// SPDX-License-Identifier: Apache-2.0
/*
 * test_sobol.c — Sobol's sequence: published points, and the evenness that it is made for.
 */
#include <math.h>
#include <string.h>

#include "math/philox.h"
#include "math/sobol.h"
#include "support/check.h"

static double coordinate(int dimension, uint32_t index) { return sobol(dimension, index) * 0x1p-32; }

/* The first points in three dimensions, as in the notes of Joe and Kuo (first ten, D = 3). */
static void first_points_are_the_published_ones(void **state) {
	(void)state;
	static const double points[10][3] = {{0, 0, 0},
	                                     {0.5, 0.5, 0.5},
	                                     {0.75, 0.25, 0.25},
	                                     {0.25, 0.75, 0.75},
	                                     {0.375, 0.375, 0.625},
	                                     {0.875, 0.875, 0.125},
	                                     {0.625, 0.125, 0.875},
	                                     {0.125, 0.625, 0.375},
	                                     {0.1875, 0.3125, 0.9375},
	                                     {0.6875, 0.8125, 0.4375}};
	for (uint32_t i = 0; i < 10; i++)
		for (int d = 0; d < 3; d++)
			assert_true(coordinate(d, i) == points[i][d]);
}

/* Of the first 2^m points every dimension has one in each of 2^m equal parts. */
static void every_dimension_is_stratified(void **state) {
	(void)state;
	enum { BITS = 9, COUNT = 1 << BITS };
	for (int d = 0; d < SOBOL_DIMENSIONS; d++) {
		uint8_t hit[COUNT] = {0};
		for (uint32_t i = 0; i < COUNT; i++)
			assert_int_equal(hit[sobol(d, i) >> (32 - BITS)]++, 0);
	}
}

/* The first two dimensions are a (0, m, 2)-net: one point in each box of area 2^-m, whatever its shape. */
static void first_two_dimensions_are_a_net(void **state) {
	(void)state;
	enum { BITS = 8, COUNT = 1 << BITS };
	for (int wide = 0; wide <= BITS; wide++) {
		uint8_t hit[COUNT] = {0};
		for (uint32_t i = 0; i < COUNT; i++) {
			const uint64_t x = (uint64_t)sobol(0, i) >> (32 - wide), y = (uint64_t)sobol(1, i) >> (32 - (BITS - wide));
			assert_int_equal(hit[x << (BITS - wide) | y]++, 0);
		}
	}
}

/* The integral of a product over the unit cube of ten dimensions: far better than by random points. */
static void integrates_better_than_chance(void **state) {
	(void)state;
	enum { COUNT = 4096, DIMENSIONS = 10 };
	double even = 0, chance = 0;
	for (uint32_t i = 0; i < COUNT; i++) {
		double a = 1, b = 1;
		for (int d = 0; d < DIMENSIONS; d++) {
			a *= 1 + (coordinate(d, i) + 0.5 / COUNT - 0.5);
			b *= 1 + (unit_interval(draw(5, i, (uint64_t)d).a) - 0.5);
		}
		even += a / COUNT;
		chance += b / COUNT;
	}
	assert_true(fabs(even - 1) < 2e-3);
	assert_true(fabs(even - 1) < 0.2 * fabs(chance - 1));
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(first_points_are_the_published_ones),
		cmocka_unit_test(every_dimension_is_stratified),
		cmocka_unit_test(first_two_dimensions_are_a_net),
		cmocka_unit_test(integrates_better_than_chance),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
