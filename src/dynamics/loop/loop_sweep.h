// SPDX-License-Identifier: Apache-2.0
/*
 * loop_sweep.h — what loops do in the sweeps of forward dynamics, link by link (loop_sweep.c).
 */
#ifndef CALDER_DYNAMICS_LOOP_LOOP_SWEEP_H
#define CALDER_DYNAMICS_LOOP_LOOP_SWEEP_H

#include "dynamics/loop/loops.h"
#include "model/loop_plan.h"

#if CAL_LANES == 1
/*
 * The inward sweep with loops, which leaves their multipliers as far as they close on the ground. Rows, points and what the
 * rows accelerate by without any force (z) are in work->loops. Returns what the sweep of the kernels does.
 */
int LANED(loop_inward)(const CalModel *model, const SweepInput *in, CalWork *work);

/* What the kernels call, if some loop closes on a link (LOOPS_WITHIN): */

/* A link whose modes were eliminated: loops that close on it change its inertia and force. */
void LANED(loop_close)(const CalModel *model, const Link *link, CalWork *work, ArticulatedBody *total);
/* A link whose joint was eliminated: its open loops move on to the parent. */
void LANED(loop_pass)(const CalModel *model, const Link *link, int i, const uint8_t *prescribed, CalWork *work);
/* Outward, before the joint of a link: the forces of its open loops. */
void LANED(loop_apply)(const CalModel *model, const Link *link, CalWork *work);
/* Outward, with A of the link: multipliers of loops that close on it, then their forces on the modes that it carries. */
void LANED(loop_release)(const CalModel *model, const Link *link, CalWork *work, const spatial *A);
/* How they take part in the sweeps of this model. */
INLINE int loop_mode(const CalModel *model) {
	return model->loop_schedule->ground_step > 0 ? LOOPS_WITHIN : LOOPS_ON_GROUND;
}
/* A joint with open loops keeps the gains of each column. */
INLINE int loop_is_open(const CalModel *model, const Link *link) {
	return link->loop_link >= 0 &&
	       model->loop_schedule->links[link->loop_link].count > model->loop_schedule->links[link->loop_link].closing;
}
#endif

#endif
