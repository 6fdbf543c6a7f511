// SPDX-License-Identifier: Apache-2.0
/*
 * test_sparse_mass.c — the sparse mass matrix of rigid and flexible trees: its pattern, its bits, its factor L'D L,
 * solutions against the quad reference, products; one triangle of the dense one; what is refused.
 */
#include "support/tree_checks.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <calder/calder.h>

enum { CASES = 60 };

typedef struct Sparse {
	Fixture *f;
	int n;
	size_t count, *row;
	int *column;
	double *values;
} Sparse;

/* Rigid trees with every joint, or flexible ones; the values are those of the fixture's state. */
static Sparse sparse_make(uint64_t seed) {
	Sparse s = {.f = fixture_random(seed, seed % 3 ? tree_any(seed) : tree_flexible(seed), CAL_SOLVER_RECURSIVE)};
	s.n = s.f->nu;
	s.count = cal_mass_sparse_count(s.f->model);
	s.row = calloc((size_t)s.n + 1, sizeof *s.row);
	s.column = calloc(s.count + 1, sizeof *s.column);
	s.values = calloc(s.count + 1, sizeof *s.values);
	assert_true(s.row && s.column && s.values);
	check_ok(seed, cal_mass_sparse_pattern(s.f->model, s.row, s.column));
	for (size_t k = 0; k < s.count; k++)
		s.values[k] = NAN; // every entry is written
	check_ok(seed, cal_mass_sparse(s.f->model, &s.f->state, s.f->work, s.values));
	return s;
}

static void sparse_free(Sparse *s) {
	free(s->row), free(s->column), free(s->values);
	fixture_destroy(s->f);
}

static double *to_dense(const Sparse *s) {
	double *M = fixture_doubles(s->f, s->n * s->n);
	for (int i = 0; i < s->n; i++)
		for (size_t k = s->row[i]; k < s->row[i + 1]; k++)
			M[i * s->n + s->column[k]] = M[s->column[k] * s->n + i] = s->values[k];
	return M;
}

static void rows_ascend_and_end_on_the_diagonal(void **state) {
	(void)state;
	for (uint64_t seed = test_seed(); seed < test_seed() + CASES; seed++) {
		Sparse s = sparse_make(seed);
		assert_int_equal(s.row[0], 0);
		assert_int_equal(s.row[s.n], s.count);
		for (int i = 0; i < s.n; i++) {
			check_that(seed, s.row[i] < s.row[i + 1] && s.column[s.row[i + 1] - 1] == i);
			for (size_t k = s.row[i] + 1; k < s.row[i + 1]; k++)
				check_that(seed, s.column[k - 1] < s.column[k] && s.column[k - 1] >= 0);
		}
		sparse_free(&s);
	}
}

static void values_are_the_bits_of_the_dense_matrix(void **state) {
	(void)state;
	for (uint64_t seed = test_seed(); seed < test_seed() + CASES; seed++) {
		Sparse s = sparse_make(seed);
		double *M = fixture_doubles(s.f, s.n * s.n), *sparse = to_dense(&s);
		check_ok(seed, cal_mass_matrix(s.f->model, &s.f->state, s.f->work, M));
		for (int k = 0; k < s.n * s.n; k++)
			check_that(seed, M[k] == sparse[k]); // zero off the pattern
		sparse_free(&s);
	}
}

static void lower_triangle_leaves_the_upper_one(void **state) {
	(void)state;
	for (uint64_t seed = test_seed(); seed < test_seed() + CASES; seed++) {
		Sparse s = sparse_make(seed);
		double *M = fixture_doubles(s.f, s.n * s.n), *lower = fixture_doubles(s.f, s.n * s.n);
		for (int k = 0; k < s.n * s.n; k++)
			lower[k] = -7;
		check_ok(seed, cal_mass_matrix(s.f->model, &s.f->state, s.f->work, M));
		check_ok(seed, cal_mass_matrix_lower(s.f->model, &s.f->state, s.f->work, lower));
		for (int i = 0; i < s.n; i++)
			for (int j = 0; j < s.n; j++)
				check_that(seed, lower[i * s.n + j] == (j <= i ? M[i * s.n + j] : -7));
		sparse_free(&s);
	}
}

/* (L'D L)_ij of a factor, j <= i: sum over dofs k outboard of i. */
static double product(const Sparse *s, const double *L, int i, int j) {
	double sum = 0;
	for (int k = i; k < s->n; k++) {
		const double D = L[k * s->n + k];
		const double Lki = k == i ? 1 : L[k * s->n + i], Lkj = k == j ? 1 : L[k * s->n + j];
		sum += Lki * D * Lkj;
	}
	return sum;
}

static void factor_multiplies_back_to_the_matrix(void **state) {
	(void)state;
	for (uint64_t seed = test_seed(); seed < test_seed() + CASES; seed++) {
		Sparse s = sparse_make(seed);
		double *M = to_dense(&s);
		check_ok(seed, cal_mass_sparse_factor(s.f->model, s.f->work, s.values));
		double *L = to_dense(&s);
		for (int i = 0; i < s.n; i++)
			for (int j = 0; j <= i; j++) {
				const double got = product(&s, L, i, j), scale = sqrt(M[i * s.n + i] * M[j * s.n + j]);
				check_close_scaled(seed, "L'D L", 1, &got, &M[i * s.n + j], scale, 1e-14);
			}
		sparse_free(&s);
	}
}

