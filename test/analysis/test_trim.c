// SPDX-License-Identifier: Apache-2.0
/*
 * test_trim.c — equilibria against closed forms (hanging masses on springs, pendulum, governor in steady rotation), a four-bar
 * with a spring against the minima of its potential by an independent search, stability, and what is said where there is none.
 */
#include "support/model_file_support.h"
#include "support/run.h"

#include <calder/calder.h>
#include <math.h>

static const double pi = 3.141592653589793;

static CalTrim trimmed(Run *run, const CalTrimOptions *options) {
	CalTrim trim;
	CalError error = {0};
	if (cal_sim_trim(run->sim, options, &trim, &error) != CAL_OK)
		fail_msg("%s", error.text);
	return trim;
}

static double coordinate(const Run *run, int q) { return cal_sim_state(run->sim, 0)->q[q]; }

/* ---- closed forms ---------------------------------------------------------------------------------- */

/* Two masses one below the other on springs: each spring carries what is below it. */
static void hanging_masses_stretch_their_springs(void **state) {
	(void)state;
	Run run =
		run_file(file_of("calder: 1\ngravity: [0, 0, -9.81]\nbodies: {a: {mass: 2}, b: {mass: 3}}\njoints:\n"
	                     "  ja: {type: prismatic, axis: z, to: a, dof: {stiffness: 100, damping: 1}}\n"
	                     "  jb: {type: prismatic, axis: z, from: a, to: b, dof: {stiffness: 200, damping: 1}}\n"));
	const CalTrim trim = trimmed(&run, NULL);
	assert_near(coordinate(&run, 0), -5 * 9.81 / 100, 1e-12);
	assert_near(coordinate(&run, 1), -3 * 9.81 / 200, 1e-12);
	assert_int_equal(trim.stability, CAL_STABILITY_STABLE);
	assert_true(trim.growth < 0);
	assert_true(trim.iterations <= 6);
	run_end(&run);
}

#define PENDULUM(angle, torque)                                                                            \
	"calder: 1\ngravity: [0, 0, -9.81]\nbodies: {rod: {mass: 2, com: [0, 0, -0.7], inertia: [1, 1, 1]}}\n" \
	"joints: {hinge: {type: revolute, axis: y, to: rod, dof: {damping: 0.1}}}\n"                           \
	"state: {hinge: {q: " angle " deg}}\nloads: [{joint: hinge, effort: " torque "}]\n"

/* m g l sin q = torque, on the stable and on the unstable side. */
static void pendulum_under_a_torque_has_two_equilibria(void **state) {
	(void)state;
	const double q = asin(8 / (2 * 9.81 * 0.7));
	Run low = run_file(file_of(PENDULUM("10", "8"))), high = run_file(file_of(PENDULUM("150", "8")));
	assert_int_equal(trimmed(&low, NULL).stability, CAL_STABILITY_STABLE);
	assert_near(coordinate(&low, 0), q, 1e-12);
	assert_int_equal(trimmed(&high, NULL).stability, CAL_STABILITY_UNSTABLE);
	assert_near(coordinate(&high, 0), pi - q, 1e-12);
	run_end(&low);
	run_end(&high);
}

static void torque_that_is_too_large_has_none_and_the_state_stays(void **state) {
	(void)state;
	Run run = run_file(file_of(PENDULUM("10", "20")));
	const double before = coordinate(&run, 0);
	CalError error = {0};
	CalTrim trim;
	assert_int_equal(cal_sim_trim(run.sim, NULL, &trim, &error), CAL_NOT_CONVERGED);
	assert_non_null(strstr(error.text, "u:hinge still changes"));
	assert_true(coordinate(&run, 0) == before);
	run_end(&run);
}

