// SPDX-License-Identifier: Apache-2.0
/*
 * golden_read.c — numbers and texts of a golden case, refused with their place if they are not there.
 */
#include <math.h>
#include <string.h>

#include "base/units.h"
#include "golden/golden.h"

CalStatus golden_fail(GoldenCase *c, const TreeNode *node, const char *message) {
	return tree_error(&c->error, tree_name(c->tree), node, CAL_ERR_INPUT, "%s", message);
}

/* A scalar that is a finite number and nothing else. */
static bool scalar_number(const TreeNode *node, double *out) {
	if (node->kind != TREE_SCALAR)
		return false;
	const char *end = number_parse(node->text, out);
	return end && !*end && isfinite(*out);
}

CalStatus golden_number(GoldenCase *c, const TreeNode *node, double absent, double *out) {
	*out = absent;
	if (node && !scalar_number(node, out))
		return golden_fail(c, node, "expected a number");
	return CAL_OK;
}

CalStatus golden_modes(GoldenCase *c, const TreeNode *body, int *modes) {
	double number;
	const CalStatus status = golden_number(c, tree_get(body, "nm"), 0, &number);
	*modes = 0;
	if (status != CAL_OK)
		return status;
	if (!(number >= 0 && number <= 10000 && number == floor(number)))
		return golden_fail(c, tree_get(body, "nm"), "expected a number of modes");
	*modes = (int)number;
	return CAL_OK;
}

CalStatus golden_text(GoldenCase *c, const TreeNode *node, const char *absent, const char **out) {
	*out = absent;
	if (node && node->kind != TREE_SCALAR)
		return golden_fail(c, node, "expected a text");
	if (node)
		*out = node->text;
	return *out ? CAL_OK : golden_fail(c, c->root, "a text is missing");
}

/* Appends the numbers of a scalar or of a list, rows included; false if there are more than n. */
static bool collect_numbers(const TreeNode *node, double *out, int n, int *filled, int depth) {
	if (node->kind == TREE_SCALAR)
		return *filled < n && scalar_number(node, &out[(*filled)++]);
	if (node->kind != TREE_LIST || depth == 0)
		return false;
	for (int i = 0; i < node->count; i++) {
		if (!collect_numbers(node->items[i], out, n, filled, depth - 1))
			return false;
	}
	return true;
}

CalStatus golden_numbers(GoldenCase *c, const TreeNode *node, double *out, int n) {
	if (!node) {
		memset(out, 0, (size_t)n * sizeof *out);
		return CAL_OK;
	}
	int filled = 0;
	if (!collect_numbers(node, out, n, &filled, 3) || filled != n)
		return tree_error(&c->error, tree_name(c->tree), node, CAL_ERR_INPUT, "expected a list of %d numbers", n);
	return CAL_OK;
}

CalStatus golden_numeric(GoldenCase *c, CalStatus status, const char *call) {
	if (status == CAL_OK)
		return CAL_OK;
	return tree_error(&c->error, tree_name(c->tree), NULL, status, "%s at t = %g s: %s", call, c->state.t,
	                  cal_status_text(status));
}
