// SPDX-License-Identifier: Apache-2.0
/*
 * test_expression.c — formulas: what they mean, what is refused and where, derivatives, and what they read.
 */
#include "device/rig.h"

#include <calder/expression.h>

#include "sim/sim_internal.h"
#include "support/rng.h"

static const CalGroupId main_group = {0};
static const CalBodyId ground = {0};

static CalExpression *parsed(const char *text) {
	CalExpression *made;
	CalError error = {0};
	if (cal_expression_create(text, NULL, &made, &error) != CAL_OK)
		fail_msg("%s", error.text);
	assert_string_equal(cal_expression_text(made), text);
	return made;
}

/* Value, rate and acceleration at t of a formula of time. */
static void jet_of(const char *text, double t, double jet[3]) {
	CalExpression *made = parsed(text);
	assert_int_equal(cal_expression_jet(made, t, jet), CAL_OK);
	cal_expression_destroy(made);
}

static double value_of(const char *text, double t) {
	double jet[3];
	jet_of(text, t, jet);
	return jet[0];
}

/* ---- numbers ------------------------------------------------------------------------------------------ */

static void formulas_mean_what_they_say(void **state) {
	(void)state;
	static const struct {
		const char *text;
		double value; // at t = 0.7
	} cases[] = {
		{"1 + 2*3", 7},
		{"(1 + 2)*3", 9},
		{"8/4/2", 1},
		{"7 - 4 - 2", 1},
		{"-2^2", -4},
		{"2^-1", 0.5},
		{"2^3^2", 512},
		{"--2", 2},
		{".5e1", 5},
		{"t", 0.7},
		{"pi", 3.14159265358979323846},
		{"180 deg", 3.14159265358979323846},
		{"30*deg - pi/6", 0},
		{"2 rpm", 2 * 3.14159265358979323846 / 30},
		{"5 mm", 5e-3},
		{"2 min", 120},
		{"min(2 min, 5)", 5},
		{"2 m^2", 2},
		{"3 cm^2", 3e-4},
		{"36 km/h", 10},
		{"9.81 m/s^2", 9.81},
		{"1 kN + 1 N", 1001},
		{"min(3, 1, 2)", 1},
		{"max(3, 1, 2, 9, 4)", 9},
		{"clamp(5, -1, 1)", 1},
		{"clamp(-5, -1, 1)", -1},
		{"mod(-1, 3)", 2},
		{"floor(-0.5)", -1},
		{"sign(-3) + sign(0) + sign(2)", 0},
		{"abs(-2)", 2},
		{"atan2(1, -1)", 2.35619449019234492885},
		{"step(t, 0.7) + step(t, 0.8)", 1},
		{"smooth(t, 0.2, 1.2)", 0.5},
		{"smooth(t, 1, 0)", 0.3 * 0.3 * 0.3 * (10 - 15 * 0.3 + 6 * 0.09)},
		{"smooth(t, 0.7, 0.7)", 1},
		{"smooth(t, 3, 4)", 0},
		{"if(t < 1, 5, 6)", 5},
		{"if(not t < 1, 5, 6)", 6},
		{"if(t < 1 and t > 0.5 or 1 < 0, 1, 0)", 1},
		{"if((t < 1 or 0 < 1) and 1 < 0, 1, 0)", 0},
		{"if(t < 0, log(-1), 3)", 3},
		{"if(2 <= 2, 1, 0) + if(2 < 2, 10, 0) + if(2 >= 2, 100, 0) + if(2 > 2, 1000, 0)", 101},
		{"sqrt(2)^2", 2},
		{"exp(log(3))", 3},
		{"sinh(1)^2 - cosh(1)^2", -1},
		{"tanh(0.5) - sinh(0.5)/cosh(0.5)", 0},
		{"tan(0.5) - sin(0.5)/cos(0.5)", 0},
		{"asin(0.5) + acos(0.5) - atan(1)*2", 0},
	};
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		const double got = value_of(cases[i].text, 0.7);
		if (!(fabs(got - cases[i].value) <= 1e-14 * fmax(1, fabs(cases[i].value))))
			fail_msg("%s = %.17g, wanted %.17g", cases[i].text, got, cases[i].value);
	}
	assert_true(isnan(value_of("log(-1)", 0)));
	assert_true(isnan(value_of("max(1, log(-1))", 0)) && isnan(value_of("min(log(-1), 1)", 0)));
	assert_true(isnan(value_of("smooth(log(-1), 0, 1)", 0)) && isnan(value_of("step(log(-1), 0)", 0)));
	assert_true(isnan(value_of("if(log(-1) < 0, 1, 2)", 0)));
}

