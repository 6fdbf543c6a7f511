// SPDX-License-Identifier: Apache-2.0
/*
 * test_state_space.c — A, B, C and D of a simulation against closed forms: pendulum, cart with a pole, masses on springs and
 * dampers, spinning spacecraft with a wheel, servo; refusals by name; and what a linearization leaves as it was.
 */
#include "analysis/state_space_support.h"
#include "support/failing_allocator.h"

static const double gravity = 9.80665;

/* ---- closed forms ------------------------------------------------------------------------------- */

#define PENDULUM                                                                                          \
	"calder: 1\ngravity: [0, 0, -9.80665]\n"                                                              \
	"bodies: {rod: {mass: 2, com: [0, 0, -0.7], inertia: [0.3, 0.31, 0.02], nodes: {tip: [0, 0, -1]}}}\n" \
	"joints: {hinge: {type: revolute, axis: y, to: rod, dof: {damping: 0.4, stiffness: 3}}}\n"            \
	"state: {hinge: {q: 0.6 rad, u: 0.9 rad/s}}\n"

static void pendulum_has_its_closed_form(void **state) {
	(void)state;
	Linearized l = linearized(PENDULUM, NAMES("force:hinge", "wrench:rod/tip.fx"),
	                          NAMES("q:hinge", "pose:rod/tip.x", "velocity:rod/tip.vz", "udot:hinge"));
	const double J = 0.31 + 2 * 0.49, q = 0.6, u = 0.9;
	const double dq = (-2 * gravity * 0.7 * cos(q) - 3) / J, du = -0.4 / J;
	assert_int_equal(l.space.state_count, 2);
	assert_string_equal(unit_of(l.space.states, 2, "q:hinge"), "rad");
	assert_string_equal(unit_of(l.space.states, 2, "u:hinge"), "rad/s");
	assert_string_equal(unit_of(l.space.inputs, 2, "wrench:rod/tip.fx"), "N");
	assert_near(entry_a(&l, "q:hinge", "q:hinge"), 0, 0);
	assert_near(entry_a(&l, "q:hinge", "u:hinge"), 1, 0);
	assert_near(entry_a(&l, "u:hinge", "q:hinge"), dq, 1e-12 * fabs(dq));
	assert_near(entry_a(&l, "u:hinge", "u:hinge"), du, 1e-12);
	assert_near(entry_b(&l, "u:hinge", "force:hinge"), 1 / J, 1e-13);
	assert_near(entry_b(&l, "u:hinge", "wrench:rod/tip.fx"), -cos(q) / J, 1e-12); // the tip is at -(sin q, 0, cos q)
	assert_near(entry_c(&l, "q:hinge", "q:hinge"), 1, 1e-11);
	assert_near(entry_c(&l, "pose:rod/tip.x", "q:hinge"), -cos(q), 1e-10);
	assert_near(entry_c(&l, "velocity:rod/tip.vz", "q:hinge"), u * cos(q), 1e-10);
	assert_near(entry_c(&l, "velocity:rod/tip.vz", "u:hinge"), sin(q), 1e-10);
	assert_near(entry_c(&l, "udot:hinge", "q:hinge"), dq, 1e-10 * fabs(dq));
	assert_near(entry_d(&l, "udot:hinge", "force:hinge"), 1 / J, 1e-12);
	assert_near(entry_d(&l, "q:hinge", "force:hinge"), 0, 0);
	assert_near(l.space.rate[0], u, 0);
	assert_near(l.space.rate[1], (-2 * gravity * 0.7 * sin(q) - 3 * q - 0.4 * u) / J, 1e-12);
	assert_near(l.space.value[1], -sin(q), 1e-15);
	assert_string_equal(l.space.warning, "");
	linearized_end(&l);
}

