// SPDX-License-Identifier: Apache-2.0
/*
 * test_trim_path.c — equilibria along a parameter against closed forms: a pendulum under a growing torque, whose limit point is at
 * m g l; a flat truss that snaps through, as a tree and as a loop, with both of its limit points.
 */
#include "support/model_file_support.h"
#include "support/run.h"

#include <calder/calder.h>
#include <math.h>

enum { MOST = 400 };

typedef struct Path {
	int count, turns;
	double value[MOST], q[MOST];
	CalStability stability[MOST];
	int coordinate;
} Path;

static int take_point(void *user, CalSim *sim, const CalTrimPoint *point) {
	Path *p = user;
	assert_true(p->count < MOST);
	p->value[p->count] = point->value;
	p->q[p->count] = cal_sim_state(sim, 0)->q[p->coordinate];
	p->stability[p->count++] = point->stability;
	p->turns += point->turns;
	return 0;
}

static Path follow(Run *run, const char *input, double from, double to, double step, int coordinate, int most) {
	Path path = {.coordinate = coordinate};
	CalError error = {0};
	int points = 0;
	const CalTrimPathOptions options = {.input = input,
	                                    .from = from,
	                                    .to = to,
	                                    .step = step,
	                                    .back = 1,
	                                    .most = most,
	                                    .point = take_point,
	                                    .user = &path};
	if (cal_sim_trim_path(run->sim, &options, &points, &error) != CAL_OK)
		fail_msg("%s", error.text);
	assert_int_equal(points, path.count);
	return path;
}

/* sin q = tau / (m g l): up to q = 90 degrees stable, then back along the other branch, and so on. */
static void pendulum_turns_back_at_its_largest_torque(void **state) {
	(void)state;
	Run run = run_file(file_of("calder: 1\ngravity: [0, 0, -9.81]\n"
	                           "bodies: {arm: {mass: 2, com: [0, 0, -0.5], inertia: [0.1, 0.1, 0.01]}}\n"
	                           "joints: {hinge: {type: revolute, axis: x, to: arm, dof: {damping: 0.1}}}\n"));
	const double most = 2 * 9.81 * 0.5;
	const Path p = follow(&run, "force:hinge", 0, 9.9, 0, 0, 60);
	double largest = 0;
	assert_true(p.turns >= 1);
	for (int i = 0; i < p.count; i++) {
		largest = fmax(largest, p.value[i]);
		assert_near(most * sin(p.q[i]), p.value[i], 1e-8);
		assert_int_equal(p.stability[i], cos(p.q[i]) > 0 ? CAL_STABILITY_STABLE : CAL_STABILITY_UNSTABLE);
	}
	print_message("%d points, largest torque %.9g of %.9g\n", p.count, largest, most);
	assert_true(largest > 0.99 * most && p.count == 60);
	run_end(&run);
}

/*
 * A mass on a vertical rail between two springs to the sides, unstretched at the height 0.3 m, half width 1 m: with a load F downwards
 * at the height y it is F = 2 k (L0 / L - 1) y, L^2 = 1 + y^2.
 */
static double load_of_truss(double k, double y) {
	const double free_length = sqrt(1 + 0.3 * 0.3);
	return -2 * k * (free_length / sqrt(1 + y * y) - 1) * y;
}

static void check_truss(const Path *p, double k, double offset, double tolerance) {
	const double free_length = sqrt(1.09), root = sqrt(cbrt(free_length * free_length) - 1); // L^3 = L0
	double low = INFINITY, high = -INFINITY;
	assert_int_equal(p->turns, 2);
	assert_int_equal(p->stability[0], CAL_STABILITY_STABLE);
	assert_int_equal(p->stability[p->count - 1], CAL_STABILITY_STABLE);
	assert_near(p->q[0] + offset, 0.3, 1e-9);
	for (int i = 0; i < p->count; i++) {
		const double y = p->q[i] + offset;
		assert_near(p->value[i], load_of_truss(k, y), tolerance);
		if (fabs(fabs(y) - root) > 1e-4)
			assert_int_equal(p->stability[i], fabs(y) > root ? CAL_STABILITY_STABLE : CAL_STABILITY_UNSTABLE);
		low = fmin(low, p->value[i]);
		high = i < p->count / 2 ? fmax(high, p->value[i]) : high;
	}
	print_message("%d points, limit loads %.6g and %.6g of %.6g\n", p->count, low, high, load_of_truss(k, root));
	assert_true(low < 0.98 * load_of_truss(k, root)); // the load is negative: downwards
	assert_true(p->value[p->count - 1] == -60);
}

