// SPDX-License-Identifier: Apache-2.0
/*
 * prismatic.c — one length along an axis fixed in both bodies: S = [0; a].
 */
#include "joint/pose_solve.h"

static int elements(const CalJointDef *def, JointElement element[CAL_JOINT_MAX_DOF]) {
	return joint_one_element(PRIMITIVE_TRANSLATION, def, element);
}

static void solve(const CalJointDef *def, const dpose *X, double *q) { q[0] = ddot(dvec_in(def->axis), X->r); }

static const char *as_loop(const CalJointDef *def, CalLoopDef *loop, dmat3 *axes) {
	loop->type = CAL_LOOP_PRISMATIC;
	*axes = joint_axes_z(def->axis);
	return NULL;
}

const JointType joint_prismatic = {.coordinates = "length along `axis`",
                                   .speeds = "its rate",
                                   .coordinate_names = "length",
                                   .speed_names = "speed",
                                   .uses = CAL_JOINT_USES_AXIS,
                                   .commutes = 1,
                                   .element = PRIMITIVE_TRANSLATION,
                                   .elements = elements,
                                   .solve = solve,
                                   .reverse = joint_reverse_axis,
                                   .as_loop = as_loop};
