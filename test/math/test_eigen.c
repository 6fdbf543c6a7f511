// SPDX-License-Identifier: Apache-2.0
/*
 * test_eigen.c — symmetric eigenproblems: residuals and orthogonality at both sides of the change of method,
 * values counted by Sylvester's law as a second opinion, relative accuracy of graded matrices, and that what is
 * diagonal already is left as it is.
 */
#include <float.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "math/eigen.h"
#include "support/check.h"
#include "support/rng.h"

/* ---- helpers ------------------------------------------------------------------------------- */

static double *copy_of(int n, const double *A) {
	double *B = test_doubles(n * n);
	memcpy(B, A, (size_t)n * (size_t)n * sizeof *B);
	return B;
}

static double *random_symmetric(Rng *r, int n) {
	double *A = test_doubles(n * n);
	for (int i = 0; i < n; i++) {
		for (int j = 0; j <= i; j++) {
			A[i * n + j] = A[j * n + i] = rng_uniform(r, -1, 1);
		}
	}
	return A;
}

/** G'G of a random (n + extra) x n matrix G, columns scaled by size[]; NULL: 1. */
static double *random_gram(Rng *r, int n, int extra, const double *size) {
	double *A = test_doubles(n * n), *row = test_doubles(n);
	for (int k = 0; k < n + extra; k++) {
		for (int i = 0; i < n; i++) {
			row[i] = rng_uniform(r, -1, 1) * (size ? size[i] : 1);
		}
		for (int i = 0; i < n; i++) {
			for (int j = 0; j < n; j++) {
				A[i * n + j] += row[i] * row[j];
			}
		}
	}
	free(row);
	return A;
}

/** Largest element of V'MV - 1 (M NULL: 1). */
static double orthogonality(int n, const double *V, const double *M) {
	double *MV = test_doubles(n * n), worst = 0;
	for (int i = 0; i < n; i++) {
		for (int j = 0; j < n; j++) {
			for (int k = 0; k < n; k++) {
				MV[i * n + k] += (M ? M[i * n + j] : (double)(i == j)) * V[j * n + k];
			}
		}
	}
	for (int a = 0; a < n; a++) {
		for (int b = 0; b < n; b++) {
			double sum = 0;
			for (int i = 0; i < n; i++) {
				sum += V[i * n + a] * MV[i * n + b];
			}
			worst = fmax(worst, fabs(sum - (a == b)));
		}
	}
	free(MV);
	return worst;
}

/** Largest element of A V - M V diag(values) (M NULL: 1). */
static double residual(int n, const double *A, const double *M, const double *V, const double *values) {
	double worst = 0;
	for (int i = 0; i < n; i++) {
		for (int k = 0; k < n; k++) {
			double sum = M ? 0 : -V[i * n + k] * values[k];
			for (int j = 0; j < n; j++) {
				sum += (A[i * n + j] - (M ? values[k] * M[i * n + j] : 0)) * V[j * n + k];
			}
			worst = fmax(worst, fabs(sum));
		}
	}
	return worst;
}

/** Number of values of A below the shift: negative pivots of A - shift M (Sylvester), in long double. */
static int count_below(int n, const double *A, const double *M, double shift) {
	long double *L = test_alloc((size_t)(n * n), sizeof *L);
	for (int i = 0; i < n * n; i++) {
		L[i] = (long double)A[i] - (long double)shift * (M ? (long double)M[i] : i / n == i % n);
	}
	int negative = 0;
	for (int k = 0; k < n; k++) {
		negative += L[k * n + k] < 0;
		for (int i = k + 1; i < n; i++) {
			long double f = L[i * n + k] / L[k * n + k];
			for (int j = k + 1; j < n; j++) {
				L[i * n + j] -= f * L[k * n + j];
			}
		}
	}
	free(L);
	return negative;
}

static void check_ascending(uint64_t seed, int n, const double *values) {
	for (int k = 1; k < n; k++) {
		check_that(seed, values[k - 1] <= values[k]);
	}
}

/** The first of the largest components of every column is positive. */
static void check_signs(uint64_t seed, int n, const double *V) {
	for (int k = 0; k < n; k++) {
		double largest = 0;
		for (int i = 0; i < n; i++) {
			largest = fmax(largest, fabs(V[i * n + k]));
		}
		int first = 0;
		while (fabs(V[first * n + k]) < (1 - 1e-8) * largest) {
			first++;
		}
		check_that(seed, V[first * n + k] > 0);
	}
}

/* ---- standard problem ---------------------------------------------------------------------- */

