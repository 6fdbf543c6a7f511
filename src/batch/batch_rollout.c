// SPDX-License-Identifier: Apache-2.0
/*
 * batch_rollout.c — steps of many states: each has an integrator of its own for as long as it is advanced.
 *
 * The integrator is made anew for every state, in the memory of its worker: which step is projected depends on how many it has
 * done, and nothing of one state may reach the next.
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

/* The steps of state i from worker->state; *row: rows that were written. */
static CalStatus step_state(const BatchCall *call, BatchWorker *worker, int i, CalIntegrator *integrator,
                            CalInput *input, int64_t *row) {
	const CalBatchRollout *r = call->rollout;
	const int64_t every = r->every > 0 ? r->every : r->steps;
	const double t0 = worker->state.t;
	for (int64_t k = 0; k < r->steps; ++k) {
		*input = batch_input(call, worker, i, k);
		const CalStatus status = integrator_step_to(integrator, &worker->state, t0 + (double)(k + 1) * r->step);
		if (status != CAL_OK)
			return status;
		if ((k + 1) % every == 0)
			write_row(call, i, (*row)++, &worker->state);
	}
	return CAL_OK;
}

static CalStatus roll_state(const BatchCall *call, BatchWorker *worker, int i) {
	const CalBatch *batch = call->batch;
	const CalBatchRollout *r = call->rollout;
	const CalState start = batch_state(call, i);
	CalInput input = {0};
	const CalIntegratorOptions options = {.method = r->method,
	                                      .step = fabs(r->step),
	                                      .projection = r->projection,
	                                      .euclidean = r->euclidean,
	                                      .input = give_input,
	                                      .user = &input};
	CalIntegrator *integrator = NULL;
	int64_t row = 0;
	cal_state_copy(batch->model, &start, &worker->state);
	CalStatus status = isfinite(start.t) ? CAL_OK : CAL_NOT_FINITE;
	if (status == CAL_OK)
		status = cal_integrator_init(batch->model, worker->work, &options, worker->integrator, batch->integrator_size,
		                             &integrator);
	if (status == CAL_OK)
		status = step_state(call, worker, i, integrator, &input, &row);
	cal_integrator_destroy(integrator);
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
	call.out[0] = (BatchOutput){q, (size_t)batch->nq};
	call.out[1] = (BatchOutput){u, (size_t)batch->nu};
	return batch_run(&call);
}