/* Sign says whether it holds, also at equality; zero is at the change. */
static void a_condition_changes_sign_where_it_changes(void **state) {
	(void)state;
	static const struct {
		const char *text;
		double t;
		int holds;
	} cases[] = {
		{"t < 2", 1, 1},           {"t < 2", 2, 0},
		{"t <= 2", 2, 1},          {"t > 2", 2, 0},
		{"t >= 2", 2, 1},          {"t > 2", 3, 1},
		{"not t > 2", 3, 0},       {"t > 1 and t < 2", 1.5, 1},
		{"t > 1 and t < 2", 2, 0}, {"t < 1 or t > 2", 1.5, 0},
		{"t < 1 or t > 2", 0, 1},  {"not (t < 1 or t > 2)", 1, 1},
	};
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		CalExpression *made = parsed(cases[i].text);
		double jet[3];
		assert_int_equal(cal_expression_is_condition(made), 1);
		assert_int_equal(cal_expression_jet(made, cases[i].t, jet), CAL_OK);
		if (jet[0] == 0 || (jet[0] > 0) != cases[i].holds)
			fail_msg("%s at t = %g is %g", cases[i].text, cases[i].t, jet[0]);
		cal_expression_destroy(made);
	}
	check_near(value_of("t < 2", 0.5), 1.5, 0);
	check_near(value_of("t > 1 and t < 2", 1.25), 0.25, 0);
	CalExpression *number = parsed("if(t < 1, 1, 2)");
	assert_int_equal(cal_expression_is_condition(number), 0);
	assert_int_equal(cal_expression_is_of_time(number), 1);
	cal_expression_destroy(number);
}

/* Where it changes, the value on arrival is the new one, and the one a rounding before is the old one. */
static void jumps_in_time_are_announced(void **state) {
	(void)state;
	static const char *const texts[] = {
		"step(t, 2)",         "if(t < 2, 1, 0)",  "if(t <= 2, 1, 0)", "if(2 < t, 1, 0)", "if(2 >= t and 1 > 0, 1, 0)",
		"3*step(t, 2000 ms)", "mod(t, 1 + 1) + 5"};
	for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
		CalExpression *made = parsed(texts[i]);
		const double at = cal_expression_next_switch(made, 0.1);
		double before[3], after[3];
		check_near(at, 2, 1e-15);
		cal_expression_jet(made, nextafter(at, 0), before);
		cal_expression_jet(made, at, after);
		assert_true(before[0] != after[0]);
		cal_expression_destroy(made);
	}
	CalExpression *made = parsed("smooth(t, 1, 2) + step(3, t)");
	check_near(cal_expression_next_switch(made, 0), 1, 0);
	check_near(cal_expression_next_switch(made, 1), 2, 0);
	check_near(cal_expression_next_switch(made, 2), 3, 1e-15);
	assert_true(isinf(cal_expression_next_switch(made, 4)));
	cal_expression_destroy(made);
}

/* Straight lines are solved for, piece by piece, whatever they are made of; on arrival the formula is on its new side. */
static void kinks_along_lines_are_solved(void **state) {
	(void)state;
	static const struct {
		const char *text;
		double at[4]; // 0: no more
	} cases[] = {
		{"if(abs(t - 5) < 0.005, 100, 0)", {4.995, 5, 5.005}},
		{"100*max(0, 1 - abs(t - 5)/0.01)", {4.99, 5, 5.01}},
		{"floor(3*t)", {1.0 / 3, 2.0 / 3, 1, 4.0 / 3}},
		{"floor(-3*t)", {1.0 / 3, 2.0 / 3, 1, 4.0 / 3}},
		{"mod(0.35 - t, 0.1)", {0.05, 0.15, 0.25, 0.35}},
		{"clamp(2*t, 1, 3)", {0.5, 1.5}},
		{"sign(1 - t)*sin(t)", {1}},
		{"if(2*t - 1 > 0 and not (t/3 >= 1), 1, 2)", {0.5, 3}},
		{"min(t, 2 - t, 0.5)", {0.5, 1, 1.5}},
		{"if(t*t > 4, 1, 0)", {0}},
	};
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		CalExpression *made = parsed(cases[i].text);
		double t = 0.001;
		for (int k = 0; k < 4 && cases[i].at[k] > 0; k++) {
			t = cal_expression_next_switch(made, t);
			check_near(t, cases[i].at[k], 1e-15 * 8);
		}
		cal_expression_destroy(made);
	}
	CalExpression *made = parsed("floor(10*t)");
	for (double t = 0.05; t < 50; t = cal_expression_next_switch(made, t)) { // none is skipped, none comes twice
		double before[3], here[3];
		cal_expression_jet(made, nextafter(t, 0), before);
		cal_expression_jet(made, t, here);
		assert_true(t == 0.05 || here[0] == before[0] + 1);
	}
	cal_expression_destroy(made);
}

