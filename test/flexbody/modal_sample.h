// SPDX-License-Identifier: Apache-2.0
/*
 * modal_sample.h — random flexible bodies for the tests of src/flexbody, and small dense algebra.
 *
 * A Sample is generic: a rigid part, 3 to 8 lumped nodes with rotary inertia, up to 6 modes of full rank, full
 * stiffness and damping. A Form is its canonical form with room for every output. The algebra is textbook code
 * of its own, apart from the eigenvalues, which test_eigen.c answers for.
 */
#ifndef TEST_FLEXBODY_MODAL_SAMPLE_H
#define TEST_FLEXBODY_MODAL_SAMPLE_H

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "flexbody/modal.h"
#include "math/eigen.h"
#include "support/check.h"
#include "support/rng.h"

enum { MAX_MODES = 6, MAX_NODES = 8 };

/** A random flexible body with its own storage. */
typedef struct Sample {
	CalBodyDef body;
	CalFlexDef flex;
	CalFlexNode nodes[MAX_NODES];
	CalVec3 position[MAX_NODES];
	double phi[MAX_NODES][3 * MAX_MODES], psi[MAX_NODES][3 * MAX_MODES];
	double K[MAX_MODES * MAX_MODES], D[MAX_MODES * MAX_MODES];
} Sample;

typedef struct Form {
	double C[MAX_MODES * MAX_MODES], w2[MAX_MODES], D[MAX_MODES * MAX_MODES], free_w2[MAX_MODES];
	ModalForm form;
	CalStatus status;
} Form;

static inline ModalBody modal_of(const Sample *s) { return (ModalBody){&s->body, &s->flex, s->position}; }

static inline void canonicalize(const Sample *s, Form *f) {
	double *scratch = test_doubles((int)modal_scratch_size(s->flex.modes));
	f->form = (ModalForm){.C = f->C, .w2 = f->w2, .D = f->D, .free_w2 = f->free_w2};
	ModalBody b = modal_of(s);
	f->status = modal_canonicalize(&b, &f->form, scratch);
	free(scratch);
}

/* ---- dense helpers ------------------------------------------------------------------------- */

/** out[rows x columns] = A'[inner x rows]' B[inner x columns] */
static inline void multiply_transposed(int rows, int inner, int columns, const double *A, const double *B,
                                       double *out) {
	for (int i = 0; i < rows; i++) {
		for (int j = 0; j < columns; j++) {
			double sum = 0;
			for (int k = 0; k < inner; k++) {
				sum += A[k * rows + i] * B[k * columns + j];
			}
			out[i * columns + j] = sum;
		}
	}
}

/** out[r x r] = B'AB, A n x n, B n x r */
static inline void congruence(int n, int r, const double *A, const double *B, double *out) {
	double *AB = test_doubles(n * r), *At = test_doubles(n * n);
	for (int i = 0; i < n * n; i++) {
		At[i] = A[i % n * n + i / n];
	}
	multiply_transposed(n, n, r, At, B, AB);
	multiply_transposed(r, n, r, B, AB, out);
	free(AB), free(At);
}

/** A <- A^-1 by Gauss-Jordan with row pivoting. */
static inline void invert(int n, double *A) {
	double *B = test_doubles(n * n);
	for (int i = 0; i < n; i++) {
		B[i * n + i] = 1;
	}
	for (int k = 0; k < n; k++) {
		int p = k;
		for (int i = k + 1; i < n; i++) {
			p = fabs(A[i * n + k]) > fabs(A[p * n + k]) ? i : p;
		}
		for (int j = 0; j < n; j++) {
			double a = A[k * n + j], b = B[k * n + j];
			A[k * n + j] = A[p * n + j], A[p * n + j] = a;
			B[k * n + j] = B[p * n + j], B[p * n + j] = b;
		}
		double pivot = A[k * n + k];
		for (int j = 0; j < n; j++) {
			A[k * n + j] /= pivot, B[k * n + j] /= pivot;
		}
		for (int i = 0; i < n; i++) {
			double f = i == k ? 0 : A[i * n + k];
			for (int j = 0; j < n; j++) {
				A[i * n + j] -= f * A[k * n + j], B[i * n + j] -= f * B[k * n + j];
			}
		}
	}
	memcpy(A, B, (size_t)(n * n) * sizeof *A);
	free(B);
}

