// SPDX-License-Identifier: Apache-2.0
/*
 * loop_order.c — where loops close, which links they reach, which of them are coupled, and the order of elimination.
 */
#include <stdlib.h>

#include "base/cursor.h"
#include "base/memory.h"
#include "math/pack.h"
#include "model/loop_order.h"
#include "model/loop_plan.h"

/* ---- where loops are ---------------------------------------------------------------------------- */

int loop_node_link(const CalModel *model, int node) { return node >= 0 ? model->nodes[node].link : -1; }

/* Parents come before children, so that the larger index is the one to move inwards. */
int loop_common_link(const CalModel *model, int a, int b) {
	while (a != b) {
		if (a > b) {
			a = model->links[a].parent;
		} else {
			b = model->links[b].parent;
		}
	}
	return a;
}

int loop_dof_is_modal(const CalModel *model, int u) {
	const Link *link = &model->links[model->dofs[u].link];
	return u < link->u || u >= link->u + link->nu;
}

int loop_closes(const CalModel *model, const Loop *loop) {
	if (loop->term_count == 0)
		return loop_common_link(model, loop_node_link(model, loop->plus), loop_node_link(model, loop->minus));
	int closes = -2;
	for (int k = 0; k < loop->term_count; ++k) {
		const int u = loop->term[k].u, link = model->dofs[u].link;
		const int inner = loop_dof_is_modal(model, u) ? link : model->links[link].parent;
		closes = closes == -2 ? inner : loop_common_link(model, closes, inner);
	}
	return closes;
}

/* Counts a loop on a link, or with `reach` notes it; first[i + 1] is where the next one goes. Once for each link. */
static void note_reach(LoopOrder *p, int link, int loop, int kind) {
	const int at = p->first[link + 1]++;
	if (p->reach)
		p->reach[at] = (LoopReach){loop, kind, -1};
}

/* Notes each link once: the path of a second side or term ends where `last` says that the loop has been. */
static void reach_from(LoopOrder *p, int loop, int link, int *last) {
	for (int i = link; i >= 0 && i != p->closes[loop] && last[i] != loop; i = p->model->links[i].parent) {
		last[i] = loop;
		note_reach(p, i, loop, OPEN);
	}
}

static void pass_links(LoopOrder *p, int *last) {
	for (int i = 0; i < p->links; ++i)
		last[i] = -1;
	for (int l = 0; l < p->loops; ++l) {
		const Loop *loop = &p->model->loops[l];
		if (p->closes[l] >= 0)
			note_reach(p, p->closes[l], l, CLOSES);
		reach_from(p, l, loop_node_link(p->model, loop->plus), last);
		reach_from(p, l, loop_node_link(p->model, loop->minus), last);
		for (int k = 0; k < loop->term_count; ++k)
			reach_from(p, l, p->model->dofs[loop->term[k].u].link, last);
	}
}

/* The loops of each link, for the places as they are. */
static void find_links(LoopOrder *p) {
	const CalAllocator *allocator = &p->model->allocator;
	int *last = memory_alloc(allocator, sizeof(int) * (size_t)(p->links + 1));
	p->failed = !last;
	if (p->failed)
		return;
	memory_free(allocator, p->reach);
	p->reach = NULL;
	memset(p->first, 0, sizeof(int) * (size_t)(p->links + 1));
	pass_links(p, last);
	for (int i = 0; i < p->links; ++i) // counts to where each begins; then each moves on to the next
		p->first[i + 1] += p->first[i];
	p->reach = memory_alloc(allocator, sizeof(LoopReach) * (size_t)p->first[p->links]);
	p->failed = !p->reach;
	for (int i = p->links; i > 0; --i)
		p->first[i] = p->first[i - 1];
	if (!p->failed)
		pass_links(p, last);
	memory_free(allocator, last);
}

/* Another loop that is open on a link, or on it at all if its modes couple them. */
static int meets_other(const LoopOrder *p, int link, int loop) {
	for (int k = p->first[link]; k < p->first[link + 1]; ++k) {
		if (p->reach[k].loop != loop && (p->reach[k].kind == OPEN || p->model->links[link].flex_body >= 0))
			return 1;
	}
	return 0;
}

/*
 * A side that arrives on the ground by itself may meet no other loop: eliminated on the other side, its loop would couple
 * that one with links that it does not reach.
 */
static int arrives_alone(const LoopOrder *p, int loop) {
	const Loop *l = &p->model->loops[loop];
	const int plus = loop_node_link(p->model, l->plus), minus = loop_node_link(p->model, l->minus);
	for (int i = plus > minus ? plus : minus; plus >= 0 && minus >= 0 && i >= 0; i = p->model->links[i].parent) {
		if (meets_other(p, i, loop))
			return 0;
	}
	return 1;
}

