// SPDX-License-Identifier: Apache-2.0
/*
 * loop_place.c — the place of elimination of loops that close on the ground [THEORY 5.9].
 *
 * In a configuration without any symmetry a loop is followed from its ends inward. On each link its equations are reduced
 * by the columns outboard of it, without masses. If nothing farther inboard can do any work on what is left of them, the
 * loop can be eliminated there. Columns that one loop needs are not counted for another one. Whether that pays is a count
 * of products: where few loops meet, each is eliminated where it closes.
 */
#include <math.h>

#include "base/cursor.h"
#include "base/memory.h"
#include "model/loop_gains.h"
#include "model/loop_order.h"
#include "model/loop_place.h"
#include "model/loop_plan.h"

static const double PAYS = 4; // so many times fewer products

typedef struct Search {
	const CalModel *model;
	GenericLinks at;            // the generic configuration, and columns that a loop needs
	ArticulatedInertia *motion; // [links] of loop_place.h, all inboard joints and its own
	double *late, *early;       // [links] equations that are open on a link: all, as far as they get
	int *cluster;               // [loops] loops that meet on a link: the first of them
	int *mark;                  // [links] a loop that passes, -1: none does
	double *work[2];            // [loops] products of a cluster, late and early
	int *next;                  // [loops] another one with the same inner end, -1: none
	bool *special;              // [links] modes or functions of the caller's between it and the ground
} Search;

/* Columns of one side of a loop up to the link on which it closes; false: there are too many. */
static bool add_side(const Search *s, int end, int closes, int side, LoopGains *rows) {
	for (int i = end; i >= 0 && i != closes; i = s->model->links[i].parent) {
		if (!loop_gains_add(&s->at, i, side, rows))
			return false;
	}
	return true;
}

/* ---- one place ---------------------------------------------------------------------------------- */

static int meets_inboard(const Search *s, int link, vec3 point, spatial wrench) {
	return motion_meets(&s->motion[link], force_shift(wrench, sub(point, s->at.position[link])), MOTION_NONE);
}

/* Whether the loop can be eliminated on a link with the columns so far, which it then uses up. */
static bool is_place(Search *s, const LoopGains *rows, int link) {
	LoopGains left = loop_gains_scaled(rows);
	int column[CAL_LOOP_MAX_ROWS];
	const int rank = loop_gains_reduce(&s->at, &left, column);
	for (int r = rank; r < left.count; ++r) {
		if (rank < 0 || meets_inboard(s, link, left.point[left.inner], left.wrench[r]))
			return false;
	}
	for (int r = 0; r < rank; ++r)
		s->at.used[left.u[column[r]]] = 1;
	return true;
}

static int find_inert(const Search *s, const LoopGains *raw, int link) {
	const LoopGains at = loop_gains_scaled(raw), *rows = &at;
	int inert = 0;
	for (int r = 0; r < rows->count && !s->special[link]; ++r) {
		double most = 0;
		for (int c = 0; c < rows->columns; ++c)
			most = fmax(most, fabs(rows->gain[r][c]));
		inert |= (most < LOOP_GAIN_NONE && !meets_inboard(s, link, rows->point[rows->inner], rows->wrench[r])) << r;
	}
	return inert;
}

static int inner_end(const CalModel *model, const Loop *loop) {
	const int plus = loop_node_link(model, loop->plus), minus = loop_node_link(model, loop->minus);
	return plus < 0 || (minus >= 0 && minus < plus) ? minus : plus;
}

/* Links are numbered depth first: of two sides that meet on the ground, the one with the larger numbers comes first. */
static void find_place(Search *s, int l, LoopPlace *place) {
	const CalModel *model = s->model;
	const Loop *loop = &model->loops[l];
	const int plus = loop_node_link(model, loop->plus), minus = loop_node_link(model, loop->minus);
	const int inner = inner_end(model, loop), other = inner == plus ? minus : plus;
	LoopGains rows;
	loop_gains_begin(&s->at, loop, &rows);
	rows.inner = inner != plus;
	if (!add_side(s, other, -1, !rows.inner, &rows))
		return;
	for (int i = inner; i >= 0; i = model->links[i].parent) {
		if (model->links[i].motion != PRIMITIVE_NODE && is_place(s, &rows, i)) {
			*place = (LoopPlace){i, find_inert(s, &rows, i)};
			return;
		}
		if (!loop_gains_add(&s->at, i, rows.inner, &rows))
			return;
	}
}

static void claim_side(Search *s, int end, int closes) {
	for (int i = end; i >= 0 && i != closes; i = s->model->links[i].parent) {
		for (int k = 0; k < s->model->links[i].nu; ++k)
			s->at.used[s->model->links[i].u + k] = 1;
	}
}

/* A loop that closes on a link has no other columns than those on its path: they are its own first. */
static void claim_columns(Search *s, int l, int closes) {
	const CalModel *model = s->model;
	const Loop *loop = &model->loops[l];
	const int plus = loop_node_link(model, loop->plus), minus = loop_node_link(model, loop->minus);
	LoopGains rows;
	int column[CAL_LOOP_MAX_ROWS];
	for (int k = 0; k < loop->term_count; ++k)
		s->at.used[loop->term[k].u] = 1;
	if (loop->term_count)
		return;
	loop_gains_begin(&s->at, loop, &rows);
	if (!add_side(s, plus, closes, 0, &rows) || !add_side(s, minus, closes, 1, &rows)) {
		claim_side(s, plus, closes);
		claim_side(s, minus, closes);
		return;
	}
	LoopGains left = loop_gains_scaled(&rows);
	const int rank = loop_gains_reduce(&s->at, &left, column);
	for (int r = 0; r < rank; ++r)
		s->at.used[left.u[column[r]]] = 1;
	for (int c = 0; rank < 0 && c < left.columns; ++c) // one is neither good nor none
		s->at.used[left.u[c]] = 1;
}

