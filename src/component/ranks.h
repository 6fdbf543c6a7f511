// SPDX-License-Identifier: Apache-2.0
/*
 * ranks.h — branches that are dealt out to ranks: what crosses a cut as a message.
 *
 * Neighbouring branches go to one rank. Of a cut between two ranks three messages tell, for each evaluation: the parent's
 * rank how the base turns in the world (12 numbers), the child's rank inertia and force at it (27), the parent's rank its
 * acceleration (6). Nothing else is told unless everybody is to know everything (Ranks.whole). Chains are joined one branch
 * after the other (assembly.h), so that no columns cross a cut.
 */
#ifndef CALDER_COMPONENT_RANKS_H
#define CALDER_COMPONENT_RANKS_H

#include "component/assembly.h"

enum { RANKS_BASE = 12, RANKS_BURDEN = 27, RANKS_PUSH = 6 }; // numbers of a message

typedef struct Ranks {
	CalTransport transport;
	Branch *branches;
	int count;
	int *rank_of;   // [count] it only grows
	int *starts;    // [size + 1] of what each rank gives to a gather
	double *packet; // room for states of all, or accelerations and verdicts
	bool whole;     // all ranks get all accelerations, and go on with all branches
	bool failed;    // not whole: an evaluation went wrong, and the run went on
	int lost;       // 1 + the rank that is gone, -1: some rank, 0: none
	int64_t evaluations, messages, numbers, gathers, gathered;
} Ranks;

CalStatus ranks_create(const CalTransport *transport, Branch *branches, int count, const CalModel *model,
                       Ranks **ranks);
void ranks_destroy(const CalModel *model, Ranks *ranks); // accepts NULL

/** NULL: all are here. */
static inline bool ranks_has(const Ranks *r, int branch) { return !r || r->rank_of[branch] == r->transport.rank; }

/** The three things that are told, by whom they are told and to whom. */
void ranks_tell_base(Ranks *r, const Branch *child, const SweepBase *base);
void ranks_take_base(Ranks *r, Branch *b);
void ranks_tell_burden(Ranks *r, const Branch *b);
void ranks_take_burden(Ranks *r, const Branch *child);
void ranks_tell_push(Ranks *r, const Branch *child);
void ranks_take_push(Ranks *r, const Branch *b);

/** Accelerations and verdicts of all branches to all ranks; branches of others also get their part of the state. */
CalStatus ranks_gather_udot(Ranks *r, const CalState *state);
/** States of all branches to all ranks, in arrays of the model. */
CalStatus ranks_gather_state(Ranks *r, double *q, double *u);
/** What becomes of the status of an evaluation, or of calls, on this rank. */
CalStatus ranks_verdict(Ranks *r, CalStatus status);

#endif
