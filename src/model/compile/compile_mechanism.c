// SPDX-License-Identifier: Apache-2.0
/*
 * compile_mechanism.c — embedded mechanisms in the model compiler [THEORY 5.8].
 *
 * The bodies of a mechanism are compiled twice: as a model of their own, whose ground is the base and which has the loops,
 * and in the model of the group as bodies that are welded to the nodes of one link. That link is a flexible body without
 * mass or shapes of its own (Flex.ops moves its nodes); its dofs are the independent coordinates. Inertia, wrenches and
 * whatever the bodies carry stay with the bodies.
 */
#include "base/cursor.h"
#include "base/error.h"
#include "loop/loop_type.h"
#include "model/compile/compile.h"

/* ---- the model of its own -------------------------------------------------------------------------------- */

typedef struct Inner {
	const CalDesc *from;
	CalDesc *to;
	int id;
	uint32_t *body; // [bodies of from + 1] id in `to`, 0: not inside
	uint32_t *node; // [nodes of from + 1] id in `to`, 0: not there yet
	CalError *error;
} Inner;

static uint32_t body_of_node(const CalDesc *desc, CalNodeId node) {
	return node.value ? desc_node(desc, node)->body.value : 0;
}

/* Bodies weigh one each: loops are geometry. */
static CalStatus add_bodies(const Inner *in) {
	const CalMat3 one = {{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}};
	for (int j = 0; j < in->from->joint_count; ++j) {
		const DescJoint *joint = &in->from->joints[j];
		if (joint->embedding.mechanism != in->id)
			continue;
		const uint32_t body = body_of_node(in->from, joint->outboard);
		const CalBodyDef *def = &in->from->bodies[body - 1].def;
		CalBodyId id;
		const CalStatus status = cal_desc_add_body(
			in->to, &(CalBodyDef){.name = def->name, .mass = 1, .inertia = one, .place = def->place}, &id, in->error);
		if (status != CAL_OK)
			return status;
		in->body[body] = id.value;
	}
	return CAL_OK;
}

/* A node of a body inside, or of the base, which is the ground there. */
static CalStatus find_node(const Inner *in, CalNodeId node, CalNodeId *found) {
	const uint32_t owner = body_of_node(in->from, node);
	const int inside = owner && in->body[owner];
	*found = (CalNodeId){node.value ? in->node[node.value] : 0};
	if (found->value || !node.value)
		return CAL_OK;
	if (owner && node.value == in->from->bodies[owner - 1].frame.value) {
		*found = inside ? cal_desc_body_node(in->to, (CalBodyId){in->body[owner]}) : (CalNodeId){0};
		return CAL_OK;
	}
	const CalStatus status = cal_desc_add_node(in->to, (CalBodyId){inside ? in->body[owner] : 0},
	                                           &desc_node(in->from, node)->def, found, in->error);
	in->node[node.value] = found->value;
	return status;
}

static CalStatus add_joints(const Inner *in) {
	for (int j = 0; j < in->from->joint_count; ++j) {
		const DescJoint *joint = &in->from->joints[j];
		CalNodeId inboard, outboard;
		if (joint->embedding.mechanism != in->id)
			continue;
		CalJointDef def = joint->def;
		for (int k = 0; k < CAL_JOINT_MAX_DOF; ++k)
			def.dof[k].prescribed = 0;
		CalStatus status = find_node(in, joint->inboard, &inboard);
		if (status == CAL_OK)
			status = find_node(in, joint->outboard, &outboard);
		if (status == CAL_OK)
			status = cal_desc_attach(in->to, inboard, &def, outboard, NULL, in->error);
		if (status != CAL_OK)
			return status;
	}
	return CAL_OK;
}

static CalStatus add_loops(const Inner *in) {
	for (int l = 0; l < in->from->loop_count; ++l) {
		const DescLoop *loop = &in->from->loops[l];
		CalNodeId a, b;
		if (loop->mechanism != in->id)
			continue;
		CalLoopDef def = loop->def;
		for (int i = 0; loop_type_has_terms(def.type) && i < def.term_count; ++i)
			def.term[i].body.value = in->body[def.term[i].body.value];
		CalStatus status = find_node(in, loop->a, &a);
		if (status == CAL_OK)
			status = find_node(in, loop->b, &b);
		if (status == CAL_OK)
			status = cal_desc_close_loop(in->to, a, &def, b, NULL, in->error);
		if (status != CAL_OK)
			return status;
	}
	return CAL_OK;
}

static CalStatus compile_inner(const CalDesc *desc, int id, const CalAllocator *allocator, CalModel **model,
                               CalError *error) {
	const size_t bodies = (size_t)desc->body_count + 1, nodes = (size_t)desc->node_count + 1;
	uint32_t *ids = memory_alloc(&desc->allocator, (bodies + nodes) * sizeof *ids);
	Inner in = {.from = desc, .id = id, .body = ids, .node = ids + bodies, .error = error};
	CalStatus status = ids ? cal_desc_create(&desc->allocator, &in.to) : CAL_ERR_MEMORY;
	if (status == CAL_OK) {
		memset(ids, 0, (bodies + nodes) * sizeof *ids);
		cal_desc_set_gravity(in.to, (CalGroupId){0}, (CalVec3){0, 0, 0});
		status = add_bodies(&in);
	}
	if (status == CAL_OK)
		status = add_joints(&in);
	if (status == CAL_OK)
		status = add_loops(&in);
	if (status == CAL_OK)
		status = cal_model_compile(in.to, &(CalCompileOptions){.allocator = *allocator}, model, error);
	cal_desc_destroy(in.to);
	memory_free(&desc->allocator, ids);
	return status;
}

