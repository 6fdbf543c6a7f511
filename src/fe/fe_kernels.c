// SPDX-License-Identifier: Apache-2.0
/*
 * fe_kernels.c — the table of the products of rows.
 */
#include "fe/fe_kernels.h"

#include "base/cpu.h"

#define DECLARE(suffix) \
	void fe_row_products_##suffix(size_t, const double *, size_t, const double *, size_t, int, double *)
#define TABLE(suffix) \
	{ fe_row_products_##suffix }

DECLARE(x1);
DECLARE(x1_avx2);
DECLARE(x1_avx512);

const FeKernels *fe_kernels(void) {
	static const FeKernels table[CPU_ISA_COUNT] = KERNEL_TABLES(TABLE);
	return &table[cpu_isa()];
}
