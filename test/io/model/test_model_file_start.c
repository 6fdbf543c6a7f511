// SPDX-License-Identifier: Apache-2.0
/*
 * test_model_file_start.c — where a run with loops starts: at what the file states, or nearest to it, and it says what
 * moved.
 *
 * The reference is the geometry of the planar four-bar: with crank and rocker as circles and the coupler as a distance, a
 * crank angle has two positions of the other bars, and their speeds follow from the crank's.
 */
#include <math.h>
#include <stdio.h>

#include <calder/calder.h>
#include "support/model_file_support.h"
#include "support/rng.h"

static const double pi = 3.141592653589793;

typedef struct Bars {
	double crank, coupler, rocker, base;
} Bars;

static const Bars bars = {0.2, 0.5, 0.4, 0.5};

static CalSetup *four_bar(const char *state, const char *run) {
	char text[2000];
	snprintf(text, sizeof text,
	         "calder: 1\n"
	         "gravity: [0, -9.81, 0]\n"
	         "bodies:\n"
	         "  crank: {mass: 1, rod: {from: [0, 0, 0], to: [0.2, 0, 0]}, nodes: {end: [0.2, 0, 0]}}\n"
	         "  coupler: {mass: 2.5, rod: {from: [0, 0, 0], to: [0.5, 0, 0]}, nodes: {end: [0.5, 0, 0]}}\n"
	         "  rocker: {mass: 2, rod: {from: [0, 0, 0], to: [0.4, 0, 0]}, nodes: {end: [0.4, 0, 0]}}\n"
	         "joints:\n"
	         "  crank: {type: revolute, to: crank}\n"
	         "  elbow: {type: revolute, from: crank/end, to: coupler}\n"
	         "  rocker: {type: revolute, to: rocker, inboard: [0.5, 0, 0]}\n"
	         "loops: {pin: {type: revolute, from: coupler/end, to: rocker/end}}\n"
	         "state: %s\n"
	         "run: {method: rk4, step: 1 ms, duration: 1%s}\n",
	         state, run);
	return file_of(text);
}

/* Angles of coupler (on the crank) and rocker at a crank angle; side +1 or -1. */
static void close_four_bar(double crank, int side, double q[3]) {
	const double x = bars.crank * cos(crank), y = bars.crank * sin(crank), dx = bars.base - x, dy = -y;
	const double d = hypot(dx, dy), along = (d * d + bars.coupler * bars.coupler - bars.rocker * bars.rocker) / (2 * d);
	const double across = side * sqrt(bars.coupler * bars.coupler - along * along);
	const double px = x + (along * dx - across * dy) / d, py = y + (along * dy + across * dx) / d;
	q[0] = crank;
	q[1] = atan2(py - y, px - x) - crank;
	q[2] = atan2(py, px - bars.base);
}

/* The turn of an angle that is nearest to another one. */
static double nearest_turn(double angle, double to) { return angle + 2 * pi * round((to - angle) / (2 * pi)); }

/* Speeds of coupler and rocker, from the velocity of the pin. */
static void speeds_of(const double q[3], double crank, double u[3]) {
	const double a = q[0], b = q[0] + q[1], c = q[2];
	// crank e_a' l_a + (crank + u1) e_b' l_b = u2 e_c' l_c
	const double m[4] = {-bars.coupler * sin(b), bars.rocker * sin(c), bars.coupler * cos(b), -bars.rocker * cos(c)};
	const double r[2] = {crank * bars.crank * sin(a), -crank * bars.crank * cos(a)}, det = m[0] * m[3] - m[1] * m[2];
	u[0] = crank;
	u[1] = (r[0] * m[3] - m[1] * r[1]) / det - crank;
	u[2] = (m[0] * r[1] - r[0] * m[2]) / det;
}

typedef struct Start {
	CalSetup *file;
	CalSim *sim;
	CalScenario *scenario;
	CalStatus status;
	CalError error;
	const CalState *state;
	CalAssembly assembly;
} Start;

static Start start_of(CalSetup *file, double limit) {
	Start s = {.file = file};
	CalSimOptions options = {.method = cal_setup_run(file).method,
	                         .assembly_limit = cal_setup_run(file).assembly_limit};
	options.assembly_limit = limit > 0 ? limit : options.assembly_limit;
	assert_int_equal(cal_sim_create(cal_setup_desc(file), &options, &s.sim, &s.error), CAL_OK);
	assert_int_equal(cal_scenario_create(file, s.sim, &s.scenario, &s.error), CAL_OK);
	s.status = cal_sim_restart(s.sim, &s.error);
	s.state = cal_sim_state(s.sim, 0);
	assert_int_equal(cal_sim_assembly(s.sim, 0, &s.assembly), CAL_OK);
	return s;
}

