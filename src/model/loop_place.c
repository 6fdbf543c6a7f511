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
#include "loop/loop_type.h"
#include "model/generic_pose.h"
#include "model/loop_order.h"
#include "model/loop_place.h"
#include "model/loop_plan.h"

enum { ROWS = CAL_LOOP_MAX_ROWS, MOST_COLUMNS = 48 };
static const double GOOD = 1e-3; // of what a gain could be: a pivot
static const double NONE = 1e-9; // nothing but round-off
static const double PAYS = 4;    // so many times fewer products

typedef struct Search {
	const CalModel *model;
	GenericPose *pose;          // [links]
	vec3 *position;             // [links]
	ArticulatedInertia *motion; // [links] of loop_place.h, all inboard joints and its own
	double *late, *early;       // [links] equations that are open on a link: all, as far as they get
	uint8_t *used;              // [nu] columns that a loop needs
	int *cluster;               // [loops] loops that meet on a link: the first of them
	int *mark;                  // [links] a loop that passes, -1: none does
	double *work[2];            // [loops] products of a cluster, late and early
	int *next;                  // [loops] another one with the same inner end, -1: none
	double *q, *dq;
	bool *special; // [links] modes or functions of the caller's between it and the ground
} Search;

/* Equations of one loop, and their gains on the columns so far. */
typedef struct Rows {
	int count, columns;
	vec3 point[2]; // where its wrench acts on the nodes plus and minus: where they would meet, if the loop were closed
	int inner;     // of these two, the side on which it may be eliminated
	spatial wrench[ROWS];
	double gain[ROWS][MOST_COLUMNS];
	int u[MOST_COLUMNS];
	bool slides[MOST_COLUMNS];
	double longest; // lever of these columns [m]
} Rows;

/* ---- equations in the generic configuration ------------------------------------------------------ */

static LoopFrame frame_of(const Search *s, const Loop *loop, int side) {
	const LoopSide *on = &loop->side[side];
	const int node = side ? loop->node_b : loop->node_a;
	const dpose in_link = on->moves ? dpose_mul(s->model->nodes[node].in_link, on->on) : on->on;
	LoopFrame f = {.R = mat_from(in_link.R), .r = vec_from(in_link.r)};
	if (on->link >= 0) {
		const mat3 R = s->pose[on->link].R;
		f.r = add(s->position[on->link], mat_mul_vec(R, f.r));
		f.R = mat_mul(R, f.R);
	}
	return f;
}

static vec3 axis_of(const mat3 *R, int i) { return i == 0 ? R->x : i == 1 ? R->y : R->z; }

static void add_row(LoopRow *row, int *n, vec3 moment, vec3 force) { row[(*n)++].direction = (spatial){moment, force}; }

/* Directions of locked rotations, as loop_rows.c has them. */
static void add_rotations(int set, const mat3 *A, const mat3 *B, LoopRow *row, int *n) {
	for (int f = 0; f < 3; ++f) {
		const int next = (f + 1) % 3, last = (f + 2) % 3;
		if (set == CAL_AXIS_XYZ)
			add_row(row, n, cross(axis_of(B, next), axis_of(A, last)), vec_zero());
		else if (set == (CAL_AXIS_XYZ & ~(1 << f))) { // both are perpendicular to the free axis
			add_row(row, n, cross(axis_of(A, last), axis_of(B, f)), vec_zero());
			add_row(row, n, cross(axis_of(B, f), axis_of(A, next)), vec_zero());
		} else if (set == 1 << f)
			add_row(row, n, cross(axis_of(B, last), axis_of(A, next)), vec_zero());
	}
}

static void fill_wrenches(const Search *s, const Loop *loop, Rows *rows) {
	const LoopFrame A = frame_of(s, loop, 0), B = frame_of(s, loop, 1);
	LoopRow row[ROWS + 1] = {0};
	int n = 0;
	for (int k = 0; k < 3; ++k) {
		if (loop->translation & 1 << k)
			add_row(row, &n, vec_zero(), axis_of(&A.R, k));
	}
	if (loop->rotation)
		add_rotations(loop->rotation, &A.R, &B.R, row, &n);
	const LoopContext at = {.q = s->q, .u = s->dq};
	if (loop_type(loop->type)->fill)
		n = loop_type(loop->type)->fill(loop, &A, &B, &at, row, n);
	rows->count = n;
	rows->columns = 0;
	rows->point[0] = loop_type_has_one_side(loop->type) ? A.r : B.r;
	rows->point[1] = A.r;
	rows->inner = 0;
	rows->longest = 0;
	for (int r = 0; r < n; ++r)
		rows->wrench[r] = row[r].direction;
}

