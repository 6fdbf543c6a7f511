// SPDX-License-Identifier: Apache-2.0
/*
 * order.c — the order of bodies in the model: depth first from the ground, siblings as described, so that
 * a chain is a run of consecutive links and the sweeps walk memory in order.
 */
#include "model/compile/compile.h"

/* Children of each body as linked lists over the description's indices; slot n is the ground. */
typedef struct Children {
	int *first, *next;
} Children;

static int parent_of(const CalDesc *desc, int joint) {
	const CalNodeId inboard = desc->joints[joint].inboard;
	const uint32_t body = inboard.value ? desc_node(desc, inboard)->body.value : 0;
	return body ? (int)body - 1 : desc->body_count;
}

static void link_children(Compiler *c, Children children) {
	const CalDesc *desc = c->desc;
	const GroupMembers *bodies = &c->groups->bodies, *joints = &c->groups->joints;
	const int begin = bodies->first[c->group], end = bodies->first[c->group + 1];
	children.first[desc->body_count] = -1;
	for (int k = begin; k < end; ++k)
		children.first[bodies->member[k]] = -1;
	for (int k = joints->first[c->group]; k < joints->first[c->group + 1]; ++k) {
		const int j = joints->member[k];
		c->joint_of[desc_node(desc, desc->joints[j].outboard)->body.value - 1] = j;
	}
	for (int k = end - 1; k >= begin; --k) { // backwards, so that the lists come out in the described order
		const int i = bodies->member[k], parent = parent_of(desc, c->joint_of[i]);
		children.next[i] = children.first[parent];
		children.first[parent] = i;
	}
}

static void number_subtree(Compiler *c, Children children, int *stack) {
	int depth = 0;
	stack[0] = children.first[c->desc->body_count];
	while (depth >= 0) {
		const int body = stack[depth];
		if (body < 0) {
			--depth;
			continue;
		}
		stack[depth] = children.next[body];
		c->index_of[body] = c->body_count;
		c->order[c->body_count++] = body;
		stack[++depth] = children.first[body];
	}
}

void compile_order(Compiler *c) {
	const size_t n = (size_t)c->desc->body_count, nodes = (size_t)c->desc->node_count;
	int *scratch = c->groups->scratch;
	c->order = scratch;
	c->joint_of = scratch + n;
	c->index_of = scratch + 2 * n;
	c->node_of = scratch + 3 * n;
	int *rest = scratch + 3 * n + nodes;
	const Children children = {rest, rest + n + 1};
	link_children(c, children);
	number_subtree(c, children, rest + 2 * n + 1);
}
