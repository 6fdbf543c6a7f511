// SPDX-License-Identifier: Apache-2.0
/*
 * assembly.c — makes the tree of an assembly.
 */
#include <string.h>

#include "base/memory.h"
#include "component/assembly.h"
#include "component/cross_loops.h"

/* What a joined node tells, is told, and keeps in between: in lines of its own, unlike the node, which all look at. */
typedef struct Told {
	Burden burden;
	Push push;
	_Alignas(BRANCH_LINES) BorderJoin join;
} Told;

typedef struct Builder {
	Assembly *made;
	Branch *branches;
	Told *told;      // of the next joined node
	double *numbers; // likewise: its columns, and what rows_join() keeps
	int width;       // of columns
	const Rows *rows;
	int *chain; // [branches] of the chain at hand
	int placed; // in order
	bool linear;
} Builder;

/* A whole number of lines. */
static size_t numbers_of(const Rows *rows) {
	const size_t W = rows ? (size_t)rows->width : BORDER_CUT, square = rows ? W : 6;
	const size_t all = (7 + square) * W + (rows ? 6 * (8 + W) : 0), line = BRANCH_LINES / sizeof(double);
	return (all + line - 1) / line * line;
}

static void add_branch(Builder *b, int k) {
	Branch *branch = &b->branches[k];
	b->made->nodes[k] = (AssemblyNode){.inner = -1,
	                                   .outer = -1,
	                                   .first = k,
	                                   .last = k,
	                                   .has_columns = branch->apart_child >= 0,
	                                   .burden = branch->burden,
	                                   .push = branch->push,
	                                   .columns = {branch->border.gamma, branch->border.Phi, branch->border.beta}};
}

static int add_joined(Builder *b, int inner, int outer) {
	const int k = b->made->count++;
	AssemblyNode *nodes = b->made->nodes, *node = &nodes[k];
	Told *told = b->told++;
	double *numbers = b->numbers;
	b->numbers += numbers_of(b->rows);
	const int W = b->width, square = b->rows ? W : 6;
	*node = (AssemblyNode){.inner = inner,
	                       .outer = outer,
	                       .first = nodes[inner].first,
	                       .last = nodes[outer].last,
	                       .has_columns = nodes[outer].has_columns,
	                       .burden = &told->burden,
	                       .push = &told->push,
	                       .join = &told->join,
	                       .columns = {numbers, numbers + 6 * W, numbers + (6 + square) * W},
	                       .solved = b->rows ? numbers + (7 + square) * W : NULL};
	b->made->order[b->placed++] = k;
	return k;
}

/* Branches first to end - 1 of the chain; *depth: joins on the longest way. */
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
	for (int k = head; k >= 0; k = b->branches[k].apart_child)
		b->chain[length++] = k;
	for (int k = length - 1; k >= 0; --k)
		b->made->order[b->placed++] = b->chain[k];
	b->made->root_of[head] = join_range(b, 0, length, &depth);
	b->made->depth = depth > b->made->depth ? depth : b->made->depth;
}

CalStatus assembly_make(const CalAllocator *allocator, Branch *branches, int count, bool linear, const Rows *rows,
                        Assembly *assembly) {
	const size_t n = (size_t)count + 1, numbers = n * numbers_of(rows) * sizeof(double);
	const size_t size = n * (sizeof(Told) + 2 * sizeof(AssemblyNode) + 4 * sizeof(int)) + numbers + BRANCH_LINES;
	*assembly = (Assembly){.memory = memory_alloc(allocator, size)};
	if (!assembly->memory)
		return CAL_ERR_MEMORY;
	memset(assembly->memory, 0, size);
	const uintptr_t at = (uintptr_t)assembly->memory;
	Builder b = {.made = assembly,
	             .branches = branches,
	             .linear = linear,
	             .rows = rows,
	             .width = rows ? rows->width : BORDER_CUT};
	b.told = (Told *)(void *)((char *)assembly->memory + (BRANCH_LINES - at % BRANCH_LINES) % BRANCH_LINES);
	b.numbers = (double *)(void *)(b.told + n);
	assembly->nodes = (AssemblyNode *)(void *)((char *)b.numbers + numbers);
	assembly->root_of = (int *)(void *)(assembly->nodes + 2 * n);
	assembly->order = assembly->root_of + n;
	b.chain = assembly->order + 2 * n;
	assembly->branches = assembly->count = count;
	for (int k = 0; k < count; ++k) {
		add_branch(&b, k);
		assembly->root_of[k] = -1;
	}
	for (int k = count - 1; k >= 0; --k) { // whoever stands on a chain has a higher number than its first branch
		if (!branches[k].apart)
			add_chain(&b, k);
	}
	return CAL_OK;
}

void assembly_free(const CalAllocator *allocator, Assembly *assembly) {
	memory_free(allocator, assembly->memory);
	*assembly = (Assembly){0};
}
