// SPDX-License-Identifier: Apache-2.0
/*
 * test_model_file_drive.c — a joint that follows a function of time within the dynamics of its group (joint_drive).
 *
 * References: closed forms (a driven pendulum, a driven four-bar by its geometry and its power), inverse dynamics of the motion
 * that came out, and the same motion by a prescribed acceleration.
 */
#define _POSIX_C_SOURCE 200809L // mkstemp, fdopen

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "driven_support.h"

static const double pi = 3.141592653589793;

#define PENDULUM               \
	"calder: 1\n"              \
	"gravity: [0, -9.81, 0]\n" \
	"bodies:\n"                \
	"  rod: {mass: 2, rod: {from: [0, 0, 0], to: [1, 0, 0]}, nodes: {tip: [1, 0, 0]}}\n"
#define DOUBLE_PENDULUM                                                                               \
	PENDULUM "  bob: {mass: 1, rod: {from: [0, 0, 0], to: [0.5, 0, 0]}, nodes: {end: [0.5, 0, 0]}}\n" \
			 "joints:\n"                                                                              \
			 "  hinge: {type: revolute, to: rod}\n"                                                   \
			 "  elbow: {type: revolute, from: rod/tip, to: bob}\n"

static Driven open_sim(const char *text, CalMethod method, double step, int branches, int threads) {
	Driven d;
	if (driven_open(file_of(text), method, step, branches, threads, &d) != CAL_OK)
		fail_msg("%s", d.error.text);
	return d;
}

static void outputs_of(Driven *d, const char *name, double out[2]) {
	assert_int_equal(cal_sim_device_outputs(d->sim, cal_sim_find_device(d->sim, name), out), CAL_OK);
}

/* A rod whose angle is given by a formula: torque = m l^2/3 f'' + m g l/2 cos f. */
static void a_driven_pendulum_has_its_closed_form(void **state) {
	(void)state;
	for (int i = 0; i < METHODS; i++) {
		Driven d = start(PENDULUM "joints: {hinge: {type: revolute, to: rod}}\n"
		                          "devices: {motor: {type: joint_drive, joint: hinge, q: 30 deg * sin(3*t) + 0.2*t}}\n",
		                 methods[i], 1e-2);
		for (int k = 0; k <= 7; k++) {
			const double t = 0.3 * k, a = pi / 6;
			advance(&d, t);
			const double q = a * sin(3 * t) + 0.2 * t, u = 3 * a * cos(3 * t) + 0.2, udot = -9 * a * sin(3 * t);
			const double torque = 2.0 / 3 * udot + 9.81 * cos(q);
			double out[2];
			assert_near(d.state->q[0], q, 1e-15);
			assert_near(d.state->u[0], u, 1e-15);
			outputs_of(&d, "motor", out);
			assert_near(out[0], torque, 1e-12);
			assert_near(out[1], torque * u, 1e-12);
		}
		finish(&d);
	}
}

/* The rest of the group moves by its dynamics; the torque is that of inverse dynamics; its work closes the account. */
static void the_torque_is_that_of_inverse_dynamics(void **state) {
	(void)state;
	static const double bound[METHODS] = {1e-8, 1e-7, 0.2, 0.2, 2e-3};
	double elbow = 0;
	for (int i = 0; i < METHODS; i++) {
		Driven d = start(DOUBLE_PENDULUM "devices: {motor: {type: joint_drive, joint: hinge,\n"
		                                 "  q: {shape: cubic, points: [[0, 0.3], [0.4, 1], [1.1, -0.5], [2, 0.4]]}}}\n",
		                 methods[i], 2e-3);
		CalSimBalance balance;
		for (int k = 1; k <= 5; k++) {
			CalSimView view;
			double tau[2], out[2];
			advance(&d, 0.5 * k);
			outputs_of(&d, "motor", out);
			assert_int_equal(cal_sim_observe(d.sim, 0, &view), CAL_OK);
			assert_int_equal(cal_inverse_dynamics(view.model, view.state, view.udot, NULL, view.work, tau), CAL_OK);
			assert_near(out[0], tau[0], 1e-11);
			assert_near(tau[1], 0, 1e-11);
		}
		assert_int_equal(cal_sim_balance(d.sim, &balance), CAL_OK);
		assert_true(balance.complete && balance.supplied != 0);
		if (!(fabs(balance.error) < bound[i]))
			fail_msg("%s: balance error %g J", cal_method_name(methods[i]), balance.error);
		elbow = i == 0 ? d.state->q[1] : elbow;
		assert_near(d.state->q[1], elbow, i < 2 ? 1e-6 : 0.05);
		assert_true(d.state->q[0] == 0.4 && d.state->u[0] == 0); // after the table
		finish(&d);
	}
}