/* To the last bit: what switches is past its change at the time reported, and not a rounding before. */
static void switches_are_found_to_the_last_bit(void **state) {
	(void)state;
	Rng rng = rng_make(test_seed());
	static const struct {
		const char *formula, *line; // lines that it switches by, positive after the change if rising
		int strict;
	} forms[] = {{"max(%.17g*t + %.17g, %.17g)", "%.17g*t + %.17g - %.17g", 0},
	             {"abs((%.17g*t + %.17g)/3 - %.17g/3)", "(%.17g*t + %.17g)/3 - %.17g/3", 0},
	             {"clamp(%.17g*t + %.17g, %.17g, 1e9)", "%.17g*t + %.17g - %.17g", 0},
	             {"sign(%.17g*t + %.17g - %.17g)", "%.17g*t + %.17g - %.17g", 1}};
	check_near(value_of("t", 0), 0, 0);
	CalExpression *plain = parsed("max(t - 1, 0)");
	assert_true(cal_expression_next_switch(plain, 0) == 1);
	cal_expression_destroy(plain);
	for (int k = 0; k < 4000; k++) {
		const double at = rng_uniform(&rng, 0.1, 100),
					 slope = rng_uniform(&rng, 0.01, 1) * pow(10, k % 7) * (k % 2 ? 1 : -1);
		const double level = rng_uniform(&rng, -10, 10), offset = level - slope * at;
		char text[200], line[200];
		double now[3], before[3];
		snprintf(text, sizeof text, forms[k % 4].formula, slope, offset, level); // NOLINT: formats of the table above
		snprintf(line, sizeof line, forms[k % 4].line, slope, offset, level);    // NOLINT
		CalExpression *made = parsed(text), *what = parsed(line);
		const double found = cal_expression_next_switch(made, 0);
		check_near(found, at, 1e-9 * at);
		cal_expression_jet(what, found, now);
		cal_expression_jet(what, nextafter(found, 0), before);
		const double rising = slope > 0 ? 1 : -1;
		if (!(forms[k % 4].strict ? rising * now[0] > 0 : rising * now[0] >= 0) ||
		    !(forms[k % 4].strict ? rising * before[0] <= 0 : rising * before[0] < 0))
			fail_msg("seed %llu: %s switches at %.17g: %g, and %g before", (unsigned long long)test_seed(), text, found,
			         now[0], before[0]);
		cal_expression_destroy(made);
		cal_expression_destroy(what);
	}
}

/* ---- ranges -------------------------------------------------------------------------------------------- */

static const char *const of_time[] = {
	"sin(7*t) - 0.9",          "cos(3*t)*exp(-t/5) + 0.2",
	"t^2 - 5*t + 3",           "(t - 4)^3",
	"1/(t - 30) + 0.1*t",      "tan(t/10) - 1",
	"sqrt(t) - log(t + 1)",    "atan2(sin(t), 2) - 0.1",
	"abs(t - 6) - mod(t, 3)",  "max(sin(t), cos(2*t)) - min(t/9, 0.8)",
	"if(sin(t) > 0.5, 1, -1)", "clamp(t - 3, -1, 2)*step(t, 1)",
	"smooth(t, 2, 5) - 0.5",   "smooth_sign(sin(t), 0.1)",
	"floor(t*1.7) - 4",        "asin(sin(t)/2) + acos(cos(t)/3) - 1",
	"sinh(t/4) - cosh(t/5)",   "2^(sin(t)) - 1.5",
	"tanh(t - 2)*sign(t - 9)", "100*exp(-((t - 5)/0.01)^2) - 1",
	"max(1/(t - 3), 0.5) - 1", "abs(1/(t - 7)) - 0.3",
	"(t - 6)^(-1) + 0.2",      "atan2(t^2 - 9, -1)",
	"atan2(sin(t), cos(t))",   "smooth_sign(sin(t), 0)",
	"if(t^2 >= 9, 1, -1)",     "min(tan(t), 2) + mod(t^2, 5)",
	"clamp(1/sin(t), -2, 2)",  "log(abs(t - 4)) + sqrt(t)",
	"(sin(t))^(-2) - 3",       "if(t^2 < 16, if(sin(t) > 0, 1, -2), t) - 0.5",
};

