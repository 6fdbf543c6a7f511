// SPDX-License-Identifier: Apache-2.0
/*
 * test_examine.c — runs that deserve doubt get it, and others do not: stability of fixed steps, energy balance, steps that
 * are cut short, motion that a step does not resolve, loops whose links are too light.
 */
#include <math.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include <calder/calder.h>

#include "support/run.h"

static Run run_of(const char *model, CalMethod method, double step, double rtol) {
	Run r;
	CalSetup *file = NULL;
	CalError error = {0};
	char text[4000];
	const int length = snprintf(text, sizeof text, "calder: 1\n%s", model);
	const CalStatus status = cal_model_file_parse(text, (size_t)length, "model", NULL, &file, &error);
	if (status == CAL_ERR_UNSUPPORTED)
		skip(); // a build without YAML
	const CalSimOptions options = {.method = {.method = method, .step = step, .rtol = rtol}};
	if (status != CAL_OK || run_open(file, &options, &r) != CAL_OK)
		fail_msg("%s", status != CAL_OK ? error.text : r.error.text);
	return r;
}

static void advance(const Run *r, double t) {
	CalError error = {0};
	if (cal_sim_advance(r->sim, t, &error) != CAL_OK)
		fail_msg("%s", error.text);
}

/* The doubt of a kind, or NULL. */
static const CalDoubt *doubt_of(const Run *r, CalDoubtKind kind) {
	static CalDoubt doubt;
	for (int i = 0; cal_sim_doubt(r->sim, i, &doubt) == CAL_OK; i++)
		if (doubt.kind == kind)
			return &doubt;
	return NULL;
}

static const CalDoubt *examined(const Run *r, CalDoubtKind kind) {
	assert_int_equal(cal_sim_examine(r->sim), CAL_OK);
	return doubt_of(r, kind);
}

/* ---- light links in loops ------------------------------------------------------------------------ */

/* A four-bar with a coupler of some mass, and a rocker that is rigid or flexible. */
static void light_four_bar(char *text, size_t size, const char *mass, bool flexible) {
	snprintf(text, size,
	         "gravity: [0, -9.81, 0]\n"
	         "ground: {nodes: {b: [0.5, 0, 0]}}\n"
	         "bodies:\n"
	         "  crank: {mass: 1, rod: {from: [0, 0, 0], to: [0.2, 0, 0]}, nodes: {end: [0.2, 0, 0]}}\n"
	         "  coupler: {mass: %s, rod: {from: [0, 0, 0], to: [0.5, 0, 0]}, nodes: {end: [0.5, 0, 0]}}\n"
	         "  rocker: {%s}\n"
	         "joints:\n"
	         "  crank: {type: revolute, to: crank}\n"
	         "  pin: {type: revolute, from: crank/end, to: coupler}\n"
	         "  rocker: {type: revolute, from: ground/b, to: rocker}\n"
	         "loops: {wrist: {type: revolute, from: coupler/end, to: rocker/tip}}\n"
	         "state: {crank: {q: 90 deg, u: 3}, pin: {q: -70 deg, guess: true}, rocker: {q: 85 deg, guess: true}}\n",
	         mass,
	         flexible ? "beam: {length: 0.4, section: {EIy: 90, EIz: 100, rhoA: 5}, modes: 2, damping_ratio: 0.02}"
	                  : "mass: 2, rod: {from: [0, 0, 0], to: [0.4, 0, 0]}, nodes: {tip: [0.4, 0, 0]}");
}

/* Speed of the crank after 10 ms; *value: of the doubt, 0: there is none. */
static double crank_speed(const char *mass, bool flexible, double *value) {
	char text[2000];
	light_four_bar(text, sizeof text, mass, flexible);
	Run r = run_of(text, CAL_METHOD_RK4, 1e-4, 0);
	advance(&r, 0.01);
	const CalDoubt *doubt = examined(&r, CAL_DOUBT_ACCURACY);
	*value = doubt ? doubt->value : 0;
	if (doubt) {
		assert_string_equal(doubt->object, "group \"main\"");
		assert_non_null(strstr(doubt->text, "inertias along a loop"));
		assert_true(doubt->limit == 1e-9);
	}
	const double speed = cal_sim_state(r.sim, 0)->u[0];
	run_end(&r);
	return speed;
}

