// SPDX-License-Identifier: Apache-2.0
/*
 * subsystem_group.c — a group as its ties see it: how its points move, how they accelerate without the ties, and their
 * compliance C = J M^-1 J', loops and driven dofs held. In a linearly implicit step M is M + hD + h^2K, as the step has it.
 * Projections in the Euclidean metric have C = J P J', P = 1 - G'(G G')^+ G with the rows G of its loops.
 */
#include <string.h>

#include "dynamics/forward_halves.h"
#include "dynamics/loop/closed.h"
#include "dynamics/loop/loops.h"
#include "dynamics/tree/forces.h"
#include "dynamics/tree/kinematics.h"
#include "dynamics/tree/mass.h"
#include "integrate/scheme.h"
#include "math/octet.h"
#include "model/loop_plan.h"
#include "model/model.h"
#include "sim/subsystem/subsystem.h"

static CalWork *work_of(const CalEvalContext *context, int group) {
	return context->viewing ? context->sim->groups[group].view_work : context->sim->groups[group].work;
}

/* The step of a linearly implicit evaluation of the integrator; 0: a plain one. */
static double implicit_step_of(const CalEvalContext *context, int group, CalState *elastic) {
	return context->viewing ? 0 : integrator_implicit_step(context->sim->system.integrator, group, elastic);
}

static CalStatus accelerations_without_ties(CalEvalContext *context, int group, double *udot) {
	SimGroup *g = &context->sim->groups[group];
	const CalState *state = &context->parts[group];
	const CalInput *input = &context->inputs[group];
	if (g->motion) // q and u are there already
		return g->motion(g->motion_user, g->model, state->t, state->q, state->u, udot) == 0 ? CAL_OK : CAL_ERR_USER;
	CalState elastic;
	const double h = implicit_step_of(context, group, &elastic);
	return h == 0 ? cal_forward_dynamics(g->model, state, input, work_of(context, group), udot)
	              : implicit_hybrid(g->model, state, &elastic, input, h, work_of(context, group), udot, NULL);
}

static CalStatus read_points(const CalEvalContext *context, int group, bool accelerations) {
	struct SimSubsystems *all = context->sim->subsystems;
	const TieGroup *own = &all->groups[group];
	const CalModel *model = context->sim->groups[group].model;
	const CalWork *work = work_of(context, group);
	CalStatus status = CAL_OK;
	for (int i = own->first; i < own->first + own->count && status == CAL_OK; i++) {
		TiePoint *point = &all->points[i];
		CalSpatial a = {0};
		status = cal_node_pose(model, work, point->node, &point->motion.pose);
		if (status == CAL_OK)
			status = cal_node_velocity(model, work, point->node, &point->motion.velocity);
		if (status == CAL_OK && accelerations)
			status = cal_node_acceleration(model, work, point->node, &a);
		point->A = spatial_in(a);
	}
	return status;
}

/* What is held beside the loops; NULL: nothing. */
static const uint8_t *held_of(const CalEvalContext *context, int group) {
	return forces_prescribed(context->sim->groups[group].model, &context->inputs[group]);
}

/* M_c, of the step if it is implicit. */
static CalStatus factor_group(const CalEvalContext *context, int group) {
	CalState elastic;
	const double h = implicit_step_of(context, group, &elastic);
	return closed_factor(context->sim->groups[group].model, &context->parts[group], held_of(context, group), h,
	                     work_of(context, group));
}

static bool is_euclidean(const CalSim *sim, TiePurpose purpose) {
	return (purpose == TIE_POSITIONS || purpose == TIE_SPEEDS) && sim->method.euclidean != 0;
}

/* Rates of the constraint equations at speeds u, drives included, into out[row_count]. */
static void loop_rates(const CalModel *model, const CalState *state, const double *u, CalWork *work, double *out) {
	kinematics_outward(model, state->q, u, work);
	loop_rows(model, &(LoopContext){.t = state->t, .q = state->q, .u = u, .plain = 1}, work);
	for (int i = 0; i < model->row_count; i++)
		out[i] = work->loops.row[i].rate;
}

