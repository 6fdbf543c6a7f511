// SPDX-License-Identifier: Apache-2.0
/*
 * expression.c — formulas: making them, and running their code.
 *
 * The depth of the stack is known since the formula was parsed; it never exceeds EXPRESSION_STACK.
 */
#include "expression/expression.h"

#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"

int op_takes(Op op) {
	static const unsigned char takes[] = {
#define OP_TAKES(name, count, text) count,
		EXPRESSION_OP_LIST(OP_TAKES)
#undef OP_TAKES
	};
	return takes[op];
}

/* One block: the struct, the text, and room for the names, each of which is shorter than its part of the text. */
static CalExpression *create_expression(const char *text, const CalAllocator *allocator) {
	const size_t length = strlen(text) + 1;
	CalExpression *made = memory_alloc(allocator, sizeof *made + 2 * length);
	if (!made)
		return NULL;
	char *copy = (char *)(made + 1);
	memcpy(copy, text, length);
	*made = (CalExpression){.allocator = *allocator, .text = copy, .names = copy + length};
	return made;
}

CalStatus cal_expression_create(const char *text, const CalAllocator *allocator, CalExpression **expression,
                                CalError *error) {
	if (expression)
		*expression = NULL;
	if (!text || !expression || !allocator_is_valid(allocator))
		return error_set(error, CAL_ERR_ARGUMENT, "cal_expression_create: give a text and where to put the formula");
	if (strlen(text) > EXPRESSION_LENGTH)
		return error_set(error, CAL_ERR_INPUT, "formula \"%.40s...\" is longer than %d characters; split it", text,
		                 EXPRESSION_LENGTH);
	const CalAllocator memory = allocator_or_default(allocator);
	CalExpression *made = create_expression(text, &memory);
	if (!made)
		return error_set(error, CAL_ERR_MEMORY, "formula \"%.80s\": %s", text, cal_status_text(CAL_ERR_MEMORY));
	const CalStatus status = expression_parse(made, error);
	if (status != CAL_OK) {
		cal_expression_destroy(made);
		return status;
	}
	made->bound = made->reading_count == 0;
	*expression = made;
	return CAL_OK;
}

void cal_expression_destroy(CalExpression *expression) {
	if (!expression)
		return;
	const CalAllocator allocator = expression->allocator;
	memory_free(&allocator, expression->code);
	memory_free(&allocator, expression->readings);
	memory_free(&allocator, expression);
}

const char *cal_expression_text(const CalExpression *expression) { return expression ? expression->text : NULL; }

int cal_expression_is_condition(const CalExpression *expression) { return expression && expression->condition; }

int cal_expression_is_of_time(const CalExpression *expression) { return expression && expression->reading_count == 0; }

CalStatus expression_run(const CalExpression *expression, CalEvalContext *context, OpFn *each, void *user,
                         double *value) {
	double stack[EXPRESSION_STACK] = {0};
	int top = 0;
	CalStatus status = CAL_OK;
	for (int i = 0; i < expression->code_count && status == CAL_OK; i++) {
		const Code *code = &expression->code[i];
		double made = 0;
		top -= op_takes(code->op);
		if (code->op == OP_NUMBER)
			made = code->number;
		else if (code->op == OP_TIME)
			made = cal_context_time(context);
		else if (code->op == OP_READ)
			status = reading_value(&expression->readings[code->reading], context, &made);
		else
			made = op_value(code->op, &stack[top]);
		if (each)
			each(code, &stack[top], user);
		stack[top++] = made;
	}
	*value = stack[0];
	return status;
}

CalStatus cal_expression_value(const CalExpression *expression, CalEvalContext *context, double *value) {
	if (!expression || !context || !value)
		return CAL_ERR_ARGUMENT;
	return expression->bound ? expression_run(expression, context, NULL, NULL, value) : CAL_ERR_STAGE;
}

int expression_jets(const CalExpression *expression, int end, double t, Jet stack[EXPRESSION_STACK]) {
	int top = 0;
	for (int i = 0; i < end; i++) {
		const Code *code = &expression->code[i];
		top -= op_takes(code->op);
		const Jet made = code->op == OP_NUMBER ? (Jet){code->number, 0, 0}
		                 : code->op == OP_TIME ? (Jet){t, 1, 0}
		                 : code->op == OP_READ ? (Jet){NAN, 0, 0}
		                                       : op_jet(code->op, &stack[top]);
		stack[top++] = made;
	}
	return top;
}

CalStatus cal_expression_jet(const CalExpression *expression, double t, double jet[3]) {
	Jet stack[EXPRESSION_STACK] = {0};
	if (!expression || !jet || !cal_expression_is_of_time(expression))
		return CAL_ERR_ARGUMENT;
	expression_jets(expression, expression->code_count, t, stack);
	jet[0] = stack[0].v;
	jet[1] = stack[0].d;
	jet[2] = stack[0].dd;
	return CAL_OK;
}
