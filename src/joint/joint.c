// SPDX-License-Identifier: Apache-2.0
/*
 * joint.c — the list of joint types. A new type is its file, a line in CAL_JOINT_TYPE_LIST (build.h), its
 * declaration in primitive.h and a line here.
 */
#include "joint/primitive.h"

static const JointType *const joint_types[CAL_JOINT_TYPE_COUNT] = {
	[CAL_JOINT_WELD] = &joint_weld,           [CAL_JOINT_REVOLUTE] = &joint_revolute,
	[CAL_JOINT_PRISMATIC] = &joint_prismatic, [CAL_JOINT_SCREW] = &joint_screw,
	[CAL_JOINT_UNIVERSAL] = &joint_universal, [CAL_JOINT_CYLINDRICAL] = &joint_cylindrical,
	[CAL_JOINT_PLANAR] = &joint_planar,       [CAL_JOINT_SPHERICAL] = &joint_spherical,
	[CAL_JOINT_FREE] = &joint_free,           [CAL_JOINT_SEQUENCE] = &joint_sequence,
	[CAL_JOINT_USER] = &joint_user,
};

const JointType *joint_type(CalJointType type) { return joint_types[type]; }

int joint_elements(const CalJointDef *def, JointElement element[CAL_JOINT_MAX_DOF]) {
	return joint_types[def->type]->elements(def, element);
}

int joint_coordinate_count(const CalJointDef *def) {
	JointElement element[CAL_JOINT_MAX_DOF];
	const int count = joint_elements(def, element);
	int nq = 0;
	for (int i = 0; i < count; ++i)
		nq += primitive_q_count(element[i].motion, def->ops);
	return nq;
}

int joint_speed_count(const CalJointDef *def) {
	JointElement element[CAL_JOINT_MAX_DOF];
	const int count = joint_elements(def, element);
	int nu = 0;
	for (int i = 0; i < count; ++i)
		nu += primitive_u_count(element[i].motion, def->ops);
	return nu;
}

/* Speeds of one element that are rates of the coordinates with the same number. */
static int plain_speeds(JointPrimitive motion, const CalJointOps *ops) {
	if (motion == PRIMITIVE_SPHERICAL)
		return 0;
	if (motion == PRIMITIVE_USER)
		return ops->nq == ops->nu && !ops->integrate && !ops->rate ? ops->nu : 0;
	return motion == PRIMITIVE_FREE ? 3 : primitive_u_count(motion, ops);
}

int joint_coordinate_of(const CalJointDef *def, int dof) {
	JointElement element[CAL_JOINT_MAX_DOF];
	const int count = joint_elements(def, element);
	int q = 0;
	for (int i = 0; i < count; ++i) {
		const int nu = primitive_u_count(element[i].motion, def->ops);
		if (dof < nu)
			return dof < plain_speeds(element[i].motion, def->ops) ? q + dof : -1;
		dof -= nu;
		q += primitive_q_count(element[i].motion, def->ops);
	}
	return -1;
}