/* x = P x: without what would open loops, held dofs left as they are. */
static CalStatus keep_loops(const CalModel *model, const CalState *state, const uint8_t *held, CalWork *work,
                            double *x) {
	LoopWork *w = &work->loops;
	for (int k = 0; k < model->nu; k++)
		x[k] = held && held[k] ? 0 : x[k];
	if (model->row_count == 0)
		return CAL_OK;
	memset(work->rhs, 0, (size_t)model->nu * sizeof(double));
	loop_rates(model, state, work->rhs, work, w->lambda);
	loop_rates(model, state, x, work, w->z);
	for (int i = 0; i < model->row_count; i++)
		w->z[i] -= w->lambda[i];
	const CalStatus status = loop_correct(model, state->q, held, 1, work);
	for (int k = 0; k < model->nu; k++)
		x[k] += w->dq[k];
	return status;
}

/* x[nu] = P J'f. */
static CalStatus euclidean_response(const CalEvalContext *context, int group, const CalWrench *wrenches, int count,
                                    double *x) {
	const CalModel *model = context->sim->groups[group].model;
	const CalState *state = &context->parts[group];
	const CalInput input = {.wrenches = wrenches, .wrench_count = count};
	const CalStatus status = cal_external_forces(model, state, &input, work_of(context, group), x);
	return status == CAL_OK ? keep_loops(model, state, held_of(context, group), work_of(context, group), x) : status;
}

/* Velocities of the points of a group at speeds x. */
static CalStatus read_velocities(const CalEvalContext *context, int group, double *x, double *out) {
	const struct SimSubsystems *all = context->sim->subsystems;
	const CalModel *model = context->sim->groups[group].model;
	const CalState *state = &context->parts[group];
	const CalState moved = {.t = state->t, .q = state->q, .u = x};
	CalStatus status = cal_kinematics(model, &moved, NULL, work_of(context, group));
	for (int i = 0; i < all->groups[group].count && status == CAL_OK; i++) {
		CalSpatial v = {0};
		status = cal_node_velocity(model, work_of(context, group), all->nodes[i], &v);
		six_out(spatial_in(v), out + 6 * (size_t)i);
	}
	return status;
}

static CalStatus euclidean_compliance(const CalEvalContext *context, int group) {
	const struct SimSubsystems *all = context->sim->subsystems;
	const TieGroup *own = &all->groups[group];
	double *x = context->sim->groups[group].force;
	const size_t n = 6 * (size_t)own->count;
	CalStatus status = CAL_OK;
	for (size_t row = 0; row < n && status == CAL_OK; row++) {
		const CalWrench unit = {all->nodes[row / 6], CAL_FRAME_WORLD, spatial_out(unit_wrench((int)(row % 6)))};
		status = euclidean_response(context, group, &unit, 1, x);
		if (status == CAL_OK)
			status = read_velocities(context, group, x, own->C + row * n);
	}
	return status;
}

static CalStatus find_compliance(CalEvalContext *context, int group, TiePurpose purpose) {
	struct SimSubsystems *all = context->sim->subsystems;
	SimGroup *g = &context->sim->groups[group];
	const TieGroup *own = &all->groups[group];
	for (int i = 0; i < own->count; i++)
		all->nodes[i] = all->points[own->first + i].node;
	if (g->motion) { // nothing moves it
		memset(own->C, 0, 36 * sizeof(double) * (size_t)own->count * (size_t)own->count);
		return CAL_OK;
	}
	if (is_euclidean(context->sim, purpose))
		return euclidean_compliance(context, group);
	const CalStatus status = factor_group(context, group);
	return status == CAL_OK
	           ? closed_compliance(g->model, work_of(context, group), all->nodes, own->count, own->columns, own->C)
	           : status;
}

/* ---- by columns, as the branches of a model ----------------------------------------------------------------- */

static int most_modes(const CalModel *model) {
	int most = 1;
	for (int f = 0; f < model->flex_count; f++)
		most = model->flexes[f].m > most ? model->flexes[f].m : most;
	return most;
}

