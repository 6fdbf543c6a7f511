// SPDX-License-Identifier: Apache-2.0
/*
 * loop_distance.c — the origins keep their distance: |rho| - length, force rho/|rho|. A massless rod with a ball at either end.
 */
#include <math.h>

#include "loop/loop_equations.h"

static int fill(const Loop *loop, const LoopFrame *A, const LoopFrame *B, const LoopContext *at, LoopRow *row, int n) {
	(void)at;
	const Seen rho = displacement(A, B);
	const double d = sqrt(dot(rho.x, rho.x));
	const vec3 f = d > 0 ? scale(1 / d, rho.x) : A->R.x;
	const double d_rate = dot(f, rho.d);
	const double turning = d > 0 ? (dot(rho.d, rho.d) - d_rate * d_rate) / d : 0;
	set_row(&row[n], vec_zero(), f, d - loop->length, d_rate, dot(f, rho.dd) + turning);
	return n + 1;
}

const LoopType loop_type_distance = {
	.vanishes = "the difference of the origins' distance and `length`",
	.motion = "all but the distance of the origins, which is `length`",
	.uses = CAL_LOOP_USES_A | CAL_LOOP_USES_B | CAL_LOOP_USES_LENGTH,
	.rows = {"distance"},
	.kind = CAL_COORDINATE_LENGTH,
	.fill = fill,
};