/* Gains on the joint of a link; false: there are too many. */
static bool add_columns(const Search *s, int i, int side, Rows *rows) {
	const Link *link = &s->model->links[i];
	const vec3 arm = sub(rows->point[side], s->position[i]);
	for (int k = 0; k < link->nu; ++k) {
		const spatial S = motion_shift(s->pose[i].S[k], arm);
		if (rows->columns == MOST_COLUMNS)
			return false;
		for (int r = 0; r < rows->count; ++r)
			rows->gain[r][rows->columns] = (side ? -1 : 1) * spatial_dot(rows->wrench[r], S);
		rows->slides[rows->columns] = primitive_column_kind((JointPrimitive)link->motion, k) == COLUMN_TRANSLATION;
		rows->u[rows->columns++] = link->u + k;
	}
	rows->longest = fmax(rows->longest, sqrt(dot(arm, arm)));
	return true;
}

/* Columns of one side of a loop up to the link on which it closes; false: there are too many. */
static bool add_side(const Search *s, int end, int closes, int side, Rows *rows) {
	for (int i = end; i >= 0 && i != closes; i = s->model->links[i].parent) {
		if (!add_columns(s, i, side, rows))
			return false;
	}
	return true;
}

/* The same in units of the longest lever, or 1 rad, so that gains are parts of what they could be. */
static Rows scaled(const Rows *rows) {
	const double length = rows->longest > 0 ? rows->longest : 1;
	Rows out = *rows;
	for (int r = 0; r < rows->count; ++r) {
		const vec3 f = rows->wrench[r].l;
		const double unit = dot(f, f) > 0 ? 1 / length : 1;
		out.wrench[r] = (spatial){scale(unit, rows->wrench[r].a), scale(unit, f)};
		for (int c = 0; c < rows->columns; ++c)
			out.gain[r][c] *= unit * (rows->slides[c] ? length : 1);
	}
	return out;
}

/* ---- one place -------------------------------------------------------------------------------- */

static int counts(const Search *s, int u) { return !s->used[u] && !s->model->prescribed[u]; }

/* The largest gain that is left. */
static double find_pivot(const Search *s, const Rows *rows, int rank, const int *column, int *row, int *at) {
	double most = 0;
	for (int r = rank; r < rows->count; ++r) {
		for (int c = 0; c < rows->columns; ++c) {
			int taken = !counts(s, rows->u[c]);
			for (int k = 0; k < rank; ++k)
				taken |= column[k] == c;
			if (taken || !(fabs(rows->gain[r][c]) > most))
				continue;
			most = fabs(rows->gain[r][c]);
			*row = r, *at = c;
		}
	}
	return most;
}

static void exchange(Rows *rows, int a, int b) {
	const spatial w = rows->wrench[a];
	rows->wrench[a] = rows->wrench[b], rows->wrench[b] = w;
	for (int c = 0; c < rows->columns; ++c) {
		const double t = rows->gain[a][c];
		rows->gain[a][c] = rows->gain[b][c], rows->gain[b][c] = t;
	}
}

/* Reduces the equations by pivots, columns in column[]; returns their number, -1: one is neither good nor none. */
static int reduce(const Search *s, Rows *rows, int *column) {
	for (int rank = 0; rank < rows->count; ++rank) {
		int row = rank;
		const double pivot = find_pivot(s, rows, rank, column, &row, &column[rank]);
		if (pivot < GOOD)
			return pivot < NONE ? rank : -1;
		exchange(rows, rank, row);
		for (int r = rank + 1; r < rows->count; ++r) {
			const double factor = rows->gain[r][column[rank]] / rows->gain[rank][column[rank]];
			for (int c = 0; c < rows->columns; ++c)
				rows->gain[r][c] -= factor * rows->gain[rank][c];
			rows->wrench[r] = spatial_madd(rows->wrench[r], -factor, rows->wrench[rank]);
		}
	}
	return rows->count;
}

static int meets_inboard(const Search *s, int link, vec3 point, spatial wrench) {
	return motion_meets(&s->motion[link], force_shift(wrench, sub(point, s->position[link])), MOTION_NONE);
}

