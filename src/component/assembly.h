// SPDX-License-Identifier: Apache-2.0
/*
 * assembly.h — the order in which branches are joined.
 *
 * Branches that carry columns of each other form chains. The branches of a chain are joined in pairs, and pairs of
 * pairs, so that no path through the join tree is longer than the logarithm of their number; or, linear, one after the
 * other from the tip, where only the inertia and force of what is outboard cross an interface and no columns. What
 * a parent waits for is a whole chain.
 */
#ifndef CALDER_COMPONENT_ASSEMBLY_H
#define CALDER_COMPONENT_ASSEMBLY_H

#include "component/branch.h"

/* A branch, or two nodes joined. */
typedef struct JoinNode {
	int inner, outer;          // nodes; -1: a branch
	int first, last;           // branches that it begins and ends with; the worker of the first does what is to be done
	bool has_columns;          // the last one carries columns of another
	BaseInertia *base_inertia; // what it brings to its base
	BaseAcceleration *base_acceleration; // what comes back
	InterfaceColumns columns;
	InterfaceJoin *join; // of two
	double
		*solved; // of loops that span branches: F = (N, f, 0, G), six rows of 8 + width, then scratch (cross_loops.c)
} JoinNode;

typedef struct JoinTree {
	int branches;    // nodes below are branches
	int count;       // nodes
	JoinNode *nodes; //
	int *root_of;    // [branches] node of the whole chain that begins with a branch; -1: none begins with it
	int *order;      // [count] nodes, whoever is needed before who needs it
	int depth;       // joins on the longest path
	void *memory;
} JoinTree;

/** Branches are connected; those of joined nodes get their base inertia and base acceleration here. */
CalStatus join_tree_create(const CalAllocator *allocator, Branch *branches, int count, bool linear,
                           const CrossLoops *cross_loops, JoinTree *join_tree);
void join_tree_free(const CalAllocator *allocator, JoinTree *join_tree);

#endif
