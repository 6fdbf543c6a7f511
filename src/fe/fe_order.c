// SPDX-License-Identifier: Apache-2.0
/*
 * fe_order.c — nested dissection by coordinates; see fe_order.h.
 *
 * A part is sorted along an axis and cut between two of its points; the separator is the boundary of one side. The sizes
 * of the separators of all cuts follow from one pass over the couplings: a point belongs to the boundary of the left side
 * for the cuts between itself and its farthest neighbor. Axes are x, y, z, and the distance from one end of the
 * structure, in couplings: the last one serves curved parts, and scalars without a place. The best ratio of the separator
 * to the smaller part counts. No random numbers, no ties: the same model has the same order everywhere.
 */
#include "fe/fe_order.h"

#include <float.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

enum { AXES = 4, LEAF = 48 }; // equations that are not split further

static const double LEAST_PART = 0.2; // of the equations, on each side of a cut

typedef struct Key {
	double place;
	int point;
} Key;

typedef struct Graph {
	int count;             // points
	int *first, *neighbor; // [count + 1] and neighbors of each, without doubles
	int *weight;           // [count] equations
	double (*place)[AXES]; // [count]
	int *at;               // [count] position in the part that is being cut, -1: not in it
	int *order;            // [count]
	int *moved;            // [count]
	Key *keys;             // [count]
	int *left, *right;     // [count + 1] weight of the boundary of that side for each cut
	char *side;            // [count] 0 left, 1 right, 2 separator
	int *point_of;         // [dof_count] -1: outside
} Graph;

/* ---- the graph --------------------------------------------------------------------------------- */

static void put_edges(Graph *g, const FeMatrix *A, int *fill) {
	for (int e = 0; e < A->count; e++) {
		const int i = g->point_of[A->row[e]], j = g->point_of[A->col[e]];
		if (i < 0 || j < 0 || i == j)
			continue;
		if (fill) {
			g->neighbor[fill[i]++] = j;
			g->neighbor[fill[j]++] = i;
		} else {
			g->first[i + 1]++;
			g->first[j + 1]++;
		}
	}
}

/* Leaves one of each neighbor; mark[count] is -1. */
static void drop_doubles(Graph *g, int *mark) {
	int kept = 0;
	for (int i = 0, from = 0; i < g->count; i++) {
		const int end = g->first[i + 1];
		for (int k = from; k < end; k++) {
			const int j = g->neighbor[k];
			if (mark[j] != i)
				g->neighbor[kept++] = j;
			mark[j] = i;
		}
		from = end;
		g->first[i + 1] = kept;
	}
}

/* Equations of one node inside become one point; scalars are points of their own. */
static void make_points(Graph *g, const CalFeModel *fe, const bool *inside, int *of_node) {
	for (int i = 0; i < fe->node_count; i++)
		of_node[i] = -1;
	for (int i = 0; i < fe->dof_count; i++) {
		const int node = fe->dofs[i].node;
		g->point_of[i] = -1;
		if (!inside[i])
			continue;
		const int point = node >= 0 && of_node[node] >= 0 ? of_node[node] : g->count++;
		if (node >= 0) {
			const CalVec3 p = fe->nodes[node].position;
			of_node[node] = point;
			g->place[point][0] = p.x, g->place[point][1] = p.y, g->place[point][2] = p.z;
		}
		g->point_of[i] = point;
		g->weight[point]++;
	}
}

/* A scalar has no place of its own: it is amid what it couples with. */
static void place_scalars(Graph *g, const CalFeModel *fe) {
	for (int i = 0; i < fe->dof_count; i++) {
		const int point = g->point_of[i], couplings = point < 0 ? 0 : g->first[point + 1] - g->first[point];
		for (int e = 0; fe->dofs[i].node < 0 && e < couplings; e++)
			for (int axis = 0; axis < AXES - 1; axis++)
				g->place[point][axis] += g->place[g->neighbor[g->first[point] + e]][axis] / couplings;
	}
}

/* Breadth first from `start`: places along the last axis; returns the last point met. */
static int spread_from(Graph *g, int start, double from, int *queue) {
	int count = 0;
	queue[count++] = start;
	g->at[start] = start;
	g->place[start][AXES - 1] = from;
	for (int head = 0; head < count; head++)
		for (int k = g->first[queue[head]]; k < g->first[queue[head] + 1]; k++) {
			const int j = g->neighbor[k];
			if (g->at[j] == start)
				continue;
			g->at[j] = start;
			g->place[j][AXES - 1] = g->place[queue[head]][AXES - 1] + 1;
			queue[count++] = j;
		}
	return queue[count - 1];
}

