// SPDX-License-Identifier: Apache-2.0
/*
 * screw.c — one angle q about an axis, advancing pitch * q along it: P = [a; pitch a].
 */
#include <math.h>

#include "joint/pose_solve.h"
#include "math/portable.h"

static int elements(const CalJointDef *def, JointElement element[CAL_JOINT_MAX_DOF]) {
	element[0] = (JointElement){PRIMITIVE_SCREW, def->axis, def->pitch};
	return 1;
}

/* Among the angles that the turn allows, the one whose advance comes nearest. */
static void solve(const CalJointDef *def, const dpose *X, double *q) {
	const double turn = 8 * portable_atan(1), angle = twist_about(X->R, def->axis),
				 way = ddot(dvec_in(def->axis), X->r);
	q[0] = def->pitch == 0 ? angle : angle + turn * rint((way / def->pitch - angle) / turn);
}

static void reverse(const CalJointDef *def, CalJointDef *out) { out->axis = joint_opposite(def->axis); }

const JointType joint_screw = {CAL_JOINT_SCREW, elements, solve, reverse, 1};
