// SPDX-License-Identifier: Apache-2.0
/*
 * universal.c — an angle about axis, fixed in the inboard body, then one about axis2, fixed in the cross:
 * two links, the cross without mass. The axes need not be perpendicular.
 */
#include "joint/motion.h"

static int steps(const CalJointDef *def, Step step[CAL_JOINT_MAX_DOF]) {
	step[0] = (Step){MOTION_ROTATION, def->axis, 0};
	step[1] = (Step){MOTION_ROTATION, def->axis2, 0};
	return 2;
}

const JointType joint_universal = {CAL_JOINT_UNIVERSAL, steps};
