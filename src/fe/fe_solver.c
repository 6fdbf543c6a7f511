// SPDX-License-Identifier: Apache-2.0
/*
 * fe_solver.c — sparse LDL' of a finite element model by fronts; see fe_solver.h.
 *
 * The columns of a front have their nonzeros in the same rows: they are one dense panel, stored by rows. A front is
 * factored within its panel, and what it does to later columns, L D L' of the rows below, is subtracted from the panels of
 * its ancestors in the tree. All of it is products of rows (fe_kernels.h). There is no exchange of pivots: a stiffness with
 * the interfaces held is positive definite and needs none, and where modes are counted the growth of the rows shows
 * whether digits were lost.
 */
#include "fe/fe_solver.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "fe/fe_kernels.h"
#include "math/pack.h"

enum { BLOCK = 32, UPDATE = 48, WIDTH = 4 }; // columns factored at a time, updated at a time, right-hand sides

static const double GROWTH = 1e4; // of a diagonal element over its first size: a loss of four digits
static const double TINY = 1e-13; // of a pivot over its first size: its sign is that of round-off

static size_t padded(int columns) { return ((size_t)columns + PACK - 1) / PACK * PACK; }

/* ---- memory ------------------------------------------------------------------------------------ */

static CalStatus memory_error(const FeSolver *s, size_t numbers, CalError *error) {
	return fe_file_error(error, s->fe->path, CAL_ERR_MEMORY,
	                     "out of memory: the factor of %d equations needs %.2f GiB; use a coarser mesh",
	                     s->order.equations, (double)numbers * sizeof(double) / 1073741824.0);
}

static CalStatus allocate(FeSolver *s, double max_bytes, CalError *error) {
	const FeOrder *o = &s->order;
	const size_t n = (size_t)o->equations, widest = padded(o->widest_column);
	size_t numbers = 0;
	s->panel = memory_alloc(&s->allocator, ((size_t)o->front_count + 1) * sizeof *s->panel);
	if (!s->panel)
		return memory_error(s, numbers, error);
	for (int f = 0; f < o->front_count; f++) {
		s->panel[f] = numbers;
		numbers += ((size_t)o->fronts[f].columns + (size_t)o->fronts[f].row_columns) * padded(o->fronts[f].columns);
	}
	s->panel[o->front_count] = numbers;
	numbers += (FE_TILE - 1) * widest; // products take four rows even where fewer are left
	if ((double)numbers * sizeof(double) > (max_bytes > 0 ? max_bytes : FE_FACTOR_BYTES))
		return fe_file_error(
			error, s->fe->path, CAL_ERR_UNSUPPORTED,
			"the factor of %d equations needs %.2f GiB, %.2f GiB are allowed; raise the limit (--memory), "
			"use a coarser mesh, or reduce the model in the FE program and read its SID or DMIG matrices",
			o->equations, (double)numbers * sizeof(double) / 1073741824.0,
			(max_bytes > 0 ? max_bytes : FE_FACTOR_BYTES) / 1073741824.0);
	s->L = memory_alloc(&s->allocator, numbers * sizeof *s->L);
	s->D = memory_alloc(&s->allocator, 2 * (n + 1) * sizeof *s->D);
	s->scaled = memory_alloc(&s->allocator, UPDATE * (widest + 1) * sizeof *s->scaled);
	s->x = memory_alloc(&s->allocator, (n + 1) * WIDTH * sizeof *s->x);
	s->relative = memory_alloc(&s->allocator, ((size_t)o->widest_rows + FE_TILE) * sizeof *s->relative);
	if (!s->L || !s->D || !s->scaled || !s->x || !s->relative)
		return memory_error(s, numbers, error);
	s->size = s->D + n;
	return CAL_OK;
}

CalStatus fe_solver_open(FeSolver *s, const CalFeModel *fe, const bool *inside, double max_bytes, CalError *error) {
	*s = (FeSolver){.fe = fe, .allocator = fe->pool.allocator, .kernels = fe_kernels()};
	if (!fe_order_create(&s->order, fe, inside))
		return fe_file_error(error, fe->path, CAL_ERR_MEMORY, "out of memory");
	const CalStatus status = allocate(s, max_bytes, error);
	if (status != CAL_OK)
		fe_solver_free(s);
	return status;
}

void fe_solver_free(FeSolver *s) {
	if (!s->fe)
		return;
	memory_free(&s->allocator, s->panel);
	memory_free(&s->allocator, s->L);
	memory_free(&s->allocator, s->D);
	memory_free(&s->allocator, s->scaled);
	memory_free(&s->allocator, s->x);
	memory_free(&s->allocator, s->relative);
	fe_order_free(&s->order);
	*s = (FeSolver){0};
}

