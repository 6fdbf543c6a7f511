// SPDX-License-Identifier: Apache-2.0
/*
 * fe_subspace.c — the lowest modes of a finite element model by subspace iteration.
 *
 * X <- (K + shift M)^-1 M X, then the best modes within X (Rayleigh-Ritz); twice as many vectors as modes, so that
 * those wanted converge fast (Bathe and Wilson 1972). The small problem is solved for 1/(value + shift), for which the
 * stiffness side is positive definite even if some equations have no mass. The start is a fixed pseudo-random block:
 * the same input gives the same modes. An iteration can settle on modes and leave out one that the start hardly has, so
 * that the modes below the last one wanted are counted (Sturm); if some are missing, it continues with new vectors.
 */
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "fe/fe_band.h"
#include "math/eigen.h"

enum { MAX_ITERATIONS = 100, MORE_ITERATIONS = 10, MAX_ROUNDS = 6, SMALL = 200 };

typedef struct Subspace {
	FeBand *band;
	const CalFeModel *fe;
	int n, q;           // equations of the model, vectors
	double *X, *Y, *T;  // [q][n]
	double *Mr, *Kr;    // [q][q]
	double *values;     // [q] 1/(value + shift), ascending
	double *last;       // [q]
	double *scratch;    // [2 q]
	const bool *inside; //
	uint64_t seed;      // of the next number
} Subspace;

/* New vectors from number `from` on. */
static void start_vectors(Subspace *s, int from) {
	for (int k = from; k < s->q; k++)
		for (int i = 0; i < s->n; i++) {
			s->seed = s->seed * 6364136223846793005u + 1442695040888963407u;
			s->X[(size_t)k * (size_t)s->n + (size_t)i] =
				s->inside[i] ? (double)(s->seed >> 11) / 9007199254740992.0 - 0.5 : 0;
		}
}

static void hold_rigid(const Subspace *s, double *x) {
	for (int k = 0; k < s->q; k++)
		for (int i = 0; i < s->n; i++)
			if (!s->inside[i])
				x[(size_t)k * (size_t)s->n + (size_t)i] = 0;
}

static double dot(int n, const double *a, const double *b) {
	double sum = 0;
	for (int i = 0; i < n; i++)
		sum += a[i] * b[i];
	return sum;
}

/* X'AX */
static void project(Subspace *s, const FeMatrix *A, double *out) {
	const size_t n = (size_t)s->n;
	const int q = s->q;
	fe_matrix_multiply(A, s->n, q, s->X, s->Y);
	for (int i = 0; i < q; i++)
		for (int j = 0; j <= i; j++)
			out[i * q + j] = out[j * q + i] = dot(s->n, s->X + (size_t)i * n, s->Y + (size_t)j * n);
}

/* X becomes the best modes within X, highest 1/value first. */
static CalStatus ritz(Subspace *s) {
	const size_t n = (size_t)s->n;
	const int q = s->q;
	const CalStatus status = eigen_generalized(q, s->Mr, s->Kr, s->values, s->scratch);
	if (status != CAL_OK)
		return status;
	memset(s->T, 0, (size_t)q * n * sizeof *s->T);
	for (int k = 0; k < q; k++)
		for (int l = 0; l < q; l++) {
			const double weight = s->Mr[l * q + (q - 1 - k)];
			for (size_t i = 0; i < n; i++)
				s->T[(size_t)k * n + i] += weight * s->X[(size_t)l * n + i];
		}
	double *swap = s->X;
	s->X = s->T;
	s->T = swap;
	return CAL_OK;
}

/* One step; CAL_SINGULAR: the vectors have become dependent. */
static CalStatus subspace_step(Subspace *s) {
	const size_t n = (size_t)s->n;
	const int q = s->q;
	fe_matrix_multiply(&s->fe->M, s->n, q, s->X, s->Y);
	hold_rigid(s, s->Y);
	memcpy(s->X, s->Y, (size_t)q * n * sizeof *s->X);
	fe_band_solve(s->band, q, s->X);
	for (int i = 0; i < q; i++)
		for (int j = 0; j < q; j++)
			s->T[(size_t)i * (size_t)q + (size_t)j] = dot(s->n, s->X + (size_t)i * n, s->Y + (size_t)j * n);
	for (int i = 0; i < q; i++)
		for (int j = 0; j < q; j++)
			s->Kr[i * q + j] = (s->T[i * q + j] + s->T[j * q + i]) / 2;
	project(s, &s->fe->M, s->Mr);
	return ritz(s);
}

static bool converged(const Subspace *s, int wanted) {
	for (int k = 0; k < wanted; k++) {
		const double now = s->values[s->q - 1 - k];
		if (!(fabs(now - s->last[s->q - 1 - k]) <= 1e-13 * now))
			return false;
	}
	return true;
}

/* As many vectors as equations: the best modes within them are exact. */
static CalStatus whole_space(Subspace *s, double shift) {
	const int q = s->q;
	int k = 0;
	memset(s->X, 0, (size_t)q * (size_t)s->n * sizeof *s->X);
	for (int i = 0; i < s->n; i++)
		if (s->inside[i])
			s->X[(size_t)k++ * (size_t)s->n + (size_t)i] = 1;
	project(s, &s->fe->M, s->Mr);
	project(s, &s->fe->K, s->Kr);
	for (int i = 0; i < q * q; i++)
		s->Kr[i] += shift * s->Mr[i];
	return ritz(s);
}

