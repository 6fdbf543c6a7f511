// SPDX-License-Identifier: Apache-2.0
/*
 * test_control.c — sampled controllers: PID, state space, transfer functions and filters against recursions and closed
 * forms that are written here, and the same bits for every output interval at the ends of steps, number of threads, and after a
 * restart.
 */
#include "file_run.h"

#define MASS                                       \
	"calder: 1\n"                                  \
	"bodies: {m: {mass: 2, inertia: [1, 1, 1]}}\n" \
	"joints: {x: {type: prismatic, axis: x, to: m}}\n"
#define CALDER "calder: 1\nbodies: {m: {mass: 2}}\njoints: {x: {type: prismatic, axis: x, to: m}}\n"

static const CalSimOptions dopri5 = {.method = {.method = CAL_METHOD_DOPRI5, .rtol = 1e-12, .atol = 1e-14}};

/* ---- PID --------------------------------------------------------------------------------------------------- */

/* A mass of 2 kg with a PID at 100 Hz, exactly discretized: x += v T + a T^2/2, v += a T. */
typedef struct Loop {
	double kp, ki, kd, Tf, limit;
	int delay;
	int back; // back-calculation with Tt = 0.1 s instead of clamping
} Loop;

static void loop_run(const Loop *c, int samples, double *x_end, double *v_end) {
	const double T = 0.01, m = 2, r = 1;
	double x = 0, v = 0, line[8] = {0}, I = 0, D = 0, last = 0;
	for (int k = 0; k < samples; k++) {
		const double e = r - x, slope = k > 0 ? (e - last) / T : 0;
		last = e;
		D = D * c->Tf / (c->Tf + T) + c->kd * slope * T / (c->Tf + T);
		double u = c->kp * e + D + I + c->ki * T * e;
		const double limited = u > c->limit ? c->limit : u < -c->limit ? -c->limit : u;
		if (c->back)
			I += c->ki * T * e + T / 0.1 * (limited - u);
		else if (limited == u || (u > limited) != (e > 0))
			I += c->ki * T * e;
		else
			u = c->kp * e + D + I;
		u = u > c->limit ? c->limit : u < -c->limit ? -c->limit : u;
		line[c->delay] = u;
		const double a = line[0] / m;
		for (int i = 0; i < c->delay; i++)
			line[i] = line[i + 1];
		x += v * T + a * T * T / 2;
		v += a * T;
	}
	*x_end = x;
	*v_end = v;
}

static void check_loop(const Loop *c) {
	char text[1000];
	double x, v;
	snprintf(
		text, sizeof text,
		MASS
		"devices:\n  c: {type: pid, measured: \"q(x)\", set_point: 1, sample_period: 10 ms, proportional: %.17g,\n"
		"    integral: %.17g, derivative: %.17g, derivative_filter: %.17g, lower: %.17g, upper: %.17g, delay: %d,\n"
		"    %s joint: x}\n",
		c->kp, c->ki, c->kd, c->Tf, -c->limit, c->limit, c->delay,
		c->back ? "anti_windup: back_calculation, tracking_time: 0.1 s," : "");
	FileRun run = file_run(text, &dopri5);
	for (int k = 50; k <= 400; k += 50) {
		file_advance(&run, k * 0.01);
		loop_run(c, k, &x, &v);
		check_near(cal_sim_state(run.sim, 0)->q[0], x, 1e-12);
		check_near(cal_sim_state(run.sim, 0)->u[0], v, 1e-12);
	}
	check_near(rig_balance(&(Rig){.sim = run.sim}).error, 0, 1e-10);
	file_free(&run);
}

static void pid_agrees_with_its_recursion(void **state) {
	(void)state;
	check_loop(&(Loop){.kp = 20, .ki = 5, .kd = 8, .Tf = 0.02, .limit = 1e6});
	check_loop(&(Loop){.kp = 20, .ki = 5, .kd = 8, .limit = 1e6, .delay = 2});
}

static void anti_windup_agrees_with_its_recursion(void **state) {
	(void)state;
	double windup[2], clamped[2];
	const Loop loop = {.kp = 20, .ki = 15, .kd = 8, .Tf = 0.02, .limit = 1.5}, back = {20, 15, 8, 0.02, 1.5, 0, 1};
	check_loop(&loop);
	check_loop(&back);
	check_loop(&(Loop){20, 15, 8, 0.02, 1.5, 3, 1});
	loop_run(&loop, 150, &clamped[0], &clamped[1]);
	loop_run(&back, 150, &windup[0], &windup[1]);
	assert_true(fabs(clamped[0] - windup[0]) > 1e-3); // the two differ: limits are reached
}

