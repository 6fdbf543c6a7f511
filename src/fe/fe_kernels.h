// SPDX-License-Identifier: Apache-2.0
/*
 * fe_kernels.h — products of rows, in which the factorization of a finite element model spends its time. One version per
 * width of registers (base/cpu.h), all with the same bits.
 */
#ifndef CALDER_FE_FE_KERNELS_H
#define CALDER_FE_FE_KERNELS_H

#include <stddef.h>

enum { FE_TILE = 4 }; // rows of a on the one side

typedef struct FeKernels {
	/**
	 * out[4][columns]: the products of the rows a, a + stride, a + 2 stride, a + 3 stride with `columns` rows b of the
	 * stride b_stride; length is a multiple of four.
	 */
	void (*row_products)(size_t length, const double *a, size_t stride, const double *b, size_t b_stride, int columns,
	                     double *out);
} FeKernels;

const FeKernels *fe_kernels(void); // for this processor

#endif