/* Refined, rigid links may be lighter by many decades; flexible bodies are not refined. Without mass: 3.0420829637857. */
static void links_that_cost_digits_are_doubted(void **state) {
	(void)state;
	double value;
	assert_true(fabs(crank_speed("1e-15", false, &value) - 3.0420829637857) < 1e-12);
	assert_true(value == 0);
	crank_speed("1e-20", false, &value);
	assert_true(value > 1e-9 && value < 1e-6);
	const double heavier = crank_speed("1e-6", true, &value);
	assert_true(value == 0);
	assert_true(fabs(crank_speed("1e-9", true, &value) - heavier) < 1e-6);
	assert_true(value > 1e-9 && value < 1e-6);
	crank_speed("1e-24", true, &value);
	assert_true(value == 1);
}

/* Accelerations that refinement cannot find are no result, and the message says why. */
static void links_that_cost_all_digits_end_the_run(void **state) {
	(void)state;
	char text[2000];
	CalError error = {0};
	light_four_bar(text, sizeof text, "1e-24", false);
	Run r = run_of(text, CAL_METHOD_RK4, 1e-4, 0);
	assert_int_equal(cal_sim_advance(r.sim, 0.01, &error), CAL_NOT_CONVERGED);
	assert_non_null(strstr(error.text, "group \"main\""));
	assert_non_null(strstr(error.text, "give its lightest bodies more mass"));
	run_end(&r);
}

/* ---- accuracy ------------------------------------------------------------------------------------ */

/* A mass of 100 kg flies at 1 m/s, one of 1 kg swings at 100 rad/s and 0.1 m/s: 1e-4 of all energy. */
#define SWING                                                                                                       \
	"bodies: {a: {mass: 100, inertia: [1, 1, 1]}, b: {mass: 1, inertia: [1, 1, 1]}}\n"                              \
	"joints: {x: {type: prismatic, axis: x, to: a}, y: {type: prismatic, axis: y, to: b, dof: {stiffness: 1e4}}}\n" \
	"state: {x: {u: 1}, y: {u: 0.1}}\n"

/* The doubt of a run of 1 s that is examined at its start and its end; *error: of the swing, by the largest speed. */
static const CalDoubt *coarse_doubt(const char *model, CalMethod method, double step, double *error) {
	static CalDoubt found;
	Run r = run_of(model, method, step, 0);
	examined(&r, CAL_DOUBT_ACCURACY);
	double largest = 0;
	for (int i = 1; i <= 10; i++) {
		advance(&r, 0.1 * i);
		largest = fmax(largest, fabs(cal_sim_state(r.sim, 0)->u[1] - 0.1 * cos(10.0 * i)));
	}
	*error = largest;
	const CalDoubt *doubt = examined(&r, CAL_DOUBT_ACCURACY);
	assert_null(doubt_of(&r, CAL_DOUBT_BALANCE));
	found = doubt ? *doubt : (CalDoubt){0};
	run_end(&r);
	return doubt ? &found : NULL;
}

/* Half the step damps the swing away too: nothing but a doubt shows it. Well resolved, there is none. */
static void a_step_that_damps_what_swings_is_doubted(void **state) {
	(void)state;
	double error, half;
	const CalDoubt *doubt = coarse_doubt(SWING, CAL_METHOD_RK4, 0.02, &error);
	assert_non_null(doubt);
	assert_string_equal(doubt->object, "joint \"y\"");
	assert_true(doubt->value > doubt->limit && fabs(doubt->limit - 0.03) < 1e-9);
	assert_true(error > 0.08);
	assert_non_null(coarse_doubt(SWING, CAL_METHOD_IMPLICIT, 0.01, &error));
	coarse_doubt(SWING, CAL_METHOD_IMPLICIT, 0.005, &half);
	assert_true(error > 0.08 && half > 0.08);
	assert_null(coarse_doubt(SWING, CAL_METHOD_RK4, 0.002, &error));
	assert_true(error < 1e-3);
	assert_null(coarse_doubt(SWING, CAL_METHOD_EULER_CROMER, 0.001, &error));
	assert_null(coarse_doubt(SWING, CAL_METHOD_IMPLICIT_MIDPOINT, 0.002, &error));
}