/** Values of K against M, both kept. */
static inline void values_of(uint64_t seed, int n, const double *K, const double *M, double *values) {
	double *V = test_doubles(n * n), *L = test_doubles(n * n), *scratch = test_doubles(2 * n);
	memcpy(V, K, (size_t)(n * n) * sizeof *V);
	memcpy(L, M, (size_t)(n * n) * sizeof *L);
	check_ok(seed, eigen_generalized(n, V, L, values, scratch));
	free(V), free(L), free(scratch);
}

/** M_ee - M_er M_rr^-1 M_re by that formula. */
static inline void schur(int m, const double *rr, const double *re, const double *ee, double *ff) {
	double inverse[36], product[36];
	memcpy(inverse, rr, sizeof inverse);
	invert(6, inverse);
	congruence(6, m, inverse, re, product);
	for (int i = 0; i < m * m; i++) {
		ff[i] = ee[i] - product[i];
	}
}

/* ---- random bodies ------------------------------------------------------------------------- */

static inline void random_spd(Rng *r, int n, double size, double *A) {
	memset(A, 0, (size_t)(n * n) * sizeof *A);
	for (int k = 0; k < n + 3; k++) {
		double row[MAX_MODES];
		rng_fill(r, 1, n, row);
		double scale = size * exp(rng_uniform(r, 0, 6)); // frequencies that differ
		for (int i = 0; i < n * n; i++) {
			A[i] += scale * row[i / n] * row[i % n];
		}
	}
}

static inline void random_sample(Rng *r, Sample *s) {
	memset(s, 0, sizeof *s);
	int m = 1 + rng_int(r, MAX_MODES), count = 3 + rng_int(r, MAX_NODES - 2);
	rng_mass(r, 1, &s->body.mass, &s->body.com, &s->body.inertia);
	for (int i = 0; i < count; i++) {
		CalVec3 com;
		double mass;
		rng_mass(r, 0.3, &mass, &com, &s->nodes[i].inertia);
		s->nodes[i].mass = rng_uniform(r, 0.1, 2);
		s->nodes[i].phi = s->phi[i];
		s->nodes[i].psi = rng_chance(r, 0.8) ? s->psi[i] : NULL;
		s->position[i] = rng_vector(r, 2);
		rng_fill(r, 1, 3 * m, s->phi[i]);
		rng_fill(r, 1, 3 * m, s->psi[i]);
	}
	random_spd(r, m, 50, s->K);
	random_spd(r, m, 0.1, s->D);
	s->flex = (CalFlexDef){.modes = m, .stiffness = s->K, .damping = s->D, .node_count = count, .nodes = s->nodes};
}

/** A random body and its form. */
static inline void random_form(uint64_t seed, Sample *s, Form *f) {
	Rng r = rng_make(seed);
	random_sample(&r, s);
	canonicalize(s, f);
	check_ok(seed, f->status);
}

/** A bound in the middle of the free-body frequencies. */
static inline double middle_bound(const Form *f, int m) { return 0.7 * sqrt(f->free_w2[m / 2]); }

/* ---- mass ------------------------------------------------------------------------------------ */

/** The whole mass matrix, n = 6 + m. */
static inline void full_mass(const Sample *s, double *M) {
	int m = s->flex.modes, n = 6 + m;
	double rr[36], re[6 * MAX_MODES], ee[MAX_MODES * MAX_MODES];
	ModalBody b = modal_of(s);
	modal_mass(&b, rr, re, ee);
	for (int i = 0; i < n; i++) {
		for (int j = 0; j < n; j++) {
			M[i * n + j] = i < 6 && j < 6 ? rr[i * 6 + j]
			               : i < 6        ? re[i * m + j - 6]
			               : j < 6        ? re[j * m + i - 6]
			                              : ee[(i - 6) * m + j - 6];
		}
	}
}

#endif
