// SPDX-License-Identifier: Apache-2.0
/*
 * sequence.c — any ordered sequence of elementary motions (gimbals, Cartesian stages, ...): one link each,
 * all but the last without mass.
 */
#include "joint/pose_solve.h"

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

CalVec3 joint_opposite(CalVec3 axis) { return (CalVec3){-axis.x, -axis.y, -axis.z}; }

static CalJointType element_type(Motion motion) {
	switch (motion) {
	case MOTION_ROTATION:
		return CAL_JOINT_REVOLUTE;
	case MOTION_TRANSLATION:
		return CAL_JOINT_PRISMATIC;
	case MOTION_SCREW:
		return CAL_JOINT_SCREW;
	default:
		return CAL_JOINT_SPHERICAL;
	}
}

void joint_reverse_sequence(const CalJointDef *def, CalJointDef *out) {
	Step step[CAL_JOINT_MAX_DOF];
	const int count = joint_steps(def, step);
	out->type = CAL_JOINT_SEQUENCE;
	out->element_count = count;
	for (int i = 0; i < count; ++i) {
		const Step *from = &step[count - 1 - i];
		out->elements[i] = (CalElement){element_type(from->motion), joint_opposite(from->axis), from->pitch};
	}
}

static void reverse(const CalJointDef *def, CalJointDef *out) { joint_reverse_sequence(def, out); }

const JointType joint_sequence = {CAL_JOINT_SEQUENCE, steps, NULL, reverse, 0};
