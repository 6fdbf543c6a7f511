// SPDX-License-Identifier: Apache-2.0
/*
 * loop_plan.c — makes the plan: where loops close, which links they reach, in which order they are eliminated.
 *
 * Links and order are found first (loop_order.c); then one pass sizes the plan's block and a second fills it.
 */
#include <math.h>

#include "base/cursor.h"
#include "base/memory.h"
#include "model/loop_order.h"
#include "model/loop_plan.h"

static int has_modes(const CalModel *model, int link) { return model->links[link].flex_body >= 0; }

/* ---- the plan --------------------------------------------------------------------------------------- */

/* Block of two loops that are coupled, in either order: those after the first one are in the order of elimination. */
static int block_of(const LoopSchedule *plan, const LoopOrder *p, int a, int b) {
	const int first = p->place[a] < p->place[b] ? p->place[a] : p->place[b], other = p->place[a] + p->place[b] - first;
	const LoopStep *step = &plan->steps[first];
	int low = 0, high = step->count; // it is in low .. high - 1
	while (high - low > 1) {
		const int middle = low + (high - low) / 2;
		if (p->place[plan->next[step->next + middle].loop] <= other)
			low = middle;
		else
			high = middle;
	}
	return plan->next[step->next + low].block;
}

/* Loops that reach a link: those that close there first, in the order of elimination; then the open ones. */
static void list_here(const LoopOrder *p, LoopSchedule *plan, LoopLink *at) {
	at->here = plan->here_count;
	for (int k = p->first[at->link]; k < p->first[at->link + 1]; ++k) {
		const int loop = p->reach[k].loop, closes = p->reach[k].kind == CLOSES;
		if (plan->here)
			plan->here[plan->here_count] = (LoopHere){.loop = loop,
			                                          .rows = p->model->loops[loop].rows,
			                                          .width = loop_width(p->model, loop),
			                                          .first = at->width,
			                                          .row_offset = p->slot[loop],
			                                          .to = -1};
		++plan->here_count;
		++at->count;
		at->closing += closes;
		at->width += loop_width(p->model, loop);
		at->open = closes ? at->width : at->open;
	}
	at->gamma = plan->gamma_count;
	plan->gamma_count += 6 * at->width;
	const Link *link = &p->model->links[at->link];
	at->gains = plan->gain_count;
	plan->gain_count += link->nu * (at->width - at->open);
	at->modal = -1;
	if (has_modes(p->model, at->link)) {
		at->modal = plan->modal_count;
		plan->modal_count += at->width * p->model->flexes[link->flex_body].m;
	}
}

static void list_pairs(const LoopOrder *p, LoopSchedule *plan, const LoopLink *at, int first, int32_t *begin,
                       int32_t *count) {
	*begin = plan->pair_count;
	for (int a = first; a < at->count; ++a) {
		for (int b = a + 1; b < at->count; ++b) {
			if (plan->pairs) {
				const int block = block_of(plan, p, plan->here[at->here + a].loop, plan->here[at->here + b].loop);
				plan->pairs[plan->pair_count] = (LoopPair){a, b, block};
			}
			++plan->pair_count;
		}
	}
	*count = plan->pair_count - *begin;
}

/* A loop in the list of a link, whose closing and whose open ones are in the order of elimination; -1: it is not there. */
static int here_on(const LoopOrder *p, const LoopSchedule *plan, int link, int loop) {
	if (link < 0 || plan->at[link] < 0)
		return -1;
	const LoopLink *at = &plan->links[plan->at[link]];
	const int closes = p->closes[loop] == link;
	int low = at->here + (closes ? 0 : at->closing), high = at->here + (closes ? at->closing : at->count);
	while (high - low > 1) {
		const int middle = low + (high - low) / 2;
		if (p->place[plan->here[middle].loop] <= p->place[loop])
			low = middle;
		else
			high = middle;
	}
	return low < high && plan->here[low].loop == loop ? low : -1;
}

/* Where the wrenches of a loop are on a link; -1: on the ground. */
static int gamma_on(const LoopOrder *p, const LoopSchedule *plan, int link, int loop) {
	const int here = here_on(p, plan, link, loop);
	return here >= 0 ? plan->links[plan->at[link]].gamma + plan->here[here].first : -1;
}

