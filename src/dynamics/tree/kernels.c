// SPDX-License-Identifier: Apache-2.0
/*
 * kernels.c — the table of the forward sweeps.
 */
#include "dynamics/tree/kernels.h"

#include "base/cpu.h"

#define DECLARE(isa)                                                                           \
	void motion_outward_x1_##isa(const CalModel *, const double *, const double *, CalWork *); \
	void forward_outward_x1_##isa(const CalModel *, const SweepInput *, CalWork *);            \
	void forward_outward_in_x1_##isa(const CalModel *, dvec3, const SweepInput *, CalWork *);  \
	int forward_inward_x1_##isa(const CalModel *, const SweepInput *, CalWork *);              \
	void forward_accelerate_x1_##isa(const CalModel *, const SweepInput *, CalWork *, double *, double *)
#define TABLE(suffix)                                                                                            \
	{                                                                                                            \
		motion_outward_##suffix, forward_outward_##suffix, forward_outward_in_##suffix, forward_inward_##suffix, \
			forward_accelerate_##suffix                                                                          \
	}

DECLARE(avx2);
DECLARE(avx512);

const ForwardKernels *forward_kernels(CpuIsa isa) {
	static const ForwardKernels table[CPU_ISA_COUNT] = KERNEL_TABLES(TABLE);
	return &table[isa];
}
