// SPDX-License-Identifier: Apache-2.0
/*
 * test_system_modes.c — modes of systems against closed forms: oscillators, pendulums, hanging chains, mechanisms, beams, spin.
 */
#include "support/model_file_support.h"
#include "support/run.h"

#include <calder/calder.h>
#include <math.h>

static const double gravity = 9.80665;

typedef struct System {
	Run run;
	CalLinear linear;
	CalSystemModes modes;
} System;

static System system_at(const char *text, double time, int structural) {
	System s = {.run = run_file(file_of(text))};
	CalSim *sim = s.run.sim;
	CalError error = {0};
	const CalLinearOptions how = {.structural = structural};
	if (cal_sim_advance(sim, time, &error) != CAL_OK || cal_sim_linearize(sim, 0, &how, &s.linear, &error) != CAL_OK ||
	    cal_linear_modes(&s.linear, NULL, NULL, &s.modes, &error) != CAL_OK)
		fail_msg("%s", error.text);
	return s;
}

static System system_of(const char *text) { return system_at(text, 0, 0); }

static void system_release(System *s) {
	cal_system_modes_release(&s->modes);
	cal_linear_release(&s->linear);
	run_end(&s->run);
}

static void check_near(double got, double want, double tolerance, const char *what) {
	if (!(fabs(got - want) <= tolerance * fabs(want)))
		fail_msg("%s: %.15g instead of %.15g, off by %.2g", what, got, want, fabs(got - want) / fabs(want));
}

static void check_frequency(const System *s, int mode, double want, double tolerance) {
	char what[40];
	snprintf(what, sizeof what, "frequency of mode %d", mode + 1);
	assert_int_equal(s->modes.mode[mode].kind, CAL_MODE_OSCILLATION);
	check_near(s->modes.mode[mode].frequency, want, tolerance, what);
}

/* ---- oscillators ------------------------------------------------------------------------------ */

#define TWO_MASSES(damping_a, damping_b)                                                       \
	"calder: 1\ngravity: [0, 0, 0]\nbodies: {a: {mass: 2}, b: {mass: 1}}\njoints:\n"           \
	"  ja: {type: prismatic, axis: x, to: a, dof: {stiffness: 300, damping: " damping_a "}}\n" \
	"  jb: {type: prismatic, axis: x, from: a, to: b, dof: {stiffness: 200, damping: " damping_b "}}\n"

/* In the elongations of the springs M = (3 1; 1 1), K = diag(300, 200). */
static void two_masses_have_the_roots_of_a_quadratic(void **state) {
	(void)state;
	System s = system_of(TWO_MASSES("0", "0"));
	const double a = 2, b = -(300.0 + 3 * 200.0), c = 300.0 * 200.0, root = sqrt(b * b - 4 * a * c);
	assert_int_equal(s.modes.count, 2);
	assert_int_equal(s.modes.rigid, 0);
	assert_false(s.modes.damped);
	check_frequency(&s, 0, sqrt((-b - root) / (2 * a)), 1e-13);
	check_frequency(&s, 1, sqrt((-b + root) / (2 * a)), 1e-13);
	system_release(&s);
}

/* C = 0.01 K: the damping ratio of each mode is 0.005 w, and |eigenvalue| stays. */
static void proportional_damping_leaves_frequencies(void **state) {
	(void)state;
	System s = system_of(TWO_MASSES("0", "0")), d = system_of(TWO_MASSES("3", "2"));
	assert_true(d.modes.damped);
	for (int i = 0; i < 2; i++) {
		const double w = s.modes.mode[i].frequency;
		check_frequency(&d, i, w, 1e-12);
		check_near(d.modes.mode[i].damping, 0.005 * w, 1e-10, "damping ratio");
	}
	system_release(&s);
	system_release(&d);
}

