// SPDX-License-Identifier: Apache-2.0
/*
 * fe_sturm.c — how many modes are below a given value, without computing them; see fe_band.h.
 *
 * K - sigma M = LDL' has as many negative elements in D as K x = value M x has values below sigma (Sylvester's law of
 * inertia); an iteration for the lowest modes that found fewer has missed some. The elimination goes down the band in
 * a window of width^2 numbers, so that it needs little memory however long the band is. It does not pivot, which
 * costs digits if sigma is close to a value of the equations eliminated so far: that shows as growth of what is left,
 * and then there is no answer rather than a wrong one.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "fe/fe_band.h"

static const double GROWTH = 1e4; // of a diagonal element over its first size: a loss of four digits
static const double TINY = 1e-13; // of a pivot over its first size: its sign is that of round-off

typedef struct Sturm {
	int n, width;
	int *place;    // [dof_count] in the band, -1: outside
	int *first;    // [n + 1] entries of K - sigma M by column: first[c] ... first[c + 1] - 1
	int *next;     // [n] where to put the next one
	int *below;    // [entries] rows below the diagonal
	double *value; // [entries]
	double *size;  // [n] of the diagonal: |K_ii| + |sigma M_ii|
	double *front; // [width + 1][width + 1] columns i ... i + width while i is eliminated; c is at c % (width + 1)
} Sturm;

/* Counts the entries of a column in first[column + 1], or puts them in place. */
static void collect_rows(Sturm *s, const FeMatrix *A, double factor, bool fill) {
	for (int e = 0; e < A->count; e++) {
		const int i = s->place[A->row[e]], j = s->place[A->col[e]], column = i < j ? i : j;
		if (column < 0)
			continue;
		if (!fill) {
			s->first[column + 1]++;
			continue;
		}
		const int at = s->next[column]++;
		s->below[at] = abs(i - j);
		s->value[at] = factor * A->value[e];
		s->size[column] += i == j ? fabs(s->value[at]) : 0;
	}
}

static bool sturm_build(Sturm *s, const FeBand *band, double sigma, Pool *pool) {
	const CalFeModel *fe = band->fe;
	const size_t n = (size_t)band->n, rows = (size_t)band->width + 1;
	const size_t entries = (size_t)fe->K.count + (size_t)fe->M.count;
	s->n = band->n;
	s->width = band->width;
	s->place = pool_array(pool, (size_t)fe->dof_count, sizeof *s->place);
	s->first = pool_array(pool, n + 1, sizeof *s->first);
	s->next = pool_array(pool, n, sizeof *s->next);
	s->below = pool_array(pool, entries, sizeof *s->below);
	s->value = pool_array(pool, entries, sizeof *s->value);
	s->size = pool_array(pool, n, sizeof *s->size);
	s->front = pool_array(pool, rows * rows, sizeof *s->front);
	if (!s->place || !s->first || !s->next || !s->below || !s->value || !s->size || !s->front)
		return false;
	for (int i = 0; i < fe->dof_count; i++)
		s->place[i] = -1;
	for (int i = 0; i < band->n; i++)
		s->place[band->equation[i]] = i;
	collect_rows(s, &fe->K, 1, false);
	collect_rows(s, &fe->M, -sigma, false);
	for (int i = 0; i < band->n; i++) {
		s->first[i + 1] += s->first[i];
		s->next[i] = s->first[i];
	}
	collect_rows(s, &fe->K, 1, true);
	collect_rows(s, &fe->M, -sigma, true);
	return true;
}

/* Takes column i out of those after it. False: too many digits are lost. */
static bool eliminate_row(Sturm *s, int i, const double *column) {
	const int rows = s->width + 1, last = s->n - 1 - i < s->width ? s->n - 1 - i : s->width;
	for (int k = 1; k <= last; k++) {
		const double factor = column[k] / column[0];
		if (factor == 0)
			continue;
		if (!(fabs(factor * column[k]) <= GROWTH * s->size[i + k]))
			return false;
		double *target = s->front + (size_t)((i + k) % rows) * (size_t)rows;
		for (int r = k; r <= last; r++)
			target[r - k] -= factor * column[r];
	}
	return true;
}

/* Negative pivots; -1: no answer. */
static int negative_pivots(Sturm *s) {
	const int rows = s->width + 1;
	int negative = 0;
	for (int i = 0; i < s->n; i++) {
		double *column = s->front + (size_t)(i % rows) * (size_t)rows;
		for (int e = s->first[i]; e < s->first[i + 1]; e++)
			column[s->below[e]] += s->value[e];
		if (!(fabs(column[0]) > TINY * s->size[i]) || !eliminate_row(s, i, column))
			return -1;
		negative += column[0] < 0;
		memset(column, 0, (size_t)rows * sizeof *column);
	}
	return negative;
}

CalStatus fe_band_count_below(const FeBand *band, double sigma, int *count, CalError *error) {
	Sturm s = {0};
	Pool pool;
	pool_init(&pool, &band->allocator);
	const bool built = sturm_build(&s, band, sigma, &pool);
	*count = built ? negative_pivots(&s) : -1;
	pool_free(&pool);
	return built ? CAL_OK : fe_file_error(error, band->fe->path, CAL_ERR_MEMORY, "out of memory");
}
