// SPDX-License-Identifier: Apache-2.0
/*
 * box.c — boxes against planes and boxes.
 *
 * On a plane each corner is a point of its own. Two boxes overlap if they do so along each of 15 axes: the faces' normals
 * and the cross products of edges. The axis of least overlap is the contact's normal. A face axis gives a manifold: the
 * opposite face of the other box, clipped to the sides of this one; an edge axis gives one point. Axes whose overlap is
 * nearly the least count too, less the farther they are from it: so the normal does not jump when another axis takes
 * over, and two parallel faces are treated alike whichever box comes first.
 */
#include "contact/narrow.h"

#define TIE 0.1 // axes within 10 % of the least overlap count

void touch_box_plane(const Shape *a, const Frame *fa, const Shape *b, const Frame *fb, Manifold *m) {
	const vec3 up = fb->R.z;
	for (int k = 0; k < 8; k++) {
		const vec3 p = frame_point(fa, box_corner(a->half, k));
		const double depth = b->margin - dot(up, sub(p, fb->r));
		manifold_add(m, madd(p, 0.5 * depth, up), neg(up), depth, 0, 1);
	}
}

/* ---- separating axes --------------------------------------------------------------------------- */

enum { AXES = 15 }; // 0-2 faces of a, 3-5 faces of b, 6 + 3 i + j edge i of a with edge j of b

typedef struct Axes {
	vec3 n[AXES];         // from a to b, world
	double overlap[AXES]; // INFINITY: does not count
	double least;         // of these
	double thinnest;      // of all overlaps, those of weakened axes too
} Axes;

static double half_width(const Frame *f, vec3 half, vec3 n) {
	return half.x * fabs(dot(f->R.x, n)) + half.y * fabs(dot(f->R.y, n)) + half.z * fabs(dot(f->R.z, n));
}

/* The cosine of n with the nearest face normal of either box. */
static double face_alignment(const Frame *fa, const Frame *fb, vec3 n) {
	double best = 0;
	for (int i = 0; i < 3; i++)
		best = fmax(best, fmax(fabs(dot(column(&fa->R, i), n)), fabs(dot(column(&fb->R, i), n))));
	return best;
}

/*
 * Sets axis k. An edge axis close to a face's normal says the same as the face does, but with one point instead of a
 * manifold; it is weakened until, within 3 degrees, it does not count. Returns false if the boxes are apart.
 */
static bool axis_set(Axes *x, int k, const Shape *a, const Frame *fa, const Shape *b, const Frame *fb, vec3 n) {
	const double length = norm(n), d = dot(n, sub(fb->r, fa->r));
	x->overlap[k] = INFINITY;
	if (k >= 6 && length < 1e-3)
		return true;
	n = scale((d < 0 ? -1 : 1) / length, n);
	const double overlap = half_width(fa, a->half, n) + half_width(fb, b->half, n) - fabs(d) / length;
	if (!(overlap > 0))
		return false;
	x->n[k] = n;
	x->thinnest = fmin(x->thinnest, overlap);
	const double cosine = k < 6 ? 0 : face_alignment(fa, fb, n);
	const double fade = smoothstep((0.99863 - cosine) / 0.0084); // 0 at 3 degrees, 1 at 8
	if (fade > 0)
		x->overlap[k] = overlap / fade;
	x->least = fmin(x->least, x->overlap[k]);
	return true;
}

static bool axes_find(Axes *x, const Shape *a, const Frame *fa, const Shape *b, const Frame *fb) {
	x->least = x->thinnest = INFINITY;
	for (int k = 0; k < 6; k++)
		if (!axis_set(x, k, a, fa, b, fb, column(k < 3 ? &fa->R : &fb->R, k % 3)))
			return false;
	for (int k = 6; k < AXES; k++)
		if (!axis_set(x, k, a, fa, b, fb, cross(column(&fa->R, (k - 6) / 3), column(&fb->R, (k - 6) % 3))))
			return false;
	return true;
}

/* ---- manifolds --------------------------------------------------------------------------------- */

typedef struct Polygon {
	int count;
	vec3 v[12];
} Polygon;

/* Keeps sign * (component axis) <= bound. */
static void polygon_clip(Polygon *p, int axis, double sign, double bound) {
	Polygon out = {0};
	for (int i = 0; i < p->count; i++) {
		const vec3 from = p->v[i], to = p->v[(i + 1) % p->count];
		const double x = sign * component(from, axis) - bound, y = sign * component(to, axis) - bound;
		if (x <= 0)
			out.v[out.count++] = from;
		if ((x < 0 && y > 0) || (x > 0 && y < 0))
			out.v[out.count++] = lerp(from, to, x / (x - y));
	}
	*p = out;
}