/* Poles and touching ends, where a range is easily too small. */
static void ranges_hold_at_their_ends(void **state) {
	(void)state;
	static const struct {
		const char *text;
		double from, span;
		int kink; // within the span, and not at its ends
	} cases[] = {
		{"(t - 2)^(-1) + 0.6", 0, 2, 0},          // to -infinity at the very end
		{"0.5 - if(t^2 >= 4, 1, 0)", 0, 2, 0},    // holds at the end
		{"if(t^2 > 4, 1, 0) - 0.5", 2, 1, 0},     // does not hold at the start
		{"1 - if(1/(t - 1) > 3, 2, 0)", 0, 2, 1}, // after a pole
		{"1 - max(1/(t - 1), 3)/4", 0, 2, 1},     //
	};
	Rig rig = rig_new();
	rig_body(&rig, (CalGroupId){0}, (CalBodyId){0}, "m", rig_joint(CAL_JOINT_PRISMATIC, 1, 0, 0), 1, unit_moments);
	rig_sim(&rig, CAL_METHOD_DOPRI5, 0);
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		CalExpression *made = parsed(cases[i].text);
		CalEvalContext context = context_now(rig.sim, false);
		context.t = cases[i].from;
		if (!(cal_expression_keeps_sign(made, &context, cases[i].span) < cases[i].span))
			fail_msg("%s is said to keep its sign", cases[i].text);
		if (cases[i].kink && !(cal_expression_clear(made, &context, cases[i].span) < cases[i].span))
			fail_msg("%s is said to have no kink", cases[i].text);
		cal_expression_destroy(made);
	}
	rig_free(&rig);
}

/* A function of two numbers on top of a full stack: nothing beyond it is read (address sanitizer). */
static void ranges_stay_on_the_stack(void **state) {
	(void)state;
	char text[4000], *at = text;
	Rig rig = rig_new();
	rig_body(&rig, (CalGroupId){0}, (CalBodyId){0}, "m", rig_joint(CAL_JOINT_PRISMATIC, 1, 0, 0), 1, unit_moments);
	rig_sim(&rig, CAL_METHOD_DOPRI5, 0);
	CalExpression *made = NULL;
	for (int depth = 64; depth > 40 && !made; depth--) { // as deep as formulas may be
		at = text;
		for (int i = 0; i < depth; i++)
			at += sprintf(at, "1+(");
		at += sprintf(at, "smooth_sign(sin(t), 0.5)");
		for (int i = 0; i < depth; i++)
			at += sprintf(at, ")");
		if (cal_expression_create(text, NULL, &made, NULL) != CAL_OK)
			made = NULL;
	}
	assert_non_null(made);
	CalEvalContext context = context_now(rig.sim, false);
	check_near(cal_expression_keeps_sign(made, &context, 10), 10, 0);
	check_near(cal_expression_clear(made, &context, 10), 10, 0);
	cal_expression_destroy(made);
	rig_free(&rig);
}

/* What is said to keep its sign does so at all places that are looked at, and it is said often enough to get somewhere. */
static void ranges_hold_what_they_bound(void **state) {
	(void)state;
	Rig rig = rig_new();
	rig_body(&rig, (CalGroupId){0}, (CalBodyId){0}, "m", rig_joint(CAL_JOINT_PRISMATIC, 1, 0, 0), 1, unit_moments);
	rig_sim(&rig, CAL_METHOD_DOPRI5, 0);
	Rng rng = rng_make(test_seed());
	for (int k = 0; k < 2000; k++) {
		CalExpression *made = parsed(of_time[k % (int)(sizeof of_time / sizeof *of_time)]);
		CalEvalContext context = context_now(rig.sim, false);
		context.t = rng_uniform(&rng, 0, 12);
		double jet[3], kinks[8], at[8];
		cal_expression_jet(made, context.t, jet);
		const double start = jet[0], from = context.t, span = rng_uniform(&rng, 0, 8);
		const double keeps = cal_expression_keeps_sign(made, &context, span);
		const double clear = cal_expression_clear(made, &context, span);
		assert_true(keeps > 0 && keeps <= span && clear > 0 && clear <= span);
		cal_expression_kinks(made, &context, kinks);
		for (int i = 1; i <= 200; i++) {
			cal_expression_jet(made, from + keeps * i / 200, jet);
			if (start * jet[0] < 0)
				fail_msg("%s: %g at %g, %g within %g", cal_expression_text(made), start, from, jet[0], keeps);
			context.t = from + clear * i / 200;
			cal_expression_kinks(made, &context, at);
			for (int j = 0; j < cal_expression_kink_count(made); j++)
				assert_true(kinks[j] * at[j] >= 0);
		}
		cal_expression_destroy(made);
	}
	rig_free(&rig);
}

/* ---- mistakes ------------------------------------------------------------------------------------------ */

