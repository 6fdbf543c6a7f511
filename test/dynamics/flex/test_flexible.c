// SPDX-License-Identifier: Apache-2.0
/*
 * test_flexible.c — forward, inverse and hybrid dynamics of random trees with flexible bodies, against the quad
 * reference and against each other.
 *
 * The trees have flexible bodies as base, in the middle and at the tips, with 1 to 8 modes, several joints on one
 * body, any node as head, second-order shapes, large deflections and rates, modal forces and prescribed modal speeds.
 */
#include "support/tree_checks.h"

#include <stdlib.h>
#include <string.h>

enum { CASES = 40 };

static const double solved = 1e-10; // what a linear system with the mass matrix leaves

static void the_reference_differentiates_its_positions(void **state) {
	(void)state;
	for (uint64_t seed = test_seed(); seed < test_seed() + 20; seed++) {
		TreeOptions options = tree_flexible(seed);
		Rng r = rng_make(seed);
		RefModel *m = random_tree(&r, options);
		int n = m->node_count, size = (int)(sizeof(RefMotion) / sizeof(double));
		double *numeric = test_doubles(n * size), *direct = test_doubles(n * size);
		double *q = test_doubles(m->nq), *u = test_doubles(m->nu), *udot = test_doubles(m->nu);
		rng_fill(&r, 0.6, m->nq, q);
		rng_fill(&r, 2, m->nu, u);
		rng_fill(&r, 3, m->nu, udot);
		refq_kinematics_numeric(m, q, u, udot, NULL, (RefMotion *)numeric);
		refq_kinematics(m, q, u, udot, NULL, (RefMotion *)direct);
		check_close(seed, "motion", n * size, numeric, direct, 1e-13);
		free(numeric), free(direct), free(q), free(u), free(udot);
		ref_model_destroy(m);
	}
}

static void forward_equals_reference(CalSolver solver) {
	for (uint64_t seed = test_seed(); seed < test_seed() + CASES; seed++)
		check_forward(seed, tree_flexible(seed), solver, solved);
}

static void articulated_equals_reference(void **state) {
	(void)state;
	forward_equals_reference(CAL_SOLVER_RECURSIVE);
}

static void dense_equals_reference(void **state) {
	(void)state;
	forward_equals_reference(CAL_SOLVER_DENSE);
}

static void dense_and_articulated_agree(void **state) {
	(void)state;
	for (uint64_t seed = test_seed(); seed < test_seed() + 2 * CASES; seed++)
		check_solvers_agree(seed, tree_flexible(seed), 1e-10);
}

/* Nothing is welded to a node of a flexible arm on a hub, and a second arm of the hub comes after it. */
static Fixture *hub_with_empty_weld(uint64_t seed) {
	enum { HUB, ARM, EMPTY, SECOND, BODIES };
	static const int parent[] = {[HUB] = -1, [ARM] = HUB, [EMPTY] = ARM, [SECOND] = HUB};
	const TreeOptions options = {.max_modes = 4};
	RefModel *m = ref_model_create();
	Rng r = rng_make(seed);
	for (int i = 0; i < BODIES; i++) {
		ref_model_add_body(m, parent[i], i == EMPTY ? CAL_JOINT_WELD : CAL_JOINT_REVOLUTE);
		RefBody *b = &m->bodies[i];
		b->joint.inboard = rng_placement(&r);
		if (i != EMPTY)
			rng_mass(&r, 1, &b->mass, &b->com, &b->inertia);
		if (i == ARM)
			random_flexibility(&r, m, i, &options);
		if (i == EMPTY)
			b->parent_node = random_flex_node(&r, m, ARM);
	}
	ref_model_index(m);
	Fixture *f = fixture_create(m, seed, CAL_SOLVER_RECURSIVE);
	fixture_sample(f, &r);
	return f;
}

