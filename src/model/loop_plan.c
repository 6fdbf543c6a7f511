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

/*
 * Products of the sweep up to which a second plan is the first thing to try: with more loops on a joint it takes ten times
 * as long as the other, and levers of long paths cost it more digits than refinement does.
 */
static const double LATE_FIRST = 2e4;
static const double MOST_LATE = 2e7; // there is none beyond

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
	if (has_modes(p->model, at->link) && at->count) {
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
		LoopStep step = {.loop = a,
		                 .early = p->closes[a] != p->shared[a] ? p->closes[a] : -1,
		                 .next = plan->next_count,
		                 .update = plan->update_count};
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
		const int listed = at.count || (p->late && p->late->at[i] >= 0);
		if (plan->at)
			plan->at[i] = listed ? plan->link_count : -1;
		if (!listed)
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

/* A loop that is coupled with one that was eliminated early may be left with equations that joints inboard can move. */
static void watch_steps(const LoopOrder *p, LoopSchedule *plan) {
	for (int k = 0; k < plan->step_count; ++k) {
		const LoopStep *step = &plan->steps[k];
		for (int j = 0; j < step->count && step->early >= 0; ++j) {
			const int b = plan->next[step->next + j].loop;
			plan->steps[p->place[b]].early = p->closes[b];
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

/* ---- clusters ----------------------------------------------------------------------------------------- */

static int first_of(const int *cluster, int l) {
	while (cluster[l] != l)
		l = cluster[l];
	return l;
}

static void join(int *cluster, int32_t *mark, int l) {
	const int a = first_of(cluster, l), b = *mark >= 0 ? first_of(cluster, *mark) : a;
	cluster[a > b ? a : b] = a > b ? b : a;
	*mark = l;
}

/*
 * Loops whose paths have a joint in common are in one cluster, and so are those that meet modes of one body. A path that
 * was followed before to where this loop closes, or farther (inmost), has all the same loops from there on.
 */
static void join_path(const LoopOrder *p, LoopSchedule *plan, int l, int end, int *cluster, int *inmost) {
	int i = end;
	for (; i >= 0 && i != p->shared[l]; i = p->model->links[i].parent) {
		const int followed = inmost[i] <= p->shared[l];
		if (p->model->links[i].nu > 0)
			join(cluster, &plan->joint_cluster[i], l);
		if (has_modes(p->model, i))
			join(cluster, &plan->modal_cluster[i], l);
		if (followed)
			return;
		inmost[i] = p->shared[l];
	}
	if (i >= 0 && has_modes(p->model, i))
		join(cluster, &plan->modal_cluster[i], l);
}

/* In the order of elimination, the last cluster first. */
static void number_clusters(const LoopOrder *p, LoopSchedule *plan, const int *cluster) {
	int count = 0;
	for (int l = 0; l < p->loops; ++l)
		plan->ends[l].cluster = -1;
	for (int k = p->loops - 1; k >= 0; --k) {
		LoopEnds *first = &plan->ends[first_of(cluster, p->order[k])];
		first->cluster = first->cluster < 0 ? count++ : first->cluster;
		plan->ends[p->order[k]].cluster = first->cluster;
	}
	for (int i = 0; i < p->links; ++i) {
		plan->joint_cluster[i] = plan->joint_cluster[i] >= 0 ? plan->ends[plan->joint_cluster[i]].cluster : -1;
		plan->modal_cluster[i] = plan->modal_cluster[i] >= 0 ? plan->ends[plan->modal_cluster[i]].cluster : -1;
	}
}

/* scratch[loops + links] */
static void list_clusters(const LoopOrder *p, LoopSchedule *plan, int *scratch) {
	int *cluster = scratch, *inmost = scratch + p->loops;
	for (int l = 0; l < p->loops; ++l)
		cluster[l] = l;
	for (int i = 0; i < p->links; ++i) {
		plan->joint_cluster[i] = plan->modal_cluster[i] = -1;
		inmost[i] = p->links;
	}
	for (int l = 0; l < p->loops; ++l) {
		const Loop *loop = &p->model->loops[l];
		join_path(p, plan, l, loop_node_link(p->model, loop->plus), cluster, inmost);
		join_path(p, plan, l, loop_node_link(p->model, loop->minus), cluster, inmost);
		for (int k = 0; k < loop->term_count; ++k)
			join_path(p, plan, l, p->model->dofs[loop->term[k].u].link, cluster, inmost);
	}
	number_clusters(p, plan, cluster);
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
		ends->closes = p->shared[l];
		ends->place = p->closes[l];
		ends->inert = p->early[l].inert;
		plan->early_count += ends->place != ends->closes;
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
	CURSOR_ARRAY(cursor, made->joint_cluster, p->links);
	CURSOR_ARRAY(cursor, made->modal_cluster, p->links);
}

/* Fills what was laid out; scratch has loops + links numbers and then a byte for each loop on a link. */
static void fill_schedule(const LoopOrder *p, LoopSchedule *plan, int *scratch) {
	uint8_t *brought = (uint8_t *)(scratch + p->loops + p->links);
	list_steps(p, plan);
	list_links(p, plan);
	memset(brought, 0, (size_t)plan->here_count);
	connect_links(p, plan, brought);
	connect_steps(p, plan);
	watch_steps(p, plan);
	list_ends(p, plan);
	list_clusters(p, plan, scratch);
}

/* Counts with loop_schedule->here and the like NULL; then lays out, and the same calls fill. */
static LoopSchedule *create_schedule(const LoopOrder *p) {
	const CalAllocator *allocator = &p->model->allocator;
	LoopSchedule count = {0};
	list_steps(p, &count);
	list_links(p, &count);
	int *scratch = memory_alloc(allocator, sizeof(int) * (size_t)(p->loops + p->links) + (size_t)count.here_count);
	LoopSchedule made = {.row_offset_count = p->slots};
	Cursor cursor = {0};
	layout_schedule(p, &count, &made, &cursor);
	LoopSchedule *plan = scratch ? cursor_alloc_at_start(&cursor, allocator) : NULL;
	if (plan) {
		cursor_clear(&cursor);
		layout_schedule(p, &count, &made, &cursor);
		made.size = cursor.size;
		*plan = made;
		fill_schedule(p, plan, scratch);
	}
	memory_free(allocator, scratch);
	return plan;
}

/* Each loop where it closes, or as early as it pays; late: links that are to be listed in any case. */
static LoopSchedule *schedule_of(const CalModel *model, bool early, LoopSchedule *late, double *work) {
	LoopOrder order = {.late = late};
	LoopSchedule *plan = loop_order_find(&order, model, early) ? create_schedule(&order) : NULL;
	*work = order.late_work;
	loop_order_release(&order);
	return plan;
}

LoopSchedule *loop_schedule_create(const CalModel *model) {
	double work = 0;
	LoopSchedule *plan = schedule_of(model, model->loops_by != CAL_LOOPS_ELIMINATION, NULL, &work);
	if (!plan || !plan->early_count || work > MOST_LATE)
		return plan;
	loop_schedule_destroy(&model->allocator, plan);
	LoopSchedule *late = schedule_of(model, false, NULL, &work);
	plan = late ? schedule_of(model, true, late, &work) : NULL;
	if (plan) {
		plan->late = late;
		plan->late_first = work <= LATE_FIRST;
	} else {
		loop_schedule_destroy(&model->allocator, late);
	}
	return plan;
}

void loop_schedule_destroy(const CalAllocator *allocator, LoopSchedule *plan) {
	if (plan)
		memory_free(allocator, plan->late);
	memory_free(allocator, plan);
}

/* Constraint equations that are open on a link. */
static int open_rows(const LoopSchedule *plan, const LoopLink *at) {
	int rows = 0;
	for (int k = at->closing; k < at->count; ++k)
		rows += plan->here[at->here + k].rows;
	return rows;
}

void loop_schedule_cost(const CalModel *model, CalLoopCost *cost) {
	const LoopSchedule *plan = model->loop_schedule;
	*cost = (CalLoopCost){.solver = plan->early_count ? CAL_LOOPS_EARLY : CAL_LOOPS_ELIMINATION,
	                      .early = plan->early_count,
	                      .couplings = plan->block_count};
	for (int i = 0; i < plan->link_count; ++i) {
		const Link *link = &model->links[plan->links[i].link];
		const int rows = open_rows(plan, &plan->links[i]);
		const int modes = link->flex_body >= 0 ? model->flexes[link->flex_body].m : 0;
		cost->carried = rows > cost->carried ? rows : cost->carried;
		cost->products += 0.5 * (link->nu + modes) * rows * (rows + 1);
	}
	for (int k = 0; k < plan->step_count; ++k) {
		const LoopStep *step = &plan->steps[k];
		const double own = model->loops[step->loop].rows;
		double later = 0;
		for (int j = 0; j < step->count; ++j)
			later += model->loops[plan->next[step->next + j].loop].rows;
		cost->products += own * (own * own / 6 + later * (own + later) / 2);
	}
}

void links_mark_special(const LoopSchedule *schedule, Link *links, int count) {
	const int within = schedule && schedule->ground_step > 0;
	for (int i = 0; i < count; ++i)
		links[i].special =
			links[i].flex_body >= 0 || links[i].motion == PRIMITIVE_NODE || (within && links[i].loop_link >= 0);
}