/* Loops whose early place would couple others are eliminated where they close, until there are none. */
static void choose_places(LoopOrder *p) {
	for (int again = 1; again && !p->failed;) {
		again = 0;
		for (int l = 0; l < p->loops; ++l) {
			if (p->closes[l] == p->shared[l] || arrives_alone(p, l))
				continue;
			p->early[l] = (LoopPlace){p->shared[l], 0};
			again = 1;
		}
		for (int l = 0; l < p->loops; ++l)
			p->closes[l] = p->early[l].link;
		if (again)
			find_links(p);
	}
}

static void find_where(LoopOrder *p, bool early) {
	for (int l = 0; l < p->loops; ++l) {
		p->shared[l] = loop_closes(p->model, &p->model->loops[l]);
		p->early[l] = (LoopPlace){p->shared[l], 0};
	}
	p->failed = early && !loop_places_find(p->model, p->shared, p->early, &p->late_work);
	for (int l = 0; l < p->loops; ++l)
		p->closes[l] = p->early[l].link;
	if (!p->failed)
		find_links(p);
	if (!p->failed)
		choose_places(p);
}

/* ---- the order of elimination --------------------------------------------------------------------- */

static int has_modes(const CalModel *model, int link) { return model->links[link].flex_body >= 0; }

static int is_left(const LoopOrder *p, int a) { return p->place[a] < 0; }

static int compare_loops(const void *a, const void *b) { return *(const int *)a - *(const int *)b; }

/* In ascending order, each once. */
static void tidy(Coupled *c) {
	int count = 0;
	if (c->count)
		qsort(c->loop, (size_t)c->count, sizeof *c->loop, compare_loops);
	for (int i = 0; i < c->count; ++i) {
		if (i == 0 || c->loop[i] != c->loop[i - 1])
			c->loop[count++] = c->loop[i];
	}
	c->count = count;
}

/* Those that meet on many links come as often: they are counted once before a list grows. */
static void append(LoopOrder *p, int a, int b) {
	Coupled *c = &p->coupled[a];
	if (c->count == c->capacity)
		tidy(c);
	int *loop =
		array_reserve(&p->model->allocator, c->loop, c->count, c->count ? c->count : 4, &c->capacity, sizeof *loop);
	p->failed |= !loop;
	if (!loop)
		return;
	c->loop = loop;
	loop[c->count++] = b;
}

/* All pairs of loops that are open on a link, or (most: CLOSES) of all on it. */
static void couple_on(LoopOrder *p, int link, int most) {
	for (int i = p->first[link]; i < p->first[link + 1]; ++i) {
		for (int k = p->first[link]; k < p->first[link + 1]; ++k) {
			if (i != k && p->reach[i].kind <= most && p->reach[k].kind <= most)
				append(p, p->reach[i].loop, p->reach[k].loop);
		}
	}
}

static int comes_before(Candidate a, Candidate b) {
	return a.degree != b.degree ? a.degree < b.degree : a.loop < b.loop;
}

static void heap_push(LoopOrder *p, int loop) {
	Candidate *heap =
		array_reserve(&p->model->allocator, p->heap, p->heap_count, 1, &p->heap_capacity, sizeof *p->heap);
	p->failed |= !heap;
	if (!heap)
		return;
	p->heap = heap;
	const Candidate made = {p->coupled[loop].count, loop};
	int i = p->heap_count++;
	for (; i > 0 && comes_before(made, heap[(i - 1) / 2]); i = (i - 1) / 2)
		heap[i] = heap[(i - 1) / 2];
	heap[i] = made;
}

static Candidate heap_pop(LoopOrder *p) {
	Candidate *heap = p->heap;
	const Candidate top = heap[0], last = heap[--p->heap_count];
	int i = 0;
	for (int child; (child = 2 * i + 1) < p->heap_count; i = child) {
		child += child + 1 < p->heap_count && comes_before(heap[child + 1], heap[child]);
		if (!comes_before(heap[child], last))
			break;
		heap[i] = heap[child];
	}
	heap[i] = last;
	return top;
}

/* Loops coupled with b from now on: those it had and those of a, without a and b. */
static void merge(LoopOrder *p, int a, int b) {
	const Coupled *from = &p->coupled[a];
	Coupled *to = &p->coupled[b];
	int count = 0, i = 0, k = 0;
	while (i < from->count || k < to->count) {
		const int x = i < from->count ? from->loop[i] : p->loops, y = k < to->count ? to->loop[k] : p->loops;
		const int next = x < y ? x : y;
		i += x == next, k += y == next;
		if (next != a && next != b)
			p->merged[count++] = next;
	}
	int *loop = count > to->count ? array_reserve(&p->model->allocator, to->loop, to->count, count - to->count,
	                                              &to->capacity, sizeof *loop)
	                              : to->loop;
	p->failed |= count > 0 && !loop;
	if (count > 0 && loop) {
		memcpy(loop, p->merged, sizeof(int) * (size_t)count);
		to->loop = loop;
	}
	to->count = count;
}

