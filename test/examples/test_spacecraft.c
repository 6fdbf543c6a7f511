// SPDX-License-Identifier: Apache-2.0
/*
 * test_spacecraft.c — the spacecraft with wheels, antenna and flexible arrays: how well it points, what it keeps, and its
 * control loop on a rigid bus against Euler's equations integrated here.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "example_support.h"

static const double PI = 3.14159265358979323846;

/* Signals of a run, in the order of their names. */
static void signals_of(Running *r, const char *const *names, int count, double *values) {
	CalSampler *sampler = NULL;
	CalError error = {0};
	double row[16];
	assert_true(count < 16);
	assert_int_equal(cal_sampler_create(NULL, &sampler, NULL), CAL_OK);
	for (int i = 0; i < count; i++)
		if (cal_sampler_add(sampler, r->sim, names[i], &error) != CAL_OK)
			fail_msg("%s", error.text);
	assert_int_equal(cal_sampler_column_count(sampler), 1 + count);
	assert_int_equal(cal_sampler_sample(sampler, r->sim, row), CAL_OK);
	for (int i = 0; i < count; i++)
		values[i] = row[1 + i];
	cal_sampler_destroy(sampler);
}

/* Degrees: of the bus from the attitude to reach, of the antenna from the relay. */
static void pointing_of(Running *r, double *bus, double *antenna) {
	static const char *const names[] = {"angle:bus,lvlh", "pose:ground/relay,dish.x", "pose:ground/relay,dish.y",
	                                    "pose:ground/relay,dish.z"};
	double v[4];
	signals_of(r, names, 4, v);
	*bus = v[0] * 180 / PI;
	*antenna = atan2(hypot(v[2], v[3]), v[1]) * 180 / PI;
}

/* From 31 degrees off to what is left: for the antenna at most the rate of the orbit times damping over stiffness. */
static void it_points_and_tracks(void **state) {
	(void)state;
	Running r = example_start("spacecraft");
	double bus, antenna;
	pointing_of(&r, &bus, &antenna);
	assert_near(bus, 31.3675, 1e-3);
	for (int t = 10; t <= 400; t += 10) {
		double output[3];
		example_advance(&r, t);
		pointing_of(&r, &bus, &antenna);
		assert_true(t < 30 || antenna < 0.4);
		assert_true(t < 100 || (bus < 0.02 && antenna < 0.047));
		for (int i = 0; i < 4; i++) {
			char name[32];
			snprintf(name, sizeof name, "wheel%d", i + 1);
			assert_int_equal(cal_sim_device_outputs(r.sim, cal_sim_find_device(r.sim, name), output), CAL_OK);
			assert_true(fabs(output[2]) <= 0.5);
		}
	}
	const CalSimBalance now = example_balance(&r);
	assert_true(now.complete && now.supplied > 10);
	assert_near(now.error, 0, 1e-9);
	example_finish(&r);
}

/* Wheels, gimbals and drives only exchange momentum: without the Earth the sum stays. */
static void it_keeps_its_momentum_without_the_earth(void **state) {
	(void)state;
	Running r = example_start("spacecraft");
	double output[3];
	const CalSimBalance before = example_balance(&r);
	assert_int_equal(cal_sim_switch_device(r.sim, cal_sim_find_device(r.sim, "earth"), 0), CAL_OK);
	example_advance(&r, 120);
	const CalSimBalance now = example_balance(&r);
	assert_int_equal(cal_sim_device_outputs(r.sim, cal_sim_find_device(r.sim, "wheel1"), output), CAL_OK);
	assert_true(fabs(output[1]) > 0.5); // much was exchanged
	assert_near(now.angular.x, before.angular.x, 1e-9);
	assert_near(now.angular.y, before.angular.y, 1e-9);
	assert_near(now.angular.z, before.angular.z, 1e-9);
	assert_near(now.linear.x, before.linear.x, 1e-9);
	assert_near(now.linear.y, before.linear.y, 1e-9);
	assert_near(now.linear.z, before.linear.z, 1e-9);
	assert_near(now.error, 0, 1e-9);
	example_finish(&r);
}

/* ---- a rigid bus against Euler's equations ------------------------------------------------------------------------ */

/* Quaternion (w, x, y, z) and angular velocity of the bus in its axes, momenta of the wheels. */
enum { W = 4, H = 7, NUMBERS = 11 };
static const double J[3] = {600, 130, 580}, kq[3] = {12.4, 3, 12}, kd[3] = {99, 24, 96};
static const double mu = 3.986004418e14, radius = 7e6;
static const double axes[4][3] = {{1, 1, 1}, {1, -1, -1}, {-1, 1, -1}, {-1, -1, 1}}; // divided by sqrt(3)

