// SPDX-License-Identifier: Apache-2.0
/*
 * round.c — spheres and capsules against each other, planes and boxes.
 *
 * A capsule is the set of points within `radius` of a segment. It touches flat things with its two ends, which are
 * spheres, and sharp ones also with the inside of its segment, where that crosses an edge or passes a corner. For the
 * radius of curvature a capsule counts as the sphere at the contact: so nothing jumps where the side becomes the end.
 */
#include "contact/narrow.h"

double segment_nearest(vec3 from, vec3 to, vec3 x) {
	const vec3 u = sub(to, from);
	const double uu = dot(u, u);
	return uu > 0 ? clamp(dot(sub(x, from), u) / uu, 0, 1) : 0;
}

bool lines_nearest(vec3 p, vec3 u, vec3 q, vec3 v, double *s, double *t) {
	const vec3 w = sub(q, p);
	const double uu = dot(u, u), vv = dot(v, v), uv = dot(u, v), det = uu * vv - uv * uv;
	if (!(det > 1e-8 * uu * vv))
		return false;
	const double uw = dot(u, w), vw = dot(v, w);
	*s = (uw * vv - vw * uv) / det;
	*t = (uw * uv - vw * uu) / det;
	return true;
}

void touch_in_frame(Manifold *m, const Frame *f, vec3 p, vec3 out, double depth, double radius, double fade) {
	manifold_add(m, frame_point(f, p), neg(mat_mul_vec(f->R, out)), depth, radius, fade);
}

/* Two balls; concentric ones are pushed apart along z. */
static void touch_balls(Manifold *m, vec3 a, double ra, vec3 b, double rb, double fade) {
	const vec3 d = sub(b, a);
	const double distance = norm(d), depth = ra + rb - distance;
	if (!(depth > 0))
		return;
	const vec3 n = distance > 0 ? scale(1 / distance, d) : vec(0, 0, 1);
	manifold_add(m, madd(a, ra - 0.5 * depth, n), n, depth, ra * rb / (ra + rb), fade);
}

static void capsule_ends(const Shape *c, const Frame *f, vec3 end[2]) {
	end[0] = madd(f->r, -c->reach, f->R.z);
	end[1] = madd(f->r, c->reach, f->R.z);
}

void touch_sphere_sphere(const Shape *a, const Frame *fa, const Shape *b, const Frame *fb, Manifold *m) {
	touch_balls(m, fa->r, a->radius, fb->r, b->radius, 1);
}

void touch_sphere_capsule(const Shape *a, const Frame *fa, const Shape *b, const Frame *fb, Manifold *m) {
	vec3 end[2];
	capsule_ends(b, fb, end);
	touch_balls(m, fa->r, a->radius, lerp(end[0], end[1], segment_nearest(end[0], end[1], fa->r)), b->radius, 1);
}

/* How much a crossing of two directions counts: not at all where they are parallel and the place is not defined. */
static double crossing_fade(vec3 u, vec3 v) {
	const vec3 c = cross(u, v);
	return smoothstep((dot(c, c) / (dot(u, u) * dot(v, v)) - 1e-8) / 1e-6);
}

/* Each end against the other's segment, and the crossing: parallel capsules rest on two points or more. */
void touch_capsule_capsule(const Shape *a, const Frame *fa, const Shape *b, const Frame *fb, Manifold *m) {
	vec3 p[2], q[2];
	capsule_ends(a, fa, p);
	capsule_ends(b, fb, q);
	for (int i = 0; i < 2; i++) {
		touch_balls(m, p[i], a->radius, lerp(q[0], q[1], segment_nearest(q[0], q[1], p[i])), b->radius, 1);
		touch_balls(m, lerp(p[0], p[1], segment_nearest(p[0], p[1], q[i])), a->radius, q[i], b->radius, 1);
	}
	const vec3 u = sub(p[1], p[0]), v = sub(q[1], q[0]);
	double s, t;
	if (lines_nearest(p[0], u, q[0], v, &s, &t) && s > 0 && s < 1 && t > 0 && t < 1)
		touch_balls(m, lerp(p[0], p[1], s), a->radius, lerp(q[0], q[1], t), b->radius, crossing_fade(u, v));
}

