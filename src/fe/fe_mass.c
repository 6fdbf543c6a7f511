// SPDX-License-Identifier: Apache-2.0
/*
 * fe_mass.c — mass points from moments; see fe_mass.h.
 *
 * Where only what acts at rest is known (M_rr, M_re, M_ee), A is completed: its part over (1, p) and the coupling of
 * that part to the shapes are known; what the shapes have beyond them, C, is known by its trace over the directions,
 * R = M_ee - trace of the rest. C keeps the form of the estimate and gets this trace, C = L C0 L' with
 * L = R^1/2 R0^-1/2; without an estimate it is the same in all directions.
 *
 * The even part of sum m p phi' does not act at rest. If an estimate of it leaves R indefinite, it is replaced by that
 * of the rigid motion nearest to the shape: R is then M_ee - M_er M_rr^+ M_re, which no positive mass makes negative.
 */
#include "fe/fe_mass.h"

#include <math.h>
#include <string.h>

#include "base/cursor.h"
#include "base/memory.h"
#include "base/text_reader.h"
#include "math/eigen.h"
#include "math/portable.h"

static const double POSSIBLE = -1e-9; // of a unit diagonal: round-off below zero

typedef struct Build {
	const FeMoments *m;
	const char *path;
	CalError *error;
	int D, modes;
	double *A;       // [D][D]
	double *C;       // [3 modes][3 modes] what the shapes have beyond (1, p)
	double *V, *W;   // [D][D] scratch
	double *R, *R0;  // [modes][modes]
	double *Q;       // [modes][3][3] sum m p_c phi_d in use
	double *rigid;   // [modes][3][3] that of the nearest rigid motion
	double *size;    // [D] what each of z is measured by: squares of it are of the diagonal's order
	double *values;  // [D]
	double *scratch; // [2 D]
} Build;

void fe_second_moment(const double inertia[3][3], double second[3][3]) {
	const double half = (inertia[0][0] + inertia[1][1] + inertia[2][2]) / 2;
	for (int i = 0; i < 3; i++)
		for (int j = 0; j < 3; j++)
			second[i][j] = (i == j ? half : 0) - (inertia[i][j] + inertia[j][i]) / 2;
}

/* ---- completing A ------------------------------------------------------------------------------ */

/* A over (1, p), and its coupling to the shapes. */
static void put_applied_wrench(Build *b, double *A) {
	const FeMoments *m = b->m;
	const int D = b->D;
	A[0] = m->mass;
	for (int c = 0; c < 3; c++) {
		A[1 + c] = A[(1 + c) * D] = m->first[c];
		for (int d = 0; d < 3; d++)
			A[(1 + c) * D + 1 + d] = m->second[c][d];
	}
	for (int a = 0; a < b->modes; a++)
		for (int d = 0; d < 3; d++) {
			const int k = 4 + 3 * a + d;
			A[k] = A[k * D] = m->linear[d * b->modes + a];
			for (int c = 0; c < 3; c++)
				A[(1 + c) * D + k] = A[k * D + 1 + c] = b->Q[9 * a + 3 * c + d];
		}
}

/* Round-off is checked by the size of all positions together, and of all components of a shape. */
static void measure_moments(Build *b) {
	const FeMoments *m = b->m;
	const double trace = m->second[0][0] + m->second[1][1] + m->second[2][2];
	b->size[0] = sqrt(m->mass);
	for (int i = 1; i < b->D; i++)
		b->size[i] = sqrt(fabs(i < 4 ? trace : m->modal[((i - 4) / 3) * (b->modes + 1)]));
}

/* True if the estimate has the moments already, to eight digits of each one's scale. */
static bool estimate_fits(Build *b) {
	const double *full = b->m->full;
	const int D = b->D;
	put_applied_wrench(b, b->A);
	for (int i = 0; i < 4; i++)
		for (int j = i; j < D; j++) {
			if (!(fabs(full[i * D + j] - b->A[i * D + j]) <= 1e-8 * b->size[i] * b->size[j]))
				return false;
		}
	for (int a = 0; a < b->modes; a++)
		for (int e = 0; e < b->modes; e++) {
			double trace = 0;
			for (int c = 0; c < 3; c++)
				trace += full[(4 + 3 * a + c) * D + 4 + 3 * e + c];
			if (!(fabs(trace - b->m->modal[a * b->modes + e]) <= 1e-8 * b->size[4 + 3 * a] * b->size[4 + 3 * e]))
				return false;
		}
	return true;
}

