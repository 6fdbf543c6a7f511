// SPDX-License-Identifier: Apache-2.0
/*
 * loop_angle.c — the twist of B about z of A, modulo a turn: a driven hinge.
 */
#include "loop/loop_equations.h"

static int fill(const Loop *loop, const LoopFrame *A, const LoopFrame *B, const LoopContext *at, LoopRow *row, int n) {
	(void)loop;
	(void)at;
	row[n] = twist(A, B);
	return n + 1;
}

/* Whole turns do not count. */
static void wrap(const Loop *loop, LoopRow *row) {
	(void)loop;
	row[0].value = remainder(row[0].value, TURN);
}

const LoopType loop_type_angle = {
	.vanishes = "the angle of B about z of A, less the drive",
	.motion = "all but the rotation of B about z of A, modulo one turn: a driven hinge",
	.uses = CAL_LOOP_USES_A | CAL_LOOP_USES_B,
	.rows = {"angle"},
	.kind = CAL_COORDINATE_ANGLE,
	.fill = fill,
	.wrap = wrap,
};
