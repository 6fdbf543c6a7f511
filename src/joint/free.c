// SPDX-License-Identifier: Apache-2.0
/*
 * free.c — six dofs. Coordinates: position in the inboard frame, quaternion; speeds: velocity in the
 * inboard frame, then relative angular velocity in the outboard frame; S = [0 R; 1 0].
 */
#include "joint/pose_solve.h"

static int elements(const CalJointDef *def, JointElement element[CAL_JOINT_MAX_DOF]) {
	(void)def;
	element[0] = (JointElement){PRIMITIVE_FREE, {0, 0, 1}, 0};
	return 1;
}

static void solve(const CalJointDef *def, const dpose *X, double *q) {
	const CalQuat turn = quat_of_matrix(X->R);
	(void)def;
	q[0] = X->r.x, q[1] = X->r.y, q[2] = X->r.z;
	q[3] = turn.w, q[4] = turn.x, q[5] = turn.y, q[6] = turn.z;
}

const JointType joint_free = {.coordinates = "x, y, z, then quaternion w, x, y, z",
                              .speeds = "velocity in inboard axes, angular velocity in outboard axes",
                              .coordinate_names = "x y z qw qx qy qz",
                              .speed_names = "vx vy vz wx wy wz",
                              .commutes = 1,
                              .elements = elements,
                              .solve = solve};
