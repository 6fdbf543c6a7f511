// SPDX-License-Identifier: Apache-2.0
/*
 * branch.c — a piece of a partition as a branch: its model (model/submodel.h), what passes its links, its memory.
 */
#include <string.h>

#include "base/assert.h"
#include "base/cursor.h"
#include "base/memory.h"
#include "component/cross_loops.h"
#include "math/octet.h"

/* ---- memory ------------------------------------------------------------------------------------------ */

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

/* What the branch has beside its model; `marks` of its links are for making that. */
static void layout_branch(const CalModel *whole, const PieceMap *p, Branch *b, Cursor *cursor, uint8_t **marks) {
	const int links = piece_count(p->link, whole->link_count, b->index), nu = piece_count(p->u, whole->nu, b->index),
			  nq = piece_count(p->q, whole->nq, b->index);
	CURSOR_ARRAY(cursor, *marks, links);
	CURSOR_ARRAY(cursor, b->children, b->child_count);
	CURSOR_ARRAY(cursor, b->q_segment, list_segments(p->q, whole->nq, b->index, NULL));
	CURSOR_ARRAY(cursor, b->u_segment, list_segments(p->u, whole->nu, b->index, NULL));
	double **of_u[] = {&b->u, &b->elastic_u, &b->applied, &b->udot_given, &b->udot};
	for (size_t k = 0; k < sizeof of_u / sizeof *of_u; ++k)
		CURSOR_ARRAY(cursor, *of_u[k], nu);
	CURSOR_ARRAY(cursor, b->q, nq);
	CURSOR_ARRAY(cursor, b->elastic_q, nq);
	CURSOR_ARRAY(cursor, b->prescribed, nu);
	CURSOR_ARRAY(cursor, b->base_path, links);
	CURSOR_ARRAY(cursor, b->interface.path, links);
}

/* ---- what passes its links ----------------------------------------------------------------------------- */

/* Counts the children of a piece, and lists them unless children is NULL. */
static int list_children(const Partition *partition, int piece, int *children) {
	int count = 0;
	for (int k = 0; k < partition->count; ++k) {
		if (partition->pieces[k].parent != piece)
			continue;
		if (children)
			children[count] = k;
		++count;
	}
	return count;
}

/* Base link of a piece, in the whole model. */
static int base_of(const CalModel *whole, const Partition *partition, int piece) {
	return whole->links[partition->pieces[piece].first].parent;
}

/* Links of the whole model from one of the branch inwards, as long as they are its own and not marked yet. */
static int next_unmarked(const PieceMap *p, const Branch *b, int link, uint8_t mark, const uint8_t *marks) {
	return link >= 0 && p->link[link].piece == b->index && !(marks[p->link[link].own] & mark) ? link : -1;
}

/* Links between its base and its children, and where those that are not decoupled arrive. */
static void list_base_path(const CalModel *whole, const Partition *partition, const PieceMap *p, Branch *b,
                           uint8_t *marks) {
	enum { LEADS = 128 };
	for (int k = 0; k < b->child_count; ++k) {
		int i = base_of(whole, partition, b->children[k]);
		if (!partition->pieces[b->children[k]].decoupled)
			marks[p->link[i].own] |= INTERFACE_ARRIVAL;
		for (; (i = next_unmarked(p, b, i, LEADS, marks)) >= 0; i = whole->links[i].parent)
			marks[p->link[i].own] |= LEADS;
	}
	for (int i = 0; i < whole->link_count; ++i) {
		const Link *link = &whole->links[i];
		const int own = p->link[i].own;
		if (p->link[i].piece != b->index || !(marks[own] & LEADS))
			continue;
		marks[own] &= (uint8_t)~LEADS;
		b->base_path[b->base_path_count++] = own;
		if (link->motion == PRIMITIVE_NODE && whole->flexes[link->flex].port_count == 1)
			marks[own] |= INTERFACE_SUMS;
	}
}

