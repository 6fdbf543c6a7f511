// SPDX-License-Identifier: Apache-2.0
/*
 * user.c — a joint of the caller's own: pose, columns and bias acceleration come from a table of functions
 * (CalJointOps).
 */
#include "joint/pose_solve.h"

static int elements(const CalJointDef *def, JointElement element[CAL_JOINT_MAX_DOF]) {
	(void)def;
	element[0] = (JointElement){PRIMITIVE_USER, {0, 0, 1}, 0};
	return 1;
}

const JointType joint_user = {.coordinates = "the caller's",
                              .speeds = "the caller's",
                              .uses = CAL_JOINT_USES_OPS,
                              .commutes = 1,
                              .elements = elements};