/* ---- assembly ---------------------------------------------------------------------------------- */

/* Row of a later point in the panel of a front; it is among the rows of the front. */
static int panel_row(const FeOrder *o, const FeFront *f, int point) {
	const int *rows = o->rows + f->rows_first;
	int low = 0, high = f->rows - 1;
	while (low < high) {
		const int middle = (low + high) / 2;
		if (rows[middle] < point)
			low = middle + 1;
		else
			high = middle;
	}
	return o->row_at[f->rows_first + low];
}

static void assemble(FeSolver *s, const FeMatrix *A, double factor) {
	const FeOrder *o = &s->order;
	for (int e = 0; e < A->count && factor != 0; e++) {
		const int i = o->place[A->row[e]], j = o->place[A->col[e]];
		if (i < 0 || j < 0)
			continue;
		const int row = i > j ? i : j, column = i > j ? j : i;
		const int row_point = o->point[i > j ? A->row[e] : A->col[e]], point = o->point[i > j ? A->col[e] : A->row[e]];
		const int index = o->front_of[point];
		const FeFront *f = &o->fronts[index];
		const int first = o->first[f->first];
		const int at =
			o->front_of[row_point] == index ? row - first : panel_row(o, f, row_point) + row - o->first[row_point];
		s->L[s->panel[index] + (size_t)at * padded(f->columns) + (size_t)(column - first)] += factor * A->value[e];
		if (i == j)
			s->size[i] += fabs(factor * A->value[e]);
	}
}

/* ---- factorization ----------------------------------------------------------------------------- */

/* Columns from - from + width - 1 of the panel: takes off what the columns before them contribute. */
static void update_columns(FeSolver *s, double *panel, const double *D, int rows, size_t stride, int from, int width) {
	double out[FE_TILE * UPDATE];
	for (int c = 0; c < width; c++)
		for (int k = 0; k < from; k++)
			s->scaled[c * from + k] = panel[(size_t)(from + c) * stride + (size_t)k] * D[k];
	for (int i = from; i < rows; i += FE_TILE) {
		s->kernels->row_products((size_t)from, panel + (size_t)i * stride, stride, s->scaled, (size_t)from, width, out);
		for (int r = 0; r < FE_TILE && i + r < rows; r++)
			for (int c = 0; c < width; c++)
				panel[(size_t)(i + r) * stride + (size_t)(from + c)] -= out[r * width + c];
	}
}

/*
 * One row x of a block of columns: u_j = a_j - sum over k < j of u_k l_jk, l_j = u_j / d_j for the first `count` of them.
 * above[k][j] = l_jk. Returns the sum of u_j l_j.
 */
static double solve_row(double *x, int width, int count, double above[BLOCK][BLOCK], const double *D) {
	double u[BLOCK] = {0}, sum = 0;
	memcpy(u, x, (size_t)width * sizeof *u);
	for (int k = 0; k < count; k++) {
		const double factor = u[k];
		for (int j = 0; j < BLOCK; j++)
			u[j] -= factor * above[k][j];
	}
	for (int k = 0; k < count; k++) {
		x[k] = u[k] / D[k];
		sum += u[k] * x[k];
	}
	return sum;
}

/* Factors a panel of `columns` columns; the first pivot that is not above TINY, or -1. positive: it must be positive too. */
static int factor_panel(FeSolver *s, double *panel, int columns, int rows, int first, bool positive) {
	const size_t stride = padded(columns);
	double *D = s->D + first;
	for (int from = 0; from < columns; from += BLOCK) {
		double above[BLOCK][BLOCK] = {{0}};
		const int width = columns - from < BLOCK ? columns - from : BLOCK;
		if (from > 0)
			update_columns(s, panel, D, rows, stride, from, width);
		for (int i = 0; i < width; i++) {
			double *row = panel + (size_t)(from + i) * stride + from;
			const double pivot = row[i] - solve_row(row, width, i, above, D + from);
			if (!((positive ? pivot : fabs(pivot)) > TINY * s->size[first + from + i]))
				return from + i;
			D[from + i] = pivot;
			for (int k = 0; k < i; k++)
				above[k][i] = row[k];
		}
		for (int i = from + width; i < rows; i++)
			solve_row(panel + (size_t)i * stride + from, width, width, above, D + from);
	}
	return -1;
}

