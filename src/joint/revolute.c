// SPDX-License-Identifier: Apache-2.0
/*
 * revolute.c — one angle about an axis fixed in both bodies: P = [a; 0].
 */
#include "joint/pose_solve.h"

static int elements(const CalJointDef *def, JointElement element[CAL_JOINT_MAX_DOF]) {
	element[0] = (JointElement){PRIMITIVE_ROTATION, def->axis, 0};
	return 1;
}

static void solve(const CalJointDef *def, const dpose *X, double *q) { q[0] = twist_about(X->R, def->axis); }

static void reverse(const CalJointDef *def, CalJointDef *out) { out->axis = joint_opposite(def->axis); }

const JointType joint_revolute = {CAL_JOINT_REVOLUTE, elements, solve, reverse, 1};
