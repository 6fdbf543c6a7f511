// SPDX-License-Identifier: Apache-2.0
/*
 * system_modes.c — modes of linear equations of motion [THEORY 9.2].
 *
 * First M phi w^2 = K_s phi with the symmetric part K_s of K: undamped modes, phi'M phi = 1. Squares of frequencies are
 * Rayleigh quotients phi'K_s phi, whose error is the square of that of phi; those within round-off of the stiffness
 * that they are made of are zero: rigid-body modes. If there are no unsymmetric terms these are the modes.
 * Otherwise the eigenvalues of the first-order equations in the coordinates of the undamped modes,
 *   (w eta)' = w v,   v' = -sign(w^2) (w eta) - Phi'C Phi v - Phi'(K - K_s)Phi eta,
 * of which eta of rigid-body modes are left out: nothing depends on them, and their zeros would be double and lose half
 * of the digits.
 */
#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "base/cursor.h"
#include "base/error.h"
#include "base/memory.h"
#include "math/eigen.h"
#include "math/eigen_general.h"

#include <calder/linear.h>

enum { MOST_MODES = 150 };
static const double rigid_share = 1e-10; // of the stiffness that a mode works against
static const double nothing = 1e-18;     // of the largest square: 1e-9 of a frequency is zero, as it is with damping
static const double negligible =
	1e-12; // unsymmetric terms beside the symmetric ones, aperiodic rates beside frequencies

typedef struct Undamped {
	const CalLinear *linear;
	int n, m;        // coordinates; modes that take part
	int rigid;       // of these
	double *phi;     // [n n] columns
	double *squared; // [n] ascending
	double *M, *K;   // [n n]
	double *scratch; // [2 n n]
	double *C, *A;   // [m m] damping and unsymmetric stiffness in the modes
	bool damped;
} Undamped;

static void layout_undamped(Undamped *u, Cursor *cursor) {
	const size_t n = (size_t)u->n;
	CURSOR_ARRAY(cursor, u->phi, n * n);
	CURSOR_ARRAY(cursor, u->M, n * n);
	CURSOR_ARRAY(cursor, u->K, n * n);
	CURSOR_ARRAY(cursor, u->C, n * n);
	CURSOR_ARRAY(cursor, u->A, n * n);
	CURSOR_ARRAY(cursor, u->squared, n);
	CURSOR_ARRAY(cursor, u->scratch, 2 * n * n + 2 * n);
}

/* ---- undamped modes ------------------------------------------------------------------------- */

/* phi_k' K phi_k, and the same of absolute values. */
static double quotient(const Undamped *u, int k, double *works) {
	const size_t n = (size_t)u->n;
	double sum = 0;
	*works = 0;
	for (size_t i = 0; i < n; i++) {
		double row = 0, size = 0;
		for (size_t j = 0; j < n; j++) {
			const double one = u->K[i * n + j] * u->phi[j * n + (size_t)k];
			row += one;
			size += fabs(one);
		}
		sum += u->phi[i * n + (size_t)k] * row;
		*works += fabs(u->phi[i * n + (size_t)k]) * size;
	}
	return sum;
}

/* Rayleigh quotients may exchange neighbors. */
static void sort_modes(Undamped *u) {
	const size_t n = (size_t)u->n;
	for (int k = 1; k < u->n; k++) {
		for (int j = k; j > 0 && u->squared[j] < u->squared[j - 1]; j--) {
			const double kept = u->squared[j];
			u->squared[j] = u->squared[j - 1], u->squared[j - 1] = kept;
			for (size_t i = 0; i < n; i++) {
				const double phi = u->phi[i * n + (size_t)j];
				u->phi[i * n + (size_t)j] = u->phi[i * n + (size_t)j - 1];
				u->phi[i * n + (size_t)j - 1] = phi;
			}
		}
	}
}

