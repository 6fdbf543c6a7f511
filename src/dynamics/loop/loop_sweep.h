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
 * The inward sweep with loops, which leaves their multipliers as far as they close on the ground. Equations, points and what
 * they accelerate by without any force (z) are in work->loops. Returns what the sweep of the kernels does.
 */
int LANED(loop_inward)(const CalModel *model, const SweepInput *in, CalWork *work);

/* How far forces move the joints of loops, of clusters[loop_count], in units of the length for what slides. */
void LANED(loop_compliances)(const CalModel *model, double length, CalWork *work, LoopMobility *clusters);

/* LoopHooks of a model, whose loops take part in the sweeps, for its kernels. */
typedef struct LoopKernels {
	int (*inward)(const CalModel *model, const SweepInput *in, CalWork *work); // loop_inward()
	void (*compliances)(const CalModel *model, double length, CalWork *work, LoopMobility *clusters);
	LoopHooks on_ground, within;
} LoopKernels;

const LoopKernels *loop_kernels(CpuIsa isa);

static inline const LoopHooks *loop_hooks(const CalModel *model) {
	const LoopKernels *kernels = loop_kernels(model->isa);
	return model->loop_schedule->ground_step > 0 ? &kernels->within : &kernels->on_ground;
}

/* These hooks. */
void LANED(loop_close)(const CalModel *model, const Link *link, CalWork *work, ArticulatedBody *total);
void LANED(loop_pass)(const CalModel *model, const Link *link, int i, const uint8_t *prescribed, CalWork *work);
void LANED(loop_apply)(const CalModel *model, const Link *link, CalWork *work);
void LANED(loop_release)(const CalModel *model, const Link *link, CalWork *work, const spatial *A);
#endif

#endif