/* ---- planes ------------------------------------------------------------------------------------ */

static void touch_ball_plane(Manifold *m, vec3 c, double r, const Shape *plane, const Frame *f) {
	const vec3 up = f->R.z;
	const double depth = r - (dot(up, sub(c, f->r)) - plane->margin);
	manifold_add(m, madd(c, 0.5 * depth - r, up), neg(up), depth, r, 1);
}

void touch_sphere_plane(const Shape *a, const Frame *fa, const Shape *b, const Frame *fb, Manifold *m) {
	touch_ball_plane(m, fa->r, a->radius, b, fb);
}

void touch_capsule_plane(const Shape *a, const Frame *fa, const Shape *b, const Frame *fb, Manifold *m) {
	vec3 end[2];
	capsule_ends(a, fa, end);
	touch_ball_plane(m, end[0], a->radius, b, fb);
	touch_ball_plane(m, end[1], a->radius, b, fb);
}

/* ---- boxes ------------------------------------------------------------------------------------- */

static vec3 axis_vector(int i, double length) {
	return vec(i == 0 ? length : 0, i == 1 ? length : 0, i == 2 ? length : 0);
}

/* The face of the box nearest to an inner point: its outward normal and distance. */
static double nearest_face(vec3 half, vec3 c, vec3 *out) {
	int best = 0;
	double least = INFINITY;
	for (int i = 0; i < 3; i++) {
		const double d = component(half, i) - fabs(component(c, i));
		if (d < least) {
			least = d;
			best = i;
		}
	}
	*out = axis_vector(best, component(c, best) < 0 ? -1 : 1);
	return least;
}

static bool leave_box(const Shape *box, vec3 p, vec3 *out) { return nearest_face(box->half, p, out) > 0; }

/* A ball with its center c in the frame of the box. */
static void touch_ball_box(Manifold *m, vec3 c, double r, vec3 half, const Frame *f) {
	const vec3 q = vec(clamp(c.x, -half.x, half.x), clamp(c.y, -half.y, half.y), clamp(c.z, -half.z, half.z));
	const vec3 d = sub(c, q);
	const double distance = norm(d);
	vec3 out;
	double depth;
	if (distance > 0) {
		out = scale(1 / distance, d);
		depth = r - distance;
	} else {
		depth = r + nearest_face(half, c, &out);
	}
	touch_in_frame(m, f, madd(c, 0.5 * depth - r, out), out, depth, r, 1);
}

void touch_sphere_box(const Shape *a, const Frame *fa, const Shape *b, const Frame *fb, Manifold *m) {
	touch_ball_box(m, frame_local(fb, fa->r), a->radius, b->half, fb);
}

vec3 box_corner(vec3 half, int k) {
	return vec(k & 1 ? half.x : -half.x, k & 2 ? half.y : -half.y, k & 4 ? half.z : -half.z);
}

Edge box_edge(vec3 half, int k) {
	const int along = k / 4, i = (along + 1) % 3, j = (along + 2) % 3;
	const double si = k & 1 ? 1 : -1, sj = k & 2 ? 1 : -1;
	const vec3 middle = add(axis_vector(i, si * component(half, i)), axis_vector(j, sj * component(half, j)));
	const vec3 reach = axis_vector(along, component(half, along));
	return (Edge){sub(middle, reach), add(middle, reach), {axis_vector(i, si), axis_vector(j, sj)}};
}

Axis capsule_axis(const Shape *capsule, const Frame *fc, const Frame *f) {
	vec3 end[2];
	capsule_ends(capsule, fc, end);
	return (Axis){frame_local(f, end[0]), frame_local(f, end[1]), capsule->radius};
}

/* The axis has gone in by this edge: from p the way out is through one of its faces. */
static bool entered_by(const Edge *edge, const Shape *b, LeaveFn leave, vec3 p) {
	vec3 out;
	return leave(b, p, &out) && fmax(dot(out, edge->normal[0]), dot(out, edge->normal[1])) > 0.99;
}

