// SPDX-License-Identifier: Apache-2.0
/*
 * builder.h — bodies of the order-N papers by the description: plates, rods, booms, and welds as things stand.
 *
 * The first failure stays in the builder and turns all later calls into nothing.
 */
#ifndef BENCH_PAPERS_BUILDER_H
#define BENCH_PAPERS_BUILDER_H

#include "models.h"

typedef struct Builder {
	PaperModel *made;
	PaperOptions options;
	CalStatus status;
	CalError *error;
} Builder;

/** A place to attach to: a node, and where on it. */
typedef struct Mount {
	CalNodeId node;
	CalPlacement placement;
} Mount;

/** A boom along x with four bending modes. */
typedef struct Boom {
	double length, mass, stiffness; // [m], [kg], EI [N m^2]
} Boom;

CalQuat turn_about(CalVec3 axis, double angle);
CalQuat quat_product(CalQuat a, CalQuat b);
CalQuat quat_of(const CalMat3 *R);

/** A revolute about the axis; {0}: a weld. */
CalJointDef paper_joint(CalVec3 axis);

/* Each returns the body's own node; the joint gets the name of the body. */
CalNodeId add_rod(Builder *b, const char *name, Mount mount, CalVec3 axis, double mass, double length);
CalNodeId add_plate(Builder *b, const char *name, Mount mount, CalJointDef joint, double mass, double width);
/** Returns the node at the tip. */
CalNodeId add_boom(Builder *b, const char *name, Mount mount, CalVec3 axis, const Boom *boom);

/** Pose of a node at the start, in the world. */
CalPose pose_at_start(Builder *b, CalNodeId node);
/** The pose X seen from the pose of `from`. */
CalPlacement placement_from(const CalPose *from, const CalPose *X);
/** The pose of a place on a frame. */
CalPose pose_at(const CalPose *frame, CalVec3 place);
/** Welds b, at its placement, to a as both are at the start. */
void weld_as_it_stands(Builder *b, const char *name, CalNodeId a, Mount end);

#endif
