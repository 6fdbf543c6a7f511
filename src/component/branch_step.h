// SPDX-License-Identifier: Apache-2.0
/*
 * branch_step.h — what is done after a branch is solved, on the thread that solved it: its part of an integrator's
 * step.
 */
#ifndef CALDER_COMPONENT_BRANCH_STEP_H
#define CALDER_COMPONENT_BRANCH_STEP_H

#include <string.h>

#include <calder/branches.h>
#include "base/worker_pool.h"

/* Consecutive numbers of the whole model that are consecutive in the branch too. */
typedef struct Segment {
	int whole, own, count;
} Segment;

/* A branch as a part of the arrays of its model. */
typedef struct BranchSlice {
	const CalModel *model;                // with numbers of its own, in which are:
	const double *q, *u, *udot;           // the state as evaluated, and what came out
	double *q_own, *u_own[3];             // scratch
	const Segment *q_segment, *u_segment; //
	int q_segments, u_segments;           //
} BranchSlice;

/* To the numbers of a branch, and back. */
static inline void segments_gather(const Segment *segments, int count, const double *whole, double *own) {
	for (int k = 0; k < count; ++k)
		memcpy(own + segments[k].own, whole + segments[k].whole, (size_t)segments[k].count * sizeof(double));
}

static inline void segments_scatter(const Segment *segments, int count, const double *own, double *whole) {
	for (int k = 0; k < count; ++k)
		memcpy(whole + segments[k].whole, own + segments[k].own, (size_t)segments[k].count * sizeof(double));
}

/**
 * As cal_branches_create() with the threads of a worker pool that outlives the branches; NULL: with the caller's alone.
 */
CalStatus branches_create(const CalModel *model, const CalBranchOptions *options, WorkerPool *pool,
                          CalBranches **branches);

typedef CalStatus (*BranchFn)(void *user, const BranchSlice *slice);

/* What is called for each branch. */
typedef struct BranchCallback {
	BranchFn run; // NULL: nothing
	void *user;
	const void *argument; // what run() will read beyond `user`: fetched ahead; may be NULL
} BranchCallback;

/**
 * As cal_branches_implicit(), h 0: as cal_branches_forward(); `then` is called for each branch once its udot is known,
 * whatever it is like. udot NULL: only that one wants it. input may be NULL.
 */
CalStatus branches_run(CalBranches *branches, const CalState *state, const CalState *elastic, const CalInput *input,
                       double h, double *udot, BranchCallback callback);
/**
 * The motion dq[nu] that multipliers alone bring about, M as inertia: constraints move by -z as far as they can. frozen[nu]
 * (NULL: none) do not move; positions: constraints on speeds alone take no part. CAL_NOT_CONVERGED: branches leave a doubt, and
 * dq is not found; the model in one piece may find it.
 */
CalStatus branches_correct(CalBranches *branches, const CalState *state, const double *z, const uint8_t *frozen,
                           bool positions, double *dq);
/** No other rank has some of them. */
bool branches_are_here(const CalBranches *branches);
/**
 * The whole state is known here between evaluations: false for a rank that receives what crosses its interfaces alone.
 */
bool branches_know_all(const CalBranches *branches);
/**
 * Power that driven loops supplied in the last branches_run() [W], in the order of the branches; on a rank that does not
 * know all, its share.
 */
double branches_drive_power(const CalBranches *branches);
const CalModel *branches_model(const CalBranches *branches);
CalWork *branches_whole(CalBranches *branches);  // workspace of the model in one piece; NULL: it has no loops
double *branches_numbers(CalBranches *branches); // [2 rows + nu + nq] scratch of a projection
/** Residuals of all constraint equations, and their rates. */
void branches_residual(CalBranches *branches, const CalState *state, double *value, double *rate);

/** Only calls. Statuses other than CAL_OK: the first, in the order of the branches. */
CalStatus branches_each(CalBranches *branches, BranchFn run, void *user);

/* ---- branches on ranks (CalBranchOptions.transport) ------------------------------------------------------ */

/**
 * Assigns the branches to ranks, rank_of[count], which may only grow; marks the dofs of this rank in own[nu] (NULL:
 * not).
 */
void branches_place(CalBranches *branches, const int *rank_of, uint8_t *own);
/**
 * whole (as made): all ranks get all accelerations, call callback() for all branches, and agree on what failed.
 * Otherwise each receives what crosses its interfaces and calls for its own branches alone; what goes wrong is kept,
 * and the rank continues.
 */
void branches_set_whole(CalBranches *branches, bool whole);
/** The rank that has a body. */
int branches_rank_of(const CalBranches *branches, int body);
/** The same of a degree of freedom. */
int branches_rank_of_dof(const CalBranches *branches, int u);
/** The same of a node; -1: it is on the ground. */
int branches_rank_of_node(const CalBranches *branches, int node);
/** Whether the state of a degree of freedom is known here between evaluations: to this rank, or there are no others. */
bool branches_know_dof(const CalBranches *branches, int u);
/** Marks in wanted[branches] the branch of a node, and those between it and the ground. */
void branches_want_place(const CalBranches *branches, int node, uint8_t *wanted);
/** Where the wanted branches of this rank are at a state, of which it knows its own part; ranks exchange bases. */
void branches_find_places(CalBranches *branches, const CalState *state, const uint8_t *wanted);
/** Of a node of this rank that was wanted, until the next evaluation. */
void branches_node_motion(const CalBranches *branches, int node, CalPose *pose, CalSpatial *velocity);
/** Whether something went wrong since then. */
bool branches_failed(const CalBranches *branches);
/** q[nq] and u[nu] of all branches from the ranks that they are on to all. */
CalStatus branches_bring_state(CalBranches *branches, double *q, double *u);
/** Adds what was sent, and how often. */
void branches_count_messages(const CalBranches *branches, CalDistributionInfo *info);

#endif