/* The derivative of the measurement has no kick where the set point jumps; a measured rate is used as it is. */
static void derivative_terms_differ_as_documented(void **state) {
	(void)state;
#define KICK(more)                                                                                                        \
	CALDER                                                                                                                \
	"state: {x: {u: 0.5 m/s}}\ndevices: {c: {type: pid, measured: \"q(x)\", set_point: \"step(t, 0.1)\", derivative: 3, " \
	"sample_period: 0.1 s" more "}}\n"
	FileRun of_error = file_run(KICK(""), &dopri5), of_y = file_run(KICK(", derivative_of: measurement"), &dopri5);
	FileRun of_rate = file_run(KICK(", measured_rate: \"u(x)\""), &dopri5);
	check_near(file_output(&of_error, "c", 3), 0, 0); // first sample: no difference yet
	check_near(file_output(&of_rate, "c", 3), -1.5, 1e-15);
	file_advance(&of_error, 0.1);
	file_advance(&of_y, 0.1);
	check_near(file_output(&of_error, "c", 3), 3 * (1 - 0.05) / 0.1, 1e-12);
	check_near(file_output(&of_y, "c", 3), -1.5, 1e-12);
	file_free(&of_error);
	file_free(&of_y);
	file_free(&of_rate);
}

/* ---- the same bits ------------------------------------------------------------------------------------------- */

#define SERVO_LOOP                                                                                                            \
	"calder: 1\ngravity: [0, 0, -9.81]\n"                                                                                     \
	"bodies: {a: {mass: 2, inertia: [0.3, 0.4, 0.5], com: [0.3, 0, 0], nodes: {tip: [0.6, 0, 0]}},\n"                         \
	"         b: {mass: 1, inertia: [0.1, 0.1, 0.1], com: [0.2, 0, 0]}}\n"                                                    \
	"joints: {p: {type: revolute, axis: y, to: a}, r: {type: revolute, axis: y, from: a/tip, to: b}}\n"                       \
	"devices:\n"                                                                                                              \
	"  f: {type: filter, input: \"q(p) + q(r)\", frequency: 40 rad/s, sample_period: 5 ms}\n"                                 \
	"  c: {type: pid, measured: \"q(p)\", set_point: [[0, 0], [1, 0.5]], measured_rate: \"u(p)\", sample_period: 10 ms,\n"    \
	"      proportional: 300, integral: 200, derivative: 25, lower: -60, upper: 60, joint: p, delay: 1}\n"                    \
	"  k: {type: state_space, inputs: [\"q(r)\", \"u(r)\", \"device(f.y)\"], A: [[0.9]], B: [[1, 0.1, 0.02]], C: [[-0.1]],\n" \
	"      D: [[-9, -1, 0]], sample_period: 10 ms, sample_offset: 3 ms}\n"                                                    \
	"loads: [{joint: r, effort: \"device(k.y1)\"}]\n"

typedef struct Ending {
	double q[2], u[2], command;
} Ending;

static Ending ending_of(const FileRun *run) {
	const CalState *state = cal_sim_state(run->sim, 0);
	Ending e = {{state->q[0], state->q[1]}, {state->u[0], state->u[1]}, 0};
	e.command = file_output(run, "c", 0);
	return e;
}

typedef struct Outputs {
	const FileRun *run;
	double interval;
	int count;
} Outputs;

/* At the first step that ends at or after each multiple of the interval, as a recorder takes them. */
static double take_output(void *user, CalSim *sim) {
	Outputs *outputs = user;
	(void)ending_of(outputs->run);
	outputs->count++;
	return (floor(cal_sim_time(sim) / outputs->interval) + 1) * outputs->interval;
}

static Ending run_with_outputs(const CalSimOptions *options, double interval) {
	const double end = 1.2;
	FileRun run = file_run(SERVO_LOOP, options);
	Outputs outputs = {.run = &run, .interval = interval};
	cal_sim_watch(run.sim, take_output, &outputs, 0);
	file_advance(&run, end);
	const Ending e = ending_of(&run);
	assert_true(outputs.count > 0.5 * fmin(end / interval, 100));
	file_free(&run);
	return e;
}