static CalStatus find_undamped(Undamped *u) {
	const size_t n = (size_t)u->n;
	for (size_t i = 0; i < n; i++)
		for (size_t j = 0; j < n; j++)
			u->phi[i * n + j] = u->K[i * n + j] = 0.5 * (u->linear->K[i * n + j] + u->linear->K[j * n + i]);
	memcpy(u->M, u->linear->M, n * n * sizeof *u->M);
	const CalStatus status = eigen_generalized(u->n, u->phi, u->M, u->squared, u->scratch);
	if (status != CAL_OK)
		return status;
	double largest = 0;
	for (int k = 0; k < u->n; k++)
		largest = fmax(largest, fabs(u->squared[k]));
	for (int k = 0; k < u->n; k++) {
		double works;
		u->squared[k] = quotient(u, k, &works);
		if (fabs(u->squared[k]) <= rigid_share * works + u->linear->squared_floor + nothing * largest)
			u->squared[k] = 0;
	}
	sort_modes(u);
	return CAL_OK;
}

static void choose_modes(Undamped *u, const CalSystemModesOptions *o) {
	const int most = o && o->most > 0 ? o->most : MOST_MODES;
	u->m = u->n < most ? u->n : most;
	while (o && o->max_frequency > 0 && u->m > 0 && u->squared[u->m - 1] > o->max_frequency * o->max_frequency)
		u->m--;
	for (int k = 0; k < u->m; k++)
		u->rigid += u->squared[k] == 0;
}

/* out[m m] = Phi' X Phi. */
static void into_modes(const Undamped *u, const double *X, double *out) {
	const size_t n = (size_t)u->n, m = (size_t)u->m;
	double *half = u->scratch; // X Phi
	memset(half, 0, n * m * sizeof *half);
	for (size_t i = 0; i < n; i++)
		for (size_t j = 0; j < n; j++)
			for (size_t k = 0; X[i * n + j] != 0 && k < m; k++)
				half[i * m + k] += X[i * n + j] * u->phi[j * n + k];
	memset(out, 0, m * m * sizeof *out);
	for (size_t i = 0; i < n; i++)
		for (size_t k = 0; k < m; k++)
			for (size_t j = 0; j < m; j++)
				out[k * m + j] += u->phi[i * n + k] * half[i * m + j];
}

/* Damping and what is unsymmetric in K; too small to matter is none. */
static void find_unsymmetric(Undamped *u) {
	const size_t n = (size_t)u->n, m = (size_t)u->m;
	double *X = u->M; // the factor is not needed any more
	double largest = 0;
	for (size_t i = 0; i < n; i++)
		for (size_t j = 0; j < n; j++)
			X[i * n + j] = 0.5 * (u->linear->K[i * n + j] - u->linear->K[j * n + i]);
	into_modes(u, X, u->A);
	into_modes(u, u->linear->C, u->C);
	for (size_t k = 0; k < m; k++)
		largest = fmax(largest, fabs(u->squared[k]));
	const double floor = fmax(negligible * largest, u->linear->squared_floor);
	for (size_t i = 0; i < m * m; i++) {
		u->A[i] = fabs(u->A[i]) > floor ? u->A[i] : 0;
		u->C[i] = fabs(u->C[i]) > negligible * sqrt(largest) + sqrt(negligible * floor) ? u->C[i] : 0;
		u->damped |= u->A[i] != 0 || u->C[i] != 0;
	}
}

/* ---- results -------------------------------------------------------------------------------- */

typedef struct Made {
	CalSystemMode *mode;                        // [capacity]
	double *shape, *shape_imag, *participation; // [capacity nu]
	int capacity, count;
} Made;

static void layout_made(Made *made, int nu, Cursor *cursor) {
	const size_t numbers = (size_t)made->capacity * (size_t)nu;
	CURSOR_ARRAY(cursor, made->mode, made->capacity);
	CURSOR_ARRAY(cursor, made->shape, numbers);
	CURSOR_ARRAY(cursor, made->shape_imag, numbers);
	CURSOR_ARRAY(cursor, made->participation, numbers);
}

/* Turned so that the number with the largest share is real and positive, and of largest number 1. */
static void normalize_shape(int nu, int most, double *re, double *im) {
	const double size = sqrt(re[most] * re[most] + im[most] * im[most]);
	const double c = size > 0 ? re[most] / size : 1, s = size > 0 ? im[most] / size : 0;
	double largest = 0;
	for (int i = 0; i < nu; i++) {
		const double a = re[i], b = im[i];
		re[i] = c * a + s * b;
		im[i] = c * b - s * a;
		largest = fmax(largest, sqrt(re[i] * re[i] + im[i] * im[i]));
	}
	for (int i = 0; i < nu && largest > 0; i++)
		re[i] /= largest, im[i] /= largest;
}

