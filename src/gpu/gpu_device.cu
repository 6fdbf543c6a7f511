// SPDX-License-Identifier: Apache-2.0
/*
 * gpu_device.cu — a model on a device; see gpu_device.h.
 *
 * All memory is taken when the device is made. States go through it in chunks: rows of the caller become columns, kernels run,
 * columns become rows. The scratch of the kernels depends on how many threads the device holds at once, not on the states.
 */
#include "gpu/gpu_device.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "gpu/gpu_launch.h"
#include "gpu/gpu_plan.h"
#include "gpu/gpu_transfer.cuh"

namespace {

enum { CHUNK_MOST = 1 << 18, LINE = 128 };

/** Columns and rows of a chunk of states, in device memory. */
struct Chunk {
	double *q, *u, *tau, *udot; // [numbers][chunk]
	double *t;                  // [chunk]
	double *rows;               // [chunk][max(nq, nu)]
	uint8_t *failed;            // [chunk]
};

} // namespace

struct GpuDevice {
	GpuPlan plan;
	CalAllocator allocator;
	int index;
	bool exact, columns;
	char name[320], error[512];
	GpuTables tables; // in device memory
	void *memory;     // all of it
	Chunk chunk;
	int64_t chunk_states;
	double *far;
	int64_t far_threads;
	int blocks, near_motions, near_dofs;
	size_t near_bytes;
	uint8_t *host_failed; // [chunk_states]
	double *host_rows;    // [chunk_states][max(nq, nu)]
	cudaEvent_t begin, end;
	double seconds;
};

