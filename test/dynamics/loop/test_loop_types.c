// SPDX-License-Identifier: Apache-2.0
/*
 * test_loop_types.c — rolling disks and balls, screws, gears and drives against closed forms; what is refused.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include <calder/calder.h>
#include "support/check.h"
#include "support/methods.h"
#include "support/random_loop.h"

static const double PI = 3.14159265358979323846;
static const double G = 9.81;

/* ---- small systems ---------------------------------------------------------------------------- */

typedef struct System {
	CalDesc *desc;
	CalModel *model;
	CalWork *work;
	CalState state;
	double udot[8], lambda[16];
} System;

static System system_begin(void) {
	System s = {0};
	check_ok(0, cal_desc_create(NULL, &s.desc));
	check_ok(0, cal_desc_set_gravity(s.desc, (CalGroupId){0}, (CalVec3){0, 0, -G}));
	return s;
}

static void check_added(CalStatus status, const CalError *error) {
	if (status != CAL_OK)
		fail_msg("refused: %s", error->text);
}

/* A body with principal inertia on a joint to the ground. */
static CalBodyId add_body(System *s, const char *name, CalJointType type, double mass, CalVec3 inertia) {
	CalError error = {0};
	CalBodyId id;
	CalBodyDef def = cal_body_def();
	CalJointDef joint = cal_joint_def(type);
	def.name = joint.name = name;
	def.mass = mass;
	def.inertia = (CalMat3){{{inertia.x, 0, 0}, {0, inertia.y, 0}, {0, 0, inertia.z}}};
	check_added(cal_desc_add_body(s->desc, &def, &id, &error), &error);
	check_added(cal_desc_attach(s->desc, (CalNodeId){0}, &joint, cal_desc_body_node(s->desc, id), NULL, &error),
	            &error);
	return id;
}

static void close_loop(System *s, CalNodeId a, const CalLoopDef *def, CalNodeId b) {
	CalError error = {0};
	check_added(cal_desc_close_loop(s->desc, a, def, b, NULL, &error), &error);
}

static void system_finish(System *s) {
	CalError error = {0};
	check_added(cal_model_compile(s->desc, NULL, &s->model, &error), &error);
	check_ok(0, cal_work_create(s->model, &s->work));
	check_ok(0, cal_state_create(s->model, &s->state));
	assert_true(cal_model_u_count(s->model) <= 8 && cal_model_row_count(s->model) <= 16);
}

static void system_end(System *s) {
	cal_state_destroy(&s->state);
	cal_work_destroy(s->work);
	cal_model_destroy(s->model);
	cal_desc_destroy(s->desc);
}

static void accelerate(System *s, const CalInput *input) {
	check_ok(0, cal_forward_dynamics(s->model, &s->state, input, s->work, s->udot));
	check_ok(0, cal_loop_multipliers(s->model, s->work, s->lambda));
}

static void run_by(System *s, CalMethod method, double duration, double step) {
	CalIntegrator *ig;
	const CalIntegratorOptions options = {.method = method, .step = step};
	check_ok(0, cal_integrator_create(s->model, s->work, &options, &ig));
	check_ok(0, cal_integrator_advance(ig, &s->state, s->state.t + duration));
	cal_integrator_destroy(ig);
}

static void run(System *s, double duration, double step) { run_by(s, CAL_METHOD_RK4, duration, step); }

static int first_u(const System *s, const char *body) {
	CalBodyInfo info;
	check_ok(0, cal_model_body(s->model, cal_model_find_body(s->model, body), &info));
	return info.u;
}

static void check_near(double got, double want, double tolerance) {
	if (!(fabs(got - want) <= tolerance))
		fail_msg("%.17g, expected %.17g within %g", got, want, tolerance);
}

/* ---- rolling ------------------------------------------------------------------------------------ */

enum { MASS = 2 };
static const double RADIUS = 0.3, AXIAL = 0.09, ACROSS = 0.05; // of the disk

static System rolling(CalLoopType type, CalVec3 inertia, double incline) {
	System s = system_begin();
	const CalBodyId body = add_body(&s, "body", CAL_JOINT_FREE, MASS, inertia);
	CalLoopDef def = cal_loop_def(type);
	def.name = "contact", def.radius = RADIUS;
	def.a.orientation = (CalQuat){cos(incline / 2), 0, sin(incline / 2), 0}; // about y
	close_loop(&s, (CalNodeId){0}, &def, cal_desc_body_node(s.desc, body));
	system_finish(&s);
	return s;
}

