// SPDX-License-Identifier: Apache-2.0
/*
 * branch.h — a branch of a model as a component [THEORY 6], and what branches tell each other.
 *
 * A branch is a model of its own: the links, flexible bodies, nodes and loops of its piece, numbered anew, standing on a
 * base that moves. So the sweeps run on it as on any model (SweepInput.base), in memory of its own. Three things cross a
 * cut: how the base turns (outward), inertia and force at the base (inward), and its acceleration (outward again).
 */
#ifndef CALDER_COMPONENT_BRANCH_H
#define CALDER_COMPONENT_BRANCH_H

#include "base/worker_pool.h"
#include "component/branch_step.h"
#include "component/interface_kernels.h"
#include "component/partition.h"
#include "dynamics/kernels.h"

/* What is told across a cut: written by one worker, read by others once its mark is set; each in lines of its own. */
enum { BRANCH_LINES = 128 };

/* How the link that a branch stands on turns, relative to what its own branch stands on. */
typedef struct Seat {
	_Alignas(BRANCH_LINES) TeamMark told;
	mat3 R;
	vec3 w;
} Seat;

/* Inertia and force that a branch brings to its base. */
typedef struct Burden {
	_Alignas(BRANCH_LINES) TeamMark told;
	int culprit; // freedom of the whole model whose inertia is singular, -1: none
	int not_a_number;
	int doubtful; // loops of the branch itself have cost digits: the model is to be solved in one piece
	Slot slot;
} Burden;

/* What the base of a branch, or of several that are joined, accelerates by, beyond (0, -gravity). */
typedef struct Push {
	_Alignas(BRANCH_LINES) TeamMark told;
	spatial A;
	double x[BORDER_CUT]; // the wrench on its cut, if it carries columns
} Push;

struct Rows; // component/cross_loops.h
typedef struct Rows Rows;
struct AssemblyNode; // component/assembly.h

typedef struct Branch {
	_Alignas(BRANCH_LINES) CalModel model;
	CalWork *work;
	int index;
	int parent;                     // branch that it stands on, -1: the ground
	int seat_link;                  // link of that branch, in its numbers
	bool apart;                     // that branch carries columns of it
	int slot;                       // otherwise: accumulator of that branch for it
	bool first_on_seat;             // and no branch before it shares that
	int apart_child;                // branch that it carries columns of, -1: none
	int child_count, *children;     // branches that stand on it
	bool waits;                     // for some of them
	int spine_count;                //
	int32_t *spine;                 // links between its base and branches that stand on it
	int q_segments, u_segments;     //
	Segment *q_segment, *u_segment; //
	double *q, *u, *elastic_q, *elastic_u, *applied, *udot_given, *udot; // in its own numbers
	BranchSlice slice;                                                   //
	uint8_t *prescribed;                                                 //
	Slot *arriving;                                                      // [slot_count] from branches that it waits for
	bool drives;                                                         // rows of its own loops are driven
	Border border;                                                       // width 0: no columns
	Seat *seat;                                                          // what crosses the cut to its base
	Burden *burden;                                                      //
	struct AssemblyNode *chain;                                          // that begins with it, NULL: none does
	Push *push;                                                          //
	void *memory, *rest;                                                 // blocks that these lie in
	/* Of the call at hand; others look at what is above. */
	_Alignas(BRANCH_LINES) dvec3 gravity;
	SweepBase base;
	spatial seat_bias; // of the branch that it carries columns of: what that one's base accelerates by at u' = 0
	int culprit, not_a_number; // as in Burden, its own
	CalStatus bad;             // what else went wrong
	double rows_power;         // that its driven rows supply [W]
} Branch;

/* Acceleration at u' = 0 of the link that a branch stands on, beyond what the branch assumes of it. */
static inline spatial branch_seat_bias(const Branch *b, const Branch *child) {
	const LinkWork *seat = &b->work->links[child->seat_link];
	return (spatial){seat->al, add(seat->a, vec_from(b->gravity))};
}

/* Numbers of everything in the whole model: its piece (-1: none) and its number there. */
typedef struct Place {
	int piece, own;
} Place;

typedef struct Places {
	Place *link, *body, *node, *flex, *u, *q, *loop; // [as many as the model has]
	void *memory;
} Places;

/** cross: loops are no branch's own. */
CalStatus places_find(const CalModel *model, const Cut *cut, bool cross, Places *places);
void places_free(const CalModel *model, Places *places);

/** Fills a branch with a piece of a cut; branches[count] are being filled parents first. Without seat, burden and push. */
CalStatus branch_extract(const CalModel *model, const Cut *cut, const Places *places, int index, Branch *branch);
/** Once all are there: who stands on it, its spine, its border, its workspace. rows: loops that cross, NULL: none. */
CalStatus branch_connect(Branch *branches, int count, int index, const Rows *rows);
void branch_release(Branch *branch);

#endif
