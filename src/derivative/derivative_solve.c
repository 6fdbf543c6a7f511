// SPDX-License-Identifier: Apache-2.0
/*
 * derivative_solve.c — from derivatives of inverse dynamics to those of forward dynamics.
 *
 *   M = L'D L     unit L with entries where one dof moves the other (Featherstone, sec. 6.5), last dof first:
 *                 row k over D, and off the rows of the dofs further in, of which it is a multiple
 *   X = -M^-1 X   y = L'^-1 X, outermost dof first: y_k = X_k - sum L_ik y_i over the dofs i further out;
 *                 x = L^-1 (-D^-1 y), innermost first: x_k = -y_k/D_k - sum L_kj x_j over the dofs j further in
 * Rows of X are dtau/dq and dtau/du side by side, 16 columns at a time. The same with the identity in place of X gives M^-1,
 * of which y and x are formed on one side of the diagonal only. A dof that is held has D^-1 = 0 and no entries in L.
 */
#include "derivative/derivative_kernels.h"
#include "math/pack.h"

enum { TILE = 4 }; // packs of columns that a sum is taken of at once

void LANED(derivative_assemble)(const CalModel *model, CalDerivatives *d) {
	const size_t stride = (size_t)d->stride;
	for (int i = 0; i < d->n; ++i) {
		double *dq = d->dq + 2 * stride * (size_t)i, *du = d->du + 2 * stride * (size_t)i, *M = d->M + stride * (size_t)i;
		for (int a = d->ancestor_first[i]; a < d->ancestor_first[i + 1]; ++a) {
			const size_t j = (size_t)d->ancestors[a], at = j * stride + (size_t)i;
			dq[j] += d->dq_low[at];
			du[j] += d->du_low[at];
			M[j] += d->M[at];
			d->M[at] = M[j];
		}
		M[i] *= 2.0;
	}
	for (int f = 0; f < model->flex_count; ++f) { // modes meet each other on both sides of the diagonal
		const size_t first = (size_t)model->flexes[f].u, end = first + (size_t)model->flexes[f].m;
		for (size_t l = first; l < end; ++l) {
			for (size_t k = l; k < end; ++k) {
				d->dq[2 * stride * l + k] += d->dq_low[k * stride + l];
				d->du[2 * stride * l + k] += d->du_low[k * stride + l];
			}
		}
	}
}

/* ---- factor ------------------------------------------------------------------------------------ */

/* Row k of L, unscaled: entries with dofs further in that are not held. */
static void load_row(CalDerivatives *d, const uint8_t *held, int k) {
	const size_t at = (size_t)k * (size_t)d->stride;
	memcpy(d->L + at, d->M + at, sizeof(double) * (size_t)(k + 1));
	for (int j = 0; held && j <= k; ++j) {
		if (held[j] || held[k])
			d->L[at + (size_t)j] = 0;
	}
}

int LANED(derivative_factor)(CalDerivatives *d, const uint8_t *held) {
	const size_t stride = (size_t)d->stride;
	for (int k = 0; k < d->n; ++k)
		load_row(d, held, k);
	for (int k = d->n - 1; k >= 0; --k) {
		double *row = d->L + stride * (size_t)k;
		if (held && held[k]) {
			d->D_inv[k] = 0;
			continue;
		}
		if (!(row[k] > SINGULAR_RATIO * d->M[stride * (size_t)k + (size_t)k]))
			return k;
		const double inverse = 1.0 / row[k];
		d->D_inv[k] = inverse;
		for (int a = d->ancestor_first[k]; a < d->ancestor_first[k + 1]; ++a) {
			const int i = d->ancestors[a];
			const double factor = row[i] * inverse;
			double *inner = d->L + stride * (size_t)i;
			for (int j = 0; j <= i; j += PACK)
				pack_store(inner + j, pack_msub(pack_load(inner + j), factor, pack_load(row + j)));
			d->Lt[stride * (size_t)i + (size_t)k] = row[i] = factor;
		}
	}
	return -1;
}