/* x and the angle th of the pole from upright: (M + m) x'' + m l th'' = F, m l x'' + J th'' = m g l th - c th'. */
static void cart_with_a_pole_has_its_closed_form(void **state) {
	(void)state;
	Linearized l =
		linearized("calder: 1\ngravity: [0, 0, -9.80665]\n"
	               "bodies: {cart: {mass: 3}, pole: {mass: 0.5, com: [0, 0, 0.6], inertia: [0.04, 0.05, 0.01]}}\n"
	               "joints: {slide: {type: prismatic, axis: x, to: cart, dof: {damping: 0.7}},\n"
	               "  hinge: {type: revolute, axis: y, from: cart, to: pole, dof: {damping: 0.02}}}\n",
	               NAMES("force:slide"), NAMES("q:slide", "q:hinge"));
	const double m = 0.5, M = 3, length = 0.6, J = 0.05 + m * length * length, c = 0.02, b = 0.7;
	const double det = (M + m) * J - m * m * length * length, weight = m * gravity * length;
	const struct {
		const char *row, *column;
		double want;
	} entries[] = {{"u:slide", "q:slide", 0},
	               {"u:slide", "q:hinge", -m * length * weight / det},
	               {"u:slide", "u:slide", -b * J / det},
	               {"u:slide", "u:hinge", m * length * c / det},
	               {"u:hinge", "q:slide", 0},
	               {"u:hinge", "q:hinge", (M + m) * weight / det},
	               {"u:hinge", "u:slide", b * m * length / det},
	               {"u:hinge", "u:hinge", -(M + m) * c / det}};
	for (size_t i = 0; i < sizeof entries / sizeof *entries; i++)
		assert_near(entry_a(&l, entries[i].row, entries[i].column), entries[i].want, 1e-12);
	assert_near(entry_b(&l, "u:slide", "force:slide"), J / det, 1e-13);
	assert_near(entry_b(&l, "u:hinge", "force:slide"), -m * length / det, 1e-13);
	linearized_end(&l);
}

/* Springs of devices between bodies are differenced: 1e-10 of a stiffness. */
static void springs_of_devices_are_part_of_it(void **state) {
	(void)state;
	Linearized l = linearized(
		"calder: 1\ngravity: [0, 0, 0]\nbodies: {a: {mass: 2}, b: {mass: 1}}\n"
		"joints: {ja: {type: prismatic, axis: x, to: a}, jb: {type: prismatic, axis: x, to: b}}\n"
		"state: {jb: {q: 1.5 m}}\n"
		"devices: {link: {type: spring, from: a, to: b, length: 1 m, stiffness: 300 N/m, damping: 5 N*s/m}}\n",
		NAMES("wrench:a.fx"), NAMES("device:link.pull"));
	assert_near(entry_a(&l, "u:ja", "q:ja"), -300 / 2.0, 1e-8);
	assert_near(entry_a(&l, "u:ja", "q:jb"), 300 / 2.0, 1e-8);
	assert_near(entry_a(&l, "u:jb", "q:ja"), 300, 1e-8);
	assert_near(entry_a(&l, "u:jb", "u:jb"), -5, 1e-9);
	assert_near(entry_b(&l, "u:ja", "wrench:a.fx"), 0.5, 1e-12);
	assert_near(entry_c(&l, "device:link.pull", "q:jb"), 300, 1e-7);
	linearized_end(&l);
}

#define SPACECRAFT                                                                           \
	"calder: 1\ngravity: [0, 0, 0]\nbodies: {hub: {mass: 50, inertia: [10, 20, 28]}}\n"      \
	"joints: {flight: {type: free, to: hub}}\n"                                              \
	"state: {flight: {q: [1, 2, 3, 0.7, 0.1, -0.1, 0.7], u: [0.1, 0, 0, 0.3, -0.2, 0.5]}}\n" \
	"devices: {wheel: {type: wheel, node: hub, axis: z, inertia: 0.04 kg*m^2, speed: 200 rad/s, torque: 0}}\n"

static void cross(const double a[3], const double b[3], double out[3]) {
	out[0] = a[1] * b[2] - a[2] * b[1];
	out[1] = a[2] * b[0] - a[0] * b[2];
	out[2] = a[0] * b[1] - a[1] * b[0];
}