/* W = V diag(f(values)) V' of size n, where f is value^power above the threshold and 0 below. */
static void power_of(int n, const double *V, const double *values, double power, double threshold, double *W) {
	for (int i = 0; i < n; i++)
		for (int j = 0; j < n; j++) {
			double sum = 0;
			for (int k = 0; k < n; k++)
				if (values[k] > threshold)
					sum += V[i * n + k] * portable_pow(values[k], power) * V[j * n + k];
			W[i * n + j] = sum;
		}
}

/* The smallest part of the shapes' block that the coupling to (1, p) asks for: A_s4 A_44^+ A_4s, into C. */
static CalStatus least_block(Build *b) {
	const int D = b->D, n = 3 * b->modes;
	double small[16], inverse[16], values[4], scratch[8], scale[4];
	for (int i = 0; i < 4; i++)
		scale[i] = b->A[i * D + i] > 1e-13 * b->size[i] * b->size[i] ? 1 / sqrt(b->A[i * D + i]) : 0;
	for (int i = 0; i < 4; i++)
		for (int j = 0; j < 4; j++)
			small[4 * i + j] = b->A[i * D + j] * scale[i] * scale[j];
	const CalStatus status = eigen_symmetric(4, small, values, scratch);
	if (status != CAL_OK)
		return status;
	power_of(4, small, values, -1, 1e-10, inverse);
	for (int s = 0; s < n; s++)
		for (int t = 0; t < n; t++) {
			double sum = 0;
			for (int i = 0; i < 4; i++)
				for (int j = 0; j < 4; j++)
					sum += b->A[(4 + s) * D + i] * scale[i] * inverse[4 * i + j] * scale[j] * b->A[(4 + t) * D + j];
			b->C[s * n + t] = sum;
		}
	return CAL_OK;
}

static void trace_block(const Build *b, const double *C, double *trace) {
	const int n = 3 * b->modes;
	for (int a = 0; a < b->modes; a++)
		for (int e = 0; e < b->modes; e++) {
			double sum = 0;
			for (int c = 0; c < 3; c++)
				sum += C[(3 * a + c) * n + 3 * e + c];
			trace[a * b->modes + e] = sum;
		}
}

/* R = M_ee less the trace of the least block; its smallest value over a unit diagonal of M_ee, at mode *where. */
static CalStatus rest_of(Build *b, double *smallest, int *where) {
	const int n = b->modes;
	double *scaled = b->W;
	trace_block(b, b->C, b->R0);
	for (int i = 0; i < n; i++)
		for (int j = 0; j < n; j++) {
			b->R[i * n + j] = b->m->modal[i * n + j] - b->R0[i * n + j];
			scaled[i * n + j] = b->R[i * n + j] / (b->size[4 + 3 * i] * b->size[4 + 3 * j]);
		}
	const CalStatus status = eigen_symmetric(n, scaled, b->values, b->scratch);
	*smallest = b->values[0];
	*where = 0;
	for (int i = 1; i < n; i++)
		*where = fabs(scaled[i * n]) > fabs(scaled[*where * n]) ? i : *where;
	return status;
}

static CalStatus impossible(const Build *b, int where) {
	const int n = b->modes;
	return fe_file_error(
		b->error, b->path, CAL_ERR_INPUT,
		"mode %d: its coupling to rigid motion needs a modal mass of %g, but that is %g; with a mass of "
		"%g kg this is impossible. Is the mass in other units (off by 1000)?",
		where + 1, b->R0[where * n + where], b->m->modal[where * n + where], b->m->mass);
}

/* M_rr, angular first, about the origin of B. */
static void rigid_matrix(const FeMoments *m, double M[36]) {
	const double trace = m->second[0][0] + m->second[1][1] + m->second[2][2];
	memset(M, 0, 36 * sizeof *M);
	for (int i = 0; i < 3; i++) {
		const int y = (i + 1) % 3, z = (i + 2) % 3;
		for (int j = 0; j < 3; j++)
			M[6 * i + j] = (i == j ? trace : 0) - m->second[i][j];
		M[6 * (3 + i) + 3 + i] = m->mass;
		M[6 * i + 3 + z] = M[6 * (3 + z) + i] = m->first[y]; // (e_i x p) has p_y along z
		M[6 * i + 3 + y] = M[6 * (3 + y) + i] = -m->first[z];
	}
}

