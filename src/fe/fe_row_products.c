// SPDX-License-Identifier: Apache-2.0
/*
 * fe_row_products.c — inner products of four rows with many; see fe_kernels.h.
 *
 * Each product keeps four partial sums, of the elements 0, 4, 8 ..., 1, 5, 9 ... and so on, which are added at the end: the
 * order does not depend on how many rows are taken at a time or how wide registers are.
 */
#include "math/pack.h"

void LANED(fe_row_products)(size_t length, const double *a, size_t stride, const double *b, size_t b_stride,
                            int columns, double *out);

/* 4 x 3 products: twelve sums and four factors fill sixteen registers. */
static inline void four_by_three(size_t length, const double *a, size_t stride, const double *b, size_t b_stride,
                                 double *out, size_t columns) {
	pack sum[4][3];
	for (int r = 0; r < 4; r++)
		for (int c = 0; c < 3; c++)
			sum[r][c] = pack_zero();
	for (size_t k = 0; k < length; k += PACK) {
		const pack b0 = pack_const(b + k), b1 = pack_const(b + b_stride + k), b2 = pack_const(b + 2 * b_stride + k);
		for (int r = 0; r < 4; r++) {
			const pack x = pack_const(a + (size_t)r * stride + k);
			sum[r][0] = pack_add(sum[r][0], pack_mul(x, b0));
			sum[r][1] = pack_add(sum[r][1], pack_mul(x, b1));
			sum[r][2] = pack_add(sum[r][2], pack_mul(x, b2));
		}
	}
	for (size_t r = 0; r < 4; r++)
		for (size_t c = 0; c < 3; c++)
			out[r * columns + c] = pack_sum(sum[r][c]);
}

static inline void four_by_one(size_t length, const double *a, size_t stride, const double *b, double *out,
                               size_t columns) {
	pack sum[4];
	for (int r = 0; r < 4; r++)
		sum[r] = pack_zero();
	for (size_t k = 0; k < length; k += PACK) {
		const pack factor = pack_const(b + k);
		for (int r = 0; r < 4; r++)
			sum[r] = pack_add(sum[r], pack_mul(pack_const(a + (size_t)r * stride + k), factor));
	}
	for (size_t r = 0; r < 4; r++)
		out[r * columns] = pack_sum(sum[r]);
}

void LANED(fe_row_products)(size_t length, const double *a, size_t stride, const double *b, size_t b_stride,
                            int columns, double *out) {
	int c = 0;
	for (; c + 3 <= columns; c += 3)
		four_by_three(length, a, stride, b + (size_t)c * b_stride, b_stride, out + c, (size_t)columns);
	for (; c < columns; c++)
		four_by_one(length, a, stride, b + (size_t)c * b_stride, out + c, (size_t)columns);
}
