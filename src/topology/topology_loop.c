// SPDX-License-Identifier: Apache-2.0
/*
 * topology_loop.c — a joint as a loop: the type of loop that leaves the same dofs, and the frames that it wants.
 *
 * Loops are about the z of their frames, joints about any axis: both frames turn so that z is the axis (for a universal
 * joint x of A and y of B the two axes). What moves along a dof has no place in a loop: springs, dampers, motors.
 */
#include <math.h>

#include "joint/pose_solve.h"
#include "topology/topology.h"

static dmat3 turn_z_to(CalVec3 axis) {
	const dvec3 a = dvec_in(axis);
	dvec3 x = fabs(a.x) < 0.9 ? (dvec3){1, 0, 0} : (dvec3){0, 1, 0};
	x = dadd(x, dscale(-ddot(x, a), a));
	x = dscale(1.0 / sqrt(ddot(x, x)), x);
	return (dmat3){x, dcross(a, x), a};
}

static const struct {
	CalJointType joint;
	CalLoopType loop;
} types[] = {
	{CAL_JOINT_WELD, CAL_LOOP_WELD},           {CAL_JOINT_REVOLUTE, CAL_LOOP_REVOLUTE},
	{CAL_JOINT_PRISMATIC, CAL_LOOP_PRISMATIC}, {CAL_JOINT_SCREW, CAL_LOOP_SCREW},
	{CAL_JOINT_UNIVERSAL, CAL_LOOP_UNIVERSAL}, {CAL_JOINT_CYLINDRICAL, CAL_LOOP_CYLINDRICAL},
	{CAL_JOINT_PLANAR, CAL_LOOP_PLANAR},       {CAL_JOINT_SPHERICAL, CAL_LOOP_SPHERICAL},
};

const char *topology_joint_as_loop(const CalJointDef *def, CalLoopDef *loop) {
	int found = -1;
	for (int i = 0; i < (int)(sizeof types / sizeof types[0]); i++)
		found = types[i].joint == def->type ? i : found;
	if (found < 0)
		return "only weld, revolute, prismatic, screw, universal, cylindrical, planar and spherical joints can";
	for (int k = 0; k < CAL_JOINT_MAX_DOF; k++) {
		const CalDofDef *d = &def->dof[k];
		if (d->stiffness != 0 || d->damping != 0 || d->rotor_inertia != 0 || d->prescribed)
			return "its springs, dampers, rotors or drives have no place there";
	}
	dmat3 turn = dmat_identity();
	if (def->type == CAL_JOINT_UNIVERSAL) {
		const dvec3 x = dvec_in(def->axis), y = dvec_in(def->axis2);
		if (fabs(ddot(x, y)) > 1e-12)
			return "its axes are not perpendicular";
		turn = (dmat3){x, y, dcross(x, y)};
	} else if (def->type != CAL_JOINT_WELD && def->type != CAL_JOINT_SPHERICAL) {
		turn = turn_z_to(def->axis);
	}
	const dpose turned = {turn, {0, 0, 0}};
	const dpose a = dpose_mul(pose_of(def->inboard), turned);
	const dpose b = dpose_mul(dpose_inverse(pose_of(def->outboard)), turned);
	*loop = cal_loop_def(types[found].loop);
	loop->a = placement_of(&a);
	loop->b = placement_of(&b);
	loop->pitch = def->pitch;
	return NULL;
}
