// SPDX-License-Identifier: Apache-2.0
/*
 * test_min_norm.c — singular positive systems: rank, which rows depend, and the solution of smallest norm, against
 * matrices whose pseudo-inverse is known by construction.
 */
#include <math.h>
#include <string.h>

#include "math/min_norm.h"
#include "support/check.h"
#include "support/rng.h"

enum { N = 12 };

static double dot(const double *a, const double *b, int n) {
	double sum = 0;
	for (int i = 0; i < n; i++)
		sum += a[i] * b[i];
	return sum;
}

/* r orthonormal vectors. */
static void orthonormal(Rng *rng, int n, int r, double Q[N][N]) {
	for (int k = 0; k < r; k++) {
		rng_fill(rng, 1, n, Q[k]);
		for (int again = 0; again < 2; again++) {
			for (int j = 0; j < k; j++) {
				const double f = dot(Q[j], Q[k], n);
				for (int i = 0; i < n; i++)
					Q[k][i] -= f * Q[j][i];
			}
		}
		const double size = sqrt(dot(Q[k], Q[k], n));
		for (int i = 0; i < n; i++)
			Q[k][i] /= size;
	}
}

static void pseudo_inverse_of_known_matrices(void **state) {
	(void)state;
	for (uint64_t seed = test_seed(); seed < test_seed() + 300; seed++) {
		Rng rng = rng_make(seed);
		const int n = 1 + (int)(seed % N), r = (int)(seed / N % (uint64_t)(n + 1));
		double Q[N][N], value[N], A[N * N], scratch[(N + 2) * N], b[N], x[N], expected[N] = {0};
		int order[N];
		uint8_t independent[N];
		orthonormal(&rng, n, r, Q);
		for (int k = 0; k < r; k++)
			value[k] = pow(10, rng_uniform(&rng, -2, 1));
		rng_fill(&rng, 1, n, b);
		for (int i = 0; i < n; i++) {
			for (int j = 0; j < n; j++) {
				A[i * n + j] = 0;
				for (int k = 0; k < r; k++)
					A[i * n + j] += value[k] * Q[k][i] * Q[k][j];
			}
			for (int k = 0; k < r; k++)
				expected[i] += Q[k][i] * dot(Q[k], b, n) / value[k];
		}
		const int rank = min_norm_factor(n, A, 1e-11, order, independent, scratch);
		int count = 0;
		for (int i = 0; i < n; i++)
			count += independent[i];
		check_that(seed, rank == r && count == r);
		min_norm_solve(n, rank, A, order, scratch, b, x);
		for (int i = 0; i < n; i++) {
			if (!(fabs(x[i] - expected[i]) <= 1e-11 * (1 + fabs(expected[i])) * 1e3))
				check_fail_at(__FILE__, __LINE__, seed, "x[%d] = %.15g, not %.15g (rank %d of %d)", i, x[i],
				              expected[i], r, n);
		}
	}
}

/* Rows of very different size, one of nothing but round-off, two the same. */
static void rows_of_any_size(void **state) {
	(void)state;
	const double g[4][2] = {{1, 0}, {1e-6, 1e-6}, {1, 0}, {1e-17, 0}};
	double A[16], scratch[24], x[4];
	const double b[4] = {1, 1e-6, 1, 0};
	int order[4];
	uint8_t independent[4];
	for (int i = 0; i < 16; i++)
		A[i] = dot(g[i / 4], g[i % 4], 2);
	assert_int_equal(min_norm_factor(4, A, 1e-11, order, independent, scratch), 2);
	assert_true(independent[1]);
	assert_int_equal(independent[0] + independent[2], 1);
	assert_false(independent[3]);
	min_norm_solve(4, 2, A, order, scratch, b, x);
	for (int k = 0; k < 2; k++) { // G'x is what G u = b gives: u = (1, 0)
		double u = 0;
		for (int i = 0; i < 4; i++)
			u += g[i][k] * x[i];
		assert_true(fabs(u - (k == 0)) < 1e-9);
	}
	assert_true(fabs(x[0] - x[2]) < 1e-9); // shared evenly
}

/* Several right-hand sides at once are the same bits as one after the other, of full rank or not. */
static void columns_are_single_solutions(void **state) {
	(void)state;
	for (uint64_t seed = test_seed(); seed < test_seed() + 40; seed++) {
		Rng rng = rng_make(seed);
		const int n = seed % 2 ? 6 : 1 + rng_int(&rng, N - 1), columns = seed % 3 ? 6 : 1 + rng_int(&rng, 9);
		const int r = seed % 4 ? n : 1 + rng_int(&rng, n);
		double G[N][N], A[N * N], X[N * 9], ordered[N * 9], scratch[(N + 2) * N], b[N], x[N];
		int order[N];
		uint8_t independent[N];
		for (int i = 0; i < n; i++)
			rng_fill(&rng, 1, r, G[i]);
		for (int i = 0; i < n * n; i++)
			A[i] = dot(G[i / n], G[i % n], r);
		rng_fill(&rng, 1, n * columns, X);
		double B[N * 9];
		memcpy(B, X, sizeof B);
		const int rank = min_norm_factor(n, A, 1e-11, order, independent, scratch);
		min_norm_solve_columns(n, rank, columns, A, order, scratch, ordered, X);
		for (int c = 0; c < columns; c++) {
			for (int i = 0; i < n; i++)
				b[i] = B[i * columns + c];
			min_norm_solve(n, rank, A, order, scratch, b, x);
			for (int i = 0; i < n; i++)
				check_that(seed, X[i * columns + c] == x[i]);
		}
	}
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(pseudo_inverse_of_known_matrices),
		cmocka_unit_test(rows_of_any_size),
		cmocka_unit_test(columns_are_single_solutions),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
