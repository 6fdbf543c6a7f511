// SPDX-License-Identifier: Apache-2.0
/*
 * impulse.h — jumps of the speeds, for the algorithms that are made of them.
 */
#ifndef CALDER_DYNAMICS_IMPULSE_H
#define CALDER_DYNAMICS_IMPULSE_H

#include <calder/impulse.h>
#include "dynamics/tree/articulated.h"

#if CAL_LANES == 1
/* What makes the speeds jump. */
typedef struct Jump {
	const double *q;
	const uint8_t *held;       // [nu] speeds whose jump is given, NULL: none
	const double *given;       // [nu] read where held, NULL: zero
	const CalWrench *wrenches; // impulses from outside
	int wrench_count;          //
} Jump;

/* Kinematics and constraint equations at a speed. */
void impulse_rows(const CalModel *model, const CalState *state, const double *u, CalWork *work);
/*
 * jump[nu], and the impulses force[nu] on held speeds (or NULL), with constraints that jump by -z (work->loops.z, given
 * jumps counted already). work holds what impulse_rows() leaves at q. jump is not in->given. Leaves
 * jumps in place of accelerations: cal_node_acceleration() is then what the velocity of a node jumps by.
 */
CalStatus impulse_jump(const CalModel *model, const Jump *in, CalWork *work, double *jump, double *force);
#endif

#endif