void tie_group_layout(const CalModel *model, TieGroup *group, Cursor *cursor) {
	const size_t count = (size_t)group->count, n = 6 * count, W = OCTET * count, nu = (size_t)model->nu;
	Interface *at = &group->interface;
	CURSOR_ARRAY(cursor, group->C, n * n);
	CURSOR_ARRAY(cursor, group->columns, nu * (n + 1));
	CURSOR_ARRAY(cursor, group->x, W);
	CURSOR_ARRAY(cursor, at->forces, count);
	CURSOR_ARRAY(cursor, at->path, model->link_count);
	CURSOR_ARRAY(cursor, at->gain, nu * W);
	CURSOR_ARRAY(cursor, at->gamma, 6 * W);
	CURSOR_ARRAY(cursor, at->Lambda, W * W);
	CURSOR_ARRAY(cursor, at->beta, W);
	CURSOR_ARRAY(cursor, at->modal, OCTET * most_modes(model));
	for (size_t i = 0; i < count; i++) {
		InterfaceForce force = {0};
		CURSOR_ARRAY(cursor, force.gamma, 6 * OCTET);
		CURSOR_ARRAY(cursor, force.modal, OCTET * most_modes(model));
		if (cursor->base)
			at->forces[i] = force;
	}
}

static bool is_listed(const Interface *at, int link) {
	for (int i = 0; i < at->path_count; i++)
		if (at->path[i] == link)
			return true;
	return false;
}

/* Whether wrenches pass a link by themselves: multipliers of loops that are still open would change with them. */
static bool passes_alone(const CalModel *model, const Link *link) {
	return link->loop_link < 0 || (!loop_is_open(model, link) && link->flex_body < 0 && link->motion != PRIMITIVE_NODE);
}

void tie_group_plan(const CalModel *model, const TiePoint *points, TieGroup *group) {
	Interface *at = &group->interface;
	at->width = OCTET * group->count;
	at->points = 1;
	at->force_count = at->path_count = 0;
	group->begun = false;
	group->divides = true;
	for (int i = 0; i < group->count; i++) {
		const Node *node = &model->nodes[points[group->first + i].node];
		if (node->link < 0)
			continue;
		InterfaceForce *force = &at->forces[at->force_count++];
		force->link = node->link;
		force->column = OCTET * i;
		force->modal = node->shape >= 0 ? force->modal : NULL;
		for (int k = node->link; k >= 0 && !is_listed(at, k); k = model->links[k].parent) {
			at->path[at->path_count++] = k;
			group->divides &= passes_alone(model, &model->links[k]);
		}
	}
}

/* Unit wrenches at c from the origin of a link, as columns at that: [1 cx; 0 1]. */
static void fill_columns(vec3 c, double *gamma) {
	const double columns[6][OCTET] = {{1, 0, 0, 0, -c.z, c.y}, {0, 1, 0, c.z, 0, -c.x}, {0, 0, 1, -c.y, c.x, 0},
	                                  {0, 0, 0, 1, 0, 0},      {0, 0, 0, 0, 1, 0},      {0, 0, 0, 0, 0, 1}};
	memcpy(gamma, columns, sizeof columns);
}

/* Motion of a point, and its acceleration where no speed accelerates. */
static void place_point(const CalModel *model, const CalWork *work, const InterfaceForce *force, TiePoint *point) {
	const LinkWork *link = &work->links[force->link];
	if (!force->modal) {
		const vec3 c = kinematics_rigid_node(model, work, point->node, &point->motion.pose, &point->motion.velocity);
		point->A = kinematics_rigid_bias(work, link, c);
		fill_columns(c, force->gamma);
		return;
	}
	const NodePlace place = kinematics_node(model, work, point->node);
	point->motion.pose.R = mat_out(place.R);
	point->motion.pose.r = vec_out(add(work->position[force->link], place.c));
	point->motion.velocity = spatial_out(kinematics_node_velocity(work, force->link, &place));
	point->A = kinematics_node_bias(work, link, &place);
	fill_columns(place.c, force->gamma);
	for (int k = 0; k < place.flex->m; k++) {
		const spatial column = kinematics_node_column(&place, k);
		six_out(column, force->modal + (size_t)k * OCTET);
		if (place.work->accelerated)
			point->A = spatial_madd(point->A, place.work->eta_ddot[k], column);
	}
}

/* Points of a group that are fixed to the ground. */
static CalStatus read_grounded(const CalEvalContext *context, const TieGroup *own) {
	TiePoint *points = context->sim->subsystems->points;
	CalStatus status = CAL_OK;
	for (int i = own->first; i < own->first + own->count && status == CAL_OK; i++) {
		const CalModel *model = context->sim->groups[points[i].group].model;
		if (model->nodes[points[i].node].link >= 0)
			continue;
		status = cal_node_pose(model, work_of(context, points[i].group), points[i].node, &points[i].motion.pose);
		points[i].motion.velocity = (CalSpatial){{0, 0, 0}, {0, 0, 0}};
		points[i].A = spatial_zero();
	}
	return status;
}

