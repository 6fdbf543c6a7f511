// SPDX-License-Identifier: Apache-2.0
/*
 * loop_coupling.c — a weighted sum of coordinates: gears, racks, differentials. It reads neither frame.
 */
#include "loop/loop_equations.h"

static int fill(const Loop *loop, const LoopFrame *A, const LoopFrame *B, const LoopContext *at, LoopRow *row, int n) {
	LoopRow sum = {spatial_zero(), 0, 0, 0};
	(void)A;
	(void)B;
	for (int i = 0; i < loop->term_count; ++i) {
		const LoopTerm *term = &loop->term[i];
		sum.value += term->factor * at->q[term->q];
		sum.rate += term->factor * at->u[term->u];
		if (at->udot)
			sum.acceleration += term->factor * at->udot[term->u];
	}
	row[n] = sum;
	return n + 1;
}

const LoopType loop_type_coupling = {
	.vanishes = "the sum of factor times coordinate, less the drive",
	.motion = "all but a weighted sum of up to four coordinates: gears, racks, differentials",
	.uses = CAL_LOOP_USES_TERMS,
	.rows = {"coupling"},
	.kind = CAL_COORDINATE_USER,
	.fill = fill,
};
