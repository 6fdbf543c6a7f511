// SPDX-License-Identifier: Apache-2.0
/*
 * lane_kernels.c — the table of lanes by processor.
 */
#include "batch/lanes.h"

#ifdef CALDER_ONE_FILE
const LaneKernels *lane_kernels(CpuIsa isa) {
	(void)isa;
	return NULL;
}
#else
#define DECLARE(suffix)                                                                                                \
	size_t lane_size_##suffix(const CalModel *);                                                                       \
	CalStatus lane_init_##suffix(const CalModel *, void *, size_t, LaneSpace **);                                      \
	bool lane_forward_##suffix(const CalModel *, const LaneStates *, const LaneInput *, LaneSpace *, const LaneRows *, \
	                           const LaneRows *);                                                                      \
	void lane_inverse_##suffix(const CalModel *, CalVec3, const LaneStates *, const double *const *, LaneSpace *,      \
	                           const LaneRows *);
#define TABLE(count, suffix) \
	{ count, lane_size_##suffix, lane_init_##suffix, lane_forward_##suffix, lane_inverse_##suffix }

DECLARE(x2)
#ifdef CALDER_WIDE_KERNELS
DECLARE(x4_avx2)
DECLARE(x8_avx512)
#endif

const LaneKernels *lane_kernels(CpuIsa isa) {
	static const LaneKernels table[CPU_ISA_COUNT] = {
		[CPU_BASELINE] = TABLE(2, x2),
#ifdef CALDER_WIDE_KERNELS
		[CPU_AVX2] = TABLE(4, x4_avx2),
		[CPU_AVX512] = TABLE(8, x8_avx512),
#else
		[CPU_AVX2] = TABLE(2, x2),
		[CPU_AVX512] = TABLE(2, x2),
#endif
	};
	return &table[isa];
}
#endif
