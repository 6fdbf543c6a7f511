// SPDX-License-Identifier: Apache-2.0
/*
 * test_sensor.c — sensors against independent formulas: physics (rates in body axes, specific force at rest, in free fall, on
 * a spinning arm and in orbit, attitudes, counts, reactions), errors (bias, resolution, range, latency), and the statistics of
 * their noise.
 */
#include "file_run.h"

static const CalSimOptions dopri5 = {.method = {.method = CAL_METHOD_DOPRI5, .rtol = 1e-11, .atol = 1e-13}};
static const double pi = 3.14159265358979323846;

#define SAMPLE "sample_period: 10 ms"
#define ARM                                                                                                               \
	"calder: 1\ngravity: [0, 0, -9.81]\n"                                                                                 \
	"bodies: {a: {mass: 2, inertia: [0.3, 0.4, 0.5], com: [0.25, 0, 0], nodes: {tip: {at: [0.5, 0.1, 0.2], orientation: " \
	"{axis: [1, 2, 3], angle: 40 deg}}, flat: [0.5, 0, 0]}}}\n"

/* ---- physics --------------------------------------------------------------------------------------------------- */

/* A body that turns freely: the gyro agrees with the speeds of its free joint, which are body rates. */
static void rate_gyro_reads_body_rates(void **state) {
	(void)state;
	FileRun run = file_run(ARM "joints: {f: {type: free, to: a}}\nstate: {f: {angular_velocity: [0.5, 1, -2]}}\n"
	                           "devices: {g: {type: rate_gyro, node: a, " SAMPLE "}}\n",
	                       &dopri5);
	for (int k = 0; k <= 100; k += 20) {
		file_advance(&run, k * 0.01);
		const CalState *now = cal_sim_state(run.sim, 0);
		for (int i = 0; i < 3; i++)
			check_near(file_output(&run, "g", i), now->u[3 + i], 1e-14);
	}
	file_free(&run);
}

/* At rest +g upwards: a body on the ground, held by a joint that cannot move under gravity. */
static void accelerometer_at_rest_reads_gravity_upwards(void **state) {
	(void)state;
	FileRun run = file_run(ARM "joints: {f: {type: revolute, axis: z, to: a}}\n"
	                           "devices: {s: {type: accelerometer, node: a, " SAMPLE "}}\n",
	                       &dopri5);
	file_advance(&run, 0.5);
	check_near(file_output(&run, "s", 0), 0, 1e-13);
	check_near(file_output(&run, "s", 1), 0, 1e-13);
	check_near(file_output(&run, "s", 2), 9.81, 1e-13);
	file_free(&run);
}

static void accelerometer_in_free_fall_reads_nothing(void **state) {
	(void)state;
	FileRun run = file_run(
		"calder: 1\ngravity: [0, 0, -9.81]\nbodies: {a: {mass: 2, inertia: [1, 1, 1], nodes: {n: [0, 0, 0]}}}\n"
		"joints: {f: {type: free, to: a}}\nstate: {f: {angular_velocity: [0.5, 1, -2]}}\n"
		"devices: {s: {type: accelerometer, node: a/n, " SAMPLE "}}\n",
		&dopri5);
	file_advance(&run, 0.5);
	for (int i = 0; i < 3; i++)
		check_near(file_output(&run, "s", i), 0, 1e-12);
	file_free(&run);
}

/* On an arm that spins at w about z: -w^2 r along the arm, in the axes of a node that is turned. */
static void accelerometer_on_a_spinning_arm_reads_the_centripetal_acceleration(void **state) {
	(void)state;
	const double w = 3;
	FileRun run = file_run(ARM "joints: {f: {type: revolute, axis: z, to: a}}\nstate: {f: {u: 3}}\n"
	                           "devices: {s: {type: accelerometer, node: a/tip, " SAMPLE
	                           "}, r: {type: accelerometer, node: a/flat, "
	                           "bias: [0.1, 0.2, 0.3], " SAMPLE "}}\n",
	                       &dopri5);
	file_advance(&run, 0.37);
	check_near(file_output(&run, "r", 0), -w * w * 0.5 + 0.1, 1e-11);
	check_near(file_output(&run, "r", 1), 0.2, 1e-11);
	check_near(file_output(&run, "r", 2), 9.81 + 0.3, 1e-11);
	// (-w^2 0.5, -w^2 0.1, g) in axes turned by 40 degrees about (1, 2, 3): Rodrigues' formula for the opposite angle
	const double f[3] = {-w * w * 0.5, -w * w * 0.1, 9.81}, n = sqrt(14), a[3] = {1 / n, 2 / n, 3 / n};
	const double c = cos(-40 * pi / 180), s = sin(-40 * pi / 180), along = a[0] * f[0] + a[1] * f[1] + a[2] * f[2];
	for (int i = 0; i < 3; i++) {
		const int j = (i + 1) % 3, k = (i + 2) % 3;
		const double turned = c * f[i] + s * (a[j] * f[k] - a[k] * f[j]) + (1 - c) * along * a[i];
		check_near(file_output(&run, "s", i), turned, 1e-11);
	}
	file_free(&run);
}

