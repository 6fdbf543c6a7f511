// SPDX-License-Identifier: Apache-2.0
/*
 * linear_group.h — a group of a simulation while that is linearized: its independent coordinates, the derivatives of its
 * dynamics with what acts on it held, and states beside its own that its loops allow.
 */
#ifndef CALDER_ANALYSIS_LINEAR_GROUP_H
#define CALDER_ANALYSIS_LINEAR_GROUP_H

#include <stdbool.h>

#include <calder/closed.h>
#include <calder/derivatives.h>

#include "base/cursor.h"
#include "linear/turning.h"

typedef struct LinearGroup {
	const CalModel *model; // NULL: the motion of the group is given
	CalState *state;       // of the simulation; displaced and put back
	CalState about;        // copy of it
	CalWork *work;         //
	CalDerivatives *derivatives;
	CalProjection *projection;
	int nu, rows, count;    // count: independent coordinates
	int chosen;             // of these, how many the caller has named in `independent`; 0: chosen by rank
	int first;              // of them among those of all groups
	int *dof;               // [nu] the first `count`: independent speeds
	uint8_t *independent;   // [nu]
	uint8_t *held;          // [nu] prescribed
	double *N;              // [nu nu] its columns: motions that the loops leave, N[i count + k]
	double *V;              // [nu nu] changes of speeds when the coordinates are displaced, likewise
	double *Fq, *Fu, *Minv; // [nu nu] of udot
	double *udot;           // [nu]
	double *scale;          // [nu] what counts like 1 rad
	double *v, *way;        // [nu] scratch
	double *B;              // [nu nu] scratch
	TurningScratch turning; //
	bool turns;             // B is not zero
} LinearGroup;

/** Its arrays in the caller's block, which counts first. */
void linear_group_layout(LinearGroup *group, Cursor *cursor);
/** Workspaces of the model; released by linear_group_release() whatever happens. */
CalStatus linear_group_create(LinearGroup *group, const CalModel *model, CalState *state);
void linear_group_release(LinearGroup *group);

/** Everything but V under the input that acts at the state. */
CalStatus linear_group_find(LinearGroup *group, const CalInput *input);
/** Displaces independent coordinate k by h, along the motion that the loops leave, at the same independent speeds. */
CalStatus linear_group_move(LinearGroup *group, int k, double h);
/** Changes independent speed k by h. */
void linear_group_speed_up(LinearGroup *group, int k, double h);
/** The state as it was, bit by bit. */
void linear_group_restore(LinearGroup *group);
/** Q[nu] of an input at the configuration of the state that was not displaced. */
CalStatus linear_group_force(const LinearGroup *group, const CalInput *input, double *Q);

#endif