/* Upright and straight on: nothing but the weight acts; pushed at the center it has the inertia m + C/R^2. */
static void a_disk_rolls_straight_on(void **state) {
	(void)state;
	System s = rolling(CAL_LOOP_DISK, (CalVec3){ACROSS, ACROSS, AXIAL}, 0);
	const double spin = 4, push = 3;
	const CalQuat upright = {cos(PI / 4), -sin(PI / 4), 0, 0}; // z of the disk along y of the world
	memcpy(s.state.q, (double[]){0, 0, RADIUS, upright.w, upright.x, upright.y, upright.z}, 7 * sizeof(double));
	memcpy(s.state.u, (double[]){spin * RADIUS, 0, 0, 0, 0, spin}, 6 * sizeof(double));
	accelerate(&s, NULL);
	for (int i = 0; i < 6; i++)
		check_near(s.udot[i], 0, 1e-13);
	check_near(s.lambda[2], MASS * G, 1e-13 * MASS * G);
	const CalWrench force = {.node = cal_model_find_node(s.model, "body"), .f.linear = {push, 0, 0}};
	accelerate(&s, &(CalInput){.wrenches = &force, .wrench_count = 1});
	check_near(s.udot[0], push / (MASS + AXIAL / (RADIUS * RADIUS)), 1e-14);
	check_near(s.lambda[0], s.udot[0] * MASS - push, 1e-13);
	run(&s, 1, 0.01);
	check_near(s.state.q[0], spin * RADIUS, 1e-12);
	check_near(s.state.q[2], RADIUS, 1e-14);
	system_end(&s);
}

/*
 * Steady turn with the axis at an angle th from the vertical and the rate w about it: with e1 level, e2 up in the plane of
 * the disk and e3 its axis, the angular velocity is w sin(th) e2 + n e3, the center moves with -n R e1, and
 *   n w sin(th) (C + m R^2) = cos(th) (A w^2 sin(th) - m g R).
 */
static void a_disk_turns_steadily(void **state) {
	(void)state;
	System s = rolling(CAL_LOOP_DISK, (CalVec3){ACROSS, ACROSS, AXIAL}, 0);
	const double th = 1.1, w = 2, sine = sin(th), cosine = cos(th);
	const double n =
		cosine * (ACROSS * w * w * sine - MASS * G * RADIUS) / (w * sine * (AXIAL + MASS * RADIUS * RADIUS));
	// axes of the world: e1 = x, z = sin(th) e2 + cos(th) e3: the disk is turned by th about x
	const double start[7] = {0, 0, RADIUS * sine, cos(th / 2), sin(th / 2), 0, 0};
	memcpy(s.state.q, start, sizeof start);
	memcpy(s.state.u, (double[]){-n * RADIUS, 0, 0, 0, w * sine, n}, 6 * sizeof(double));
	double g[3], rate[3];
	check_ok(0, cal_loop_residual(s.model, &s.state, s.work, g, rate));
	assert_true(max_abs(3, g) < 1e-15 && max_abs(3, rate) < 1e-15);
	accelerate(&s, NULL);
	const double want[6] = {0, -n * RADIUS * w, 0, (n - w * cosine) * w * sine, 0, 0};
	for (int i = 0; i < 6; i++)
		check_near(s.udot[i], want[i], 1e-12);
	check_near(s.lambda[1], -MASS * n * RADIUS * w, 1e-12);
	check_near(s.lambda[2], MASS * G, 1e-12);
	run(&s, 2 * PI / w, 2 * PI / w / 1000);
	for (int i = 0; i < 3; i++) // the circle is closed
		check_near(s.state.q[i], start[i], 1e-8);
	CalMat3 R;
	CalPose pose;
	check_ok(0, cal_kinematics(s.model, &s.state, NULL, s.work));
	check_ok(0, cal_node_pose(s.model, s.work, cal_model_find_node(s.model, "body"), &pose));
	R = pose.R;
	check_near(R.m[2][2], cosine, 1e-9);
	check_near(R.m[1][2], -sine, 1e-8);
	system_end(&s);
}

