// SPDX-License-Identifier: Apache-2.0
/*
 * fe_modes.c — the lowest modes of a finite element model by block Lanczos iteration, and a count that none is missing.
 *
 * A = (K + shift M)^-1 M is symmetric in the inner product x'My, and its highest values theta = 1/(value + shift) belong to
 * the lowest modes. Blocks of four vectors A Q are made orthogonal to all before them (twice, so that no copy of a mode
 * comes back), and H = V'MAV holds the products; the modes within V are those of H. What A V has outside of V is Q B
 * with the next block Q: |B s| over the last four components of a vector s of H is the residual of that mode. A basis
 * that has become too large is replaced by its best modes (Wu and Simon 2000).
 *
 * The start is a fixed pseudo-random block: the same input gives the same modes. An iteration can still leave out a mode
 * of which the start has almost nothing, so that the modes below the last one wanted are counted (Sturm); if some are missing, it
 * continues from new vectors beside the modes that are known.
 */
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "fe/fe_solver.h"
#include "math/eigen.h"

enum { WIDTH = 4, MAX_STEPS = 2000, MAX_ROUNDS = 6, SPARE = 8, TURNED = 64 };

static const double RESIDUAL = 1e-11; // of theta
static const double FLOOR = 1e-15;    // of the highest theta: round-off

typedef struct Lanczos {
	FeSolver *solver;
	const CalFeModel *fe;
	double shift;
	int n; // equations of the model
	int wanted;
	int target;     // modes that have to converge: those wanted, and equal ones that the count found beside them
	int m, most;    // vectors of the basis, and their greatest number
	double *V;      // [most + WIDTH][n] basis, then the next block
	double *H;      // [most][most] V'MAV
	double *B;      // [WIDTH][WIDTH] what A of the last block has of the next one
	double *W;      // [WIDTH][n] products with M
	double *S;      // [most][most] vectors of H as columns
	double *theta;  // [most] ascending
	double *small;  // [2 most] scratch
	double *turned; // [most][TURNED] some equations of all vectors
	uint64_t seed;  // of the next number
	double limit;   // up to which modes were counted [Hz]
	bool whole;     // the basis is the whole space: its modes are exact
} Lanczos;

static double *vector(const Lanczos *l, int k) { return l->V + (size_t)k * (size_t)l->n; }

static double dot(int n, const double *a, const double *b) {
	double sum = 0;
	for (int i = 0; i < n; i++)
		sum += a[i] * b[i];
	return sum;
}

static void add_multiple(int n, double factor, const double *from, double *to) {
	for (int i = 0; i < n; i++)
		to[i] += factor * from[i];
}

static void multiply_mass(const Lanczos *l, int columns, const double *x, double *y) {
	fe_matrix_multiply(&l->fe->M, l->n, columns, x, y);
	for (int c = 0; c < columns; c++)
		for (int i = 0; i < l->n; i++)
			if (l->solver->order.place[i] < 0)
				y[(size_t)c * (size_t)l->n + (size_t)i] = 0;
}

/* x = A x for a block; W is overwritten. */
static void apply(Lanczos *l, double *x) {
	multiply_mass(l, WIDTH, x, l->W);
	memcpy(x, l->W, WIDTH * (size_t)l->n * sizeof *x);
	fe_solver_solve(l->solver, WIDTH, x);
}

static void random_vector(Lanczos *l, double *x) {
	for (int i = 0; i < l->n; i++) {
		l->seed = l->seed * 6364136223846793005u + 1442695040888963407u;
		x[i] = l->solver->order.place[i] >= 0 ? (double)(l->seed >> 11) / 9007199254740992.0 - 0.5 : 0;
	}
}

/* ---- the basis --------------------------------------------------------------------------------- */

/* Takes off the next block what it has of the basis; with `from` >= 0 that is column from ... of H. */
static void orthogonalize_block(Lanczos *l, int from) {
	double *next = vector(l, l->m);
	for (int pass = 0; pass < 2; pass++) {
		multiply_mass(l, WIDTH, next, l->W);
		for (int k = 0; k < l->m; k++)
			for (int c = 0; c < WIDTH; c++) {
				const double product = dot(l->n, vector(l, k), l->W + (size_t)c * (size_t)l->n);
				if (from >= 0)
					l->H[(size_t)k * (size_t)l->most + (size_t)(from + c)] += product;
				add_multiple(l->n, -product, vector(l, k), next + (size_t)c * (size_t)l->n);
			}
	}
}

