// SPDX-License-Identifier: Apache-2.0
/*
 * batch.c — a model with one workspace per thread, and the states of a call shared among the threads.
 */
#include <limits.h>
#include <math.h>
#include <stdatomic.h>

#include "base/cursor.h"
#include "base/memory.h"
#include "batch/batch.h"

enum {
	WRENCHES = 8,  // most wrenches on a state, unless the options say otherwise
	BLOCKS = 8,    // at least so many for each thread, so that none waits long for another in the end
	BLOCK_MAX = 64 // states; more save nothing
};

/* ---- life --------------------------------------------------------------------------------------- */

static size_t largest_integrator(const CalModel *model) {
	size_t largest = 0;
	for (int method = 0; method < CAL_METHOD_COUNT; ++method) {
		const bool fixed = !cal_method_info((CalMethod)method)->adaptive;
		const size_t size = fixed ? cal_integrator_size(model, (CalMethod)method) : 0;
		largest = size > largest ? size : largest;
	}
	return largest;
}

/* An array of bytes that starts at the alignment of workspaces. */
static void *place_bytes(Cursor *cursor, size_t size) { return cursor_array(cursor, size, 1); }

static CalStatus layout_worker(const CalBatch *b, Cursor *cursor, BatchWorker *worker) {
	const size_t work_size = cal_work_size(b->model), state_size = cal_state_size(b->model);
	void *work = place_bytes(cursor, work_size), *state = place_bytes(cursor, state_size);
	worker->integrator_memory = place_bytes(cursor, b->integrator_size);
	CURSOR_ARRAY(cursor, worker->wrenches, b->wrench_limit);
	if (!cursor->base)
		return CAL_OK;
	const CalStatus status = cal_work_init(b->model, work, work_size, &worker->work);
	return status == CAL_OK ? cal_state_init(b->model, state, state_size, &worker->state) : status;
}

static CalStatus layout_batch(CalBatch *b, Cursor *cursor) {
	BatchWorker counted = {0};
	CalStatus status = CAL_OK;
	CURSOR_ARRAY(cursor, b->workers, b->threads);
	CURSOR_ARRAY(cursor, b->zeros, b->nu);
	for (int i = 0; i < b->threads && status == CAL_OK; ++i)
		status = layout_worker(b, cursor, cursor->base ? &b->workers[i] : &counted);
	return status;
}

static CalStatus create_workers(CalBatch *b) {
	Cursor cursor = {.align = BATCH_LINE};
	CalStatus status = layout_batch(b, &cursor);
	b->memory = status == CAL_OK ? cursor_alloc(&cursor, &b->allocator) : NULL;
	if (!b->memory)
		return CAL_ERR_MEMORY;
	cursor_clear(&cursor);
	status = layout_batch(b, &cursor);
	return status == CAL_OK && b->threads > 1 ? worker_pool_create(b->threads, false, &b->allocator, &b->pool) : status;
}

CalStatus cal_batch_create(const CalModel *model, const CalBatchOptions *options, CalBatch **batch) {
	const CalBatchOptions used = options ? *options : (CalBatchOptions){0};
	if (!model || !batch || used.threads < 0 || used.threads > WORKER_POOL_MAX || used.wrenches < 0 ||
	    !allocator_is_valid(&used.allocator))
		return CAL_ERR_ARGUMENT;
	const CalAllocator allocator = allocator_or_default(&used.allocator);
	CalBatch *b = memory_alloc(&allocator, sizeof *b);
	if (!b)
		return CAL_ERR_MEMORY;
	*b = (CalBatch){.allocator = allocator,
	                .model = model,
	                .nq = cal_model_q_count(model),
	                .nu = cal_model_u_count(model),
	                .threads = used.threads > 0 ? used.threads : 1,
	                .wrench_limit = used.wrenches > 0 ? used.wrenches : WRENCHES,
	                .integrator_size = largest_integrator(model)};
	const CalStatus status = create_workers(b);
	if (status != CAL_OK) {
		cal_batch_destroy(b);
		return status;
	}
	*batch = b;
	return CAL_OK;
}

void cal_batch_destroy(CalBatch *batch) {
	if (!batch)
		return;
	const CalAllocator allocator = batch->allocator;
	worker_pool_destroy(batch->pool);
	memory_free(&allocator, batch->memory);
	memory_free(&allocator, batch);
}

const CalModel *cal_batch_model(const CalBatch *batch) { return batch ? batch->model : NULL; }

int cal_batch_threads(const CalBatch *batch) { return batch ? batch->threads : 0; }

/* ---- the rows of a state ------------------------------------------------------------------------ */

/* A CalState has pointers to what may be written; evaluations take it as constant. */
static double *read_only(const double *numbers) { return (double *)(uintptr_t)numbers; }

