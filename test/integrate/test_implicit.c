// SPDX-License-Identifier: Apache-2.0
/*
 * test_implicit.c — the linearly implicit steps: their order on a flexible pendulum with a joint spring, their
 * stability at steps far above the limit of its modes, where an explicit scheme fails, and the damping of a
 * mode that theory predicts.
 */
#include "integrate/systems.h"

enum { MODES = 2, NODES = 3 };

/** A clamped-root boom with two bending modes on a hinge with spring and damper. Frequencies 40 and 300 rad/s. */
static System flexible_pendulum(double stiffness, double damping) {
	CalDesc *desc = desc_with_gravity(9.81);
	CalBodyDef body = cal_body_def();
	body.name = "boom";
	CalBodyId id;
	assert_int_equal(cal_desc_add_body(desc, &body, &id, NULL), CAL_OK);
	double phi[NODES][3 * MODES] = {{0}}, psi[NODES][3 * MODES] = {{0}};
	CalFlexNode nodes[NODES] = {{{0}, 0, {{{0}}}, NULL, NULL, NULL}};
	const char *names[NODES] = {"a", "b", "c"};
	for (int k = 0; k < NODES; k++) {
		double s = (k + 1) / 3.0;
		CalNodeDef node = cal_node_def();
		node.name = names[k];
		node.placement.position = (CalVec3){s, 0, 0};
		assert_int_equal(cal_desc_add_node(desc, id, &node, &nodes[k].node, NULL), CAL_OK);
		phi[k][2 * MODES] = s * s, phi[k][2 * MODES + 1] = s * s * s;
		psi[k][MODES] = -2 * s, psi[k][MODES + 1] = -3 * s * s;
		nodes[k].mass = 1, nodes[k].phi = phi[k], nodes[k].psi = psi[k];
	}
	const double K[MODES * MODES] = {stiffness, 0, 0, 22 * stiffness};
	const double D[MODES * MODES] = {damping, 0, 0, 2 * damping};
	const CalFlexDef flex = {.modes = MODES, .stiffness = K, .damping = D, .node_count = NODES, .nodes = nodes};
	assert_int_equal(cal_desc_set_flexible(desc, id, &flex, NULL), CAL_OK);
	CalJointDef hinge = cal_joint_def(CAL_JOINT_REVOLUTE);
	hinge.name = "hinge", hinge.axis = (CalVec3){0, 1, 0};
	hinge.dof[0].stiffness = 20, hinge.dof[0].damping = damping / 4;
	assert_int_equal(cal_desc_attach(desc, (CalNodeId){0}, &hinge, cal_desc_body_node(desc, id), NULL, NULL), CAL_OK);
	System s = system_of(desc);
	s.state.q[0] = 0.3, s.state.u[0] = 1;
	return s;
}

static double error_at(const System *s, CalMethod method, double h, const CalState *exact) {
	CalState state = advanced_fixed(s, method, h, 0.4);
	double error = state_distance(s, exact, &state);
	cal_state_destroy(&state);
	return error;
}

static void check_order(CalMethod method, double order) {
	System s = flexible_pendulum(4000, 2);
	CalState exact = advanced_exactly(&s, 0.4);
	double coarse = error_at(&s, method, 0.4 / 20000, &exact), fine = error_at(&s, method, 0.4 / 80000, &exact);
	double measured = log(coarse / fine) / log(4);
	if (!(fabs(measured - order) < 0.05)) {
		print_error("errors %g and %g: order %.3f instead of %g\n", coarse, fine, measured, order);
	}
	assert_true(fabs(measured - order) < 0.05);
	assert_int_equal(cal_method_order(method), (int)order);
	cal_state_destroy(&exact);
	system_free(&s);
}

static void implicit_has_order_one(void **state) {
	(void)state;
	check_order(CAL_METHOD_IMPLICIT, 1);
}

static void implicit_midpoint_has_order_two(void **state) {
	(void)state;
	check_order(CAL_METHOD_IMPLICIT_MIDPOINT, 2);
}

/** Status of a run, and the largest coordinate at its end. */
static CalStatus run(const System *s, CalMethod method, double h, double t_end, double *largest) {
	CalState state;
	assert_int_equal(cal_state_create(s->model, &state), CAL_OK);
	cal_state_copy(s->model, &s->state, &state);
	const CalIntegratorOptions options = {.method = method, .step = h};
	CalIntegrator *ig;
	assert_int_equal(cal_integrator_create(s->model, s->work, &options, &ig), CAL_OK);
	CalStatus status = cal_integrator_advance(ig, &state, t_end);
	*largest = 0;
	for (int i = 0; i < s->nq; i++)
		*largest = fmax(*largest, fabs(state.q[i]));
	cal_integrator_destroy(ig);
	cal_state_destroy(&state);
	return status;
}

/** Modes at 4e4 rad/s and above with steps of 20 ms: 400 times the limit of the explicit scheme. */
static void steps_far_above_the_limit_are_stable(void **state) {
	(void)state;
	System s = flexible_pendulum(4e9, 0);
	double largest;
	assert_int_equal(run(&s, CAL_METHOD_IMPLICIT, 0.02, 20, &largest), CAL_OK);
	assert_true(largest < 2);
	assert_int_equal(run(&s, CAL_METHOD_IMPLICIT_MIDPOINT, 0.02, 20, &largest), CAL_OK);
	assert_true(largest < 2);
	CalStatus explicit_status = run(&s, CAL_METHOD_EULER_CROMER, 0.02, 20, &largest);
	assert_true(explicit_status != CAL_OK || !(largest < 2));
	system_free(&s);
}

/** A mode of frequency w loses amplitude at the rate w^2 h/2 with the first-order step, and none when centered. */
static void amplitude_decays_as_predicted(void **state) {
	(void)state;
	CalDesc *desc = desc_with_gravity(0);
	CalBodyDef body = cal_body_def();
	body.name = "cart", body.mass = 2;
	CalBodyId id;
	assert_int_equal(cal_desc_add_body(desc, &body, &id, NULL), CAL_OK);
	CalJointDef slide = cal_joint_def(CAL_JOINT_PRISMATIC);
	slide.name = "slide", slide.dof[0].stiffness = 2 * 25.0; // w = 5 rad/s
	assert_int_equal(cal_desc_attach(desc, (CalNodeId){0}, &slide, cal_desc_body_node(desc, id), NULL, NULL), CAL_OK);
	System s = system_of(desc);
	s.state.q[0] = 1;
	const double h = 1e-4, t = 2, w = 5;
	CalState damped = advanced_fixed(&s, CAL_METHOD_IMPLICIT, h, t);
	CalState kept = advanced_fixed(&s, CAL_METHOD_IMPLICIT_MIDPOINT, h, t);
	double amplitude = sqrt(damped.q[0] * damped.q[0] + damped.u[0] * damped.u[0] / (w * w));
	double same = sqrt(kept.q[0] * kept.q[0] + kept.u[0] * kept.u[0] / (w * w));
	assert_true(fabs(-log(amplitude) / t - 0.5 * w * w * h) < 2e-6);
	assert_true(fabs(same - 1) < 1e-10);
	cal_state_destroy(&damped);
	cal_state_destroy(&kept);
	system_free(&s);
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(implicit_has_order_one),
		cmocka_unit_test(implicit_midpoint_has_order_two),
		cmocka_unit_test(steps_far_above_the_limit_are_stable),
		cmocka_unit_test(amplitude_decays_as_predicted),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
