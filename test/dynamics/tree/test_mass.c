// SPDX-License-Identifier: Apache-2.0
/*
 * test_mass.c — the mass matrix, its factorization, inverse, determinant, trace, and the compliance of nodes.
 *
 * Errors of the inverse are compared entry by entry with sqrt(Minv_ii Minv_jj), the natural size of an
 * entry whatever the units of its rows.
 */
#include "support/tree_checks.h"

#include <math.h>
#include <string.h>

enum { CASES = 80 };

/* |got_ij - want_ij| <= tolerance sqrt(want_ii want_jj) */
static void check_definite(uint64_t seed, const char *what, int n, const double *got, const double *want,
                           double tolerance) {
	for (int i = 0; i < n; i++)
		for (int j = 0; j < n; j++) {
			double scale = sqrt(want[i * n + i] * want[j * n + j]);
			check_close_scaled(seed, what, 1, &got[i * n + j], &want[i * n + j], scale, tolerance);
		}
}

static void composite_bodies_equal_the_sum_over_bodies(void **state) {
	(void)state;
	for (uint64_t seed = test_seed(); seed < test_seed() + CASES; seed++) {
		Fixture *f = fixture_random(seed, tree_any(seed), CAL_SOLVER_RECURSIVE);
		int n = f->nu;
		double *M = fixture_doubles(f, n * n), *want = fixture_doubles(f, n * n);
		refq_mass_matrix(f->ref, f->state.q, want);
		check_ok(seed, cal_mass_matrix(f->model, &f->state, f->work, M));
		check_definite(seed, "M", n, M, want, 1e-13);
		for (int i = 0; i < n; i++)
			for (int j = 0; j < i; j++)
				check_that(seed, M[i * n + j] == M[j * n + i]);
		fixture_destroy(f);
	}
}

static void inverse_equals_dense_inverse(void **state) {
	(void)state;
	for (uint64_t seed = test_seed(); seed < test_seed() + CASES; seed++) {
		Fixture *f = fixture_random(seed, tree_any(seed), CAL_SOLVER_RECURSIVE);
		int n = f->nu;
		double *Minv = fixture_doubles(f, n * n), *want = fixture_doubles(f, n * n), logdet, want_logdet;
		assert_int_equal(refq_mass_inverse(f->ref, f->state.q, want, &want_logdet), 0);
		check_ok(seed, cal_mass_factor(f->model, &f->state, f->work));
		check_ok(seed, cal_mass_inverse(f->model, f->work, Minv));
		check_definite(seed, "M^-1", n, Minv, want, 1e-11);
		for (int i = 0; i < n; i++)
			for (int j = 0; j < i; j++)
				check_that(seed, Minv[i * n + j] == Minv[j * n + i]);
		check_ok(seed, cal_mass_logdet(f->model, f->work, &logdet));
		check_close_scaled(seed, "log det M", 1, &logdet, &want_logdet, n, 1e-11);
		fixture_destroy(f);
	}
}

static void matrix_times_inverse_is_one(void **state) {
	(void)state;
	for (uint64_t seed = test_seed(); seed < test_seed() + CASES; seed++) {
		Fixture *f = fixture_random(seed, tree_any(seed), CAL_SOLVER_RECURSIVE);
		int n = f->nu;
		double *M = fixture_doubles(f, n * n), *Minv = fixture_doubles(f, n * n);
		check_ok(seed, cal_mass_matrix(f->model, &f->state, f->work, M));
		check_ok(seed, cal_mass_factor(f->model, &f->state, f->work));
		check_ok(seed, cal_mass_inverse(f->model, f->work, Minv));
		for (int i = 0; i < n; i++)
			for (int j = 0; j < n; j++) {
				double sum = 0, scale = 0, one = i == j;
				for (int k = 0; k < n; k++) {
					sum += M[i * n + k] * Minv[k * n + j];
					scale += sqrt(M[i * n + i] * M[k * n + k] * Minv[k * n + k] * Minv[j * n + j]);
				}
				check_close_scaled(seed, "M M^-1", 1, &sum, &one, scale, 1e-12);
			}
		fixture_destroy(f);
	}
}

