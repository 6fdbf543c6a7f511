// SPDX-License-Identifier: Apache-2.0
/*
 * test_cvode_loops.c — what loops do to the error of CVODE: nothing. A window (two cranks and a coupler, closed by a hinge)
 * swings as one pendulum does; both are integrated over several swings and compared with steps of 0.1 ms. CVODE controls the
 * error of each step and hands on the solution it controlled, so that the errors of all steps add up: as many times
 * rtol as there are steps, with loops and without.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <cmocka.h>

#include <calder/calder.h>

#ifdef CALDER_WITH_SUNDIALS

static const double START = -0.57, END = 10; // [rad] of the crank, level being 0; [s]

static CalBodyId add_rod(CalDesc *desc, CalNodeId on, double x, double length, const char *name) {
	CalBodyDef body = cal_body_def();
	CalJointDef joint = cal_joint_def(CAL_JOINT_REVOLUTE);
	CalBodyId id;
	const double J = length * length / 12;
	body.name = joint.name = name;
	body.mass = 1;
	body.com = (CalVec3){length / 2, 0, 0};
	body.inertia = (CalMat3){{{1e-3, 0, 0}, {0, J, 0}, {0, 0, J}}};
	joint.axis = (CalVec3){0, 0, 1};
	joint.inboard.position = (CalVec3){x, 0, 0};
	assert_int_equal(cal_desc_add_body(desc, &body, &id, NULL), CAL_OK);
	assert_int_equal(cal_desc_attach(desc, on, &joint, cal_desc_body_node(desc, id), NULL, NULL), CAL_OK);
	return id;
}

/* th'' = -c cos(th) with c = g (2/2 + 1)/(2/3 + 1) = 1.2 g of a window of rods of 1 m; a rod of length l has c = 1.5 g/l. */
static CalModel *make(int window) {
	CalDesc *desc;
	CalModel *model;
	assert_int_equal(cal_desc_create(NULL, &desc), CAL_OK);
	assert_int_equal(cal_desc_set_gravity(desc, (CalGroupId){0}, (CalVec3){0, -9.81, 0}), CAL_OK);
	const CalBodyId crank = add_rod(desc, (CalNodeId){0}, 0, window ? 1 : 1.25, "crank");
	if (window) {
		const CalBodyId coupler = add_rod(desc, cal_desc_body_node(desc, crank), 1, 1, "coupler");
		const CalBodyId other = add_rod(desc, (CalNodeId){0}, 1, 1, "other");
		CalLoopDef loop = cal_loop_def(CAL_LOOP_REVOLUTE);
		loop.name = "pin";
		loop.a.position = loop.b.position = (CalVec3){1, 0, 0};
		assert_int_equal(cal_desc_close_loop(desc, cal_desc_body_node(desc, coupler), &loop,
		                                     cal_desc_body_node(desc, other), NULL, NULL),
		                 CAL_OK);
	}
	assert_int_equal(cal_model_compile(desc, NULL, &model, NULL), CAL_OK);
	cal_desc_destroy(desc);
	return model;
}

static CalState start(const CalModel *model) {
	CalState state;
	assert_int_equal(cal_state_create(model, &state), CAL_OK);
	for (int i = 0; i < cal_model_u_count(model); i++)
		state.q[i] = i == 1 ? -START : START;
	return state;
}

/* The crank at the end by fixed steps. */
static double reference(const CalModel *model, CalWork *work) {
	CalIntegrator *integrator;
	CalState state = start(model);
	const CalIntegratorOptions options = {.method = CAL_METHOD_RK4, .step = 1e-4};
	assert_int_equal(cal_integrator_create(model, work, &options, &integrator), CAL_OK);
	assert_int_equal(cal_integrator_advance(integrator, &state, END), CAL_OK);
	const double q = state.q[0];
	cal_integrator_destroy(integrator);
	cal_state_destroy(&state);
	return q;
}

/* Error of the crank over rtol, and the steps it took. */
static double error_over_rtol(const CalModel *model, CalWork *work, CalMethod method, double rtol, double want,
                              double *steps) {
	CalIntegrator *cvode;
	CalState state = start(model);
	const CalIntegratorOptions options = {.method = method, .rtol = rtol, .atol = rtol};
	assert_int_equal(cal_integrator_create(model, work, &options, &cvode), CAL_OK);
	assert_int_equal(cal_integrator_advance(cvode, &state, END), CAL_OK);
	const double error = fabs(state.q[0] - want) / rtol;
	*steps = (double)cal_integrator_stats(cvode).steps;
	cal_integrator_destroy(cvode);
	cal_state_destroy(&state);
	return error;
}

static void loops_do_not_make_errors_larger(void **state) {
	(void)state;
	static const CalMethod methods[] = {CAL_METHOD_CVODE_ADAMS, CAL_METHOD_CVODE_BDF};
	double want[2];
	CalModel *model[2];
	CalWork *work[2];
	for (int i = 0; i < 2; i++) {
		model[i] = make(i);
		assert_int_equal(cal_work_create(model[i], &work[i]), CAL_OK);
		want[i] = reference(model[i], work[i]);
	}
	assert_true(fabs(want[0] - want[1]) < 1e-9);
	for (int k = 0; k < 2; k++) {
		for (double rtol = 1e-5; rtol > 5e-10; rtol /= 100) {
			double error[2], steps[2];
			for (int i = 0; i < 2; i++)
				error[i] = error_over_rtol(model[i], work[i], methods[k], rtol, want[i], &steps[i]);
			print_message("%s, rtol %.0e: pendulum %.0f rtol in %.0f steps, window %.0f rtol in %.0f steps\n",
			              k ? "BDF" : "Adams", rtol, error[0], steps[0], error[1], steps[1]);
			assert_true(error[0] < 5 * steps[0] && error[1] < 1.1 * error[0] + 1 && steps[1] < 1.1 * steps[0]);
		}
	}
	for (int i = 0; i < 2; i++) {
		cal_work_destroy(work[i]);
		cal_model_destroy(model[i]);
	}
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(loops_do_not_make_errors_larger),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

#else

int main(void) { return 0; } // test_cvode.c says what is missing

#endif
