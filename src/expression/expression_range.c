// SPDX-License-Identifier: Apache-2.0
/*
 * expression_range.c — what a formula can be over a time ahead: interval arithmetic on its code.
 *
 * A quantity of the simulation is within v + d t -+ bend t^2/2 (reading_course). Every operation maps ranges of its
 * arguments to a range that holds all its results; where it does not know it is everything. Rounding is not directed:
 * ranges decide where to look, and what is found there is computed.
 */
#include <float.h>
#include <math.h>
#include <string.h>

#include "expression/expression.h"
#include "math/portable.h"
#include "sim/sim_internal.h"

#define PI 3.14159265358979323846

static const Range EVERYTHING = {-INFINITY, INFINITY};

/* ---- operations ------------------------------------------------------------------------------------------ */

static Range hull(double a, double b) { return isnan(a) || isnan(b) ? EVERYTHING : (Range){fmin(a, b), fmax(a, b)}; }

static Range join(Range a, Range b) { return (Range){fmin(a.low, b.low), fmax(a.high, b.high)}; }

static bool is_point(Range a) { return a.low == a.high; }

static Range product(Range a, Range b) {
	const double p[4] = {a.low * b.low, a.low * b.high, a.high * b.low, a.high * b.high};
	Range made = hull(p[0], p[1]);
	made = join(made, hull(p[2], p[3]));
	return isnan(p[0]) || isnan(p[1]) || isnan(p[2]) || isnan(p[3]) ? EVERYTHING : made;
}

static Range quotient(Range a, Range b) {
	if (b.low <= 0 && b.high >= 0)
		return EVERYTHING;
	return product(a, (Range){1 / b.high, 1 / b.low});
}

/* A wave with its tops at top + k period and its bottoms half a period on. */
static Range wave(Op op, Range a, double top, double period) {
	if (!(a.high - a.low < period))
		return (Range){-1, 1};
	Range made = hull(op_value(op, &a.low), op_value(op, &a.high));
	if (ceil((a.low - top) / period) <= floor((a.high - top) / period))
		made.high = 1;
	if (ceil((a.low - top - 0.5 * period) / period) <= floor((a.high - top - 0.5 * period) / period))
		made.low = -1;
	return made;
}

/* Even in a: its least at zero. */
static Range even(Op op, Range a) {
	Range made = hull(op_value(op, &a.low), op_value(op, &a.high));
	if (a.low < 0 && a.high > 0)
		made.low = op_value(op, (double[]){0});
	return made;
}

static Range power(Range a, Range b) {
	if (!is_point(b)) {
		if (!(a.low > 0))
			return EVERYTHING;
		const double e[2] = {b.low, b.high};
		Range made = hull(portable_pow(a.low, e[0]), portable_pow(a.high, e[0]));
		return join(made, hull(portable_pow(a.low, e[1]), portable_pow(a.high, e[1])));
	}
	const double n = b.low;
	if (n < 0 && a.low <= 0 && a.high >= 0)
		return EVERYTHING; // a pole
	if (n == floor(n) && a.low < 0 && a.high > 0) {
		const Range made = hull(portable_pow(a.low, n), portable_pow(a.high, n));
		return fmod(n, 2) == 0 ? (Range){fmin(0, made.low), made.high} : made;
	}
	return hull(portable_pow(a.low, n), portable_pow(a.high, n));
}

static Range modulo(Range a, Range b) {
	if (!is_point(b) || b.low == 0)
		return EVERYTHING;
	const double first[2] = {a.low, b.low}, last[2] = {a.high, b.low};
	if (floor(a.low / b.low) == floor(a.high / b.low))
		return hull(op_value(OP_MOD, first), op_value(OP_MOD, last));
	return hull(0, b.low);
}

/* Rising in its first argument, the others fixed. */
static Range rising(Op op, const Range *a, Range otherwise) {
	for (int i = 1; i < op_takes(op); i++)
		if (!is_point(a[i]))
			return otherwise;
	double low[3] = {a[0].low}, high[3] = {a[0].high};
	for (int i = 1; i < op_takes(op); i++)
		low[i] = high[i] = a[i].low;
	return hull(op_value(op, low), op_value(op, high));
}

