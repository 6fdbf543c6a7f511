// SPDX-License-Identifier: Apache-2.0
/*
 * cylindrical.c — an angle about and a length along one axis, independent of each other.
 */
#include "joint/motion.h"

static int steps(const CalJointDef *def, Step step[CAL_JOINT_MAX_DOF]) {
	step[0] = (Step){MOTION_ROTATION, def->axis, 0};
	step[1] = (Step){MOTION_TRANSLATION, def->axis, 0};
	return 2;
}

const JointType joint_cylindrical = {CAL_JOINT_CYLINDRICAL, steps};