static void mistakes_name_their_column(void **state) {
	(void)state;
	static const struct {
		const char *text, *says;
	} cases[] = {
		{"", "column 1: expected a number, a name or \"(\", found the end"},
		{"1 +", "column 4: expected a number, a name or \"(\", found the end"},
		{"1 2", "column 3: expected an operator or the end, found \"2\""},
		{"2 t", "column 3: expected an operator or the end, found \"t\""},
		{"(1", "column 3: expected an operator or \")\", found the end"},
		{"foo", "column 1: \"foo\" is no constant and no unit"},
		{"sin", "a function needs its arguments in parentheses"},
		{"1 + foo(2)", "column 5: there is no function \"foo\""},
		{"sin()", "column 5: expected a number"},
		{"sin(1, 2)", "column 6: expected \")\", found \",\""},
		{"atan2(1)", "column 8: expected \",\" and the next argument, found \")\""},
		{"min(1)", "column 6: expected \",\" and the next argument"},
		{"min(1, 2", "column 9: expected \",\" or \")\", found the end"},
		{"1 + (t < 2)", "column 5: expected a number, found a condition"},
		{"t < 1 < 2", "column 7: expected an operator or the end, found \"<\""},
		{"t == 1", "column 3: numbers are not compared for equality"},
		{"t and t < 1", "column 1: expected a condition such as a < b, found a number"},
		{"t < 1 or 5", "column 10: expected a condition"},
		{"not 5", "column 5: expected a condition"},
		{"if(1, 2, 3)", "column 4: expected a condition"},
		{"if(t < 1, 2 < 3, 3)", "column 11: expected a number, found a condition"},
		{"-(t < 1)", "column 1: a condition has no sign; write \"not\""},
		{"(t < 1)^2", "column 1: \"^\" works on numbers"},
		{"2^(t < 1)", "column 3: \"^\" works on numbers"},
		{"1e999", "column 1: the number is too large"},
		{"1..2", "column 3: expected an operator or the end, found \".\""},
		{"q()", "column 3: expected a name"},
		{"q(a, )", "column 6: expected a name"},
		{"q(a, 1, 2)", "column 9: expected \")\""},
		{"q(a", "column 4: expected \",\" or \")\", found the end"},
		{"q('a' b)", "column 7: expected \",\" or \")\", found \"b\""},
		{"q('a)", "column 3: the quoted name has no end"},
		{"1 + eta(body, 2)", "column 5: write q(body.eta2)"},
		{"device(motor, effort)", "column 1: write device(motor.effort) instead of a comma"},
		{"reaction(hinge.mz)", "column 1: reaction() is not known within a step"},
		{"distance(a)", "column 11: distance() needs 2 arguments"},
		{"\xc3\xa4 + 1", "column 1: expected a number, a name or \"(\", found \"\xc3\xa4\""},
		{"q(\xc3\xa4) + $", "column 8: expected a number, a name or \"(\", found \"$\""},
		{"1 and", "column 6: expected a number"},
		{"and", "column 1: expected a number, a name or \"(\", found \"and\""},
	};
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		CalExpression *made;
		CalError error = {0};
		assert_int_equal(cal_expression_create(cases[i].text, NULL, &made, &error), CAL_ERR_INPUT);
		assert_null(made);
		if (!strstr(error.text, cases[i].says))
			fail_msg("%s\nsays %s\nnot  %s", cases[i].text, error.text, cases[i].says);
	}
}

/* `count` times `part`, then `middle`, then as often `end`. */
static CalStatus nested(int count, const char *part, const char *middle, const char *end, double *value) {
	char text[9000] = "";
	CalExpression *made;
	CalError error = {0};
	double jet[3] = {0};
	for (int i = 0; i < count; i++)
		strcat(text, part);
	strcat(text, middle);
	for (int i = 0; i < count; i++)
		strcat(text, end);
	const CalStatus status = cal_expression_create(text, NULL, &made, &error);
	if (status == CAL_OK)
		cal_expression_jet(made, 0, jet);
	else
		assert_non_null(strstr(error.text, "split it"));
	*value = jet[0];
	cal_expression_destroy(made);
	return status;
}

static void depth_is_limited_and_length_is(void **state) {
	(void)state;
	double value;
	assert_int_equal(nested(60, "(", "1", ")", &value), CAL_OK);
	assert_int_equal(nested(70, "(", "1", ")", &value), CAL_ERR_INPUT);
	assert_int_equal(nested(3000, "(", "1", ")", &value), CAL_ERR_INPUT);
	assert_int_equal(nested(3000, "-", "1", "", &value), CAL_ERR_INPUT);
	assert_int_equal(nested(2000, "not ", "1<2", "", &value), CAL_ERR_INPUT);
	assert_int_equal(nested(2000, "2^", "1", "", &value), CAL_ERR_INPUT);
	assert_int_equal(nested(50, "1+(", "1", ")", &value), CAL_OK);
	check_near(value, 51, 0);
	assert_int_equal(nested(1500, "1+", "1", "", &value), CAL_OK); // side by side, not nested
	check_near(value, 1501, 0);
	assert_int_equal(nested(4100, "1+", "1", "", &value), CAL_ERR_INPUT);
}