static void cross(const double *a, const double *b, double *c) {
	c[0] = a[1] * b[2] - a[2] * b[1], c[1] = a[2] * b[0] - a[0] * b[2], c[2] = a[0] * b[1] - a[1] * b[0];
}

static void times(const double *a, const double *b, double *c) {
	c[0] = a[0] * b[0] - a[1] * b[1] - a[2] * b[2] - a[3] * b[3];
	c[1] = a[0] * b[1] + a[1] * b[0] + a[2] * b[3] - a[3] * b[2];
	c[2] = a[0] * b[2] - a[1] * b[3] + a[2] * b[0] + a[3] * b[1];
	c[3] = a[0] * b[3] + a[1] * b[2] - a[2] * b[1] + a[3] * b[0];
}

/* A vector of the world in the axes of the bus. */
static void into_bus(const double *q, const double *v, double *made) {
	const double conjugate[4] = {q[0], -q[1], -q[2], -q[3]}, given[4] = {0, v[0], v[1], v[2]};
	double half[4], all[4];
	times(conjugate, given, half);
	times(half, q, all);
	for (int i = 0; i < 3; i++)
		made[i] = all[i + 1];
}

/* What the wheels are to do together: 2 J w^2 q + 2 zeta w J rate. */
static void law(const double *y, double n, double t, double *torque) {
	const double back[4] = {cos(n * t / 2), 0, sin(n * t / 2), 0}, spin[3] = {0, -n, 0};
	double e[4], seen[3];
	times(back, y, e); // lvlh has turned by -n t about y
	into_bus(y, spin, seen);
	for (int i = 0; i < 3; i++)
		torque[i] = kq[i] * (e[0] < 0 ? -e[i + 1] : e[i + 1]) + kd[i] * (y[W + i] - seen[i]);
}

static void euler(const double *y, double t, double most, double *rate) {
	const double n = sqrt(mu / (radius * radius * radius)), up[3] = {sin(n * t), 0, -cos(n * t)};
	const double turn[4] = {0, y[W], y[W + 1], y[W + 2]};
	double torque[3], u[3], Ju[3], gradient[3], L[3] = {0}, gyro[3], on_bus[3] = {0};
	law(y, n, t, torque);
	times(y, turn, rate);
	for (int i = 0; i < 4; i++)
		rate[i] *= 0.5;
	for (int k = 0; k < 4; k++) {
		double tau = 0;
		for (int i = 0; i < 3; i++)
			tau += 0.4330127 * axes[k][i] * torque[i];
		rate[H + k] = fmin(fmax(tau, -most), most);
		for (int i = 0; i < 3; i++) {
			L[i] += y[H + k] * axes[k][i] / sqrt(3);
			on_bus[i] -= rate[H + k] * axes[k][i] / sqrt(3);
		}
	}
	into_bus(y, up, u);
	for (int i = 0; i < 3; i++) {
		L[i] += J[i] * y[W + i];
		Ju[i] = J[i] * u[i];
	}
	cross(u, Ju, gradient);
	cross(y + W, L, gyro);
	for (int i = 0; i < 3; i++)
		rate[W + i] = (on_bus[i] + 3 * n * n * gradient[i] - gyro[i]) / J[i];
}

static void runge_kutta(double *y, double t, double h, double most) {
	double k[4][NUMBERS], at[NUMBERS];
	euler(y, t, most, k[0]);
	for (int s = 1; s < 4; s++) {
		const double part = s == 3 ? h : h / 2;
		for (int i = 0; i < NUMBERS; i++)
			at[i] = y[i] + part * k[s - 1][i];
		euler(at, t + part, most, k[s]);
	}
	for (int i = 0; i < NUMBERS; i++)
		y[i] += h / 6 * (k[0][i] + 2 * k[1][i] + 2 * k[2][i] + k[3][i]);
}

static const char rigid_text[] =
	"calder: 1\n"
	"groups: {reference: {}}\n"
	"bodies: {lvlh: {group: reference, mass: 1 g, inertia: [1e-6, 1e-6, 1e-6]}, bus: {mass: 400, inertia: [600, 130, 580]}}\n"
	"joints: {orbit: {type: revolute, axis: y, to: lvlh}, flight: {type: free, to: bus}}\n"
	"group_motions: {reference: {orbit: {q: -%.17g*t}}}\n"
	"state: {flight: {q: [0, 0, 0, -0.9, 0.3, -0.1, 0.3], u: [0, 0, 0, 0.002, -0.001, 0.003]}}\n"
	"devices:\n"
	"  earth: {type: gravity, group: main, mu: 3.986004418e14, orbit: true, position: [0, 0, -7e6], velocity: [%.17g, 0, 0]}\n"
	"%s"
	"run: {rtol: 1e-11, duration: 100 s}\n";

