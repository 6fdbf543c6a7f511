// SPDX-License-Identifier: Apache-2.0
/*
 * loop_kernels.c — the table of the sweeps with loops.
 */
#include "dynamics/loop/loop_sweep.h"

#include "base/cpu.h"

#define DECLARE(isa)                                                                          \
	int loop_inward_x1_##isa(const CalModel *, const SweepInput *, CalWork *);                \
	void loop_compliances_x1_##isa(const CalModel *, double, CalWork *, LoopMobility *);      \
	void loop_close_x1_##isa(const CalModel *, const Link *, CalWork *, ArticulatedBody *);   \
	void loop_pass_x1_##isa(const CalModel *, const Link *, int, const uint8_t *, CalWork *); \
	void loop_apply_x1_##isa(const CalModel *, const Link *, CalWork *);                      \
	void loop_release_x1_##isa(const CalModel *, const Link *, CalWork *, const spatial *)
#define HOOKS(suffix, within) \
	{ within, loop_close_##suffix, loop_pass_##suffix, loop_apply_##suffix, loop_release_##suffix }
#define TABLE(suffix) \
	{ loop_inward_##suffix, loop_compliances_##suffix, HOOKS(suffix, 0), HOOKS(suffix, 1) }

DECLARE(avx2);
DECLARE(avx512);

const LoopKernels *loop_kernels(CpuIsa isa) {
	static const LoopKernels table[CPU_ISA_COUNT] = KERNEL_TABLES(TABLE);
	return &table[isa];
}