/* As runs with `whole_steps`: outputs at the first step that ends at or after each multiple of the interval; 0: at every step. */
static Ending run_by_whole_steps(const CalSimOptions *options, double interval) {
	FileRun run = file_run(SERVO_LOOP, options);
	CalError error = {0};
	int outputs = 0;
	for (int k = 1; cal_sim_time(run.sim) < 1.2; outputs++) {
		const CalStatus status = interval > 0 ? cal_sim_advance_past(run.sim, k * interval, 1.2, &error)
		                                      : cal_sim_step(run.sim, 1.2, &error);
		if (status != CAL_OK)
			fail_msg("%s", error.text);
		(void)ending_of(&run);
		while (interval > 0 && k * interval <= cal_sim_time(run.sim))
			k++;
	}
	const Ending e = ending_of(&run);
	assert_true(interval == 0 || outputs > 0.5 * fmin(1.2 / interval, 100));
	file_free(&run);
	return e;
}

/* Advanced from sample to sample, `every` of them at a time. */
static Ending run_by_samples(const CalSimOptions *options, int every) {
	FileRun run = file_run(SERVO_LOOP, options);
	for (int k = every; k < 120; k += every) {
		file_advance(&run, k * 0.01);
		(void)ending_of(&run);
	}
	file_advance(&run, 1.2);
	const Ending e = ending_of(&run);
	file_free(&run);
	return e;
}

/* Outputs at the ends of steps with any interval, and advances from sample to sample: steps end at the same times. */
static void outputs_do_not_change_a_bit(void **state) {
	(void)state;
	const CalSimOptions rk4 = {.method = {.method = CAL_METHOD_RK4, .step = 0.0007}}, *methods[] = {&rk4, &dopri5};
	const double intervals[] = {1e-4, 0.001, 0.0033, 0.007, 0.01, 0.0501, 0.3};
	for (int m = 0; m < 2; m++) {
		const Ending alone = run_by_samples(methods[m], 120);
		assert_true(fabs(alone.q[0] - 0.5) < 0.1 && fabs(alone.command) > 0.1); // it controls
		for (size_t i = 0; i < sizeof intervals / sizeof intervals[0]; i++) {
			const Ending e = run_with_outputs(methods[m], intervals[i]);
			assert_memory_equal(&e, &alone, sizeof e);
		}
		const Ending stepped = run_by_whole_steps(methods[m], 0);
		for (size_t i = 0; i < sizeof intervals / sizeof intervals[0]; i++) {
			const Ending e = run_by_whole_steps(methods[m], intervals[i]);
			assert_memory_equal(&e, &stepped, sizeof e);
		}
		for (int k = 1; k <= 30; k += 7) {
			const Ending e = run_by_samples(methods[m], k);
			assert_memory_equal(&e, &alone, sizeof e);
		}
	}
}

static void threads_do_not_change_a_bit(void **state) {
	(void)state;
	CalSimOptions options = {.method = {.method = CAL_METHOD_RK4, .step = 0.001}, .branches = 2, .branches_forced = 1};
	Ending ends[3];
	for (int threads = 1; threads <= 3; threads++) {
		options.threads = threads;
		options.not_pinned = 1;
		ends[threads - 1] = run_by_samples(&options, 10);
	}
	assert_memory_equal(&ends[1], &ends[0], sizeof ends[0]);
	assert_memory_equal(&ends[2], &ends[0], sizeof ends[0]);
}

/* Checkpoints between samples, at one, and at one of the other block. */
static void a_restart_does_not_change_a_bit(void **state) {
	(void)state;
	const double times[] = {0.2, 0.203, 0.2045, 0.71};
	for (size_t i = 0; i < sizeof times / sizeof times[0]; i++) {
		FileRun whole = file_run(SERVO_LOOP, &dopri5), second = file_run(SERVO_LOOP, &dopri5);
		CalError error = {0};
		file_advance(&whole, times[i]);
		const size_t size = cal_checkpoint_size(whole.sim);
		void *memory = malloc(size);
		size_t used;
		assert_int_equal(cal_checkpoint_take(whole.sim, memory, size, &used), CAL_OK);
		file_advance(&whole, 1.2);
		if (cal_checkpoint_restore(second.sim, memory, used, &error) != CAL_OK)
			fail_msg("%s", error.text);
		file_advance(&second, 1.2);
		const Ending a = ending_of(&whole), b = ending_of(&second);
		assert_memory_equal(&a, &b, sizeof a);
		free(memory);
		file_free(&whole);
		file_free(&second);
	}
}

