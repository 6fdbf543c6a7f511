// SPDX-License-Identifier: Apache-2.0
/*
 * test_loops_redundant.c — an equation that is redundant only where its loop is closed asks for nothing in the stages of a
 * step, which are off by a little.
 *
 * A frame turns about an axis through the origin and carries two plates that slide on each other in its plane; a ball joint
 * holds the second plate at the origin. The distance of the plane from the origin is the same for all angles of the frame,
 * so that one of the three equations of the ball says nothing; off the loop it does, and would hold the frame.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <cmocka.h>

#include <calder/calder.h>

#include "integrate/linkages.h"

static const CalVec3 on_frame = {-0.2, 0.23, 0.1}; // where the plates are at zero

static System sliding_plates(void) {
	CalDesc *desc = desc_with_gravity(9.81);
	CalJointDef slide = cal_joint_def(CAL_JOINT_PLANAR);
	CalLoopDef ball = cal_loop_def(CAL_LOOP_SPHERICAL);
	slide.axis = (CalVec3){0, 0, 1}, slide.axis2 = (CalVec3){1, 0, 0};
	ball.name = "ball";
	ball.b.position = (CalVec3){-on_frame.x, -on_frame.y, -on_frame.z};
	const CalBodyId frame = add_rod(desc, ground, origin, (CalVec3){0.99, -0.06, -0.09}, on_frame, "frame", 0.4, 0);
	const CalBodyId lower = attach_body(desc, frame, on_frame, slide, "lower", 0.6, 0, (CalVec3){0.01, 0.02, 0.03});
	const CalBodyId upper = attach_body(desc, lower, origin, slide, "upper", 7, 0, (CalVec3){0.1, 0.12, 0.2});
	assert_int_equal(cal_desc_close_loop(desc, (CalNodeId){0}, &ball, cal_desc_body_node(desc, upper), NULL, NULL),
	                 CAL_OK);
	System s = system_of(desc);
	const double u[7] = {-1.1, 0.9, 2.2, 1.5, -0.8, 0.3, -0.7};
	for (int i = 0; i < 7; i++)
		s.state.u[i] = u[i];
	close_loops(&s);
	return s;
}

/* q after half a second; steps and those rejected in *stats. */
static void run_plates(const CalIntegratorOptions *options, double q[7], CalIntegratorStats *stats) {
	System s = sliding_plates();
	CalIntegrator *integrator;
	assert_int_equal(cal_integrator_create(s.model, s.work, options, &integrator), CAL_OK);
	assert_int_equal(cal_integrator_advance(integrator, &s.state, 0.5), CAL_OK);
	for (int i = 0; i < 7; i++)
		q[i] = s.state.q[i];
	*stats = cal_integrator_stats(integrator);
	cal_integrator_destroy(integrator);
	system_free(&s);
}

static double difference(const double a[7], const double b[7]) {
	double most = 0;
	for (int i = 0; i < 7; i++)
		most = fmax(most, fabs(a[i] - b[i]));
	return most;
}

static void stages_keep_what_is_redundant(void **state) {
	(void)state;
	double exact[7], q[7];
	CalIntegratorStats stats;
	run_plates(&(CalIntegratorOptions){.method = CAL_METHOD_DOPRI5, .rtol = 1e-12, .atol = 1e-14}, exact, &stats);
	run_plates(&(CalIntegratorOptions){.method = CAL_METHOD_DOPRI5, .rtol = 1e-6, .atol = 1e-8}, q, &stats);
	printf("dopri5: off by %.1e, %ld steps, %ld rejected\n", difference(q, exact), (long)stats.steps,
	       (long)stats.rejected);
	assert_true(difference(q, exact) < 1e-5);
	assert_true(stats.rejected <= 3);
	double coarse[7], fine[7];
	run_plates(&(CalIntegratorOptions){.method = CAL_METHOD_RK4, .step = 5e-3}, coarse, &stats);
	run_plates(&(CalIntegratorOptions){.method = CAL_METHOD_RK4, .step = 2.5e-3}, fine, &stats);
	printf("rk4: off by %.1e with 5 ms, %.1e with 2.5 ms\n", difference(coarse, exact), difference(fine, exact));
	assert_true(difference(coarse, exact) < 1e-5);
	assert_true(difference(fine, exact) < difference(coarse, exact) / 12);
}

int main(void) {
	const struct CMUnitTest tests[] = {cmocka_unit_test(stages_keep_what_is_redundant)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
