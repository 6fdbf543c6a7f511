// SPDX-License-Identifier: Apache-2.0
/*
 * branch.h — a branch of a model as a component [THEORY 6], and the messages between branches.
 *
 * A branch is a model of its own: the links, flexible bodies, nodes and loops of its piece, numbered anew, on a
 * base that moves. So the sweeps run on it as on any model (SweepInput.base), in memory of its own. Three things
 * cross an interface: how the base turns (outward), inertia and force at the base (inward), and its acceleration
 * (outward again).
 */
#ifndef CALDER_COMPONENT_BRANCH_H
#define CALDER_COMPONENT_BRANCH_H

#include "base/worker_pool.h"
#include "component/branch_step.h"
#include "component/interface_kernels.h"
#include "component/partition.h"
#include "dynamics/tree/kernels.h"
#include "model/submodel.h"

/*
 * What is sent across an interface: written by one worker, read by others once its mark is set; each in lines of its
 * own.
 */
enum { BRANCH_ALIGN = 128 };

/* How the base link of a branch turns, relative to the base of the parent. */
typedef struct BaseMotion {
	_Alignas(BRANCH_ALIGN) ProgressMark ready;
	mat3 R;
	vec3 w;
} BaseMotion;

/* Inertia and force that a branch brings to its base. */
typedef struct BaseInertia {
	_Alignas(BRANCH_ALIGN) ProgressMark ready;
	int failed_dof; // dof of the whole model whose inertia is singular, -1: none
	int not_a_number;
	int doubtful; // loops of the branch itself have cost digits: the model is to be solved in one piece
	ArticulatedBody body;
} BaseInertia;

/* What the base of a branch, or of several that are joined, accelerates by, beyond (0, -gravity). */
typedef struct BaseAcceleration {
	_Alignas(BRANCH_ALIGN) ProgressMark ready;
	spatial A;
	double x[INTERFACE_WIDTH]; // the wrench on its interface, if it carries columns
} BaseAcceleration;

struct CrossLoops; // component/cross_loops.h
typedef struct CrossLoops CrossLoops;
struct JoinNode; // component/assembly.h

typedef struct Branch {
	_Alignas(BRANCH_ALIGN) CalModel *model; // its own
	CalWork *work;
	int index;
	int parent;                                                          // -1: the ground
	int base_link;                                                       // link of that branch, in its numbers
	bool decoupled;                                                      // that branch carries columns of it
	int accumulator;                                                     // otherwise: accumulator of that branch for it
	bool first_on_base_link;                                             // and no branch before it shares that
	int decoupled_child;                                                 // branch that it carries columns of, -1: none
	int child_count, *children;                                          // branches whose parent it is
	bool waits;                                                          // for some of them
	int base_path_count;                                                 //
	int32_t *base_path;                                                  // links between its base and its children
	int q_segments, u_segments;                                          //
	Segment *q_segment, *u_segment;                                      //
	double *q, *u, *elastic_q, *elastic_u, *applied, *udot_given, *udot; // in its own numbers
	BranchSlice slice;                                                   //
	uint8_t *prescribed;                                                 //
	ArticulatedBody *arriving;           // [accumulator_count] from its children that are not decoupled
	bool drives;                         // its own loops are driven
	Interface interface;                 // width 0: no columns
	BaseMotion *base_motion;             // what crosses the interface to its base
	BaseInertia *base_inertia;           //
	struct JoinNode *chain;              // that begins with it, NULL: none does
	BaseAcceleration *base_acceleration; //
	void *memory, *rest;                 // blocks that these are in
	/* Of the call at hand; others read what is above. */
	_Alignas(BRANCH_ALIGN) dvec3 gravity;
	SweepBase base;
	spatial child_base_bias; // of the branch that it carries columns of: what that one's base accelerates by at u' = 0
	int failed_dof, not_a_number; // as in BaseInertia, its own
	CalStatus bad;                // what else went wrong
	double drive_power;           // that the drives of its loops supply [W]
} Branch;

/* Acceleration at u' = 0 of the base link of a branch, beyond what the branch assumes of it. */
static inline spatial branch_base_bias(const Branch *b, const Branch *child) {
	const LinkWork *base_motion = &b->work->links[child->base_link];
	return (spatial){base_motion->al, add(base_motion->a, vec_from(b->gravity))};
}

/**
 * Fills a branch with a piece of a partition, without base motion, base inertia and base acceleration. cross: loops that
 * span branches act on it. On failure, too, branch_release() ends it.
 */
CalStatus branch_extract(const CalModel *model, const Partition *partition, const PieceMap *piece_map, int index,
                         bool cross, Branch *branch);
/** Once all are there: its accumulators, its interface, its workspace. cross_loops: loops that span branches, NULL: none. */
CalStatus branch_connect(Branch *branches, int index, const CrossLoops *cross_loops);
void branch_release(const CalModel *model, Branch *branch);

#endif
