// SPDX-License-Identifier: Apache-2.0
/*
 * derivative_force.c — derivatives of what joints and inputs apply.
 *
 * A wrench in the axes of its node follows the node: it is a force of the subtree like any other. One in world axes does not
 * turn: beside a following one it changes by Nw theta + theta x moment and theta x force (derivative.h).
 * Spherical spring: with theta = log(rest^-1 q), g = k theta, the moment is f = g - 1/2 theta x g + c theta x (theta x g), c of
 * theta.theta, and dtheta = J^-1 of the turn.
 */
#include "derivative/derivative.h"
#include "dynamics/tree/forces.h"
#include "dynamics/tree/kinematics.h"

/* ---- wrenches ---------------------------------------------------------------------------------------- */

/* A wrench at a node, c from its origin, as a subtree without mass; world: it keeps its axes. */
static Subtree wrench_subtree(spatial f, vec3 c, int world) {
	const mat3 none = {vec_zero(), vec_zero(), vec_zero()};
	const spatial here = force_shift(f, c);
	return (Subtree){.c = {0, vec_zero(), {0, 0, 0, 0, 0, 0}},
	                 .p = vec_zero(),
	                 .N = none,
	                 .f = {neg(here.a), neg(here.l)},
	                 .Nw = world ? add_pair(none, 1.0, c, f.l) : none,
	                 .w = world ? f : spatial_zero()};
}

static void add_wrench(const CalModel *model, int node, const NodePlace *place, const Subtree *s, CalDerivatives *d) {
	const int link = model->nodes[node].link;
	Subtree *to = &d->subtree[link];
	if (place->flex)
		derivative_flex_wrench(link, place, s, d);
	to->f = spatial_add(to->f, force_shift(s->f, place->c));
	to->Nw = add_pair(mat_sum(to->Nw, s->Nw), 1.0, place->c, s->w.l);
	to->w = spatial_add(to->w, s->w);
}

void derivative_wrenches(const CalModel *model, const CalInput *input, CalDerivatives *d) {
	d->world = 0;
	for (int i = 0; input && i < input->wrench_count; ++i) {
		const CalWrench *wrench = &input->wrenches[i];
		if (model->nodes[wrench->node].link < 0)
			continue; // on the ground
		const int world = wrench->frame == CAL_FRAME_WORLD;
		const NodePlace place = kinematics_node(model, d->work, wrench->node);
		spatial f = spatial_in(wrench->f);
		if (!world)
			f = (spatial){mat_mul_vec(place.R, f.a), mat_mul_vec(place.R, f.l)};
		const Subtree s = wrench_subtree(f, vec_zero(), world);
		d->world |= world;
		add_wrench(model, wrench->node, &place, &s, d);
	}
}

void derivative_world_wrench(const CalModel *model, int node, vec3 point, spatial wrench, CalDerivatives *d) {
	if (node < 0 || model->nodes[node].link < 0)
		return;
	const NodePlace place = kinematics_node(model, d->work, node);
	const vec3 origin = add(kinematics_position(model, d->work, model->nodes[node].link), place.c);
	const Subtree s = wrench_subtree(wrench, sub(point, origin), 1);
	d->world = 1;
	add_wrench(model, node, &place, &s, d);
}

/* ---- springs, dampers, rotors ---------------------------------------------------------------------------- */

/* dc/d(a^2) of tangent_inverse_coefficient(): series 2k B_2k/(2k)! or closed. */
static double coefficient_slope(double a2) {
	if (a2 < 0.25)
		return 1.0 / 720 +
		       a2 * (1.0 / 15120 + a2 * (1.0 / 403200 +
		                                 a2 * (1.0 / 11975040 + a2 * (3455.0 / 1307674368000.0 + a2 / 12454041600.0))));
	const double a = sqrt(a2), half = 0.5 * a, cot = 1.0 / portable_tan(half), c = half * cot;
	const double slope = (0.5 * cot - 0.25 * a * (1.0 + cot * cot)) / (2.0 * a); // of c by a^2
	return (-slope - (1.0 - c) / a2) / a2;
}

/* Columns of df/d(turn): 3x3. */
static mat3 ball_stiffness(const BallSpring *s, const double *q) {
	const double *at = q + s->q;
	const CalQuat back = {s->rest.w, -s->rest.x, -s->rest.y, -s->rest.z};
	const dvec3 t = dquat_log(dquat_mul(back, (CalQuat){at[0], at[1], at[2], at[3]}));
	const dvec3 g = {s->stiffness[0] * t.x, s->stiffness[1] * t.y, s->stiffness[2] * t.z};
	const double a2 = ddot(t, t), c = tangent_inverse_coefficient(a2), slope = coefficient_slope(a2);
	const dvec3 tg = dcross(t, g), ttg = dcross(t, tg);
	dvec3 column[3];
	for (int k = 0; k < 3; ++k) {
		const dvec3 dt = rotation_vector_rate(t, (dvec3){k == 0, k == 1, k == 2});
		const dvec3 dg = {s->stiffness[0] * dt.x, s->stiffness[1] * dt.y, s->stiffness[2] * dt.z};
		const dvec3 first = dadd(dcross(dt, g), dcross(t, dg));
		const dvec3 second = dadd(dcross(dt, tg), dcross(t, first));
		column[k] =
			dadd(dadd(dg, dscale(-0.5, first)), dadd(dscale(c, second), dscale(2.0 * slope * ddot(t, dt), ttg)));
	}
	return (mat3){vec_from(column[0]), vec_from(column[1]), vec_from(column[2])};
}

static void add_ball_springs(const CalModel *model, const double *q, CalDerivatives *d) {
	const size_t wide = 2 * (size_t)d->stride;
	for (int i = 0; i < model->ball_spring_count; ++i) {
		const BallSpring *s = &model->ball_springs[i];
		const mat3 K = ball_stiffness(s, q);
		const vec3 columns[3] = {K.x, K.y, K.z};
		for (size_t k = 0; k < 3; ++k) {
			double *at = d->dq + (size_t)s->u * wide + (size_t)s->u + k;
			at[0] += columns[k].x;
			at[wide] += columns[k].y;
			at[2 * wide] += columns[k].z;
		}
	}
}

static void add_modal(const Flex *flex, CalDerivatives *d) {
	const size_t wide = 2 * (size_t)d->stride;
	for (int i = 0; i < flex->m * flex->m; ++i) {
		const size_t at = (size_t)(flex->u + i / flex->m) * wide + (size_t)(flex->u + i % flex->m);
		d->dq[at] += flex->K[i];
		d->du[at] += flex->D ? flex->D[i] : 0.0;
	}
}

void derivative_elastic(const CalModel *model, const double *q, CalDerivatives *d) {
	const size_t stride = (size_t)d->stride;
	for (size_t i = 0; i < (size_t)model->nu; ++i) {
		d->M[i * stride + i] += model->rotor[i];
		d->du[i * 2 * stride + i] += model->damping[i];
	}
	for (int i = 0; i < model->spring_count; ++i) {
		const size_t j = (size_t)model->spring_dof[i];
		d->dq[j * 2 * stride + j] += model->dofs[j].stiffness;
	}
	add_ball_springs(model, q, d);
	for (int f = 0; f < model->flex_count; ++f)
		add_modal(&model->flexes[f], d);
}
