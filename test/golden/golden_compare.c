// SPDX-License-Identifier: Apache-2.0
/*
 * golden_compare.c — errors relative to the size of a quantity, and the worst of them.
 *
 * The scale of a comparison is the largest number of the quantity in the file; a floor from the physics
 * (mass times gravity times length ...) stands in where the quantity is zero up to rounding.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/units.h"
#include "golden/golden.h"

static uint64_t bits_of(uint64_t hash, const double *numbers, int n) {
	for (int i = 0; i < n; i++) {
		uint64_t bits;
		memcpy(&bits, &numbers[i], sizeof bits);
		hash = (hash ^ bits) * UINT64_C(0x9E3779B97F4A7C15);
		hash ^= hash >> 32;
	}
	return hash;
}

void golden_tally(GoldenCase *c, const char *what, const char *object, double error, double scale, double tolerance) {
	GoldenTally *tally = &c->tally;
	tally->bits = bits_of(tally->bits, (const double[]){error, scale}, 2);
	double relative = error == 0 ? 0 : error / scale;
	if (isnan(relative))
		relative = INFINITY;
	const double ratio = relative / tolerance;
	if (tally->count++ > 0 && ratio <= tally->ratio)
		return;
	tally->ratio = ratio;
	tally->worst = relative;
	tally->tolerance = tolerance;
	snprintf(tally->what, sizeof tally->what, "%s%s%.100s", what, object[0] ? " " : "", object);
}

static double list_magnitude(const TreeNode *node, int depth) {
	double largest = 0;
	if (node->kind == TREE_SCALAR && (!number_parse(node->text, &largest) || !isfinite(largest)))
		return 0;
	for (int i = 0; node->kind == TREE_LIST && depth > 0 && i < node->count; i++)
		largest = fmax(largest, list_magnitude(node->items[i], depth - 1));
	return fabs(largest);
}

double golden_magnitude(const TreeNode *node) { return node ? list_magnitude(node, 2) : 0; }

double golden_pool_magnitude(const TreeNode *map, const char *field) {
	double largest = 0;
	for (int i = 0; map && map->kind == TREE_MAP && i < map->count; i++)
		largest = fmax(largest, golden_magnitude(tree_get(map->items[i], field)));
	return largest;
}

CalStatus golden_compare(GoldenCase *c, const char *what, const char *object, const TreeNode *expected,
                         const double *got, int n, double floor, double tolerance) {
	if (!expected)
		return CAL_OK;
	double small[16];
	double *numbers = n <= 16 ? small : c->numbers;
	const CalStatus status = golden_numbers(c, expected, numbers, n);
	if (status != CAL_OK)
		return status;
	double error = 0;
	c->tally.bits = bits_of(c->tally.bits, got, n);
	for (int i = 0; i < n; i++)
		error = isfinite(got[i]) ? fmax(error, fabs(got[i] - numbers[i])) : INFINITY;
	const double scale = fmax(golden_magnitude(expected), floor);
	golden_tally(c, what, object, error, scale, tolerance);
	return CAL_OK;
}

CalStatus golden_compare_speeds(GoldenCase *c, const char *what, const char *object, const TreeNode *expected,
                                const double *got, double floor, double tolerance) {
	double *ordered = c->scratch + (GOLDEN_VECTORS - 1) * c->nu;
	for (int i = 0; i < c->nu; i++)
		ordered[i] = got[c->speed[i]];
	return golden_compare(c, what, object, expected, ordered, c->nu, floor, tolerance);
}

CalStatus golden_compare_vec(GoldenCase *c, const char *what, const char *object, const TreeNode *expected, CalVec3 got,
                             double floor, double tolerance) {
	const double x[3] = {got.x, got.y, got.z};
	return golden_compare(c, what, object, expected, x, 3, floor, tolerance);
}

CalStatus golden_compare_count(GoldenCase *c, const char *what, const char *object, const TreeNode *expected, int got) {
	const double number = got;
	return golden_compare(c, what, object, expected, &number, 1, 1, 1e-11);
}

CalStatus golden_compare_flag(GoldenCase *c, const char *what, const char *object, const TreeNode *expected, int got) {
	if (!expected)
		return CAL_OK;
	const char *text;
	const CalStatus status = golden_text(c, expected, NULL, &text);
	if (status != CAL_OK)
		return status;
	if (strcmp(text, "true") != 0 && strcmp(text, "false") != 0)
		return golden_fail(c, expected, "expected true or false");
	golden_tally(c, what, object, (strcmp(text, "true") == 0) != (got != 0), 1, 1e-11);
	return CAL_OK;
}

CalStatus golden_compare_matrix(GoldenCase *c, const char *what, const TreeNode *expected, const double *matrix,
                                const int *row, int rows, double tolerance) {
	if (!expected)
		return CAL_OK;
	if (expected->kind != TREE_LIST || expected->count != rows)
		return tree_error(&c->error, tree_name(c->tree), expected, CAL_ERR_INPUT, "%s has not the %d rows of the model",
		                  what, rows);
	const double scale = golden_magnitude(expected);
	CalStatus status = CAL_OK;
	for (int i = 0; status == CAL_OK && i < rows; i++) {
		char label[32];
		snprintf(label, sizeof label, "row %d", i);
		status = golden_compare_speeds(c, what, label, expected->items[i], matrix + (size_t)row[i] * (size_t)c->nu,
		                               scale, tolerance);
	}
	return status;
}
