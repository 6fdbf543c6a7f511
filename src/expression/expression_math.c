// SPDX-License-Identifier: Apache-2.0
/*
 * expression_math.c — the operations of formulas, on numbers and on numbers with two derivatives.
 *
 * With y = f(x): y' = f' x', y'' = f'' x'^2 + f' x''. Operations that choose one of their arguments pass its derivatives
 * on; those that jump have none. A comparison is never zero: at equality its value is the smallest number of the sign
 * that says whether it holds.
 */
#include <float.h>
#include <math.h>

#include "expression/expression.h"
#include "math/portable.h"
#include "math/real.h"

/* ---- of one number --------------------------------------------------------------------------------- */

static double sine(double x) {
	double s, c;
	sincos_double(x, &s, &c);
	return s;
}

static double cosine(double x) {
	double s, c;
	sincos_double(x, &s, &c);
	return c;
}

static double sign_of(double x) { return x > 0 ? 1 : x < 0 ? -1 : x; } // NaN stays

static double unary(Op op, double x) {
	switch (op) {
	case OP_NEGATE:
		return -x;
	case OP_SIN:
		return sine(x);
	case OP_COS:
		return cosine(x);
	case OP_TAN:
		return portable_tan(x);
	case OP_ASIN:
		return portable_asin(x);
	case OP_ACOS:
		return portable_acos(x);
	case OP_ATAN:
		return portable_atan(x);
	case OP_SINH:
		return portable_sinh(x);
	case OP_COSH:
		return portable_cosh(x);
	case OP_TANH:
		return portable_tanh(x);
	case OP_EXP:
		return portable_exp(x);
	case OP_LOG:
		return portable_log(x);
	case OP_SQRT:
		return sqrt(x);
	case OP_ABS:
		return fabs(x);
	case OP_SIGN:
		return sign_of(x);
	default:
		return floor(x);
	}
}

/* First and second derivative of f at x, where it is y. */
typedef struct Slope {
	double f1, f2;
} Slope;

static Slope slope_of(Op op, double x, double y) {
	switch (op) {
	case OP_NEGATE:
		return (Slope){-1, 0};
	case OP_SIN:
		return (Slope){cosine(x), -y};
	case OP_COS:
		return (Slope){-sine(x), -y};
	case OP_TAN:
		return (Slope){1 + y * y, 2 * y * (1 + y * y)};
	case OP_ASIN:
	case OP_ACOS: {
		const double sign = op == OP_ASIN ? 1 : -1, c = 1 - x * x;
		return (Slope){sign / sqrt(c), sign * x / (c * sqrt(c))};
	}
	case OP_ATAN: {
		const double c = 1 / (1 + x * x);
		return (Slope){c, -2 * x * c * c};
	}
	case OP_SINH:
		return (Slope){portable_cosh(x), y};
	case OP_COSH:
		return (Slope){portable_sinh(x), y};
	case OP_TANH:
		return (Slope){1 - y * y, -2 * y * (1 - y * y)};
	case OP_EXP:
		return (Slope){y, y};
	case OP_LOG:
		return (Slope){1 / x, -1 / (x * x)};
	case OP_SQRT:
		return (Slope){1 / (2 * y), -1 / (4 * y * y * y)};
	case OP_ABS:
		return (Slope){sign_of(x), 0};
	default:
		return (Slope){0, 0};
	}
}

/* A constant stays one, even where the slope is infinite. */
static Jet chain(Jet x, double y, Slope s) {
	const bool constant = x.d == 0 && x.dd == 0;
	return constant ? (Jet){y, 0, 0} : (Jet){y, s.f1 * x.d, s.f2 * x.d * x.d + s.f1 * x.dd};
}

/* ---- of two and three ------------------------------------------------------------------------------ */

/* difference > 0, or >= 0 if `equal`. */
static double compare_difference(double difference, bool equal) {
	if (difference == 0)
		return equal ? DBL_MIN : -DBL_MIN;
	return difference;
}

/* NaN wins, from either side. */
static bool takes_first(Op op, double a, double b) { return isnan(a) || (op == OP_MIN ? a <= b : a >= b); }

/* 0 to 1 along s, at rest at both ends, with two derivatives. */
static double quintic(double s, Slope *slope) {
	if (!(s > 0) || s >= 1) {
		*slope = (Slope){0, 0};
		return s >= 1 ? 1 : s * 0; // NaN stays
	}
	*slope = (Slope){30 * s * s * (1 + s * (-2 + s)), 60 * s * (1 + s * (-3 + s * 2))};
	return s * s * s * (10 + s * (-15 + s * 6));
}

static double smooth(double x, double x0, double x1) {
	Slope ignored;
	return x0 == x1 ? (x >= x0 ? 1 : 0) : quintic((x - x0) / (x1 - x0), &ignored);
}

