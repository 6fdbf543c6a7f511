// SPDX-License-Identifier: Apache-2.0
/*
 * number.c — decimal numbers in text, and the units that may follow them.
 *
 * Hz is left out on purpose: it is read as 1/s by some and as 2 pi rad/s by others.
 */
#include "base/number.h"

#include <float.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PI 3.14159265358979323846

enum { NUMBER_MAX = 400 };

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

const Unit *unit_find(const char *name, size_t length) {
	for (size_t i = 0; i < sizeof named_units / sizeof named_units[0]; i++)
		if (strlen(named_units[i].name) == length && memcmp(named_units[i].name, name, length) == 0)
			return &named_units[i].unit;
	return NULL;
}

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

#if FLT_EVAL_METHOD == 0
/*
 * Most numbers of files: a whole number below 2^53 times or over a power of ten up to 10^22. Both are exact in a double, so
 * that the one operation gives the nearest one (Clinger 1990). False: it is another.
 */
static bool parse_exactly(const char *text, const char *end, double *value) {
	static const double powers[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
	                                1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
	const char *p = text + (*text == '+' || *text == '-');
	uint64_t whole = 0;
	int exponent = 0, power = 0;
	bool after_point = false;
	for (; p < end && *p != 'e' && *p != 'E'; p++) {
		if (*p == '.') {
			after_point = true;
			continue;
		}
		whole = 10 * whole + (uint64_t)(*p - '0');
		exponent -= after_point;
		if (whole >= (uint64_t)1 << 53)
			return false;
	}
	const bool minus = p + 1 < end && p[1] == '-';
	for (p += 1 + (p + 1 < end && (p[1] == '-' || p[1] == '+')); p < end && power < 1000; p++)
		power = 10 * power + (*p - '0');
	exponent += minus ? -power : power;
	if (exponent < -22 || exponent > 22)
		return false;
	*value = exponent < 0 ? (double)whole / powers[-exponent] : (double)whole * powers[exponent];
	*value = *text == '-' ? -*value : *value;
	return true;
}
#else
static bool parse_exactly(const char *text, const char *end, double *value) {
	(void)text, (void)end, (void)value;
	return false;
}
#endif

/*
 * strtod rounds correctly but expects the decimal point of the locale, which it shares with printf: the
 * point is replaced by what printf writes.
 */
const char *number_parse(const char *text, double *value) {
	const char *point;
	const char *end = number_scan(text, &point);
	if (!end || end - text > NUMBER_MAX)
		return NULL;
	if (parse_exactly(text, end, value))
		return end;
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

void number_format(double value, char text[NUMBER_TEXT]) {
	for (int digits = 15; digits <= 17; digits++) {
		snprintf(text, NUMBER_TEXT, "%.*g", digits, value);
		if (strtod(text, NULL) == value)
			break;
	}
	for (char *c = text; *c; c++) {
		if (!strchr("+-0123456789einfa", *c))
			*c = '.';
	}
}
