// SPDX-License-Identifier: Apache-2.0
/*
 * reaction.c — the wrench that acts through every joint, welds included.
 *
 * Works body by body rather than link by link, so that a weld inside a link has its reaction too. For each
 * body, tips first: F = (inertia force of the body alone) - (external wrenches on it) + (reactions of the
 * joints that it carries), all in world axes, moved to the body's head node at the end.
 */
#include <calder/dynamics.h>
#include "dynamics/flex/flexible.h"
#include "dynamics/loop/loops.h"
#include "dynamics/tree/forces.h"
#include "dynamics/tree/kinematics.h"

/* Position of a body's frame and orientation, in the world. */
static vec3 body_pose(const CalModel *model, const CalWork *work, const Body *body, mat3 *R) {
	if (body->link < 0) {
		*R = mat_from(body->in_link.R);
		return vec_from(body->in_link.r);
	}
	const LinkWork *l = &work->links[body->link];
	*R = mat_mul_dmat(l->R, body->in_link.R);
	return add(kinematics_position(model, work, body->link), mat_mul_dvec(l->R, body->in_link.r));
}

/* R I R' v without forming the product. */
static vec3 rotated_mul(mat3 R, dmat3 I, vec3 v) {
	return mat_mul_vec(R, mat_mul_vec(mat_from(I), mat_tmul_vec(R, v)));
}

/* Inertia force of one body about the world's origin; gravity counts as an acceleration of the ground. */
static spatial body_inertia_force(const CalModel *model, const CalWork *work, const Body *body) {
	mat3 R;
	const vec3 x = body_pose(model, work, body, &R);
	const vec3 com = add(x, mat_mul_dvec(R, body->com));
	vec3 w = vec_zero(), al = vec_zero(), a = vec_zero();
	if (body->link >= 0) {
		const LinkWork *l = &work->links[body->link];
		const vec3 c = sub(com, kinematics_position(model, work, body->link));
		w = l->w;
		al = add(l->al, l->A.a);
		a = add(add(add(l->a, l->A.l), cross(al, c)), cross(w, cross(w, c)));
	}
	const vec3 f = scale(body->mass, sub(a, vec_from(model->gravity)));
	const vec3 n = add(rotated_mul(R, body->inertia, al), cross(w, rotated_mul(R, body->inertia, w)));
	return (spatial){add(n, cross(com, f)), f};
}

/* The same of the masses of a flexible body, in the motion that the links' al, a and A give. */
static spatial flexible_inertia_force(const CalModel *model, CalWork *work, int f) {
	const Flex *flex = &model->flexes[f];
	FlexWork *w = &work->flex[f];
	const LinkWork *l = &work->links[flex->link];
	LinkWork total = *l;
	total.al = add(l->al, l->A.a);
	total.a = sub(add(l->a, l->A.l), vec_from(model->gravity));
	memcpy(w->eta_ddot, w->x, sizeof(double) * (size_t)flex->m);
	w->accelerated = 1;
	flexible_own_x1(model, f, &flex->own, 1, work, &total);
	memset(w->eta_ddot, 0, sizeof(double) * (size_t)flex->m);
	w->accelerated = 0;
	return force_shift(w->b, kinematics_position(model, work, flex->link));
}

static void subtract_wrenches(const CalModel *model, const CalInput *input, CalWork *work) {
	for (int i = 0; input && i < input->wrench_count; ++i) {
		const Node *node = &model->nodes[input->wrenches[i].node];
		if (node->body < 0)
			continue;
		const spatial f = forces_wrench_at_link(model, work, &input->wrenches[i]);
		spatial *F = &work->reaction[node->body];
		*F = spatial_sub(*F, force_shift(f, kinematics_position(model, work, node->link)));
	}
}

