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

int joint_steps(const CalJointDef *def, Step step[CAL_JOINT_MAX_DOF]) {
	return joint_types[def->type]->steps(def, step);
}

int joint_coordinate_count(const CalJointDef *def) {
	Step step[CAL_JOINT_MAX_DOF];
	const int count = joint_steps(def, step);
	int nq = 0;
	for (int i = 0; i < count; ++i)
		nq += motion_q_count(step[i].motion, def->ops);
	return nq;
}

int joint_speed_count(const CalJointDef *def) {
	Step step[CAL_JOINT_MAX_DOF];
	const int count = joint_steps(def, step);
	int nu = 0;
	for (int i = 0; i < count; ++i)
		nu += motion_u_count(step[i].motion, def->ops);
	return nu;
}

/* Speeds of one step that are rates of the coordinates with the same number. */
static int plain_speeds(Motion motion, const CalJointOps *ops) {
	if (motion == MOTION_SPHERICAL)
		return 0;
	if (motion == MOTION_USER)
		return ops->nq == ops->nu && !ops->integrate && !ops->rate ? ops->nu : 0;
	return motion == MOTION_FREE ? 3 : motion_u_count(motion, ops);
}

int joint_coordinate_of(const CalJointDef *def, int dof) {
	Step step[CAL_JOINT_MAX_DOF];
	const int count = joint_steps(def, step);
	int q = 0;
	for (int i = 0; i < count; ++i) {
		const int nu = motion_u_count(step[i].motion, def->ops);
		if (dof < nu)
			return dof < plain_speeds(step[i].motion, def->ops) ? q + dof : -1;
		dof -= nu;
		q += motion_q_count(step[i].motion, def->ops);
	}
	return -1;
}
