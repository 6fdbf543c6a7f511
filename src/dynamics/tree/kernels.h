// SPDX-License-Identifier: Apache-2.0
/*
 * kernels.h — forward and inverse dynamics and composite bodies, compiled for several widths of registers.
 *
 * The same source, without fused multiply-add and with sums in the same order: all give the same bits
 * (test/dynamics/test_kernels.c), so that the choice is one of speed alone.
 */
#ifndef CALDER_DYNAMICS_TREE_KERNELS_H
#define CALDER_DYNAMICS_TREE_KERNELS_H

#include "dynamics/tree/articulated.h"
#include "dynamics/tree/composite.h"
#include "dynamics/tree/inverse.h"

#if CAL_LANES == 1
typedef struct ForwardKernels {
	void (*motion)(const CalModel *model, dvec3 gravity, const double *q, const double *u, CalWork *work);
	void (*outward)(const CalModel *model, const SweepInput *in, CalWork *work);
	void (*outward_rest)(const CalModel *model, const SweepInput *in, CalWork *work);
	void (*outward_in)(const CalModel *model, dvec3 gravity, const SweepInput *in, CalWork *work);
	int (*inward)(const CalModel *model, const SweepInput *in, CalWork *work);
	void (*accelerate)(const CalModel *model, const SweepInput *in, CalWork *work, double *udot, double *force);
} ForwardKernels;

const ForwardKernels *forward_kernels(CpuIsa isa);

/* Inverse dynamics and composite bodies: dynamics/tree/inverse.h, composite.h. */
typedef struct InertiaKernels {
	void (*inverse_outward)(const CalModel *model, dvec3 gravity, const double *q, const double *u, const double *udot,
	                        CalWork *work);
	void (*inverse_inward)(const CalModel *model, CalWork *work, double *tau);
	void (*composite_outward)(const CalModel *model, const double *q, CalWork *work);
	void (*composite_inward)(const CalModel *model, CalWork *work);
	void (*composite_matrix)(const CalModel *model, MassForm form, CalWork *work, double *M);
} InertiaKernels;

const InertiaKernels *inertia_kernels(CpuIsa isa);
#endif

#endif