/* r' = w - w0 x r; J w' = -w x (J w0 + h z) - w0 x (J w + dh z) - dtau z, dh' = dtau. */
static void spinning_spacecraft_with_a_wheel_has_its_closed_form(void **state) {
	(void)state;
	Linearized l = linearized(SPACECRAFT, NAMES("device:wheel.torque"), NAMES("body_rate:hub"));
	static const double w0[3] = {0.3, -0.2, 0.5}, J[3] = {10, 20, 28};
	static const char *const turns[3] = {"q:flight.rx", "q:flight.ry", "q:flight.rz"};
	static const char *const rates[3] = {"u:flight.wx", "u:flight.wy", "u:flight.wz"};
	const double h = 0.04 * (200 + 0.5);
	const double momentum[3] = {J[0] * w0[0], J[1] * w0[1], J[2] * w0[2] + h};
	assert_int_equal(l.space.state_count, 13);
	assert_string_equal(unit_of(l.space.states, 13, "q:flight.rx"), "rad");
	assert_string_equal(unit_of(l.space.inputs, 1, "device:wheel.torque"), "N m");
	for (int k = 0; k < 3; k++) {
		double e[3] = {0}, Je[3] = {0}, turned[3], one[3], two[3];
		e[k] = 1, Je[k] = J[k];
		cross(w0, e, turned);
		cross(e, momentum, one);
		cross(w0, Je, two);
		for (int i = 0; i < 3; i++) {
			assert_near(entry_a(&l, turns[i], turns[k]), -turned[i], 1e-10);
			assert_near(entry_a(&l, turns[i], rates[k]), i == k, 1e-11);
			assert_near(entry_a(&l, rates[i], rates[k]), -(one[i] + two[i]) / J[i], 1e-10);
			assert_near(entry_a(&l, rates[i], turns[k]), 0, 1e-10);
		}
	}
	const double z[3] = {0, 0, 1};
	double dh[3];
	cross(w0, z, dh);
	for (int i = 0; i < 3; i++)
		assert_near(entry_a(&l, rates[i], "x:wheel"), -dh[i] / J[i], 1e-10);
	assert_near(entry_b(&l, "u:flight.wz", "device:wheel.torque"), -1 / 28.0, 1e-11);
	assert_near(entry_b(&l, "x:wheel", "device:wheel.torque"), 1, 1e-11);
	linearized_end(&l);
}

/* Constant coefficients in body axes: the poles are 0 and +-i n of a body that spins about its axis of symmetry. */
static void steady_spin_has_the_poles_of_nutation(void **state) {
	(void)state;
	Linearized l = linearized("calder: 1\ngravity: [0, 0, 0]\nbodies: {hub: {mass: 50, inertia: [10, 10, 14]}}\n"
	                          "joints: {ball: {type: spherical, to: hub}}\nstate: {ball: {u: [0, 0, 3]}}\n",
	                          NAMES(NULL), NAMES(NULL));
	CalPole poles[6];
	assert_int_equal(cal_state_space_poles(&l.space, poles), CAL_OK);
	const double want[6] = {0, 0, 1.2, 1.2, 3, 3}; // 3 (14 - 10) / 10, and the turning axes themselves
	for (int i = 0; i < 6; i++)
		assert_near(poles[i].frequency, want[i], 1e-7);
	assert_true(poles[2].imag > 0 && poles[3].imag < 0);
	linearized_end(&l);
}