namespace {

/* Numbers of the widest rows: coordinates, or the time of a state. */
int width_most(const GpuModel &m) { return m.nq > 1 ? m.nq : 1; }

CalStatus report(CalError *error, CalStatus status, const char *text) {
	if (error) {
		error->status = status;
		error->count = 1;
		snprintf(error->text, sizeof error->text, "%s", text);
	}
	return status;
}

/* Notes an error of the driver. */
CalStatus note(GpuDevice *d, cudaError_t status, const char *doing) {
	if (status == cudaSuccess)
		return CAL_OK;
	snprintf(d->error, sizeof d->error, "%s: %s (%s)", doing, cudaGetErrorString(status), cudaGetErrorName(status));
	cudaGetLastError(); // clears it, if it can be cleared
	return status == cudaErrorMemoryAllocation ? CAL_ERR_MEMORY : CAL_ERR_DEVICE;
}

/* ---- memory ---------------------------------------------------------------------------------------- */

/* Takes `bytes` from a block whose start is base (NULL: counts only). */
template <class T> T *take(char *base, size_t *used, int64_t count) {
	*used = (*used + LINE - 1) / LINE * LINE;
	T *at = base ? (T *)(base + *used) : NULL;
	*used += sizeof(T) * (size_t)count;
	return at;
}

/* All that a device keeps for `states` states; returns its size. */
size_t layout(GpuDevice *d, char *base, int64_t states) {
	const GpuModel &m = d->plan.model;
	const int64_t far_numbers = gpu_plan_far(&m, d->near_dofs) + (2 * 4 + 1) * (int64_t)m.nu + m.nq;
	size_t used = 0;
	d->tables.links = take<GpuLink>(base, &used, m.link_count);
	d->tables.dofs = take<GpuDof>(base, &used, m.nu);
	d->tables.segments = take<GpuSegment>(base, &used, m.segment_count);
	d->far = take<double>(base, &used, far_numbers * d->far_threads);
	d->chunk.q = take<double>(base, &used, states * m.nq);
	d->chunk.u = take<double>(base, &used, states * m.nu);
	d->chunk.tau = take<double>(base, &used, states * m.nu);
	d->chunk.udot = take<double>(base, &used, states * m.nu);
	d->chunk.t = take<double>(base, &used, states);
	d->chunk.rows = take<double>(base, &used, states * width_most(m));
	d->chunk.failed = take<uint8_t>(base, &used, states);
	return used;
}

/* The most states that fit, at least one block's. */
CalStatus take_memory(GpuDevice *d, size_t limit, CalError *error) {
	size_t available = 0, total = 0;
	if (note(d, cudaMemGetInfo(&available, &total), "memory of the device") != CAL_OK)
		return report(error, CAL_ERR_DEVICE, d->error);
	const size_t most = limit ? limit : available / 4 * 3, least = layout(d, NULL, GPU_BLOCK);
	int64_t states = CHUNK_MOST;
	while (states > GPU_BLOCK && layout(d, NULL, states) > most)
		states /= 2;
	char text[256];
	snprintf(text, sizeof text, "cal_batch_to_device: the model needs %zu bytes of device memory, %zu are %s", least,
	         most, limit ? "allowed; raise CalBatchDevice.memory" : "free; use a device with more");
	if (layout(d, NULL, states) > most)
		return report(error, CAL_ERR_MEMORY, text);
	if (note(d, cudaMalloc(&d->memory, layout(d, NULL, states)), "memory of the device") != CAL_OK)
		return report(error, CAL_ERR_MEMORY, d->error);
	layout(d, (char *)d->memory, states);
	d->chunk_states = states;
	d->host_failed = (uint8_t *)malloc((size_t)states);
	d->host_rows = (double *)malloc(sizeof(double) * (size_t)states * (size_t)(width_most(d->plan.model) + 1));
	return d->host_failed && d->host_rows ? CAL_OK
	                                      : report(error, CAL_ERR_MEMORY, "cal_batch_to_device: out of memory");
}

/* ---- life ---------------------------------------------------------------------------------------------- */

/* Blocks that run at once, and what each keeps on the chip. */
CalStatus choose_shape(GpuDevice *d, CalError *error) {
	cudaDeviceProp is;
	if (note(d, cudaGetDeviceProperties(&is, d->index), "properties of the device") != CAL_OK)
		return report(error, CAL_ERR_DEVICE, d->error);
	snprintf(d->name, sizeof d->name, "%s, %s", is.name, d->exact ? "exact" : "fast");
	const size_t near_most = is.sharedMemPerMultiprocessor / GPU_BLOCKS - is.reservedSharedMemPerBlock;
	const size_t near_block = near_most < is.sharedMemPerBlockOptin ? near_most : is.sharedMemPerBlockOptin;
	const int numbers = (int)(near_block / (sizeof(double) * GPU_BLOCK));
	d->near_motions = d->exact ? GPU_SEGMENT : 0;
	const int dofs = (numbers - d->near_motions * GPU_MOTION) / GPU_GAIN;
	if (numbers < d->near_motions * GPU_MOTION)
		return report(error, CAL_ERR_UNSUPPORTED, "cal_batch_to_device: the device has too little shared memory");
	d->near_dofs = dofs < d->plan.model.nu ? dofs : d->plan.model.nu;
	d->near_bytes = sizeof(double) * GPU_BLOCK * (size_t)(d->near_motions * GPU_MOTION + d->near_dofs * GPU_GAIN);
	d->blocks = is.multiProcessorCount * GPU_BLOCKS;
	d->far_threads = (int64_t)d->blocks * GPU_BLOCK;
	return CAL_OK;
}

CalStatus upload(GpuDevice *d, CalError *error) {
	const GpuModel &m = d->plan.model;
	cudaError_t s = cudaMemcpy((void *)d->tables.links, d->plan.links, sizeof(GpuLink) * (size_t)m.link_count,
	                           cudaMemcpyHostToDevice);
	if (s == cudaSuccess)
		s = cudaMemcpy((void *)d->tables.dofs, d->plan.dofs, sizeof(GpuDof) * (size_t)m.nu, cudaMemcpyHostToDevice);
	if (s == cudaSuccess)
		s = cudaMemcpy((void *)d->tables.segments, d->plan.segments, sizeof(GpuSegment) * (size_t)m.segment_count,
		               cudaMemcpyHostToDevice);
	if (s == cudaSuccess)
		s = cudaEventCreate(&d->begin);
	if (s == cudaSuccess)
		s = cudaEventCreate(&d->end);
	return note(d, s, "copying the model") == CAL_OK ? CAL_OK : report(error, CAL_ERR_DEVICE, d->error);
}

CalStatus find_device(int index, CalError *error) {
	int count = 0;
	const cudaError_t status = cudaGetDeviceCount(&count);
	char text[256];
	if (status == cudaSuccess && index >= 0 && index < count)
		return CAL_OK;
	if (status != cudaSuccess)
		snprintf(text, sizeof text, "cal_batch_to_device: no CUDA device: %s", cudaGetErrorString(status));
	else
		snprintf(text, sizeof text, "cal_batch_to_device: there is no device %d; this machine has %d", index, count);
	return report(error, CAL_ERR_UNSUPPORTED, text);
}

} // namespace

