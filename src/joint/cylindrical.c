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

static const char *as_loop(const CalJointDef *def, CalLoopDef *loop, dmat3 *axes) {
	loop->type = CAL_LOOP_CYLINDRICAL;
	*axes = joint_axes_z(def->axis);
	return NULL;
}

const JointType joint_cylindrical = {.coordinates = "angle about `axis`, length along it",
                                     .speeds = "their rates",
                                     .coordinate_names = "angle length",
                                     .speed_names = "rate speed",
                                     .uses = CAL_JOINT_USES_AXIS,
                                     .commutes = 1, // both are about one axis
                                     .elements = elements,
                                     .solve = solve,
                                     .reverse = joint_reverse_axis,
                                     .as_loop = as_loop};
