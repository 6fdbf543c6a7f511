// SPDX-License-Identifier: Apache-2.0
/*
 * branches.h — a model cut into branches, as the files of this folder see it: made in branches.c, evaluated in
 * parallel_forward.c.
 */
#ifndef CALDER_COMPONENT_BRANCHES_H
#define CALDER_COMPONENT_BRANCHES_H

#include "component/cross_loops.h"
#include "component/ranks.h"

/* The call at hand, all in one place: whatever the caller's thread has written every other one has to fetch. */
typedef struct Call {
	uint64_t number;
	CalState state, elastic;
	CalInput input; // {0}: none
	double h;       // not zero: an implicit step
	double *udot;
	BranchThen then;
	bool still; // everything is at rest and weighs nothing: what multipliers alone bring about
	RowsCall rows;
	double *value, *rate; // [rows] of branches_residual()
} Call;

typedef struct Told {
	Seat seat;
	Burden burden;
	Push push;
} Told;

struct CalBranches {
	const CalModel *model;
	CalAllocator allocator;
	Branch *branches; // parents before children
	int count;
	Cut cut;
	Places places;
	Team *team; // NULL: one thread
	bool own_team;
	int threads;
	int *worker_of; // [count] -1: on another rank
	Ranks *ranks;   // NULL: all are here
	Told *told;     // [count]
	Assembly assembly;
	double *numbers;      // [2 rows + nu + nq] scratch of a projection, or accelerations of the whole model
	CalWork *whole;       // of the model in one piece, for when its loops leave a doubt; NULL: it has none
	Rows *rows;           // loops that reach from branch to branch, NULL: there are none
	void *memory, *block; // of these, of this
	bool drives;          // rows of loops are driven
	double rows_power;    // branches_rows_power()
	int culprit;
	_Alignas(BRANCH_LINES) Call call;
};

/* Freedom of the whole model. */
static inline int whole_number(const Branch *b, int own) {
	for (int k = 0; k < b->u_segments; ++k) {
		const Segment *segment = &b->u_segment[k];
		if (own >= segment->own && own < segment->own + segment->count)
			return segment->whole + own - segment->own;
	}
	return -1;
}

/** udot of a branch is known: to whoever wants it. */
void solver_conclude(CalBranches *s, Branch *b);
/** Whether the pivots of some loop leave a doubt. Waits for branches with loops; with ranks, as far as it was told. */
bool solver_is_doubtful(const CalBranches *s);
/** The call at hand by the model in one piece, which judges rows by geometry and refines; all branches conclude. */
CalStatus solver_run_whole(CalBranches *s);

/** The first link of a branch whose cut leaves a freedom with next to no inertia; -1: there is none, -2: no memory. */
int solver_probe(CalBranches *s);

#endif
