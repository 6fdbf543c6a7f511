// SPDX-License-Identifier: Apache-2.0
/*
 * state_space_transfer.c — one transfer function of a linear system: its zeros and its gain.
 *
 * Zeros are where [A - s, b; c, d] loses rank. Without d a reflection turns b into (beta, 0 .. 0); the first row then
 * determines the input alone, and what is left is the same problem for the other states, with the first state as input:
 *   A' = A22,  b' = A21,  c' = c2,  d' = c1,
 * and beta times its leading coefficient. With d the zeros are the eigenvalues of A - b c/d (Emami-Naeini and Van Dooren, Automatica
 * 18, 1982, for one input and output). States are scaled by powers of two first, so that rows and columns have the same size.
 */
#include <math.h>
#include <string.h>

#include "analysis/state_space_poles.h"
#include "base/cursor.h"
#include "base/memory.h"
#include "math/eigen_general.h"

static const double round_off = 1e-10; // of what is differenced in A, B, C and D

/* The states that are left, those from `first`. */
typedef struct Reduction {
	size_t size, first; // of the matrix; states first .. size - 1
	double *A;          // [size size]
	double *b, *c, *w;  // [size]
	double d, gain;
	double rate; // size of A [1/s]
	Complex *values, *vectors, *scratch;
} Reduction;

static void layout(Reduction *r, Cursor *cursor) {
	const size_t n = r->size;
	CURSOR_ARRAY(cursor, r->A, n * n);
	CURSOR_ARRAY(cursor, r->b, n);
	CURSOR_ARRAY(cursor, r->c, n);
	CURSOR_ARRAY(cursor, r->w, n);
	CURSOR_ARRAY(cursor, r->values, n);
	CURSOR_ARRAY(cursor, r->vectors, n * n);
	CURSOR_ARRAY(cursor, r->scratch, n * n + 2 * n);
}

static double norm(size_t n, const double *v) {
	double sum = 0;
	for (size_t i = 0; i < n; i++)
		sum += v[i] * v[i];
	return sqrt(sum);
}

/* ---- scaling ---------------------------------------------------------------------------------------------- */

static void scale_by(size_t n, double factor, double *v) {
	for (size_t i = 0; i < n; i++)
		v[i] *= factor;
}

/* True: a state was scaled. */
static bool scale_state(Reduction *r, size_t i) {
	const size_t n = r->size;
	double row = fabs(r->b[i]), column = fabs(r->c[i]);
	for (size_t k = 0; k < n; k++) {
		row += k == i ? 0 : fabs(r->A[i * n + k]);
		column += k == i ? 0 : fabs(r->A[k * n + i]);
	}
	if (!(row > 0 && column > 0))
		return false;
	const double factor = ldexp(1, (ilogb(column) - ilogb(row)) / 2);
	for (size_t k = 0; k < n; k++)
		r->A[i * n + k] *= factor, r->A[k * n + i] /= factor;
	r->b[i] *= factor, r->c[i] /= factor;
	return factor > 1 || factor < 1;
}

/* b and c as large as A, then all states. */
static void balance(Reduction *r) {
	static const int most = 30;
	const double A = norm(r->size * r->size, r->A), b = norm(r->size, r->b), c = norm(r->size, r->c);
	const double of_b = A > 0 && b > 0 ? ldexp(1, ilogb(A) - ilogb(b)) : 1;
	const double of_c = A > 0 && c > 0 ? ldexp(1, ilogb(A) - ilogb(c)) : 1;
	scale_by(r->size, of_b, r->b);
	scale_by(r->size, of_c, r->c);
	r->d *= of_b * of_c;
	r->gain = 1 / (of_b * of_c);
	bool scaled = true;
	for (int pass = 0; pass < most && scaled; pass++) {
		scaled = false;
		for (size_t i = 0; i < r->size; i++)
			scaled |= scale_state(r, i);
	}
	r->rate = norm(r->size * r->size, r->A);
}

/* ---- reduction ---------------------------------------------------------------------------------------------- */