/* Down a slope: a = g sin(slope)/(1 + I/(m R^2)); energy is kept although it spins in all directions. */
static void a_ball_rolls_down_a_slope(void **state) {
	(void)state;
	const double I = 0.4 * MASS * RADIUS * RADIUS, slope = 0.4;
	System s = rolling(CAL_LOOP_BALL, (CalVec3){I, I, I}, slope);
	const CalVec3 normal = {sin(slope), 0, cos(slope)}, down = {cos(slope), 0, -sin(slope)};
	const double w[3] = {0.7, -1.1, 2};
	CalEnergy before, after;
	memcpy(s.state.q, (double[]){RADIUS * normal.x, 0, RADIUS * normal.z, 1, 0, 0, 0}, 7 * sizeof(double));
	memcpy(s.state.u, (double[]){0, 0, 0, w[0], w[1], w[2]}, 6 * sizeof(double));
	check_ok(0, cal_loop_project(s.model, &s.state, NULL, s.work, NULL));
	const double u[6] = {s.state.u[0], s.state.u[1], s.state.u[2], s.state.u[3], s.state.u[4], s.state.u[5]};
	accelerate(&s, NULL);
	const double a = G * sin(slope) / 1.4;
	check_near(s.udot[0] * down.x + s.udot[2] * down.z, a, 1e-13);
	check_near(s.udot[1], 0, 1e-13);
	check_near(s.lambda[2], MASS * G * cos(slope), 1e-12);
	check_ok(0, cal_energy(s.model, &s.state, s.work, &before));
	run(&s, 1, 1e-3);
	check_ok(0, cal_energy(s.model, &s.state, s.work, &after));
	check_near(after.total, before.total, 1e-11 * fabs(after.kinetic));
	check_near(s.state.q[0], RADIUS * normal.x + u[0] + a / 2 * down.x, 1e-11);
	check_near(s.state.q[1], u[1], 1e-11);
	system_end(&s);
}

/* ---- screws and gears ----------------------------------------------------------------------------- */

/* A spindle that turns and a platen that slides, screw between them: z = -pitch phi. Five rows, one of which matters. */
static void a_screw_presses(void **state) {
	(void)state;
	const double I = 0.02, m = 5, pitch = 0.004, torque = 0.5;
	System s = system_begin();
	const CalBodyId spindle = add_body(&s, "spindle", CAL_JOINT_REVOLUTE, 1, (CalVec3){I, I, I});
	const CalBodyId platen = add_body(&s, "platen", CAL_JOINT_PRISMATIC, m, (CalVec3){1, 1, 1});
	CalLoopDef def = cal_loop_def(CAL_LOOP_SCREW);
	def.name = "thread", def.pitch = pitch;
	close_loop(&s, cal_desc_body_node(s.desc, spindle), &def, cal_desc_body_node(s.desc, platen));
	system_finish(&s);
	const int phi = first_u(&s, "spindle"), z = first_u(&s, "platen");
	double tau[2] = {0}, g[5];
	int rank;
	tau[phi] = torque;
	accelerate(&s, &(CalInput){.tau = tau});
	check_ok(0, cal_loop_rank(s.model, s.work, &rank, NULL));
	assert_int_equal(rank, 1);
	const double want = (torque + m * G * pitch) / (I + m * pitch * pitch);
	check_near(s.udot[phi], want, 1e-12 * want);
	check_near(s.udot[z], -pitch * want, 1e-12 * want);
	check_near(s.lambda[2], m * (G - pitch * want), 1e-11);
	s.state.q[phi] = 31 * 2 * PI + 0.5; // many turns: the platen is known but for whole ones
	s.state.q[z] = -pitch * s.state.q[phi];
	check_ok(0, cal_loop_residual(s.model, &s.state, s.work, g, NULL));
	assert_true(max_abs(5, g) < 1e-14);
	system_end(&s);
}

