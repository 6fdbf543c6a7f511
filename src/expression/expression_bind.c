// SPDX-License-Identifier: Apache-2.0
/*
 * expression_bind.c — what formulas read from a simulation: quantities of the catalogue (quantity/quantity.h), by name.
 */
#include "base/error.h"
#include "expression/expression.h"
#include "sim/sim_internal.h"

static void note_failure(const CalExpression *expression, const Reading *reading, const CalEvalContext *context,
                         const CalError *why, CalError *error) {
	CalError full = {0};
	error_set(&full, why->status, "formula \"%.200s\", column %d: %.400s", expression->text, reading->column,
	          why->text);
	context_note_unbound(context, full.text);
	if (error)
		*error = full;
}

CalStatus cal_expression_bind(CalExpression *expression, const CalEvalContext *context, CalError *error) {
	if (!expression || !context)
		return error_set(error, CAL_ERR_ARGUMENT, "cal_expression_bind: give a formula and a scene");
	CalStatus status = CAL_OK;
	for (int i = 0; i < expression->reading_count && status == CAL_OK; i++) {
		Reading *reading = &expression->readings[i];
		CalError why = {0};
		status = quantity_bind(&reading->text, context, &reading->ref, &why);
		if (status != CAL_OK)
			note_failure(expression, reading, context, &why, error);
	}
	expression->bound = status == CAL_OK;
	return status;
}

CalStatus reading_value(const Reading *reading, CalEvalContext *context, double *value) {
	return reading->text.quantity->read(&reading->ref, context, value);
}

CalStatus reading_course(const Reading *reading, CalEvalContext *context, Course *course) {
	return reading->text.quantity->course(&reading->ref, context, course);
}
