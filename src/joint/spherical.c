// SPDX-License-Identifier: Apache-2.0
/*
 * spherical.c — any rotation. Coordinates: quaternion of the outboard frame in the inboard one; speeds:
 * relative angular velocity, components in the outboard frame; P = [R; 0].
 */
#include "joint/pose_solve.h"

static int elements(const CalJointDef *def, JointElement element[CAL_JOINT_MAX_DOF]) {
	(void)def;
	element[0] = (JointElement){PRIMITIVE_SPHERICAL, {0, 0, 1}, 0};
	return 1;
}

static void solve(const CalJointDef *def, const dpose *X, double *q) {
	const CalQuat turn = quat_of_matrix(X->R);
	(void)def;
	q[0] = turn.w, q[1] = turn.x, q[2] = turn.y, q[3] = turn.z;
}

static void reverse(const CalJointDef *def, CalJointDef *out) {
	(void)def;
	(void)out;
}

const JointType joint_spherical = {CAL_JOINT_SPHERICAL, elements, solve, reverse, 1};
