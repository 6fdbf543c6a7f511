// SPDX-License-Identifier: Apache-2.0
/*
 * generic_pose.h — a model in a configuration without any symmetry, for what is decided once when it is compiled.
 *
 * Whatever vanishes there vanishes in every configuration; flexible bodies are undeformed.
 */
#ifndef CALDER_MODEL_GENERIC_POSE_H
#define CALDER_MODEL_GENERIC_POSE_H

#include "model/model.h"

typedef struct GenericPose {
	mat3 R;                       // orientation of the link
	vec3 r;                       // from the origin of its parent to its own, world axes [m]
	spatial S[CAL_JOINT_MAX_DOF]; // columns of its joint, world axes, about its origin
} GenericPose;

/* Coordinates of such a configuration; dq[nu] is scratch. */
void generic_configuration(const CalModel *model, double *q, double *dq);
/* Pose of link i from that of its parent (NULL: the ground). */
GenericPose generic_pose(const CalModel *model, const double *q, int i, const GenericPose *parent);

#endif
