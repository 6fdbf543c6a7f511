// SPDX-License-Identifier: Apache-2.0
/*
 * submodel.c — a piece of a compiled model as a model of its own, in one block as any model.
 *
 * Links, flexible bodies and all else keep their order; only numbers change. What is constant and large (shapes, masses,
 * invariants, names) stays with the whole model.
 */
#include <string.h>

#include "base/cursor.h"
#include "base/memory.h"
#include "loop/loop_type.h"
#include "model/loop_plan.h"
#include "model/mass_pattern.h"
#include "model/model_check.h"
#include "model/submodel.h"

/* ---- numbers --------------------------------------------------------------------------------------- */

static void number_in_piece(PieceIndex *place, int piece, int *made) {
	*place = (PieceIndex){piece, piece >= 0 ? made[piece]++ : -1};
}

static int piece_of_node(const CalModel *model, const int *piece_of, int node) {
	return node >= 0 && model->nodes[node].link >= 0 ? piece_of[model->nodes[node].link] : -1;
}

static int piece_of_loop(const CalModel *model, const int *piece_of, const Loop *loop) {
	if (loop->term_count)
		return piece_of[model->dofs[loop->term[0].u].link];
	const int plus = piece_of_node(model, piece_of, loop->plus), minus = piece_of_node(model, piece_of, loop->minus);
	return plus >= 0 ? plus : minus;
}

/* Coordinates of links and modes of flexible bodies. */
static void place_coordinates(const CalModel *model, const int *piece_of, PieceMap *piece_map) {
	for (int k = 0; k < model->nu; ++k)
		piece_map->u[k].piece = piece_of[model->dofs[k].link];
	for (int i = 0; i < model->link_count; ++i) {
		for (int k = 0; k < model->links[i].nq; ++k)
			piece_map->q[model->links[i].q + k].piece = piece_of[i];
	}
	for (int f = 0; f < model->flex_count; ++f) {
		for (int k = 0; k < model->flexes[f].m; ++k)
			piece_map->q[model->flexes[f].q + k].piece = piece_of[model->flexes[f].link];
	}
}

CalStatus piece_map_create(const CalModel *model, const int *piece_of, int pieces, bool loops, PieceMap *piece_map) {
	const int counts[] = {model->link_count, model->body_count, model->node_count, model->flex_count,
	                      model->nu,         model->nq,         model->loop_count};
	PieceIndex **lists[] = {&piece_map->link, &piece_map->body, &piece_map->node, &piece_map->flex,
	                        &piece_map->u,    &piece_map->q,    &piece_map->loop};
	enum { LISTS = sizeof lists / sizeof *lists };
	size_t total = 0;
	for (int k = 0; k < LISTS; ++k)
		total += (size_t)counts[k];
	PieceIndex *all = memory_alloc(&model->allocator, (total + 1) * sizeof *all + (size_t)(pieces + 1) * sizeof(int));
	if (!all)
		return CAL_ERR_MEMORY;
	piece_map->memory = all;
	int *made = (int *)(void *)(all + total + 1);
	for (int k = 0; k < LISTS; ++k) {
		*lists[k] = all;
		all += counts[k];
	}
	place_coordinates(model, piece_of, piece_map);
	for (int k = 0; k < LISTS; ++k) {
		memset(made, 0, (size_t)pieces * sizeof *made);
		for (int i = 0; i < counts[k]; ++i) {
			PieceIndex *place = &(*lists[k])[i];
			int piece = place->piece; // of coordinates
			if (k == 0)
				piece = piece_of[i];
			if (k == 1)
				piece = model->bodies[i].link >= 0 ? piece_of[model->bodies[i].link] : -1;
			if (k == 2)
				piece = piece_of_node(model, piece_of, i);
			if (k == 3)
				piece = piece_of[model->flexes[i].link];
			if (k == LISTS - 1)
				piece = loops ? piece_of_loop(model, piece_of, &model->loops[i]) : -1;
			number_in_piece(place, piece, made);
		}
	}
	return CAL_OK;
}

void piece_map_free(const CalModel *model, PieceMap *piece_map) {
	memory_free(&model->allocator, piece_map->memory);
	*piece_map = (PieceMap){0};
}

int piece_count(const PieceIndex *list, int count, int piece) {
	int sum = 0;
	for (int i = 0; i < count; ++i)
		sum += list[i].piece == piece;
	return sum;
}

/* ---- memory ------------------------------------------------------------------------------------------ */

/* The arrays of a submodel while they are filled; the model shows them as constant. */
typedef struct Parts {
	CalModel *model;
	Link *links;
	LocalLink *local_links;
	Body *bodies;
	Node *nodes;
	Dof *dofs;
	double *rotor, *damping, *trig_offset;
	uint8_t *prescribed;
	int32_t *dof_parent, *dof_depth, *spring_dof, *user_spring_link, *trig_q;
	size_t *mass_row;
	BallSpring *ball_springs;
	Flex *flexes;
	Loop *loops;
} Parts;

