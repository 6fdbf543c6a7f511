// SPDX-License-Identifier: Apache-2.0
/*
 * mesh_tree.c — the tree of bounding boxes of a mesh: building it, walking it, and the nearest point.
 */
#include "contact/mesh.h"

/* ---- building ---------------------------------------------------------------------------------- */

int tree_capacity(int triangles) { return 2 * triangles; }

static bool key_less(const TreeKey *a, const TreeKey *b) {
	return a->key < b->key || (a->key == b->key && a->triangle < b->triangle);
}

static void key_swap(TreeKey *a, TreeKey *b) {
	const TreeKey t = *a;
	*a = *b;
	*b = t;
}

/* Moves the `middle` smallest keys to the front (Hoare's selection; keys are all different). */
static void select_keys(TreeKey *k, int count, int middle) {
	int low = 0, high = count - 1;
	while (low < high) {
		const TreeKey pivot = k[low + (high - low) / 2];
		int i = low, j = high;
		while (i <= j) {
			while (key_less(&k[i], &pivot))
				i++;
			while (key_less(&pivot, &k[j]))
				j--;
			if (i <= j)
				key_swap(&k[i++], &k[j--]);
		}
		if (middle <= j)
			high = j;
		else if (middle >= i)
			low = i;
		else
			return;
	}
}

static vec3 vec_min(vec3 a, vec3 b) { return vec(fmin(a.x, b.x), fmin(a.y, b.y), fmin(a.z, b.z)); }
static vec3 vec_max(vec3 a, vec3 b) { return vec(fmax(a.x, b.x), fmax(a.y, b.y), fmax(a.z, b.z)); }

static void bound_node(const CalMesh *mesh, MeshNode *node, const TreeKey *keys, int count) {
	node->lower = vec(INFINITY, INFINITY, INFINITY);
	node->upper = neg(node->lower);
	for (int i = 0; i < count; i++) {
		for (int k = 0; k < 3; k++) {
			const vec3 v = mesh->vertex[mesh->triangle[keys[i].triangle].v[k]];
			node->lower = vec_min(node->lower, v);
			node->upper = vec_max(node->upper, v);
		}
	}
}

static int longest_side(const MeshNode *node) {
	const vec3 d = sub(node->upper, node->lower);
	return d.x >= d.y && d.x >= d.z ? 0 : d.y >= d.z ? 1 : 2;
}

static int subtree(CalMesh *mesh, TreeKey *keys, int first, int count) {
	const int self = mesh->node_count++;
	MeshNode *node = &mesh->node[self];
	bound_node(mesh, node, keys + first, count);
	node->first = first;
	node->count = count <= TREE_LEAF ? count : 0;
	if (node->count > 0)
		return self;
	const int axis = longest_side(node);
	for (int i = first; i < first + count; i++) {
		const int *v = mesh->triangle[keys[i].triangle].v;
		keys[i].key = component(add(mesh->vertex[v[0]], add(mesh->vertex[v[1]], mesh->vertex[v[2]])), axis);
	}
	const int half = count / 2;
	select_keys(keys + first, count, half);
	subtree(mesh, keys, first, half);
	const int right = subtree(mesh, keys, first + half, count - half);
	mesh->node[self].first = right;
	return self;
}

void tree_build(CalMesh *mesh, TreeKey *keys) {
	for (int i = 0; i < mesh->info.triangles; i++)
		keys[i] = (TreeKey){.key = 0, .triangle = i};
	mesh->node_count = 0;
	subtree(mesh, keys, 0, mesh->info.triangles);
	for (int i = 0; i < mesh->info.triangles; i++)
		mesh->order[i] = keys[i].triangle;
}

/* ---- walking ----------------------------------------------------------------------------------- */

TreeWalk tree_walk(const CalMesh *mesh, vec3 lower, vec3 upper) {
	return (TreeWalk){.mesh = mesh, .lower = lower, .upper = upper, .stack = {0}, .depth = 1};
}

static bool subsystems_meet(vec3 al, vec3 au, vec3 bl, vec3 bu) {
	return al.x <= bu.x && bl.x <= au.x && al.y <= bu.y && bl.y <= au.y && al.z <= bu.z && bl.z <= au.z;
}

static bool triangle_meets(const TreeWalk *w, int triangle) {
	const int *v = w->mesh->triangle[triangle].v;
	const vec3 a = w->mesh->vertex[v[0]], b = w->mesh->vertex[v[1]], c = w->mesh->vertex[v[2]];
	return subsystems_meet(vec_min(a, vec_min(b, c)), vec_max(a, vec_max(b, c)), w->lower, w->upper);
}