/* One vector of the next block against those before it in the block, twice; its length in *norm. */
static void orthogonalize_within(Lanczos *l, int c, double *norm) {
	double *x = vector(l, l->m + c);
	for (int pass = 0; pass < 2; pass++) {
		multiply_mass(l, 1, x, l->W);
		for (int k = 0; k < c; k++) {
			const double product = dot(l->n, vector(l, l->m + k), l->W);
			l->B[k * WIDTH + c] += product;
			add_multiple(l->n, -product, vector(l, l->m + k), x);
		}
	}
	multiply_mass(l, 1, x, l->W);
	*norm = sqrt(fmax(dot(l->n, x, l->W), 0));
}

/* A vector in place of one that depends on the others; its share in B is zero. False: there is none, and it is zero. */
static bool replace_vector(Lanczos *l, int c) {
	double *x = vector(l, l->m + c);
	for (int attempt = 0; attempt < 2; attempt++) {
		double length[2];
		random_vector(l, x);
		multiply_mass(l, 1, x, l->W);
		memcpy(x, l->W, (size_t)l->n * sizeof *x);
		fe_solver_solve(l->solver, 1, x);
		for (int pass = 0; pass < 3; pass++) {
			multiply_mass(l, 1, x, l->W);
			length[pass > 0] = sqrt(fmax(dot(l->n, x, l->W), 0));
			for (int k = 0; k < l->m + c && pass < 2; k++)
				add_multiple(l->n, -dot(l->n, vector(l, k), l->W), vector(l, k), x);
		}
		const bool new = length[1] > 1e-9 * length[0];
		for (int i = 0; i < l->n; i++)
			x[i] = new ? x[i] / length[1] : 0;
		if (new)
			return true;
	}
	return false;
}

/*
 * Orthonormal vectors in the next block; scale[c]: lengths before the basis was taken off. A vector that depends on the
 * others is replaced; zero if there is no other. False: all are zero, the basis is the whole space.
 */
static bool normalize_block(Lanczos *l, const double *scale) {
	bool any = false;
	memset(l->B, 0, WIDTH * WIDTH * sizeof *l->B);
	for (int c = 0; c < WIDTH; c++) {
		double norm, *x = vector(l, l->m + c);
		orthogonalize_within(l, c, &norm);
		if (!(norm > 1e-12 * scale[c])) {
			any |= replace_vector(l, c);
			continue;
		}
		any = true;
		l->B[c * WIDTH + c] = norm;
		for (int i = 0; i < l->n; i++)
			x[i] /= norm;
	}
	return any;
}

static void block_lengths(Lanczos *l, double *scale) {
	multiply_mass(l, WIDTH, vector(l, l->m), l->W);
	for (int c = 0; c < WIDTH; c++)
		scale[c] = sqrt(fmax(dot(l->n, vector(l, l->m + c), l->W + (size_t)c * (size_t)l->n), 0));
}

/* A new block that has nothing of the basis, and only what A lets through: vectors without mass are gone. */
static bool start_block(Lanczos *l) {
	double scale[WIDTH];
	for (int c = 0; c < WIDTH; c++)
		random_vector(l, vector(l, l->m + c));
	apply(l, vector(l, l->m));
	block_lengths(l, scale);
	orthogonalize_block(l, -1);
	return normalize_block(l, scale);
}

/* The next block joins the basis, and A of it becomes the next one. False: the space is full. */
static bool extend_basis(Lanczos *l) {
	double scale[WIDTH];
	const int from = l->m;
	l->m += WIDTH;
	memcpy(vector(l, l->m), vector(l, from), WIDTH * (size_t)l->n * sizeof *l->V);
	apply(l, vector(l, l->m));
	block_lengths(l, scale);
	for (int k = 0; k < l->m; k++)
		for (int c = 0; c < WIDTH; c++)
			l->H[(size_t)k * (size_t)l->most + (size_t)(from + c)] = 0;
	orthogonalize_block(l, from);
	for (int k = 0; k < from; k++)
		for (int c = 0; c < WIDTH; c++)
			l->H[(size_t)(from + c) * (size_t)l->most + (size_t)k] =
				l->H[(size_t)k * (size_t)l->most + (size_t)(from + c)];
	return normalize_block(l, scale);
}

/* ---- modes within the basis -------------------------------------------------------------------- */

static CalStatus find_ritz(Lanczos *l) {
	const int m = l->m;
	for (int i = 0; i < m; i++)
		for (int j = 0; j < m; j++)
			l->S[i * m + j] =
				(l->H[(size_t)i * (size_t)l->most + (size_t)j] + l->H[(size_t)j * (size_t)l->most + (size_t)i]) / 2;
	return eigen_symmetric(m, l->S, l->theta, l->small);
}

