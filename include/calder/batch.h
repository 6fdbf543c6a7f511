// SPDX-License-Identifier: Apache-2.0
/*
 * calder/batch.h — one model at many states: the algorithms of calder/dynamics.h and whole roll-outs, by several threads.
 *
 * States, inputs and results are arrays of the caller, one row for each state. The numbers of a state depend on its own row
 * alone: they have the bits of the single call (cal_forward_dynamics(), cal_integrator_advance(), ...) for any number of
 * states and threads. A state that fails has its status in status[i] and NaN in its results; the others are computed.
 *
 * Every call returns CAL_OK, or the status of the first state (lowest index) that failed. A call that is refused
 * (CAL_ERR_ARGUMENT, CAL_ERR_UNSUPPORTED) writes nothing. No call allocates, but on a device. docs/batch.md
 */
#ifndef CALDER_BATCH_H
#define CALDER_BATCH_H

#include <calder/dynamics.h>
#include <calder/integrate.h>

#ifdef __cplusplus
extern "C" {
#endif

/** A model with the workspaces and threads that evaluate it. Calls with one of them must not overlap. */
typedef struct CalBatch CalBatch;

typedef struct CalBatchOptions {
	int threads;  // the caller's among them, at most 256; 0: 1
	int wrenches; // most wrenches that act on a state; 0: 8
	int lanes;    // most states side by side in the registers of a processor; 0: as many as it has, 1: one by one
	CalAllocator allocator; // {0}: malloc
} CalBatchOptions;

/**
 * Workspaces and threads for a model, which must outlive them. CAL_ERR_MEMORY: threads could not be started either.
 * The threads end with cal_batch_destroy(); a process that was forked has none of them and must create its own batch.
 */
CAL_API CalStatus cal_batch_create(const CalModel *model, const CalBatchOptions *options, CalBatch **batch);
CAL_API void cal_batch_destroy(CalBatch *batch); // accepts NULL
CAL_API const CalModel *cal_batch_model(const CalBatch *batch);
CAL_API int cal_batch_threads(const CalBatch *batch);
/** States that a thread evaluates side by side: 2, 4 or 8, as the processor can; 1: the model is not one for that (docs/batch.md). */
CAL_API int cal_batch_lanes(const CalBatch *batch);
/** States of the last call that were evaluated one by one. */
CAL_API int64_t cal_batch_alone(const CalBatch *batch);

/** How a device evaluates the states of a batch. Zero-initialized: the first device, the bits of the processor. */
typedef struct CalBatchDevice {
	int index;     // of the device, from 0
	int fast;      // nonzero: fused multiply-adds; results differ from the processor's by round-off
	int columns;   // nonzero: arrays in device memory are [number][state], not [state][number] (docs/batch.md)
	size_t memory; // most bytes of device memory that the batch takes; 0: three quarters of what is free
} CalBatchDevice;

/**
 * Moves a batch to a GPU (a library built with -DCALDER_WITH_CUDA=ON): cal_batch_forward(), and cal_batch_rollout() by
 * CAL_METHOD_EULER_CROMER and CAL_METHOD_RK4, then run there; other calls, and calls with wrenches or prescribed dofs, run on the
 * processor as before. All arrays of a call may be in device memory, or none. options NULL: zeros.
 * CAL_ERR_UNSUPPORTED: no CUDA, no such device, or a model with loops, flexible bodies, prescribed dofs or user-defined
 * joints: error (may be NULL) names it. CAL_ERR_MEMORY: error says how much is needed. The batch is unchanged then.
 */
CAL_API CalStatus cal_batch_to_device(CalBatch *batch, const CalBatchDevice *options, CalError *error);
/** The device of a batch and its mode, "NVIDIA H200, exact"; "" where it is on the processor. */
CAL_API const char *cal_batch_device(const CalBatch *batch);
/** What the device reported when a call last returned CAL_ERR_DEVICE; "": nothing. */
CAL_API const char *cal_batch_device_error(const CalBatch *batch);
/** Seconds that kernels took in the last call, without transfers; 0: it ran on the processor. */
CAL_API double cal_batch_device_seconds(const CalBatch *batch);

/**
 * Numbers of every state: those of state i are data[i * stride] and the ones that follow it. In roll-outs those of state i
 * in step k start at data[k * step_stride + i * stride]. A stride of 0 is the same numbers for all states, or all steps:
 *   {tau, nu, 0}           tau[state][nu]
 *   {tau, 0, 0}            tau[nu], the same for all states
 *   {tau, nu, count * nu}  tau[step][state][nu]
 *   {tau, steps * nu, nu}  tau[state][step][nu]
 */
typedef struct CalBatchArray {
	const double *data;    // NULL: zeros
	ptrdiff_t stride;      // from one state to the next, in numbers
	ptrdiff_t step_stride; // from one step of a roll-out to the next; other calls do not use it
} CalBatchArray;

/** The states. */
typedef struct CalBatchStates {
	int count;       // number of states
	CalBatchArray t; // [1] time; matters for loops that are driven [s]
	CalBatchArray q; // [nq] coordinates; data must not be NULL
	CalBatchArray u; // [nu] speeds
} CalBatchStates;

/** Where a wrench acts. */
typedef struct CalBatchWrench {
	int node;       // node index in the model
	CalFrame frame; // axes of the components
} CalBatchWrench;

/** What acts on each state. Zero-initialized: nothing does. */
typedef struct CalBatchInput {
	CalBatchArray tau;              // [nu] generalized forces
	CalBatchArray udot;             // [nu] accelerations of prescribed dofs; zeros: locked
	const uint8_t *prescribed;      // [nu] nonzero: udot given, for all states; NULL: as described in the model
	const CalBatchWrench *wrenches; // [wrench_count] the same places for all states
	int wrench_count;               // at most CalBatchOptions.wrenches
	CalBatchArray wrench;           // [wrench_count][6] moments [N m] and forces [N]
} CalBatchInput;

/* Below, status[count] is the status of each state; it may be NULL. Results have one row for each state, without gaps. */

/** udot[count][nu], as cal_forward_dynamics(). */
CAL_API CalStatus cal_batch_forward(CalBatch *batch, const CalBatchStates *states, const CalBatchInput *input,
                                    double *udot, CalStatus *status);
/** The same, and force[count][nu], as cal_hybrid_dynamics(). */
CAL_API CalStatus cal_batch_hybrid(CalBatch *batch, const CalBatchStates *states, const CalBatchInput *input,
                                   double *udot, double *force, CalStatus *status);
/** tau[count][nu] for accelerations udot ([nu] of each state; NULL: zeros), as cal_inverse_dynamics(). */
CAL_API CalStatus cal_batch_inverse(CalBatch *batch, const CalBatchStates *states, const CalBatchArray *udot,
                                    const CalBatchInput *input, double *tau, CalStatus *status);
/** h[count][nu], as cal_bias_forces(); Q[count][nu], as cal_gravity_forces() and cal_elastic_forces(). */
CAL_API CalStatus cal_batch_bias_forces(CalBatch *batch, const CalBatchStates *states, double *h, CalStatus *status);
CAL_API CalStatus cal_batch_gravity_forces(CalBatch *batch, const CalBatchStates *states, double *Q, CalStatus *status);
CAL_API CalStatus cal_batch_elastic_forces(CalBatch *batch, const CalBatchStates *states, double *Q, CalStatus *status);
/** M[count][nu][nu], as cal_mass_matrix(). */
CAL_API CalStatus cal_batch_mass_matrix(CalBatch *batch, const CalBatchStates *states, double *M, CalStatus *status);
/** energy[count] and momentum[count], as cal_energy() and cal_momentum(). */
CAL_API CalStatus cal_batch_energy(CalBatch *batch, const CalBatchStates *states, CalEnergy *energy, CalStatus *status);
CAL_API CalStatus cal_batch_momentum(CalBatch *batch, const CalBatchStates *states, CalMomentum *momentum,
                                     CalStatus *status);
/** pose[count][node_count] and velocity[count][node_count] of nodes[node_count]; either may be NULL. */
CAL_API CalStatus cal_batch_nodes(CalBatch *batch, const CalBatchStates *states, const int *nodes, int node_count,
                                  CalPose *pose, CalSpatial *velocity, CalStatus *status);
/** J[count][6][nu] of a node, as cal_node_jacobian(). */
CAL_API CalStatus cal_batch_jacobian(CalBatch *batch, const CalBatchStates *states, int node, double *J,
                                     CalStatus *status);

/** Steps of each state in time. */
typedef struct CalBatchRollout {
	CalMethod method; // one with a fixed step (CalMethodInfo.adaptive is 0)
	double step;      // [s]; negative: back in time
	int64_t steps;    // >= 1
	int64_t every;    // results have a row every so many steps; 0: one row, the last state
	int projection;   // loops: as CalIntegratorOptions
	int euclidean;    // likewise
} CalBatchRollout;

/** Rows of results that a roll-out gives: steps / every, or 1; 0: rollout is not valid. */
CAL_API int64_t cal_batch_rollout_rows(const CalBatchRollout *rollout);
/**
 * Advances each of `start` by rollout->steps steps. Row r of q[rows][count][nq] and u[rows][count][nu] is after
 * (r + 1) * every steps; the start is not among them. Step k, from 0, ends at t + (k + 1) * step and has the inputs of
 * index k (CalBatchArray.step_stride) throughout. With inputs that are the same in all steps the states have the bits of
 * cal_integrator_advance(). A state that fails has NaN in the rows from there on; the rows before are valid.
 * With `every` 0, q and u may be the arrays of start: states then advance in place.
 */
CAL_API CalStatus cal_batch_rollout(CalBatch *batch, const CalBatchStates *start, const CalBatchInput *input,
                                    const CalBatchRollout *rollout, double *q, double *u, CalStatus *status);

#ifdef __cplusplus
}
#endif
#endif
