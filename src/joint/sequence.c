// SPDX-License-Identifier: Apache-2.0
/*
 * sequence.c — any ordered sequence of elementary motions (gimbals, Cartesian stages, ...): one link each,
 * all but the last without mass.
 */
#include "joint/motion.h"

static Motion element_motion(CalJointType type) {
	switch (type) {
	case CAL_JOINT_REVOLUTE:
		return MOTION_ROTATION;
	case CAL_JOINT_PRISMATIC:
		return MOTION_TRANSLATION;
	case CAL_JOINT_SCREW:
		return MOTION_SCREW;
	default:
		return MOTION_SPHERICAL;
	}
}

static int steps(const CalJointDef *def, Step step[CAL_JOINT_MAX_DOF]) {
	for (int i = 0; i < def->element_count; ++i) {
		const CalElement *e = &def->elements[i];
		step[i] = (Step){element_motion(e->type), e->axis, e->pitch};
	}
	return def->element_count;
}

const JointType joint_sequence = {CAL_JOINT_SEQUENCE, steps};