static void subtract_loop(const CalModel *model, const Loop *loop, vec3 point, spatial wrench, CalWork *work) {
	const spatial f = force_shift(wrench, point); // to the world's origin
	const int plus = loop->plus >= 0 ? model->nodes[loop->plus].body : -1;
	const int minus = loop->minus >= 0 ? model->nodes[loop->minus].body : -1;
	if (plus >= 0)
		work->reaction[plus] = spatial_sub(work->reaction[plus], f);
	if (minus >= 0)
		work->reaction[minus] = spatial_add(work->reaction[minus], f);
}

/* Known forces, and those of the last forward dynamics, if it was at this state. */
static void subtract_loops(const CalModel *model, CalWork *work) {
	const LoopWork *w = &work->loops;
	for (int l = 0; l < model->loop_count; ++l) {
		const Loop *loop = &model->loops[l];
		vec3 point;
		if (loop->has_applied_wrench) {
			const spatial f = forces_applied_wrench(model, work, loop, &point);
			subtract_loop(model, loop, point, f, work);
		}
		if (w->acting)
			subtract_loop(model, loop, w->point[l], loop_wrench(loop, w), work);
	}
}

/* From the world's origin to the head node of each body. */
static void move_to_heads(const CalModel *model, CalWork *work) {
	for (int i = 0; i < model->body_count; ++i) {
		const Body *body = &model->bodies[i];
		const NodePlace place = kinematics_node(model, work, body->head_node);
		const vec3 head = add(kinematics_position(model, work, body->link), place.c);
		work->reaction[i] = force_shift(work->reaction[i], neg(head));
	}
}

CalStatus cal_reactions(const CalModel *model, const CalState *state, const double *udot, const CalInput *input,
                        CalWork *work) {
	if (!model || !state || !udot || !work || work->model != model)
		return CAL_ERR_ARGUMENT;
	if (forces_check(model, input) != CAL_OK)
		return CAL_ERR_ARGUMENT;
	kinematics_outward(model, state->q, state->u, work);
	kinematics_accelerate(model, udot, work);
	for (int i = 0; i < model->body_count; ++i) {
		work->reaction[i] = body_inertia_force(model, work, &model->bodies[i]);
	}
	for (int f = 0; f < model->flex_count; ++f) {
		spatial *F = &work->reaction[model->flexes[f].body];
		*F = spatial_add(*F, flexible_inertia_force(model, work, f));
	}
	subtract_wrenches(model, input, work);
	subtract_loops(model, work);
	for (int i = model->body_count - 1; i >= 0; --i) {
		const int parent = model->bodies[i].parent;
		if (parent >= 0)
			work->reaction[parent] = spatial_add(work->reaction[parent], work->reaction[i]);
	}
	move_to_heads(model, work);
	work->stage |= STAGE_REACTION;
	return CAL_OK;
}

CalStatus cal_joint_reaction(const CalModel *model, const CalWork *work, int body, CalSpatial *wrench) {
	if (!model || !work || work->model != model || !wrench || body < 0 || body >= model->body_count) {
		return CAL_ERR_ARGUMENT;
	}
	if (model->bodies[body].mechanism) // forces within an embedded mechanism are not known
		return CAL_ERR_UNSUPPORTED;
	if (!(work->stage & STAGE_REACTION))
		return CAL_ERR_STAGE;
	*wrench = spatial_out(work->reaction[body]);
	return CAL_OK;
}

CalSpatial cal_wrench_shift(CalSpatial wrench, CalVec3 o, CalVec3 p) {
	return spatial_out(force_shift(spatial_in(wrench), sub(vec_in(o), vec_in(p))));
}

CalSpatial cal_wrench_express(CalSpatial wrench, const CalMat3 *R) {
	if (!R)
		return (CalSpatial){0};
	const dmat3 d = dmat_in(R);
	const mat3 m = mat_from(d);
	const spatial f = spatial_in(wrench);
	return spatial_out((spatial){mat_tmul_vec(m, f.a), mat_tmul_vec(m, f.l)});
}
