// SPDX-License-Identifier: Apache-2.0
/*
 * gpu_none.c — a library that is built without CUDA has no device.
 */
#include "base/error.h"
#include "gpu/gpu_device.h"

#ifndef CALDER_WITH_CUDA

CalStatus gpu_device_create(const CalModel *model, const CalBatchDevice *options, const CalAllocator *allocator,
                            GpuDevice **device, CalError *error) {
	(void)model, (void)options, (void)allocator, (void)device;
	return error_set(error, CAL_ERR_UNSUPPORTED,
	                 "cal_batch_to_device: built without CUDA; configure with -DCALDER_WITH_CUDA=ON");
}

void gpu_device_destroy(GpuDevice *device) { (void)device; }
bool gpu_device_has_method(const GpuDevice *device, CalMethod method) { return (void)device, (void)method, false; }
int gpu_device_locate(const GpuDevice *device, const void *const *arrays, int count) {
	return (void)device, (void)arrays, (void)count, 0;
}
CalStatus gpu_device_run(GpuDevice *device, const GpuJob *job) { return (void)device, (void)job, CAL_ERR_UNSUPPORTED; }
CalStatus gpu_device_read(GpuDevice *device, const double *from, ptrdiff_t stride, int rows, int width, double *to) {
	return (void)device, (void)from, (void)stride, (void)rows, (void)width, (void)to, CAL_ERR_UNSUPPORTED;
}
CalStatus gpu_device_write(GpuDevice *device, const double *from, int rows, int width, ptrdiff_t stride, double *to) {
	return (void)device, (void)from, (void)stride, (void)rows, (void)width, (void)to, CAL_ERR_UNSUPPORTED;
}
bool gpu_device_columns(const GpuDevice *device) { return (void)device, false; }
const char *gpu_device_error(const GpuDevice *device) { return (void)device, ""; }
const char *gpu_device_name(const GpuDevice *device) { return (void)device, ""; }
double gpu_device_seconds(const GpuDevice *device) { return (void)device, 0; }

#endif