/* ---- what is independent --------------------------------------------------------------------------------- */

static const DescJoint *joint_named(const CalDesc *desc, const char *name) {
	const CalJointId id = cal_desc_find_joint(desc, name);
	return id.value ? desc_joint(desc, id) : NULL;
}

static const char *first_loop(const CalDesc *desc, int id) {
	for (int l = 0; l < desc->loop_count; ++l) {
		if (desc->loops[l].mechanism == id)
			return desc->loops[l].def.name;
	}
	return "";
}

static void layout_mechanism(Mechanism *m, const char *name, Cursor *cursor) {
	const size_t nu = (size_t)m->model->nu;
	char *text;
	cursor_array(cursor, 1, sizeof *m);
	CURSOR_ARRAY(cursor, m->q, m->model->nq);
	CURSOR_ARRAY(cursor, m->start, nu);
	CURSOR_ARRAY(cursor, m->dof, nu);
	CURSOR_ARRAY(cursor, m->at, nu);
	CURSOR_ARRAY(cursor, m->body, m->model->body_count);
	CURSOR_ARRAY(cursor, m->turns, nu);
	CURSOR_ARRAY(cursor, m->independent, nu);
	CURSOR_ARRAY(cursor, text, strlen(name) + 1);
	if (cursor->base)
		m->name = memcpy(text, name, strlen(name) + 1);
}

/* Reference coordinates, and the independent ones among them in the order of the model. */
static void fill_coordinates(const CalDesc *desc, Mechanism *m) {
	for (int b = 0; b < m->model->body_count; ++b) {
		const Body *body = &m->model->bodies[b];
		const DescEmbedding *from = &joint_named(desc, body->joint)->embedding;
		memcpy(m->q + body->q, from->q, sizeof *m->q * (size_t)body->nq);
		for (int u = body->u; from->independent && u < body->u + body->nu; ++u) {
			CalCoordinateInfo coordinate = {0};
			m->at[m->dofs] = m->model->dofs[u].q;
			cal_model_coordinate(m->model, m->at[m->dofs], &coordinate);
			m->turns[m->dofs] = coordinate.kind == CAL_COORDINATE_ANGLE;
			m->start[m->dofs] = m->at[m->dofs] >= 0 ? m->q[m->at[m->dofs]] : 0;
			m->independent[u] = 1;
			m->dof[m->dofs++] = u;
		}
	}
}

CalStatus mechanism_create(const CalDesc *desc, int id, const CalAllocator *allocator, Mechanism **mechanism,
                           CalError *error) {
	Mechanism made = {.allocator = *allocator, .id = id, .flex = -1, .base = -1};
	const char *name = first_loop(desc, id);
	const CalStatus status = compile_inner(desc, id, allocator, &made.model, error);
	if (status != CAL_OK)
		return status;
	Cursor cursor = {.align = sizeof(double)};
	layout_mechanism(&made, name, &cursor);
	Mechanism *m = cursor_alloc_at_start(&cursor, allocator);
	if (!m) {
		cal_model_destroy(made.model);
		return CAL_ERR_MEMORY;
	}
	cursor_clear(&cursor);
	*m = made;
	layout_mechanism(m, name, &cursor);
	fill_coordinates(desc, m);
	*mechanism = m;
	return CAL_OK;
}

/* ---- in the model of the group ---------------------------------------------------------------------------- */

static Mechanism *find_mechanism(const Compiler *c, int id) {
	for (int i = 0; i < c->mechanism_count; ++i) {
		if (c->mechanisms[i]->id == id)
			return c->mechanisms[i];
	}
	return NULL;
}

static int has_springs(const CalModel *model) { return model->spring_count > 0 || model->ball_spring_count > 0; }

CalStatus compile_mechanisms(Compiler *c, const CalAllocator *allocator) {
	int most = 0;
	for (int i = 0; i < c->body_count; ++i)
		most += c->desc->joints[c->joint_of[c->order[i]]].embedding.mechanism != 0;
	if (!most)
		return CAL_OK;
	c->mechanisms = memory_alloc(allocator, sizeof(Mechanism *) * (size_t)most);
	for (int i = 0; c->mechanisms && i < c->body_count; ++i) {
		const int id = c->desc->joints[c->joint_of[c->order[i]]].embedding.mechanism;
		if (!id || find_mechanism(c, id))
			continue;
		Mechanism *m;
		const CalStatus status = mechanism_create(c->desc, id, allocator, &m, NULL);
		if (status != CAL_OK)
			return status;
		m->ops = c->desc->mechanisms->link;
		m->ops.scratch_size = c->desc->mechanisms->scratch_size(m);
		m->ops.elastic = has_springs(m->model) || m->model->any_damping ? m->ops.elastic : NULL;
		m->ops.potential = has_springs(m->model) ? m->ops.potential : NULL;
		m->ops.dissipated = m->model->any_damping ? m->ops.dissipated : NULL;
		c->mechanisms[c->mechanism_count++] = m;
	}
	return c->mechanisms ? CAL_OK : CAL_ERR_MEMORY;
}

