// SPDX-License-Identifier: Apache-2.0
/*
 * weld.c — no dof. The outboard node sits on the inboard one; the compiler merges the body into its
 * parent's link, and the reaction is still an output.
 */
#include "joint/pose_solve.h"

static int elements(const CalJointDef *def, JointElement element[CAL_JOINT_MAX_DOF]) {
	(void)def;
	(void)element;
	return 0;
}

static void solve(const CalJointDef *def, const dpose *X, double *q) {
	(void)def;
	(void)X;
	(void)q;
}

static const char *as_loop(const CalJointDef *def, CalLoopDef *loop, dmat3 *axes) {
	(void)def;
	(void)axes;
	loop->type = CAL_LOOP_WELD;
	return NULL;
}

const JointType joint_weld = {.coordinates = "none",
                              .speeds = "none",
                              .coordinate_names = "",
                              .speed_names = "",
                              .commutes = 1,
                              .elements = elements,
                              .solve = solve,
                              .as_loop = as_loop};
