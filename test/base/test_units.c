// SPDX-License-Identifier: Apache-2.0
/*
 * test_units.c — numbers are read exactly and in any locale; units convert; wrong dimensions are refused
 * with what was expected; "did you mean" finds the nearest and nothing far off.
 */
#include <locale.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "base/suggest.h"
#include "base/units.h"

#define PI 3.14159265358979323846

static void units_convert_to_si(void **state) {
	(void)state;
	static const struct {
		const char *text;
		Dimension dimension;
		double value;
	} rows[] = {
		{"30 deg", DIM_ANGLE, PI / 6},
		{"30deg", DIM_ANGLE, PI / 6},
		{"-1 rev", DIM_ANGLE, -2 * PI},
		{"2 rpm", DIM_RATE, 2 * PI / 30},
		{"10 deg/s", DIM_RATE, PI / 18},
		{"5 mm", DIM_LENGTH, 0.005},
		{"1 ft", DIM_LENGTH, 0.3048},
		{"1.5 kg", DIM_MASS, 1.5},
		{"12 t", DIM_MASS, 12000},
		{"2 min", DIM_TIME, 120},
		{"0.2 N*m", DIM_TORQUE, 0.2},
		{"0.2 Nm", DIM_TORQUE, 0.2},
		{"0.2 N m", DIM_TORQUE, 0.2},
		{"200 mN*m", DIM_TORQUE, 0.2},
		{"3 N*m/rad", DIM_ANGULAR_STIFFNESS, 3},
		{"3 N*m", DIM_ANGULAR_STIFFNESS, 3},
		{"3 N*m/deg", DIM_ANGULAR_STIFFNESS, 3 * 180 / PI},
		{"3 N*m/(rad/s)", DIM_ANGULAR_DAMPING, 3},
		{"3 N*m*s/rad", DIM_ANGULAR_DAMPING, 3},
		{"9.81 m/s^2", DIM_ACCELERATION, 9.81},
		{"9.81 m*s^-2", DIM_ACCELERATION, 9.81},
		{"1e3 g*cm^2", DIM_INERTIA, 1e-4},
		{"2.7 g/cm^3", DIM_DENSITY, 2700},
		{"1 mm/rev", DIM_PITCH, 0.001 / (2 * PI)},
		{"70 GPa", DIM_STRESS, 70e9},
		{"210e3 MPa", DIM_STRESS, 210e9},
		{"70e3 N/mm^2", DIM_STRESS, 70e9},
		{"3 kN*m^2", DIM_BENDING, 3000},
		{"1.5 g/mm", DIM_LINE_MASS, 1.5},
		{"2 g*m", DIM_LINE_INERTIA, 2e-3},
		{"4", DIM_ANGLE, 4},
		{".5", DIM_NUMBER, 0.5},
		{"1e-3", DIM_LENGTH, 1e-3},
	};
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		double value = 0;
		char message[256] = "";
		if (!quantity_parse(rows[i].text, rows[i].dimension, &value, message, sizeof message))
			fail_msg("%s: %s", rows[i].text, message);
		if (!(value - rows[i].value <= 1e-15 * 1e4 && rows[i].value - value <= 1e-15 * 1e4))
			fail_msg("%s is %.17g, expected %.17g", rows[i].text, value, rows[i].value);
	}
}

