// SPDX-License-Identifier: Apache-2.0
/*
 * test_methods.c — every integration method of the list on the same problems: an oscillator (order of convergence), a linkage
 * with a loop, devices with states and an event, a checkpoint in the middle, a chain in branches.
 *
 * A method has one row here: the steps or tolerances for its order, and how far from the truth it may be.
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

#include "support/methods.h"
#include "support/run.h"

/* Steps [s] of methods with fixed steps, rtol of adaptive ones; of these errors go with rtol^1. */
typedef struct Row {
	CalMethod method;
	double coarse, fine; // of the oscillator
	double step;         // of all other problems
	double slack;        // of the order, or of the power of rtol
	double error;        // of angles [rad], coordinates [m] and times [s] at the end of all other problems
} Row;

static const Row rows[] = {
	{CAL_METHOD_EULER_CROMER, 1e-3, 2.5e-4, 1e-4, 0.05, 3e-3},
	{CAL_METHOD_RK4, 1e-2, 2.5e-3, 1e-4, 0.05, 1e-8},
	{CAL_METHOD_IMPLICIT, 1e-3, 2.5e-4, 1e-4, 0.05, 3e-3},
	{CAL_METHOD_IMPLICIT_MIDPOINT, 1e-3, 2.5e-4, 1e-4, 0.05, 1e-5},
	{CAL_METHOD_DOPRI5, 1e-6, 1e-9, 1e-10, 0.3, 1e-8},
	{CAL_METHOD_CVODE_ADAMS, 1e-6, 1e-9, 1e-10, 0.3, 1e-7},
	{CAL_METHOD_CVODE_BDF, 1e-6, 1e-9, 1e-10, 0.3, 1e-7},
	{CAL_METHOD_ROSENBROCK, 1e-5, 1e-8, 1e-8, 0.3, 1e-8},
};
enum { ROWS = sizeof rows / sizeof rows[0] };
_Static_assert((int)ROWS == (int)CAL_METHOD_COUNT, "each method has a row");

static bool is_built(const Row *row) { return method_is_built((int)row->method); }

static CalIntegratorOptions options_of(const Row *row, double step) {
	const bool adaptive = cal_method_info(row->method)->adaptive;
	return (CalIntegratorOptions){.method = row->method,
	                              .step = adaptive ? 0 : step,
	                              .rtol = adaptive ? step : 0,
	                              .atol = adaptive ? 1e-3 * step : 0};
}

/* model: its text, or the path of an example. */
static CalStatus read_model(const char *model, CalSetup **file, CalError *error) {
	char text[4000];
	if (!strchr(model, '\n'))
		return cal_model_file_read(model, NULL, file, error);
	const int length = snprintf(text, sizeof text, "calder: 1\n%s", model);
	return cal_model_file_parse(text, (size_t)length, "model", NULL, file, error);
}

static Run run_with(const char *model, CalIntegratorOptions method, int branches, CalAllocator allocator) {
	Run r;
	CalSetup *file = NULL;
	CalError error = {0};
	const CalStatus status = read_model(model, &file, &error);
	if (status == CAL_ERR_UNSUPPORTED)
		skip(); // a build without YAML
	const CalSimOptions options = {
		.method = method, .branches = branches, .branches_forced = 1, .not_pinned = 1, .allocator = allocator};
	if (status != CAL_OK || run_open(file, &options, &r) != CAL_OK)
		fail_msg("%s: %s", cal_method_name(method.method), status != CAL_OK ? error.text : r.error.text);
	return r;
}

static Run run_of(const char *model, CalIntegratorOptions method, int branches) {
	return run_with(model, method, branches, (CalAllocator){0});
}

static void advance(const Run *r, double t) {
	CalError error = {0};
	if (cal_sim_advance(r->sim, t, &error) != CAL_OK)
		fail_msg("%s", error.text);
	assert_true(cal_sim_time(r->sim) == t);
}

