// SPDX-License-Identifier: Apache-2.0
/*
 * jacobian.c — Jacobians of nodes: V = J u, and the dofs that move a node.
 *
 * A column of J is the motion subspace of a dof between the node and the ground, shifted to the node; the columns of all
 * other dofs are zero. So J is filled along the path from the node to the ground, and cal_node_jacobian_at() poses no
 * other links: the cost is that of the path, and of setting the rest of J to zero.
 *
 * The modes of a flexible body have columns on its nodes and on its frame, which add up. Inward along the path dofs
 * descend: those of children, modes of the body, dofs of its joint.
 */
#include <calder/dynamics.h>
#include "dynamics/flex/flexible.h"
#include "dynamics/tree/columns.h"
#include "dynamics/tree/kinematics.h"

#if CAL_LANES == 1

/* ---- paths -------------------------------------------------------------------------------------------- */

/* Where the columns of the path stand: as dofs in a matrix of all of them, or one after the other, filled from the end. */
typedef struct PathColumns {
	int compact;  // only those of the path
	int end;      // first of them that is filled
	int flex;     // flexible body whose modes came last, -1: none
	int first_of; // first column of its modes
} PathColumns;

/* First column of the modes of a flexible body, which several links in turn may ask for. */
static int modal_column(const CalModel *model, PathColumns *at, int flex) {
	if (at->flex != flex) {
		at->flex = flex;
		at->end -= model->flexes[flex].m;
		at->first_of = at->compact ? at->end : model->flexes[flex].u;
	}
	return at->first_of;
}

static int joint_column(const Link *link, PathColumns *at) {
	at->end -= link->nu;
	return at->compact ? at->end : link->u;
}

/* Flexible body whose shapes move a node, -1: none do. */
static int flex_at_node(const CalModel *model, int node) {
	return model->nodes[node].shape >= 0 ? model->bodies[model->nodes[node].body].flex : -1;
}

/* Number of dofs that move a node. */
static int path_count(const CalModel *model, int node) {
	PathColumns at = {.compact = 1, .flex = -1};
	if (model->nodes[node].link >= 0 && flex_at_node(model, node) >= 0)
		modal_column(model, &at, flex_at_node(model, node));
	for (int i = model->nodes[node].link; i >= 0; i = model->links[i].parent) {
		if (model->links[i].flex >= 0)
			modal_column(model, &at, model->links[i].flex);
		joint_column(&model->links[i], &at);
	}
	return -at.end;
}

static void list_modes(const CalModel *model, PathColumns *at, int flex, int *dofs) {
	const int first = modal_column(model, at, flex);
	for (int k = 0; k < model->flexes[flex].m; ++k)
		dofs[first + k] = model->flexes[flex].u + k;
}

CalStatus cal_node_path(const CalModel *model, int node, int *count, int *dofs) {
	if (!model || !count || node < 0 || node >= model->node_count)
		return CAL_ERR_ARGUMENT;
	*count = path_count(model, node);
	PathColumns at = {.compact = 1, .end = *count, .flex = -1};
	if (dofs && model->nodes[node].link >= 0 && flex_at_node(model, node) >= 0)
		list_modes(model, &at, flex_at_node(model, node), dofs);
	for (int i = model->nodes[node].link; i >= 0 && dofs; i = model->links[i].parent) {
		const Link *link = &model->links[i];
		if (link->flex >= 0)
			list_modes(model, &at, link->flex, dofs);
		const int first = joint_column(link, &at);
		for (int k = 0; k < link->nu; ++k)
			dofs[first + k] = link->u + k;
	}
	return CAL_OK;
}

/* ---- columns ------------------------------------------------------------------------------------------ */

INLINE void add_column(double *J, ptrdiff_t width, spatial motion) {
	J[0] += motion.a.x, J[width] += motion.a.y, J[2 * width] += motion.a.z;
	J[3 * width] += motion.l.x, J[4 * width] += motion.l.y, J[5 * width] += motion.l.z;
}

/* The column of a hinge at -c. */
INLINE void put_hinge(double *J, ptrdiff_t width, vec3 axis, vec3 c) {
	const vec3 v = cross(axis, c);
	J[0] = axis.x, J[width] = axis.y, J[2 * width] = axis.z;
	J[3 * width] = v.x, J[4 * width] = v.y, J[5 * width] = v.z;
}

/* Column k of a joint, shifted by c. */
INLINE void put_joint(double *J, ptrdiff_t width, const CalWork *work, const Link *link, int k, vec3 c) {
	const spatial S = link_column(work, link, (int)(link - work->model->links), k);
	const ColumnKind kind = primitive_column_kind((JointPrimitive)link->motion, k);
	if (kind == COLUMN_ROTATION)
		put_hinge(J, width, S.a, c);
	else if (kind == COLUMN_TRANSLATION)
		J[3 * width] = S.l.x, J[4 * width] = S.l.y, J[5 * width] = S.l.z;
	else
		add_column(J, width, motion_shift(S, c));
}

