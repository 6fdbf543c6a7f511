// SPDX-License-Identifier: Apache-2.0
/*
 * loop_screw.c — a thread: as a revolute, but B advances along z of A by pitch times the twist.
 */
#include "loop/loop_equations.h"

/* Its third row, along z, follows the thread. */
static int fill(const Loop *loop, const LoopFrame *A, const LoopFrame *B, const LoopContext *at, LoopRow *row, int n) {
	const LoopRow theta = twist(A, B);
	const double pitch = loop->pitch;
	(void)at;
	row[2].direction.a = madd(row[2].direction.a, -pitch, theta.direction.a);
	row[2].value -= pitch * theta.value;
	row[2].rate -= pitch * theta.rate;
	row[2].acceleration -= pitch * theta.acceleration;
	return n;
}

/* Whole turns do not count. */
static void wrap(const Loop *loop, LoopRow *row) { row[2].value = remainder(row[2].value, TURN * loop->pitch); }

const LoopType loop_type_screw = {
	.vanishes = "all but the angle about z of A; B advances by `pitch` times the angle",
	.motion = "angle about z; B advances by `pitch`",
	.uses = CAL_LOOP_USES_A | CAL_LOOP_USES_B | CAL_LOOP_USES_PITCH,
	.translation = CAL_AXIS_XYZ,
	.rotation = CAL_AXIS_X | CAL_AXIS_Y,
	.fill = fill,
	.wrap = wrap,
};
