// SPDX-License-Identifier: Apache-2.0
/*
 * coupled_plan.c — chooses the order: of the links whose children were passed, the one that is coupled with the fewest
 * numbers, or the outermost, whichever rule takes fewer products in all; a loop as soon as columns that were passed, and
 * that no other loop needs, satisfy its equations in a configuration without symmetry. The fill follows from the order.
 */
#include <math.h>

#include "base/memory.h"
#include "model/coupled_plan.h"
#include "model/loop_gains.h"
#include "model/loop_order.h"
#include "model/loop_plan.h"

static const double PAYS = 16; // so many times fewer products: each takes longer than in the sweeps
enum { FEW = 24 };             // equations on a joint that are no reason to look for another order

/* Unknowns that are left and coupled with one, in ascending order. */
typedef struct Partners {
	CoupledNext *list;
	int count, capacity;
} Partners;

/* An array that grows. */
typedef struct Numbers {
	int32_t *list;
	int count, capacity;
} Numbers;

typedef struct Choice {
	const CalModel *model;
	int unknowns;
	bool by_depth; // the outermost links first, otherwise those coupled with the least
	GenericLinks at;
	LoopGains *gains;       // [loops] of the equations that take part, on columns that were passed
	int (*side)[2];         // [loops] links that its sides have come to, -1: the ground
	int *children;          // [links] that were not passed yet
	int *depth;             // [links]
	int *ready;             // [links] those without such children
	int ready_count;        //
	Partners *partners;     // [unknowns]
	uint8_t *done;          // [unknowns]
	Numbers updates, moves; //
	CoupledNext *next;      //
	int next_capacity;      //
	CoupledPlan plan;       // counts; steps and active are arrays of this search
	bool failed;            // no memory
} Choice;

static int loop_of(const Choice *c, int at) { return at - c->model->link_count; }
static int is_loop(const Choice *c, int at) { return at >= c->model->link_count; }
static int width_of(const Choice *c, int at) { return is_loop(c, at) ? c->gains[loop_of(c, at)].count : COUPLED_SIZE; }

static void append_number(Choice *c, Numbers *to, int number) {
	int32_t *list = array_reserve(&c->model->allocator, to->list, to->count, 1, &to->capacity, sizeof *list);
	c->failed |= !list;
	if (!list)
		return;
	to->list = list;
	list[to->count++] = number;
}

/* ---- couplings ---------------------------------------------------------------------------------- */