/* Random bytes and random words of the language: never anything but a value or an error in the text. */
static void nonsense_is_refused(void **state) {
	(void)state;
	static const char *const words[] = {"sin(",   "q(", "'",   "\"",   ",",    ")",       "(",  "t",
	                                    "30 deg", "1e", "<",   "<=",   "and ", "or ",     "-",  "^",
	                                    "not ",   "x",  "if(", "min(", " ",    "device(", "2.", "m"};
	uint64_t seed = 88172645463325252u;
	int good = 0;
	for (int round = 0; round < 60000; round++) {
		char text[200] = "";
		const int count = 1 + (int)(seed % 12);
		for (int i = 0; i < count; i++) {
			seed ^= seed << 13;
			seed ^= seed >> 7;
			seed ^= seed << 17;
			if (round % 4 == 0)
				snprintf(text + strlen(text), 3, "%c", (int)(1 + seed % 255));
			else
				strcat(text, words[seed % (sizeof words / sizeof words[0])]);
		}
		CalExpression *made;
		CalError error = {0};
		double jet[3];
		if (cal_expression_create(text, NULL, &made, &error) == CAL_OK) {
			good++;
			cal_expression_jet(made, 0.3, jet);
		} else {
			assert_non_null(strstr(error.text, "column"));
		}
		cal_expression_destroy(made);
	}

	assert_true(good > 500); // otherwise it would have shown little
}

static int allocations_left;

static void *scarce_alloc(void *user, size_t size) {
	(void)user;
	return allocations_left-- > 0 ? malloc(size) : NULL;
}

static void scarce_free(void *user, void *memory) {
	(void)user;
	free(memory);
}

static void shortage_of_memory_is_reported(void **state) {
	(void)state;
	const CalAllocator scarce = {scarce_alloc, scarce_free, NULL};
	CalExpression *made = NULL;
	CalStatus status = CAL_ERR_MEMORY;
	int count = 0;
	for (; status != CAL_OK; count++) {
		CalError error = {0};
		allocations_left = count;
		status = cal_expression_create("q(a) + 2*u(b) + 3*x(c) + 4*y(d) + 5*z(e) + 1", &scarce, &made, &error);
		if (status != CAL_OK) {
			assert_int_equal(status, CAL_ERR_MEMORY);
			assert_null(made);
			assert_non_null(strstr(error.text, "out of memory"));
		}
	}
	assert_true(count > 4);
	cal_expression_destroy(made);
	cal_expression_destroy(NULL);
}

/* ---- derivatives --------------------------------------------------------------------------------------- */

static void derivatives_of_time_are_exact(void **state) {
	(void)state;
	const double t = 0.7, w = 3;
	double jet[3];
	jet_of("2*sin(3*t)", t, jet);
	check_near(jet[1], 2 * w * cos(w * t), 1e-14);
	check_near(jet[2], -2 * w * w * sin(w * t), 1e-14);
	jet_of("t^3", t, jet);
	check_near(jet[1], 3 * t * t, 1e-15);
	check_near(jet[2], 6 * t, 1e-15);
	jet_of("t^1 + t^0", 0, jet); // without 0 * infinity
	check_near(jet[1], 1, 0);
	check_near(jet[2], 0, 0);
	jet_of("sqrt(0) + (-t)^2", 0, jet);
	check_near(jet[1], 0, 0);
	check_near(jet[2], 2, 0);
	jet_of("smooth(t, 0.2, 1.2)", t, jet);
	check_near(jet[1], 30.0 / 16, 1e-14);
	check_near(jet[2], 0, 1e-13);
	jet_of("if(t < 1, 2*t, 3*t)", t, jet);
	check_near(jet[1], 2, 0);
}