/* The work of the drive is integrated at the order of the method. */
static void the_account_of_rk4_has_order_four(void **state) {
	(void)state;
	double error[2];
	for (int i = 0; i < 2; i++) {
		Driven d = start(DOUBLE_PENDULUM "devices: {motor: {type: joint_drive, joint: hinge, q: 0.5*sin(3*t)}}\n",
		                 CAL_METHOD_RK4, i ? 5e-3 : 1e-2);
		CalSimBalance balance;
		advance(&d, 2);
		assert_int_equal(cal_sim_balance(d.sim, &balance), CAL_OK);
		error[i] = fabs(balance.error);
		finish(&d);
	}
	assert_true(error[0] / error[1] > 10 && error[0] < 1e-4);
}

#define FOUR_BAR                                                          \
	THREE_BARS                                                            \
	"loops: {pin: {type: revolute, from: coupler/end, to: rocker/end}}\n" \
	"state: {rocker: {q: 95 deg, guess: true}, elbow: {q: -60 deg, guess: true}}\n"

/* Angles of the bars against the x axis at a crank angle. */
static void close_four_bar(double a, double *b, double *c) {
	const double x = 0.2 * cos(a), y = 0.2 * sin(a), dx = 0.5 - x, dy = -y, d = hypot(dx, dy);
	const double along = (d * d + 0.25 - 0.16) / (2 * d), across = sqrt(0.25 - along * along);
	const double px = x + (along * dx - across * dy) / d, py = y + (along * dy + across * dx) / d;
	*b = atan2(py - y, px - x);
	*c = atan2(py, px - 0.5);
}

/* Energy of the four-bar at a crank angle and speed, by geometry; speeds by differences of angles. */
static double energy_of(double a, double u) {
	const double h = 1e-4;
	double b[3], c[3], g = 9.81;
	for (int i = 0; i < 3; i++)
		close_four_bar(a + (i - 1) * h, &b[i], &c[i]);
	const double bu = (b[2] - b[0]) / (2 * h) * u, cu = (c[2] - c[0]) / (2 * h) * u;
	const double vx = -0.2 * sin(a) * u - 0.25 * sin(b[1]) * bu, vy = 0.2 * cos(a) * u + 0.25 * cos(b[1]) * bu;
	const double kinetic = 0.5 * (0.04 / 3) * u * u + 0.5 * 2.5 * (vx * vx + vy * vy) +
	                       0.5 * 2.5 * 0.25 / 12 * bu * bu + 0.5 * 2 * 0.16 / 3 * cu * cu;
	return kinetic + g * (0.1 * sin(a) + 2.5 * (0.2 * sin(a) + 0.25 * sin(b[1])) + 2 * 0.2 * sin(c[1]));
}

static double angle_of(double t) { return 1.2 + 2 * t + 0.4 * sin(3 * t); }