/* ---- columns of both derivatives ------------------------------------------------------------------ */

/* sum -= c times the next `packs` of a row. */
INLINE void subtract_row(pack *sum, int packs, double c, const double *row) {
	for (int p = 0; p < packs; ++p)
		sum[p] = pack_msub(sum[p], c, pack_load(row + p * PACK));
}

/* Columns [at, at + packs of four) of the rows x. */
INLINE void solve_columns(CalDerivatives *d, double *x, int packs) {
	const size_t stride = (size_t)d->stride, wide = 2 * stride;
	pack sum[TILE];
	for (int k = d->n - 1; k >= 0; --k) {
		const double *L = d->Lt + stride * (size_t)k;
		double *row = x + wide * (size_t)k;
		for (int p = 0; p < packs; ++p)
			sum[p] = pack_load(row + p * PACK);
		for (int i = k + 1; i <= d->descends[k]; ++i)
			subtract_row(sum, packs, L[i], x + wide * (size_t)i);
		for (int p = 0; p < packs; ++p)
			pack_store(row + p * PACK, sum[p]);
	}
	for (int k = 0; k < d->n; ++k) {
		const double *L = d->L + stride * (size_t)k;
		double *row = x + wide * (size_t)k;
		for (int p = 0; p < packs; ++p)
			sum[p] = pack_times(-d->D_inv[k], pack_load(row + p * PACK));
		for (int a = d->ancestor_first[k]; a < d->ancestor_first[k + 1]; ++a)
			subtract_row(sum, packs, L[d->ancestors[a]], x + wide * (size_t)d->ancestors[a]);
		for (int p = 0; p < packs; ++p)
			pack_store(row + p * PACK, sum[p]);
	}
}

void LANED(derivative_solve)(CalDerivatives *d) {
	const int wide = 2 * d->stride;
	int at = 0;
	for (; at + TILE * PACK <= wide; at += TILE * PACK)
		solve_columns(d, d->dq + at, TILE);
	for (; at < wide; at += PACK)
		solve_columns(d, d->dq + at, 1);
}

/* ---- inverse ------------------------------------------------------------------------------------ */

/* L'^-1: row k from the diagonal to the last dof further out. */
INLINE void invert_row(CalDerivatives *d, int k) {
	const size_t stride = (size_t)d->stride;
	const double *L = d->Lt + stride * (size_t)k;
	double *row = d->inverse + stride * (size_t)k;
	memset(row, 0, sizeof(double) * stride);
	row[k] = 1.0;
	const int last = d->descends[k];
	for (int at = k / PACK * PACK; at <= last; at += PACK) {
		pack sum = pack_load(row + at);
		for (int i = k + 1; i <= last && i < at + PACK; ++i)
			subtract_row(&sum, 1, L[i], d->inverse + stride * (size_t)i + at);
		pack_store(row + at, sum);
	}
}

void LANED(derivative_invert)(CalDerivatives *d) {
	const size_t stride = (size_t)d->stride;
	for (int k = d->n - 1; k >= 0; --k)
		invert_row(d, k);
	for (int k = 0; k < d->n; ++k) {
		const double *L = d->L + stride * (size_t)k;
		double *row = d->inverse + stride * (size_t)k;
		for (int at = k / PACK * PACK; at < d->n; at += PACK) {
			pack sum = pack_times(d->D_inv[k], pack_load(row + at));
			for (int a = d->ancestor_first[k]; a < d->ancestor_first[k + 1]; ++a)
				subtract_row(&sum, 1, L[d->ancestors[a]], d->inverse + stride * (size_t)d->ancestors[a] + at);
			pack_store(row + at, sum);
		}
	}
	for (int k = 0; k < d->n; ++k) {
		for (int j = k + 1; j < d->n; ++j)
			d->inverse[stride * (size_t)j + (size_t)k] = d->inverse[stride * (size_t)k + (size_t)j];
	}
}