void compile_mechanisms_release(const Compiler *c, const CalAllocator *allocator) {
	for (int i = 0; i < c->mechanism_count; ++i)
		mechanism_destroy(c->mechanisms[i]);
	memory_free(allocator, c->mechanisms);
}

/* Numbers that are zero: shapes of its nodes, modal mass, stiffness. */
static size_t zeros_of(const Mechanism *m) {
	const size_t n = (size_t)row_length(m->dofs), rows = m->dofs > 6 ? (size_t)m->dofs : 6;
	return n * rows;
}

void compile_mechanism_count(Compiler *c, const DescJoint *joint) {
	Mechanism *m = find_mechanism(c, joint->embedding.mechanism);
	const int columns = 6 * row_length(m->dofs);
	++c->link_count;
	++c->shape_count;
	c->modal_columns += columns;
	if (m->counted++)
		return;
	++c->flex_count;
	++c->link_count;
	++c->shape_count; // of its frame
	c->modal_columns += columns;
	c->nq += m->dofs;
	c->nu += m->dofs;
	c->flex_numbers += zeros_of(m);
}

/* The link of the mechanism, on its base: the parent of its first body. */
static void place_mechanism(Compiler *c, Mechanism *m, int index) {
	const int base = c->bodies[index].parent, f = c->flexes_made++, dofs = m->dofs, n = row_length(dofs);
	const dpose X = base >= 0 ? c->bodies[base].in_link : dpose_identity();
	const double *zeros = c->numbers;
	Flex *flex = &c->flexes[f];
	c->numbers += zeros_of(m);
	*flex = (Flex){.m = dofs,
	               .n = n,
	               .body = index,
	               .q = c->q_made,
	               .u = c->u_made,
	               .R = dmat_identity(),
	               .right_angles = dmat_identity(),
	               .Mee = zeros,
	               .K = zeros,
	               .s1 = zeros,
	               .diagonal = 1,
	               .head = {.E = dmat_identity()},
	               .shape_first = c->shapes_made,
	               .ops = &m->ops,
	               .ops_data = m,
	               .neutral = m->start};
	for (int i = 0; i < m->model->body_count; ++i)
		c->shapes[c->shapes_made++] = (FlexShape){.E = dmat_identity(), .moves = 1, .phi = zeros, .psi = zeros + 3 * n};
	flex->shape_end = c->shapes_made;
	flex->link = compile_flex_own_link(c, index, base >= 0 ? c->bodies[base].link : -1, &X, f);
	c->links[flex->link].flex_body = f;
	c->q_made += dofs;
	c->u_made += dofs;
	m->flex = f;
	m->base = base;
	m->ops.name = m->name;
}

void compile_mechanism_body(Compiler *c, int index, const DescJoint *joint) {
	Mechanism *m = find_mechanism(c, joint->embedding.mechanism);
	Body *body = &c->bodies[index];
	const int inner = cal_model_find_joint(m->model, joint->def.name), first = m->model->bodies[inner].u;
	if (m->flex < 0)
		place_mechanism(c, m, index);
	const Flex *flex = &c->flexes[m->flex];
	m->body[inner] = index;
	for (int i = 0; i < c->mechanism_count; ++i)
		body->mechanism = c->mechanisms[i] == m ? i + 1 : body->mechanism;
	body->inner = inner;
	body->link = compile_flex_add_node_link(c, m->flex, flex->shape_first + inner, index);
	body->first_link = c->links_made;
	body->in_link = dpose_identity();
	int k = 0;
	while (k < m->dofs && m->dof[k] < first)
		++k;
	body->q = flex->q + k;
	body->u = flex->u + k;
	body->nq = body->nu = joint->embedding.independent ? m->model->bodies[inner].nu : 0;
}

void compile_mechanism_dofs(Compiler *c, CalModel *model) {
	for (int i = 0; i < c->mechanism_count; ++i) {
		const Mechanism *m = c->mechanisms[i];
		const Flex *flex = &c->flexes[m->flex];
		model->size += m->model->size;
		for (int k = 0; k < m->dofs; ++k) {
			Dof *dof = &c->dofs[flex->u + k];
			dof->body = m->body[m->model->dofs[m->dof[k]].body];
			dof->index = m->model->dofs[m->dof[k]].index;
			const CalJointDef *joint = &c->desc->joints[c->bodies[dof->body].joint_id.value - 1].def;
			const int held = joint->dof[dof->index].prescribed || model->propagation == CAL_PROPAGATE_KINEMATIC;
			c->prescribed[flex->u + k] = held != 0;
			model->any_prescribed |= held;
		}
	}
}
