// SPDX-License-Identifier: Apache-2.0
/*
 * convex.c — the distance of two convex bodies (Gilbert, Johnson and Keerthi 1988).
 *
 * v is the point of the difference a - b nearest to the origin among those seen so far, a simplex of up to four of its
 * corners holds it. The corner farthest against v either improves v or proves how far apart the bodies are: every
 * plane across v with all corners beyond it is a bound from below, whatever the rounding of the simplex. The best of these
 * bounds is the result, so a simplex that degenerates makes it weaker and never wrong.
 */
#include "contact/convex.h"

enum { ITERATIONS = 40 };

Convex convex_box(const Frame *f, vec3 lower, vec3 upper) {
	Convex c = {.count = 8};
	for (int i = 0; i < 8; i++)
		c.corner[i] =
			frame_point(f, vec(i & 1 ? upper.x : lower.x, i & 2 ? upper.y : lower.y, i & 4 ? upper.z : lower.z));
	return c;
}

static vec3 support(const Convex *c, vec3 d) {
	int best = 0;
	double most = dot(c->corner[0], d);
	for (int i = 1; i < c->count; i++) {
		const double along = dot(c->corner[i], d);
		if (along > most) {
			most = along;
			best = i;
		}
	}
	return c->corner[best];
}

/* ---- the point of a simplex nearest to the origin ------------------------------------------------- */

typedef struct Simplex {
	vec3 p[4];
	int count;
} Simplex;

/* Each makes *s the smallest part that holds the point, and returns it. */
static vec3 nearest_of_two(Simplex *s) {
	const vec3 a = s->p[0], ab = sub(s->p[1], a);
	const double t = -dot(a, ab), length = dot(ab, ab);
	if (t <= 0 || length == 0) {
		s->count = 1;
		return a;
	}
	if (t >= length) {
		*s = (Simplex){{s->p[1]}, 1};
		return s->p[0];
	}
	return madd(a, t / length, ab);
}

static vec3 nearest_of_three(Simplex *s) {
	const vec3 a = s->p[0], b = s->p[1], c = s->p[2], n = cross(sub(b, a), sub(c, a));
	const vec3 side[3][2] = {{a, b}, {b, c}, {c, a}};
	Simplex best = {.count = 0};
	vec3 nearest = vec_zero();
	for (int i = 0; i < 3; i++) {
		const vec3 outward = cross(sub(side[i][1], side[i][0]), n);
		if (dot(outward, side[i][0]) > 0) // the origin is inside of this edge
			continue;
		Simplex edge = {{side[i][0], side[i][1]}, 2};
		const vec3 p = nearest_of_two(&edge);
		if (best.count == 0 || dot(p, p) < dot(nearest, nearest)) {
			best = edge;
			nearest = p;
		}
	}
	if (best.count > 0) {
		*s = best;
		return nearest;
	}
	return scale(dot(n, a) / dot(n, n), n);
}

static vec3 nearest_of_four(Simplex *s) {
	static const int face[4][4] = {{0, 1, 2, 3}, {0, 1, 3, 2}, {0, 2, 3, 1}, {1, 2, 3, 0}};
	Simplex best = {.count = 0};
	vec3 nearest = vec_zero();
	for (int i = 0; i < 4; i++) {
		const vec3 a = s->p[face[i][0]], b = s->p[face[i][1]], c = s->p[face[i][2]];
		const vec3 n = cross(sub(b, a), sub(c, a));
		if (dot(n, a) * dot(n, sub(a, s->p[face[i][3]])) > 0) // the origin and the fourth corner are on one side
			continue;
		Simplex triangle = {{a, b, c}, 3};
		const vec3 p = nearest_of_three(&triangle);
		if (best.count == 0 || dot(p, p) < dot(nearest, nearest)) {
			best = triangle;
			nearest = p;
		}
	}
	if (best.count > 0)
		*s = best;
	return nearest; // zero: the origin is inside
}

static vec3 nearest_of(Simplex *s) {
	switch (s->count) {
	case 1:
		return s->p[0];
	case 2:
		return nearest_of_two(s);
	case 3:
		return nearest_of_three(s);
	default:
		return nearest_of_four(s);
	}
}

static bool has_corner(const Simplex *s, vec3 w) {
	for (int i = 0; i < s->count; i++)
		if (s->p[i].x == w.x && s->p[i].y == w.y && s->p[i].z == w.z)
			return true;
	return false;
}

double convex_distance(const Convex *a, const Convex *b, vec3 *n) {
	Simplex s = {{sub(a->corner[0], b->corner[0])}, 1};
	vec3 v = s.p[0];
	double best = 0;
	*n = vec_zero();
	for (int i = 0; i < ITERATIONS; i++) {
		const double size = norm(v);
		if (!(size > best))
			break;
		const vec3 w = sub(support(a, neg(v)), support(b, v));
		const double bound = dot(v, w) / size;
		if (bound > best) {
			best = bound;
			*n = scale(-1 / size, v);
		}
		if (size - bound <= 1e-10 * size || has_corner(&s, w))
			break;
		s.p[s.count++] = w;
		v = nearest_of(&s);
	}
	const double left = best - a->radius - b->radius;
	if (left > 0)
		return left;
	*n = vec_zero();
	return 0;
}
