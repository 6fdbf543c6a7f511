// SPDX-License-Identifier: Apache-2.0
/*
 * partition.c — partition of a model by flop count.
 *
 * For a size T a link is heavy if it and all outboard of it cost more than T. Subtrees that are not heavy but whose
 * parent is are natural branches; what is heavy is divided into pieces of about T, from the tips inward, and where
 * heavy parts meet. Several T are tried; the one whose pieces, assigned to the workers, leave the busiest of them with
 * least is taken. Everything is decided by counts: the same model and number of workers give the same partition.
 */
#include <math.h>
#include <string.h>

#include "base/cursor.h"
#include "base/memory.h"
#include "base/worker_pool.h"
#include "math/portable.h"
#include "component/partition.h"
#include "model/loop_order.h"

/*
 * Flops, as compile.c estimates them. What columns cost, as part of the sweeps that they follow, and what joining two
 * pieces, handing numbers from one worker to another and calling all of them amounts to were measured (docs/parallel.md).
 */
enum {
	FLOPS_LINK = 270,
	FLOPS_DOF = 260,
	FLOPS_JOIN = 2200,
	FLOPS_HANDOVER = 1200, // a word from one worker to another
	FLOPS_PIECE = 1500,
	FLOPS_CALL = 9000, // of all workers, and their return
	TRIALS = 96,
	FLOPS_SMALLEST = 2500,
};
static const double COLUMNS = 0.10, BASE_PATH = 0.16; // of the flops of a piece

/*
 * Of loops, in instructions of the real code (callgrind, on chains that are welded together at their tips).
 * Of elimination: for a row; for a dof, with n rows that pass it, n and n n. Of loops that span pieces: for a dof, with k
 * times eight columns, k and k k; for a link, an end of a loop; for a join, of width W, 1, W and W W; for a child that is
 * solved before its parent, W W; for the system of all m rows, m, m m and m m m.
 */
static const double TREE_INSTRUCTIONS[] = {1.85, 1.1}; // for a flop of a link, of modes
static const double ELIMINATE_ROW = 1000, ELIMINATE[] = {165, 1.5};
static const double CROSS_DOF[] = {370, 200}, CROSS_LINK = 230, CROSS_END = 1700, CROSS_ADD = 5.5;
static const double CROSS_JOIN[] = {4000, 1000, 25}, CROSS_SOLVE[] = {500, 20, 3.3};
enum { CROSS_MOST_ROWS = 600 };        // more make a dense system that no partition makes up for
static const double WORTHWHILE = 0.85; // part of the time in one piece that a partition may take

typedef struct Partitioner {
	const CalModel *model;
	int links;
	double *own, *sub;     // [links] flops of a link, of it and all outboard
	double *held;          // [links] of the piece being made, from this link on
	double *turned;        // [links] scratch
	uint8_t *tied;         // [links] its joint is on the path of a loop
	uint8_t *closes;       // [links] a loop closes on it, between subtrees or within its own modes
	const uint8_t *barred; // [links] its joint may not divide two pieces for other reasons; NULL: none
	uint8_t *head;         // [links] begins a piece, or joins one on the same parent link
	uint8_t *natural;      // [links] and it is light
	int *bound;     // [links] of links on the ground: an earlier one in the same piece, for loops join them; or itself
	int *open;      // [links + 1] natural piece on a link, or on the ground, that others may join; -1: none
	uint8_t *heavy; //
	int *fork;      // [links] nonzero: several heavy links are carried by it
	int *piece_of;  //
	PartitionPiece *pieces; // [links]
	int count;              //
	int *worker_of;         // [links] scratch
	double smallest;        // a natural branch of less stays where it is
	double whole;           // flops of the model in one piece
	double per_instruction; // flops, in units of which everything is counted
	double *tree;           // [links] flops of a link without loops
	double *rows;           // [links] scratch: constraint equations that pass its joint
	double *octets;         // [links] scratch: columns that do, eight at a time
	bool cross;             // loops may span pieces
} Partitioner;

