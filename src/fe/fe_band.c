// SPDX-License-Identifier: Apache-2.0
/*
 * fe_band.c — reverse Cuthill-McKee ordering and banded Cholesky factorization; see fe_band.h.
 *
 * The band of an ordered solid model is that of its cross-section: 10^4 equations of a slender part take some 10 MB
 * and well under a second. What exceeds FE_MAX_BAND is refused rather than tried.
 */
#include "fe/fe_band.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

#ifdef CALDER_WITH_LAPACK

#include <lapacke.h>

enum { FE_MAX_BAND = 1 << 27 }; // numbers of the factor: 1 GiB

/* OpenBLAS starts threads of its own unless set otherwise; other libraries have no such functions. */
extern void openblas_set_num_threads(int) __attribute__((weak));
extern int openblas_get_num_threads(void) __attribute__((weak));

static int one_thread(void) {
	const int before = openblas_get_num_threads ? openblas_get_num_threads() : 0;
	if (openblas_set_num_threads)
		openblas_set_num_threads(1);
	return before;
}

static void threads_back(int before) {
	if (openblas_set_num_threads && before > 1)
		openblas_set_num_threads(before);
}

/* ---- ordering ---------------------------------------------------------------------------------- */

typedef struct Graph {
	int n;
	int *first;    // [n + 1] into neighbors
	int *neighbor; //
	int *level;    // [n] distance from the start, -1: not met
	int *queue;    // [n]
	int *order;    // [n]
	int *local;    // [dof_count] equation to 0..n-1, -1: outside
	int *equation; // [n] and back
} Graph;

static int node_degree(const Graph *g, int i) { return g->first[i + 1] - g->first[i]; }

/* Breadth first from `start` over nodes not yet ordered; returns how many it met, the farthest last. */
static int breadth_first(Graph *g, int start, bool order) {
	int count = 0;
	g->queue[count++] = start;
	g->level[start] = 0;
	for (int head = 0; head < count; head++) {
		const int i = g->queue[head], from = count;
		for (int k = g->first[i]; k < g->first[i + 1]; k++) {
			const int j = g->neighbor[k];
			if (g->level[j] >= 0)
				continue;
			g->level[j] = g->level[i] + 1;
			int at = count++; // neighbors by degree, few first
			for (; at > from && node_degree(g, g->queue[at - 1]) > node_degree(g, j); at--)
				g->queue[at] = g->queue[at - 1];
			g->queue[at] = j;
		}
	}
	if (!order)
		for (int k = 0; k < count; k++)
			g->level[g->queue[k]] = -1;
	return count;
}

static void order_nodes(Graph *g) {
	int done = 0;
	memset(g->level, -1, (size_t)g->n * sizeof *g->level);
	for (int i = 0; i < g->n; i++) {
		if (g->level[i] >= 0)
			continue;
		int start = i;
		for (int pass = 0; pass < 3; pass++) { // towards an end of the part
			const int met = breadth_first(g, start, false);
			start = g->queue[met - 1];
		}
		const int met = breadth_first(g, start, true);
		memcpy(g->order + done, g->queue, (size_t)met * sizeof *g->order);
		done += met;
	}
	for (int i = 0; i < g->n / 2; i++) {
		const int swap = g->order[i];
		g->order[i] = g->order[g->n - 1 - i];
		g->order[g->n - 1 - i] = swap;
	}
}

static void count_edges(Graph *g, const FeMatrix *A, int *place, bool fill) {
	for (int e = 0; e < A->count; e++) {
		const int i = g->local[A->row[e]], j = g->local[A->col[e]];
		if (i < 0 || j < 0 || i == j)
			continue;
		if (fill) {
			g->neighbor[place[i]] = j;
			g->neighbor[place[j]] = i;
		}
		place[i]++;
		place[j]++;
	}
}

/* Neighbors of each equation in K (M couples no others); entries given twice do no harm. */
static bool graph_build(Graph *g, const CalFeModel *fe, const bool *inside, Pool *pool) {
	const size_t all = (size_t)fe->dof_count;
	g->local = pool_array(pool, all, sizeof(int));
	g->equation = pool_array(pool, all, sizeof(int));
	g->first = pool_array(pool, all + 1, sizeof(int));
	g->level = pool_array(pool, all, sizeof(int));
	g->queue = pool_array(pool, all, sizeof(int));
	g->order = pool_array(pool, all, sizeof(int));
	g->neighbor = pool_array(pool, 2 * (size_t)(fe->K.count + fe->M.count), sizeof(int));
	if (!g->local || !g->equation || !g->first || !g->level || !g->queue || !g->order || !g->neighbor)
		return false;
	for (int i = 0; i < fe->dof_count; i++) {
		g->local[i] = inside[i] ? g->n : -1;
		if (inside[i])
			g->equation[g->n++] = i;
	}
	count_edges(g, &fe->K, g->queue, false); // counts, from zero
	count_edges(g, &fe->M, g->queue, false);
	for (int i = 0; i < g->n; i++) {
		g->first[i + 1] = g->first[i] + g->queue[i];
		g->queue[i] = g->first[i];
	}
	count_edges(g, &fe->K, g->queue, true);
	count_edges(g, &fe->M, g->queue, true);
	return true;
}

/* ---- factorization ----------------------------------------------------------------------------- */

static int band_width(const CalFeModel *fe, const int *place) {
	const FeMatrix *both[] = {&fe->K, &fe->M};
	int width = 0;
	for (int k = 0; k < 2; k++)
		for (int e = 0; e < both[k]->count; e++) {
			const int i = place[both[k]->row[e]], j = place[both[k]->col[e]];
			if (i >= 0 && j >= 0 && abs(i - j) > width)
				width = abs(i - j);
		}
	return width;
}