/* det(M z^2 + C z + K) = 0 for each eigenvalue z, of damping that is not proportional; one mass is overdamped. */
static void eigenvalues_are_roots_of_the_characteristic_polynomial(void **state) {
	static const struct {
		const char *text;
		double ca, cb;
	} cases[] = {{TWO_MASSES("5", "0.1"), 5, 0.1}, {TWO_MASSES("1", "90"), 1, 90}};
	(void)state;
	for (int c = 0; c < 2; c++) {
		System s = system_of(cases[c].text);
		const double ca = cases[c].ca, cb = cases[c].cb;
		const double p[5] = {2, 3 * cb + ca, 3 * 200 + ca * cb + 300, ca * 200 + cb * 300, 300 * 200};
		int values = 0;
		for (int i = 0; i < s.modes.count; i++) {
			const CalSystemMode *m = &s.modes.mode[i];
			double re = 0, im = 0, size = 0;
			for (int k = 0; k < 5; k++) { // Horner
				const double next = re * m->real - im * m->imag + p[k];
				im = re * m->imag + im * m->real;
				re = next;
				size = size * sqrt(m->real * m->real + m->imag * m->imag) + fabs(p[k]);
			}
			assert_true(sqrt(re * re + im * im) < 1e-11 * size);
			values += m->kind == CAL_MODE_OSCILLATION ? 2 : 1;
		}
		assert_int_equal(values, 4);
		assert_int_equal(s.modes.count, c == 0 ? 2 : 3);
		system_release(&s);
	}
}

/* A mass on a damper alone: it stops, somewhere. */
static void damper_without_spring_has_a_rate_and_a_rigid_mode(void **state) {
	(void)state;
	System s = system_of("calder: 1\ngravity: [0, 0, 0]\nbodies: {a: {mass: 2}}\n"
	                     "joints: {j: {type: prismatic, axis: x, to: a, dof: {damping: 3}}}\n");
	assert_int_equal(s.modes.rigid, 1);
	assert_int_equal(s.modes.count, 1);
	assert_int_equal(s.modes.mode[0].kind, CAL_MODE_APERIODIC);
	check_near(s.modes.mode[0].real, -1.5, 1e-12, "rate");
	system_release(&s);
}

/* ---- effective masses ---------------------------------------------------------------------------------- */

/* The masses of all modes together are those that move; of the two masses by hand: (phi'M r)^2 with r = (1, 0). */
static void effective_masses_add_up(void **state) {
	(void)state;
	System s = system_of(TWO_MASSES("0", "0"));
	double mass[2][6], sum = 0;
	CalError error = {0};
	assert_int_equal(cal_sim_mode_masses(s.run.sim, 0, &s.linear, &s.modes, mass, &error), CAL_OK);
	for (int i = 0; i < 2; i++) {
		const double *x = s.modes.mode[i].shape, p = 3 * x[0] + x[1]; // elongations of the springs
		check_near(mass[i][0], p * p / (3 * x[0] * x[0] + 2 * x[0] * x[1] + x[1] * x[1]), 1e-12, "effective mass");
		for (int k = 1; k < 6; k++)
			assert_true(fabs(mass[i][k]) < 1e-12);
		sum += mass[i][0];
	}
	check_near(sum, 3, 1e-12, "sum of effective masses");
	system_release(&s);
}