static void start_end(Start *s) {
	cal_scenario_destroy(s->scenario);
	cal_sim_destroy(s->sim);
	cal_setup_destroy(s->file);
}

static void assert_has(const char *text, const char *part) {
	if (!strstr(text, part))
		fail_msg("\"%s\" lacks \"%s\"", text, part);
}

/* -50 deg and 10 rad/s are what the run starts with; the others are the nearest of the two positions to their defaults. */
static void what_is_stated_is_where_the_run_starts(void **state) {
	(void)state;
	Start s = start_of(four_bar("{crank: {q: -50 deg, u: 10 rad/s}}", ""), 0);
	double q[2][3], u[3], distance[2];
	assert_int_equal(s.status, CAL_OK);
	assert_true(s.state->q[0] == -50 * pi / 180 && s.state->u[0] == 10);
	for (int side = 0; side < 2; side++) {
		close_four_bar(s.state->q[0], side ? 1 : -1, q[side]);
		distance[side] = hypot(nearest_turn(q[side][1], 0), nearest_turn(q[side][2], 0));
	}
	const double *want = q[distance[1] < distance[0]];
	assert_near(s.state->q[1], nearest_turn(want[1], 0), 1e-11);
	assert_near(s.state->q[2], nearest_turn(want[2], 0), 1e-11);
	speeds_of(want, 10, u);
	assert_near(s.state->u[1], u[1], 1e-10);
	assert_near(s.state->u[2], u[2], 1e-10);
	// nothing that was stated moved: nothing to doubt, but it is reported
	char text[400];
	assert_false(s.assembly.doubtful);
	assert_int_equal(cal_sim_doubt_count(s.sim), 0);
	assert_true(s.assembly.q_given[0] == s.state->q[0] && s.assembly.q_given[1] == 0 &&
	            s.assembly.q[1] == s.state->q[1]);
	assert_true(cal_sim_assembly_text(s.sim, 0, text, sizeof text) > 0);
	assert_has(text, "initial state violates loop \"pin\" by");
	assert_has(text, "elbow 0.0 → ");
	start_end(&s);
}

/* Of all closed states the nearest: the reference tries every crank angle and both sides. */
static void what_cannot_be_kept_moves_least(void **state) {
	(void)state;
	printf("seed %llu\n", (unsigned long long)test_seed());
	for (int k = 0; k < 12; k++) {
		Rng r = rng_make(test_seed() + (uint64_t)k);
		double given[3], q[3], least = INFINITY;
		close_four_bar(rng_uniform(&r, -3, 3), rng_chance(&r, 0.5) ? 1 : -1, given);
		for (int i = 0; i < 3; i++)
			given[i] += rng_uniform(&r, -0.5, 0.5);
		for (int side = -1; side < 2; side += 2) {
			for (int i = 0; i < 200000; i++) {
				close_four_bar(given[0] + pi * (i * 1e-5 - 1), side, q);
				const double e[3] = {q[0] - given[0], nearest_turn(q[1], given[1]) - given[1],
				                     nearest_turn(q[2], given[2]) - given[2]};
				least = fmin(least, e[0] * e[0] + e[1] * e[1] + e[2] * e[2]);
			}
		}
		char text[300];
		snprintf(text, sizeof text, "{crank: {q: %.17g}, elbow: {q: %.17g}, rocker: {q: %.17g}}", given[0], given[1],
		         given[2]);
		Start s = start_of(four_bar(text, ""), INFINITY);
		assert_int_equal(s.status, CAL_OK);
		double found = 0;
		for (int i = 0; i < 3; i++)
			found += s.assembly.change[i] * s.assembly.change[i];
		if (!(fabs(sqrt(found) - sqrt(least)) < 1e-6))
			fail_msg("seed %llu: moved by %g, the nearest is %g away", (unsigned long long)test_seed() + (unsigned)k,
			         sqrt(found), sqrt(least));
		start_end(&s);
	}
}

