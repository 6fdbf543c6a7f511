// SPDX-License-Identifier: Apache-2.0
/*
 * mjcf_write_formula.c — formulas of loads that are affine in the coordinate and speed of one joint: those that the reader
 * makes of actuators, and others of that kind.
 *
 * sum = product {(+|-) product}, product = factor {* factor}, factor = number | q(NAME) | u(NAME) | (sum) | -factor, each a
 * value c + p q + s u. The whole may be clamp(sum, number, number), perhaps times a number. Everything else is refused: the
 * evaluator of formulas is in src/expression.
 */
#include <math.h>
#include <string.h>

#include "base/number.h"
#include "io/mjcf/mjcf_write.h"

enum { MOST_DEPTH = 64 };

typedef struct Scan {
	const char *at;
	const char *joint;
	int depth;
	bool wrong;
} Scan;

typedef struct Affine {
	double c, p, s;
} Affine;

static void skip(Scan *scan) { scan->at += strspn(scan->at, " \t\r\n"); }

static bool take(Scan *scan, const char *word) {
	skip(scan);
	const size_t length = strlen(word);
	if (strncmp(scan->at, word, length) != 0)
		return false;
	scan->at += length;
	return true;
}

static Affine refuse(Scan *scan) {
	scan->wrong = true;
	return (Affine){0, 0, 0};
}

static Affine read_sum(Scan *scan);

/* q(NAME) or u(NAME), the name in quotes or not; only that of the joint. */
static Affine read_state(Scan *scan, bool speed) {
	const size_t length = strlen(scan->joint);
	skip(scan);
	const char quote = *scan->at == '"' || *scan->at == '\'' ? *scan->at : 0;
	scan->at += quote != 0;
	if (strncmp(scan->at, scan->joint, length) != 0)
		return refuse(scan);
	scan->at += length;
	if (quote && *scan->at++ != quote)
		return refuse(scan);
	return take(scan, ")") ? (Affine){0, !speed, speed} : refuse(scan);
}

static Affine read_factor(Scan *scan) {
	double number;
	if (scan->wrong || scan->depth > MOST_DEPTH)
		return refuse(scan);
	if (take(scan, "-")) {
		scan->depth++;
		const Affine a = read_factor(scan);
		scan->depth--;
		return (Affine){-a.c, -a.p, -a.s};
	}
	if (take(scan, "(")) {
		scan->depth++;
		const Affine a = read_sum(scan);
		scan->depth--;
		return take(scan, ")") ? a : refuse(scan);
	}
	if (take(scan, "q("))
		return read_state(scan, false);
	if (take(scan, "u("))
		return read_state(scan, true);
	const char *end = number_parse(scan->at, &number);
	if (!end || !isfinite(number))
		return refuse(scan);
	scan->at = end;
	return (Affine){number, 0, 0};
}

/* A unit after a number, a power or a quotient ends it: the caller finds what follows. */
static Affine read_product(Scan *scan) {
	Affine a = read_factor(scan);
	while (!scan->wrong && take(scan, "*")) {
		const Affine b = read_factor(scan);
		const bool a_is_number = a.p == 0 && a.s == 0, b_is_number = b.p == 0 && b.s == 0;
		if (!a_is_number && !b_is_number)
			return refuse(scan);
		a = a_is_number ? (Affine){a.c * b.c, a.c * b.p, a.c * b.s} : (Affine){a.c * b.c, a.p * b.c, a.s * b.c};
	}
	return a;
}

static Affine read_sum(Scan *scan) {
	Affine a = read_product(scan);
	for (int sign; !scan->wrong && (sign = take(scan, "+") ? 1 : take(scan, "-") ? -1 : 0) != 0;) {
		const Affine b = read_product(scan);
		a = (Affine){a.c + sign * b.c, a.p + sign * b.p, a.s + sign * b.s};
	}
	return a;
}

static bool read_bound(Scan *scan, double *bound) {
	const Affine a = read_sum(scan);
	*bound = a.c;
	return !scan->wrong && a.p == 0 && a.s == 0;
}

/* (number)*(...) before a clamp. */
static double read_scale(Scan *scan) {
	const char *start = scan->at;
	double scale;
	if (take(scan, "(") && read_bound(scan, &scale) && take(scan, ")") && take(scan, "*") && take(scan, "(") &&
	    take(scan, "clamp("))
		return scale;
	scan->at = start;
	scan->wrong = false;
	return 1;
}

static void scale_affine(MjcfAffine *a, double scale) {
	const double lower = a->lower * scale, upper = a->upper * scale;
	*a = (MjcfAffine){a->constant * scale, a->position * scale, a->speed * scale, fmin(lower, upper),
	                  fmax(lower, upper)};
}

bool mjcf_read_affine(const char *formula, const char *joint, MjcfAffine *out) {
	Scan scan = {.at = formula, .joint = joint};
	const double scale = read_scale(&scan);
	const bool scaled = scan.at != formula, clamped = scaled || take(&scan, "clamp(");
	const Affine a = read_sum(&scan);
	*out = (MjcfAffine){a.c, a.p, a.s, -INFINITY, INFINITY};
	if (clamped && !(take(&scan, ",") && read_bound(&scan, &out->lower) && take(&scan, ",") &&
	                 read_bound(&scan, &out->upper) && take(&scan, ")")))
		return false;
	if (scaled && (!take(&scan, ")") || scale == 0))
		return false;
	skip(&scan);
	if (clamped)
		scale_affine(out, scale);
	return !scan.wrong && *scan.at == '\0' && (!clamped || out->lower < out->upper);
}
