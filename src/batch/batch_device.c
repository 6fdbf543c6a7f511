// SPDX-License-Identifier: Apache-2.0
/*
 * batch_device.c — calls of a batch that a device evaluates (src/gpu). States that fail there, and what the device does not
 * have, are evaluated by the processor.
 */
#include <math.h>

#include "base/error.h"
#include "base/memory.h"
#include "batch/batch_device.h"

CalStatus cal_batch_to_device(CalBatch *batch, const CalBatchDevice *options, CalError *error) {
	const CalBatchDevice used = options ? *options : (CalBatchDevice){0};
	GpuDevice *device = NULL;
	if (!batch)
		return error_null(error, "cal_batch_to_device", "batch");
	const CalStatus status = gpu_device_create(batch->model, &used, &batch->allocator, &device, error);
	if (status != CAL_OK)
		return status;
	gpu_device_destroy(batch->device);
	batch->device = device;
	return CAL_OK;
}

const char *cal_batch_device(const CalBatch *batch) {
	return batch && batch->device ? gpu_device_name(batch->device) : "";
}

const char *cal_batch_device_error(const CalBatch *batch) {
	return batch && batch->device ? gpu_device_error(batch->device) : "";
}

double cal_batch_device_seconds(const CalBatch *batch) {
	return batch && batch->device && batch->device_ran ? gpu_device_seconds(batch->device) : 0;
}

/* ---- what runs where --------------------------------------------------------------------------------- */

/* The kernels take rows that begin in the order of states. */
static bool is_in_order(const CalBatchArray *array, int width) {
	return !array->data || array->stride == 0 || array->stride >= width;
}

static bool is_for_device(const BatchCall *call) {
	const CalBatch *b = call->batch;
	const CalBatchInput *in = &call->input;
	return call->on_device && !in->prescribed && !(in->wrench_count > 0 && in->wrench.data) &&
	       (!call->rollout || gpu_device_has_method(b->device, call->rollout->method)) &&
	       is_in_order(&call->states.q, b->nq) && is_in_order(&call->states.u, b->nu) && is_in_order(&in->tau, b->nu) &&
	       is_in_order(&call->states.t, 1);
}

/* All arrays of a call: 1 in device memory, 0 not, -1 some of them. */
static int locate_arrays(const BatchCall *call) {
	const void *arrays[] = {call->states.t.data,  call->states.q.data,   call->states.u.data,
	                        call->input.tau.data, call->out[0].data,     call->out[1].data,
	                        call->udot.data,      call->input.udot.data, call->input.wrench.data};
	return gpu_device_locate(call->batch->device, arrays, (int)(sizeof arrays / sizeof *arrays));
}

/* ---- states that fail, with arrays in device memory --------------------------------------------------- */

/* Where the numbers of state i are, and how far apart: rows, or columns of `count` states. */
typedef struct Place {
	ptrdiff_t first, next; // first number, from one to the next
} Place;

static Place place_of(const BatchCall *call, ptrdiff_t stride, int i) {
	return gpu_device_columns(call->batch->device) ? (Place){i, stride} : (Place){i * stride, 1};
}

/* The numbers of state i in memory of the host; *at moves on. NULL data stays NULL. */
static CalStatus read_numbers(const BatchCall *call, const CalBatchArray *array, int i, int width, int64_t steps,
                              double **at, CalBatchArray *to) {
	CalStatus status = CAL_OK;
	*to = (CalBatchArray){.data = array->data ? *at : NULL, .stride = 0, .step_stride = steps > 1 ? width : 0};
	const Place p = place_of(call, array->stride, i);
	for (int64_t k = 0; array->data && k < steps && status == CAL_OK; ++k, *at += width)
		status =
			gpu_device_read(call->batch->device, array->data + p.first + k * array->step_stride, p.next, width, 1, *at);
	return status;
}

/* Results of the one state of `one` to where those of state i are. */
static CalStatus write_numbers(const BatchCall *call, const BatchCall *one, int output, int i) {
	const int width = (int)call->out[output].width, count = call->states.count;
	const int64_t rows = call->rollout ? cal_batch_rollout_rows(call->rollout) : 1;
	const bool columns = gpu_device_columns(call->batch->device);
	CalStatus status = CAL_OK;
	for (int64_t r = 0; call->out[output].data && r < rows && status == CAL_OK; ++r) {
		double *to = call->out[output].data + (ptrdiff_t)r * count * width + (columns ? i : (ptrdiff_t)i * width);
		status = gpu_device_write(call->batch->device, one->out[output].data + (ptrdiff_t)r * width, width, 1,
		                          columns ? count : 1, to);
	}
	return status;
}

