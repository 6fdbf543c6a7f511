// SPDX-License-Identifier: Apache-2.0
/*
 * trim_state.h — states of a simulation at rest: saved, displaced along the loops, and what is left of their accelerations.
 */
#ifndef CALDER_ANALYSIS_TRIM_STATE_H
#define CALDER_ANALYSIS_TRIM_STATE_H

#include <calder/trim.h>

#include "sim/sim_internal.h"

/* All states of a simulation, and room to displace them. */
typedef struct TrimState {
	CalSim *sim;
	CalAllocator allocator;
	int nq, nu, nx, widest; // of all groups and devices; speeds of the largest group
	double *q, *u, *x;      // as they were saved last
	double *way, *v;        // [widest] scratch
	double *M;              // [widest widest] scratch
	uint8_t *held, *fixed;  // [widest] prescribed; those and independent ones
	void *memory;
} TrimState;

CalStatus trim_state_create(TrimState *state, CalSim *sim, const CalAllocator *allocator);
void trim_state_release(TrimState *state);
/** Copies the states of all groups and devices, and puts them back. */
void trim_state_save(TrimState *state);
void trim_state_restore(TrimState *state);
/** Takes the speeds of all that is not prescribed; dependent ones follow from those that are. */
CalStatus trim_state_rest(TrimState *state);
/** Displaces the states of space from what was saved by d[coordinates, states of devices]; closes the loops; at rest. */
CalStatus trim_state_move(TrimState *state, const CalStateSpace *space, const double *d);
/** Displaces all free coordinates at random. */
CalStatus trim_state_scatter(TrimState *state, const CalTrimOptions *options);
/** r[coordinates, states of devices]: accelerations and rates of the states of space. */
CalStatus trim_state_residual(TrimState *state, const CalStateSpace *space, double *r);

#endif