/* Rows of front f from row `from` (of its list) on, in the panel of front t, which is an ancestor. */
static void find_relative(const FeSolver *s, const FeFront *f, int from, const FeFront *t) {
	const FeOrder *o = &s->order;
	const int *rows = o->rows + f->rows_first, *theirs = o->rows + t->rows_first;
	const int first = o->first[t->first], end = t->first + t->count;
	int at = 0, next = 0;
	for (int k = from; k < f->rows; k++) {
		const int point = rows[k], count = o->first[point + 1] - o->first[point];
		while (point >= end && theirs[next] < point)
			next++;
		const int row = point < end ? o->first[point] - first : o->row_at[t->rows_first + next];
		for (int c = 0; c < count; c++)
			s->relative[at++] = row + c;
	}
}

/* Subtracts the rows of front f from row `from` (of the panel) on, times `width` of them, from the panel of an ancestor. */
static void update_ancestor(FeSolver *s, const FeFront *f, const double *panel, int from, int width,
                            const int *relative, double *target, size_t target_stride) {
	const size_t stride = padded(f->columns);
	const int rows = f->columns + f->row_columns;
	const double *D = s->D + s->order.first[f->first];
	double out[FE_TILE * UPDATE];
	memset(s->scaled, 0, (size_t)width * stride * sizeof *s->scaled);
	for (int c = 0; c < width; c++)
		for (int k = 0; k < f->columns; k++)
			s->scaled[(size_t)c * stride + (size_t)k] = panel[(size_t)(from + c) * stride + (size_t)k] * D[k];
	for (int i = from; i < rows; i += FE_TILE) {
		s->kernels->row_products(stride, panel + (size_t)i * stride, stride, s->scaled, stride, width, out);
		for (int r = 0; r < FE_TILE && i + r < rows; r++) {
			double *row = target + (size_t)relative[i + r - from] * target_stride;
			for (int c = 0; c < width; c++)
				row[relative[c]] -= out[r * width + c];
		}
	}
}

static void update_ancestors(FeSolver *s, int index) {
	const FeOrder *o = &s->order;
	const FeFront *f = &o->fronts[index];
	const double *panel = s->L + s->panel[index];
	for (int k = 0; k < f->rows;) {
		const int target = o->front_of[o->rows[f->rows_first + k]];
		const FeFront *t = &o->fronts[target];
		int next = k;
		while (next < f->rows && o->front_of[o->rows[f->rows_first + next]] == target)
			next++;
		const int from = o->row_at[f->rows_first + k];
		const int end = next < f->rows ? o->row_at[f->rows_first + next] : f->columns + f->row_columns;
		find_relative(s, f, k, t);
		for (int c = from; c < end; c += UPDATE)
			update_ancestor(s, f, panel, c, end - c < UPDATE ? end - c : UPDATE, s->relative + (c - from),
			                s->L + s->panel[target], padded(t->columns));
		k = next;
	}
}

/* Whether elimination makes a diagonal element of the panel's rows so large that digits are lost. */
static bool panel_grows(const FeSolver *s, int index) {
	const FeOrder *o = &s->order;
	const FeFront *f = &o->fronts[index];
	const size_t stride = padded(f->columns);
	const double *row = s->L + s->panel[index], *D = s->D + o->first[f->first];
	for (int k = -1; k < f->rows; k++) { // its own equations first, then those of each row
		const int point = k < 0 ? f->first : o->rows[f->rows_first + k];
		const int count = k < 0 ? f->columns : o->first[point + 1] - o->first[point];
		for (int c = 0; c < count; c++, row += stride)
			for (int j = 0; j < (k < 0 ? c : f->columns); j++)
				if (!(fabs(row[j] * row[j] * D[j]) <= GROWTH * s->size[o->first[point] + c]))
					return true;
	}
	return false;
}

/* K + shift M = LDL'; the place of the pivot that is not there, or -1. */
static int factor(FeSolver *s, double shift, bool positive) {
	const FeOrder *o = &s->order;
	const size_t widest = padded(o->widest_column);
	memset(s->L, 0, (s->panel[o->front_count] + (FE_TILE - 1) * widest) * sizeof *s->L);
	memset(s->size, 0, (size_t)o->equations * sizeof *s->size);
	assemble(s, &s->fe->K, 1);
	assemble(s, &s->fe->M, shift);
	for (int f = 0; f < o->front_count; f++) {
		const FeFront *front = &o->fronts[f];
		const int first = o->first[front->first];
		const int bad =
			factor_panel(s, s->L + s->panel[f], front->columns, front->columns + front->row_columns, first, positive);
		if (bad >= 0 || (!positive && panel_grows(s, f)))
			return first + (bad >= 0 ? bad : 0);
		update_ancestors(s, f);
	}
	return -1;
}

