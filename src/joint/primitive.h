// SPDX-License-Identifier: Apache-2.0
/*
 * primitive.h — the joint primitives that links make.
 *
 * A joint type is a list of primitives (joint_type.h), each of which becomes a link of the
 * compiled model. The sweeps know the motions below and nothing of joint types. ROTATION and TRANSLATION
 * are about and along the z axis of the link frame, which the compiler turns to where the axis is, and are
 * written out in the sweeps; all others go through primitive_evaluate() and a few columns.
 */
#ifndef CALDER_JOINT_PRIMITIVE_H
#define CALDER_JOINT_PRIMITIVE_H

#include <calder/build.h>
#include "math/quat.h"

typedef enum JointPrimitive {
	PRIMITIVE_FIXED,       // 0 coordinates, 0 speeds
	PRIMITIVE_ROTATION,    // about z
	PRIMITIVE_TRANSLATION, // along z
	PRIMITIVE_SCREW,       // about z, advancing pitch * angle along z
	PRIMITIVE_SPHERICAL,   // quaternion; angular velocity in the outboard frame
	PRIMITIVE_FREE,        // position, quaternion; velocity in the inboard, angular velocity in the outboard frame
	PRIMITIVE_USER,        // functions of the caller
	PRIMITIVE_FLEX, // body frame of a flexible body relative to its head node; its modes are not counted as speeds
	PRIMITIVE_NODE, // node of a flexible body relative to the body frame
} JointPrimitive;

/* Structure of a joint column: which half of it is there. */
typedef enum ColumnKind { COLUMN_ROTATION, COLUMN_TRANSLATION, COLUMN_FULL } ColumnKind;

int primitive_q_count(JointPrimitive motion, const CalJointOps *ops);
int primitive_u_count(JointPrimitive motion, const CalJointOps *ops);
/* What coordinate or speed i of a primitive measures. */
CalCoordinateKind primitive_q_kind(JointPrimitive motion, int i);
CalCoordinateKind primitive_u_kind(JointPrimitive motion, int i);

/* The parameters of one link's motion as the sweeps see them. */
typedef struct PrimitiveData {
	double pitch;
	const CalJointOps *ops;
	const void *ops_data;
} PrimitiveData;

/* Structure of column k. */
INLINE ColumnKind primitive_column_kind(JointPrimitive motion, int k) {
	switch (motion) {
	case PRIMITIVE_ROTATION:
	case PRIMITIVE_SPHERICAL:
		return COLUMN_ROTATION;
	case PRIMITIVE_TRANSLATION:
		return COLUMN_TRANSLATION;
	case PRIMITIVE_FREE:
		return k < 3 ? COLUMN_TRANSLATION : COLUMN_ROTATION;
	default:
		return COLUMN_FULL;
	}
}

/* Motion of the outboard frame J relative to the inboard frame F; components in F. */
typedef struct RelativeMotion {
	mat3 R;         // orientation of J in F
	vec3 r;         // origin of J in F
	spatial S[6];   // motion subspace, one column per speed: V_FJ = S u, at the origin of J
	spatial Sdot_u; // what the columns' own change adds to the acceleration
} RelativeMotion;

/* Fills out for every motion; u may be NULL (Sdot_u is then not set). One call per link. */
void LANED(primitive_evaluate)(JointPrimitive motion, const PrimitiveData *data, const real *q, const real *u,
                               RelativeMotion *out);

/* Configuration manifold of one link, over double. */
void primitive_neutral(JointPrimitive motion, const PrimitiveData *data, double *q);
void primitive_integrate(JointPrimitive motion, const PrimitiveData *data, const double *q, const double *dq,
                         double *q_out);
void primitive_difference(JointPrimitive motion, const PrimitiveData *data, const double *q0, const double *q1,
                          double *dq);
void primitive_rate(JointPrimitive motion, const PrimitiveData *data, const double *delta, const double *u,
                    double *delta_dot);

#endif
