// SPDX-License-Identifier: Apache-2.0
/*
 * free.c — six freedoms. Coordinates: position in the inboard frame, quaternion; speeds: velocity in the
 * inboard frame, then relative angular velocity in the outboard frame; P = [0 R; 1 0].
 */
#include "joint/motion.h"

static int steps(const CalJointDef *def, Step step[CAL_JOINT_MAX_DOF]) {
	(void)def;
	step[0] = (Step){MOTION_FREE, {0, 0, 1}, 0};
	return 1;
}

const JointType joint_free = {CAL_JOINT_FREE, steps};
