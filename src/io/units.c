// SPDX-License-Identifier: Apache-2.0
/*
 * units.c — decimal numbers and unit expressions.
 *
 * quantity = number [unit];  unit = factor { ("*" | "/" | " ") factor };  factor = (name | "(" unit ")") [^integer].
 * "/" divides by the one factor behind it: N*m/rad*s is (N m/rad) s; write N*m/(rad/s) for the other.
 * Hz is left out on purpose: it is read as 1/s by some and as 2 pi rad/s by others.
 */
#include "io/units.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PI 3.14159265358979323846

enum { NUMBER_MAX = 400, UNIT_DEPTH = 8 };

typedef struct Unit {
	double factor;     // to SI
	int kg, m, s, rad; // exponents
} Unit;

typedef struct NamedUnit {
	const char *name;
	Unit unit;
} NamedUnit;

static const NamedUnit named_units[] = {
	{"m", {1, 0, 1, 0, 0}},
	{"km", {1e3, 0, 1, 0, 0}},
	{"cm", {1e-2, 0, 1, 0, 0}},
	{"mm", {1e-3, 0, 1, 0, 0}},
	{"um", {1e-6, 0, 1, 0, 0}},
	{"in", {0.0254, 0, 1, 0, 0}},
	{"ft", {0.3048, 0, 1, 0, 0}},
	{"kg", {1, 1, 0, 0, 0}},
	{"g", {1e-3, 1, 0, 0, 0}},
	{"t", {1e3, 1, 0, 0, 0}},
	{"lb", {0.45359237, 1, 0, 0, 0}},
	{"s", {1, 0, 0, 1, 0}},
	{"ms", {1e-3, 0, 0, 1, 0}},
	{"us", {1e-6, 0, 0, 1, 0}},
	{"min", {60, 0, 0, 1, 0}},
	{"h", {3600, 0, 0, 1, 0}},
	{"rad", {1, 0, 0, 0, 1}},
	{"mrad", {1e-3, 0, 0, 0, 1}},
	{"deg", {PI / 180, 0, 0, 0, 1}},
	{"arcmin", {PI / 10800, 0, 0, 0, 1}},
	{"arcsec", {PI / 648000, 0, 0, 0, 1}},
	{"rev", {2 * PI, 0, 0, 0, 1}},
	{"rpm", {PI / 30, 0, 0, -1, 1}},
	{"N", {1, 1, 1, -2, 0}},
	{"mN", {1e-3, 1, 1, -2, 0}},
	{"kN", {1e3, 1, 1, -2, 0}},
	{"lbf", {4.4482216152605, 1, 1, -2, 0}},
	{"Nm", {1, 1, 2, -2, 0}},
	{"J", {1, 1, 2, -2, 0}},
	{"W", {1, 1, 2, -3, 0}},
	{"Pa", {1, 1, -1, -2, 0}},
	{"kPa", {1e3, 1, -1, -2, 0}},
	{"MPa", {1e6, 1, -1, -2, 0}},
	{"GPa", {1e9, 1, -1, -2, 0}},
};

static const struct {
	Unit unit;
	const char *what, *example;
} dimensions[] = {
#define DIMENSION_ROW(name, kg, m, s, rad, what, example) {{1, kg, m, s, rad}, what, example},
	DIMENSION_LIST(DIMENSION_ROW)
#undef DIMENSION_ROW
};

const char *dimension_what(Dimension dimension) { return dimensions[dimension].what; }

const char *dimension_example(Dimension dimension) { return dimensions[dimension].example; }

/* ---- numbers ----------------------------------------------------------------------------- */

static bool is_digit(char c) { return c >= '0' && c <= '9'; }

static const char *skip_digits(const char *p) {
	while (is_digit(*p))
		p++;
	return p;
}