/* A free beam shakes on nothing: its elastic modes have no momentum. */
static void free_modes_have_no_effective_mass(void **state) {
	(void)state;
	System s = system_of("calder: 1\ngravity: [0, 0, 0]\nbodies:\n  hub: {mass: 5, box: [1, 1, 1]}\n"
	                     "  boom: {beam: {length: 3 m, modes: 3, boundary: craig-bampton, section: {shape: tube,\n"
	                     "    diameter: 0.1 m, thickness: 5 mm, youngs_modulus: 70 GPa, density: 2700 kg/m^3}}}\n"
	                     "joints: {flight: {type: free, to: hub}, root: {type: weld, from: hub, to: boom}}\n");
	double mass[40][6], sum = 0;
	CalError error = {0};
	assert_true(s.modes.count < 40 && s.modes.rigid == 6);
	assert_int_equal(cal_sim_mode_masses(s.run.sim, 0, &s.linear, &s.modes, mass, &error), CAL_OK);
	for (int i = 0; i < s.modes.count; i++) {
		sum += mass[i][1];
		for (int k = 0; i >= 6 && k < 6; k++)
			assert_true(fabs(mass[i][k]) < 1e-9);
	}
	CalMomentum momentum;
	CalWork *work;
	assert_int_equal(cal_work_create(cal_sim_model(s.run.sim, 0), &work), CAL_OK);
	assert_int_equal(cal_momentum(cal_sim_model(s.run.sim, 0), cal_sim_state(s.run.sim, 0), work, &momentum), CAL_OK);
	check_near(sum, momentum.mass, 1e-9, "sum of effective masses");
	cal_work_destroy(work);
	system_release(&s);
}

/* ---- gyroscopic ------------------------------------------------------------------------------------------ */

/*
 * A rotor on a bearing that tilts against springs k about both axes: forward and backward whirl are the roots of
 * Jt w^2 - + Jp W w - k = 0 (Genta, Dynamics of Rotating Systems, 2005, ch. 2).
 */
static void tilting_rotor_has_forward_and_backward_whirl(void **state) {
	const double Jt = 0.3, Jp = 0.5, k = 3000;
	(void)state;
	Run run = run_file(file_of("calder: 1\ngravity: [0, 0, 0]\nbodies:\n  cage: {mass: 0}\n"
	                           "  rotor: {mass: 10, inertia: [0.3, 0.3, 0.5]}\n"
	                           "joints:\n  tilt: {type: universal, axis: x, axis2: y, to: cage,\n"
	                           "    dof: [{stiffness: 3000}, {stiffness: 3000}]}\n"
	                           "  spin: {type: revolute, axis: z, from: cage, to: rotor}\n"));
	for (int point = 0; point <= 6; point++) {
		const double W = 100.0 * point;
		CalLinear linear;
		CalSystemModes modes;
		CalError error = {0};
		cal_sim_state(run.sim, 0)->u[2] = W;
		assert_int_equal(cal_sim_restart(run.sim, &error), CAL_OK);
		assert_int_equal(cal_sim_linearize(run.sim, 0, NULL, &linear, &error), CAL_OK);
		assert_int_equal(cal_linear_modes(&linear, NULL, NULL, &modes, &error), CAL_OK);
		assert_int_equal(modes.rigid, 1);
		const double g = Jp * W / (2 * Jt), root = sqrt(g * g + k / Jt);
		check_near(modes.mode[1].frequency, root - g, 1e-8, "backward whirl");
		check_near(modes.mode[2].frequency, root + g, 1e-8, "forward whirl");
		cal_system_modes_release(&modes);
		cal_linear_release(&linear);
	}
	run_end(&run);
}

/* ---- structures of the literature ------------------------------------------------------------------------- */

/*
 * Flap of a uniform blade that turns, without hub, over its speed gamma = Omega sqrt(rhoA L^4/EI): Wright, Smith, Thresher and Wang,
 * J. Appl. Mech. 49, 1982, and Yoo and Shin, J. Sound Vib. 212, 1998, four decimals. With EI = 12000 N m^2, 1.2 kg/m and 10 m
 * frequencies are in rad/s.
 */
