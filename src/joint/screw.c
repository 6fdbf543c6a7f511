// SPDX-License-Identifier: Apache-2.0
/*
 * screw.c — one angle q about an axis, advancing pitch * q along it: P = [a; pitch a].
 */
#include "joint/motion.h"

static int steps(const CalJointDef *def, Step step[CAL_JOINT_MAX_DOF]) {
	step[0] = (Step){MOTION_SCREW, def->axis, def->pitch};
	return 1;
}

const JointType joint_screw = {CAL_JOINT_SCREW, steps};
