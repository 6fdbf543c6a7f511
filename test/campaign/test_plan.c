// SPDX-License-Identifier: Apache-2.0
/*
 * test_plan.c — plans: designs, distributions, targets, formulas, mistakes; case k depends on the plan and k alone.
 */
#define _POSIX_C_SOURCE 200809L // open_memstream

#include <math.h>

#include "campaign/plan.h"
#include "plan_support.h"
#include "support/failing_allocator.h"

enum { MOST = 8 };

static double value_of(const CalPlan *plan, int64_t k, int parameter) {
	double values[MOST];
	assert_true(cal_plan_info(plan).parameter_count <= MOST);
	assert_int_equal(cal_plan_values(plan, k, values, NULL), CAL_OK);
	return values[parameter];
}

/* ---- designs ------------------------------------------------------------------------------------ */

static void grids_have_every_combination(void **state) {
	(void)state;
	CalPlan *plan =
		plan_of("design: grid\nrepeat: 2\nseed: 3", "  a: {values: [1, 2, 3]}\n  noise: {uniform: {min: 0, max: 1}}\n"
	                                                "  b: {range: {from: 5 mm, to: 15 mm, count: 3}}\n");
	assert_int_equal(cal_plan_info(plan).case_count, 18);
	for (int64_t k = 0; k < 18; k++) {
		assert_true(value_of(plan, k, 0) == (double)(k / 6 + 1));
		assert_near(value_of(plan, k, 2), 0.005 * (double)(k / 2 % 3 + 1), 1e-16);
		for (int64_t other = 0; other < k; other++)
			assert_true(value_of(plan, k, 1) != value_of(plan, other, 1));
	}
	CalPlanParameter b;
	assert_int_equal(cal_plan_parameter(plan, 2, &b), CAL_OK);
	assert_string_equal(b.unit, "m");
	cal_plan_destroy(plan);
}

static void latin_hypercubes_hit_every_stratum_once(void **state) {
	(void)state;
	enum { COUNT = 250 };
	CalPlan *plan = plan_of("design: latin-hypercube\ncases: 250", "  a: {uniform: {min: 0, max: 250}}\n"
	                                                               "  b: {uniform: {min: 0, max: 250}}\n");
	uint8_t hit[2][COUNT] = {0};
	int together = 0;
	for (int64_t k = 0; k < COUNT; k++) {
		const int a = (int)value_of(plan, k, 0), b = (int)value_of(plan, k, 1);
		assert_int_equal(hit[0][a]++, 0);
		assert_int_equal(hit[1][b]++, 0);
		together += a == b;
	}
	assert_true(together < 10); // one on average
	cal_plan_destroy(plan);
}

/* A shift by exclusive or keeps one of 2^m points in each of 2^m parts. */
static void sobol_is_stratified_and_follows_the_seed(void **state) {
	(void)state;
	CalPlan *one = plan_of("design: sobol\ncases: 64\nseed: 1", "  a: {uniform: {min: 0, max: 64}}\n"),
			*two = plan_of("design: sobol\ncases: 64\nseed: 2", "  a: {uniform: {min: 0, max: 64}}\n");
	uint8_t hit[64] = {0};
	int same = 0;
	for (int64_t k = 0; k < 64; k++) {
		assert_int_equal(hit[(int)value_of(one, k, 0)]++, 0);
		same += value_of(one, k, 0) == value_of(two, k, 0);
	}
	assert_true(same < 5);
	cal_plan_destroy(one);
	cal_plan_destroy(two);
}

/* Random and Latin draws of a parameter know nothing of the other parameters, and random ones nothing of the number of
 * cases. */
static void draws_belong_to_the_name(void **state) {
	(void)state;
	static const char *const designs[] = {"design: random\ncases: 10", "design: latin-hypercube\ncases: 10"};
	for (int d = 0; d < 2; d++) {
		CalPlan *alone = plan_of(designs[d], "  x: {normal: {mean: 0, std: 1}}\n");
		CalPlan *added = plan_of(designs[d], "  a: {uniform: {min: 0, max: 1}}\n  b: {constant: 4}\n"
		                                     "  x: {normal: {mean: 0, std: 1}}\n");
		for (int64_t k = 0; k < 10; k++)
			assert_true(value_of(alone, k, 0) == value_of(added, k, 2));
		assert_true(value_of(alone, 0, 0) != value_of(added, 0, 0));
		cal_plan_destroy(alone);
		cal_plan_destroy(added);
	}
	CalPlan *few = plan_of("cases: 10", "  x: {uniform: {min: 0, max: 1}}\n"),
			*many = plan_of("cases: 1000", "  x: {uniform: {min: 0, max: 1}}\n");
	for (int64_t k = 0; k < 10; k++)
		assert_true(value_of(few, k, 0) == value_of(many, k, 0));
	cal_plan_destroy(few);
	cal_plan_destroy(many);
}