/* What is doubted of a run of SWING that is examined 50 times; *kept: share of the amplitude that is left. */
static double damping_doubt(CalMethod method, double step, double duration, double *kept) {
	Run r = run_of(SWING, method, step, 0);
	for (int i = 0; i <= 50; i++) {
		advance(&r, duration * i / 50);
		assert_int_equal(cal_sim_examine(r.sim), CAL_OK);
	}
	const CalState *s = cal_sim_state(r.sim, 0);
	*kept = hypot(s->u[1], 100 * s->q[1]) / 0.1;
	const CalDoubt *doubt = doubt_of(&r, CAL_DOUBT_ACCURACY);
	assert_null(doubt_of(&r, CAL_DOUBT_BALANCE));
	if (doubt)
		assert_string_equal(doubt->object, "joint \"y\"");
	const double value = doubt ? doubt->value : 0;
	run_end(&r);
	return value;
}

/* Each step resolves the swing of 100 rad/s; what all of them take from it is reported, and is what they take. */
static void damping_that_adds_up_is_doubted(void **state) {
	(void)state;
	static const struct {
		CalMethod method;
		double step, duration;
		int doubted;
	} cases[] = {{CAL_METHOD_IMPLICIT, 0.0005, 1, 1},
	             {CAL_METHOD_IMPLICIT, 0.0001, 0.5, 1},
	             {CAL_METHOD_IMPLICIT, 2e-6, 0.05, 0},
	             {CAL_METHOD_RK4, 0.01, 1, 1},
	             {CAL_METHOD_RK4, 0.005, 10, 1},
	             {CAL_METHOD_RK4, 0.002, 2, 0},
	             {CAL_METHOD_IMPLICIT_MIDPOINT, 0.0005, 1, 0},
	             {CAL_METHOD_EULER_CROMER, 0.0005, 1, 0}};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		double kept;
		const double lost = damping_doubt(cases[i].method, cases[i].step, cases[i].duration, &kept);
		print_message("%s, %g s: %.3f lost, doubted %.3f\n", cal_method_name(cases[i].method), cases[i].step, 1 - kept,
		              lost);
		assert_int_equal(lost > 0, cases[i].doubted);
		if (cases[i].doubted)
			assert_true(lost > 0.6 * (1 - kept) && lost < 1.1 * (1 - kept)); // below 3 % of all speed it does not count
	}
}

/* A push of 10 ms brings the mass to 0.2 m/s after the first check, and the method has taken it away before the last. */
static void damping_between_two_checks_is_doubted(void **state) {
	(void)state;
	Run r =
		run_of("bodies: {a: {mass: 100, inertia: [1, 1, 1]}, b: {mass: 1, inertia: [1, 1, 1]}}\n"
	           "joints: {x: {type: prismatic, axis: x, to: a}, y: {type: prismatic, axis: y, to: b, dof: {stiffness: "
	           "1e4}}}\nstate: {x: {u: 1}}\nloads: [{joint: y, effort: 20, start: 0.3, end: 0.31}]\n",
	           CAL_METHOD_IMPLICIT, 0.0005, 0);
	assert_null(examined(&r, CAL_DOUBT_ACCURACY));
	advance(&r, 2);
	const double left = hypot(cal_sim_state(r.sim, 0)->u[1], 100 * cal_sim_state(r.sim, 0)->q[1]);
	assert_true(left < 5e-3);
	const CalDoubt *doubt = examined(&r, CAL_DOUBT_ACCURACY);
	assert_non_null(doubt);
	assert_string_equal(doubt->object, "joint \"y\"");
	run_end(&r);
}

/* From rest, by an effort that begins at zero, the first steps are wrong by as much as they move. That is no matter. */
static void motion_from_rest_is_not_doubted(void **state) {
	(void)state;
	static const char ramp[] = "bodies: {a: {mass: 1, inertia: [1, 1, 1]}}\n"
							   "joints: {x: {type: prismatic, axis: x, to: a}}\n"
							   "devices: {f: {type: applied_load, joint: x, effort: [[0, 0], [1, 5]]}}\n";
	for (int m = 0; m < CAL_METHOD_COUNT; m++) {
		if (cal_method_info((CalMethod)m)->adaptive)
			continue;
		Run r = run_of(ramp, (CalMethod)m, 0.001, 0);
		for (int i = 0; i <= 20; i++) {
			advance(&r, 0.02 * i);
			assert_null(examined(&r, CAL_DOUBT_ACCURACY));
		}
		run_end(&r);
	}
}

