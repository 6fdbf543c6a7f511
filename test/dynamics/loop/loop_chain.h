// SPDX-License-Identifier: Apache-2.0
/*
 * loop_chain.h — descriptions of chains with loops that are built up body by body, and their solution by any way.
 */
#ifndef CALDER_TEST_DYNAMICS_LOOP_LOOP_CHAIN_H
#define CALDER_TEST_DYNAMICS_LOOP_LOOP_CHAIN_H

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <calder/calder.h>
#include "support/check.h"
#include "support/rng.h"

enum { MOST = 1700 };

/* A description that is built up, with the state it is in. */
typedef struct Chain {
	CalDesc *desc;
	CalBodyId body[MOST];
	int bodies, loops, dofs;
	double q[MOST], u[MOST], udot[MOST];
	int neutral; // nonzero: in its neutral configuration instead of q
} Chain;

typedef struct Solved {
	CalModel *model;
	CalWork *work;
	CalStatus status;
	double udot[MOST], lambda[5 * MOST];
	int rank;
} Solved;

static inline CalNodeId node_of(const Chain *c, int body) {
	return body < 0 ? (CalNodeId){0} : cal_desc_body_node(c->desc, c->body[body]);
}

static inline Chain *chain_create(CalVec3 gravity) {
	Chain *c = calloc(1, sizeof *c);
	assert_non_null(c);
	assert_int_equal(cal_desc_create(NULL, &c->desc), CAL_OK);
	assert_int_equal(cal_desc_set_gravity(c->desc, (CalGroupId){0}, gravity), CAL_OK);
	return c;
}

/* A body on a joint at a point of another one; returns its number. */
static inline int add_body(Chain *c, int on, CalJointDef joint, CalVec3 at, CalBodyDef body) {
	char name[2][16];
	snprintf(name[0], sizeof name[0], "b%d", c->bodies);
	snprintf(name[1], sizeof name[1], "j%d", c->bodies);
	body.name = name[0], joint.name = name[1];
	joint.inboard.position = at;
	assert_int_equal(cal_desc_add_body(c->desc, &body, &c->body[c->bodies], NULL), CAL_OK);
	const CalNodeId outboard = cal_desc_body_node(c->desc, c->body[c->bodies]);
	assert_int_equal(cal_desc_attach(c->desc, node_of(c, on), &joint, outboard, NULL, NULL), CAL_OK);
	return c->bodies++;
}

static inline CalBodyDef rod(double mass) {
	CalBodyDef body = cal_body_def();
	body.mass = mass;
	body.com = (CalVec3){0.5, 0, 0};
	body.inertia = (CalMat3){{{0, 0, 0}, {0, mass / 12, 0}, {0, 0, mass / 12}}};
	return body;
}

static inline int add_hinged_rod(Chain *c, int on, double x, double mass, double q, double u, double udot) {
	CalJointDef joint = cal_joint_def(CAL_JOINT_REVOLUTE);
	joint.axis = (CalVec3){0, 0, 1};
	c->q[c->dofs] = q, c->u[c->dofs] = u, c->udot[c->dofs++] = udot;
	return add_body(c, on, joint, (CalVec3){x, 0, 0}, rod(mass));
}

static inline void close_loop(Chain *c, CalLoopType type, int a, CalPlacement on_a, int b, CalPlacement on_b) {
	CalLoopDef loop = cal_loop_def(type);
	char name[16];
	snprintf(name, sizeof name, "l%d", c->loops++);
	loop.name = name;
	loop.a = on_a, loop.b = on_b;
	assert_int_equal(cal_desc_close_loop(c->desc, node_of(c, a), &loop, node_of(c, b), NULL, NULL), CAL_OK);
}

static inline CalPlacement at_point(double x, double y, double z) {
	CalPlacement place = cal_loop_def(CAL_LOOP_WELD).a;
	place.position = (CalVec3){x, y, z};
	return place;
}

static inline Solved *solve(const Chain *c, CalLoopSolver solver) {
	Solved *s = calloc(1, sizeof *s);
	CalState state;
	assert_non_null(s);
	const CalCompileOptions options = {.solver = CAL_SOLVER_RECURSIVE, .loops = solver};
	assert_int_equal(cal_model_compile(c->desc, &options, &s->model, NULL), CAL_OK);
	assert_int_equal(cal_work_create(s->model, &s->work), CAL_OK);
	assert_int_equal(cal_state_create(s->model, &state), CAL_OK);
	if (!c->neutral)
		memcpy(state.q, c->q, sizeof(double) * (size_t)cal_model_q_count(s->model));
	memcpy(state.u, c->u, sizeof(double) * (size_t)cal_model_u_count(s->model));
	s->status = cal_forward_dynamics(s->model, &state, NULL, s->work, s->udot);
	if (s->status == CAL_OK) {
		assert_int_equal(cal_loop_rank(s->model, s->work, &s->rank, NULL), CAL_OK);
		assert_int_equal(cal_loop_multipliers(s->model, s->work, s->lambda), CAL_OK);
	}
	cal_state_destroy(&state);
	return s;
}

static inline void solved_destroy(Solved *s) {
	cal_work_destroy(s->work);
	cal_model_destroy(s->model);
	free(s);
}

static inline void chain_destroy(Chain *c) {
	cal_desc_destroy(c->desc);
	free(c);
}

static inline CalBodyDef any_body(Rng *r) {
	CalBodyDef body = cal_body_def();
	body.mass = rng_uniform(r, 0.5, 2);
	body.com = (CalVec3){rng_uniform(r, 0.2, 0.8), rng_uniform(r, -0.2, 0.2), rng_uniform(r, -0.2, 0.2)};
	body.inertia = (CalMat3){{{rng_uniform(r, 0.1, 0.2), 0, 0}, {0, rng_uniform(r, 0.1, 0.2), 0}, {0, 0, 0.2}}};
	return body;
}

static inline void compare_with_cut_joints(const Chain *c, CalLoopSolver solver, double tolerance) {
	Solved *cut = solve(c, CAL_LOOPS_CUT_JOINT), *s = solve(c, solver);
	const int n = cal_model_u_count(s->model), m = cal_model_row_count(s->model);
	assert_int_equal(s->status, CAL_OK);
	assert_int_equal(cut->status, CAL_OK);
	assert_int_equal(s->rank, cut->rank);
	check_close_scaled(0, "udot", n, s->udot, cut->udot, fmax(1, max_abs(n, cut->udot)), tolerance);
	check_close_scaled(0, "lambda", m, s->lambda, cut->lambda, fmax(1, max_abs(m, cut->lambda)), tolerance);
	solved_destroy(s);
	solved_destroy(cut);
}

#endif
