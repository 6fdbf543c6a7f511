// SPDX-License-Identifier: Apache-2.0
/*
 * assembly.c — makes the join tree of branches.
 */
#include <string.h>

#include "base/cursor.h"
#include "base/memory.h"
#include "component/assembly.h"
#include "component/cross_loops.h"

/* What a joined node sends, receives, and keeps in between: in lines of its own, unlike the node, which all read. */
typedef struct BranchMessages {
	BaseInertia base_inertia;
	BaseAcceleration base_acceleration;
	_Alignas(BRANCH_ALIGN) InterfaceJoin join;
} BranchMessages;

typedef struct Builder {
	JoinTree *made;
	Branch *branches;
	BranchMessages *messages; // of the next joined node
	double *numbers;          // likewise: its columns, and what cross_loops_join() keeps
	int width;                // of columns
	const CrossLoops *cross_loops;
	int *chain; // [branches] of the chain at hand
	int placed; // in order
	bool linear;
} Builder;

/* A whole number of lines. */
static size_t numbers_of(const CrossLoops *cross_loops) {
	const size_t W = cross_loops ? (size_t)cross_loops->width : INTERFACE_WIDTH, square = cross_loops ? W : 6;
	const size_t all = (7 + square) * W + (cross_loops ? 6 * (8 + 2 * W) : 0), line = BRANCH_ALIGN / sizeof(double);
	return (all + line - 1) / line * line;
}

static void add_branch(Builder *b, int k) {
	Branch *branch = &b->branches[k];
	b->made->nodes[k] =
		(JoinNode){.inner = -1,
	               .outer = -1,
	               .first = k,
	               .last = k,
	               .has_columns = branch->decoupled_child >= 0,
	               .base_inertia = branch->base_inertia,
	               .base_acceleration = branch->base_acceleration,
	               .columns = {branch->interface.gamma, branch->interface.Lambda, branch->interface.beta}};
}

static int add_joined(Builder *b, int inner, int outer) {
	const int k = b->made->count++;
	JoinNode *nodes = b->made->nodes, *node = &nodes[k];
	BranchMessages *messages = b->messages++;
	double *numbers = b->numbers;
	b->numbers += numbers_of(b->cross_loops);
	const int W = b->width, square = b->cross_loops ? W : 6;
	*node = (JoinNode){.inner = inner,
	                   .outer = outer,
	                   .first = nodes[inner].first,
	                   .last = nodes[outer].last,
	                   .has_columns = nodes[outer].has_columns,
	                   .base_inertia = &messages->base_inertia,
	                   .base_acceleration = &messages->base_acceleration,
	                   .join = &messages->join,
	                   .columns = {numbers, numbers + 6 * W, numbers + (6 + square) * W},
	                   .solved = b->cross_loops ? numbers + (7 + square) * W : NULL};
	b->made->order[b->placed++] = k;
	return k;
}

/* Branches first to end - 1 of the chain; *depth: joins on the longest path. */
static int join_range(Builder *b, int first, int end, int *depth) {
	if (end - first == 1) {
		*depth = 0;
		return b->chain[first];
	}
	int left, right;
	const int middle = b->linear ? first + 1 : first + (end - first + 1) / 2;
	const int outer = join_range(b, middle, end, &right), inner = join_range(b, first, middle, &left);
	*depth = 1 + (left > right ? left : right);
	return add_joined(b, inner, outer);
}

static void add_chain(Builder *b, int head) {
	int length = 0, depth;
	for (int k = head; k >= 0; k = b->branches[k].decoupled_child)
		b->chain[length++] = k;
	for (int k = length - 1; k >= 0; --k)
		b->made->order[b->placed++] = b->chain[k];
	b->made->root_of[head] = join_range(b, 0, length, &depth);
	b->made->depth = depth > b->made->depth ? depth : b->made->depth;
}

/* What joined nodes write first, in lines of their own. */
static void layout_join_tree(Builder *b, int count, Cursor *cursor) {
	const size_t n = (size_t)count + 1;
	JoinTree *made = b->made;
	CURSOR_ARRAY(cursor, b->messages, n);
	CURSOR_ARRAY(cursor, b->numbers, n * numbers_of(b->cross_loops));
	CURSOR_ARRAY(cursor, made->nodes, 2 * n);
	CURSOR_ARRAY(cursor, made->root_of, n);
	CURSOR_ARRAY(cursor, made->order, 2 * n);
	CURSOR_ARRAY(cursor, b->chain, n);
}

CalStatus join_tree_create(const CalAllocator *allocator, Branch *branches, int count, bool linear,
                           const CrossLoops *cross_loops, JoinTree *join_tree) {
	*join_tree = (JoinTree){0};
	Builder b = {.made = join_tree,
	             .branches = branches,
	             .linear = linear,
	             .cross_loops = cross_loops,
	             .width = cross_loops ? cross_loops->width : INTERFACE_WIDTH};
	Cursor cursor = {.align = BRANCH_ALIGN};
	layout_join_tree(&b, count, &cursor);
	join_tree->memory = cursor_alloc(&cursor, allocator);
	if (!join_tree->memory)
		return CAL_ERR_MEMORY;
	cursor_clear(&cursor);
	layout_join_tree(&b, count, &cursor);
	join_tree->branches = join_tree->count = count;
	for (int k = 0; k < count; ++k) {
		add_branch(&b, k);
		join_tree->root_of[k] = -1;
	}
	for (int k = count - 1; k >= 0; --k) { // a child of a chain has a higher number than its first branch
		if (!branches[k].decoupled)
			add_chain(&b, k);
	}
	return CAL_OK;
}

void join_tree_free(const CalAllocator *allocator, JoinTree *join_tree) {
	memory_free(allocator, join_tree->memory);
	*join_tree = (JoinTree){0};
}
