// SPDX-License-Identifier: Apache-2.0
/*
 * universal.c — an angle about axis, fixed in the inboard body, then one about axis2, fixed in the cross:
 * two links, the cross without mass. The axes need not be perpendicular.
 */
#include <math.h>

#include "joint/pose_solve.h"
#include "math/portable.h"

static int elements(const CalJointDef *def, JointElement element[CAL_JOINT_MAX_DOF]) {
	element[0] = (JointElement){PRIMITIVE_ROTATION, def->axis, 0};
	element[1] = (JointElement){PRIMITIVE_ROTATION, def->axis2, 0};
	return 2;
}

/* R(axis, q0) takes axis2 to where R does; R(axis, -q0) R is the turn about axis2. */
static void solve(const CalJointDef *def, const dpose *X, double *q) {
	const dvec3 a = dvec_in(def->axis), b = dvec_in(def->axis2), to = dmat_mul_vec(X->R, b);
	const dvec3 side = dcross(a, b), out = dcross(side, a);
	q[0] = portable_atan2(ddot(to, side), ddot(to, out));
	q[1] = twist_about(dmat_mul(matrix_about(def->axis, -q[0]), X->R), def->axis2);
}

static void reverse(const CalJointDef *def, CalJointDef *out) {
	out->axis = joint_opposite(def->axis2);
	out->axis2 = joint_opposite(def->axis);
}

static const char *as_loop(const CalJointDef *def, CalLoopDef *loop, dmat3 *axes) {
	const dvec3 x = dvec_in(def->axis), y = dvec_in(def->axis2);
	if (fabs(ddot(x, y)) > 1e-12)
		return "its axes are not perpendicular";
	loop->type = CAL_LOOP_UNIVERSAL;
	*axes = (dmat3){x, y, dcross(x, y)};
	return NULL;
}

const JointType joint_universal = {.coordinates = "angle about `axis`, then about `axis2`",
                                   .speeds = "their rates",
                                   .coordinate_names = "angle1 angle2",
                                   .speed_names = "rate1 rate2",
                                   .uses = CAL_JOINT_USES_AXIS | CAL_JOINT_USES_AXIS2,
                                   .elements = elements,
                                   .solve = solve,
                                   .reverse = reverse,
                                   .as_loop = as_loop};
