// SPDX-License-Identifier: Apache-2.0
/*
 * ranks.h — branches that are assigned to ranks: what crosses an interface as a message.
 *
 * Neighboring branches go to one rank. Three messages cross an interface between two ranks, for each evaluation: the
 * parent's rank how the base turns in the world (12 numbers), the child's rank inertia and force at it (27), the
 * parent's rank its acceleration (6). Nothing else is sent unless everybody is to know everything (Ranks.whole). Chains
 * are joined one branch after the other (assembly.h), so that no columns cross an interface.
 */
#ifndef CALDER_COMPONENT_RANKS_H
#define CALDER_COMPONENT_RANKS_H

#include "component/assembly.h"

enum { RANKS_BASE_MOTION = 12, RANKS_BASE_INERTIA = 27, RANKS_BASE_ACCELERATION = 6 }; // numbers of a message

typedef struct Ranks {
	CalTransport transport;
	Branch *branches;
	int count;
	int *rank_of;   // [count] it only grows
	int *starts;    // [size + 1] of what each rank gives to a gather
	double *packet; // room for states of all, or accelerations and verdicts
	bool whole;     // all ranks get all accelerations, and continue with all branches
	bool failed;    // not whole: an evaluation went wrong, and the run continued
	int lost;       // 1 + the rank that is gone, -1: some rank, 0: none
	int64_t evaluations, messages, numbers, gathers, gathered;
} Ranks;

CalStatus ranks_create(const CalTransport *transport, Branch *branches, int count, const CalModel *model,
                       Ranks **ranks);
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

/** Accelerations and verdicts of all branches to all ranks; branches of others also get their part of the state. */
CalStatus ranks_gather_udot(Ranks *r, const CalState *state);
/** States of all branches to all ranks, in arrays of the model. */
CalStatus ranks_gather_state(Ranks *r, double *q, double *u);
/** What becomes of the status of an evaluation, or of calls, on this rank. */
CalStatus ranks_agree_status(Ranks *r, CalStatus status);

#endif
