// SPDX-License-Identifier: Apache-2.0
/*
 * linkages.c — the pendulum and the row of four-bars of the IFToMM library, by the builder.
 */
#include <stdio.h>

#include "linkages.h"

static CalDesc *under_gravity(void) {
	CalDesc *desc;
	if (cal_desc_create(NULL, &desc) != CAL_OK)
		return NULL;
	cal_desc_set_gravity(desc, (CalGroupId){0}, (CalVec3){0, -9.81, 0});
	return desc;
}

/* A body along x of 1 m, hinged about z at its origin to a place on a node; *end is its node at x = 1 m. */
static CalStatus add_rod(CalDesc *desc, CalBodyDef rod, CalNodeId inboard, CalVec3 place, CalNodeId *end) {
	CalJointDef hinge = cal_joint_def(CAL_JOINT_REVOLUTE);
	CalNodeDef node = cal_node_def();
	CalBodyId body;
	hinge.name = rod.name, hinge.inboard.position = place;
	node.name = "end", node.placement.position = (CalVec3){1, 0, 0};
	CalStatus status = cal_desc_add_body(desc, &rod, &body, NULL);
	if (status == CAL_OK)
		status = cal_desc_add_node(desc, body, &node, end, NULL);
	if (status == CAL_OK)
		status = cal_desc_attach(desc, inboard, &hinge, cal_desc_body_node(desc, body), NULL, NULL);
	return status;
}

CalDesc *linkage_pendulum(void) {
	CalDesc *desc = under_gravity();
	CalBodyDef rod = cal_body_def();
	CalNodeId end;
	rod.name = "v", rod.mass = 1, rod.com = (CalVec3){1, 0, 0};
	if (desc && add_rod(desc, rod, (CalNodeId){0}, (CalVec3){0}, &end) == CAL_OK)
		return desc;
	cal_desc_destroy(desc);
	return NULL;
}

/* The level rod of window i, from the top of the standing rod on its left to that on its right. */
static CalStatus lay_across(CalDesc *desc, CalBodyDef rod, int i, CalNodeId left, CalNodeId right) {
	CalLoopDef hinge = cal_loop_def(CAL_LOOP_REVOLUTE);
	CalNodeId end;
	char name[16];
	snprintf(name, sizeof name, "h%d", i);
	rod.name = hinge.name = name;
	const CalStatus status = add_rod(desc, rod, left, (CalVec3){0}, &end);
	return status != CAL_OK ? status : cal_desc_close_loop(desc, end, &hinge, right, NULL, NULL);
}

static CalStatus add_windows(CalDesc *desc, int windows) {
	CalBodyDef rod = cal_body_def();
	CalNodeId left = {0}, top;
	CalStatus status = CAL_OK;
	char name[16];
	rod.name = name, rod.mass = 1, rod.com = (CalVec3){0.5, 0, 0};
	rod.inertia = (CalMat3){{{0, 0, 0}, {0, 1 / 12.0, 0}, {0, 0, 1 / 12.0}}};
	for (int i = 0; status == CAL_OK && i <= windows; i++, left = top) {
		snprintf(name, sizeof name, "v%d", i);
		status = add_rod(desc, rod, (CalNodeId){0}, (CalVec3){i, 0, 0}, &top);
		if (status == CAL_OK && i > 0)
			status = lay_across(desc, rod, i, left, top);
	}
	return status;
}

CalDesc *linkage_windows(int windows) {
	CalDesc *desc = under_gravity();
	if (desc && add_windows(desc, windows) == CAL_OK)
		return desc;
	cal_desc_destroy(desc);
	return NULL;
}

void linkage_set_angle(const CalModel *model, double th, double rate, CalState *state) {
	for (int i = 0; i < cal_model_body_count(model); i++) {
		CalBodyInfo info;
		cal_model_body(model, i, &info);
		const double sign = info.name[0] == 'v' ? 1 : -1;
		state->q[info.q] = sign * th;
		state->u[info.u] = sign * rate;
	}
}
