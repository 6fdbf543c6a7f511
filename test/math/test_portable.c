// SPDX-License-Identifier: Apache-2.0
/*
 * test_portable.c — our own elementary functions: error in units of the last place against mpmath, the edges of C17
 * Annex F, exact powers, and the same bits on every machine: sums of bits of many results, as recorded on x86-64 with gcc 12.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "math/portable.h"

typedef enum Function {
	SIN,
	COS,
	TAN,
	ASIN,
	ACOS,
	ATAN,
	SINH,
	COSH,
	TANH,
	EXP,
	LOG,
	LOG1P,
	LOG10,
	POW,
	ATAN2,
	HYPOT,
	FUNCTIONS
} Function;

static const char *const NAMES[FUNCTIONS] = {"sin",  "cos", "tan", "asin",  "acos",  "atan", "sinh",  "cosh",
                                             "tanh", "exp", "log", "log1p", "log10", "pow",  "atan2", "hypot"};

typedef struct Value {
	Function function;
	double x, y, high, low; // of (x) or (x, y): high + low
} Value;

#include "portable_values.h"

static double call(Function function, double x, double y) {
	static double (*const one[])(double) = {portable_sin,  portable_cos,   portable_tan,  portable_asin, portable_acos,
	                                        portable_atan, portable_sinh,  portable_cosh, portable_tanh, portable_exp,
	                                        portable_log,  portable_log1p, portable_log10};
	static double (*const two[])(double, double) = {portable_pow, portable_atan2, portable_hypot};
	return function < POW ? one[function](x) : two[function - POW](x, y);
}

static void errors_are_below_one_ulp(void **state) {
	(void)state;
	double worst[FUNCTIONS] = {0};
	for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
		const Value *v = &values[i];
		const double size = fabs(v->high), spacing = nextafter(size, INFINITY) - size;
		const double error = fabs((call(v->function, v->x, v->y) - v->high) - v->low) / spacing;
		worst[v->function] = fmax(worst[v->function], error);
	}
	for (int f = 0; f < FUNCTIONS; f++) {
		printf("%s: %.4f ulp\n", NAMES[f], worst[f]);
		assert_true(worst[f] > 0 && worst[f] < (f == SIN || f == COS ? 1 : 0.502));
	}
}

static void edges_are_those_of_annex_f(void **state) {
	(void)state;
	static const double inf = INFINITY, pi = 3.14159265358979324;
	const Value edges[] = {
		{SIN, -0.0, 0, -0.0, 0},
		{SIN, inf, 0, NAN, 0},
		{COS, -inf, 0, NAN, 0},
		{COS, 0, 0, 1, 0},
		{TAN, -0.0, 0, -0.0, 0},
		{TAN, inf, 0, NAN, 0},
		{ASIN, -0.0, 0, -0.0, 0},
		{ASIN, 1.5, 0, NAN, 0},
		{ASIN, -1, 0, -pi / 2, 0},
		{ACOS, 1, 0, 0, 0},
		{ACOS, -1, 0, pi, 0},
		{ACOS, -1.1, 0, NAN, 0},
		{ATAN, -0.0, 0, -0.0, 0},
		{ATAN, -inf, 0, -pi / 2, 0},
		{SINH, -0.0, 0, -0.0, 0},
		{SINH, -inf, 0, -inf, 0},
		{COSH, 0, 0, 1, 0},
		{COSH, -inf, 0, inf, 0},
		{TANH, -0.0, 0, -0.0, 0},
		{TANH, -inf, 0, -1, 0},
		{EXP, -0.0, 0, 1, 0},
		{EXP, inf, 0, inf, 0},
		{EXP, -inf, 0, 0, 0},
		{EXP, 710, 0, inf, 0},
		{EXP, -746, 0, 0, 0},
		{LOG, 1, 0, 0, 0},
		{LOG, -0.0, 0, -inf, 0},
		{LOG, -1, 0, NAN, 0},
		{LOG, inf, 0, inf, 0},
		{LOG1P, -0.0, 0, -0.0, 0},
		{LOG1P, -1, 0, -inf, 0},
		{LOG1P, -2, 0, NAN, 0},
		{LOG10, 1, 0, 0, 0},
		{LOG10, 0, 0, -inf, 0},
		{POW, NAN, 0, 1, 0},
		{POW, 1, NAN, 1, 0},
		{POW, -1, inf, 1, 0},
		{POW, -0.0, -3, -inf, 0},
		{POW, -0.0, -2, inf, 0},
		{POW, -0.0, 3, -0.0, 0},
		{POW, -0.0, 2.5, 0, 0},
		{POW, -2, 0.5, NAN, 0},
		{POW, -inf, 3, -inf, 0},
		{POW, -inf, -3, -0.0, 0},
		{POW, -inf, 0.5, inf, 0},
		{POW, 0.5, inf, 0, 0},
		{POW, 0.5, -inf, inf, 0},
		{POW, -1, 1.7e308, 1, 0},
		{POW, -2, 3, -8, 0},
		{POW, 2, -1074, 5e-324, 0},
		{POW, 2, 1024, inf, 0},
		{POW, 5e-324, 0.5, 0x1p-537, 0},
		{ATAN2, 0, -1, pi, 0},
		{ATAN2, -0.0, -0.0, -pi, 0},
		{ATAN2, -0.0, 0, -0.0, 0},
		{ATAN2, -1, 0, -pi / 2, 0},
		{ATAN2, inf, -inf, 0.75 * pi, 0},
		{ATAN2, -1, inf, -0.0, 0},
		{ATAN2, 5e-324, 1e308, 0, 0},
		{ATAN2, 1, NAN, NAN, 0},
		{HYPOT, -inf, NAN, inf, 0},
		{HYPOT, NAN, 1, NAN, 0},
		{HYPOT, -0.0, -0.0, 0, 0},
		{HYPOT, 3e-320, 4e-320, 5e-320, 0},
		{HYPOT, 3e307, -4e307, 5e307, 0},
		{HYPOT, 1.7e308, 1.7e308, inf, 0},
	};
	for (size_t i = 0; i < sizeof edges / sizeof *edges; i++) {
		const Value *v = &edges[i];
		const double got = call(v->function, v->x, v->y);
		if (isnan(v->high) ? !isnan(got) : got != v->high || !signbit(got) != !signbit(v->high))
			fail_msg("%s(%g, %g) is %.17g, not %.17g", NAMES[v->function], v->x, v->y, got, v->high);
	}
}

static void powers_of_ten_are_exact(void **state) {
	(void)state;
	double power = 1;
	for (int k = 0; k <= 22; k++, power *= 10) {
		assert_true(portable_pow(10, k) == power);
		assert_true(portable_pow(10, -k) == 1 / power);
		assert_true(portable_log10(power) == k);
	}
}

static uint64_t next_bits(uint64_t *state) { // xorshift64
	*state ^= *state << 13;
	*state ^= *state >> 7;
	return *state ^= *state << 17;
}

/* Either sign, sizes from 2^-low to 2^high, without a function of the C library. */
static double argument(uint64_t *state, int low, int high) {
	const uint64_t bits = next_bits(state);
	const double m = 1 + (double)(bits >> 12) * 0x1p-52;
	return ldexp(bits & 1 ? m : -m, (int)(bits >> 1 & 0x3ff) % (low + high) - low);
}