/* The time itself as the input: samples are at the product k T, without drift. */
static void sample_times_are_products(void **state) {
	(void)state;
	FileRun run =
		file_run(CALDER "devices: {c: {type: state_space, inputs: t, D: [[1]], sample_period: 0.1 s}}\n", &dopri5);
	for (int k = 0; k <= 500; k++) {
		file_advance(&run, k * 0.1);
		assert_true(file_output(&run, "c", 0) == k * 0.1);
		if (k > 0 && k < 500) { // and held until the next one
			file_advance(&run, (k + 0.99) * 0.1);
			assert_true(file_output(&run, "c", 0) == k * 0.1);
		}
	}
	file_free(&run);
}

/* ---- linear blocks --------------------------------------------------------------------------------------------- */

#define TF(what) CALDER "devices: {g: {type: transfer_function, sample_period: 50 ms, " what "}}\n"

/* w^2/(s^2 + 2 z w s + w^2) and 1/(s + 3) for a step at t = 0: a held input, hence exact. */
static void held_transfer_functions_have_their_step_response(void **state) {
	(void)state;
	const double w = 6, z = 0.2, wd = w * sqrt(1 - z * z);
	FileRun second = file_run(TF("input: 1, numerator: 36, denominator: [1, 2.4, 36]"), &dopri5);
	FileRun first = file_run(TF("input: 2, numerator: [5, 1], denominator: [2, 6], delay: 1"), &dopri5);
	for (int k = 0; k <= 60; k++) {
		const double t = k * 0.05, before = (k - 1) * 0.05;
		file_advance(&second, t);
		file_advance(&first, t);
		check_near(file_output(&second, "g", 0), 1 - exp(-z * w * t) * (cos(wd * t) + z * w / wd * sin(wd * t)), 1e-13);
		// 2 (5 s + 1)/(2 s + 6) = 5 - 14/(s + 3), a sample late
		check_near(file_output(&first, "g", 0), k == 0 ? 0 : 5 - 14.0 / 3 * (1 - exp(-3 * before)), 1e-13);
	}
	file_free(&second);
	file_free(&first);
}

/* Between points a straight line or a saddle, the exact value at points, beyond the ends what is there. */
static void lookups_interpolate_their_tables(void **state) {
	(void)state;
	FileRun run = file_run(
		CALDER
		"devices:\n"
		"  one: {type: lookup, inputs: \"t - 1\", x: [-0.5, 0.25, 1], values: [2, -1, 5], sample_period: 50 ms}\n"
		"  late: {type: lookup, inputs: \"t\", x: [0, 1], values: [0, 3], interpolation: step, sample_period: 50 ms, delay: 2}\n"
		"  two: {type: lookup, inputs: [t, \"2*t\"], x: [0, 1, 3], y: [0, 1, 5], sample_period: 50 ms,\n"
		"        table: [[0, 0, 0], [0, 1, 5], [0, 3, 15]]}\n",
		&dopri5);
	for (int k = 0; k <= 80; k++) {
		const double t = k * 0.05, x = t - 1, two = fmin(t, 3) * fmin(2 * t, 5);
		file_advance(&run, t);
		const double one = x < -0.5 ? 2 : x < 0.25 ? 2 - 4 * (x + 0.5) : x < 1 ? -1 + 8 * (x - 0.25) : 5;
		check_near(file_output(&run, "one", 0), one, 1e-13);
		check_near(file_output(&run, "late", 0), t - 0.1 > 1 - 1e-9 ? 3 : 0, 0);
		check_near(file_output(&run, "two", 0), two, 1e-13); // x y is a saddle: exact
	}
	file_free(&run);
}

/* a/(s + a) by s = (2/T) (z - 1)/(z + 1): y = ((2 - aT) y + aT (u + u_last))/(2 + aT). */
static void tustin_agrees_with_the_substitution(void **state) {
	(void)state;
	const double aT = 8 * 0.05;
	FileRun run =
		file_run(TF("input: \"sin(7*t) + 1\", numerator: 8, denominator: [1, 8], discretization: tustin"), &dopri5);
	double y = 0, last = 0;
	for (int k = 0; k <= 60; k++) {
		const double u = sin(7 * (k * 0.05)) + 1;
		y = ((2 - aT) * y + aT * (u + last)) / (2 + aT);
		last = u;
		file_advance(&run, k * 0.05);
		check_near(file_output(&run, "g", 0), y, 1e-13);
	}
	file_free(&run);
}

