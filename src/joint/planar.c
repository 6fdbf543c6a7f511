// SPDX-License-Identifier: Apache-2.0
/*
 * planar.c — lengths along axis2 and axis x axis2 in the inboard frame, then an angle about the normal
 * `axis`.
 */
#include "joint/pose_solve.h"

static int elements(const CalJointDef *def, JointElement element[CAL_JOINT_MAX_DOF]) {
	const dvec3 third = dcross(dvec_in(def->axis), dvec_in(def->axis2));
	element[0] = (JointElement){PRIMITIVE_TRANSLATION, def->axis2, 0};
	element[1] = (JointElement){PRIMITIVE_TRANSLATION, dvec_out(third), 0};
	element[2] = (JointElement){PRIMITIVE_ROTATION, def->axis, 0};
	return 3;
}

static void solve(const CalJointDef *def, const dpose *X, double *q) {
	q[0] = ddot(dvec_in(def->axis2), X->r);
	q[1] = ddot(dcross(dvec_in(def->axis), dvec_in(def->axis2)), X->r);
	q[2] = twist_about(X->R, def->axis);
}

/* The angle comes first now, which is a sequence. */
static void reverse(const CalJointDef *def, CalJointDef *out) { joint_reverse_sequence(def, out); }

const JointType joint_planar = {CAL_JOINT_PLANAR, elements, solve, reverse, 0};
