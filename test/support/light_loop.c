// SPDX-License-Identifier: Apache-2.0
/*
 * light_loop.c — linkages whose links can be made light.
 */
#include "support/light_loop.h"

#include <math.h>
#include <stdlib.h>

/* A rod along x of the given length, its joint at x on its parent. */
static int add_rod(RefModel *m, int parent, CalJointType type, CalVec3 at, double length) {
	const int i = ref_model_add_body(m, parent, type);
	RefBody *b = &m->bodies[i];
	const double square = length * length / 12;
	b->joint.inboard.position = at;
	b->mass = 1;
	b->com.x = length / 2;
	b->inertia = (CalMat3){{{0.1 * square, 0, 0}, {0, square, 0}, {0, 0, square}}};
	return i;
}

static CalPlacement body_placement(const RefModel *m, int body, const double *q) {
	RefMotion *bodies = test_alloc((size_t)m->body_count, sizeof *bodies);
	double *u = test_doubles(m->nu);
	ref_kinematics(m, q, u, NULL, bodies, NULL);
	const CalPlacement p = {bodies[body].pose.r, quat_of_rotation(&bodies[body].pose.R)};
	free(bodies), free(u);
	return p;
}

/* A loop between the tip of a body and body b (-1: the ground) as they are at q, its axis that of the world's z turned. */
static void close_at(RefModel *m, Rng *r, RefLoopType type, int a, double x, int b, const double *q) {
	const double half = rng_uniform(r, -1, 1);
	const CalPlacement tip = {{x, 0, 0}, {cos(half), 0, 0, sin(half)}};
	const CalPlacement world = placement_compose(body_placement(m, a, q), tip);
	const CalPlacement on_b = b < 0 ? world : placement_compose(placement_invert(body_placement(m, b, q)), world);
	const int node_a = ref_model_add_node(m, a, tip), node_b = ref_model_add_node(m, b, on_b);
	RefLoop *l = ref_model_add_loop(m, type);
	l->node_a = node_a, l->node_b = node_b;
}

/* Speeds that keep the loops closed. */
static void start_at(RefModel *m, Rng *r, const double *q) {
	double *u = test_doubles(m->nu);
	for (int k = 0; k < m->nu; k++)
		u[k] = rng_uniform(r, -2, 2);
	refq_project_velocity(m, 0, q, u, REF_EUCLIDEAN, NULL, u, NULL);
	ref_model_set_start(m, q, u);
	free(u);
}

static double *random_q(const RefModel *m, Rng *r) {
	double *q = test_doubles(m->nq);
	for (int k = 0; k < m->nq; k++)
		q[k] = rng_uniform(r, 0.3, 1.1);
	return q;
}

/* Bars one after the other, the last pinned to the ground. */
RefModel *light_ring(Rng *r) {
	static const RefLoopType closing[] = {REF_LOOP_REVOLUTE, REF_LOOP_CYLINDRICAL, REF_LOOP_SPHERICAL};
	RefModel *m = random_linkage(r, 3 + rng_int(r, 3), closing[rng_int(r, 3)]);
	for (int i = 1; i < m->body_count; i++) {
		m->bodies[i].mass = 1;
		m->bodies[i].com = (CalVec3){0.4, 0.1, 0};
		m->bodies[i].inertia = (CalMat3){{{0.1, 0, 0}, {0, 0.2, 0}, {0, 0, 0.3}}};
	}
	return m;
}

/* Cranks on the ground, or on a free hull, joined by couplers. */
static RefModel *ladder_on(Rng *r, int free_hull) {
	RefModel *m = ref_model_create();
	const int rungs = 2 + rng_int(r, 3);
	int base = -1, crank[6], coupler[6];
	m->gravity = (CalVec3){0, -9.81, 0};
	if (free_hull) {
		base = add_rod(m, -1, CAL_JOINT_FREE, (CalVec3){0, 0, 0}, 3);
		m->bodies[base].mass = 5;
	}
	for (int i = 0; i <= rungs; i++) {
		crank[i] = add_rod(m, base, CAL_JOINT_REVOLUTE, (CalVec3){i, 0, 0}, rng_uniform(r, 0.6, 1));
		if (i < rungs)
			coupler[i] = add_rod(m, crank[i], CAL_JOINT_REVOLUTE, (CalVec3){2 * m->bodies[crank[i]].com.x, 0, 0}, 1);
	}
	ref_model_index(m);
	double *q = random_q(m, r);
	for (int k = 0; free_hull && k < 7; k++)
		q[k] = k == 3;
	for (int i = 0; i < rungs; i++)
		close_at(m, r, REF_LOOP_REVOLUTE, coupler[i], 1, crank[i + 1], q);
	start_at(m, r, q);
	free(q);
	return m;
}

RefModel *light_ladder(Rng *r) { return ladder_on(r, 0); }
RefModel *light_free_ladder(Rng *r) { return ladder_on(r, 1); }