/* Whether the loop can be eliminated on a link with the columns so far, which it then uses up. */
static bool is_place(Search *s, const Rows *rows, int link) {
	Rows left = scaled(rows);
	int column[ROWS];
	const int rank = reduce(s, &left, column);
	for (int r = rank; r < left.count; ++r) {
		if (rank < 0 || meets_inboard(s, link, left.point[left.inner], left.wrench[r]))
			return false;
	}
	for (int r = 0; r < rank; ++r)
		s->used[left.u[column[r]]] = 1;
	return true;
}

static int find_inert(const Search *s, const Rows *raw, int link) {
	const Rows at = scaled(raw), *rows = &at;
	int inert = 0;
	for (int r = 0; r < rows->count && !s->special[link]; ++r) {
		double most = 0;
		for (int c = 0; c < rows->columns; ++c)
			most = fmax(most, fabs(rows->gain[r][c]));
		inert |= (most < NONE && !meets_inboard(s, link, rows->point[rows->inner], rows->wrench[r])) << r;
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
	Rows rows;
	fill_wrenches(s, loop, &rows);
	rows.inner = inner != plus;
	if (!add_side(s, other, -1, !rows.inner, &rows))
		return;
	for (int i = inner; i >= 0; i = model->links[i].parent) {
		if (model->links[i].motion != PRIMITIVE_NODE && is_place(s, &rows, i)) {
			*place = (LoopPlace){i, find_inert(s, &rows, i)};
			return;
		}
		if (!add_columns(s, i, rows.inner, &rows))
			return;
	}
}

static void claim_side(Search *s, int end, int closes) {
	for (int i = end; i >= 0 && i != closes; i = s->model->links[i].parent) {
		for (int k = 0; k < s->model->links[i].nu; ++k)
			s->used[s->model->links[i].u + k] = 1;
	}
}

/* A loop that closes on a link has no other columns than those on its path: they are its own first. */
static void claim_columns(Search *s, int l, int closes) {
	const CalModel *model = s->model;
	const Loop *loop = &model->loops[l];
	const int plus = loop_node_link(model, loop->plus), minus = loop_node_link(model, loop->minus);
	Rows rows;
	int column[ROWS];
	for (int k = 0; k < loop->term_count; ++k)
		s->used[loop->term[k].u] = 1;
	if (loop->term_count)
		return;
	fill_wrenches(s, loop, &rows);
	if (!add_side(s, plus, closes, 0, &rows) || !add_side(s, minus, closes, 1, &rows)) {
		claim_side(s, plus, closes);
		claim_side(s, minus, closes);
		return;
	}
	Rows left = scaled(&rows);
	const int rank = reduce(s, &left, column);
	for (int r = 0; r < rank; ++r)
		s->used[left.u[column[r]]] = 1;
	for (int c = 0; rank < 0 && c < left.columns; ++c) // one is neither good nor none
		s->used[left.u[c]] = 1;
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
	CURSOR_ARRAY(cursor, s->pose, links);
	CURSOR_ARRAY(cursor, s->position, links);
	CURSOR_ARRAY(cursor, s->motion, links);
	CURSOR_ARRAY(cursor, s->late, links);
	CURSOR_ARRAY(cursor, s->early, links);
	CURSOR_ARRAY(cursor, s->work[0], loops);
	CURSOR_ARRAY(cursor, s->work[1], loops);
	CURSOR_ARRAY(cursor, s->q, s->model->nq);
	CURSOR_ARRAY(cursor, s->dq, s->model->nu);
	CURSOR_ARRAY(cursor, s->cluster, loops);
	CURSOR_ARRAY(cursor, s->next, loops);
	CURSOR_ARRAY(cursor, s->mark, links);
	CURSOR_ARRAY(cursor, s->used, s->model->nu);
	CURSOR_ARRAY(cursor, s->special, links);
}

static void place_links(Search *s) {
	const CalModel *model = s->model;
	generic_configuration(model, s->q, s->dq);
	memset(s->dq, 0, sizeof(double) * (size_t)model->nu);
	for (int i = 0; i < model->link_count; ++i) {
		const Link *link = &model->links[i];
		const int parent = link->parent;
		s->pose[i] = generic_pose(model, s->q, i, parent >= 0 ? &s->pose[parent] : NULL);
		s->position[i] = parent >= 0 ? add(s->position[parent], s->pose[i].r) : s->pose[i].r;
		s->motion[i] = parent >= 0 ? motion_move(s->motion[parent], s->pose[i].r) : articulated_zero();
		for (int k = 0; k < link->nu; ++k)
			s->motion[i] = motion_add(s->motion[i], s->pose[i].S[k]);
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
	Search s = {.model = model};
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
	memory_free(&model->allocator, s.pose);
	return true;
}
