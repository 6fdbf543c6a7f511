// SPDX-License-Identifier: Apache-2.0
/*
 * calder/impulse.h — inelastic impulses: speeds jump, positions do not.
 *
 * Loops that did not hold so far and degrees of freedom that become locked act at once with an impulse. With G the constraint
 * equations of all loops of the model, all of which hold after it, and E one row for each degree of freedom whose speed is given,
 *   M (u_after - u) = G'lambda + E'j,   G u_after = s',   E u_after = given
 * s' the rates of drives. Forces that stay finite (gravity, springs, loads, applied wrenches) do nothing. Redundant and
 * singular rows are normal: lambda is the smallest solution while given speeds are met exactly, and where rows contradict
 * these or each other, u_after is what comes nearest. By the recursion, one sweep, whatever solver was compiled.
 */
#ifndef CALDER_IMPULSE_H
#define CALDER_IMPULSE_H

#include <calder/loops.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Which speeds are given. Zero-initialized: driven ones keep theirs, the loops alone act. */
typedef struct CalImpulse {
	const uint8_t *kept;   // [nu] nonzero: driven, its speed does not jump; NULL: as described (prescribed)
	const uint8_t *locked; // [nu] nonzero: its speed becomes `speed`, kept or not; NULL: none
	const double *speed;   // [nu] read where locked; NULL: zero
} CalImpulse;

typedef struct CalImpulseReport {
	double kinetic_lost; // kinetic energy before less that after [J]
	double rate;         // largest rate of a row that is left
	int row;             // where, -1: nowhere
} CalImpulseReport;

/**
 * u_after[nu] (may be state->u), and the impulses force[nu] on given speeds (0 for the others). impulse, force and
 * report may be NULL. Leaves poses and velocities after the impulse in work; of a model with loops
 * cal_loop_multipliers(), cal_loop_wrench() and cal_loop_rank() then give impulses [N s, N m s]. CAL_SINGULAR or
 * CAL_NOT_FINITE: cal_work_failed_dof() says where, u_after is not valid.
 */
CAL_API CalStatus cal_impulse(const CalModel *model, const CalState *state, const CalImpulse *impulse, CalWork *work,
                              double *u_after, double *force, CalImpulseReport *report);

#ifdef __cplusplus
}
#endif
#endif