static void check_standard(uint64_t seed, int n, const double *A) {
	double *V = copy_of(n, A), *values = test_doubles(n), *scratch = test_doubles(2 * n);
	check_ok(seed, eigen_symmetric(n, V, values, scratch));
	double tolerance = 2e-15 * n * fmax(max_abs(n * n, A), DBL_MIN);
	check_ascending(seed, n, values);
	check_signs(seed, n, V);
	check_that(seed, orthogonality(n, V, NULL) < 2e-15 * n);
	check_that(seed, residual(n, A, NULL, V, values) < tolerance);
	for (int k = 0; k < n && n <= 60; k += 1 + n / 8) {
		check_that(seed, count_below(n, A, NULL, values[k] - 2 * tolerance) <= k);
		check_that(seed, count_below(n, A, NULL, values[k] + 2 * tolerance) >= k + 1);
	}
	free(V), free(values), free(scratch);
}

static void random_matrices_are_solved(void **state) {
	(void)state;
	static const int sizes[] = {1, 2, 3, 4, 5, 7, 8, 12, 20, 31, 47, 48, 49, 50, 60, 120, 250};
	for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
		uint64_t seed = test_seed() + i;
		Rng r = rng_make(seed);
		double *A = random_symmetric(&r, sizes[i]), *B = random_gram(&r, sizes[i], -sizes[i] / 3, NULL);
		check_standard(seed, sizes[i], A);
		check_standard(seed, sizes[i], B); // a third of the values is zero
		for (int k = 0; k < sizes[i] * sizes[i]; k++) {
			A[k] = ldexp(A[k], -900);
		}
		check_standard(seed, sizes[i], A);
		free(A), free(B);
	}
}

static void structured_matrices_are_solved(void **state) {
	(void)state;
	for (int n = 1; n <= 130; n += n < 8 ? 1 : 41) {
		double *A = test_doubles(n * n);
		check_standard(0, n, A); // zero
		for (int i = 0; i < n * n; i++) {
			A[i] = 1; // rank one
		}
		check_standard(0, n, A);
		memset(A, 0, (size_t)(n * n) * sizeof *A);
		for (int i = 0; i < n - 1; i++) {
			A[i * n + i + 1] = A[(i + 1) * n + i] = 1; // zero diagonal
		}
		check_standard(0, n, A);
		for (int i = 0; i < n; i++) {
			A[i * n + i] = fabs(i - 0.5 * (n - 1)); // Wilkinson's pairs
		}
		check_standard(0, n, A);
		free(A);
	}
}

static void chain_has_its_closed_form(void **state) {
	(void)state;
	static const int sizes[] = {10, 40, 200};
	for (int s = 0; s < 3; s++) {
		int n = sizes[s];
		double *A = test_doubles(n * n), *values = test_doubles(n), *want = test_doubles(n);
		double *scratch = test_doubles(2 * n);
		for (int i = 0; i < n; i++) {
			A[i * n + i] = 2;
			if (i > 0) {
				A[i * n + i - 1] = A[(i - 1) * n + i] = -1;
			}
			double half = sin(0.5 * 3.14159265358979323846 * (i + 1) / (n + 1));
			want[i] = 4 * half * half;
		}
		check_ok(0, eigen_symmetric(n, A, values, scratch));
		check_close(0, "values of a chain", n, values, want, 1e-14);
		free(A), free(values), free(want), free(scratch);
	}
}

/** Scales of a graded matrix: values spread over 24 decades. */
static void grade(int n, double *size, bool ascending) {
	for (int i = 0; i < n; i++) {
		size[i] = pow(10, 12.0 * (ascending ? i : n - 1 - i) / n);
	}
}

static void graded_matrices_keep_their_small_values(void **state) {
	(void)state;
	for (uint64_t c = 0; c < 40; c++) {
		uint64_t seed = test_seed() + c;
		Rng r = rng_make(seed);
		int n = 2 + rng_int(&r, 40);
		double *size = test_doubles(n), *values = test_doubles(n), *scratch = test_doubles(2 * n);
		grade(n, size, c % 2 == 0);
		double *A = random_gram(&r, n, 2 * n, size), *V = copy_of(n, A);
		check_ok(seed, eigen_symmetric(n, V, values, scratch));
		for (int k = 0; k < n; k += 1 + n / 8) {
			check_that(seed, count_below(n, A, NULL, values[k] * (1 - 1e-12)) <= k);
			check_that(seed, count_below(n, A, NULL, values[k] * (1 + 1e-12)) >= k + 1);
		}
		free(size), free(A), free(V), free(values), free(scratch);
	}
}

