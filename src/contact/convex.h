// SPDX-License-Identifier: Apache-2.0
/*
 * convex.h — the distance of two convex bodies that are given by their corners.
 */
#ifndef CALDER_CONTACT_CONVEX_H
#define CALDER_CONTACT_CONVEX_H

#include "contact/shape.h"

enum { CONVEX_CORNERS = 8 };

/** The hull of its corners, grown by a radius: a sphere has one, a capsule two, a triangle three, a box eight. */
typedef struct Convex {
	vec3 corner[CONVEX_CORNERS];
	int count;
	double radius;
} Convex;

/** A box between two corners of its frame. */
Convex convex_box(const Frame *f, vec3 lower, vec3 upper);

/**
 * A lower bound of the distance of two bodies, and the direction in which they are that far apart: the unit vector n from a
 * to b. It is the distance itself to about 1e-10 of it, unless the iteration stalls; 0 where they overlap, n is then zero.
 */
double convex_distance(const Convex *a, const Convex *b, vec3 *n);

#endif