/* ---- costs ------------------------------------------------------------------------------------- */

static double flex_flops(const Flex *flex) {
	const double m = flex->m;
	const double own = 60.0 * m * (flex->summed_first < flex->mass_count ? flex->mass_count : 4) + 250.0;
	return own + (flex->by_ports ? 290.0 * m * (1.0 + flex->port_count) : m * (m * m / 3.0 + 50.0 * m + 200.0));
}

static void count_tree(Partitioner *c) {
	double flops = 0, instructions = 0;
	for (int i = 0; i < c->links; ++i) {
		const Link *link = &c->model->links[i];
		const double joint = FLOPS_LINK + FLOPS_DOF * link->nu;
		const double modes = link->flex_body >= 0 ? flex_flops(&c->model->flexes[link->flex_body]) : 0;
		c->tree[i] = joint + modes;
		flops += joint + modes;
		instructions += TREE_INSTRUCTIONS[0] * joint + TREE_INSTRUCTIONS[1] * modes;
	}
	c->per_instruction = flops > 0 ? flops / instructions : 1;
}

static int dofs_of(const CalModel *model, int link) {
	const int flex = model->links[link].flex_body;
	return model->links[link].nu + (flex >= 0 ? model->flexes[flex].m : 0);
}

/* Links between both ends of a loop have its rows. */
static void mark_loop(Partitioner *c, const Loop *loop) {
	const int ends[] = {loop_node_link(c->model, loop->plus), loop_node_link(c->model, loop->minus)};
	const int meet = loop->term_count ? -1 : loop_common_link(c->model, ends[0], ends[1]);
	for (int side = 0; side < 2 && !loop->term_count; ++side) {
		for (int i = ends[side]; i >= 0 && i != meet; i = c->model->links[i].parent)
			c->rows[i] += loop->rows;
	}
}

/* What elimination adds to the links that loops pass, if they are closed within pieces. */
static void count_flops(Partitioner *c, bool cross) {
	const CalModel *model = c->model;
	for (int i = 0; i < c->links; ++i)
		c->rows[i] = 0;
	for (int l = 0; l < model->loop_count && !cross; ++l)
		mark_loop(c, &model->loops[l]);
	for (int i = 0; i < c->links; ++i) {
		const double n = c->rows[i];
		const double passing = dofs_of(model, i) * n * (ELIMINATE[0] + ELIMINATE[1] * n);
		c->own[i] = c->tree[i] + c->per_instruction * passing;
	}
	for (int l = 0; l < model->loop_count && !cross; ++l) {
		const int end = loop_node_link(model, model->loops[l].plus);
		c->own[end >= 0 ? end : 0] += c->per_instruction * ELIMINATE_ROW * model->loops[l].rows;
	}
	for (int i = c->links - 1; i >= 0; --i)
		c->sub[i] = c->own[i];
	for (int i = c->links - 1; i >= 0; --i) {
		if (model->links[i].parent >= 0)
			c->sub[model->links[i].parent] += c->sub[i];
	}
}

/* Columns from a link inward, as far as they are carried from link to link. */
static void mark_columns(Partitioner *c, int link) {
	const Link *links = c->model->links;
	for (int i = link; i >= 0; i = links[i].parent) {
		c->octets[i] += 1;
		const int parent = links[i].parent;
		if (parent >= 0 && c->piece_of[parent] != c->piece_of[i] && c->pieces[c->piece_of[i]].decoupled)
			return; // joined from here on
	}
}

