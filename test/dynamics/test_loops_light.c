// SPDX-License-Identifier: Apache-2.0
/*
 * test_loops_light.c — closed loops with light links: what is independent is a matter of geometry, and accelerations are as
 * good as the geometry allows, whatever the masses. Rings, ladders on the ground and on a free body, walkers whose feet
 * are pinned to the ground, spatial four-bars, with some links up to 1e12 times lighter than others, both ways of solving
 * loops against the reference in quadruple precision.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <calder/calder.h>
#include "support/random_loop.h"

enum { CASES = 24 };

/* ---- mechanisms ------------------------------------------------------------------------------------- */

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
static RefModel *ring(Rng *r) {
	static const RefLoopType closing[] = {REF_LOOP_REVOLUTE, REF_LOOP_CYLINDRICAL, REF_LOOP_POINT};
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

static RefModel *ladder(Rng *r) { return ladder_on(r, 0); }
static RefModel *free_ladder(Rng *r) { return ladder_on(r, 1); }

/* A chain of bodies on legs of two links, their feet pinned to the ground. */
static RefModel *feet(Rng *r) {
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
static RefModel *spatial(Rng *r) {
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
	close_at(m, r, REF_LOOP_POINT, coupler, 1.2, rocker, q);
	start_at(m, r, q);
	free(q);
	return m;
}

/* ---- accelerations ------------------------------------------------------------------------------------- */

/* Some bodies lighter by the given factor; the first of them is never the base of all. */
static void make_light(RefModel *m, Rng *r, double factor) {
	for (int i = 0; i < m->body_count; i++) {
		const int light = i == 1 + (m->bodies[0].joint.type == CAL_JOINT_FREE) || (i > 0 && rng_chance(r, 0.4));
		if (m->bodies[i].joint.type == CAL_JOINT_FREE || !light)
			continue;
		m->bodies[i].mass *= factor;
		for (int k = 0; k < 9; k++)
			m->bodies[i].inertia.m[k / 3][k % 3] *= factor;
	}
}

typedef struct Errors {
	double udot[2], lambda[2]; // by CAL_LOOPS_*, largest so far
} Errors;

static double relative(int n, const double *got, const double *want) {
	return max_difference(n, got, want) / fmax(max_abs(n, want), 1e-300);
}

static void compare(Fixture *f, CalLoopSolver way, Errors *errors) {
	CalModel *model;
	CalWork *work;
	CalError error = {0};
	int rank;
	const CalCompileOptions options = {.solver = CAL_SOLVER_RECURSIVE, .loops = way};
	check_ok(f->seed, cal_model_compile(f->desc, &options, &model, &error));
	check_ok(f->seed, cal_work_create(model, &work));
	const int n = cal_model_u_count(model), m = cal_model_row_count(model);
	double *udot = test_doubles(2 * n), *lambda = test_doubles(2 * m);
	RefSolution want = {.udot = udot + n, .lambda = lambda + m, .rank_tolerance = 1e-20};
	const CalState *s = &f->state;
	assert_int_equal(refq_loop_forward(f->ref, s->t, s->q, s->u, NULL, &want), 0);
	check_ok(f->seed, cal_forward_dynamics(model, s, NULL, work, udot));
	check_ok(f->seed, cal_loop_multipliers(model, work, lambda));
	check_ok(f->seed, cal_loop_rank(model, work, &rank, NULL));
	check_that(f->seed, rank == want.rank);
	const int i = way == CAL_LOOPS_CUT;
	errors->udot[i] = fmax(errors->udot[i], relative(n, udot, udot + n));
	errors->lambda[i] = fmax(errors->lambda[i], relative(m, lambda, lambda + m));
	free(udot), free(lambda);
	cal_work_destroy(work);
	cal_model_destroy(model);
}

static void check_mechanism(RefModel *(*make)(Rng *), const char *name) {
	for (int decades = 0; decades <= 12; decades += 3) {
		Errors errors = {0};
		for (uint64_t seed = test_seed(); seed < test_seed() + CASES; seed++) {
			Rng r = rng_make(seed);
			RefModel *ref = make(&r);
			make_light(ref, &r, pow(10, -decades));
			Fixture *f = fixture_create(ref, seed, CAL_SOLVER_RECURSIVE);
			ref_model_start(f->ref, f->state.q, f->state.u);
			fixture_close_loops(f);
			compare(f, CAL_LOOPS_LOCAL, &errors);
			compare(f, CAL_LOOPS_CUT, &errors);
			fixture_destroy(f);
		}
		print_message("%s, masses 1:1e%d: accelerations %.1e, %.1e, forces %.1e, %.1e\n", name, decades, errors.udot[0],
		              errors.udot[1], errors.lambda[0], errors.lambda[1]);
		/* What loops leave free of a light link, cut joints know no better than its forces over its mass. */
		const double tolerance[2] = {1e-10, 1e-9 + 1e-16 * pow(10, decades)};
		for (int way = 0; way < 2; way++)
			check_that(test_seed(), errors.udot[way] < tolerance[way] && errors.lambda[way] < 1e-10);
	}
}

static void rings_with_light_bars(void **state) { (void)state, check_mechanism(ring, "ring"); }
static void ladders_with_light_links(void **state) { (void)state, check_mechanism(ladder, "ladder"); }
static void ladders_on_a_free_body(void **state) { (void)state, check_mechanism(free_ladder, "free ladder"); }
static void walkers_with_light_legs(void **state) { (void)state, check_mechanism(feet, "feet"); }
static void spatial_four_bars(void **state) { (void)state, check_mechanism(spatial, "spatial four-bar"); }

static Fixture *light_ladder(uint64_t seed, int decades) {
	Rng r = rng_make(seed);
	RefModel *ref = ladder(&r);
	make_light(ref, &r, pow(10, -decades));
	Fixture *f = fixture_create(ref, seed, CAL_SOLVER_RECURSIVE);
	ref_model_start(f->ref, f->state.q, f->state.u);
	fixture_close_loops(f);
	return f;
}

/* Lighter than numbers can tell from nothing: the answer is that of no mass at all, or there is none. */
static void nothing_wrong_without_a_word(void **state) {
	(void)state;
	int refused = 0;
	for (uint64_t seed = test_seed(); seed < test_seed() + 8; seed++) {
		Fixture *f = light_ladder(seed, 12);
		double want[32], udot[32];
		RefSolution solution = {.udot = want, .rank_tolerance = 1e-20};
		assert_true(f->nu <= 32);
		assert_int_equal(refq_loop_forward(f->ref, 0, f->state.q, f->state.u, NULL, &solution), 0);
		fixture_destroy(f);
		for (int decades = 13; decades <= 24; decades++) {
			CalModel *model;
			CalWork *work;
			f = light_ladder(seed, decades);
			check_ok(seed, cal_model_compile(f->desc, NULL, &model, NULL));
			check_ok(seed, cal_work_create(model, &work));
			const CalStatus status = cal_forward_dynamics(model, &f->state, NULL, work, udot);
			check_that(seed, status != CAL_OK || relative(f->nu, udot, want) < 1e-5);
			refused += status != CAL_OK;
			cal_work_destroy(work);
			cal_model_destroy(model);
			fixture_destroy(f);
		}
	}
	print_message("%d refused\n", refused);
	assert_true(refused > 0);
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rings_with_light_bars),  cmocka_unit_test(ladders_with_light_links),
		cmocka_unit_test(ladders_on_a_free_body), cmocka_unit_test(walkers_with_light_legs),
		cmocka_unit_test(spatial_four_bars),      cmocka_unit_test(nothing_wrong_without_a_word),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