/* Q of the rigid motion (w, v) with the same coupling: sum m p (v + w x p)'. */
static CalStatus nearest_rigid(Build *b) {
	const FeMoments *m = b->m;
	double M[36], inverse[36], values[6], scratch[12], size[6];
	rigid_matrix(m, M);
	for (int i = 0; i < 6; i++)
		size[i] = M[7 * i] > 0 ? 1 / sqrt(M[7 * i]) : 0;
	for (int i = 0; i < 36; i++)
		M[i] *= size[i / 6] * size[i % 6];
	const CalStatus status = eigen_symmetric(6, M, values, scratch);
	if (status != CAL_OK)
		return status;
	power_of(6, M, values, -1, 1e-12, inverse);
	for (int a = 0; a < b->modes; a++) {
		const double *Q = m->position + 9 * a;
		double x[6] = {0}, load[6];
		for (int i = 0; i < 3; i++) {
			const int y = (i + 1) % 3, z = (i + 2) % 3;
			load[i] = Q[3 * y + z] - Q[3 * z + y];
			load[3 + i] = m->linear[i * b->modes + a];
		}
		for (int i = 0; i < 36; i++)
			x[i / 6] += size[i / 6] * inverse[i] * size[i % 6] * load[i % 6];
		for (int c = 0; c < 3; c++)
			for (int d = 0; d < 3; d++) {
				const int y = (d + 1) % 3, z = (d + 2) % 3; // (w x p)_d = w_y p_z - w_z p_y
				b->rigid[9 * a + 3 * c + d] = m->first[c] * x[3 + d] + x[y] * m->second[c][z] - x[z] * m->second[c][y];
			}
	}
	return CAL_OK;
}

/* Q with the odd part that is given and an even part by quality; of the stretch the share that is asked for. */
static void choose_position(Build *b, FeMassQuality quality, double share) {
	const FeMoments *m = b->m;
	for (int a = 0; a < b->modes; a++) {
		const double *Q = m->position + 9 * a, *rigid = b->rigid + 9 * a;
		for (int c = 0; c < 3; c++)
			for (int d = 0; d < 3; d++) {
				const double odd = (Q[3 * c + d] - Q[3 * d + c]) / 2;
				double even = (rigid[3 * c + d] + rigid[3 * d + c]) / 2;
				if (quality == FE_MASS_FIRST)
					even = (Q[3 * c + d] + Q[3 * d + c]) / 2;
				else if (quality == FE_MASS_STRETCH && c == d)
					even += share * ((m->stretch ? m->stretch[c * b->modes + a] : Q[4 * c]) - even);
				b->Q[9 * a + 3 * c + d] = odd + even;
			}
	}
}

/* The estimate less the least block, without what is negative, mixed with a trace of the isotropic one: into W. */
static CalStatus estimated_form(Build *b) {
	const int n = 3 * b->modes, D = b->D;
	const double mix = b->m->full ? 1e-6 : 1;
	memset(b->W, 0, (size_t)n * (size_t)n * sizeof *b->W);
	if (b->m->full) {
		for (int s = 0; s < n; s++)
			for (int t = 0; t < n; t++)
				b->V[s * n + t] = b->m->full[(4 + s) * D + 4 + t] - b->C[s * n + t];
		const CalStatus status = eigen_symmetric(n, b->V, b->values, b->scratch);
		if (status != CAL_OK)
			return status;
		power_of(n, b->V, b->values, 1, 0, b->W);
	}
	for (int a = 0; a < b->modes; a++)
		for (int e = 0; e < b->modes; e++)
			for (int c = 0; c < 3; c++)
				b->W[(3 * a + c) * n + 3 * e + c] += mix * b->R[a * b->modes + e] / 3;
	return CAL_OK;
}