/* J q'' = kp (r - q) + ki z - kd q', z' = r - q. */
static void servo_is_a_pid_loop_with_its_integral_as_state(void **state) {
	(void)state;
	Linearized l = linearized("calder: 1\ngravity: [0, 0, 0]\nbodies: {arm: {mass: 1, inertia: [0.2, 0.2, 0.2]}}\n"
	                          "joints: {hinge: {type: revolute, axis: z, to: arm}}\n"
	                          "devices: {servo: {type: servo, joint: hinge, proportional: 40, integral: 12, "
	                          "derivative: 3, reference: 0}}\n",
	                          NAMES("device:servo.reference"), NAMES("q:hinge"));
	assert_near(entry_a(&l, "u:hinge", "q:hinge"), -40 / 0.2, 1e-8);
	assert_near(entry_a(&l, "u:hinge", "u:hinge"), -3 / 0.2, 1e-9);
	assert_near(entry_a(&l, "u:hinge", "x:servo"), 12 / 0.2, 1e-9);
	assert_near(entry_a(&l, "x:servo", "q:hinge"), -1, 1e-11);
	assert_near(entry_b(&l, "x:servo", "device:servo.reference"), 1, 1e-11);
	assert_near(entry_b(&l, "u:hinge", "device:servo.reference"), 40 / 0.2, 1e-8);
	CalPole poles[3];
	assert_int_equal(cal_state_space_poles(&l.space, poles), CAL_OK);
	for (int i = 0; i < 3; i++) { // roots of s^3 + 15 s^2 + 200 s + 60
		const double re = poles[i].real, im = poles[i].imag;
		const double re2 = re * re - im * im, im2 = 2 * re * im;
		const double re3 = re2 * re - im2 * im, im3 = re2 * im + im2 * re;
		assert_near(re3 + 15 * re2 + 200 * re + 60, 0, 1e-6);
		assert_near(im3 + 15 * im2 + 200 * im, 0, 1e-6);
	}
	linearized_end(&l);
}

/* A device couples groups, and a formula is a controller. */
static void groups_are_coupled_by_devices_and_formulas(void **state) {
	(void)state;
	Linearized l = linearized(
		"calder: 1\ngravity: [0, 0, 0]\ngroups: {other: {}}\nbodies: {a: {mass: 2}, b: {mass: 1, group: other}}\n"
		"joints: {ja: {type: prismatic, axis: x, to: a}, jb: {type: prismatic, axis: x, to: b}}\n"
		"loads: [{joint: ja, effort: '7*(q(jb) - q(ja)) - 3*u(jb)'}]\n",
		NAMES("force:jb"), NAMES("q:ja"));
	assert_int_equal(l.space.state_count, 4);
	assert_near(entry_a(&l, "u:ja", "q:ja"), -3.5, 1e-10);
	assert_near(entry_a(&l, "u:ja", "q:jb"), 3.5, 1e-10);
	assert_near(entry_a(&l, "u:ja", "u:jb"), -1.5, 1e-10);
	assert_near(entry_a(&l, "u:jb", "q:ja"), 0, 0);
	linearized_end(&l);
}

/* ---- responses ------------------------------------------------------------------------------------ */

#define OSCILLATOR                                            \
	"calder: 1\ngravity: [0, 0, 0]\nbodies: {a: {mass: 2}}\n" \
	"joints: {j: {type: prismatic, axis: x, to: a, dof: {stiffness: 50, damping: 4}}}\n"

/* H = 1/(k - m w^2 + i c w); step response 1/k (1 - e^(-dw t)(cos + ...)). */
static void oscillator_has_its_frequency_and_step_response(void **state) {
	(void)state;
	Linearized l = linearized(OSCILLATOR, NAMES("force:j"), NAMES("q:j"));
	const double m = 2, c = 4, k = 50;
	for (double w = 0; w < 20; w += 1.7) {
		double H[2];
		const double re = k - m * w * w, im = c * w, size = re * re + im * im;
		assert_int_equal(cal_state_space_response(&l.space, w, H), CAL_OK);
		assert_near(H[0], re / size, 1e-14);
		assert_near(H[1], -im / size, 1e-14);
	}
	enum { STEPS = 50 };
	double y[STEPS];
	const double decay = c / (2 * m), wd = sqrt(k / m - decay * decay), dt = 0.07;
	assert_int_equal(cal_state_space_step(&l.space, 0, 3, NULL, dt, STEPS, y), CAL_OK);
	for (int i = 0; i < STEPS; i++) {
		const double t = i * dt;
		assert_near(y[i], 3 / k * (1 - exp(-decay * t) * (cos(wd * t) + decay / wd * sin(wd * t))), 1e-13);
	}
	const double x0[2] = {0.1, 0};
	assert_int_equal(cal_state_space_step(&l.space, -1, 0, x0, dt, STEPS, y), CAL_OK);
	assert_near(y[10], 0.1 * exp(-decay * 0.7) * (cos(wd * 0.7) + decay / wd * sin(wd * 0.7)), 1e-13);
	linearized_end(&l);
}