/* The largest difference of coordinates of two runs of the same model. */
static double distance(const Run *a, const Run *b) {
	double largest = 0;
	const CalState *p = cal_sim_state(a->sim, 0), *q = cal_sim_state(b->sim, 0);
	for (int i = 0; i < cal_model_q_count(cal_sim_model(a->sim, 0)); i++)
		largest = fmax(largest, fabs(p->q[i] - q->q[i]));
	return largest;
}

/* The truth, or near enough. */
static Run reference(const char *model, double t) {
	Run r = run_of(model, (CalIntegratorOptions){.method = CAL_METHOD_DEFAULT, .rtol = 1e-12, .atol = 1e-14}, 0);
	advance(&r, t);
	return r;
}

static void check_error(const Row *row, const char *what, double error) {
	if (!(error <= row->error))
		fail_msg("%s, %s: error %.3g, allowed %.3g", cal_method_name(row->method), what, error, row->error);
}

/* ---- order --------------------------------------------------------------------------------------- */

#define OSCILLATOR                                 \
	"bodies: {m: {mass: 2, inertia: [1, 1, 1]}}\n" \
	"joints: {x: {type: prismatic, axis: x, to: m, dof: {stiffness: 200}}}\nstate: {x: {q: 0.1}}\n"

static double oscillator_error(const Row *row, double step) {
	const double t = 1.3;
	Run r = run_of(OSCILLATOR, options_of(row, step), 0);
	advance(&r, t);
	const CalState *s = cal_sim_state(r.sim, 0);
	const double error = hypot(s->q[0] - 0.1 * cos(10 * t), 0.1 * s->u[0] + 0.1 * sin(10 * t));
	run_end(&r);
	return error;
}

static void every_method_has_its_order(void **state) {
	(void)state;
	for (int i = 0; i < ROWS; i++) {
		const Row *row = &rows[i];
		if (!is_built(row))
			continue;
		const CalMethodInfo *info = cal_method_info(row->method);
		const double coarse = oscillator_error(row, row->coarse), fine = oscillator_error(row, row->fine);
		const double order = log(coarse / fine) / log(row->coarse / row->fine), want = info->adaptive ? 1 : info->order;
		print_message("%s: errors %.3g and %.3g, order %.3f\n", info->name, coarse, fine, order);
		if (!(fabs(order - want) <= row->slack))
			fail_msg("%s: order %.3f instead of %g", info->name, order, want);
	}
}

/* ---- loops --------------------------------------------------------------------------------------- */

#define FOUR_BAR                                                                                   \
	"gravity: [0, -9.81, 0]\nground: {nodes: {a: [0, 0, 0], b: [0.5, 0, 0]}}\n"                    \
	"bodies:\n"                                                                                    \
	"  crank: {mass: 1, rod: {from: [0, 0, 0], to: [0.2, 0, 0]}, nodes: {end: [0.2, 0, 0]}}\n"     \
	"  coupler: {mass: 2.5, rod: {from: [0, 0, 0], to: [0.5, 0, 0]}, nodes: {end: [0.5, 0, 0]}}\n" \
	"  rocker: {mass: 2, rod: {from: [0, 0, 0], to: [0.4, 0, 0]}, nodes: {end: [0.4, 0, 0]}}\n"    \
	"joints:\n"                                                                                    \
	"  crank: {type: revolute, from: ground/a, to: crank}\n"                                       \
	"  pin: {type: revolute, from: crank/end, to: coupler}\n"                                      \
	"  rocker: {type: revolute, from: ground/b, to: rocker}\n"                                     \
	"loops: {wrist: {type: revolute, from: coupler/end, to: rocker/end}}\n"                        \
	"state: {crank: {q: 90 deg, u: 18}, pin: {q: -70 deg, guess: true}, rocker: {q: 85 deg, guess: true}}\n"

static double largest_residual(const Run *r) {
	CalSimMonitor monitor = {0};
	assert_int_equal(cal_sim_monitor(r->sim, 0, &monitor), CAL_OK);
	return monitor.residual;
}

