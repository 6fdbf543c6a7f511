// SPDX-License-Identifier: Apache-2.0
/*
 * test_trio.c — 3-vectors in registers: every operation against plain sums over indices, and the same bits with 128
 * bits, with AVX2, with AVX-512 and in lanes.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <math.h>
#include <string.h>
#include <cmocka.h>

#include "base/cpu.h"
#include "support/rng.h"
#include "trio_cases.h"

enum { CASES = 200, LANES = 4 };

typedef struct Expected {
	double *next;
} Expected;

static void want(Expected *e, const double v[3]) {
	memcpy(e->next, v, 3 * sizeof *v);
	e->next += 3;
}
static void want3(Expected *e, double x, double y, double z) { want(e, (double[]){x, y, z}); }

/* Matrices as m[column][row]. */
static void want_columns(Expected *e, double (*m)[3]) { want(e, m[0]), want(e, m[1]), want(e, m[2]); }
static void want_sym(Expected *e, double (*m)[3]) {
	want3(e, m[0][0], m[1][1], m[2][2]), want3(e, m[1][0], m[2][0], m[2][1]);
}

static double dot3(const double *a, const double *b) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }

static void cross3(const double *a, const double *b, double *out) {
	for (int i = 0; i < 3; ++i) {
		const int j = (i + 1) % 3, k = (i + 2) % 3;
		out[i] = a[j] * b[k] - a[k] * b[j];
	}
}

/* out = sum over k of a(., k) b(k, .) for columns; ta: the transpose of a. */
static void product(double (*a)[3], int ta, double (*b)[3], int columns, double (*out)[3]) {
	for (int c = 0; c < columns; ++c) {
		for (int r = 0; r < 3; ++r) {
			out[c][r] = 0;
			for (int k = 0; k < 3; ++k)
				out[c][r] += (ta ? a[r][k] : a[k][r]) * b[c][k];
		}
	}
}

static void skew(const double *v, double (*m)[3]) {
	const double all[3][3] = {{0, v[2], -v[1]}, {-v[2], 0, v[0]}, {v[1], -v[0], 0}};
	memcpy(m, all, sizeof all);
}

static void vector_results(Expected *e, const double *a, const double *b, const double *c, double x) {
	double ab[3], wv[3], wwv[3], av[3];
	*e->next++ = a[0] + a[1] + a[2], *e->next++ = b[0] + b[1] + b[2], *e->next++ = dot3(a, b);
	want3(e, a[0] + b[0], a[1] + b[1], a[2] + b[2]), want3(e, a[0] - b[0], a[1] - b[1], a[2] - b[2]);
	want3(e, a[0] * b[0], a[1] * b[1], a[2] * b[2]), want3(e, -a[0], -a[1], -a[2]);
	want3(e, a[1], a[2], a[0]), want3(e, a[2], a[0], a[1]);
	want3(e, a[0] + x * b[0], a[1] + x * b[1], a[2] + x * b[2]);
	want3(e, a[0] + b[0] * c[0], a[1] + b[1] * c[1], a[2] + b[2] * c[2]);
	for (int i = 0; i < 3; ++i)
		want3(e, a[i], a[i], a[i]);
	cross3(a, b, ab);
	want(e, ab);
	cross3(a, c, wv), cross3(a, wv, wwv), cross3(b, c, av);
	for (int k = 0; k < 2; ++k)
		want3(e, av[0] + wwv[0], av[1] + wwv[1], av[2] + wwv[2]);
}

static void memory_results(Expected *e, double (*m)[3], const double *a, const double *b, double x) {
	want_columns(e, m), want_columns(e, m), want(e, a), want(e, b), want(e, b), want(e, b);
	*e->next++ = x;
}