/* In orbit the center of mass feels nothing, a node 10 m off the gravity gradient: 3 mu/r^3 (with rotation about it: none). */
static void accelerometer_in_orbit_reads_the_gradient(void **state) {
	(void)state;
	const double mu = 3.986004418e14, r = 7e6;
	FileRun run = file_run(
		"calder: 1\nbodies: {a: {mass: 10, inertia: [1, 1, 1], nodes: {out: [0, 0, 10]}}}\n"
		"joints: {f: {type: free, to: a}}\n"
		"devices: {out: {type: accelerometer, node: a/out, " SAMPLE "}, in: {type: accelerometer, node: a, " SAMPLE
		"},\n"
		"  earth: {type: gravity, mu: 3.986004418e14, orbit: true, position: [0, 0, 7000 km], velocity: [7546, 0, 0]}}\n",
		&dopri5);
	file_advance(&run, 0.01);
	check_near(file_output(&run, "in", 2), 0, 1e-13);
	check_near(file_output(&run, "out", 2), -2 * mu / (r * r * r) * 10,
	           1e-10); // the node does not fall as fast as it would
	file_free(&run);
}

/* The quaternion of a turn about z by the angle of the joint, seen from a frame that is turned by 30 degrees. */
static void star_tracker_reads_the_attitude(void **state) {
	(void)state;
	FileRun run = file_run(
		"calder: 1\nground: {nodes: {g: {orientation: {axis: z, angle: 30 deg}}}}\n"
		"bodies: {a: {mass: 2, inertia: [1, 1, 1]}}\njoints: {f: {type: revolute, axis: z, to: a}}\nstate: {f: {u: 1}}\n"
		"devices: {s: {type: star_tracker, node: a, " SAMPLE
		"}, r: {type: star_tracker, node: a, from: ground/g, " SAMPLE
		"},\n  b: {type: star_tracker, node: a, bias: [0, 0, 0.1 rad], " SAMPLE "}}\n",
		&dopri5);
	file_advance(&run, 1.5);
	check_near(file_output(&run, "s", 0), cos(0.75), 1e-12);
	check_near(file_output(&run, "s", 3), sin(0.75), 1e-12);
	check_near(file_output(&run, "r", 0), cos(0.75 - pi / 12), 1e-12);
	check_near(file_output(&run, "r", 3), sin(0.75 - pi / 12), 1e-12);
	check_near(file_output(&run, "b", 3), sin(0.8), 1e-12);
	file_advance(&run, 4); // beyond half a turn: qw >= 0
	check_near(file_output(&run, "s", 0), -cos(2), 1e-12);
	check_near(file_output(&run, "s", 3), -sin(2), 1e-12);
	file_free(&run);
}

/* 4096 counts for a turn; the rate by differences; one sample late. */
static void encoder_counts(void **state) {
	(void)state;
	const double count = 2 * pi / 4096;
	FileRun run = file_run(
		"calder: 1\nbodies: {a: {mass: 2, inertia: [1, 1, 1]}}\njoints: {f: {type: revolute, axis: z, to: a}}\nstate: {f: {u: 0.7}}\n"
		"devices: {e: {type: encoder, joint: f, resolution: 0.00153398078788564122972 rad, bias: 0.2 rad, delay: 1, " SAMPLE
		"}}\n",
		&dopri5);
	for (int k = 2; k <= 60; k++) {
		const double now = round(((k - 1) * 0.007 + 0.2) / count), last = round(((k - 2) * 0.007 + 0.2) / count);
		file_advance(&run, k * 0.01);
		check_near(file_output(&run, "e", 0), now * count, 1e-12);
		check_near(file_output(&run, "e", 1), (now - last) * count / 0.01, 1e-9);
	}
	file_free(&run);
}

