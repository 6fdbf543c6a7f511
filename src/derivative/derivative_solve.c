// SPDX-License-Identifier: Apache-2.0
/*
 * derivative_solve.c — from derivatives of inverse dynamics to those of forward dynamics.
 *
 *   M = L'D L     unit L with entries where one dof moves the other (Featherstone, sec. 6.5), last dof first: row k of D L
 *                 is that of M less multiples L_ik of the rows of the dofs i further out
 *   X = -M^-1 X   y = L'^-1 X, outermost dof first: y_k = X_k - sum L_ik y_i over the dofs i further out;
 *                 x = L^-1 (-D^-1 y), innermost first: x_k = -y_k/D_k - sum L_kj x_j over the dofs j further in
 * Rows of X are dtau/dq and dtau/du side by side, 32 columns at a time. The same with the identity in place of X gives M^-1,
 * of which y and x are formed on one side of the diagonal only. A dof that is held has D^-1 = 0 and no entries in L.
 */
#include "derivative/derivative_kernels.h"
#include "math/pack.h"

/* ---- matrices ----------------------------------------------------------------------------------- */

static void clear_numbers(double *x, size_t count) {
	for (size_t i = 0; i < count; i += PACK) {
		pack_store(x + i, pack_zero());
		__asm__("" ::: "memory"); // a few stores: the compiler would call memset()
	}
}

void LANED(derivative_clear)(CalDerivatives *d) {
	const size_t square = (size_t)d->n * (size_t)d->stride;
	clear_numbers(d->rows, ROW_COUNT * (size_t)d->stride);
	clear_numbers(d->M, square);
	clear_numbers(d->dq, 2 * square);
	clear_numbers(d->dq_low, square);
	clear_numbers(d->du_low, square);
}

/* x 0 is zero for finite numbers and not a number for others. */
int LANED(derivative_not_finite)(const CalDerivatives *d) {
	const size_t stride = (size_t)d->stride;
	for (int i = 0; i < d->n; ++i) {
		const double *row = d->dq + 2 * stride * (size_t)i, *M = d->M + stride * (size_t)i;
		pack sum = pack_zero();
		for (size_t j = 0; j < stride; j += PACK) {
			sum = pack_madd(sum, 0.0, pack_load(row + j));
			sum = pack_madd(sum, 0.0, pack_load(row + stride + j));
			sum = pack_madd(sum, 0.0, pack_load(M + j));
		}
		if (!(pack_sum(sum) == 0))
			return i;
	}
	return -1;
}

typedef struct Block {
	pack row[PACK];
} Block;

INLINE Block load_block(const double *at, size_t stride) {
	return (Block){{pack_load(at), pack_load(at + stride), pack_load(at + 2 * stride), pack_load(at + 3 * stride)}};
}

INLINE Block transpose_block(Block b) {
#if defined(__AVX__)
	const pack p = SHUFFLE(b.row[0], b.row[1], 0, 4, 2, 6), q = SHUFFLE(b.row[0], b.row[1], 1, 5, 3, 7);
	const pack r = SHUFFLE(b.row[2], b.row[3], 0, 4, 2, 6), s = SHUFFLE(b.row[2], b.row[3], 1, 5, 3, 7);
	return (Block){
		{SHUFFLE(p, r, 0, 1, 4, 5), SHUFFLE(q, s, 0, 1, 4, 5), SHUFFLE(p, r, 2, 3, 6, 7), SHUFFLE(q, s, 2, 3, 6, 7)}};
#else
	Block t;
	for (int i = 0; i < PACK; ++i)
		t.row[i] =
			pack_from(pack_lane(b.row[0], i), pack_lane(b.row[1], i), pack_lane(b.row[2], i), pack_lane(b.row[3], i));
	return t;
#endif
}

/* Four rows += the transpose of a block. Rows beyond the last are zero, and there is room for them. */
INLINE void add_transposed(double *to, size_t stride, const double *from, size_t from_stride) {
	const Block t = transpose_block(load_block(from, from_stride));
	for (size_t i = 0; i < PACK; ++i)
		pack_store(to + i * stride, pack_add(pack_load(to + i * stride), t.row[i]));
}

