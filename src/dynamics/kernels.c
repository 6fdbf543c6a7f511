// SPDX-License-Identifier: Apache-2.0
/*
 * kernels.c — the table of the forward sweeps.
 */
#include "dynamics/kernels.h"

#define DECLARE(isa)                                                                \
	void forward_outward_x1_##isa(const CalModel *, const SweepInput *, CalWork *); \
	int forward_inward_x1_##isa(const CalModel *, const SweepInput *, CalWork *);   \
	void forward_accelerate_x1_##isa(const CalModel *, const SweepInput *, CalWork *, double *, double *)

#ifdef CALDER_WIDE_KERNELS
DECLARE(avx2);
DECLARE(avx512);
#define WIDE(isa) \
	{ forward_outward_x1_##isa, forward_inward_x1_##isa, forward_accelerate_x1_##isa }
#else
#define WIDE(isa) \
	{ forward_outward_x1, forward_inward_x1, forward_accelerate_x1 }
#endif

const ForwardKernels *forward_kernels(CpuIsa isa) {
	static const ForwardKernels table[CPU_ISA_COUNT] = {
		[CPU_BASELINE] = {forward_outward_x1, forward_inward_x1, forward_accelerate_x1},
		[CPU_AVX2] = WIDE(avx2),
		[CPU_AVX512] = WIDE(avx512),
	};
	return &table[isa];
}
