// SPDX-License-Identifier: Apache-2.0
/*
 * model.c — a compiled model: its end, counts and names; indices by name are in model_index.c.
 */
#include <stdbool.h>
#include <stdio.h>

#include <calder/loops.h>

#include "base/memory.h"
#include "joint/joint_type.h"
#include "model/loop_blocks.h"
#include "model/coupled_plan.h"
#include "model/loop_plan.h"
#include "model/mechanism.h"

void cal_model_destroy(CalModel *model) {
	if (!model)
		return;
	const CalAllocator allocator = model->allocator;
	for (int i = 0; i < model->mechanism_count; ++i)
		mechanism_destroy(model->mechanisms[i]);
	if (model->mechanism_count)
		memory_free(&allocator, model->mechanisms);
	memory_free(&allocator, (void *)(uintptr_t)model->blocks);
	memory_free(&allocator, (void *)(uintptr_t)model->coupled);
	loop_schedule_destroy(&allocator, (LoopSchedule *)(uintptr_t)model->loop_schedule);
	memory_free(&allocator, model);
}

size_t cal_model_size(const CalModel *model) { return model ? model->size : 0; }
int cal_model_body_count(const CalModel *model) { return model ? model->body_count : 0; }
int cal_model_node_count(const CalModel *model) { return model ? model->node_count : 0; }
int cal_model_q_count(const CalModel *model) { return model ? model->nq : 0; }
int cal_model_u_count(const CalModel *model) { return model ? model->nu : 0; }
int cal_model_link_count(const CalModel *model) { return model ? model->link_count : 0; }
CalSolver cal_model_solver(const CalModel *model) { return model ? model->solver : CAL_SOLVER_AUTO; }
CalVec3 cal_model_gravity(const CalModel *model) { return model ? dvec_out(model->gravity) : (CalVec3){0}; }
CalPropagation cal_model_propagation(const CalModel *model) {
	return model ? model->propagation : CAL_PROPAGATE_FLEXIBLE;
}
const char *cal_model_name(const CalModel *model) { return model ? model->name : NULL; }

double cal_model_flops(const CalModel *model, CalSolver solver) {
	if (!model)
		return 0;
	if (solver == CAL_SOLVER_AUTO)
		solver = model->solver;
	return solver == CAL_SOLVER_DENSE ? model->flops_dense : model->flops_recursive;
}

static double lumped_mass(const CalModel *model, const Body *body) {
	double sum = 0;
	for (int i = 0; body->flex >= 0 && i < model->flexes[body->flex].mass_count; ++i)
		sum += model->flexes[body->flex].masses[i].m;
	return sum;
}

CalStatus cal_model_body(const CalModel *model, int body, CalBodyInfo *info) {
	if (!model || !info || body < 0 || body >= model->body_count)
		return CAL_ERR_ARGUMENT;
	const Body *b = &model->bodies[body];
	*info = (CalBodyInfo){.name = b->name,
	                      .id = b->id,
	                      .parent = b->parent,
	                      .node = b->node,
	                      .mass = b->mass,
	                      .lumped_mass = lumped_mass(model, b),
	                      .com = dvec_out(b->com),
	                      .inertia = dmat_out(b->inertia),
	                      .joint = b->joint,
	                      .joint_id = b->joint_id,
	                      .type = b->type,
	                      .q = b->q,
	                      .nq = b->nq,
	                      .u = b->u,
	                      .nu = b->nu,
	                      .inboard_node = b->inboard_node,
	                      .head_node = b->head_node,
	                      .link = b->first_link,
	                      .nlink = b->nlink,
	                      .modes = b->flex >= 0 ? model->flexes[b->flex].m : 0,
	                      .mechanism = b->mechanism};
	return CAL_OK;
}

CalStatus cal_model_dof(const CalModel *model, int u, CalDofInfo *info) {
	if (!model || !info || u < 0 || u >= model->nu)
		return CAL_ERR_ARGUMENT;
	const Dof *d = &model->dofs[u];
	*info = (CalDofInfo){d->body, d->index, d->q, d->stiffness, d->rest, d->damping, d->rotor, model->prescribed[u]};
	return CAL_OK;
}