/* ---- distributions ------------------------------------------------------------------------------ */

typedef struct Moments {
	double mean, std, low, high;
} Moments;

/* Of a Latin hypercube, whose means are far better than random ones. */
static Moments moments(const char *parameter) {
	enum { COUNT = 4000 };
	Moments m = {.low = INFINITY, .high = -INFINITY};
	CalPlan *plan = plan_of("design: latin-hypercube\ncases: 4000\nseed: 9", parameter);
	for (int64_t k = 0; k < COUNT; k++) {
		const double x = value_of(plan, k, 0);
		m.mean += x / COUNT;
		m.std += x * x / COUNT;
		m.low = fmin(m.low, x);
		m.high = fmax(m.high, x);
	}
	m.std = sqrt(m.std - m.mean * m.mean);
	cal_plan_destroy(plan);
	return m;
}

static void distributions_have_their_moments(void **state) {
	(void)state;
	Moments m = moments("  x: {uniform: {min: -1 kg, max: 3 kg}}\n");
	assert_near(m.mean, 1, 1e-3);
	assert_near(m.std, 4 / sqrt(12), 1e-3);
	m = moments("  x: {normal: {mean: 10 deg, std: 1 deg}}\n");
	assert_near(m.mean * 180 / 3.14159265358979324, 10, 1e-3);
	assert_near(m.std * 180 / 3.14159265358979324, 1, 3e-3);
	m = moments("  x: {normal: {mean: 0, std: 1, min: 0}}\n"); // half of one
	assert_near(m.mean, sqrt(2 / 3.14159265358979324), 1e-3);
	assert_true(m.low >= 0);
	m = moments("  x: {lognormal: {median: 2, sigma: 0.5}}\n");
	assert_near(m.mean, 2 * exp(0.125), 3e-3);
	m = moments("  x: {triangular: {min: 0, mode: 1, max: 5}}\n");
	assert_near(m.mean, 2, 1e-3);
	assert_true(m.low > 0 && m.high < 5);
	m = moments("  x: {choice: [1, 2, 4], weights: [2, 1, 1]}\n");
	assert_near(m.mean, 2, 1e-9);
	m = moments("  x: {values: [1, 2, 6]}\n");
	assert_near(m.mean, 3, 2e-3);
}

static void texts_are_counted(void **state) {
	(void)state;
	CalPlan *plan = plan_of("cases: 40", "  how: {target: run.method, choice: [rk4, euler-cromer]}\n");
	CalPlanParameter how;
	int seen[2] = {0};
	assert_int_equal(cal_plan_parameter(plan, 0, &how), CAL_OK);
	assert_int_equal(how.text_count, 2);
	assert_string_equal(how.texts[1], "euler-cromer");
	for (int64_t k = 0; k < 40; k++) {
		CalSetup *file = NULL;
		const int which = (int)value_of(plan, k, 0);
		assert_int_equal(cal_plan_open_case(plan, k, &file, NULL), CAL_OK);
		assert_int_equal(cal_setup_run(file).method.method, which ? CAL_METHOD_EULER_CROMER : CAL_METHOD_RK4);
		seen[which]++;
		cal_setup_destroy(file);
	}
	assert_true(seen[0] > 8 && seen[1] > 8);
	cal_plan_destroy(plan);
}

/* ---- targets ------------------------------------------------------------------------------------ */

static CalSetup *open_first(CalPlan *plan) {
	CalSetup *file = NULL;
	CalError error;
	if (cal_plan_open_case(plan, 0, &file, &error) != CAL_OK)
		fail_msg("%s", error.text);
	return file;
}

static double mass_of(const CalSetup *file) {
	CalModel *model = model_of(file, NULL);
	const CalBodyInfo info = body_of(model, "rod");
	const double mass = info.mass;
	cal_model_destroy(model);
	return mass;
}

static double angle_of(const CalSetup *file) {
	CalModel *model = model_of(file, NULL);
	CalState s;
	assert_int_equal(cal_state_create(model, &s), CAL_OK);
	assert_int_equal(cal_setup_apply_state(file, model, &s, NULL), CAL_OK);
	const double q = s.q[0];
	cal_state_destroy(&s);
	cal_model_destroy(model);
	return q;
}