/* Links between the base and a link where columns begin. */
static void add_column_path(const CalModel *whole, const PieceMap *p, int link, Branch *b, uint8_t *marks) {
	for (int i = link; (i = next_unmarked(p, b, i, INTERFACE_COLUMNS, marks)) >= 0; i = whole->links[i].parent) {
		b->interface.path[b->interface.path_count++] = p->link[i].own;
		marks[p->link[i].own] |= INTERFACE_COLUMNS;
	}
}

/* In the order of its forces: of the branch that it carries columns of, of loops that span branches. */
static void list_column_paths(const CalModel *whole, const Partition *partition, const PieceMap *p, bool cross,
                              Branch *b, uint8_t *marks) {
	if (b->decoupled_child >= 0)
		add_column_path(whole, p, base_of(whole, partition, b->decoupled_child), b, marks);
	for (int l = 0; cross && l < whole->loop_count; ++l) {
		const int nodes[] = {whole->loops[l].plus, whole->loops[l].minus};
		for (int side = 0; side < 2; ++side) {
			if (nodes[side] >= 0)
				add_column_path(whole, p, whole->nodes[nodes[side]].link, b, marks);
		}
	}
	for (int k = 0; cross && k < b->child_count; ++k)
		add_column_path(whole, p, base_of(whole, partition, b->children[k]), b, marks);
}

/* ---- a piece as a branch ------------------------------------------------------------------------------- */

static void find_relatives(const Partition *partition, Branch *b) {
	list_children(partition, b->index, b->children);
	for (int k = 0; k < b->child_count; ++k) {
		const bool decoupled = partition->pieces[b->children[k]].decoupled;
		b->waits |= !decoupled;
		b->decoupled_child = decoupled ? b->children[k] : b->decoupled_child;
	}
}

static BranchSlice slice_of(const Branch *b) {
	return (BranchSlice){.model = b->model,
	                     .q = b->q,
	                     .u = b->u,
	                     .udot = b->udot,
	                     .q_own = b->elastic_q,
	                     .u_own = {b->elastic_u, b->applied, b->udot_given},
	                     .q_segment = b->q_segment,
	                     .u_segment = b->u_segment,
	                     .q_segments = b->q_segments,
	                     .u_segments = b->u_segments};
}

