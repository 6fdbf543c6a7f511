// SPDX-License-Identifier: Apache-2.0
/*
 * interface_kernels.c — the table of the sweeps of branches.
 */
#include "component/interface_kernels.h"

#include "base/cpu.h"

#define DECLARE(isa)                                                                                                   \
	void base_path_outward_x1_##isa(const CalModel *, const SweepInput *, const int32_t *, int, CalWork *);            \
	void interface_inward_x1_##isa(const CalModel *, const uint8_t *, CalWork *, Interface *);                         \
	void interface_join_x1_##isa(const InterfaceColumns *, spatial, const ArticulatedBody *, const InterfaceColumns *, \
	                             InterfaceJoin *, ArticulatedBody *, const InterfaceColumns *);                        \
	spatial interface_split_x1_##isa(const InterfaceColumns *, const InterfaceJoin *, spatial, const double *,         \
	                                 double *);                                                                        \
	void interface_apply_x1_##isa(const CalModel *, const double *, const Interface *, CalWork *)
#define TABLE(suffix)                                                                                             \
	{                                                                                                             \
		base_path_outward_##suffix, interface_inward_##suffix, interface_join_##suffix, interface_split_##suffix, \
			interface_apply_##suffix                                                                              \
	}

DECLARE(avx2);
DECLARE(avx512);

const InterfaceKernels *interface_kernels(CpuIsa isa) {
	static const InterfaceKernels table[CPU_ISA_COUNT] = KERNEL_TABLES(TABLE);
	return &table[isa];
}