static void band_fill(FeBand *band, const FeMatrix *A, double factor, const int *place) {
	const size_t rows = (size_t)band->width + 1;
	for (int e = 0; e < A->count && factor != 0; e++) {
		const int i = place[A->row[e]], j = place[A->col[e]];
		if (i >= 0 && j >= 0)
			band->L[(size_t)(i < j ? i : j) * rows + (size_t)abs(i - j)] += factor * A->value[e];
	}
}

static CalStatus singular_error(const FeBand *band, int at, CalError *error) {
	const FeDof *dof = &band->fe->dofs[band->equation[at]];
	return fe_file_error(
		error, band->fe->path, CAL_ERR_INPUT,
		"the stiffness matrix is singular with the interfaces held (node %ld, component %d moves freely): "
		"a part that is not connected, a mechanism, or an interface that is missing",
		dof->node >= 0 ? band->fe->nodes[dof->node].id : -1, dof->component + 1);
}

static CalStatus band_cholesky(FeBand *band, CalError *error) {
	const size_t rows = (size_t)band->width + 1;
	for (int i = 0; i < band->n; i++)
		band->work[i] = band->L[(size_t)i * rows];
	const int threads = one_thread();
	const int info = LAPACKE_dpbtrf_work(LAPACK_COL_MAJOR, 'L', band->n, band->width, band->L, band->width + 1);
	threads_back(threads);
	if (info > 0)
		return singular_error(band, info - 1, error);
	if (info < 0)
		return fe_file_error(error, band->fe->path, CAL_ERR_INPUT, "a matrix is not finite");
	for (int i = 0; i < band->n; i++) {
		const double pivot = band->L[(size_t)i * rows];
		if (!(pivot * pivot > 1e-13 * band->work[i]))
			return singular_error(band, i, error);
	}
	return CAL_OK;
}

static CalStatus band_create(FeBand *band, Graph *g, double shift, CalError *error) {
	const CalFeModel *fe = band->fe;
	int *place = g->local;
	band->n = g->n;
	for (int i = 0; i < g->n; i++)
		place[g->equation[g->order[i]]] = i;
	band->width = band_width(fe, place);
	const size_t rows = (size_t)band->width + 1, size = rows * (size_t)g->n;
	if (size > FE_MAX_BAND)
		return fe_file_error(error, fe->path, CAL_ERR_UNSUPPORTED,
		                     "%d equations with a band of %zu need more than 1 GiB; use a coarser mesh, or reduce the "
		                     "model in the FE program and read its SID or DMIG matrices",
		                     g->n, rows);
	band->equation = memory_alloc(&band->allocator, (size_t)g->n * sizeof *band->equation);
	band->L = memory_alloc(&band->allocator, (size ? size : 1) * sizeof *band->L);
	band->work = memory_alloc(&band->allocator, ((size_t)g->n + 1) * sizeof *band->work);
	if (!band->equation || !band->L || !band->work)
		return fe_file_error(error, fe->path, CAL_ERR_MEMORY, "out of memory");
	for (int i = 0; i < g->n; i++)
		band->equation[i] = g->equation[g->order[i]];
	memset(band->L, 0, size * sizeof *band->L);
	band_fill(band, &fe->K, 1, place);
	band_fill(band, &fe->M, shift, place);
	return g->n ? band_cholesky(band, error) : CAL_OK;
}

CalStatus fe_band_factor(FeBand *band, const CalFeModel *fe, const bool *inside, double shift, CalError *error) {
	Pool pool;
	Graph graph = {0};
	*band = (FeBand){.fe = fe, .allocator = fe->pool.allocator};
	pool_init(&pool, &fe->pool.allocator);
	CalStatus status;
	if (graph_build(&graph, fe, inside, &pool)) {
		order_nodes(&graph);
		status = band_create(band, &graph, shift, error);
	} else {
		status = fe_file_error(error, fe->path, CAL_ERR_MEMORY, "out of memory");
	}
	pool_free(&pool);
	if (status != CAL_OK)
		fe_band_free(band);
	return status;
}

void fe_band_solve(FeBand *band, int columns, double *x) {
	const int threads = one_thread();
	for (int k = 0; k < columns; k++, x += band->fe->dof_count) {
		for (int i = 0; i < band->n; i++)
			band->work[i] = x[band->equation[i]];
		if (band->n)
			LAPACKE_dpbtrs_work(LAPACK_COL_MAJOR, 'L', band->n, band->width, 1, band->L, band->width + 1, band->work,
			                    band->n);
		memset(x, 0, (size_t)band->fe->dof_count * sizeof *x);
		for (int i = 0; i < band->n; i++)
			x[band->equation[i]] = band->work[i];
	}
	threads_back(threads);
}

#else

CalStatus fe_band_factor(FeBand *band, const CalFeModel *fe, const bool *inside, double shift, CalError *error) {
	(void)inside;
	(void)shift;
	*band = (FeBand){.fe = fe, .allocator = fe->pool.allocator};
	return fe_file_error(error, fe->path, CAL_ERR_UNSUPPORTED,
	                     "this build cannot reduce finite element models; install liblapacke-dev and build again "
	                     "(CALDER_WITH_LAPACK)");
}

void fe_band_solve(FeBand *band, int columns, double *x) {
	(void)band;
	(void)columns;
	(void)x;
}

#endif

void fe_band_free(FeBand *band) {
	memory_free(&band->allocator, band->equation);
	memory_free(&band->allocator, band->L);
	memory_free(&band->allocator, band->work);
	band->equation = NULL;
	band->L = band->work = NULL;
}