static void every_method_keeps_loops_closed(void **state) {
	(void)state;
	Run truth = reference(FOUR_BAR, 0.3);
	for (int i = 0; i < ROWS; i++) {
		if (!is_built(&rows[i]))
			continue;
		Run r = run_of(FOUR_BAR, options_of(&rows[i], rows[i].step), 0);
		for (int k = 1; k <= 3; k++) {
			advance(&r, k == 3 ? 0.3 : 0.1 * k);
			assert_true(largest_residual(&r) < 1e-11);
		}
		check_error(&rows[i], "four-bar", distance(&r, &truth));
		run_end(&r);
	}
	run_end(&truth);
}

/* ---- devices and events -------------------------------------------------------------------------- */

/*
 * A servo with a geared rotor (states of a device) turns an arm that falls; at 0.5 rad an event takes the servo away
 * and from then on a spring with a damper holds it.
 */
#define SERVO                                                                                                            \
	"gravity: [0, 0, -9.81]\nbodies: {arm: {mass: 1, rod: {from: [0, 0, 0], to: [1, 0, 0]}, nodes: {tip: [1, 0, 0]}}}\n" \
	"ground: {nodes: {hook: [0, 0, -1]}}\n"                                                                              \
	"joints: {hinge: {type: revolute, axis: y, to: arm}}\n"                                                              \
	"devices:\n"                                                                                                         \
	"  sv: {type: servo, joint: hinge, proportional: 20, derivative: 2, rotor_inertia: 0.01, gear_stiffness: 400}\n"     \
	"  hold: {type: spring, from: ground/hook, to: arm/tip, stiffness: 30, damping: 1, length: 1}\n"                     \
	"events: {release: {when: q(hinge) > 0.1, do: {switch_off: sv}, once: true}}\n"

static double event_time(const Run *r) {
	double t = NAN;
	assert_int_equal(cal_sim_event_happened(r->sim, 0, &t), 1);
	return t;
}

static void every_method_takes_devices_and_events(void **state) {
	(void)state;
	Run truth = reference(SERVO, 1.5);
	for (int i = 0; i < ROWS; i++) {
		if (!is_built(&rows[i]))
			continue;
		Run r = run_of(SERVO, options_of(&rows[i], rows[i].step), 0);
		advance(&r, 1.5);
		check_error(&rows[i], "time of the event", fabs(event_time(&r) - event_time(&truth)));
		check_error(&rows[i], "servo", distance(&r, &truth));
		CalSimBalance balance;
		assert_int_equal(cal_sim_balance(r.sim, &balance), CAL_OK);
		assert_true(balance.complete);
		check_error(&rows[i], "energy balance", fabs(balance.error) / 100); // some 10 J move
		run_end(&r);
	}
	run_end(&truth);
}

/* ---- checkpoints --------------------------------------------------------------------------------- */

static void every_method_resumes_from_a_checkpoint(void **state) {
	(void)state;
	for (int i = 0; i < ROWS; i++) {
		if (!is_built(&rows[i]))
			continue;
		Run whole = run_of(SERVO, options_of(&rows[i], rows[i].step), 0);
		Run resumed = run_of(SERVO, options_of(&rows[i], rows[i].step), 0);
		advance(&whole, 0.7);
		const size_t size = cal_checkpoint_size(whole.sim);
		void *bytes = malloc(size);
		CalError error = {0};
		assert_int_equal(cal_checkpoint_take(whole.sim, bytes, size, NULL), CAL_OK);
		if (cal_checkpoint_restore(resumed.sim, bytes, size, &error) != CAL_OK)
			fail_msg("%s", error.text);
		advance(&whole, 1.5);
		advance(&resumed, 1.5);
		const CalState *a = cal_sim_state(whole.sim, 0), *b = cal_sim_state(resumed.sim, 0);
		const bool same = a->q[0] == b->q[0] && a->u[0] == b->u[0];
		if (cal_method_info(rows[i].method)->exact_resume && !same)
			fail_msg("%s: other bits after a checkpoint", cal_method_name(rows[i].method));
		check_error(&rows[i], "resumed", distance(&whole, &resumed));
		free(bytes);
		run_end(&whole);
		run_end(&resumed);
	}
}

