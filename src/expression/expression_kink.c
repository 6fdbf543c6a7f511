// SPDX-License-Identifier: Apache-2.0
/*
 * expression_kink.c — where formulas jump or bend.
 *
 * Each operation that does so has values that change their sign there (op_switches): the difference of two numbers that are
 * compared, the argument of a sign. Those that are straight lines in time are solved for when they do; the others are
 * watched by the events of a run. Of a jump the sign is exactly that which decides: just after the change the formula is on
 * its new side. Times of lines are found to the last bit.
 */
#include <float.h>
#include <math.h>

#include "expression/expression.h"

int op_kinks(const Code *code) {
	switch (code->op) {
	case OP_MIN:
	case OP_MAX:
		return code->joins ? 0 : 1; // conditions are watched where they are compared
	case OP_ABS:
	case OP_SIGN:
	case OP_SIDED:
	case OP_FLOOR:
	case OP_LESS:
	case OP_LESS_EQUAL:
	case OP_GREATER:
	case OP_GREATER_EQUAL:
	case OP_ATAN2:
	case OP_MOD:
	case OP_STEP:
	case OP_SMOOTH_SIGN:
		return 1;
	case OP_CLAMP:
	case OP_SMOOTH:
		return 2;
	default:
		return 0;
	}
}

/* True if the result jumps there, and does not only bend. */
static bool op_jumps(Op op) {
	return op != OP_MIN && op != OP_MAX && op != OP_ABS && op != OP_CLAMP && op != OP_SMOOTH;
}

/* Changes its sign where floor(x) changes: positive for even ones. */
static double parity(double x) {
	const double whole = floor(x), part = x - whole, size = fmax(part * (1 - part), DBL_MIN);
	return fmod(whole, 2) == 0 ? size : -size;
}

/*
 * Negative beyond the cut on the negative x axis. A turn passes the cut once, so that the sign changes at another place too,
 * where nothing jumps: at x = 0 below the x axis, and there a direction at rest must not switch by round-off.
 */
static double side_of_cut(double y, double x) {
	if (y < 0 && fabs(x) <= 1e-12 * fabs(y))
		return 0;
	return x < 0 && y < 0 ? y : fmax(fabs(x), DBL_MIN);
}

/* The values of op_switches() to the last bit. */
static void differences(Op op, const double *a, double *value) {
	switch (op) {
	case OP_ABS:
	case OP_SIGN:
		value[0] = a[0];
		return;
	case OP_SIDED:
		value[0] = a[1];
		return;
	case OP_FLOOR:
		value[0] = parity(a[0]);
		return;
	case OP_MOD:
		value[0] = parity(a[0] / a[1]);
		return;
	case OP_MIN:
	case OP_MAX:
		value[0] = a[0] - a[1];
		return;
	case OP_ATAN2:
		value[0] = side_of_cut(a[0], a[1]);
		return;
	case OP_SMOOTH_SIGN: // a sign where it has no width
		value[0] = a[1] == 0 ? a[0] : DBL_MIN;
		return;
	case OP_STEP:
		value[0] = op_value(OP_GREATER_EQUAL, a);
		return;
	case OP_CLAMP:
	case OP_SMOOTH:
		value[0] = a[0] - a[1];
		value[1] = a[0] - a[2];
		return;
	default:
		value[0] = op_value(op, a);
		return;
	}
}

/* A bend at zero to round-off is none: a body at rest would bend the formula without end. */
static double bent(double difference, double a, double b) {
	return fabs(difference) <= 1e-12 * (fabs(a) + fabs(b)) + 1e-15 ? 0 : difference;
}

void op_switches(Op op, const double *a, double *value) {
	differences(op, a, value);
	if (op == OP_ABS)
		value[0] = bent(value[0], 0, 0);
	else if (!op_jumps(op))
		for (int i = 0; i < op_takes(op) - 1; i++)
			value[i] = bent(value[i], a[0], a[i + 1]);
}

/* ---- what depends on what ---------------------------------------------------------------------------- */

static Dependence larger(Dependence a, Dependence b) { return a > b ? a : b; }

