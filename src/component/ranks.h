// SPDX-License-Identifier: Apache-2.0
/*
 * ranks.h — branches that are assigned to ranks: what crosses an interface as a message.
 *
 * Neighboring branches go to one rank. Three messages cross an interface between two ranks, for each evaluation: the
 * parent's rank how the base turns in the world (12 numbers), the child's rank inertia and force at it (27), the
 * parent's rank its acceleration (6). Nothing else is sent unless everybody is to know everything (Ranks.whole). Chains
 * are joined one branch after the other (assembly.h), so that no columns of interfaces cross an interface.
 *
 * Loops that span branches (cross_loops.h) add, to an interface with m constraint equations of loops that have an end
 * outboard of it: where the base is (6 numbers, outward), their columns with the inertia (m m + 7 m, and 5 also where m
 * is 0), their multipliers with the acceleration (m). Two ranks with an end of a loop each send each other its frame (24). A chain on the ground sends its
 * columns (m m + m + 5) to the rank of branch 0, where the multipliers are found, and gets these back (m).
 */
#ifndef CALDER_COMPONENT_RANKS_H
#define CALDER_COMPONENT_RANKS_H

#include "component/cross_loops.h"

enum { // numbers of a message
	RANKS_BASE_MOTION = 12,
	RANKS_BASE_INERTIA = 27,
	RANKS_BASE_ACCELERATION = 6,
	RANKS_BASE_POSITION = 6,
	RANKS_PLACE = 18,
	RANKS_FRAME = 24,
	RANKS_MOBILITY = 5,
	RANKS_MEASURES = 7,
};

typedef struct BranchPlace BranchPlace; // component/branches.h

typedef struct Ranks {
	CalTransport transport;
	Branch *branches;
	int count;
	CrossLoops *cross_loops; // NULL: none spans branches
	int *rank_of;            // [count] it only grows
	int *starts;             // [size + 1] of what each rank gives to a gather
	double *packet;          // room for states of all, or accelerations and verdicts, or a message with columns
	bool whole;              // all ranks get all accelerations, and continue with all branches
	bool failed;             // not whole: an evaluation went wrong, and the run continued
	int lost;                // 1 + the rank that is gone, -1: some rank, 0: none
	int64_t evaluations, corrections, residuals, messages, numbers, gathers, gathered;
} Ranks;

CalStatus ranks_create(const CalTransport *transport, Branch *branches, int count, const CalModel *model,
                       CrossLoops *cross_loops, Ranks **ranks);
void ranks_destroy(const CalModel *model, Ranks *ranks); // accepts NULL

/** NULL: all are here. */
static inline bool ranks_has(const Ranks *r, int branch) { return !r || r->rank_of[branch] == r->transport.rank; }

/** The three things that are sent, by whom they are sent and to whom. */
void ranks_send_base_motion(Ranks *r, const Branch *child, const SweepBase *base);
void ranks_receive_base_motion(Ranks *r, Branch *b);
void ranks_send_base_inertia(Ranks *r, const Branch *b);
void ranks_receive_base_inertia(Ranks *r, const Branch *child);
void ranks_send_base_acceleration(Ranks *r, const Branch *child);
void ranks_receive_base_acceleration(Ranks *r, const Branch *b);

/** Pose and velocity of the base of a branch, 18 numbers in one message (branch_places.c). */
void ranks_send_place(Ranks *r, const Branch *child, const SweepBase *base, const BranchPlace *place);
void ranks_receive_place(Ranks *r, Branch *b, BranchPlace *place);

/** The same for loops that span branches: positions and frames outward, columns of chains on the ground, multipliers. */
void ranks_send_base_position(Ranks *r, const Branch *child);
void ranks_receive_base_position(Ranks *r, const Branch *b);
void ranks_exchange_frames(Ranks *r, uint64_t evaluation);
void ranks_send_columns(Ranks *r, const Branch *b);
void ranks_receive_columns(Ranks *r, const Branch *b);
void ranks_send_multipliers(Ranks *r, const Branch *b);
void ranks_receive_multipliers(Ranks *r, const Branch *b);

/**
 * x[RANKS_MEASURES]: the largest of what the ranks with branches have, each for itself, except that x[1] is that of the
 * rank with the largest x[0]. Two messages for each of these ranks but the first, along a binary tree.
 */
void ranks_find_largest(Ranks *r, double *x);

/** Accelerations and verdicts of all branches to all ranks; branches of others also get their part of the state. */
CalStatus ranks_gather_udot(Ranks *r, const CalState *state);
/** States of all branches to all ranks, in arrays of the model. */
CalStatus ranks_gather_state(Ranks *r, double *q, double *u);
/** What becomes of the status of an evaluation, or of calls, on this rank. */
CalStatus ranks_agree_status(Ranks *r, CalStatus status);

#endif