/* One shaft drives the other at a third of its speed, backwards. */
static void gears_share_their_inertia(void **state) {
	(void)state;
	const double I1 = 0.2, I2 = 1.3, torque = 2;
	System s = system_begin();
	const CalBodyId pinion = add_body(&s, "pinion", CAL_JOINT_REVOLUTE, 1, (CalVec3){I1, I1, I1});
	const CalBodyId wheel = add_body(&s, "wheel", CAL_JOINT_REVOLUTE, 1, (CalVec3){I2, I2, I2});
	CalLoopDef def = cal_loop_def(CAL_LOOP_COUPLING);
	def.name = "gear", def.term_count = 2;
	def.term[0] = (CalLoopTerm){pinion, 0, 1}, def.term[1] = (CalLoopTerm){wheel, 0, 3};
	close_loop(&s, (CalNodeId){0}, &def, (CalNodeId){0});
	system_finish(&s);
	const int a = first_u(&s, "pinion"), b = first_u(&s, "wheel");
	double tau[2] = {0};
	tau[a] = torque;
	accelerate(&s, &(CalInput){.tau = tau});
	const double want = torque / (I1 + I2 / 9);
	check_near(s.udot[a], want, 1e-14 * want);
	check_near(s.udot[b], -want / 3, 1e-14 * want);
	check_near(s.lambda[0], -I2 * want / 9, 1e-13);
	CalSpatial wrench;
	char name[32];
	check_ok(0, cal_loop_wrench(s.model, s.work, 0, &wrench, NULL));
	assert_true(wrench.linear.x == 0 && wrench.angular.z == 0);
	assert_true(cal_model_row_name(s.model, 0, name, sizeof name) == 13 && strcmp(name, "gear.coupling") == 0);
	s.state.q[a] = 0.3, s.state.u[a] = 0.6; // the nearest state in the metric of M
	check_ok(0, cal_loop_project(s.model, &s.state, NULL, s.work, NULL));
	check_near(s.state.q[a] + 3 * s.state.q[b], 0, 1e-15);
	check_near(I1 * (s.state.u[a] - 0.6), I2 * s.state.u[b] / 3, 1e-14);
	system_end(&s);
}

/* ---- drives --------------------------------------------------------------------------------------- */

/* s(t) = 1 + 2 t + 0.3 sin(5 t), as a function. */
static void swing(const void *user, double t, double *value, double *rate, double *acceleration) {
	const double w = *(const double *)user;
	*value = 1 + 2 * t + 0.3 * sin(w * t);
	*rate = 2 + 0.3 * w * cos(w * t);
	*acceleration = -0.3 * w * w * sin(w * t);
}

/* A parallelogram of rods of 1 m that stand 1 m apart; its first crank is driven. */
static System driven_four_bar(const CalDrive *drive) {
	System s = system_begin();
	CalError error = {0};
	CalNodeId end[3];
	for (int i = 0; i < 3; i++) { // crank, rocker, coupler
		static const char *const names[] = {"crank", "rocker", "coupler"};
		CalBodyDef rod = cal_body_def();
		CalJointDef hinge = cal_joint_def(CAL_JOINT_REVOLUTE);
		CalNodeDef node = cal_node_def();
		CalBodyId body;
		rod.name = hinge.name = names[i], rod.mass = 1, rod.com.x = 0.5;
		rod.inertia = (CalMat3){{{1e-4, 0, 0}, {0, 1 / 12.0, 0}, {0, 0, 1 / 12.0}}};
		hinge.inboard.position.x = i == 1 ? 1 : 0;
		node.name = "end", node.placement.position.x = 1;
		check_added(cal_desc_add_body(s.desc, &rod, &body, &error), &error);
		check_added(cal_desc_add_node(s.desc, body, &node, &end[i], &error), &error);
		check_added(cal_desc_attach(s.desc, i == 2 ? end[0] : (CalNodeId){0}, &hinge, cal_desc_body_node(s.desc, body),
		                            NULL, &error),
		            &error);
	}
	CalLoopDef pin = cal_loop_def(CAL_LOOP_REVOLUTE), motor = cal_loop_def(CAL_LOOP_ANGLE);
	pin.name = "pin", motor.name = "motor", motor.drive[0] = *drive;
	close_loop(&s, end[2], &pin, end[1]);
	close_loop(&s, (CalNodeId){0}, &motor, end[0]);
	system_finish(&s);
	return s;
}

