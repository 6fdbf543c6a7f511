// SPDX-License-Identifier: Apache-2.0
/*
 * prismatic.c — one length along an axis fixed in both bodies: P = [0; a].
 */
#include "joint/pose_solve.h"

static int elements(const CalJointDef *def, JointElement element[CAL_JOINT_MAX_DOF]) {
	element[0] = (JointElement){PRIMITIVE_TRANSLATION, def->axis, 0};
	return 1;
}

static void solve(const CalJointDef *def, const dpose *X, double *q) { q[0] = ddot(dvec_in(def->axis), X->r); }

static void reverse(const CalJointDef *def, CalJointDef *out) { out->axis = joint_opposite(def->axis); }

const JointType joint_prismatic = {CAL_JOINT_PRISMATIC, elements, solve, reverse, 1};
