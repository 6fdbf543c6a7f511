// SPDX-License-Identifier: Apache-2.0
/*
 * systems.h — small systems on which integrators are tested, with state, workspace and distances.
 *
 * A System is one compiled model with a workspace and a state. All fail the test at once if anything goes wrong.
 * Each has what a scheme can get wrong: the top turns about a quaternion, the double pendulum is nonlinear in
 * q and u, the oscillator has a closed form, the spinner a steady spin.
 */
#ifndef CALDER_TEST_SYSTEMS_H
#define CALDER_TEST_SYSTEMS_H

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <calder/integrate.h>

typedef struct System {
	CalModel *model;
	CalWork *work;
	CalState state;
	int nq, nu;
} System;

/** Compiles the description and frees it. */
static inline System system_of(CalDesc *desc) {
	System s = {0};
	CalError error = {0};
	CalStatus status = cal_model_compile(desc, &(CalCompileOptions){0}, &s.model, &error);
	if (status != CAL_OK) {
		print_error("%s\n", error.text);
	}
	assert_int_equal(status, CAL_OK);
	cal_desc_destroy(desc);
	assert_int_equal(cal_work_create(s.model, &s.work), CAL_OK);
	assert_int_equal(cal_state_create(s.model, &s.state), CAL_OK);
	s.nq = cal_model_q_count(s.model);
	s.nu = cal_model_u_count(s.model);
	return s;
}

static inline void system_free(System *s) {
	cal_state_destroy(&s->state);
	cal_work_destroy(s->work);
	cal_model_destroy(s->model);
}

static inline CalDesc *desc_with_gravity(double g) {
	CalDesc *desc = NULL;
	assert_int_equal(cal_desc_create(NULL, &desc), CAL_OK);
	assert_int_equal(cal_desc_set_gravity(desc, (CalGroupId){0}, (CalVec3){0, 0, -g}), CAL_OK);
	return desc;
}

/** A body with its center of mass at (0, 0, -length) carried by a joint at `at` on the inboard body. */
static inline CalBodyId attach_body(CalDesc *desc, CalBodyId inboard, CalVec3 at, CalJointDef joint, const char *name,
                                    double mass, double length, CalVec3 moments) {
	CalBodyDef body = cal_body_def();
	CalBodyId id;
	body.name = joint.name = name;
	body.mass = mass;
	body.com.z = -length;
	body.inertia = (CalMat3){{{moments.x, 0, 0}, {0, moments.y, 0}, {0, 0, moments.z}}};
	joint.inboard.position = at;
	assert_int_equal(cal_desc_add_body(desc, &body, &id, NULL), CAL_OK);
	assert_int_equal(
		cal_desc_attach(desc, cal_desc_body_node(desc, inboard), &joint, cal_desc_body_node(desc, id), NULL, NULL),
		CAL_OK);
	return id;
}

static inline CalJointDef joint_about(CalJointType type, double x, double y, double z) {
	CalJointDef joint = cal_joint_def(type);
	joint.axis = (CalVec3){x, y, z};
	return joint;
}

static const CalBodyId ground = {0};
static const CalVec3 origin = {0, 0, 0};

/** Two links about y and an axis askew, swinging widely. q = (1, 0.7), u = (0.3, -0.8). */
static inline System double_pendulum(void) {
	CalDesc *desc = desc_with_gravity(9.81);
	CalBodyId upper = attach_body(desc, ground, origin, joint_about(CAL_JOINT_REVOLUTE, 0, 1, 0), "upper", 1.2, 0.5,
	                              (CalVec3){0.1, 0.12, 0.03});
	attach_body(desc, upper, (CalVec3){0, 0, -1}, joint_about(CAL_JOINT_REVOLUTE, 0.6, 0.8, 0), "lower", 0.7, 0.4,
	            (CalVec3){0.05, 0.06, 0.02});
	System s = system_of(desc);
	s.state.q[0] = 1;
	s.state.q[1] = 0.7;
	s.state.u[0] = 0.3;
	s.state.u[1] = -0.8;
	return s;
}