static void values_reach_their_targets(void **state) {
	(void)state;
	CalPlan *plan = plan_of("cases: 1", "  m: {target: bodies.rod.mass, constant: 1500 g}\n"
	                                    "  q: {target: [[state, hinge, q]], apply: add, constant: 15 deg}\n"
	                                    "  h: {target: run.step, apply: scale, constant: 0.5}\n");
	CalSetup *file = open_first(plan);
	assert_near(mass_of(file), 1.5, 1e-15);
	assert_near(angle_of(file), 3.14159265358979324 / 4, 1e-15);
	assert_near(cal_setup_run(file).method.step, 0.005, 1e-18);
	cal_setup_destroy(file);
	file = NULL;
	assert_int_equal(cal_plan_open_case(plan, -1, &file, NULL), CAL_OK);
	assert_near(mass_of(file), 1, 0);
	cal_setup_destroy(file);
	cal_plan_destroy(plan);
}

static char *written(const CalSetup *file) {
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);
	assert_int_equal(cal_model_file_write(file, out, NULL), CAL_OK);
	fclose(out);
	return text;
}

static int count_of(const char *text, const char *what) {
	int count = 0;
	for (const char *p = text; (p = strstr(p, what)) != NULL; p++)
		count++;
	return count;
}

/* One use of a shared definition changes alone; the definition changes all of its uses. */
static void definitions_are_shared_and_uses_are_not(void **state) {
	(void)state;
	static const struct {
		const char *parameters;
		int changed, kept;
	} tries[] = {{"  k: {target: devices.left.stiffness, constant: 77 N/m}\n", 1, 1},
	             {"  k: {target: define.spring.stiffness, constant: 77 N/m}\n", 2, 0}};
	for (int i = 0; i < 2; i++) {
		CalPlan *plan = plan_of("cases: 1", tries[i].parameters);
		CalSetup *file = open_first(plan);
		char *text = written(file);
		assert_int_equal(count_of(text, "stiffness: 77"), tries[i].changed);
		assert_int_equal(count_of(text, "stiffness: 10"), tries[i].kept);
		free(text);
		cal_setup_destroy(file);
		cal_plan_destroy(plan);
	}
}

static void formulas_are_of_parameters(void **state) {
	(void)state;
	CalPlan *plan =
		plan_of("cases: 5", "  m: {uniform: {min: 1 kg, max: 2 kg}}\n  mm: {constant: -2}\n"
	                        "  f: {formula: '2*m - mm^2 + 5 mm + min(m, 3)'}\n  g: {formula: 'if(m > 0, f, 0)'}\n");
	for (int64_t k = 0; k < 5; k++) {
		const double m = value_of(plan, k, 0);
		assert_near(value_of(plan, k, 2), 2 * m - 4 + 0.005 + m, 1e-15);
		assert_true(value_of(plan, k, 3) == value_of(plan, k, 2));
	}
	cal_plan_destroy(plan);
}

/* A value that makes the model wrong is an error of that case, at its place in the model. */
static void bad_cases_name_their_place(void **state) {
	(void)state;
	CalPlan *plan = plan_of("cases: 1", "  m: {target: bodies.rod.mass, constant: 2 m}\n");
	CalSetup *file = NULL;
	CalError error = {0};
	assert_true(cal_plan_open_case(plan, 0, &file, &error) < 0);
	assert_null(file);
	assert_non_null(strstr(error.text, "dir/m.yaml:5:15: error: body \"rod\": wrong unit in \"2 m\""));
	cal_plan_destroy(plan);
	plan = plan_of("cases: 1", "  z: {constant: 0}\n  m: {target: bodies.rod.mass, formula: 1/z}\n");
	assert_int_equal(cal_plan_open_case(plan, 0, &file, &error), CAL_NOT_FINITE);
	assert_non_null(strstr(error.text, "parameter \"m\""));
	cal_plan_destroy(plan);
}

/* ---- outputs ------------------------------------------------------------------------------------ */

