// SPDX-License-Identifier: Apache-2.0
/*
 * topology_loop.c — a joint as a loop: the type of loop that leaves the same dofs, and the frames that it wants.
 *
 * Loops are about the axes of their frames, joints about any axis: both frames turn to the axes of the joint
 * (JointType.as_loop). What moves along a dof has no place in a loop: springs, dampers, motors.
 */
#include "joint/pose_solve.h"
#include "topology/topology.h"

const char *topology_joint_as_loop(const CalJointDef *def, CalLoopDef *loop) {
	const JointType *type = joint_type(def->type);
	dmat3 turn = dmat_identity();
	if (!type->as_loop)
		return "no type of loop leaves the same motion";
	for (int k = 0; k < CAL_JOINT_MAX_DOF; k++) {
		const CalDofDef *d = &def->dof[k];
		if (d->stiffness != 0 || d->damping != 0 || d->rotor_inertia != 0 || d->prescribed)
			return "its springs, dampers, rotors or drives have no place there";
	}
	*loop = cal_loop_def(CAL_LOOP_WELD);
	const char *why = type->as_loop(def, loop, &turn);
	if (why)
		return why;
	const dpose turned = {turn, {0, 0, 0}};
	const dpose a = dpose_mul(pose_of(def->inboard), turned);
	const dpose b = dpose_mul(dpose_inverse(pose_of(def->outboard)), turned);
	loop->a = placement_of(&a);
	loop->b = placement_of(&b);
	return NULL;
}