static Range clamped(const Range *a) {
	return (Range){fmin(fmax(a[0].low, a[1].low), a[2].low), fmax(fmin(a[0].high, a[2].high), a[1].high)};
}

/* At equality, zero here, it depends on the comparison. */
static Range chosen(const Range *a) {
	if (a[0].low > 0)
		return a[1];
	return a[0].high < 0 ? a[2] : join(a[1], a[2]);
}

static Range monotonic(Op op, Range a) { return hull(op_value(op, &a.low), op_value(op, &a.high)); }

static Range op_range(Op op, const Range *a) {
	switch (op) {
	case OP_NEGATE:
		return (Range){-a[0].high, -a[0].low};
	case OP_SIN:
		return wave(op, a[0], 0.5 * PI, 2 * PI);
	case OP_COS:
		return wave(op, a[0], 0, 2 * PI);
	case OP_TAN:
		return floor(a[0].low / PI - 0.5) == floor(a[0].high / PI - 0.5) ? monotonic(op, a[0]) : EVERYTHING;
	case OP_ACOS:
		return monotonic(op, (Range){fmax(a[0].low, -1), fmin(a[0].high, 1)});
	case OP_ASIN:
		return monotonic(op, (Range){fmax(a[0].low, -1), fmin(a[0].high, 1)});
	case OP_LOG:
	case OP_SQRT:
		return a[0].high < 0 ? EVERYTHING : monotonic(op, (Range){fmax(a[0].low, 0), a[0].high});
	case OP_ABS:
	case OP_COSH:
		return even(op, a[0]);
	case OP_SIDED:
		return a[0];
	case OP_ADD:
		return (Range){a[0].low + a[1].low, a[0].high + a[1].high};
	case OP_SUBTRACT:
	case OP_GREATER:
	case OP_GREATER_EQUAL:
		return (Range){a[0].low - a[1].high, a[0].high - a[1].low};
	case OP_LESS:
	case OP_LESS_EQUAL:
		return (Range){a[1].low - a[0].high, a[1].high - a[0].low};
	case OP_MULTIPLY:
		return product(a[0], a[1]);
	case OP_DIVIDE:
		return quotient(a[0], a[1]);
	case OP_POWER:
		return power(a[0], a[1]);
	case OP_ATAN2:
		return is_point(a[0]) && is_point(a[1])
		           ? hull(portable_atan2(a[0].low, a[1].low), portable_atan2(a[0].low, a[1].low))
		           : (Range){-PI, PI};
	case OP_MOD:
		return modulo(a[0], a[1]);
	case OP_MIN:
		return (Range){fmin(a[0].low, a[1].low), fmin(a[0].high, a[1].high)};
	case OP_MAX:
		return (Range){fmax(a[0].low, a[1].low), fmax(a[0].high, a[1].high)};
	case OP_STEP:
	case OP_SMOOTH:
		return rising(op, a, (Range){0, 1});
	case OP_SMOOTH_SIGN:
		return rising(op, a, (Range){-1, 1});
	case OP_CLAMP:
		return clamped(a);
	case OP_IF:
		return chosen(a);
	default:
		return monotonic(op, a[0]);
	}
}

/* ---- kinks ------------------------------------------------------------------------------------------------- */

static bool keeps_sign(double low, double high) { return low >= 0 || high <= 0; }

/* The smallest size of what is in a range. */
static double least_size(Range a) { return a.low <= 0 && a.high >= 0 ? 0 : fmin(fabs(a.low), fabs(a.high)); }

/* Bends within round-off of zero do not count (op_switches). */
static bool bent_keeps(double low, double high, Range a, Range b) {
	const double none = 1e-12 * (least_size(a) + least_size(b)) + 1e-15;
	return low >= -none || high <= none || keeps_sign(low, high);
}

static bool difference_keeps(Range a, Range b) { return bent_keeps(a.low - b.high, a.high - b.low, a, b); }

static bool whole_keeps(Range a) { return floor(a.low) == floor(a.high); }

