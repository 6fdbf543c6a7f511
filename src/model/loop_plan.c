// SPDX-License-Identifier: Apache-2.0
/*
 * loop_plan.c — makes the plan: where loops close, which links they reach, in which order they are eliminated.
 *
 * Everything is counted or listed in one scratch block first; then one pass sizes the plan's block and a second fills
 * it. Coupling is kept as a square of bits, which is small beside the workspace of as many loops.
 */
#include <math.h>

#include "base/memory.h"
#include "math/pack.h"
#include "model/loop_plan.h"

typedef struct Planner {
	const CalModel *model;
	int loops, links;
	int *closes;        // [loops]
	uint8_t *reaches;   // [links][loops] 1: open on the link, 2: closes on it
	uint64_t *coupled;  // [loops][words]
	int words;          //
	int *order, *place; // [loops] of the elimination, and its inverse
	int *slot, slots;   // [loops] of the rows in the workspace, and their number
	uint64_t *left;     // [words] those not eliminated yet
	LoopPlan *plan;     // being made
} Planner;

/* ---- where loops are ---------------------------------------------------------------------------- */

static int link_of(const CalModel *model, int node) { return node >= 0 ? model->nodes[node].link : -1; }

/* Parents come before children, so that the larger index is the one to move inwards. */
static int common(const CalModel *model, int a, int b) {
	while (a != b) {
		if (a > b) {
			a = model->links[a].parent;
		} else {
			b = model->links[b].parent;
		}
	}
	return a;
}

/* Is it a mode, which belongs to the link itself, or a freedom of the joint inboard of it? */
static int is_modal(const CalModel *model, int u) {
	const Link *link = &model->links[model->dofs[u].link];
	return u < link->u || u >= link->u + link->nu;
}

int loop_closes(const CalModel *model, const Loop *loop) {
	if (loop->term_count == 0)
		return common(model, link_of(model, loop->plus), link_of(model, loop->minus));
	int closes = -2;
	for (int k = 0; k < loop->term_count; ++k) {
		const int u = loop->term[k].u, link = model->dofs[u].link;
		const int inner = is_modal(model, u) ? link : model->links[link].parent;
		closes = closes == -2 ? inner : common(model, closes, inner);
	}
	return closes;
}

static void reach_from(Planner *p, int loop, int link) {
	for (int i = link; i >= 0 && i != p->closes[loop]; i = p->model->links[i].parent)
		p->reaches[(size_t)i * (size_t)p->loops + (size_t)loop] = 1;
}

static void find_links(Planner *p) {
	for (int l = 0; l < p->loops; ++l) {
		const Loop *loop = &p->model->loops[l];
		p->closes[l] = loop_closes(p->model, loop);
		if (p->closes[l] >= 0)
			p->reaches[(size_t)p->closes[l] * (size_t)p->loops + (size_t)l] = 2;
		reach_from(p, l, link_of(p->model, loop->plus));
		reach_from(p, l, link_of(p->model, loop->minus));
		for (int k = 0; k < loop->term_count; ++k)
			reach_from(p, l, p->model->dofs[loop->term[k].u].link);
	}
}

static int reach(const Planner *p, int link, int loop) {
	return p->reaches[(size_t)link * (size_t)p->loops + (size_t)loop];
}

/* ---- the order of elimination --------------------------------------------------------------------- */

static int is_coupled(const Planner *p, int a, int b) {
	return (int)(p->coupled[(size_t)a * (size_t)p->words + (size_t)(b / 64)] >> (b % 64) & 1u);
}

static void couple(Planner *p, int a, int b) {
	p->coupled[(size_t)a * (size_t)p->words + (size_t)(b / 64)] |= UINT64_C(1) << (b % 64);
	p->coupled[(size_t)b * (size_t)p->words + (size_t)(a / 64)] |= UINT64_C(1) << (a % 64);
}

static int has_modes(const Planner *p, int link) { return p->model->links[link].carries >= 0; }

static void couple_on(Planner *p, int link, int least) {
	for (int a = 0; a < p->loops; ++a) {
		if (!reach(p, link, a) || reach(p, link, a) > least)
			continue;
		for (int b = a + 1; b < p->loops; ++b) {
			if (reach(p, link, b) && reach(p, link, b) <= least)
				couple(p, a, b);
		}
	}
}

