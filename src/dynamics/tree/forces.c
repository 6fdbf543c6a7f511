// SPDX-License-Identifier: Apache-2.0
/*
 * forces.c — forces that joints and inputs apply.
 *
 * Axial spring and damper: -k (q - rest) - d u. Spherical spring: with theta = log(rest^-1 q) the rotation
 * vector from rest, V = 1/2 theta' k theta and the moment on w (outboard frame) is -J^-T k theta, J^-1 the
 * inverse tangent of the exponential map (theta_dot = J^-1 w): exact for any rotation below a full turn.
 * User joint: the same with its own difference and rate, delta from the point that `rest` leads to.
 */
#include "dynamics/tree/forces.h"
#include "dynamics/tree/kinematics.h"

static dvec3 ball_displacement(const BallSpring *spring, const double *q) {
	const double *at = q + spring->q;
	const CalQuat back = {spring->rest.w, -spring->rest.x, -spring->rest.y, -spring->rest.z};
	return dquat_log(dquat_mul(back, (CalQuat){at[0], at[1], at[2], at[3]}));
}

static void user_displacement(const Link *link, const Dof *dof, const double *q, double delta[CAL_JOINT_MAX_DOF]) {
	double neutral[CAL_JOINT_MAX_COORDS], rest_q[CAL_JOINT_MAX_COORDS], rest[CAL_JOINT_MAX_DOF];
	for (int k = 0; k < link->nu; ++k)
		rest[k] = dof[k].rest;
	primitive_neutral(PRIMITIVE_USER, &link->data, neutral);
	primitive_integrate(PRIMITIVE_USER, &link->data, neutral, rest, rest_q);
	primitive_difference(PRIMITIVE_USER, &link->data, rest_q, q + link->q, delta);
}

/* Force on speed j: -sum k_i delta_i d(delta_dot_i)/d(u_j). */
static void add_user_spring(const Link *link, const Dof *dof, const double *q, double *Q) {
	double delta[CAL_JOINT_MAX_DOF];
	user_displacement(link, dof, q, delta);
	for (int j = 0; j < link->nu; ++j) {
		double unit[CAL_JOINT_MAX_DOF] = {0}, rate[CAL_JOINT_MAX_DOF];
		unit[j] = 1.0;
		primitive_rate(PRIMITIVE_USER, &link->data, delta, unit, rate);
		for (int k = 0; k < link->nu; ++k)
			Q[link->u + j] -= dof[k].stiffness * delta[k] * rate[k];
	}
}

/* Row i of K x + D u for four modes, not yet summed. */
INLINE pack elastic_row(const Flex *flex, int i, pack x, pack u) {
	const pack force = pack_mul(pack_load(flex->K + i * PACK), x);
	return flex->D ? pack_mac(force, pack_load(flex->D + i * PACK), u) : force;
}

/* Four modes that stiffness and damping couple. */
static void add_four(const Flex *flex, const double *q, const double *u, double h, double *Q) {
	const pack rate = pack_load(u), x = pack_madd(pack_load(q), h, rate);
	const Sums force = pack_sums(elastic_row(flex, 0, x, rate), elastic_row(flex, 1, x, rate),
	                             elastic_row(flex, 2, x, rate), elastic_row(flex, 3, x, rate));
	pack_store(Q, pack_sub(pack_load(Q), pack_from(force.a, force.b, force.c, force.d)));
}

/* -K eta - D eta_dot of a flexible body. */
static void add_modal(const Flex *flex, const double *q, const double *u, double h, double *Q) {
	for (int i = 0; flex->diagonal && i < flex->m; ++i) {
		const int at = i * (flex->m + 1);
		Q[flex->u + i] -= flex->K[at] * (q[flex->q + i] + h * u[flex->u + i]);
		if (flex->D)
			Q[flex->u + i] -= flex->D[at] * u[flex->u + i];
	}
	if (flex->diagonal)
		return;
	if (flex->m == PACK) {
		add_four(flex, q + flex->q, u + flex->u, h, Q + flex->u);
		return;
	}
	for (int i = 0; i < flex->m; ++i) {
		double force = 0;
		for (int j = 0; j < flex->m; ++j) {
			force += flex->K[i * flex->m + j] * (q[flex->q + j] + h * u[flex->u + j]);
			if (flex->D)
				force += flex->D[i * flex->m + j] * u[flex->u + j];
		}
		Q[flex->u + i] -= force;
	}
}

