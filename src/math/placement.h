// SPDX-License-Identifier: Apache-2.0
/*
 * placement.h — placements (position and quaternion) as poses (position and matrix), and back.
 */
#ifndef CALDER_MATH_PLACEMENT_H
#define CALDER_MATH_PLACEMENT_H

#include "math/quat.h"

/* The quaternion of a rotation with w >= 0; divides by its largest component. */
INLINE CalQuat quat_of_matrix(dmat3 R) {
	const double d[4] = {R.x.x + R.y.y + R.z.z, R.x.x, R.y.y, R.z.z};
	int most = 0;
	for (int i = 1; i < 4; ++i)
		most = d[i] > d[most] ? i : most;
	CalQuat q;
	if (most == 0)
		q = (CalQuat){1 + d[0], R.y.z - R.z.y, R.z.x - R.x.z, R.x.y - R.y.x};
	else if (most == 1)
		q = (CalQuat){R.y.z - R.z.y, 1 + R.x.x - R.y.y - R.z.z, R.x.y + R.y.x, R.z.x + R.x.z};
	else if (most == 2)
		q = (CalQuat){R.z.x - R.x.z, R.x.y + R.y.x, 1 + R.y.y - R.x.x - R.z.z, R.y.z + R.z.y};
	else
		q = (CalQuat){R.x.y - R.y.x, R.z.x + R.x.z, R.y.z + R.z.y, 1 + R.z.z - R.x.x - R.y.y};
	if (q.w < 0)
		q = (CalQuat){-q.w, -q.x, -q.y, -q.z};
	return dquat_unit(q);
}

INLINE CalPlacement placement_of(const dpose *X) { return (CalPlacement){dvec_out(X->r), quat_of_matrix(X->R)}; }

INLINE dpose pose_of(CalPlacement p) { return (dpose){dquat_matrix(p.orientation), dvec_in(p.position)}; }

/* Products keep the bits of a placement that the other one, the identity, does not change. */
INLINE CalPlacement placement_identity(void) { return (CalPlacement){.orientation = {1, 0, 0, 0}}; }

INLINE CalPlacement placement_mul(CalPlacement a, CalPlacement b) {
	const dvec3 r = dmat_mul_vec(dquat_matrix(a.orientation), dvec_in(b.position));
	return (CalPlacement){dvec_out(dadd(dvec_in(a.position), r)), dquat_mul(a.orientation, b.orientation)};
}

/* For an orientation of length 1. */
INLINE CalPlacement placement_inverse(CalPlacement a) {
	const CalQuat q = {a.orientation.w, -a.orientation.x, -a.orientation.y, -a.orientation.z};
	return (CalPlacement){dvec_out(dscale(-1, dmat_mul_vec(dquat_matrix(q), dvec_in(a.position)))), q};
}

#endif
