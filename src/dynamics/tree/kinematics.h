// SPDX-License-Identifier: Apache-2.0
/*
 * kinematics.h — the outward sweeps of cal_kinematics, for the algorithms that start from them.
 */
#ifndef CALDER_DYNAMICS_TREE_KINEMATICS_H
#define CALDER_DYNAMICS_TREE_KINEMATICS_H

#include "dynamics/tree/sweep.h"
#include "flexbody/flex_pose.h"

#if CAL_LANES == 1
/* Poses, velocities, and accelerations at udot = 0 without gravity. */
void kinematics_outward(const CalModel *model, const double *q, const double *u, CalWork *work);
/*
 * The same with gravity, as a forward dynamics at q and u begins: it need not sweep again, as long as nothing else has used work
 * and it finds the same gravity, q and u.
 */
void kinematics_begin(const CalModel *model, dvec3 gravity, const double *q, const double *u, CalWork *work);
int kinematics_has_begun(const CalModel *model, dvec3 gravity, const double *q, const double *u, const CalWork *work);
/* With the gravity of the model, unless that has been done. */
void kinematics_begin_forward(const CalModel *model, const double *q, const double *u, CalWork *work);
/* Poses and velocities: a sweep only if those in work are of another q or u. Accelerations have gravity in them, or udot. */
void kinematics_reach(const CalModel *model, const double *q, const double *u, CalWork *work);
/* Positions and velocities of the links' origins, after any outward sweep with rates. */
void kinematics_origins(const CalModel *model, const double *u, CalWork *work);
/* What udot adds. */
void kinematics_accelerate(const CalModel *model, const double *udot, CalWork *work);
/* A node as it stands: pose relative to its link's origin, in world axes, and what its shapes do. */
typedef struct NodePlace {
	mat3 R;                 // orientation in the world
	mat3 axes;              // of the body frame, where it has shapes
	vec3 c;                 // from the link's origin
	const FlexShape *shape; // of the flexible body's modes, NULL: none
	const Flex *flex;       //
	const FlexWork *work;   //
	FlexPose n;             // in B; rates are zero without shapes
	const double *columns;  // of a link of the caller's own, world axes, rows over its dofs; NULL: modes
} NodePlace;
NodePlace kinematics_node(const CalModel *model, const CalWork *work, int node);
/* Column of mode k at the node. */
spatial kinematics_node_column(const NodePlace *place, int k);
/* Pose and velocity of a node, either may be NULL; its origin with and without velocity. Work has poses, and velocities if these are wanted. */
void kinematics_node_motion(const CalModel *model, const CalWork *work, int node, CalPose *pose, CalSpatial *velocity);
CalVec3 kinematics_point_motion(const CalModel *model, const CalWork *work, int node, CalSpatial *velocity);
CalVec3 kinematics_node_origin(const CalModel *model, const CalWork *work, int node);
/* Velocity of a node on a link, in the world. */
spatial kinematics_node_velocity(const CalWork *work, int link, const NodePlace *place);
/* The same of a node on a rigid body, for less; returns where it is from the origin of its link, in the world. */
vec3 kinematics_rigid_node(const CalModel *model, const CalWork *work, int node, CalPose *pose, CalSpatial *velocity);
spatial kinematics_rigid_bias(const CalWork *work, const LinkWork *l, vec3 c);
/* Acceleration of a node at udot = 0, without prescribed modal accelerations; gravity put back. */
spatial kinematics_node_bias(const CalWork *work, const LinkWork *l, const NodePlace *place);
/* Position of a link's origin; needs poses only. */
vec3 kinematics_position(const CalModel *model, const CalWork *work, int link);
#endif

#endif