/* ---- what it says, and what it leaves alone --------------------------------------------------------- */

static void names_that_are_not_known_are_refused_by_name(void **state) {
	static const struct {
		const char *input, *output, *part;
	} cases[] = {{"force:hing", NULL, "did you mean \"force:hinge\""},
	             {"q:hinge", NULL, "inputs are force:JOINT"},
	             {"device:servo.torque", NULL, "no device has this name"},
	             {NULL, "pose:rod/tipp", "did you mean \"pose:rod/tip\""}};
	(void)state;
	Run run = run_file(file_of(PENDULUM));
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		CalStateSpace space;
		CalError error = {0};
		const CalStateSpaceOptions options = {.inputs = &cases[i].input,
		                                      .input_count = cases[i].input != NULL,
		                                      .outputs = &cases[i].output,
		                                      .output_count = cases[i].output != NULL};
		assert_int_equal(cal_sim_state_space(run.sim, &options, &space, &error), CAL_ERR_INPUT);
		if (!strstr(error.text, cases[i].part))
			fail_msg("%s", error.text);
		assert_null(space.memory);
	}
	run_end(&run);
}

static void command_that_a_device_lacks_is_refused_with_those_that_it_has(void **state) {
	(void)state;
	Run run = run_file(file_of(SPACECRAFT));
	CalStateSpace space;
	CalError error = {0};
	const char *input = "device:wheel.throttle";
	const CalStateSpaceOptions options = {.inputs = &input, .input_count = 1};
	assert_int_equal(cal_sim_state_space(run.sim, &options, &space, &error), CAL_ERR_INPUT);
	assert_non_null(strstr(error.text, "device \"wheel\" takes torque"));
	run_end(&run);
}

/* A stop that just touches has one stiffness on this side and none on the other. */
static void force_that_bends_at_the_state_is_warned_of(void **state) {
	(void)state;
	Linearized l = linearized("calder: 1\ngravity: [0, 0, 0]\nbodies: {a: {mass: 2}}\n"
	                          "joints: {j: {type: prismatic, axis: x, to: a}}\n"
	                          "loads: [{joint: j, effort: '-50*max(q(j), 0)'}]\n",
	                          NAMES(NULL), NAMES(NULL));
	assert_non_null(strstr(l.space.warning, "force on j"));
	assert_non_null(strstr(l.space.warning, "along q:j"));
	linearized_end(&l);
	l = linearized("calder: 1\ngravity: [0, 0, 0]\nbodies: {a: {mass: 2}}\n"
	               "joints: {j: {type: prismatic, axis: x, to: a}}\n"
	               "loads: [{joint: j, effort: '-50*q(j)^3 - 4*cos(q(j))'}]\n",
	               NAMES(NULL), NAMES(NULL));
	assert_string_equal(l.space.warning, "");
	linearized_end(&l);
}

/* The same bits after a run with a linearization on the way. */
static void linearization_leaves_the_run_as_it_was(void **state) {
	(void)state;
	Run with = run_file(file_of(SPACECRAFT)), without = run_file(file_of(SPACECRAFT));
	CalStateSpace space = {0};
	CalError error = {0};
	const char *input = "device:wheel.torque", *output = "acceleration:hub";
	const CalStateSpaceOptions options = {.inputs = &input, .input_count = 1, .outputs = &output, .output_count = 1};
	assert_int_equal(cal_sim_advance(with.sim, 0.5, &error), CAL_OK);
	assert_int_equal(cal_sim_state_space(with.sim, &options, &space, &error), CAL_OK);
	assert_int_equal(cal_sim_advance(with.sim, 1, &error), CAL_OK);
	assert_int_equal(cal_sim_advance(without.sim, 0.5, &error), CAL_OK);
	assert_int_equal(cal_sim_advance(without.sim, 1, &error), CAL_OK);
	const CalState *a = cal_sim_state(with.sim, 0), *b = cal_sim_state(without.sim, 0);
	assert_memory_equal(a->q, b->q, 7 * sizeof(double));
	assert_memory_equal(a->u, b->u, 6 * sizeof(double));
	cal_state_space_release(&space);
	run_end(&with);
	run_end(&without);
}

