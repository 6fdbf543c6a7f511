// SPDX-License-Identifier: Apache-2.0
/*
 * column_kernels.c — the table of the solves with several right-hand sides.
 */
#include "dynamics/tree/columns.h"

#include "base/cpu.h"

#define DECLARE(isa)                                                                                          \
	void columns_inverse_x1_##isa(const CalModel *, CalWork *, double *);                                     \
	void columns_solve_x1_##isa(const CalModel *, const uint8_t *, CalWork *, int, const double *, double *); \
	void columns_inward_x1_##isa(const CalModel *, const uint8_t *, CalWork *, ColumnHeads *);                \
	void columns_outward_x1_##isa(const CalModel *, const uint8_t *, CalWork *, const int *, int)
#define TABLE(suffix) \
	{ columns_inverse_##suffix, columns_solve_##suffix, columns_inward_##suffix, columns_outward_##suffix }

DECLARE(avx2);
DECLARE(avx512);

const ColumnKernels *column_kernels(CpuIsa isa) {
	static const ColumnKernels table[CPU_ISA_COUNT] = KERNEL_TABLES(TABLE);
	return &table[isa];
}