static void list_steps(const LoopOrder *p, LoopSchedule *plan) {
	plan->step_count = p->loops;
	plan->ground_step = p->loops;
	for (int k = 0; k < p->loops; ++k) {
		const int a = p->order[k];
		LoopStep step = {.loop = a, .next = plan->next_count, .update = plan->update_count};
		for (int j = 0; j < p->coupled[a].count; ++j) {
			if (plan->next)
				plan->next[plan->next_count] = (LoopNext){p->order[p->coupled[a].loop[j]], plan->block_count, -1};
			++plan->next_count;
			++plan->block_count;
			++step.count;
		}
		plan->update_count += step.count * (step.count + 1) / 2;
		if (plan->steps)
			plan->steps[k] = step;
		if (p->closes[a] < 0 && plan->ground_step == p->loops)
			plan->ground_step = k;
	}
}

static void list_links(const LoopOrder *p, LoopSchedule *plan) {
	for (int i = 0; i < p->links; ++i) {
		LoopLink at = {.link = i};
		list_here(p, plan, &at);
		if (plan->at)
			plan->at[i] = at.count ? plan->link_count : -1;
		if (at.count == 0)
			continue;
		if (p->model->links[i].nu > 0)
			list_pairs(p, plan, &at, at.closing, &at.joint_pairs, &at.joint_pair_count);
		if (at.modal >= 0)
			list_pairs(p, plan, &at, 0, &at.modal_pairs, &at.modal_pair_count);
		at.step_count = at.closing;
		at.steps = at.closing ? p->reach[p->first[i]].place : 0;
		if (plan->links)
			plan->links[plan->link_count] = at;
		++plan->link_count;
	}
}

/* A side of a loop is on the link itself. */
static int has_end(const LoopOrder *p, int link, int loop) {
	const Loop *l = &p->model->loops[loop];
	return loop_node_link(p->model, l->plus) == link || loop_node_link(p->model, l->minus) == link;
}

/* What refers to other links, once all are there: from the tips inwards, as the sweeps go. */
static void connect_links(const LoopOrder *p, LoopSchedule *plan, uint8_t *brought) {
	for (int i = plan->link_count - 1; i >= 0; --i) {
		const LoopLink *at = &plan->links[i];
		const int parent = p->model->links[at->link].parent;
		for (int k = at->closing; k < at->count && parent >= 0; ++k) {
			LoopHere *here = &plan->here[at->here + k];
			const int there = here_on(p, plan, parent, here->loop);
			here->to = plan->links[plan->at[parent]].gamma + plan->here[there].first;
			here->to_width = plan->links[plan->at[parent]].width;
			here->sets = !has_end(p, parent, here->loop) && !brought[there];
			brought[there] = 1;
		}
	}
}

static void connect_steps(const LoopOrder *p, LoopSchedule *plan) {
	for (int k = 0; k < plan->step_count; ++k) {
		LoopStep *step = &plan->steps[k];
		const int closes = p->closes[step->loop];
		int32_t *update = plan->updates + step->update;
		step->gamma = gamma_on(p, plan, closes, step->loop);
		step->width = closes >= 0 ? plan->links[plan->at[closes]].width : 0;
		for (int j = 0; j < step->count; ++j) {
			LoopNext *b = &plan->next[step->next + j];
			b->gamma = gamma_on(p, plan, closes, b->loop);
			*update++ = -1 - b->loop;
			for (int i = j + 1; i < step->count; ++i)
				*update++ = block_of(plan, p, b->loop, plan->next[step->next + i].loop);
		}
	}
}

/* Clusters: loops take the number of the first that they are coupled with, again and again. */
static void list_clusters(const LoopOrder *p, LoopSchedule *plan) {
	int count = 0;
	for (int l = 0; l < p->loops; ++l)
		plan->ends[l].cluster = -1;
	for (int k = p->loops - 1; k >= 0; --k) { // whoever is eliminated last in a cluster is coupled with none later
		const LoopStep *step = &plan->steps[k];
		const int next = step->count ? plan->ends[plan->next[step->next].loop].cluster : count++;
		plan->ends[step->loop].cluster = next;
	}
}

static double length(dvec3 v) { return sqrt(v.x * v.x + v.y * v.y + v.z * v.z); }

static double path_length(const LoopOrder *p, int loop, int node) {
	const CalModel *model = p->model;
	if (node < 0)
		return 0;
	double sum = length(model->nodes[node].in_link.r);
	for (int i = model->nodes[node].link; i >= 0 && i != p->closes[loop]; i = model->links[i].parent)
		sum += length(model->links[i].p);
	return sum;
}

