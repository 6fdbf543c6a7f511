// SPDX-License-Identifier: Apache-2.0
/*
 * test_flexible_invariants.c — free flexible flyers keep energy and momentum over 100 s.
 *
 * Nothing acts from outside and nothing damps, so that kinetic and strain energy together, linear momentum, and
 * angular momentum about a fixed point stay. The flyers tumble, bend by a good part of their length, and have what a
 * term can be forgotten in: modes carried by a rigid hub, a chain of flexible bodies on hinges, second-order shapes (a
 * modal mass that depends on the modes), heads that the modes move and turn. Runge-Kutta schemes keep none of these
 * quantities by themselves: the drift of Dormand-Prince with a fixed step falls with the fifth power of the step down
 * to round-off, while a wrong term would leave a drift that no step makes smaller. So each flyer runs twice, with the
 * converged step and with four times that.
 */
#include "integrate/systems.h"

#include <calder/flex.h>

#include <stdio.h>

static const double SPAN = 100;         // [s]
static const double ENERGY = 1e-9;      // relative drift allowed at the converged step
static const double MOMENTUM = 1e-10;   //
static const double ROUND_OFF = 1e-12;  // where the drift stops falling
static const double TWO_HALVINGS = 256; // a drift of order 5 falls by 1024, but a chain's motion is chaotic
static const double BEND = 0.1;         // deflection of a tip that must be reached, over the length
static const double TWO_PI = 6.283185307179586;

/* ---- flyers -------------------------------------------------------------------------------------- */

typedef struct Flyer {
	System system;
	double length;    // of the body named `bent`
	const char *bent; //
	double step;      // converged [s]
} Flyer;

/** A beam of 1 kg/m with two modes of the clamped beam: the first in y, at `hertz`, and in z, 1.2 times that. */
static void add_boom(CalDesc *desc, const char *name, double length, double hertz, int second_order) {
	const double w = TWO_PI * hertz / 3.5160152685, EI = w * w * pow(length, 4);
	CalBeamDef def = cal_beam_def();
	CalError error = {0};
	def.name = name, def.length = length, def.elements = 1;
	def.root = (CalSection){.EA = 1e6, .EIy = 1.44 * EI, .EIz = EI, .GJ = EI, .rhoA = 1, .rhoIy = 1e-3, .rhoIz = 1e-3};
	def.choice.modes = 2, def.second_order = second_order;
	if (cal_beam_add(desc, &def, NULL, &error) != CAL_OK)
		fail_msg("%s", error.text);
}

static void attach(CalDesc *desc, const char *inboard, CalJointDef joint, const char *name, const char *outboard) {
	const CalNodeId from = inboard ? cal_desc_find_node(desc, inboard) : (CalNodeId){0};
	CalError error = {0};
	joint.name = name;
	if (cal_desc_attach(desc, from, &joint, cal_desc_find_node(desc, outboard), NULL, &error) != CAL_OK)
		fail_msg("%s", error.text);
}

static CalJointDef mount_at(double x, double y, int turned) {
	CalJointDef mount = cal_joint_def(CAL_JOINT_WELD);
	mount.inboard.position = (CalVec3){x, y, 0};
	if (turned)
		mount.inboard.orientation = (CalQuat){0, 0, 0, 1};
	return mount;
}

/** Compiles for the recursion, and sets the six speeds of the root. */
static System tumbling(CalDesc *desc, double wx, double wy, double wz) {
	const CalCompileOptions options = {.solver = CAL_SOLVER_RECURSIVE};
	const double u[6] = {0.1, -0.2, 0.1, wx, wy, wz};
	System s = {0};
	CalError error = {0};
	if (cal_model_compile(desc, &options, &s.model, &error) != CAL_OK)
		fail_msg("%s", error.text);
	cal_desc_destroy(desc);
	assert_int_equal(cal_work_create(s.model, &s.work), CAL_OK);
	assert_int_equal(cal_state_create(s.model, &s.state), CAL_OK);
	s.nq = cal_model_q_count(s.model);
	s.nu = cal_model_u_count(s.model);
	memcpy(s.state.u, u, sizeof u);
	return s;
}

