// SPDX-License-Identifier: Apache-2.0
/*
 * set.h — the set of shapes and the workspace of its evaluations.
 */
#ifndef CALDER_CONTACT_SET_H
#define CALDER_CONTACT_SET_H

#include "contact/law.h"
#include "contact/shape.h"

typedef struct ShapeNode {
	int group, node;
} ShapeNode;

struct CalContactSet {
	CalAllocator allocator;
	int shape_count, node_count;
	Shape *shapes;
	ShapeNode *nodes;
	double smallest; // of the sizes
};

typedef struct Bounds {
	vec3 lower, upper;
} Bounds;

/* How a shape moves: its center, and its points about it. */
typedef struct SetCourse {
	vec3 v;
	double spin; // speed of a point about the center, at most [m/s]
	double bend; // acceleration of a point, at most [m/s^2]
} SetCourse;

struct CalContactWork {
	void *owned; // to be freed; NULL: memory of the caller
	int shape_count, node_count, max_points;
	int point_count;
	int failed_node;
	Frame *frame;      // [shapes] in the world
	Bounds *bounds;    // [shapes]
	int *order;        // [shapes] by the lower bound on the swept axis
	bool *out;         // [nodes] left out
	SetCourse *course; // [shapes] of a lookahead
	Bounds *ahead;     // [shapes] what they may cover
	int *ahead_order;
	Frame *mark;        // [shapes] in the world at the last lookahead
	int near_a, near_b; // the pair that may touch first since then, -1: none in reach
	double room;        // none touches while all stay within this distance of their marks [m]
	double *pace;       // [shapes] speed of their fastest points when they were last looked at
	CalContactPoint *points;
	Manifold manifold;
};

/** The velocity of a shape's node, taken at p; zero on the ground. */
static inline spatial contact_velocity(const CalPose *poses, const CalSpatial *velocities, const Shape *s, vec3 p) {
	if (s->node_index < 0)
		return spatial_zero();
	return motion_shift(spatial_in(velocities[s->node_index]), sub(p, vec_in(poses[s->node_index].r)));
}

static inline bool shape_is_round(const Shape *s) {
	return s->type == CAL_SHAPE_SPHERE || s->type == CAL_SHAPE_CAPSULE;
}

/** Whether the two may touch at all, wherever they are. */
bool shapes_may_touch(const Shape *a, const Shape *b);

/**
 * How far apart two shapes are at least, 0 where they touch or where it is not known; n: the direction from a to b in which
 * that holds for all of them, zero where there is none (meshes). Beyond `limit` the result may be `limit`.
 */
double shapes_gap(const Shape *a, const Frame *fa, const Shape *b, const Frame *fb, double limit, vec3 *n);

/** Replaces *most if shapes a and b, whose deepest point is `depth` deep, overlap more in proportion to their limit. */
void overlap_note(const CalContactSet *set, int a, int b, double depth, CalContactOverlap *most);

/* ---- broad phase --- */

/** Frames and bounds of all shapes for these poses, and the order along the axis that is returned (0, 1, 2). */
int broad_prepare(const CalContactSet *set, const CalPose *poses, CalContactWork *work);
/** Whether the bounds of two shapes overlap; for a plane, whether the other reaches below it. */
bool broad_overlap(const CalContactSet *set, const CalContactWork *work, int a, int b);

#endif
