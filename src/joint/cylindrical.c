// SPDX-License-Identifier: Apache-2.0
/*
 * cylindrical.c — an angle about and a length along one axis, independent of each other.
 */
#include "joint/pose_solve.h"

static int elements(const CalJointDef *def, JointElement element[CAL_JOINT_MAX_DOF]) {
	element[0] = (JointElement){PRIMITIVE_ROTATION, def->axis, 0};
	element[1] = (JointElement){PRIMITIVE_TRANSLATION, def->axis, 0};
	return 2;
}

static void solve(const CalJointDef *def, const dpose *X, double *q) {
	q[0] = twist_about(X->R, def->axis);
	q[1] = ddot(dvec_in(def->axis), X->r);
}

/* Both are about one axis: their order does not matter and stays. */
static void reverse(const CalJointDef *def, CalJointDef *out) { out->axis = joint_opposite(def->axis); }

const JointType joint_cylindrical = {CAL_JOINT_CYLINDRICAL, elements, solve, reverse, 1};
