// SPDX-License-Identifier: Apache-2.0
/*
 * compile_loop.c — loops in the model compiler: those of the group, in the order of the description.
 */
#include "model/compile.h"

static int in_group(const Compiler *c, CalBodyId body) { return body.value && c->index_of[body.value - 1] >= 0; }

static int is_ours(const Compiler *c, const DescLoop *loop) {
	const CalNodeId side[2] = {loop->a, loop->b};
	if (loop->def.type == CAL_LOOP_COUPLING)
		return in_group(c, loop->def.term[0].body);
	for (int i = 0; i < 2; ++i) {
		if (side[i].value && in_group(c, desc_node(c->desc, side[i])->body))
			return 1;
	}
	return 0;
}

void compile_loop_count(Compiler *c) {
	for (int i = 0; i < c->desc->loop_count; ++i) {
		const DescLoop *loop = &c->desc->loops[i];
		if (!is_ours(c, loop))
			continue;
		++c->loop_count;
		c->row_count += loop_def_rows(&loop->def);
		c->string_size += strlen(loop->def.name) + 1;
	}
}

static LoopSide side_of(const Compiler *c, int node, CalPlacement placement) {
	const dpose on = compile_pose(placement);
	if (node < 0)
		return (LoopSide){-1, 0, on};
	const Node *n = &c->nodes[node];
	return (LoopSide){n->link, n->shape >= 0, n->shape >= 0 ? on : dpose_mul(n->in_link, on)};
}

/* Where the coordinate of a term is; it has one (check_loop.c). */
static LoopTerm term_of(const Compiler *c, const CalLoopTerm *from) {
	const int index = c->index_of[from->body.value - 1];
	const Body *body = &c->bodies[index];
	const CalJointDef *joint = &c->desc->joints[c->joint_of[from->body.value - 1]].def;
	if (from->dof < body->nu)
		return (LoopTerm){body->u + from->dof, body->q + joint_coordinate_of(joint, from->dof), from->factor};
	const Flex *flex = &c->flexes[body->flex];
	return (LoopTerm){flex->u + from->dof - body->nu, flex->q + from->dof - body->nu, from->factor};
}

static int drive_moves(const CalDrive *d) {
	return d->fn || d->offset != 0 || d->speed != 0 || d->acceleration != 0 || d->amplitude != 0;
}

static void add_values(const Compiler *c, const CalLoopDef *def, Loop *loop) {
	const CalVec3 m = def->known.angular, f = def->known.linear;
	loop->length = def->length, loop->pitch = def->pitch, loop->radius = def->radius;
	loop->frequency = def->frequency, loop->damping = def->damping;
	loop->known = def->known;
	loop->has_known = m.x != 0 || m.y != 0 || m.z != 0 || f.x != 0 || f.y != 0 || f.z != 0;
	for (int i = 0; i < loop->rows; ++i) {
		loop->drive[i] = def->drive[i];
		loop->driven |= drive_moves(&def->drive[i]);
	}
	loop->term_count = def->type == CAL_LOOP_COUPLING ? def->term_count : 0;
	for (int i = 0; i < loop->term_count; ++i)
		loop->term[i] = term_of(c, &def->term[i]);
}

void compile_loops(Compiler *c, CalModel *model) {
	int made = 0, row = 0;
	for (int i = 0; i < c->desc->loop_count; ++i) {
		const DescLoop *from = &c->desc->loops[i];
		if (!is_ours(c, from))
			continue;
		const int a = from->a.value ? c->node_of[from->a.value - 1] : -1;
		const int b = from->b.value ? c->node_of[from->b.value - 1] : -1;
		const int alone = from->def.type == CAL_LOOP_KNIFE;
		Loop *loop = &c->loops[made++];
		*loop = (Loop){.name = compile_keep_string(c, from->def.name),
		               .id = {(uint32_t)i + 1},
		               .type = from->def.type,
		               .node_a = a,
		               .node_b = b,
		               .plus = alone ? a : b,
		               .minus = alone ? -1 : a,
		               .row = row,
		               .rows = loop_def_rows(&from->def),
		               .translation = loop_def_translation(&from->def),
		               .rotation = loop_def_rotation(&from->def),
		               .side = {side_of(c, a, from->def.a), side_of(c, b, from->def.b)},
		               .def_a = from->def.a,
		               .def_b = from->def.b};
		add_values(c, &from->def, loop);
		model->any_known |= loop->has_known;
		model->any_coupling |= loop->term_count > 0;
		row += loop->rows;
	}
}
