// SPDX-License-Identifier: Apache-2.0
/*
 * model_file_formula.c — formulas (docs/expressions.md) in files: parsed when the file is read, so that a mistake has
 * its place.
 */
#include <string.h>

#include <calder/expression.h>

#include "io/model/model_file.h"

/* Parses the text; the formula itself is not kept. of_time: whether it must depend on t alone. */
static bool check_formula(Reader *r, const TreeNode *node, const char *text, bool of_time) {
	CalExpression *made = NULL;
	CalError error = {0};
	const CalStatus status = cal_expression_create(text, &r->file->allocator, &made, &error);
	bool good = status == CAL_OK;
	if (status == CAL_ERR_MEMORY)
		r->status = tree_error(r->error, tree_name(r->file->tree), node, status, "out of memory");
	else if (!good)
		reader_fail(r, node, "%s", error.text);
	else if (cal_expression_is_condition(made))
		good = reader_fail(r, node, "\"%.80s\" is a condition; write if(condition, a, b) to make a number of it", text);
	else if (of_time && !cal_expression_is_of_time(made))
		good =
			reader_fail(r, node, "\"%.80s\" depends on the state; only formulas of the time t can be used here", text);
	cal_expression_destroy(made);
	return good;
}

bool model_file_read_formula(Reader *r, const TreeNode *node, const char **text) {
	return read_text(r, node, text) && check_formula(r, node, *text, false);
}

/* The time by its letter, not as a part of another word. */
static bool names_time(const char *text) {
	const char *letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_";
	for (const char *p = text; *p; p++) {
		const size_t length = strspn(p, letters);
		if (length == 1 && *p == 't')
			return true;
		p += length > 0 ? length - 1 : 0;
	}
	return false;
}

/*
 * Without t it is a number with its unit, whose dimension is checked, or else a formula ("pi/4"). With t dimensions are not
 * known. *formula NULL: a number.
 */
static bool read_number_or_formula(Reader *r, const TreeNode *node, Dimension dimension, double *number,
                                   const char **formula) {
	char message[300];
	const char *text;
	*formula = NULL;
	if (!read_text(r, node, &text))
		return false;
	if (!names_time(text)) {
		if (quantity_parse(text, dimension, number, message, sizeof message))
			return true;
		if (strncmp(message, "wrong unit", strlen("wrong unit")) == 0)
			return reader_fail(r, node, "%s", message);
	}
	*formula = text;
	return true;
}

bool model_file_read_function(Reader *r, const TreeNode *node, Dimension dimension, CalTimeFunction *function) {
	double constant;
	const char *formula = NULL;
	if (node->kind == TREE_SCALAR && !read_number_or_formula(r, node, dimension, &constant, &formula))
		return false;
	if (!formula)
		return model_file_read_table(r, node, dimension, &function->table);
	function->formula = formula;
	return check_formula(r, node, formula, true);
}

bool model_file_read_load_value(Reader *r, const TreeNode *node, Dimension dimension, CalLoadValue *value) {
	if (node->kind != TREE_SCALAR)
		return model_file_read_table(r, node, dimension, &value->table);
	return read_number_or_formula(r, node, dimension, &value->number, &value->formula) &&
	       (!value->formula || check_formula(r, node, value->formula, false));
}