/* Distance from an end of each connected part. */
static void place_by_distance(Graph *g) {
	double from = 0;
	for (int i = 0; i < g->count; i++)
		g->at[i] = -1;
	for (int i = 0; i < g->count; i++) {
		if (g->at[i] >= 0)
			continue;
		int end = spread_from(g, i, from, g->order); // twice, towards an end
		end = end == i ? i : spread_from(g, end, from, g->order);
		const int last = end == i ? i : spread_from(g, end, from, g->order);
		from = g->place[last][AXES - 1] + 2;
	}
}

static bool graph_create(Graph *g, const CalFeModel *fe, const bool *inside, Pool *pool) {
	const size_t all = (size_t)fe->dof_count;
	const size_t entries = 2 * ((size_t)fe->K.count + (size_t)fe->M.count);
	g->point_of = pool_array(pool, all, sizeof *g->point_of);
	g->weight = pool_array(pool, all, sizeof *g->weight);
	g->place = pool_array(pool, all, sizeof *g->place);
	g->first = pool_array(pool, all + 1, sizeof *g->first);
	g->at = pool_array(pool, all + (size_t)fe->node_count, sizeof *g->at);
	g->order = pool_array(pool, all, sizeof *g->order);
	g->moved = pool_array(pool, all, sizeof *g->moved);
	g->keys = pool_array(pool, all, sizeof *g->keys);
	g->left = pool_array(pool, all + 1, sizeof *g->left);
	g->right = pool_array(pool, all + 1, sizeof *g->right);
	g->side = pool_array(pool, all, sizeof *g->side);
	if (!g->point_of || !g->weight || !g->place || !g->first || !g->at || !g->order || !g->moved || !g->keys ||
	    !g->left || !g->right || !g->side || entries > INT_MAX)
		return false;
	g->neighbor = pool_array(pool, entries, sizeof *g->neighbor);
	if (!g->neighbor)
		return false;
	make_points(g, fe, inside, g->at);
	put_edges(g, &fe->K, NULL);
	put_edges(g, &fe->M, NULL);
	for (int i = 0; i < g->count; i++) {
		g->first[i + 1] += g->first[i];
		g->order[i] = g->first[i];
		g->moved[i] = -1;
	}
	put_edges(g, &fe->K, g->order);
	put_edges(g, &fe->M, g->order);
	drop_doubles(g, g->moved);
	place_scalars(g, fe);
	place_by_distance(g);
	return true;
}

/* ---- cuts -------------------------------------------------------------------------------------- */

typedef struct Cut {
	int axis, at;   // between positions at - 1 and at
	bool of_left;   // the separator is the boundary of the left side
	double quality; // separator over the smaller part
} Cut;

static int by_place(const void *a, const void *b) {
	const Key *x = a, *y = b;
	if (x->place != y->place)
		return x->place < y->place ? -1 : 1;
	return (x->point > y->point) - (x->point < y->point);
}

static void sort_part(Graph *g, const int *part, int count, int axis) {
	for (int k = 0; k < count; k++)
		g->keys[k] = (Key){g->place[part[k]][axis], part[k]};
	qsort(g->keys, (size_t)count, sizeof *g->keys, by_place);
	for (int k = 0; k < count; k++)
		g->at[g->keys[k].point] = k;
}

/* left[c], right[c]: weight of the boundaries of both sides of a cut before position c. */
static void weigh_boundaries(Graph *g, int count) {
	memset(g->left, 0, (size_t)(count + 1) * sizeof *g->left);
	memset(g->right, 0, (size_t)(count + 1) * sizeof *g->right);
	for (int k = 0; k < count; k++) {
		const int i = g->keys[k].point;
		int low = k, high = k;
		for (int e = g->first[i]; e < g->first[i + 1]; e++) {
			const int at = g->at[g->neighbor[e]];
			if (at >= 0 && at < low)
				low = at;
			if (at > high)
				high = at;
		}
		g->left[k + 1] += g->weight[i]; // for the cuts k < c <= high
		g->left[high + 1] -= g->weight[i];
		g->right[low + 1] += g->weight[i]; // for the cuts low < c <= k
		g->right[k + 1] -= g->weight[i];
	}
	for (int c = 1; c <= count; c++) {
		g->left[c] += g->left[c - 1];
		g->right[c] += g->right[c - 1];
	}
}

static void try_axis(Graph *g, const int *part, int count, int axis, int total, Cut *best) {
	sort_part(g, part, count, axis);
	weigh_boundaries(g, count);
	int before = 0;
	for (int c = 1; c < count; c++) {
		before += g->weight[g->keys[c - 1].point];
		const bool of_left = g->left[c] <= g->right[c];
		const int separator = of_left ? g->left[c] : g->right[c];
		const int low = of_left ? before - separator : before, high = total - separator - low;
		const int smaller = low < high ? low : high;
		if (smaller < LEAST_PART * (total - separator) || smaller <= 0)
			continue;
		const double quality = (double)separator / smaller;
		if (quality < best->quality)
			*best = (Cut){axis, c, of_left, quality};
	}
}

