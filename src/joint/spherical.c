// SPDX-License-Identifier: Apache-2.0
/*
 * spherical.c — any rotation. Coordinates: quaternion of the outboard frame in the inboard one; speeds:
 * relative angular velocity, components in the outboard frame; P = [R; 0].
 */
#include "joint/motion.h"

static int steps(const CalJointDef *def, Step step[CAL_JOINT_MAX_DOF]) {
	(void)def;
	step[0] = (Step){MOTION_SPHERICAL, {0, 0, 1}, 0};
	return 1;
}

const JointType joint_spherical = {CAL_JOINT_SPHERICAL, steps};