/* Springs and dampers that act along one coordinate, and modes; q and u a time h later, extrapolated with u. */
static void add_linear(const CalModel *model, const double *q, const double *u, double h, double *Q) {
	if (model->any_damping) {
		for (int i = 0; i < model->nu; ++i)
			Q[i] -= model->damping[i] * u[i];
	}
	for (int i = 0; i < model->spring_count; ++i) {
		const int j = model->spring_dof[i];
		const Dof *dof = &model->dofs[j];
		Q[j] -= dof->stiffness * (q[dof->q] + h * u[j] - dof->rest);
	}
	for (int f = 0; f < model->flex_count; ++f)
		add_modal(&model->flexes[f], q, u, h, Q);
}

/* Springs of balls and user joints. */
static void add_curved(const CalModel *model, const double *q, double *Q) {
	for (int i = 0; i < model->ball_spring_count; ++i) {
		const BallSpring *s = &model->ball_springs[i];
		const dvec3 theta = ball_displacement(s, q);
		const dvec3 g = {s->stiffness[0] * theta.x, s->stiffness[1] * theta.y, s->stiffness[2] * theta.z};
		const dvec3 moment = rotation_vector_force(theta, g);
		Q[s->u] -= moment.x;
		Q[s->u + 1] -= moment.y;
		Q[s->u + 2] -= moment.z;
	}
	for (int i = 0; i < model->user_spring_count; ++i) {
		const Link *link = &model->links[model->user_spring_link[i]];
		add_user_spring(link, &model->dofs[link->u], q, Q);
	}
}

/* Springs and dampers of links of the caller's own; what a function refuses becomes not a number. */
static void add_links(const CalModel *model, const double *q, const double *u, const CalWork *work, double *Q) {
	for (int f = 0; f < model->flex_count; ++f) {
		const Flex *flex = &model->flexes[f];
		if (flex->ops && flex->ops->elastic &&
		    flex->ops->elastic(flex->ops_data, work->flex[f].user_scratch, q + flex->q, u + flex->u, Q + flex->u) != 0)
			Q[flex->u] = NAN;
	}
}

void forces_add_elastic(const CalModel *model, const double *q, const double *u, const CalWork *work, double *Q) {
	add_linear(model, q, u, 0.0, Q);
	add_curved(model, q, Q);
	add_links(model, q, u, work, Q);
}

double forces_elastic_energy(const CalModel *model, const double *q, const CalWork *work) {
	double energy = 0;
	for (int i = 0; i < model->spring_count; ++i) {
		const Dof *dof = &model->dofs[model->spring_dof[i]];
		const double x = q[dof->q] - dof->rest;
		energy += 0.5 * dof->stiffness * x * x;
	}
	for (int i = 0; i < model->ball_spring_count; ++i) {
		const BallSpring *s = &model->ball_springs[i];
		const dvec3 t = ball_displacement(s, q);
		energy += 0.5 * (s->stiffness[0] * t.x * t.x + s->stiffness[1] * t.y * t.y + s->stiffness[2] * t.z * t.z);
	}
	for (int f = 0; f < model->flex_count; ++f) {
		const Flex *flex = &model->flexes[f];
		const double *eta = q + flex->q;
		for (int i = 0; i < flex->m; ++i) {
			for (int k = 0; k < flex->m; ++k)
				energy += 0.5 * eta[i] * flex->K[i * flex->m + k] * eta[k];
		}
		if (flex->ops && flex->ops->potential)
			energy += flex->ops->potential(flex->ops_data, work->flex[f].user_scratch, q + flex->q);
	}
	for (int i = 0; i < model->user_spring_count; ++i) {
		const Link *link = &model->links[model->user_spring_link[i]];
		double delta[CAL_JOINT_MAX_DOF];
		user_displacement(link, &model->dofs[link->u], q, delta);
		for (int k = 0; k < link->nu; ++k)
			energy += 0.5 * model->dofs[link->u + k].stiffness * delta[k] * delta[k];
	}
	return energy;
}

/* Row by row; what is off the diagonal of modes that nothing couples is zero, and adds nothing. */
static double modal_damping_power(const Flex *flex, const double *rate) {
	const int m = flex->D ? flex->m : 0;
	const double *D = flex->D;
	double power = 0;
	if (flex->diagonal) {
		for (int i = 0; i < m; ++i, D += m + 1)
			power += rate[i] * *D * rate[i];
		return power;
	}
	for (int i = 0; i < m; ++i) {
		for (int k = 0; k < m; ++k, ++D)
			power += rate[i] * *D * rate[k];
	}
	return power;
}