/* C += L W L', L = R^1/2 R0^-1/2 acting on the shapes, R0 the trace of W. */
static CalStatus add_with_trace(Build *b) {
	const int m = b->modes, n = 3 * m;
	double *root = b->V, *inverse = b->V + m * m, *L = b->V + 2 * m * m; // V has room: (4 + 3m)^2 > 4 m^2
	trace_block(b, b->W, b->R0);
	CalStatus status = eigen_symmetric(m, b->R, b->values, b->scratch);
	if (status != CAL_OK)
		return status;
	power_of(m, b->R, b->values, 0.5, 0, root);
	status = eigen_symmetric(m, b->R0, b->values, b->scratch);
	if (status != CAL_OK)
		return status;
	power_of(m, b->R0, b->values, -0.5, 1e-13 * fabs(b->values[m - 1]), inverse);
	for (int i = 0; i < m; i++)
		for (int j = 0; j < m; j++) {
			L[i * m + j] = 0;
			for (int k = 0; k < m; k++)
				L[i * m + j] += root[i * m + k] * inverse[k * m + j];
		}
	double *half = b->A + 4 * b->D; // rows of the shapes are filled last
	for (int s = 0; s < n; s++)
		for (int t = 0; t < n; t++) {
			double sum = 0;
			for (int k = 0; k < m; k++)
				sum += L[(s / 3) * m + k] * b->W[(3 * k + s % 3) * n + t];
			half[s * n + t] = sum;
		}
	for (int s = 0; s < n; s++)
		for (int t = 0; t < n; t++)
			for (int k = 0; k < m; k++)
				b->C[s * n + t] += half[s * n + 3 * k + t % 3] * L[(t / 3) * m + k];
	return CAL_OK;
}

/* Leaves C and R of this choice; *smallest shows whether it is possible. */
static CalStatus try_quality(Build *b, FeMassQuality quality, double share, double *smallest, int *where) {
	choose_position(b, quality, share);
	put_applied_wrench(b, b->A);
	const CalStatus status = least_block(b);
	return status == CAL_OK ? rest_of(b, smallest, where) : status;
}

/* The best quality that some mass distribution has. */
static CalStatus find_quality(Build *b, FeMassQuality *quality) {
	double smallest = 0, low = 0, high = 1;
	int where;
	*quality = FE_MASS_FIRST;
	CalStatus status = try_quality(b, *quality, 1, &smallest, &where);
	if (status != CAL_OK || smallest >= POSSIBLE)
		return status;
	*quality = FE_MASS_STRETCH;
	status = try_quality(b, *quality, 1, &smallest, &where);
	if (status != CAL_OK || smallest >= POSSIBLE)
		return status;
	for (int i = 0; i < 12 && status == CAL_OK; i++) {
		const double middle = (low + high) / 2;
		status = try_quality(b, *quality, middle, &smallest, &where);
		*(smallest >= POSSIBLE ? &low : &high) = middle;
	}
	if (low < 0.9)
		*quality = FE_MASS_REST;
	if (status == CAL_OK)
		status = try_quality(b, *quality, low, &smallest, &where);
	return status == CAL_OK && smallest < -1e-6 ? impossible(b, where) : status;
}

static CalStatus complete_moments(Build *b, FeMassQuality *quality) {
	const int D = b->D, n = 3 * b->modes;
	CalStatus status = nearest_rigid(b);
	if (status == CAL_OK)
		status = find_quality(b, quality);
	if (status == CAL_OK)
		status = estimated_form(b);
	if (status == CAL_OK)
		status = add_with_trace(b);
	if (status != CAL_OK)
		return status;
	put_applied_wrench(b, b->A);
	for (int s = 0; s < n; s++)
		for (int t = 0; t < n; t++)
			b->A[(4 + s) * D + 4 + t] = (b->C[s * n + t] + b->C[t * n + s]) / 2;
	return CAL_OK;
}

/* ---- factorization ----------------------------------------------------------------------------- */