/* A state whose arrays are in device memory, by the processor. */
static CalStatus evaluate_from_device(const BatchCall *call, BatchWorker *worker, int i, CalStatus *of_state) {
	const CalBatch *b = call->batch;
	const int64_t steps = call->rollout && call->input.tau.step_stride != 0 ? call->rollout->steps : 1;
	const int64_t rows = call->rollout ? cal_batch_rollout_rows(call->rollout) : 1;
	const size_t numbers = (size_t)(b->nq + b->nu + 1 + b->nu * steps + rows * (b->nq + b->nu));
	double *memory = memory_alloc(&b->allocator, sizeof(double) * numbers), *at = memory;
	if (!memory)
		return CAL_ERR_MEMORY;
	BatchCall one = *call;
	one.states.count = 1;
	CalStatus status = read_numbers(call, &call->states.q, i, b->nq, 1, &at, &one.states.q);
	if (status == CAL_OK)
		status = read_numbers(call, &call->states.u, i, b->nu, 1, &at, &one.states.u);
	if (status == CAL_OK)
		status = read_numbers(call, &call->states.t, i, 1, 1, &at, &one.states.t);
	if (status == CAL_OK)
		status = read_numbers(call, &call->input.tau, i, b->nu, steps, &at, &one.input.tau);
	one.out[0].data = at;
	one.out[1].data = at + rows * (ptrdiff_t)call->out[0].width;
	if (status == CAL_OK) {
		*of_state = call->evaluate(&one, worker, 0);
		for (int k = 0; k < 2 && !call->rollout && *of_state != CAL_OK; ++k)
			batch_set_nan(call->out[k].data ? one.out[k].data : NULL, call->out[k].width);
		status = write_numbers(call, &one, 0, i);
	}
	if (status == CAL_OK)
		status = write_numbers(call, &one, 1, i);
	memory_free(&b->allocator, memory);
	return status;
}

/* ---- calls --------------------------------------------------------------------------------------------- */

/* The states that the device left; the status of the first that failed here too. */
static CalStatus evaluate_rest(const BatchCall *call, const uint8_t *failed, bool on_device) {
	CalBatch *b = call->batch;
	BatchWorker *worker = &b->workers[0];
	CalStatus first = CAL_OK;
	worker->integrator = NULL;
	b->alone = 0;
	for (int i = 0; i < call->states.count; ++i) {
		CalStatus status = CAL_OK;
		if (failed[i] && on_device) {
			const CalStatus transfer = evaluate_from_device(call, worker, i, &status);
			if (transfer != CAL_OK)
				return transfer;
		} else if (failed[i]) {
			status = call->evaluate(call, worker, i);
			for (int k = 0; k < 2 && !call->rollout && status != CAL_OK; ++k)
				batch_set_nan(batch_result(call, k, i), call->out[k].width);
		}
		b->alone += failed[i] != 0;
		if (call->status)
			call->status[i] = status;
		first = first == CAL_OK ? status : first;
	}
	return first;
}

static CalStatus run_on_device(const BatchCall *call, bool on_device) {
	CalBatch *b = call->batch;
	uint8_t *failed = memory_alloc(&b->allocator, (size_t)call->states.count + 1);
	if (!failed)
		return CAL_ERR_MEMORY;
	const GpuJob job = {.count = call->states.count,
	                    .t = call->states.t,
	                    .q = call->states.q,
	                    .u = call->states.u,
	                    .tau = call->input.tau,
	                    .rollout = call->rollout,
	                    .out = {call->out[0].data, call->out[1].data},
	                    .on_device = on_device,
	                    .failed = failed};
	CalStatus status = gpu_device_run(b->device, &job);
	b->device_ran = true;
	if (status == CAL_OK)
		status = evaluate_rest(call, failed, on_device);
	memory_free(&b->allocator, failed);
	return status;
}

bool batch_run_device(const BatchCall *call, CalStatus *status) {
	CalBatch *b = call->batch;
	b->device_ran = false;
	if (!b->device)
		return false;
	const int there = locate_arrays(call);
	const bool device = is_for_device(call);
	if (there < 0 || (there > 0 && !device)) {
		*status = there < 0 ? CAL_ERR_ARGUMENT : CAL_ERR_UNSUPPORTED;
		return true;
	}
	if (device && call->states.count > 0)
		*status = run_on_device(call, there > 0);
	return device && call->states.count > 0;
}
