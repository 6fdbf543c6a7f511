// SPDX-License-Identifier: Apache-2.0
/*
 * screw.c — one angle q about an axis, advancing pitch * q along it: S = [a; pitch a].
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
				 advance = ddot(dvec_in(def->axis), X->r);
	q[0] = def->pitch == 0 ? angle : angle + turn * rint((advance / def->pitch - angle) / turn);
}

static const char *as_loop(const CalJointDef *def, CalLoopDef *loop, dmat3 *axes) {
	loop->type = CAL_LOOP_SCREW;
	loop->pitch = def->pitch;
	*axes = joint_axes_z(def->axis);
	return NULL;
}

/* Whole turns, which the angle of a loop does not show. */
static void loop_offset(const CalJointDef *def, const double *q, CalLoopDef *loop) {
	const double turn = 8 * portable_atan(1);
	loop->drive[2].offset = def->pitch * turn * rint(q[0] / turn);
}

const JointType joint_screw = {.coordinates = "angle about `axis`; advances by `pitch` times the angle",
                               .speeds = "its rate",
                               .coordinate_names = "angle",
                               .speed_names = "rate",
                               .uses = CAL_JOINT_USES_AXIS | CAL_JOINT_USES_PITCH,
                               .commutes = 1,
                               .element = PRIMITIVE_SCREW,
                               .elements = elements,
                               .solve = solve,
                               .reverse = joint_reverse_axis,
                               .as_loop = as_loop,
                               .loop_offset = loop_offset};
