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

static const char *as_loop(const CalJointDef *def, CalLoopDef *loop, dmat3 *axes) {
	loop->type = CAL_LOOP_PLANAR;
	*axes = joint_axes_z(def->axis);
	return NULL;
}

const JointType joint_planar = {
	.coordinates = "lengths along `axis2` and `axis` x `axis2`, then the angle about `axis`",
	.speeds = "their rates",
	.coordinate_names = "x y angle",
	.speed_names = "vx vy rate",
	.uses = CAL_JOINT_USES_AXIS | CAL_JOINT_USES_AXIS2,
	.perpendicular = 1,
	.elements = elements,
	.solve = solve,
	.reverse = joint_reverse_sequence, // the angle comes first then
	.as_loop = as_loop,
};
