// SPDX-License-Identifier: Apache-2.0
#include "component/free_root.h"

#include <string.h>

#include "math/placement.h"

bool free_root_find(const CalModel *model, int node, FreeRoot *root) {
	CalNodeInfo info;
	CalBodyInfo body;
	if (cal_model_node(model, node, &info) != CAL_OK || info.body < 0 ||
	    cal_model_body(model, info.body, &body) != CAL_OK || body.parent >= 0 || body.type != CAL_JOINT_FREE ||
	    body.head_node != node || body.inboard_node >= 0)
		return false;
	*root = (FreeRoot){body.q, body.u};
	return true;
}

void free_root_place(const FreeRoot *root, const CalInterfaceNode *at, double *q, double *u) {
	const dmat3 R = dmat_in(&at->pose.R);
	const CalQuat turn = quat_of_matrix(R);
	const CalVec3 r = at->pose.r, v = at->velocity.linear;
	const dvec3 w = dmat_tmul_vec(R, dvec_in(at->velocity.angular)); // in the outboard frame
	const double q_new[7] = {r.x, r.y, r.z, turn.w, turn.x, turn.y, turn.z}, u_new[6] = {v.x, v.y, v.z, w.x, w.y, w.z};
	memcpy(q + root->q, q_new, sizeof q_new);
	memcpy(u + root->u, u_new, sizeof u_new);
}
