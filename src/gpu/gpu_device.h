// SPDX-License-Identifier: Apache-2.0
/*
 * gpu_device.h — a model on a device: its tables, memory for states, and calls over arrays of the host or of the device.
 *
 * gpu_device.cu has it where the library is built with CUDA, gpu_none.c says how to build it otherwise. Functions return a
 * status and fill error (may be NULL).
 */
#ifndef CALDER_GPU_GPU_DEVICE_H
#define CALDER_GPU_GPU_DEVICE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <calder/batch.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct GpuDevice GpuDevice;

/** What a call computes. */
typedef struct GpuJob {
	int count; // states
	CalBatchArray t, q, u, tau;
	const CalBatchRollout *rollout; // NULL: forward dynamics
	double *out[2];                 // udot; q and u of a roll-out, [rows][count][width]
	bool on_device;                 // all arrays are in device memory
	uint8_t *failed; // [count] of the host: nonzero where the processor has to evaluate; these rows are not written
} GpuJob;

CalStatus gpu_device_create(const CalModel *model, const CalBatchDevice *options, const CalAllocator *allocator,
                            GpuDevice **device, CalError *error);
void gpu_device_destroy(GpuDevice *device); // accepts NULL

/** Whether a roll-out by this method runs on the device. */
bool gpu_device_has_method(const GpuDevice *device, CalMethod method);
/** Arrays (NULLs do not count) that are in device memory: 1 all, 0 none, -1 some. */
int gpu_device_locate(const GpuDevice *device, const void *const *arrays, int count);
/** Evaluates the states of a job. */
CalStatus gpu_device_run(GpuDevice *device, const GpuJob *job);
/** Numbers to and from device memory, for states that the processor evaluates: count rows, strides in numbers. */
CalStatus gpu_device_read(GpuDevice *device, const double *from, ptrdiff_t stride, int rows, int width, double *to);
CalStatus gpu_device_write(GpuDevice *device, const double *from, int rows, int width, ptrdiff_t stride, double *to);
/** Whether arrays in device memory have the states of each number side by side. */
bool gpu_device_columns(const GpuDevice *device);
/** What went wrong last, and what the device is: "NVIDIA H200, fast". */
const char *gpu_device_error(const GpuDevice *device);
const char *gpu_device_name(const GpuDevice *device);
/** Seconds that the kernels of the last call took. */
double gpu_device_seconds(const GpuDevice *device);

#ifdef __cplusplus
}
#endif
#endif