/* The formulas are smooth at 0.7; steps of differences balance round-off and truncation. */
static void derivatives_agree_with_differences(void **state) {
	(void)state;
	static const char *const texts[] = {
		"sin(2*t)*exp(-t/3)",
		"cos(t^2)",
		"tan(t)",
		"asin(t/2)",
		"acos(t/2)",
		"atan(3*t)",
		"atan2(t, 1 - t^2)",
		"sinh(t)",
		"cosh(2*t)",
		"tanh(3*t)",
		"log(1 + t)",
		"sqrt(t)",
		"abs(sin(5*t))",
		"t^2.5",
		"(1 + t)^t",
		"2^t",
		"1/(1 + t^2)",
		"mod(3*t, 2)",
		"mod(t, 0.3 + t/10)",
		"clamp(t^2, 0, 0.6)",
		"clamp(2*t, 0, 1)",
		"min(t^2, t^3, 5)",
		"max(sin(t), t)",
		"smooth(t^2, t/4, 2)",
		"smooth(t, 2, 0.1)",
		"sign(t)*floor(9*t)",
		"t*step(t, 0.2)",
		"-t^2/(3 - t)",
		"if(t < 1 and t > 0, t^4, 0)",
		"30 deg * sin(2 rpm * t)",
	};
	const double t = 0.7, h = 1e-4;
	for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
		double low[3], at[3], high[3];
		jet_of(texts[i], t - h, low);
		jet_of(texts[i], t, at);
		jet_of(texts[i], t + h, high);
		const double rate = (high[0] - low[0]) / (2 * h), acceleration = (high[1] - low[1]) / (2 * h);
		if (!(fabs(at[1] - rate) <= 1e-6 * (1 + fabs(rate))) ||
		    !(fabs(at[2] - acceleration) <= 2e-6 * (1 + fabs(acceleration))))
			fail_msg("%s: %.12g, %.12g; by differences %.12g, %.12g", texts[i], at[1], at[2], rate, acceleration);
	}
}

/* ---- what is read from a simulation --------------------------------------------------------------------- */

/* An arm that turns about z with a slider along its x; a free body beside it in a group of its own; a wheel on it. */
static Rig scenery(void) {
	Rig rig = rig_new();
	const CalBodyId arm =
		rig_body(&rig, main_group, ground, "arm", rig_joint(CAL_JOINT_REVOLUTE, 0, 0, 1), 1, unit_moments);
	const CalBodyId sled =
		rig_body(&rig, main_group, arm, "sled", rig_joint(CAL_JOINT_PRISMATIC, 1, 0, 0), 1, unit_moments);
	rig_node(&rig, sled, "tip of it", (CalVec3){0, 0.5, 0});
	const CalBodyId bird =
		rig_body(&rig, rig_group(&rig, "sky"), ground, "bird, (small)", cal_joint_def(CAL_JOINT_FREE), 1, unit_moments);
	rig_sim(&rig, CAL_METHOD_RK4, 1e-3);
	const CalWheelDef wheel = {.name = "wheel", .node = rig_frame(&rig, bird), .inertia = 1, .speed = 7};
	rig_ok(cal_sim_add_wheel(rig.sim, &wheel, NULL, &rig_error));
	CalState *now = cal_sim_state(rig.sim, 0);
	now->q[0] = 0.3;
	now->q[1] = 2;
	now->u[0] = 0.4;
	now->u[1] = -0.1;
	rig_ok(cal_sim_restart(rig.sim, &rig_error));
	return rig;
}

static double value_in(Rig *rig, const char *text) {
	CalExpression *made = parsed(text);
	CalEvalContext context = context_now(rig->sim, false);
	double value;
	rig_ok(cal_expression_bind(made, &context, &rig_error));
	assert_int_equal(cal_expression_value(made, &context, &value), CAL_OK);
	cal_expression_destroy(made);
	return value;
}

static void formulas_read_joints_and_nodes(void **state) {
	(void)state;
	Rig rig = scenery();
	const double c = cos(0.3), s = sin(0.3);
	check_near(value_in(&rig, "q(arm_joint) + 10*q( sled_joint )"), 20.3, 1e-15);
	check_near(value_in(&rig, "u(arm_joint) + 10*u('sled_joint')"), -0.6, 1e-15);
	check_near(value_in(&rig, "x(sled)"), 2 * c, 1e-15);
	check_near(value_in(&rig, "y(sled/tip of it)"), 2 * s + 0.5 * c, 1e-15);
	check_near(value_in(&rig, "x(sled, arm)"), 2, 1e-15);
	check_near(value_in(&rig, "y(sled, arm)"), 0, 1e-15);
	check_near(value_in(&rig, "z(sled, ground)"), 0, 0);
	check_near(value_in(&rig, "vx(sled)"), -0.1 * c - 0.4 * 2 * s, 1e-15);
	check_near(value_in(&rig, "vx(sled, arm)"), -0.1, 1e-15);
	check_near(value_in(&rig, "vy(sled, arm)"), 0, 1e-15);
	check_near(value_in(&rig, "wz(sled) + wz(sled, arm) + wz(ground, arm)"), 0, 1e-15);
	check_near(value_in(&rig, "distance(sled, ground)"), 2, 1e-15);
	check_near(value_in(&rig, "range_rate(sled, ground)"), -0.1, 1e-15);
	check_near(value_in(&rig, "range_rate(sled, sled)"), 0, 0);
	check_near(value_in(&rig, "angle(sled, ground)"), 0.3, 1e-15);
	check_near(value_in(&rig, "distance(sled, 'bird, (small)')"), 2, 1e-15);
	check_near(value_in(&rig, "device(wheel.speed)"), 7, 0);
	check_near(value_in(&rig, "if(q(arm_joint) > 0.2 and t <= 0, 1, 2)"), 1, 0);
	rig_free(&rig);
}