/* Gain of mode k for the wrenches at `gamma` on a link that carries a flexible body. */
static int modal_on(const LoopSchedule *plan, int link, int gamma, int k) {
	const LoopLink *at = &plan->links[plan->at[link]];
	return at->modal + k * at->width + gamma - at->gamma;
}

static void list_ends(const LoopOrder *p, LoopSchedule *plan) {
	const CalModel *model = p->model;
	for (int l = 0; l < p->loops; ++l) {
		const Loop *loop = &model->loops[l];
		LoopEnds *ends = &plan->ends[l];
		const int node[2] = {loop->plus, loop->minus};
		ends->closes = p->closes[l];
		ends->row_offset = p->slot[l];
		ends->width = loop_width(p->model, l);
		for (int side = 0; side < 2; ++side) {
			const int link = loop_node_link(model, node[side]), gamma = gamma_on(p, plan, link, l);
			ends->gamma[side] = gamma;
			ends->gamma_width[side] = gamma >= 0 ? plan->links[plan->at[link]].width : 0;
			ends->modal[side] = gamma >= 0 && model->nodes[node[side]].shape >= 0 ? modal_on(plan, link, gamma, 0) : -1;
			ends->reach += path_length(p, l, node[side]);
		}
		ends->shared = ends->gamma[0] >= 0 && ends->gamma[0] == ends->gamma[1];
		ends->reach += length(loop->side[0].on.r) + length(loop->side[1].on.r);
		for (int k = 0; k < loop->term_count; ++k) {
			const int u = loop->term[k].u, link = model->dofs[u].link;
			const int mode = loop_dof_is_modal(model, u) ? u - model->flexes[model->links[link].flex_body].u : -1;
			ends->term[k] = mode >= 0 ? modal_on(plan, link, gamma_on(p, plan, link, l), mode) : -1;
		}
	}
}

/* The schedule itself, and its arrays after it. */
static void layout_schedule(const LoopOrder *p, const LoopSchedule *count, LoopSchedule *made, Cursor *cursor) {
	cursor_array(cursor, 1, sizeof *made);
	CURSOR_ARRAY(cursor, made->links, count->link_count);
	CURSOR_ARRAY(cursor, made->here, count->here_count);
	CURSOR_ARRAY(cursor, made->pairs, count->pair_count);
	CURSOR_ARRAY(cursor, made->steps, count->step_count);
	CURSOR_ARRAY(cursor, made->next, count->next_count);
	CURSOR_ARRAY(cursor, made->updates, count->update_count);
	CURSOR_ARRAY(cursor, made->ends, p->loops);
	CURSOR_ARRAY(cursor, made->at, p->links);
}

/* Counts with loop_schedule->here and the like NULL; then lays out, and the same calls fill. */
static LoopSchedule *create_schedule(LoopOrder *p) {
	LoopSchedule count = {0};
	list_steps(p, &count);
	list_links(p, &count);
	uint8_t *brought = memory_alloc(&p->model->allocator, (size_t)count.here_count);
	if (!brought)
		return NULL;
	memset(brought, 0, (size_t)count.here_count);
	LoopSchedule made = {.row_offset_count = p->slots};
	Cursor cursor = {0};
	layout_schedule(p, &count, &made, &cursor);
	LoopSchedule *plan = cursor_alloc_at_start(&cursor, &p->model->allocator);
	if (!plan) {
		memory_free(&p->model->allocator, brought);
		return NULL;
	}
	cursor_clear(&cursor);
	layout_schedule(p, &count, &made, &cursor);
	made.size = cursor.size;
	*plan = made;
	list_steps(p, plan);
	list_links(p, plan);
	connect_links(p, plan, brought);
	connect_steps(p, plan);
	list_ends(p, plan);
	list_clusters(p, plan);
	memory_free(&p->model->allocator, brought);
	return plan;
}

LoopSchedule *loop_schedule_create(const CalModel *model) {
	LoopOrder order;
	LoopSchedule *plan = loop_order_find(&order, model) ? create_schedule(&order) : NULL;
	loop_order_release(&order);
	return plan;
}

void links_mark_special(const LoopSchedule *schedule, Link *links, int count) {
	const int within = schedule && schedule->ground_step > 0;
	for (int i = 0; i < count; ++i)
		links[i].special =
			links[i].flex_body >= 0 || links[i].motion == PRIMITIVE_NODE || (within && links[i].loop_link >= 0);
}