static void outputs_are_made_of_samples(void **state) {
	(void)state;
	static const double want[CAL_STATISTIC_COUNT] = {1, 0, -2, 3, 3, 5, 0.5, 0, 3, 1, -2};
	for (int keep = 0; keep < CAL_STATISTIC_COUNT; keep++) {
		const CalPlanOutput output = {.statistic = (CalStatistic)keep, .at = 3};
		CalStatisticAccumulator accumulator = {0};
		assert_true(isnan(cal_statistic_value(&accumulator, &output)));
		static const double values[] = {0, 3, 0, -2, 1};
		for (int i = 0; i < 5; i++)
			cal_statistic_add(&accumulator, &output, i == 1 ? 1 : i, values[i]);
		// rms of the straight lines: the integral of the square over each is (a^2 + ab + b^2)/3
		const double rms = sqrt((9 + 9 + 4 + 3) / 3.0 / 4), mean = (1.5 + 1.5 - 1 - 0.5) / 4;
		const double expected = keep == CAL_STATISTIC_RMS ? rms : keep == CAL_STATISTIC_MEAN ? mean : want[keep];
		assert_near(cal_statistic_value(&accumulator, &output), expected, 1e-15);
	}
	const CalPlanOutput at = {.statistic = CAL_STATISTIC_AT, .at = 9}, peak = {.statistic = CAL_STATISTIC_PEAK};
	CalStatisticAccumulator accumulator = {0};
	cal_statistic_add(&accumulator, &at, 0, 1);
	assert_true(isnan(cal_statistic_value(&accumulator, &at)));
	accumulator = (CalStatisticAccumulator){0};
	cal_statistic_add(&accumulator, &peak, 0, NAN);
	cal_statistic_add(&accumulator, &peak, 1, 1);
	assert_true(isnan(cal_statistic_value(&accumulator, &peak)));
}

/* ---- mistakes ----------------------------------------------------------------------------------- */

static void mistakes_are_reported(void **state) {
	(void)state;
#define OUT "outputs: {a: {signal: t}}\n"
	static const struct {
		const char *text, *message;
	} mistakes[] = {
		{"model: m.yaml\n", "the key \"sweep\" is missing (see \"plan\" in docs/sweep.md)"},
		{"sweep: 2\nmodel: m.yaml\ncases: 1\nparameters: {}\n" OUT,
	     "p.yaml:1:8: error: plans of version 2 are not known"},
		{"sweep: 1\nmodel: m.yaml\nparameters: {}\n" OUT, "the key \"cases\" is missing"},
		{"sweep: 1\nmodel: m.yaml\ncases: 1.5\nparameters: {}\n" OUT, "\"cases\" must be a whole number"},
		{"sweep: 1\nmodel: m.yaml\ncases: 1\ndesign: sobel\nparameters: {}\n" OUT, "did you mean \"sobol\"?"},
		{"sweep: 1\nmodel: m.yaml\ncases: 1\ndesign: grid\nparameters: {}\n" OUT, "leave \"cases\" out"},
		{"sweep: 1\nmodel: m.yaml\ncases: 1\nparameters: {}\noutputs: {}\n", "name at least one output"},
		{"sweep: 1\nmodel: m.yaml\ncases: 1\nparameters: {}\noutputs: {a: {signal: t, statistic: maxx}}\n",
	     "did you mean \"max\"?"},
		{"sweep: 1\nmodel: m.yaml\ncases: 1\nparameters: {}\noutputs: {a: {signal: t, statistic: at}}\n",
	     "needs the time \"at\""},
		{"sweep: 1\nmodel: m.yaml\ncases: 1\nparameters: {m: {target: bodies.rot.mass, constant: 1}}\n" OUT,
	     "p.yaml:4:26: error: parameter \"m\": target \"bodies.rot.mass\": there is no \"rot\" in \"bodies\" in m.yaml; did you "
	     "mean \"rod\"?"},
		{"sweep: 1\nmodel: m.yaml\ncases: 1\nparameters: {m: {target: bodies.rod, constant: 1}}\n" OUT,
	     "is a map in m.yaml, not a single value"},
		{"sweep: 1\nmodel: m.yaml\ncases: 1\nparameters: {m: {target: joints.hinge.axis, apply: scale, constant: 1}}\n" OUT,
	     "cannot be added to or scaled"},
		{"sweep: 1\nmodel: m.yaml\ncases: 1\nparameters: {m: {target: state.hinge.q, apply: add, constant: 1 m}}\n" OUT,
	     "m cannot be added to that"},
		{"sweep: 1\nmodel: m.yaml\ncases: 1\nparameters: {m: {uniform: {min: 1 kg, max: 2 m}}}\n" OUT,
	     "its unit is not that of the numbers before it (kg)"},
		{"sweep: 1\nmodel: m.yaml\ncases: 1\nparameters: {m: {uniform: {min: 1 kg, max: 2}}}\n" OUT,
	     "some numbers have a unit (kg) and others have none"},
		{"sweep: 1\nmodel: m.yaml\ncases: 1\nparameters: {m: {uniform: {min: 3, max: 2}}}\n" OUT, "less than \"min\""},
		{"sweep: 1\nmodel: m.yaml\ncases: 1\nparameters: {m: {normal: {mean: 3, std: -2}}}\n" OUT,
	     "cannot be negative"},
		{"sweep: 1\nmodel: m.yaml\ncases: 1\nparameters: {m: {target: bodies.rod.mass}}\n" OUT,
	     "exactly one of uniform"},
		{"sweep: 1\nmodel: m.yaml\ncases: 1\nparameters: {m: {choice: [1, 2], weights: [1]}}\n" OUT,
	     "1 weights for 2 values"},
		{"sweep: 1\nmodel: m.yaml\ncases: 1\nparameters: {m: {formula: 2*x}}\n" OUT,
	     "with 1 for every parameter above it"},
		{"sweep: 1\nmodel: m.yaml\ncases: 1\nparameters: {m: {formula: 2*t}}\n" OUT,
	     "must be a number made of the parameters above it"},
		{"sweep: 1\nmodel: m.yaml\ncases: 1\nparameters: {m: {unifrom: {min: 1, max: 2}}}\n" OUT,
	     "did you mean \"uniform\"?"},
	};
	for (size_t i = 0; i < sizeof mistakes / sizeof mistakes[0]; i++) {
		CalPlan *plan = NULL;
		CalError error = {0};
		assert_true(plan_parse(mistakes[i].text, NULL, &plan, &error) < 0);
		assert_null(plan);
		if (!strstr(error.text, mistakes[i].message))
			fail_msg("\"%s\" lacks \"%s\"", error.text, mistakes[i].message);
	}
	CalPlan *plan = NULL;
	CalError error = {0};
	static const char text[] = "sweep: 1\nmodel: nowhere.yaml\ncases: 1\nparameters: {}\n" OUT;
	assert_true(cal_plan_parse(text, strlen(text), "p.yaml", NULL, 0, NULL, &plan, &error) < 0);
	assert_non_null(strstr(error.text, "p.yaml:2:8: error: nowhere.yaml"));
	assert_int_equal(cal_plan_read("nowhere.yaml", NULL, &plan, &error), CAL_ERR_IO);
}