/* A pendulum on a hinge: the recorded reaction at the same instant, turned into the axes of the arm. */
static void force_sensor_reads_the_reaction(void **state) {
	(void)state;
	FileRun run = file_run(ARM "joints: {f: {type: revolute, axis: y, to: a}}\nstate: {f: {q: 0.3, u: 2}}\n"
	                           "devices: {s: {type: force_sensor, joint: f, bias_force: [1, 0, 0], " SAMPLE "}}\n",
	                       &dopri5);
	file_advance(&run, 0.4);
	// about y by q: x axis (cos, 0, -sin). Center of mass 0.25 m out; I about the hinge 0.4 + 2/16
	const CalState *now = cal_sim_state(run.sim, 0);
	const double q = now->q[0], u = now->u[0], m = 2, l = 0.25, g = 9.81, inertia = 0.4 + m * l * l;
	const double along = -m * l * u * u - m * g * sin(q); // on the body: m a - m g, along the arm
	const double udot = m * g * l * cos(q) / inertia;     // gravity turns it downwards, about +y
	const double across = -m * l * udot + m * g * cos(q); // z axis of the arm
	check_near(file_output(&run, "s", 3), along + 1, 1e-9);
	check_near(file_output(&run, "s", 4), 0, 1e-12);
	check_near(file_output(&run, "s", 5), across, 1e-9);
	check_near(file_output(&run, "s", 1), 0, 1e-9); // the hinge passes no moment about its axis
	file_free(&run);
}

/* ---- errors ------------------------------------------------------------------------------------------------------ */

#define STILL(what) \
	"calder: 1\nbodies: {a: {mass: 2, inertia: [1, 1, 1]}}\njoints: {f: {type: free, to: a}}\ndevices: {" what "}\n"

static void range_and_resolution_limit_a_reading(void **state) {
	(void)state;
	FileRun run = file_run(
		STILL("g: {type: rate_gyro, node: a, bias: [0.34, 0.66, -7], resolution: 0.1, range: 2, " SAMPLE "}"), &dopri5);
	check_near(file_output(&run, "g", 0), 0.3, 1e-15);
	check_near(file_output(&run, "g", 1), 0.7, 1e-15);
	check_near(file_output(&run, "g", 2), -2, 1e-15);
	file_free(&run);
}

enum { COUNT = 20000 };

/* noise[3][COUNT] of a gyro at rest. */
static void read_noise(const char *name, int seed, double (*noise)[COUNT]) {
	char text[400];
	snprintf(text, sizeof text, STILL("%s: {type: rate_gyro, node: a, noise: 2, seed: %d, " SAMPLE "}"), name, seed);
	FileRun run = file_run(text, &(CalSimOptions){.method = {.method = CAL_METHOD_RK4, .step = 0.01}});
	for (int k = 0; k < COUNT; k++) {
		file_advance(&run, k * 0.01);
		for (int i = 0; i < 3; i++)
			noise[i][k] = file_output(&run, name, i);
	}
	file_free(&run);
}

static double correlation(const double *a, const double *b, int lag) {
	double sum = 0;
	for (int k = lag; k < COUNT; k++)
		sum += a[k] * b[k - lag] / 4;
	return sum / (COUNT - lag);
}

/* Mean 0, standard deviation 2, kurtosis 3, and no correlation between times, axes, names and seeds, within 4.5 deviations. */
static void noise_is_normal_and_independent(void **state) {
	(void)state;
	static double a[3][COUNT], b[3][COUNT], c[3][COUNT], again[3][COUNT];
	const double most = 4.5 / sqrt(COUNT);
	read_noise("first", 7, a);
	read_noise("second", 7, b);
	read_noise("first", 8, c);
	read_noise("first", 7, again);
	assert_memory_equal(a, again, sizeof a);
	for (int i = 0; i < 3; i++) {
		double mean = 0, square = 0, fourth = 0;
		for (int k = 0; k < COUNT; k++) {
			mean += a[i][k] / 2 / COUNT;
			square += a[i][k] * a[i][k] / 4 / COUNT;
			fourth += a[i][k] * a[i][k] * a[i][k] * a[i][k] / 16 / COUNT;
		}
		check_near(mean, 0, most);
		check_near(square, 1, most * sqrt(2));
		check_near(fourth, 3, most * sqrt(96));
		for (int lag = 1; lag <= 5; lag++)
			check_near(correlation(a[i], a[i], lag), 0, most);
		check_near(correlation(a[i], a[(i + 1) % 3], 0), 0, most);
		check_near(correlation(a[i], b[i], 0), 0, most);
		check_near(correlation(a[i], b[(i + 1) % 3], 0), 0, most);
		check_near(correlation(a[i], c[i], 0), 0, most);
	}
}

