// SPDX-License-Identifier: Apache-2.0
/*
 * test_loops_reference.c — closed loops against the reference in quadruple precision (test/reference/loop.h): rows and
 * their derivatives, accelerations, multipliers of smallest norm, forces at the nodes, reactions of the joints, rank;
 * random rigid and flexible trees with loops of every type, driven, stabilised and with known forces, redundant ones on
 * purpose, planar linkages, and projections in both metrics.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <calder/calder.h>
#include "support/random_loop.h"

enum { CASES = 80 };

/* The tree of the fixture once more, with the loops of its reference. */
typedef struct Closed {
	Fixture *f;
	CalModel *model;
	CalWork *work;
	int n, m;
	double *memory, *residual, *rate, *gamma, *lambda, *G;  // of the library
	double *residual_r, *rate_r, *gamma_r, *lambda_r, *G_r; // of the reference
	double *udot, *udot_r;
} Closed;

static Closed closed_create(Fixture *f, CalSolver solver) {
	Closed c = {.f = f};
	CalError error = {0};
	fixture_close_loops(f);
	check_ok(f->seed, cal_model_compile(f->desc, &(CalCompileOptions){.solver = solver}, &c.model, &error));
	check_ok(f->seed, cal_work_create(c.model, &c.work));
	c.n = cal_model_u_count(c.model), c.m = cal_model_row_count(c.model);
	const size_t n = (size_t)c.n, m = (size_t)c.m;
	double *next = c.memory = calloc(8 * m + 2 * m * n + 2 * n + 1, sizeof *next);
	assert_non_null(next);
	double **rows[] = {&c.residual, &c.rate, &c.gamma, &c.lambda, &c.residual_r, &c.rate_r, &c.gamma_r, &c.lambda_r};
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++, next += m)
		*rows[i] = next;
	c.G = next, c.G_r = next + m * n, c.udot = next + 2 * m * n, c.udot_r = c.udot + n;
	return c;
}

static void closed_destroy(Closed *c) {
	cal_work_destroy(c->work);
	cal_model_destroy(c->model);
	free(c->memory);
	fixture_destroy(c->f);
}

static void check_rows(Closed *c) {
	const uint64_t seed = c->f->seed;
	const CalState *s = &c->f->state;
	refq_loop_rows(c->f->ref, s->t, s->q, s->u, c->residual_r, c->rate_r, c->G_r, c->gamma_r);
	check_ok(seed, cal_loop_residual(c->model, s, c->work, c->residual, c->rate));
	check_ok(seed, cal_loop_jacobian(c->model, s, c->work, c->G, c->gamma));
	const double G = fmax(1, max_abs(c->m * c->n, c->G_r)), u = fmax(1, max_abs(c->n, s->u));
	check_close_scaled(seed, "residual", c->m, c->residual, c->residual_r, 1, 1e-12);
	check_close_scaled(seed, "G", c->m * c->n, c->G, c->G_r, G, 1e-12);
	check_close_scaled(seed, "rate", c->m, c->rate, c->rate_r, G * u, 1e-12);
	check_close_scaled(seed, "gamma", c->m, c->gamma, c->gamma_r, G * u * u, 1e-12);
}

static void check_forces(Closed *c) {
	const uint64_t seed = c->f->seed;
	RefLoopForce force[16];
	assert_true(c->f->ref->loop_count <= 16);
	ref_loop_forces(c->f->ref, c->f->state.q, c->lambda, force);
	const double size = fmax(1, max_abs(c->m, c->lambda));
	for (int l = 0; l < c->f->ref->loop_count; l++) {
		CalSpatial wrench;
		CalVec3 point;
		check_ok(seed, cal_loop_wrench(c->model, c->work, l, &wrench, &point));
		const int knife = c->f->ref->loops[l].type == REF_LOOP_KNIFE;
		const CalSpatial want = knife ? force[l].on_a : force[l].on_b;
		const CalVec3 at = knife ? force[l].point_a : force[l].point_b;
		const double got6[6] = {wrench.angular.x, wrench.angular.y, wrench.angular.z,
		                        wrench.linear.x,  wrench.linear.y,  wrench.linear.z};
		const double want6[6] = {want.angular.x, want.angular.y, want.angular.z,
		                         want.linear.x,  want.linear.y,  want.linear.z};
		const double got3[3] = {point.x, point.y, point.z}, want3[3] = {at.x, at.y, at.z};
		check_close_scaled(seed, "wrench of a loop", 6, got6, want6, size, 1e-12);
		check_close_scaled(seed, "its point", 3, got3, want3, 1, 1e-12);
	}
}

