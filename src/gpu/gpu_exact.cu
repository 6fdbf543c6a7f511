// SPDX-License-Identifier: Apache-2.0
/*
 * gpu_exact.cu — kernels with the bits of a processor: compiled without fused multiply-adds (cmake/CalderCuda.cmake).
 */
#define GPU_EXACT 1
#include "gpu/gpu_kernels.cuh"

cudaError_t gpu_launch_exact(const GpuLaunch &l, cudaStream_t stream) { return launch_any(l, stream); }
