// SPDX-License-Identifier: Apache-2.0
/*
 * revolute.c — one angle about an axis fixed in both bodies: S = [a; 0].
 */
#include "joint/pose_solve.h"

static int elements(const CalJointDef *def, JointElement element[CAL_JOINT_MAX_DOF]) {
	return joint_one_element(PRIMITIVE_ROTATION, def, element);
}

static void solve(const CalJointDef *def, const dpose *X, double *q) { q[0] = twist_about(X->R, def->axis); }

static const char *as_loop(const CalJointDef *def, CalLoopDef *loop, dmat3 *axes) {
	loop->type = CAL_LOOP_REVOLUTE;
	*axes = joint_axes_z(def->axis);
	return NULL;
}

const JointType joint_revolute = {.coordinates = "angle about `axis`",
                                  .speeds = "its rate",
                                  .coordinate_names = "angle",
                                  .speed_names = "rate",
                                  .uses = CAL_JOINT_USES_AXIS,
                                  .commutes = 1,
                                  .element = PRIMITIVE_ROTATION,
                                  .elements = elements,
                                  .solve = solve,
                                  .reverse = joint_reverse_axis,
                                  .as_loop = as_loop};