/* Points and C from the first half of the forward dynamics. false: the group cannot be divided. */
static bool evaluate_columns(CalEvalContext *context, int group, CalStatus *status) {
	struct SimSubsystems *all = context->sim->subsystems;
	const SimGroup *g = &context->sim->groups[group];
	TieGroup *own = &all->groups[group];
	CalWork *work = work_of(context, group);
	CalState elastic = {0};
	own->begun = false;
	if (!own->divides || g->motion)
		return false;
	const double h = implicit_step_of(context, group, &elastic);
	*status = forward_begin(g->model, &context->parts[group], &elastic, &context->inputs[group], h, work);
	if (*status != CAL_OK || !(work->stage & STAGE_INWARD))
		return *status != CAL_OK;
	*status = read_grounded(context, own);
	for (int i = 0; i < own->interface.force_count; i++) {
		const InterfaceForce *force = &own->interface.forces[i];
		place_point(g->model, work, force, &all->points[own->first + force->column / OCTET]);
	}
	interface_kernels(g->model->isa)->inward(g->model, held_of(context, group), work, &own->interface);
	for (int i = 0; i < own->interface.force_count; i++) {
		const int column = own->interface.forces[i].column;
		TiePoint *point = &all->points[own->first + column / OCTET];
		point->A = spatial_add(point->A, six_in(own->interface.beta + column));
	}
	own->begun = true;
	return true;
}

void tie_group_apply(const CalEvalContext *context, int group) {
	const struct SimSubsystems *all = context->sim->subsystems;
	const TieGroup *own = &all->groups[group];
	const CalModel *model = context->sim->groups[group].model;
	if (!own->begun)
		return;
	for (int i = 0; i < own->count; i++) {
		const spatial F = all->points[own->first + i].F;
		six_out((spatial){neg(F.a), neg(F.l)},
		        own->x + (size_t)i * OCTET); // what an interface needs is what acts on it
	}
	interface_kernels(model->isa)->apply(model, own->x, &own->interface, work_of(context, group));
}

/* ---- either -------------------------------------------------------------------------------------------------- */

CalStatus tie_group_evaluate(CalEvalContext *context, int group, TiePurpose purpose) {
	SimGroup *g = &context->sim->groups[group];
	const TieGroup *own = &context->sim->subsystems->groups[group];
	const bool forces = purpose == TIE_FORCES;
	CalStatus status = CAL_OK;
	g->kinematics_known = false;
	if (forces && evaluate_columns(context, group, &status))
		return status;
	status = forces ? accelerations_without_ties(context, group, g->udot) : CAL_OK;
	if (status == CAL_OK)
		status = cal_kinematics(g->model, &context->parts[group], forces ? g->udot : NULL, work_of(context, group));
	if (status == CAL_OK)
		status = read_points(context, group, forces);
	if (status == CAL_OK && purpose != TIE_VALUES)
		status = find_compliance(context, group, purpose);
	if (status == CAL_OK && purpose != TIE_VALUES)
		spread_nodes(own->C, own->count, own->interface.Lambda);
	return status;
}

CalStatus tie_group_response(CalEvalContext *context, int group, TiePurpose purpose) {
	struct SimSubsystems *all = context->sim->subsystems;
	SimGroup *g = &context->sim->groups[group];
	const TieGroup *own = &all->groups[group];
	if (g->motion) {
		memset(g->udot, 0, (size_t)g->model->nu * sizeof(double));
		return CAL_OK;
	}
	for (int i = 0; i < own->count; i++) {
		const TiePoint *point = &all->points[own->first + i];
		all->wrenches[i] = (CalWrench){point->node, CAL_FRAME_WORLD, spatial_out(point->F)};
	}
	g->kinematics_known = false;
	if (is_euclidean(context->sim, purpose))
		return euclidean_response(context, group, all->wrenches, own->count, g->udot);
	const CalStatus status = factor_group(context, group);
	return status == CAL_OK ? closed_response(g->model, work_of(context, group), all->wrenches, own->count, g->udot)
	                        : status;
}
