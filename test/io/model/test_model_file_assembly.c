// SPDX-License-Identifier: Apache-2.0
/*
 * test_model_file_assembly.c — closing loops from open states: what is reached, what cannot be closed or is merely far,
 * what is frozen, contradictory or singular; by the projection and by a run, with the names of rows. Always in bounded
 * time.
 */
#include <math.h>
#include <stdio.h>

#include <calder/calder.h>
#include "support/model_file_support.h"
#include "support/rng.h"

/* A planar four-bar: crank, coupler, rocker, distance of the pivots; three angles. */
typedef struct FourBar {
	double crank, coupler, rocker, base;
	double angle[3]; // of crank, coupler on crank, rocker
	const char *frozen;
} FourBar;

/* The length that residuals are measured by. */
static double way_of(const FourBar *f) { return f->crank + f->coupler + f->rocker + f->base; }

static CalSetup *four_bar(const FourBar *f) {
	char text[2000];
	snprintf(text, sizeof text,
	         "calder: 1\n"
	         "gravity: [0, -9.81, 0]\n"
	         "bodies:\n"
	         "  crank: {mass: 1, rod: {from: [0, 0, 0], to: [%.17g, 0, 0]}, nodes: {end: [%.17g, 0, 0]}}\n"
	         "  coupler: {mass: 1, rod: {from: [0, 0, 0], to: [%.17g, 0, 0]}, nodes: {end: [%.17g, 0, 0]}}\n"
	         "  rocker: {mass: 1, rod: {from: [0, 0, 0], to: [%.17g, 0, 0]}, nodes: {end: [%.17g, 0, 0]}}\n"
	         "joints:\n"
	         "  jc: {type: revolute, to: crank, axis: z}\n"
	         "  jp: {type: revolute, from: crank/end, to: coupler, axis: z}\n"
	         "  jr: {type: revolute, to: rocker, axis: z, inboard: [%.17g, 0, 0]}\n"
	         "loops: {pin: {type: revolute, from: coupler/end, to: rocker/end}}\n"
	         "state: {jc: {q: %.17g%s}, jp: {q: %.17g}, jr: {q: %.17g}}\n"
	         "run: {method: rk4, step: 1 ms, duration: 1}\n",
	         f->crank, f->crank, f->coupler, f->coupler, f->rocker, f->rocker, f->base, f->angle[0],
	         f->frozen ? f->frozen : "", f->angle[1], f->angle[2]);
	return file_of(text);
}

typedef struct Verdict {
	CalStatus status;
	CalProjectReport report;
	char row[64];
	double q[3];
} Verdict;

/* The state of a file projected, with what the file freezes. */
static Verdict project(const CalSetup *file, int iterations, int search) {
	Verdict v = {0};
	CalModel *model = model_of(file, NULL);
	CalState state;
	CalWork *work;
	uint8_t frozen[16] = {0};
	assert_int_equal(cal_state_create(model, &state), CAL_OK);
	assert_int_equal(cal_work_create(model, &work), CAL_OK);
	assert_int_equal(cal_setup_apply_state(file, model, &state, NULL), CAL_OK);
	assert_int_equal(cal_setup_frozen(file, model, frozen, NULL), CAL_OK);
	const CalProjectOptions options = {.frozen = frozen, .max_iterations = iterations, .search = search};
	v.status = cal_loop_project(model, &state, &options, work, &v.report);
	if (v.report.row >= 0)
		cal_model_row_name(model, v.report.row, v.row, sizeof v.row);
	for (int i = 0; i < cal_model_q_count(model); i++) {
		assert_true(isfinite(state.q[i]));
		if (i < 3)
			v.q[i] = state.q[i];
	}
	cal_work_destroy(work);
	cal_state_destroy(&state);
	cal_model_destroy(model);
	return v;
}

