// SPDX-License-Identifier: Apache-2.0
/*
 * submodel.c — a piece of a compiled model as a model of its own.
 *
 * Links, flexible bodies and all else keep their order; only numbers change. What is constant and large (shapes, masses,
 * invariants, names) stays with the whole model.
 */
#include <string.h>

#include "base/memory.h"
#include "component/cross_loops.h"
#include "math/octet.h"
#include "model/loop_plan.h"

/* ---- numbers --------------------------------------------------------------------------------------- */

static void number_in_piece(PieceIndex *place, int piece, int *made) {
	*place = (PieceIndex){piece, piece >= 0 ? made[piece]++ : -1};
}

static int piece_of_node(const CalModel *model, const Partition *partition, int node) {
	return node >= 0 && model->nodes[node].link >= 0 ? partition->piece_of[model->nodes[node].link] : -1;
}

static int piece_of_loop(const CalModel *model, const Partition *partition, const Loop *loop) {
	if (loop->term_count)
		return partition->piece_of[model->dofs[loop->term[0].u].link];
	const int plus = piece_of_node(model, partition, loop->plus), minus = piece_of_node(model, partition, loop->minus);
	return plus >= 0 ? plus : minus;
}

/* Coordinates of links and modes of flexible bodies. */
static void place_coordinates(const CalModel *model, const Partition *partition, PieceMap *piece_map) {
	for (int k = 0; k < model->nu; ++k)
		piece_map->u[k].piece = partition->piece_of[model->dofs[k].link];
	for (int i = 0; i < model->link_count; ++i) {
		for (int k = 0; k < model->links[i].nq; ++k)
			piece_map->q[model->links[i].q + k].piece = partition->piece_of[i];
	}
	for (int f = 0; f < model->flex_count; ++f) {
		for (int k = 0; k < model->flexes[f].m; ++k)
			piece_map->q[model->flexes[f].q + k].piece = partition->piece_of[model->flexes[f].link];
	}
}

CalStatus piece_map_create(const CalModel *model, const Partition *partition, bool cross, PieceMap *piece_map) {
	const int counts[] = {model->link_count, model->body_count, model->node_count, model->flex_count,
	                      model->nu,         model->nq,         model->loop_count};
	PieceIndex **lists[] = {&piece_map->link, &piece_map->body, &piece_map->node, &piece_map->flex,
	                        &piece_map->u,    &piece_map->q,    &piece_map->loop};
	enum { LISTS = sizeof lists / sizeof *lists };
	size_t total = 0;
	for (int k = 0; k < LISTS; ++k)
		total += (size_t)counts[k];
	PieceIndex *all =
		memory_alloc(&model->allocator, (total + 1) * sizeof *all + (size_t)(partition->count + 1) * sizeof(int));
	if (!all)
		return CAL_ERR_MEMORY;
	piece_map->memory = all;
	int *made = (int *)(void *)(all + total + 1);
	for (int k = 0; k < LISTS; ++k) {
		*lists[k] = all;
		all += counts[k];
	}
	place_coordinates(model, partition, piece_map);
	for (int k = 0; k < LISTS; ++k) {
		memset(made, 0, (size_t)partition->count * sizeof *made);
		for (int i = 0; i < counts[k]; ++i) {
			PieceIndex *place = &(*lists[k])[i];
			int piece = place->piece; // of coordinates
			if (k == 0)
				piece = partition->piece_of[i];
			if (k == 1)
				piece = model->bodies[i].link >= 0 ? partition->piece_of[model->bodies[i].link] : -1;
			if (k == 2)
				piece = piece_of_node(model, partition, i);
			if (k == 3)
				piece = partition->piece_of[model->flexes[i].link];
			if (k == LISTS - 1)
				piece = cross ? -1 : piece_of_loop(model, partition, &model->loops[i]);
			number_in_piece(place, piece, made);
		}
	}
	return CAL_OK;
}

void piece_map_free(const CalModel *model, PieceMap *piece_map) {
	memory_free(&model->allocator, piece_map->memory);
	*piece_map = (PieceMap){0};
}