/* A spring pendulum in a plane, its spring a device between two nodes: straight down. */
static void spring_pendulum_hangs_straight_down(void **state) {
	(void)state;
	Run run = run_file(
		file_of("calder: 1\ngravity: [0, 0, -9.81]\nbodies: {rail: {mass: 1}, ball: {mass: 3}}\n"
	            "joints: {x: {type: prismatic, axis: x, to: rail},\n"
	            "  z: {type: prismatic, axis: z, from: rail, to: ball}}\n"
	            "state: {x: {q: 0.3 m}, z: {q: -0.9 m}}\n"
	            "devices: {spring: {type: spring, from: ground, to: ball, length: 1 m, stiffness: 400 N/m}}\n"));
	trimmed(&run, NULL);
	CalSampler *sampler = NULL;
	CalError error = {0};
	double row[4];
	assert_int_equal(cal_sampler_create(NULL, &sampler, &error), CAL_OK);
	assert_int_equal(cal_sampler_add(sampler, run.sim, "pose:ball.x", &error), CAL_OK);
	assert_int_equal(cal_sampler_add(sampler, run.sim, "pose:ball.z", &error), CAL_OK);
	assert_int_equal(cal_sampler_sample(sampler, run.sim, row), CAL_OK);
	assert_near(row[1], 0, 1e-9);
	assert_near(row[2], -(1 + 3 * 9.81 / 400), 1e-9);
	cal_sampler_destroy(sampler);
	run_end(&run);
}

/* A rod on a driven shaft: w^2 l cos q = g at its angle q from straight down, about the axis through the hinge. */
static void driven_spin_gives_the_steady_rotation(void **state) {
	(void)state;
	Run run = run_file(file_of("calder: 1\ngravity: [0, 0, -9.81]\n"
	                           "bodies: {shaft: {mass: 1, inertia: [1, 1, 1]},\n"
	                           "  ball: {mass: 2, com: [0, 0, -0.8], inertia: [1e-9, 1e-9, 1e-9]}}\n"
	                           "joints: {bearing: {type: revolute, axis: z, to: shaft},\n"
	                           "  hinge: {type: revolute, axis: y, from: shaft, to: ball, dof: {damping: 0.1}}}\n"
	                           "state: {hinge: {q: 40 deg}}\n"
	                           "devices: {motor: {type: joint_drive, joint: bearing, q: '5*t'}}\n"));
	const CalTrim trim = trimmed(&run, NULL);
	assert_near(coordinate(&run, 1), acos(9.81 / (25 * 0.8)), 1e-7);
	assert_int_equal(trim.stability, CAL_STABILITY_STABLE);
	assert_near(cal_sim_state(run.sim, 0)->u[0], 5, 1e-12);
	run_end(&run);
}

/* The same on a shaft that a gear turns twice as fast as the driven one: its speed follows through a loop. */
static void speed_that_follows_from_a_drive_counts(void **state) {
	(void)state;
	Run run = run_file(
		file_of("calder: 1\ngravity: [0, 0, -9.81]\n"
	            "bodies: {motor: {mass: 1, inertia: [1, 1, 1]}, shaft: {mass: 1, inertia: [1, 1, 1]},\n"
	            "  ball: {mass: 2, com: [0, 0, -0.8], inertia: [1e-9, 1e-9, 1e-9]}}\n"
	            "joints: {drive: {type: revolute, axis: z, to: motor},\n"
	            "  bearing: {type: revolute, axis: z, to: shaft},\n"
	            "  hinge: {type: revolute, axis: y, from: shaft, to: ball, dof: {damping: 0.1}}}\n"
	            "loops: {gear: {type: coupling, terms: [{joint: drive, factor: 2}, {joint: bearing, factor: -1}]}}\n"
	            "state: {hinge: {q: 40 deg}}\n"
	            "devices: {motor: {type: joint_drive, joint: drive, q: '2.5*t'}}\n"));
	trimmed(&run, NULL);
	assert_near(cal_sim_state(run.sim, 0)->u[1], 5, 1e-12);
	assert_near(coordinate(&run, 2), acos(9.81 / (25 * 0.8)), 1e-7);
	run_end(&run);
}

/* ---- a linkage ------------------------------------------------------------------------------------------ */

static const double bars[4] = {0.2, 0.5, 0.4, 0.5}, masses[3] = {1, 2.5, 2}; // crank, coupler, rocker, ground
static const double stiffness = 60, rest = 2.2;