static void what_can_be_closed_is_distinguished_from_what_cannot(void **state) {
	(void)state;
	const double pi = acos(-1);
	const struct {
		const char *what;
		FourBar bars;
		int iterations;
		CalStatus status;
		int reachable;
		double residual; // of what is left
	} cases[] = {
		{"far off", {0.3, 0.9, 0.6, 1, {-2.5, -2, -1}, NULL}, 0, CAL_OK, 1, 0},
		{"far off, one iteration", {0.3, 0.9, 0.6, 1, {-2.5, -2, -1}, NULL}, 1, CAL_NOT_CONVERGED, 1, -1},
		{"far off, three iterations", {0.3, 0.9, 0.6, 1, {-2.5, -2, -1}, NULL}, 3, CAL_NOT_CONVERGED, 1, -1},
		{"too short", {0.2, 0.3, 0.3, 1, {0.9, -0.5, 2}, NULL}, 0, CAL_NOT_CONVERGED, 0, 0.2},
		{"too short and stretched", {0.2, 0.3, 0.3, 1, {0, 0, pi}, NULL}, 0, CAL_NOT_CONVERGED, 0, 0.2},
		{"too short and folded away", {0.2, 0.3, 0.3, 1, {pi, 0, 0}, NULL}, 0, CAL_NOT_CONVERGED, 0, 0.2},
		{"long enough, from a flat position", {0.5, 0.8, 0.5, 1, {0, 0, 0}, NULL}, 0, CAL_OK, 1, 0},
		{"just long enough", {0.2, 0.3, 0.5, 1, {0.9, -0.5, 2}, NULL}, 100, CAL_OK, 1, 0},
		{"a crank frozen within reach", {0.3, 0.9, 0.6, 1, {2, -1, 1}, ", frozen: true"}, 0, CAL_OK, 1, 0},
		{"a crank frozen out of reach", {0.5, 0.6, 0.3, 1, {pi, 0, 1}, ", frozen: true"}, 0, CAL_NOT_CONVERGED, 0, 0.6},
	};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		CalSetup *file = four_bar(&cases[i].bars);
		const Verdict v = project(file, cases[i].iterations, 1);
		if (v.status != cases[i].status || v.report.reachable != cases[i].reachable)
			fail_msg("%s: status %d, reachable %d, residual %g", cases[i].what, v.status, v.report.reachable,
			         v.report.residual);
		if (v.status == CAL_OK)
			assert_true(v.report.residual <= 1e-12 * way_of(&cases[i].bars) && v.report.row == -1);
		else
			assert_true(v.report.residual > 1e-5 && strncmp(v.row, "pin.d", 5) == 0);
		if (cases[i].residual > 0) // in the end the gap is along one axis of the coupler
			assert_true(fabs(v.report.residual - cases[i].residual) < 1e-3);
		assert_true(!cases[i].bars.frozen || v.q[0] == cases[i].bars.angle[0]);
		assert_true(v.report.iterations <= 600);
		cal_setup_destroy(file);
	}
}

/*
 * Four bars can be closed if the longest is not longer than the others together; with the crank frozen, if its tip is within
 * reach of the other two. Random lengths and angles, those that are closer than 2 % to the limit left out.
 */