double op_value(Op op, const double *a) {
	switch (op) {
	case OP_ADD:
		return a[0] + a[1];
	case OP_SIDED:
		return a[0];
	case OP_SUBTRACT:
		return a[0] - a[1];
	case OP_MULTIPLY:
		return a[0] * a[1];
	case OP_DIVIDE:
		return a[0] / a[1];
	case OP_POWER:
		return portable_pow(a[0], a[1]);
	case OP_LESS:
	case OP_LESS_EQUAL:
		return compare_difference(a[1] - a[0], op == OP_LESS_EQUAL);
	case OP_GREATER:
	case OP_GREATER_EQUAL:
		return compare_difference(a[0] - a[1], op == OP_GREATER_EQUAL);
	case OP_ATAN2:
		return portable_atan2(a[0], a[1]);
	case OP_MOD:
		return a[0] - a[1] * floor(a[0] / a[1]);
	case OP_MIN:
	case OP_MAX:
		return takes_first(op, a[0], a[1]) ? a[0] : a[1];
	case OP_STEP:
		return isnan(a[0]) || isnan(a[1]) ? NAN : a[0] >= a[1];
	case OP_SMOOTH_SIGN:
		return a[1] == 0 ? sign_of(a[0]) : portable_tanh(a[0] / fabs(a[1]));
	case OP_CLAMP:
		return a[0] < a[1] ? a[1] : a[0] > a[2] ? a[2] : a[0];
	case OP_SMOOTH:
		return smooth(a[0], a[1], a[2]);
	case OP_IF:
		return isnan(a[0]) ? NAN : a[0] > 0 ? a[1] : a[2];
	default:
		return unary(op, a[0]);
	}
}

/* ---- jets ------------------------------------------------------------------------------------------ */

static Jet minus(Jet a, Jet b) { return (Jet){a.v - b.v, a.d - b.d, a.dd - b.dd}; }

static Jet times(Jet a, Jet b) {
	return (Jet){a.v * b.v, a.d * b.v + a.v * b.d, a.dd * b.v + 2 * a.d * b.d + a.v * b.dd};
}

static Jet over(Jet a, Jet b) {
	const double v = a.v / b.v, d = (a.d - v * b.d) / b.v;
	return (Jet){v, d, (a.dd - 2 * d * b.d - v * b.dd) / b.v};
}

/* n x^(n - 1) and so on; without the product of zero and infinity for small whole n. */
static double falling(double factor, double x, double power) {
	return factor == 0 ? 0 : factor * portable_pow(x, power);
}

static Jet power(Jet a, Jet b) {
	const double y = portable_pow(a.v, b.v), n = b.v;
	if (b.d == 0 && b.dd == 0)
		return chain(a, y, (Slope){falling(n, a.v, n - 1), falling(n * (n - 1), a.v, n - 2)});
	const Jet exponent = times(b, chain(a, portable_log(a.v), slope_of(OP_LOG, a.v, 0)));
	return chain(exponent, y, (Slope){y, y});
}

static Jet arc(Jet y, Jet x) {
	const double square = x.v * x.v + y.v * y.v;
	if (y.d == 0 && y.dd == 0 && x.d == 0 && x.dd == 0)
		return (Jet){portable_atan2(y.v, x.v), 0, 0};
	const double d = (x.v * y.d - y.v * x.d) / square;
	return (Jet){portable_atan2(y.v, x.v), d,
	             (x.v * y.dd - y.v * x.dd) / square - d * 2 * (x.v * x.d + y.v * y.d) / square};
}

static Jet modulo(Jet a, Jet b) {
	const double whole = floor(a.v / b.v);
	return minus(a, (Jet){b.v * whole, b.d * whole, b.dd * whole});
}

static Jet smooth_jet(const Jet *a) {
	const Jet width = minus(a[2], a[1]);
	if (width.v == 0)
		return (Jet){smooth(a[0].v, a[1].v, a[2].v), 0, 0};
	const Jet s = over(minus(a[0], a[1]), width);
	Slope slope;
	const double y = quintic(s.v, &slope);
	return chain(s, y, slope);
}

static Jet smooth_sign_jet(const Jet *a) {
	const Jet width = a[1].v < 0 ? (Jet){-a[1].v, -a[1].d, -a[1].dd} : a[1];
	if (width.v == 0)
		return (Jet){sign_of(a[0].v), 0, 0};
	const Jet s = over(a[0], width);
	const double y = portable_tanh(s.v);
	return chain(s, y, slope_of(OP_TANH, s.v, y));
}

static Jet compare_jets(Jet difference, bool equal) {
	difference.v = compare_difference(difference.v, equal);
	return difference;
}

Jet op_jet(Op op, const Jet *a) {
	switch (op) {
	case OP_ADD:
		return (Jet){a[0].v + a[1].v, a[0].d + a[1].d, a[0].dd + a[1].dd};
	case OP_SIDED:
		return a[0];
	case OP_SUBTRACT:
		return minus(a[0], a[1]);
	case OP_MULTIPLY:
		return times(a[0], a[1]);
	case OP_DIVIDE:
		return over(a[0], a[1]);
	case OP_POWER:
		return power(a[0], a[1]);
	case OP_LESS:
	case OP_LESS_EQUAL:
		return compare_jets(minus(a[1], a[0]), op == OP_LESS_EQUAL);
	case OP_GREATER:
	case OP_GREATER_EQUAL:
		return compare_jets(minus(a[0], a[1]), op == OP_GREATER_EQUAL);
	case OP_ATAN2:
		return arc(a[0], a[1]);
	case OP_MOD:
		return modulo(a[0], a[1]);
	case OP_MIN:
	case OP_MAX:
		return takes_first(op, a[0].v, a[1].v) ? a[0] : a[1];
	case OP_STEP:
		return (Jet){op_value(op, (double[]){a[0].v, a[1].v}), 0, 0};
	case OP_SMOOTH_SIGN:
		return smooth_sign_jet(a);
	case OP_CLAMP:
		return a[0].v < a[1].v ? a[1] : a[0].v > a[2].v ? a[2] : a[0];
	case OP_SMOOTH:
		return smooth_jet(a);
	case OP_IF:
		return isnan(a[0].v) ? a[0] : a[0].v > 0 ? a[1] : a[2];
	default: {
		const double y = unary(op, a[0].v);
		return chain(a[0], y, slope_of(op, a[0].v, y));
	}
	}
}
