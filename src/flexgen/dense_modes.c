// SPDX-License-Identifier: Apache-2.0
/*
 * dense_modes.c — see dense_modes.h.
 *
 * With c the interior, b the FRAME or UNIT degrees of freedom and R = [1; -K_cc^-1 K_cb]: if b is the frame, R are the
 * rigid motions and the free body's modes, seen from the frame, solve K_cc v = omega^2 (M_cc - P (R'MR)^+ P') v with
 * P = (M R)_c: the rigid motion of least kinetic energy is taken off [THEORY 2.4]. Adding -R (R'MR)^+ P'v makes them the
 * mean-axis modes.
 */
#include "flexgen/dense_modes.h"

#include <math.h>
#include <string.h>

#include "base/cursor.h"
#include "base/memory.h"
#include "math/eigen.h"

static const double NO_STIFFNESS = 1e-13; // of a pivot of K over its diagonal element
static const double NO_MASS = 1e-12;      // of a modal compliance, or of a rigid motion's mass, over the largest

enum { LARGEST = 1 << 15 }; // rows: their squares are still far from overflow

typedef struct Sets {
	const DenseBody *in;
	int nc;         // interior
	int *c;         // [nc] interior
	double *Kcc;    // [nc][nc] its factor, or work
	double *Mcc;    // [nc][nc] work
	double *P;      // [nc][frame] (M R)_c
	double *mass;   // [frame][frame] (R'MR)^+
	double *values; // [nc] 1/omega^2, ascending
	double *scratch;
} Sets;

static void layout_sets(Sets *s, Cursor *cursor) {
	const size_t n = (size_t)s->in->n;
	CURSOR_ARRAY(cursor, s->Kcc, n * n);
	CURSOR_ARRAY(cursor, s->Mcc, n * n);
	CURSOR_ARRAY(cursor, s->P, SYNTHESIS_MAX_FRAME * n);
	CURSOR_ARRAY(cursor, s->mass, SYNTHESIS_MAX_FRAME * SYNTHESIS_MAX_FRAME);
	CURSOR_ARRAY(cursor, s->values, n);
	CURSOR_ARRAY(cursor, s->scratch, 3 * n);
	CURSOR_ARRAY(cursor, s->c, n);
}

