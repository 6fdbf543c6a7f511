// SPDX-License-Identifier: Apache-2.0
/*
 * revolute.c — one angle about an axis fixed in both bodies: P = [a; 0].
 */
#include "joint/motion.h"

static int steps(const CalJointDef *def, Step step[CAL_JOINT_MAX_DOF]) {
	step[0] = (Step){MOTION_ROTATION, def->axis, 0};
	return 1;
}

const JointType joint_revolute = {CAL_JOINT_REVOLUTE, steps};
