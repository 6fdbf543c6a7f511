// SPDX-License-Identifier: Apache-2.0
/*
 * kinematics.c — poses, velocities and accelerations of links and nodes.
 *
 * Outward: R, r, w and the accelerations at udot = 0 (sweep.h), positions and velocities of the origins;
 * a second pass adds what udot gives: A = X A' + P udot. A node at c from its link's origin then has
 *   v = v_O + w x c,   a = a_O + al x c + w x (w x c) + (A_l + A_a x c)
 */
#include <calder/dynamics.h>
#include "dynamics/kinematics.h"

#if CAL_LANES == 1

static vec3 link_velocity(const CalModel *model, const CalWork *work, int i, const double *u) {
	const Link *link = &model->links[i];
	const LinkWork *base = &work->links[link->parent];
	vec3 v = cross(base->w, work->links[i].r);
	if (link->parent >= 0)
		v = add(v, work->velocity[link->parent]);
	if (link->motion == MOTION_ROTATION)
		return v;
	for (int k = 0; k < link->nu; ++k)
		v = madd(v, u[link->u + k], link_column(work, link, i, k).l);
	return v;
}

void kinematics_outward(const CalModel *model, const double *q, const double *u, CalWork *work) {
	ground_init(work, (dvec3){0, 0, 0});
	sweep_trig(model, q, work);
	for (int i = 0; i < model->link_count; ++i) {
		const Link *link = &model->links[i];
		link_motion(link, &work->links[link->parent], q, u, work, &work->links[i]);
		work->position[i] = work->links[i].r;
		if (link->parent >= 0)
			work->position[i] = add(work->position[link->parent], work->links[i].r);
		work->velocity[i] = link_velocity(model, work, i, u);
	}
	work->stage = STAGE_POSE | STAGE_VELOCITY | STAGE_BIAS;
}

void kinematics_accelerate(const CalModel *model, const double *udot, CalWork *work) {
	work->links[-1].A = spatial_zero();
	for (int i = 0; i < model->link_count; ++i) {
		const Link *link = &model->links[i];
		spatial A = motion_shift(work->links[link->parent].A, work->links[i].r);
		for (int k = 0; k < link->nu; ++k)
			A = spatial_madd(A, udot[link->u + k], link_column(work, link, i, k));
		work->links[i].A = A;
	}
	work->stage |= STAGE_ACCELERATION;
}

vec3 kinematics_position(const CalModel *model, const CalWork *work, int link) {
	if (link < 0)
		return vec_zero();
	if (work->stage & STAGE_VELOCITY)
		return work->position[link];
	vec3 p = work->links[link].r; // summed from the ground outwards it would be the same to round-off
	for (int i = model->links[link].parent; i >= 0; i = model->links[i].parent)
		p = add(work->links[i].r, p);
	return p;
}

CalStatus cal_kinematics(const CalModel *model, const CalState *state, const double *udot, CalWork *work) {
	if (!model || !state || !work || work->model != model)
		return CAL_ERR_ARGUMENT;
	kinematics_outward(model, state->q, state->u, work);
	if (udot)
		kinematics_accelerate(model, udot, work);
	return CAL_OK;
}

/* ---- nodes --------------------------------------------------------------------------------- */

static CalStatus node_check(const CalModel *model, const CalWork *work, int node, int stage, const void *out) {
	if (!model || !work || work->model != model || !out || node < 0 || node >= model->node_count)
		return CAL_ERR_ARGUMENT;
	return (work->stage & stage) == stage ? CAL_OK : CAL_ERR_STAGE;
}

