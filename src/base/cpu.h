// SPDX-License-Identifier: Apache-2.0
/*
 * cpu.h — what the processor offers beyond the baseline that the library is compiled for.
 */
#ifndef CALDER_BASE_CPU_H
#define CALDER_BASE_CPU_H

/* Instruction sets that kernels are compiled for (cmake/CalderKernels.cmake), from narrow to wide registers. */
typedef enum CpuIsa {
	CPU_BASELINE,
	CPU_AVX2,
	CPU_AVX512,
	CPU_ISA_COUNT,
} CpuIsa;

/* The widest that this processor has and the library was built for. */
CpuIsa cpu_isa(void);

/* Processors that this process may use. */
int cpu_count(void);

/*
 * A table of kernels by processor. TABLE(suffix) lists the functions of that suffix: x1 for any processor, x1_avx2 and
 * x1_avx512 where the build has them; without, every processor gets the first.
 */
#ifdef CALDER_WIDE_KERNELS
#define KERNEL_TABLES(TABLE) \
	{ [CPU_BASELINE] = TABLE(x1), [CPU_AVX2] = TABLE(x1_avx2), [CPU_AVX512] = TABLE(x1_avx512) }
#else
#define KERNEL_TABLES(TABLE) \
	{ [CPU_BASELINE] = TABLE(x1), [CPU_AVX2] = TABLE(x1), [CPU_AVX512] = TABLE(x1) }
#endif

#endif
