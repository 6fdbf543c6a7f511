// SPDX-License-Identifier: Apache-2.0
/*
 * system_jacobian.h — how the rates of a system change with its state, for implicit methods.
 */
#ifndef CALDER_INTEGRATE_SYSTEM_JACOBIAN_H
#define CALDER_INTEGRATE_SYSTEM_JACOBIAN_H

#include <calder/derivatives.h>

#include "integrate/scheme.h"

/** A part whose dynamics are differentiated. */
typedef struct JacobianPart {
	CalDerivatives *derivatives; // NULL: its rates are given, or its state is not known here
	CalWork *work;               // of what acts at a displaced state
	double *Minv;                // [nu nu] of the part
} JacobianPart;

typedef struct SystemJacobian {
	int nu, nx;          // speeds; states that something depends on, CalIntegrator.checked_x
	int width;           // 2 nu + nx
	double *M;           // [nu + nx][width] of (udot, xdot) by displacements in the tangent space, speeds and states
	double *by_time;     // [nu + nx] how the rates change with time at a state
	JacobianPart *parts; // [part_count]
	CalState at, moved;  // where it is found; beside it
	double *square[2];   // [largest nu]^2 of a part
	double *force[3];    // [nu] generalized forces at the state, and on both sides of it
	double *rate[3];     // [CalIntegrator.nx]
	double *side[2];     // [nu + nx] a column by the differences of both sides
	void *memory;
} SystemJacobian;

/** CAL_ERR_MEMORY: *jacobian is to be released all the same. */
CalStatus system_jacobian_create(const CalIntegrator *integrator, SystemJacobian *jacobian);
void system_jacobian_release(const CalIntegrator *integrator, SystemJacobian *jacobian);
/** M and by_time at a state. A part that cannot be differentiated there has zeros. */
CalStatus system_jacobian_find(CalIntegrator *integrator, SystemJacobian *jacobian, const CalState *state);
/** Whether coordinate or speed u of the system moves by dynamics: not that of a motion that is given. */
bool system_moves(const CalIntegrator *integrator, int u);

#endif