/* What loops that span pieces add to them. */
static void count_cross_loops(Partitioner *c) {
	const CalModel *model = c->model;
	const double W = 8.0 * (1 + model->loop_count);
	for (int i = 0; i < c->links; ++i)
		c->octets[i] = 0;
	for (int l = 0; l < model->loop_count; ++l) {
		const int ends[] = {loop_node_link(model, model->loops[l].plus), loop_node_link(model, model->loops[l].minus)};
		for (int side = 0; side < 2; ++side) {
			mark_columns(c, ends[side]);
			if (ends[side] >= 0)
				c->pieces[c->piece_of[ends[side]]].flops += c->per_instruction * CROSS_END;
		}
	}
	for (int p = 0; p < c->count; ++p) {
		const int parent = c->pieces[p].parent;
		if (c->pieces[p].decoupled)
			mark_columns(c, model->links[c->pieces[p].first].parent);
		else if (parent >= 0)
			c->pieces[parent].flops += c->per_instruction * CROSS_ADD * W * W;
	}
	for (int i = 0; i < c->links; ++i) {
		const double carried = c->octets[i] * dofs_of(model, i) * (CROSS_DOF[0] + CROSS_DOF[1] * c->octets[i]);
		c->pieces[c->piece_of[i]].flops += c->per_instruction * (CROSS_LINK + carried);
	}
}

/* One join of two pieces, and the system of all rows at the end. */
static double join_flops(const Partitioner *c) {
	const double W = 8.0 * (1 + c->model->loop_count);
	return c->cross ? c->per_instruction * (CROSS_JOIN[0] + W * (CROSS_JOIN[1] + CROSS_JOIN[2] * W)) : FLOPS_JOIN;
}

static double solve_flops(const Partitioner *c) {
	const double m = c->model->row_count;
	return c->cross ? c->per_instruction * m * (CROSS_SOLVE[0] + m * (CROSS_SOLVE[1] + m * CROSS_SOLVE[2])) : 0;
}

/* ---- where cuts may be --------------------------------------------------------------------------- */

/* Links from `link` to `end`, which is not meant: their joints stay within a piece. */
static void tie_path(Partitioner *c, int link, int end) {
	for (int i = link; i >= 0 && i != end; i = c->model->links[i].parent)
		c->tied[i] = 1;
}

static int root_of(const CalModel *model, int link) {
	while (model->links[link].parent >= 0)
		link = model->links[link].parent;
	return link;
}

static int bound_to(const Partitioner *c, int root) {
	while (c->bound[root] != root)
		root = c->bound[root];
	return root;
}

/* Subtrees on the ground that a loop connects stay together. */
static void bind_roots(Partitioner *c, const int *ends, int count) {
	int first = -1;
	for (int k = 0; k < count; ++k) {
		const int root = ends[k] >= 0 ? bound_to(c, root_of(c->model, ends[k])) : -1;
		if (root >= 0 && first >= 0) {
			const int low = root < first ? root : first;
			c->bound[root] = c->bound[first] = low;
			first = low;
		} else if (root >= 0) {
			first = root;
		}
	}
}

/* Loops are closed within a piece: no joint on their path divides two pieces. */
static void tie_loop_paths(Partitioner *c, bool cross) {
	const CalModel *model = c->model;
	for (int i = 0; i < c->links; ++i) {
		c->bound[i] = i;
		c->tied[i] = c->closes[i] = 0;
	}
	for (int l = 0; l < model->loop_count && !cross; ++l) {
		const Loop *loop = &model->loops[l];
		int meet = -2;
		int ends[2 + CAL_LOOP_MAX_TERMS] = {loop_node_link(model, loop->plus), loop_node_link(model, loop->minus)};
		const int count = loop->term_count ? loop->term_count : 2;
		for (int t = 0; t < loop->term_count; ++t)
			ends[t] = model->dofs[loop->term[t].u].link;
		for (int k = 0; k < count; ++k)
			meet = meet == -2 ? ends[k] : loop_common_link(model, meet, ends[k]);
		for (int k = 0; k < count; ++k)
			tie_path(c, ends[k], meet);
		if (meet < 0)
			bind_roots(c, ends, count);
		if (loop->term_count && meet >= 0) { // couplings look at joints
			c->tied[meet] = 1;
			meet = model->links[meet].parent;
		}
		if (meet >= 0)
			c->closes[meet] = 1;
	}
}