/* What the modes of a node's body add at the node. Returns the vector from its link's origin to it. */
static vec3 start_at_node(const CalModel *model, const CalWork *work, int node, PathColumns *at, int width, double *J) {
	const Node *n = &model->nodes[node];
	if (n->shape < 0)
		return mat_mul_dvec(work->links[n->link].R, n->in_link.r);
	const NodePlace place = kinematics_node(model, work, node);
	double *modal = J + modal_column(model, at, flex_at_node(model, node));
	for (int k = 0; k < place.flex->m; ++k)
		add_column(modal + k, width, kinematics_node_column(&place, k));
	return place.c;
}

/* Columns of every joint and mode between the node and the ground to J[6][width], which is zero. */
static void fill_jacobian(const CalModel *model, const CalWork *work, int node, PathColumns at, int width, double *J) {
	const int first = model->nodes[node].link;
	if (first < 0)
		return;
	vec3 c = start_at_node(model, work, node, &at, width, J); // from the link's origin to the node
	for (int i = first; i >= 0; i = model->links[i].parent) {
		const Link *link = &model->links[i];
		if (LIKELY(link->motion == PRIMITIVE_ROTATION)) {
			put_hinge(J + joint_column(link, &at), width, work->links[i].R.z, c);
			c = add(c, work->links[i].r);
			continue;
		}
		const Flex *flex = link->flex >= 0 ? &model->flexes[link->flex] : NULL;
		const int modal = flex ? modal_column(model, &at, link->flex) : 0;
		for (int k = 0; flex && k < flex->m; ++k)
			add_column(J + modal + k, width, motion_shift(flexible_column(model, link, work, k), c));
		double *joint = J + joint_column(link, &at);
		for (int k = 0; k < link->nu; ++k)
			put_joint(joint + k, width, work, link, k, c);
		c = add(c, work->links[i].r);
	}
}

static void full_jacobian(const CalModel *model, const CalWork *work, int node, double *J) {
	memset(J, 0, sizeof(double) * 6 * (size_t)model->nu);
	fill_jacobian(model, work, node, (PathColumns){.flex = -1}, model->nu, J);
}

static CalStatus check_nodes(const CalModel *model, const CalWork *work, const int *nodes, int count, const void *J) {
	if (!model || !work || work->model != model || !nodes || count < 0 || !J)
		return CAL_ERR_ARGUMENT;
	for (int k = 0; k < count; ++k)
		if (nodes[k] < 0 || nodes[k] >= model->node_count)
			return CAL_ERR_ARGUMENT;
	return work->stage & STAGE_POSE ? CAL_OK : CAL_ERR_STAGE;
}

CalStatus cal_node_jacobian(const CalModel *model, const CalWork *work, int node, double *J) {
	const CalStatus status = check_nodes(model, work, &node, 1, J);
	if (status == CAL_OK)
		full_jacobian(model, work, node, J);
	return status;
}

CalStatus cal_node_jacobians(const CalModel *model, const CalWork *work, const int *nodes, int count, double *J) {
	const CalStatus status = check_nodes(model, work, nodes, count, J);
	for (int k = 0; status == CAL_OK && k < count; ++k)
		full_jacobian(model, work, nodes[k], J + (size_t)k * 6 * (size_t)model->nu);
	return status;
}

CalStatus cal_node_jacobian_path(const CalModel *model, const CalWork *work, int node, double *J) {
	const CalStatus status = check_nodes(model, work, &node, 1, J);
	if (status != CAL_OK)
		return status;
	const int width = path_count(model, node);
	memset(J, 0, sizeof(double) * 6 * (size_t)width);
	fill_jacobian(model, work, node, (PathColumns){.compact = 1, .end = width, .flex = -1}, width, J);
	return CAL_OK;
}

CalStatus cal_node_jacobian_at(const CalModel *model, const CalState *state, int node, CalWork *work, CalPose *pose,
                               double *J) {
	if (!model || !state || !work || work->model != model || !J || node < 0 || node >= model->node_count)
		return CAL_ERR_ARGUMENT;
	const int link = model->nodes[node].link;
	work->stage = 0;
	factor_kernels(model->isa)->pose_path(model, state->q, work, link);
	full_jacobian(model, work, node, J);
	if (!pose)
		return CAL_OK;
	const NodePlace place = kinematics_node(model, work, node);
	pose->R = mat_out(place.R);
	pose->r = vec_out(add(kinematics_position(model, work, link), place.c));
	return CAL_OK;
}

#endif