static void bend(System *s, const char *body, double first, double second) {
	CalBodyInfo info;
	assert_int_equal(cal_model_body(s->model, cal_model_find_body(s->model, body), &info), CAL_OK);
	assert_true(info.modes >= 2);
	s->state.q[info.q + info.nq] = first;
	s->state.q[info.q + info.nq + 1] = second;
}

/** A rigid spacecraft with a flexible panel on one side. */
static Flyer spacecraft_with_a_panel(void) {
	CalDesc *desc = desc_with_gravity(0);
	CalPanelDef panel = cal_panel_def();
	CalError error = {0};
	attach_body(desc, ground, origin, cal_joint_def(CAL_JOINT_FREE), "hub", 60, 0, (CalVec3){12, 9, 10});
	panel.name = "panel", panel.length = 4, panel.width = 1.5, panel.cells_x = 4, panel.cells_y = 2;
	panel.rib_x = panel.rib_y =
		(CalSection){.EA = 1e6, .EIy = 40, .EIz = 1e4, .GJ = 40, .rhoA = 0.2, .rhoIy = 1e-4, .rhoIz = 1e-4};
	panel.cover_mass = 6, panel.choice.modes = 3;
	if (cal_panel_add(desc, &panel, NULL, &error) != CAL_OK)
		fail_msg("%s", error.text);
	attach(desc, "hub", mount_at(0.5, 0.1, 0), "mount", "panel/root");
	Flyer f = {tumbling(desc, 0.2, 0.15, -0.3), 4, "panel", 1.0 / 512};
	bend(&f.system, "panel", 0.8, 0.1);
	return f;
}

/** Three flexible links on skew hinges. */
static Flyer chain_of_links(void) {
	CalDesc *desc = desc_with_gravity(0);
	add_boom(desc, "a", 2, 0.15, 0);
	add_boom(desc, "b", 1.5, 0.15, 0);
	add_boom(desc, "c", 1.5, 0.15, 0);
	attach(desc, NULL, cal_joint_def(CAL_JOINT_FREE), "base", "a/root");
	attach(desc, "a/tip", joint_about(CAL_JOINT_REVOLUTE, 0, 1, 0.3), "ab", "b/root");
	attach(desc, "b/tip", joint_about(CAL_JOINT_REVOLUTE, 0.2, 0, 1), "bc", "c/root");
	Flyer f = {tumbling(desc, 0.2, 0.15, -0.3), 2, "a", 1.0 / 512};
	bend(&f.system, "a", 0.2, -0.1);
	bend(&f.system, "b", 0.1, 0.1);
	bend(&f.system, "c", -0.1, 0.1);
	return f;
}

static void add_weight(CalDesc *desc, const char *inboard, CalJointDef joint, const char *name) {
	CalBodyDef body = cal_body_def();
	body.name = name, body.mass = 0.3, body.com = (CalVec3){0.2, 0.1, 0};
	body.inertia = (CalMat3){{{0.01, 0, 0}, {0, 0.02, 0}, {0, 0, 0.02}}};
	assert_int_equal(cal_desc_add_body(desc, &body, NULL, NULL), CAL_OK);
	attach(desc, inboard, joint, name, name);
}

/** A hub with two booms that foreshorten, one with a weight on a hinge; it spins at 2/3 of their first frequency. */
static Flyer spinner_with_second_order_booms(void) {
	CalDesc *desc = desc_with_gravity(0);
	attach_body(desc, ground, origin, cal_joint_def(CAL_JOINT_FREE), "hub", 20, 0, (CalVec3){3, 4, 6});
	add_boom(desc, "left", 3, 0.25, 1);
	add_boom(desc, "right", 3, 0.25, 1);
	attach(desc, "hub", mount_at(0.3, 0, 0), "to the right", "right/root");
	attach(desc, "hub", mount_at(-0.3, 0, 1), "to the left", "left/root");
	add_weight(desc, "right/tip", joint_about(CAL_JOINT_REVOLUTE, 0, 1, 0.2), "weight");
	Flyer f = {tumbling(desc, 0.2, 0.15, 1), 3, "right", 1.0 / 256};
	bend(&f.system, "left", 0.4, -0.3);
	bend(&f.system, "right", 0.3, 0.3);
	return f;
}