/* Residual of mode k (0: the lowest one, highest theta) in the norm of M. */
static double residual(const Lanczos *l, int k) {
	const int m = l->m;
	double square = 0;
	for (int r = 0; r < WIDTH; r++) {
		double sum = 0;
		for (int c = 0; c < WIDTH; c++)
			sum += l->B[r * WIDTH + c] * l->S[(m - WIDTH + c) * m + (m - 1 - k)];
		square += sum * sum;
	}
	return sqrt(square);
}

/* How many of the lowest modes have converged, without a gap. */
static int count_converged(const Lanczos *l) {
	int count = 0;
	while (count < l->m) {
		const double theta = l->theta[l->m - 1 - count];
		if (!(theta > 0) || !(residual(l, count) <= fmax(RESIDUAL * theta, FLOOR * l->theta[l->m - 1])))
			break;
		count++;
	}
	return count;
}

/* V becomes the `keep` lowest modes within it; the block after the basis is the same one as before. */
static void turn_basis(Lanczos *l, int keep) {
	const int m = l->m;
	for (int from = 0; from < l->n; from += TURNED) {
		const int count = l->n - from < TURNED ? l->n - from : TURNED;
		memset(l->turned, 0, (size_t)keep * TURNED * sizeof *l->turned);
		for (int k = 0; k < m; k++) {
			const double *x = vector(l, k) + from;
			for (int j = 0; j < keep; j++)
				add_multiple(count, l->S[k * m + (m - 1 - j)], x, l->turned + (size_t)j * TURNED);
		}
		for (int j = 0; j < keep; j++)
			memcpy(vector(l, j) + from, l->turned + (size_t)j * TURNED, (size_t)count * sizeof *l->V);
	}
	memset(l->H, 0, (size_t)l->most * (size_t)l->most * sizeof *l->H);
	for (int j = 0; j < keep; j++)
		l->H[(size_t)j * (size_t)l->most + (size_t)j] = l->theta[m - 1 - j];
	memmove(vector(l, keep), vector(l, m), WIDTH * (size_t)l->n * sizeof *l->V);
	l->m = keep;
}

static bool worth_a_look(const Lanczos *l) {
	return l->whole || (l->m >= l->target && (l->m < 100 || l->m / WIDTH % 4 == 0 || l->m + WIDTH > l->most));
}

/* Steps until the modes wanted have converged. */
static CalStatus converge(Lanczos *l, CalError *error) {
	for (int step = 0; step < MAX_STEPS; step++) {
		if (l->m + WIDTH > l->most)
			turn_basis(l, l->target + SPARE);
		l->whole = !extend_basis(l);
		if (!worth_a_look(l))
			continue;
		const CalStatus status = find_ritz(l);
		if (status != CAL_OK)
			return fe_file_error(error, l->fe->path, CAL_ERR_INPUT,
			                     "the modes could not be computed: mass or stiffness is not positive (%s)",
			                     cal_status_text(status));
		if (l->whole || count_converged(l) >= l->target)
			return CAL_OK;
	}
	return fe_file_error(error, l->fe->path, CAL_NOT_CONVERGED, "only %d of %d modes converged; ask for fewer",
	                     count_converged(l), l->target);
}

/* ---- none is missing --------------------------------------------------------------------------- */

/*
 * Counts the modes up to a little above the last one wanted, all that are there and those found. There cannot be
 * fewer than were found: a count that says so, or none, comes from a limit too close to a mode for the digits of the
 * matrices, and one farther up is taken. there = -1: none was good.
 */
static void count_modes(Lanczos *l, int *there, int *found) {
	static const double above[] = {1e-5, 1.7e-5, 1e-4, 1.7e-4, 1e-3, 1.7e-3};
	const double last = 1 / l->theta[l->m - l->wanted];
	l->limit = sqrt(fmax(last - l->shift, 0)) / 6.283185307179586;
	for (int k = 0; k < (int)(sizeof above / sizeof *above); k++) {
		const double limit = last * (1 + above[k]);
		*there = fe_solver_count_below(l->solver, limit - l->shift);
		*found = 0;
		for (int i = 0; i < l->m; i++)
			*found += l->theta[i] * limit > 1;
		if (*there >= *found)
			return;
	}
	*there = -1;
}

