// SPDX-License-Identifier: Apache-2.0
/*
 * test_inverse.c — inverse dynamics and its parts: bias, gravity, elastic and external forces.
 */
#include "support/random_tree.h"

#include <math.h>
#include <string.h>

enum { CASES = 80 };

static void inverse_equals_reference(void **state) {
	(void)state;
	for (uint64_t seed = test_seed(); seed < test_seed() + CASES; seed++) {
		Fixture *f = fixture_random(seed, tree_any(seed), CAL_SOLVER_RECURSIVE);
		double *got = fixture_doubles(f, f->nu), *want = fixture_doubles(f, f->nu);
		refq_inverse_sums(f->ref, f->state.q, f->state.u, f->udot, &f->ref_input, want);
		check_ok(seed, cal_inverse_dynamics(f->model, &f->state, f->udot, &f->input, f->work, got));
		check_close_scaled(seed, "tau", f->nu, got, want, fixture_force_scale(f, f->udot), 1e-13);
		fixture_destroy(f);
	}
}

static void inverse_without_acceleration_or_input(void **state) {
	(void)state;
	for (uint64_t seed = test_seed(); seed < test_seed() + 30; seed++) {
		Fixture *f = fixture_random(seed, tree_any(seed), CAL_SOLVER_RECURSIVE);
		double *got = fixture_doubles(f, f->nu), *want = fixture_doubles(f, f->nu);
		double *zero = fixture_doubles(f, f->nu);
		refq_inverse_sums(f->ref, f->state.q, f->state.u, zero, NULL, want);
		check_ok(seed, cal_inverse_dynamics(f->model, &f->state, NULL, NULL, f->work, got));
		check_close_scaled(seed, "tau", f->nu, got, want, fixture_force_scale(f, zero), 1e-13);
		fixture_destroy(f);
	}
}

/* Each kind of force alone; bias forces are of the size of the kinetic energy, or less where they cancel. */
static void each_force_equals_reference(void **state) {
	(void)state;
	for (uint64_t seed = test_seed(); seed < test_seed() + CASES; seed++) {
		Fixture *f = fixture_random(seed, tree_any(seed), CAL_SOLVER_RECURSIVE);
		double *got = fixture_doubles(f, f->nu), *want = fixture_doubles(f, f->nu);
		double kinetic = refq_energy(f->ref, f->state.q, f->state.u).kinetic;
		refq_bias_forces(f->ref, f->state.q, f->state.u, want);
		check_ok(seed, cal_bias_forces(f->model, &f->state, f->work, got));
		check_close_scaled(seed, "bias", f->nu, got, want, kinetic, 1e-13);
		refq_gravity_forces(f->ref, f->state.q, want);
		check_ok(seed, cal_gravity_forces(f->model, &f->state, f->work, got));
		check_close(seed, "gravity", f->nu, got, want, 1e-12);
		refq_elastic_forces(f->ref, f->state.q, f->state.u, want);
		check_ok(seed, cal_elastic_forces(f->model, &f->state, f->work, got));
		check_close(seed, "elastic", f->nu, got, want, 1e-13);
		refq_external_forces(f->ref, f->state.q, &f->ref_input, want);
		check_ok(seed, cal_external_forces(f->model, &f->state, &f->input, f->work, got));
		check_close(seed, "external", f->nu, got, want, 1e-12);
		fixture_destroy(f);
	}
}

