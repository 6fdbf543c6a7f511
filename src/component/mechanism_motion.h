// SPDX-License-Identifier: Apache-2.0
/*
 * mechanism_motion.h — the motion of an embedded mechanism from its independent coordinates and speeds.
 */
#ifndef CALDER_COMPONENT_MECHANISM_MOTION_H
#define CALDER_COMPONENT_MECHANISM_MOTION_H

#include <calder/mechanism.h>
#include "dynamics/projection.h"
#include "model/mechanism.h"

enum { MECHANISM_ANCHORS = 64 };

/* A closed configuration, with its derivatives by the one independent coordinate. */
typedef struct MechanismAnchor {
	double *q, *slope, *curvature; // [nq]
	int smooth;                    // the derivatives are known
} MechanismAnchor;

/* One evaluation; the functions of the link keep it in their scratch. */
typedef struct MechanismWork {
	int ready;                 // arrays are in place
	int closed;                // q belongs to key_q
	int moving;                // u, X and bias belong to key_u
	CalStatus fault;           // of the last motion asked for
	int at_rest;               // work holds the equations at q, at rest
	int swept;                 // poses and accelerations in work too, at vdot = 0
	double length;             // what coordinates that slide are large or small beside [m]
	double least;              // smallest pivot of the map that is no dead center
	CalWork *work;             // of the mechanism's own model
	CalProjection *projection; //
	double *key_q, *key_u;     // [dofs] what it was made for
	MechanismAnchor
		*anchor[2];           // [MECHANISM_ANCHORS + 1] of one dof: to either side of the reference, which is the first
	int anchors[2];           // how many of these are known
	CalStatus unreachable[2]; // not CAL_OK: why loops cannot be closed at the next one
	double *q, *u, *udot;     // [nq], [nu], [nu]
	double *begin;            // [nq] of a step on the way
	double *J;                // [6 nu]
	double *force;            // [nu] of its joints
	char *work_block, *projection_block;
} MechanismWork;

size_t mechanism_work_size(const Mechanism *mechanism);
/* The work in a block of that size, which was zeroed once; not ready: never. */
MechanismWork *mechanism_work(const Mechanism *mechanism, void *block);
/* Configuration, map, speeds and bias at independent coordinates and speeds (NULL: zero). */
CalStatus mechanism_move(const Mechanism *mechanism, MechanismWork *w, const double *q, const double *u);

/* Why the last evaluation with this work had no values of a mechanism, in error; CAL_OK: it had. */
CalStatus mechanism_last_fault(const CalModel *model, const CalWork *work, CalError *error);

extern const MechanismFunctions mechanism_functions; // mechanism_link.c

#endif