/* A piece begins with the first link of a joint. */
static bool may_cut(const Partitioner *c, int i) {
	const Link *link = &c->model->links[i];
	return !c->tied[i] && !(c->barred && c->barred[i]) && link->nu > 0 && link->motion != PRIMITIVE_NODE &&
	       link->motion != PRIMITIVE_FLEX && c->model->bodies[link->body].first_link == i;
}

/* ---- pieces ---------------------------------------------------------------------------------------- */

/* Links that are heavy, or carry what is and cannot be divided off; where several of them meet. */
static void find_heavy(Partitioner *c, double T) {
	const Link *links = c->model->links;
	for (int i = 0; i < c->links; ++i) {
		const int parent = links[i].parent;
		c->heavy[i] = c->sub[i] > T || (parent >= 0 && c->heavy[parent] && !may_cut(c, i) && c->sub[i] > T / 16);
		c->fork[i] = 0;
		if (parent >= 0)
			c->fork[parent] += c->heavy[i];
	}
	for (int i = 0; i < c->links; ++i)
		c->fork[i] = c->fork[i] > 1 || (!may_cut(c, i) && links[i].parent >= 0 && c->fork[links[i].parent]);
}

/* Walks inward: natural branches on what is heavy, and pieces of about T of what is. */
static void cut_links(Partitioner *c, double T) {
	for (int i = 0; i < c->links; ++i)
		c->held[i] = 0;
	for (int i = c->links - 1; i >= 0; --i) {
		const int parent = c->model->links[i].parent;
		c->held[i] += c->own[i];
		c->head[i] = parent < 0;
		c->natural[i] = parent < 0 && !c->heavy[i];
		if (parent < 0)
			continue;
		const bool natural = !c->heavy[i] && c->heavy[parent] && c->sub[i] >= c->smallest && c->sub[i] >= T / 16;
		const bool full = c->held[i] * (1 + COLUMNS + BASE_PATH) >= T || c->fork[i] || c->fork[parent];
		if (may_cut(c, i) && (natural || (c->heavy[i] && full))) {
			c->head[i] = 1;
			c->natural[i] = natural;
		} else {
			c->held[parent] += c->held[i];
		}
	}
}

/* What is left over at the ground and is little goes with the piece that it carries. */
static void join_leftovers(Partitioner *c, double T) {
	const Link *links = c->model->links;
	for (int i = 0; i < c->links; ++i) {
		int root = links[i].parent;
		if (!c->head[i] || c->natural[i] || root < 0 || c->fork[i] || c->fork[root])
			continue;
		while (!c->head[root])
			root = links[root].parent;
		if (links[root].parent < 0 && c->held[root] < T / 3) {
			c->head[i] = 0;
			c->held[root] += c->held[i];
		}
	}
}

/* Columns pass the links from an interface inward: none of these may have loops, which are eliminated on them. */
static bool path_is_clear(const Partitioner *c, int piece, int from) {
	for (int i = from; i >= 0 && c->piece_of[i] == piece; i = c->model->links[i].parent) {
		if (c->tied[i] || c->closes[i])
			return false;
	}
	return true;
}

/* Natural branches on the same link are one piece, up to T. */
static int find_open(const Partitioner *c, int i, double T) {
	const int piece = c->open[c->model->links[i].parent + 1];
	const bool fits = piece >= 0 && c->natural[i] && c->pieces[piece].flops + c->sub[i] <= T;
	return fits ? piece : -1;
}

static void number_pieces(Partitioner *c, double T) {
	const CalModel *model = c->model;
	c->count = 0;
	for (int i = 0; i <= c->links; ++i)
		c->open[i] = -1;
	for (int i = 0; i < c->links; ++i) {
		const int parent = model->links[i].parent;
		const int piece = c->bound[i] != i ? c->piece_of[c->bound[i]]
		                  : c->head[i]     ? find_open(c, i, T)
		                                   : c->piece_of[parent];
		c->piece_of[i] = piece;
		if (piece < 0) {
			c->pieces[c->count] = (PartitionPiece){.first = i, .parent = parent >= 0 ? c->piece_of[parent] : -1};
			if (c->natural[i])
				c->open[parent + 1] = c->count;
			c->piece_of[i] = c->count++;
		}
		c->pieces[c->piece_of[i]].flops += c->own[i];
	}
}