/* M + M' of two blocks that face each other. */
INLINE void fold_blocks(double *M, size_t stride, size_t i, size_t j) {
	double *low = M + i * stride + j, *high = M + j * stride + i;
	const Block t = transpose_block(load_block(high, stride));
	Block sum;
	for (size_t k = 0; k < PACK; ++k) {
		sum.row[k] = pack_add(pack_load(low + k * stride), t.row[k]);
		pack_store(low + k * stride, sum.row[k]);
	}
	sum = transpose_block(sum);
	for (size_t k = 0; k < PACK; ++k)
		pack_store(high + k * stride, sum.row[k]);
}

/* Below the diagonal what is above it. */
INLINE void mirror_block(double *M, size_t stride, size_t i, size_t j, int diagonal) {
	const Block t = transpose_block(load_block(M + j * stride + i, stride));
	double *low = M + i * stride + j;
	for (size_t k = 0; k < PACK; ++k) {
		if (!diagonal)
			pack_store(low + k * stride, t.row[k]);
		for (size_t l = 0; diagonal && l < k; ++l)
			low[k * stride + l] = pack_lane(t.row[k], (int)l);
	}
}

void LANED(derivative_assemble)(CalDerivatives *d) {
	const size_t stride = (size_t)d->stride, wide = 2 * stride;
	for (size_t i = 0; i < stride; i += PACK) {
		for (size_t j = 0; j < stride; j += PACK) {
			if (j > i && !d->model->flex_count)
				break; // only modes of one body meet each other on that side
			add_transposed(d->dq + i * wide + j, wide, d->dq_low + j * stride + i, stride);
			add_transposed(d->du + i * wide + j, wide, d->du_low + j * stride + i, stride);
			if (j <= i)
				fold_blocks(d->M, stride, i, j);
		}
	}
}

/* ---- columns, several packs of them at once ------------------------------------------------------- */

enum { TILE = 8, HALF_TILE = 4 }; // packs whose sums are in registers

/* Sums of `packs` packs of columns; the loops are unrolled. */
typedef struct Tile {
	pack sum[TILE];
} Tile;

INLINE void tile_load(Tile *t, int packs, const double *x) {
#pragma GCC unroll 8
	for (int p = 0; p < packs; ++p)
		t->sum[p] = pack_load(x + p * PACK);
}
INLINE void tile_scale(Tile *t, int packs, double s) {
#pragma GCC unroll 8
	for (int p = 0; p < packs; ++p)
		t->sum[p] = pack_times(s, t->sum[p]);
}
INLINE void tile_store(const Tile *t, int packs, double *x) {
#pragma GCC unroll 8
	for (int p = 0; p < packs; ++p)
		pack_store(x + p * PACK, t->sum[p]);
}
/* t -= s x */
INLINE void tile_subtract(Tile *t, int packs, double s, const double *x) {
#pragma GCC unroll 8
	for (int p = 0; p < packs; ++p)
		t->sum[p] = pack_msub(t->sum[p], s, pack_load(x + p * PACK));
}