static int is_left(const Planner *p, int a) { return (int)(p->left[a / 64] >> (a % 64) & 1u); }

static int degree(const Planner *p, int a) {
	int sum = 0;
	for (int w = 0; w < p->words; ++w)
		sum += __builtin_popcountll(p->left[w] & p->coupled[(size_t)a * (size_t)p->words + (size_t)w]);
	return sum;
}

/* Of those that close on a link, the one with the fewest left to be coupled with; -1: none is left. */
static int find_next(const Planner *p, int link) {
	int best = -1, least = 0;
	for (int a = 0; a < p->loops; ++a) {
		if (!is_left(p, a) || p->closes[a] != link)
			continue;
		const int d = degree(p, a);
		if (best < 0 || d < least)
			best = a, least = d;
	}
	return best;
}

/* Those left that a couples are coupled from now on. */
static void eliminate(Planner *p, int a) {
	p->left[a / 64] &= ~(UINT64_C(1) << (a % 64));
	for (int b = 0; b < p->loops; ++b) {
		if (!is_left(p, b) || !is_coupled(p, a, b))
			continue;
		for (int c = b + 1; c < p->loops; ++c) {
			if (is_left(p, c) && is_coupled(p, a, c))
				couple(p, b, c);
		}
	}
}

static void find_order(Planner *p) {
	int made = 0;
	for (int i = 0; i < p->links; ++i) {
		if (p->model->links[i].nu > 0)
			couple_on(p, i, 1);
		if (has_modes(p, i))
			couple_on(p, i, 2);
	}
	for (int i = p->links - 1; i >= -1; --i) {
		for (int a; (a = find_next(p, i)) >= 0; ++made) {
			p->order[made] = a;
			p->place[a] = made;
			eliminate(p, a);
		}
	}
}

/* ---- the plan --------------------------------------------------------------------------------------- */

/* Block of two loops, in either order; -1: they are not coupled. */
static int block_of(const LoopPlan *plan, const Planner *p, int a, int b) {
	const LoopStep *step = &plan->steps[p->place[a] < p->place[b] ? p->place[a] : p->place[b]];
	const int other = p->place[a] < p->place[b] ? b : a;
	for (int k = 0; k < step->count; ++k) {
		if (plan->next[step->next + k].loop == other)
			return plan->next[step->next + k].block;
	}
	return -1;
}

static int width_of(const Planner *p, int loop) { return row_length(p->model->loops[loop].rows); }

/* Loops that reach a link: those that close there first, in the order of elimination; then the open ones. */
static void list_here(const Planner *p, LoopPlan *plan, LoopLink *at) {
	at->here = plan->here_count;
	for (int kind = 2; kind >= 1; --kind) {
		for (int k = 0; k < p->loops; ++k) {
			const int loop = p->order[k];
			if (reach(p, at->link, loop) != kind)
				continue;
			if (plan->here)
				plan->here[plan->here_count] = (LoopHere){.loop = loop,
				                                          .rows = p->model->loops[loop].rows,
				                                          .width = width_of(p, loop),
				                                          .first = at->width,
				                                          .slot = p->slot[loop],
				                                          .to = -1};
			++plan->here_count;
			++at->count;
			at->closing += kind == 2;
			at->width += width_of(p, loop);
			at->open = kind == 2 ? at->width : at->open;
		}
	}
	at->gamma = plan->gamma_count;
	plan->gamma_count += 6 * at->width;
	const Link *link = &p->model->links[at->link];
	at->gains = plan->gain_count;
	plan->gain_count += link->nu * (at->width - at->open);
	at->modal = -1;
	if (has_modes(p, at->link)) {
		at->modal = plan->modal_count;
		plan->modal_count += at->width * p->model->flexes[link->carries].m;
	}
}

