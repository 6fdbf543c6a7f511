// SPDX-License-Identifier: Apache-2.0
/*
 * lanes.h — several states of one model side by side: the sweeps over `real` (math/real.h), as batches call them.
 *
 * lanes.c is compiled once for every width of registers, with the sweeps that it calls: 2 lanes for any processor, 4 for AVX2,
 * 8 for AVX-512. Arithmetic within a lane is that of the single evaluation, in the same order: so are the bits. What a lane
 * cannot do as the single evaluation does it (a singular joint, a result that is not finite) is left to that. Mass matrices have
 * no lanes: the single one already takes four columns at once, and four times four do not fit into registers.
 */
#ifndef CALDER_BATCH_LANES_H
#define CALDER_BATCH_LANES_H

#include <stdbool.h>

#include <calder/batch.h>

#include "base/cpu.h"

enum { LANES_MAX = 8 };

/** States side by side: a row for each lane. */
typedef struct LaneStates {
	const double *q[LANES_MAX], *u[LANES_MAX]; // [nq], [nu]
} LaneStates;

/** What acts on them. Pointers may be NULL where the comment says so. */
typedef struct LaneInput {
	const double *tau[LANES_MAX];    // [nu] total applied generalized forces
	const double *udot[LANES_MAX];   // [nu] of prescribed dofs; NULL in all lanes: zero
	const double *wrench[LANES_MAX]; // [wrench_count][6]
	const uint8_t *prescribed;       // [nu] NULL: none
	const CalBatchWrench *wrenches;  // [wrench_count] on links, not on nodes of flexible bodies
	int wrench_count;
} LaneInput;

/** Results, a row for each lane. */
typedef struct LaneRows {
	double *row[LANES_MAX];
} LaneRows;

/** Workspace over lanes and rows of numbers, in memory of the caller. */
typedef struct LaneSpace LaneSpace;

typedef struct LaneKernels {
	int lanes;
	size_t (*size)(const CalModel *model);
	CalStatus (*init)(const CalModel *model, void *memory, size_t size, LaneSpace **space);
	/** udot, and force if it is not NULL; false: the states have to be evaluated one by one. */
	bool (*forward)(const CalModel *model, const LaneStates *states, const LaneInput *input, LaneSpace *space,
	                const LaneRows *udot, const LaneRows *force);
	/** What accelerations need, rotors included (udot NULL: none); rigid bodies only. */
	void (*inverse)(const CalModel *model, CalVec3 gravity, const LaneStates *states, const double *const *udot,
	                LaneSpace *space, const LaneRows *tau);
} LaneKernels;

/** NULL: this build has none (tools/amalgamate: one file has one width). */
const LaneKernels *lane_kernels(CpuIsa isa);

#endif