/* ---- whether it pays -------------------------------------------------------------------------- */

static int first_of(const Search *s, int l) {
	while (s->cluster[l] != l)
		l = s->cluster[l];
	return l;
}

/* Loops that pass a link are in one cluster. Beyond a link that was passed before, all has been done. */
static void join_clusters(Search *s, int l, int end) {
	for (int i = end; i >= 0; i = s->model->links[i].parent) {
		const int other = s->mark[i];
		if (other < 0) {
			s->mark[i] = l;
			continue;
		}
		const int a = first_of(s, l), b = first_of(s, other);
		s->cluster[a > b ? a : b] = a > b ? b : a;
		return;
	}
}

static void count_equations(Search *s, int l, int end, int place) {
	const int rows = s->model->loops[l].rows;
	s->late[end] += rows;
	for (int i = end; i >= 0 && i != place; i = s->model->links[i].parent)
		s->early[i] += rows;
}

/* Products of the sweep that couple equations: for each column the square of their number. */
static void count_work(Search *s, const int *closes, const LoopPlace *place) {
	const CalModel *model = s->model;
	for (int l = 0; l < model->loop_count; ++l) {
		const int end[2] = {loop_node_link(model, model->loops[l].plus), loop_node_link(model, model->loops[l].minus)};
		for (int side = 0; side < 2 && closes[l] < 0 && !model->loops[l].term_count; ++side) {
			if (end[side] < 0)
				continue;
			join_clusters(s, l, end[side]);
			count_equations(s, l, end[side], place[l].link);
		}
	}
	for (int i = model->link_count - 1; i >= 0; --i) {
		const Link *link = &model->links[i];
		if (link->parent >= 0)
			s->late[link->parent] += s->late[i];
		if (s->mark[i] < 0)
			continue;
		const int cluster = first_of(s, s->mark[i]);
		s->work[0][cluster] += link->nu * s->late[i] * s->late[i];
		s->work[1][cluster] += link->nu * s->early[i] * s->early[i];
	}
}

/* ---- all of it ---------------------------------------------------------------------------------- */

static void layout_search(Search *s, Cursor *cursor) {
	const int links = s->model->link_count, loops = s->model->loop_count;
	generic_links_layout(&s->at, cursor);
	CURSOR_ARRAY(cursor, s->motion, links);
	CURSOR_ARRAY(cursor, s->late, links);
	CURSOR_ARRAY(cursor, s->early, links);
	CURSOR_ARRAY(cursor, s->work[0], loops);
	CURSOR_ARRAY(cursor, s->work[1], loops);
	CURSOR_ARRAY(cursor, s->cluster, loops);
	CURSOR_ARRAY(cursor, s->next, loops);
	CURSOR_ARRAY(cursor, s->mark, links);
	CURSOR_ARRAY(cursor, s->special, links);
}

static void place_links(Search *s) {
	const CalModel *model = s->model;
	generic_links_place(&s->at);
	for (int i = 0; i < model->link_count; ++i) {
		const Link *link = &model->links[i];
		const int parent = link->parent;
		s->motion[i] = parent >= 0 ? motion_move(s->motion[parent], s->at.pose[i].r) : articulated_zero();
		for (int k = 0; k < link->nu; ++k)
			s->motion[i] = motion_add(s->motion[i], s->at.pose[i].S[k]);
		s->special[i] = (parent >= 0 && s->special[parent]) || link->flex_body >= 0 || link->motion == PRIMITIVE_USER;
		s->mark[i] = -1;
	}
}

/* Of those that close on the ground, the ones that end farther outboard first. */
static void find_places(Search *s, const int *closes, LoopPlace *place) {
	const CalModel *model = s->model;
	for (int l = 0; l < model->loop_count; ++l) {
		const int end = closes[l] < 0 && !model->loops[l].term_count ? inner_end(model, &model->loops[l]) : -1;
		place[l] = (LoopPlace){closes[l], 0};
		s->cluster[l] = l;
		if (end < 0) {
			claim_columns(s, l, closes[l]);
			continue;
		}
		s->next[l] = s->mark[end];
		s->mark[end] = l;
	}
	for (int i = model->link_count - 1; i >= 0; --i) {
		for (int l = s->mark[i]; l >= 0; l = s->next[l])
			find_place(s, l, &place[l]);
		s->mark[i] = -1;
	}
}

bool loop_places_find(const CalModel *model, const int *closes, LoopPlace *place, double *late_work) {
	const double pays = model->loops_by == CAL_LOOPS_EARLY ? 0 : PAYS;
	Search s = {.model = model, .at = {.model = model}};
	Cursor cursor = {.align = sizeof(double)};
	layout_search(&s, &cursor);
	if (!cursor_alloc_at_start(&cursor, &model->allocator))
		return false;
	cursor_clear(&cursor);
	layout_search(&s, &cursor);
	place_links(&s);
	find_places(&s, closes, place);
	count_work(&s, closes, place);
	*late_work = 0;
	for (int l = 0; l < model->loop_count; ++l) {
		const int cluster = first_of(&s, l);
		*late_work += cluster == l ? s.work[0][l] : 0;
		if (!(s.work[0][cluster] > pays * s.work[1][cluster]))
			place[l] = (LoopPlace){closes[l], 0};
	}
	memory_free(&model->allocator, s.at.pose);
	return true;
}