static void solve_is_the_product_with_the_inverse(void **state) {
	(void)state;
	for (uint64_t seed = test_seed(); seed < test_seed() + CASES; seed++) {
		Fixture *f = fixture_random(seed, tree_any(seed), CAL_SOLVER_RECURSIVE);
		int n = f->nu;
		double *x = fixture_doubles(f, n), *want = fixture_doubles(f, n), *in_place = fixture_doubles(f, n);
		reference_mass_solve(f, want);
		check_ok(seed, cal_mass_factor(f->model, &f->state, f->work));
		check_ok(seed, cal_mass_solve(f->model, f->work, f->tau, x));
		check_close(seed, "M^-1 b", n, x, want, 1e-11);
		memcpy(in_place, f->tau, sizeof *in_place * (size_t)n);
		check_ok(seed, cal_mass_solve(f->model, f->work, in_place, in_place));
		assert_memory_equal(x, in_place, sizeof *x * (size_t)n);
		fixture_destroy(f);
	}
}

/* Any number of right-hand sides: each has the bits of a solve alone, also in place. */
static void many_solves_have_the_bits_of_single_ones(void **state) {
	(void)state;
	for (uint64_t seed = test_seed(); seed < test_seed() + CASES; seed++) {
		Fixture *f = fixture_random(seed, seed % 2 ? tree_flexible(seed) : tree_any(seed), CAL_SOLVER_RECURSIVE);
		Rng r = rng_make(seed);
		int n = f->nu, count = rng_int(&r, 10);
		double *b = fixture_doubles(f, (count + 1) * n), *x = fixture_doubles(f, (count + 1) * n);
		double *want = fixture_doubles(f, (count + 1) * n);
		rng_fill(&r, 1, (count + 1) * n, b);
		memcpy(want, b, sizeof *b * (size_t)((count + 1) * n));
		memcpy(x, b, sizeof *b * (size_t)((count + 1) * n));
		check_ok(seed, cal_mass_factor(f->model, &f->state, f->work));
		for (int k = 0; k < count; k++)
			check_ok(seed, cal_mass_solve(f->model, f->work, b + k * n, want + k * n));
		check_ok(seed, cal_mass_solve_many(f->model, f->work, count, b, x));
		check_ok(seed, cal_mass_solve_many(f->model, f->work, count, b, b));
		for (int k = 0; k < (count + 1) * n; k++)
			check_that(seed, x[k] == want[k] && b[k] == want[k]);
		fixture_destroy(f);
	}
}

/* Unit forces: the upper triangle of the inverse has the bits of single solves. */
static void inverse_has_the_bits_of_solves(void **state) {
	(void)state;
	for (uint64_t seed = test_seed(); seed < test_seed() + CASES; seed++) {
		Fixture *f = fixture_random(seed, seed % 2 ? tree_flexible(seed) : tree_any(seed), CAL_SOLVER_RECURSIVE);
		int n = f->nu;
		double *Minv = fixture_doubles(f, n * n), *x = fixture_doubles(f, n);
		check_ok(seed, cal_mass_factor(f->model, &f->state, f->work));
		check_ok(seed, cal_mass_inverse(f->model, f->work, Minv));
		for (int j = 0; j < n; j++) {
			memset(x, 0, sizeof *x * (size_t)n);
			x[j] = 1;
			check_ok(seed, cal_mass_solve(f->model, f->work, x, x));
			for (int i = 0; i <= j; i++)
				check_that(seed, Minv[i * n + j] == x[i] && Minv[j * n + i] == x[i]);
		}
		fixture_destroy(f);
	}
}

static void many_solves_refuse_bad_arguments(void **state) {
	(void)state;
	Fixture *f = fixture_random(test_seed(), tree_any(test_seed()), CAL_SOLVER_RECURSIVE);
	double *x = fixture_doubles(f, f->nu);
	check_ok(0, cal_kinematics(f->model, &f->state, NULL, f->work));
	check_status(0, cal_mass_solve_many(f->model, f->work, 1, x, x), CAL_ERR_STAGE);
	check_ok(0, cal_mass_factor(f->model, &f->state, f->work));
	check_status(0, cal_mass_solve_many(f->model, f->work, -1, x, x), CAL_ERR_ARGUMENT);
	check_status(0, cal_mass_solve_many(f->model, f->work, 1, NULL, x), CAL_ERR_ARGUMENT);
	check_status(0, cal_mass_solve_many(f->model, f->work, 1, x, NULL), CAL_ERR_ARGUMENT);
	check_ok(0, cal_mass_solve_many(f->model, f->work, 0, x, x));
	fixture_destroy(f);
}