/* Of a line in time: only what keeps it one. */
static Dependence result_of(const Code *code, const Dependence *a) {
	Dependence most = DEPENDS_NOT;
	for (int i = 0; i < op_takes(code->op); i++)
		most = larger(most, a[i]);
	if (most != DEPENDS_LINEARLY)
		return most;
	switch (code->op) {
	case OP_MULTIPLY:
		return a[0] == DEPENDS_NOT || a[1] == DEPENDS_NOT ? most : DEPENDS_ON_TIME;
	case OP_DIVIDE:
	case OP_MOD:
		return a[1] == DEPENDS_NOT ? most : DEPENDS_ON_TIME;
	case OP_NEGATE:
	case OP_ADD:
	case OP_SUBTRACT:
	case OP_IF:
		return most;
	case OP_ATAN2:
	case OP_SMOOTH:
	case OP_SMOOTH_SIGN:
		return DEPENDS_ON_TIME; // curved from kink to kink
	default:
		return op_kinks(code) > 0 || code->joins ? most : DEPENDS_ON_TIME;
	}
}

static Dependence kink_of(const Code *code, const Dependence *a) {
	Dependence most = DEPENDS_NOT;
	for (int i = 0; i < op_takes(code->op); i++)
		most = larger(most, a[i]);
	const bool curved = code->op == OP_MOD && a[1] != DEPENDS_NOT; // a quotient of lines
	return most == DEPENDS_LINEARLY && curved ? DEPENDS_ON_TIME : most;
}

static bool is_watched(const Code *code) { return op_kinks(code) > 0 && code->kink >= DEPENDS_ON_TIME; }

void expression_classify(CalExpression *expression) {
	Dependence stack[EXPRESSION_STACK] = {0};
	int top = 0;
	expression->kink_count = 0;
	for (int i = 0; i < expression->code_count; i++) {
		Code *code = &expression->code[i];
		top -= op_takes(code->op);
		code->of = code->op == OP_NUMBER ? DEPENDS_NOT
		           : code->op == OP_TIME ? DEPENDS_LINEARLY
		           : code->op == OP_READ ? DEPENDS_ON_THE_STATE
		                                 : result_of(code, &stack[top]);
		code->kink = kink_of(code, &stack[top]);
		stack[top++] = code->of;
		expression->kink_count += is_watched(code) ? op_kinks(code) : 0;
	}
}

int cal_expression_kink_count(const CalExpression *expression) { return expression ? expression->kink_count : 0; }

static const Code *kink_code(const CalExpression *expression, int kink) {
	for (int i = 0; expression && kink >= 0 && i < expression->code_count; i++) {
		const Code *code = &expression->code[i];
		if (!is_watched(code))
			continue;
		kink -= op_kinks(code);
		if (kink < 0)
			return code;
	}
	return NULL;
}

const char *cal_expression_kink_text(const CalExpression *expression, int kink) {
	static const char *const names[OP_COUNT] = {[OP_ABS] = "abs()",
	                                            [OP_SIGN] = "sign()",
	                                            [OP_SIDED] = "half a turn of the quaternion",
	                                            [OP_FLOOR] = "floor()",
	                                            [OP_ATAN2] = "atan2()",
	                                            [OP_SMOOTH_SIGN] = "smooth_sign()",
	                                            [OP_LESS] = "comparison",
	                                            [OP_MOD] = "mod()",
	                                            [OP_MIN] = "min()",
	                                            [OP_MAX] = "max()",
	                                            [OP_STEP] = "step()",
	                                            [OP_CLAMP] = "clamp()",
	                                            [OP_SMOOTH] = "smooth()",
	                                            [OP_GREATER] = "comparison",
	                                            [OP_LESS_EQUAL] = "comparison",
	                                            [OP_GREATER_EQUAL] = "comparison"};
	const Code *code = kink_code(expression, kink);
	return code ? names[code->op] : NULL;
}

static void note_kinks(const Code *code, const double *arguments, void *user) {
	double **value = user;
	if (!is_watched(code))
		return;
	op_switches(code->op, arguments, *value);
	*value += op_kinks(code);
}

CalStatus cal_expression_kinks(const CalExpression *expression, CalEvalContext *context, double *value) {
	double ignored;
	if (!expression || !context || !value)
		return CAL_ERR_ARGUMENT;
	if (!expression->bound)
		return CAL_ERR_STAGE;
	return expression->kink_count > 0 ? expression_run(expression, context, note_kinks, (void *)&value, &ignored)
	                                  : CAL_OK;
}

/* ---- lines in time ------------------------------------------------------------------------------------- */

/* Of the kinks of one operation at t, those on straight lines: values with their rates. Returns how many. */
typedef struct Line {
	double v, d;
} Line;