/* Place of an unknown in a list, or where it would be. */
static int place_of(const Partners *p, int at) {
	int low = 0, high = p->count;
	while (low < high) {
		const int middle = low + (high - low) / 2;
		if (p->list[middle].at < at)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static void insert_partner(Choice *c, int a, int b, int block) {
	Partners *p = &c->partners[a];
	CoupledNext *list = array_reserve(&c->model->allocator, p->list, p->count, 1, &p->capacity, sizeof *list);
	c->failed |= !list;
	if (!list)
		return;
	p->list = list;
	const int place = place_of(p, b);
	memmove(list + place + 1, list + place, sizeof *list * (size_t)(p->count - place));
	list[place] = (CoupledNext){b, block};
	++p->count;
}

/* The block of two unknowns, which are coupled from now on. */
static int couple(Choice *c, int a, int b) {
	const Partners *p = &c->partners[a];
	const int place = place_of(p, b);
	if (place < p->count && p->list[place].at == b)
		return p->list[place].block;
	const int block = c->plan.block_count++;
	insert_partner(c, a, b, block);
	insert_partner(c, b, a, block);
	return block;
}

/* An unknown that is eliminated leaves the lists of the others. */
static void uncouple(Choice *c, int at) {
	for (int i = 0; i < c->partners[at].count; ++i) {
		Partners *p = &c->partners[c->partners[at].list[i].at];
		const int place = place_of(p, at);
		memmove(p->list + place, p->list + place + 1, sizeof *p->list * (size_t)(p->count - place - 1));
		--p->count;
	}
	c->done[at] = 1;
}

static int partner_width(const Choice *c, int at) {
	int width = 0;
	for (int i = 0; i < c->partners[at].count; ++i)
		width += width_of(c, c->partners[at].list[i].at);
	return width;
}

static void list_partners(Choice *c, CoupledStep *step) {
	const Partners *p = &c->partners[step->at];
	step->next = c->plan.next_count;
	step->count = p->count;
	CoupledNext *next =
		array_reserve(&c->model->allocator, c->next, c->plan.next_count, p->count + 1, &c->next_capacity, sizeof *next);
	c->failed |= !next;
	if (!next)
		return;
	c->next = next;
	if (p->count)
		memcpy(next + c->plan.next_count, p->list, sizeof *next * (size_t)p->count);
	c->plan.next_count += p->count;
}

/* A step begins: those that are coupled with its unknown are coupled with each other, if it changes them at all. */
static CoupledStep begin_step(Choice *c, int at, int columns) {
	CoupledStep step = {.at = at, .update = c->updates.count, .move = c->moves.count, .factor = c->plan.factor_count};
	list_partners(c, &step);
	for (int i = 0; i < step.count && columns > 0 && !c->failed; ++i) {
		for (int k = i + 1; k < step.count && !c->failed; ++k)
			append_number(c, &c->updates, couple(c, c->next[step.next + i].at, c->next[step.next + k].at));
	}
	return step;
}

static void end_step(Choice *c, CoupledStep step, int numbers) {
	c->plan.factor_count += numbers;
	c->plan.steps[c->plan.step_count++] = step;
	if (!c->failed) // otherwise one list may lack what the other has
		uncouple(c, step.at);
}

/* ---- loops -------------------------------------------------------------------------------------- */

static double longest_arm(const Choice *c, const LoopGains *gains, int end, int closes, int side) {
	double longest = 0;
	for (int i = end; i >= 0 && i != closes; i = c->model->links[i].parent) {
		const vec3 arm = sub(gains->point[side], c->at.position[i]);
		longest = fmax(longest, sqrt(dot(arm, arm)));
	}
	return longest;
}

/* Equations that the joints of one side move, 1 << r each; gains is scratch. */
static int moved_rows(const Choice *c, LoopGains *gains, int end, int closes, int side, double longest) {
	int moved = 0;
	for (int i = end; i >= 0 && i != closes; i = c->model->links[i].parent) {
		gains->columns = 0;
		if (!loop_gains_add(&c->at, i, side, gains))
			return 0;
		for (int r = 0; r < gains->count; ++r) {
			const vec3 n = gains->wrench[r].a, f = gains->wrench[r].l;
			const double force = sqrt(dot(f, f)), moment = sqrt(dot(n, n));
			for (int k = 0; k < gains->columns; ++k) {
				const double most = gains->slides[k] ? force : moment + longest * force;
				moved |= (fabs(gains->gain[r][k]) > LOOP_GAIN_NONE * most) << r;
			}
		}
	}
	gains->columns = 0;
	return moved;
}

/* The equations of a loop that take part, and its couplings with the links of its ends; false: it cannot. */
static bool begin_loop(Choice *c, int l) {
	const CalModel *model = c->model;
	const Loop *loop = &model->loops[l];
	const int end[2] = {loop_node_link(model, loop->plus), loop_node_link(model, loop->minus)};
	const int closes = loop_common_link(model, end[0], end[1]);
	LoopGains *gains = &c->gains[l];
	if (loop->term_count || end[0] == end[1])
		return false;
	loop_gains_begin(&c->at, loop, gains);
	const double longest = fmax(longest_arm(c, gains, end[0], closes, 0), longest_arm(c, gains, end[1], closes, 1));
	const int active =
		moved_rows(c, gains, end[0], closes, 0, longest) | moved_rows(c, gains, end[1], closes, 1, longest);
	int count = 0;
	for (int r = 0; r < gains->count; ++r) {
		if (active >> r & 1)
			gains->wrench[count++] = gains->wrench[r];
	}
	gains->count = count;
	gains->longest = 0;
	c->plan.active[l] = active;
	for (int side = 0; side < 2; ++side) {
		c->side[l][side] = end[side];
		if (end[side] >= 0)
			couple(c, end[side], model->link_count + l);
	}
	return true;
}

/* Whether columns that no other loop needs satisfy the equations of a loop, which then needs them. */
static bool is_satisfied(Choice *c, int l) {
	LoopGains left = loop_gains_scaled(&c->gains[l]);
	int column[CAL_LOOP_MAX_ROWS];
	const int rank = loop_gains_reduce(&c->at, &left, column);
	if (rank != left.count)
		return false;
	for (int r = 0; r < rank; ++r)
		c->at.used[left.u[column[r]]] = 1;
	return true;
}

static void eliminate_loop(Choice *c, int l) {
	const CoupledStep step = begin_step(c, c->model->link_count + l, c->gains[l].count);
	const double own = c->gains[l].count, later = partner_width(c, step.at);
	c->plan.products += own * (own * own / 6 + later * (own + later) / 2);
	end_step(c, step, 2 * COUPLED_BLOCK + COUPLED_BLOCK * step.count);
}

/* ---- links -------------------------------------------------------------------------------------- */

/* Sides of loops move on to the parent of a link with what its columns do to them; false: too late for one. */
static bool pass_sides(Choice *c, int i, const CoupledStep *step) {
	for (int k = 0; k < step->count; ++k) {
		const int at = c->next[step->next + k].at, l = loop_of(c, at);
		if (!is_loop(c, at))
			continue;
		int *side = c->side[l];
		if (side[0] == i && side[1] == i)
			return false;
		for (int s = 0; s < 2; ++s) {
			if (side[s] != i)
				continue;
			if (!loop_gains_add(&c->at, i, s, &c->gains[l]))
				return false;
			side[s] = c->model->links[i].parent;
		}
	}
	return true;
}

/* Blocks of the parent with those coupled with a link that moves to it. */
static void move_to_parent(Choice *c, int parent, const CoupledStep *step) {
	for (int k = 0; k < step->count && !c->failed; ++k) {
		const int at = c->next[step->next + k].at;
		append_number(c, &c->moves, at == parent ? -1 : couple(c, parent, at));
	}
}

static bool pass_link(Choice *c, int i) {
	const Link *link = &c->model->links[i];
	const CoupledStep step = begin_step(c, i, link->nu);
	const int width = partner_width(c, i);
	c->plan.products += 0.5 * link->nu * width * (width + 1);
	c->plan.carried = width > c->plan.carried ? width : c->plan.carried;
	if (c->failed || !pass_sides(c, i, &step))
		return false;
	if (link->parent >= 0) {
		move_to_parent(c, link->parent, &step);
		if (--c->children[link->parent] == 0)
			c->ready[c->ready_count++] = link->parent;
	}
	end_step(c, step, link->nu * (8 + COUPLED_SIZE * step.count));
	for (int k = 0; k < step.count && !c->failed; ++k) {
		const int at = c->next[step.next + k].at;
		if (is_loop(c, at) && !c->done[at] && is_satisfied(c, loop_of(c, at)))
			eliminate_loop(c, loop_of(c, at));
	}
	return !c->failed;
}

/* Whether link i, coupled with so many numbers, is taken before link j. */
static bool comes_before(const Choice *c, int i, int width, int j, int width_j) {
	if (c->by_depth && c->depth[i] != c->depth[j])
		return c->depth[i] > c->depth[j];
	if (width != width_j)
		return width < width_j;
	return c->depth[i] != c->depth[j] ? c->depth[i] > c->depth[j] : i > j;
}

static int take_ready(Choice *c) {
	int best = 0, least = partner_width(c, c->ready[0]);
	for (int k = 1; k < c->ready_count; ++k) {
		const int width = partner_width(c, c->ready[k]);
		if (comes_before(c, c->ready[k], width, c->ready[best], least))
			best = k, least = width;
	}
	const int link = c->ready[best];
	c->ready[best] = c->ready[--c->ready_count];
	return link;
}

static void begin_links(Choice *c) {
	const CalModel *model = c->model;
	for (int i = 0; i < model->link_count; ++i) {
		const int parent = model->links[i].parent;
		c->depth[i] = parent >= 0 ? c->depth[parent] + 1 : 0;
		if (parent >= 0)
			++c->children[parent];
	}
	for (int i = 0; i < model->link_count; ++i) {
		if (c->children[i] == 0)
			c->ready[c->ready_count++] = i;
	}
}

/* The whole order; false: there is none with fewer products, or no memory. */
static bool find_order(Choice *c, double most) {
	for (int l = 0; l < c->model->loop_count; ++l) {
		if (!begin_loop(c, l) || c->failed)
			return false;
		if (c->gains[l].count == 0) // nothing moves it
			eliminate_loop(c, l);
	}
	begin_links(c);
	while (c->ready_count > 0) {
		if (!pass_link(c, take_ready(c)) || !(c->plan.products < most))
			return false;
	}
	return c->plan.step_count == c->unknowns;
}

/* ---- all of it ---------------------------------------------------------------------------------- */

static void layout_choice(Choice *c, Cursor *cursor) {
	const int links = c->model->link_count, loops = c->model->loop_count;
	generic_links_layout(&c->at, cursor);
	CURSOR_ARRAY(cursor, c->gains, loops);
	CURSOR_ARRAY(cursor, c->partners, c->unknowns);
	CURSOR_ARRAY(cursor, c->plan.steps, c->unknowns);
	CURSOR_ARRAY(cursor, c->plan.active, loops);
	CURSOR_ARRAY(cursor, c->side, loops);
	CURSOR_ARRAY(cursor, c->children, links);
	CURSOR_ARRAY(cursor, c->depth, links);
	CURSOR_ARRAY(cursor, c->ready, links);
	CURSOR_ARRAY(cursor, c->done, c->unknowns);
}

static void layout_plan(const Choice *c, CoupledPlan *made, Cursor *cursor) {
	cursor_array(cursor, 1, sizeof *made);
	CURSOR_ARRAY(cursor, made->steps, c->plan.step_count);
	CURSOR_ARRAY(cursor, made->next, c->plan.next_count);
	CURSOR_ARRAY(cursor, made->updates, c->updates.count);
	CURSOR_ARRAY(cursor, made->moves, c->moves.count);
	CURSOR_ARRAY(cursor, made->active, c->model->loop_count);
}

static void copy_numbers(int32_t *to, const Numbers *from) {
	if (from->count)
		memcpy(to, from->list, sizeof *to * (size_t)from->count);
}

static CoupledPlan *copy_plan(const Choice *c) {
	CoupledPlan made = c->plan;
	Cursor cursor = {0};
	layout_plan(c, &made, &cursor);
	CoupledPlan *plan = cursor_alloc_at_start(&cursor, &c->model->allocator);
	if (!plan)
		return NULL;
	layout_plan(c, &made, &cursor);
	made.size = cursor.size;
	made.update_count = c->updates.count, made.move_count = c->moves.count;
	memcpy(made.steps, c->plan.steps, sizeof *made.steps * (size_t)made.step_count);
	if (made.next_count)
		memcpy(made.next, c->next, sizeof *made.next * (size_t)made.next_count);
	copy_numbers(made.updates, &c->updates);
	copy_numbers(made.moves, &c->moves);
	memcpy(made.active, c->plan.active, sizeof *made.active * (size_t)c->model->loop_count);
	*plan = made;
	return plan;
}

static void release_choice(Choice *c) {
	const CalAllocator *allocator = &c->model->allocator;
	for (int i = 0; i < c->unknowns; ++i)
		memory_free(allocator, c->partners[i].list);
	memory_free(allocator, c->updates.list);
	memory_free(allocator, c->moves.list);
	memory_free(allocator, c->next);
	memory_free(allocator, c->at.pose);
}

/* The plan of one of two rules, if it has fewer products. False: no memory. */
static bool find_plan(const CalModel *model, bool by_depth, double most, CoupledPlan **plan) {
	Choice c = {.model = model,
	            .unknowns = model->link_count + model->loop_count,
	            .by_depth = by_depth,
	            .at = {.model = model}};
	*plan = NULL;
	Cursor cursor = {.align = sizeof(double)};
	layout_choice(&c, &cursor);
	if (!cursor_alloc_at_start(&cursor, &model->allocator))
		return false;
	cursor_clear(&cursor);
	layout_choice(&c, &cursor);
	generic_links_place(&c.at);
	const bool found = find_order(&c, most);
	if (found)
		*plan = copy_plan(&c);
	c.failed |= found && !*plan;
	release_choice(&c);
	return !c.failed;
}

bool coupled_plan_create(const CalModel *model, CoupledPlan **plan) {
	CalLoopCost cost;
	*plan = NULL;
	if (model->flex_count > 0 || model->light_loops > 0 ||
	    (model->loops_by != CAL_LOOPS_AUTO && model->loops_by != CAL_LOOPS_COUPLED))
		return true;
	loop_schedule_cost(model, &cost);
	const bool asked = model->loops_by == CAL_LOOPS_COUPLED;
	if (!asked && cost.carried <= FEW)
		return true;
	const double most = asked ? INFINITY : cost.products / PAYS;
	CoupledPlan *other;
	if (!find_plan(model, false, most, plan))
		return false;
	const bool found = find_plan(model, true, *plan ? (*plan)->products : most, &other);
	if (other || !found) {
		memory_free(&model->allocator, *plan);
		*plan = other;
	}
	return found;
}

void coupled_plan_cost(const CoupledPlan *plan, CalLoopCost *cost) {
	cost->solver = CAL_LOOPS_COUPLED;
	cost->carried = plan->carried;
	cost->couplings = plan->block_count;
	cost->products = plan->products;
}
