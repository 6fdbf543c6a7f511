// SPDX-License-Identifier: Apache-2.0
/*
 * points.c — condensing particles; see points.h.
 *
 * Positions are taken from the centre of mass and every function is scaled to unit norm, so that the matrix of sums
 * is one of correlations; it is factored by its eigenvectors, those of round-off size left out. A reflection then
 * makes the first row constant: all particles get the same mass.
 */
#include "body/points.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "math/eigen.h"

typedef struct Gram {
	int n;          // functions: 1, x, y, z, shapes
	double *G;      // [n][n] sums, then eigenvectors, then L
	double *norm;   // [n] norms of the functions
	double *values; // [n]
	double *row;    // [n] function values of one particle
	double *scratch;
	double mass, com[3];
} Gram;

int points_limit(int modes) { return 4 + 3 * modes; }

static void centre(const Points *p, Gram *g) {
	int width = 3 + 3 * p->modes;
	g->mass = 0;
	memset(g->com, 0, sizeof g->com);
	for (int i = 0; i < p->count; i++) {
		g->mass += p->mass[i];
		for (int c = 0; c < 3; c++) {
			g->com[c] += p->mass[i] * p->f[i * width + c];
		}
	}
	for (int c = 0; c < 3 && g->mass > 0; c++) {
		g->com[c] /= g->mass;
	}
}

static void sums(const Points *p, Gram *g) {
	int n = g->n, width = n - 1;
	memset(g->G, 0, (size_t)n * (size_t)n * sizeof(double));
	for (int i = 0; i < p->count; i++) {
		g->row[0] = 1;
		for (int a = 0; a < width; a++) {
			g->row[a + 1] = p->f[i * width + a] - (a < 3 ? g->com[a] : 0);
		}
		for (int a = 0; a < n; a++) {
			for (int b = 0; b <= a; b++) {
				g->G[a * n + b] += p->mass[i] * g->row[a] * g->row[b];
			}
		}
	}
	for (int a = 0; a < n; a++) {
		g->norm[a] = sqrt(g->G[a * n + a]);
	}
	for (int a = 0; a < n; a++) {
		for (int b = 0; b <= a; b++) {
			double scale = g->norm[a] * g->norm[b];
			g->G[a * n + b] = scale > 0 ? g->G[a * n + b] / scale : 0;
			g->G[b * n + a] = g->G[a * n + b];
		}
	}
}

/** L[n][rank] in place of the eigenvectors; the rank. */
static int factor(Gram *g) {
	int n = g->n, first = 0;
	while (first < n - 1 && g->values[first] <= n * DBL_EPSILON * g->values[n - 1]) {
		first++;
	}
	int rank = n - first;
	for (int a = 0; a < n; a++) {
		for (int k = 0; k < rank; k++) {
			g->G[a * rank + k] = g->G[a * n + first + k] * sqrt(g->values[first + k]);
		}
	}
	return rank;
}

/** Reflects the columns so that the entries of row 0 become equal. */
static void level(Gram *g, int rank) {
	double *v = g->row, length = 0, square = 0;
	for (int k = 0; k < rank; k++) {
		length += g->G[k] * g->G[k];
	}
	for (int k = 0; k < rank; k++) {
		v[k] = g->G[k] - sqrt(length / rank);
		square += v[k] * v[k];
	}
	for (int a = 0; square > 0 && a < g->n; a++) {
		double along = 0;
		for (int k = 0; k < rank; k++) {
			along += g->G[a * rank + k] * v[k];
		}
		for (int k = 0; k < rank; k++) {
			g->G[a * rank + k] -= 2 * along / square * v[k];
		}
	}
}

static void particles(const Gram *g, int rank, Points *few) {
	int width = g->n - 1;
	few->count = rank;
	for (int k = 0; k < rank; k++) {
		few->mass[k] = g->mass / rank;
		for (int a = 0; a < width; a++) {
			double value = g->G[(a + 1) * rank + k] * g->norm[a + 1] / (g->G[k] * g->norm[0]);
			few->f[k * width + a] = value + (a < 3 ? g->com[a] : 0);
		}
	}
}

CalStatus points_condense(const Points *many, Points *few) {
	Gram g = {.n = points_limit(many->modes)};
	size_t n = (size_t)g.n;
	CalAllocator allocator = allocator_or_default(NULL);
	g.G = memory_alloc(&allocator, (n * n + 5 * n) * sizeof(double));
	if (!g.G) {
		return CAL_ERR_MEMORY;
	}
	g.norm = g.G + n * n;
	g.values = g.norm + n;
	g.row = g.values + n;
	g.scratch = g.row + n;
	few->modes = many->modes;
	few->count = 0;
	centre(many, &g);
	sums(many, &g);
	CalStatus status = g.mass > 0 ? eigen_symmetric(g.n, g.G, g.values, g.scratch) : CAL_OK;
	if (status == CAL_OK && g.mass > 0) {
		int rank = factor(&g);
		level(&g, rank);
		particles(&g, rank, few);
	}
	memory_free(&allocator, g.G);
	return status;
}
