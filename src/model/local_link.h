// SPDX-License-Identifier: Apache-2.0
/*
 * local_link.h — the constants of a link as inverse dynamics takes them: in link axes, ready for registers.
 *
 * Matrices by their cyclic diagonals d = (xx, yy, zz), n = (xy, yz, zx), p = (xz, yx, zy) (math/trio.h), row first. The
 * orientation after a turn about z by an angle of sine s and cosine c is, component by component,
 *   Q.d = E.d (c, c, 1) + s F.d,  Q.n = E.n (c, 1, c) + s F.n,  Q.p = E.p (1, c, c) + s F.p
 * with F = (E.y, -E.x, 0) by columns.
 */
#ifndef CALDER_MODEL_LOCAL_LINK_H
#define CALDER_MODEL_LOCAL_LINK_H

#include "math/vec.h"

typedef struct CyclicMat {
	dvec3 d, n, p;
} CyclicMat;

typedef struct LocalLink {
	CyclicMat E; // orientation of the inboard frame in the parent link
	CyclicMat F; // its change with the angle
	dvec3 p;     // origin of the inboard frame in the parent link [m]
	dvec3 mc;    // first moment about the link origin [kg m]
	dvec3 Id,
		In; // moments (xx, yy, zz) and products (xy, yz, xz) of inertia about the link origin, signs of the matrix [kg m^2]
	double m; // mass [kg]
} LocalLink;

struct Link;
void local_links_fill(const struct Link *links, int count, LocalLink *out);

#endif