static Parts layout(const CalModel *whole, const CalModel *m, Cursor *cursor) {
	Parts p;
	CURSOR_ARRAY(cursor, p.model, 1);
	CURSOR_ARRAY(cursor, p.links, m->link_count + 1); // and one that ends them
	CURSOR_ARRAY(cursor, p.local_links, m->link_count);
	CURSOR_ARRAY(cursor, p.bodies, m->body_count);
	CURSOR_ARRAY(cursor, p.nodes, m->node_count);
	CURSOR_ARRAY(cursor, p.dofs, m->nu);
	CURSOR_ARRAY(cursor, p.rotor, m->nu);
	CURSOR_ARRAY(cursor, p.damping, m->nu);
	CURSOR_ARRAY(cursor, p.prescribed, m->nu);
	CURSOR_ARRAY(cursor, p.dof_parent, m->nu);
	CURSOR_ARRAY(cursor, p.dof_depth, m->nu);
	CURSOR_ARRAY(cursor, p.mass_row, m->nu + 1);
	CURSOR_ARRAY(cursor, p.spring_dof, m->nu);
	CURSOR_ARRAY(cursor, p.ball_springs, whole->ball_spring_count);
	CURSOR_ARRAY(cursor, p.user_spring_link, whole->user_spring_count);
	CURSOR_ARRAY(cursor, p.trig_q, m->link_count);
	CURSOR_ARRAY(cursor, p.trig_offset, m->link_count);
	CURSOR_ARRAY(cursor, p.flexes, m->flex_count);
	CURSOR_ARRAY(cursor, p.loops, m->loop_count);
	return p;
}

static void show_parts(const Parts *to) {
	CalModel *m = to->model;
	m->links = to->links;
	m->local_links = to->local_links;
	m->bodies = to->bodies;
	m->nodes = to->nodes;
	m->dofs = to->dofs;
	m->rotor = to->rotor;
	m->damping = to->damping;
	m->prescribed = to->prescribed;
	m->dof_parent = to->dof_parent;
	m->dof_depth = to->dof_depth;
	m->mass_row = to->mass_row;
	m->spring_dof = to->spring_dof;
	m->ball_springs = to->ball_springs;
	m->user_spring_link = to->user_spring_link;
	m->trig_q = to->trig_q;
	m->trig_offset = to->trig_offset;
	m->flexes = to->flexes;
	m->loops = to->loops;
}

/* ---- parts --------------------------------------------------------------------------------------------- */

static int link_in_piece(const PieceMap *p, int link, int piece) {
	return link >= 0 && p->link[link].piece == piece ? p->link[link].own : -1;
}

static void copy_links(const CalModel *whole, const PieceMap *p, int piece, const Parts *parts) {
	CalModel *m = parts->model;
	Link *links = parts->links;
	for (int i = 0; i < whole->link_count; ++i) {
		if (p->link[i].piece != piece)
			continue;
		const Link *from = &whole->links[i];
		Link *to = &links[p->link[i].own];
		*to = *from;
		to->parent = link_in_piece(p, from->parent, piece);
		to->u = from->nu ? p->u[from->u].own : 0;
		to->q = from->nq ? p->q[from->q].own : 0;
		to->accumulator = -1;
		to->flex_body = from->flex_body >= 0 ? p->flex[from->flex_body].own : -1;
		to->flex = from->flex >= 0 ? p->flex[from->flex].own : -1;
		to->loop_link = -1;
		to->run = from->parent >= 0 && to->parent == p->link[i].own - 1 && to->parent >= 0 ? links[to->parent].run
		                                                                                   : p->link[i].own;
		if (from->flex >= 0) {
			to->columns = m->modal_columns;
			m->modal_columns += 6 * whole->flexes[from->flex].n;
		}
		if (from->trig >= 0) {
			to->trig = m->trig_count;
			parts->trig_q[m->trig_count] = to->q;
			parts->trig_offset[m->trig_count++] = whole->trig_offset[from->trig];
		}
	}
	local_links_fill(links, m->link_count, parts->local_links);
	links[m->link_count] = (Link){.parent = -1, .motion = PRIMITIVE_FIXED, .accumulator = -1, .loop_link = -1};
}

