// SPDX-License-Identifier: Apache-2.0
/*
 * mode_synthesis.c — component mode reduction; see mode_synthesis.h.
 *
 * With c the interior and b the FRAME or UNIT degrees of freedom, C = -K_cc^-1 K_cb moves the interior statically
 * with b, and R = [1; C]. If b is the frame, R are the rigid motions and the free body's modes, seen from the frame,
 * solve K_cc v = omega^2 (M_cc - P (R'MR)^+ P') v with P = (M R)_c: the rigid motion of least kinetic energy is taken
 * off [THEORY 2.4]. Adding -R (R'MR)^+ P'v makes them the mean-axis modes.
 */
#include "flexgen/mode_synthesis.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "math/eigen.h"

static const double NO_STIFFNESS = 1e-13; // of a pivot of K over its diagonal element
static const double NO_MASS = 1e-12;      // of a modal compliance, or of a rigid motion's mass, over the largest

enum { LARGEST = 1 << 15 }; // rows: their squares are still far from overflow

typedef struct Sets {
	int n, nc, nb;
	int *c, *b;     // interior; frame or unit
	bool frame;     // b is the frame
	double *Kcc;    // [nc][nc] work
	double *Mcc;    // [nc][nc] work
	double *C;      // [nc][nb] interior motion per unit of b
	double *P;      // [nc][nb] (M R)_c
	double *mass;   // [nb][nb] (R'MR)^+
	double *values; // [nc]
	double *scratch;
} Sets;

static CalStatus sets_create(const ReduceInput *in, Sets *s, void **memory) {
	size_t n = (size_t)in->n, doubles, bytes;
	if (in->n > LARGEST || !size_mul(n, n, &doubles) || !size_mul(5 * doubles + 4 * n, sizeof(double), &bytes) ||
	    !size_add(bytes, 2 * n * sizeof(int), &bytes)) {
		return CAL_ERR_MEMORY;
	}
	CalAllocator allocator = allocator_or_default(NULL);
	double *d = memory_alloc(&allocator, bytes);
	if (!d) {
		return CAL_ERR_MEMORY;
	}
	*memory = d;
	*s = (Sets){.n = in->n, .Kcc = d, .Mcc = d + doubles, .C = d + 2 * doubles, .P = d + 3 * doubles};
	s->mass = d + 4 * doubles;
	s->values = d + 5 * doubles;
	s->scratch = s->values + n;
	s->c = (int *)(s->scratch + 3 * n);
	s->b = s->c + n;
	return CAL_OK;
}

/** Sorts the degrees of freedom into c and b. */
static CalStatus sets_fill(const ReduceInput *in, Sets *s) {
	bool unit = false;
	for (int i = 0; i < in->n; i++) {
		switch ((ReduceRole)in->role[i]) {
		case REDUCE_INTERIOR:
			s->c[s->nc++] = i;
			break;
		case REDUCE_HELD:
			break;
		case REDUCE_FRAME:
		case REDUCE_UNIT:
			s->frame |= in->role[i] == REDUCE_FRAME;
			unit |= in->role[i] == REDUCE_UNIT;
			s->b[s->nb++] = i;
			break;
		}
	}
	return s->frame && unit ? CAL_ERR_ARGUMENT : CAL_OK;
}

static double entry(const double *A, int n, int i, int j) { return A[(size_t)i * (size_t)n + (size_t)j]; }
static double *entry_ptr(double *A, int n, int i, int j) { return &A[(size_t)i * (size_t)n + (size_t)j]; }

static void gather_submatrix(int n, const double *A, int nc, const int *c, double *Acc) {
	for (int i = 0; i < nc; i++) {
		for (int j = 0; j < nc; j++) {
			*entry_ptr(Acc, nc, i, j) = entry(A, n, c[i], c[j]);
		}
	}
}

/** X = (LL')^-1 X for X[n][k]. */
static void cholesky_solve(int n, const double *L, int k, double *X) {
	for (int i = 0; i < n; i++) {
		for (int j = 0; j < i; j++) {
			for (int a = 0; a < k; a++) {
				*entry_ptr(X, k, i, a) -= entry(L, n, i, j) * entry(X, k, j, a);
			}
		}
		for (int a = 0; a < k; a++) {
			*entry_ptr(X, k, i, a) /= entry(L, n, i, i);
		}
	}
	for (int i = n - 1; i >= 0; i--) {
		for (int a = 0; a < k; a++) {
			*entry_ptr(X, k, i, a) /= entry(L, n, i, i);
		}
		for (int j = 0; j < i; j++) {
			for (int a = 0; a < k; a++) {
				*entry_ptr(X, k, j, a) -= entry(L, n, i, j) * entry(X, k, i, a);
			}
		}
	}
}

