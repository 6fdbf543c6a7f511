// SPDX-License-Identifier: Apache-2.0
/*
 * derivative_kernels.c — the table of the kernels of derivatives.
 */
#include "derivative/derivative_kernels.h"

#include "base/cpu.h"

#define DECLARE(suffix)                                                  \
	void derivative_own_##suffix(const CalModel *, CalDerivatives *);    \
	void derivative_inward_##suffix(const CalModel *, CalDerivatives *); \
	void derivative_clear_##suffix(CalDerivatives *);                    \
	void derivative_assemble_##suffix(CalDerivatives *);                 \
	int derivative_not_finite_##suffix(const CalDerivatives *);          \
	int derivative_factor_##suffix(CalDerivatives *, const uint8_t *);   \
	void derivative_solve_##suffix(CalDerivatives *);                    \
	void derivative_invert_##suffix(CalDerivatives *)
#define TABLE(suffix)                                                                                                 \
	{                                                                                                                 \
		derivative_clear_##suffix, derivative_own_##suffix, derivative_inward_##suffix, derivative_assemble_##suffix, \
			derivative_not_finite_##suffix, derivative_factor_##suffix, derivative_solve_##suffix,                    \
			derivative_invert_##suffix                                                                                \
	}

DECLARE(x1);
DECLARE(x1_avx2);
DECLARE(x1_avx512);

const DerivativeKernels *derivative_kernels(CpuIsa isa) {
	static const DerivativeKernels table[CPU_ISA_COUNT] = KERNEL_TABLES(TABLE);
	return &table[isa];
}
