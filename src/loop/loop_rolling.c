// SPDX-License-Identifier: Apache-2.0
/*
 * loop_rolling.c — a disk or a sphere rolls on the plane x-y of A without slip: with s from the origin of B to the contact
 *
 *   a_i.(rho° + w x s) = 0 for x and y, force a_i at the contact; along z the origin keeps its height.
 *
 * The third row is one of positions; the first two are nonholonomic.
 */
#include <math.h>

#include "loop/loop_equations.h"

/*
 * From the origin of B to the contact of a disk about b_z: s = -radius p, p = (a_z - c b_z)/n with c = a_z.b_z. Returns n, the
 * height of the center over radius. A disk that is flat touches everywhere; x of B is taken then.
 */
static double disk_arm(const LoopFrame *A, const LoopFrame *B, const Turning *t, double radius, vec3 *s, vec3 *s_rate) {
	const Seen b = axis_seen(t, B->R.z);
	const double c = dot(A->R.z, b.x), c_rate = dot(A->R.z, b.d);
	const vec3 m = madd(A->R.z, -c, b.x), m_rate = neg(madd(scale(c_rate, b.x), c, b.d));
	const double n = sqrt(dot(m, m));
	*s = scale(-radius, n > 0 ? scale(1 / n, m) : B->R.x);
	*s_rate = vec_zero();
	if (n > 0) {
		const vec3 p = scale(1 / n, m);
		*s_rate = scale(-radius / n, madd(m_rate, -dot(p, m_rate), p));
	}
	return n;
}

/* The rows of a contact at s; the origin of B is `height` over the plane. */
static int roll(const LoopFrame *A, const Seen *rho, const Turning *t, vec3 s, vec3 s_rate, double height,
                LoopRow *row) {
	const vec3 v = add(rho->d, cross(t->w, s));
	const vec3 v_rate = add(rho->dd, add(cross(t->al, s), cross(t->w, s_rate)));
	for (int k = 0; k < 3; ++k) {
		const vec3 a = axis(&A->R, k);
		set_row(&row[k], cross(s, a), a, 0, dot(a, v), dot(a, v_rate));
	}
	row[2].value = dot(A->R.z, rho->x) - height;
	return 3;
}

static int fill_disk(const Loop *loop, const LoopFrame *A, const LoopFrame *B, const LoopContext *at, LoopRow *row,
                     int n) {
	const Seen rho = displacement(A, B);
	const Turning t = turning_of(A, B);
	vec3 s, s_rate;
	(void)at;
	const double height = disk_arm(A, B, &t, loop->radius, &s, &s_rate);
	return n + roll(A, &rho, &t, s, s_rate, loop->radius * height, row + n);
}

static int fill_ball(const Loop *loop, const LoopFrame *A, const LoopFrame *B, const LoopContext *at, LoopRow *row,
                     int n) {
	const Seen rho = displacement(A, B);
	const Turning t = turning_of(A, B);
	(void)at;
	return n + roll(A, &rho, &t, scale(-loop->radius, A->R.z), vec_zero(), loop->radius, row + n);
}

const LoopType loop_type_disk = {
	.vanishes = "slip, and the gap, between a disk about z of B (center at its origin) and the plane x-y of A",
	.motion = "nonholonomic: a disk of `radius` about z of B, center at its origin, rolls on the x-y plane of A",
	.uses = CAL_LOOP_USES_A | CAL_LOOP_USES_B | CAL_LOOP_USES_RADIUS,
	.rows = {"vx", "vy", "dz"},
	.kind = CAL_COORDINATE_LENGTH,
	.speeds = 2,
	.fill = fill_disk,
};

const LoopType loop_type_ball = {
	.vanishes = "slip, and the gap, between a sphere about B's origin and the plane x-y of A",
	.motion = "nonholonomic: a sphere of `radius` about B's origin rolls on the x-y plane of A",
	.uses = CAL_LOOP_USES_A | CAL_LOOP_USES_B | CAL_LOOP_USES_RADIUS,
	.rows = {"vx", "vy", "dz"},
	.kind = CAL_COORDINATE_LENGTH,
	.speeds = 2,
	.fill = fill_ball,
};
