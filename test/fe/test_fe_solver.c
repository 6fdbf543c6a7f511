// SPDX-License-Identifier: Apache-2.0
/*
 * The sparse solver of finite element models on a cubic lattice of masses and springs, whose modes are known and come in groups of
 * up to six equal ones.
 */
#include "support/fe_support.h"

#include "fe/fe_kernels.h"
#include "fe/fe_solver.h"

enum { SIDE = 9, POINTS = SIDE * SIDE * SIDE, MODES = 30 };

void fe_row_products_x1(size_t length, const double *a, size_t stride, const double *b, size_t b_stride, int columns,
                        double *out);

/* Points of the lattice as nodes with one translation each, its boundary held; values[POINTS] ascend. */
typedef struct Lattice {
	CalFeModel *fe;
	bool inside[POINTS];
	double values[POINTS];
} Lattice;

static int by_value(const void *a, const void *b) {
	const double x = *(const double *)a, y = *(const double *)b;
	return (x > y) - (x < y);
}

static void lattice_make(Lattice *lattice, bool with_nodes) {
	static const int step[3] = {1, SIDE, SIDE * SIDE};
	CalFeModel *fe = lattice->fe = fe_model_new("lattice", "made", NULL, NULL);
	assert_non_null(fe);
	fe->dof_count = POINTS;
	fe->dofs = pool_array(&fe->pool, POINTS, sizeof *fe->dofs);
	assert_non_null(fe->dofs);
	for (int k = 0; k < POINTS; k++) {
		const int at[3] = {k % SIDE, k / SIDE % SIDE, k / (SIDE * SIDE)};
		double value = 0;
		assert_true(fe_model_add_node(fe, k + 1, (CalVec3){at[0], at[1], at[2]}));
		fe->dofs[k] = (FeDof){with_nodes ? k : -1, 0};
		fe->nodes[k].dof[0] = k;
		lattice->inside[k] = true;
		assert_true(fe_matrix_add(fe, &fe->K, k, k, 6) && fe_matrix_add(fe, &fe->M, k, k, 1));
		for (int c = 0; c < 3; c++) {
			const double s = sin((at[c] + 1) * 1.5707963267948966 / (SIDE + 1));
			value += 4 * s * s;
			assert_true(at[c] + 1 == SIDE || fe_matrix_add(fe, &fe->K, k, k + step[c], -1));
		}
		lattice->values[k] = value;
	}
	qsort(lattice->values, POINTS, sizeof *lattice->values, by_value);
}

static void every_equation_has_one_place(void **state) {
	(void)state;
	Lattice lattice;
	FeOrder order;
	lattice_make(&lattice, true);
	for (int k = 0; k < POINTS; k += 7)
		lattice.inside[k] = false;
	assert_true(fe_order_create(&order, lattice.fe, lattice.inside));
	int seen[POINTS] = {0}, covered = 0;
	for (int k = 0; k < POINTS; k++) {
		assert_int_equal(order.place[k] >= 0, lattice.inside[k]);
		if (order.place[k] >= 0) {
			seen[order.place[k]]++;
			assert_int_equal(order.equation[order.place[k]], k);
		}
	}
	for (int k = 0; k < order.equations; k++)
		assert_int_equal(seen[k], 1);
	for (int f = 0; f < order.front_count; f++) {
		assert_int_equal(order.fronts[f].first, covered);
		assert_true(order.fronts[f].parent == -1 || order.fronts[f].parent > f);
		covered += order.fronts[f].count;
	}
	assert_int_equal(covered, order.points);
	fe_order_free(&order);
	cal_fe_destroy(lattice.fe);
}