static void rolling_is_refused_by_name(void **state) {
	(void)state;
	Run run = run_file(file_of("calder: 1\ngravity: [0, 0, -9.8]\nbodies: {b: {mass: 1, inertia: [0.1, 0.1, 0.1]}}\n"
	                           "joints: {fly: {type: free, to: b}}\nstate: {fly: {q: [0, 0, 0.1, 1, 0, 0, 0]}}\n"
	                           "loops: {roll: {type: ball, from: ground, to: b, radius: 0.1 m}}\n"));
	CalStateSpace space;
	CalError error = {0};
	assert_int_equal(cal_sim_state_space(run.sim, NULL, &space, &error), CAL_ERR_UNSUPPORTED);
	assert_non_null(strstr(error.text, "loop \"roll\" constrains speeds and not positions"));
	run_end(&run);
}

static void memory_that_is_short_is_reported_and_released(void **state) {
	(void)state;
	Run run = run_file(file_of(SPACECRAFT));
	FailingAllocator f = {0};
	const char *input = "device:wheel.torque", *output = "acceleration:hub";
	const CalStateSpaceOptions options = {
		.inputs = &input, .input_count = 1, .outputs = &output, .output_count = 1, .allocator = failing_allocator(&f)};
	CalStatus status = CAL_ERR_MEMORY;
	for (f.fail_at = 1; f.fail_at < 200 && status == CAL_ERR_MEMORY; f.fail_at++) {
		CalStateSpace space;
		CalPole poles[13];
		CalError error = {0};
		f.calls = 0;
		status = cal_sim_state_space(run.sim, &options, &space, &error);
		if (status == CAL_OK)
			status = cal_state_space_poles(&space, poles);
		cal_state_space_release(&space);
		assert_int_equal(f.live, 0);
	}
	assert_int_equal(status, CAL_OK);
	assert_true(f.fail_at > 10);
	run_end(&run);
}

static void deviation_is_counted_from_the_state(void **state) {
	(void)state;
	Linearized l = linearized(SPACECRAFT, NAMES(NULL), NAMES(NULL));
	double x[13];
	assert_int_equal(cal_state_space_deviation(&l.space, l.run.sim, x), CAL_OK);
	for (int i = 0; i < 13; i++)
		assert_near(x[i], 0, 0);
	CalState *s = cal_sim_state(l.run.sim, 0);
	const double way[6] = {0.1, -0.2, 0.3, 0.02, 0.04, -0.01};
	cal_config_integrate(cal_sim_model(l.run.sim, 0), s->q, way, s->q);
	s->u[5] += 0.25;
	assert_int_equal(cal_state_space_deviation(&l.space, l.run.sim, x), CAL_OK);
	for (int i = 0; i < 6; i++) {
		assert_near(x[i], way[i], 1e-15);
		assert_near(x[6 + i], i == 5 ? 0.25 : 0, 1e-15);
	}
	linearized_end(&l);
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(pendulum_has_its_closed_form),
		cmocka_unit_test(cart_with_a_pole_has_its_closed_form),
		cmocka_unit_test(springs_of_devices_are_part_of_it),
		cmocka_unit_test(spinning_spacecraft_with_a_wheel_has_its_closed_form),
		cmocka_unit_test(steady_spin_has_the_poles_of_nutation),
		cmocka_unit_test(servo_is_a_pid_loop_with_its_integral_as_state),
		cmocka_unit_test(groups_are_coupled_by_devices_and_formulas),
		cmocka_unit_test(oscillator_has_its_frequency_and_step_response),
		cmocka_unit_test(names_that_are_not_known_are_refused_by_name),
		cmocka_unit_test(command_that_a_device_lacks_is_refused_with_those_that_it_has),
		cmocka_unit_test(force_that_bends_at_the_state_is_warned_of),
		cmocka_unit_test(linearization_leaves_the_run_as_it_was),
		cmocka_unit_test(rolling_is_refused_by_name),
		cmocka_unit_test(memory_that_is_short_is_reported_and_released),
		cmocka_unit_test(deviation_is_counted_from_the_state),
	};
	NEEDS_YAML();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