/* Points of a part become left, right, separator; returns where the right part and the separator start. */
static void split_part(Graph *g, int *part, int count, const Cut *cut, int *right, int *separator) {
	sort_part(g, part, count, cut->axis);
	for (int k = 0; k < count; k++) {
		const int i = g->keys[k].point, own = k >= cut->at;
		g->side[i] = (char)own;
		for (int e = g->first[i]; e < g->first[i + 1] && own == !cut->of_left; e++) {
			const int at = g->at[g->neighbor[e]];
			if (at >= 0 && (at >= cut->at) != own)
				g->side[i] = 2;
		}
	}
	int placed = 0;
	for (int side = 0; side < 3; side++) {
		if (side)
			*(side == 1 ? right : separator) = placed;
		for (int k = 0; k < count; k++)
			if (g->side[g->keys[k].point] == side)
				part[placed++] = g->keys[k].point;
	}
}

/* ---- the tree ---------------------------------------------------------------------------------- */

typedef struct Part {
	int first, count, parent;
} Part;

/* Fronts from the root down, the right part before the left one; the order is that of elimination. */
static void dissect(Graph *g, FeOrder *o, Part *stack) {
	int depth = 0;
	for (int i = 0; i < g->count; i++) {
		g->order[i] = i;
		g->at[i] = -1;
	}
	stack[depth++] = (Part){0, g->count, -1};
	while (depth > 0) {
		const Part now = stack[--depth];
		int *part = g->order + now.first, total = 0, right = 0, separator = 0;
		Cut cut = {.quality = DBL_MAX};
		for (int k = 0; k < now.count; k++)
			total += g->weight[part[k]];
		for (int axis = 0; axis < AXES && total > LEAF; axis++)
			try_axis(g, part, now.count, axis, total, &cut);
		if (cut.quality < DBL_MAX)
			split_part(g, part, now.count, &cut, &right, &separator);
		for (int k = 0; k < now.count; k++)
			g->at[part[k]] = -1;
		const int index = o->front_count++;
		o->fronts[index] =
			(FeFront){.first = now.first + separator, .count = now.count - separator, .parent = now.parent};
		if (right > 0)
			stack[depth++] = (Part){now.first, right, index};
		if (separator > right)
			stack[depth++] = (Part){now.first + right, separator - right, index};
	}
}

/* Children before parents: the order of their points. */
static void turn_tree(FeOrder *o) {
	const int n = o->front_count;
	for (int i = 0; i < n / 2; i++) {
		const FeFront swap = o->fronts[i];
		o->fronts[i] = o->fronts[n - 1 - i];
		o->fronts[n - 1 - i] = swap;
	}
	for (int i = 0; i < n; i++) {
		FeFront *f = &o->fronts[i];
		f->parent = f->parent < 0 ? -1 : n - 1 - f->parent;
		for (int k = 0; k < f->count; k++)
			o->front_of[f->first + k] = i;
	}
}

static void number_equations(const Graph *g, FeOrder *o, int dof_count, int *new_point) {
	for (int i = 0; i < g->count; i++) {
		new_point[g->order[i]] = i;
		o->first[i + 1] = o->first[i] + g->weight[g->order[i]];
	}
	int *next = g->left; // not needed any more
	memcpy(next, o->first, (size_t)g->count * sizeof *next);
	for (int i = 0; i < dof_count; i++) {
		o->point[i] = g->point_of[i] < 0 ? -1 : new_point[g->point_of[i]];
		o->place[i] = o->point[i] < 0 ? -1 : next[o->point[i]]++;
		if (o->place[i] >= 0)
			o->equation[o->place[i]] = i;
	}
}

/* ---- rows of the fronts ------------------------------------------------------------------------ */

static int by_number(const void *a, const void *b) {
	return (*(const int *)a > *(const int *)b) - (*(const int *)a < *(const int *)b);
}

typedef struct Rows {
	int *items, count, capacity;
} Rows;

static bool add_row(Rows *rows, int point, const CalAllocator *allocator) {
	int *items = array_reserve(allocator, rows->items, rows->count, 1, &rows->capacity, sizeof *items);
	if (!items)
		return false;
	rows->items = items;
	items[rows->count++] = point;
	return true;
}

