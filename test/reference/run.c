// SPDX-License-Identifier: Apache-2.0
/*
 * run.c — the extrapolation method: y = (delta, u), q = q0 (+) delta, over one step from q0.
 */
#include "reference/run.h"

#include <stdlib.h>
#include <string.h>

enum { MAX_COLUMNS = 10 };

typedef struct Run {
	const RefModel *m;
	const RefRun *how;
	const double *q0; // at the start of the step
	double *q;        // scratch [nq]
	int singular;
} Run;

static double *doubles(int n) {
	double *x = calloc((size_t)n + 1, sizeof *x);
	if (!x)
		abort();
	return x;
}

static void derivative(Run *r, double t, const double *y, double *f) {
	int n = r->m->nu;
	CalInput in = {0};
	RefSolution out = {.udot = f + n};
	ref_config_integrate(r->m, r->q0, y, r->q);
	ref_config_rate(r->m, y, y + n, f);
	if (r->how->input)
		r->how->input(r->how->user, t, r->q, y + n, &in);
	r->singular |= ref_loop_forward(r->m, t, r->q, y + n, &in, &out);
}

/* y1 = y after a time H by n substeps of the smoothed midpoint rule; f0 the derivative at y. */
static void midpoint(Run *r, double t, double H, int n, int size, const double *y, const double *f0, double *y1) {
	double h = H / n, *a = doubles(size), *b = doubles(size), *f = doubles(size);
	memcpy(a, y, sizeof *y * (size_t)size);
	for (int i = 0; i < size; i++)
		b[i] = y[i] + h * f0[i];
	for (int k = 1; k < n; k++) {
		derivative(r, t + k * h, b, f);
		for (int i = 0; i < size; i++) {
			double next = a[i] + 2 * h * f[i];
			a[i] = b[i];
			b[i] = next;
		}
	}
	derivative(r, t + H, b, f);
	for (int i = 0; i < size; i++)
		y1[i] = (a[i] + b[i] + h * f[i]) / 2;
	free(a), free(b), free(f);
}

/* One step of length H: y in place. */
static void extrapolate(Run *r, double t, double H, int size, double *y) {
	int columns = r->how->columns > 0 ? r->how->columns : 6;
	double *f0 = doubles(size), *T[MAX_COLUMNS] = {NULL};
	columns = columns > MAX_COLUMNS ? MAX_COLUMNS : columns;
	derivative(r, t, y, f0);
	for (int j = 0; j < columns; j++) {
		T[j] = doubles(size);
		midpoint(r, t, H, 2 * (j + 1), size, y, f0, T[j]);
		for (int k = j - 1; k >= 0; k--) { /* T[k] becomes the next column */
			double ratio = (double)(j + 1) / (k + 1), factor = 1 / (ratio * ratio - 1);
			for (int i = 0; i < size; i++)
				T[k][i] = T[k + 1][i] + factor * (T[k + 1][i] - T[k][i]);
		}
	}
	memcpy(y, T[0], sizeof *y * (size_t)size);
	for (int j = 0; j < columns; j++)
		free(T[j]);
	free(f0);
}

int ref_run(const RefModel *m, const RefRun *run, double t0, double t1, int steps, double *q, double *u) {
	int n = m->nu;
	double *y = doubles(2 * n), *start = doubles(m->nq), *scratch = doubles(m->nq);
	Run r = {.m = m, .how = run, .q0 = start, .q = scratch};
	for (int k = 0; k < steps && !r.singular; k++) {
		double H = (t1 - t0) / steps, t = t0 + k * H;
		memcpy(start, q, sizeof *q * (size_t)m->nq);
		memset(y, 0, sizeof *y * (size_t)n);
		memcpy(y + n, u, sizeof *u * (size_t)n);
		extrapolate(&r, t, H, 2 * n, y);
		ref_config_integrate(m, start, y, q);
		memcpy(u, y + n, sizeof *u * (size_t)n);
		if (run->project) {
			ref_project_position(m, t + H, q, run->weight, NULL, 10, q);
			ref_project_velocity(m, t + H, q, u, run->weight, NULL, u, NULL);
		}
	}
	free(y), free(start), free(scratch);
	return r.singular;
}