/** A bar of two modes, given by hand: three masses with rotary inertia, all moved and turned by both modes. */
static void add_bar(CalDesc *desc, const char *name, double length, double stiffness) {
	static const double phi[3][6] = {
		{0, 0, 0.5, 0.1, 0, 0.4}, {0.05, 0, -0.6, 0, 0.1, -0.5}, {0, 0.05, 0.6, -0.1, 0, 0.5}};
	static const double psi[3][6] = {
		{0.1, 0.2, 0, 0.8, -0.9, 0}, {0, -0.1, 0.1, 0, 0, 0.1}, {0.1, -0.2, 0, -0.9, 1, 0.1}};
	const double K[4] = {stiffness, 0.1 * stiffness, 0.1 * stiffness, 1.3 * stiffness};
	static const char *const names[] = {"root", "middle", "tip"};
	CalBodyDef body = cal_body_def();
	CalFlexNode nodes[3] = {0};
	CalBodyId id;
	CalError error = {0};
	body.name = name, body.mass = 0.5, body.com.x = 0.1;
	body.inertia = (CalMat3){{{0.05, 0, 0}, {0, 0.08, 0}, {0, 0, 0.07}}};
	assert_int_equal(cal_desc_add_body(desc, &body, &id, &error), CAL_OK);
	for (int i = 0; i < 3; i++) {
		CalNodeDef node = cal_node_def();
		node.name = names[i], node.placement.position.x = (i - 1) * length / 2;
		nodes[i] = (CalFlexNode){.mass = 1, .phi = phi[i], .psi = psi[i]};
		nodes[i].inertia = (CalMat3){{{0.02, 0, 0}, {0, 0.03, 0.01}, {0, 0.01, 0.04}}};
		assert_int_equal(cal_desc_add_node(desc, id, &node, &nodes[i].node, &error), CAL_OK);
	}
	const CalFlexDef flex = {.modes = 2, .stiffness = K, .node_count = 3, .nodes = nodes};
	if (cal_desc_set_flexible(desc, id, &flex, &error) != CAL_OK)
		fail_msg("%s", error.text);
}

/** Two bars, both carried by nodes that the modes move and turn. */
static Flyer bars_with_moving_heads(void) {
	CalDesc *desc = desc_with_gravity(0);
	add_bar(desc, "a", 3, 12);
	add_bar(desc, "b", 2, 12);
	attach(desc, NULL, cal_joint_def(CAL_JOINT_FREE), "base", "a/tip");
	attach(desc, "a/root", joint_about(CAL_JOINT_REVOLUTE, 0, 1, 0.3), "ab", "b/tip");
	Flyer f = {tumbling(desc, 0.15, 0.1, -0.2), 3, "a", 1.0 / 512};
	bend(&f.system, "a", 0.5, -0.4);
	bend(&f.system, "b", 0.4, 0.3);
	return f;
}

/* ---- what stays ---------------------------------------------------------------------------------- */

/** Largest deviations from the start, over its size. */
typedef struct Drift {
	double energy, linear, angular;
	double bend; // largest deflection, over the length
} Drift;

static double size_of(CalVec3 a) { return sqrt(a.x * a.x + a.y * a.y + a.z * a.z); }

static double change(CalVec3 a, CalVec3 from) {
	return size_of((CalVec3){a.x - from.x, a.y - from.y, a.z - from.z}) / size_of(from);
}