/* (z^2 - 0.5 z)/(z^2 - 1.2 z + 0.5) is y = 1.2 y1 - 0.5 y2 + u - 0.5 u1. */
static void coefficients_of_z_are_a_difference_equation(void **state) {
	(void)state;
	FileRun run = file_run(
		TF("input: \"cos(t)\", numerator: [1, -0.5, 0], denominator: [1, -1.2, 0.5], discretization: none"), &dopri5);
	double y[3] = {0}, u[2] = {0};
	for (int k = 0; k <= 40; k++) {
		u[1] = u[0];
		u[0] = cos(k * 0.05);
		y[2] = y[1];
		y[1] = y[0];
		y[0] = 1.2 * y[1] - 0.5 * y[2] + u[0] - 0.5 * u[1];
		file_advance(&run, k * 0.05);
		check_near(file_output(&run, "g", 0), y[0], 1e-13);
	}
	file_free(&run);
}

/* Two oscillators in continuous time, coupled at the output, from a state that is given; the same sampled by hand. */
static void state_space_agrees_with_its_solution(void **state) {
	(void)state;
	FileRun run = file_run(
		CALDER
		"devices: {f: {type: filter, kind: low_pass, order: 1, frequency: 1 rad/s, input: 0, sample_period: 20 ms},\n"
		"  s: {type: state_space, inputs: [0, \"2*device(f.y)\"], discretization: hold, sample_period: 20 ms,\n"
		"  A: [[0, 3, 0], [-3, 0, 0], [0, 0, -2]], B: [[0, 0], [0, 0], [0, 1]], C: [[1, 0, 0], [0, 1, 1]],\n"
		"  D: [[0, 0.5], [0, 0]], initial: [1, 0, 4]}}\n",
		&dopri5);
	for (int k = 0; k <= 100; k++) {
		const double t = k * 0.02;
		file_advance(&run, t);
		check_near(file_output(&run, "s", 0), cos(3 * t), 1e-12);
		check_near(file_output(&run, "s", 1), -sin(3 * t) + 4 * exp(-2 * t), 1e-12);
	}
	file_free(&run);
}

/* Amplitude and phase of the answer to sin(w t) once transients have gone. */
static void check_response(const char *what, double w, double amplitude, double phase) {
	char text[600];
	double in = 0, out = 0;
	enum { SAMPLES = 2000, SKIPPED = 1000 };
	snprintf(text, sizeof text,
	         CALDER "devices: {f: {type: filter, input: \"sin(%.17g*t)\", sample_period: 10 ms, %s}}\n", w, what);
	FileRun run = file_run(text, &dopri5);
	for (int k = 0; k <= SAMPLES; k++) {
		file_advance(&run, k * 0.01);
		if (k <= SKIPPED)
			continue;
		in += 2 * file_output(&run, "f", 0) * sin(w * k * 0.01) / (SAMPLES - SKIPPED);
		out += 2 * file_output(&run, "f", 0) * cos(w * k * 0.01) / (SAMPLES - SKIPPED);
	}
	check_near(in, amplitude * cos(phase), 1e-9);
	check_near(out, amplitude * sin(phase), 1e-9);
	file_free(&run);
}

/* At the corner frequency the response is that of continuous time: 2 pi 5 Hz has whole periods in the samples. */
static void filters_have_their_response(void **state) {
	(void)state;
	const double pi = 3.14159265358979323846, w = 10 * pi;
	check_response("frequency: 5 rev/s, damping: 0.4", w, 1 / 0.8, -pi / 2);
	check_response("frequency: 5 rev/s, order: 1", w, sqrt(0.5), -pi / 4);
	check_response("frequency: 5 rev/s, kind: high_pass, order: 1", w, sqrt(0.5), pi / 4);
	check_response("frequency: 5 rev/s, kind: high_pass, damping: 0.4", w, 1 / 0.8, pi / 2);
	check_response("frequency: 5 rev/s, kind: notch, damping: 0.4", w, 0, 0);
	// beside the center: s = j W with W = w tan(w' T/2)/tan(w T/2)
	const double W = w * tan(2 * pi * 0.005) / tan(w * 0.005), real = w * w - W * W, imaginary = 2 * 0.1 * w * W;
	check_response("frequency: 5 rev/s, kind: notch, damping: 0.1", 2 * pi, real / hypot(real, imaginary),
	               -atan2(imaginary, real));
}