static void random_four_bars_get_the_right_verdict(void **state) {
	(void)state;
	int closed = 0, open = 0;
	for (int i = 0; i < 400; i++) {
		Rng r = rng_make(test_seed() + (uint64_t)i);
		FourBar f = {.base = 1, .frozen = rng_chance(&r, 0.5) ? ", frozen: true" : NULL};
		f.crank = rng_uniform(&r, 0.1, 1), f.coupler = rng_uniform(&r, 0.1, 1), f.rocker = rng_uniform(&r, 0.1, 1);
		for (int k = 0; k < 3; k++)
			f.angle[k] = rng_uniform(&r, -3, 3);
		const double far = f.frozen ? hypot(f.crank * cos(f.angle[0]) - 1, f.crank * sin(f.angle[0])) : 1;
		const double sides[] = {far, f.frozen ? 0 : f.crank, f.coupler, f.rocker};
		double longest = 0, sum = 0;
		for (int k = 0; k < 4; k++)
			longest = fmax(longest, sides[k]), sum += sides[k];
		if (fabs(2 * longest - sum) < 0.02 * sum)
			continue;
		CalSetup *file = four_bar(&f);
		const Verdict v = project(file, 0, 1);
		const int can = 2 * longest < sum;
		if ((v.status == CAL_OK) != can || v.report.reachable != can)
			fail_msg("seed %llu: %g %g %g%s from %g %g %g: status %d, reachable %d, off by %g",
			         (unsigned long long)test_seed() + (unsigned long long)i, f.crank, f.coupler, f.rocker,
			         f.frozen ? " (frozen)" : "", f.angle[0], f.angle[1], f.angle[2], v.status, v.report.reachable,
			         v.report.residual);
		*(can ? &closed : &open) += 1;
		cal_setup_destroy(file);
	}
	assert_true(closed > 100 && open > 40);
}

/* Without `search` a state never jumps to another position, but the verdict is the same. */
static void a_search_moves_the_state_only_if_asked_to(void **state) {
	(void)state;
	CalSetup *file = four_bar(&(FourBar){0.5, 0.8, 0.5, 1, {0, 0, 0}, NULL});
	const Verdict v = project(file, 0, 0);
	assert_int_equal(v.status, CAL_NOT_CONVERGED);
	assert_int_equal(v.report.reachable, 1);
	assert_true(v.q[0] == 0 && v.q[1] == 0 && v.q[2] == 0);
	cal_setup_destroy(file);
}

/* What a run says; NULL status: it must start. */
static void check_start(CalSetup *file, CalStatus want, const char *const *texts) {
	CalError error = {0};
	CalSim *sim = NULL;
	const CalSimOptions options = {.method = {.method = CAL_METHOD_RK4, .step = 1e-3}, .assembly_limit = INFINITY};
	assert_int_equal(cal_sim_create(cal_setup_desc(file), &options, &sim, &error), CAL_OK);
	assert_int_equal(cal_setup_apply_state(file, cal_sim_model(sim, 0), cal_sim_state(sim, 0), &error), CAL_OK);
	uint8_t frozen[32] = {0};
	assert_int_equal(cal_setup_frozen(file, cal_sim_model(sim, 0), frozen, &error), CAL_OK);
	assert_int_equal(cal_sim_set_frozen(sim, 0, frozen), CAL_OK);
	assert_int_equal(cal_sim_restart(sim, &error), want);
	for (; *texts; texts++) {
		if (!strstr(error.text, *texts))
			fail_msg("\"%s\" lacks \"%s\"", error.text, *texts);
	}
	cal_sim_destroy(sim);
	cal_setup_destroy(file);
}

#define TWO_FREE_BODIES                \
	"calder: 1\n"                      \
	"bodies:\n"                        \
	"  a: {mass: 1, box: [1, 1, 1]}\n" \
	"  b: {mass: 1, box: [1, 1, 1]}\n" \
	"joints:\n"                        \
	"  ja: {type: free, to: a}\n"      \
	"  jb: {type: free, to: b, inboard: [0.9, 0, 0]}\n"