static void trace_is_that_of_the_matrix(void **state) {
	(void)state;
	for (uint64_t seed = test_seed(); seed < test_seed() + CASES; seed++) {
		Fixture *f = fixture_random(seed, tree_any(seed), CAL_SOLVER_RECURSIVE);
		int n = f->nu;
		double *M = fixture_doubles(f, n * n), trace, want = 0;
		refq_mass_matrix(f->ref, f->state.q, M);
		for (int i = 0; i < n; i++)
			want += M[i * n + i];
		check_ok(seed, cal_mass_trace(f->model, &f->state, f->work, &trace));
		check_close(seed, "trace M", 1, &trace, &want, 1e-13);
		fixture_destroy(f);
	}
}

static void compliance_is_J_Minv_Jt(void **state) {
	(void)state;
	for (uint64_t seed = test_seed(); seed < test_seed() + 60; seed++) {
		Fixture *f = fixture_random(seed, tree_any(seed), CAL_SOLVER_RECURSIVE);
		Rng r = rng_make(seed);
		int nodes[3], model_nodes[3], count = 1 + rng_int(&r, 3), rows = 6 * count;
		for (int k = 0; k < count; k++) {
			nodes[k] = rng_int(&r, f->ref->node_count);
			model_nodes[k] = f->node[nodes[k]];
		}
		double *want = fixture_doubles(f, rows * rows), *C = fixture_doubles(f, rows * rows);
		double *scratch = fixture_doubles(f, 12 * f->nu);
		reference_compliance(f, nodes, count, want);
		check_ok(seed, cal_mass_factor(f->model, &f->state, f->work));
		check_ok(seed, cal_node_compliance(f->model, f->work, model_nodes, count, scratch, C));
		check_close_scaled(seed, "compliance", rows * rows, C, want, 1e-6, 1e-11);
		for (int i = 0; i < rows; i++)
			for (int j = 0; j < i; j++)
				check_that(seed, C[i * rows + j] == C[j * rows + i]);
		fixture_destroy(f);
	}
}

static void factor_does_not_depend_on_speeds(void **state) {
	(void)state;
	for (uint64_t seed = test_seed(); seed < test_seed() + 20; seed++) {
		Fixture *f = fixture_random(seed, tree_any(seed), CAL_SOLVER_RECURSIVE);
		int n = f->nu;
		double *a = fixture_doubles(f, n), *b = fixture_doubles(f, n);
		check_ok(seed, cal_mass_factor(f->model, &f->state, f->work));
		check_ok(seed, cal_mass_solve(f->model, f->work, f->tau, a));
		rng_fill(&(Rng){seed, 0}, 10, n, f->state.u);
		check_ok(seed, cal_mass_factor(f->model, &f->state, f->work));
		check_ok(seed, cal_mass_solve(f->model, f->work, f->tau, b));
		assert_memory_equal(a, b, sizeof *a * (size_t)n);
		fixture_destroy(f);
	}
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(composite_bodies_equal_the_sum_over_bodies),
		cmocka_unit_test(inverse_equals_dense_inverse),
		cmocka_unit_test(matrix_times_inverse_is_one),
		cmocka_unit_test(solve_is_the_product_with_the_inverse),
		cmocka_unit_test(many_solves_have_the_bits_of_single_ones),
		cmocka_unit_test(inverse_has_the_bits_of_solves),
		cmocka_unit_test(many_solves_refuse_bad_arguments),
		cmocka_unit_test(trace_is_that_of_the_matrix),
		cmocka_unit_test(compliance_is_J_Minv_Jt),
		cmocka_unit_test(factor_does_not_depend_on_speeds),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