/* A speed that the loops do not allow changes least; what the crank is stated to do stays if the rest was not stated. */
static void speeds_follow_what_is_stated(void **state) {
	(void)state;
	double q[3], u[3];
	char text[300];
	close_four_bar(1, 1, q);
	speeds_of(q, 1, u);
	snprintf(text, sizeof text, "{crank: {q: %.17g, u: 2}, elbow: {q: %.17g, u: 1}, rocker: {q: %.17g, u: -1}}", q[0],
	         q[1], q[2]);
	Start s = start_of(four_bar(text, ", assemble: any"), 0);
	assert_int_equal(s.status, CAL_OK);
	const double given[3] = {2, 1, -1};
	double along = 0, square = 0; // the nearest multiple of the only motion
	for (int i = 0; i < 3; i++)
		along += given[i] * u[i], square += u[i] * u[i];
	for (int i = 0; i < 3; i++)
		assert_near(s.state->u[i], along / square * u[i], 1e-9);
	assert_true(s.assembly.doubtful && s.assembly.speed_moved > 0.1 && s.assembly.moved < 1e-9);
	start_end(&s);
}

static void a_start_that_moves_too_far_is_refused(void **state) {
	(void)state;
	const char *open_state = "{crank: {q: -50 deg, u: 10 rad/s}, elbow: {q: 60 deg}, rocker: {q: 100 deg}}";
	Start s = start_of(four_bar(open_state, ""), 0);
	assert_int_equal(s.status, CAL_ERR_ARGUMENT);
	assert_has(s.error.text, "group \"main\": initial state violates loop \"pin\" by 0.486 m; assembled state differs: "
	                         "crank -50.0 → ");
	assert_has(s.error.text, "--assemble");
	assert_has(s.error.text, "Use \"frozen: true\" to hold a coordinate.");
	assert_true(s.state->q[0] == -50 * pi / 180 && s.state->u[0] == 10); // as it was given
	assert_true(s.assembly.q == NULL);
	// asked for, it is done; the restart takes it, and the run has a doubt
	CalDoubt doubt;
	assert_int_equal(cal_sim_assemble(s.sim, 0, NULL, &s.error), CAL_OK);
	assert_int_equal(cal_sim_check_assembly(s.sim, 0, &s.error), CAL_ERR_ARGUMENT);
	assert_int_equal(cal_sim_restart(s.sim, &s.error), CAL_OK);
	assert_int_equal(cal_sim_doubt(s.sim, 0, &doubt), CAL_OK);
	assert_int_equal(doubt.kind, CAL_DOUBT_ASSEMBLY);
	assert_has(doubt.text, "assembled state differs: crank -50.0 → ");
	assert_int_equal(cal_sim_assembly(s.sim, 0, &s.assembly), CAL_OK);
	assert_true(s.assembly.moved > 0.1 && s.assembly.q_given[0] == -50 * pi / 180);
	start_end(&s);
	s = start_of(four_bar(open_state, ", assemble: 2 rad"), 0);
	assert_int_equal(s.status, CAL_OK);
	start_end(&s);
	// what is only a guess may move by any amount
	s = start_of(
		four_bar("{crank: {q: -50 deg, u: 10}, elbow: {q: 60 deg, guess: yes}, rocker: {q: 100 deg, guess: yes}}", ""),
		0);
	assert_int_equal(s.status, CAL_OK);
	assert_true(s.state->q[0] == -50 * pi / 180 && !s.assembly.doubtful);
	start_end(&s);
}

/* A zero that the file states is not a default. */
static void a_stated_zero_is_no_default(void **state) {
	(void)state;
	Start s = start_of(four_bar("{crank: {q: 0}}", ""), 0);
	double q[3];
	assert_int_equal(s.status, CAL_OK);
	assert_true(s.state->q[0] == 0);
	close_four_bar(0, s.state->q[2] > 0 ? 1 : -1, q);
	assert_near(s.state->q[2], q[2], 1e-11);
	start_end(&s);
}