double forces_damping_power(const CalModel *model, const double *q, const double *u, const uint8_t *own,
                            const CalWork *work) {
	const int count = model->any_damping ? model->nu : 0;
	double power = 0;
	for (int i = 0; !own && i < count; ++i)
		power += model->damping[i] * u[i] * u[i];
	for (int i = 0; own && i < count; ++i)
		power += own[i] ? model->damping[i] * u[i] * u[i] : 0;
	for (int f = 0; f < model->flex_count; ++f) {
		const Flex *flex = &model->flexes[f];
		if (own && !own[flex->u])
			continue;
		power += modal_damping_power(flex, u + flex->u);
		if (flex->ops && flex->ops->dissipated)
			power += flex->ops->dissipated(flex->ops_data, work->flex[f].user_scratch, q + flex->q, u + flex->u);
	}
	return power;
}

static void take_applied(const CalModel *model, const double *applied, double *tau) {
	const size_t size = sizeof(double) * (size_t)model->nu;
	if (applied) {
		memcpy(tau, applied, size);
	} else {
		memset(tau, 0, size);
	}
}

void forces_total(const CalModel *model, const CalState *state, const double *applied, CalWork *work) {
	take_applied(model, applied, work->tau);
	forces_add_elastic(model, state->q, state->u, work, work->tau);
}

void forces_implicit_inertia(const CalModel *model, double h, double *rotor) {
	for (int i = 0; i < model->nu; ++i)
		rotor[i] = model->rotor[i] + h * model->damping[i];
	for (int i = 0; i < model->spring_count; ++i)
		rotor[model->spring_dof[i]] += h * h * model->dofs[model->spring_dof[i]].stiffness;
}

void forces_total_implicit(const CalModel *model, const CalState *state, const CalState *elastic, double h,
                           const double *applied, CalWork *work) {
	take_applied(model, applied, work->tau);
	add_linear(model, elastic->q, elastic->u, h, work->tau);
	add_curved(model, state->q, work->tau);
	add_links(model, state->q, state->u, work, work->tau);
	forces_implicit_inertia(model, h, work->rotor);
}

CalStatus forces_check(const CalModel *model, const CalInput *input) {
	if (!input || input->wrench_count == 0)
		return CAL_OK;
	if (input->wrench_count < 0 || !input->wrenches)
		return CAL_ERR_ARGUMENT;
	for (int i = 0; i < input->wrench_count; ++i) {
		const CalWrench *w = &input->wrenches[i];
		if (w->node < 0 || w->node >= model->node_count)
			return CAL_ERR_ARGUMENT;
		if (w->frame != CAL_FRAME_WORLD && w->frame != CAL_FRAME_NODE)
			return CAL_ERR_ARGUMENT;
	}
	return CAL_OK;
}

/* Components in world axes, at the node itself. */
static spatial wrench_at_node(const CalWrench *wrench, const NodePlace *place) {
	const spatial f = spatial_in(wrench->f);
	if (wrench->frame == CAL_FRAME_WORLD)
		return f;
	return (spatial){mat_mul_vec(place->R, f.a), mat_mul_vec(place->R, f.l)};
}

spatial forces_wrench_at_link(const CalModel *model, const CalWork *work, const CalWrench *wrench) {
	const NodePlace place = kinematics_node(model, work, wrench->node);
	return force_shift(wrench_at_node(wrench, &place), place.c);
}

/* ---- applied wrenches of loops ----------------------------------------------------------------- */

/* Origin of a link, whatever the stage of work says of work->position. */
static vec3 link_origin(const CalModel *model, const CalWork *work, int link) {
	vec3 r = vec_zero();
	for (int i = link; i >= 0; i = model->links[i].parent)
		r = add(work->links[i].r, r);
	return r;
}

/* Orientation and origin of a frame of a loop, in the world. */
static vec3 frame_on(const CalModel *model, const CalWork *work, int node, const LoopSide *side, mat3 *R) {
	*R = mat_from(side->on.R);
	if (side->link < 0)
		return vec_from(side->on.r);
	const vec3 origin = link_origin(model, work, side->link);
	mat3 base = work->links[side->link].R;
	vec3 c = vec_zero();
	if (side->moves) {
		const NodePlace place = kinematics_node(model, work, node);
		base = place.R;
		c = place.c;
	}
	*R = mat_mul_dmat(base, side->on.R);
	return add(origin, add(c, mat_mul_dvec(base, side->on.r)));
}

/* The applied wrench of a loop on node `plus` at the origin of B, in the world; the opposite acts on `minus` there. */
static spatial applied_wrench(const Loop *loop, const mat3 *R_A) {
	const spatial f = spatial_in(loop->applied_wrench);
	return (spatial){mat_mul_vec(*R_A, f.a), mat_mul_vec(*R_A, f.l)};
}

spatial forces_applied_wrench(const CalModel *model, const CalWork *work, const Loop *loop, vec3 *point) {
	mat3 A, B;
	frame_on(model, work, loop->node_a, &loop->side[0], &A);
	*point = frame_on(model, work, loop->node_b, &loop->side[1], &B);
	return applied_wrench(loop, &A);
}