/* Where coupler and rocker meet, on the upper side; false: the bars do not reach. */
static int linkage_at(double crank, double end[2]) {
	const double x = bars[0] * cos(crank), y = bars[0] * sin(crank), dx = bars[3] - x, dy = -y, d = hypot(dx, dy);
	const double a = (bars[1] * bars[1] - bars[2] * bars[2] + d * d) / (2 * d), h2 = bars[1] * bars[1] - a * a;
	if (h2 < 0)
		return 0;
	end[0] = x + a * dx / d - sqrt(h2) * dy / d;
	end[1] = y + a * dy / d + sqrt(h2) * dx / d;
	return 1;
}

/* Weight of the bars, and the spring at the crank. */
static double potential(double crank) {
	double end[2];
	if (!linkage_at(crank, end))
		return INFINITY;
	const double y = bars[0] * sin(crank);
	const double height = masses[0] * y / 2 + masses[1] * (y + end[1]) / 2 + masses[2] * end[1] / 2;
	return 9.81 * height + 0.5 * stiffness * (crank - rest) * (crank - rest);
}

/* The minimum about a start, by ever finer steps downhill: no derivative, no mechanics. */
static double minimum_from(double crank) {
	for (double step = 0.05; step > 1e-10; step *= 0.5)
		for (int moved = 1; moved;) {
			moved = 0;
			for (int side = -1; side <= 1; side += 2)
				if (potential(crank + side * step) < potential(crank)) {
					crank += side * step;
					moved = 1;
				}
		}
	return crank;
}

static void four_bar_with_a_spring_is_at_a_minimum_of_its_potential(void **state) {
	char text[1400];
	(void)state;
	snprintf(text, sizeof text,
	         "calder: 1\ngravity: [0, -9.81, 0]\nground: {nodes: {a: [0, 0, 0], b: [0.5, 0, 0]}}\nbodies:\n"
	         "  crank: {mass: 1, rod: {from: [0, 0, 0], to: [0.2, 0, 0]}, nodes: {end: [0.2, 0, 0]}}\n"
	         "  coupler: {mass: 2.5, rod: {from: [0, 0, 0], to: [0.5, 0, 0]}, nodes: {end: [0.5, 0, 0]}}\n"
	         "  rocker: {mass: 2, rod: {from: [0, 0, 0], to: [0.4, 0, 0]}, nodes: {end: [0.4, 0, 0]}}\njoints:\n"
	         "  crank: {type: revolute, from: ground/a, to: crank, dof: {stiffness: %g, rest: %g, damping: 1}}\n"
	         "  pin: {type: revolute, from: crank/end, to: coupler}\n"
	         "  rocker: {type: revolute, from: ground/b, to: rocker}\n"
	         "loops: {wrist: {type: revolute, from: coupler/end, to: rocker/end}}\n"
	         "state: {crank: {q: 90 deg}, pin: {q: -70 deg, guess: true}, rocker: {q: 85 deg, guess: true}}\n",
	         stiffness, rest);
	Run run = run_file(file_of(text));
	const CalTrim trim = trimmed(&run, NULL);
	const double want = minimum_from(pi / 2);
	CalError error = {0};
	assert_near(coordinate(&run, 0), want, 1e-7); // a minimum is known to the root of round-off
	assert_int_equal(trim.stability, CAL_STABILITY_STABLE);
	assert_int_equal(cal_sim_advance(run.sim, 0.5, &error), CAL_OK); // and it stays there
	assert_near(coordinate(&run, 0), want, 1e-7);
	run_end(&run);
}

/* ---- several ------------------------------------------------------------------------------------------------ */

