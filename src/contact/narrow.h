// SPDX-License-Identifier: Apache-2.0
/*
 * narrow.h — the narrow phase, one function per pair of types; see shape.h for what they add.
 *
 * Arguments come in the order of CalShapeType, the frames are in the world, and n points from the first to the second.
 */
#ifndef CALDER_CONTACT_NARROW_H
#define CALDER_CONTACT_NARROW_H

#include "contact/shape.h"

typedef void (*TouchFn)(const Shape *a, const Frame *fa, const Shape *b, const Frame *fb, Manifold *m);

void touch_sphere_sphere(const Shape *a, const Frame *fa, const Shape *b, const Frame *fb, Manifold *m);
void touch_sphere_capsule(const Shape *a, const Frame *fa, const Shape *b, const Frame *fb, Manifold *m);
void touch_sphere_box(const Shape *a, const Frame *fa, const Shape *b, const Frame *fb, Manifold *m);
void touch_sphere_plane(const Shape *a, const Frame *fa, const Shape *b, const Frame *fb, Manifold *m);
void touch_sphere_mesh(const Shape *a, const Frame *fa, const Shape *b, const Frame *fb, Manifold *m);
void touch_capsule_capsule(const Shape *a, const Frame *fa, const Shape *b, const Frame *fb, Manifold *m);
void touch_capsule_box(const Shape *a, const Frame *fa, const Shape *b, const Frame *fb, Manifold *m);
void touch_capsule_plane(const Shape *a, const Frame *fa, const Shape *b, const Frame *fb, Manifold *m);
void touch_capsule_mesh(const Shape *a, const Frame *fa, const Shape *b, const Frame *fb, Manifold *m);
void touch_box_box(const Shape *a, const Frame *fa, const Shape *b, const Frame *fb, Manifold *m);
void touch_box_plane(const Shape *a, const Frame *fa, const Shape *b, const Frame *fb, Manifold *m);
void touch_box_mesh(const Shape *a, const Frame *fa, const Shape *b, const Frame *fb, Manifold *m);
void touch_plane_mesh(const Shape *a, const Frame *fa, const Shape *b, const Frame *fb, Manifold *m);
void touch_mesh_mesh(const Shape *a, const Frame *fa, const Shape *b, const Frame *fb, Manifold *m);

/* A convex edge for edge-edge contact: a segment and the outward normals of its two faces. */
typedef struct Edge {
	vec3 from, to;
	vec3 normal[2];
} Edge;

/* Edge k (0 ... 11) and corner k (0 ... 7) of a box, in its own frame. */
Edge box_edge(vec3 half, int k);
vec3 box_corner(vec3 half, int k);

/* A segment of a capsule's axis. */
typedef struct Axis {
	vec3 from, to;
	double radius;
} Axis;

/** The axis of a capsule in the frame f. */
Axis capsule_axis(const Shape *capsule, const Frame *fc, const Frame *f);

/*
 * A candidate of features that are given in the frame f of the second shape: `out` is the outward normal of the second
 * shape and p a point of contact, both in f.
 */
void touch_in_frame(Manifold *m, const Frame *f, vec3 p, vec3 out, double depth, double radius, double fade);

/**
 * The outward direction in which an inner point of the second shape leaves it by the shortest way; false if the point is
 * outside.
 */
typedef bool (*LeaveFn)(const Shape *shape, vec3 p, vec3 *out);

/** The inside of an axis across a convex edge of b, both in the frame f of b. */
void touch_axis_edge(Manifold *m, const Frame *f, const Axis *axis, const Edge *edge, const Shape *b, LeaveFn leave);

/** Nearest points of the lines p + s u and q + t v; false if they are parallel (sine below 1e-4). */
bool lines_nearest(vec3 p, vec3 u, vec3 q, vec3 v, double *s, double *t);
/** The parameter (0 ... 1) of the point of a segment nearest to x. */
double segment_nearest(vec3 from, vec3 to, vec3 x);

#endif