static void a_driven_four_bar_follows_its_drive(void **state) {
	(void)state;
	static const double frequency = 5;
	const CalDrive drives[] = {
		{.offset = 1, .speed = 2, .amplitude = 0.3, .frequency = 5},
		{.fn = swing, .user = &frequency},
		{.offset = 1 + 4 * PI, .speed = 2, .fn = NULL, .amplitude = -0.3, .frequency = 5, .phase = PI}, // turns further
	};
	for (size_t i = 0; i < sizeof drives / sizeof *drives; i++) {
		System s = driven_four_bar(&drives[i]);
		const int crank = first_u(&s, "crank"), rocker = first_u(&s, "rocker"), coupler = first_u(&s, "coupler");
		double g[6], rate[6], want[3];
		s.state.q[crank] = s.state.q[rocker] = 0.9, s.state.q[coupler] = -0.8; // roughly
		check_ok(0, cal_loop_project(s.model, &s.state, NULL, s.work, NULL));
		for (int k = 0; k < 20; k++) {
			run(&s, 0.05, 0.01);
			swing(&frequency, s.state.t, &want[0], &want[1], &want[2]);
			check_near(s.state.q[crank], want[0], 1e-12);
			check_near(s.state.u[crank], want[1], 1e-11);
			check_near(s.state.q[rocker], want[0], 1e-11);
			check_near(s.state.q[coupler], -want[0], 1e-11);
			check_ok(0, cal_loop_residual(s.model, &s.state, s.work, g, rate));
			assert_true(max_abs(6, g) < 1e-12 && max_abs(6, rate) < 1e-11);
		}
		accelerate(&s, NULL);
		check_near(s.udot[crank], want[2], 1e-11);
		// power of the motor: rate of the energy, by central differences along the exact motion
		const double h = 1e-4;
		double energy[2];
		for (int side = 0; side < 2; side++) {
			double at[3];
			CalEnergy e;
			swing(&frequency, s.state.t + (side ? h : -h), &at[0], &at[1], &at[2]);
			CalState moved = s.state;
			double q[3], u[3];
			moved.q = q, moved.u = u;
			q[crank] = q[rocker] = at[0], q[coupler] = -at[0];
			u[crank] = u[rocker] = at[1], u[coupler] = -at[1];
			check_ok(0, cal_energy(s.model, &moved, s.work, &e));
			energy[side] = e.total;
		}
		accelerate(&s, NULL);
		check_near(s.lambda[5] * want[1], (energy[1] - energy[0]) / (2 * h), 1e-5);
		system_end(&s);
	}
}

/* Whatever the order of a method, the projection leaves the mechanism where its drive is. */
static void every_method_follows_a_drive(void **state) {
	(void)state;
	static const double frequency = 5;
	for (int method = method_first(); method < CAL_METHOD_COUNT; method = method_next(method)) {
		System s = driven_four_bar(&(CalDrive){.fn = swing, .user = &frequency});
		const int crank = first_u(&s, "crank"), rocker = first_u(&s, "rocker");
		double want[3];
		s.state.q[crank] = s.state.q[rocker] = 1, s.state.q[first_u(&s, "coupler")] = -1;
		check_ok(0, cal_loop_project(s.model, &s.state, NULL, s.work, NULL));
		run_by(&s, (CalMethod)method, 0.5, 0.01);
		swing(&frequency, s.state.t, &want[0], &want[1], &want[2]);
		check_near(s.state.q[crank], want[0], 1e-12);
		check_near(s.state.u[crank], want[1], 1e-11);
		check_near(s.state.u[rocker], want[1], 1e-11);
		system_end(&s);
	}
}

/* Beside the constraint, stabilisation is a spring and a damper on the row: g'' = -2 d w g' - w^2 g. */
static void stabilisation_pulls_a_row_back(void **state) {
	(void)state;
	const double w = 7, damping = 0.6;
	System s = system_begin();
	const CalBodyId body = add_body(&s, "body", CAL_JOINT_FREE, 1, (CalVec3){1, 1, 1});
	CalLoopDef def = cal_loop_def(CAL_LOOP_INPLANE);
	def.name = "plane", def.frequency = w, def.damping = damping;
	close_loop(&s, (CalNodeId){0}, &def, cal_desc_body_node(s.desc, body));
	system_finish(&s);
	s.state.q[2] = 0.01, s.state.u[2] = -0.2;
	accelerate(&s, NULL);
	check_near(s.udot[2], 2 * damping * w * 0.2 - w * w * 0.01, 1e-13);
	check_near(s.lambda[0], G + s.udot[2], 1e-12);
	system_end(&s);
}

