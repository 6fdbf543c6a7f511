// SPDX-License-Identifier: Apache-2.0
/*
 * test_loop_solution.c — accelerations, forces and projections with loops.
 *
 * A joint that is cut and closed again by a loop must move as the joint does and carry its wrench: trees without
 * loops are the independent witness. The rest are the equations themselves, redundancy, conservation of energy.
 * Closed forms of linkages are in test_loop_linkages.c, golden cases in test_loop_golden.c.
 */
#include "reference/run.h"
#include "support/random_loop.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static CalVec3 plus(CalVec3 a, CalVec3 b) { return (CalVec3){a.x + b.x, a.y + b.y, a.z + b.z}; }
static CalVec3 cross(CalVec3 a, CalVec3 b) {
	return (CalVec3){a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}
static CalVec3 turned_back(const CalMat3 *R, CalVec3 a) {
	return (CalVec3){R->m[0][0] * a.x + R->m[1][0] * a.y + R->m[2][0] * a.z,
	                 R->m[0][1] * a.x + R->m[1][1] * a.y + R->m[2][1] * a.z,
	                 R->m[0][2] * a.x + R->m[1][2] * a.y + R->m[2][2] * a.z};
}

/* ---- a joint cut and closed ----------------------------------------------------------------- */

static const struct {
	CalJointType joint;
	RefLoopType loop;
} cuts[] = {
	{CAL_JOINT_WELD, REF_LOOP_WELD},           {CAL_JOINT_REVOLUTE, REF_LOOP_REVOLUTE},
	{CAL_JOINT_PRISMATIC, REF_LOOP_PRISMATIC}, {CAL_JOINT_CYLINDRICAL, REF_LOOP_CYLINDRICAL},
	{CAL_JOINT_UNIVERSAL, REF_LOOP_UNIVERSAL}, {CAL_JOINT_SPHERICAL, REF_LOOP_SPHERICAL},
	{CAL_JOINT_PLANAR, REF_LOOP_PLANAR},       {CAL_JOINT_SCREW, REF_LOOP_SCREW},
};

/* A random tree whose last body has a joint of the given type about the z axis (universal: x, then y). */
static RefModel *tree_with_joint(uint64_t seed, CalJointType type) {
	Rng r = rng_make(seed);
	TreeOptions o = tree_flexible(seed);
	o.bodies = 3;
	o.max_modes = 3;
	o.massless = 0;
	RefModel *m = random_tree(&r, o);
	RefBody *b = &m->bodies[m->body_count - 1];
	CalPlacement in = b->joint.inboard, out = b->joint.outboard;
	free(b->user);
	b->user = NULL;
	b->joint = cal_joint_def(type);
	b->joint.inboard = in, b->joint.outboard = out;
	b->joint.axis = type == CAL_JOINT_UNIVERSAL ? (CalVec3){1, 0, 0} : (CalVec3){0, 0, 1};
	b->joint.axis2 = type == CAL_JOINT_UNIVERSAL ? (CalVec3){0, 1, 0} : (CalVec3){1, 0, 0};
	b->joint.pitch = type == CAL_JOINT_SCREW ? 0.2 : 0;
	ref_model_index(m);
	return m;
}

static CalPlacement unit_placement(CalPlacement p) {
	CalQuat *o = &p.orientation;
	if (o->w == 0 && o->x == 0 && o->y == 0 && o->z == 0)
		o->w = 1;
	return p;
}

/* The same with the last body free and held by a loop. */
static RefModel *tree_with_loop(uint64_t seed, CalJointType joint, RefLoopType type) {
	RefModel *m = tree_with_joint(seed, joint);
	CalPlacement here = {{0, 0, 0}, {1, 0, 0, 0}};
	int i = m->body_count - 1;
	RefBody *b = &m->bodies[i];
	RefLoop *l = ref_model_add_loop(m, type);
	l->node_a = b->parent_node >= 0 ? b->parent_node : b->parent >= 0 ? ref_model_add_node(m, b->parent, here) : -1;
	l->node_b = b->head_node >= 0 ? b->head_node : ref_model_add_node(m, i, here);
	l->frame_a = unit_placement(b->joint.inboard);
	l->frame_b = placement_invert(unit_placement(b->joint.outboard));
	l->pitch = b->joint.pitch;
	b->parent = b->parent_node = -1;
	b->joint = cal_joint_def(CAL_JOINT_FREE);
	ref_model_index(m);
	return m;
}

static RefMotion head_motion(const RefModel *m, int i, const RefMotion *bodies, const RefMotion *nodes) {
	return m->bodies[i].head_node >= 0 ? nodes[m->bodies[i].head_node] : bodies[i];
}

/* The state of the tree as one of the model with the loop. */
static void carry_state(const RefModel *tree, const RefModel *loop, const RefMotion *head, const double *q,
                        const double *u, double *q1, double *u1) {
	for (int i = 0; i < tree->body_count; i++) {
		const RefBody *a = &tree->bodies[i], *b = &loop->bodies[i];
		if (i < tree->body_count - 1) {
			memcpy(q1 + b->q, q + a->q, sizeof *q * (size_t)a->nq);
			memcpy(u1 + b->u, u + a->u, sizeof *u * (size_t)a->nu);
		}
		memcpy(q1 + b->q + b->nq, q + a->q + a->nq, sizeof *q * (size_t)a->modes);
		memcpy(u1 + b->u + b->nu, u + a->u + a->nu, sizeof *u * (size_t)a->modes);
	}
	const RefBody *b = &loop->bodies[loop->body_count - 1];
	CalQuat o = quat_of_rotation(&head->pose.R);
	CalVec3 w = turned_back(&head->pose.R, head->velocity.angular);
	memcpy(q1 + b->q, &head->pose.r, sizeof head->pose.r);
	memcpy(q1 + b->q + 3, &o, sizeof o);
	memcpy(u1 + b->u, &head->velocity.linear, sizeof head->velocity.linear);
	memcpy(u1 + b->u + 3, &w, sizeof w);
}

static void check_cut(uint64_t seed, CalJointType joint, RefLoopType type) {
	RefModel *tree = tree_with_joint(seed, joint), *loop = tree_with_loop(seed, joint, type);
	Rng r = rng_make(~seed);
	int nb = tree->body_count, nn = tree->node_count, last = nb - 1, size = (int)(sizeof(RefMotion) / sizeof(double));
	int rows = ref_model_rows(loop);
	double *q = test_doubles(tree->nq), *u = test_doubles(tree->nu), *dq = test_doubles(tree->nu);
	double *q1 = test_doubles(loop->nq), *u1 = test_doubles(loop->nu), *lambda = test_doubles(rows);
	double *a = test_doubles(tree->nu), *a1 = test_doubles(loop->nu), *g = test_doubles(2 * rows);
	RefMotion *bodies = test_alloc((size_t)nb, sizeof *bodies), *nodes = test_alloc((size_t)nn + 2, sizeof *nodes);
	RefMotion *bodies1 = test_alloc((size_t)nb, sizeof *bodies), *nodes1 = test_alloc((size_t)nn + 2, sizeof *nodes);
	CalSpatial *wrench = test_alloc((size_t)nb, sizeof *wrench), *wrench1 = test_alloc((size_t)nb, sizeof *wrench);
	CalWrench push = {.node = nn - 1, .f = {rng_vector(&r, 2), rng_vector(&r, 5)}};
	CalInput in = {.wrenches = &push, .wrench_count = 1};
	RefSolution s = {.udot = a1, .lambda = lambda};
	RefLoopForce f;

	ref_model_start(tree, q1, u);
	rng_fill(&r, 0.9, tree->nu, dq);
	ref_config_integrate(tree, q1, dq, q);
	rng_fill(&r, 1, tree->nu, u);
	assert_int_equal(refq_forward_dense(tree, q, u, &in, a), 0);
	refq_kinematics(tree, q, u, a, bodies, nodes);
	refq_reactions(tree, q, u, a, &in, wrench);
	RefMotion head = head_motion(tree, last, bodies, nodes);
	carry_state(tree, loop, &head, q, u, q1, u1);

	refq_loop_rows(loop, 0, q1, u1, g, g + rows, NULL, NULL);
	check_that(seed, max_abs(2 * rows, g) < 1e-13);
	assert_int_equal(refq_loop_forward(loop, 0, q1, u1, &in, &s), 0);
	check_that(seed, s.rank == rows);
	refq_kinematics(loop, q1, u1, a1, bodies1, nodes1);
	refq_loop_reactions(loop, q1, u1, a1, &in, lambda, wrench1);
	refq_loop_forces(loop, q1, lambda, &f);
	const char *name = ref_loop_type_name(type);
	check_close(seed, name, nb * size, (double *)bodies1, (double *)bodies, 1e-11);
	check_close(seed, name, nn * size, (double *)nodes1, (double *)nodes, 1e-11);
	check_close(seed, name, 6 * last, &wrench1->angular.x, &wrench->angular.x, 1e-10);
	CalVec3 arm = {f.point_b.x - head.pose.r.x, f.point_b.y - head.pose.r.y, f.point_b.z - head.pose.r.z};
	f.on_b.angular = plus(f.on_b.angular, cross(arm, f.on_b.linear));
	check_close(seed, name, 6, &f.on_b.angular.x, &wrench[last].angular.x, 1e-11);
	check_close_scaled(seed, "joint of the free body", 6, &wrench1[last].angular.x, g,
	                   max_abs(6, &wrench[last].angular.x), 1e-10);

	ref_model_destroy(tree), ref_model_destroy(loop);
	free(q), free(u), free(dq), free(q1), free(u1), free(lambda), free(a), free(a1), free(g);
	free(bodies), free(nodes), free(bodies1), free(nodes1), free(wrench), free(wrench1);
}

static void a_loop_moves_and_carries_as_the_joint_it_stands_for(void **state) {
	(void)state;
	for (size_t i = 0; i < sizeof cuts / sizeof *cuts; i++)
		for (uint64_t seed = test_seed(); seed < test_seed() + 4; seed++)
			check_cut(seed, cuts[i].joint, cuts[i].loop);
}

/* ---- equations ------------------------------------------------------------------------------ */

typedef struct System {
	uint64_t seed;
	RefModel *m;
	int n, rows;
	double *q, *u, *tau, *G, *rate, *residual, *gamma, *udot, *lambda, *constraint, *prescribed, *mismatch, *redundancy;
	RefSolution s; // points to the above
} System;

static System system_of(uint64_t seed, RefModel *m) {
	int n = m->nu, rows = ref_model_rows(m);
	System x = {.seed = seed, .m = m, .n = n, .rows = rows, .q = test_doubles(m->nq), .u = test_doubles(n)};
	Rng r = rng_make(seed ^ 77);
	x.tau = test_doubles(n), x.G = test_doubles(rows * n), x.rate = test_doubles(rows);
	x.residual = test_doubles(rows), x.gamma = test_doubles(rows);
	x.s.udot = x.udot = test_doubles(n), x.s.lambda = x.lambda = test_doubles(rows);
	x.s.constraint = x.constraint = test_doubles(n), x.s.prescribed = x.prescribed = test_doubles(n);
	x.s.mismatch = x.mismatch = test_doubles(rows), x.s.redundancy = x.redundancy = test_doubles(rows);
	ref_model_start(m, x.q, x.u);
	rng_fill(&r, 5, n, x.tau);
	return x;
}

static void system_free(System *x) {
	ref_model_destroy(x->m);
	free(x->q), free(x->u), free(x->tau), free(x->G), free(x->rate), free(x->residual), free(x->gamma), free(x->udot);
	free(x->lambda), free(x->constraint), free(x->prescribed), free(x->mismatch), free(x->redundancy);
}

static System random_system(uint64_t seed) {
	Rng r = rng_make(seed);
	LoopOptions o = loop_any(seed);
	o.stabilised = rng_chance(&r, 0.5);
	o.known = 0;
	o.tree.max_modes = 3;
	return system_of(seed, random_loop(&r, o));
}

/* Off the constraints, so that stabilisation acts; rows stay independent or double. */
static void move_away(System *x, double size) {
	Rng r = rng_make(x->seed ^ 5);
	double *dq = test_doubles(x->n), *q = test_doubles(x->m->nq);
	rng_fill(&r, size, x->n, dq);
	ref_config_integrate(x->m, x->q, dq, q);
	for (int j = 0; j < x->n; j++)
		x->u[j] += rng_uniform(&r, -size, size);
	free(x->q), free(dq);
	x->q = q;
}

static void equations_of_motion_and_constraints_hold(void **state) {
	(void)state;
	for (uint64_t seed = test_seed(); seed < test_seed() + 20; seed++) {
		System x = random_system(seed);
		Rng r = rng_make(seed);
		double *need = test_doubles(x.n), *target = test_doubles(x.rows), *Gu = test_doubles(x.rows);
		uint8_t *prescribed = test_alloc((size_t)x.n, 1);
		CalInput in = {.tau = x.tau};
		int stabilised = 0;
		if (rng_chance(&r, 0.3)) { /* one prescribed speed */
			prescribed[rng_int(&r, x.n)] = 1;
			in.prescribed = prescribed;
		}
		for (int i = 0; i < x.m->loop_count; i++)
			stabilised |= x.m->loops[i].frequency > 0;
		if (stabilised)
			move_away(&x, 0.01);
		refq_loop_rows(x.m, 0.3, x.q, x.u, x.residual, x.rate, x.G, x.gamma);
		assert_int_equal(refq_loop_forward(x.m, 0.3, x.q, x.u, &in, &x.s), 0);
		refq_inverse_sums(x.m, x.q, x.u, x.udot, &in, need);
		for (int i = 0, at = 0; i < x.m->loop_count; i++)
			for (int k = 0; k < ref_loop_row_count(&x.m->loops[i]); k++, at++) {
				double w = x.m->loops[i].frequency, d = x.m->loops[i].damping;
				target[at] = x.gamma[at] - 2 * d * w * x.rate[at] - w * w * x.residual[at];
				for (int j = 0; j < x.n; j++)
					Gu[at] += x.G[at * x.n + j] * x.udot[j];
				Gu[at] -= x.mismatch[at];
			}
		double *force = test_doubles(x.n), *want = test_doubles(x.n);
		for (int j = 0; j < x.n; j++) {
			force[j] = x.tau[j] + x.prescribed[j];
			for (int i = 0; i < x.rows; i++) {
				force[j] += x.G[i * x.n + j] * x.lambda[i];
				want[j] += x.G[i * x.n + j] * x.lambda[i];
			}
			check_that(seed, prescribed[j] || x.prescribed[j] == 0);
			check_that(seed, !prescribed[j] || x.udot[j] == 0);
		}
		check_close(seed, "forces", x.n, force, need, 1e-12);
		check_close(seed, "constraint forces", x.n, x.constraint, want, 1e-13);
		check_close_scaled(seed, "constraints", x.rows, Gu, target, max_abs(x.n, x.udot), 1e-13);
		if (!in.prescribed && x.s.rank == x.rows)
			check_that(seed, max_abs(x.rows, x.mismatch) <= 1e-14 * (1 + max_abs(x.n, x.udot)));
		free(need), free(target), free(Gu), free(prescribed), free(force), free(want);
		system_free(&x);
	}
}

static void double_agrees_with_quad(void **state) {
	(void)state;
	for (uint64_t seed = test_seed(); seed < test_seed() + 20; seed++) {
		System x = random_system(seed);
		double *a = test_doubles(x.n), *c = test_doubles(x.n);
		RefSolution s = {.udot = a, .constraint = c};
		CalInput in = {.tau = x.tau};
		assert_int_equal(refq_loop_forward(x.m, 0, x.q, x.u, &in, &x.s), 0);
		assert_int_equal(ref_loop_forward(x.m, 0, x.q, x.u, &in, &s), 0);
		check_that(seed, s.rank == x.s.rank);
		check_close(seed, "accelerations", x.n, a, x.udot, 1e-8);
		check_close_scaled(seed, "constraint forces", x.n, c, x.constraint, 1, 1e-8);
		free(a), free(c);
		system_free(&x);
	}
}

/* ---- redundancy ----------------------------------------------------------------------------- */

/* Doubled loops leave the motion as it is and share the forces; same frames: half each. */
static void doubled_loops_share_their_forces(void **state) {
	(void)state;
	for (uint64_t seed = test_seed(); seed < test_seed() + 20; seed++) {
		Rng r = rng_make(seed);
		LoopOptions o = loop_any(seed);
		o.redundant = 1;
		System x = system_of(seed, random_loop(&r, o));
		int half = x.rows / 2, loops = x.m->loop_count / 2, same = 1;
		double *a = test_doubles(x.n), *lambda = test_doubles(x.rows), *c = test_doubles(x.n), sum = 0;
		RefSolution s = {.udot = a, .lambda = lambda, .constraint = c};
		CalInput in = {.tau = x.tau};
		assert_int_equal(refq_loop_forward(x.m, 0, x.q, x.u, &in, &x.s), 0);
		for (int i = 0; i < x.rows; i++)
			sum += x.redundancy[i];
		for (int i = 0; i < loops; i++)
			same &= x.m->loops[i].type != REF_LOOP_WELD && x.m->loops[i].type != REF_LOOP_REVOLUTE;
		x.m->loop_count = loops;
		assert_int_equal(refq_loop_forward(x.m, 0, x.q, x.u, &in, &s), 0);
		check_that(seed, s.rank == half && x.s.rank == half && fabs(sum - half) < 1e-12);
		check_close(seed, "accelerations", x.n, x.udot, a, 1e-12);
		check_close_scaled(seed, "constraint forces", x.n, x.constraint, c, 1, 1e-12);
		for (int i = 0; same && i < half; i++) {
			double got[2] = {x.lambda[i], x.lambda[half + i]}, want[2] = {lambda[i] / 2, lambda[i] / 2};
			check_close_scaled(seed, "multipliers", 2, got, want, max_abs(half, lambda), 1e-12);
		}
		free(a), free(lambda), free(c);
		system_free(&x);
	}
}

static void planar_linkages_have_two_independent_rows(void **state) {
	(void)state;
	static const RefLoopType types[] = {REF_LOOP_REVOLUTE, REF_LOOP_CYLINDRICAL, REF_LOOP_SPHERICAL};
	for (uint64_t seed = test_seed(); seed < test_seed() + 15; seed++) {
		Rng r = rng_make(seed);
		System x = system_of(seed, random_linkage(&r, 3 + (int)(seed % 3), types[seed % 3]));
		CalInput in = {.tau = x.tau};
		assert_int_equal(refq_loop_forward(x.m, 0, x.q, x.u, &in, &x.s), 0);
		refq_loop_rows(x.m, 0, x.q, x.u, x.residual, x.rate, NULL, NULL);
		check_that(seed, max_abs(x.rows, x.residual) < 1e-14 && max_abs(x.rows, x.rate) < 1e-14);
		check_that(seed, x.s.rank == 2 && x.s.kept > 1e-6 && x.s.dropped < 1e-20);
		check_that(seed, max_abs(x.rows, x.mismatch) < 1e-12 * (1 + max_abs(x.n, x.udot)));
		system_free(&x);
	}
}

/* Two drives of one coordinate that cannot both be followed: finite numbers, and the rows that say so. */
static void contradictory_rows_are_reported(void **state) {
	(void)state;
	RefModel *m = loop_windows(1, 1.1, 0, REF_LOOP_REVOLUTE);
	for (int i = 0; i < 2; i++) {
		RefLoop *l = ref_model_add_loop(m, REF_LOOP_COUPLING);
		l->term_count = 1;
		l->term[0] = (RefTerm){"k0", 0, 1};
		l->drive[0].acceleration = 1 + i;
	}
	System x = system_of(0, m);
	assert_int_equal(refq_loop_forward(m, 0, x.q, x.u, NULL, &x.s), 0);
	double want[7] = {0, 0, 0, 0, 0, 0.5, -0.5};
	check_that(0, x.s.rank == 3);
	check_close(0, "mismatch", 7, x.mismatch, want, 1e-14);
	check_that(0, fabs(x.udot[0] - 1.5) < 1e-14);
	system_free(&x);
}

/* ---- inputs of loops ------------------------------------------------------------------------ */

/* Known forces of a loop as wrenches of the input at its nodes. */
static void known_forces_are_wrenches_at_the_nodes(void **state) {
	(void)state;
	for (uint64_t seed = test_seed(); seed < test_seed() + 12; seed++) {
		Rng r = rng_make(seed);
		LoopOptions o = loop_any(seed);
		o.known = 1;
		o.loops = 1;
		o.redundant = 0;
		o.types = LOOP_JOINT_TYPES;
		System x = system_of(seed, random_loop(&r, o));
		RefLoop *l = &x.m->loops[0];
		RefMotion *nodes = test_alloc((size_t)x.m->node_count, sizeof *nodes);
		double *a = test_doubles(x.n), *lambda = test_doubles(x.rows), *none = test_doubles(x.rows);
		CalWrench w[2];
		CalInput in = {.wrenches = w};
		RefLoopForce ends;
		RefSolution s = {.udot = a, .lambda = lambda};
		assert_int_equal(refq_loop_forward(x.m, 0, x.q, x.u, NULL, &x.s), 0);
		refq_kinematics(x.m, x.q, x.u, NULL, NULL, nodes);
		refq_loop_forces(x.m, x.q, none, &ends);
		for (int side = 0; side < 2; side++) {
			int node = side ? l->node_b : l->node_a;
			CalPlacement A = {{0, 0, 0}, {1, 0, 0, 0}};
			if (l->node_a >= 0)
				A.orientation = quat_of_rotation(&nodes[l->node_a].pose.R);
			A = placement_compose(A, (CalPlacement){{0, 0, 0}, l->frame_a.orientation});
			CalVec3 f = placement_compose(A, (CalPlacement){l->applied_wrench.linear, {1, 0, 0, 0}}).position;
			CalVec3 mo = placement_compose(A, (CalPlacement){l->applied_wrench.angular, {1, 0, 0, 0}}).position;
			if (node < 0)
				continue;
			CalVec3 o_node = nodes[node].pose.r;
			CalVec3 arm = {ends.point_b.x - o_node.x, ends.point_b.y - o_node.y, ends.point_b.z - o_node.z};
			mo = plus(mo, cross(arm, f));
			double sign = side ? 1 : -1;
			w[in.wrench_count++] = (CalWrench){
				node, CAL_FRAME_WORLD, {{sign * mo.x, sign * mo.y, sign * mo.z}, {sign * f.x, sign * f.y, sign * f.z}}};
		}
		l->applied_wrench = (CalSpatial){{0, 0, 0}, {0, 0, 0}};
		assert_int_equal(refq_loop_forward(x.m, 0, x.q, x.u, &in, &s), 0);
		check_close(seed, "accelerations", x.n, a, x.udot, 1e-12);
		check_close(seed, "multipliers", x.rows, lambda, x.lambda, 1e-12);
		free(nodes), free(a), free(lambda), free(none);
		system_free(&x);
	}
}

/* A driven coupling of one coordinate is a prescribed speed, and its multiplier the force that is needed. */
static void a_driven_coordinate_is_a_prescribed_speed(void **state) {
	(void)state;
	for (uint64_t seed = test_seed(); seed < test_seed() + 10; seed++) {
		Rng r = rng_make(seed);
		System x = system_of(seed, random_linkage(&r, 4, REF_LOOP_REVOLUTE));
		double *udot = test_doubles(x.n), *a = test_doubles(x.n), *force = test_doubles(x.n);
		uint8_t *prescribed = test_alloc((size_t)x.n, 1);
		double *lambda = test_doubles(x.rows + 1);
		prescribed[1] = 1;
		udot[1] = 1.75;
		CalInput in = {.tau = x.tau, .udot = udot, .prescribed = prescribed};
		RefSolution s = {.udot = a, .prescribed = force};
		assert_int_equal(refq_loop_forward(x.m, 0.5, x.q, x.u, &in, &s), 0);
		RefLoop *l = ref_model_add_loop(x.m, REF_LOOP_COUPLING);
		l->term_count = 1;
		l->term[0] = (RefTerm){"body1", 0, 2};
		l->drive[0].acceleration = 2 * 1.75;
		in.prescribed = NULL;
		x.s.lambda = lambda;
		x.s.mismatch = x.s.redundancy = NULL;
		assert_int_equal(refq_loop_forward(x.m, 0.5, x.q, x.u, &in, &x.s), 0);
		check_close(seed, "accelerations", x.n, x.udot, a, 1e-13);
		double got = 2 * lambda[x.rows];
		check_close(seed, "force", 1, &got, &force[1], 1e-12);
		free(udot), free(a), free(force), free(prescribed), free(lambda);
		system_free(&x);
	}
}

/* A fixture brings the bodies into the order of its model: loops and the state to start from come along. */
static void fixtures_keep_loops_and_state(void **state) {
	(void)state;
	int moved = 0;
	for (uint64_t seed = test_seed(); seed < test_seed() + 12; seed++) {
		Fixture *f = fixture_random_loop(seed, loop_any(seed), CAL_SOLVER_RECURSIVE);
		int rows = ref_model_rows(f->ref);
		double *g = fixture_doubles(f, 2 * rows), *a = fixture_doubles(f, f->nu), *b = fixture_doubles(f, f->nu);
		for (int i = 0; i < f->nb; i++)
			moved += f->body_of_ref[i] != i;
		refq_loop_rows(f->ref, 0, f->state.q, f->state.u, g, g + rows, NULL, NULL);
		check_that(seed, max_abs(2 * rows, g) < 1e-13);
		check_ok(seed, cal_forward_dynamics(f->model, &f->state, &f->input, f->work, a));
		assert_int_equal(refq_forward_dense(f->ref, f->state.q, f->state.u, &f->ref_input, b), 0);
		check_close(seed, "tree", f->nu, a, b, 1e-8);
		fixture_destroy(f);
	}
	check_that(test_seed(), moved > 0);
}

/* ---- motion --------------------------------------------------------------------------------- */

static void loops_of_any_type_conserve_energy(void **state) {
	(void)state;
	for (uint64_t seed = test_seed(); seed < test_seed() + 12; seed++) {
		Rng r = rng_make(seed);
		LoopOptions o = {.tree = {.bodies = 3, .flexible = seed % 3 == 0 ? 0.7 : 0, .conservative = 1, .max_modes = 2}};
		o.redundant = seed % 4 == 0;
		System x = system_of(seed, random_loop(&r, o));
		RefRun run = {.project = seed % 2 == 1, .weight = seed % 4 == 1 ? REF_MASS : REF_EUCLIDEAN};
		double before = ref_energy(x.m, x.q, x.u).total;
		assert_int_equal(ref_run(x.m, &run, 0, 0.1, 8, x.q, x.u), 0);
		double after = ref_energy(x.m, x.q, x.u).total;
		ref_loop_rows(x.m, 0.1, x.q, x.u, x.residual, x.rate, NULL, NULL);
		check_that(seed, max_abs(x.rows, x.residual) < (run.project ? 1e-14 : 1e-10));
		check_that(seed, max_abs(x.rows, x.rate) < (run.project ? 1e-13 : 1e-9));
		check_close_scaled(seed, "energy", 1, &after, &before, 1, 1e-9);
		system_free(&x);
	}
}

/* ---- projection ----------------------------------------------------------------------------- */

/* The change is W^-1 G' times something: no shorter one in the metric W meets the constraints. */
static void projections_of_velocities_are_shortest(void **state) {
	(void)state;
	for (uint64_t seed = test_seed(); seed < test_seed() + 8; seed++)
		for (int weight = REF_EUCLIDEAN; weight <= REF_MASS; weight++) {
			System x = random_system(seed);
			Rng r = rng_make(seed);
			double *u = test_doubles(x.n), *j = test_doubles(x.rows), *M = test_doubles(x.n * x.n);
			double *change = test_doubles(x.n), *impulse = test_doubles(x.n), zero[64] = {0};
			uint8_t *frozen = test_alloc((size_t)x.n, 1);
			frozen[rng_int(&r, x.n)] = 1;
			rng_fill(&r, 1, x.n, x.u);
			refq_project_velocity(x.m, 0.2, x.q, x.u, (RefWeight)weight, seed % 2 ? frozen : NULL, u, j);
			refq_loop_rows(x.m, 0.2, x.q, u, NULL, x.rate, x.G, NULL);
			refq_mass_matrix(x.m, x.q, M);
			if (seed % 2 == 0) /* a frozen speed may leave too few */
				check_close_scaled(seed, "rate", x.rows, x.rate, zero, 1, 1e-13);
			for (int i = 0; i < x.n; i++) {
				check_that(seed, seed % 2 == 0 || !frozen[i] || u[i] == x.u[i]);
				for (int k = 0; k < x.n; k++)
					change[i] += (weight == REF_MASS ? M[i * x.n + k] : i == k) * (u[k] - x.u[k]);
				for (int k = 0; k < x.rows; k++)
					impulse[i] += x.G[k * x.n + i] * j[k];
				if (seed % 2 && frozen[i])
					change[i] = impulse[i] = 0;
			}
			check_close_scaled(seed, "impulse", x.n, change, impulse, max_abs(x.n * x.n, M), 1e-13);
			free(u), free(j), free(M), free(change), free(impulse), free(frozen);
			system_free(&x);
		}
}

static void projections_of_positions_converge(void **state) {
	(void)state;
	for (uint64_t seed = test_seed(); seed < test_seed() + 8; seed++)
		for (int weight = REF_EUCLIDEAN; weight <= REF_MASS; weight++) {
			System x = random_system(seed);
			double *q = test_doubles(x.m->nq), *dq = test_doubles(x.n), *step = test_doubles(x.rows);
			int positions = 0;
			move_away(&x, 0.003);
			refq_loop_rows(x.m, 0, x.q, x.u, x.residual, NULL, x.G, NULL);
			RefProjection p = refq_project_position(x.m, 0, x.q, (RefWeight)weight, NULL, 1, q);
			check_that(seed, p.iterations == (max_abs(x.rows, x.residual) > 0));
			ref_config_difference(x.m, x.q, q, dq);
			for (int i = 0; i < x.rows; i++) { /* rows without position have the residual 0 */
				positions += x.residual[i] != 0;
				for (int j = 0; x.residual[i] != 0 && j < x.n; j++)
					step[i] -= x.G[i * x.n + j] * dq[j];
			}
			if (p.rank == positions) /* one step meets the linearised rows if they are independent */
				check_close_scaled(seed, "step", x.rows, step, x.residual, max_abs(x.n, dq), 1e-12);
			p = refq_project_position(x.m, 0, x.q, (RefWeight)weight, NULL, 20, q);
			refq_loop_rows(x.m, 0, q, x.u, x.residual, NULL, NULL, NULL);
			check_that(seed, p.residual < 1e-15 && max_abs(x.rows, x.residual) < 4e-15);
			free(q), free(dq), free(step);
			system_free(&x);
		}
}

/* Coordinates that are frozen stay to the last bit while the others do the work. */
static void frozen_coordinates_stay(void **state) {
	(void)state;
	for (uint64_t seed = test_seed(); seed < test_seed() + 6; seed++) {
		Rng r = rng_make(seed);
		System x = system_of(seed, random_linkage(&r, 5, REF_LOOP_REVOLUTE));
		uint8_t frozen[5] = {0, 1, 0, 1, 0};
		double *q = test_doubles(x.n);
		move_away(&x, 0.01);
		RefProjection p = refq_project_position(x.m, 0, x.q, REF_MASS, frozen, 20, q);
		check_that(seed, p.residual < 1e-15 && p.rank == 2 && q[1] == x.q[1] && q[3] == x.q[3]);
		check_that(seed, fabs(q[0] - x.q[0]) > 1e-6);
		free(q);
		system_free(&x);
	}
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_loop_moves_and_carries_as_the_joint_it_stands_for),
		cmocka_unit_test(equations_of_motion_and_constraints_hold),
		cmocka_unit_test(double_agrees_with_quad),
		cmocka_unit_test(doubled_loops_share_their_forces),
		cmocka_unit_test(planar_linkages_have_two_independent_rows),
		cmocka_unit_test(contradictory_rows_are_reported),
		cmocka_unit_test(known_forces_are_wrenches_at_the_nodes),
		cmocka_unit_test(a_driven_coordinate_is_a_prescribed_speed),
		cmocka_unit_test(fixtures_keep_loops_and_state),
		cmocka_unit_test(loops_of_any_type_conserve_energy),
		cmocka_unit_test(projections_of_velocities_are_shortest),
		cmocka_unit_test(projections_of_positions_converge),
		cmocka_unit_test(frozen_coordinates_stay),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