CalStatus branch_extract(const CalModel *whole, const Partition *partition, const PieceMap *p, int piece, bool cross,
                         Branch *b) {
	const int base_link = base_of(whole, partition, piece);
	uint8_t *marks;
	*b = (Branch){.index = piece,
	              .parent = partition->pieces[piece].parent,
	              .decoupled = partition->pieces[piece].decoupled,
	              .decoupled_child = -1,
	              .accumulator = -1,
	              .base_link = base_link >= 0 ? p->link[base_link].own : -1,
	              .child_count = list_children(partition, piece, NULL)};
	Cursor cursor = {0};
	layout_branch(whole, p, b, &cursor, &marks);
	b->memory = cursor_alloc(&cursor, &whole->allocator);
	if (!b->memory)
		return CAL_ERR_MEMORY;
	cursor_clear(&cursor);
	layout_branch(whole, p, b, &cursor, &marks);
	CAL_ASSERT(cursor.used == cursor.size && b->parent < b->index);
	find_relatives(partition, b);
	list_base_path(whole, partition, p, b, marks);
	list_column_paths(whole, partition, p, cross, b, marks);
	const int links = piece_count(p->link, whole->link_count, piece);
	CAL_ASSERT(b->base_path_count <= links && b->interface.path_count <= links);
	const CalStatus status = submodel_create(whole, p, piece, marks, &b->model);
	b->q_segments = list_segments(p->q, whole->nq, piece, b->q_segment);
	b->u_segments = list_segments(p->u, whole->nu, piece, b->u_segment);
	b->slice = slice_of(b);
	return status;
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

/* The columns of an interface: unit wrenches at the origin of the base link of the decoupled child. */
static void list_interface_columns(Branch *b, int base_link, int adds) {
	InterfaceForce *force = &b->interface.forces[0];
	force->link = base_link;
	force->adds = adds;
	force->modal = NULL;
	for (int r = 0; r < 6; ++r)
		force->gamma[r * OCTET + r] = 1;
}

static int most_modes(const CalModel *model) {
	int most = 1;
	for (int f = 0; f < model->flex_count; ++f)
		most = model->flexes[f].m > most ? model->flexes[f].m : most;
	return most;
}

/* Arrays of a branch that has an interface or cross-branch loops. */
typedef struct InterfaceArrays {
	InterfaceForce *forces;
	double *gamma, *force_modal, *gain, *base_gamma, *Lambda, *beta, *modal;
	ArticulatedBody *arriving;
	void *work;
} InterfaceArrays;

static InterfaceArrays layout_interface(const Branch *b, int W, int forces, size_t work_size, Cursor *cursor) {
	const int modal = W ? OCTET * most_modes(b->model) : 0;
	InterfaceArrays r;
	CURSOR_ARRAY(cursor, r.forces, forces);
	CURSOR_ARRAY(cursor, r.gamma, forces * 6 * OCTET);
	CURSOR_ARRAY(cursor, r.force_modal, forces * modal);
	CURSOR_ARRAY(cursor, r.gain, b->model->nu * W);
	CURSOR_ARRAY(cursor, r.base_gamma, 6 * W);
	CURSOR_ARRAY(cursor, r.Lambda, W * W);
	CURSOR_ARRAY(cursor, r.beta, W);
	CURSOR_ARRAY(cursor, r.modal, modal);
	CURSOR_ARRAY(cursor, r.arriving, b->model->accumulator_count);
	r.work = cursor_array(cursor, 1, work_size);
	return r;
}

/* Where children that are not decoupled arrive. */
static void find_accumulators(Branch *branches, const Branch *b) {
	for (int k = 0; k < b->child_count; ++k) {
		Branch *child = &branches[b->children[k]];
		if (child->decoupled)
			continue;
		child->accumulator = b->model->links[child->base_link].accumulator;
		child->first_on_base_link = is_first_on_base_link(branches, b->children[k]);
	}
}

CalStatus branch_connect(Branch *branches, int index, const CrossLoops *cross_loops) {
	Branch *b = &branches[index];
	find_accumulators(branches, b);
	Cursor cursor = {0};
	const int has_interface = b->decoupled_child >= 0,
			  forces = has_interface + (cross_loops ? cross_loops_force_count(cross_loops, branches, b) : 0);
	const int W = cross_loops ? cross_loops->width : has_interface ? INTERFACE_WIDTH : 0;
	const size_t work_size = cal_work_size(b->model);
	layout_interface(b, W, forces, work_size, &cursor);
	b->rest = cursor_alloc(&cursor, &b->model->allocator);
	if (!b->rest)
		return CAL_ERR_MEMORY;
	cursor_clear(&cursor);
	const InterfaceArrays arrays = layout_interface(b, W, forces, work_size, &cursor);
	b->arriving = arrays.arriving;
	b->interface = (Interface){.path = b->interface.path,
	                           .path_count = b->interface.path_count,
	                           .width = W,
	                           .forces = arrays.forces,
	                           .force_count = forces,
	                           .gain = arrays.gain,
	                           .gamma = arrays.base_gamma,
	                           .Lambda = arrays.Lambda,
	                           .beta = arrays.beta,
	                           .modal = arrays.modal};
	for (int p = 0; p < forces; ++p) {
		b->interface.forces[p].gamma = arrays.gamma + p * 6 * OCTET;
		b->interface.forces[p].modal = arrays.force_modal + p * OCTET * most_modes(b->model);
	}
	if (has_interface)
		list_interface_columns(b, branches[b->decoupled_child].base_link, cross_loops != NULL);
	if (cross_loops)
		cross_loops_list_forces(cross_loops, branches, b, has_interface);
	return cal_work_init(b->model, arrays.work, work_size, &b->work);
}

void branch_release(const CalModel *whole, Branch *b) {
	cal_model_destroy(b->model);
	memory_free(&whole->allocator, b->memory);
	memory_free(&whole->allocator, b->rest);
}