/* Two links: hanging, one up, the other up, both up. */
static void random_starts_find_all_equilibria_of_two_links(void **state) {
	int found[4] = {0};
	(void)state;
	for (int start = 0; start < 24; start++) {
		Run run = run_file(
			file_of("calder: 1\ngravity: [0, 0, -9.81]\n"
		            "bodies: {a: {mass: 1, rod: {from: [0, 0, 0], to: [0, 0, -1]}, nodes: {tip: [0, 0, -1]}},\n"
		            "  b: {mass: 1, rod: {from: [0, 0, 0], to: [0, 0, -1]}}}\n"
		            "joints: {s: {type: revolute, axis: y, to: a}, e: {type: revolute, axis: y, from: a/tip, to: b}}\n"
		            "state: {s: {q: 10 deg}}\n"));
		const CalTrimOptions options = {.start = start, .seed = 7};
		CalTrim trim;
		CalError error = {0};
		const CalStatus status = cal_sim_trim(run.sim, &options, &trim, &error);
		assert_true(status == CAL_OK || status == CAL_NOT_CONVERGED);
		if (status == CAL_OK) {
			const double a = coordinate(&run, 0), b = a + coordinate(&run, 1);
			const int up_a = cos(a) < 0, up_b = cos(b) < 0;
			assert_near(sin(a), 0, 1e-9);
			assert_near(sin(b), 0, 1e-9);
			assert_int_equal(trim.stability, up_a || up_b ? CAL_STABILITY_UNSTABLE : CAL_STABILITY_STABLE);
			found[2 * up_a + up_b]++;
		}
		run_end(&run);
	}
	print_message("found %d hanging, %d and %d with one link up, %d with both\n", found[0], found[1], found[2],
	              found[3]);
	for (int i = 0; i < 4; i++)
		assert_true(found[i] > 0);
}

/* A mass on a rail without a spring: anywhere, and the poles say so. */
static void displacement_without_stiffness_is_neutral(void **state) {
	(void)state;
	Run run = run_file(file_of("calder: 1\ngravity: [0, 0, 0]\nbodies: {a: {mass: 2}, b: {mass: 1}}\njoints:\n"
	                           "  ja: {type: prismatic, axis: x, to: a}\n"
	                           "  jb: {type: prismatic, axis: x, from: a, to: b, dof: {stiffness: 50, rest: 0.3}}\n"
	                           "state: {ja: {q: 0.7 m}}\n"));
	const CalTrim trim = trimmed(&run, NULL);
	assert_int_equal(trim.stability, CAL_STABILITY_NEUTRAL);
	assert_int_equal(trim.zero_poles, 2);
	assert_near(coordinate(&run, 1), 0.3, 1e-10);
	run_end(&run);
}

/* A body in space: all poles are zero, and none grows for round-off. */
static void free_flight_is_neutral(void **state) {
	(void)state;
	Run run = run_file(file_of("calder: 1\ngravity: [0, 0, 0]\nbodies: {hub: {mass: 300, inertia: [40, 55, 61]}}\n"
	                           "joints: {flight: {type: free, to: hub}}\n"
	                           "state: {flight: {q: [1, 2, 3, 0.7, 0.1, -0.1, 0.7], u: [0, 0, 0, 0.1, 0.2, 0.3]}}\n"));
	const CalTrim trim = trimmed(&run, NULL);
	assert_int_equal(trim.stability, CAL_STABILITY_NEUTRAL);
	assert_int_equal(trim.zero_poles, 12);
	assert_near(cal_sim_state(run.sim, 0)->u[5], 0, 0);
	run_end(&run);
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(hanging_masses_stretch_their_springs),
		cmocka_unit_test(pendulum_under_a_torque_has_two_equilibria),
		cmocka_unit_test(torque_that_is_too_large_has_none_and_the_state_stays),
		cmocka_unit_test(spring_pendulum_hangs_straight_down),
		cmocka_unit_test(driven_spin_gives_the_steady_rotation),
		cmocka_unit_test(speed_that_follows_from_a_drive_counts),
		cmocka_unit_test(four_bar_with_a_spring_is_at_a_minimum_of_its_potential),
		cmocka_unit_test(random_starts_find_all_equilibria_of_two_links),
		cmocka_unit_test(displacement_without_stiffness_is_neutral),
		cmocka_unit_test(free_flight_is_neutral),
	};
	NEEDS_YAML();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