/* Power of the crank = rate of the energy, by geometry alone; and the loop stays closed around the driven crank. */
static void a_driven_crank_turns_its_four_bar(void **state) {
	(void)state;
	for (int i = 0; i < METHODS; i++) {
		Driven d = start(FOUR_BAR "devices: {motor: {type: joint_drive, joint: crank, q: 1.2 + 2*t + 0.4*sin(3*t)}}\n",
		                 methods[i], 1e-3);
		assert_int_equal(cal_sim_doubt_count(d.sim), 0);
		for (int k = 0; k <= 8; k++) {
			const double t = 0.4 * k, h = 1e-5, u = 2 + 1.2 * cos(3 * t);
			double b, c, out[2];
			CalSimMonitor monitor;
			advance(&d, t);
			close_four_bar(angle_of(t), &b, &c);
			assert_near(d.state->q[0], angle_of(t), 1e-14);
			assert_near(d.state->u[0], u, 1e-14);
			assert_near(remainder(d.state->q[2] - c, 2 * pi), 0, 1e-11);
			assert_near(remainder(d.state->q[0] + d.state->q[1] - b, 2 * pi), 0, 1e-11);
			assert_int_equal(cal_sim_monitor(d.sim, 0, &monitor), CAL_OK);
			assert_true(monitor.residual < 1e-12 && (k == 0 || !monitor.energy_conserved));
			const double power = (energy_of(angle_of(t + h), 2 + 1.2 * cos(3 * (t + h))) -
			                      energy_of(angle_of(t - h), 2 + 1.2 * cos(3 * (t - h)))) /
			                     (2 * h);
			outputs_of(&d, "motor", out);
			assert_near(out[1], power, 1e-5 * (1 + fabs(power)));
			assert_near(out[0], power / u, 1e-5 * (1 + fabs(power)));
		}
		CalSimBalance balance;
		assert_int_equal(cal_sim_balance(d.sim, &balance), CAL_OK);
		assert_true(balance.complete && fabs(balance.error) < (i < 2 ? 1e-6 : 0.05));
		finish(&d);
	}
}

/* One of several coordinates; the others are free. A translation, with a table by points alone (smooth). */
static void a_coordinate_of_several_is_driven(void **state) {
	(void)state;
	Driven d = start("calder: 1\n"
	                 "bodies: {nut: {mass: 3, cylinder: {radius: 0.1, length: 0.2}}}\n"
	                 "joints: {shaft: {type: cylindrical, to: nut}}\n"
	                 "state: {shaft: {u: [5, 0]}}\n"
	                 "devices: {lift: {type: joint_drive, joint: shaft, dof: 2, q: [[0, 0], [1 s, 40 cm]]}}\n",
	                 CAL_METHOD_DOPRI5, 0);
	double out[2];
	advance(&d, 0.5);
	assert_near(d.state->q[0], 2.5, 1e-9); // turns on
	assert_near(d.state->q[1], 0.2, 1e-15);
	assert_near(d.state->u[1], 0.75, 1e-14);
	outputs_of(&d, "lift", out);
	assert_near(out[0], 0, 1e-13);
	finish(&d);
}

/* A flexible arm that is spun up: the same as by a load that prescribes the acceleration. */
static void a_flexible_arm_follows_its_drive(void **state) {
	(void)state;
	static const char *const how[] = {
		"devices: {motor: {type: joint_drive, joint: hinge, q: 0.5*0.8*t^2}}\n",
		"loads: [{joint: hinge, acceleration: 0.8}]\n",
	};
	double q[2][8], force[2];
	for (int i = 0; i < 2; i++) {
		char text[1500];
		snprintf(
			text, sizeof text,
			"calder: 1\n"
			"bodies:\n"
			"  arm: {beam: {length: 2 m, section: {shape: tube, diameter: 30 mm, thickness: 1 mm, youngs_modulus: 70 GPa,\n"
			"    density: 2700 kg/m^3}, deformation: bend_y, modes: 3, second_order: true}}\n"
			"  hand: {mass: 1, box: [0.1, 0.1, 0.1]}\n"
			"joints: {hinge: {type: revolute, to: arm/root}, wrist: {type: revolute, from: arm/tip, to: hand, axis: y}}\n%s",
			how[i]);
		Driven d = start(text, CAL_METHOD_RK4, 2e-4);
		CalSimView view;
		advance(&d, 0.5);
		assert_int_equal(cal_sim_observe(d.sim, 0, &view), CAL_OK);
		for (int k = 0; k < cal_model_q_count(view.model); k++)
			q[i][k] = view.state->q[k];
		force[i] = view.force[0];
		finish(&d);
	}
	for (int k = 0; k < 5; k++)
		assert_near(q[0][k], q[1][k], 1e-9);
	assert_near(force[0], force[1], 1e-6);
	assert_true(fabs(q[0][1]) > 1e-5);
}

