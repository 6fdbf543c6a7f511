// SPDX-License-Identifier: Apache-2.0
/*
 * kernels.c — the tables of the sweeps.
 */
#include "dynamics/tree/kernels.h"

#include "base/cpu.h"

#define DECLARE(isa)                                                                                  \
	void motion_outward_x1_##isa(const CalModel *, dvec3, const double *, const double *, CalWork *); \
	void forward_outward_rest_x1_##isa(const CalModel *, const SweepInput *, CalWork *);              \
	void forward_outward_x1_##isa(const CalModel *, const SweepInput *, CalWork *);                   \
	void forward_outward_in_x1_##isa(const CalModel *, dvec3, const SweepInput *, CalWork *);         \
	int forward_inward_x1_##isa(const CalModel *, const SweepInput *, CalWork *);                     \
	void forward_accelerate_x1_##isa(const CalModel *, const SweepInput *, CalWork *, double *, double *)
#define TABLE(suffix)                                                                                                  \
	{                                                                                                                  \
		motion_outward_##suffix, forward_outward_##suffix, forward_outward_rest_##suffix, forward_outward_in_##suffix, \
			forward_inward_##suffix, forward_accelerate_##suffix                                                       \
	}

#define DECLARE_INERTIA(isa)                                                                                           \
	void inverse_outward_x1_##isa(const CalModel *, dvec3, const double *, const double *, const double *, CalWork *); \
	void inverse_inward_x1_##isa(const CalModel *, CalWork *, double *);                                               \
	void composite_outward_x1_##isa(const CalModel *, const double *, CalWork *);                                      \
	void composite_inward_x1_##isa(const CalModel *, CalWork *);                                                       \
	void composite_matrix_x1_##isa(const CalModel *, MassForm, CalWork *, double *)
#define INERTIA_TABLE(suffix)                                                                                     \
	{                                                                                                             \
		inverse_outward_##suffix, inverse_inward_##suffix, composite_outward_##suffix, composite_inward_##suffix, \
			composite_matrix_##suffix                                                                             \
	}

DECLARE(avx2);
DECLARE(avx512);
DECLARE_INERTIA(avx2);
DECLARE_INERTIA(avx512);

const ForwardKernels *forward_kernels(CpuIsa isa) {
	static const ForwardKernels table[CPU_ISA_COUNT] = KERNEL_TABLES(TABLE);
	return &table[isa];
}

const InertiaKernels *inertia_kernels(CpuIsa isa) {
	static const InertiaKernels table[CPU_ISA_COUNT] = KERNEL_TABLES(INERTIA_TABLE);
	return &table[isa];
}