/* Whether no switch of an operation changes its sign while its arguments are in these ranges. */
static bool switches_keep(Op op, const Range *a) {
	switch (op) {
	case OP_ABS:
		return bent_keeps(a[0].low, a[0].high, (Range){0, 0}, (Range){0, 0});
	case OP_SIGN:
		return keeps_sign(a[0].low, a[0].high);
	case OP_SIDED:
		return keeps_sign(a[1].low, a[1].high);
	case OP_FLOOR:
		return whole_keeps(a[0]);
	case OP_MOD:
		return whole_keeps(quotient(a[0], a[1]));
	case OP_ATAN2:
		return a[1].low >= 0 || a[0].low >= 0 || (a[0].high < 0 && a[1].high < 0);
	case OP_SMOOTH_SIGN:
		return a[1].low > 0 || a[1].high < 0 || keeps_sign(a[0].low, a[0].high);
	case OP_MIN:
	case OP_MAX:
		return difference_keeps(a[0], a[1]);
	case OP_CLAMP:
	case OP_SMOOTH:
		return difference_keeps(a[0], a[1]) && difference_keeps(a[0], a[2]);
	default:
		return keeps_sign(a[0].low - a[1].high, a[0].high - a[1].low);
	}
}

/* ---- formulas ------------------------------------------------------------------------------------------------ */

typedef struct Ahead {
	const CalExpression *expression;
	CalEvalContext *context;
} Ahead;

/* The low end is concave in time and the high end convex: over a time each is at one of its ends. */
static Range course_range(Course c, double from, double to) {
	const double off[2] = {from * (c.spread + 0.5 * c.bend * from), to * (c.spread + 0.5 * c.bend * to)};
	const double on[2] = {c.v + c.d * from, c.v + c.d * to};
	return (Range){fmin(on[0] - off[0], on[1] - off[1]), fmax(on[0] + off[0], on[1] + off[1])};
}

/* The range over [from, to] from now; along the expected course alone if `exact`. *kept: no kink is passed. */
static Range range_over(const Ahead *ahead, double from, double to, bool exact, bool *kept) {
	const CalExpression *e = ahead->expression;
	Range stack[EXPRESSION_STACK] = {{0, 0}};
	const double t = cal_context_time(ahead->context);
	int top = 0;
	*kept = true;
	for (int i = 0; i < e->code_count; i++) {
		const Code *code = &e->code[i];
		Range made;
		top -= op_takes(code->op);
		if (code->op == OP_NUMBER) {
			made = (Range){code->number, code->number};
		} else if (code->op == OP_TIME) {
			made = (Range){t + from, t + to};
		} else if (code->op == OP_READ) {
			Course course = {0};
			const CalStatus status = reading_course(&e->readings[code->reading], ahead->context, &course);
			course.bend *= exact ? 0 : 2; // accelerations on the way are known at a few places only
			course.spread *= exact ? 0 : 2;
			made = status == CAL_OK ? course_range(course, from, to) : EVERYTHING;
		} else {
			made = op_range(code->op, &stack[top]);
			if (code->kink >= DEPENDS_ON_TIME && op_kinks(code) > 0)
				*kept = *kept && switches_keep(code->op, &stack[top]);
		}
		stack[top++] = made;
	}
	return stack[0];
}

typedef bool KeptFn(const Ahead *ahead, double span);

static bool kinks_kept(const Ahead *ahead, double span) {
	bool kept;
	range_over(ahead, 0, span, false, &kept);
	return kept;
}

static bool sign_kept(const Ahead *ahead, double span) {
	bool kept;
	const Range made = range_over(ahead, 0, span, false, &kept);
	return keeps_sign(made.low, made.high);
}

/* The longest time, to a few per cent, for which that holds. */
static double longest(const Ahead *ahead, double span, KeptFn *kept) {
	enum { HALVINGS = 40, REFINEMENTS = 5 };
	if (kept(ahead, span))
		return span;
	double low = 0.5 * span, high = span;
	for (int i = 0; i < HALVINGS && !kept(ahead, low); i++) {
		high = low;
		low *= 0.5;
	}
	for (int i = 0; i < REFINEMENTS; i++) {
		const double middle = 0.5 * (low + high);
		if (kept(ahead, middle))
			low = middle;
		else
			high = middle;
	}
	return low;
}