/* ---- memory ------------------------------------------------------------------------------------------ */

typedef struct Block {
	char *base; // NULL: only count
	size_t used;
} Block;

static void *take_memory(Block *block, int count, size_t element) {
	const size_t at = (block->used + MEMORY_ALIGNMENT - 1) / MEMORY_ALIGNMENT * MEMORY_ALIGNMENT;
	block->used = at + (size_t)count * element;
	return block->base ? block->base + at : NULL;
}

static int count_in(const PieceIndex *piece_map, int count, int piece) {
	int sum = 0;
	for (int i = 0; i < count; ++i)
		sum += piece_map[i].piece == piece;
	return sum;
}

/* Runs of numbers of a piece. */
static int list_segments(const PieceIndex *piece_map, int count, int piece, Segment *segments) {
	int made = 0, last = -2;
	for (int i = 0; i < count; ++i) {
		if (piece_map[i].piece != piece)
			continue;
		if (i != last + 1) {
			if (segments)
				segments[made] = (Segment){i, piece_map[i].own, 0};
			++made;
		}
		if (segments)
			++segments[made - 1].count;
		last = i;
	}
	return made;
}

/* The arrays of the model, which are filled later, and of the branch. */
static void layout_branch(const CalModel *whole, const PieceMap *p, int piece, Branch *b, Block *block) {
	CalModel *m = &b->model;
	m->links = take_memory(block, m->link_count + 1, sizeof(Link)); // and one that ends them
	m->bodies = take_memory(block, m->body_count, sizeof(Body));
	m->nodes = take_memory(block, m->node_count, sizeof(Node));
	m->dofs = take_memory(block, m->nu, sizeof(Dof));
	m->rotor = take_memory(block, m->nu, sizeof(double));
	m->damping = take_memory(block, m->nu, sizeof(double));
	m->prescribed = take_memory(block, m->nu, sizeof(uint8_t));
	m->dof_parent = take_memory(block, m->nu, sizeof(int32_t));
	m->spring_dof = take_memory(block, m->nu, sizeof(int32_t));
	m->ball_springs = take_memory(block, whole->ball_spring_count, sizeof(BallSpring));
	m->user_spring_link = take_memory(block, whole->user_spring_count, sizeof(int32_t));
	m->trig_q = take_memory(block, m->link_count, sizeof(int32_t));
	m->trig_offset = take_memory(block, m->link_count, sizeof(double));
	m->flexes = take_memory(block, m->flex_count, sizeof(Flex));
	m->loops = take_memory(block, m->loop_count, sizeof(Loop));
	b->q_segment = take_memory(block, list_segments(p->q, whole->nq, piece, NULL), sizeof(Segment));
	b->u_segment = take_memory(block, list_segments(p->u, whole->nu, piece, NULL), sizeof(Segment));
	double **of_u[] = {&b->u, &b->elastic_u, &b->applied, &b->udot_given, &b->udot};
	for (size_t k = 0; k < sizeof of_u / sizeof *of_u; ++k)
		*of_u[k] = take_memory(block, m->nu, sizeof(double));
	b->q = take_memory(block, m->nq, sizeof(double));
	b->elastic_q = take_memory(block, m->nq, sizeof(double));
	b->prescribed = take_memory(block, m->nu, sizeof(uint8_t));
	b->base_path = take_memory(block, m->link_count, sizeof(int32_t));
	b->interface.path = take_memory(block, m->link_count, sizeof(int32_t));
}

/* ---- parts --------------------------------------------------------------------------------------------- */

static int branch_link(const PieceMap *p, int link, int piece) {
	return link >= 0 && p->link[link].piece == piece ? p->link[link].own : -1;
}

static void copy_links(const CalModel *whole, const PieceMap *p, int piece, CalModel *m, Link *links, int32_t *trig_q,
                       double *trig_offset) {
	for (int i = 0; i < whole->link_count; ++i) {
		if (p->link[i].piece != piece)
			continue;
		const Link *from = &whole->links[i];
		Link *to = &links[p->link[i].own];
		*to = *from;
		to->parent = branch_link(p, from->parent, piece);
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
			trig_q[m->trig_count] = to->q;
			trig_offset[m->trig_count++] = whole->trig_offset[from->trig];
		}
	}
	links[m->link_count] = (Link){.parent = -1, .motion = PRIMITIVE_FIXED, .accumulator = -1, .loop_link = -1};
}

