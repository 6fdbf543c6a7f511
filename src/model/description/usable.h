// SPDX-License-Identifier: Apache-2.0
/*
 * usable.h — which numbers a description may hold.
 *
 * A sweep multiplies a few of them (m r^2, its square): what is finite by itself may overflow there. Nothing in mechanics
 * comes near the limit; a number above it is a slip, or a file that means harm.
 */
#ifndef CALDER_MODEL_DESCRIPTION_USABLE_H
#define CALDER_MODEL_DESCRIPTION_USABLE_H

#include <math.h>
#include <stdbool.h>

#include <calder/base.h>

#define NUMBER_LARGEST 1e50
#define NUMBER_WRONG "is not finite, or above 1e50" // said of a number that is not usable

static inline bool number_is_usable(double x) { return fabs(x) <= NUMBER_LARGEST; } // false for NaN

static inline bool vec_is_usable(CalVec3 v) {
	return number_is_usable(v.x) && number_is_usable(v.y) && number_is_usable(v.z);
}

#endif