static void inverse_is_the_sum_of_its_parts(void **state) {
	(void)state;
	for (uint64_t seed = test_seed(); seed < test_seed() + CASES; seed++) {
		Fixture *f = fixture_random(seed, tree_any(seed), CAL_SOLVER_RECURSIVE);
		int n = f->nu;
		double *tau = fixture_doubles(f, n), *sum = fixture_doubles(f, n), *part = fixture_doubles(f, n);
		double *M = fixture_doubles(f, n * n);
		check_ok(seed, cal_inverse_dynamics(f->model, &f->state, f->udot, &f->input, f->work, tau));
		check_ok(seed, cal_bias_forces(f->model, &f->state, f->work, sum));
		check_ok(seed, cal_mass_matrix(f->model, &f->state, f->work, M));
		for (int i = 0; i < n; i++)
			for (int j = 0; j < n; j++)
				sum[i] += M[i * n + j] * f->udot[j];
		check_ok(seed, cal_gravity_forces(f->model, &f->state, f->work, part));
		for (int i = 0; i < n; i++)
			sum[i] -= part[i];
		check_ok(seed, cal_elastic_forces(f->model, &f->state, f->work, part));
		for (int i = 0; i < n; i++)
			sum[i] -= part[i];
		check_ok(seed, cal_external_forces(f->model, &f->state, &f->input, f->work, part));
		for (int i = 0; i < n; i++)
			sum[i] -= part[i];
		check_close_scaled(seed, "tau", n, tau, sum, fixture_force_scale(f, f->udot), 1e-13);
		fixture_destroy(f);
	}
}

static void inverse_columns_are_the_mass_matrix(void **state) {
	(void)state;
	for (uint64_t seed = test_seed(); seed < test_seed() + 60; seed++) {
		Fixture *f = fixture_random(seed, tree_any(seed), CAL_SOLVER_RECURSIVE);
		int n = f->nu;
		double *M = fixture_doubles(f, n * n), *at_zero = fixture_doubles(f, n), *column = fixture_doubles(f, n);
		double *unit = fixture_doubles(f, n), *want = fixture_doubles(f, n);
		memset(f->state.u, 0, sizeof *f->state.u * (size_t)n);
		check_ok(seed, cal_mass_matrix(f->model, &f->state, f->work, M));
		check_ok(seed, cal_inverse_dynamics(f->model, &f->state, NULL, NULL, f->work, at_zero));
		for (int j = 0; j < n; j++) {
			unit[j] = 1;
			check_ok(seed, cal_inverse_dynamics(f->model, &f->state, unit, NULL, f->work, column));
			unit[j] = 0;
			for (int i = 0; i < n; i++) {
				column[i] -= at_zero[i];
				want[i] = M[i * n + j];
			}
			double scale = fmax(max_abs(n, at_zero), max_abs(n * n, M));
			check_close_scaled(seed, "column of M", n, column, want, scale, 1e-13);
		}
		fixture_destroy(f);
	}
}

/* A wrench of a ground node acts on nothing. */
static void wrench_on_the_ground_has_no_effect(void **state) {
	(void)state;
	RefModel *m = ref_model_create();
	int b = ref_model_add_body(m, -1, CAL_JOINT_REVOLUTE);
	m->bodies[b].mass = 1, m->bodies[b].com = (CalVec3){1, 0, 0};
	m->bodies[b].inertia = (CalMat3){{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}};
	ref_model_add_node(m, -1, (CalPlacement){.position = {1, 2, 3}});
	ref_model_index(m);
	Fixture *f = fixture_create(m, 0, CAL_SOLVER_RECURSIVE);
	CalWrench wrench = {f->node[0], CAL_FRAME_WORLD, {{1, 2, 3}, {4, 5, 6}}};
	CalInput input = {.wrenches = &wrench, .wrench_count = 1};
	double Q = 1;
	check_ok(0, cal_external_forces(f->model, &f->state, &input, f->work, &Q));
	assert_true(Q == 0);
	fixture_destroy(f);
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(inverse_equals_reference),
		cmocka_unit_test(inverse_without_acceleration_or_input),
		cmocka_unit_test(each_force_equals_reference),
		cmocka_unit_test(inverse_is_the_sum_of_its_parts),
		cmocka_unit_test(inverse_columns_are_the_mass_matrix),
		cmocka_unit_test(wrench_on_the_ground_has_no_effect),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