static void rotating_blade_stiffens_as_published(void **state) {
	static const double flap[][2] = {{3.5160, 22.0345}, {3.6816, 22.1810},  {4.1373, 22.6149},  {4.7973, 23.3203},
	                                 {5.5850, 24.2733}, {6.4495, 25.4461},  {7.3604, 26.8091},  {8.2996, 28.3341},
	                                 {9.2568, 29.9954}, {10.2257, 31.7705}, {11.2023, 33.6404}, {12.1843, 35.5890},
	                                 {13.1702, 37.6031}};
	(void)state;
	for (int gamma = 0; gamma <= 12; gamma++) {
		char text[600];
		snprintf(
			text, sizeof text,
			"calder: 1\ngravity: [0, 0, 0]\nbodies:\n  blade: {beam: {length: 10, deformation: bend_z, modes: 12, elements: 12,\n"
			"    second_order: true, section: {rhoA: 1.2, EIy: 12000, EIz: 12000, EA: 1e9, GJ: 1e6}}}\n"
			"joints: {shaft: {type: revolute, axis: z, to: blade}}\n"
			"devices: {drive: {type: joint_drive, joint: shaft, q: '%d*t'}}\n",
			gamma);
		System s = system_of(text);
		check_frequency(&s, 0, flap[gamma][0], 2e-5);
		check_frequency(&s, 1, flap[gamma][1], 2e-5);
		system_release(&s);
	}
}

/*
 * A hub that floats and two equal panels, beams clamped at a distance r of its center (as in Hughes, J. Spacecraft 11, 1974). Where
 * hub and panels turn against each other, a panel has y(0) = r, y'(0) = 1 for a unit turn and is free at its end, and
 * w^2 J + 2 EI (y''(0) - r y'''(0)) = 0. This, times a factor that makes it finite at all w.
 */
static double hub_equation(double w) {
	const double J = 40, r = 0.5, L = 6, EI = 900, rhoA = 0.8;
	const double b = sqrt(w * sqrt(rhoA / EI)), c = cos(b * L), s = sin(b * L), C = cosh(b * L), S = sinh(b * L);
	// y = A cos + B sin + (r - A) cosh + (1/b - B) sinh:  k A + m B = e, n A + k B = f at the free end
	const double e = -(r * C + S / b), f = -(r * S + C / b), k = -c - C, m = -s - S, n = s - S;
	const double det = k * k - m * n, A = (e * k - m * f) / det, B = (k * f - n * e) / det;
	return det * (w * w * J + 2 * EI * (b * b * (r - 2 * A) - r * b * b * b * (1 / b - 2 * B)));
}

static void hub_with_panels_has_its_frequencies(void **state) {
	static const double near[] = {6.4, 21.9, 58.1};
	static const int number[] = {7, 9, 11}; // in the others the panels move alike, and the hub along
	(void)state;
	System s = system_of(
		"calder: 1\ngravity: [0, 0, 0]\ndefine: {panel: &panel {length: 6, deformation: bend_z, modes: 20,\n"
		"  section: {rhoA: 0.8, EIy: 900, EIz: 1e6, EA: 1e9, GJ: 1e6}}}\n"
		"bodies:\n  hub: {mass: 100, inertia: [40, 40, 40], nodes: {left: {at: [0, 0.5, 0], orientation: {z: 90 deg}},\n"
		"    right: {at: [0, -0.5, 0], orientation: {z: -90 deg}}}}\n  left: {beam: *panel}\n  right: {beam: *panel}\n"
		"joints:\n  flight: {type: free, to: hub}\n  a: {type: weld, from: hub/left, to: left}\n"
		"  b: {type: weld, from: hub/right, to: right}\n");
	assert_int_equal(s.modes.rigid, 6);
	for (int i = 0; i < 3; i++) {
		double low = near[i], high = near[i] + 0.2;
		assert_true(hub_equation(low) * hub_equation(high) < 0);
		for (int k = 0; k < 60; k++) {
			const double middle = 0.5 * (low + high);
			*(hub_equation(low) * hub_equation(middle) > 0 ? &low : &high) = middle;
		}
		check_frequency(&s, number[i], low, 2e-8);
	}
	system_release(&s);
}

/* ---- gravity ---------------------------------------------------------------------------------- */