static void copy_dofs(const CalModel *whole, const PieceMap *p, int piece, const Parts *to) {
	CalModel *m = to->model;
	for (int k = 0; k < whole->nu; ++k) {
		if (p->u[k].piece != piece)
			continue;
		const int own = p->u[k].own, inner = whole->dof_parent[k];
		to->dofs[own] = whole->dofs[k];
		to->dofs[own].link = p->link[whole->dofs[k].link].own;
		to->dofs[own].q = whole->dofs[k].q >= 0 ? p->q[whole->dofs[k].q].own : -1;
		to->rotor[own] = whole->rotor[k];
		to->damping[own] = whole->damping[k];
		to->prescribed[own] = whole->prescribed[k];
		to->dof_parent[own] = inner >= 0 && p->u[inner].piece == piece ? p->u[inner].own : -1;
		m->any_rotor |= to->rotor[own] != 0;
		m->any_damping |= to->damping[own] != 0;
		m->any_prescribed |= to->prescribed[own] != 0;
	}
	mass_pattern_fill(m->nu, to->dof_parent, to->dof_depth, to->mass_row);
	for (int k = 0; k < whole->spring_count; ++k) {
		if (p->u[whole->spring_dof[k]].piece == piece)
			to->spring_dof[m->spring_count++] = p->u[whole->spring_dof[k]].own;
	}
}

static void copy_springs(const CalModel *whole, const PieceMap *p, int piece, const Parts *to) {
	CalModel *m = to->model;
	for (int k = 0; k < whole->ball_spring_count; ++k) {
		const BallSpring *from = &whole->ball_springs[k];
		if (p->u[from->u].piece != piece)
			continue;
		BallSpring *spring = &to->ball_springs[m->ball_spring_count++];
		*spring = *from;
		spring->q = p->q[from->q].own;
		spring->u = p->u[from->u].own;
	}
	for (int k = 0; k < whole->user_spring_count; ++k) {
		if (p->link[whole->user_spring_link[k]].piece == piece)
			to->user_spring_link[m->user_spring_count++] = p->link[whole->user_spring_link[k]].own;
	}
}

static void copy_flexes(const CalModel *whole, const PieceMap *p, int piece, Flex *flexes) {
	for (int f = 0; f < whole->flex_count; ++f) {
		if (p->flex[f].piece != piece)
			continue;
		Flex *to = &flexes[p->flex[f].own];
		*to = whole->flexes[f];
		to->body = p->body[to->body].own;
		to->link = p->link[to->link].own;
		to->q = p->q[to->q].own;
		to->u = p->u[to->u].own;
		for (int k = 0; k < to->port_count && k < FLEX_MAX_PORTS; ++k)
			to->ports[k] = p->link[to->ports[k]].own;
	}
}

static int node_in_piece(const PieceMap *p, int node) { return node >= 0 ? p->node[node].own : -1; }

static void copy_bodies(const CalModel *whole, const PieceMap *p, int piece, Body *bodies, Node *nodes) {
	for (int i = 0; i < whole->body_count; ++i) {
		if (p->body[i].piece != piece)
			continue;
		Body *to = &bodies[p->body[i].own];
		*to = whole->bodies[i];
		to->link = p->link[to->link].own;
		to->flex = to->flex >= 0 ? p->flex[to->flex].own : -1;
	}
	for (int i = 0; i < whole->node_count; ++i) {
		if (p->node[i].piece != piece)
			continue;
		Node *to = &nodes[p->node[i].own];
		*to = whole->nodes[i];
		to->body = p->body[to->body].own;
		to->link = p->link[to->link].own;
	}
}

/* A node on the ground is one that the loop knows by its pose (LoopSide.on). */
static void copy_loops(const CalModel *whole, const PieceMap *p, int piece, const Parts *parts) {
	CalModel *m = parts->model;
	for (int l = 0; l < whole->loop_count; ++l) {
		if (p->loop[l].piece != piece)
			continue;
		Loop *to = &parts->loops[p->loop[l].own];
		*to = whole->loops[l];
		if (loop_type_has_one_side(to->type)) { // its frame B counts for nothing, and may be in another piece
			to->node_b = -1;
			to->side[1] = (LoopSide){.link = -1, .on = to->side[1].on};
		}
		to->row = m->row_count;
		m->row_count += to->rows;
		m->any_coupling |= to->term_count > 0;
		m->any_applied_wrench |= to->has_applied_wrench;
		int *node[] = {&to->node_a, &to->node_b, &to->plus, &to->minus};
		for (size_t k = 0; k < sizeof node / sizeof *node; ++k)
			*node[k] = node_in_piece(p, *node[k]);
		for (int side = 0; side < 2; ++side)
			to->side[side].link = link_in_piece(p, to->side[side].link, piece);
		for (int t = 0; t < to->term_count; ++t) {
			to->term[t].u = p->u[to->term[t].u].own;
			to->term[t].q = to->term[t].q >= 0 ? p->q[to->term[t].q].own : -1;
		}
	}
}

/* ---- the sweeps over it ------------------------------------------------------------------------------- */