/** C = -K_cc^-1 K_cb; *bad: the interior row without stiffness. */
static CalStatus static_shapes(const ReduceInput *in, Sets *s, int *bad) {
	gather_submatrix(in->n, in->K, s->nc, s->c, s->Kcc);
	int row = cholesky_factor(s->nc, s->Kcc, NULL, NO_STIFFNESS);
	if (row >= 0) {
		*bad = s->c[row];
		return CAL_SINGULAR;
	}
	for (int i = 0; i < s->nc; i++) {
		for (int a = 0; a < s->nb; a++) {
			*entry_ptr(s->C, s->nb, i, a) = -entry(in->K, in->n, s->c[i], s->b[a]);
		}
	}
	cholesky_solve(s->nc, s->Kcc, s->nb, s->C);
	return CAL_OK;
}

/** Row i of A R, A = K or M: A_ib + A_ic C. */
static double times_static(const ReduceInput *in, const Sets *s, const double *A, int i, int a) {
	double sum = entry(A, in->n, i, s->b[a]);
	for (int j = 0; j < s->nc; j++) {
		sum += entry(A, in->n, i, s->c[j]) * entry(s->C, s->nb, j, a);
	}
	return sum;
}

/** mass = (R'MR)^+, by eigenvectors of the matrix scaled to unit diagonal; massless motions are left out. */
static CalStatus rigid_mass_inverse(Sets *s) {
	int nb = s->nb;
	double *A = s->mass, *V = s->Kcc, *scale = s->scratch; // Kcc is free and at least as large as needed
	for (int a = 0; a < nb; a++) {
		double d = entry(A, nb, a, a);
		scale[a] = d > 0 ? 1 / sqrt(d) : 0;
	}
	for (int a = 0; a < nb; a++) {
		for (int b = 0; b < nb; b++) {
			*entry_ptr(V, nb, a, b) = scale[a] * entry(A, nb, a, b) * scale[b];
		}
	}
	CalStatus status = eigen_symmetric(nb, V, s->values, s->scratch + nb);
	if (status != CAL_OK) {
		return status;
	}
	double largest = s->values[nb - 1];
	for (int a = 0; a < nb; a++) {
		for (int b = 0; b < nb; b++) {
			double sum = 0;
			for (int k = 0; k < nb; k++) {
				bool heavy = s->values[k] > NO_MASS * largest;
				sum += heavy ? entry(V, nb, a, k) * entry(V, nb, b, k) / s->values[k] : 0;
			}
			*entry_ptr(A, nb, a, b) = scale[a] * sum * scale[b];
		}
	}
	return CAL_OK;
}

/** P, (R'MR)^+, and M_cc - P (R'MR)^+ P' in Mcc. */
static CalStatus release_frame(const ReduceInput *in, Sets *s) {
	int nb = s->nb;
	for (int i = 0; i < s->nc; i++) {
		for (int a = 0; a < nb; a++) {
			*entry_ptr(s->P, nb, i, a) = times_static(in, s, in->M, s->c[i], a);
		}
	}
	for (int a = 0; a < nb; a++) {
		for (int b = 0; b < nb; b++) {
			double sum = times_static(in, s, in->M, s->b[a], b);
			for (int j = 0; j < s->nc; j++) {
				sum += entry(s->C, nb, j, a) * entry(s->P, nb, j, b);
			}
			*entry_ptr(s->mass, nb, a, b) = sum;
		}
	}
	CalStatus status = rigid_mass_inverse(s);
	for (int i = 0; status == CAL_OK && i < s->nc; i++) {
		for (int a = 0; a < nb; a++) {
			double w = 0;
			for (int b = 0; b < nb; b++) {
				w += entry(s->mass, nb, a, b) * entry(s->P, nb, i, b);
			}
			for (int j = 0; j < s->nc; j++) {
				*entry_ptr(s->Mcc, s->nc, i, j) -= w * entry(s->P, nb, j, a);
			}
		}
	}
	return status;
}

/** R'KR of unit displacements b; of rigid motions it should vanish. */
static double static_stiffness(const ReduceInput *in, const Sets *s, int a, int b) {
	return times_static(in, s, in->K, s->b[a], b);
}

static double rigid_error(const ReduceInput *in, const Sets *s) {
	double worst = 0;
	for (int a = 0; s->frame && a < s->nb; a++) {
		double alone = entry(in->K, in->n, s->b[a], s->b[a]);
		worst = fmax(worst, alone > 0 ? fabs(static_stiffness(in, s, a, a)) / alone : 0);
	}
	return worst;
}

/** How many of the values mu (ascending) are wanted. */
static int modes_wanted(const ReduceInput *in, const Sets *s) {
	int count = 0;
	double largest = s->nc > 0 ? s->values[s->nc - 1] : 0;
	while (count < s->nc && (in->modes < 0 || count < in->modes)) {
		double mu = s->values[s->nc - 1 - count];
		if (!(mu > NO_MASS * largest) || (in->max_frequency > 0 && 1 > mu * in->max_frequency * in->max_frequency)) {
			break;
		}
		count++;
	}
	return count;
}