/* From its coordinates eta[m] in the undamped modes; im may be NULL. */
static void add_mode(const Undamped *u, Made *made, CalSystemMode mode, const double *re, const double *im) {
	const size_t n = (size_t)u->n, nu = (size_t)u->linear->nu, at = (size_t)made->count * nu;
	double *shape = made->shape + at, *imag = made->shape_imag + at, *share = made->participation + at, sum = 0;
	int most = 0;
	memset(shape, 0, nu * sizeof *shape);
	memset(imag, 0, nu * sizeof *imag);
	for (size_t k = 0; k < n; k++) {
		double a = 0, b = 0;
		for (size_t j = 0; j < (size_t)u->m; j++) {
			a += u->phi[k * n + j] * re[j];
			b += im ? u->phi[k * n + j] * im[j] : 0;
		}
		for (size_t i = 0; i < nu; i++) {
			shape[i] += u->linear->N[i * n + k] * a;
			imag[i] += u->linear->N[i * n + k] * b;
		}
	}
	for (size_t i = 0; i < nu; i++) {
		share[i] = (shape[i] * shape[i] + imag[i] * imag[i]) * u->linear->inertia[i];
		sum += share[i];
		most = share[i] > share[most] ? (int)i : most;
	}
	for (size_t i = 0; i < nu && sum > 0; i++)
		share[i] /= sum;
	normalize_shape((int)nu, most, shape, imag);
	mode.shape = shape, mode.shape_imag = imag, mode.participation = share;
	made->mode[made->count++] = mode;
}

static void add_undamped(const Undamped *u, Made *made, int k, double *eta) {
	const double w = sqrt(fabs(u->squared[k]));
	CalSystemMode mode = {.kind = CAL_MODE_RIGID};
	memset(eta, 0, (size_t)u->m * sizeof *eta);
	eta[k] = 1;
	if (u->squared[k] > 0)
		mode = (CalSystemMode){.kind = CAL_MODE_OSCILLATION, .frequency = w, .imag = w};
	if (u->squared[k] < 0) { // decay and growth
		add_mode(u, made, (CalSystemMode){.kind = CAL_MODE_APERIODIC, .real = -w}, eta, NULL);
		mode = (CalSystemMode){.kind = CAL_MODE_APERIODIC, .real = w};
	}
	add_mode(u, made, mode, eta, NULL);
}

/* ---- damped modes --------------------------------------------------------------------------- */

typedef struct Damped {
	int size;         // 2 m - rigid
	double *A;        // [size size]
	Complex *values;  // [size]
	Complex *vectors; // [size size]
	Complex *scratch; // [size size + 2 size]
	double *re, *im;  // [m]
	int *at;          // [m] place of w eta, -1: rigid
	int *order;       // [size]
} Damped;

static void layout_damped(Damped *d, int m, Cursor *cursor) {
	const size_t size = (size_t)d->size;
	CURSOR_ARRAY(cursor, d->A, size * size);
	CURSOR_ARRAY(cursor, d->values, size);
	CURSOR_ARRAY(cursor, d->vectors, size * size);
	CURSOR_ARRAY(cursor, d->scratch, size * size + 2 * size);
	CURSOR_ARRAY(cursor, d->re, m);
	CURSOR_ARRAY(cursor, d->im, m);
	CURSOR_ARRAY(cursor, d->at, m);
	CURSOR_ARRAY(cursor, d->order, size);
}

/* v of all modes first, then w eta of those that are not rigid. */
static void fill_first_order(const Undamped *u, Damped *d) {
	const int m = u->m, size = d->size;
	int next = m;
	memset(d->A, 0, (size_t)size * (size_t)size * sizeof *d->A);
	for (int k = 0; k < m; k++)
		d->at[k] = u->squared[k] == 0 ? -1 : next++;
	for (int i = 0; i < m; i++) {
		for (int j = 0; j < m; j++) {
			d->A[i * size + j] = -u->C[i * m + j];
			if (d->at[j] >= 0)
				d->A[i * size + d->at[j]] = -u->A[i * m + j] / sqrt(fabs(u->squared[j]));
		}
		if (d->at[i] < 0)
			continue;
		const double w = sqrt(fabs(u->squared[i]));
		d->A[i * size + d->at[i]] -= u->squared[i] > 0 ? w : -w;
		d->A[d->at[i] * size + i] = w;
	}
}

