// SPDX-License-Identifier: Apache-2.0
/*
 * calder/inverse_kinematics.h — coordinates at which nodes are where they are wanted, within limits, with loops closed.
 */
#ifndef CALDER_INVERSE_KINEMATICS_H
#define CALDER_INVERSE_KINEMATICS_H

#include <calder/closed.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Where a node is wanted. */
typedef struct CalNodeTarget {
	int node;        // of the model
	CalPose pose;    // in the frame of the group
	int translation; // CAL_AXIS_X, _Y, _Z of the group's frame along which its place counts; 0: none
	int rotation; // axes of the target about which turns count: all; two, so that it may turn about the third; 0: none
} CalNodeTarget;

/** Zero-initialized: no limits, as described in the model. */
typedef struct CalReachOptions {
	const double *lower, *upper; // [nu] limits of the coordinates of these dofs; infinite: none; NULL: none at all
	const uint8_t *frozen;       // [nu] nonzero: not moved; NULL: those described as prescribed
	double tolerance;            // of places, part of the model's size, and of angles [rad]; 0: 1e-10
	int max_iterations;          // 0: 200
} CalReachOptions;

/** How near the nodes came. */
typedef struct CalReach {
	double distance; // the largest that is left [m]
	double angle;    // likewise [rad]
	int target;      // that is left farthest, -1: all are met
	int at_limit;    // dofs at a limit
	int iterations;
} CalReach;

/**
 * Moves state->q, by Levenberg's and Marquardt's method from where it is, until all targets are met; loops are closed on the
 * way, state->u is that of rest. CAL_NOT_CONVERGED: they are not met near there; state is the nearest that was found, report (may
 * be NULL) says how near. Other starts may succeed. Allocates, and takes time of the number of speeds cubed in each iteration: not for steps.
 */
CAL_API CalStatus cal_inverse_kinematics(const CalModel *model, CalState *state, const CalNodeTarget *targets,
                                         int count, const CalReachOptions *options, CalWork *work, CalReach *report);

#ifdef __cplusplus
}
#endif
#endif