/* ---- stability ----------------------------------------------------------------------------------- */

/* Two masses, a soft spring between them and a stiff one on the ground: 158.11 rad/s by sqrt(50000/2). */
#define MASSES                                                                                        \
	"bodies: {a: {mass: 2, inertia: [1, 1, 1]}, b: {mass: 1, inertia: [1, 1, 1]}}\n"                  \
	"joints: {z: {type: prismatic, axis: z, to: a}, y: {type: prismatic, axis: x, from: a, to: b}}\n" \
	"state: {z: {q: 1 mm}, y: {q: 0.3}}\n"                                                            \
	"devices: {soft: {type: spring, from: a, to: b, stiffness: 20, length: 0.1},\n"                   \
	"          stiff: {type: bushing, from: ground, to: a, stiffness: [1, 1, 75000]}}\n"
static const double fastest = 158.11388300841898; // z moves both masses

static double limit_of(CalMethod method) { return cal_method_info(method)->imaginary_limit; }

/* By how much the stiff spring's motion has grown after 400 steps. */
static double growth_of(CalMethod method, double step) {
	Run r = run_of(MASSES, method, step, 0);
	advance(&r, 400 * step);
	const double q = fabs(cal_sim_state(r.sim, 0)->q[0]);
	run_end(&r);
	return q / 1e-3;
}

static void a_step_beyond_the_bound_is_doubted_with_its_cause(void **state) {
	(void)state;
	for (int m = 0; m < CAL_METHOD_COUNT; m++) {
		if (cal_method_info((CalMethod)m)->adaptive)
			continue;
		const CalMethod method = (CalMethod)m;
		const double bound = limit_of(method) / fastest;
		Run bad = run_of(MASSES, method, 1.07 * bound, 0), good = run_of(MASSES, method, 0.97 * bound, 0);
		const CalDoubt *doubt = examined(&bad, CAL_DOUBT_STABILITY);
		if (!doubt)
			fail_msg("%s: no doubt", cal_method_name(method));
		assert_string_equal(doubt->object, "device \"stiff\"");
		assert_true(fabs(doubt->limit - bound) < 1e-3 * bound && doubt->value == 1.07 * bound);
		assert_null(examined(&good, CAL_DOUBT_STABILITY));
		assert_true(growth_of(method, 1.07 * bound) > 1e10); // it is so
		assert_true(growth_of(method, 0.97 * bound) < 100);
		run_end(&bad);
		run_end(&good);
	}
}