static CalStatus sets_create(const DenseBody *in, Sets *s, void **memory) {
	const CalAllocator allocator = allocator_or_default(NULL);
	Cursor cursor = {.align = sizeof(double)};
	*s = (Sets){.in = in};
	*memory = NULL;
	if (in->n > LARGEST) {
		return CAL_ERR_MEMORY;
	}
	layout_sets(s, &cursor);
	*memory = cursor_alloc_at_start(&cursor, &allocator);
	if (!*memory) {
		return CAL_ERR_MEMORY;
	}
	layout_sets(s, &cursor);
	for (int i = 0; i < in->n; i++) {
		if (in->role[i] == ROLE_INTERIOR) {
			s->c[s->nc++] = i;
		}
	}
	return CAL_OK;
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

/* ---- static shapes ------------------------------------------------------------------------- */

static CalStatus factor_interior(void *user, int *bad_dof) {
	Sets *s = user;
	gather_submatrix(s->in->n, s->in->K, s->nc, s->c, s->Kcc);
	const int row = cholesky_factor(s->nc, s->Kcc, NULL, NO_STIFFNESS);
	if (row < 0) {
		return CAL_OK;
	}
	*bad_dof = s->c[row];
	return CAL_SINGULAR;
}

static void unit_forces(void *user, int dof, double *x) {
	const Sets *s = user;
	for (int i = 0; i < s->nc; i++) {
		x[s->c[i]] = -entry(s->in->K, s->in->n, s->c[i], dof);
	}
}

static void solve_interior(void *user, double *x) {
	Sets *s = user;
	for (int i = 0; i < s->nc; i++) {
		s->scratch[i] = x[s->c[i]];
	}
	cholesky_solve(s->nc, s->Kcc, s->scratch);
	for (int i = 0; i < s->nc; i++) {
		x[s->c[i]] = s->scratch[i];
	}
}

/** Interior motion j per unit of boundary a. */
static double static_motion(const Sets *s, const Synthesis *of, int j, int a) {
	return entry(of->R, of->n, a, s->c[j]);
}

/** Row i of A R, A = K or M: A_ib + A_ic C. */
static double times_static(const Sets *s, const Synthesis *of, const double *A, int i, int a) {
	double sum = entry(A, of->n, i, of->boundary[a]);
	for (int j = 0; j < s->nc; j++) {
		sum += entry(A, of->n, i, s->c[j]) * static_motion(s, of, j, a);
	}
	return sum;
}

/* ---- modes --------------------------------------------------------------------------------- */

/** mass = (R'MR)^+, by eigenvectors of the matrix scaled to unit diagonal; massless motions are left out. */
static CalStatus rigid_mass_inverse(Sets *s, int nb) {
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
static CalStatus release_frame(Sets *s, const Synthesis *of) {
	const double *M = s->in->M;
	const int nb = of->boundary_count;
	for (int i = 0; i < s->nc; i++) {
		for (int a = 0; a < nb; a++) {
			*entry_ptr(s->P, nb, i, a) = times_static(s, of, M, s->c[i], a);
		}
	}
	for (int a = 0; a < nb; a++) {
		for (int b = 0; b < nb; b++) {
			double sum = times_static(s, of, M, of->boundary[a], b);
			for (int j = 0; j < s->nc; j++) {
				sum += static_motion(s, of, j, a) * entry(s->P, nb, j, b);
			}
			*entry_ptr(s->mass, nb, a, b) = sum;
		}
	}
	CalStatus status = rigid_mass_inverse(s, nb);
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

/** How many of the values are of modes with mass. */
static int modes_with_mass(const Sets *s) {
	int count = 0;
	while (count < s->nc && s->values[s->nc - 1 - count] > NO_MASS * s->values[s->nc - 1]) {
		count++;
	}
	return count;
}

/** The mean rigid motion of a mode taken out: v -= R (R'MR)^+ P'v. */
static void subtract_mean(const Sets *s, const Synthesis *of, double *v) {
	const int nb = of->boundary_count;
	double momentum[SYNTHESIS_MAX_FRAME];
	for (int a = 0; a < nb; a++) {
		momentum[a] = 0;
		for (int j = 0; j < s->nc; j++) {
			momentum[a] += entry(s->P, nb, j, a) * v[s->c[j]];
		}
	}
	for (int a = 0; a < nb; a++) {
		double w = 0;
		for (int b = 0; b < nb; b++) {
			w += entry(s->mass, nb, a, b) * momentum[b];
		}
		v[of->boundary[a]] -= w;
		for (int j = 0; j < s->nc; j++) {
			v[s->c[j]] -= static_motion(s, of, j, a) * w;
		}
	}
}

static void write_modes(const Sets *s, const Synthesis *of, int count, double *values, double *vectors) {
	for (int k = 0; k < count; k++) {
		const int column = s->nc - 1 - k;
		const double mu = s->values[column], unit = 1 / sqrt(mu);
		double *v = vectors + (size_t)k * (size_t)of->n;
		values[k] = 1 / mu;
		for (int j = 0; j < s->nc; j++) {
			v[s->c[j]] = unit * entry(s->Mcc, s->nc, j, column);
		}
		if (of->frame && s->in->mean) {
			subtract_mean(s, of, v);
		}
	}
}

static CalStatus find_modes(void *user, const Synthesis *of, int *count, double *values, double *vectors) {
	Sets *s = user;
	CalStatus status = CAL_OK;
	gather_submatrix(of->n, s->in->M, s->nc, s->c, s->Mcc);
	if (of->frame) {
		status = release_frame(s, of);
	}
	if (status == CAL_OK && s->nc > 0) {
		gather_submatrix(of->n, s->in->K, s->nc, s->c, s->Kcc);
		status = eigen_generalized(s->nc, s->Mcc, s->Kcc, s->values, s->scratch);
	}
	if (status == CAL_OK) {
		const int there = modes_with_mass(s);
		*count = *count < there ? *count : there;
		write_modes(s, of, *count, values, vectors);
	}
	return status;
}

/* ---- the whole ----------------------------------------------------------------------------- */

/** R'KR of unit displacements b; of rigid motions it should vanish. */
static double static_stiffness(const Sets *s, const Synthesis *of, int a, int b) {
	return times_static(s, of, s->in->K, of->boundary[a], b);
}

static double rigid_error(const Sets *s, const Synthesis *of) {
	double worst = 0;
	for (int a = 0; of->frame && a < of->boundary_count; a++) {
		const double alone = entry(s->in->K, of->n, of->boundary[a], of->boundary[a]);
		worst = fmax(worst, alone > 0 ? fabs(static_stiffness(s, of, a, a)) / alone : 0);
	}
	return worst;
}

static void layout_modes(DenseModes *out, Cursor *cursor) {
	CURSOR_ARRAY(cursor, out->stiffness, (size_t)out->shapes * (size_t)out->shapes);
	CURSOR_ARRAY(cursor, out->frequency, out->shapes);
}

/** Stiffness and frequencies of the shapes. */
static CalStatus describe_shapes(const Sets *s, DenseModes *out) {
	const Synthesis *of = &out->synthesis;
	Cursor cursor = {.align = sizeof(double)};
	out->statics = of->statics;
	out->shapes = of->statics + of->modes;
	out->shape = of->shape;
	layout_modes(out, &cursor);
	out->memory = cursor_alloc_at_start(&cursor, &of->allocator);
	if (!out->memory) {
		return CAL_ERR_MEMORY;
	}
	cursor_clear(&cursor);
	layout_modes(out, &cursor);
	for (int a = 0; a < out->statics; a++) {
		for (int b = 0; b < out->statics; b++) {
			*entry_ptr(out->stiffness, out->shapes, a, b) =
				0.5 * (static_stiffness(s, of, a, b) + static_stiffness(s, of, b, a));
		}
	}
	for (int k = out->statics; k < out->shapes; k++) {
		*entry_ptr(out->stiffness, out->shapes, k, k) = of->value[k];
		out->frequency[k] = 1 / sqrt(s->values[s->nc - 1 - (k - out->statics)]);
	}
	out->rigid_error = rigid_error(s, of);
	return CAL_OK;
}

CalStatus dense_modes_create(const DenseBody *in, DenseModes *out) {
	const CalAllocator allocator = allocator_or_default(NULL);
	const SynthesisInput input = {.n = in->n, .role = in->role, .modes = in->modes, .max_frequency = in->max_frequency};
	Sets s;
	void *memory;
	*out = (DenseModes){.bad_dof = -1};
	CalStatus status = sets_create(in, &s, &memory);
	const SynthesisMatrices matrices = {.user = &s,
	                                    .factor = factor_interior,
	                                    .unit_forces = unit_forces,
	                                    .solve = solve_interior,
	                                    .modes = find_modes};
	if (status == CAL_OK) {
		status = synthesis_create(&input, &matrices, &allocator, &out->synthesis);
		out->bad_dof = out->synthesis.bad_dof;
	}
	if (status == CAL_OK) {
		status = describe_shapes(&s, out);
	}
	memory_free(&allocator, memory);
	if (status != CAL_OK) {
		synthesis_free(&out->synthesis);
	}
	return status;
}

void dense_modes_free(DenseModes *modes) {
	const CalAllocator allocator = allocator_or_default(NULL);
	memory_free(&allocator, modes->memory);
	synthesis_free(&modes->synthesis);
	*modes = (DenseModes){0};
}