static void list_pairs(const Planner *p, LoopPlan *plan, const LoopLink *at, int first, int32_t *begin,
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

/* Where the wrenches of a loop are on a link; -1: on the ground. */
static int gamma_on(const LoopPlan *plan, int link, int loop) {
	if (link < 0 || plan->at[link] < 0)
		return -1;
	const LoopLink *at = &plan->links[plan->at[link]];
	for (int k = 0; k < at->count; ++k) {
		if (plan->here[at->here + k].loop == loop)
			return at->gamma + plan->here[at->here + k].first;
	}
	return -1;
}

static void list_steps(const Planner *p, LoopPlan *plan) {
	plan->step_count = p->loops;
	plan->ground_step = p->loops;
	for (int k = 0; k < p->loops; ++k) {
		const int a = p->order[k];
		LoopStep step = {.loop = a, .next = plan->next_count, .update = plan->update_count};
		for (int j = k + 1; j < p->loops; ++j) {
			if (!is_coupled(p, a, p->order[j]))
				continue;
			if (plan->next)
				plan->next[plan->next_count] = (LoopNext){p->order[j], plan->block_count, -1};
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

static void list_links(const Planner *p, LoopPlan *plan) {
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
		for (int k = 0; k < p->loops; ++k) {
			if (p->closes[p->order[k]] == i)
				at.steps = at.step_count++ == 0 ? k : at.steps;
		}
		if (plan->links)
			plan->links[plan->link_count] = at;
		++plan->link_count;
	}
}

/* A side of a loop is on the link itself. */
static int has_end(const Planner *p, int link, int loop) {
	const Loop *l = &p->model->loops[loop];
	return link_of(p->model, l->plus) == link || link_of(p->model, l->minus) == link;
}

/* Another child of a link that brings the loop comes before this one in an inward sweep. */
static int comes_from_beyond(const Planner *p, int parent, int link, int loop) {
	for (int i = link + 1; i < p->links; ++i) {
		if (p->model->links[i].parent == parent && reach(p, i, loop) == 1)
			return 1;
	}
	return 0;
}

/* What refers to other links, once all are there. */
static void connect(const Planner *p, LoopPlan *plan) {
	for (int i = 0; i < plan->link_count; ++i) {
		const LoopLink *at = &plan->links[i];
		const int parent = p->model->links[at->link].parent;
		for (int k = at->closing; k < at->count && parent >= 0; ++k) {
			LoopHere *here = &plan->here[at->here + k];
			here->to = gamma_on(plan, parent, here->loop);
			here->to_width = plan->links[plan->at[parent]].width;
			here->sets = !has_end(p, parent, here->loop) && !comes_from_beyond(p, parent, at->link, here->loop);
		}
	}
	for (int k = 0; k < plan->step_count; ++k) {
		LoopStep *step = &plan->steps[k];
		const int closes = p->closes[step->loop];
		int32_t *update = plan->updates + step->update;
		step->gamma = gamma_on(plan, closes, step->loop);
		step->width = closes >= 0 ? plan->links[plan->at[closes]].width : 0;
		for (int j = 0; j < step->count; ++j) {
			LoopNext *b = &plan->next[step->next + j];
			b->gamma = gamma_on(plan, closes, b->loop);
			*update++ = -1 - b->loop;
			for (int i = j + 1; i < step->count; ++i)
				*update++ = block_of(plan, p, b->loop, plan->next[step->next + i].loop);
		}
	}
}

/* Clusters: loops take the number of the first that they are coupled with, again and again. */
static void list_clusters(const Planner *p, LoopPlan *plan) {
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

static double length_of_way(const Planner *p, int loop, int node) {
	const CalModel *model = p->model;
	if (node < 0)
		return 0;
	double sum = length(model->nodes[node].in_link.r);
	for (int i = model->nodes[node].link; i >= 0 && i != p->closes[loop]; i = model->links[i].parent)
		sum += length(model->links[i].p);
	return sum;
}

/* Gain of mode k for the wrenches at `gamma` on a link that carries a flexible body. */
static int modal_on(const LoopPlan *plan, int link, int gamma, int k) {
	const LoopLink *at = &plan->links[plan->at[link]];
	return at->modal + k * at->width + gamma - at->gamma;
}

static void list_ends(const Planner *p, LoopPlan *plan) {
	const CalModel *model = p->model;
	for (int l = 0; l < p->loops; ++l) {
		const Loop *loop = &model->loops[l];
		LoopEnds *ends = &plan->ends[l];
		const int node[2] = {loop->plus, loop->minus};
		ends->closes = p->closes[l];
		ends->slot = p->slot[l];
		ends->width = width_of(p, l);
		for (int side = 0; side < 2; ++side) {
			const int link = link_of(model, node[side]), gamma = gamma_on(plan, link, l);
			ends->gamma[side] = gamma;
			ends->gamma_width[side] = gamma >= 0 ? plan->links[plan->at[link]].width : 0;
			ends->modal[side] = gamma >= 0 && model->nodes[node[side]].shape >= 0 ? modal_on(plan, link, gamma, 0) : -1;
			ends->reach += length_of_way(p, l, node[side]);
		}
		ends->shared = ends->gamma[0] >= 0 && ends->gamma[0] == ends->gamma[1];
		ends->reach += length(loop->side[0].on.r) + length(loop->side[1].on.r);
		for (int k = 0; k < loop->term_count; ++k) {
			const int u = loop->term[k].u, link = model->dofs[u].link;
			const int mode = is_modal(model, u) ? u - model->flexes[model->links[link].carries].u : -1;
			ends->term[k] = mode >= 0 ? modal_on(plan, link, gamma_on(plan, link, l), mode) : -1;
		}
	}
}

static void *take(char *base, size_t *size, int count, size_t element) {
	const size_t at = (*size + 63) / 64 * 64;
	*size = at + (size_t)count * element;
	return base ? base + at : NULL;
}

/* Counts with plan->here and the like NULL; then lays out, and the same calls fill. */
static LoopPlan *make(Planner *p) {
	LoopPlan count = {0};
	list_steps(p, &count);
	list_links(p, &count);
	char *base = NULL;
	LoopPlan made = {.slot_count = p->slots};
	for (int pass = 0; pass < 2; ++pass) {
		size_t size = sizeof(LoopPlan);
		made.links = take(base, &size, count.link_count, sizeof(LoopLink));
		made.here = take(base, &size, count.here_count, sizeof(LoopHere));
		made.pairs = take(base, &size, count.pair_count, sizeof(LoopPair));
		made.steps = take(base, &size, count.step_count, sizeof(LoopStep));
		made.next = take(base, &size, count.next_count, sizeof(LoopNext));
		made.updates = take(base, &size, count.update_count, sizeof(int32_t));
		made.ends = take(base, &size, p->loops, sizeof(LoopEnds));
		made.at = take(base, &size, p->links, sizeof(int32_t));
		made.size = size;
		if (!base && !(base = memory_alloc(&p->model->allocator, size)))
			return NULL;
	}
	memset(base, 0, made.size);
	LoopPlan *plan = (LoopPlan *)(void *)base;
	*plan = made;
	list_steps(p, plan);
	list_links(p, plan);
	connect(p, plan);
	list_ends(p, plan);
	list_clusters(p, plan);
	return plan;
}

LoopPlan *loop_plan_create(const CalModel *model) {
	const size_t loops = (size_t)model->loop_count, links = (size_t)model->link_count, words = (loops + 63) / 64;
	Planner p = {.model = model, .loops = model->loop_count, .links = model->link_count, .words = (int)words};
	const size_t size = (loops + 1) * words * sizeof(uint64_t) + 4 * loops * sizeof(int) + links * loops;
	char *scratch = memory_alloc(&model->allocator, size);
	if (!scratch)
		return NULL;
	memset(scratch, 0, size);
	p.coupled = (uint64_t *)(void *)scratch;
	p.left = p.coupled + loops * words;
	p.closes = (int *)(void *)(p.left + words);
	p.order = p.closes + loops;
	p.place = p.order + loops;
	p.slot = p.place + loops;
	p.reaches = (uint8_t *)(p.slot + loops);
	for (int l = 0; l < p.loops; ++l)
		p.left[l / 64] |= UINT64_C(1) << (l % 64);
	for (int l = 0; l < p.loops; ++l) {
		p.slot[l] = p.slots;
		p.slots += width_of(&p, l);
	}
	find_links(&p);
	find_order(&p);
	LoopPlan *plan = make(&p);
	memory_free(&model->allocator, scratch);
	return plan;
}