/* ---- known forces --------------------------------------------------------------------------------- */

/* Two sliders side by side, one rail between them: what pushes one pushes the other back. */
static void a_known_force_acts_on_both_sides(void **state) {
	(void)state;
	System s = system_begin();
	const CalBodyId one = add_body(&s, "one", CAL_JOINT_PRISMATIC, 2, (CalVec3){1, 1, 1});
	const CalBodyId two = add_body(&s, "two", CAL_JOINT_PRISMATIC, 5, (CalVec3){1, 1, 1});
	CalLoopDef def = cal_loop_def(CAL_LOOP_PRISMATIC);
	def.name = "rail", def.applied_wrench.linear.z = 12;
	close_loop(&s, cal_desc_body_node(s.desc, one), &def, cal_desc_body_node(s.desc, two));
	system_finish(&s);
	double tau[2] = {0};
	CalSpatial wrench;
	accelerate(&s, NULL);
	check_near(s.udot[first_u(&s, "one")], -G - 12 / 2.0, 1e-13);
	check_near(s.udot[first_u(&s, "two")], -G + 12 / 5.0, 1e-13);
	check_ok(0, cal_loop_wrench(s.model, s.work, 0, &wrench, NULL)); // the loop itself holds nothing
	check_near(wrench.linear.z, 0, 1e-15);
	check_ok(0, cal_inverse_dynamics(s.model, &s.state, s.udot, NULL, s.work, tau));
	assert_true(max_abs(2, tau) < 1e-13);
	check_ok(0, cal_external_forces(s.model, &s.state, NULL, s.work, tau));
	check_near(tau[first_u(&s, "one")], -12, 1e-14);
	check_ok(0, cal_gravity_forces(s.model, &s.state, s.work, tau));
	check_near(tau[first_u(&s, "one")], -2 * G, 1e-14);
	system_end(&s);
}

/* ---- errors --------------------------------------------------------------------------------------- */

static void refused(System *s, CalNodeId a, const CalLoopDef *def, CalNodeId b, const char *text) {
	CalError error = {0};
	assert_int_equal(cal_desc_close_loop(s->desc, a, def, b, NULL, &error), CAL_ERR_MODEL);
	if (!strstr(error.text, "loop \"tie\": ") || !strstr(error.text, text))
		fail_msg("%s\n  should say %s", error.text, text);
}

