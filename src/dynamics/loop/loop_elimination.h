// SPDX-License-Identifier: Apache-2.0
/*
 * loop_elimination.h — constraint equations eliminated one loop after the other, in the order of the plan (model/loop_plan.h).
 */
#ifndef CALDER_DYNAMICS_LOOP_LOOP_ELIMINATION_H
#define CALDER_DYNAMICS_LOOP_LOOP_ELIMINATION_H

#include "dynamics/loop/loops.h"
#include "model/loop_plan.h"

#if CAL_LANES == 1
/* Of what a gain might be: a smaller one is nothing but round-off. */
#define LOOP_ROUND_OFF 1e-13

/*
 * Eliminates the loop of a step: Lambda lambda + Gamma'A + beta = 0 with A of the link on which it closes. M and b
 * (NULL: on the ground) become those that the link has with the loop closed.
 */
void LANED(loop_eliminate)(const CalModel *model, const LoopStep *step, CalWork *work, ArticulatedInertia *M,
                           spatial *b);
/* lambda of the loop of a step, those of later steps being known; A NULL: on the ground. */
void LANED(loop_resolve)(const LoopStep *step, LoopWork *w, const spatial *A);
/*
 * After all eliminations: nonzero, if equations contradict each other; z[m], the accelerations that they were begun with, is
 * then without what no force can bring about, and the sweep is to be made again with it.
 */
int LANED(loop_reconcile)(const CalModel *model, LoopWork *w, double *z);
/* lambda as the elimination left it, redundant equations being zero, to the equations; and back. */
void LANED(loop_take_basic)(const CalModel *model, LoopWork *w);
void LANED(loop_put_basic)(const CalModel *model, LoopWork *w);
/* Once all are known: the smallest lambda, rank, independent equations; force[nu] of what is prescribed, or NULL, follows. */
void LANED(min_norm_multipliers)(const CalModel *model, const uint8_t *prescribed, LoopWork *w, double *force);
#endif

#endif