/* Steps until the modes wanted stay; at least `least`. */
static CalStatus converge(Subspace *s, int wanted, int least, double shift, CalError *error) {
	const bool whole = s->q >= s->band->n;
	memset(s->last, 0, (size_t)s->q * sizeof *s->last);
	for (int i = 0; i < MAX_ITERATIONS; i++) {
		const CalStatus status = whole ? whole_space(s, shift) : subspace_step(s);
		if (status != CAL_OK)
			return fe_file_error(error, s->fe->path, CAL_ERR_INPUT,
			                     "the modes could not be computed: mass or stiffness is not positive (%s)",
			                     cal_status_text(status));
		if (whole || (i >= least && converged(s, wanted)))
			break;
		memcpy(s->last, s->values, (size_t)s->q * sizeof *s->last);
	}
	return CAL_OK;
}

/*
 * Counts the modes up to a little above the last one wanted, all that are there and those found. There cannot be
 * fewer than were found: a count that says so, or none, comes from a limit too close to a mode for the digits of the
 * matrices, and one farther up is taken. there = -1: none was good.
 */
static CalStatus count_modes(const Subspace *s, int wanted, double shift, int *there, int *found, CalError *error) {
	static const double above[] = {1e-5, 1.7e-5, 1e-4, 1.7e-4, 1e-3, 1.7e-3};
	const double last = 1 / s->values[s->q - wanted];
	for (int k = 0; k < (int)(sizeof above / sizeof *above); k++) {
		const double limit = last * (1 + above[k]);
		const CalStatus status = fe_band_count_below(s->band, limit - shift, there, error);
		*found = 0;
		for (int i = 0; i < s->q; i++)
			*found += s->values[i] * limit > 1;
		if (status != CAL_OK || *there >= *found)
			return status;
	}
	*there = -1;
	return CAL_OK;
}

/* The modes wanted, with none left out. */
static CalStatus iterate(Subspace *s, int wanted, double shift, CalError *error) {
	int there = 0, found = 0;
	start_vectors(s, 0);
	for (int round = 0; round < MAX_ROUNDS; round++) {
		CalStatus status = converge(s, wanted, round ? MORE_ITERATIONS : 0, shift, error);
		if (status == CAL_OK && s->q < s->band->n)
			status = count_modes(s, wanted, shift, &there, &found, error);
		if (status != CAL_OK || there == found)
			return status;
		if (there < 0)
			break;
		start_vectors(s,
		              s->q - (s->q - wanted) / 2); // half of what is not wanted: another may be on its way in the rest
	}
	const double limit = sqrt(fmax(1 / s->values[s->q - wanted] - shift, 0)) / 6.283185307179586;
	return there < 0 ? fe_file_error(error, s->fe->path, CAL_NOT_CONVERGED,
	                                 "cannot verify that all modes up to %g Hz were found: stiffnesses or masses are "
	                                 "too far apart for their digits; check the units, or use a coarser mesh",
	                                 limit)
	                 : fe_file_error(
						   error, s->fe->path, CAL_NOT_CONVERGED,
						   "there are %d modes up to %g Hz, but only %d of them were found; is there a part of very "
						   "little mass that moves by itself?",
						   there, limit, found);
}

/* Equations inside that have mass: there are no more modes. */
static int modes_there(const CalFeModel *fe, const bool *inside, double *mass) {
	int count = 0;
	memset(mass, 0, (size_t)fe->dof_count * sizeof *mass);
	for (int e = 0; e < fe->M.count; e++)
		if (fe->M.row[e] == fe->M.col[e])
			mass[fe->M.row[e]] += fe->M.value[e];
	for (int i = 0; i < fe->dof_count; i++)
		count += inside[i] && mass[i] > 0;
	return count;
}

CalStatus fe_lowest_modes(FeBand *band, const bool *inside, double shift, int *count, double *values, double *vectors,
                          CalError *error) {
	const CalFeModel *fe = band->fe;
	Subspace s = {.band = band, .fe = fe, .n = fe->dof_count, .inside = inside, .seed = 0x9e3779b97f4a7c15u};
	Pool pool;
	pool_init(&pool, &fe->pool.allocator);
	const size_t n = (size_t)fe->dof_count;
	double *mass = pool_array(&pool, n, sizeof *mass);
	const int there = mass ? modes_there(fe, inside, mass) : 0;
	if (mass && *count > there)
		*count = there;
	s.q = *count + (*count > 8 ? *count : 8);
	s.q = s.q < there ? s.q : there;
	if (2 * s.q > band->n && band->n <= SMALL)
		s.q = band->n; // a small model: all of it at once
	const size_t q = (size_t)s.q;
	s.X = pool_array(&pool, q * n, sizeof(double));
	s.Y = pool_array(&pool, q * n, sizeof(double));
	s.T = pool_array(&pool, q * n, sizeof(double));
	s.Mr = pool_array(&pool, 2 * q * q + 4 * q, sizeof(double));
	CalStatus status = CAL_OK;
	if (!mass || !s.X || !s.Y || !s.T || !s.Mr)
		status = fe_file_error(error, fe->path, CAL_ERR_MEMORY, "out of memory");
	if (status == CAL_OK && *count > 0) {
		s.Kr = s.Mr + q * q;
		s.values = s.Kr + q * q;
		s.last = s.values + q;
		s.scratch = s.last + q;
		status = iterate(&s, *count, shift, error);
	}
	for (int k = 0; k < *count && status == CAL_OK; k++) {
		const double inverse = s.values[s.q - 1 - k], norm = 1 / sqrt(inverse); // x'(K + shift M)x = 1
		values[k] = 1 / inverse - shift;
		for (size_t i = 0; i < n; i++)
			vectors[(size_t)k * n + i] = s.X[(size_t)k * n + i] * norm;
	}
	pool_free(&pool);
	return status;
}