extern "C" CalStatus gpu_device_create(const CalModel *model, const CalBatchDevice *options,
                                       const CalAllocator *allocator, GpuDevice **device, CalError *error) {
	GpuPlan plan;
	CalStatus status = gpu_plan_create(model, !options->fast, allocator, &plan, error);
	if (status != CAL_OK)
		return status;
	status = find_device(options->index, error);
	GpuDevice *d = status == CAL_OK ? (GpuDevice *)calloc(1, sizeof *d) : NULL;
	if (!d) {
		gpu_plan_destroy(&plan, allocator);
		return status == CAL_OK ? report(error, CAL_ERR_MEMORY, "cal_batch_to_device: out of memory") : status;
	}
	d->plan = plan;
	d->allocator = *allocator;
	d->index = options->index;
	d->exact = !options->fast;
	d->columns = options->columns != 0;
	if (note(d, cudaSetDevice(d->index), "choosing the device") != CAL_OK)
		status = report(error, CAL_ERR_DEVICE, d->error);
	if (status == CAL_OK)
		status = choose_shape(d, error);
	if (status == CAL_OK)
		status = take_memory(d, options->memory, error);
	if (status == CAL_OK)
		status = upload(d, error);
	if (status != CAL_OK) {
		gpu_device_destroy(d);
		return status;
	}
	*device = d;
	return CAL_OK;
}

extern "C" void gpu_device_destroy(GpuDevice *d) {
	if (!d)
		return;
	if (d->begin)
		cudaEventDestroy(d->begin);
	if (d->end)
		cudaEventDestroy(d->end);
	cudaFree(d->memory);
	free(d->host_failed);
	free(d->host_rows);
	const CalAllocator allocator = d->allocator;
	gpu_plan_destroy(&d->plan, &allocator);
	free(d);
}

/* ---- arrays to columns and back ---------------------------------------------------------------------------- */