/* Long pieces do not wait for the heaviest of their children. */
static void choose_couplings(Partitioner *c) {
	for (int p = 0; p < c->count; ++p) {
		int best = -1;
		double most = 0;
		for (int k = p + 1; k < c->count; ++k) {
			const PartitionPiece *child = &c->pieces[k];
			if (child->parent == p && c->sub[child->first] > most) {
				most = c->sub[child->first];
				best = k;
			}
		}
		if (best >= 0 && c->pieces[p].flops > c->smallest &&
		    path_is_clear(c, p, c->model->links[c->pieces[best].first].parent)) {
			c->pieces[best].decoupled = true;
			c->pieces[p].flops *= c->cross ? 1 : 1 + COLUMNS;
		}
		c->pieces[p].flops += FLOPS_PIECE;
	}
}

/* Workers that pieces need, in order, if none takes more than `most`; worker_of is filled in. */
static int assign_up_to(const PartitionPiece *pieces, int count, double most, int *worker_of) {
	double load = 0;
	int worker = 0;
	for (int p = 0; p < count; ++p) {
		if (load > 0 && load + pieces[p].flops > most) {
			++worker;
			load = 0;
		}
		load += pieces[p].flops;
		worker_of[p] = worker;
	}
	return worker + 1;
}

/*
 * Neighboring branches go to one worker: they read and write adjacent memory, and no cache line should
 * move between processors.
 * Returns the largest load, to a thousandth.
 */
static double assign_pieces(const PartitionPiece *pieces, int count, int workers, int *worker_of) {
	double low = 0, high = 0;
	for (int p = 0; p < count; ++p) {
		low = fmax(low, pieces[p].flops);
		high += pieces[p].flops;
	}
	if (assign_up_to(pieces, count, low, worker_of) <= workers)
		return low;
	while (high - low > 1e-3 * high) {
		const double middle = 0.5 * (low + high);
		if (assign_up_to(pieces, count, middle, worker_of) <= workers) {
			high = middle;
		} else {
			low = middle;
		}
	}
	assign_up_to(pieces, count, high, worker_of);
	return high;
}

double partition_assign(const Partition *partition, int workers, int *worker_of) {
	return assign_pieces(partition->pieces, partition->count, workers, worker_of);
}

/* When each worker of a partition would be done with the inward sweeps and joins (branches.c: inward). */
typedef struct Schedule {
	double join;                  // flops of one
	double free[WORKER_POOL_MAX]; // of a worker
	double *ready_at;             // [count] of a piece
	double *turned;               // [count] how its base turns is known
	const int *worker_of;
} Schedule;

static void clock_join(Schedule *clock, int p, int child) {
	double *free = &clock->free[clock->worker_of[p]];
	*free = fmax(*free, clock->ready_at[child] + FLOPS_HANDOVER) + clock->join;
	clock->ready_at[p] = *free;
}

static void clock_joins(const Partitioner *c, Schedule *clock, int worker, int from, int *pending) {
	for (int j = *pending - 1; j > from; --j) {
		for (int k = j + 1; clock->worker_of[j] == worker && k < c->count; ++k) {
			if (c->pieces[k].parent == j && c->pieces[k].decoupled)
				clock_join(clock, j, k);
		}
	}
	*pending = from + 1 < *pending ? from + 1 : *pending;
}

/* How branches turn within themselves, parents first; then everybody knows how its base turns in the world. */
static void clock_base_paths(const Partitioner *c, Schedule *clock) {
	for (int p = 0; p < c->count; ++p) {
		double *free = &clock->free[clock->worker_of[p]];
		bool carries = false;
		for (int k = p + 1; k < c->count && !carries; ++k)
			carries = c->pieces[k].parent == p;
		*free += carries ? BASE_PATH * c->pieces[p].flops : 0;
		clock->ready_at[p] = *free;
	}
	for (int p = 0; p < c->count; ++p) {
		const int parent = c->pieces[p].parent;
		clock->turned[p] = parent < 0 ? 0 : fmax(clock->turned[parent], clock->ready_at[parent]) + 0.2 * FLOPS_HANDOVER;
	}
}

