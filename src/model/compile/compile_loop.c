// SPDX-License-Identifier: Apache-2.0
/*
 * compile_loop.c — loops in the model compiler: those of the group, in the order of the description.
 */
#include "loop/loop_type.h"
#include "model/compile/compile.h"
#include "model/loop_plan.h"

void compile_loop_count(Compiler *c) {
	const GroupMembers *loops = &c->groups->loops;
	for (int k = loops->first[c->group]; k < loops->first[c->group + 1]; ++k) {
		const DescLoop *loop = &c->desc->loops[loops->member[k]];
		if (loop->mechanism)
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
	const CalVec3 m = def->applied_wrench.angular, f = def->applied_wrench.linear;
	loop->length = def->length, loop->pitch = def->pitch, loop->radius = def->radius;
	loop->frequency = def->frequency, loop->damping = def->damping;
	loop->applied_wrench = def->applied_wrench;
	loop->has_applied_wrench = m.x != 0 || m.y != 0 || m.z != 0 || f.x != 0 || f.y != 0 || f.z != 0;
	for (int i = 0; i < loop->rows; ++i) {
		loop->drive[i] = def->drive[i];
		loop->driven |= drive_moves(&def->drive[i]) << i;
	}
	loop->term_count = loop_type_has_terms(def->type) ? def->term_count : 0;
	for (int i = 0; i < loop->term_count; ++i)
		loop->term[i] = term_of(c, &def->term[i]);
}

void compile_loops(Compiler *c, CalModel *model) {
	const GroupMembers *loops = &c->groups->loops;
	int made = 0, row = 0;
	for (int k = loops->first[c->group]; k < loops->first[c->group + 1]; ++k) {
		const int i = loops->member[k];
		const DescLoop *from = &c->desc->loops[i];
		if (from->mechanism)
			continue;
		const int a = from->a.value ? c->node_of[from->a.value - 1] : -1;
		const int b = from->b.value ? c->node_of[from->b.value - 1] : -1;
		const int alone = loop_type_has_one_side(from->def.type);
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
		model->any_applied_wrench |= loop->has_applied_wrench;
		model->any_coupling |= loop->term_count > 0;
		row += loop->rows;
	}
}

/* ---- sizes -------------------------------------------------------------------------------------- */

static double length(dvec3 v) { return sqrt(v.x * v.x + v.y * v.y + v.z * v.z); }

static double link_length(const CalModel *model, const Link *link) {
	return length(link->p) + (link->flex >= 0 ? length(model->shapes[link->shape].p) : 0);
}

/* Length of the path of one side, and from where on the link on which the loop closes (or on the ground) it begins. */
static double path_length(const CalModel *model, const Loop *loop, int s, int closes, dvec3 *from) {
	const int node = s ? loop->node_b : loop->node_a;
	const LoopSide *side = &loop->side[s];
	*from = side->on.r;
	if (node < 0 || model->nodes[node].link == closes)
		return 0;
	double sum = length(side->on.r) + (side->moves ? length(model->shapes[model->nodes[node].shape].p) : 0);
	for (int i = model->nodes[node].link; i >= 0 && i != closes; i = model->links[i].parent) {
		*from = model->links[i].p;
		sum += model->links[i].parent == closes ? 0 : link_length(model, &model->links[i]);
	}
	return sum;
}

/* Placements that cancel, such as those of a loop that closes on the axis of its only joint, leave no more than round-off. */
static const double NO_LENGTH = 1e-10;

static double find_reach(const CalModel *model, const Loop *loop) {
	dvec3 a, b;
	if (loop->term_count)
		return 0;
	const int closes = loop_closes(model, loop);
	const double paths = path_length(model, loop, 0, closes, &a) + path_length(model, loop, 1, closes, &b);
	const double reach = paths + length((dvec3){b.x - a.x, b.y - a.y, b.z - a.z}) + loop->length + loop->radius;
	const double parts =
		length(dvec_in(loop->def_a.position)) + length(dvec_in(loop->def_b.position)) + length(a) + length(b);
	return reach > NO_LENGTH * parts ? reach : 0;
}

/* Of a coupling: its largest term, a turn by 1 rad or a slide by the reach. */
static double coupling_unit(const CalModel *model, const Loop *loop) {
	double most = 0;
	for (int i = 0; i < loop->term_count; ++i) {
		const int slides = model->links[model->dofs[loop->term[i].u].link].motion == PRIMITIVE_TRANSLATION;
		most = fmax(most, fabs(loop->term[i].factor) * (slides ? loop->reach : 1));
	}
	return most;
}

/* Loops without any length of their own, couplings among them, are of the size of the largest. */
void compile_loop_units(const CalModel *model, Loop *loops) {
	double most = 0;
	for (int l = 0; l < model->loop_count; ++l) {
		loops[l].reach = find_reach(model, &loops[l]);
		most = fmax(most, loops[l].reach);
	}
	for (int l = 0; l < model->loop_count; ++l) {
		Loop *loop = &loops[l];
		const int turns = loop_angle_rows(loop->type, loop->rotation);
		loop->reach = loop->reach > 0 ? loop->reach : most > 0 ? most : 1;
		for (int i = 0; i < loop->rows; ++i)
			loop->unit[i] = i < loop->rows - turns ? loop->reach : 1;
		if (loop->term_count)
			loop->unit[0] = coupling_unit(model, loop);
	}
}