/* About x and y the pendulum has different inertias; about z nothing holds it. Quaternions are in the way. */
static void spherical_pendulum_has_two_frequencies(void **state) {
	(void)state;
	System s = system_of(
		"calder: 1\ngravity: [0, 0, -9.80665]\nbodies: {arm: {mass: 2, com: [0, 0, -0.5], inertia: [0.3, 0.2, 0.1]}}\n"
		"joints: {hinge: {type: spherical, to: arm}}\n");
	assert_int_equal(s.modes.rigid, 1);
	assert_int_equal(s.modes.mode[0].kind, CAL_MODE_RIGID);
	check_frequency(&s, 1, sqrt(2 * gravity * 0.5 / (0.3 + 0.5)), 1e-9);
	check_frequency(&s, 2, sqrt(2 * gravity * 0.5 / (0.2 + 0.5)), 1e-9);
	system_release(&s);
}

static void upright_pendulum_grows(void **state) {
	(void)state;
	System s = system_of(
		"calder: 1\ngravity: [0, 0, -9.80665]\nbodies: {arm: {mass: 2, com: [0, 0, 0.5], inertia: [0.3, 0.3, 0.1]}}\n"
		"joints: {hinge: {type: revolute, axis: x, to: arm}}\n");
	const double rate = sqrt(2 * gravity * 0.5 / (0.3 + 0.5));
	assert_int_equal(s.modes.count, 2);
	check_near(fabs(s.modes.mode[0].real), rate, 1e-9, "rate");
	check_near(s.modes.mode[0].real, -s.modes.mode[1].real, 1e-12, "opposite rates");
	system_release(&s);
}

/* Equal masses on equal massless rods: w^2 = g x / l with x the zeros of the Laguerre polynomial (D. Bernoulli 1733). */
static void hanging_chain_has_zeros_of_laguerre(void **state) {
	static const double zeros[3] = {0.41577455678347908331, 2.2942803602790417198, 6.2899450829374791969};
	(void)state;
	System s = system_of(
		"calder: 1\ngravity: [0, 0, -9.80665]\ndefine: {ball: &ball {mass: 1.5, com: [0, 0, -0.4], nodes: {end: [0, 0, -0.4]}}}\n"
		"bodies: {a: *ball, b: *ball, c: *ball}\njoints:\n"
		"  ja: {type: revolute, axis: x, to: a}\n"
		"  jb: {type: revolute, axis: x, from: a/end, to: b}\n"
		"  jc: {type: revolute, axis: x, from: b/end, to: c}\n");
	for (int i = 0; i < 3; i++)
		check_frequency(&s, i, sqrt(zeros[i] * gravity / 0.4), 1e-9);
	system_release(&s);
}

/* ---- loops ------------------------------------------------------------------------------------ */

/*
 * A parallelogram that hangs: cranks of length a, coupler of mass m. All follows the crank, and K is the spring and
 * gravity; half of that of gravity comes from forces in the loop.
 */
static void parallelogram_swings_as_one(void **state) {
	(void)state;
	System s = system_of("calder: 1\ngravity: [0, -9.80665, 0]\nground: {nodes: {b: [0.8, 0, 0]}}\n"
	                     "define: {crank: &crank {mass: 1, com: [0, -0.25, 0], inertia: [0.02, 0.001, 0.02],"
	                     " nodes: {end: [0, -0.5, 0]}}}\n"
	                     "bodies:\n  left: *crank\n  right: *crank\n"
	                     "  bar: {mass: 3, com: [0.4, 0, 0], inertia: [0.1, 0.1, 0.1], nodes: {end: [0.8, 0, 0]}}\n"
	                     "joints:\n  one: {type: revolute, to: left, dof: {stiffness: 5}}\n"
	                     "  two: {type: revolute, from: ground/b, to: right}\n"
	                     "  pin: {type: revolute, from: left/end, to: bar}\n"
	                     "loops: {close: {type: revolute, from: bar/end, to: right/end}}\n");
	const double inertia = 2 * (0.02 + 1 * 0.25 * 0.25) + 3 * 0.5 * 0.5;
	const double stiffness = 5 + gravity * (2 * 1 * 0.25 + 3 * 0.5);
	assert_int_equal(s.linear.nu, 3);
	assert_int_equal(s.linear.count, 1);
	check_frequency(&s, 0, sqrt(stiffness / inertia), 1e-9);
	system_release(&s);
}

