// SPDX-License-Identifier: Apache-2.0
/*
 * calder/expression.h — formulas over a simulation: "-3*q(hinge) - 0.2*u(hinge) + 5 mm * sin(2*pi*t)".
 *
 * A formula is parsed once, bound to the joints, nodes, bodies and devices that it names, and evaluated as often as
 * wanted without memory. The language is in docs/expressions.md. A formula that is not defined at a point (the logarithm
 * of a negative number) is NaN there.
 */
#ifndef CALDER_EXPRESSION_H
#define CALDER_EXPRESSION_H

#include <calder/device.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct CalExpression CalExpression;

/** Parses a formula; CAL_ERR_INPUT names the column and what was expected. allocator NULL: malloc. */
CAL_API CalStatus cal_expression_create(const char *text, const CalAllocator *allocator, CalExpression **expression,
                                        CalError *error);
CAL_API void cal_expression_destroy(CalExpression *expression); // accepts NULL
CAL_API const char *cal_expression_text(const CalExpression *expression);

/**
 * Finds the joints, nodes, bodies and devices that it names; again after every change of topology. Does not allocate.
 * CAL_ERR_MODEL names the first that is not there.
 */
CAL_API CalStatus cal_expression_bind(CalExpression *expression, const CalEvalContext *context, CalError *error);

/**
 * Nonzero: its outermost operation is a comparison, or and/or/not of comparisons. Its value is then > 0 where it holds
 * and < 0 where it does not, and crosses zero at the change (a < b: b - a; and: min; or: max; not: minus).
 */
CAL_API int cal_expression_is_condition(const CalExpression *expression);
/** Nonzero: it depends on nothing but the time. */
CAL_API int cal_expression_is_of_time(const CalExpression *expression);

/**
 * How many of the first arguments of a function are names of objects; 0: none, or no such function. *nodes: nonzero where
 * they are paths of nodes. For programs that rewrite formulas.
 */
CAL_API int cal_expression_names(const char *function, int *nodes);

/** CAL_ERR_STAGE: it is not bound. Otherwise fails only where the kinematics of a group or a device do. */
CAL_API CalStatus cal_expression_value(const CalExpression *expression, CalEvalContext *context, double *value);
/**
 * The next time after t at which it jumps or has a kink because of the time alone, along straight lines (t < 2,
 * abs(t - 5) < 0.1, mod(t, 2), smooth(t, 2, 3), max(0, 1 - t/3)), or INFINITY. It is on the new side there.
 */
CAL_API double cal_expression_next_switch(const CalExpression *expression, double t);

/** Its other jumps and kinks: each has a value that changes its sign there. */
CAL_API int cal_expression_kink_count(const CalExpression *expression);
CAL_API CalStatus cal_expression_kinks(const CalExpression *expression, CalEvalContext *context, double *value);
/** The operation that jumps or bends: "sign()", "comparison"; NULL outside the range. */
CAL_API const char *cal_expression_kink_text(const CalExpression *expression, int kink);
/**
 * For how long none of these values changes its sign, at most span, from ranges of the formula over the speeds and
 * accelerations of the context (lookahead() of a device). Outputs of other devices count as constant.
 */
CAL_API double cal_expression_clear(const CalExpression *expression, CalEvalContext *context, double span);
/** The same for the value of the formula itself. */
CAL_API double cal_expression_keeps_sign(const CalExpression *expression, CalEvalContext *context, double span);
/**
 * For how long the formula stays within what it is at a few places of a step of this length, from the same ranges: a peak
 * between them would go unseen. INFINITY: there is none.
 */
CAL_API double cal_expression_unseen(const CalExpression *expression, CalEvalContext *context, double span);
/**
 * Value and first two time derivatives of a formula of time alone, exact: they are propagated through the formula. At a
 * jump or a kink, those of one side. CAL_ERR_ARGUMENT: it depends on more than the time.
 */
CAL_API CalStatus cal_expression_jet(const CalExpression *expression, double t, double jet[3]);

#ifdef __cplusplus
}
#endif
#endif
