// SPDX-License-Identifier: Apache-2.0
/*
 * linear_block.h — a sampled linear system x[k+1] = A x[k] + B u[k], y[k] = C x[k] + D u[k]: what state_space,
 * transfer_function and filter are in a run. Discrete states: x.
 */
#ifndef CALDER_DEVICE_CONTROL_LINEAR_BLOCK_H
#define CALDER_DEVICE_CONTROL_LINEAR_BLOCK_H

#include "device/control/sampled.h"
#include "math/discrete_system.h"

enum { LINEAR_MOST_STATES = 64 };

/* How a system in continuous time is sampled; in the order of the words of files. */
typedef enum Discretization { DISCRETE_ALREADY, BY_HOLD, BY_TUSTIN } Discretization;

typedef struct LinearBlock {
	Sampled s; // first
	StateMatrices system;
	double numbers[]; // A, B, C, D, then the initial state
} LinearBlock;

/** A block of that size without its numbers, in memory of sampled_alloc(); NULL after noting a mistake. */
LinearBlock *linear_block_alloc(DeviceBuilder *d, int n, int m, int p);
/** [n] from which it starts; zero unless written. */
double *linear_block_initial(LinearBlock *block);
/** Samples its system with the period T, which need not be that of the samples. */
void linear_block_discretize(DeviceBuilder *d, LinearBlock *block, Discretization by, double T);

int linear_block_start(const CalDevice *device, CalEvalContext *context, double *x);
int linear_block_sample(const CalDevice *device, CalEvalContext *context, double *x);

/* What the functions of such a device are. */
#define LINEAR_BLOCK_OPS(word, count, names, units)                                                      \
	{                                                                                                    \
		.type = (word), .bind = sampled_bind, .start = linear_block_start, .evaluate = sampled_evaluate, \
		.sample = linear_block_sample, .outputs = sampled_outputs, .destroy = sampled_destroy,           \
		.output_count = (count), .output_names = (names), .output_units = (units)                        \
	}

#endif