static CalStatus missing_error(const Lanczos *l, int there, int found, CalError *error) {
	if (there < 0)
		return fe_file_error(error, l->fe->path, CAL_NOT_CONVERGED,
		                     "cannot verify that all modes up to %g Hz were found: stiffnesses or masses are "
		                     "too far apart for their digits; check the units, or use a coarser mesh",
		                     l->limit);
	return fe_file_error(error, l->fe->path, CAL_NOT_CONVERGED,
	                     "there are %d modes up to %g Hz, but only %d of them were found; is there a part of very "
	                     "little mass that moves by itself?",
	                     there, l->limit, found);
}

/* The basis is all that has mass: there are no more modes than it has positive values. */
static void drop_massless(Lanczos *l) {
	int positive = 0;
	for (int i = 0; i < l->m; i++)
		positive += l->theta[i] > FLOOR * 1e3 * l->theta[l->m - 1];
	l->wanted = l->wanted < positive ? l->wanted : positive;
}

/* The modes wanted, with none left out. */
static CalStatus iterate(Lanczos *l, CalError *error) {
	int there = 0, found = 0;
	l->whole = !start_block(l);
	for (int round = 0; round < MAX_ROUNDS; round++) {
		CalStatus status = converge(l, error);
		if (status == CAL_OK && l->whole)
			drop_massless(l);
		if (status != CAL_OK || l->whole)
			return status;
		count_modes(l, &there, &found);
		if (there == found)
			return CAL_OK;
		if (there < 0 || there + SPARE + WIDTH > l->most)
			break;
		l->target = there;
		status = fe_solver_factor(l->solver, l->shift, error);
		if (status != CAL_OK)
			return status;
		turn_basis(l, count_converged(l)); // these have no coupling with the block that is dropped
		l->whole = !start_block(l);
	}
	return missing_error(l, there, found, error);
}

/* Equations inside that have mass: there are no more modes. */
static int modes_there(const FeSolver *s, double *mass) {
	int count = 0;
	for (int e = 0; e < s->fe->M.count; e++)
		if (s->fe->M.row[e] == s->fe->M.col[e])
			mass[s->fe->M.row[e]] += s->fe->M.value[e];
	for (int i = 0; i < s->fe->dof_count; i++)
		count += s->order.place[i] >= 0 && mass[i] > 0;
	return count;
}

static bool lanczos_create(Lanczos *l, int *count, Pool *pool) {
	const size_t n = (size_t)l->n;
	double *mass = pool_array(pool, n, sizeof *mass);
	const int there = mass ? modes_there(l->solver, mass) : 0;
	*count = *count < there ? *count : there;
	l->wanted = l->target = *count;
	l->most = 3 * l->wanted + 15 * WIDTH;
	l->most = l->most < there + WIDTH ? l->most : there + WIDTH; // blocks at the end may have vectors of zero
	l->most = l->most > l->wanted + SPARE + WIDTH ? l->most : l->wanted + SPARE + WIDTH;
	const size_t m = (size_t)l->most;
	l->V = pool_array(pool, (m + WIDTH) * n, sizeof *l->V);
	l->W = pool_array(pool, WIDTH * n, sizeof *l->W);
	l->H = pool_array(pool, m * m, sizeof *l->H);
	l->S = pool_array(pool, m * m, sizeof *l->S);
	l->B = pool_array(pool, WIDTH * WIDTH + 3 * m, sizeof *l->B);
	l->turned = pool_array(pool, m * TURNED, sizeof *l->turned);
	if (!mass || !l->V || !l->W || !l->H || !l->S || !l->B || !l->turned)
		return false;
	l->theta = l->B + WIDTH * WIDTH;
	l->small = l->theta + m;
	return true;
}

CalStatus fe_lowest_modes(FeSolver *solver, double shift, int *count, double *values, double *vectors,
                          CalError *error) {
	const CalFeModel *fe = solver->fe;
	const size_t n = (size_t)fe->dof_count;
	Lanczos l = {.solver = solver, .fe = fe, .shift = shift, .n = fe->dof_count, .seed = 0x9e3779b97f4a7c15u};
	Pool pool;
	pool_init(&pool, &fe->pool.allocator);
	CalStatus status = CAL_OK;
	if (!lanczos_create(&l, count, &pool))
		status = fe_file_error(error, fe->path, CAL_ERR_MEMORY, "out of memory");
	else if (*count > 0)
		status = iterate(&l, error);
	*count = l.wanted;
	if (status == CAL_OK && *count > 0) {
		const int m = l.m;
		for (int k = 0; k < *count; k++)
			values[k] = 1 / l.theta[m - 1 - k] - shift;
		turn_basis(&l, *count);
		memcpy(vectors, l.V, (size_t)*count * n * sizeof *vectors);
	}
	pool_free(&pool);
	return status;
}