static void solution_equals_reference(void **state) {
	(void)state;
	for (uint64_t seed = test_seed(); seed < test_seed() + CASES; seed++) {
		Sparse s = sparse_make(seed);
		double *x = fixture_doubles(s.f, s.n), *want = fixture_doubles(s.f, s.n), *in_place = fixture_doubles(s.f, s.n);
		reference_mass_solve(s.f, want);
		check_ok(seed, cal_mass_sparse_factor(s.f->model, s.f->work, s.values));
		check_ok(seed, cal_mass_sparse_solve(s.f->model, s.values, s.f->tau, x));
		check_close(seed, "M^-1 b", s.n, x, want, 1e-10);
		memcpy(in_place, s.f->tau, sizeof *in_place * (size_t)s.n);
		check_ok(seed, cal_mass_sparse_solve(s.f->model, s.values, in_place, in_place));
		assert_memory_equal(x, in_place, sizeof *x * (size_t)s.n);
		sparse_free(&s);
	}
}

static void product_equals_inverse_dynamics(void **state) {
	(void)state;
	for (uint64_t seed = test_seed(); seed < test_seed() + CASES; seed++) {
		Sparse s = sparse_make(seed);
		double *y = fixture_doubles(s.f, s.n), *want = fixture_doubles(s.f, s.n);
		check_ok(seed, cal_mass_sparse_mul(s.f->model, s.values, s.f->udot, y));
		check_ok(seed, cal_mass_mul(s.f->model, &s.f->state, s.f->udot, s.f->work, want));
		check_close(seed, "M x", s.n, y, want, 1e-12);
		sparse_free(&s);
	}
}

/* A diagonal term added by the caller, as of an implicit step, is in the solution. */
static void changed_diagonal_is_solved(void **state) {
	(void)state;
	for (uint64_t seed = test_seed(); seed < test_seed() + CASES; seed++) {
		Sparse s = sparse_make(seed);
		double *x = fixture_doubles(s.f, s.n), *b = fixture_doubles(s.f, s.n);
		for (int i = 0; i < s.n; i++)
			s.values[s.row[i + 1] - 1] += 10.0 + i;
		check_ok(seed, cal_mass_sparse_mul(s.f->model, s.values, s.f->udot, b));
		check_ok(seed, cal_mass_sparse_factor(s.f->model, s.f->work, s.values));
		check_ok(seed, cal_mass_sparse_solve(s.f->model, s.values, b, x));
		check_close(seed, "x", s.n, x, s.f->udot, 1e-12);
		sparse_free(&s);
	}
}

static void bad_pivots_are_reported(void **state) {
	(void)state;
	for (uint64_t seed = test_seed(); seed < test_seed() + CASES; seed++) {
		static const double bad[] = {0, -1, NAN, INFINITY};
		Sparse s = sparse_make(seed);
		const int dof = (int)(seed % (uint64_t)s.n), last = s.n - 1;
		double *kept = fixture_doubles(s.f, (int)s.count);
		memcpy(kept, s.values, sizeof *kept * s.count);
		for (int k = 0; k < 4; k++) {
			memcpy(s.values, kept, sizeof *kept * s.count);
			s.values[s.row[dof + 1] - 1] = bad[k];
			check_status(seed, cal_mass_sparse_factor(s.f->model, s.f->work, s.values),
			             k < 2 ? CAL_SINGULAR : CAL_NOT_FINITE);
			check_that(seed, cal_work_failed_dof(s.f->work) == dof);
		}
		memcpy(s.values, kept, sizeof *kept * s.count);
		s.values[s.row[last + 1] - 1] = 0;
		check_status(seed, cal_mass_sparse_factor(s.f->model, s.f->work, s.values), CAL_SINGULAR);
		sparse_free(&s);
	}
}

static void branches_leave_entries_out(void **state) {
	(void)state;
	RefModel *m = ref_model_create();
	for (int i = 0; i < 5; i++) { // one body with four on it
		const int b = ref_model_add_body(m, i ? 0 : -1, CAL_JOINT_REVOLUTE);
		m->bodies[b].mass = 1, m->bodies[b].com = (CalVec3){1, 0, 0};
		m->bodies[b].inertia = (CalMat3){{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}};
	}
	ref_model_index(m);
	Fixture *f = fixture_create(m, 0, CAL_SOLVER_RECURSIVE);
	assert_int_equal(cal_mass_sparse_count(f->model), 9);
	fixture_destroy(f);
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rows_ascend_and_end_on_the_diagonal),
		cmocka_unit_test(values_are_the_bits_of_the_dense_matrix),
		cmocka_unit_test(lower_triangle_leaves_the_upper_one),
		cmocka_unit_test(factor_multiplies_back_to_the_matrix),
		cmocka_unit_test(solution_equals_reference),
		cmocka_unit_test(product_equals_inverse_dynamics),
		cmocka_unit_test(changed_diagonal_is_solved),
		cmocka_unit_test(bad_pivots_are_reported),
		cmocka_unit_test(branches_leave_entries_out),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