/* End of the decimal number at text, or NULL; *point is its decimal point, or NULL. */
static const char *number_scan(const char *text, const char **point) {
	const char *p = text + (*text == '+' || *text == '-');
	const char *whole = p;
	p = skip_digits(p);
	ptrdiff_t digits = p - whole;
	*point = NULL;
	if (*p == '.') {
		*point = p;
		const char *part = ++p;
		p = skip_digits(p);
		digits += p - part;
	}
	if (digits == 0)
		return NULL;
	if (*p == 'e' || *p == 'E') {
		const char *power = p + 1 + (p[1] == '+' || p[1] == '-');
		if (is_digit(*power))
			p = skip_digits(power);
	}
	return p;
}

/*
 * strtod rounds correctly but expects the decimal point of the locale, which it shares with printf: the
 * point is replaced by what printf writes.
 */
const char *number_parse(const char *text, double *value) {
	const char *point;
	const char *end = number_scan(text, &point);
	if (!end || end - text > NUMBER_MAX)
		return NULL;
	char buffer[NUMBER_MAX + 32], half[16];
	int written;
	if (point) {
		snprintf(half, sizeof half, "%.1f", 0.5); // "0.5" with the locale's point
		const int width = (int)strlen(half) - 2;
		written = snprintf(buffer, sizeof buffer, "%.*s%.*s%.*s", (int)(point - text), text, width, half + 1,
		                   (int)(end - point - 1), point + 1);
	} else {
		written = snprintf(buffer, sizeof buffer, "%.*s", (int)(end - text), text);
	}
	char *stop = buffer;
	*value = strtod(buffer, &stop);
	return stop == buffer + written ? end : NULL;
}

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

static bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

/* a b^power */
static Unit unit_combine(Unit a, Unit b, int power) {
	a.factor *= pow(b.factor, power);
	a.kg += power * b.kg;
	a.m += power * b.m;
	a.s += power * b.s;
	a.rad += power * b.rad;
	return a;
}

static bool parse_name(Cursor *c, Unit *unit) {
	const char *start = c->p;
	while (is_letter(*c->p))
		c->p++;
	const size_t length = (size_t)(c->p - start);
	for (size_t i = 0; i < sizeof named_units / sizeof named_units[0]; i++) {
		if (strlen(named_units[i].name) == length && memcmp(named_units[i].name, start, length) == 0) {
			*unit = named_units[i].unit;
			return true;
		}
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
		if (!parse_factor(c, &factor, &power, depth))
			return false;
		*unit = unit_combine(*unit, factor, sign * power);
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

static void describe(char *message, size_t size, const char *problem, const char *text, size_t length,
                     Dimension dimension) {
	const int shown = length < 60 ? (int)length : 60;
	snprintf(message, size, "%s \"%.*s\"; expected %s, e.g. \"%s\"", problem, shown, text, dimensions[dimension].what,
	         dimensions[dimension].example);
}

bool quantity_parse(const char *text, Dimension dimension, double *value, char *message, size_t size) {
	double number;
	const char *rest = number_parse(text, &number);
	if (!rest) {
		describe(message, size, "not a number:", text, strlen(text), dimension);
		return false;
	}
	Cursor cursor = {rest, NULL, 0};
	Unit unit = dimensions[dimension].unit; // a plain number is SI
	skip_spaces(&cursor);
	if (*cursor.p && !parse_unit(&cursor, &unit, UNIT_DEPTH)) {
		if (cursor.bad && cursor.bad_length)
			describe(message, size, "unknown unit", cursor.bad, cursor.bad_length, dimension);
		else
			describe(message, size, "not a number with a unit:", text, strlen(text), dimension);
		return false;
	}
	if (*cursor.p) {
		describe(message, size, "not a number with a unit:", text, strlen(text), dimension);
		return false;
	}
	if (!same_dimension(unit, dimensions[dimension].unit)) {
		describe(message, size, "wrong unit in", text, strlen(text), dimension);
		return false;
	}
	*value = number * unit.factor;
	if (!isfinite(*value)) {
		describe(message, size, "number too large:", text, strlen(text), dimension);
		return false;
	}
	return true;
}

bool ratio_is_of_units(double ratio) {
	const double decades = ratio > 0 ? log10(ratio) / 3 : 0, whole = round(decades);
	return whole != 0 && fabs(decades - whole) < 0.0015;
}