static char *chain_of(int links) {
	char *text = malloc((size_t)links * 200 + 1000), *at = text;
	at += sprintf(at, "calder: 1\ngravity: [0, 0, -9.81]\nbodies:\n");
	for (int i = 0; i < links; i++)
		at += sprintf(at, "  b%d: {mass: 1, rod: {from: [0, 0, 0], to: [0.2, 0, 0]}, nodes: {end: [0.2, 0, 0]}}\n", i);
	at += sprintf(at, "joints:\n");
	for (int i = 0; i < links; i++)
		at += i ? sprintf(at, "  j%d: {type: revolute, axis: %s, from: b%d/end, to: b%d}\n", i, i % 2 ? "z" : "y",
		                  i - 1, i)
		        : sprintf(at, "  j0: {type: revolute, axis: y, to: b0}\n");
	at += sprintf(at,
	              "devices:\n  m0: {type: joint_drive, joint: j0, q: 0.3*sin(2*t)}\n"
	              "  m9: {type: joint_drive, joint: j%d, q: 0.5*sin(t)}\n",
	              links / 2);
	return text;
}

/* In branches: the same bits for any number of threads, and the motion of a run in one piece. */
static void branches_follow_their_drives(void **state) {
	(void)state;
	char *text = chain_of(48);
	for (int i = 0; i < METHODS; i++) {
		double q[3][48], supplied[3];
		for (int k = 0; k < 3; k++) {
			Driven d = open_sim(text, methods[i], 1e-3, k ? 4 : 0, k == 2 ? 2 : 1);
			CalSimBalance balance;
			advance(&d, 0.1);
			assert_true(k == 0 || cal_branches_count(cal_sim_branches(d.sim, 0)) > 1);
			assert_int_equal(cal_sim_balance(d.sim, &balance), CAL_OK);
			memcpy(q[k], d.state->q, sizeof q[k]);
			supplied[k] = balance.supplied;
			assert_true(d.state->q[0] == 0.3 * sin(0.2) && balance.complete);
			finish(&d);
		}
		for (int k = 0; k < 48; k++)
			assert_near(q[1][k], q[0][k], 1e-7);
		assert_near(supplied[1], supplied[0], 1e-6 * (1 + fabs(supplied[0])));
		assert_memory_equal(q[1], q[2], sizeof q[1]);
		assert_true(supplied[1] == supplied[2]);
	}
	free(text);
}

/* A run resumed from a checkpoint is bit-identical; also after an event that sets the joint free. */
static void checkpoints_go_on_with_the_same_bits(void **state) {
	(void)state;
	const char *text = FOUR_BAR "devices: {motor: {type: joint_drive, joint: crank, q: 1.2 + 2*t + 0.4*sin(3*t)}}\n"
								"events: {free: {when: q(crank) > 2.5, do: {switch_off: motor}}}\n";
	for (int i = 0; i < METHODS; i++) {
		for (int k = 0; k < 2; k++) {
			Driven d = start(text, methods[i], 1e-3), again = start(text, methods[i], 1e-3);
			advance(&d, k ? 0.9 : 0.31);
			const size_t size = cal_checkpoint_size(d.sim);
			void *bytes[2] = {malloc(size), malloc(size)};
			size_t used[2];
			assert_int_equal(cal_checkpoint_take(d.sim, bytes[0], size, &used[0]), CAL_OK);
			assert_int_equal(cal_checkpoint_restore(again.sim, bytes[0], used[0], &again.error), CAL_OK);
			assert_int_equal(cal_scenario_resume(again.scenario), CAL_OK);
			advance(&d, 1.4);
			advance(&again, 1.4);
			assert_memory_equal(d.state->q, again.state->q, 3 * sizeof(double));
			assert_memory_equal(d.state->u, again.state->u, 3 * sizeof(double));
			assert_true(fabs(d.state->q[0] - angle_of(1.4)) > 1e-3); // free since it passed 2.5
			CalSimBalance balance;
			assert_int_equal(cal_sim_balance(d.sim, &balance), CAL_OK);
			assert_true(balance.complete && fabs(balance.error) < (i < 2 ? 1e-6 : 0.05));
			free(bytes[0]);
			free(bytes[1]);
			finish(&d);
			finish(&again);
		}
	}
}

