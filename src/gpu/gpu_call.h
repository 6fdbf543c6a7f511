// SPDX-License-Identifier: Apache-2.0
/*
 * gpu_call.h — one launch of a kernel over many states, as host and device see it.
 */
#ifndef CALDER_GPU_GPU_CALL_H
#define CALDER_GPU_GPU_CALL_H

#include "gpu/gpu_model.h"

typedef enum GpuWork { GPU_FORWARD, GPU_CROMER, GPU_RK4 } GpuWork;

/** Arrays are in device memory, number k of state i at [k * stride + i]. */
typedef struct GpuCall {
	GpuModel model;
	GpuTables at;        // in device memory
	int64_t count;       // states
	const double *q, *u; // GPU_FORWARD
	const double *tau;   // NULL: zeros
	int64_t q_stride, u_stride, tau_stride;
	double *udot;        // GPU_FORWARD
	int64_t udot_stride; //
	double *q_moving;    // steps: in place
	double *u_moving;    //
	int64_t moving_stride;
	const double *t;    // steps: [count] times of the start, NULL: zero
	double step;        // [s]
	int64_t first_step; // number of the first of these steps
	int64_t steps;      //
	uint8_t *failed;    // [count] nonzero: to be evaluated by the processor
	double *far;        // scratch of all threads
	int64_t far_stride; // their number
	int64_t stages;     // where the stages of Runge-Kutta steps begin in it
	int near_motions, near_dofs;
} GpuCall;

#endif