/* ---- beams ------------------------------------------------------------------------------------ */

/* 1 + cos b cosh b + m b (cos b sinh b - sin b cosh b) = 0, the first two roots, by bisection. */
static double tip_mass_root(double m, double low, double high) {
	for (int i = 0; i < 200; i++) {
		const double b = 0.5 * (low + high), f = 1 + cos(b) * cosh(b) + m * b * (cos(b) * sinh(b) - sin(b) * cosh(b));
		const double g = 1 + cos(low) * cosh(low) + m * low * (cos(low) * sinh(low) - sin(low) * cosh(low));
		*(f * g > 0 ? &low : &high) = b;
	}
	return low;
}

#define BEAM(more) \
	"beam: {length: 2, section: {EIy: 2.4e4, EIz: 1.2e4, GJ: 1e4, EA: 1e8, rhoA: 4}, deformation: bending, " more "}"

static void cantilever_with_tip_mass(void **state) {
	(void)state;
	System s = system_of(
		"calder: 1\ngravity: [0, 0, 0]\nbodies:\n"
		"  boom: {" BEAM(
			"boundary: craig-bampton, modes: 16") "}\n"
												  "  load: {mass: 6}\njoints:\n"
												  "  root: {type: weld, to: boom}\n  end: {type: weld, from: boom/tip, to: load}\n");
	const double mass = 8, ratio = 6 / mass, l = 2;
	const double first = tip_mass_root(ratio, 0.5, 2), second = tip_mass_root(ratio, 3, 5);
	const double unit_z = sqrt(1.2e4 / 4) / (l * l), unit_y = sqrt(2.4e4 / 4) / (l * l);
	check_frequency(&s, 0, first * first * unit_z, 1e-7);
	check_frequency(&s, 1, first * first * unit_y, 1e-7);
	check_frequency(&s, 2, second * second * unit_z, 1e-5);
	check_frequency(&s, 3, second * second * unit_y, 1e-5);
	system_release(&s);
}

/* Two welded halves of a free-free beam: six rigid-body modes, then b l = 4.7300407448627 and 7.8532046240958. */
static void welded_halves_are_a_free_beam(void **state) {
	(void)state;
	System s = system_of(
		"calder: 1\ngravity: [0, 0, 0]\nbodies:\n"
		"  one: {" BEAM(
			"boundary: craig-bampton, modes: 20") "}\n"
												  "  two: {" BEAM(
													  "boundary: craig-bampton, modes: 20") "}\n"
																							"  hub: {mass: 1e-9, inertia: [1e-6, 1e-6, 1e-6]}\njoints:\n"
																							"  fly: {type: free, to: hub}\n  root: {type: weld, from: hub, to: one}\n"
																							"  mid: {type: weld, from: one/tip, to: two}\n");
	const double l = 4, unit_z = sqrt(1.2e4 / 4) / (l * l), unit_y = sqrt(2.4e4 / 4) / (l * l);
	static const double b[2] = {4.7300407448627040, 7.8532046240958376};
	assert_int_equal(s.modes.rigid, 6);
	for (int i = 0; i < 6; i++)
		assert_int_equal(s.modes.mode[i].kind, CAL_MODE_RIGID);
	check_frequency(&s, 6, b[0] * b[0] * unit_z, 1e-5);
	check_frequency(&s, 7, b[0] * b[0] * unit_y, 1e-5);
	check_frequency(&s, 8, b[1] * b[1] * unit_z, 1e-4);
	check_frequency(&s, 9, b[1] * b[1] * unit_y, 1e-4);
	system_release(&s);
}

