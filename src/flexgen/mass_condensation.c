// SPDX-License-Identifier: Apache-2.0
/*
 * mass_condensation.c — condensing particles; see mass_condensation.h.
 *
 * Positions are taken from the center of mass and every function is scaled to unit norm, so that the matrix of sums
 * is one of correlations. A reflection makes the row of the function 1 constant: all particles get the same mass.
 */
#include "flexgen/mass_condensation.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"

int mass_points_limit(int modes) { return 4 + 3 * modes; }

static double center(const MassPoints *p, double com[3]) {
	int width = 3 + 3 * p->modes;
	double mass = 0;
	memset(com, 0, 3 * sizeof *com);
	for (int i = 0; i < p->count; i++) {
		mass += p->mass[i];
		for (int c = 0; c < 3; c++) {
			com[c] += p->mass[i] * p->f[i * width + c];
		}
	}
	for (int c = 0; c < 3 && mass > 0; c++) {
		com[c] /= mass;
	}
	return mass;
}

/** Sums into the lower triangle, and norms of the functions. */
static void sums(const MassPoints *p, const double com[3], InertiaGram *g) {
	int n = g->n, width = n - 1;
	double *row = g->scratch;
	memset(g->G, 0, (size_t)n * (size_t)n * sizeof(double));
	for (int i = 0; i < p->count; i++) {
		row[0] = 1;
		for (int a = 0; a < width; a++) {
			row[a + 1] = p->f[i * width + a] - (a < 3 ? com[a] : 0);
		}
		for (int a = 0; a < n; a++) {
			for (int b = 0; b <= a; b++) {
				g->G[a * n + b] += p->mass[i] * row[a] * row[b];
			}
		}
	}
	for (int a = 0; a < n; a++) {
		g->scale[a] = sqrt(g->G[a * n + a]);
	}
}

void mass_points_of_gram(InertiaGram *g, const double com[3], MassPoints *few) {
	int n = g->n, width = n - 1;
	inertia_gram_factor(g);
	double *one = g->values; // the function 1 among all
	memset(one, 0, (size_t)n * sizeof *one);
	one[0] = 1;
	inertia_gram_level(g, one);
	double mass = 0;
	for (int k = 0; k < g->rank; k++) {
		mass += g->G[k] * g->G[k];
	}
	few->count = g->rank;
	for (int k = 0; k < g->rank; k++) {
		double root = g->G[k];
		few->mass[k] = mass / g->rank;
		for (int a = 0; a < width; a++) {
			few->f[k * width + a] = g->G[(a + 1) * g->rank + k] / root + (a < 3 ? com[a] : 0);
		}
	}
}

CalStatus mass_points_condense(const MassPoints *many, MassPoints *few) {
	int n = mass_points_limit(many->modes);
	double com[3];
	CalAllocator allocator = allocator_or_default(NULL);
	InertiaGram g;
	Cursor cursor = {.align = sizeof(double)};
	inertia_gram_layout(&g, n, &cursor);
	void *memory = cursor_alloc_at_start(&cursor, &allocator);
	if (!memory) {
		return CAL_ERR_MEMORY;
	}
	inertia_gram_layout(&g, n, &cursor);
	few->modes = many->modes;
	few->count = 0;
	double mass = center(many, com);
	sums(many, com, &g);
	CalStatus status = mass > 0 ? inertia_gram_solve(&g) : CAL_OK;
	if (status == CAL_OK && mass > 0) {
		mass_points_of_gram(&g, com, few);
	}
	memory_free(&allocator, memory);
	return status;
}
