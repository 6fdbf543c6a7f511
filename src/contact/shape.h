// SPDX-License-Identifier: Apache-2.0
/*
 * shape.h — shapes as the contact code sees them, and what a narrow phase hands back.
 *
 * A Shape is a CalShapeDef checked and digested: margins are part of its sizes. A Touch is one candidate for a contact
 * point; a Manifold collects those of one pair. Candidates appear with depth 0 or where another one already is, and
 * manifold_blend() makes neighbors share one stiffness: so the total force is continuous while features come and go.
 */
#ifndef CALDER_CONTACT_SHAPE_H
#define CALDER_CONTACT_SHAPE_H

#include <stdbool.h>

#include <calder/contact.h>

#include "math/vec.h"

/* Pose with matrices by columns: world = R local + r. */
typedef struct Frame {
	mat3 R;
	vec3 r;
} Frame;

typedef struct Shape {
	CalShapeType type;
	int node_index; // -1: the world
	Frame place;    // in the node's frame
	double radius;  // sphere, capsule; margin included
	double reach;   // capsule: half of its length
	vec3 half;      // box; margin included
	const CalMesh *mesh;
	double thickness; // of a mesh; INFINITY: a solid
	double margin;    // of a mesh or plane
	double patch;
	double size;   // half of its smallest thickness; INFINITY: a plane
	vec3 center;   // of what turns, in its own frame
	double extent; // of its points from there, 0 where turning does not matter
	int owner;
	uint32_t layers, mask;
	CalContactMaterial material; // with every default in place
	double compliance;           // k^(-1/n) of it
	char *name;
} Shape;

/* A candidate: a and b overlap at p by depth along n. */
typedef struct Touch {
	vec3 p;        // midway between the surfaces
	vec3 n;        // from a to b
	double depth;  // > 0
	double radius; // of curvature, both sides taken together; 0: not known
	double fade;   // 0 ... 1: how much it counts
	double weight; // set by manifold_blend()
} Touch;

typedef struct Manifold {
	int count;
	int dropped;
	Touch touch[CAL_CONTACT_PAIR_POINTS];
} Manifold;

INLINE vec3 frame_point(const Frame *f, vec3 x) { return add(f->r, mat_mul_vec(f->R, x)); }
INLINE vec3 frame_local(const Frame *f, vec3 x) { return mat_tmul_vec(f->R, sub(x, f->r)); }
INLINE Frame frame_mul(const Frame *a, const Frame *b) {
	return (Frame){mat_mul(a->R, b->R), add(a->r, mat_mul_vec(a->R, b->r))};
}
INLINE Frame frame_from(const CalPose *p) {
	const dmat3 R = dmat_in(&p->R);
	return (Frame){mat_from(R), vec_in(p->r)};
}
INLINE vec3 lerp(vec3 a, vec3 b, double t) { return madd(a, t, sub(b, a)); }
INLINE double norm(vec3 a) { return sqrt(dot(a, a)); }
INLINE double clamp(double x, double low, double high) { return x < low ? low : x > high ? high : x; }
/* 0 at and below 0, 1 at and above 1, with zero slope at both. */
INLINE double smoothstep(double x) {
	const double t = clamp(x, 0, 1);
	return t * t * (3 - 2 * t);
}
INLINE double component(vec3 v, int i) { return i == 0 ? v.x : i == 1 ? v.y : v.z; }
INLINE vec3 column(const mat3 *m, int i) { return i == 0 ? m->x : i == 1 ? m->y : m->z; }

/*
 * Whether a direction is in the cone of normals of a feature, softly: x is its cosine with one of the cone's bounds, and
 * the result falls from 1 at x >= 0 to 0 at x <= -CONE_WIDTH. A hard bound would switch contacts of flat features on
 * and off.
 */
#define CONE_WIDTH 0.05
INLINE double cone_fade(double x) { return smoothstep(1 + x / CONE_WIDTH); }
/*
 * Outside its cone (x < 0) a feature does not hand its contact over to the end of a capsule's axis, which touches r |x|
 * aside: it must have faded when the end is `away` = 0.
 */
INLINE double end_fade(double x, double r, double away) { return x >= 0 ? 1 : smoothstep(-0.25 * away / (r * x)); }

/** Adds a candidate unless depth or fade is 0; a full manifold keeps the deepest. */
void manifold_add(Manifold *m, vec3 p, vec3 n, double depth, double radius, double fade);

/** The candidates of a pair with their frames in the world, blended; false if the pair does not touch. */
bool shapes_touch(const Shape *a, const Frame *fa, const Shape *b, const Frame *fb, Manifold *m);

#endif