/* A := P A P, c := P c with P = 1 - 2 w w'/w'w, of the states that are left. */
static void reflect(Reduction *r) {
	const size_t n = r->size, f = r->first;
	const double *w = r->w;
	double square = 0, along = 0;
	for (size_t i = f; i < n; i++)
		square += w[i] * w[i], along += w[i] * r->c[i];
	for (size_t i = f; i < n; i++)
		r->c[i] -= 2 * along / square * w[i];
	for (size_t i = f; i < n; i++) { // rows
		double sum = 0;
		for (size_t k = f; k < n; k++)
			sum += r->A[i * n + k] * w[k];
		for (size_t k = f; k < n; k++)
			r->A[i * n + k] -= 2 * sum / square * w[k];
	}
	for (size_t k = f; k < n; k++) { // columns
		double sum = 0;
		for (size_t i = f; i < n; i++)
			sum += w[i] * r->A[i * n + k];
		for (size_t i = f; i < n; i++)
			r->A[i * n + k] -= 2 * sum / square * w[i];
	}
}

/* One state less. False: the input does not reach the output. */
static bool reduce(Reduction *r) {
	const size_t n = r->size, f = r->first, left = n - f;
	const double size = norm(left, r->b + f);
	if (left == 0 || !(size > (f > 0 ? round_off * r->rate : 0)))
		return false;
	const double beta = r->b[f] > 0 ? -size : size;
	memcpy(r->w + f, r->b + f, left * sizeof *r->w);
	r->w[f] -= beta;
	reflect(r);
	const double of_c = norm(left, r->c + f);
	r->gain *= beta;
	r->d = fabs(r->c[f]) > round_off * of_c ? r->c[f] : 0;
	for (size_t i = f + 1; i < n; i++)
		r->b[i] = r->A[i * n + f];
	r->first = f + 1;
	return true;
}

/* Eigenvalues of A - b c/d. */
static CalStatus find_zeros(Reduction *r) {
	const size_t n = r->size, f = r->first, left = n - f;
	for (size_t i = 0; i < left; i++)
		for (size_t k = 0; k < left; k++) // to the front, where nothing is read any more
			r->A[i * left + k] = r->A[(f + i) * n + f + k] - r->b[f + i] * r->c[f + k] / r->d;
	return left > 0 ? eigen_general((int)left, r->A, r->values, r->vectors, r->scratch) : CAL_OK;
}

static CalStatus find_transfer(Reduction *r, CalPole *zeros, int *count, double *gain) {
	balance(r);
	const double reached = r->rate > 0 ? norm(r->size, r->b) * norm(r->size, r->c) / r->rate : 0;
	r->d = fabs(r->d) > round_off * reached ? r->d : 0;
	while (r->d == 0)
		if (!reduce(r))
			return CAL_OK;
	const CalStatus status = find_zeros(r);
	if (status != CAL_OK)
		return status;
	*gain = r->gain * r->d;
	*count = (int)(r->size - r->first);
	for (int i = 0; i < *count; i++)
		zeros[i] = pole_of(r->values[i]);
	sort_poles(zeros, *count);
	return CAL_OK;
}

CalStatus cal_state_space_transfer(const CalStateSpace *space, int input, int output, CalPole *zeros, int *count,
                                   double *gain) {
	if (!space || !space->memory || !zeros || !count || !gain || input < 0 || input >= space->input_count ||
	    output < 0 || output >= space->output_count)
		return CAL_ERR_ARGUMENT;
	const size_t n = (size_t)space->state_count, m = (size_t)space->input_count;
	Reduction r = {.size = n, .d = space->D[(size_t)output * m + (size_t)input]};
	Cursor cursor = {0};
	layout(&r, &cursor);
	void *memory = cursor_alloc(&cursor, &space->allocator);
	*count = 0;
	*gain = 0;
	if (!memory)
		return CAL_ERR_MEMORY;
	layout(&r, &cursor);
	memcpy(r.A, space->A, n * n * sizeof *r.A);
	memcpy(r.c, space->C + (size_t)output * n, n * sizeof *r.c);
	for (size_t i = 0; i < n; i++)
		r.b[i] = space->B[i * m + (size_t)input];
	const CalStatus status = find_transfer(&r, zeros, count, gain);
	memory_free(&space->allocator, memory);
	return status;
}