static void sobol_has_a_most(void **state) {
	(void)state;
	char text[4000] = "sweep: 1\nmodel: m.yaml\ncases: 1\ndesign: sobol\nparameters:\n";
	for (int i = 0; i <= 40; i++)
		snprintf(text + strlen(text), sizeof text - strlen(text), "  p%d: {uniform: {min: 0, max: 1}}\n", i);
	snprintf(text + strlen(text), sizeof text - strlen(text), OUT);
	CalPlan *plan = NULL;
	CalError error = {0};
	assert_int_equal(plan_parse(text, NULL, &plan, &error), CAL_ERR_INPUT);
	assert_non_null(strstr(error.text, "known for 40 parameters and there are 41"));
}

/* ---- memory ------------------------------------------------------------------------------------- */

static void every_allocation_may_fail(void **state) {
	(void)state;
	static const char text[] = "sweep: 1\nmodel: m.yaml\ncases: 3\nparameters:\n"
							   "  a: {target: [bodies.rod.mass], uniform: {min: 1, max: 2}}\n"
							   "  b: {target: state.hinge.q, formula: a/2}\n  c: {choice: [x, y]}\n"
							   "series: {signals: [q]}\n" OUT;
	for (long k = 1;; k++) {
		FailingAllocator counter = {.fail_at = k};
		const CalAllocator allocator = failing_allocator(&counter);
		CalPlan *plan = NULL;
		CalSetup *file = NULL;
		CalError error = {0};
		CalStatus status = plan_parse(text, &allocator, &plan, &error);
		if (status == CAL_OK)
			status = cal_plan_open_case(plan, 1, &file, &error);
		cal_setup_destroy(file);
		cal_plan_destroy(plan);
		assert_int_equal(counter.live, 0);
		if (status == CAL_OK)
			break;
		assert_int_equal(status, CAL_ERR_MEMORY);
		assert_true(k < 10000);
	}
}

/* ---- documents ---------------------------------------------------------------------------------- */

int main(void) {
	NEEDS_YAML();
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(grids_have_every_combination),
		cmocka_unit_test(latin_hypercubes_hit_every_stratum_once),
		cmocka_unit_test(sobol_is_stratified_and_follows_the_seed),
		cmocka_unit_test(draws_belong_to_the_name),
		cmocka_unit_test(distributions_have_their_moments),
		cmocka_unit_test(texts_are_counted),
		cmocka_unit_test(values_reach_their_targets),
		cmocka_unit_test(definitions_are_shared_and_uses_are_not),
		cmocka_unit_test(formulas_are_of_parameters),
		cmocka_unit_test(bad_cases_name_their_place),
		cmocka_unit_test(outputs_are_made_of_samples),
		cmocka_unit_test(mistakes_are_reported),
		cmocka_unit_test(sobol_has_a_most),
		cmocka_unit_test(every_allocation_may_fail),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