static double size_of(Complex a) { return sqrt(a.re * a.re + a.im * a.im); }

/* 0: nothing moves, 1: oscillation, 2: aperiodic, -1: the conjugate of another. */
static int class_of(Complex value, double zero) {
	if (size_of(value) <= zero)
		return 0;
	if (fabs(value.im) <= 1e-9 * fabs(value.re))
		return 2;
	return value.im > 0 ? 1 : -1;
}

/* By class, then by size. */
static void sort_values(const Damped *d, double zero) {
	for (int i = 0; i < d->size; i++)
		d->order[i] = i;
	for (int i = 1; i < d->size; i++) {
		for (int j = i; j > 0; j--) {
			const Complex a = d->values[d->order[j - 1]], b = d->values[d->order[j]];
			const int ca = class_of(a, zero), cb = class_of(b, zero);
			if (ca < cb || (ca == cb && size_of(a) <= size_of(b)))
				break;
			const int kept = d->order[j];
			d->order[j] = d->order[j - 1], d->order[j - 1] = kept;
		}
	}
}

/* The shape is that of the velocities: the same as that of displacements, but for a factor. */
static void add_damped(const Undamped *u, const Damped *d, Made *made, int k, double zero) {
	const Complex value = d->values[k];
	const double w = size_of(value);
	const int class = class_of(value, zero);
	CalSystemMode mode = {.kind = CAL_MODE_RIGID};
	if (class == 1)
		mode = (CalSystemMode){
			.kind = CAL_MODE_OSCILLATION, .frequency = w, .damping = -value.re / w, .real = value.re, .imag = value.im};
	if (class == 2)
		mode = (CalSystemMode){.kind = CAL_MODE_APERIODIC, .real = value.re};
	for (int i = 0; i < u->m; i++) {
		d->re[i] = d->vectors[i * d->size + k].re;
		d->im[i] = class == 1 ? d->vectors[i * d->size + k].im : 0;
	}
	add_mode(u, made, mode, d->re, d->im);
}

/*
 * Displacements without stiffness that the symmetric part of K does not show have two zeros each; those of undamped modes left
 * out of A have one. Returns the number of the former.
 */
static int count_hidden_rigid(const Undamped *u, const Damped *d, double zero) {
	int zeros = 0;
	for (int i = 0; i < d->size; i++)
		zeros += class_of(d->values[i], zero) == 0;
	return zeros > u->rigid ? (zeros - u->rigid) / 2 : 0;
}

static CalStatus find_damped(Undamped *u, const CalAllocator *allocator, Made *made) {
	Damped d = {.size = 2 * u->m - u->rigid};
	Cursor cursor = {0};
	layout_damped(&d, u->m, &cursor);
	void *memory = cursor_alloc(&cursor, allocator);
	if (!memory)
		return CAL_ERR_MEMORY;
	layout_damped(&d, u->m, &cursor);
	fill_first_order(u, &d);
	const CalStatus status = eigen_general(d.size, d.A, d.values, d.vectors, d.scratch);
	double largest = 0;
	for (int i = 0; i < d.size && status == CAL_OK; i++)
		largest = fmax(largest, size_of(d.values[i]));
	const double zero = 1e-9 * largest + 3 * sqrt(u->linear->squared_floor); // double zeros lose half of the digits
	if (status == CAL_OK)
		sort_values(&d, zero);
	const int hidden = status == CAL_OK ? count_hidden_rigid(u, &d, zero) : 0;
	for (int i = 0, left_out = 0; i < d.size && status == CAL_OK; i++) {
		const int class = class_of(d.values[d.order[i]], zero);
		if (class == 0 && left_out < hidden)
			left_out++; // of two zeros of a mode one is shown
		else if (class >= 0)
			add_damped(u, &d, made, d.order[i], zero);
	}
	u->rigid += hidden;
	memory_free(allocator, memory);
	return status;
}

/* ---- all ------------------------------------------------------------------------------------ */

