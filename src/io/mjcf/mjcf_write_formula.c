// SPDX-License-Identifier: Apache-2.0
/*
 * mjcf_write_formula.c — formulas of loads that are affine in coordinates and speeds of joints: those that the reader makes of
 * actuators, and others of that kind.
 *
 * sum = product {(+|-) product}, product = factor {* factor}, factor = number | q(NAME) | u(NAME) | (sum) | -factor, each a
 * value c + p q + s u, where q and u are those of one joint at a time. The whole may be clamp(sum, number, number), perhaps times a number. Everything else is refused: the
 * evaluator of formulas is in src/expression.
 */
#include <math.h>
#include <string.h>

#include "base/number.h"
#include "io/mjcf/mjcf_write.h"

enum { MOST_DEPTH = 64 };

typedef struct Scan {
	const char *at;
	const char *const *joints; // [joint_count] that the formula may depend on
	int joint_count, wanted;   // p and s are those of joint `wanted`
	int depth;
	bool wrong;
} Scan;

typedef struct Affine {
	double c, p, s;
	bool varies; // with any joint
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
	return (Affine){0, 0, 0, false};
}

static Affine read_sum(Scan *scan);

/* q(NAME) or u(NAME), the name in quotes or not; only that of one of the joints. */
static Affine read_state(Scan *scan, bool speed) {
	skip(scan);
	const char quote = *scan->at == '"' || *scan->at == '\'' ? *scan->at : 0;
	const char *name = scan->at + (quote != 0);
	for (int i = 0; i < scan->joint_count; i++) {
		const size_t length = strlen(scan->joints[i]);
		if (strncmp(name, scan->joints[i], length) != 0 || (quote && name[length] != quote))
			continue;
		scan->at = name + length + (quote != 0);
		if (take(scan, ")"))
			return (Affine){0, i == scan->wanted && !speed, i == scan->wanted && speed, true};
	}
	return refuse(scan);
}

static Affine read_factor(Scan *scan) {
	double number;
	if (scan->wrong || scan->depth > MOST_DEPTH)
		return refuse(scan);
	if (take(scan, "-")) {
		scan->depth++;
		const Affine a = read_factor(scan);
		scan->depth--;
		return (Affine){-a.c, -a.p, -a.s, a.varies};
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
	return (Affine){number, 0, 0, false};
}

/* A unit after a number, a power or a quotient ends it: the caller finds what follows. */
static Affine read_product(Scan *scan) {
	Affine a = read_factor(scan);
	while (!scan->wrong && take(scan, "*")) {
		const Affine b = read_factor(scan);
		if (a.varies && b.varies)
			return refuse(scan);
		a = !a.varies ? (Affine){a.c * b.c, a.c * b.p, a.c * b.s, b.varies}
		              : (Affine){a.c * b.c, a.p * b.c, a.s * b.c, true};
	}
	return a;
}

static Affine read_sum(Scan *scan) {
	Affine a = read_product(scan);
	for (int sign; !scan->wrong && (sign = take(scan, "+") ? 1 : take(scan, "-") ? -1 : 0) != 0;) {
		const Affine b = read_product(scan);
		a = (Affine){a.c + sign * b.c, a.p + sign * b.p, a.s + sign * b.s, a.varies || b.varies};
	}
	return a;
}

static bool read_bound(Scan *scan, double *bound) {
	const Affine a = read_sum(scan);
	*bound = a.c;
	return !scan->wrong && !a.varies;
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

bool mjcf_read_affine(const char *formula, const char *const *joints, int count, int wanted, MjcfAffine *out) {
	Scan scan = {.at = formula, .joints = joints, .joint_count = count, .wanted = wanted};
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

bool mjcf_split_input(const char *formula, double *gain, double *control, char *rest) {
	Scan scan = {.at = formula};
	take(&scan, "clamp(");
	const size_t before = (size_t)(scan.at - formula);
	if (!(take(&scan, "(") && read_bound(&scan, gain) && take(&scan, ")") && take(&scan, "*") && take(&scan, "(") &&
	      read_bound(&scan, control) && take(&scan, ")")))
		return false;
	skip(&scan);
	if (*scan.at && !strchr("+-,", *scan.at))
		return false;
	memcpy(rest, formula, before);
	rest += before;
	*rest++ = '(', *rest++ = '0', *rest++ = ')';
	memcpy(rest, scan.at, strlen(scan.at) + 1);
	return true;
}

bool mjcf_split_factor(const char *formula, double *factor, const char **inner, size_t *length) {
	Scan scan = {.at = formula};
	if (!take(&scan, "(") || !read_bound(&scan, factor) || !take(&scan, ")") || !take(&scan, "*") || !take(&scan, "("))
		return false;
	*inner = scan.at;
	int depth = 1;
	const char *at = scan.at;
	for (char quote = 0; *at && depth; at++) {
		if (quote || *at == '"' || *at == '\'')
			quote = !quote ? *at : *at == quote ? 0 : quote;
		else
			depth += *at == '(' ? 1 : *at == ')' ? -1 : 0;
	}
	*length = (size_t)(at - scan.at) - (depth == 0);
	return depth == 0 && *factor != 0 && at[strspn(at, " \t\r\n")] == '\0';
}
