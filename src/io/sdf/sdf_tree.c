// SPDX-License-Identifier: Apache-2.0
/*
 * sdf_tree.c — which joints make the tree, and which close loops.
 *
 * All links and joints are a graph with the ground as one node. A spanning forest is grown from the joints that lose most if
 * they close a loop: first those with forces along their axes, then plain ones, within each kind in the order of the file; not
 * those that the file wants as loops. The trees are then walked from the ground, and those that do not reach it from
 * the link that no joint carries.
 */
#include "io/sdf/sdf_reader.h"

/* Sets of links that are joined already: each points to another one of its set, the last to itself. Node 0: the ground. */
static int set_of(int *set, int node) {
	while (set[node] != node)
		node = set[node] = set[set[node]];
	return node;
}

static int node_of(const Sdf *s, int frame) {
	const int link = s->frames[frame].link;
	return link == SDF_NONE ? 0 : link + 1;
}

static bool acts(const SdfJoint *joint) {
	for (int i = 0; i < joint->axis_count; i++)
		if (joint->axis[i].acts)
			return true;
	return false;
}

/* 0: first in the tree, 1: then, 2: never. */
static int rank_of(const SdfJoint *joint) { return joint->must_be_loop ? 2 : acts(joint) ? 0 : 1; }

static void grow(Sdf *s, int *set, int rank) {
	for (int i = 0; i < s->joint_count; i++) {
		SdfJoint *joint = &s->joints[i];
		if (joint->type == SDF_GEARBOX || rank_of(joint) != rank)
			continue;
		const int a = set_of(set, node_of(s, joint->parent)), b = set_of(set, node_of(s, joint->child));
		joint->use = a == b || rank == 2 ? SDF_USE_LOOP : SDF_USE_TREE;
		if (joint->use == SDF_USE_TREE)
			set[a] = b;
	}
}

/* Links of static models are tied to the ground before any joint. */
static int *make_sets(Sdf *s) {
	int *set = xml_array(s->im->tree, (size_t)s->link_count + 1, sizeof *set);
	for (int i = 0; set && i < s->link_count; i++)
		set[i + 1] = s->frames[s->links[i].frame].is_static ? 0 : i + 1;
	return set;
}

/* ---- walking the trees --------------------------------------------------------------------------------- */

/* Joints of the tree at each node: those of node n are list[first[n]] to list[first[n + 1] - 1]. */
typedef struct Neighbors {
	int *first, *list;
} Neighbors;

static bool list_neighbors(Sdf *s, Neighbors *n) {
	const size_t nodes = (size_t)s->link_count + 1;
	n->first = xml_array(s->im->tree, nodes + 2, sizeof *n->first);
	n->list = xml_array(s->im->tree, 2 * (size_t)s->joint_count + 1, sizeof *n->list);
	if (!n->first || !n->list)
		return import_no_memory(s->im);
	int *start = n->first + 1; // shifted by one while they are filled
	for (int i = 0; i < s->joint_count; i++)
		if (s->joints[i].use == SDF_USE_TREE) {
			start[node_of(s, s->joints[i].parent) + 1]++;
			start[node_of(s, s->joints[i].child) + 1]++;
		}
	for (size_t i = 1; i <= nodes; i++)
		start[i] += start[i - 1];
	for (int i = 0; i < s->joint_count; i++)
		if (s->joints[i].use == SDF_USE_TREE) {
			n->list[start[node_of(s, s->joints[i].parent)]++] = i;
			n->list[start[node_of(s, s->joints[i].child)]++] = i;
		}
	return true;
}

/* From a node outward; queue has room for all links. */
static void walk(Sdf *s, const Neighbors *n, int root, int *queue) {
	int read = 0, count = 0;
	queue[count++] = root;
	while (read < count) {
		const int node = queue[read++];
		for (int k = n->first[node]; k < n->first[node + 1]; k++) {
			SdfJoint *joint = &s->joints[n->list[k]];
			const int parent = node_of(s, joint->parent), child = node_of(s, joint->child);
			const int other = parent == node ? child : parent;
			if (other == 0 || s->links[other - 1].placed)
				continue;
			joint->reversed = other == parent;
			s->links[other - 1].parent_joint = n->list[k];
			s->links[other - 1].placed = true;
			queue[count++] = other;
		}
	}
}

/* Links that no joint carries in the sense of the file, first; then any that is left. */
static void walk_free_trees(Sdf *s, const Neighbors *n, int *queue) {
	for (int i = 0; i < s->joint_count; i++)
		if (s->joints[i].use == SDF_USE_TREE && node_of(s, s->joints[i].child) > 0)
			s->links[node_of(s, s->joints[i].child) - 1].is_child = true;
	for (int pass = 0; pass < 2; pass++)
		for (int i = 0; i < s->link_count; i++)
			if (!s->links[i].placed && (pass == 1 || !s->links[i].is_child)) {
				s->links[i].placed = true;
				walk(s, n, i + 1, queue);
			}
}

bool sdf_choose_tree(Sdf *s) {
	int *set = make_sets(s), *queue = xml_array(s->im->tree, (size_t)s->link_count + 1, sizeof *queue);
	Neighbors neighbors;
	if (!set || !queue)
		return import_no_memory(s->im);
	for (int i = 0; i < s->joint_count; i++)
		s->joints[i].use = s->joints[i].type == SDF_GEARBOX ? SDF_USE_COUPLING : SDF_USE_OPEN;
	for (int rank = 0; rank < 3; rank++)
		grow(s, set, rank);
	if (!list_neighbors(s, &neighbors))
		return false;
	walk(s, &neighbors, 0, queue);
	for (int i = 0; i < s->link_count; i++) // each is a root of its own, on the ground
		if (s->frames[s->links[i].frame].is_static && !s->links[i].placed) {
			s->links[i].placed = true;
			walk(s, &neighbors, i + 1, queue);
		}
	walk_free_trees(s, &neighbors, queue);
	return true;
}