static double makespan(const Partitioner *c, Schedule *clock, int workers) {
	int pending[WORKER_POOL_MAX];
	double most = 0;
	for (int w = 0; w < workers; ++w) {
		clock->free[w] = 0;
		pending[w] = c->count;
	}
	clock_base_paths(c, clock);
	for (int p = c->count - 1; p >= 0; --p) {
		const int w = clock->worker_of[p];
		double ready = clock->turned[p];
		for (int k = p + 1; k < c->count; ++k) {
			if (c->pieces[k].parent != p || c->pieces[k].decoupled)
				continue;
			clock_joins(c, clock, w, p, &pending[w]);
			ready = fmax(ready, clock->ready_at[k] + FLOPS_HANDOVER);
		}
		clock->free[w] = fmax(clock->free[w], ready) + c->pieces[p].flops;
		clock->ready_at[p] = clock->free[w];
	}
	for (int j = c->count - 1; j >= 0; --j)
		clock_joins(c, clock, clock->worker_of[j], j - 1, &pending[clock->worker_of[j]]);
	for (int w = 0; w < workers; ++w)
		most = fmax(most, clock->free[w]);
	return most + solve_flops(c);
}

/* What all pieces, joins and loops amount to, whoever does it. */
static double all_work(const Partitioner *c) {
	double work = solve_flops(c);
	for (int p = 0; p < c->count; ++p) {
		bool carries = false;
		for (int k = p + 1; k < c->count && !carries; ++k)
			carries = c->pieces[k].parent == p;
		work += c->pieces[p].flops * (carries ? 1 + BASE_PATH : 1) + (c->pieces[p].decoupled ? join_flops(c) : 0);
	}
	return work;
}

static double try_size(Partitioner *c, double T, int workers) {
	Schedule clock = {.join = join_flops(c), .ready_at = c->held, .turned = c->turned, .worker_of = c->worker_of};
	find_heavy(c, T);
	cut_links(c, T);
	join_leftovers(c, T);
	number_pieces(c, T);
	choose_couplings(c);
	if (c->cross)
		count_cross_loops(c);
	assign_pieces(c->pieces, c->count, workers, c->worker_of);
	return makespan(c, &clock, workers);
}

/* ---- the whole --------------------------------------------------------------------------------------- */

static void layout_partitioner(Partitioner *c, Cursor *cursor) {
	const int n = c->links + 1;
	double **const numbers[] = {&c->own, &c->sub, &c->held, &c->turned, &c->tree, &c->rows, &c->octets};
	int **const indices[] = {&c->piece_of, &c->fork, &c->worker_of, &c->open, &c->bound};
	uint8_t **const flags[] = {&c->tied, &c->closes, &c->head, &c->heavy, &c->natural};
	CURSOR_ARRAY(cursor, c->pieces, n);
	for (size_t i = 0; i < sizeof numbers / sizeof *numbers; ++i)
		CURSOR_ARRAY(cursor, *numbers[i], n);
	for (size_t i = 0; i < sizeof indices / sizeof *indices; ++i)
		CURSOR_ARRAY(cursor, *indices[i], n);
	for (size_t i = 0; i < sizeof flags / sizeof *flags; ++i)
		CURSOR_ARRAY(cursor, *flags[i], n);
}

static CalStatus partitioner_init(Partitioner *c, const CalModel *model, void **memory) {
	c->model = model;
	c->links = model->link_count;
	Cursor cursor = {.align = sizeof(double)};
	layout_partitioner(c, &cursor);
	*memory = cursor_alloc_at_start(&cursor, &model->allocator);
	if (!*memory)
		return CAL_ERR_MEMORY;
	cursor_clear(&cursor);
	layout_partitioner(c, &cursor);
	return CAL_OK;
}