namespace {

/** States [first, first + count) of a job. */
struct Part {
	const GpuJob *job;
	int64_t first;
	int count;
};

/* Numbers of the states of a part in step `step`, to columns of the device; columns are the caller's where they are already. */
CalStatus take_numbers(GpuDevice *d, const Part &p, const CalBatchArray &array, int width, int64_t step,
                       double *columns) {
	if (width == 0)
		return CAL_OK;
	if (!array.data)
		return note(d,
		            cudaMemset2D(columns, sizeof(double) * (size_t)d->chunk_states, 0, sizeof(double) * (size_t)p.count,
		                         (size_t)width),
		            "zeros");
	const double *from = array.data + step * array.step_stride;
	const size_t line = sizeof(double) * (size_t)d->chunk_states;
	if (p.job->on_device && d->columns)
		return note(d,
		            cudaMemcpy2D(columns, line, from + p.first, sizeof(double) * (size_t)array.stride,
		                         sizeof(double) * (size_t)p.count, (size_t)width, cudaMemcpyDeviceToDevice),
		            "copying columns");
	from += p.first * array.stride;
	int64_t stride = array.stride;
	if (!p.job->on_device) {
		const size_t row = sizeof(double) * (size_t)width;
		const cudaError_t s = stride == 0 ? cudaMemcpy(d->chunk.rows, from, row, cudaMemcpyHostToDevice)
		                                  : cudaMemcpy2D(d->chunk.rows, row, from, sizeof(double) * (size_t)stride, row,
		                                                 (size_t)p.count, cudaMemcpyHostToDevice);
		if (note(d, s, "copying states to the device") != CAL_OK)
			return CAL_ERR_DEVICE;
		from = d->chunk.rows;
		stride = stride == 0 ? 0 : width;
	}
	take_rows<<<tiles(p.count, width), dim3(TILE, TILE_ROWS)>>>(from, stride, p.count, width, columns, d->chunk_states);
	return note(d, cudaGetLastError(), "rows to columns");
}

/* Rows of a host array, those of states that failed left alone. */
void put_host_rows(const GpuDevice *d, const Part &p, int width, double *to) {
	for (int i = 0; i < p.count; ++i) {
		if (!d->host_failed[i])
			memcpy(to + (size_t)(p.first + i) * (size_t)width, d->host_rows + (size_t)i * (size_t)width,
			       sizeof(double) * (size_t)width);
	}
}

/* Columns of the device to row `row` of results. */
CalStatus put_numbers(GpuDevice *d, const Part &p, const double *columns, int width, int64_t row, double *out) {
	double *to = out + (size_t)row * (size_t)p.job->count * (size_t)width;
	if (width == 0)
		return CAL_OK;
	if (p.job->on_device && d->columns) {
		put_columns<<<(p.count + 255) / 256, 256>>>(columns, d->chunk_states, p.count, width, d->chunk.failed,
		                                            to + p.first, p.job->count);
		return note(d, cudaGetLastError(), "results");
	}
	double *rows = p.job->on_device ? to + p.first * width : d->chunk.rows;
	put_rows<<<tiles(p.count, width), dim3(TILE, TILE_ROWS)>>>(columns, d->chunk_states, p.count, width,
	                                                           d->chunk.failed, rows);
	cudaError_t s = cudaGetLastError();
	if (s == cudaSuccess && !p.job->on_device) {
		s = cudaMemcpy(d->host_rows, d->chunk.rows, sizeof(double) * (size_t)p.count * (size_t)width,
		               cudaMemcpyDeviceToHost);
		if (s == cudaSuccess)
			s = cudaMemcpy(d->host_failed, d->chunk.failed, (size_t)p.count, cudaMemcpyDeviceToHost);
		if (s == cudaSuccess)
			put_host_rows(d, p, width, to);
	}
	return note(d, s, "results");
}

/* ---- calls -------------------------------------------------------------------------------------------------- */

GpuLaunch launch_of(const GpuDevice *d, GpuWork work, const Part &p) {
	GpuLaunch l;
	memset(&l, 0, sizeof l);
	GpuCall &c = l.call;
	c.model = d->plan.model;
	c.at = d->tables;
	c.count = p.count;
	c.q = c.q_moving = d->chunk.q;
	c.u = c.u_moving = d->chunk.u;
	c.tau = p.job->tau.data ? d->chunk.tau : NULL;
	c.udot = d->chunk.udot;
	c.q_stride = c.u_stride = c.tau_stride = c.udot_stride = c.moving_stride = d->chunk_states;
	c.t = p.job->t.data ? d->chunk.t : NULL;
	c.failed = d->chunk.failed;
	c.far = d->far;
	c.far_stride = d->far_threads;
	c.stages = gpu_plan_far(&d->plan.model, d->near_dofs);
	c.near_motions = d->near_motions;
	c.near_dofs = d->near_dofs;
	l.tables = gpu_plan_tables(&d->plan);
	l.work = work;
	l.plain = d->plan.plain;
	const int64_t blocks = (p.count + GPU_BLOCK - 1) / GPU_BLOCK;
	l.blocks = (int)(blocks < d->blocks ? blocks : d->blocks);
	l.near_bytes = d->near_bytes;
	return l;
}

/* Runs a kernel and adds up its time. */
CalStatus run_kernel(GpuDevice *d, const GpuLaunch &l) {
	float ms = 0;
	cudaError_t s = cudaEventRecord(d->begin);
	if (s == cudaSuccess)
		s = d->exact ? gpu_launch_exact(l, 0) : gpu_launch_fast(l, 0);
	if (s == cudaSuccess)
		s = cudaEventRecord(d->end);
	if (s == cudaSuccess)
		s = cudaEventSynchronize(d->end);
	if (s == cudaSuccess)
		s = cudaEventElapsedTime(&ms, d->begin, d->end);
	d->seconds += 1e-3 * ms;
	return note(d, s, "running the kernels");
}

CalStatus take_states(GpuDevice *d, const Part &p) {
	CalStatus status = take_numbers(d, p, p.job->q, d->plan.model.nq, 0, d->chunk.q);
	if (status == CAL_OK)
		status = take_numbers(d, p, p.job->u, d->plan.model.nu, 0, d->chunk.u);
	return status;
}

CalStatus take_tau(GpuDevice *d, const Part &p, int64_t step) {
	return p.job->tau.data ? take_numbers(d, p, p.job->tau, d->plan.model.nu, step, d->chunk.tau) : CAL_OK;
}

/* Columns of the caller's are read and written where they are. */
void use_columns(const GpuJob *job, int64_t first, GpuCall *c) {
	c->q = job->q.data + first, c->q_stride = job->q.stride;
	if (job->u.data)
		c->u = job->u.data + first, c->u_stride = job->u.stride;
	if (job->tau.data)
		c->tau = job->tau.data + first, c->tau_stride = job->tau.stride;
	c->udot = job->out[0] + first, c->udot_stride = job->count;
}

CalStatus forward_part(GpuDevice *d, const Part &p) {
	const int nu = d->plan.model.nu;
	GpuLaunch l = launch_of(d, GPU_FORWARD, p);
	CalStatus status;
	if (p.job->on_device && d->columns) {
		status = p.job->u.data ? CAL_OK : take_numbers(d, p, p.job->u, nu, 0, d->chunk.u);
		use_columns(p.job, p.first, &l.call);
		return status == CAL_OK ? run_kernel(d, l) : status;
	}
	status = take_states(d, p);
	if (status == CAL_OK)
		status = take_tau(d, p, 0);
	if (status == CAL_OK)
		status = run_kernel(d, l);
	return status == CAL_OK ? put_numbers(d, p, d->chunk.udot, nu, 0, p.job->out[0]) : status;
}

/* Steps [k, k + steps) with the inputs of step k. */
CalStatus some_steps(GpuDevice *d, const Part &p, GpuLaunch *l, int64_t k, int64_t steps) {
	const CalStatus status = k == 0 || p.job->tau.step_stride != 0 ? take_tau(d, p, k) : CAL_OK;
	l->call.first_step = k;
	l->call.steps = steps;
	return status == CAL_OK ? run_kernel(d, *l) : status;
}

CalStatus rollout_part(GpuDevice *d, const Part &p) {
	const CalBatchRollout *r = p.job->rollout;
	const int64_t every = r->every > 0 ? r->every : r->steps, rows = cal_batch_rollout_rows(r);
	const int64_t at_once = p.job->tau.data && p.job->tau.step_stride != 0 ? 1 : every;
	CalStatus status = take_states(d, p);
	if (status == CAL_OK && p.job->t.data)
		status = take_numbers(d, p, p.job->t, 1, 0, d->chunk.t);
	if (status == CAL_OK)
		status = note(d, cudaMemset(d->chunk.failed, 0, (size_t)p.count), "flags");
	GpuLaunch l = launch_of(d, r->method == CAL_METHOD_RK4 ? GPU_RK4 : GPU_CROMER, p);
	l.call.step = r->step;
	for (int64_t k = 0; k < rows * every && status == CAL_OK; k += at_once) {
		status = some_steps(d, p, &l, k, at_once);
		if (status == CAL_OK && (k + at_once) % every == 0)
			status = put_numbers(d, p, d->chunk.q, d->plan.model.nq, (k + at_once) / every - 1, p.job->out[0]);
		if (status == CAL_OK && (k + at_once) % every == 0)
			status = put_numbers(d, p, d->chunk.u, d->plan.model.nu, (k + at_once) / every - 1, p.job->out[1]);
	}
	return status;
}

} // namespace

