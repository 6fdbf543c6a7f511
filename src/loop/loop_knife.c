// SPDX-License-Identifier: Apache-2.0
/*
 * loop_knife.c — an edge along x of A that does not slip sideways: a skate, a wheel seen from above. Nonholonomic.
 */
#include "loop/loop_equations.h"

/* y_A.v_A: acts on A itself. */
static int fill(const Loop *loop, const LoopFrame *A, const LoopFrame *B, const LoopContext *at, LoopRow *row, int n) {
	(void)loop;
	(void)B;
	(void)at;
	const vec3 y = A->R.y;
	set_row(&row[n], vec_zero(), y, 0, dot(y, A->v), dot(y, A->a) + dot(cross(A->w, y), A->v));
	return n + 1;
}

const LoopType loop_type_knife = {
	.vanishes = "the velocity of A's origin along y of A",
	.motion = "nonholonomic: A's origin has no velocity along y of A; one node only",
	.uses = CAL_LOOP_USES_A,
	.rows = {"vy"},
	.kind = CAL_COORDINATE_LENGTH,
	.speeds = 1,
	.fill = fill,
};