/* Relative velocities are the rates of relative places: by differences along the motion. */
static void relative_rates_are_derivatives(void **state) {
	(void)state;
	Rig rig = scenery();
	CalState *sky = cal_sim_state(rig.sim, 1);
	for (int i = 0; i < 3; i++) {
		sky->q[i] = 1 + i;
		sky->u[i] = 0.2 * (i - 2);     // it flies
		sky->u[3 + i] = 0.3 * (i + 1); // and turns
	}
	rig_ok(cal_sim_restart(rig.sim, &rig_error));
	static const char *const pairs[][2] = {
		{"x(sled/tip of it, \"bird, (small)\")", "vx(sled/tip of it, \"bird, (small)\")"},
		{"y(sled/tip of it, \"bird, (small)\")", "vy(sled/tip of it, \"bird, (small)\")"},
		{"z('bird, (small)', sled)", "vz('bird, (small)', sled)"},
		{"distance(sled, 'bird, (small)')", "range_rate(sled, 'bird, (small)')"}};
	enum { COUNT = sizeof pairs / sizeof pairs[0] };
	const double h = 1e-4;
	double place[3][COUNT], rate[COUNT];
	for (int k = 0; k < 3; k++) {
		rig_advance(&rig, h * (k + 1));
		for (int i = 0; i < COUNT; i++) {
			place[k][i] = value_in(&rig, pairs[i][0]);
			if (k == 1)
				rate[i] = value_in(&rig, pairs[i][1]);
		}
	}
	for (int i = 0; i < COUNT; i++)
		check_near(rate[i], (place[2][i] - place[0][i]) / (2 * h), 1e-6);
	rig_free(&rig);
}

static void what_is_not_there_is_named(void **state) {
	(void)state;
	static const struct {
		const char *text, *says;
	} cases[] = {
		{"1 + q(elbow)", "column 5: there is no joint \"elbow\""},
		{"q(arm_joint.x)", "joint \"arm_joint\" has no coordinate \"x\"; it has angle"},
		{"q('bird, (small)_joint')",
	     "joint \"bird, (small)_joint\" has 7 coordinates: x, y, z, qw, qx, qy, qz; write e.g."},
		{"q('bird, (small)_joint', 2)", "write q(bird, (small)_joint.y) instead of a number"},
		{"x(moon)", "there is no node \"moon\""},
		{"distance(arm, arm/moon)", "there is no node \"arm/moon\""},
		{"q(moon.eta1)", "there is no joint \"moon\""},
		{"u(arm.etadot2)", "body \"arm\" has no \"etadot2\"; it has 0"},
		{"device(moon.x)", "there is no device \"moon\""},
		{"device(wheel.color)", "device \"wheel\" (wheel) has no output \"color\""},
	};
	Rig rig = scenery();
	CalEvalContext context = context_now(rig.sim, false);
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		CalExpression *made = parsed(cases[i].text);
		CalError error = {0};
		double value, jet[3];
		assert_int_equal(cal_expression_is_of_time(made), 0);
		assert_int_equal(cal_expression_bind(made, &context, &error), CAL_ERR_MODEL);
		if (!strstr(error.text, cases[i].says))
			fail_msg("%s says %s", cases[i].text, error.text);
		assert_int_equal(cal_expression_value(made, &context, &value), CAL_ERR_STAGE);
		assert_int_equal(cal_expression_jet(made, 0, jet), CAL_ERR_ARGUMENT);
		cal_expression_destroy(made);
	}
	rig_free(&rig);
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(formulas_mean_what_they_say),
		cmocka_unit_test(a_condition_changes_sign_where_it_changes),
		cmocka_unit_test(jumps_in_time_are_announced),
		cmocka_unit_test(kinks_along_lines_are_solved),
		cmocka_unit_test(switches_are_found_to_the_last_bit),
		cmocka_unit_test(ranges_hold_at_their_ends),
		cmocka_unit_test(ranges_stay_on_the_stack),
		cmocka_unit_test(ranges_hold_what_they_bound),
		cmocka_unit_test(mistakes_name_their_column),
		cmocka_unit_test(depth_is_limited_and_length_is),
		cmocka_unit_test(nonsense_is_refused),
		cmocka_unit_test(shortage_of_memory_is_reported),
		cmocka_unit_test(derivatives_of_time_are_exact),
		cmocka_unit_test(derivatives_agree_with_differences),
		cmocka_unit_test(formulas_read_joints_and_nodes),
		cmocka_unit_test(relative_rates_are_derivatives),
		cmocka_unit_test(what_is_not_there_is_named),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