CalStatus cal_model_node(const CalModel *model, int node, CalNodeInfo *info) {
	if (!model || !info || node < 0 || node >= model->node_count)
		return CAL_ERR_ARGUMENT;
	const Node *n = &model->nodes[node];
	*info = (CalNodeInfo){n->name, n->id, n->body, dpose_out(n->in_body)};
	return CAL_OK;
}

/* The same one by one: coordinates of embedded mechanisms are not in the order of bodies. */
static const Body *search_bodies(const CalModel *model, int q) {
	for (int i = 0; i < model->body_count; ++i) {
		const Body *body = &model->bodies[i];
		const int modes = body->flex >= 0 ? model->flexes[body->flex].m : 0;
		if (q >= body->q && q < body->q + body->nq + modes)
			return body;
	}
	return NULL;
}

/* The body whose joint or modes hold coordinate q: the last one that starts at or before it. */
static const Body *body_of_coordinate(const CalModel *model, int q) {
	int low = 0, high = model->body_count; // it is in low .. high - 1
	if (q < 0 || q >= model->nq)
		return NULL;
	if (model->mechanism_count)
		return search_bodies(model, q);
	while (high - low > 1) {
		const int middle = low + (high - low) / 2;
		if (model->bodies[middle].q <= q)
			low = middle;
		else
			high = middle;
	}
	return &model->bodies[low];
}

/* Place of link i among the elements of its body's joint. */
static int element_of_link(const CalModel *model, const Body *body, int link) {
	int element = 0;
	for (int i = body->first_link; i < link; ++i)
		element += model->links[i].nu > 0;
	return element;
}

static CalCoordinateInfo modal_info(const char *stem, int mode) {
	CalCoordinateInfo info = {.kind = CAL_COORDINATE_MODE};
	snprintf(info.name, sizeof info.name, "%s%d", stem, mode + 1);
	return info;
}

/* Coordinate or speed i of the joint of an embedded body. */
static CalStatus inner_coordinate(const CalModel *model, const Body *body, int speed, int i, CalCoordinateInfo *info) {
	const CalModel *inner = model->mechanisms[body->mechanism - 1]->model;
	const Body *same = &inner->bodies[body->inner];
	return speed ? cal_model_speed(inner, same->u + i, info) : cal_model_coordinate(inner, same->q + i, info);
}

CalStatus cal_model_coordinate(const CalModel *model, int q, CalCoordinateInfo *info) {
	const Body *body = model && info ? body_of_coordinate(model, q) : NULL;
	if (!body)
		return CAL_ERR_ARGUMENT;
	if (q >= body->q + body->nq) {
		*info = modal_info("eta", q - body->q - body->nq);
		return CAL_OK;
	}
	if (body->mechanism)
		return inner_coordinate(model, body, 0, q - body->q, info);
	int i = body->first_link;
	while (q >= model->links[i].q + model->links[i].nq)
		++i;
	const Link *link = &model->links[i];
	*info = joint_coordinate_info(joint_type(body->type), 0, q - body->q, (JointPrimitive)link->motion,
	                              element_of_link(model, body, i), q - link->q);
	return CAL_OK;
}

CalStatus cal_model_speed(const CalModel *model, int u, CalCoordinateInfo *info) {
	if (!model || !info || u < 0 || u >= model->nu)
		return CAL_ERR_ARGUMENT;
	const Body *body = &model->bodies[model->dofs[u].body];
	if (u >= body->u + body->nu) {
		*info = modal_info("etadot", u - body->u - body->nu);
		return CAL_OK;
	}
	if (body->mechanism)
		return inner_coordinate(model, body, 1, u - body->u, info);
	const Link *link = &model->links[model->dofs[u].link];
	*info = joint_coordinate_info(joint_type(body->type), 1, u - body->u, (JointPrimitive)link->motion,
	                              element_of_link(model, body, model->dofs[u].link), u - link->u);
	return CAL_OK;
}

