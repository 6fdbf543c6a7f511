// SPDX-License-Identifier: Apache-2.0
/*
 * batch.h — how the states of a call are shared among threads.
 *
 * A call is one function that evaluates one state (EvaluateFn) and the arrays that its results go to. Workers take blocks of
 * states from a common counter until none is left: who is slow takes fewer. A worker writes to the rows of its states and to
 * its own BatchWorker, to nothing else.
 */
#ifndef CALDER_BATCH_BATCH_H
#define CALDER_BATCH_BATCH_H

#include <stdbool.h>

#include <calder/batch.h>

#include "base/worker_pool.h"
#include "batch/lanes.h"
#include "gpu/gpu_device.h"

enum {
	BATCH_LINE = 128
}; // bytes between what two workers write: two cache lines, which some processors fetch together

/** What one thread works with. */
typedef struct BatchWorker {
	_Alignas(BATCH_LINE) CalWork *work;
	CalWrench *wrenches;       // [wrench_limit] of the state at hand
	LaneSpace *lanes;          // of states side by side, NULL: one by one
	double *tau;               // [lanes][nu] what acts on them
	int64_t alone;             // states of this call that were evaluated one by one
	CalState state;            // of a roll-out
	void *integrator_memory;   // [integrator_size] bytes
	CalIntegrator *integrator; // of the roll-out at hand, in that memory; NULL: not made yet
	CalInput input;            // what it acts with in the step at hand
	int failed;                // lowest state of this call that failed, INT_MAX: none
	CalStatus status;          // and its status
} BatchWorker;

struct CalBatch {
	CalAllocator allocator;
	void *memory;
	const CalModel *model;
	int nq, nu, threads;
	int wrench_limit;
	size_t integrator_size;   // of the largest method with a fixed step
	const LaneKernels *lanes; // of states side by side, NULL: one by one
	int64_t alone;            // states of the last call that were evaluated one by one
	double *zeros;            // [nu] speeds of states that have none
	BatchWorker *workers;     // [threads]
	WorkerPool *pool;         // NULL: one thread
	GpuDevice *device;        // NULL: none
	bool device_ran;          // the last call ran there
};

typedef struct BatchCall BatchCall;

/** Evaluates state i; results go to call->out. */
typedef CalStatus (*EvaluateFn)(const BatchCall *call, BatchWorker *worker, int i);
/** Evaluates as many states from i on as there are lanes; false: they have to be evaluated one by one. */
typedef bool (*EvaluateLanesFn)(const BatchCall *call, BatchWorker *worker, int i);

/** Results of one kind: rows[rows][count][width]. */
typedef struct BatchOutput {
	double *data; // NULL: not wanted
	size_t width; // numbers of one state
} BatchOutput;

struct BatchCall {
	CalBatch *batch;
	EvaluateFn evaluate;
	EvaluateLanesFn evaluate_lanes; // NULL: one by one
	CalBatchStates states;
	CalBatchInput input;
	BatchOutput out[2];
	CalStatus *status;              // [count] or NULL
	CalBatchArray udot;             // inverse dynamics
	const int *nodes;               // kinematics
	int node_count;                 //
	const CalBatchRollout *rollout; // roll-outs; they set NaN themselves
	bool on_device;                 // a device can evaluate it, if there is one
};

/** Row of state i in step `step`; NULL if there are no such numbers. */
static inline const double *batch_row(const CalBatchArray *array, int i, int64_t step) {
	return array->data ? array->data + i * array->stride + (ptrdiff_t)step * array->step_stride : NULL;
}

/** Where a state's results go; NULL: not wanted. */
static inline double *batch_result(const BatchCall *call, int output, int i) {
	const BatchOutput *out = &call->out[output];
	return out->data ? out->data + (size_t)i * out->width : NULL;
}

/** State i, which nobody may write to. */
CalState batch_state(const BatchCall *call, int i);
/** What acts on state i in a step; wrenches are placed in the worker's memory. */
CalInput batch_input(const BatchCall *call, BatchWorker *worker, int i, int64_t step);

/** What all calls take is valid; input may be NULL. */
bool batch_call_is_valid(const CalBatch *batch, const CalBatchStates *states, const CalBatchInput *input);
/** A call without results and arguments of its own. */
BatchCall batch_call(CalBatch *batch, EvaluateFn evaluate, const CalBatchStates *states, const CalBatchInput *input,
                     CalStatus *status);
void batch_set_nan(double *numbers, size_t count);
/** Evaluates all states of a call; the status of the first that failed. */
CalStatus batch_run(const BatchCall *call);

#endif