/* Those left that a couples are coupled from now on. Of those that close on the link at hand the degree is new. */
static void eliminate(LoopOrder *p, int a, int made, int link) {
	p->order[made] = a;
	p->place[a] = made;
	for (int i = 0; i < p->coupled[a].count && !p->failed; ++i) {
		const int b = p->coupled[a].loop[i];
		merge(p, a, b);
		if (p->closes[b] == link)
			heap_push(p, b);
	}
}

/* Of those that close on a link the one with the fewest left to be coupled with, again and again. */
static void find_order_on(LoopOrder *p, int link, int *made) {
	p->heap_count = 0;
	for (int a = p->closing[link < 0 ? p->links : link]; a >= 0; a = p->next[a])
		heap_push(p, a);
	while (p->heap_count > 0 && !p->failed) {
		const Candidate best = heap_pop(p);
		if (is_left(p, best.loop) && p->coupled[best.loop].count == best.degree)
			eliminate(p, best.loop, (*made)++, link);
	}
}

static int compare_reaches(const void *a, const void *b) {
	const LoopReach *x = a, *y = b;
	return x->kind != y->kind ? y->kind - x->kind : x->place - y->place;
}

/* Lists in the order of elimination. */
static void sort_lists(LoopOrder *p) {
	for (int i = 0; i < p->first[p->links]; ++i)
		p->reach[i].place = p->place[p->reach[i].loop];
	for (int i = 0; i < p->links; ++i) {
		if (p->first[i + 1] - p->first[i] > 1)
			qsort(p->reach + p->first[i], (size_t)(p->first[i + 1] - p->first[i]), sizeof *p->reach, compare_reaches);
	}
	for (int l = 0; l < p->loops; ++l) {
		Coupled *c = &p->coupled[l];
		for (int i = 0; i < c->count; ++i)
			c->loop[i] = p->place[c->loop[i]];
		tidy(c);
	}
}

static void find_order(LoopOrder *p) {
	int made = 0;
	for (int i = 0; i < p->links && !p->failed; ++i) {
		if (p->model->links[i].nu > 0)
			couple_on(p, i, OPEN);
		if (has_modes(p->model, i))
			couple_on(p, i, CLOSES);
	}
	for (int i = 0; i <= p->links; ++i)
		p->closing[i] = -1;
	for (int l = p->loops - 1; l >= 0; --l) {
		int *first = &p->closing[p->closes[l] < 0 ? p->links : p->closes[l]];
		tidy(&p->coupled[l]);
		p->place[l] = -1;
		p->next[l] = *first;
		*first = l;
	}
	for (int i = p->links - 1; i >= -1 && !p->failed; --i)
		find_order_on(p, i, &made);
	if (!p->failed)
		sort_lists(p);
}

/* ---- all of it -------------------------------------------------------------------------------------- */

int loop_width(const CalModel *model, int loop) { return row_length(model->loops[loop].rows); }

/* One block, at `shared`. */
static void layout_order(LoopOrder *p, Cursor *cursor) {
	int **arrays[] = {&p->shared, &p->closes, &p->order, &p->place, &p->slot, &p->next, &p->merged};
	for (size_t i = 0; i < sizeof arrays / sizeof *arrays; ++i)
		CURSOR_ARRAY(cursor, *arrays[i], p->loops);
	CURSOR_ARRAY(cursor, p->first, p->links + 1);
	CURSOR_ARRAY(cursor, p->closing, p->links + 1);
	CURSOR_ARRAY(cursor, p->coupled, p->loops);
	CURSOR_ARRAY(cursor, p->early, p->loops);
}

static void place_arrays(LoopOrder *p) {
	Cursor cursor = {.align = sizeof(double)};
	layout_order(p, &cursor);
	p->failed = !cursor_alloc_at_start(&cursor, &p->model->allocator);
	if (p->failed)
		return;
	cursor_clear(&cursor);
	layout_order(p, &cursor);
}

bool loop_order_find(LoopOrder *order, const CalModel *model, bool early) {
	*order = (LoopOrder){.model = model, .loops = model->loop_count, .links = model->link_count, .late = order->late};
	place_arrays(order);
	for (int l = 0; l < order->loops && !order->failed; ++l) {
		order->slot[l] = order->slots;
		order->slots += loop_width(model, l);
	}
	if (!order->failed)
		find_where(order, early);
	if (!order->failed)
		find_order(order);
	return !order->failed;
}

void loop_order_release(LoopOrder *order) {
	const CalAllocator *allocator = &order->model->allocator;
	for (int l = 0; order->coupled && l < order->loops; ++l)
		memory_free(allocator, order->coupled[l].loop);
	memory_free(allocator, order->heap);
	memory_free(allocator, order->reach);
	memory_free(allocator, order->shared);
}