/* A joint with one coordinate needs no component; modes belong to the body. */
static int write_name(const Body *body, bool single, const CalCoordinateInfo *info, char *buffer, size_t size) {
	if (info->kind == CAL_COORDINATE_MODE)
		return snprintf(buffer, size, "%s.%s", body->name, info->name);
	return single ? snprintf(buffer, size, "%s", body->joint)
	              : snprintf(buffer, size, "%s.%s", body->joint, info->name);
}

int cal_model_dof_name(const CalModel *model, int u, char *buffer, size_t size) {
	CalCoordinateInfo info;
	if (cal_model_speed(model, u, &info) != CAL_OK)
		return -1;
	const Body *body = &model->bodies[model->dofs[u].body];
	return write_name(body, body->nu == 1, &info, buffer, size);
}

int cal_model_q_name(const CalModel *model, int q, char *buffer, size_t size) {
	CalCoordinateInfo info;
	if (cal_model_coordinate(model, q, &info) != CAL_OK)
		return -1;
	const Body *body = body_of_coordinate(model, q);
	return write_name(body, body->nq == 1, &info, buffer, size);
}

/* ---- loops --------------------------------------------------------------------------------- */

int cal_model_loop_count(const CalModel *model) { return model ? model->loop_count : 0; }
int cal_model_row_count(const CalModel *model) { return model ? model->row_count : 0; }

CalStatus cal_model_loop(const CalModel *model, int loop, CalLoopInfo *info) {
	if (!model || !info || loop < 0 || loop >= model->loop_count)
		return CAL_ERR_ARGUMENT;
	const Loop *l = &model->loops[loop];
	*info = (CalLoopInfo){.name = l->name,
	                      .id = l->id,
	                      .type = l->type,
	                      .node_a = l->node_a,
	                      .node_b = l->node_b,
	                      .a = l->def_a,
	                      .b = l->def_b,
	                      .row = l->row,
	                      .rows = l->rows,
	                      .driven = l->driven,
	                      .frequency = l->frequency,
	                      .damping = l->damping,
	                      .closes = -1,
	                      .cluster = -1,
	                      .eliminated = -1};
	if (model->loop_schedule) {
		const LoopEnds *ends = &model->loop_schedule->ends[loop];
		info->closes = ends->closes >= 0 ? model->links[ends->closes].body : -1;
		info->cluster = ends->cluster;
		info->eliminated = ends->place >= 0 ? model->links[ends->place].body : -1;
	}
	return CAL_OK;
}

CalStatus cal_model_loop_cost(const CalModel *model, CalLoopCost *cost) {
	if (!model || !cost)
		return CAL_ERR_ARGUMENT;
	const double m = model->row_count;
	*cost = (CalLoopCost){.solver = CAL_LOOPS_CUT_JOINT,
	                      .carried = model->row_count,
	                      .couplings = model->loop_count * (model->loop_count - 1) / 2,
	                      .products = m * m * (model->nu + m / 6)};
	if (model->loop_schedule)
		loop_schedule_cost(model, cost);
	if (model->coupled)
		coupled_plan_cost(model->coupled, cost);
	return CAL_OK;
}

/* The loop that has a row: the last one that starts at or before it. */
static const Loop *loop_of_row(const CalModel *model, int row) {
	int low = 0, high = model->loop_count;
	if (row < 0 || row >= model->row_count)
		return NULL;
	while (high - low > 1) {
		const int middle = low + (high - low) / 2;
		if (model->loops[middle].row <= row)
			low = middle;
		else
			high = middle;
	}
	return &model->loops[low];
}

int cal_model_row_name(const CalModel *model, int row, char *buffer, size_t size) {
	const Loop *loop = model ? loop_of_row(model, row) : NULL;
	if (!loop)
		return -1;
	const CalLoopDef def = {.type = loop->type, .translation = loop->translation, .rotation = loop->rotation};
	return snprintf(buffer, size, "%s.%s", loop->name, cal_loop_row_name(&def, row - loop->row));
}
