// SPDX-License-Identifier: Apache-2.0
/*
 * units.c — quantities: numbers with unit expressions, and their dimensions.
 *
 * quantity = number [unit];  unit = factor { ("*" | "/" | " ") factor };  factor = (name | "(" unit ")") [^integer].
 * "/" divides by the one factor after it: N*m/rad*s is (N m/rad) s; write N*m/(rad/s) for the other.
 */
#include "base/units.h"

#include <calder/io.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "math/portable.h"

enum { UNIT_DEPTH = 8, MAX_POWER = 9 }; // of nested parentheses; exponents are written with one digit

static const struct {
	Unit unit;
	const char *what, *example, *si;
} dimensions[] = {
#define DIMENSION_ROW(name, kg, m, s, rad, what, example, unit) {{1, kg, m, s, rad}, what, example, unit},
	DIMENSION_LIST(DIMENSION_ROW)
#undef DIMENSION_ROW
};

const char *dimension_what(Dimension dimension) { return dimensions[dimension].what; }

const char *dimension_example(Dimension dimension) { return dimensions[dimension].example; }

const char *dimension_unit(Dimension dimension) { return dimensions[dimension].si; }

/* ---- units ------------------------------------------------------------------------------- */

typedef struct Cursor {
	const char *p;
	const char *bad; // start of an unknown name, NULL: bad syntax
	size_t bad_length;
} Cursor;

static void skip_spaces(Cursor *c) {
	while (*c->p == ' ' || *c->p == '\t')
		c->p++;
}

static bool is_digit(char c) { return c >= '0' && c <= '9'; }

static bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

static bool is_power(int exponent) { return exponent >= -MAX_POWER && exponent <= MAX_POWER; }

/* a becomes a b^power; false: an exponent is beyond any that units have. */
static bool unit_combine(Unit *a, Unit b, int power) {
	a->factor *= portable_pow(b.factor, power);
	a->kg += power * b.kg;
	a->m += power * b.m;
	a->s += power * b.s;
	a->rad += power * b.rad;
	return is_power(a->kg) && is_power(a->m) && is_power(a->s) && is_power(a->rad);
}

static bool parse_name(Cursor *c, Unit *unit) {
	const char *start = c->p;
	while (is_letter(*c->p))
		c->p++;
	const size_t length = (size_t)(c->p - start);
	const Unit *named = unit_find(start, length);
	if (named) {
		*unit = *named;
		return true;
	}
	c->bad = start;
	c->bad_length = length;
	return false;
}

static bool parse_unit(Cursor *c, Unit *unit, int depth);

static bool parse_factor(Cursor *c, Unit *unit, int *power, int depth) {
	*power = 1;
	if (*c->p == '(') {
		c->p++;
		if (depth == 0 || !parse_unit(c, unit, depth - 1) || *c->p != ')')
			return false;
		c->p++;
	} else if (!is_letter(*c->p) || !parse_name(c, unit)) {
		return false;
	}
	if (*c->p == '^') {
		c->p++;
		const int sign = *c->p == '-' ? -1 : 1;
		c->p += *c->p == '-';
		if (!is_digit(*c->p) || is_digit(c->p[1]))
			return false;
		*power = sign * (*c->p++ - '0');
	}
	return true;
}

static bool parse_unit(Cursor *c, Unit *unit, int depth) {
	*unit = (Unit){1, 0, 0, 0, 0};
	int sign = 1;
	for (int count = 0; count < 16; count++) {
		skip_spaces(c);
		Unit factor = {1, 0, 0, 0, 0};
		int power;
		if (!parse_factor(c, &factor, &power, depth) || !unit_combine(unit, factor, sign * power))
			return false;
		skip_spaces(c);
		sign = *c->p == '/' ? -1 : 1;
		if (*c->p == '*' || *c->p == '/')
			c->p++;
		else if (!is_letter(*c->p) && *c->p != '(')
			return true;
	}
	return false;
}

static bool same_dimension(Unit unit, Unit expected) {
	if (unit.kg != expected.kg || unit.m != expected.m || unit.s != expected.s)
		return false;
	return unit.rad == expected.rad || (unit.rad == 0 && expected.kg != 0);
}

static void describe_problem(char *message, size_t size, const char *problem, const char *text, size_t length,
                             Dimension dimension) {
	const int shown = length < 60 ? (int)length : 60;
	snprintf(message, size, "%s \"%.*s\"; expected %s, e.g. \"%s\"", problem, shown, text, dimensions[dimension].what,
	         dimensions[dimension].example);
}

/* "1,5" is taken for a number in many languages. */
static bool has_decimal_comma(const char *text) {
	const char *comma = strchr(text, ',');
	return comma && comma > text && is_digit(comma[-1]) && is_digit(comma[1]) && !strchr(comma + 1, ',');
}