static void a_drive_is_switched_on_where_it_fits(void **state) {
	(void)state;
	for (int i = 0; i < 2; i++) {
		char text[1500];
		snprintf(text, sizeof text,
		         DOUBLE_PENDULUM
		         "state: {hinge: {q: 0.3}}\n"
		         "devices: {brake: {type: joint_drive, joint: hinge, q: 0.3},\n"
		         "          motor: {type: joint_drive, joint: elbow, q: %s}}\n"
		         "events: {off: {at: 0, do: {switch_off: motor}}, on: {at: 1, do: {switch_on: motor}}}\n",
		         i ? "0.5" : "0*t");
		Driven d = open_sim(text, CAL_METHOD_DOPRI5, 0, 0, 0);
		assert_int_equal(cal_sim_restart(d.sim, &d.error), CAL_OK);
		const CalStatus status = cal_sim_advance(d.sim, 2, &d.error);
		assert_int_equal(status, CAL_ERR_ARGUMENT); // the elbow has swung away
		assert_non_null(strstr(d.error.text, "device \"motor\" cannot be switched on: its joint would jump"));
		assert_near(cal_sim_time(d.sim), 1, 1e-12);
		finish(&d);
	}
	// off and on again at one instant: the joint is where the drive is
	Driven d = start(DOUBLE_PENDULUM "devices: {motor: {type: joint_drive, joint: hinge, q: sin(t)}}\n"
	                                 "events: {blink: {at: 1, do: [{switch_off: motor}, {switch_on: motor}]}}\n",
	                 CAL_METHOD_RK4, 1e-3);
	advance(&d, 2);
	assert_near(d.state->q[0], sin(2), 1e-15);
	finish(&d);
}

/* A start that the state gives otherwise, and a function whose speed jumps: the run says so. */
static void what_is_doubtful_is_said(void **state) {
	(void)state;
	CalDoubt doubt;
	Driven d = start(DOUBLE_PENDULUM
	                 "state: {hinge: {q: 40 deg}}\ndevices: {motor: {type: joint_drive, joint: hinge, q: 0.2*t}}\n",
	                 CAL_METHOD_DOPRI5, 0);
	assert_true(d.state->q[0] == 0 && d.state->u[0] == 0.2);
	assert_int_equal(cal_sim_doubt(d.sim, 0, &doubt), CAL_OK);
	assert_int_equal(doubt.kind, CAL_DOUBT_ASSEMBLY);
	assert_non_null(
		strstr(doubt.text, "device \"motor\" drives joint \"hinge\", and the state gives another start: q 0.698132"));
	finish(&d);
	d = start(DOUBLE_PENDULUM
	          "devices: {motor: {type: joint_drive, joint: hinge, q: 'max(t - 1 s, 0 s)*step(t, 1)*2'}}\n",
	          CAL_METHOD_DOPRI5, 0);
	assert_int_equal(cal_sim_doubt_count(d.sim), 0);
	advance(&d, 1.5);
	assert_int_equal(cal_sim_doubt(d.sim, 0, &doubt), CAL_OK);
	assert_int_equal(doubt.kind, CAL_DOUBT_FORMULA);
	assert_non_null(strstr(doubt.text, "its function jumps at t = 1 s"));
	finish(&d);
}

