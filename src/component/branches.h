// SPDX-License-Identifier: Apache-2.0
/*
 * branches.h — a model divided into branches, as the files of this folder see it: made in branches.c, evaluated in
 * parallel_forward.c.
 */
#ifndef CALDER_COMPONENT_BRANCHES_H
#define CALDER_COMPONENT_BRANCHES_H

#include "component/cross_loops.h"
#include "component/ranks.h"

/* The call at hand, all in one place: whatever the caller's thread has written every other one has to fetch. */
typedef struct Evaluation {
	uint64_t number;
	CalState state, elastic;
	CalInput input; // {0}: none
	double h;       // not zero: an implicit step
	double *udot;
	BranchCallback callback;
	bool at_rest; // everything is at rest and weighs nothing: what multipliers alone bring about
	CrossLoopRequest cross_loops;
	double *value, *rate; // [rows] of branches_residual()
} Evaluation;

typedef struct BranchMessages {
	BaseMotion base_motion;
	BaseInertia base_inertia;
	BaseAcceleration base_acceleration;
} BranchMessages;

/* Of the base of a branch in the world; how it turns is in Branch.base. */
struct BranchPlace {
	vec3 r, v;
};

struct CalBranches {
	const CalModel *model;
	CalAllocator allocator;
	Branch *branches; // parents before children
	int count;
	Partition partition;
	PieceMap piece_map;
	WorkerPool *pool; // NULL: one thread
	bool owns_pool;
	int threads;
	int *worker_of;           // [count] -1: on another rank
	Ranks *ranks;             // NULL: all are here
	BranchMessages *messages; // [count]
	BranchPlace *places;      // [count] of branches_find_places()
	JoinTree join_tree;
	double *numbers;         // [2 rows + nu + nq] scratch of a projection, or accelerations of the whole model
	CalWork *whole;          // of the model in one piece, for when its loops leave a doubt; NULL: it has none
	CrossLoops *cross_loops; // loops that span branches, NULL: there are none
	void *memory, *block;    // of these, of this
	bool probe_doubtful;     // loops that span branches left a doubt at some configuration of solver_probe()
	bool drives;             // loops are driven
	/* Written in each call; workers find what is above in their caches. */
	_Alignas(BRANCH_ALIGN) Evaluation evaluation;
	_Alignas(BRANCH_ALIGN) double drive_power; // branches_drive_power()
	int failed_dof;
	double error; // as CalWork.loops.error, of the last evaluation
};

/* Degree of freedom of the whole model. */
static inline int model_dof(const Branch *b, int own) {
	for (int k = 0; k < b->u_segments; ++k) {
		const Segment *segment = &b->u_segment[k];
		if (own >= segment->own && own < segment->own + segment->count)
			return segment->whole + own - segment->own;
	}
	return -1;
}

/** udot of a branch is known: to whoever wants it. */
void solver_conclude(CalBranches *s, Branch *b);
/** Whether the pivots of some loop leave a doubt. Waits for branches with loops; with ranks, as far as it was sent. */
bool solver_is_doubtful(const CalBranches *s);
/** The call at hand by the model in one piece, which finds the rank by geometry and refines; all branches conclude. */
CalStatus solver_run_whole(CalBranches *s);

/**
 * The first link of a branch whose partition leaves a dof with next to no inertia; -1: there is none, -2: no memory.
 */
int solver_probe(CalBranches *s);

#endif
