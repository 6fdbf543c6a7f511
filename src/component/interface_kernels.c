// SPDX-License-Identifier: Apache-2.0
/*
 * interface_kernels.c — the table of the sweeps of branches.
 */
#include "component/interface_kernels.h"

#define DECLARE(isa)                                                                                             \
	void border_spine_x1_##isa(const CalModel *, const SweepInput *, const int32_t *, int, CalWork *);           \
	void border_inward_x1_##isa(const CalModel *, const uint8_t *, CalWork *, Border *);                         \
	void border_join_x1_##isa(const BorderColumns *, spatial, const Slot *, const BorderColumns *, BorderJoin *, \
	                          Slot *, const BorderColumns *);                                                    \
	spatial border_part_x1_##isa(const BorderColumns *, const BorderJoin *, spatial, const double *, double *);  \
	void border_push_x1_##isa(const CalModel *, const double *, const Border *, CalWork *)
#define TABLE(suffix) \
	{ border_spine_##suffix, border_inward_##suffix, border_join_##suffix, border_part_##suffix, border_push_##suffix }

#ifdef CALDER_WIDE_KERNELS
DECLARE(avx2);
DECLARE(avx512);
#define WIDE(isa) TABLE(x1_##isa)
#else
#define WIDE(isa) TABLE(x1)
#endif

const InterfaceKernels *interface_kernels(CpuIsa isa) {
	static const InterfaceKernels table[CPU_ISA_COUNT] = {
		[CPU_BASELINE] = TABLE(x1),
		[CPU_AVX2] = WIDE(avx2),
		[CPU_AVX512] = WIDE(avx512),
	};
	return &table[isa];
}