/* Three joints about z, y and x: their angles by the formulas of docs/expressions.md; and the sample before the last. */
static void formulas_give_euler_angles_and_previous_samples(void **state) {
	(void)state;
	FileRun run = file_run(
		"calder: 1\nbodies: {z: {mass: 1, inertia: [1, 1, 1]}, y: {mass: 1, inertia: [1, 1, 1]}, A: {mass: 1, inertia: [1, 1, 1]}}\n"
		"joints: {yaw: {type: revolute, axis: z, to: z}, pitch: {type: revolute, axis: y, from: z, to: y},\n"
		"         roll: {type: revolute, axis: x, from: y, to: A}}\n"
		"state: {yaw: {q: 130 deg, u: 1}, pitch: {q: -50 deg}, roll: {q: 20 deg, u: 0.3}}\n"
		"devices:\n"
		"  e: {type: state_space, D: [1, 1, 1], sample_period: 10 ms, inputs: [\n"
		"    \"atan2(2*(qw(A)*qx(A) + qy(A)*qz(A)), 1 - 2*(qx(A)^2 + qy(A)^2))\",\n"
		"    \"asin(clamp(2*(qw(A)*qy(A) - qz(A)*qx(A)), -1, 1))\",\n"
		"    \"atan2(2*(qw(A)*qz(A) + qx(A)*qy(A)), 1 - 2*(qy(A)^2 + qz(A)^2))\"]}\n"
		"  last: {type: state_space, D: [[1]], sample_period: 10 ms, inputs: \"q(roll)\", delay: 1}\n",
		&dopri5);
	double last = 0;
	for (int k = 0; k <= 30; k++) {
		file_advance(&run, k * 0.01);
		const double *q = cal_sim_state(run.sim, 0)->q;
		check_near(file_output(&run, "e", 0), q[2], 1e-13);
		check_near(file_output(&run, "e", 1), q[1], 1e-13);
		check_near(file_output(&run, "e", 2), q[0], 1e-13);
		assert_true(file_output(&run, "last", 0) == last);
		last = q[2];
	}
	file_free(&run);
}

/* ---- mistakes -------------------------------------------------------------------------------------------------- */