/* ---- branches ------------------------------------------------------------------------------------ */

/* A tree of two chains of pendulums on a swinging bar. */
static void write_chains(char *text, size_t size) {
	size_t used = (size_t)snprintf(text, size, "gravity: [0, 0, -9.81]\nbodies:\n");
	for (int i = 0; i < 8; i++)
		used += (size_t)snprintf(
			text + used, size - used,
			"  b%d: {mass: 1, rod: {from: [0, 0, 0], to: [0, 0, -0.5]}, nodes: {end: [0, 0, -0.5]}}\n", i);
	used += (size_t)snprintf(text + used, size - used, "joints:\n  j0: {type: revolute, axis: y, to: b0}\n");
	for (int i = 1; i < 8; i++)
		used +=
			(size_t)snprintf(text + used, size - used, "  j%d: {type: revolute, axis: %s, from: b%d/end, to: b%d}\n", i,
		                     i % 2 ? "y" : "x", i == 4 ? 0 : i - 1, i);
	snprintf(text + used, size - used, "state: {j0: {q: 0.4}, j3: {q: 0.3}, j5: {q: -0.5}}\n");
}

static void every_method_takes_branches(void **state) {
	(void)state;
	char text[3000];
	write_chains(text, sizeof text);
	Run truth = reference(text, 0.2);
	for (int i = 0; i < ROWS; i++) {
		if (!is_built(&rows[i]))
			continue;
		Run r = run_of(text, options_of(&rows[i], rows[i].step), 2);
		assert_true(cal_branches_count(cal_sim_branches(r.sim, 0)) >= 2);
		advance(&r, 0.2);
		check_error(&rows[i], "branches", distance(&r, &truth));
		run_end(&r);
	}
	run_end(&truth);
}

/* ---- rotational springs -------------------------------------------------------------------------- */

#define SWING_BALL                                                                                                             \
	"bodies: {b: {mass: 3, box: [1, 0.5, 0.2]}}\n"                                                                             \
	"joints: {f: {type: spherical, to: b, dof: [{stiffness: 1}, {stiffness: 1}, {stiffness: 1, rest: 20 deg}]}}\nstate: {f: {" \
	"angular_velocity: [0, 0.2, "

/* Beyond half a turn from rest the moment of the spring of a ball has jumped: a run says so, and no other does. */
static void every_method_says_that_a_spring_turned_over(void **state) {
	(void)state;
	for (int i = 0; i < 2 * ROWS; i++) {
		const Row *row = &rows[i / 2];
		const bool turns = i % 2;
		if (!is_built(row))
			continue;
		Run r = run_of(turns ? SWING_BALL "9]}}\n" : SWING_BALL "4]}}\n", options_of(row, row->step), 0);
		advance(&r, 0.5); // about 4.1 rad, or 1.9 rad
		int found = 0;
		CalDoubt doubt;
		for (int k = 0; cal_sim_doubt(r.sim, k, &doubt) == CAL_OK; k++)
			if (doubt.kind == CAL_DOUBT_RANGE) {
				assert_non_null(strstr(doubt.text, "the spring of joint \"f\" turned over at t = 0.4"));
				found++;
			}
		if (found != turns)
			fail_msg("%s: %d doubts", cal_method_name(row->method), found);
		run_end(&r);
	}
}

/* ---- memory -------------------------------------------------------------------------------------- */

static void *filled(void *user, size_t size) {
	void *memory = malloc(size);
	if (memory)
		memset(memory, *(const unsigned char *)user, size);
	return memory;
}

static void release(void *user, void *memory) {
	(void)user;
	free(memory);
}

