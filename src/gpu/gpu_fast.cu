// SPDX-License-Identifier: Apache-2.0
/*
 * gpu_fast.cu — kernels that fuse multiplications with additions and undo rotations: other last digits, less time.
 */
#define GPU_EXACT 0
#include "gpu/gpu_kernels.cuh"

cudaError_t gpu_launch_fast(const GpuLaunch &l, cudaStream_t stream) { return launch_any(l, stream); }