static void truss_snaps_through(void **state) {
	(void)state;
	Run run = run_file(
		file_of("calder: 1\ngravity: [0, 0, 0]\n"
	            "ground: {nodes: {left: [-1, 0, 0], right: [1, 0, 0]}}\n"
	            "bodies: {top: {mass: 1}}\n"
	            "joints: {rail: {type: prismatic, axis: z, to: top, dof: {damping: 1}}}\n"
	            "devices:\n"
	            "  l: {type: spring, from: ground/left, to: top, length: 1.04403065089105502, stiffness: 1000 N/m}\n"
	            "  r: {type: spring, from: ground/right, to: top, length: 1.04403065089105502, stiffness: 1000 N/m}\n"
	            "state: {rail: {q: 0.3}}\n"));
	const Path p = follow(&run, "force:rail", 0, -60, 0.05, 0, 0);
	check_truss(&p, 1000, 0, 1e-7);
	run_end(&run);
}

/* The same by bars: two telescopes on hinges whose ends a loop joins; the load is a wrench on the top. */
static void truss_with_a_loop_snaps_through(void **state) {
	(void)state;
	Run run = run_file(
		file_of("calder: 1\ngravity: [0, 0, 0]\n"
	            "ground: {nodes: {left: [-1, 0, 0], right: [1, 0, 0]}}\n"
	            "bodies: {a: {mass: 0.1, inertia: [0.01, 0.01, 0.01]}, b: {mass: 1, inertia: [0.01, 0.01, 0.01]},\n"
	            "  c: {mass: 0.1, inertia: [0.01, 0.01, 0.01]}, d: {mass: 0.1, inertia: [0.01, 0.01, 0.01]},\n"
	            "  rail: {mass: 0.1}}\n"
	            "joints:\n"
	            "  rail: {type: prismatic, axis: z, to: rail, dof: {damping: 1}}\n"
	            "  ha: {type: revolute, axis: y, from: ground/left, to: a}\n"
	            "  tb: {type: prismatic, axis: x, from: a, to: b, dof: {stiffness: 1000, rest: 1.04403065089105502}}\n"
	            "  hc: {type: revolute, axis: y, from: ground/right, to: c}\n"
	            "  td: {type: prismatic, axis: x, from: c, to: d, dof: {stiffness: 1000, rest: -1.04403065089105502}}\n"
	            "loops:\n"
	            "  top: {type: spherical, from: b, to: rail}\n"
	            "  side: {type: spherical, from: d, to: rail}\n"
	            "state: {rail: {q: 0.3}, ha: {q: -0.2914567944778671}, tb: {q: 1.0440306508910550},\n"
	            "  hc: {q: 0.2914567944778671}, td: {q: -1.0440306508910550}}\n"));
	const Path p = follow(&run, "wrench:rail.fz", 0, -60, 0.05, 4, 0);
	check_truss(&p, 1000, 0, 1e-6);
	run_end(&run);
}

static void what_is_no_parameter_is_refused(void **state) {
	(void)state;
	Run run = run_file(file_of("calder: 1\ngravity: [0, 0, -9.81]\n"
	                           "bodies: {arm: {mass: 2, com: [0, 0, -0.5], inertia: [0.1, 0.1, 0.01]}}\n"
	                           "joints: {hinge: {type: spherical, to: arm}}\n"));
	CalError error = {0};
	CalTrimPathOptions options = {.input = "force:hinge", .to = 1};
	assert_int_equal(cal_sim_trim_path(run.sim, &options, NULL, &error), CAL_ERR_INPUT);
	assert_non_null(strstr(error.text, "3 components"));
	options.input = "force:hing";
	assert_int_equal(cal_sim_trim_path(run.sim, &options, NULL, &error), CAL_ERR_INPUT);
	options.to = 0;
	assert_int_equal(cal_sim_trim_path(run.sim, &options, NULL, &error), CAL_ERR_ARGUMENT);
	run_end(&run);
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(pendulum_turns_back_at_its_largest_torque),
		cmocka_unit_test(truss_snaps_through),
		cmocka_unit_test(truss_with_a_loop_snaps_through),
		cmocka_unit_test(what_is_no_parameter_is_refused),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