static void large_matrices_graded_upwards_keep_their_small_values(void **state) {
	(void)state;
	uint64_t seed = test_seed();
	Rng r = rng_make(seed);
	int n = 80;
	double *size = test_doubles(n), *values = test_doubles(n), *scratch = test_doubles(2 * n);
	grade(n, size, true);
	double *A = random_gram(&r, n, 2 * n, size), *V = copy_of(n, A);
	check_ok(seed, eigen_symmetric(n, V, values, scratch));
	for (int k = 0; k < n; k += 10) {
		check_that(seed, count_below(n, A, NULL, values[k] * (1 - 1e-9)) <= k);
		check_that(seed, count_below(n, A, NULL, values[k] * (1 + 1e-9)) >= k + 1);
	}
	free(size), free(A), free(V), free(values), free(scratch);
}

static void diagonal_matrices_are_left_alone(void **state) {
	(void)state;
	for (int n = 1; n <= 80; n += 13) {
		double *A = test_doubles(n * n), *values = test_doubles(n), *scratch = test_doubles(2 * n);
		for (int i = 0; i < n; i++) {
			A[i * n + i] = 0.1 + floor(i / 3.0) / 7; // threefold values
		}
		double *diagonal = copy_of(n, A);
		check_ok(0, eigen_symmetric(n, A, values, scratch));
		for (int i = 0; i < n * n; i++) {
			check_that(0, A[i] == (i / n == i % n));
		}
		for (int i = 0; i < n; i++) {
			check_that(0, values[i] == diagonal[i * n + i]);
		}
		free(A), free(diagonal), free(values), free(scratch);
	}
}

static void numbers_that_are_not_finite_are_refused(void **state) {
	(void)state;
	static const int sizes[] = {3, 60};
	for (int s = 0; s < 2; s++) {
		int n = sizes[s];
		double *A = test_doubles(n * n), *M = test_doubles(n * n), *values = test_doubles(n);
		double *scratch = test_doubles(2 * n);
		A[n] = NAN;
		check_status(0, eigen_symmetric(n, A, values, scratch), CAL_NOT_FINITE);
		memset(A, 0, (size_t)(n * n) * sizeof *A);
		A[n + 1] = INFINITY;
		check_status(0, eigen_symmetric(n, A, values, scratch), CAL_NOT_FINITE);
		for (int i = 0; i < n; i++) {
			M[i * n + i] = 1;
		}
		M[n] = NAN;
		check_status(0, eigen_generalized(n, M, A, values, scratch), CAL_NOT_FINITE);
		free(A), free(M), free(values), free(scratch);
	}
}

/* ---- generalized problem ------------------------------------------------------------------- */

static void generalized_problems_are_solved(void **state) {
	(void)state;
	for (uint64_t c = 0; c < 60; c++) {
		uint64_t seed = test_seed() + c;
		Rng r = rng_make(seed);
		int n = c < 50 ? 1 + rng_int(&r, 30) : 49 + rng_int(&r, 60);
		double *K = random_gram(&r, n, c % 2 ? -n / 3 : 4, NULL), *M = random_gram(&r, n, 2 * n, NULL);
		double *V = copy_of(n, K), *L = copy_of(n, M), *values = test_doubles(n), *scratch = test_doubles(2 * n);
		check_ok(seed, eigen_generalized(n, V, L, values, scratch));
		double size = fmax(fabs(values[0]), values[n - 1]) + max_abs(n * n, K);
		check_ascending(seed, n, values);
		check_signs(seed, n, V);
		check_that(seed, orthogonality(n, V, M) < 1e-13 * n);
		check_that(seed, residual(n, K, M, V, values) < 1e-13 * n * size);
		for (int k = 0; k < n && n <= 30; k += 1 + n / 5) {
			check_that(seed, count_below(n, K, M, values[k] - 1e-12 * size) <= k);
			check_that(seed, count_below(n, K, M, values[k] + 1e-12 * size) >= k + 1);
		}
		free(K), free(M), free(V), free(L), free(values), free(scratch);
	}
}

static void diagonal_pair_gives_scaled_axes(void **state) {
	(void)state;
	const double k[] = {2, 8, 27, 27}, m[] = {2, 4, 3, 3};
	double K[16] = {0}, M[16] = {0}, values[4], scratch[8];
	for (int i = 0; i < 4; i++) {
		K[i * 5] = k[i];
		M[i * 5] = m[i];
	}
	check_ok(0, eigen_generalized(4, K, M, values, scratch));
	for (int i = 0; i < 16; i++) {
		check_that(0, i % 5 == 0 ? fabs(K[i] - 1 / sqrt(m[i / 5])) < 1e-15 : K[i] == 0);
	}
	for (int i = 0; i < 4; i++) {
		check_that(0, fabs(values[i] - k[i] / m[i]) < 1e-14);
	}
}

