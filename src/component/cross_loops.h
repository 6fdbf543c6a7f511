// SPDX-License-Identifier: Apache-2.0
/*
 * cross_loops.h — loops that span branches [THEORY 6.3].
 *
 * The multipliers of such a loop are unknowns of every branch, beside the wrench on its interface: columns of its
 * interface (component/interface.h), zero where the loop has no end in it nor in its children. Branches are joined
 * with their columns; at the ground all are left, and Lambda lambda = beta - z gives the smallest multipliers that
 * bring the accelerations of the constraints to zero. Every loop has the eight columns after those of the interface and of
 * the loops before it.
 */
#ifndef CALDER_COMPONENT_CROSS_LOOPS_H
#define CALDER_COMPONENT_CROSS_LOOPS_H

#include "component/assembly.h"
#include "dynamics/loop/loops.h"

/* A side of a loop: where its frame is, and where its wrench acts. */
typedef struct CrossLoopEnd {
	int frame_branch; // -1: on the ground
	Loop frame_loop;  // the loop in the numbers of that branch
	int node_branch;  // of node `plus` (side 0) or `minus` (side 1); -1: on the ground
	int node;         // in its numbers
	LoopFrame frame;  // of the call at hand
} CrossLoopEnd;

typedef struct CrossLoop {
	const Loop *loop; // of the whole model
	int lead;         // branch that finds what its rows accelerate by, and its residuals: one that it has an end on
	CrossLoopEnd side[2];
} CrossLoop;

/* Compliances of free columns that turn, or slide along the longest loop, of some branches. */
typedef struct Mobility {
	double most, least;           // of all columns
	double joined;                // the largest of those between a base and an interface: joins take it away again
	double path_most, path_least; // of those on the paths of loops
} Mobility;

/*
 * Where the base of a branch is; ready once the frames of all loops on the branch are there. mobility: ready with the base
 * inertia, of the branch and of all that is joined with it.
 */
typedef struct CrossLoopBase {
	_Alignas(BRANCH_ALIGN) ProgressMark ready;
	vec3 r, v;
	Mobility mobility;
} CrossLoopBase;

struct CrossLoops {
	_Alignas(BRANCH_ALIGN) ProgressMark solved;
	const CalModel *model;
	int loops, width;     // of all columns: those of an interface, then eight for each loop
	CrossLoop *list;      // [loops]
	CrossLoopBase *place; // [branches]
	int32_t *path;        // links whose joints move rows, in numbers of their branches: those of branch b
	int *path_first;      // [branches + 1] are path[path_first[b]] to path[path_first[b + 1] - 1]
	int *outboard;        // loops with an end on branch b or outboard of it, in their order, likewise
	int *outboard_first;  // [branches + 1]
	double *x;            // [width] zero, then the multipliers
	double *lambda;       // [rows]
	double *z;            // [rows] what the rows accelerate by, or what is asked for: from the branch that leads a loop
	double *Lambda, *right; // [rows rows], [rows]
	double *scratch;        // [(rows + 2) rows]
	int *order;
	uint8_t *independent;
	double *unit;  // [rows] of the model (Loop.unit)
	double reach;  // of the longest loop
	bool doubtful; // masses may have made equations small, or have cost digits
	void *memory;
};

/* What is asked of the constraint equations. */
typedef struct CrossLoopRequest {
	bool plain;      // without stabilisation
	bool positions;  // constraints on speeds alone do not take part
	const double *z; // [rows] what the multipliers are to bring to zero; NULL: the accelerations of the constraints
} CrossLoopRequest;

/** NULL in *cross_loops if the model has no loops. */
CalStatus cross_loops_create(const CalModel *model, const Partition *partition, const PieceMap *piece_map,
                             CrossLoops **cross_loops);
void cross_loops_free(CrossLoops *cross_loops); // accepts NULL

/** Forces of the multipliers on a branch: of its loops, and of its children that are not decoupled. */
int cross_loops_force_count(const CrossLoops *cross_loops, const Branch *branches, const Branch *b);
/** Fills them in after the first `made`, which have their memory: gamma[6][8] and modal[most modes][8]. */
void cross_loops_list_forces(const CrossLoops *cross_loops, const Branch *branches, const Branch *b, int made);

/** After the outward sweep: where things are. Waits for its parent, unless its base is known. */
void cross_loops_place(CrossLoops *cross_loops, const Branch *branches, const Branch *b, bool base_known,
                       uint64_t evaluation);
/** Then, before its columns: wrenches of its loops. */
void cross_loops_fill(CrossLoops *cross_loops, const Branch *b, const CalState *state, uint64_t evaluation,
                      const CrossLoopRequest *how);
/** Once all have their place: residuals of the loops that a branch leads, and their rates. */
void cross_loops_residual(const CrossLoops *cross_loops, const Branch *b, const CalState *state, uint64_t evaluation,
                          double *value, double *rate);
/** Columns of chains of its children before its own; after them those, and what its rows accelerate by. */
void cross_loops_receive(const CrossLoops *cross_loops, const Branch *branches, const Branch *b);
void cross_loops_add(const CrossLoops *cross_loops, const Branch *branches, const Branch *b);
/** After its sweeps: its mobility, and that of its children that are not decoupled. */
void cross_loops_find_mobility(CrossLoops *cross_loops, const Branch *branches, const Branch *b);
/** As interface_join() and interface_split() do for an interface alone. */
void cross_loops_join(CrossLoops *cross_loops, const JoinNode *inner, spatial c, const JoinNode *outer, JoinNode *node);
spatial cross_loops_split(const CrossLoops *cross_loops, const JoinNode *inner, const JoinNode *node, spatial A0,
                          const double *x, double *F);
/** Once the base inertias of all chains on the ground are ready: the multipliers. */
void cross_loops_solve(CrossLoops *cross_loops, const Branch *branches, int count, const JoinTree *join_tree);

#endif