/* A chain of bodies on legs of two links, their feet pinned to the ground. */
RefModel *light_feet(Rng *r) {
	RefModel *m = ref_model_create();
	const int bodies = 2 + rng_int(r, 3);
	int back = -1, shank[6];
	m->gravity = (CalVec3){0, -9.81, 0};
	for (int i = 0; i < bodies; i++) {
		back = add_rod(m, back, CAL_JOINT_REVOLUTE, (CalVec3){i > 0, 0, 0}, 1);
		const int thigh = add_rod(m, back, CAL_JOINT_REVOLUTE, (CalVec3){0.8, 0, 0}, 0.7);
		shank[i] = add_rod(m, thigh, CAL_JOINT_REVOLUTE, (CalVec3){0.7, 0, 0}, 0.6);
	}
	ref_model_index(m);
	double *q = random_q(m, r);
	for (int i = 0; i < bodies; i++)
		close_at(m, r, REF_LOOP_REVOLUTE, shank[i], 0.6, -1, q);
	start_at(m, r, q);
	free(q);
	return m;
}

/* Crank and rocker turn about skew axes; the coupler has a ball at either end. */
RefModel *light_spatial(Rng *r) {
	RefModel *m = ref_model_create();
	m->gravity = (CalVec3){1, -3, -9};
	const int crank = add_rod(m, -1, CAL_JOINT_REVOLUTE, (CalVec3){0, 0, 0}, 0.4);
	const int coupler = add_rod(m, crank, CAL_JOINT_SPHERICAL, (CalVec3){0.4, 0, 0}, 1.2);
	const int rocker = add_rod(m, -1, CAL_JOINT_REVOLUTE, (CalVec3){1, 0.3, 0.2}, 0.8);
	m->bodies[crank].joint.axis = (CalVec3){0, 0, 1};
	m->bodies[rocker].joint.axis = (CalVec3){0.3, 1, 0.2};
	ref_model_index(m);
	double *q = random_q(m, r), square = 0;
	for (int k = 1; k < 5; k++)
		square += q[k] * q[k];
	for (int k = 1; k < 5; k++)
		q[k] /= sqrt(square);
	close_at(m, r, REF_LOOP_SPHERICAL, coupler, 1.2, rocker, q);
	start_at(m, r, q);
	free(q);
	return m;
}

/* A chain of bodies, each with a four-bar of its own; loops do not join one with another. */
RefModel *light_carriers(Rng *r) {
	RefModel *m = ref_model_create();
	const int bodies = 2 + rng_int(r, 3);
	int back = -1, coupler[6], rocker[6];
	m->gravity = (CalVec3){1, -9.81, 2};
	for (int i = 0; i < bodies; i++) {
		back = add_rod(m, back, CAL_JOINT_REVOLUTE, (CalVec3){i > 0, 0, 0}, 1);
		m->bodies[back].joint.axis = (CalVec3){rng_uniform(r, -1, 1), 1, rng_uniform(r, -1, 1)};
		const int crank = add_rod(m, back, CAL_JOINT_REVOLUTE, (CalVec3){0.2, 0.1, 0}, 0.3);
		coupler[i] = add_rod(m, crank, CAL_JOINT_REVOLUTE, (CalVec3){0.3, 0, 0}, 0.8);
		rocker[i] = add_rod(m, back, CAL_JOINT_REVOLUTE, (CalVec3){0.9, 0.1, 0}, 0.6);
	}
	ref_model_index(m);
	double *q = random_q(m, r);
	for (int i = 0; i < bodies; i++)
		close_at(m, r, REF_LOOP_REVOLUTE, coupler[i], 0.8, rocker[i], q);
	start_at(m, r, q);
	free(q);
	return m;
}

/* Some bodies lighter by the given factor; the first of them is never the base of all. */
void make_light(RefModel *m, Rng *r, double factor) {
	for (int i = 0; i < m->body_count; i++) {
		const int light = i == 1 + (m->bodies[0].joint.type == CAL_JOINT_FREE) || (i > 0 && rng_chance(r, 0.4));
		if (m->bodies[i].joint.type == CAL_JOINT_FREE || !light)
			continue;
		m->bodies[i].mass *= factor;
		for (int k = 0; k < 9; k++)
			m->bodies[i].inertia.m[k / 3][k % 3] *= factor;
	}
}

Fixture *light_fixture(RefModel *(*make)(Rng *), uint64_t seed, int decades) {
	Rng r = rng_make(seed);
	RefModel *ref = make(&r);
	make_light(ref, &r, pow(10, -decades));
	Fixture *f = fixture_create(ref, seed, CAL_SOLVER_RECURSIVE);
	ref_model_start(f->ref, f->state.q, f->state.u);
	fixture_close_loops(f);
	return f;
}