/** A heavy asymmetric top on a ball joint, spinning and nutating. */
static inline System heavy_top(void) {
	CalDesc *desc = desc_with_gravity(9.81);
	attach_body(desc, ground, origin, cal_joint_def(CAL_JOINT_SPHERICAL), "top", 1, 0.3, (CalVec3){0.05, 0.06, 0.04});
	System s = system_of(desc);
	s.state.u[0] = 2;
	s.state.u[1] = -1;
	s.state.u[2] = 6;
	return s;
}

/** A free body with principal moments A, A, C and these body rates; no gravity. */
static inline System free_body(double A, double C, double wx, double wz) {
	CalDesc *desc = desc_with_gravity(0);
	attach_body(desc, ground, origin, cal_joint_def(CAL_JOINT_FREE), "body", 1, 0, (CalVec3){A, A, C});
	System s = system_of(desc);
	s.state.u[3] = wx;
	s.state.u[5] = wz;
	return s;
}

/** Mass 1 kg on a spring of omega^2 N/m along x, at q = 1. */
static inline System oscillator(double omega) {
	CalDesc *desc = desc_with_gravity(0);
	CalJointDef joint = joint_about(CAL_JOINT_PRISMATIC, 1, 0, 0);
	joint.dof[0].stiffness = omega * omega;
	attach_body(desc, ground, origin, joint, "mass", 1, 0, (CalVec3){0.1, 0.1, 0.1});
	System s = system_of(desc);
	s.state.q[0] = 1;
	return s;
}

/** A wheel of unit inertia about z without any force. */
static inline System wheel(void) {
	CalDesc *desc = desc_with_gravity(0);
	attach_body(desc, ground, origin, joint_about(CAL_JOINT_REVOLUTE, 0, 0, 1), "wheel", 1, 0, (CalVec3){0.6, 0.6, 1});
	return system_of(desc);
}

static inline CalState state_of(const System *s) {
	CalState copy;
	assert_int_equal(cal_state_create(s->model, &copy), CAL_OK);
	cal_state_copy(s->model, &s->state, &copy);
	return copy;
}

/** Largest difference of configurations (as a displacement) and speeds. */
static inline double state_distance(const System *s, const CalState *a, const CalState *b) {
	double *d = malloc((size_t)(s->nu + 1) * sizeof *d), worst = 0;
	assert_non_null(d);
	cal_config_difference(s->model, a->q, b->q, d);
	for (int i = 0; i < s->nu; i++) {
		worst = fmax(worst, fmax(fabs(d[i]), fabs(a->u[i] - b->u[i])));
	}
	free(d);
	return worst;
}

static inline void assert_same_bits(const System *s, const CalState *a, const CalState *b) {
	assert_true(a->t == b->t);
	assert_memory_equal(a->q, b->q, (size_t)s->nq * sizeof(double));
	assert_memory_equal(a->u, b->u, (size_t)s->nu * sizeof(double));
}

static inline CalIntegrator *integrator_for(const System *s, CalIntegratorOptions options) {
	CalIntegrator *integrator = NULL;
	assert_int_equal(cal_integrator_create(s->model, s->work, &options, &integrator), CAL_OK);
	return integrator;
}

/** The state at t_end, integrated from s->state with these options; to be destroyed by the caller. */
static inline CalState advanced(const System *s, CalIntegratorOptions options, double t_end) {
	CalState state = state_of(s);
	CalIntegrator *integrator = integrator_for(s, options);
	assert_int_equal(cal_integrator_advance(integrator, &state, t_end), CAL_OK);
	cal_integrator_destroy(integrator);
	return state;
}

static inline CalState advanced_fixed(const System *s, CalMethod method, double h, double t_end) {
	return advanced(s, (CalIntegratorOptions){.method = method, .step = h}, t_end);
}

/** To round-off: the tolerances are below the resolution of doubles for most of these systems. */
static inline CalState advanced_exactly(const System *s, double t_end) {
	return advanced(s, (CalIntegratorOptions){.method = CAL_METHOD_DOPRI5, .rtol = 3e-14, .atol = 1e-15}, t_end);
}

#endif
