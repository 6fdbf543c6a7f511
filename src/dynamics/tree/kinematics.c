// SPDX-License-Identifier: Apache-2.0
/*
 * kinematics.c — poses, velocities and accelerations of links and nodes.
 *
 * Outward: R, r, w and the accelerations at udot = 0 (sweep.h), positions and velocities of the origins;
 * a second pass adds what udot gives: A = X A' + S udot. A node at c from its link's origin then has
 *   v = v_O + w x c,   a = a_O + al x c + w x (w x c) + (A_l + A_a x c)
 * and, on a flexible body, what its shapes add (flexbody/flex_body.h).
 */
#include <calder/dynamics.h>
#include "base/assert.h"
#include "dynamics/flex/flexible.h"
#include "dynamics/flex/user_link.h"
#include "dynamics/tree/kernels.h"
#include "dynamics/tree/kinematics.h"

#if CAL_LANES == 1

static vec3 link_velocity(const CalModel *model, const CalWork *work, int i, const double *u) {
	const Link *link = &model->links[i];
	const LinkWork *base = &work->links[link->parent];
	vec3 v = cross(base->w, work->links[i].r);
	if (link->parent >= 0)
		v = add(v, work->velocity[link->parent]);
	if (link->motion == PRIMITIVE_ROTATION)
		return v;
	for (int k = 0; k < link->nu; ++k)
		v = madd(v, u[link->u + k], link_column(work, link, i, k).l);
	if (link->flex >= 0)
		v = add(v, flexible_columns(model, link, work, work->flex[link->flex].eta_dot).l);
	return v;
}

void kinematics_origins(const CalModel *model, const double *u, CalWork *work) {
	for (int i = 0; i < model->link_count; ++i) {
		const int parent = model->links[i].parent;
		work->position[i] = parent >= 0 ? add(work->position[parent], work->links[i].r) : work->links[i].r;
		work->velocity[i] = link_velocity(model, work, i, u);
	}
}

void kinematics_outward(const CalModel *model, const double *q, const double *u, CalWork *work) {
	forward_kernels(model->isa)->motion(model, (dvec3){0, 0, 0}, q, u, work);
	kinematics_origins(model, u, work);
	work->stage = STAGE_POSE | STAGE_VELOCITY | STAGE_BIAS;
}

void kinematics_begin(const CalModel *model, dvec3 gravity, const double *q, const double *u, CalWork *work) {
	forward_kernels(model->isa)->motion(model, gravity, q, u, work);
	kinematics_origins(model, u, work);
	memcpy(work->swept_q, q, sizeof(double) * (size_t)model->nq);
	memcpy(work->swept_u, u, sizeof(double) * (size_t)model->nu);
	work->stage = STAGE_POSE | STAGE_VELOCITY | STAGE_BIAS | STAGE_SWEPT | STAGE_REACHED;
}

/* By the bits of q and u. */
static int is_swept(const CalModel *model, const double *q, const double *u, const CalWork *work, int stage) {
	return (work->stage & stage) && memcmp(work->swept_q, q, sizeof(double) * (size_t)model->nq) == 0 &&
	       memcmp(work->swept_u, u, sizeof(double) * (size_t)model->nu) == 0;
}

int kinematics_has_begun(const CalModel *model, dvec3 gravity, const double *q, const double *u, const CalWork *work) {
	return work->gravity.x == gravity.x && work->gravity.y == gravity.y && work->gravity.z == gravity.z &&
	       is_swept(model, q, u, work, STAGE_SWEPT);
}

void kinematics_begin_forward(const CalModel *model, const double *q, const double *u, CalWork *work) {
	if (!kinematics_has_begun(model, model->gravity, q, u, work))
		kinematics_begin(model, model->gravity, q, u, work);
}

void kinematics_reach(const CalModel *model, const double *q, const double *u, CalWork *work) {
	if (!is_swept(model, q, u, work, STAGE_REACHED))
		kinematics_begin(model, model->gravity, q, u, work);
}