static void mistakes_are_reported(void **state) {
	(void)state;
	static const struct {
		const char *devices, *text;
	} bad[] = {
		{"{m: {type: joint_drive, joint: hinge, q: {shape: linear, points: [[0, 0], [1, 1]]}}}",
	     "device \"m\" (joint_drive): the speed of its table jumps"},
		{"{m: {type: joint_drive, joint: hinge, q: 0.5*q(elbow)}}", "only formulas of the time t can be used here"},
		{"{m: {type: joint_drive, joint: hinge, q: 1 m}}", "wrong unit"},
		{"{m: {type: joint_drive, joint: hinge}}", "the key \"q\" is missing"},
		{"{m: {type: joint_drive, joint: ball, dof: 2, q: 0.1*t}}", "of a kind that it cannot act on"},
		{"{m: {type: joint_drive, joint: ball, q: 0.1*t}}", "has 3 degrees of freedom"},
		{"{m: {type: joint_drive, joint: hinge, q: t}, n: {type: joint_drive, joint: hinge, q: 2*t}}",
	     "its joint is driven by device \"m\" already"},
		{"{m: {type: joint_drive, joint: hinge, q: t}}\ngroup_motions: {main: {hinge: {q: t}}}",
	     "a device drives a joint of group \"main\""},
		{"{m: {type: joint_drive, joint: hinge, q: sqrt(t - 1)}}", "its function is not finite at t = 0 s"},
	};
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
		char text[1500];
		CalSetup *file = NULL;
		CalError error = {0};
		snprintf(text, sizeof text, DOUBLE_PENDULUM "  ball: {type: spherical, from: bob/end, to: tail}\ndevices: %s\n",
		         bad[i].devices);
		char *bodies = strstr(text, "joints:"), copy[1500];
		snprintf(copy, sizeof copy, "%.*s  tail: {mass: 1, sphere: 0.1}\n%s", (int)(bodies - text), text, bodies);
		CalSim *sim = NULL;
		CalScenario *scenario = NULL;
		const CalSimOptions options = {.method = {.method = CAL_METHOD_DOPRI5}};
		CalStatus status = cal_model_file_parse(copy, strlen(copy), "t.yaml", NULL, &file, &error);
		if (status == CAL_OK)
			status = cal_sim_create(cal_setup_desc(file), &options, &sim, &error);
		if (status == CAL_OK)
			status = cal_scenario_create(file, sim, &scenario, &error);
		if (status == CAL_OK)
			status = cal_sim_restart(sim, &error);
		assert_int_not_equal(status, CAL_OK);
		if (!strstr(error.text, bad[i].text))
			fail_msg("\"%s\" lacks \"%s\"", error.text, bad[i].text);
		cal_scenario_destroy(scenario);
		cal_sim_destroy(sim);
		cal_setup_destroy(file);
	}
}

/* ---- CSV ------------------------------------------------------------------------------------------------ */

enum { PATH_SIZE = 64 };

static void write_csv(char path[PATH_SIZE], const char *text) {
	snprintf(path, PATH_SIZE, "/tmp/calder_drive_XXXXXX");
	const int fd = mkstemp(path);
	FILE *out = fd >= 0 ? fdopen(fd, "w") : NULL;
	assert_non_null(out);
	fputs(text, out);
	assert_int_equal(fclose(out), 0);
}

static CalStatus parse_csv(const char *csv, const char *more, CalSetup **file, CalError *error) {
	char path[PATH_SIZE], text[1500];
	write_csv(path, csv);
	snprintf(text, sizeof text,
	         DOUBLE_PENDULUM "devices: {motor: {type: joint_drive, joint: hinge, q: {csv: %s, shape: cubic%s}}}\n",
	         path, more);
	const CalStatus status = cal_model_file_parse(text, strlen(text), "t.yaml", NULL, file, error);
	remove(path);
	return status;
}

