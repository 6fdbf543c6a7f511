// SPDX-License-Identifier: Apache-2.0
/*
 * gpu_launch.h — launches of the two sets of kernels, for gpu_device.cu.
 */
#ifndef CALDER_GPU_GPU_LAUNCH_H
#define CALDER_GPU_GPU_LAUNCH_H

#include <cuda_runtime.h>

#include "gpu/gpu_call.h"

#define GPU_BLOCK 128 // threads of a block
#ifndef GPU_BLOCKS
#define GPU_BLOCKS 2 // blocks of a multiprocessor at once: 255 registers for each thread
#endif

/** A call, and what the launch itself needs. */
struct GpuLaunch {
	GpuCall call;
	GpuTables tables; // in memory of the host
	GpuWork work;
	bool plain;
	int blocks;
	size_t near_bytes; // of a block
};

cudaError_t gpu_launch_exact(const GpuLaunch &launch, cudaStream_t stream);
cudaError_t gpu_launch_fast(const GpuLaunch &launch, cudaStream_t stream);

#endif