static void wrong_units_say_what_is_expected(void **state) {
	(void)state;
	static const struct {
		const char *text;
		Dimension dimension;
		const char *said[3];
	} rows[] = {
		{"5 mm", DIM_ANGLE, {"wrong unit", "expected an angle", "30 deg"}},
		{"5 deg", DIM_LENGTH, {"wrong unit", "expected a length", "5 mm"}},
		{"5 mm", DIM_PITCH, {"wrong unit", "expected a pitch", "5 mm/rev"}},
		{"5 m", DIM_NUMBER, {"wrong unit", "a number without unit", ""}},
		{"2 N*m", DIM_FORCE, {"wrong unit", "expected a force", ""}},
		{"2 kgg", DIM_MASS, {"unknown unit \"kgg\"", "expected a mass", ""}},
		{"2 Hz", DIM_RATE, {"unknown unit \"Hz\"", "10 deg/s", ""}},
		{"two", DIM_MASS, {"not a number", "expected a mass", "1.5 kg"}},
		{"", DIM_MASS, {"not a number", "", ""}},
		{"1,5", DIM_MASS, {"a number has a decimal point, not a comma: \"1,5\"", "", ""}},
		{"-0,25 kg", DIM_MASS, {"a decimal point, not a comma", "", ""}},
		{"1,2,3", DIM_MASS, {"not a number with a unit", "", ""}},
		{"1 kg kg/", DIM_MASS, {"not a number with a unit", "", ""}},
		{"1 ((((((((((kg))))))))))", DIM_MASS, {"not a number with a unit", "", ""}},
		{"1 kg^99", DIM_MASS, {"not a number with a unit", "", ""}},
		{"1e999", DIM_MASS, {"too large", "", ""}},
		{"1e308 km", DIM_LENGTH, {"too large", "", ""}},
		{"nan", DIM_MASS, {"not a number", "", ""}},
		{"inf", DIM_MASS, {"not a number", "", ""}},
		{"0x10", DIM_MASS, {"unknown unit", "", ""}},
	};
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		double value;
		char message[256] = "";
		if (quantity_parse(rows[i].text, rows[i].dimension, &value, message, sizeof message))
			fail_msg("\"%s\" was accepted as %s", rows[i].text, dimension_what(rows[i].dimension));
		for (int k = 0; k < 3; k++) {
			if (!strstr(message, rows[i].said[k]))
				fail_msg("\"%s\": \"%s\" does not say \"%s\"", rows[i].text, message, rows[i].said[k]);
		}
	}
}

/* Random bit patterns, written with 17 digits, come back as the same bits. */
static void doubles_round_trip(void **state) {
	(void)state;
	uint64_t x = 88172645463325252u; // xorshift
	print_message("seed %llu\n", (unsigned long long)x);
	for (int i = 0; i < 20000; i++) {
		x ^= x << 13;
		x ^= x >> 7;
		x ^= x << 17;
		double d, back;
		memcpy(&d, &x, sizeof d);
		if (d != d || d - d != 0)
			continue;
		char text[64];
		snprintf(text, sizeof text, "%.17g", d);
		const char *end = number_parse(text, &back);
		assert_non_null(end);
		assert_int_equal(*end, 0);
		assert_memory_equal(&d, &back, sizeof d);
	}
}

/* Numbers as people write them, of any number of digits and exponent, are what strtod makes of them. */
static void short_numbers_are_the_nearest_doubles(void **state) {
	(void)state;
	uint64_t x = 6364136223846793005u; // xorshift
	print_message("seed %llu\n", (unsigned long long)x);
	for (int i = 0; i < 100000; i++) {
		x ^= x << 13;
		x ^= x >> 7;
		x ^= x << 17;
		char digits[32], text[80];
		const int length = snprintf(digits, sizeof digits, "%llu", (unsigned long long)(x >> (x % 50)));
		const int point = (int)(x / 64 % (unsigned)(length + 1)), power = (int)(x / 4096 % 61) - 30;
		snprintf(text, sizeof text, "%s%.*s.%se%d", x % 2 ? "-" : "", point, digits, digits + point, power);
		double value;
		const double expected = strtod(text, NULL);
		const char *end = number_parse(text, &value);
		if (!end || *end || memcmp(&value, &expected, sizeof value) != 0)
			fail_msg("%s is %.17g, not %.17g", text, value, expected);
	}
}

static void decimal_point_is_a_point_in_every_locale(void **state) {
	(void)state;
	const char *const names[] = {"de_DE.UTF-8", "de_DE.utf8", "fr_FR.UTF-8", "fr_FR.utf8"};
	int tried = 0;
	for (int i = 0; i < 4; i++) {
		if (!setlocale(LC_NUMERIC, names[i]))
			continue;
		double value = 0;
		tried++;
		assert_non_null(number_parse("1.5e1", &value));
		assert_true(value == 15);
		assert_non_null(number_parse(".25", &value));
		assert_true(value == 0.25);
	}
	setlocale(LC_NUMERIC, "C");
	if (!tried)
		skip(); // no locale with a comma is installed
}