/* Columns by name and by number, with units of the header, are the table with the same points. */
static void a_csv_file_is_a_table(void **state) {
	(void)state;
	static const struct {
		const char *csv, *more;
	} same[] = {
		{"t [ms],other,q:crank [deg]\n# a remark\n0,7,0\n500,8,30\n\n1000,9,-60\n", ", column: 'q:crank'"},
		{"t [ms],other,q:crank [deg]\n0,7,0\n500,8,30\n1000,9,-60", ", column: 'q:crank [deg]'"},
		{"0;0\r\n0.5;0.52359877559829882\r\n1;-1.0471975511965976\r\n", ""},
		{"\"time, s\",\"a,b\",c\n0,1,0\n0.5,1,0.52359877559829882\n1,1,-1.0471975511965976\n", ", column: 3"},
	};
	for (size_t i = 0; i < sizeof same / sizeof *same; i++) {
		CalSetup *file = NULL;
		CalError error = {0};
		if (parse_csv(same[i].csv, same[i].more, &file, &error) != CAL_OK)
			fail_msg("%s", error.text);
		CalSim *sim = sim_of(file);
		Driven d = start(DOUBLE_PENDULUM "devices: {motor: {type: joint_drive, joint: hinge,\n"
		                                 "  q: {shape: cubic, points: [[0, 0], [0.5, 30 deg], [1, -60 deg]]}}}\n",
		                 CAL_METHOD_DOPRI5, 0);
		for (int k = 1; k <= 4; k++) {
			advance(&d, 0.3 * k);
			assert_int_equal(cal_sim_advance(sim, 0.3 * k, &error), CAL_OK);
			assert_near(cal_sim_state(sim, 0)->q[0], d.state->q[0], 1e-14);
			assert_near(cal_sim_state(sim, 0)->u[0], d.state->u[0], 1e-13);
		}
		finish(&d);
		cal_sim_destroy(sim);
		cal_setup_destroy(file);
	}
}

static void mistakes_in_csv_files_are_reported(void **state) {
	(void)state;
	static const struct {
		const char *csv, *more, *text;
	} bad[] = {
		{"t,q\n0,0\n1,zero\n", "", ":3: expected a finite number"},
		{"t,q\n0,0\n1,nan\n", "", ":3: expected a finite number"},
		{"t,q\n0,0\n1\n", "", ":3: the line has too few columns"},
		{"0,0\n1,1\n1,2\n", "", ":3: the times of a table ascend"},
		{"t,q [m]\n0,0\n", "", ":1: wrong unit"},
		{"t,q\n", "", "there are no points in it"},
		{"", "", "there are no points in it"},
		{"t,q\n0,0\n", ", column: speed", "has no column \"speed\" beside the time"},
		{"t,q\n0,0\n", ", column: 7", "has no column \"7\" beside the time"},
		{"t,q\n0,0\n", ", column: 1", "has no column \"1\" beside the time"},
		{"0,0\n1,1\n", ", column: q", "has no header"},
		{"0,0\n1,1\n", ", points: [[0, 0]]", "a table has \"points\", or a file \"csv\""},
	};
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
		CalSetup *file = NULL;
		CalError error = {0};
		assert_int_equal(parse_csv(bad[i].csv, bad[i].more, &file, &error), CAL_ERR_INPUT);
		if (!strstr(error.text, bad[i].text) || !strstr(error.text, "t.yaml:"))
			fail_msg("\"%s\" lacks \"%s\"", error.text, bad[i].text);
	}
	const char *none = PENDULUM "joints: {hinge: {type: revolute, to: rod}}\n"
								"devices: {m: {type: joint_drive, joint: hinge, q: {csv: not_there.csv}}}\n";
	CalSetup *file = NULL;
	CalError error = {0};
	assert_int_not_equal(cal_model_file_parse(none, strlen(none), "t.yaml", NULL, &file, &error), CAL_OK);
	assert_non_null(strstr(error.text, "not_there.csv"));
}

int main(void) {
	NEEDS_YAML();
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_driven_pendulum_has_its_closed_form),
		cmocka_unit_test(the_torque_is_that_of_inverse_dynamics),
		cmocka_unit_test(the_account_of_rk4_has_order_four),
		cmocka_unit_test(a_driven_crank_turns_its_four_bar),
		cmocka_unit_test(a_coordinate_of_several_is_driven),
		cmocka_unit_test(a_flexible_arm_follows_its_drive),
		cmocka_unit_test(branches_follow_their_drives),
		cmocka_unit_test(checkpoints_go_on_with_the_same_bits),
		cmocka_unit_test(a_drive_is_switched_on_where_it_fits),
		cmocka_unit_test(what_is_doubtful_is_said),
		cmocka_unit_test(mistakes_are_reported),
		cmocka_unit_test(a_csv_file_is_a_table),
		cmocka_unit_test(mistakes_in_csv_files_are_reported),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