static void copy_dofs(const CalModel *whole, const PieceMap *p, int piece, CalModel *m, Dof *dofs, double *rotor,
                      double *damping, uint8_t *prescribed, int32_t *spring_dof, int32_t *dof_parent) {
	for (int k = 0; k < whole->nu; ++k) {
		if (p->u[k].piece != piece)
			continue;
		const int own = p->u[k].own, inner = whole->dof_parent[k];
		dofs[own] = whole->dofs[k];
		dofs[own].link = p->link[whole->dofs[k].link].own;
		dofs[own].q = whole->dofs[k].q >= 0 ? p->q[whole->dofs[k].q].own : -1;
		rotor[own] = whole->rotor[k];
		damping[own] = whole->damping[k];
		prescribed[own] = whole->prescribed[k];
		dof_parent[own] = inner >= 0 && p->u[inner].piece == piece ? p->u[inner].own : -1;
		m->any_rotor |= rotor[own] != 0;
		m->any_damping |= damping[own] != 0;
		m->any_prescribed |= prescribed[own] != 0;
	}
	for (int k = 0; k < whole->spring_count; ++k) {
		if (p->u[whole->spring_dof[k]].piece == piece)
			spring_dof[m->spring_count++] = p->u[whole->spring_dof[k]].own;
	}
}