extern "C" CalStatus gpu_device_run(GpuDevice *d, const GpuJob *job) {
	d->seconds = 0;
	CalStatus status = note(d, cudaSetDevice(d->index), "choosing the device");
	for (int64_t first = 0; first < job->count && status == CAL_OK; first += d->chunk_states) {
		const int64_t left = job->count - first;
		const Part p = {job, first, (int)(left < d->chunk_states ? left : d->chunk_states)};
		status = job->rollout ? rollout_part(d, p) : forward_part(d, p);
		if (status == CAL_OK)
			status = note(d, cudaMemcpy(job->failed + first, d->chunk.failed, (size_t)p.count, cudaMemcpyDeviceToHost),
			              "flags");
	}
	return status;
}

extern "C" bool gpu_device_has_method(const GpuDevice *d, CalMethod method) {
	return method == CAL_METHOD_EULER_CROMER || (method == CAL_METHOD_RK4 && !d->plan.model.any_quaternion);
}

extern "C" int gpu_device_locate(const GpuDevice *d, const void *const *arrays, int count) {
	int there = 0, all = 0;
	(void)d;
	for (int k = 0; k < count; ++k) {
		cudaPointerAttributes is;
		if (!arrays[k])
			continue;
		const cudaError_t status = cudaPointerGetAttributes(&is, arrays[k]);
		all++;
		there += status == cudaSuccess && (is.type == cudaMemoryTypeDevice || is.type == cudaMemoryTypeManaged);
	}
	cudaGetLastError();
	return there == 0 ? 0 : there == all ? 1 : -1;
}