static Running start_rigid(double most) {
	static const char *const signs[4] = {"+ +", "- -", "+ -", "- +"};
	char text[6000], wheels[4000] = "";
	size_t used = 0;
	for (int k = 0; k < 4; k++) {
		used += (size_t)snprintf(wheels + used, sizeof wheels - used,
		                         "  wheel%d: {type: wheel, node: bus, inertia: 0.04, axis: [%g, %g, %g], ", k,
		                         axes[k][0], axes[k][1], axes[k][2]);
		if (most < 1e3)
			used += (size_t)snprintf(wheels + used, sizeof wheels - used, "max_torque: %g, ", most);
		used += (size_t)snprintf(
			wheels + used, sizeof wheels - used,
			"torque: \"0.4330127*(%s(12.4*qx(bus, lvlh) + 99*body_rate(bus, lvlh.wx)) %c (3*qy(bus, "
			"lvlh) + 24*body_rate(bus, lvlh.wy)) %c (12*qz(bus, lvlh) + 96*body_rate(bus, lvlh.wz)))\"}\n",
			axes[k][0] < 0 ? "-" : "", signs[k][0], signs[k][2]);
	}
	snprintf(text, sizeof text, rigid_text, sqrt(mu / (radius * radius * radius)), sqrt(mu / radius), wheels);
	return file_start(file_of(text));
}

/* Attitude, rates and momenta of the wheels after 100 s, torques free and clipped, from an attitude with qw < 0. */
static void a_rigid_bus_obeys_euler(void **state) {
	(void)state;
	static const struct { double most, h, near; } rows[] = {{1e9, 2e-2, 1e-8}, {0.3, 1e-3, 1e-6}};
	for (int i = 0; i < 2; i++) {
		double y[NUMBERS] = {-0.9, 0.3, -0.1, 0.3, 0.002, -0.001, 0.003};
		Running r = start_rigid(rows[i].most);
		const double *q = cal_sim_state(r.sim, 0)->q;
		for (int k = 0; k < 4; k++) {
			double output[3];
			y[k] = q[3 + k]; // of length one
			assert_int_equal(cal_sim_device_outputs(r.sim, 1 + k, output), CAL_OK);
			y[H + k] = output[1]; // wheels at rest relative to the bus
			assert_near(output[0], 0, 1e-17);
		}
		const int steps = (int)round(100 / rows[i].h);
		for (int s = 0; s < steps; s++)
			runge_kutta(y, s * rows[i].h, rows[i].h, rows[i].most);
		example_advance(&r, 100);
		q = cal_sim_state(r.sim, 0)->q;
		const double *u = cal_sim_state(r.sim, 0)->u;
		for (int k = 0; k < 4; k++) {
			double output[3];
			assert_int_equal(cal_sim_device_outputs(r.sim, 1 + k, output), CAL_OK);
			assert_near(q[3 + k], y[k], rows[i].near);
			assert_near(output[1], y[H + k], 100 * rows[i].near); // of 10 N m s
		}
		for (int k = 0; k < 3; k++)
			assert_near(u[3 + k], y[W + k], rows[i].near);
		assert_true(y[0] < -0.998); // at its attitude, 6.2 deg on, the short way
		example_finish(&r);
	}
}

/* ---- its parts, in other words --------------------------------------------------------------------------------- */

/* Quaternion of a body after a run of a text. */
static void attitude_after(const char *text, double t, double q[4]) {
	static const char *const names[] = {"pose:bus.qw", "pose:bus.qx", "pose:bus.qy", "pose:bus.qz"};
	Running r = file_start(file_of(text));
	example_advance(&r, t);
	signals_of(&r, names, 4, q);
	assert_near(example_balance(&r).error, 0, 1e-8);
	example_finish(&r);
}

