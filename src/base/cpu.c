// SPDX-License-Identifier: Apache-2.0
/*
 * cpu.c — asks the processor, through the compiler's run-time library.
 */
#if !defined(_GNU_SOURCE)
#define _GNU_SOURCE // sched_getaffinity
#endif
#ifndef CALDER_WITHOUT_THREADS
#include <sched.h>
#endif

#include "base/cpu.h"

CpuIsa cpu_isa(void) {
#ifdef CALDER_WIDE_KERNELS
	__builtin_cpu_init();
	if (__builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512dq"))
		return CPU_AVX512;
	if (__builtin_cpu_supports("avx2"))
		return CPU_AVX2;
#endif
	return CPU_BASELINE;
}

#ifdef CALDER_WITHOUT_THREADS

int cpu_count(void) { return 1; }

#else

int cpu_count(void) {
	cpu_set_t allowed;
	return sched_getaffinity(0, sizeof allowed, &allowed) == 0 ? CPU_COUNT(&allowed) : 1;
}

#endif