static void a_run_names_what_cannot_be_closed(void **state) {
	(void)state;
	const double pi = acos(-1);
	check_start(four_bar(&(FourBar){0.2, 0.3, 0.3, 1, {0.9, -0.5, 2}, NULL}), CAL_NOT_CONVERGED,
	            (const char *const[]){"group \"main\"", "pin.dx is off by 0.2 m", "out of reach; check lengths", NULL});
	check_start(four_bar(&(FourBar){0.5, 0.6, 0.3, 1, {pi, 0, 1}, ", frozen: true"}), CAL_NOT_CONVERGED,
	            (const char *const[]){"pin.dx is off by", "out of reach while 1 of 3 coordinates are frozen", NULL});
	// two welds that want different distances: least squares of parts of their ways, which are 1.9 m and 2 m long
	check_start(file_of(TWO_FREE_BODIES "loops:\n"
	                                    "  w1: {type: weld, from: a, to: b, a: [1, 0, 0]}\n"
	                                    "  w2: {type: weld, from: a, to: b, a: [1.1, 0, 0]}\n"),
	            CAL_NOT_CONVERGED,
	            (const char *const[]){"w1.dx is off by 0.0474 m", "w2.dx is off by -0.0526 m", "out of reach", NULL});
	// the same loops with numbers of ten digits
	check_start(file_of(TWO_FREE_BODIES "loops:\n"
	                                    "  w1: {type: weld, from: a, to: b, a: [0.3333333333, 0, 0]}\n"
	                                    "  w2: {type: weld, from: a, to: b, a: [0.33333333333333, 0, 0]}\n"),
	            CAL_NOT_CONVERGED,
	            (const char *const[]){".dx is off by", "are numbers of redundant loops rounded", NULL});
	check_start(four_bar(&(FourBar){0.3, 0.9, 0.6, 1, {2, -1, 1}, ", frozen: [yes]"}), CAL_OK,
	            (const char *const[]){NULL});
}

/* A four-bar 16 km from the origin, where positions have 2e-12 m: its run is not stopped by round-off. */
static void round_off_far_from_the_origin_is_no_error(void **state) {
	(void)state;
	CalError error = {0};
	CalSim *sim = NULL;
	CalSimMonitor monitor;
	CalSetup *file = file_of("calder: 1\n"
	                         "gravity: [0, -9.81, 0]\n"
	                         "ground: {nodes: {site: [12345.6, -9876.5, 4321]}}\n"
	                         "bodies:\n"
	                         "  a: {mass: 1, rod: {from: [0, 0, 0], to: [0.3, 0, 0]}}\n"
	                         "  b: {mass: 1, rod: {from: [0, 0, 0], to: [0.9, 0, 0]}}\n"
	                         "  c: {mass: 1, rod: {from: [0, 0, 0], to: [0.6, 0, 0]}}\n"
	                         "joints:\n"
	                         "  ja: {type: revolute, from: ground/site, to: a, axis: z}\n"
	                         "  jb: {type: revolute, from: a, to: b, axis: z, inboard: [0.3, 0, 0]}\n"
	                         "  jc: {type: revolute, from: ground/site, to: c, axis: z, inboard: [1, 0, 0]}\n"
	                         "loops: {pin: {type: revolute, from: b, to: c, a: [0.9, 0, 0], b: [0.6, 0, 0]}}\n"
	                         "state: {ja: {q: 2}, jb: {q: -1}, jc: {q: 1}}\n");
	const CalSimOptions options = {.method = {.method = CAL_METHOD_RK4, .step = 1e-3}, .assembly_limit = INFINITY};
	assert_int_equal(cal_sim_create(cal_setup_desc(file), &options, &sim, &error), CAL_OK);
	assert_int_equal(cal_setup_apply_state(file, cal_sim_model(sim, 0), cal_sim_state(sim, 0), &error), CAL_OK);
	assert_int_equal(cal_sim_advance(sim, 1, &error), CAL_OK);
	assert_int_equal(cal_sim_monitor(sim, 0, &monitor), CAL_OK);
	assert_true(monitor.residual < 1e-10 && fabs(monitor.energy_change) < 1e-7);
	assert_true(monitor.energy_conserved && !monitor.momentum_conserved);
	cal_sim_destroy(sim);
	cal_setup_destroy(file);
}

