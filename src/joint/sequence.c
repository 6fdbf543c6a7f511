// SPDX-License-Identifier: Apache-2.0
/*
 * sequence.c — any ordered sequence of joint primitives (gimbals, Cartesian stages, ...): one link each,
 * all but the last without mass.
 */
#include "joint/pose_solve.h"

static int elements(const CalJointDef *def, JointElement element[CAL_JOINT_MAX_DOF]) {
	for (int i = 0; i < def->element_count; ++i) {
		const CalElement *e = &def->elements[i];
		element[i] = (JointElement){joint_type(e->type)->element, e->axis, e->pitch};
	}
	return def->element_count;
}

const JointType joint_sequence = {.coordinates = "those of its elements, in order",
                                  .speeds = "those of its elements",
                                  .uses = CAL_JOINT_USES_ELEMENTS,
                                  .elements = elements,
                                  .reverse = joint_reverse_sequence};