CalState batch_state(const BatchCall *call, int i) {
	const CalBatchStates *s = &call->states;
	const double *t = batch_row(&s->t, i, 0), *u = batch_row(&s->u, i, 0);
	return (CalState){
		.t = t ? *t : 0, .q = read_only(batch_row(&s->q, i, 0)), .u = read_only(u ? u : call->batch->zeros)};
}

static CalSpatial spatial_at(const double *x) { return (CalSpatial){{x[0], x[1], x[2]}, {x[3], x[4], x[5]}}; }

CalInput batch_input(const BatchCall *call, BatchWorker *worker, int i, int64_t step) {
	const CalBatchInput *in = &call->input;
	const double *wrench = batch_row(&in->wrench, i, step);
	const int wrench_count = wrench ? in->wrench_count : 0;
	for (int k = 0; k < wrench_count; ++k)
		worker->wrenches[k] = (CalWrench){in->wrenches[k].node, in->wrenches[k].frame, spatial_at(wrench + 6 * k)};
	return (CalInput){.tau = batch_row(&in->tau, i, step),
	                  .prescribed = in->prescribed,
	                  .udot = batch_row(&in->udot, i, step),
	                  .wrenches = worker->wrenches,
	                  .wrench_count = wrench_count};
}

static bool wrenches_are_valid(const CalBatch *batch, const CalBatchInput *input) {
	if (input->wrench_count < 0 || input->wrench_count > batch->wrench_limit ||
	    (input->wrench_count > 0 && !input->wrenches))
		return false;
	for (int k = 0; k < input->wrench_count; ++k) {
		const CalBatchWrench *w = &input->wrenches[k];
		if (w->node < 0 || w->node >= cal_model_node_count(batch->model) ||
		    (w->frame != CAL_FRAME_WORLD && w->frame != CAL_FRAME_NODE))
			return false;
	}
	return true;
}

bool batch_call_is_valid(const CalBatch *batch, const CalBatchStates *states, const CalBatchInput *input) {
	return batch && states && states->count >= 0 && (states->q.data || states->count == 0 || batch->nq == 0) &&
	       (!input || wrenches_are_valid(batch, input));
}

BatchCall batch_call(CalBatch *batch, EvaluateFn evaluate, const CalBatchStates *states, const CalBatchInput *input,
                     CalStatus *status) {
	BatchCall call = {.batch = batch, .evaluate = evaluate, .states = *states, .status = status};
	if (input)
		call.input = *input;
	return call;
}

/* ---- all states of a call ------------------------------------------------------------------------- */

void batch_set_nan(double *numbers, size_t count) {
	for (size_t k = 0; numbers && k < count; ++k)
		numbers[k] = NAN;
}

static void evaluate_state(const BatchCall *call, BatchWorker *worker, int i) {
	const CalStatus status = call->evaluate(call, worker, i);
	if (call->status)
		call->status[i] = status;
	if (status == CAL_OK)
		return;
	for (int k = 0; !call->rollout && k < 2; ++k)
		batch_set_nan(batch_result(call, k, i), call->out[k].width);
	if (i < worker->failed) {
		worker->failed = i;
		worker->status = status;
	}
}

/* A call as its workers share it. */
typedef struct SharedCall {
	const BatchCall *call;
	int block;                                 // states that are taken at once
	_Alignas(BATCH_LINE) _Atomic int64_t next; // first state that nobody has taken
} SharedCall;

static int evaluate_blocks(void *context, int index) {
	SharedCall *shared = context;
	const BatchCall *call = shared->call;
	BatchWorker *worker = &call->batch->workers[index];
	const int64_t count = call->states.count, block = shared->block;
	worker->failed = INT_MAX;
	worker->status = CAL_OK;
	worker->integrator = NULL;
	for (;;) {
		const int64_t first = atomic_fetch_add_explicit(&shared->next, block, memory_order_relaxed);
		const int64_t end = first + block < count ? first + block : count;
		if (first >= count)
			return 0;
		for (int64_t i = first; i < end; ++i)
			evaluate_state(call, worker, (int)i);
	}
}

CalStatus batch_run(const BatchCall *call) {
	const CalBatch *b = call->batch;
	const int count = call->states.count, workers = b->pool && count > 1 ? b->threads : 1;
	const int share = count / (BLOCKS * workers);
	SharedCall shared = {.call = call, .block = share < 1 ? 1 : share > BLOCK_MAX ? BLOCK_MAX : share};
	atomic_init(&shared.next, 0);
	if (workers > 1)
		worker_pool_run(b->pool, evaluate_blocks, &shared);
	else
		evaluate_blocks(&shared, 0);
	const BatchWorker *first = &b->workers[0];
	for (int k = 1; k < workers; ++k)
		first = b->workers[k].failed < first->failed ? &b->workers[k] : first;
	return first->status;
}