void kinematics_accelerate(const CalModel *model, const double *udot, CalWork *work) {
	CAL_ASSERT(work->model == model && (work->stage & STAGE_POSE) && (work->stage & STAGE_BIAS));
	for (int f = 0; f < model->flex_count; ++f)
		memcpy(work->flex[f].x, udot + model->flexes[f].u, sizeof(double) * (size_t)model->flexes[f].m);
	work->links[-1].A = spatial_zero();
	for (int i = 0; i < model->link_count; ++i) {
		const Link *link = &model->links[i];
		spatial A = motion_shift(work->links[link->parent].A, work->links[i].r);
		for (int k = 0; k < link->nu; ++k)
			A = spatial_madd(A, udot[link->u + k], link_column(work, link, i, k));
		if (link->flex >= 0)
			A = spatial_add(A, flexible_columns(model, link, work, work->flex[link->flex].x));
		work->links[i].A = A;
	}
	work->stage |= STAGE_ACCELERATION;
	work->stage &= ~STAGE_SWEPT; // A is where the sweep has left its field of accelerations
}

vec3 kinematics_position(const CalModel *model, const CalWork *work, int link) {
	if (link < 0)
		return vec_zero();
	CAL_ASSERT(link < model->link_count);
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

/* The link that carries a node; -1: the call is refused, or the node is on the ground, where *motion is zero. */
static int moving_link(const CalModel *model, const CalWork *work, int node, int stage, CalSpatial *motion,
                       CalStatus *status) {
	*status = node_check(model, work, node, stage, motion);
	if (*status != CAL_OK)
		return -1;
	*motion = (CalSpatial){{0, 0, 0}, {0, 0, 0}};
	return model->nodes[node].link;
}

NodePlace kinematics_node(const CalModel *model, const CalWork *work, int node) {
	const Node *n = &model->nodes[node];
	const LinkWork *l = &work->links[n->link];
	NodePlace place = {.axes = mat_from(dmat_identity()),
	                   .n = {.v = vec_zero(), .w = vec_zero(), .w_rest = vec_zero(), .v_rest = vec_zero()}};
	if (n->link < 0) {
		place.R = mat_from(n->in_link.R);
		place.c = vec_from(n->in_link.r);
	} else if (n->shape < 0) {
		place.R = mat_mul_dmat(l->R, n->in_link.R);
		place.c = mat_mul_dvec(l->R, n->in_link.r);
	} else {
		place.shape = &model->shapes[n->shape];
		place.flex = &model->flexes[model->bodies[n->body].flex];
		place.work = &work->flex[model->bodies[n->body].flex];
		place.axes = flexible_axes(place.flex, l);
		if (place.flex->ops)
			place.columns = user_link_place(place.flex, place.work, n->shape, &place.axes, &place.n);
		else
			flex_pose(place.shape, place.flex->m, place.flex->n, place.work->eta, place.work->eta_dot, &place.n);
		place.R = mat_mul(place.axes, place.n.R);
		place.c = mat_mul_vec(place.axes, place.n.rho);
	}
	return place;
}

spatial kinematics_node_column(const NodePlace *place, int k) {
	const FlexShape *shape = place->shape;
	const int n = place->flex->n;
	if (place->columns)
		return rows_mode(place->columns, n, k);
	const vec3 psi = {shape->psi[k], shape->psi[n + k], shape->psi[2 * n + k]};
	vec3 phi = {shape->phi[k], shape->phi[n + k], shape->phi[2 * n + k]};
	if (shape->phi2)
		phi = madd(phi, 2.0, rows_sum(shape->phi2 + k * 3 * n, n, place->n.eta));
	return (spatial){mat_mul_vec(place->axes, mat_mul_vec(place->n.T, psi)), mat_mul_vec(place->axes, phi)};
}

/* Of a node at c from the origin of its link that moves by `own` relative to it. */
static spatial velocity_at(const CalWork *work, int link, vec3 c, spatial own) {
	return spatial_add(motion_shift((spatial){work->links[link].w, work->velocity[link]}, c), own);
}

spatial kinematics_node_velocity(const CalWork *work, int link, const NodePlace *place) {
	const spatial own = {mat_mul_vec(place->axes, place->n.w), mat_mul_vec(place->axes, place->n.v)};
	return velocity_at(work, link, place->c, own);
}

vec3 kinematics_rigid_node(const CalModel *model, const CalWork *work, int node, CalPose *pose, CalSpatial *velocity) {
	const Node *n = &model->nodes[node];
	const mat3 *R = &work->links[n->link].R;
	const vec3 c = mat_mul_dvec(*R, n->in_link.r);
	if (pose) {
		pose->R = mat_out(mat_mul_dmat(*R, n->in_link.R));
		pose->r = vec_out(add(kinematics_position(model, work, n->link), c));
	}
	if (velocity)
		*velocity = spatial_out(velocity_at(work, n->link, c, spatial_zero()));
	return c;
}

void kinematics_node_motion(const CalModel *model, const CalWork *work, int node, CalPose *pose, CalSpatial *velocity) {
	const Node *n = &model->nodes[node];
	if (n->link >= 0 && n->shape < 0) {
		kinematics_rigid_node(model, work, node, pose, velocity);
		return;
	}
	const NodePlace place = kinematics_node(model, work, node);
	if (pose) {
		pose->R = mat_out(place.R);
		pose->r = vec_out(add(kinematics_position(model, work, n->link), place.c));
	}
	if (velocity)
		*velocity = n->link >= 0 ? spatial_out(kinematics_node_velocity(work, n->link, &place)) : (CalSpatial){0};
}

CalVec3 kinematics_point_motion(const CalModel *model, const CalWork *work, int node, CalSpatial *velocity) {
	const Node *n = &model->nodes[node];
	if (n->link >= 0 && n->shape < 0) {
		const vec3 c = mat_mul_dvec(work->links[n->link].R, n->in_link.r);
		*velocity = spatial_out(velocity_at(work, n->link, c, spatial_zero()));
		return vec_out(add(kinematics_position(model, work, n->link), c));
	}
	CalPose pose;
	kinematics_node_motion(model, work, node, &pose, velocity);
	return pose.r;
}

CalVec3 kinematics_node_origin(const CalModel *model, const CalWork *work, int node) {
	const Node *n = &model->nodes[node];
	const vec3 c = n->link >= 0 && n->shape < 0 ? mat_mul_dvec(work->links[n->link].R, n->in_link.r)
	                                            : kinematics_node(model, work, node).c;
	return vec_out(add(kinematics_position(model, work, n->link), c));
}

CalStatus cal_node_pose(const CalModel *model, const CalWork *work, int node, CalPose *pose) {
	const CalStatus status = node_check(model, work, node, STAGE_POSE, pose);
	if (status == CAL_OK)
		kinematics_node_motion(model, work, node, pose, NULL);
	return status;
}

CalStatus cal_node_velocity(const CalModel *model, const CalWork *work, int node, CalSpatial *velocity) {
	const CalStatus status = node_check(model, work, node, STAGE_VELOCITY, velocity);
	if (status == CAL_OK)
		kinematics_node_motion(model, work, node, NULL, velocity);
	return status;
}

spatial kinematics_rigid_bias(const CalWork *work, const LinkWork *l, vec3 c) {
	const vec3 turning = add(cross(l->al, c), cross(l->w, cross(l->w, c)));
	return (spatial){l->al, add(add(l->a, vec_from(work->gravity)), turning)};
}

spatial kinematics_node_bias(const CalWork *work, const LinkWork *l, const NodePlace *place) {
	const vec3 w = mat_mul_vec(place->axes, place->n.w), v = mat_mul_vec(place->axes, place->n.v);
	const spatial rigid = kinematics_rigid_bias(work, l, place->c);
	const vec3 al = add(add(rigid.a, mat_mul_vec(place->axes, place->n.w_rest)), cross(l->w, w));
	const vec3 a = add(rigid.l, mat_mul_vec(place->axes, place->n.v_rest));
	return (spatial){al, madd(a, 2.0, cross(l->w, v))};
}

CalStatus cal_node_bias(const CalModel *model, const CalWork *work, int node, CalSpatial *bias) {
	CalStatus status;
	const int link = moving_link(model, work, node, STAGE_BIAS, bias, &status);
	if (link < 0)
		return status;
	const NodePlace place = kinematics_node(model, work, node);
	*bias = spatial_out(kinematics_node_bias(work, &work->links[link], &place));
	return CAL_OK;
}

CalStatus cal_node_acceleration(const CalModel *model, const CalWork *work, int node, CalSpatial *a) {
	CalStatus status;
	const int link = moving_link(model, work, node, STAGE_ACCELERATION, a, &status);
	if (link < 0)
		return status;
	const LinkWork *l = &work->links[link];
	const NodePlace place = kinematics_node(model, work, node);
	spatial sum = spatial_add(kinematics_node_bias(work, l, &place), motion_shift(l->A, place.c));
	for (int k = 0; place.flex && k < place.flex->m; ++k) {
		const double x = place.work->x[k] + place.work->eta_ddot[k];
		sum = spatial_madd(sum, x, kinematics_node_column(&place, k));
	}
	*a = spatial_out(sum);
	return CAL_OK;
}

#endif