/* Joint springs, modes, rotors in gears and dampers; what implicit methods take implicitly is no cause. */
static void every_kind_of_stiffness_is_found(void **state) {
	(void)state;
	static const struct {
		const char *model, *object;
		double rate; // [rad/s]
		int implicit;
		int decays;
	} cases[] = {
		{"bodies: {a: {mass: 2, inertia: [1, 1, 0.5]}}\n"
	     "joints: {p: {type: revolute, axis: z, to: a, dof: {stiffness: 5000}}}\n",
	     "joint \"p\"", 100, 1, 0},
		{"bodies: {b: {mass: 1, inertia: [1, 1, 1], nodes: {p: [1, 0, 0]}, flexible: {stiffness: [80000],\n"
	     "    nodes: {p: {mass: 2, phi: [[1], [0], [0]]}}}}}\njoints: {w: {type: weld, to: b}}\n",
	     "mode 1 of body \"b\"", 200, 1, 0},
		{"bodies: {a: {mass: 2, inertia: [1e6, 1e6, 1e6]}}\njoints: {p: {type: revolute, axis: z, to: a}}\n"
	     "devices: {sv: {type: servo, joint: p, proportional: 1, rotor_inertia: 0.01, gear_stiffness: 400}}\n",
	     "device \"sv\"", 200, 0, 0},
		{"bodies: {a: {mass: 2, inertia: [1, 1, 0.5]}}\njoints: {p: {type: revolute, axis: z, to: a}}\n"
	     "devices: {fr: {type: friction, joint: p, coulomb: 1, smoothing_speed: 0.01}}\n",
	     "device \"fr\"", 200, 0, 1}, // at rest: a damper of 1/0.01
		{"gravity: [0, 0, -9.81]\nbodies: {a: {mass: 1, sphere: 0.1}}\njoints: {f: {type: prismatic, axis: z, to: a}}\n"
	     "state: {f: {q: 99 mm}}\ndevices: {st: {type: limit, joint: f, lower: 0.1 m, stiffness: 10000}}\n",
	     "device \"st\"", 100, 0, 0},
	};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		const double bound = (cases[i].decays ? 2.785293563405282 : sqrt(8)) / cases[i].rate; // of rk4
		Run bad = run_of(cases[i].model, CAL_METHOD_RK4, 1.1 * bound, 0);
		Run good = run_of(cases[i].model, CAL_METHOD_RK4, 0.9 * bound, 0);
		Run implicit = run_of(cases[i].model, CAL_METHOD_IMPLICIT, 1.1 * bound, 0);
		const CalDoubt *doubt = examined(&bad, CAL_DOUBT_STABILITY);
		if (!doubt)
			fail_msg("%s: no doubt", cases[i].object);
		assert_string_equal(doubt->object, cases[i].object);
		if (fabs(doubt->limit - bound) > 1e-3 * bound)
			fail_msg("%s: %g s instead of %g s", cases[i].object, doubt->limit, bound);
		assert_null(examined(&good, CAL_DOUBT_STABILITY));
		assert_int_equal(examined(&implicit, CAL_DOUBT_STABILITY) == NULL, cases[i].implicit);
		run_end(&bad);
		run_end(&good);
		run_end(&implicit);
	}
}

/*
 * Twelve masses in a row on springs and dampers: w = 2 sqrt(k/m) sin(23 pi/50), the top of a crowd of frequencies, which the
 * power method finds to 5 %, the margin of a doubt.
 */
static void the_fastest_of_many_is_found(void **state) {
	(void)state;
	static const char *const names[] = {"ground", "m0", "m1", "m2", "m3", "m4", "m5", "m6", "m7", "m8", "m9", "m10"};
	char model[4000] = "bodies:\n";
	size_t used = strlen(model);
	for (int i = 0; i < 12; i++)
		used += (size_t)snprintf(model + used, sizeof model - used, "  m%d: {mass: 2, inertia: [1, 1, 1]}\n", i);
	used += (size_t)snprintf(model + used, sizeof model - used, "joints:\n");
	for (int i = 0; i < 12; i++)
		used += (size_t)snprintf(
			model + used, sizeof model - used,
			"  j%d: {type: prismatic, axis: x, from: %s, to: m%d, dof: {stiffness: 20000, damping: 3}}\n", i, names[i],
			i);
	const double exact = 2 * 100 * sin(23 * 3.141592653589793 / 50), bound = sqrt(8) / exact;
	Run r = run_of(model, CAL_METHOD_RK4, 1.2 * bound, 0);
	const CalDoubt *doubt = examined(&r, CAL_DOUBT_STABILITY);
	assert_non_null(doubt);
	if (!(doubt->limit > 0.95 * bound && doubt->limit < 1.05 * bound))
		fail_msg("%g s instead of %g s", doubt->limit, bound);
	assert_non_null(strstr(doubt->object, "joint \"j"));
	run_end(&r);
}

/* A spring of no length pulls with 1 N in any direction that there is: a jump, without a frequency. */
static void a_jump_is_no_instability(void **state) {
	(void)state;
	Run r = run_of("bodies: {a: {mass: 2, inertia: [1, 1, 1]}}\njoints: {z: {type: prismatic, axis: z, to: a}}\n"
	               "devices: {k: {type: spring, from: ground, to: a, stiffness: 1, length: 1}}\n",
	               CAL_METHOD_RK4, 0.01, 0);
	assert_null(examined(&r, CAL_DOUBT_STABILITY));
	run_end(&r);
}

/* ---- balance and steps --------------------------------------------------------------------------- */

static const char swing[] = "gravity: [0, 0, -9.81]\nbodies: {a: {mass: 2, rod: {from: [0, 0, 0], to: [1, 0, 0]}}}\n"
							"joints: {p: {type: revolute, axis: y, to: a}}\n";