static void mistakes_are_named(void **state) {
	(void)state;
#define BAD(what, part) file_refused(CALDER "devices: {c: {" what "}}\n", part)
	BAD("type: pid, measured: \"q(y)\", sample_period: 1 ms",
	    "model.yaml:4:11: device \"c\" (pid): measured: formula \"q(y)\"");
	BAD("type: pid, measured: \"device(d.y)\", sample_period: 1 ms", "there is no device \"d\"");
	BAD("type: pid, measured: 0, sample_period: 0 s", "must be greater than zero");
	BAD("type: pid, measured: 0, sample_period: -1 ms", "must be greater than zero");
	BAD("type: pid, measured: 0", "\"sample_period\" is missing");
	BAD("type: pid, measured: 0, sample_period: 1 s, delay: 1.5", "whole number");
	BAD("type: pid, measured: 0, sample_period: 1 s, delay: 20000", "from 0 to 10000");
	BAD("type: pid, measured: 0, sample_period: 1 s, lower: 2, upper: 1", "not below its upper limit");
	BAD("type: pid, measured: 0, sample_period: 1 s, anti_windup: back_calculation", "needs a tracking_time");
	BAD("type: pid, measured: 0, sample_period: 1 s, tracking_time: 1 s", "belongs to anti_windup");
	BAD("type: pid, measured: 0, sample_period: 1 s, derivative_of: measurement, measured_rate: 0", "no meaning");
	BAD("type: state_space, inputs: [1, 2], A: [[1, 2]], B: [1, 1], C: [[1]], sample_period: 1 s",
	    "A has 1 rows and 2 columns");
	BAD("type: state_space, inputs: [1, 2], A: [1, 1], B: [[1, 1]], C: [[1, 1]], sample_period: 1 s",
	    "it needs 2 and 2");
	BAD("type: state_space, inputs: 1, A: [1, 1], B: [[1], [1]], C: [[1]], sample_period: 1 s",
	    "C has 1 rows and 1 columns");
	BAD("type: state_space, inputs: 1, A: [1, 1], B: [[1], [1]], C: [[1, 1]], D: [[1, 2]], sample_period: 1 s",
	    "D has 1 rows");
	BAD("type: state_space, inputs: 1, A: [[1, 1], [1]], sample_period: 1 s", "row 2 does not have 2 numbers");
	BAD("type: state_space, inputs: 1, A: [1], B: [1], C: [1], initial: [1, 2], sample_period: 1 s",
	    "initial has 2 numbers");
	BAD("type: state_space, inputs: 1, A: [1], B: [1], sample_period: 1 s", "no outputs");
	BAD("type: transfer_function, input: 1, numerator: [1, 2, 3], denominator: [1, 2], sample_period: 1 s",
	    "higher order");
	BAD("type: transfer_function, input: 1, numerator: 1, denominator: [0, 2], sample_period: 1 s",
	    "is zero; leave it out");
	BAD("type: transfer_function, input: 1, numerator: 1, denominator: [1, -2], sample_period: 1 s, discretization: tustin",
	    "the pole 2/T");
	BAD("type: lookup, inputs: 1, x: [0, 1], values: [1, 2, 3], sample_period: 1 s",
	    "values has 3 numbers and x 2 points");
	BAD("type: lookup, inputs: 1, x: [-1e308, 1e308], values: [1, 2], sample_period: 1 s", "point 1 of x is -1e+308");
	BAD("type: lookup, inputs: 1, x: [0, 1], values: [1, 1e308], sample_period: 1 s", "number 2 of values is 1e+308");
	BAD("type: lookup, inputs: 1, x: [0, 0], values: [1, 2], sample_period: 1 s",
	    "x does not ascend: 0 is followed by 0");
	BAD("type: lookup, inputs: [1, 2, 3], x: 0, values: 1, sample_period: 1 s", "it has 3 inputs; give 1 or 2");
	BAD("type: lookup, inputs: 1, x: 0, y: 1, values: 1, sample_period: 1 s", "need a second input");
	BAD("type: lookup, inputs: [1, 2], x: [0, 1], y: [0, 1], table: [[1, 2]], sample_period: 1 s", "it needs 2 and 2");
	BAD("type: lookup, inputs: [1, 2], x: 0, y: 1, values: 1, sample_period: 1 s", "with two give table");
	BAD("type: filter, input: 1, frequency: 4 rad/s, sample_period: 1 s", "not below pi/sample_period");
	BAD("type: filter, input: 1, frequency: 1 rad/s, order: 3, sample_period: 1 s", "order is 3; give 1 or 2");
}

/* A formula that has no value at a sample ends the run with its name. */
static void an_input_without_value_ends_the_run(void **state) {
	(void)state;
	FileRun run =
		file_run(CALDER "devices: {c: {type: pid, measured: \"sqrt(0.25 - t)\", sample_period: 0.1 s}}\n", &dopri5);
	CalError error = {0};
	assert_int_equal(cal_sim_advance(run.sim, 1, &error), CAL_ERR_USER);
	if (!strstr(error.text, "device \"c\" (pid), t = 0.3 s: measured = sqrt(0.25 - t) is"))
		fail_msg("%s", error.text);
	file_free(&run);
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(pid_agrees_with_its_recursion),
		cmocka_unit_test(anti_windup_agrees_with_its_recursion),
		cmocka_unit_test(derivative_terms_differ_as_documented),
		cmocka_unit_test(outputs_do_not_change_a_bit),
		cmocka_unit_test(threads_do_not_change_a_bit),
		cmocka_unit_test(a_restart_does_not_change_a_bit),
		cmocka_unit_test(sample_times_are_products),
		cmocka_unit_test(held_transfer_functions_have_their_step_response),
		cmocka_unit_test(lookups_interpolate_their_tables),
		cmocka_unit_test(tustin_agrees_with_the_substitution),
		cmocka_unit_test(coefficients_of_z_are_a_difference_equation),
		cmocka_unit_test(state_space_agrees_with_its_solution),
		cmocka_unit_test(filters_have_their_response),
		cmocka_unit_test(formulas_give_euler_angles_and_previous_samples),
		cmocka_unit_test(mistakes_are_named),
		cmocka_unit_test(an_input_without_value_ends_the_run),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
