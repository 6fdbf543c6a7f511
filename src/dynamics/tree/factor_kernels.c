// SPDX-License-Identifier: Apache-2.0
/*
 * factor_kernels.c — the table of the factorization of the mass matrix and of the solves with it.
 */
#include "dynamics/tree/columns.h"

#include "base/cpu.h"
#include "dynamics/tree/articulated.h"

#define DECLARE(isa)                                                                                          \
	void pose_path_x1_##isa(const CalModel *, const double *, CalWork *, int);                                \
	void pose_outward_x1_##isa(const CalModel *, const double *, const uint8_t *, CalWork *);                 \
	int factor_inward_x1_##isa(const CalModel *, const uint8_t *, const double *, CalWork *);                 \
	void columns_inverse_x1_##isa(const CalModel *, CalWork *, double *);                                     \
	void columns_solve_x1_##isa(const CalModel *, const uint8_t *, CalWork *, int, const double *, double *); \
	void columns_read_x1_##isa(const CalModel *, const uint8_t *, CalWork *, const int *, int);               \
	void columns_inward_x1_##isa(const CalModel *, const uint8_t *, CalWork *, ColumnHeads *);                \
	void columns_outward_x1_##isa(const CalModel *, const uint8_t *, CalWork *, const int *, int)
#define TABLE(suffix)                                                                                        \
	{                                                                                                        \
		pose_path_##suffix, pose_outward_##suffix, factor_inward_##suffix, columns_inverse_##suffix,         \
			columns_solve_##suffix, columns_read_##suffix, columns_inward_##suffix, columns_outward_##suffix \
	}

DECLARE(avx2);
DECLARE(avx512);

const FactorKernels *factor_kernels(CpuIsa isa) {
	static const FactorKernels table[CPU_ISA_COUNT] = KERNEL_TABLES(TABLE);
	return &table[isa];
}