static Flex *flex_at(const Parts *to, const Link *link) {
	const int flex = link->motion == PRIMITIVE_NODE ? link->flex : link->flex_body;
	return flex >= 0 ? &to->flexes[flex] : NULL;
}

/* Accumulators: of children other than the next link, and where inertia arrives that is not of this model. */
static void assign_accumulators(const Parts *to, const uint8_t *marks) {
	CalModel *m = to->model;
	for (int i = 0; i < m->link_count; ++i) {
		const int parent = to->links[i].parent;
		if (parent >= 0 && parent != i - 1 && to->links[parent].accumulator < 0)
			to->links[parent].accumulator = m->accumulator_count++;
	}
	for (int i = 0; i < m->link_count; ++i) {
		if (!(marks[i] & INTERFACE_ARRIVAL))
			continue;
		if (to->links[i].accumulator < 0)
			to->links[i].accumulator = m->accumulator_count++;
		Flex *flex = flex_at(to, &to->links[i]);
		if (flex) // what arrives there does not come with the next link
			flex->fused = 0;
	}
}

/*
 * A fused body takes what the link after its node brings: the joint there, or nothing at the end. With that joint in
 * another piece, that link is of another subtree.
 */
static void part_fused_bodies(const Parts *to) {
	const CalModel *m = to->model;
	for (int f = 0; f < m->flex_count; ++f) {
		const int node = to->flexes[f].link + 1;
		if (node + 1 < m->link_count && to->links[node + 1].parent != node)
			to->flexes[f].fused = 0;
	}
}

static void mark_interface(const Parts *to, const uint8_t *marks) {
	for (int i = 0; i < to->model->link_count; ++i) {
		Link *link = &to->links[i];
		link->interface = marks[i];
		if ((marks[i] & INTERFACE_COLUMNS) && link->flex_body >= 0) // columns want the elimination of each mode
			to->flexes[link->flex_body].by_ports = 0;
	}
}

static CalStatus schedule_loops(const Parts *to) {
	if (to->model->loop_count == 0)
		return CAL_OK;
	const LoopSchedule *plan = loop_schedule_create(to->model);
	if (!plan)
		return CAL_ERR_MEMORY;
	for (int k = 0; k < plan->link_count; ++k) {
		Link *link = &to->links[plan->links[k].link];
		link->loop_link = k;
		if (link->flex_body >= 0)
			to->flexes[link->flex_body].by_ports = to->flexes[link->flex_body].fused = 0;
	}
	to->model->loop_schedule = plan;
	return CAL_OK;
}

CalStatus submodel_create(const CalModel *whole, const PieceMap *p, int piece, const uint8_t *marks, CalModel **model) {
	const CalModel counts = {.allocator = whole->allocator,
	                         .name = whole->name,
	                         .gravity = whole->gravity,
	                         .propagation = whole->propagation,
	                         .solver = CAL_SOLVER_RECURSIVE,
	                         .isa = whole->isa,
	                         .loops_by = whole->loops_by,
	                         .light_loops = whole->light_loops,
	                         .shapes = whole->shapes,
	                         .shape_count = whole->shape_count,
	                         .link_count = piece_count(p->link, whole->link_count, piece),
	                         .body_count = piece_count(p->body, whole->body_count, piece),
	                         .node_count = piece_count(p->node, whole->node_count, piece),
	                         .flex_count = piece_count(p->flex, whole->flex_count, piece),
	                         .loop_count = piece_count(p->loop, whole->loop_count, piece),
	                         .nu = piece_count(p->u, whole->nu, piece),
	                         .nq = piece_count(p->q, whole->nq, piece)};
	Cursor cursor = {0};
	layout(whole, &counts, &cursor);
	if (!cursor_alloc_at_start(&cursor, &whole->allocator))
		return CAL_ERR_MEMORY;
	cursor_clear(&cursor);
	const Parts to = layout(whole, &counts, &cursor);
	CAL_ASSERT(cursor.used == cursor.size);
	*to.model = counts;
	to.model->size = cursor.size;
	copy_links(whole, p, piece, &to);
	copy_dofs(whole, p, piece, &to);
	copy_springs(whole, p, piece, &to);
	copy_flexes(whole, p, piece, to.flexes);
	copy_bodies(whole, p, piece, to.bodies, to.nodes);
	copy_loops(whole, p, piece, &to);
	show_parts(&to);
	assign_accumulators(&to, marks);
	part_fused_bodies(&to);
	mark_interface(&to, marks);
	const CalStatus status = schedule_loops(&to);
	links_mark_special(to.model->loop_schedule, to.links, to.model->link_count);
	if (status == CAL_OK) {
		CAL_ASSERT(model_is_consistent(to.model));
		*model = to.model;
	} else {
		cal_model_destroy(to.model);
	}
	return status;
}
