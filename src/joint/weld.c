// SPDX-License-Identifier: Apache-2.0
/*
 * weld.c — no freedom. The outboard node sits on the inboard one; the compiler merges the body into its
 * parent's link, and the reaction is still an output.
 */
#include "joint/motion.h"

static int steps(const CalJointDef *def, Step step[CAL_JOINT_MAX_DOF]) {
	(void)def;
	(void)step;
	return 0;
}

const JointType joint_weld = {CAL_JOINT_WELD, steps};