double cal_expression_clear(const CalExpression *expression, CalEvalContext *context, double span) {
	if (!expression || !context || !expression->bound || expression->kink_count == 0)
		return span;
	return longest(&(Ahead){expression, context}, span, kinks_kept);
}

double cal_expression_keeps_sign(const CalExpression *expression, CalEvalContext *context, double span) {
	if (!expression || !context || !expression->bound)
		return span;
	return longest(&(Ahead){expression, context}, span, sign_kept);
}

/*
 * ---- peaks: along the expected course alone, for a peak that is expected too early or too late is looked for again in the
 * next step ----------------------------------------------------------------------------------------------------- */

static double value_ahead(const Ahead *ahead, double t) {
	bool kept;
	return range_over(ahead, t, t, true, &kept).low;
}

/* What is known of a step: what the formula is at its stages, and how far it may be off before that counts as unseen. */
typedef struct Seen {
	Range values;
	double margin;
} Seen;

enum { STAGES = 6 };

/*
 * Where a step evaluates the formula, in units of the step: dopri5 at its stages. Other methods do so at its ends, or not so well
 * that what is between them would be known; what the formula was one and two steps ago belongs to what is seen, so that a smooth
 * maximum between the ends is none of a peak (a cubic passes), unless there was a kink since. Just within the ends: they may be
 * where the formula jumps.
 */
static int stages_of(const Ahead *ahead, double span, double stages[STAGES]) {
	static const double dopri5[STAGES] = {0, 0.2, 0.3, 0.8, 8.0 / 9, 1};
	static const double ends[] = {1e-6, 1 - 1e-6, -1, -2};
	bool kept;
	if (ahead->context->sim->method.method == CAL_METHOD_DOPRI5) {
		memcpy(stages, dopri5, sizeof dopri5);
		return STAGES;
	}
	range_over(ahead, -2 * span, 0, true, &kept);
	memcpy(stages, ends, sizeof ends);
	return kept ? 4 : 2;
}

static Seen seen_at_stages(const Ahead *ahead, double span, Range all) {
	double stages[STAGES];
	const int count = stages_of(ahead, span, stages);
	Range values = {INFINITY, -INFINITY};
	for (int i = 0; i < count; i++) {
		const double v = value_ahead(ahead, stages[i] * span);
		values = (Range){fmin(values.low, v), fmax(values.high, v)};
	}
	const double largest = fmax(fabs(all.low), fabs(all.high));
	return (Seen){values, 0.5 * (values.high - values.low) + (isfinite(largest) ? 1e-9 * largest : 0)};
}

static bool is_within(const Seen *seen, Range r) {
	return r.low >= seen->values.low - seen->margin && r.high <= seen->values.high + seen->margin;
}

double cal_expression_unseen(const CalExpression *expression, CalEvalContext *context, double span) {
	enum { BUDGET = 400, DEPTH = 48 };
	bool kept;
	if (!expression || !context || !expression->bound)
		return INFINITY;
	const Ahead ahead = {expression, context};
	const Range all = range_over(&ahead, 0, span, true, &kept);
	if (is_point(all))
		return INFINITY;
	const Seen seen = seen_at_stages(&ahead, span, all);
	if (is_within(&seen, all))
		return INFINITY;
	Range stack[DEPTH] = {{0, span}};
	int depth = 1;
	for (int i = 0; i < BUDGET && depth > 0; i++) {
		const Range piece = stack[--depth];
		const double middle = 0.5 * (piece.low + piece.high);
		if (is_within(&seen, range_over(&ahead, piece.low, piece.high, true, &kept)))
			continue;
		const double v = value_ahead(&ahead, middle);
		if (!is_within(&seen, (Range){v, v}))
			return piece.low > 0 ? piece.low : 0.5 * middle;
		if (depth + 2 <= DEPTH && middle > piece.low && middle < piece.high) {
			stack[depth++] = (Range){middle, piece.high};
			stack[depth++] = (Range){piece.low, middle};
		}
	}
	return INFINITY;
}