static CalStatus find_modes(Undamped *u, const CalSystemModesOptions *options, const CalAllocator *allocator,
                            CalSystemModes *modes) {
	CalStatus status = find_undamped(u);
	if (status != CAL_OK)
		return status;
	choose_modes(u, options);
	find_unsymmetric(u);
	Made made = {.capacity = 2 * u->m};
	Cursor cursor = {0};
	layout_made(&made, u->linear->nu, &cursor);
	void *memory = cursor_alloc(&cursor, allocator);
	if (!memory)
		return CAL_ERR_MEMORY;
	layout_made(&made, u->linear->nu, &cursor);
	if (u->damped)
		status = find_damped(u, allocator, &made);
	for (int pass = 0; pass < 2 && !u->damped; pass++) // what has no square of a frequency below zero comes first
		for (int k = 0; k < u->m; k++)
			if ((u->squared[k] < 0) == (pass == 1))
				add_undamped(u, &made, k, u->scratch);
	*modes = (CalSystemModes){.count = made.count,
	                          .rigid = u->rigid,
	                          .damped = u->damped,
	                          .mode = made.mode,
	                          .allocator = *allocator,
	                          .memory = memory};
	if (status != CAL_OK)
		cal_system_modes_release(modes);
	return status;
}

CalStatus cal_linear_modes(const CalLinear *linear, const CalSystemModesOptions *options, const CalAllocator *allocator,
                           CalSystemModes *modes, CalError *error) {
	if (!linear || !modes)
		return error_null(error, __func__, !linear ? "linear" : "modes");
	*modes = (CalSystemModes){0};
	if (!linear->M)
		return error_set(error, CAL_ERR_ARGUMENT, "cal_linear_modes: there are no equations; linearize a model first");
	const CalAllocator from = allocator_or_default(allocator);
	Undamped u = {.linear = linear, .n = linear->count};
	Cursor cursor = {0};
	layout_undamped(&u, &cursor);
	void *memory = cursor_alloc(&cursor, &from);
	CalStatus status = memory ? CAL_OK : CAL_ERR_MEMORY;
	if (memory) {
		layout_undamped(&u, &cursor);
		status = find_modes(&u, options, &from, modes);
	}
	memory_free(&from, memory);
	if (status == CAL_OK)
		return CAL_OK;
	return error_set(error, status, "modes of the system: %s%s", cal_status_text(status),
	                 status == CAL_SINGULAR
	                     ? "; a degree of freedom has no inertia: give its bodies mass and inertia, or the "
	                       "joint a rotor inertia"
	                     : "");
}

void cal_system_modes_release(CalSystemModes *modes) {
	if (!modes || !modes->memory)
		return;
	memory_free(&modes->allocator, modes->memory);
	*modes = (CalSystemModes){0};
}

/* ---- first-order equations ------------------------------------------------------------------- */

CalStatus cal_linear_state_matrix(const CalLinear *linear, double *A) {
	if (!linear || !linear->memory || !A)
		return CAL_ERR_ARGUMENT;
	const size_t n = (size_t)linear->count;
	const CalAllocator allocator = linear->allocator;
	double *L = memory_alloc(&allocator, n * n * sizeof *L);
	if (!L)
		return CAL_ERR_MEMORY;
	memcpy(L, linear->M, n * n * sizeof *L);
	if (cholesky_factor((int)n, L, NULL, 1e-14) >= 0) {
		memory_free(&allocator, L);
		return CAL_SINGULAR;
	}
	memset(A, 0, 4 * n * n * sizeof *A);
	for (size_t i = 0; i < n; i++) {
		A[i * 2 * n + n + i] = 1;
		for (size_t j = 0; j < n; j++) {
			A[(n + i) * 2 * n + j] = -linear->K[i * n + j];
			A[(n + i) * 2 * n + n + j] = -linear->C[i * n + j];
		}
	}
	for (size_t j = 0; j < 2 * n; j++) { // M^-1 of each column
		for (size_t i = 0; i < n; i++) {
			for (size_t k = 0; k < i; k++)
				A[(n + i) * 2 * n + j] -= L[i * n + k] * A[(n + k) * 2 * n + j];
			A[(n + i) * 2 * n + j] /= L[i * n + i];
		}
		for (size_t i = n; i-- > 0;) {
			for (size_t k = i + 1; k < n; k++)
				A[(n + i) * 2 * n + j] -= L[k * n + i] * A[(n + k) * 2 * n + j];
			A[(n + i) * 2 * n + j] /= L[i * n + i];
		}
	}
	memory_free(&allocator, L);
	return CAL_OK;
}