static void column_results(Expected *e, double (*m)[3], const double *v, double s, double c) {
	double d[3][3] = {{0.5, -1.25, 3}, {1, 2, 3}, {-3, 0, 1}}, unit[3][3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
	double Rx[3][3] = {{1, 0, 0}, {0, c, s}, {0, -s, c}}, Rz[3][3] = {{c, s, 0}, {-s, c, 0}, {0, 0, 1}};
	double out[3][3], V[1][3] = {{v[0], v[1], v[2]}}, X[3][3];
	product(m, 0, V, 1, out), want(e, out[0]), want(e, out[0]);
	product(m, 1, V, 1, out), want(e, out[0]);
	product(m, 0, d, 1, out), want(e, out[0]);
	product(m, 1, unit, 3, out), want_columns(e, out);
	skew(v, X), product(m, 0, X, 3, out), want_columns(e, out);
	for (int i = 0; i < 9; ++i)
		out[i / 3][i % 3] = (1 + s) * m[i / 3][i % 3];
	want_columns(e, out);
	product(m, 0, d, 3, out), want_columns(e, out);
	product(m, 0, Rx, 3, out), want_columns(e, out), product(m, 0, Rz, 3, out), want_columns(e, out);
}

/* m - a b', a + m, x p' + p x' + y s' + s y' of cyclic matrices, and shifts. */
static void cyclic_results(Expected *e, double (*m)[3], double (*s)[3], const double *a, const double *b) {
	double out[3][3], A[1][3] = {{a[0], a[1], a[2]}}, X[3][3], N[3][3], t[3][3], S[3][3], aa[3][3], M2[3][3], p[3][3];
	double pair[3][3];
	want_columns(e, m), want_sym(e, s);
	product(m, 0, A, 1, out), want(e, out[0]), product(m, 1, A, 1, out), want(e, out[0]);
	product(s, 0, A, 1, out), want(e, out[0]);
	for (int c = 0; c < 3; ++c) {
		for (int r = 0; r < 3; ++r) {
			out[c][r] = m[c][r] - a[r] * b[c], aa[c][r] = s[c][r] - a[r] * a[c];
			M2[c][r] = 2 * m[c][r], S[c][r] = 2 * s[c][r], p[c][r] = 2 * (a[r] * b[c] + b[r] * a[c]);
			t[c][r] = m[r][c], pair[c][r] = s[c][r] - (a[r] * b[c] + b[r] * a[c]);
		}
	}
	want_columns(e, out), want_sym(e, aa), want_columns(e, M2), want_sym(e, S), want_sym(e, p), want_sym(e, pair);
	skew(a, X), product(X, 0, s, 3, out), want_columns(e, out);
	product(X, 0, t, 3, N);
	for (int i = 0; i < 9; ++i)
		out[i / 3][i % 3] = (N[i / 3][i % 3] + N[i % 3][i / 3]) / 2;
	want_sym(e, out);
}

static void inverse_results(Expected *e, double (*m)[3], double (*s)[3], const double *a, double x) {
	double out[3][3], S[3][3], X[3][3], XX[3][3];
	const double n = x * x + dot3(a, a);
	for (int i = 0; i < 9; ++i)
		S[i / 3][i % 3] = 2 * s[i / 3][i % 3];
	want_sym(e, S), want_sym(e, S);
	*e->next++ = x, *e->next++ = x;
	want(e, a), want3(e, 1, 2, 3), want3(e, a[1], -a[0], 0);
	product(m, 0, m, 3, out), want_columns(e, out);
	skew(a, X), product(X, 0, X, 3, XX); // R = 1 + 2 (w [v]x + [v]x [v]x) / |q|^2
	for (int i = 0; i < 9; ++i)
		out[i / 3][i % 3] = (i % 4 == 0) + 2 * (x * X[i / 3][i % 3] + XX[i / 3][i % 3]) / n;
	want_columns(e, out);
}

/* s m, m's m, (s + 6)^-1, and what is read and stored. */
static void product_results(Expected *e, double (*m)[3], double (*s)[3]) {
	double sm[3][3], out[3][3], d[3][3], c[3][3];
	product(s, 0, m, 3, sm), want_columns(e, sm), product(m, 1, sm, 3, out), want_sym(e, out);
	for (int i = 0; i < 9; ++i)
		d[i / 3][i % 3] = s[i / 3][i % 3] + (i % 4 == 0 ? 6 : 0);
	for (int i = 0; i < 3; ++i)
		cross3(d[(i + 1) % 3], d[(i + 2) % 3], c[i]);
	const double determinant = dot3(d[0], c[0]);
	for (int i = 0; i < 9; ++i)
		out[i / 3][i % 3] = c[i / 3][i % 3] / determinant;
	want_sym(e, out);
	*e->next++ = determinant, *e->next++ = s[0][0] + s[1][1] + s[2][2];
	want_sym(e, s), want_sym(e, d);
}

static void expected_results(const double *in, double *results) {
	Expected e = {results};
	double m[3][3] = {{in[0], in[1], in[2]}, {in[3], in[4], in[5]}, {in[6], in[7], in[8]}};
	double s[3][3] = {{in[9], in[12], in[13]}, {in[12], in[10], in[14]}, {in[13], in[14], in[11]}};
	vector_results(&e, in, in + 3, in + 6, in[9]);
	memory_results(&e, m, in, in + 3, in[9]);
	column_results(&e, m, in + 9, in[12], in[13]);
	cyclic_results(&e, m, s, in, in + 3);
	product_results(&e, m, s);
	inverse_results(&e, m, s, in, in[9]);
	assert_int_equal(e.next - results, TRIO_RESULTS);
}

static void operations_are_those_of_plain_sums(void **state) {
	(void)state;
	for (uint64_t seed = test_seed(); seed < test_seed() + CASES; ++seed) {
		Rng r = rng_make(seed);
		double in[TRIO_NUMBERS], got[TRIO_RESULTS], expected[TRIO_RESULTS];
		rng_fill(&r, 2.0, TRIO_NUMBERS, in);
		trio_cases_x1(in, got);
		expected_results(in, expected);
		for (int i = 0; i < TRIO_RESULTS; ++i) {
			if (!(fabs(got[i] - expected[i]) <= 1e-12)) // determinants: six terms below 512, a few roundings each
				fail_msg("seed %llu, result %d: %.17g, not %.17g", (unsigned long long)seed, i, got[i], expected[i]);
		}
	}
}

static void same_bits(const char *width, uint64_t seed, const double *a, const double *b, int stride) {
	for (int i = 0; i < TRIO_RESULTS; ++i) {
		if (memcmp(&a[i], &b[i * stride], sizeof *a) != 0)
			fail_msg("%s, seed %llu, result %d: %.17g, not %.17g", width, (unsigned long long)seed, i, b[i * stride],
			         a[i]);
	}
}

static void every_width_gives_the_same_bits(void **state) {
	(void)state;
	for (uint64_t seed = test_seed(); seed < test_seed() + CASES; ++seed) {
		Rng r = rng_make(seed);
		double in[LANES][TRIO_NUMBERS], base[LANES][TRIO_RESULTS];
		_Alignas(64) double lanes[TRIO_NUMBERS][LANES], from_lanes[TRIO_RESULTS][LANES];
		for (int k = 0; k < LANES; ++k) {
			rng_fill(&r, 2.0, TRIO_NUMBERS, in[k]);
			trio_cases_x1(in[k], base[k]);
			for (int i = 0; i < TRIO_NUMBERS; ++i)
				lanes[i][k] = in[k][i];
#ifdef CALDER_WIDE_KERNELS
			double wide[TRIO_RESULTS];
			if (cpu_isa() >= CPU_AVX2)
				trio_cases_x1_avx2(in[k], wide), same_bits("AVX2", seed, base[k], wide, 1);
			if (cpu_isa() >= CPU_AVX512)
				trio_cases_x1_avx512(in[k], wide), same_bits("AVX-512", seed, base[k], wide, 1);
#endif
		}
		trio_cases_x4(lanes, from_lanes);
		for (int k = 0; k < LANES; ++k)
			same_bits("lanes", seed, base[k], &from_lanes[0][k], LANES);
	}
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(operations_are_those_of_plain_sums),
		cmocka_unit_test(every_width_gives_the_same_bits),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