static void copy_springs(const CalModel *whole, const PieceMap *p, int piece, CalModel *m, BallSpring *balls,
                         int32_t *users) {
	for (int k = 0; k < whole->ball_spring_count; ++k) {
		const BallSpring *from = &whole->ball_springs[k];
		if (p->u[from->u].piece != piece)
			continue;
		balls[m->ball_spring_count] = *from;
		balls[m->ball_spring_count].q = p->q[from->q].own;
		balls[m->ball_spring_count++].u = p->u[from->u].own;
	}
	for (int k = 0; k < whole->user_spring_count; ++k) {
		if (p->link[whole->user_spring_link[k]].piece == piece)
			users[m->user_spring_count++] = p->link[whole->user_spring_link[k]].own;
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

static int branch_node(const PieceMap *p, int node) { return node >= 0 ? p->node[node].own : -1; }

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
static void copy_loops(const CalModel *whole, const PieceMap *p, int piece, CalModel *m, Loop *loops) {
	for (int l = 0; l < whole->loop_count; ++l) {
		if (p->loop[l].piece != piece)
			continue;
		Loop *to = &loops[p->loop[l].own];
		*to = whole->loops[l];
		if (to->type == CAL_LOOP_KNIFE) { // its frame B counts for nothing, and may be in another piece
			to->node_b = -1;
			to->side[1] = (LoopSide){.link = -1, .on = to->side[1].on};
		}
		to->row = m->row_count;
		m->row_count += to->rows;
		m->any_coupling |= to->term_count > 0;
		m->any_applied_wrench |= to->has_applied_wrench;
		int *node[] = {&to->node_a, &to->node_b, &to->plus, &to->minus};
		for (size_t k = 0; k < sizeof node / sizeof *node; ++k)
			*node[k] = branch_node(p, *node[k]);
		for (int side = 0; side < 2; ++side)
			to->side[side].link = branch_link(p, to->side[side].link, piece);
		for (int t = 0; t < to->term_count; ++t) {
			to->term[t].u = p->u[to->term[t].u].own;
			to->term[t].q = to->term[t].q >= 0 ? p->q[to->term[t].q].own : -1;
		}
	}
}

CalStatus branch_extract(const CalModel *whole, const Partition *partition, const PieceMap *p, int piece, Branch *b) {
	const PartitionPiece *is = &partition->pieces[piece];
	const int base_motion = whole->links[is->first].parent;
	*b = (Branch){.index = piece,
	              .parent = is->parent,
	              .decoupled = is->decoupled,
	              .decoupled_child = -1,
	              .accumulator = -1,
	              .base_link = base_motion >= 0 ? p->link[base_motion].own : -1};
	b->model = (CalModel){.allocator = whole->allocator,
	                      .name = whole->name,
	                      .gravity = whole->gravity,
	                      .solver = CAL_SOLVER_RECURSIVE,
	                      .isa = whole->isa,
	                      .shapes = whole->shapes,
	                      .shape_count = whole->shape_count,
	                      .link_count = count_in(p->link, whole->link_count, piece),
	                      .body_count = count_in(p->body, whole->body_count, piece),
	                      .node_count = count_in(p->node, whole->node_count, piece),
	                      .flex_count = count_in(p->flex, whole->flex_count, piece),
	                      .loop_count = count_in(p->loop, whole->loop_count, piece),
	                      .nu = count_in(p->u, whole->nu, piece),
	                      .nq = count_in(p->q, whole->nq, piece)};
	Block block = {0};
	layout_branch(whole, p, piece, b, &block);
	b->memory = memory_alloc(&whole->allocator, block.used + MEMORY_ALIGNMENT);
	if (!b->memory)
		return CAL_ERR_MEMORY;
	memset(b->memory, 0, block.used + MEMORY_ALIGNMENT);
	const uintptr_t at = (uintptr_t)b->memory;
	block = (Block){.base = (char *)b->memory + (MEMORY_ALIGNMENT - at % MEMORY_ALIGNMENT) % MEMORY_ALIGNMENT};
	layout_branch(whole, p, piece, b, &block);
	CalModel *m = &b->model;
	// the arrays are this function's to fill; the model shows them as constant
	copy_links(whole, p, piece, m, (Link *)(uintptr_t)m->links, (int32_t *)(uintptr_t)m->trig_q,
	           (double *)(uintptr_t)m->trig_offset);
	copy_dofs(whole, p, piece, m, (Dof *)(uintptr_t)m->dofs, (double *)(uintptr_t)m->rotor,
	          (double *)(uintptr_t)m->damping, (uint8_t *)(uintptr_t)m->prescribed, (int32_t *)(uintptr_t)m->spring_dof,
	          (int32_t *)(uintptr_t)m->dof_parent);
	copy_springs(whole, p, piece, m, (BallSpring *)(uintptr_t)m->ball_springs,
	             (int32_t *)(uintptr_t)m->user_spring_link);
	copy_flexes(whole, p, piece, (Flex *)(uintptr_t)m->flexes);
	copy_bodies(whole, p, piece, (Body *)(uintptr_t)m->bodies, (Node *)(uintptr_t)m->nodes);
	copy_loops(whole, p, piece, m, (Loop *)(uintptr_t)m->loops);
	b->q_segments = list_segments(p->q, whole->nq, piece, b->q_segment);
	b->u_segments = list_segments(p->u, whole->nu, piece, b->u_segment);
	b->slice = (BranchSlice){.model = m,
	                         .q = b->q,
	                         .u = b->u,
	                         .udot = b->udot,
	                         .q_own = b->elastic_q,
	                         .u_own = {b->elastic_u, b->applied, b->udot_given},
	                         .q_segment = b->q_segment,
	                         .u_segment = b->u_segment,
	                         .q_segments = b->q_segments,
	                         .u_segments = b->u_segments};
	return CAL_OK;
}

/* ---- connections ----------------------------------------------------------------------------------------- */

static bool is_first_on_base_link(const Branch *branches, int k) {
	for (int i = 0; i < k; ++i) {
		if (branches[i].parent == branches[k].parent && !branches[i].decoupled &&
		    branches[i].accumulator == branches[k].accumulator)
			return false;
	}
	return true;
}

/* Accumulators: of children other than the next link, and of branches that it waits for. */
static void assign_accumulators(Branch *branches, int count, Branch *b) {
	Link *links = (Link *)(uintptr_t)b->model.links;
	for (int i = 0; i < b->model.link_count; ++i) {
		const int parent = links[i].parent;
		if (parent >= 0 && parent != i - 1 && links[parent].accumulator < 0)
			links[parent].accumulator = b->model.accumulator_count++;
	}
	for (int k = 0; k < count; ++k) {
		Branch *child = &branches[k];
		if (child->parent != b->index || child->decoupled)
			continue;
		Link *base_motion = &links[child->base_link];
		if (base_motion->accumulator < 0)
			base_motion->accumulator = b->model.accumulator_count++;
		child->accumulator = base_motion->accumulator;
		child->first_on_base_link = is_first_on_base_link(branches, k);
		const int flex = base_motion->motion == PRIMITIVE_NODE ? base_motion->flex : base_motion->flex_body;
		if (flex >= 0) // what arrives there does not come with the next link
			((Flex *)(uintptr_t)b->model.flexes)[flex].fused = 0;
	}
}

static void list_base_path(const Branch *branches, int count, Branch *b) {
	for (int i = 0; i < b->model.link_count; ++i) {
		bool leads = false;
		for (int k = 0; k < count && !leads; ++k) {
			if (branches[k].parent != b->index)
				continue;
			for (int l = branches[k].base_link; l >= i && !leads; l = b->model.links[l].parent)
				leads = l == i;
		}
		if (!leads)
			continue;
		b->base_path[b->base_path_count++] = i;
		const Link *link = &b->model.links[i];
		if (link->motion == PRIMITIVE_NODE && b->model.flexes[link->flex].port_count == 1)
			((Link *)(uintptr_t)link)->interface |= INTERFACE_SUMS;
	}
}

/* The columns of an interface: unit wrenches at the origin of the link that the other branch stands on. */
static void list_cut_columns(Branch *b, int base_link, int adds) {
	InterfaceForce *pull = &b->interface.forces[0];
	pull->link = base_link;
	pull->adds = adds;
	pull->modal = NULL;
	for (int r = 0; r < 6; ++r)
		pull->gamma[r * OCTET + r] = 1;
}

/* Links between the base and where columns begin. */
static void list_path(Branch *b) {
	Interface *interface = &b->interface;
	Link *links = (Link *)(uintptr_t)b->model.links;
	for (int p = 0; p < interface->force_count; ++p) {
		for (int i = interface->forces[p].link; i >= 0 && !(links[i].interface & INTERFACE_COLUMNS);
		     i = links[i].parent) {
			interface->path[interface->path_count++] = i;
			links[i].interface |= INTERFACE_COLUMNS;
			if (links[i].flex_body >= 0) // columns want the elimination of each mode
				((Flex *)(uintptr_t)b->model.flexes)[links[i].flex_body].by_ports = 0;
		}
	}
}

static int most_modes(const CalModel *model) {
	int most = 1;
	for (int f = 0; f < model->flex_count; ++f)
		most = model->flexes[f].m > most ? model->flexes[f].m : most;
	return most;
}

typedef struct Rooms {
	InterfaceForce *pulls;
	double *gamma, *force_modal, *gain, *base_gamma, *Phi, *beta, *modal;
	ArticulatedBody *arriving;
	void *work;
} Rooms;

static Rooms layout_interface(const Branch *b, int W, int forces, size_t work_size, Block *block) {
	const int modal = W ? OCTET * most_modes(&b->model) : 0;
	Rooms r = {.pulls = take_memory(block, forces, sizeof(InterfaceForce)),
	           .gamma = take_memory(block, forces * 6 * OCTET, sizeof(double)),
	           .force_modal = take_memory(block, forces * modal, sizeof(double)),
	           .gain = take_memory(block, b->model.nu * W, sizeof(double)),
	           .base_gamma = take_memory(block, 6 * W, sizeof(double)),
	           .Phi = take_memory(block, W * W, sizeof(double)),
	           .beta = take_memory(block, W, sizeof(double)),
	           .modal = take_memory(block, modal, sizeof(double)),
	           .arriving = take_memory(block, b->model.accumulator_count, sizeof(ArticulatedBody))};
	r.work = take_memory(block, 1, work_size);
	return r;
}

static CalStatus schedule_loops(Branch *b) {
	if (b->model.loop_count == 0)
		return CAL_OK;
	const LoopSchedule *plan = loop_schedule_create(&b->model);
	if (!plan)
		return CAL_ERR_MEMORY;
	for (int k = 0; k < plan->link_count; ++k) {
		Link *link = (Link *)(uintptr_t)&b->model.links[plan->links[k].link];
		link->loop_link = k;
		if (link->flex_body >= 0) {
			Flex *flex = (Flex *)(uintptr_t)&b->model.flexes[link->flex_body];
			flex->by_ports = flex->fused = 0;
		}
	}
	b->model.loop_schedule = plan;
	return CAL_OK;
}

/* Who stands on it. */
static CalStatus list_children(Branch *branches, int count, Branch *b) {
	int children = 0;
	for (int k = 0; k < count; ++k)
		children += branches[k].parent == b->index;
	b->children = memory_alloc(&b->model.allocator, (size_t)(children + 1) * sizeof(int));
	if (!b->children)
		return CAL_ERR_MEMORY;
	for (int k = 0; k < count; ++k) {
		if (branches[k].parent != b->index)
			continue;
		b->children[b->child_count++] = k;
		b->waits |= !branches[k].decoupled;
		b->decoupled_child = branches[k].decoupled ? k : b->decoupled_child;
	}
	return CAL_OK;
}

CalStatus branch_connect(Branch *branches, int count, int index, const CrossLoops *cross_loops) {
	Branch *b = &branches[index];
	CalStatus status = list_children(branches, count, b);
	if (status != CAL_OK)
		return status;
	assign_accumulators(branches, count, b);
	list_base_path(branches, count, b);
	status = schedule_loops(b);
	if (status != CAL_OK)
		return status;
	Block block = {0};
	const int partition = b->decoupled_child >= 0,
			  forces = partition + (cross_loops ? cross_loops_force_count(cross_loops, branches, b) : 0);
	const int W = cross_loops ? cross_loops->width : partition ? INTERFACE_WIDTH : 0;
	const size_t work_size = cal_work_size(&b->model);
	layout_interface(b, W, forces, work_size, &block);
	b->rest = memory_alloc(&b->model.allocator, block.used + MEMORY_ALIGNMENT);
	if (!b->rest)
		return CAL_ERR_MEMORY;
	memset(b->rest, 0, block.used + MEMORY_ALIGNMENT);
	const uintptr_t at = (uintptr_t)b->rest;
	block = (Block){.base = (char *)b->rest + (MEMORY_ALIGNMENT - at % MEMORY_ALIGNMENT) % MEMORY_ALIGNMENT};
	const Rooms rooms = layout_interface(b, W, forces, work_size, &block);
	b->arriving = rooms.arriving;
	b->interface = (Interface){.path = b->interface.path,
	                           .width = W,
	                           .forces = rooms.pulls,
	                           .force_count = forces,
	                           .gain = rooms.gain,
	                           .gamma = rooms.base_gamma,
	                           .Phi = rooms.Phi,
	                           .beta = rooms.beta,
	                           .modal = rooms.modal};
	for (int p = 0; p < forces; ++p) {
		b->interface.forces[p].gamma = rooms.gamma + p * 6 * OCTET;
		b->interface.forces[p].modal = rooms.force_modal + p * OCTET * most_modes(&b->model);
	}
	if (partition)
		list_cut_columns(b, branches[b->decoupled_child].base_link, cross_loops != NULL);
	if (cross_loops)
		cross_loops_list_forces(cross_loops, branches, b, partition);
	list_path(b);
	return cal_work_init(&b->model, rooms.work, work_size, &b->work);
}

void branch_release(Branch *b) {
	memory_free(&b->model.allocator, (void *)(uintptr_t)b->model.loop_schedule);
	memory_free(&b->model.allocator, b->memory);
	memory_free(&b->model.allocator, b->rest);
	memory_free(&b->model.allocator, b->children);
}
