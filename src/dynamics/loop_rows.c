// SPDX-License-Identifier: Apache-2.0
/*
 * loop_rows.c — the rows of loop constraints [THEORY 5].
 *
 * Axes a_i of frame A, b_j of frame B, rho = r_B - r_A. Every row is a function of the relative pose whose rate is
 *   n.(w_B - w_A) + f.(v_B - v_A - w_A x rho):
 * the wrench (n, f) at the origin of B is its direction, acting on B, and its opposite at the same point on A.
 *   translation   a_i.rho          f = a_i
 *   rotation      s a_i.b_j        n = s b_j x a_i
 *   distance      |rho| - length   f = rho/|rho|
 * Second derivatives are those of these expressions, with the accelerations as they are.
 */
#include "dynamics/loop_rows.h"

#if CAL_LANES == 1

INLINE vec3 axis(const mat3 *R, int i) { return i == 0 ? R->x : i == 1 ? R->y : R->z; }

static LoopRow translation(const LoopFrame *A, const LoopFrame *B, int i) {
	const vec3 a = axis(&A->R, i), rho = sub(B->r, A->r), rate = sub(B->v, A->v), wa = cross(A->w, a);
	const vec3 a_rate = add(cross(A->al, a), cross(A->w, wa));
	return (LoopRow){{vec_zero(), a},
	             dot(a, rho),
	             dot(a, rate) + dot(wa, rho),
	             dot(a, sub(B->a, A->a)) + 2 * dot(wa, rate) + dot(a_rate, rho)};
}

/* s a_i.b_j */
static LoopRow rotation(const LoopFrame *A, const LoopFrame *B, int i, int j, double s) {
	const vec3 a = axis(&A->R, i), b = axis(&B->R, j), w = sub(B->w, A->w);
	const vec3 n = scale(s, cross(b, a));
	const vec3 n_rate = scale(s, add(cross(cross(B->w, b), a), cross(b, cross(A->w, a))));
	return (LoopRow){{n, vec_zero()}, s * dot(a, b), dot(n, w), dot(n, sub(B->al, A->al)) + dot(n_rate, w)};
}

/* (a_i.b_j - a_j.b_i)/2 */
static LoopRow skew(const LoopFrame *A, const LoopFrame *B, int i, int j) {
	const LoopRow x = rotation(A, B, i, j, 0.5), y = rotation(A, B, j, i, -0.5);
	return (LoopRow){spatial_add(x.direction, y.direction), x.value + y.value, x.rate + y.rate,
	             x.acceleration + y.acceleration};
}

static LoopRow distance(const LoopFrame *A, const LoopFrame *B, double length) {
	const vec3 rho = sub(B->r, A->r), rate = sub(B->v, A->v);
	const double d = sqrt(dot(rho, rho));
	const vec3 f = d > 0 ? scale(1 / d, rho) : A->R.x;
	const double d_rate = dot(f, rate);
	const double turning = d > 0 ? (dot(rate, rate) - d_rate * d_rate) / d : 0;
	return (LoopRow){{vec_zero(), f}, d - length, d_rate, dot(f, sub(B->a, A->a)) + turning};
}

/* y_A.v_A: acts on A itself. */
static LoopRow knife(const LoopFrame *A) {
	const vec3 y = A->R.y;
	return (LoopRow){{vec_zero(), y}, 0, dot(y, A->v), dot(y, A->a) + dot(cross(A->w, y), A->v)};
}

/* Translations along the axes in `along` (bits), then the rotations of the type. */
int loop_fill(const Loop *loop, const LoopFrame *A, const LoopFrame *B, LoopRow *row) {
	static const unsigned along[CAL_LOOP_TYPE_COUNT] = {
		[CAL_LOOP_WELD] = 7,      [CAL_LOOP_REVOLUTE] = 7,  [CAL_LOOP_PRISMATIC] = 3, [CAL_LOOP_CYLINDRICAL] = 3,
		[CAL_LOOP_UNIVERSAL] = 7, [CAL_LOOP_SPHERICAL] = 7, [CAL_LOOP_PLANAR] = 4,    [CAL_LOOP_INPLANE] = 4,
	};
	int n = 0;
	for (int i = 0; i < 3; ++i) {
		if (along[loop->type] & 1u << i)
			row[n++] = translation(A, B, i);
	}
	switch (loop->type) {
	case CAL_LOOP_WELD:
	case CAL_LOOP_PRISMATIC:
		row[n++] = skew(A, B, 2, 1);
		row[n++] = skew(A, B, 0, 2);
		row[n++] = skew(A, B, 1, 0);
		break;
	case CAL_LOOP_REVOLUTE:
	case CAL_LOOP_CYLINDRICAL:
	case CAL_LOOP_PLANAR:
		row[n++] = rotation(A, B, 1, 2, -1);
		row[n++] = rotation(A, B, 0, 2, 1);
		break;
	case CAL_LOOP_UNIVERSAL:
		row[n++] = rotation(A, B, 0, 1, 1);
		break;
	case CAL_LOOP_DISTANCE:
		row[n++] = distance(A, B, loop->length);
		break;
	case CAL_LOOP_KNIFE:
		row[n++] = knife(A);
		break;
	case CAL_LOOP_SPHERICAL:
	case CAL_LOOP_INPLANE:
	case CAL_LOOP_TYPE_COUNT:
		break;
	}
	return n;
}

#endif