/* ---- motion ----------------------------------------------------------------------------------- */

/* About the largest inertia with spin w: nutation w sqrt((C - A)(C - B) / (A B)), and w of the axes themselves. */
static void spinning_body_nutates(void **state) {
	(void)state;
	System s = system_of("calder: 1\ngravity: [0, 0, 0]\nbodies: {top: {mass: 1, inertia: [2, 3, 4]}}\n"
	                     "joints: {fly: {type: spherical, to: top}}\nstate: {fly: {u: [0, 0, 5]}}\n");
	const double nutation = 5 * sqrt((4.0 - 2) * (4.0 - 3) / (2.0 * 3));
	int found = 0;
	for (int i = 0; i < s.modes.count; i++) {
		const CalSystemMode *m = &s.modes.mode[i];
		found += m->kind == CAL_MODE_OSCILLATION &&
		         (fabs(m->frequency - nutation) < 1e-7 || fabs(m->frequency - 5) < 1e-7) && fabs(m->damping) < 1e-7;
	}
	assert_int_equal(found, 2);
	system_release(&s);
}

/* At a later time, with a joint at another angle: the modes are those of that state, and the run is not disturbed. */
static void modes_follow_the_state_and_leave_the_run(void **state) {
	static const char text[] =
		"calder: 1\ngravity: [0, 0, 0]\nbodies: {a: {mass: 2, com: [1, 0, 0], nodes: {end: [1, 0, 0]}, inertia: [1, 1, 1]},"
		" b: {mass: 1, com: [1, 0, 0], inertia: [1, 1, 1]}}\njoints:\n"
		"  ja: {type: revolute, axis: z, to: a, dof: {stiffness: 50}}\n"
		"  jb: {type: revolute, axis: z, from: a/end, to: b}\nstate: {jb: {u: 1}}\nrun: {duration: 2 s}\n";
	(void)state;
	System s = system_at(text, 1, 0), untouched = system_at(text, 0, 0), start = system_at(text, 0, 1);
	CalError error;
	assert_int_equal(cal_sim_advance(s.run.sim, 2, &error), CAL_OK);
	assert_int_equal(cal_sim_advance(untouched.run.sim, 1, &error), CAL_OK);
	assert_int_equal(cal_sim_advance(untouched.run.sim, 2, &error), CAL_OK);
	assert_memory_equal(cal_sim_state(s.run.sim, 0)->q, cal_sim_state(untouched.run.sim, 0)->q, 2 * sizeof(double));
	assert_memory_equal(cal_sim_state(s.run.sim, 0)->u, cal_sim_state(untouched.run.sim, 0)->u, 2 * sizeof(double));
	assert_true(fabs(s.modes.mode[s.modes.count - 1].frequency - start.modes.mode[1].frequency) > 0.01);
	system_release(&s);
	system_release(&untouched);
	system_release(&start);
}

/* A spring device between two free bodies: what devices do is in K, and six rigid-body modes are left. */
static void devices_are_part_of_the_stiffness(void **state) {
	(void)state;
	System s = system_of("calder: 1\ngravity: [0, 0, 0]\nbodies: {a: {mass: 2}, b: {mass: 3}}\njoints:\n"
	                     "  ja: {type: prismatic, axis: x, to: a}\n  jb: {type: prismatic, axis: x, to: b}\n"
	                     "state: {jb: {q: 1}}\n"
	                     "devices: {link: {type: spring, from: a, to: b, stiffness: 480, length: 1}}\n");
	assert_int_equal(s.modes.rigid, 1);
	check_frequency(&s, 1, sqrt(480 * (1 / 2.0 + 1 / 3.0)), 1e-9);
	double most = 0;
	for (int i = 0; i < s.linear.nu; i++)
		most += s.modes.mode[1].participation[i];
	check_near(most, 1, 1e-12, "sum of shares");
	system_release(&s);
}

