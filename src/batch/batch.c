// SPDX-License-Identifier: Apache-2.0
/*
 * batch.c — a model with one workspace per thread, and the states of a call shared among the threads.
 */
#include <limits.h>
#include <math.h>
#include <stdatomic.h>

#include "base/cursor.h"
#include "base/memory.h"
#include "batch/batch_device.h"
#include "model/model.h"

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
	const size_t lanes_size = b->lanes ? b->lanes->size(b->model) : 0;
	void *lanes = place_bytes(cursor, lanes_size);
	worker->integrator_memory = place_bytes(cursor, b->integrator_size);
	CURSOR_ARRAY(cursor, worker->wrenches, b->wrench_limit);
	CURSOR_ARRAY(cursor, worker->tau, b->lanes ? (size_t)b->lanes->lanes * (size_t)b->nu : 0);
	if (!cursor->base)
		return CAL_OK;
	CalStatus status = cal_work_init(b->model, work, work_size, &worker->work);
	if (status == CAL_OK && b->lanes)
		status = b->lanes->init(b->model, lanes, lanes_size, &worker->lanes);
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

/*
 * Lanes have the sweeps of a tree, mode by mode. Loops, the dense solver, modes that are eliminated through ports (which rounds
 * in other places) and links of the caller's own are evaluated one by one.
 */
static const LaneKernels *choose_lanes(const CalModel *model, int most) {
	bool possible = model->loop_count == 0 && model->solver == CAL_SOLVER_RECURSIVE;
	for (int f = 0; f < model->flex_count; ++f)
		possible = possible && !model->flexes[f].by_ports && !model->flexes[f].ops;
	for (int isa = (int)model->isa; possible && isa >= 0; --isa) {
		const LaneKernels *kernels = lane_kernels((CpuIsa)isa);
		if (kernels && (most == 0 || kernels->lanes <= most))
			return kernels;
	}
	return NULL;
}

CalStatus cal_batch_create(const CalModel *model, const CalBatchOptions *options, CalBatch **batch) {
	const CalBatchOptions used = options ? *options : (CalBatchOptions){0};
	if (!model || !batch || used.threads < 0 || used.threads > WORKER_POOL_MAX || used.wrenches < 0 || used.lanes < 0 ||
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
	                .integrator_size = largest_integrator(model),
	                .lanes = choose_lanes(model, used.lanes)};
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
	gpu_device_destroy(batch->device);
	worker_pool_destroy(batch->pool);
	memory_free(&allocator, batch->memory);
	memory_free(&allocator, batch);
}

const CalModel *cal_batch_model(const CalBatch *batch) { return batch ? batch->model : NULL; }

int cal_batch_threads(const CalBatch *batch) { return batch ? batch->threads : 0; }

int cal_batch_lanes(const CalBatch *batch) { return batch && batch->lanes ? batch->lanes->lanes : batch != NULL; }

int64_t cal_batch_alone(const CalBatch *batch) { return batch ? batch->alone : 0; }

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
	worker->alone++;
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

/* As many states from i on as there are lanes; false: none of them yet. */
static bool evaluate_side_by_side(const BatchCall *call, BatchWorker *worker, int i) {
	if (!call->evaluate_lanes(call, worker, i))
		return false;
	for (int lane = 0; call->status && lane < call->batch->lanes->lanes; ++lane)
		call->status[i + lane] = CAL_OK;
	return true;
}

/* States [first, end), side by side where that is possible. */
static void evaluate_block(const BatchCall *call, BatchWorker *worker, int first, int end) {
	int i = first;
	if (call->evaluate_lanes && worker->lanes) {
		for (const int lanes = call->batch->lanes->lanes; end - i >= lanes; i += lanes) {
			const bool done = evaluate_side_by_side(call, worker, i);
			for (int k = i; !done && k < i + lanes; ++k)
				evaluate_state(call, worker, k);
		}
	}
	for (; i < end; ++i)
		evaluate_state(call, worker, i);
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
	worker->alone = 0;
	worker->status = CAL_OK;
	worker->integrator = NULL;
	for (;;) {
		const int64_t first = atomic_fetch_add_explicit(&shared->next, block, memory_order_relaxed);
		const int64_t end = first + block < count ? first + block : count;
		if (first >= count)
			return 0;
		evaluate_block(call, worker, (int)first, (int)end);
	}
}

/* States that a worker takes at once: whole registers, if there are that many. */
static int block_size(const BatchCall *call, int workers) {
	const int count = call->states.count, share = count / (BLOCKS * workers);
	const int lanes = call->evaluate_lanes && call->batch->lanes ? call->batch->lanes->lanes : 1;
	const int block = share < 1 ? 1 : share > BLOCK_MAX ? BLOCK_MAX : share;
	return (block + lanes - 1) / lanes * lanes;
}

CalStatus batch_run(const BatchCall *call) {
	CalBatch *b = call->batch;
	CalStatus status;
	if (batch_run_device(call, &status))
		return status;
	const int count = call->states.count, workers = b->pool && count > 1 ? b->threads : 1;
	SharedCall shared = {.call = call, .block = block_size(call, workers)};
	atomic_init(&shared.next, 0);
	if (workers > 1)
		worker_pool_run(b->pool, evaluate_blocks, &shared);
	else
		evaluate_blocks(&shared, 0);
	const BatchWorker *first = &b->workers[0];
	b->alone = 0;
	for (int k = 0; k < workers; ++k) {
		first = b->workers[k].failed < first->failed ? &b->workers[k] : first;
		b->alone += b->workers[k].alone;
	}
	return first->status;
}