static void numbers_of_any_length_are_safe(void **state) {
	(void)state;
	char text[2000];
	double value;
	memset(text, '7', sizeof text);
	text[sizeof text - 1] = 0;
	assert_null(number_parse(text, &value));
	text[390] = 0;
	assert_non_null(number_parse(text, &value));
	assert_true(value - value != 0); // infinite
	text[300] = 0;
	text[1] = '.';
	assert_non_null(number_parse(text, &value));
	assert_true(value > 7.77 && value < 7.78);
}

/* Units of any dimension, and their dimension written so that it reads back. */
static void any_unit_is_reported(void **state) {
	(void)state;
	static const struct {
		const char *text, *unit;
		double value;
	} known[] = {{"5 mm", "m", 0.005},        {"-2.5", "", -2.5},
	             {"20 kN/m", "kg/s^2", 20e3}, {"3 N*m/rad", "kg*m^2/s^2/rad", 3},
	             {"2 rad/s", "rad/s", 2},     {"4 s^-2", "s^-2", 4}};
	for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
		char message[200], unit_text[UNIT_TEXT], again[100];
		double value, back;
		Unit unit, second;
		assert_true(quantity_parse_any(known[i].text, &value, &unit, message, sizeof message));
		assert_true(value == known[i].value);
		unit_format(unit, unit_text);
		assert_string_equal(unit_text, known[i].unit);
		snprintf(again, sizeof again, "7 %s", unit_text);
		assert_true(quantity_parse_any(again, &back, &second, message, sizeof message));
		assert_true(back == 7 && unit_same(unit, second));
		assert_true(unit_is_none(unit) == !known[i].unit[0]);
	}
	static const char *const wrong[] = {
		"", "m", "5 parsec", "5 m/", "1e999", "5 m m^", "[1]", "1 ((((m^9)^9)^9)^9)^9", "1 N N N N N N", "1 s^-9/s"};
	for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
		char message[200] = "";
		double value;
		Unit unit;
		assert_false(quantity_parse_any(wrong[i], &value, &unit, message, sizeof message));
		assert_true(message[0] != 0);
	}
}

static void suggestions_are_near(void **state) {
	(void)state;
	static const char *const keys[] = {"mass", "com", "inertia", "nodes", "rotor_inertia", "gear_ratio"};
	static const struct {
		const char *word, *best;
	} rows[] = {
		{"mas", "mass"},
		{"Mass", "mass"},
		{"amss", "mass"},
		{"intertia", "inertia"},
		{"node", "nodes"},
		{"gear-ratio", "gear_ratio"},
		{"gear", "gear_ratio"},
		{"color", NULL},
		{"x", NULL},
		{"", NULL},
	};
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		Suggestion s = {.word = rows[i].word};
		for (size_t k = 0; k < sizeof keys / sizeof keys[0]; k++)
			suggestion_offer(&s, keys[k]);
		if (rows[i].best ? !s.best || strcmp(s.best, rows[i].best) != 0 : s.best != NULL)
			fail_msg("\"%s\" suggests \"%s\"", rows[i].word, s.best ? s.best : "nothing");
	}
	assert_int_equal(edit_distance("abcd", "abdc"), 1);
	assert_int_equal(edit_distance("", "abc"), 3);
	assert_int_equal(edit_distance("kitten", "sitting"), 3);
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(units_convert_to_si),
		cmocka_unit_test(wrong_units_say_what_is_expected),
		cmocka_unit_test(doubles_round_trip),
		cmocka_unit_test(short_numbers_are_the_nearest_doubles),
		cmocka_unit_test(decimal_point_is_a_point_in_every_locale),
		cmocka_unit_test(numbers_of_any_length_are_safe),
		cmocka_unit_test(any_unit_is_reported),
		cmocka_unit_test(suggestions_are_near),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