/* The face of a box whose outward normal points most against n, corners in order, in the frame `into`. */
static Polygon opposite_face(const Shape *s, const Frame *f, vec3 n, const Frame *into) {
	int best = 0;
	for (int i = 1; i < 3; i++)
		if (fabs(dot(column(&f->R, i), n)) > fabs(dot(column(&f->R, best), n)))
			best = i;
	const double side = dot(column(&f->R, best), n) > 0 ? -1 : 1;
	const int i = (best + 1) % 3, j = (best + 2) % 3;
	const vec3 middle = madd(f->r, side * component(s->half, best), column(&f->R, best));
	const vec3 u = scale(component(s->half, i), column(&f->R, i)), v = scale(component(s->half, j), column(&f->R, j));
	Polygon p = {.count = 4};
	p.v[0] = frame_local(into, add(middle, add(u, v)));
	p.v[1] = frame_local(into, add(middle, sub(v, u)));
	p.v[2] = frame_local(into, sub(middle, add(u, v)));
	p.v[3] = frame_local(into, add(middle, sub(u, v)));
	return p;
}

/* The face `axis` of `ref` that faces the other box along n; flip: n points from b to a. */
static void touch_face(Manifold *m, const Shape *ref, const Frame *fr, int axis, vec3 n, const Shape *other,
                       const Frame *fo, bool flip, double fade) {
	Polygon p = opposite_face(other, fo, n, fr);
	const int i = (axis + 1) % 3, j = (axis + 2) % 3;
	polygon_clip(&p, i, 1, component(ref->half, i));
	polygon_clip(&p, i, -1, component(ref->half, i));
	polygon_clip(&p, j, 1, component(ref->half, j));
	polygon_clip(&p, j, -1, component(ref->half, j));
	const double side = dot(n, column(&fr->R, axis)) > 0 ? 1 : -1;
	for (int k = 0; k < p.count; k++) {
		const double depth = component(ref->half, axis) - side * component(p.v[k], axis);
		manifold_add(m, madd(frame_point(fr, p.v[k]), 0.5 * depth, n), flip ? neg(n) : n, depth, 0, fade);
	}
}

/* A point of the edge along axis i that is farthest along n. */
static vec3 extreme_edge(const Shape *s, const Frame *f, int i, vec3 n) {
	vec3 p = f->r;
	for (int k = 0; k < 3; k++) {
		const vec3 axis = column(&f->R, k);
		if (k != i)
			p = madd(p, dot(axis, n) < 0 ? -component(s->half, k) : component(s->half, k), axis);
	}
	return p;
}

static void touch_edges(Manifold *m, const Shape *a, const Frame *fa, int i, const Shape *b, const Frame *fb, int j,
                        vec3 n, double fade) {
	const vec3 p = extreme_edge(a, fa, i, n), q = extreme_edge(b, fb, j, neg(n));
	const vec3 u = column(&fa->R, i), v = column(&fb->R, j);
	double s, t;
	if (!lines_nearest(p, u, q, v, &s, &t))
		return;
	s = clamp(s, -component(a->half, i), component(a->half, i));
	t = clamp(t, -component(b->half, j), component(b->half, j));
	const vec3 x = madd(p, s, u), y = madd(q, t, v);
	manifold_add(m, lerp(x, y, 0.5), n, dot(n, sub(x, y)), 0, fade);
}

void touch_box_box(const Shape *a, const Frame *fa, const Shape *b, const Frame *fb, Manifold *m) {
	Axes x;
	if (!axes_find(&x, a, fa, b, fb))
		return;
	const double leaving = smoothstep(2 * x.thinnest / x.least); // about to separate along a weakened axis
	for (int k = 0; k < AXES; k++) {
		const double fade = leaving * smoothstep(1 - (x.overlap[k] - x.least) / (TIE * x.least));
		if (!(fade > 0))
			continue;
		if (k < 3)
			touch_face(m, a, fa, k, x.n[k], b, fb, false, fade);
		else if (k < 6)
			touch_face(m, b, fb, k - 3, neg(x.n[k]), a, fa, true, fade);
		else
			touch_edges(m, a, fa, (k - 6) / 3, b, fb, (k - 6) % 3, x.n[k], fade);
	}
}
