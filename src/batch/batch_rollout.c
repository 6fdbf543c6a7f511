// SPDX-License-Identifier: Apache-2.0
/*
 * batch_rollout.c — steps of many states: each worker takes one of its states after another through all steps.
 *
 * A worker has one integrator for a call. Methods with a fixed step keep nothing from step to step but their number, on which
 * the projection of loops depends; it starts at zero for every state, so that nothing of one state reaches the next. Such methods
 * have no memory of their own either, so that there is nothing to release.
 */
#include <math.h>
#include <string.h>

#include "batch/batch.h"
#include "integrate/scheme.h"

static int give_input(void *user, const CalModel *model, const CalState *state, CalInput *input) {
	(void)model, (void)state;
	*input = *(const CalInput *)user;
	return 0;
}

/* Row `row` of state i among the results of the roll-out. */
static double *result_row(const BatchCall *call, int output, int i, int64_t row) {
	return call->out[output].data + ((size_t)row * (size_t)call->states.count + (size_t)i) * call->out[output].width;
}

static void write_row(const BatchCall *call, int i, int64_t row, const CalState *state) {
	memcpy(result_row(call, 0, i, row), state->q, call->out[0].width * sizeof(double));
	memcpy(result_row(call, 1, i, row), state->u, call->out[1].width * sizeof(double));
}

static void erase_rows(const BatchCall *call, int i, int64_t row) {
	for (const int64_t rows = cal_batch_rollout_rows(call->rollout); row < rows; ++row) {
		for (int output = 0; output < 2; ++output)
			batch_set_nan(result_row(call, output, i, row), call->out[output].width);
	}
}

/* The worker's integrator, as it is before its first step: made for its first state of the call. */
static CalStatus start_integrator(const BatchCall *call, BatchWorker *worker) {
	const CalBatchRollout *r = call->rollout;
	if (worker->integrator) {
		worker->integrator->stats = (CalIntegratorStats){0};
		return CAL_OK;
	}
	const CalIntegratorOptions options = {.method = r->method,
	                                      .step = fabs(r->step),
	                                      .projection = r->projection,
	                                      .euclidean = r->euclidean,
	                                      .input = give_input,
	                                      .user = &worker->input};
	return cal_integrator_init(call->batch->model, worker->work, &options, worker->integrator_memory,
	                           call->batch->integrator_size, &worker->integrator);
}

/* The steps of state i from worker->state; *row: rows that were written. */
static CalStatus step_state(const BatchCall *call, BatchWorker *worker, int i, int64_t *row) {
	const CalBatchRollout *r = call->rollout;
	const int64_t every = r->every > 0 ? r->every : r->steps;
	const double t0 = worker->state.t;
	for (int64_t k = 0; k < r->steps; ++k) {
		worker->input = batch_input(call, worker, i, k);
		const CalStatus status = integrator_step_to(worker->integrator, &worker->state, t0 + (double)(k + 1) * r->step);
		if (status != CAL_OK)
			return status;
		if ((k + 1) % every == 0)
			write_row(call, i, (*row)++, &worker->state);
	}
	return CAL_OK;
}

static CalStatus roll_state(const BatchCall *call, BatchWorker *worker, int i) {
	const CalState start = batch_state(call, i);
	int64_t row = 0;
	cal_state_copy(call->batch->model, &start, &worker->state);
	CalStatus status = isfinite(start.t) ? start_integrator(call, worker) : CAL_NOT_FINITE;
	if (status == CAL_OK)
		status = step_state(call, worker, i, &row);
	if (status != CAL_OK)
		erase_rows(call, i, row);
	return status;
}

int64_t cal_batch_rollout_rows(const CalBatchRollout *rollout) {
	if (!rollout || rollout->steps < 1 || rollout->every < 0)
		return 0;
	return rollout->every > 0 ? rollout->steps / rollout->every : 1;
}

static bool rollout_is_valid(const CalBatchRollout *r) {
	const CalMethodInfo *info = r ? cal_method_info(r->method) : NULL;
	return info && !info->adaptive && isfinite(r->step) && r->step != 0 && cal_batch_rollout_rows(r) > 0;
}

CalStatus cal_batch_rollout(CalBatch *batch, const CalBatchStates *start, const CalBatchInput *input,
                            const CalBatchRollout *rollout, double *q, double *u, CalStatus *status) {
	if (!q || !u || !batch_call_is_valid(batch, start, input) || !rollout_is_valid(rollout))
		return CAL_ERR_ARGUMENT;
	BatchCall call = batch_call(batch, roll_state, start, input, status);
	call.rollout = rollout;
	call.on_device = true;
	call.out[0] = (BatchOutput){q, (size_t)batch->nq};
	call.out[1] = (BatchOutput){u, (size_t)batch->nu};
	return batch_run(&call);
}
