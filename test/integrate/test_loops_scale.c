// SPDX-License-Identifier: Apache-2.0
/*
 * test_loops_scale.c — a four-bar runs alike whatever its size and the mass of its coupler: micrometers, picometers and
 * kilometers give the angles of meters, a coupler of 1e-8 of its neighbors' mass those of one without mass; by fixed and
 * by adaptive steps.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <cmocka.h>

#include <calder/calder.h>

typedef struct Bars {
	double size;    // lengths and gravity [m]
	double mass;    // of all [kg]
	double coupler; // of the coupler beside the others
} Bars;

static CalBodyId add_bar(CalDesc *desc, CalNodeId on, double x, double length, double mass, const char *name) {
	CalBodyDef body = cal_body_def();
	CalJointDef joint = cal_joint_def(CAL_JOINT_REVOLUTE);
	CalBodyId id;
	const double J = mass * length * length / 12;
	body.name = joint.name = name;
	body.mass = mass;
	body.com = (CalVec3){length / 2, 0, 0};
	body.inertia = (CalMat3){{{1e-2 * J, 0, 0}, {0, J, 0}, {0, 0, J}}};
	joint.axis = (CalVec3){0, 0, 1};
	joint.inboard.position = (CalVec3){x, 0, 0};
	assert_int_equal(cal_desc_add_body(desc, &body, &id, NULL), CAL_OK);
	assert_int_equal(cal_desc_attach(desc, on, &joint, cal_desc_body_node(desc, id), NULL, NULL), CAL_OK);
	return id;
}

static CalModel *four_bar(Bars b) {
	CalDesc *desc;
	CalModel *model;
	CalError error = {0};
	const double s = b.size;
	assert_int_equal(cal_desc_create(NULL, &desc), CAL_OK);
	cal_desc_set_gravity(desc, (CalGroupId){0}, (CalVec3){0, -9.81 * s, 0});
	const CalBodyId crank = add_bar(desc, (CalNodeId){0}, 0, 0.4 * s, b.mass, "crank");
	const CalBodyId coupler = add_bar(desc, cal_desc_body_node(desc, crank), 0.4 * s, s, b.mass * b.coupler, "coupler");
	const CalBodyId rocker = add_bar(desc, (CalNodeId){0}, 1.1 * s, 0.8 * s, 1.5 * b.mass, "rocker");
	CalLoopDef loop = cal_loop_def(CAL_LOOP_REVOLUTE);
	loop.name = "pin";
	loop.a.position = (CalVec3){s, 0, 0}, loop.b.position = (CalVec3){0.8 * s, 0, 0};
	assert_int_equal(cal_desc_close_loop(desc, cal_desc_body_node(desc, coupler), &loop,
	                                     cal_desc_body_node(desc, rocker), NULL, NULL),
	                 CAL_OK);
	assert_int_equal(cal_model_compile(desc, NULL, &model, &error), CAL_OK);
	cal_desc_destroy(desc);
	return model;
}

/* Angles after half a second from the same start, which is closed first. */
static void run(Bars b, const CalIntegratorOptions *options, double q[3]) {
	CalModel *model = four_bar(b);
	CalWork *work;
	CalState state;
	CalIntegrator *integrator;
	const uint8_t frozen[3] = {1, 0, 0};
	assert_int_equal(cal_work_create(model, &work), CAL_OK);
	assert_int_equal(cal_state_create(model, &state), CAL_OK);
	const int crank = cal_model_find_body(model, "crank");
	assert_int_equal(crank, 0);
	state.q[0] = 0.7, state.q[1] = 0.3, state.q[2] = 1.9;
	state.u[0] = 2;
	assert_int_equal(cal_loop_project(model, &state, &(CalProjectOptions){.frozen = frozen}, work, NULL), CAL_OK);
	assert_int_equal(cal_integrator_create(model, work, options, &integrator), CAL_OK);
	assert_int_equal(cal_integrator_advance(integrator, &state, 0.5), CAL_OK);
	for (int i = 0; i < 3; i++)
		q[i] = state.q[i];
	cal_integrator_destroy(integrator);
	cal_state_destroy(&state);
	cal_work_destroy(work);
	cal_model_destroy(model);
}

static const CalIntegratorOptions methods[] = {
	{.method = CAL_METHOD_DOPRI5, .rtol = 1e-11, .atol = 1e-13},
	{.method = CAL_METHOD_RK4, .step = 5e-4},
};

static void check_equal(Bars b, Bars like, double tolerance) {
	for (int m = 0; m < 2; m++) {
		double q[3], want[3];
		run(b, &methods[m], q);
		run(like, &methods[m], want);
		for (int i = 0; i < 3; i++) {
			if (!(fabs(q[i] - want[i]) <= tolerance))
				print_message("size %g, mass %g, coupler %g: off by %.2e\n", b.size, b.mass, b.coupler, q[i] - want[i]);
			assert_true(fabs(q[i] - want[i]) <= tolerance);
		}
	}
}

static void any_size_moves_alike(void **state) {
	(void)state;
	static const double sizes[] = {1e-12, 1e-9, 1e-6, 1e-3, 1e4, 1e8};
	for (int i = 0; i < 6; i++)
		check_equal((Bars){sizes[i], pow(sizes[i], 3), 2}, (Bars){1, 1, 2}, 1e-10);
}

static void a_light_coupler_is_no_singular_position(void **state) {
	(void)state;
	for (int decades = 7; decades <= 12; decades++) {
		const double coupler = pow(10, -decades);
		check_equal((Bars){1, 1, coupler}, (Bars){1, 1, 1e-6}, 4e-6);
		check_equal((Bars){1e-6, 1, coupler}, (Bars){1, 1, coupler}, 1e-9);
	}
	check_equal((Bars){1, 1, 1e-12}, (Bars){1, 1, 1e-10}, 1e-9);
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(any_size_moves_alike),
		cmocka_unit_test(a_light_coupler_is_no_singular_position),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