/* ---- rolling ---------------------------------------------------------------------------------- */

#define ROLLING_DISK(velocity, spin, angle)                                                                       \
	"calder: 1\ngravity: [0, 0, -9.80665]\nbodies: {disk: {mass: 1, inertia: [0.25, 0.25, 0.5]}}\n"               \
	"joints: {flight: {type: free, to: disk}}\nloops: {floor: {type: disk, from: ground, to: disk, radius: 1}}\n" \
	"state: {flight: {at: [0, 0, 1], orientation: {axis: [1, 0, 0], angle: " angle "}, velocity: [" velocity      \
	", 0, 0], angular_velocity: [0, 0, " spin "]}}\n"

/* Upright at rest it falls over by (A + m r^2) theta'' = m g r theta; two motions, rolling and turning, have no stiffness. */
static void disk_at_rest_falls_over(void **state) {
	(void)state;
	System s = system_of(ROLLING_DISK("0", "0", "-90 deg"));
	assert_int_equal(s.modes.rigid, 2);
	assert_int_equal(s.modes.mode[3].kind, CAL_MODE_APERIODIC);
	check_near(s.modes.mode[3].real, sqrt(gravity / 1.25), 1e-9, "rate of falling");
	system_release(&s);
}

/*
 * Rolling at 3 m/s it does not fall over: (A + m r^2) theta'' = (m g r - C (C + m r^2)/A W^2) theta, W = 3 rad/s. Equations that
 * lack the steering have a root of +2.1 1/s. Nothing but an error is right.
 */
static void disk_in_motion_is_refused(void **state) {
	(void)state;
	static const char *const texts[] = {ROLLING_DISK("3", "3", "-90 deg"), ROLLING_DISK("0", "0", "-80 deg")};
	for (int i = 0; i < 2; i++) {
		Run run = run_file(file_of(texts[i]));
		CalError error = {0};
		CalLinear linear;
		const CalLinearOptions structural = {.structural = 1};
		assert_int_equal(cal_sim_linearize(run.sim, 0, NULL, &linear, &error), CAL_ERR_UNSUPPORTED);
		assert_non_null(strstr(error.text, "loop \"floor\" constrains speeds"));
		assert_int_equal(cal_sim_linearize(run.sim, 0, &structural, &linear, &error), CAL_OK);
		cal_linear_release(&linear);
		run_end(&run);
	}
}

int main(void) {
	NEEDS_YAML();
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(two_masses_have_the_roots_of_a_quadratic),
		cmocka_unit_test(proportional_damping_leaves_frequencies),
		cmocka_unit_test(eigenvalues_are_roots_of_the_characteristic_polynomial),
		cmocka_unit_test(effective_masses_add_up),
		cmocka_unit_test(free_modes_have_no_effective_mass),
		cmocka_unit_test(tilting_rotor_has_forward_and_backward_whirl),
		cmocka_unit_test(rotating_blade_stiffens_as_published),
		cmocka_unit_test(hub_with_panels_has_its_frequencies),
		cmocka_unit_test(damper_without_spring_has_a_rate_and_a_rigid_mode),
		cmocka_unit_test(spherical_pendulum_has_two_frequencies),
		cmocka_unit_test(upright_pendulum_grows),
		cmocka_unit_test(hanging_chain_has_zeros_of_laguerre),
		cmocka_unit_test(parallelogram_swings_as_one),
		cmocka_unit_test(cantilever_with_tip_mass),
		cmocka_unit_test(welded_halves_are_a_free_beam),
		cmocka_unit_test(spinning_body_nutates),
		cmocka_unit_test(modes_follow_the_state_and_leave_the_run),
		cmocka_unit_test(devices_are_part_of_the_stiffness),
		cmocka_unit_test(disk_at_rest_falls_over),
		cmocka_unit_test(disk_in_motion_is_refused),
	};
	return cmocka_run_group_tests_name("system_modes", tests, NULL, NULL);
}
