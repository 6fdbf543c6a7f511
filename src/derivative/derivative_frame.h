// SPDX-License-Identifier: Apache-2.0
/*
 * derivative_frame.h — how the motion of a frame on a link changes with coordinates and speeds.
 */
#ifndef CALDER_DERIVATIVE_DERIVATIVE_FRAME_H
#define CALDER_DERIVATIVE_DERIVATIVE_FRAME_H

#include "derivative/derivative.h"
#include "loop/loop_type.h"

/* Changes per unit of one dof; world axes. */
typedef struct FrameVariation {
	vec3 theta, r, w, v, al, a; // by its coordinate: turn, displacement, velocities, accelerations
	spatial speed;              // by its speed: of al and a (velocities change by theta and r)
	vec3 axis_rate, r_rate;     // time derivatives of theta and r, the dof's column turning with its link
} FrameVariation;

/* Where a frame is: node (-1: the ground's origin), and its motion, gravity not subtracted. */
typedef struct FramePoint {
	int node;
	LoopFrame motion;
} FramePoint;

/* out[nu]: zero for dofs that do not move the frame. After derivative_outward(), flexible columns and kinematics_origins(). */
void frame_variations(const CalModel *model, const FramePoint *at, CalDerivatives *d, FrameVariation *out);
/* Positions and velocities of origins, and columns of modes, for these. */
void frame_prepare(const CalModel *model, const double *u, CalDerivatives *d);

#endif
