// SPDX-License-Identifier: Apache-2.0
/*
 * wide.h — vectors of twofold numbers, for residuals of which doubles would leave nothing but round-off.
 *
 * Factors are doubles: what is given is taken as exact, and only unknowns and sums have twice the digits.
 */
#ifndef CALDER_MATH_WIDE_H
#define CALDER_MATH_WIDE_H

#include "math/twofold.h"
#include "math/vec.h"

typedef struct wide3 {
	Twofold x, y, z;
} wide3;

/* Angular part first, as in spatial. */
typedef struct wide6 {
	wide3 a, l;
} wide6;

#if CAL_LANES == 1

INLINE wide3 wide3_from(vec3 v) { return (wide3){twofold_from(v.x), twofold_from(v.y), twofold_from(v.z)}; }
INLINE wide3 wide3_add(wide3 a, wide3 b) {
	return (wide3){twofold_add(a.x, b.x), twofold_add(a.y, b.y), twofold_add(a.z, b.z)};
}

/* a + x v, the unknown being x. */
INLINE wide3 wide3_along(wide3 a, Twofold x, vec3 v) {
	return (wide3){twofold_madd(a.x, v.x, x), twofold_madd(a.y, v.y, x), twofold_madd(a.z, v.z, x)};
}

/* a + x b */
INLINE wide3 wide3_madd(wide3 a, double x, wide3 b) {
	return (wide3){twofold_madd(a.x, x, b.x), twofold_madd(a.y, x, b.y), twofold_madd(a.z, x, b.z)};
}

/* a + r x b */
INLINE wide3 wide3_add_cross(wide3 a, vec3 r, wide3 b) {
	return (wide3){twofold_madd(twofold_madd(a.x, r.y, b.z), -r.z, b.y),
	               twofold_madd(twofold_madd(a.y, r.z, b.x), -r.x, b.z),
	               twofold_madd(twofold_madd(a.z, r.x, b.y), -r.y, b.x)};
}

/* a + v.b */
INLINE Twofold wide3_add_dot(Twofold a, vec3 v, wide3 b) {
	return twofold_madd(twofold_madd(twofold_madd(a, v.x, b.x), v.y, b.y), v.z, b.z);
}

INLINE wide6 wide6_from(spatial s) { return (wide6){wide3_from(s.a), wide3_from(s.l)}; }
INLINE wide6 wide6_add(wide6 a, wide6 b) { return (wide6){wide3_add(a.a, b.a), wide3_add(a.l, b.l)}; }
INLINE wide6 wide6_along(wide6 a, Twofold x, spatial s) {
	return (wide6){wide3_along(a.a, x, s.a), wide3_along(a.l, x, s.l)};
}
/* a + s.b */
INLINE Twofold wide6_add_dot(Twofold a, spatial s, wide6 b) {
	return wide3_add_dot(wide3_add_dot(a, s.a, b.a), s.l, b.l);
}
/* X(r) on a motion, X(r)' on a force: math/vec.h. */
INLINE wide6 wide6_motion_shift(wide6 m, vec3 r) { return (wide6){m.a, wide3_add_cross(m.l, neg(r), m.a)}; }
INLINE wide6 wide6_force_shift(wide6 f, vec3 r) { return (wide6){wide3_add_cross(f.a, r, f.l), f.l}; }

#endif

#endif