static void a_body_without_mass_on_a_node_brings_nothing(void **state) {
	(void)state;
	for (uint64_t seed = test_seed(); seed < test_seed() + CASES; seed++) {
		Fixture *f = hub_with_empty_weld(seed);
		double *got = fixture_doubles(f, f->nu), *want = fixture_doubles(f, f->nu);
		assert_int_equal(refq_forward_dense(f->ref, f->state.q, f->state.u, &f->ref_input, want), 0);
		check_ok(seed, cal_forward_dynamics(f->model, &f->state, &f->input, f->work, got));
		check_close(seed, "udot", f->nu, got, want, solved);
		fixture_destroy(f);
	}
}

static void inverse_equals_reference(void **state) {
	(void)state;
	for (uint64_t seed = test_seed(); seed < test_seed() + CASES; seed++) {
		Fixture *f = fixture_random(seed, tree_flexible(seed), CAL_SOLVER_RECURSIVE);
		double *got = fixture_doubles(f, f->nu), *want = fixture_doubles(f, f->nu);
		refq_inverse_sums(f->ref, f->state.q, f->state.u, f->udot, &f->ref_input, want);
		check_ok(seed, cal_inverse_dynamics(f->model, &f->state, f->udot, &f->input, f->work, got));
		check_close_scaled(seed, "tau", f->nu, got, want, fixture_force_scale(f, f->udot), 1e-13);
		fixture_destroy(f);
	}
}

static void force_parts_equal_reference(void **state) {
	(void)state;
	for (uint64_t seed = test_seed(); seed < test_seed() + CASES; seed++) {
		Fixture *f = fixture_random(seed, tree_flexible(seed), CAL_SOLVER_RECURSIVE);
		double *got = fixture_doubles(f, f->nu), *want = fixture_doubles(f, f->nu);
		refq_bias_forces(f->ref, f->state.q, f->state.u, want);
		check_ok(seed, cal_bias_forces(f->model, &f->state, f->work, got));
		check_close_scaled(seed, "bias", f->nu, got, want, 1e-3, 1e-12);
		refq_gravity_forces(f->ref, f->state.q, want);
		check_ok(seed, cal_gravity_forces(f->model, &f->state, f->work, got));
		check_close_scaled(seed, "gravity", f->nu, got, want, 1e-3, 1e-12);
		refq_elastic_forces(f->ref, f->state.q, f->state.u, want);
		check_ok(seed, cal_elastic_forces(f->model, &f->state, f->work, got));
		check_close_scaled(seed, "elastic", f->nu, got, want, 1e-3, 1e-12);
		refq_external_forces(f->ref, f->state.q, &f->ref_input, want);
		check_ok(seed, cal_external_forces(f->model, &f->state, &f->input, f->work, got));
		check_close_scaled(seed, "external", f->nu, got, want, 1e-3, 1e-12);
		fixture_destroy(f);
	}
}

static void forward_inverts_inverse(void **state) {
	(void)state;
	for (uint64_t seed = test_seed(); seed < test_seed() + CASES; seed++)
		check_inverse_of_forward(seed, tree_flexible(seed), seed % 2 ? CAL_SOLVER_RECURSIVE : CAL_SOLVER_DENSE, 1e-11);
}

/* With many modes they are eliminated in another way than with few. */
static void many_modes_equal_reference(void **state) {
	(void)state;
	for (uint64_t seed = test_seed(); seed < test_seed() + 10; seed++) {
		TreeOptions options = tree_flexible(seed);
		options.bodies = 1 + (int)(seed % 4);
		options.max_modes = 24;
		options.foreshortening = seed == test_seed(); // slow in the reference
		options.flexible = 0.8;
		Fixture *f = fixture_random(seed, options, CAL_SOLVER_RECURSIVE);
		int n = f->nu;
		double *got = fixture_doubles(f, n), *want = fixture_doubles(f, n), *tau = fixture_doubles(f, n);
		assert_int_equal(refq_forward_dense(f->ref, f->state.q, f->state.u, &f->ref_input, want), 0);
		check_ok(seed, cal_forward_dynamics(f->model, &f->state, &f->input, f->work, got));
		check_close(seed, "udot", n, got, want, solved);
		check_ok(seed, cal_inverse_dynamics(f->model, &f->state, got, &f->input, f->work, tau));
		check_close_scaled(seed, "tau", n, tau, f->tau, fixture_force_scale(f, got), 1e-11);
		Rng r = rng_make(seed);
		fixture_prescribe(f, &r);
		assert_int_equal(refq_forward_dense(f->ref, f->state.q, f->state.u, &f->ref_input, want), 0);
		check_ok(seed, cal_forward_dynamics(f->model, &f->state, &f->input, f->work, got));
		check_close(seed, "udot with prescribed speeds", n, got, want, solved);
		fixture_destroy(f);
	}
}

