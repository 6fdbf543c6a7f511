// SPDX-License-Identifier: Apache-2.0
/*
 * sequence.c — any ordered sequence of joint primitives (gimbals, Cartesian stages, ...): one link each,
 * all but the last without mass.
 */
#include "joint/pose_solve.h"

static JointPrimitive element_motion(CalJointType type) {
	switch (type) {
	case CAL_JOINT_REVOLUTE:
		return PRIMITIVE_ROTATION;
	case CAL_JOINT_PRISMATIC:
		return PRIMITIVE_TRANSLATION;
	case CAL_JOINT_SCREW:
		return PRIMITIVE_SCREW;
	default:
		return PRIMITIVE_SPHERICAL;
	}
}

static int elements(const CalJointDef *def, JointElement element[CAL_JOINT_MAX_DOF]) {
	for (int i = 0; i < def->element_count; ++i) {
		const CalElement *e = &def->elements[i];
		element[i] = (JointElement){element_motion(e->type), e->axis, e->pitch};
	}
	return def->element_count;
}

CalVec3 joint_opposite(CalVec3 axis) { return (CalVec3){-axis.x, -axis.y, -axis.z}; }

static CalJointType element_type(JointPrimitive motion) {
	switch (motion) {
	case PRIMITIVE_ROTATION:
		return CAL_JOINT_REVOLUTE;
	case PRIMITIVE_TRANSLATION:
		return CAL_JOINT_PRISMATIC;
	case PRIMITIVE_SCREW:
		return CAL_JOINT_SCREW;
	default:
		return CAL_JOINT_SPHERICAL;
	}
}

void joint_reverse_sequence(const CalJointDef *def, CalJointDef *out) {
	JointElement element[CAL_JOINT_MAX_DOF];
	const int count = joint_elements(def, element);
	out->type = CAL_JOINT_SEQUENCE;
	out->element_count = count;
	for (int i = 0; i < count; ++i) {
		const JointElement *from = &element[count - 1 - i];
		out->elements[i] = (CalElement){element_type(from->motion), joint_opposite(from->axis), from->pitch};
	}
}

static void reverse(const CalJointDef *def, CalJointDef *out) { joint_reverse_sequence(def, out); }

const JointType joint_sequence = {CAL_JOINT_SEQUENCE, elements, NULL, reverse, 0};