/** Distance of the tip from where it is in the undeformed body. */
static double deflection(const Flyer *f, const CalState *state) {
	char path[32];
	CalPose body, tip;
	CalNodeInfo info;
	snprintf(path, sizeof path, "%s/tip", f->bent);
	const int node = cal_model_find_node(f->system.model, path);
	assert_int_equal(cal_kinematics(f->system.model, state, NULL, f->system.work), CAL_OK);
	assert_int_equal(cal_model_node(f->system.model, node, &info), CAL_OK);
	assert_int_equal(cal_node_pose(f->system.model, f->system.work, node, &tip), CAL_OK);
	const int frame = cal_model_find_node(f->system.model, f->bent);
	assert_int_equal(cal_node_pose(f->system.model, f->system.work, frame, &body), CAL_OK);
	const double d[3] = {tip.r.x - body.r.x, tip.r.y - body.r.y, tip.r.z - body.r.z};
	double square = 0;
	for (int i = 0; i < 3; i++) { // in the body's axes
		double x = -(&info.pose.r.x)[i];
		for (int k = 0; k < 3; k++)
			x += body.R.m[k][i] * d[k];
		square += x * x;
	}
	return sqrt(square);
}

/** Dormand-Prince with its step held: the tolerances are such that only max_step counts. */
static Drift fly(const Flyer *f, double h) {
	const System *s = &f->system;
	CalState now = state_of(s);
	CalIntegrator *integrator = integrator_for(
		s, (CalIntegratorOptions){.method = CAL_METHOD_DOPRI5, .step = h, .max_step = h, .rtol = 1, .atol = 1});
	CalEnergy e0, e;
	CalMomentum p0, p;
	Drift d = {0};
	assert_int_equal(cal_energy(s->model, &now, s->work, &e0), CAL_OK);
	assert_int_equal(cal_momentum(s->model, &now, s->work, &p0), CAL_OK);
	for (int k = 1; k <= SPAN; k++) {
		assert_int_equal(cal_integrator_advance(integrator, &now, k), CAL_OK);
		assert_int_equal(cal_energy(s->model, &now, s->work, &e), CAL_OK);
		assert_int_equal(cal_momentum(s->model, &now, s->work, &p), CAL_OK);
		d.energy = fmax(d.energy, fabs(e.total - e0.total) / e0.total);
		d.linear = fmax(d.linear, change(p.linear, p0.linear));
		d.angular = fmax(d.angular, change(p.angular_origin, p0.angular_origin));
		d.bend = fmax(d.bend, deflection(f, &now) / f->length);
	}
	assert_true((double)cal_integrator_stats(integrator).steps == SPAN / h);
	cal_integrator_destroy(integrator);
	cal_state_destroy(&now);
	return d;
}

static void check_drift(const char *what, double step, double coarse, double fine, double allowed) {
	if (!(fine <= allowed))
		fail_msg("%s drifts by %.3g at the step %g s; %.0e is allowed", what, fine, step, allowed);
	if (!(fine <= fmax(coarse / TWO_HALVINGS, ROUND_OFF)))
		fail_msg("%s: a drift of %.3g at the step %g s only falls to %.3g at %g s: not an error of integration", what,
		         coarse, 4 * step, fine, step);
}

static void check_flyer(Flyer f) {
	const Drift coarse = fly(&f, 4 * f.step), fine = fly(&f, f.step);
	check_drift("energy", f.step, coarse.energy, fine.energy, ENERGY);
	check_drift("linear momentum", f.step, coarse.linear, fine.linear, MOMENTUM);
	check_drift("angular momentum", f.step, coarse.angular, fine.angular, MOMENTUM);
	if (!(fine.bend >= BEND))
		fail_msg("%s bends by %.3g of its length only", f.bent, fine.bend);
	system_free(&f.system);
}

static void a_panel_keeps_the_invariants(void **state) {
	(void)state;
	check_flyer(spacecraft_with_a_panel());
}

static void a_chain_keeps_the_invariants(void **state) {
	(void)state;
	check_flyer(chain_of_links());
}

static void second_order_shapes_keep_the_invariants(void **state) {
	(void)state;
	check_flyer(spinner_with_second_order_booms());
}

static void moving_heads_keep_the_invariants(void **state) {
	(void)state;
	check_flyer(bars_with_moving_heads());
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_panel_keeps_the_invariants),
		cmocka_unit_test(a_chain_keeps_the_invariants),
		cmocka_unit_test(second_order_shapes_keep_the_invariants),
		cmocka_unit_test(moving_heads_keep_the_invariants),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