extern "C" CalStatus gpu_device_read(GpuDevice *d, const double *from, ptrdiff_t stride, int rows, int width,
                                     double *to) {
	cudaError_t s = cudaSuccess;
	for (int i = 0; i < rows && s == cudaSuccess; ++i)
		s = cudaMemcpy(to + (size_t)i * (size_t)width, from + i * stride, sizeof(double) * (size_t)width,
		               cudaMemcpyDeviceToHost);
	return note(d, s, "reading a state");
}

extern "C" CalStatus gpu_device_write(GpuDevice *d, const double *from, int rows, int width, ptrdiff_t stride,
                                      double *to) {
	cudaError_t s = cudaSuccess;
	for (int i = 0; i < rows && s == cudaSuccess; ++i)
		s = cudaMemcpy(to + i * stride, from + (size_t)i * (size_t)width, sizeof(double) * (size_t)width,
		               cudaMemcpyHostToDevice);
	return note(d, s, "writing a state");
}

extern "C" bool gpu_device_columns(const GpuDevice *d) { return d->columns; }
extern "C" const char *gpu_device_error(const GpuDevice *d) { return d->error; }
extern "C" const char *gpu_device_name(const GpuDevice *d) { return d->name; }
extern "C" double gpu_device_seconds(const GpuDevice *d) { return d->seconds; }