/* Accelerations, multipliers, reactions. Errors are relative to the condition of the rows that count. */
static void check_solution(Closed *c) {
	const uint64_t seed = c->f->seed;
	const CalState *s = &c->f->state;
	const CalInput input = c->f->input, ref_input = c->f->ref_input;
	RefSolution want = {.udot = c->udot_r, .lambda = c->lambda_r};
	assert_int_equal(refq_loop_forward(c->f->ref, s->t, s->q, s->u, &ref_input, &want), 0);
	check_ok(seed, cal_forward_dynamics(c->model, s, &input, c->work, c->udot));
	check_ok(seed, cal_loop_multipliers(c->model, c->work, c->lambda));
	int rank;
	check_ok(seed, cal_loop_rank(c->model, c->work, &rank, NULL));
	assert_true(want.kept > 1e-9); // or the ranks could differ in good faith
	assert_int_equal(rank, want.rank);
	const double condition = 1 / want.kept;
	check_close_scaled(seed, "udot", c->n, c->udot, c->udot_r, max_abs(c->n, c->udot_r), 1e-12 + 1e-14 * condition);
	const double forces =
		fmax(1, max_abs(c->m, c->lambda_r)); // a small lambda is a difference of applied forces, some N
	check_close_scaled(seed, "lambda", c->m, c->lambda, c->lambda_r, forces, 1e-11 + 1e-13 * condition);
	check_forces(c);
	CalSpatial *reactions = calloc((size_t)c->f->nb, sizeof *reactions);
	assert_non_null(reactions);
	ref_loop_reactions(c->f->ref, s->q, s->u, c->udot, &ref_input, c->lambda, reactions);
	check_ok(seed, cal_reactions(c->model, s, c->udot, &input, c->work));
	double size = 1;
	for (int b = 0; b < c->f->nb; b++)
		size = fmax(size, fmax(fabs(reactions[b].linear.x), fabs(reactions[b].angular.y)));
	for (int b = 0; b < c->f->nb; b++) {
		CalSpatial got;
		check_ok(seed, cal_joint_reaction(c->model, c->work, b, &got));
		check_close_scaled(seed, "reaction", 3, &got.angular.x, &reactions[b].angular.x, size, 1e-10);
		check_close_scaled(seed, "reaction", 3, &got.linear.x, &reactions[b].linear.x, size, 1e-10);
	}
	free(reactions);
}

/* What inverse dynamics asks for is what acted: input, known forces of loops, and G'lambda. */
static void check_inverse(Closed *c) {
	const uint64_t seed = c->f->seed;
	double *need = fixture_doubles(c->f, c->n), *acted = fixture_doubles(c->f, c->n);
	check_ok(seed, cal_inverse_dynamics(c->model, &c->f->state, c->udot, &c->f->input, c->work, need));
	double size = fixture_force_scale(c->f, c->udot);
	for (int k = 0; k < c->n; k++) {
		CalDofInfo dof;
		check_ok(seed, cal_model_dof(c->model, k, &dof));
		acted[k] = c->f->tau[k];
		for (int i = 0; i < c->m; i++) {
			acted[k] += c->G_r[i * c->n + k] * c->lambda[i];
			size = fmax(size, fabs(c->G_r[i * c->n + k] * c->lambda[i]));
		}
		if (dof.prescribed) // its force is an output
			acted[k] = need[k];
	}
	check_close_scaled(seed, "inverse dynamics", c->n, need, acted, size, 1e-9);
}

static LoopOptions options_of(uint64_t seed) {
	LoopOptions options = loop_any(seed);
	options.stabilised = seed % 3 == 0;
	return options;
}

/* What a set of random systems had in it. */
typedef struct Seen {
	int type[REF_LOOP_TYPE_COUNT], driven[REF_LOOP_TYPE_COUNT], known, stabilised, flexible;
} Seen;

static void note(const RefModel *m, Seen *seen) {
	for (int i = 0; i < m->loop_count; i++) {
		const RefLoop *l = &m->loops[i];
		seen->type[l->type]++;
		for (int k = 0; k < REF_LOOP_MAX_ROWS; k++)
			seen->driven[l->type] += l->drive[k].amplitude != 0;
		seen->known += l->applied_wrench.linear.x != 0;
		seen->stabilised += l->frequency > 0;
	}
	for (int i = 0; i < m->body_count; i++)
		seen->flexible += m->bodies[i].modes > 0;
}

static void random_loops_equal_the_reference(void **state) {
	(void)state;
	Seen seen = {0};
	for (uint64_t seed = test_seed(); seed < test_seed() + CASES; seed++) {
		Closed c = closed_create(fixture_random_loop(seed, options_of(seed), CAL_SOLVER_RECURSIVE),
		                         seed % 4 ? CAL_SOLVER_RECURSIVE : CAL_SOLVER_DENSE);
		note(c.f->ref, &seen);
		check_rows(&c);
		check_solution(&c);
		check_inverse(&c);
		closed_destroy(&c);
	}
	for (int type = 0; type < REF_LOOP_TYPE_COUNT; type++)
		assert_true(seen.type[type] > 0);
	assert_true(seen.known > 10 && seen.stabilised > 10 && seen.flexible > 10);
}

