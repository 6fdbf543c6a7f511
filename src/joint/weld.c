// SPDX-License-Identifier: Apache-2.0
/*
 * weld.c — no dof. The outboard node sits on the inboard one; the compiler merges the body into its
 * parent's link, and the reaction is still an output.
 */
#include "joint/pose_solve.h"

static int elements(const CalJointDef *def, JointElement element[CAL_JOINT_MAX_DOF]) {
	(void)def;
	(void)element;
	return 0;
}

static void solve(const CalJointDef *def, const dpose *X, double *q) {
	(void)def;
	(void)X;
	(void)q;
}

static void reverse(const CalJointDef *def, CalJointDef *out) {
	(void)def;
	(void)out;
}

const JointType joint_weld = {CAL_JOINT_WELD, elements, solve, reverse, 1};
