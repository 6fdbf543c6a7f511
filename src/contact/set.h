// SPDX-License-Identifier: Apache-2.0
/*
 * set.h — the set of shapes and the workspace of its evaluations.
 */
#ifndef CALDER_CONTACT_SET_H
#define CALDER_CONTACT_SET_H

#include "contact/law.h"
#include "contact/shape.h"

typedef struct Slot {
	int group, node;
} Slot;

struct CalContactSet {
	CalAllocator allocator;
	int shape_count, slot_count;
	Shape *shapes;
	Slot *slots;
};

typedef struct Bounds {
	vec3 lower, upper;
} Bounds;

struct CalContactWork {
	void *owned; // to be freed; NULL: memory of the caller
	int shape_count, slot_count, max_points;
	int point_count;
	int culprit;
	Frame *frame;   // [shapes] in the world
	Bounds *bounds; // [shapes]
	int *order;     // [shapes] by the lower bound on the swept axis
	bool *out;      // [slots] left out
	CalContactPoint *points;
	Manifold manifold;
};

/** Whether the two may touch at all, wherever they are. */
bool shapes_may_touch(const Shape *a, const Shape *b);

/* ---- broad phase --- */

/** Frames and bounds of all shapes for these poses, and the order along the axis that is returned (0, 1, 2). */
int broad_prepare(const CalContactSet *set, const CalPose *poses, CalContactWork *work);
/** Whether the bounds of two shapes overlap; for a plane, whether the other reaches below it. */
bool broad_overlap(const CalContactSet *set, const CalContactWork *work, int a, int b);

#endif