/* Columns from x on of row k of L'^-1 X, the rows of the dofs further out being there; last: the last that counts. */
INLINE void outer_columns(const CalDerivatives *d, int packs, int k, int last, double *x, size_t stride) {
	const double *L = d->Lt + (size_t)d->stride * (size_t)k, *outer = x + stride * (size_t)(k + 1);
	Tile t;
	tile_load(&t, packs, x + stride * (size_t)k);
	for (int i = k + 1; i <= last; ++i, outer += stride)
		tile_subtract(&t, packs, L[i], outer);
	tile_store(&t, packs, x + stride * (size_t)k);
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

/* Row k of D L from that of M, with the rows further out: R_k = M_k - sum L_ik R_i; columns after k are not read. */
INLINE void reduce_row(CalDerivatives *d, int k) {
	int at = 0;
	for (; at <= k && at + HALF_TILE * PACK <= d->stride; at += HALF_TILE * PACK)
		outer_columns(d, HALF_TILE, k, d->descends[k], d->L + at, (size_t)d->stride);
	for (; at <= k; at += PACK)
		outer_columns(d, 1, k, d->descends[k], d->L + at, (size_t)d->stride);
}

int LANED(derivative_factor)(CalDerivatives *d, const uint8_t *held) {
	const size_t stride = (size_t)d->stride;
	for (int k = 0; k < d->n; ++k)
		load_row(d, held, k);
	for (int k = d->n - 1; k >= 0; --k) {
		const double *row = d->L + stride * (size_t)k;
		const int fixed = held && held[k];
		if (!fixed)
			reduce_row(d, k);
		if (!fixed && !(row[k] > SINGULAR_RATIO * d->M[stride * (size_t)k + (size_t)k]))
			return k;
		d->D_inv[k] = fixed ? 0.0 : 1.0 / row[k];
		for (int a = d->ancestor_first[k]; a < d->ancestor_first[k + 1]; ++a)
			d->Lt[stride * (size_t)d->ancestors[a] + (size_t)k] = row[d->ancestors[a]] * d->D_inv[k];
	}
	for (int k = 0; k < d->n; ++k) {
		for (int j = 0; j < k; j += PACK)
			pack_store(d->L + stride * (size_t)k + j,
			           pack_times(d->D_inv[k], pack_load(d->L + stride * (size_t)k + j)));
	}
	return -1;
}

/* Those of row k of L^-1 (factor D^-1 X), the rows of the dofs further in being there. */
INLINE void inner_columns(const CalDerivatives *d, int packs, int k, double factor, double *x, size_t stride) {
	const double *L = d->L + (size_t)d->stride * (size_t)k;
	const int32_t *next = d->ancestors + d->ancestor_first[k], *end = d->ancestors + d->ancestor_first[k + 1];
	Tile t;
	tile_load(&t, packs, x + stride * (size_t)k);
	tile_scale(&t, packs, factor * d->D_inv[k]);
	for (; next < end; ++next)
		tile_subtract(&t, packs, L[*next], x + stride * (size_t)*next);
	tile_store(&t, packs, x + stride * (size_t)k);
}

/* ---- both derivatives ------------------------------------------------------------------------------ */

INLINE void solve_columns(const CalDerivatives *d, int packs, double *x) {
	const size_t wide = 2 * (size_t)d->stride;
	for (int k = d->n - 1; k >= 0; --k)
		outer_columns(d, packs, k, d->descends[k], x, wide);
	for (int k = 0; k < d->n; ++k)
		inner_columns(d, packs, k, -1.0, x, wide);
}

void LANED(derivative_solve)(CalDerivatives *d) {
	const int wide = 2 * d->stride;
	int at = 0;
	for (; at + TILE * PACK <= wide; at += TILE * PACK)
		solve_columns(d, TILE, d->dq + at);
	for (; at + HALF_TILE * PACK <= wide; at += HALF_TILE * PACK)
		solve_columns(d, HALF_TILE, d->dq + at);
	for (; at < wide; at += PACK)
		solve_columns(d, 1, d->dq + at);
}

/* ---- inverse ------------------------------------------------------------------------------------ */

/*
 * Columns from `at` on of M^-1 above the diagonal: X is the identity, whose rows L'^-1 changes from the diagonal to the last
 * dof further out.
 */
INLINE void invert_columns(CalDerivatives *d, int packs, int at) {
	const int end = at + packs * PACK < d->n ? at + packs * PACK : d->n;
	for (int k = end - 1; k >= 0; --k) {
		if (d->descends[k] >= at)
			outer_columns(d, packs, k, d->descends[k] < end ? d->descends[k] : end - 1, d->inverse + at,
			              (size_t)d->stride);
	}
	for (int k = 0; k < end; ++k)
		inner_columns(d, packs, k, 1.0, d->inverse + at, (size_t)d->stride);
}

void LANED(derivative_invert)(CalDerivatives *d) {
	const size_t stride = (size_t)d->stride;
	clear_numbers(d->inverse, stride * (size_t)d->n);
	for (int k = 0; k < d->n; ++k)
		d->inverse[(stride + 1) * (size_t)k] = 1.0;
	int at = 0;
	for (; at + HALF_TILE * PACK <= d->stride; at += HALF_TILE * PACK)
		invert_columns(d, HALF_TILE, at);
	for (; at < d->stride; at += PACK)
		invert_columns(d, 1, at);
	for (size_t i = 0; i < stride; i += PACK) {
		for (size_t j = 0; j <= i; j += PACK)
			mirror_block(d->inverse, stride, i, j, i == j);
	}
}
