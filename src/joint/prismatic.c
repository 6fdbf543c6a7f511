// SPDX-License-Identifier: Apache-2.0
/*
 * prismatic.c — one length along an axis fixed in both bodies: P = [0; a].
 */
#include "joint/motion.h"

static int steps(const CalJointDef *def, Step step[CAL_JOINT_MAX_DOF]) {
	step[0] = (Step){MOTION_TRANSLATION, def->axis, 0};
	return 1;
}

const JointType joint_prismatic = {CAL_JOINT_PRISMATIC, steps};
