// SPDX-License-Identifier: Apache-2.0
/*
 * placement.h — placements (position and quaternion) behind one another and backwards.
 */
#ifndef CALDER_MATH_PLACEMENT_H
#define CALDER_MATH_PLACEMENT_H

#include <calder/base.h>

#include "math/quat.h"

/** Components in the outer frame of a vector with components in the frame that q turns. */
static inline CalVec3 placement_turn(CalQuat q, CalVec3 v) {
	const CalVec3 t = {2 * (q.y * v.z - q.z * v.y), 2 * (q.z * v.x - q.x * v.z), 2 * (q.x * v.y - q.y * v.x)};
	return (CalVec3){v.x + q.w * t.x + q.y * t.z - q.z * t.y, v.y + q.w * t.y + q.z * t.x - q.x * t.z,
	                 v.z + q.w * t.z + q.x * t.y - q.y * t.x};
}

/** Of what is at b in a frame that is at a. */
static inline CalPlacement placement_mul(CalPlacement a, CalPlacement b) {
	const CalVec3 p = placement_turn(a.orientation, b.position);
	return (CalPlacement){.position = {a.position.x + p.x, a.position.y + p.y, a.position.z + p.z},
	                      .orientation = dquat_mul(a.orientation, b.orientation)};
}

static inline CalPlacement placement_inverse(CalPlacement a) {
	const CalQuat q = {a.orientation.w, -a.orientation.x, -a.orientation.y, -a.orientation.z};
	const CalVec3 p = placement_turn(q, a.position);
	return (CalPlacement){.position = {-p.x, -p.y, -p.z}, .orientation = q};
}

#endif