int tree_next(TreeWalk *w) {
	for (;;) {
		while (w->at < w->end) {
			const int triangle = w->mesh->order[w->at++];
			if (triangle_meets(w, triangle))
				return triangle;
		}
		if (w->depth == 0)
			return -1;
		const int index = w->stack[--w->depth];
		const MeshNode *node = &w->mesh->node[index];
		if (!subsystems_meet(node->lower, node->upper, w->lower, w->upper))
			continue;
		if (node->count > 0) {
			w->at = node->first;
			w->end = node->first + node->count;
		} else {
			w->stack[w->depth++] = node->first;
			w->stack[w->depth++] = index + 1;
		}
	}
}

/* ---- nearest point ----------------------------------------------------------------------------- */

static Nearest nearest_at(vec3 p, vec3 q, int triangle, int feature) {
	const vec3 d = sub(p, q);
	return (Nearest){q, triangle, feature, dot(d, d)};
}

/* Edge i nearest to p: it, or one of its ends. */
static Nearest edge_nearest(const CalMesh *mesh, int triangle, int i, vec3 p) {
	const int *v = mesh->triangle[triangle].v;
	const vec3 a = mesh->vertex[v[i]], u = sub(mesh->vertex[v[(i + 1) % 3]], a);
	const double t = dot(sub(p, a), u), uu = dot(u, u);
	if (t <= 0)
		return nearest_at(p, a, triangle, FEATURE_VERTEX + i);
	if (t >= uu)
		return nearest_at(p, mesh->vertex[v[(i + 1) % 3]], triangle, FEATURE_VERTEX + (i + 1) % 3);
	return nearest_at(p, madd(a, t / uu, u), triangle, FEATURE_EDGE + i);
}

Nearest triangle_nearest(const CalMesh *mesh, int triangle, vec3 p) {
	const Triangle *t = &mesh->triangle[triangle];
	Nearest best = {.triangle = -1, .distance2 = INFINITY};
	for (int i = 0; i < 3; i++) {
		const vec3 a = mesh->vertex[t->v[i]], u = sub(mesh->vertex[t->v[(i + 1) % 3]], a);
		if (dot(cross(u, t->normal), sub(p, a)) >= 0) { // beyond edge i
			const Nearest n = edge_nearest(mesh, triangle, i, p);
			if (n.distance2 < best.distance2)
				best = n;
		}
	}
	if (best.triangle >= 0)
		return best;
	const double height = dot(t->normal, sub(p, mesh->vertex[t->v[0]]));
	return (Nearest){madd(p, -height, t->normal), triangle, FEATURE_FACE, height * height};
}

static double box_distance2(const MeshNode *node, vec3 p) {
	const double x = fmax(0, fmax(node->lower.x - p.x, p.x - node->upper.x));
	const double y = fmax(0, fmax(node->lower.y - p.y, p.y - node->upper.y));
	const double z = fmax(0, fmax(node->lower.z - p.z, p.z - node->upper.z));
	return x * x + y * y + z * z;
}

double mesh_distance_bound(const CalMesh *mesh, vec3 p) { return sqrt(box_distance2(&mesh->node[0], p)); }

static void leaf_nearest(const CalMesh *mesh, const MeshNode *node, vec3 p, const vec3 *against, Nearest *best) {
	for (int i = node->first; i < node->first + node->count; i++) {
		const int triangle = mesh->order[i];
		if (against && dot(mesh->triangle[triangle].normal, *against) > -0.05)
			continue;
		const Nearest n = triangle_nearest(mesh, triangle, p);
		if (n.distance2 < best->distance2)
			*best = n;
	}
}

Nearest mesh_nearest(const CalMesh *mesh, vec3 p, double limit, const vec3 *against) {
	Nearest best = {.triangle = -1, .distance2 = limit * limit};
	int stack[TREE_DEPTH] = {0}, depth = 1;
	while (depth > 0) {
		const int index = stack[--depth];
		const MeshNode *node = &mesh->node[index];
		if (box_distance2(node, p) >= best.distance2)
			continue;
		if (node->count > 0) {
			leaf_nearest(mesh, node, p, against, &best);
			continue;
		}
		const bool left_first = box_distance2(node + 1, p) <= box_distance2(&mesh->node[node->first], p);
		stack[depth++] = left_first ? node->first : index + 1;
		stack[depth++] = left_first ? index + 1 : node->first;
	}
	return best;
}

/* The sign of the distance, from the normal of the feature (Baerentzen and Aanaes). Beside an open edge is outside. */
bool mesh_contains(const CalMesh *mesh, vec3 p, const Nearest *n) {
	const Triangle *t = &mesh->triangle[n->triangle];
	vec3 normal = t->normal;
	if (n->feature >= FEATURE_VERTEX) {
		const int v = t->v[n->feature - FEATURE_VERTEX];
		if (mesh->corner[v] & CORNER_RIM)
			return false;
		normal = mesh->vertex_normal[v];
	} else if (n->feature >= FEATURE_EDGE) {
		const int other = t->across[n->feature - FEATURE_EDGE];
		if (other < 0)
			return false;
		normal = add(normal, mesh->triangle[other].normal);
	}
	return dot(normal, sub(p, n->q)) < 0;
}