bool quantity_parse(const char *text, Dimension dimension, double *value, char *message, size_t size) {
	double number;
	const char *rest = number_parse(text, &number);
	if (has_decimal_comma(text)) {
		describe_problem(message, size, "a number has a decimal point, not a comma:", text, strlen(text), dimension);
		return false;
	}
	if (!rest) {
		describe_problem(message, size, "not a number:", text, strlen(text), dimension);
		return false;
	}
	Cursor cursor = {rest, NULL, 0};
	Unit unit = dimensions[dimension].unit; // a plain number is SI
	skip_spaces(&cursor);
	if (*cursor.p && !parse_unit(&cursor, &unit, UNIT_DEPTH)) {
		if (cursor.bad && cursor.bad_length)
			describe_problem(message, size, "unknown unit", cursor.bad, cursor.bad_length, dimension);
		else
			describe_problem(message, size, "not a number with a unit:", text, strlen(text), dimension);
		return false;
	}
	if (*cursor.p) {
		describe_problem(message, size, "not a number with a unit:", text, strlen(text), dimension);
		return false;
	}
	if (!same_dimension(unit, dimensions[dimension].unit)) {
		describe_problem(message, size, "wrong unit in", text, strlen(text), dimension);
		return false;
	}
	*value = number * unit.factor;
	if (!isfinite(*value)) {
		describe_problem(message, size, "number too large:", text, strlen(text), dimension);
		return false;
	}
	return true;
}

bool quantity_is_plain(const char *text) {
	double number;
	Cursor cursor = {number_parse(text, &number), NULL, 0};
	if (!cursor.p)
		return false;
	skip_spaces(&cursor);
	return !*cursor.p;
}

CalStatus cal_quantity_parse(const char *text, const char *unit, double *value, CalError *error) {
	char one[80], message[160] = "";
	Unit wanted, given;
	double factor;
	if (!text || !unit || !value)
		return error_set(error, CAL_ERR_ARGUMENT, "cal_quantity_parse: text, unit or value is NULL");
	snprintf(one, sizeof one, "1 %.70s", unit);
	if (!quantity_parse_any(one, &factor, &wanted, message, sizeof message))
		return error_set(error, CAL_ERR_ARGUMENT, "cal_quantity_parse: %s", message);
	if (has_decimal_comma(text))
		return error_set(error, CAL_ERR_INPUT, "'%.60s': a number has a decimal point, not a comma", text);
	if (!quantity_parse_any(text, value, &given, message, sizeof message))
		return error_set(error, CAL_ERR_INPUT, "%s", message);
	if (quantity_is_plain(text))
		*value *= factor;
	else if (!unit_same(given, wanted))
		return error_set(error, CAL_ERR_INPUT, "'%.60s' has the wrong unit; it must be %s%s", text,
		                 unit[0] ? "one that becomes " : "a number without a unit", unit);
	return CAL_OK;
}

bool quantity_parse_any(const char *text, double *value, Unit *unit, char *message, size_t size) {
	double number;
	const char *rest = number_parse(text, &number);
	Cursor cursor = {rest ? rest : "", NULL, 0};
	*unit = (Unit){1, 0, 0, 0, 0};
	skip_spaces(&cursor);
	const bool unit_read = !*cursor.p || parse_unit(&cursor, unit, UNIT_DEPTH);
	*value = rest ? number * unit->factor : (double)NAN;
	if (rest && unit_read && !*cursor.p && isfinite(*value)) {
		unit->factor = 1;
		return true;
	}
	if (!unit_read && cursor.bad && cursor.bad_length)
		snprintf(message, size, "unknown unit \"%.*s\"", cursor.bad_length < 60 ? (int)cursor.bad_length : 60,
		         cursor.bad);
	else
		snprintf(message, size, "not a number with a unit: \"%.60s\"", text);
	return false;
}

static size_t put_power(char *text, size_t used, const char *before, const char *name, int power) {
	char number[16] = "";
	if (power != 1)
		snprintf(number, sizeof number, "^%d", power);
	return used + (size_t)snprintf(text + used, UNIT_TEXT - used, "%s%s%s", used ? before : "", name, number);
}

void unit_format(Unit unit, char text[UNIT_TEXT]) {
	const char *const names[] = {"kg", "m", "s", "rad"};
	const int powers[] = {unit.kg, unit.m, unit.s, unit.rad};
	size_t used = 0;
	text[0] = 0;
	for (int i = 0; i < 4; i++)
		if (powers[i] > 0)
			used = put_power(text, used, "*", names[i], powers[i]);
	const bool below = used > 0; // "m/s", but "s^-1" where nothing stands above
	for (int i = 0; i < 4; i++)
		if (powers[i] < 0)
			used = put_power(text, used, below ? "/" : "*", names[i], below ? -powers[i] : powers[i]);
}

bool unit_same(Unit a, Unit b) { return a.kg == b.kg && a.m == b.m && a.s == b.s && a.rad == b.rad; }

bool unit_is_none(Unit unit) { return !unit.kg && !unit.m && !unit.s && !unit.rad; }

bool ratio_is_of_units(double ratio) {
	const double decades = ratio > 0 ? portable_log10(ratio) / 3 : 0, whole = round(decades);
	return whole != 0 && fabs(decades - whole) < 0.0015;
}
