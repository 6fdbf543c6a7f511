// SPDX-License-Identifier: Apache-2.0
/*
 * tie_kernels.c — the table of the functions of tie_algebra.c.
 */
#include "sim/subsystem/tie_kernels.h"

#define DECLARE(isa)                                \
	void tie_fill_x1_##isa(struct TieLevel *);      \
	bool tie_eliminate_x1_##isa(struct TieLevel *); \
	void tie_resolve_x1_##isa(struct TieLevel *)
#define TABLE(suffix) \
	{ tie_fill_##suffix, tie_eliminate_##suffix, tie_resolve_##suffix }

DECLARE(avx2);
DECLARE(avx512);

const TieKernels *tie_kernels(CpuIsa isa) {
	static const TieKernels table[CPU_ISA_COUNT] = KERNEL_TABLES(TABLE);
	return &table[isa];
}
