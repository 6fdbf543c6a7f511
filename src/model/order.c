// SPDX-License-Identifier: Apache-2.0
/*
 * order.c — the order of bodies in the model: depth first from the ground, siblings as described, so that
 * a chain is a run of consecutive links and the sweeps walk memory in order.
 */
#include "model/compile.h"

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
	const int n = desc->body_count;
	for (int i = 0; i <= n; ++i)
		children.first[i] = -1;
	for (int i = 0; i < n; ++i)
		c->joint_of[i] = c->index_of[i] = -1;
	for (int j = 0; j < desc->joint_count; ++j) {
		c->joint_of[desc_node(desc, desc->joints[j].outboard)->body.value - 1] = j;
	}
	for (int i = n - 1; i >= 0; --i) { // backwards, so that the lists come out in the described order
		if ((int)desc->bodies[i].def.group.value - 1 != c->group)
			continue;
		const int parent = parent_of(desc, c->joint_of[i]);
		children.next[i] = children.first[parent];
		children.first[parent] = i;
	}
}

static void walk(Compiler *c, Children children, int *stack) {
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

CalStatus compile_order(Compiler *c) {
	const size_t n = (size_t)c->desc->body_count, nodes = (size_t)c->desc->node_count;
	int *memory = memory_alloc(&c->desc->allocator, sizeof(int) * (6 * n + nodes + 4));
	if (!memory)
		return CAL_ERR_MEMORY;
	c->order = memory;
	c->joint_of = memory + n;
	c->index_of = memory + 2 * n;
	c->node_of = memory + 3 * n;
	int *rest = memory + 3 * n + nodes;
	const Children children = {rest, rest + n + 1};
	link_children(c, children);
	walk(c, children, rest + 2 * n + 1);
	return CAL_OK;
}