/* Without a word of what is stated, what is not neutral is. */
static void in_c_what_is_not_neutral_is_stated(void **state) {
	(void)state;
	CalSetup *file = four_bar("{crank: {q: 1, u: 3}}", "");
	const CalSimOptions options = {.method = {.method = CAL_METHOD_DOPRI5}};
	CalSim *sim = NULL;
	assert_int_equal(cal_sim_create(cal_setup_desc(file), &options, &sim, NULL), CAL_OK);
	CalState *at = cal_sim_state(sim, 0);
	at->q[0] = 1;
	at->u[0] = 3;
	assert_int_equal(cal_sim_restart(sim, NULL), CAL_OK);
	assert_true(at->q[0] == 1 && at->u[0] == 3 && fabs(at->u[2]) > 0.1);
	const uint8_t none[3] = {0}, rocker[3] = {0, 0, 1};
	assert_int_equal(cal_sim_set_stated(sim, 0, rocker, NULL), CAL_ERR_ARGUMENT);
	assert_int_equal(cal_sim_set_stated(sim, 1, rocker, none), CAL_ERR_ARGUMENT);
	assert_int_equal(cal_sim_set_stated(sim, 0, rocker, none), CAL_OK);
	at->q[0] = 1, at->q[1] = 0, at->q[2] = 2;
	at->u[0] = at->u[1] = at->u[2] = 0;
	assert_int_equal(cal_sim_restart(sim, NULL), CAL_OK);
	assert_true(at->q[2] == 2 && at->q[0] != 1);
	cal_sim_destroy(sim);
	cal_setup_destroy(file);
}

/* Bodies that can bend stay straight: joints close the loop. */
static void bodies_are_not_bent_to_close_loops(void **state) {
	(void)state;
	CalSetup *file = file_of(
		"calder: 1\n"
		"bodies:\n"
		"  crank: {mass: 1, rod: {from: [0, 0, 0], to: [0.2, 0, 0]}, nodes: {end: [0.2, 0, 0]}}\n"
		"  coupler: {beam: {length: 0.5, section: {shape: tube, diameter: 20 mm, thickness: 1 mm, youngs_modulus: 70 GPa, "
		"density: 2700 kg/m^3}, deformation: bend_y, modes: 2}}\n"
		"  slider: {mass: 1.5, box: [0.1, 0.05, 0.05]}\n"
		"joints:\n"
		"  crank: {type: revolute, to: crank}\n"
		"  elbow: {type: revolute, from: crank/end, to: coupler/root}\n"
		"  rail: {type: prismatic, to: slider, axis: x}\n"
		"loops: {pin: {type: revolute, from: coupler/tip, to: slider}}\n"
		"state: {crank: {q: 40 deg, u: 5}}\n"
		"run: {method: rk4, step: 1 ms, duration: 1}\n");
	Start s = start_of(file, 0);
	const double y = 0.2 * sin(40 * pi / 180), x = 0.2 * cos(40 * pi / 180) + sqrt(0.25 - y * y);
	const CalModel *model = cal_sim_model(s.sim, 0);
	const CalBodyInfo coupler = body_of(model, "coupler"), slider = body_of(model, "slider");
	assert_int_equal(s.status, CAL_OK);
	for (int i = 0; i < coupler.modes; i++)
		assert_true(s.state->q[coupler.q + coupler.nq + i] == 0 && s.state->u[coupler.u + coupler.nu + i] == 0);
	assert_near(s.state->q[slider.q], x, 1e-11);
	assert_true(s.state->u[body_of(model, "crank").u] == 5);
	start_end(&s);
}

static void mistakes_are_reported(void **state) {
	(void)state;
	static const struct {
		const char *state, *run, *text;
	} bad[] = {
		{"{crank: {guess: maybe}}", "", "expected true or false"},
		{"{crank: {q: 1, guess: true, frozen: true}}", "", "a guess is what closing loops moves first"},
		{"{}", ", assemble: 0", "any, or an angle above zero"},
		{"{}", ", assemble: 1 m", "expected an angle"},
	};
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
		char text[400];
		CalSetup *file = NULL;
		CalError error = {0};
		snprintf(text, sizeof text,
		         "calder: 1\nbodies: {a: {mass: 1}}\njoints: {crank: {type: revolute, to: a, inboard: [1, 0, 0]}}\n"
		         "state: %s\nrun: {duration: 1%s}\n",
		         bad[i].state, bad[i].run);
		assert_int_equal(cal_model_file_parse(text, strlen(text), "t.yaml", NULL, &file, &error), CAL_ERR_INPUT);
		assert_has(error.text, bad[i].text);
	}
}

int main(void) {
	NEEDS_YAML();
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_stated_is_where_the_run_starts),
		cmocka_unit_test(what_cannot_be_kept_moves_least),
		cmocka_unit_test(speeds_follow_what_is_stated),
		cmocka_unit_test(a_start_that_moves_too_far_is_refused),
		cmocka_unit_test(a_stated_zero_is_no_default),
		cmocka_unit_test(in_c_what_is_not_neutral_is_stated),
		cmocka_unit_test(bodies_are_not_bent_to_close_loops),
		cmocka_unit_test(mistakes_are_reported),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