/* A loop inside a free system keeps its momentum, one to the ground does not; the monitor knows which. */
static void loops_on_the_ground_change_the_momentum(void **state) {
	(void)state;
	for (int grounded = 0; grounded < 2; grounded++) {
		char text[1000];
		CalError error = {0};
		CalSim *sim = NULL;
		CalSimMonitor monitor;
		snprintf(text, sizeof text,
		         TWO_FREE_BODIES "loops: {rope: {type: distance, from: %s, to: b, a: [0, 1, 0], length: 1.2}}\n"
		                         "state: {jb: {velocity: [0.3, 0.4, 0.5]}}\n",
		         grounded ? "ground" : "a");
		CalSetup *file = file_of(text);
		const CalSimOptions options = {.method = {.method = CAL_METHOD_RK4, .step = 1e-3}, .assembly_limit = INFINITY};
		assert_int_equal(cal_sim_create(cal_setup_desc(file), &options, &sim, &error), CAL_OK);
		assert_int_equal(cal_setup_apply_state(file, cal_sim_model(sim, 0), cal_sim_state(sim, 0), &error), CAL_OK);
		assert_int_equal(cal_sim_assemble(sim, 1, NULL, &error), CAL_ERR_ARGUMENT);
		assert_int_equal(cal_sim_set_frozen(sim, 1, NULL), CAL_ERR_ARGUMENT);
		assert_int_equal(cal_sim_advance(sim, 1, &error), CAL_OK);
		assert_int_equal(cal_sim_monitor(sim, 0, &monitor), CAL_OK);
		const double change = hypot(monitor.linear_change.x, hypot(monitor.linear_change.y, monitor.linear_change.z));
		assert_int_equal(monitor.momentum_conserved, !grounded);
		assert_true(grounded ? change > 0.01 : change < 1e-9);
		assert_true(monitor.residual < 1e-12 && monitor.residual_rate < 1e-12);
		cal_sim_destroy(sim);
		cal_setup_destroy(file);
	}
}

static void frozen_is_read_with_its_mistakes(void **state) {
	(void)state;
	static const struct {
		const char *value, *text;
	} bad[] = {
		{"maybe", "expected true or false"},
		{"[true]", "a list of 6 flags"},
		{"[yes, no, 1, no, no, no]", "expected true or false"},
	};
	char text[1000];
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
		CalSetup *file = NULL;
		CalError error = {0};
		snprintf(text, sizeof text, TWO_FREE_BODIES "state: {jb: {frozen: %s}}\n", bad[i].value);
		assert_int_equal(cal_model_file_parse(text, strlen(text), "t.yaml", NULL, &file, &error), CAL_ERR_INPUT);
		if (!strstr(error.text, bad[i].text) || !strstr(error.text, "t.yaml:8:"))
			fail_msg("%s", error.text);
	}
	CalSetup *file = file_of(TWO_FREE_BODIES "state: {ja: {frozen: true}, jb: {frozen: [no, yes, no, no, no, yes]}}\n");
	CalModel *model = model_of(file, NULL);
	static const uint8_t want[12] = {1, 1, 1, 1, 1, 1, 0, 1, 0, 0, 0, 1};
	uint8_t frozen[12];
	assert_int_equal(cal_setup_frozen(file, model, frozen, NULL), CAL_OK);
	assert_memory_equal(frozen, want, sizeof want);
	assert_int_equal(cal_setup_frozen(file, model, NULL, NULL), CAL_ERR_ARGUMENT);
	cal_model_destroy(model);
	cal_setup_destroy(file);
}

int main(void) {
	NEEDS_YAML();
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_can_be_closed_is_distinguished_from_what_cannot),
		cmocka_unit_test(random_four_bars_get_the_right_verdict),
		cmocka_unit_test(a_search_moves_the_state_only_if_asked_to),
		cmocka_unit_test(a_run_names_what_cannot_be_closed),
		cmocka_unit_test(round_off_far_from_the_origin_is_no_error),
		cmocka_unit_test(loops_on_the_ground_change_the_momentum),
		cmocka_unit_test(frozen_is_read_with_its_mistakes),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
