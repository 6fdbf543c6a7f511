// SPDX-License-Identifier: Apache-2.0
/*
 * loop_equations.h — what the equations of loops are made of [THEORY (5.1)-(5.4)].
 *
 * Axes a_i of frame A, b_j of frame B, rho = r_B - r_A. All derivatives are those that an observer on A sees (x°): with
 * w = w_B - w_A,  w° = al_B - al_A - w_A x w_B,
 *   rho°  = v_B - v_A - w_A x rho
 *   rho°° = a_B - a_A - 2 w_A x (v_B - v_A) - al_A x rho + w_A x (w_A x rho)
 *   b_j°  = w x b_j,  b_j°° = w° x b_j + w x (w x b_j)
 * are formed once; a_i is at rest there, and a row is a dot product with it:
 *   translation   a_i.rho                          force a_i
 *   rotation      s a_i.b_j                        moment s b_j x a_i
 *   twist         atan2(R21 - R12, R11 + R22)      R_ij = a_i.b_j
 */
#ifndef CALDER_LOOP_LOOP_EQUATIONS_H
#define CALDER_LOOP_LOOP_EQUATIONS_H

#include "loop/loop_type.h"
#include "math/portable.h"

#if CAL_LANES == 1

/* A vector and its derivatives, seen from A. */
typedef struct Seen {
	vec3 x, d, dd;
} Seen;

/* Angular velocity of B and its derivative, seen from A. */
typedef struct Turning {
	vec3 w, al;
} Turning;

INLINE vec3 axis(const mat3 *R, int i) { return i == 0 ? R->x : i == 1 ? R->y : R->z; }

INLINE Seen displacement(const LoopFrame *A, const LoopFrame *B) {
	const vec3 rho = sub(B->r, A->r), rate = sub(B->v, A->v), turning = cross(A->w, rho);
	const vec3 coriolis = cross(A->w, sub(turning, scale(2, rate)));
	return (Seen){rho, sub(rate, turning), add(sub(sub(B->a, A->a), cross(A->al, rho)), coriolis)};
}

INLINE Turning turning_of(const LoopFrame *A, const LoopFrame *B) {
	return (Turning){sub(B->w, A->w), sub(sub(B->al, A->al), cross(A->w, B->w))};
}

INLINE Seen axis_seen(const Turning *t, vec3 b) {
	const vec3 d = cross(t->w, b);
	return (Seen){b, d, add(cross(t->al, b), cross(t->w, d))};
}

INLINE void set_row(LoopRow *row, vec3 n, vec3 f, double value, double rate, double acceleration) {
	row->direction.a = n, row->direction.l = f;
	row->value = value, row->rate = rate, row->acceleration = acceleration;
}

/* theta = atan2(y, x): theta° = (x y° - y x°)/(x^2 + y^2). Undefined, and taken as zero, where z of B is opposite to A's. */
INLINE LoopRow twist(const LoopFrame *A, const LoopFrame *B) {
	const Turning t = turning_of(A, B);
	const Seen bx = axis_seen(&t, B->R.x), by = axis_seen(&t, B->R.y);
	const vec3 ax = A->R.x, ay = A->R.y;
	const double y = dot(ay, bx.x) - dot(ax, by.x), x = dot(ax, bx.x) + dot(ay, by.x);
	const double y1 = dot(ay, bx.d) - dot(ax, by.d), x1 = dot(ax, bx.d) + dot(ay, by.d);
	const double y2 = dot(ay, bx.dd) - dot(ax, by.dd), x2 = dot(ax, bx.dd) + dot(ay, by.dd);
	const double r = x * x + y * y, c = r > 0 ? x / r : 0, s = r > 0 ? y / r : 0, rate = c * y1 - s * x1;
	const vec3 y_moment = sub(cross(bx.x, ay), cross(by.x, ax)), x_moment = add(cross(bx.x, ax), cross(by.x, ay));
	LoopRow row;
	set_row(&row, sub(scale(c, y_moment), scale(s, x_moment)), vec_zero(), portable_atan2(y, x), rate,
	        c * y2 - s * x2 - 2 * rate * (c * x1 + s * y1));
	return row;
}

static const double TURN = 6.283185307179586476925;

#endif

#endif
