// SPDX-License-Identifier: Apache-2.0
/*
 * loop_kernels.c — the table of the sweeps with loops.
 */
#include "dynamics/loop/loop_sweep.h"

#define DECLARE(isa)                                                                          \
	int loop_inward_x1_##isa(const CalModel *, const SweepInput *, CalWork *);                \
	void loop_close_x1_##isa(const CalModel *, const Link *, CalWork *, ArticulatedBody *);   \
	void loop_pass_x1_##isa(const CalModel *, const Link *, int, const uint8_t *, CalWork *); \
	void loop_apply_x1_##isa(const CalModel *, const Link *, CalWork *);                      \
	void loop_release_x1_##isa(const CalModel *, const Link *, CalWork *, const spatial *)
#define HOOKS(suffix, within) \
	{ within, loop_close_##suffix, loop_pass_##suffix, loop_apply_##suffix, loop_release_##suffix }
#define TABLE(suffix) \
	{ loop_inward_##suffix, HOOKS(suffix, 0), HOOKS(suffix, 1) }

#ifdef CALDER_WIDE_KERNELS
DECLARE(avx2);
DECLARE(avx512);
#define WIDE(isa) TABLE(x1_##isa)
#else
#define WIDE(isa) TABLE(x1)
#endif

const LoopKernels *loop_kernels(CpuIsa isa) {
	static const LoopKernels table[CPU_ISA_COUNT] = {
		[CPU_BASELINE] = TABLE(x1),
		[CPU_AVX2] = WIDE(avx2),
		[CPU_AVX512] = WIDE(avx512),
	};
	return &table[isa];
}
