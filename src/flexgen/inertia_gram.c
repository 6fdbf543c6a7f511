// SPDX-License-Identifier: Apache-2.0
/*
 * inertia_gram.c — eigenvectors of a scaled Gram matrix, and the reflection that levels a row; see inertia_gram.h.
 */
#include "flexgen/inertia_gram.h"

#include <float.h>
#include <math.h>

#include "math/eigen.h"

void inertia_gram_layout(InertiaGram *g, int n, Cursor *cursor) {
	const size_t size = (size_t)n;
	*g = (InertiaGram){.n = n};
	CURSOR_ARRAY(cursor, g->G, size * size);
	CURSOR_ARRAY(cursor, g->scale, size);
	CURSOR_ARRAY(cursor, g->values, size);
	CURSOR_ARRAY(cursor, g->scratch, 2 * size);
}

CalStatus inertia_gram_solve(InertiaGram *g) {
	int n = g->n;
	for (int a = 0; a < n; a++) {
		for (int b = 0; b <= a; b++) {
			double size = g->scale[a] * g->scale[b];
			g->G[a * n + b] = g->G[b * n + a] = size > 0 ? g->G[a * n + b] / size : 0;
		}
	}
	CalStatus status = eigen_symmetric(n, g->G, g->values, g->scratch);
	g->lowest = g->values[0];
	g->worst_function = 0;
	for (int a = 1; a < n; a++) {
		g->worst_function = fabs(g->G[a * n]) > fabs(g->G[g->worst_function * n]) ? a : g->worst_function;
	}
	return status;
}

void inertia_gram_factor(InertiaGram *g) {
	int n = g->n, first = 0;
	double noise = fmax(n * DBL_EPSILON * g->values[n - 1], g->floor);
	while (first < n && !(g->values[first] > noise)) {
		first++;
	}
	g->rank = n - first;
	for (int a = 0; a < n; a++) {
		for (int k = 0; k < g->rank; k++) {
			g->G[a * g->rank + k] = g->G[a * n + first + k] * sqrt(g->values[first + k]) * g->scale[a];
		}
	}
}

void inertia_gram_level(InertiaGram *g, const double *e) {
	double *v = g->scratch, length = 0, square = 0;
	int rank = g->rank;
	for (int k = 0; k < rank; k++) {
		v[k] = 0;
		for (int a = 0; a < g->n; a++) {
			v[k] += e[a] * g->G[a * rank + k];
		}
		length += v[k] * v[k];
	}
	for (int k = 0; k < rank; k++) {
		v[k] -= sqrt(length / rank);
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
