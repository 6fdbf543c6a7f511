// SPDX-License-Identifier: Apache-2.0
/*
 * pin_slot.c — a pin in a slot: a length along axis2, fixed in the inboard body, then an angle about axis, the pin. Two
 * links, the slider without mass. The slot need not be perpendicular to the pin.
 */
#include <math.h>

#include "joint/pose_solve.h"

static int elements(const CalJointDef *def, JointElement element[CAL_JOINT_MAX_DOF]) {
	element[0] = (JointElement){PRIMITIVE_TRANSLATION, def->axis2, 0};
	element[1] = (JointElement){PRIMITIVE_ROTATION, def->axis, 0};
	return 2;
}

static void solve(const CalJointDef *def, const dpose *X, double *q) {
	q[0] = ddot(dvec_in(def->axis2), X->r);
	q[1] = twist_about(X->R, def->axis);
}

/* Free along x of A, the slot, and about z, the pin. */
static const char *as_loop(const CalJointDef *def, CalLoopDef *loop, dmat3 *axes) {
	const dvec3 x = dvec_in(def->axis2), z = dvec_in(def->axis);
	if (fabs(ddot(x, z)) > 1e-12)
		return "its axes are not perpendicular";
	loop->type = CAL_LOOP_DIRECTIONS;
	loop->translation = CAL_AXIS_Y | CAL_AXIS_Z;
	loop->rotation = CAL_AXIS_X | CAL_AXIS_Y;
	*axes = (dmat3){x, dcross(z, x), z};
	return NULL;
}

const JointType joint_pin_slot = {.coordinates = "length along `axis2`, the slot, then the angle about `axis`, the pin",
                                  .speeds = "their rates",
                                  .coordinate_names = "length angle",
                                  .speed_names = "speed rate",
                                  .uses = CAL_JOINT_USES_AXIS | CAL_JOINT_USES_AXIS2,
                                  .elements = elements,
                                  .solve = solve,
                                  .reverse = joint_reverse_sequence, // the angle comes first then
                                  .as_loop = as_loop};