/* A = BB' with B [D][*rank] in V, rows and columns scaled by `size` meanwhile; the 1 is eliminated first. */
static CalStatus factor_masses(Build *b, int *rank) {
	const int D = b->D;
	double *A = b->A, *B = b->V, *scale = b->size, *left = b->scratch;
	memset(B, 0, (size_t)D * (size_t)D * sizeof *B);
	for (int i = 0; i < D; i++)
		left[i] = scale[i] > 0 ? A[i * D + i] / (scale[i] * scale[i]) : 0;
	for (*rank = 0; *rank < D; (*rank)++) {
		const int k = *rank;
		int pivot = 0;
		for (int i = 1; k > 0 && i < D; i++)
			pivot = left[i] > left[pivot] ? i : pivot;
		if (k > 0 && !(left[pivot] > 1e-13))
			break;
		const double root = sqrt(left[pivot]);
		for (int i = 0; i < D; i++) {
			double sum = scale[i] > 0 ? A[i * D + pivot] / (scale[i] * scale[pivot]) : 0;
			for (int l = 0; l < k; l++)
				sum -= B[i * D + l] * B[pivot * D + l];
			B[i * D + k] = sum / root;
		}
		for (int i = 0; i < D; i++)
			left[i] -= B[i * D + k] * B[i * D + k];
		left[pivot] = 0;
	}
	for (int i = 0; i < D; i++)
		if (left[i] < -1e-7)
			return fe_file_error(
				b->error, b->path, CAL_ERR_INPUT,
				"no mass distribution has these integrals (%s %d is off by %g of its own size); is the "
				"mass in other units, or are shapes and integrals of different runs?",
				i < 4 ? "position" : "shape", i < 4 ? i : (i - 4) / 3 + 1, -left[i]);
	for (int i = 0; i < D; i++)
		for (int k = 0; k < *rank; k++)
			B[i * D + k] *= scale[i];
	return CAL_OK;
}

/* Turns the factor so that its first row is constant, and divides by the root of the mass of a point. */
static void rotate_factor(const Build *b, int rank, double *z) {
	const int D = b->D;
	const double *B = b->V;
	const double even = 1 / sqrt((double)rank), weight = sqrt(b->m->mass / rank);
	const double square = 2 - 2 * even; // |e1 - even (1, ..., 1)|^2
	for (int i = 0; i < D; i++) {
		double along = B[i * D];
		for (int k = 0; k < rank; k++)
			along -= even * B[i * D + k];
		const double factor = square > 0 ? 2 * along / square : 0;
		for (int k = 0; k < rank; k++)
			z[k * D + i] = (B[i * D + k] - factor * ((k == 0) - even)) / weight;
	}
}

static void layout_build(Build *b, Cursor *cursor) {
	const size_t D = (size_t)b->D, modes = (size_t)b->modes;
	CURSOR_ARRAY(cursor, b->A, D * D);
	CURSOR_ARRAY(cursor, b->C, D * D);
	CURSOR_ARRAY(cursor, b->V, D * D);
	CURSOR_ARRAY(cursor, b->W, D * D);
	CURSOR_ARRAY(cursor, b->R, modes * modes);
	CURSOR_ARRAY(cursor, b->R0, modes * modes);
	CURSOR_ARRAY(cursor, b->Q, 9 * modes);
	CURSOR_ARRAY(cursor, b->rigid, 9 * modes);
	CURSOR_ARRAY(cursor, b->size, D);
	CURSOR_ARRAY(cursor, b->values, D);
	CURSOR_ARRAY(cursor, b->scratch, 2 * D);
}

CalStatus fe_mass_points(const FeMoments *m, const char *path, const CalAllocator *allocator, double *z, int *count,
                         FeMassQuality *quality, CalError *error) {
	Build b = {.m = m, .path = path, .error = error, .D = fe_moment_size(m->modes), .modes = m->modes};
	Cursor cursor = {.align = sizeof(double)};
	layout_build(&b, &cursor);
	void *memory = cursor_alloc_at_start(&cursor, allocator);
	if (!memory)
		return fe_file_error(error, path, CAL_ERR_MEMORY, "out of memory");
	layout_build(&b, &cursor);
	memcpy(b.Q, m->position, 9 * (size_t)m->modes * sizeof *b.Q);
	measure_moments(&b);
	CalStatus status = CAL_OK;
	*quality = FE_MASS_EXACT;
	if (m->full && estimate_fits(&b))
		memcpy(b.A, m->full, (size_t)b.D * (size_t)b.D * sizeof *b.A);
	else
		status = complete_moments(&b, quality);
	if (status > 0)
		status = fe_file_error(error, path, CAL_ERR_INPUT, "the moments of mass are not finite");
	if (status == CAL_OK)
		status = factor_masses(&b, count);
	if (status == CAL_OK)
		rotate_factor(&b, *count, z);
	memory_free(allocator, memory);
	return status;
}