/* A wrench at a point of the world on a node: to the wrenches at the links, or to the forces on modes; either may be NULL. */
static void add_wrench(const CalModel *model, const CalWork *work, int node, vec3 point, spatial wrench,
                       spatial *external, double *tau) {
	const int link = node >= 0 ? model->nodes[node].link : -1;
	if (link < 0)
		return; // on the ground
	const NodePlace place = kinematics_node(model, work, node);
	const spatial here = force_shift(wrench, sub(point, add(link_origin(model, work, link), place.c)));
	if (external)
		external[link] = spatial_add(external[link], force_shift(here, place.c));
	for (int k = 0; tau && place.flex && k < place.flex->m; ++k)
		tau[place.flex->u + k] += spatial_dot(kinematics_node_column(&place, k), here);
}

static void add_applied_wrench(const CalModel *model, const CalWork *work, spatial *external, double *tau) {
	for (int i = 0; i < model->loop_count; ++i) {
		const Loop *loop = &model->loops[i];
		if (!loop->has_applied_wrench)
			continue;
		vec3 point;
		const spatial f = forces_applied_wrench(model, work, loop, &point);
		add_wrench(model, work, loop->plus, point, f, external, tau);
		add_wrench(model, work, loop->minus, point, (spatial){neg(f.a), neg(f.l)}, external, tau);
	}
}

/* ---- wrenches of the input and of loops ---------------------------------------------------------- */

void forces_add_wrench_modal(const CalModel *model, const CalWork *work, const CalWrench *wrench, double *tau) {
	if (model->nodes[wrench->node].shape < 0)
		return;
	const NodePlace place = kinematics_node(model, work, wrench->node);
	const spatial f = wrench_at_node(wrench, &place);
	for (int k = 0; k < place.flex->m; ++k)
		tau[place.flex->u + k] += spatial_dot(kinematics_node_column(&place, k), f);
}

void forces_add_modal(const CalModel *model, const CalWork *work, const CalInput *input, double *tau) {
	if (model->any_applied_wrench)
		add_applied_wrench(model, work, NULL, tau);
	for (int i = 0; input && i < input->wrench_count; ++i)
		forces_add_wrench_modal(model, work, &input->wrenches[i], tau);
}

const spatial *forces_collect(const CalModel *model, const CalInput *input, CalWork *work) {
	const int count = input ? input->wrench_count : 0;
	if (count == 0 && !model->any_applied_wrench)
		return NULL;
	for (int i = 0; i < model->link_count; ++i)
		work->force[i] = spatial_zero();
	if (model->any_applied_wrench)
		add_applied_wrench(model, work, work->force, NULL);
	for (int i = 0; i < count; ++i) {
		const int link = model->nodes[input->wrenches[i].node].link;
		if (link < 0)
			continue; // on the ground
		work->force[link] = spatial_add(work->force[link], forces_wrench_at_link(model, work, &input->wrenches[i]));
	}
	return work->force;
}

/* Of a wrench at a point of the world on a node. */
static double wrench_power(const CalModel *model, const CalWork *work, int node, vec3 point, spatial wrench) {
	const int link = node >= 0 ? model->nodes[node].link : -1;
	if (link < 0)
		return 0; // on the ground
	const NodePlace place = kinematics_node(model, work, node);
	const spatial here = force_shift(wrench, sub(point, add(link_origin(model, work, link), place.c)));
	return spatial_dot(kinematics_node_velocity(work, link, &place), here);
}

double forces_power(const CalModel *model, const CalWork *work, const CalInput *input) {
	double power = 0;
	for (int i = 0; model->any_applied_wrench && i < model->loop_count; ++i) {
		const Loop *loop = &model->loops[i];
		if (!loop->has_applied_wrench)
			continue;
		vec3 point;
		const spatial f = forces_applied_wrench(model, work, loop, &point);
		power += wrench_power(model, work, loop->plus, point, f) - wrench_power(model, work, loop->minus, point, f);
	}
	for (int i = 0; i < input->wrench_count; ++i) {
		const CalWrench *wrench = &input->wrenches[i];
		const int link = model->nodes[wrench->node].link;
		if (link < 0)
			continue;
		const NodePlace place = kinematics_node(model, work, wrench->node);
		power += spatial_dot(kinematics_node_velocity(work, link, &place), wrench_at_node(wrench, &place));
	}
	return power;
}

const uint8_t *forces_prescribed(const CalModel *model, const CalInput *input) {
	if (input && input->prescribed)
		return input->prescribed;
	return model->any_prescribed ? model->prescribed : NULL;
}