static void bad_definitions_are_refused(void **state) {
	(void)state;
	System s = system_begin();
	const CalBodyId body = add_body(&s, "body", CAL_JOINT_REVOLUTE, 1, (CalVec3){1, 1, 1});
	const CalNodeId node = cal_desc_body_node(s.desc, body), ground = {0};
#define REFUSED(kind, change, text)                                                     \
	do {                                                                                \
		CalLoopDef def = cal_loop_def(CAL_LOOP_##kind);                                 \
		def.name = "tie";                                                               \
		change;                                                                         \
		refused(&s, def.type == CAL_LOOP_COUPLING ? ground : node, &def, ground, text); \
	} while (0)
	REFUSED(SCREW, (void)0, "a screw needs a finite pitch");
	REFUSED(DISK, def.radius = -1, "its radius is -1 m");
	REFUSED(BALL, (void)0, "its radius is 0 m");
	REFUSED(DIRECTIONS, (void)0, "at least one must be locked");
	REFUSED(DIRECTIONS, def.rotation = 8, "sets of CAL_AXIS_X");
	REFUSED(COUPLING, (void)0, "1 to 4 terms, not 0");
	REFUSED(COUPLING, (def.term_count = 1, def.term[0].body = body), "the factor of term 1 is 0");
	REFUSED(WELD, def.drive[3].speed = NAN, "the drive of row 4 is not finite");
	REFUSED(SPHERICAL, def.drive[3].speed = 1, "row 4 is driven");
	REFUSED(WELD, def.frequency = -1, "must be finite and not negative");
	REFUSED(WELD, def.damping = 1, "a damping ratio but no frequency");
	REFUSED(WELD, def.applied_wrench.linear.x = INFINITY, "applied wrench is not finite");
	REFUSED(KNIFE, def.applied_wrench.linear.x = 1, "no two frames between which");
#undef REFUSED
	CalLoopDef def = cal_loop_def(CAL_LOOP_COUPLING);
	def.name = "tie", def.term_count = 1, def.term[0] = (CalLoopTerm){body, 0, 1};
	refused(&s, node, &def, ground, "a coupling ties coordinates, not nodes");
	assert_int_equal(cal_desc_loop_count(s.desc), 0);
	cal_desc_destroy(s.desc);
}

static void finding(void *user, const CalFinding *f) {
	if (f->status != CAL_OK)
		snprintf(user, 600, "%s", f->text);
}

/* What depends on the whole tree. The last one is good: a length of a free joint is a coordinate. */
static void bad_loops_are_found_by_the_check(void **state) {
	(void)state;
	for (int i = 0; i < 4; i++) {
		static const char *const text[] = {"both of its sides are on the rigid body \"body\"",
		                                   "has no coordinate of its own; couple angles and lengths",
		                                   "names degree of freedom 6 of body \"body\"", NULL};
		char findings[600] = "";
		CalError error = {0};
		CalModel *model = NULL;
		System s = system_begin();
		const CalBodyId body = add_body(&s, "body", CAL_JOINT_FREE, 1, (CalVec3){1, 1, 1});
		const CalNodeId node = cal_desc_body_node(s.desc, body);
		CalLoopDef def = cal_loop_def(i == 0 ? CAL_LOOP_WELD : CAL_LOOP_COUPLING);
		def.name = "tie", def.term_count = 1;
		def.term[0] = (CalLoopTerm){body, i == 1 ? 3 : i == 2 ? 6 : 2, 1};
		close_loop(&s, i == 0 ? node : (CalNodeId){0}, &def, i == 0 ? node : (CalNodeId){0});
		const CalStatus want = text[i] ? CAL_ERR_MODEL : CAL_OK;
		assert_int_equal(cal_desc_check(s.desc, finding, findings), want);
		assert_int_equal(cal_model_compile(s.desc, NULL, &model, &error), want);
		if (text[i] && (!strstr(findings, text[i]) || !strstr(error.text, text[i])))
			fail_msg("%s | %s\n  should say %s", findings, error.text, text[i]);
		cal_model_destroy(model);
		cal_desc_destroy(s.desc);
	}
}

/* A type of the list without a counterpart in the reference would be tested nowhere. */
static void every_type_of_the_list_has_a_reference(void **state) {
	(void)state;
	unsigned seen = 0;
	for (int i = 0; i < REF_LOOP_TYPE_COUNT; i++) {
		const CalLoopDef def = fixture_loop_def(NULL, &(RefLoop){.type = (RefLoopType)i});
		seen |= 1u << def.type;
	}
	for (int i = 0; i < CAL_LOOP_TYPE_COUNT; i++) {
		CalLoopTypeInfo info;
		assert_int_equal(cal_loop_type_info((CalLoopType)i, &info), CAL_OK);
		assert_true(strlen(info.vanishes) > 0 && strlen(info.motion) > 0 && info.uses != 0);
		if (!(seen >> i & 1))
			fail_msg("loop type \"%s\" has no row in test/reference/loop.h", cal_loop_type_name((CalLoopType)i));
	}
	assert_null(cal_loop_type_name(CAL_LOOP_TYPE_COUNT));
	assert_int_equal(cal_loop_type_info(CAL_LOOP_TYPE_COUNT, &(CalLoopTypeInfo){0}), CAL_ERR_ARGUMENT);
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_type_of_the_list_has_a_reference),
		cmocka_unit_test(a_disk_rolls_straight_on),
		cmocka_unit_test(a_disk_turns_steadily),
		cmocka_unit_test(a_ball_rolls_down_a_slope),
		cmocka_unit_test(a_screw_presses),
		cmocka_unit_test(gears_share_their_inertia),
		cmocka_unit_test(a_driven_four_bar_follows_its_drive),
		cmocka_unit_test(every_method_follows_a_drive),
		cmocka_unit_test(stabilisation_pulls_a_row_back),
		cmocka_unit_test(a_known_force_acts_on_both_sides),
		cmocka_unit_test(bad_definitions_are_refused),
		cmocka_unit_test(bad_loops_are_found_by_the_check),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