CalStatus fe_solver_factor(FeSolver *s, double shift, CalError *error) {
	const int bad = factor(s, shift, true);
	if (bad < 0)
		return CAL_OK;
	const FeDof *dof = &s->fe->dofs[s->order.equation[bad]];
	return fe_file_error(
		error, s->fe->path, CAL_ERR_INPUT,
		"the stiffness matrix is singular with the interfaces held (node %ld, component %d moves freely): "
		"a part that is not connected, a mechanism, or an interface that is missing",
		dof->node >= 0 ? s->fe->nodes[dof->node].id : -1, dof->component + 1);
}

int fe_solver_count_below(FeSolver *s, double sigma) {
	int negative = 0;
	if (factor(s, -sigma, false) >= 0)
		return -1;
	for (int i = 0; i < s->order.equations; i++)
		negative += s->D[i] < 0;
	return negative;
}

/* ---- solution ---------------------------------------------------------------------------------- */

static pack minus_row(pack x, const double *row, const double *y, int count) {
	for (int k = 0; k < count; k++)
		x = pack_sub(x, pack_mul(pack_all(row[k]), pack_load(y + WIDTH * k)));
	return x;
}

static void minus_column(const double *row, double *y, int count, pack x) {
	for (int k = 0; k < count; k++)
		pack_store(y + WIDTH * k, pack_sub(pack_load(y + WIDTH * k), pack_mul(pack_all(row[k]), x)));
}

static void solve_forward(FeSolver *s, int index) {
	const FeOrder *o = &s->order;
	const FeFront *f = &o->fronts[index];
	const size_t stride = padded(f->columns);
	const double *row = s->L + s->panel[index];
	double *own = s->x + WIDTH * (size_t)o->first[f->first];
	for (int i = 0; i < f->columns; i++, row += stride)
		pack_store(own + WIDTH * i, minus_row(pack_load(own + WIDTH * i), row, own, i));
	for (int k = 0; k < f->rows; k++) {
		const int point = o->rows[f->rows_first + k];
		for (int i = o->first[point]; i < o->first[point + 1]; i++, row += stride) {
			double *x = s->x + WIDTH * (size_t)i;
			pack_store(x, minus_row(pack_load(x), row, own, f->columns));
		}
	}
}

static void solve_backward(FeSolver *s, int index) {
	const FeOrder *o = &s->order;
	const FeFront *f = &o->fronts[index];
	const size_t stride = padded(f->columns);
	const double *panel = s->L + s->panel[index], *row = panel + (size_t)f->columns * stride;
	double *own = s->x + WIDTH * (size_t)o->first[f->first];
	for (int k = 0; k < f->rows; k++) {
		const int point = o->rows[f->rows_first + k];
		for (int i = o->first[point]; i < o->first[point + 1]; i++, row += stride)
			minus_column(row, own, f->columns, pack_load(s->x + WIDTH * (size_t)i));
	}
	for (int i = f->columns - 1; i >= 0; i--)
		minus_column(panel + (size_t)i * stride, own, i, pack_load(own + WIDTH * i));
}

void fe_solver_solve(FeSolver *s, int columns, double *x) {
	const size_t all = (size_t)s->fe->dof_count;
	const int n = s->order.equations;
	for (int from = 0; from < columns; from += WIDTH, x += WIDTH * all) {
		const int width = columns - from < WIDTH ? columns - from : WIDTH;
		memset(s->x, 0, (size_t)n * WIDTH * sizeof *s->x);
		for (int i = 0; i < n; i++)
			for (int c = 0; c < width; c++)
				s->x[WIDTH * i + c] = x[(size_t)c * all + (size_t)s->order.equation[i]];
		for (int f = 0; f < s->order.front_count; f++)
			solve_forward(s, f);
		for (int i = 0; i < n; i++)
			for (int c = 0; c < WIDTH; c++)
				s->x[WIDTH * i + c] /= s->D[i];
		for (int f = s->order.front_count - 1; f >= 0; f--)
			solve_backward(s, f);
		memset(x, 0, (size_t)width * all * sizeof *x);
		for (int i = 0; i < n; i++)
			for (int c = 0; c < width; c++)
				x[(size_t)c * all + (size_t)s->order.equation[i]] = s->x[WIDTH * i + c];
	}
}