/** Round-off in a canonical pair: nothing is turned, not even within equal values. */
static void canonical_pair_is_left_alone(void **state) {
	(void)state;
	for (uint64_t c = 0; c < 20; c++) {
		uint64_t seed = test_seed() + c;
		Rng r = rng_make(seed);
		enum { N = 6 };
		const double k[N] = {1e-3, 4, 4, 4, 1e6, 1e6};
		double K[N * N], M[N * N], values[N], scratch[2 * N];
		for (int i = 0; i < N; i++) {
			for (int j = 0; j <= i; j++) {
				double noise = c == 0 ? 0 : 5e-13 * rng_uniform(&r, -1, 1);
				M[i * N + j] = M[j * N + i] = (i == j) + noise;
				K[i * N + j] = K[j * N + i] = i == j ? k[i] : noise * sqrt(k[i] * k[j]);
			}
		}
		check_ok(seed, eigen_generalized(N, K, M, values, scratch));
		for (int i = 0; i < N * N; i++) {
			check_that(seed, K[i] == (i / N == i % N));
		}
		for (int i = 0; i < N; i++) {
			check_that(seed, values[i] == k[i]);
		}
	}
}

static void unordered_canonical_pair_is_permuted(void **state) {
	(void)state;
	double K[9] = {5, 0, 0, 0, 1, 0, 0, 0, 3}, M[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1}, values[3], scratch[6];
	check_ok(0, eigen_generalized(3, K, M, values, scratch));
	const double want_values[3] = {1, 3, 5}, want[9] = {0, 0, 1, 1, 0, 0, 0, 1, 0};
	assert_memory_equal(values, want_values, sizeof values);
	for (int i = 0; i < 9; i++) {
		check_that(0, K[i] == want[i]);
	}
}

static void singular_mass_is_reported(void **state) {
	(void)state;
	double scratch[6], values[3];
	double K[9] = {1, 0, 0, 0, 2, 0, 0, 0, 3}, M[9] = {1, 1, 0, 1, 1, 0, 0, 0, 1};
	check_status(0, eigen_generalized(3, K, M, values, scratch), CAL_SINGULAR);
	double K2[9] = {1, 0, 0, 0, 2, 0, 0, 0, 3}, indefinite[9] = {1, 0, 0, 0, -1, 0, 0, 0, 1};
	check_status(0, eigen_generalized(3, K2, indefinite, values, scratch), CAL_SINGULAR);
	double K3[9] = {0}, zero[9] = {0};
	check_status(0, eigen_generalized(3, K3, zero, values, scratch), CAL_SINGULAR);
}

static void cholesky_names_the_dependent_row(void **state) {
	(void)state;
	double A[9] = {4, 2, 6, 2, 5, 7, 6, 7, 13}; // row 3 = row 1 + row 2
	assert_int_equal(cholesky_factor(3, A, NULL, 1e-12), 2);
	double B[9] = {4, 2, 0, 2, 5, 0, 0, 0, 1e-9}, reference[3] = {4, 5, 1};
	assert_int_equal(cholesky_factor(3, B, reference, 1e-8), 2);
	double C[9] = {4, 2, 0, 2, 5, 0, 0, 0, 1e-9};
	assert_int_equal(cholesky_factor(3, C, NULL, 1e-8), -1);
	check_that(0, C[0] == 2 && C[3] == 1 && C[4] == 2 && C[1] == 0 && C[2] == 0 && C[5] == 0);
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(random_matrices_are_solved),
		cmocka_unit_test(structured_matrices_are_solved),
		cmocka_unit_test(chain_has_its_closed_form),
		cmocka_unit_test(graded_matrices_keep_their_small_values),
		cmocka_unit_test(large_matrices_graded_upwards_keep_their_small_values),
		cmocka_unit_test(diagonal_matrices_are_left_alone),
		cmocka_unit_test(numbers_that_are_not_finite_are_refused),
		cmocka_unit_test(generalized_problems_are_solved),
		cmocka_unit_test(diagonal_pair_gives_scaled_axes),
		cmocka_unit_test(canonical_pair_is_left_alone),
		cmocka_unit_test(unordered_canonical_pair_is_permuted),
		cmocka_unit_test(singular_mass_is_reported),
		cmocka_unit_test(cholesky_names_the_dependent_row),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