static CalStatus copy_partition(const Partitioner *c, double makespan, Partition *partition) {
	const size_t pieces = (size_t)c->count * sizeof(PartitionPiece), links = (size_t)c->links * sizeof(int);
	char *memory = memory_alloc(&c->model->allocator, pieces + links + 1);
	if (!memory)
		return CAL_ERR_MEMORY;
	*partition = (Partition){.count = c->count,
	                         .makespan = makespan,
	                         .flops = c->whole,
	                         .work = c->count > 1 ? all_work(c) : c->whole,
	                         .cross = c->cross,
	                         .memory = memory};
	partition->pieces = memcpy(memory, c->pieces, pieces);
	partition->piece_of = memcpy(memory + pieces, c->piece_of, links);
	return CAL_OK;
}

static void set_cross(Partitioner *c, bool cross) {
	c->cross = cross;
	count_flops(c, cross);
	tie_loop_paths(c, cross);
}

/* The best of several sizes of pieces; *size 0: none makes several. */
static double best_size(Partitioner *c, int workers, bool cross, double *size) {
	double best = INFINITY, all = 0;
	*size = 0;
	set_cross(c, cross);
	for (int i = 0; i < c->links; ++i)
		all += c->own[i];
	for (int k = 0; workers > 1 && k < TRIALS; ++k) {
		const double T = all / workers * (0.5 + 1.2 * (k + 1) / TRIALS);
		const double took = try_size(c, T, workers);
		if (c->count > 1 && took < best) {
			best = took;
			*size = T;
		}
	}
	return best;
}

/* Loops may span pieces, and there are some; couplings and applied wrenches stay within a piece. */
static bool may_cross(const CalModel *model, CalCrossLoops cross) {
	return cross != CAL_CROSS_LOOPS_NEVER && model->loop_count > 0 && !model->any_coupling &&
	       !model->any_applied_wrench && (cross == CAL_CROSS_LOOPS_ALWAYS || model->row_count <= CROSS_MOST_ROWS);
}

CalStatus partition_model(const CalModel *model, int workers, bool forced, CalCrossLoops cross, const uint8_t *barred,
                          Partition *partition) {
	Partitioner c;
	void *memory;
	CalStatus status = partitioner_init(&c, model, &memory);
	if (status != CAL_OK)
		return status;
	c.barred = barred;
	c.smallest = forced ? 0 : FLOPS_SMALLEST;
	count_tree(&c);
	count_flops(&c, false);
	c.whole = 0;
	for (int i = 0; i < c.links; ++i)
		c.whole += c.own[i];
	double size, crossed_size = 0;
	const bool may = may_cross(model, cross);
	double best = best_size(&c, workers, may && cross == CAL_CROSS_LOOPS_ALWAYS, &size);
	if (may && cross == CAL_CROSS_LOOPS_AUTO) {
		const double crossed = best_size(&c, workers, true, &crossed_size);
		set_cross(&c, crossed_size > 0 && crossed < WORTHWHILE * fmin(best, forced ? INFINITY : c.whole));
		best = c.cross ? crossed : best;
		size = c.cross ? crossed_size : size;
	}
	const double price = FLOPS_CALL + FLOPS_HANDOVER * portable_log(workers > 1 ? workers : 2) / portable_log(2);
	const bool pays = size > 0 && (forced || best + price < WORTHWHILE * c.whole);
	best = try_size(&c, pays ? size : INFINITY, pays ? workers : 1);
	c.cross &= pays;
	if (!pays) { // one piece, whatever is on the ground
		for (int i = 0; i < c.links; ++i)
			c.piece_of[i] = 0;
		c.pieces[0] = (PartitionPiece){.first = 0, .parent = -1, .flops = c.whole};
		c.count = c.links > 0;
		best = c.whole;
	}
	status = copy_partition(&c, best, partition);
	memory_free(&model->allocator, memory);
	return status;
}

void partition_free(const CalModel *model, Partition *partition) {
	memory_free(&model->allocator, partition->memory);
	*partition = (Partition){0};
}