/* One type at a time, every one of them driven, stabilised and loaded, at a time and a state off the constraint. */
static void every_type_equals_the_reference_off_its_constraint(void **state) {
	(void)state;
	for (int type = 0; type < REF_LOOP_TYPE_COUNT; type++) {
		Seen seen = {0};
		for (uint64_t seed = test_seed(); seed < test_seed() + 4; seed++) {
			LoopOptions options = loop_any(seed);
			options.types = 1u << type;
			options.loops = 1 + (int)(seed % 2);
			options.redundant = 0;
			options.tree.bodies = 2 + (int)(seed % 3);
			options.driven = options.known = options.stabilised = 1;
			Fixture *f = fixture_random_loop(seed, options, CAL_SOLVER_RECURSIVE);
			RefLoop *loop = &f->ref->loops[0];
			loop->drive[seed % (uint64_t)ref_loop_row_count(loop)].amplitude += 0.1;
			Closed c = closed_create(f, CAL_SOLVER_RECURSIVE);
			CalState *s = &c.f->state;
			Rng r = rng_make(seed);
			double *dq = fixture_doubles(c.f, c.n);
			note(c.f->ref, &seen);
			for (int i = 0; i < c.n; i++)
				dq[i] = rng_uniform(&r, -0.05, 0.05), s->u[i] += rng_uniform(&r, -0.5, 0.5);
			cal_config_integrate(c.model, s->q, dq, s->q);
			s->t = rng_uniform(&r, 0.1, 2);
			check_rows(&c);
			check_solution(&c);
			closed_destroy(&c);
		}
		assert_true(seen.driven[type] >= 4 && seen.stabilised >= 4);
	}
}

static void linkages_equal_the_reference(void **state) {
	(void)state;
	static const RefLoopType closing[] = {REF_LOOP_REVOLUTE, REF_LOOP_CYLINDRICAL, REF_LOOP_SPHERICAL};
	for (uint64_t seed = test_seed(); seed < test_seed() + 60; seed++) {
		Rng r = rng_make(seed);
		RefModel *ref = random_linkage(&r, 3 + (int)(seed % 4), closing[seed % 3]);
		Fixture *f = fixture_create(ref, seed, CAL_SOLVER_RECURSIVE);
		fixture_sample(f, &r);
		ref_model_start(f->ref, f->state.q, f->state.u);
		Closed c = closed_create(f, CAL_SOLVER_RECURSIVE);
		check_rows(&c);
		check_solution(&c);
		closed_destroy(&c);
	}
}

/* A state moved off the constraints: both come back to the same place. */
static void projections_equal_the_reference(void **state) {
	(void)state;
	for (uint64_t seed = test_seed(); seed < test_seed() + 60; seed++) {
		Closed c =
			closed_create(fixture_random_loop(seed, options_of(seed), CAL_SOLVER_RECURSIVE), CAL_SOLVER_RECURSIVE);
		CalState *s = &c.f->state;
		Rng r = rng_make(seed);
		double *dq = fixture_doubles(c.f, c.n), *q = fixture_doubles(c.f, c.f->nq), *u = fixture_doubles(c.f, c.n);
		for (int i = 0; i < c.n; i++)
			dq[i] = rng_uniform(&r, -0.002, 0.002), s->u[i] += rng_uniform(&r, -0.1, 0.1);
		cal_config_integrate(c.model, s->q, dq, s->q);
		const int euclidean = seed % 2 != 0;
		const RefWeight weight = euclidean ? REF_EUCLIDEAN : REF_MASS;
		ref_project_position(c.f->ref, s->t, s->q, weight, NULL, 20, q);
		ref_project_velocity(c.f->ref, s->t, q, s->u, weight, NULL, u, NULL);
		CalProjectReport report;
		check_ok(seed, cal_loop_project(c.model, s, &(CalProjectOptions){.euclidean = euclidean}, c.work, &report));
		check_that(seed, report.residual <= 1e-12 && report.rate <= 1e-10);
		cal_config_difference(c.model, q, s->q, dq);
		check_that(seed, max_abs(c.n, dq) < 1e-5); // along the constraint, steps of other sizes end elsewhere
		check_close_scaled(seed, "speeds", c.n, s->u, u, 1, 1e-3);
		closed_destroy(&c);
	}
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(random_loops_equal_the_reference),
		cmocka_unit_test(every_type_equals_the_reference_off_its_constraint),
		cmocka_unit_test(linkages_equal_the_reference),
		cmocka_unit_test(projections_equal_the_reference),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