CalStatus cal_node_pose(const CalModel *model, const CalWork *work, int node, CalPose *pose) {
	const CalStatus status = node_check(model, work, node, STAGE_POSE, pose);
	if (status != CAL_OK)
		return status;
	const Node *n = &model->nodes[node];
	if (n->link < 0) {
		*pose = dpose_out(n->in_link);
		return CAL_OK;
	}
	const mat3 *R = &work->links[n->link].R;
	pose->R = mat_out(mat_mul_dmat(*R, n->in_link.R));
	pose->r = vec_out(add(kinematics_position(model, work, n->link), mat_mul_dvec(*R, n->in_link.r)));
	return CAL_OK;
}

CalStatus cal_node_velocity(const CalModel *model, const CalWork *work, int node, CalSpatial *velocity) {
	const CalStatus status = node_check(model, work, node, STAGE_VELOCITY, velocity);
	if (status != CAL_OK)
		return status;
	const Node *n = &model->nodes[node];
	*velocity = (CalSpatial){{0, 0, 0}, {0, 0, 0}};
	if (n->link < 0)
		return CAL_OK;
	const LinkWork *l = &work->links[n->link];
	const spatial V = {l->w, work->velocity[n->link]};
	*velocity = spatial_out(motion_shift(V, mat_mul_dvec(l->R, n->in_link.r)));
	return CAL_OK;
}

/* Acceleration at udot = 0 of the point c from the link's origin; gravity put back. */
static spatial point_bias(const CalWork *work, const LinkWork *l, vec3 c) {
	const vec3 centripetal = cross(l->w, cross(l->w, c));
	return (spatial){l->al, add(add(add(l->a, vec_from(work->gravity)), cross(l->al, c)), centripetal)};
}

CalStatus cal_node_bias(const CalModel *model, const CalWork *work, int node, CalSpatial *bias) {
	const CalStatus status = node_check(model, work, node, STAGE_BIAS, bias);
	if (status != CAL_OK)
		return status;
	const Node *n = &model->nodes[node];
	*bias = (CalSpatial){{0, 0, 0}, {0, 0, 0}};
	if (n->link < 0)
		return CAL_OK;
	const LinkWork *l = &work->links[n->link];
	*bias = spatial_out(point_bias(work, l, mat_mul_dvec(l->R, n->in_link.r)));
	return CAL_OK;
}

CalStatus cal_node_acceleration(const CalModel *model, const CalWork *work, int node, CalSpatial *a) {
	const CalStatus status = node_check(model, work, node, STAGE_ACCELERATION, a);
	if (status != CAL_OK)
		return status;
	const Node *n = &model->nodes[node];
	*a = (CalSpatial){{0, 0, 0}, {0, 0, 0}};
	if (n->link < 0)
		return CAL_OK;
	const LinkWork *l = &work->links[n->link];
	const vec3 c = mat_mul_dvec(l->R, n->in_link.r);
	*a = spatial_out(spatial_add(point_bias(work, l, c), motion_shift(l->A, c)));
	return CAL_OK;
}

/* Columns of every joint between the node and the ground, shifted to the node. */
CalStatus cal_node_jacobian(const CalModel *model, const CalWork *work, int node, double *J) {
	const CalStatus status = node_check(model, work, node, STAGE_POSE, J);
	if (status != CAL_OK)
		return status;
	const Node *n = &model->nodes[node];
	const size_t nu = (size_t)model->nu;
	memset(J, 0, sizeof(double) * 6 * nu);
	if (n->link < 0)
		return CAL_OK;
	vec3 c = mat_mul_dvec(work->links[n->link].R, n->in_link.r); // from the link's origin to the node
	for (int i = n->link; i >= 0; i = model->links[i].parent) {
		const Link *link = &model->links[i];
		for (int k = 0; k < link->nu; ++k) {
			const spatial P = motion_shift(link_column(work, link, i, k), c);
			const double column[6] = {P.a.x, P.a.y, P.a.z, P.l.x, P.l.y, P.l.z};
			for (size_t row = 0; row < 6; ++row)
				J[row * nu + (size_t)(link->u + k)] = column[row];
		}
		c = add(c, work->links[i].r);
	}
	return CAL_OK;
}

#endif