/* A body on three slides and three gimbals tumbles as a free one does, in every order of the axes, from the same start. */
static void every_order_of_gimbals_moves_alike(void **state) {
	(void)state;
	static const char *const orders[] = {"xyz", "xzy", "yxz", "yzx", "zxy", "zyx",
	                                     "xyx", "xzx", "yxy", "yzy", "zxz", "zyz"};
	static const char joint[] =
		"{calder: 1, bodies: {bus: {mass: 2, com: [0.1, 0.2, -0.1], inertia: [0.5, 0.6, 0.7]}},"
		" joints: {j: {type: sequence, to: bus, elements: [{type: prismatic, axis: x}, {type: prismatic, axis: "
		"y}, {type: prismatic, axis: z}, {type: revolute, axis: %c}, {type: revolute, axis: %c}, {type: "
		"revolute, axis: %c}]}}, state: {j: {q: [0, 0, 0, %.17g, %.17g, %.17g], u: [0.1, 0, 0, %.17g, "
		"%.17g, %.17g]}}, run: {rtol: 1e-11, duration: 1}}";
	static const char free_joint[] =
		"{calder: 1, bodies: {bus: {mass: 2, com: [0.1, 0.2, -0.1], inertia: [0.5, 0.6, 0.7]}},"
		" joints: {j: {type: free, to: bus}}, state: {j: {q: [0, 0, 0, %.17g, %.17g, %.17g, %.17g], u: "
		"[0.1, 0, 0, %.17g, %.17g, %.17g]}}, run: {rtol: 1e-11, duration: 1}}";
	for (size_t k = 0; k < sizeof orders / sizeof orders[0]; k++) {
		const double angle[3] = {0.3, 0.8, -0.5}, rate[3] = {0.4, -0.3, 0.5};
		double turn[4] = {1, 0, 0, 0}, w[3] = {0}, made[4], q[4], want[4];
		char text[1000];
		for (int i = 0; i < 3;
		     i++) { // of the joint by hand: the product of the rotations; rates in the axes left by the next ones
			const int axis = orders[k][i] - 'x';
			double step[4] = {cos(angle[i] / 2), 0, 0, 0};
			step[1 + axis] = sin(angle[i] / 2);
			into_bus(step, w, want);
			memcpy(w, want, sizeof w);
			w[axis] += rate[i];
			times(turn, step, made);
			memcpy(turn, made, sizeof turn);
		}
		snprintf(text, sizeof text, joint, orders[k][0], orders[k][1], orders[k][2], angle[0], angle[1], angle[2],
		         rate[0], rate[1], rate[2]);
		attitude_after(text, 0, q);
		for (int i = 0; i < 4; i++)
			assert_near(q[i], turn[i], 1e-14);
		attitude_after(text, 1, q);
		snprintf(text, sizeof text, free_joint, turn[0], turn[1], turn[2], turn[3], w[0], w[1], w[2]);
		attitude_after(text, 1, want);
		for (int i = 0; i < 4; i++)
			assert_near(q[i], want[i], 1e-9);
	}
}

/* A wheel is a body on a hinge: mass and inertia across the axis are the bus's then. */
static void a_wheel_is_a_body_on_a_hinge(void **state) {
	(void)state;
	static const char wheel[] =
		"{calder: 1, bodies: {bus: {mass: 13, inertia: [2.02, 3.02, 4]}}, joints: {j: {type: free, to: bus}},"
		" state: {j: {u: [0, 0, 0, 0.3, 0.2, -0.1]}}, devices: {w: {type: wheel, node: bus, inertia: 0.03, "
		"speed: 20, torque: \"0.5*sin(t) - 0.2*body_rate(bus.wx)\"}}, run: {rtol: 1e-11, duration: 5}}";
	static const char body[] =
		"{calder: 1, bodies: {bus: {mass: 10, inertia: [2, 3, 4]}, rotor: {mass: 3, inertia: [0.02, 0.02, 0.03]}},"
		" joints: {j: {type: free, to: bus}, h: {type: revolute, axis: z, from: bus, to: rotor}},"
		" state: {j: {u: [0, 0, 0, 0.3, 0.2, -0.1]}, h: {u: 20}}, loads: [{name: m, joint: h, effort: "
		"\"0.5*sin(t) - 0.2*body_rate(bus.wx)\"}], run: {rtol: 1e-11, duration: 5}}";
	double q[4], want[4];
	attitude_after(wheel, 5, q);
	attitude_after(body, 5, want);
	assert_true(want[0] < 0.99); // it has turned
	for (int i = 0; i < 4; i++)
		assert_near(q[i], want[i], 1e-9);
}

int main(void) {
	NEEDS_YAML();
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(it_points_and_tracks),         cmocka_unit_test(it_keeps_its_momentum_without_the_earth),
		cmocka_unit_test(a_rigid_bus_obeys_euler),      cmocka_unit_test(every_order_of_gimbals_moves_alike),
		cmocka_unit_test(a_wheel_is_a_body_on_a_hinge),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
