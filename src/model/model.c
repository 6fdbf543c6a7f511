// SPDX-License-Identifier: Apache-2.0
/*
 * model.c — reading a compiled model: counts, names, indices.
 */
#include <stdio.h>

#include <calder/loops.h>

#include "base/name_index.h"
#include "model/loop_plan.h"
#include "model/model.h"

size_t cal_model_size(const CalModel *model) { return model ? model->size : 0; }
int cal_model_body_count(const CalModel *model) { return model ? model->body_count : 0; }
int cal_model_node_count(const CalModel *model) { return model ? model->node_count : 0; }
int cal_model_q_count(const CalModel *model) { return model ? model->nq : 0; }
int cal_model_u_count(const CalModel *model) { return model ? model->nu : 0; }
int cal_model_link_count(const CalModel *model) { return model ? model->link_count : 0; }
CalSolver cal_model_solver(const CalModel *model) { return model ? model->solver : CAL_SOLVER_AUTO; }
CalVec3 cal_model_gravity(const CalModel *model) { return model ? dvec_out(model->gravity) : (CalVec3){0}; }
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
	                      .modes = b->flex >= 0 ? model->flexes[b->flex].m : 0};
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

int cal_model_dof_name(const CalModel *model, int u, char *buffer, size_t size) {
	if (!model || u < 0 || u >= model->nu)
		return -1;
	const Body *body = &model->bodies[model->dofs[u].body];
	if (u >= body->u + body->nu)
		return snprintf(buffer, size, "%s.eta%d", body->name, u - body->u - body->nu);
	if (body->nu == 1)
		return snprintf(buffer, size, "%s", body->joint);
	return snprintf(buffer, size, "%s.%d", body->joint, u - body->u);
}

/* The body whose joint holds coordinate q: the last one that starts at or before it and has any. */
static const Body *body_of_coordinate(const CalModel *model, int q) {
	for (int i = 0; i < model->body_count; ++i) {
		const Body *body = &model->bodies[i];
		const int modes = body->flex >= 0 ? model->flexes[body->flex].m : 0;
		if (q >= body->q && q < body->q + body->nq + modes)
			return body;
	}
	return NULL;
}

int cal_model_q_name(const CalModel *model, int q, char *buffer, size_t size) {
	const Body *body = model ? body_of_coordinate(model, q) : NULL;
	if (!body)
		return -1;
	if (q >= body->q + body->nq)
		return snprintf(buffer, size, "%s.eta%d", body->name, q - body->q - body->nq);
	if (body->nq == 1)
		return snprintf(buffer, size, "%s", body->joint);
	return snprintf(buffer, size, "%s.%d", body->joint, q - body->q);
}

int cal_model_find_body(const CalModel *model, const char *name) {
	for (int i = 0; model && name && i < model->body_count; ++i) {
		if (strcmp(model->bodies[i].name, name) == 0)
			return i;
	}
	return -1;
}

int cal_model_find_joint(const CalModel *model, const char *name) {
	for (int i = 0; model && name && i < model->body_count; ++i) {
		if (strcmp(model->bodies[i].joint, name) == 0)
			return i;
	}
	return -1;
}

/*
 * "body/node" names a node of a body, "ground/node" one of the ground, "body" the body's own frame. Names of bodies may
 * hold a '/' themselves (arm1/boom), those of their nodes not.
 */
int cal_model_find_node(const CalModel *model, const char *path) {
	if (!model || !path)
		return -1;
	const int body = cal_model_find_body(model, path);
	if (body >= 0)
		return model->bodies[body].node;
	const char *slash = name_path_split(path);
	if (!slash)
		return -1;
	const size_t length = (size_t)(slash - path);
	for (int i = 0; i < model->node_count; ++i) {
		const Node *node = &model->nodes[i];
		const char *owner = node->body < 0 ? "ground" : model->bodies[node->body].name;
		if (strcmp(node->name, slash + 1) == 0 && strlen(owner) == length && strncmp(owner, path, length) == 0)
			return i;
	}
	return -1;
}

int cal_model_body_index(const CalModel *model, CalBodyId id) {
	for (int i = 0; model && i < model->body_count; ++i) {
		if (model->bodies[i].id.value == id.value)
			return i;
	}
	return -1;
}

int cal_model_node_index(const CalModel *model, CalNodeId id) {
	for (int i = 0; model && i < model->node_count; ++i) {
		if (model->nodes[i].id.value == id.value)
			return i;
	}
	return -1;
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
	                      .cluster = -1};
	if (model->plan) {
		const LoopEnds *ends = &model->plan->ends[loop];
		info->closes = ends->closes >= 0 ? model->links[ends->closes].body : -1;
		info->cluster = ends->cluster;
	}
	return CAL_OK;
}

int cal_model_find_loop(const CalModel *model, const char *name) {
	for (int i = 0; model && name && i < model->loop_count; ++i) {
		if (strcmp(model->loops[i].name, name) == 0)
			return i;
	}
	return -1;
}

int cal_model_row_name(const CalModel *model, int row, char *buffer, size_t size) {
	for (int i = 0; model && i < model->loop_count; ++i) {
		const Loop *l = &model->loops[i];
		const CalLoopDef def = {.type = l->type, .translation = l->translation, .rotation = l->rotation};
		if (row >= l->row && row < l->row + l->rows)
			return snprintf(buffer, size, "%s.%s", l->name, cal_loop_row_name(&def, row - l->row));
	}
	return -1;
}
