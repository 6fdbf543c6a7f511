// SPDX-License-Identifier: Apache-2.0
/*
 * expression.h — a parsed formula: code for a stack of numbers, and the objects of the simulation that it reads.
 */
#ifndef CALDER_EXPRESSION_EXPRESSION_H
#define CALDER_EXPRESSION_EXPRESSION_H

#include <stdbool.h>

#include <calder/expression.h>

#include "quantity/quantity.h"

enum {
	EXPRESSION_STACK = 64,   // numbers on the stack at most
	EXPRESSION_DEPTH = 64,   // of nesting in the text
	EXPRESSION_LENGTH = 8000 // of the text
};

/*
 * One line per operation on the stack: name, numbers that it takes, function name ("": written otherwise). min and max
 * stand for "and" and "or" too, minus for "not". OP_SIDED is its first number, which jumps where the second changes its
 * sign.
 */
#define EXPRESSION_OP_LIST(X)           \
	X(OP_NUMBER, 0, "")                 \
	X(OP_TIME, 0, "")                   \
	X(OP_READ, 0, "")                   \
	X(OP_NEGATE, 1, "")                 \
	X(OP_SIN, 1, "sin")                 \
	X(OP_COS, 1, "cos")                 \
	X(OP_TAN, 1, "tan")                 \
	X(OP_ASIN, 1, "asin")               \
	X(OP_ACOS, 1, "acos")               \
	X(OP_ATAN, 1, "atan")               \
	X(OP_SINH, 1, "sinh")               \
	X(OP_COSH, 1, "cosh")               \
	X(OP_TANH, 1, "tanh")               \
	X(OP_EXP, 1, "exp")                 \
	X(OP_LOG, 1, "log")                 \
	X(OP_SQRT, 1, "sqrt")               \
	X(OP_ABS, 1, "abs")                 \
	X(OP_SIGN, 1, "sign")               \
	X(OP_FLOOR, 1, "floor")             \
	X(OP_SIDED, 2, "")                  \
	X(OP_ADD, 2, "")                    \
	X(OP_SUBTRACT, 2, "")               \
	X(OP_MULTIPLY, 2, "")               \
	X(OP_DIVIDE, 2, "")                 \
	X(OP_POWER, 2, "")                  \
	X(OP_LESS, 2, "")                   \
	X(OP_LESS_EQUAL, 2, "")             \
	X(OP_GREATER, 2, "")                \
	X(OP_GREATER_EQUAL, 2, "")          \
	X(OP_ATAN2, 2, "atan2")             \
	X(OP_MOD, 2, "mod")                 \
	X(OP_MIN, 2, "min")                 \
	X(OP_MAX, 2, "max")                 \
	X(OP_STEP, 2, "step")               \
	X(OP_SMOOTH_SIGN, 2, "smooth_sign") \
	X(OP_CLAMP, 3, "clamp")             \
	X(OP_SMOOTH, 3, "smooth")           \
	X(OP_IF, 3, "if")

typedef enum Op {
#define EXPRESSION_OP_ENUM(name, takes, text) name,
	EXPRESSION_OP_LIST(EXPRESSION_OP_ENUM)
#undef EXPRESSION_OP_ENUM
		OP_COUNT
} Op;

/** Numbers that an operation takes from the stack; it leaves one. */
int op_takes(Op op);

/* What a value depends on. */
typedef enum Dependence {
	DEPENDS_NOT,         // a number
	DEPENDS_LINEARLY,    // on the time: a straight line from kink to kink
	DEPENDS_ON_TIME,     // alone
	DEPENDS_ON_THE_STATE //
} Dependence;

typedef struct Code {
	Op op;
	int reading;     // OP_READ: place in readings
	double number;   // OP_NUMBER
	bool joins;      // OP_MIN, OP_MAX: "and", "or"
	Dependence of;   // of its result
	Dependence kink; // of what switches it, where it has a kink or a jump
} Code;

/** A quantity of the simulation, and where bind() found it. */
typedef struct Reading {
	int column; // in the text
	QuantityText text;
	QuantityRef ref;
} Reading;

/** A number with its first two derivatives by time. */
typedef struct Jet {
	double v, d, dd;
} Jet;

struct CalExpression {
	CalAllocator allocator;
	const char *text;
	Code *code; // [code_count]
	int code_count, code_capacity;
	Reading *readings; // [reading_count]
	int reading_count, reading_capacity;
	int kink_count; // that depend on more than a straight line in time
	bool condition;
	bool bound;  // to a simulation; always if there is nothing to bind
	char *names; // of the objects, one after another
	int names_used;
};

/** Fills code and readings from the text. */
CalStatus expression_parse(CalExpression *expression, CalError *error);
/** Called for each operation with its arguments, before its result is known. */
typedef void OpFn(const Code *code, const double *arguments, void *user);
/** The value of a formula that is bound; each: NULL, nothing is called. */
CalStatus expression_run(const CalExpression *expression, CalEvalContext *context, OpFn *each, void *user,
                         double *value);
/** The stack at time t before code[end] runs; returns how many numbers are on it. What is read is not a number. */
int expression_jets(const CalExpression *expression, int end, double t, Jet stack[EXPRESSION_STACK]);
/** Fills in what depends on what, and counts kinks. */
void expression_classify(CalExpression *expression);
/** A quantity of the simulation now. */
CalStatus reading_value(const Reading *reading, CalEvalContext *context, double *value);

/** The same ahead. */
CalStatus reading_course(const Reading *reading, CalEvalContext *context, Course *course);

/* ---- kinks (expression_kink.c) -------------------------------------------------------------------- */

enum { MOST_KINKS = 2 }; // of one operation

/** How many an operation has: places where it or its slope jumps. */
int op_kinks(const Code *code);
/** value[op_kinks()]: changes its sign where the operation on a[op_takes()] does; zero only where it is undecided. */
void op_switches(Op op, const double *a, double *value);

/* ---- ranges (expression_range.c) ------------------------------------------------------------------- */

typedef struct Range {
	double low, high;
} Range;

/* ---- operations (expression_math.c) --------------------------------------------------------------- */

/** a[op_takes(op)] */
double op_value(Op op, const double *a);
Jet op_jet(Op op, const Jet *a);

#endif
