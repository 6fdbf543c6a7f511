// SPDX-License-Identifier: Apache-2.0
/*
 * test_spin_up.c — motion-induced stiffness: a beam that is spun up about its root past its first frequency
 * (Kane, Ryan and Banerjee 1987). With second-order shapes it lags, comes back and turns steadily; without them
 * it diverges. Reference numbers: bending with foreshortening, linear in the deflection w (catalogue of benchmarks,
 * 4). The body here keeps all terms of its kinetic energy; those of order (w/L)^2 = 0.3 % are not in the reference
 * and are the likely reason for the difference of 0.25 %, which the tolerance allows.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <calder/flex.h>
#include <calder/integrate.h>
#include "support/check.h"

typedef struct SpinUp {
	CalModel *model;
	CalWork *work;
	CalState state;
	CalIntegrator *integrator;
	double udot[16];
} SpinUp;

/* d/dt of 0.4 (t - 15/(2 pi) sin(2 pi t/15)) rad/s up to 15 s. */
static int spin(void *user, const CalModel *model, const CalState *state, CalInput *input) {
	(void)model;
	SpinUp *s = user;
	s->udot[0] = state->t < 15 ? 0.4 * (1 - cos(2 * 3.14159265358979323846 * state->t / 15)) : 0;
	input->udot = s->udot;
	return 0;
}

/* Within (0.6 m/10 m)^2 of the largest deflection. */
static void check_tip(double got, double linear) {
	if (!(fabs(got - linear) < 2e-3))
		print_error("tip %g, linear theory %g\n", got, linear);
	assert_true(fabs(got - linear) < 2e-3);
}

static SpinUp *spin_up_create(int modes, int second_order) {
	SpinUp *s = test_alloc(1, sizeof *s);
	CalDesc *desc;
	CalError error = {0};
	CalBodyId beam;
	CalBeamDef def = cal_beam_def();
	def.name = "beam", def.length = 10, def.deformation = CAL_BEAM_BEND_Y;
	def.root = (CalSection){.shape = CAL_SECTION_DIRECT,
	                        .EA = 2.8e7,
	                        .EIy = 1.4e4,
	                        .EIz = 1.4e4,
	                        .GJ = 1e4,
	                        .rhoA = 1.2,
	                        .rhoIy = 6e-4,
	                        .rhoIz = 6e-4};
	def.choice.modes = modes, def.second_order = second_order;
	check_ok(0, cal_desc_create(NULL, &desc));
	check_ok(0, cal_beam_add(desc, &def, &beam, &error));
	CalJointDef hub = cal_joint_def(CAL_JOINT_REVOLUTE);
	hub.name = "hub", hub.dof[0].prescribed = 1;
	check_ok(0, cal_desc_attach(desc, (CalNodeId){0}, &hub, cal_desc_find_node(desc, "beam/root"), NULL, &error));
	check_ok(0, cal_model_compile(desc, NULL, &s->model, &error));
	cal_desc_destroy(desc);
	check_ok(0, cal_state_create(s->model, &s->state));
	check_ok(0, cal_work_create(s->model, &s->work));
	const CalIntegratorOptions options = {
		.method = CAL_METHOD_DOPRI5, .rtol = 1e-9, .atol = 1e-11, .input = spin, .user = s};
	check_ok(0, cal_integrator_create(s->model, s->work, &options, &s->integrator));
	return s;
}

static void spin_up_destroy(SpinUp *s) {
	cal_integrator_destroy(s->integrator);
	cal_work_destroy(s->work);
	cal_state_destroy(&s->state);
	cal_model_destroy(s->model);
	free(s);
}

/* Deflection of the tip in the turning frame at time t. */
static double tip_at(SpinUp *s, double t) {
	check_ok(0, cal_integrator_advance(s->integrator, &s->state, t));
	check_ok(0, cal_kinematics(s->model, &s->state, NULL, s->work));
	CalPose root, tip;
	check_ok(0, cal_node_pose(s->model, s->work, cal_model_find_node(s->model, "beam"), &root));
	check_ok(0, cal_node_pose(s->model, s->work, cal_model_find_node(s->model, "beam/tip"), &tip));
	return root.R.m[0][1] * tip.r.x + root.R.m[1][1] * tip.r.y;
}

static void second_order_shapes_hold_the_beam(void **state) {
	(void)state;
	SpinUp *s = spin_up_create(5, 1);
	check_tip(tip_at(s, 5), -0.46878);
	double deepest = 0;
	for (double t = 6.5; t < 7.01; t += 0.02)
		deepest = fmin(deepest, tip_at(s, t));
	check_tip(deepest, -0.57438);
	check_tip(tip_at(s, 7.5), -0.55953);
	check_tip(tip_at(s, 10), -0.36284);
	check_tip(tip_at(s, 15), 0.0013);
	for (double t = 15.5; t < 30; t += 0.5)
		assert_true(fabs(tip_at(s, t)) < 0.01);
	spin_up_destroy(s);
}

static void without_them_it_diverges(void **state) {
	(void)state;
	SpinUp *s = spin_up_create(3, 0);
	assert_true(fabs(tip_at(s, 7.5) - -1.46) < 0.01);
	assert_true(fabs(tip_at(s, 10) - -72) < 1);
	spin_up_destroy(s);
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(second_order_shapes_hold_the_beam),
		cmocka_unit_test(without_them_it_diverges),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