static int lines_of(const Code *code, const Jet *a, Line line[MOST_KINKS]) {
	switch (code->op) {
	case OP_ABS:
	case OP_SIGN:
		line[0] = (Line){a[0].v, a[0].d};
		return 1;
	case OP_FLOOR: {
		const double to = a[0].d > 0 ? floor(a[0].v) + 1 : ceil(a[0].v) - (a[0].v == ceil(a[0].v) ? 0 : 1);
		line[0] = (Line){a[0].v - to, a[0].d};
		return 1;
	}
	case OP_MOD: {
		const double x = a[0].v / a[1].v, d = a[0].d / a[1].v;
		const double to = d > 0 ? floor(x) + 1 : ceil(x) - (x == ceil(x) ? 0 : 1);
		line[0] = (Line){x - to, d};
		return 1;
	}
	case OP_ATAN2:
		line[0] = (Line){a[0].v, a[0].d};
		return 1;
	case OP_SMOOTH_SIGN:
		line[0] = (Line){a[0].v, a[0].d};
		return a[1].v == 0;
	case OP_CLAMP:
	case OP_SMOOTH:
		line[0] = (Line){a[0].v - a[1].v, a[0].d - a[1].d};
		line[1] = (Line){a[0].v - a[2].v, a[0].d - a[2].d};
		return 2;
	default:
		line[0] = (Line){a[0].v - a[1].v, a[0].d - a[1].d};
		return 1;
	}
}

/* All arguments of the operation at code[index], at time t; NaN where they are not of time alone. */
static void arguments_at(const CalExpression *e, int index, double t, Jet a[3]) {
	Jet stack[EXPRESSION_STACK];
	const int takes = op_takes(e->code[index].op), top = expression_jets(e, index, t, stack);
	for (int k = 0; k < takes; k++)
		a[k] = stack[top - takes + k];
}

static double difference_at(const CalExpression *e, int index, int kink, double t) {
	Jet a[3] = {0};
	double value[MOST_KINKS];
	arguments_at(e, index, t, a);
	differences(e->code[index].op, (double[]){a[0].v, a[1].v, a[2].v}, value);
	return value[kink];
}

/* A bend is passed where it is reached, a jump where the operation is on its new side; that of a sign is never zero. */
static bool is_passed(Op op, double before, double now) {
	if (!op_jumps(op))
		return before > 0 ? now <= 0 : now >= 0;
	return op == OP_SIGN ? (before > 0 ? now < 0 : now > 0) : (now > 0) != (before > 0);
}

/* The first time after t at which the kink is passed, near a root that is right but for round-off; found by halving. */
static double step_past_root(const CalExpression *e, int index, int kink, double t, double root) {
	enum { DOUBLINGS = 28, HALVINGS = 64 }; // as far as 1e-8 of the time
	const Op op = e->code[index].op;
	const double before = difference_at(e, index, kink, t), size = fmax(fabs(root), fabs(t));
	double reach = nextafter(size, INFINITY) - size, low = root, high = root;
	bool found = is_passed(op, before, difference_at(e, index, kink, root));
	for (int i = 0; i < DOUBLINGS && !found; i++, reach *= 2) {
		low = high;
		high = root + reach;
		found = is_passed(op, before, difference_at(e, index, kink, high));
	}
	if (!found)
		return root; // another kink comes first
	for (int i = 0; i < DOUBLINGS && low > t && low == high; i++, reach *= 2) {
		const double earlier = fmax(t, root - reach);
		if (is_passed(op, before, difference_at(e, index, kink, earlier)))
			low = high = earlier;
		else
			low = earlier;
	}
	for (int i = 0; i < HALVINGS && nextafter(low, INFINITY) < high; i++) {
		const double middle = low + 0.5 * (high - low);
		if (is_passed(op, before, difference_at(e, index, kink, middle)))
			high = middle;
		else
			low = middle;
	}
	return high;
}

/* The first kink after `at`, from the lines that the formula follows there. */
static double next_from(const CalExpression *expression, double at) {
	double next = INFINITY;
	for (int i = 0; i < expression->code_count; i++) {
		const Code *code = &expression->code[i];
		if (op_kinks(code) == 0 || code->kink != DEPENDS_LINEARLY)
			continue;
		Jet a[3] = {0};
		Line line[MOST_KINKS] = {{0, 0}};
		arguments_at(expression, i, at, a);
		const int count = lines_of(code, a, line);
		for (int k = 0; k < count; k++) {
			const double root = at - line[k].v / line[k].d;
			if (root > at && root < next)
				next = fmin(next, step_past_root(expression, i, k, at, root));
		}
	}
	return next;
}

/* On a bend itself the line is that of one side only: a little later it is the other one. */
double cal_expression_next_switch(const CalExpression *expression, double t) {
	if (!expression)
		return INFINITY;
	const double next = next_from(expression, t), later = t + 1e-12 * fmax(1, fabs(t));
	return next > later ? fmin(next, next_from(expression, later)) : next;
}