/* ---- prescribed speeds ---------------------------------------------------------------------- */

/* What is prescribed: joints and modes at random, only joints, only modes, or all modes of some bodies. */
static void prescribe(Fixture *f, int kind) {
	Rng r = rng_make(f->seed + 1);
	fixture_prescribe(f, &r);
	for (int i = 0; i < f->nb && kind > 0; i++) {
		const RefBody *b = &f->ref->bodies[i];
		const int all = rng_chance(&r, 0.5);
		for (int k = 0; k < b->nu + b->modes; k++) {
			const int modal = k >= b->nu;
			uint8_t *p = &f->prescribed[b->u + k];
			*p = kind == 1 ? *p && !modal : kind == 2 ? *p && modal : modal && all;
		}
	}
}

static void hybrid_equals_reference(CalSolver solver) {
	for (uint64_t seed = test_seed(); seed < test_seed() + CASES + 10; seed++) {
		Fixture *f = fixture_random(seed, tree_flexible(seed), solver);
		int n = f->nu;
		double *udot = fixture_doubles(f, n), *want = fixture_doubles(f, n), *force = fixture_doubles(f, n);
		double *total = fixture_doubles(f, n);
		prescribe(f, (int)(seed % 4));
		assert_int_equal(refq_forward_dense(f->ref, f->state.q, f->state.u, &f->ref_input, want), 0);
		check_ok(seed, cal_hybrid_dynamics(f->model, &f->state, &f->input, f->work, udot, force));
		check_close(seed, "udot", n, udot, want, solved);
		refq_inverse_sums(f->ref, f->state.q, f->state.u, udot, &f->ref_input, want);
		for (int i = 0; i < n; i++) {
			check_that(seed, !f->prescribed[i] || udot[i] == f->udot[i]);
			check_that(seed, f->prescribed[i] || force[i] == 0);
			total[i] = f->tau[i] + force[i];
		}
		check_close_scaled(seed, "force", n, total, want, fixture_force_scale(f, udot), 1e-11);
		fixture_destroy(f);
	}
}

static void articulated_hybrid_equals_reference(void **state) {
	(void)state;
	hybrid_equals_reference(CAL_SOLVER_RECURSIVE);
}

static void dense_hybrid_equals_reference(void **state) {
	(void)state;
	hybrid_equals_reference(CAL_SOLVER_DENSE);
}

static void everything_prescribed_is_inverse_dynamics(void **state) {
	(void)state;
	for (uint64_t seed = test_seed(); seed < test_seed() + 30; seed++)
		check_all_prescribed(seed, tree_flexible(seed));
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_reference_differentiates_its_positions),
		cmocka_unit_test(articulated_equals_reference),
		cmocka_unit_test(dense_equals_reference),
		cmocka_unit_test(dense_and_articulated_agree),
		cmocka_unit_test(a_body_without_mass_on_a_node_brings_nothing),
		cmocka_unit_test(inverse_equals_reference),
		cmocka_unit_test(force_parts_equal_reference),
		cmocka_unit_test(forward_inverts_inverse),
		cmocka_unit_test(many_modes_equal_reference),
		cmocka_unit_test(articulated_hybrid_equals_reference),
		cmocka_unit_test(dense_hybrid_equals_reference),
		cmocka_unit_test(everything_prescribed_is_inverse_dynamics),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
