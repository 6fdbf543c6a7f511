// SPDX-License-Identifier: Apache-2.0
/*
 * gap.c — how far apart two shapes are.
 *
 * Round shapes and boxes are convex bodies. A mesh is searched through its tree, nearest boxes first; when the search has
 * taken BUDGET distances, boxes stand for what they hold, so that the result is still a bound from below.
 */
#include "contact/convex.h"
#include "contact/mesh.h"
#include "contact/set.h"

enum { BUDGET = 400, PAIRS = 4 * TREE_DEPTH };

static Convex convex_of(const Shape *s, const Frame *f) {
	Convex c = {.count = 1, .radius = s->radius};
	c.corner[0] = f->r;
	if (s->type == CAL_SHAPE_BOX)
		return convex_box(f, neg(s->half), s->half);
	if (s->type == CAL_SHAPE_CAPSULE) {
		c.corner[0] = madd(f->r, -s->reach, f->R.z);
		c.corner[1] = madd(f->r, s->reach, f->R.z);
		c.count = 2;
	}
	return c;
}

/* ---- planes --------------------------------------------------------------------------------------- */

static double lowest_of(const Convex *c, const Frame *plane) {
	double lowest = INFINITY;
	for (int i = 0; i < c->count; i++)
		lowest = fmin(lowest, dot(plane->R.z, sub(c->corner[i], plane->r)));
	return lowest - c->radius;
}

static double lowest_of_mesh(const Shape *s, const Frame *f, const Frame *plane) {
	const MeshNode *root = &s->mesh->node[0];
	const Convex box = convex_box(f, root->lower, root->upper);
	double lowest = lowest_of(&box, plane);
	if (lowest <= 0) { // the box does not decide
		lowest = INFINITY;
		for (int i = 0; i < s->mesh->info.vertices; i++)
			lowest = fmin(lowest, dot(plane->R.z, sub(frame_point(f, s->mesh->vertex[i]), plane->r)));
	}
	return lowest - mesh_reach(s);
}

static double plane_gap(const Shape *plane, const Frame *fp, const Shape *s, const Frame *f) {
	if (s->type == CAL_SHAPE_MESH)
		return lowest_of_mesh(s, f, fp) - plane->margin;
	const Convex c = convex_of(s, f);
	return lowest_of(&c, fp) - plane->margin;
}

/* ---- meshes --------------------------------------------------------------------------------------- */

/* A shape as its search sees it: a convex body, or the tree of a mesh. */
typedef struct Searched {
	const CalMesh *mesh; // NULL: it is convex
	Frame frame;
	Convex convex;
} Searched;

static Searched searched(const Shape *s, const Frame *f) {
	Searched made = {.mesh = s->type == CAL_SHAPE_MESH ? s->mesh : NULL, .frame = *f};
	if (!made.mesh)
		made.convex = convex_of(s, f);
	return made;
}

static Convex node_box(const Searched *s, int node) {
	return s->mesh ? convex_box(&s->frame, s->mesh->node[node].lower, s->mesh->node[node].upper) : s->convex;
}

static Convex triangle_of(const Searched *s, int i) {
	Convex c = {.count = 3};
	for (int k = 0; s->mesh && k < 3; k++)
		c.corner[k] = frame_point(&s->frame, s->mesh->vertex[s->mesh->triangle[s->mesh->order[i]].v[k]]);
	return s->mesh ? c : s->convex;
}

static bool is_leaf(const Searched *s, int node) { return !s->mesh || s->mesh->node[node].count > 0; }

static double size_of(const Searched *s, int node) {
	const MeshNode *n = s->mesh ? &s->mesh->node[node] : NULL;
	return n ? norm(sub(n->upper, n->lower)) : 0;
}

/* All triangles of two leaves. */
static double leaves_gap(const Searched *a, int i, const Searched *b, int j, double best, int *budget) {
	const int a_first = a->mesh ? a->mesh->node[i].first : 0, a_count = a->mesh ? a->mesh->node[i].count : 1;
	const int b_first = b->mesh ? b->mesh->node[j].first : 0, b_count = b->mesh ? b->mesh->node[j].count : 1;
	for (int k = a_first; k < a_first + a_count; k++) {
		const Convex x = triangle_of(a, k);
		for (int l = b_first; l < b_first + b_count; l++) {
			const Convex y = triangle_of(b, l);
			vec3 n;
			best = fmin(best, convex_distance(&x, &y, &n));
			--*budget;
		}
	}
	return best;
}

typedef struct NodePair {
	int a, b;
	double bound;
} NodePair;

static NodePair node_pair(const Searched *a, int i, const Searched *b, int j) {
	const Convex x = node_box(a, i), y = node_box(b, j);
	vec3 n;
	return (NodePair){i, j, convex_distance(&x, &y, &n)};
}

/* The larger of two nodes is opened; the nearer half comes off the stack first. */
static int open_pair(const Searched *a, const Searched *b, NodePair pair, NodePair *stack, int depth) {
	const bool first = !is_leaf(a, pair.a) && (is_leaf(b, pair.b) || size_of(a, pair.a) >= size_of(b, pair.b));
	const Searched *s = first ? a : b;
	const int node = first ? pair.a : pair.b, halves[2] = {node + 1, s->mesh->node[node].first};
	NodePair made[2];
	for (int k = 0; k < 2; k++)
		made[k] = first ? node_pair(a, halves[k], b, pair.b) : node_pair(a, pair.a, b, halves[k]);
	const int far = made[0].bound > made[1].bound ? 0 : 1;
	stack[depth++] = made[far];
	stack[depth++] = made[1 - far];
	return depth;
}

static double tree_gap(const Searched *a, const Searched *b, double limit) {
	NodePair stack[PAIRS];
	int depth = 1, budget = BUDGET;
	double best = limit;
	stack[0] = node_pair(a, 0, b, 0);
	while (depth > 0) {
		const NodePair pair = stack[--depth];
		if (pair.bound >= best)
			continue;
		if (budget <= 0 || depth + 2 > PAIRS) {
			best = pair.bound;
		} else if (is_leaf(a, pair.a) && is_leaf(b, pair.b)) {
			best = leaves_gap(a, pair.a, b, pair.b, best, &budget);
		} else {
			depth = open_pair(a, b, pair, stack, depth);
			budget -= 2;
		}
	}
	return best;
}

static double mesh_gap(const Shape *a, const Frame *fa, const Shape *b, const Frame *fb, double limit) {
	const Searched x = searched(a, fa), y = searched(b, fb);
	const double grown =
		(a->type == CAL_SHAPE_MESH ? mesh_reach(a) : 0) + (b->type == CAL_SHAPE_MESH ? mesh_reach(b) : 0);
	return tree_gap(&x, &y, limit + grown) - grown;
}

/* ---- any two ---------------------------------------------------------------------------------------- */

double shapes_gap(const Shape *a, const Frame *fa, const Shape *b, const Frame *fb, double limit, vec3 *n) {
	*n = vec_zero();
	if (a->type == CAL_SHAPE_PLANE || b->type == CAL_SHAPE_PLANE) {
		const bool first = a->type == CAL_SHAPE_PLANE;
		const double gap = first ? plane_gap(a, fa, b, fb) : plane_gap(b, fb, a, fa);
		*n = first ? fa->R.z : neg(fb->R.z);
		return fmax(0, gap);
	}
	if (a->type == CAL_SHAPE_MESH || b->type == CAL_SHAPE_MESH)
		return fmax(0, mesh_gap(a, fa, b, fb, limit));
	const Convex x = convex_of(a, fa), y = convex_of(b, fb);
	return convex_distance(&x, &y, n);
}
