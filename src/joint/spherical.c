// SPDX-License-Identifier: Apache-2.0
/*
 * spherical.c — any rotation. Coordinates: quaternion of the outboard frame in the inboard one; speeds:
 * relative angular velocity, components in the outboard frame; S = [R; 0].
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

static const char *as_loop(const CalJointDef *def, CalLoopDef *loop, dmat3 *axes) {
	(void)def;
	(void)axes;
	loop->type = CAL_LOOP_SPHERICAL;
	return NULL;
}

const JointType joint_spherical = {.coordinates = "quaternion w, x, y, z",
                                   .speeds = "angular velocity of the outboard side, outboard axes",
                                   .coordinate_names = "qw qx qy qz",
                                   .speed_names = "wx wy wz",
                                   .commutes = 1,
                                   .element = PRIMITIVE_SPHERICAL,
                                   .elements = elements,
                                   .solve = solve,
                                   .as_loop = as_loop};