static void an_energy_balance_that_the_method_does_not_explain_is_doubted(void **state) {
	(void)state;
	static const struct {
		CalMethod method;
		double step, rtol;
		int doubted;
	} cases[] = {{CAL_METHOD_RK4, 0.3, 0, 1},          {CAL_METHOD_RK4, 0.02, 0, 0},
	             {CAL_METHOD_EULER_CROMER, 0.1, 0, 1}, {CAL_METHOD_EULER_CROMER, 1e-3, 0, 0},
	             {CAL_METHOD_DOPRI5, 0, 1e-3, 0},      {CAL_METHOD_DOPRI5, 0, 1e-12, 0}};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		Run r = run_of(swing, cases[i].method, cases[i].step, cases[i].rtol);
		for (int k = 1; k <= 20; k++) {
			advance(&r, 0.6 * k);
			assert_int_equal(cal_sim_examine(r.sim), CAL_OK);
		}
		const CalDoubt *doubt = doubt_of(&r, CAL_DOUBT_BALANCE);
		if (!doubt != !cases[i].doubted)
			fail_msg("case %d: %s", (int)i, doubt ? doubt->text : "no doubt");
		assert_true(!doubt || (doubt->value > doubt->limit && doubt->limit > 0));
		run_end(&r);
	}
}

static void steps_that_samples_cut_short_are_doubted(void **state) {
	(void)state;
	for (int cut = 0; cut < 2; cut++) {
		Run r = run_of(swing, CAL_METHOD_RK4, 0.003, 0);
		for (int k = 1; k <= 50; k++)
			advance(&r, (cut ? 0.01 : 0.012) * k);
		const CalDoubt *doubt = examined(&r, CAL_DOUBT_STEPS);
		assert_true(!doubt == !cut);
		assert_true(!cut || (doubt->value == 0.003 && fabs(doubt->limit - 0.001) < 1e-12));
		assert_true(!cut || strstr(doubt->text, "50 of 200 steps"));
		run_end(&r);
	}
}

/* ---- what it costs ------------------------------------------------------------------------------- */

static void examining_changes_no_bit_of_the_run(void **state) {
	(void)state;
	static const CalMethod methods[] = {CAL_METHOD_RK4, CAL_METHOD_IMPLICIT_MIDPOINT, CAL_METHOD_DOPRI5};
	for (size_t m = 0; m < sizeof methods / sizeof *methods; m++) {
		Run with = run_of(MASSES, methods[m], 1e-3, 0), without = run_of(MASSES, methods[m], 1e-3, 0);
		for (int k = 1; k <= 40; k++) {
			assert_int_equal(cal_sim_examine(with.sim), CAL_OK);
			advance(&with, 0.1 * k);
			advance(&without, 0.1 * k);
			const CalState *a = cal_sim_state(with.sim, 0), *b = cal_sim_state(without.sim, 0);
			assert_memory_equal(a->q, b->q, 2 * sizeof(double));
			assert_memory_equal(a->u, b->u, 2 * sizeof(double));
		}
		assert_true(cal_sim_stats(with.sim).evaluations == cal_sim_stats(without.sim).evaluations);
		run_end(&with);
		run_end(&without);
	}
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(links_that_cost_digits_are_doubted),
		cmocka_unit_test(links_that_cost_all_digits_end_the_run),
		cmocka_unit_test(a_step_that_damps_what_swings_is_doubted),
		cmocka_unit_test(damping_that_adds_up_is_doubted),
		cmocka_unit_test(damping_between_two_checks_is_doubted),
		cmocka_unit_test(motion_from_rest_is_not_doubted),
		cmocka_unit_test(a_step_beyond_the_bound_is_doubted_with_its_cause),
		cmocka_unit_test(every_kind_of_stiffness_is_found),
		cmocka_unit_test(the_fastest_of_many_is_found),
		cmocka_unit_test(a_jump_is_no_instability),
		cmocka_unit_test(an_energy_balance_that_the_method_does_not_explain_is_doubted),
		cmocka_unit_test(steps_that_samples_cut_short_are_doubted),
		cmocka_unit_test(examining_changes_no_bit_of_the_run),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