static CalStatus reduced_create(int n, int shapes, Reduced *out) {
	size_t count = (size_t)n * (size_t)shapes + (size_t)shapes * (size_t)shapes + (size_t)shapes;
	CalAllocator allocator = allocator_or_default(NULL);
	out->memory = memory_alloc(&allocator, count * sizeof(double));
	if (!out->memory) {
		return CAL_ERR_MEMORY;
	}
	memset(out->memory, 0, count * sizeof(double));
	out->shapes = shapes;
	out->shape = out->memory;
	out->stiffness = out->shape + (size_t)n * (size_t)shapes;
	out->frequency = out->stiffness + (size_t)shapes * (size_t)shapes;
	return CAL_OK;
}

void reduced_free(Reduced *reduced) {
	CalAllocator allocator = allocator_or_default(NULL);
	memory_free(&allocator, reduced->memory);
	*reduced = (Reduced){0};
}

static void write_statics(const ReduceInput *in, const Sets *s, Reduced *out) {
	for (int a = 0; a < out->statics; a++) {
		*entry_ptr(out->shape, out->shapes, s->b[a], a) = 1;
		for (int j = 0; j < s->nc; j++) {
			*entry_ptr(out->shape, out->shapes, s->c[j], a) = entry(s->C, s->nb, j, a);
		}
		for (int b = 0; b < out->statics; b++) {
			double k = 0.5 * (static_stiffness(in, s, a, b) + static_stiffness(in, s, b, a));
			*entry_ptr(out->stiffness, out->shapes, a, b) = k;
		}
	}
}

/** The mean rigid motion of mode `column` taken out: shape -= R (R'MR)^+ P'v. */
static void subtract_mean(const Sets *s, Reduced *out, int column) {
	double momentum[6];
	for (int a = 0; a < s->nb; a++) {
		momentum[a] = 0;
		for (int j = 0; j < s->nc; j++) {
			momentum[a] += entry(s->P, s->nb, j, a) * entry(out->shape, out->shapes, s->c[j], column);
		}
	}
	for (int a = 0; a < s->nb; a++) {
		double w = 0;
		for (int b = 0; b < s->nb; b++) {
			w += entry(s->mass, s->nb, a, b) * momentum[b];
		}
		*entry_ptr(out->shape, out->shapes, s->b[a], column) -= w;
		for (int j = 0; j < s->nc; j++) {
			*entry_ptr(out->shape, out->shapes, s->c[j], column) -= entry(s->C, s->nb, j, a) * w;
		}
	}
}

static void write_modes(const ReduceInput *in, const Sets *s, Reduced *out) {
	for (int k = out->statics; k < out->shapes; k++) {
		int column = s->nc - 1 - (k - out->statics);
		double mu = s->values[column], unit = 1 / sqrt(mu);
		out->frequency[k] = unit;
		*entry_ptr(out->stiffness, out->shapes, k, k) = 1 / mu;
		for (int j = 0; j < s->nc; j++) {
			*entry_ptr(out->shape, out->shapes, s->c[j], k) = unit * entry(s->Mcc, s->nc, j, column);
		}
		if (s->frame && in->mean) {
			subtract_mean(s, out, k);
		}
	}
}

static CalStatus reduce_sets(const ReduceInput *in, Sets *s, Reduced *out) {
	CalStatus status = sets_fill(in, s);
	if (status != CAL_OK || (s->frame && s->nb > 6)) {
		return CAL_ERR_ARGUMENT;
	}
	status = static_shapes(in, s, &out->bad_dof);
	if (status != CAL_OK) {
		return status;
	}
	out->rigid_error = rigid_error(in, s);
	gather_submatrix(in->n, in->M, s->nc, s->c, s->Mcc);
	if (s->frame) {
		status = release_frame(in, s);
	}
	if (status == CAL_OK && s->nc > 0) {
		gather_submatrix(in->n, in->K, s->nc, s->c, s->Kcc);
		status = eigen_generalized(s->nc, s->Mcc, s->Kcc, s->values, s->scratch);
	}
	if (status != CAL_OK) {
		return status;
	}
	int statics = s->frame ? 0 : s->nb;
	status = reduced_create(in->n, statics + modes_wanted(in, s), out);
	if (status == CAL_OK) {
		out->statics = statics;
		write_statics(in, s, out);
		write_modes(in, s, out);
	}
	return status;
}

CalStatus reduce(const ReduceInput *in, Reduced *out) {
	Sets s;
	void *memory;
	*out = (Reduced){.bad_dof = -1};
	CalStatus status = sets_create(in, &s, &memory);
	if (status != CAL_OK) {
		return status;
	}
	status = reduce_sets(in, &s, out);
	CalAllocator allocator = allocator_or_default(NULL);
	memory_free(&allocator, memory);
	return status;
}