/*
 * n = +-u x e, outward: the common normal of axis and edge. It must be in the cone between the normals of the edge's
 * faces, softly, since an axis flat on a face has it on the bound. `height` is that of the axis over the edge,
 * negative when the axis itself has gone in.
 */
void touch_axis_edge(Manifold *m, const Frame *f, const Axis *axis, const Edge *edge, const Shape *b, LeaveFn leave) {
	const vec3 u = sub(axis->to, axis->from), e = sub(edge->to, edge->from);
	double s, t;
	if (!lines_nearest(axis->from, u, edge->from, e, &s, &t) || s <= 0 || s >= 1 || t < 0 || t > 1)
		return;
	vec3 n = cross(u, e);
	n = scale((dot(n, add(edge->normal[0], edge->normal[1])) < 0 ? -1 : 1) / norm(n), n);
	const vec3 p = lerp(axis->from, axis->to, s);
	const double r = axis->radius, height = dot(n, sub(p, lerp(edge->from, edge->to, t)));
	const double depth = r + (b->type == CAL_SHAPE_MESH ? b->margin : 0) - height;
	const double in0 = dot(n, edge->normal[0]), in1 = dot(n, edge->normal[1]);
	const double fade =
		crossing_fade(u, e) * cone_fade(in0) * cone_fade(in1) * end_fade(fmin(in0, in1), r, norm(u) * fmin(s, 1 - s));
	if (depth > 0 && fade > 0 && (height >= 0 || entered_by(edge, b, leave, p)))
		touch_in_frame(m, f, madd(p, 0.5 * depth - r, n), n, depth, r, fade);
}

/* A corner that pokes into the side of the capsule; its cone is an octant. */
static void touch_axis_corner(Manifold *m, const Frame *f, const Axis *axis, vec3 corner) {
	const double t = segment_nearest(axis->from, axis->to, corner);
	const vec3 p = lerp(axis->from, axis->to, t), w = sub(p, corner);
	const double distance = norm(w), r = axis->radius;
	if (t <= 0 || t >= 1 || distance >= r || distance == 0)
		return;
	const vec3 n = scale(1 / distance, w);
	const double x = corner.x < 0 ? -n.x : n.x, y = corner.y < 0 ? -n.y : n.y, z = corner.z < 0 ? -n.z : n.z;
	const double away = fmin(norm(sub(p, axis->from)), norm(sub(p, axis->to)));
	const double fade = cone_fade(x) * cone_fade(y) * cone_fade(z) * end_fade(fmin(x, fmin(y, z)), r, away);
	touch_in_frame(m, f, madd(p, 0.5 * (r - distance) - r, n), n, r - distance, r, fade);
}

static bool axis_over_box(const Axis *axis, vec3 half) {
	const vec3 a = axis->from, b = axis->to;
	const double r = axis->radius;
	return fmin(a.x, b.x) < half.x + r && fmax(a.x, b.x) > -half.x - r && fmin(a.y, b.y) < half.y + r &&
	       fmax(a.y, b.y) > -half.y - r && fmin(a.z, b.z) < half.z + r && fmax(a.z, b.z) > -half.z - r;
}

void touch_capsule_box(const Shape *a, const Frame *fa, const Shape *b, const Frame *fb, Manifold *m) {
	const Axis axis = capsule_axis(a, fa, fb);
	if (!axis_over_box(&axis, b->half))
		return;
	touch_ball_box(m, axis.from, axis.radius, b->half, fb);
	touch_ball_box(m, axis.to, axis.radius, b->half, fb);
	for (int k = 0; k < 12; k++) {
		const Edge edge = box_edge(b->half, k);
		touch_axis_edge(m, fb, &axis, &edge, b, leave_box);
	}
	for (int k = 0; k < 8; k++)
		touch_axis_corner(m, fb, &axis, box_corner(b->half, k));
}