static uint64_t sum_of_bits(Function function) {
	uint64_t state = 88172645463325252u, sum = 0;
	for (int i = 0; i < 20000; i++) {
		const double x = function == SIN || function == COS || function == TAN ? argument(&state, 20, 1020)
		                 : function == POW                                     ? argument(&state, 10, 10)
		                                                                       : argument(&state, 20, 10);
		const double y = argument(&state, 4, 4);
		double value = call(function, function == ASIN || function == ACOS ? copysign(1 / (1 + fabs(x)), x) : x, y);
		uint64_t bits;
		memcpy(&bits, &value, sizeof bits);
		sum = isnan(value) ? sum + 1 : (sum << 7 | sum >> 57) ^ bits;
	}
	return sum;
}

static void bits_are_the_recorded_ones(void **state) {
	(void)state;
	static const uint64_t recorded[FUNCTIONS] = {
		0x36aa1d07fcce814a, 0x7a2cbd0aae7507f3, 0x60ad561c15ea9c06, 0x6ceec92805656433,
		0x7b1ac977cdfa80a9, 0x6f9e74abcc5ff9bd, 0x44a52e6a047a62ba, 0xdffe151658f4f8b5,
		0xe4303f91f8bef498, 0x7fecb3f187637919, 0x446518d545fbaa7c, 0x2cb2a8c72b08f89f,
		0xd66fbac13f50e1c6, 0x080244e9f2d5c3fd, 0x99d4c6663371036e, 0x81bdff244cd35003};
	for (int f = 0; f < FUNCTIONS; f++) {
		const uint64_t sum = sum_of_bits((Function)f);
		printf("%s: 0x%016llx\n", NAMES[f], (unsigned long long)sum);
		assert_true(sum == recorded[f]);
	}
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(errors_are_below_one_ulp),
		cmocka_unit_test(edges_are_those_of_annex_f),
		cmocka_unit_test(powers_of_ten_are_exact),
		cmocka_unit_test(bits_are_the_recorded_ones),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
