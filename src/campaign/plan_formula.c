// SPDX-License-Identifier: Apache-2.0
/*
 * plan_formula.c — parameters that are formulas of others.
 *
 * The formulas of calder/expression.h know no names of ours: each is replaced by its value in brackets before the formula
 * is parsed. A word after a number is a unit, one before a bracket is a function.
 */
#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include <calder/expression.h>

#include "base/memory.h"
#include "campaign/plan.h"

static bool is_word(char c) { return isalnum((unsigned char)c) || c == '_'; }

/* The parameter before `index` that a word names, or -1. */
static int find_parameter(const CalPlan *plan, int index, const char *word, size_t length) {
	for (int i = 0; i < index; i++)
		if (strlen(plan->parameters[i].name) == length && strncmp(plan->parameters[i].name, word, length) == 0)
			return i;
	return -1;
}

static bool is_function(const char *rest) {
	while (*rest == ' ')
		rest++;
	return *rest == '(';
}

/* A piece of a formula: a number, a word, or a single sign. */
typedef struct Piece {
	size_t length;
	bool number, word;
} Piece;

static Piece piece_at(const char *at) {
	double ignored;
	Piece piece = {.length = 1};
	if (isdigit((unsigned char)*at) || *at == '.') {
		const char *end = number_parse(at, &ignored);
		piece.number = true;
		piece.length = end ? (size_t)(end - at) : 1;
	} else if (is_word(*at)) {
		piece.word = true;
		while (is_word(at[piece.length]))
			piece.length++;
	}
	return piece;
}

/* What a formula became. */
typedef struct Substituted {
	char *text; // NULL: only the length is wanted
	size_t length;
	bool time;   // the letter t stands for no parameter
	int of_text; // a parameter in it whose values are texts, -1: none
} Substituted;

static void substitute(const CalPlan *plan, int index, const double *values, const char *formula, Substituted *out) {
	bool after_number = false;
	out->length = 0;
	out->of_text = -1;
	for (const char *at = formula; *at;) {
		const Piece piece = piece_at(at);
		const bool name = piece.word && !after_number && !is_function(at + piece.length);
		const int found = name ? find_parameter(plan, index, at, piece.length) : -1;
		char number[NUMBER_TEXT], bracketed[NUMBER_TEXT + 3];
		const char *put = at;
		size_t length = piece.length;
		if (found >= 0) {
			number_format(values[found], number);
			length = (size_t)snprintf(bracketed, sizeof bracketed, "(%s)", number);
			put = bracketed;
			out->of_text = plan->parameters[found].texts ? found : out->of_text;
		}
		out->time |= name && found < 0 && piece.length == 1 && *at == 't';
		if (out->text)
			memcpy(out->text + out->length, put, length);
		out->length += length;
		after_number = piece.number || (after_number && *at == ' ');
		at += piece.length;
	}
	if (out->text)
		out->text[out->length] = 0;
}

CalStatus plan_formula_value(const CalPlan *plan, int index, const double *values, double *value) {
	Substituted made = {0};
	*value = NAN;
	for (int i = 0; i < index; i++)
		if (!isfinite(values[i]))
			return CAL_OK;
	substitute(plan, index, values, plan->parameters[index].formula, &made);
	made.text = memory_alloc(&plan->allocator, made.length + 1);
	if (!made.text)
		return CAL_ERR_MEMORY;
	substitute(plan, index, values, plan->parameters[index].formula, &made);
	CalExpression *expression = NULL;
	double jet[3] = {NAN, 0, 0};
	CalStatus status = cal_expression_create(made.text, &plan->allocator, &expression, NULL);
	if (status == CAL_OK)
		status = cal_expression_jet(expression, 0, jet);
	cal_expression_destroy(expression);
	memory_free(&plan->allocator, made.text);
	*value = jet[0];
	return status;
}

bool plan_check_formula(Reader *r, const CalPlan *plan, const TreeNode *node, PlanParameter *p, int index) {
	Substituted made = {0};
	if (!read_text(r, node, &p->formula))
		return false;
	p->kind = DRAW_FORMULA;
	p->how = p->formula;
	double *ones = reader_array(r, (size_t)index + 1, sizeof *ones);
	for (int i = 0; ones && i < index; i++)
		ones[i] = 1;
	if (!ones)
		return false;
	substitute(plan, index, ones, p->formula, &made);
	if (made.of_text >= 0)
		return reader_fail(r, node, "the values of \"%.60s\" are texts; a formula cannot use them",
		                   plan->parameters[made.of_text].name);
	made.text = reader_array(r, made.length + 1, 1);
	if (!made.text)
		return false;
	substitute(plan, index, ones, p->formula, &made);
	CalExpression *expression = NULL;
	CalError error = {0};
	const CalStatus status = cal_expression_create(made.text, &plan->allocator, &expression, &error);
	const bool number = status == CAL_OK && !made.time && cal_expression_is_of_time(expression) &&
	                    !cal_expression_is_condition(expression);
	cal_expression_destroy(expression);
	if (status == CAL_ERR_MEMORY)
		return plan_no_memory(r);
	if (status != CAL_OK)
		return reader_fail(r, node, "\"%.80s\" with 1 for every parameter above it: %.300s", p->formula, error.text);
	return number || reader_fail(r, node, "\"%.80s\" must be a number made of the parameters above it", p->formula);
}