/* Sample 40 is the same after a restart at sample 17, in steps of any kind, and whatever other sensors there are. */
static void noise_of_a_sample_depends_on_nothing_else(void **state) {
	(void)state;
#define NOISY "s: {type: star_tracker, node: a, noise: 1 deg, seed: 3, " SAMPLE "}"
	FileRun alone = file_run(STILL(NOISY), &dopri5);
	FileRun with = file_run(STILL("g: {type: rate_gyro, node: a, noise: 1, sample_period: 3 ms}, " NOISY), &dopri5);
	FileRun second = file_run(STILL(NOISY), &dopri5);
	CalError error = {0};
	file_advance(&with, 0.4);
	file_advance(&alone, 0.17);
	const size_t size = cal_checkpoint_size(alone.sim);
	void *memory = malloc(size);
	size_t used;
	assert_int_equal(cal_checkpoint_take(alone.sim, memory, size, &used), CAL_OK);
	if (cal_checkpoint_restore(second.sim, memory, used, &error) != CAL_OK)
		fail_msg("%s", error.text);
	file_advance(&alone, 0.4);
	file_advance(&second, 0.4);
	for (int i = 0; i < 4; i++) {
		assert_true(file_output(&alone, "s", i) == file_output(&second, "s", i));
		assert_true(file_output(&alone, "s", i) == file_output(&with, "s", i));
	}
	free(memory);
	file_free(&alone);
	file_free(&with);
	file_free(&second);
}

/* ---- devices that read each other ------------------------------------------------------------------------------- */

/* A formula may read a device after it; a sampled one in a ring makes no algebraic loop. */
static void a_ring_through_a_sampled_device_is_no_loop(void **state) {
	(void)state;
	FileRun run =
		file_run(STILL("w: {type: wheel, node: a, axis: z, inertia: 0.1, torque: \"device(c.output)\"},\n"
	                   "  c: {type: pid, measured: \"device(w.speed)\", set_point: 5, proportional: 0.2, " SAMPLE "}"),
	             &dopri5);
	file_advance(&run, 10);
	check_near(file_output(&run, "w", 0), 5, 1e-3);
	file_free(&run);
}

static void mistakes_are_named(void **state) {
	(void)state;
#define BAD(what, part) file_refused(STILL(what), part)
	BAD("a: {type: applied_load, node: a, force: [\"device(b.fy)\", 0, 0]}, b: {type: applied_load, node: a, force: [0, \"2*device(c.fx)\", "
	    "0]},\n  c: {type: applied_load, node: a, force: [\"1 + device(a.fx)\", 0, 0]}",
	    "model.yaml:4:11: device \"a\" (applied_load): algebraic loop: \"a\" reads \"b\" reads \"c\" reads \"a\" at the same instant; put a "
	    "sampled device");
	BAD("a: {type: applied_load, node: a, force: [\"device(a.fx)\", 0, 0]}", "algebraic loop: \"a\" reads \"a\"");
	BAD("a: {type: applied_load, node: a, force: [\"device(g.wq)\", 0, 0]}, g: {type: rate_gyro, node: a, " SAMPLE "}",
	    "model.yaml:4:11: device \"a\" (applied_load): formula \"device(g.wq)\", column 1: device \"g\" (rate_gyro) has no output \"wq\"");
	BAD("a: {type: applied_load, node: a, force: [\"device(h.wx)\", 0, 0]}", "there is no device \"h\"");
	BAD("g: {type: rate_gyro, node: a, noise: -1, " SAMPLE "}", "must not be negative");
	BAD("g: {type: rate_gyro, node: a, sample_period: 0 s}", "must be greater than zero");
	BAD("g: {type: accelerometer, node: ground, " SAMPLE "}", "device \"g\" (accelerometer)");
	BAD("g: {type: encoder, joint: f, dof: 7, " SAMPLE "}", "dof");
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rate_gyro_reads_body_rates),
		cmocka_unit_test(accelerometer_at_rest_reads_gravity_upwards),
		cmocka_unit_test(accelerometer_in_free_fall_reads_nothing),
		cmocka_unit_test(accelerometer_on_a_spinning_arm_reads_the_centripetal_acceleration),
		cmocka_unit_test(accelerometer_in_orbit_reads_the_gradient),
		cmocka_unit_test(star_tracker_reads_the_attitude),
		cmocka_unit_test(encoder_counts),
		cmocka_unit_test(force_sensor_reads_the_reaction),
		cmocka_unit_test(range_and_resolution_limit_a_reading),
		cmocka_unit_test(noise_is_normal_and_independent),
		cmocka_unit_test(noise_of_a_sample_depends_on_nothing_else),
		cmocka_unit_test(a_ring_through_a_sampled_device_is_no_loop),
		cmocka_unit_test(mistakes_are_named),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