/* Rows of one front: couplings of its own points and rows of its children, beyond itself. */
static bool collect_rows(const Graph *g, FeOrder *o, int index, const int *new_point, const int *child,
                         const int *sibling, int *mark, Rows *rows) {
	FeFront *f = &o->fronts[index];
	const int end = f->first + f->count;
	f->rows_first = rows->count;
	for (int k = f->first; k < end; k++)
		for (int e = g->first[g->order[k]]; e < g->first[g->order[k] + 1]; e++) {
			const int j = new_point[g->neighbor[e]];
			if (j >= end && mark[j] != index && !add_row(rows, j, &o->pool.allocator))
				return false;
			if (j >= end)
				mark[j] = index;
		}
	for (int c = child[index]; c >= 0; c = sibling[c])
		for (int k = 0; k < o->fronts[c].rows; k++) {
			const int j = rows->items[o->fronts[c].rows_first + k];
			if (j >= end && mark[j] != index && !add_row(rows, j, &o->pool.allocator))
				return false;
			if (j >= end)
				mark[j] = index;
		}
	f->rows = rows->count - f->rows_first;
	if (f->rows)
		qsort(rows->items + f->rows_first, (size_t)f->rows, sizeof(int), by_number);
	return true;
}

static void measure_front(FeOrder *o, FeFront *f) {
	f->columns = o->first[f->first + f->count] - o->first[f->first];
	int at = f->columns;
	for (int k = 0; k < f->rows; k++) {
		const int point = o->rows[f->rows_first + k];
		o->row_at[f->rows_first + k] = at;
		at += o->first[point + 1] - o->first[point];
	}
	f->row_columns = at - f->columns;
	o->widest_rows = f->row_columns > o->widest_rows ? f->row_columns : o->widest_rows;
	o->widest_column = f->columns > o->widest_column ? f->columns : o->widest_column;
}

static bool find_rows(const Graph *g, FeOrder *o, const int *new_point, Pool *scratch) {
	const size_t fronts = (size_t)o->front_count;
	int *child = pool_array(scratch, fronts, sizeof *child), *sibling = pool_array(scratch, fronts, sizeof *sibling);
	int *mark = pool_array(scratch, (size_t)g->count, sizeof *mark);
	Rows rows = {0};
	bool there = child && sibling && mark;
	for (int i = 0; there && i < o->front_count; i++)
		child[i] = sibling[i] = -1;
	for (int i = 0; there && i < o->front_count; i++)
		if (o->fronts[i].parent >= 0) {
			sibling[i] = child[o->fronts[i].parent];
			child[o->fronts[i].parent] = i;
		}
	for (int i = 0; there && i < g->count; i++)
		mark[i] = -1;
	for (int i = 0; there && i < o->front_count; i++)
		there = collect_rows(g, o, i, new_point, child, sibling, mark, &rows);
	o->rows = there ? pool_array(&o->pool, (size_t)rows.count, sizeof *o->rows) : NULL;
	o->row_at = there ? pool_array(&o->pool, (size_t)rows.count, sizeof *o->row_at) : NULL;
	there = o->rows && o->row_at;
	if (there && rows.count)
		memcpy(o->rows, rows.items, (size_t)rows.count * sizeof *o->rows);
	for (int i = 0; there && i < o->front_count; i++)
		measure_front(o, &o->fronts[i]);
	memory_free(&o->pool.allocator, rows.items);
	return there;
}

static bool order_create(FeOrder *o, const CalFeModel *fe, const bool *inside, Pool *scratch) {
	Graph g = {0};
	if (!graph_create(&g, fe, inside, scratch))
		return false;
	const size_t points = (size_t)g.count, all = (size_t)fe->dof_count;
	Part *stack = pool_array(scratch, points + 1, sizeof *stack);
	int *new_point = pool_array(scratch, points, sizeof *new_point);
	o->points = g.count;
	o->first = pool_array(&o->pool, points + 1, sizeof *o->first);
	o->equation = pool_array(&o->pool, all, sizeof *o->equation);
	o->place = pool_array(&o->pool, all, sizeof *o->place);
	o->point = pool_array(&o->pool, all, sizeof *o->point);
	o->fronts = pool_array(&o->pool, points + 1, sizeof *o->fronts);
	o->front_of = pool_array(&o->pool, points, sizeof *o->front_of);
	if (!stack || !new_point || !o->first || !o->equation || !o->place || !o->point || !o->fronts || !o->front_of)
		return false;
	if (g.count)
		dissect(&g, o, stack);
	turn_tree(o);
	number_equations(&g, o, fe->dof_count, new_point);
	o->equations = o->first[g.count];
	return find_rows(&g, o, new_point, scratch);
}

bool fe_order_create(FeOrder *order, const CalFeModel *fe, const bool *inside) {
	Pool scratch;
	*order = (FeOrder){0};
	pool_init(&scratch, &fe->pool.allocator);
	pool_init(&order->pool, &fe->pool.allocator);
	const bool there = order_create(order, fe, inside, &scratch);
	pool_free(&scratch);
	if (!there)
		fe_order_free(order);
	return there;
}

void fe_order_free(FeOrder *order) {
	pool_free(&order->pool);
	*order = (FeOrder){0};
}