/* Memory of zeros, and of numbers that are none: what nobody has computed is not read. */
static void no_method_reads_what_was_in_its_memory(void **state) {
	(void)state;
	static unsigned char fills[] = {0, 0xff};
	static const char *const models[] = {FOUR_BAR, SERVO, SOURCE_DIR "/examples/flexible_arm.yaml"};
	for (int i = 0; i < 3 * ROWS; i++) {
		const Row *row = &rows[i / 3];
		Run runs[2];
		if (!is_built(row))
			continue;
		for (int k = 0; k < 2; k++) {
			const CalAllocator allocator = {.alloc = filled, .free = release, .user = &fills[k]};
			runs[k] = run_with(models[i % 3], options_of(row, row->step), 0, allocator);
			advance(&runs[k], 0.01);
		}
		const CalModel *model = cal_sim_model(runs[0].sim, 0);
		const CalState *a = cal_sim_state(runs[0].sim, 0), *b = cal_sim_state(runs[1].sim, 0);
		assert_memory_equal(a->q, b->q, (size_t)cal_model_q_count(model) * sizeof(double));
		assert_memory_equal(a->u, b->u, (size_t)cal_model_u_count(model) * sizeof(double));
		run_end(&runs[0]);
		run_end(&runs[1]);
	}
}

/* ---- examples ------------------------------------------------------------------------------------ */

/* A loop, a flexible arm with a servo, an arm that changes its topology: adaptive methods agree at a tight tolerance. */
static void adaptive_methods_agree_on_examples(void **state) {
	(void)state;
	static const struct {
		const char *path;
		double duration;
	} examples[] = {{SOURCE_DIR "/examples/four_bar.yaml", 1},
	                {SOURCE_DIR "/examples/flexible_arm.yaml", 2},
	                {SOURCE_DIR "/examples/walking_arm.yaml", 4}};
	for (size_t i = 0; i < sizeof examples / sizeof *examples; i++) {
		Run truth = reference(examples[i].path, examples[i].duration);
		for (int k = 0; k < ROWS; k++) {
			if (!is_built(&rows[k]) || !cal_method_info(rows[k].method)->adaptive)
				continue;
			Run r = run_of(examples[i].path, options_of(&rows[k], rows[k].step), 0);
			advance(&r, examples[i].duration);
			assert_int_equal(cal_sim_generation(r.sim), cal_sim_generation(truth.sim));
			print_message("%s: %s differs by %.2e\n", strrchr(examples[i].path, '/') + 1,
			              cal_method_name(rows[k].method), distance(&r, &truth));
			check_error(&rows[k], examples[i].path, distance(&r, &truth));
			run_end(&r);
		}
		run_end(&truth);
	}
}

/* ---- what is not built --------------------------------------------------------------------------- */

static void a_method_that_is_not_built_says_what_it_needs(void **state) {
	(void)state;
	for (int i = 0; i < ROWS; i++) {
		const CalMethodInfo *info = cal_method_info(rows[i].method);
		char text[400];
		CalSetup *file = NULL;
		CalError error = {0};
		snprintf(text, sizeof text, "calder: 1\n%srun: {duration: 1, step: 1e-3, method: %s}\n", OSCILLATOR,
		         info->name);
		const CalStatus status = cal_model_file_parse(text, strlen(text), "model", NULL, &file, &error);
		if (status == CAL_ERR_UNSUPPORTED)
			skip(); // a build without YAML
		assert_int_equal(status == CAL_OK, !info->missing);
		if (info->missing)
			assert_non_null(strstr(error.text, info->missing));
		cal_setup_destroy(file);
	}
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_method_has_its_order),
		cmocka_unit_test(every_method_keeps_loops_closed),
		cmocka_unit_test(every_method_takes_devices_and_events),
		cmocka_unit_test(every_method_resumes_from_a_checkpoint),
		cmocka_unit_test(every_method_takes_branches),
		cmocka_unit_test(every_method_says_that_a_spring_turned_over),
		cmocka_unit_test(no_method_reads_what_was_in_its_memory),
		cmocka_unit_test(adaptive_methods_agree_on_examples),
		cmocka_unit_test(a_method_that_is_not_built_says_what_it_needs),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
