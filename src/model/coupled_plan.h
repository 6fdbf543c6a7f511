// SPDX-License-Identifier: Apache-2.0
/*
 * coupled_plan.h — an order of links and loops in which loops between chains couple few of them [THEORY 5.10].
 *
 * Elimination on the link where a loop closes carries all rungs of a ladder to the ground. Here links of both rails are taken
 * in turns, and a loop is eliminated as soon as the joints outboard of its two links satisfy it: it then couples these two
 * links, as a spring would. What is coupled at any time is the fill of the order, which is chosen once for a model.
 *
 * Unknowns are links (six accelerations) and loops (multipliers of the equations that take part): link i has the number i,
 * loop l the number link_count + l. A coupling of two unknowns is a block of 6 by 6 numbers, rows those of the smaller number.
 */
#ifndef CALDER_MODEL_COUPLED_PLAN_H
#define CALDER_MODEL_COUPLED_PLAN_H

#include <stdbool.h>

#include <calder/loops.h>
#include "model/model.h"

enum { COUPLED_SIZE = 6, COUPLED_BLOCK = 36 };

/* An unknown that is eliminated later and coupled with one. */
typedef struct CoupledNext {
	int32_t at;    // its number
	int32_t block; // of the two
} CoupledNext;

/* A link is passed: its joint is eliminated, and what is left moves to its parent. Or a loop is eliminated. */
typedef struct CoupledStep {
	int32_t at;          // number of the unknown
	int32_t next, count; // those coupled with it, in ascending order: first in CoupledPlan.next, number
	int32_t update;      // block of each two of them, first in CoupledPlan.updates
	int32_t move;        // block of each of them with the parent, -1: it is the parent; first in CoupledPlan.moves
	int32_t factor;      // its numbers in the workspace
} CoupledStep;

struct CoupledPlan {
	size_t size;
	int step_count, next_count, update_count, move_count, block_count, factor_count;
	int carried;     // numbers of those coupled with one link, at most
	double products; // as in CalLoopCost
	CoupledStep *steps;
	CoupledNext *next;
	int32_t *updates, *moves;
	int32_t *active; // [loop_count] equations that take part, 1 << r: no joint moves the others in any configuration
};

/*
 * The plan of a model whose loops are scheduled, if it pays or is asked for; from its allocator. False: no memory. There is none
 * with flexible bodies, couplings of coordinates, and loops of which some equations are redundant.
 */
bool coupled_plan_create(const CalModel *model, CoupledPlan **plan);
void coupled_plan_cost(const CoupledPlan *plan, CalLoopCost *cost);

/* Equations of a loop that take part. */
static inline int coupled_rows(const CoupledPlan *plan, int loop) {
	return __builtin_popcount((unsigned)plan->active[loop]);
}

#endif