static void solutions_satisfy_the_equations(void **state) {
	(void)state;
	static double x[5 * POINTS], b[5 * POINTS], y[5 * POINTS];
	for (int with_nodes = 0; with_nodes < 2; with_nodes++) {
		Lattice lattice;
		FeSolver solver;
		CalError error = {0};
		lattice_make(&lattice, with_nodes);
		for (int k = 3; k < POINTS; k += 11)
			lattice.inside[k] = false;
		for (int i = 0; i < 5 * POINTS; i++)
			x[i] = b[i] = lattice.inside[i % POINTS] ? sin(1.7 * i) : 0;
		assert_int_equal(fe_solver_open(&solver, lattice.fe, lattice.inside, 0, &error), CAL_OK);
		assert_int_equal(fe_solver_factor(&solver, 0.25, &error), CAL_OK);
		fe_solver_solve(&solver, 5, x);
		fe_matrix_multiply(&lattice.fe->K, POINTS, 5, x, y);
		for (int i = 0; i < 5 * POINTS; i++) {
			if (lattice.inside[i % POINTS])
				assert_near(y[i] + 0.25 * x[i], b[i], 1e-13);
			else
				assert_near(x[i], 0, 0);
		}
		fe_solver_free(&solver);
		cal_fe_destroy(lattice.fe);
	}
}

static void find_modes(const Lattice *lattice, double *values, double *vectors) {
	FeSolver solver;
	CalError error = {0};
	int count = MODES;
	assert_int_equal(fe_solver_open(&solver, lattice->fe, lattice->inside, 0, &error), CAL_OK);
	assert_int_equal(fe_solver_factor(&solver, 0, &error), CAL_OK);
	if (fe_lowest_modes(&solver, 0, &count, values, vectors, &error) != CAL_OK)
		fail_msg("%s", error.text);
	assert_int_equal(count, MODES);
	fe_solver_free(&solver);
}

static void equal_modes_are_all_found_and_bits_repeat(void **state) {
	(void)state;
	Lattice lattice;
	static double values[2][MODES], vectors[2][MODES * POINTS];
	lattice_make(&lattice, true);
	for (int k = 0; k < 2; k++)
		find_modes(&lattice, values[k], vectors[k]);
	for (int i = 0; i < MODES; i++)
		assert_near(values[0][i] / lattice.values[i], 1, 1e-12);
	for (int i = 0; i < MODES; i++)
		for (int j = 0; j <= i; j++) {
			double sum = 0;
			for (int p = 0; p < POINTS; p++)
				sum += vectors[0][i * POINTS + p] * vectors[0][j * POINTS + p];
			assert_near(sum, i == j, 1e-12);
		}
	assert_memory_equal(values[0], values[1], sizeof values[0]);
	assert_memory_equal(vectors[0], vectors[1], sizeof vectors[0]);
	cal_fe_destroy(lattice.fe);
}

static void a_factor_beyond_the_limit_is_refused(void **state) {
	(void)state;
	Lattice lattice;
	FeSolver solver;
	CalError error = {0};
	lattice_make(&lattice, true);
	assert_int_equal(fe_solver_open(&solver, lattice.fe, lattice.inside, 1e5, &error), CAL_ERR_UNSUPPORTED);
	assert_non_null(strstr(error.text, "lattice: error: the factor of 729 equations needs "));
	assert_non_null(strstr(error.text, "raise the limit"));
	cal_fe_destroy(lattice.fe);
}

/* The widest registers of this processor against any processor's. */
static void wide_registers_have_the_same_bits(void **state) {
	(void)state;
	static double a[4 * 64], b[11 * 64], wide[4 * 11], narrow[4 * 11];
	for (int i = 0; i < 4 * 64; i++)
		a[i] = sin(3.3 * i) * (i % 13);
	for (int i = 0; i < 11 * 64; i++)
		b[i] = cos(1.9 * i) / (1 + i % 5);
	for (size_t length = 0; length <= 64; length += 4) {
		fe_kernels()->row_products(length, a, 64, b, 64, 11, wide);
		fe_row_products_x1(length, a, 64, b, 64, 11, narrow);
		assert_memory_equal(wide, narrow, sizeof wide);
		for (int k = 0; k < 44; k++) {
			double sum = 0;
			for (size_t i = 0; i < length; i++)
				sum += a[(size_t)(k / 11) * 64 + i] * b[(size_t)(k % 11) * 64 + i];
			assert_near(wide[k], sum, 1e-10);
		}
	}
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_equation_has_one_place),
		cmocka_unit_test(solutions_satisfy_the_equations),
		cmocka_unit_test(equal_modes_are_all_found_and_bits_repeat),
		cmocka_unit_test(a_factor_beyond_the_limit_is_refused),
		cmocka_unit_test(wide_registers_have_the_same_bits),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
