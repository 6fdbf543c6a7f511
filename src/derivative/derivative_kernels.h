// SPDX-License-Identifier: Apache-2.0
/*
 * derivative_kernels.h — the sweep and the solve of derivatives, compiled for several widths of registers. One source, sums in
 * the same order, nothing fused: all give the same bits (test/derivative/test_derivatives.c).
 */
#ifndef CALDER_DERIVATIVE_DERIVATIVE_KERNELS_H
#define CALDER_DERIVATIVE_DERIVATIVE_KERNELS_H

#include "derivative/derivative.h"

typedef struct DerivativeKernels {
	/* Zeros in all rows and matrices. */
	void (*clear)(CalDerivatives *d);
	/* Own inertias of all links as rigid ones; those of flexible bodies are overwritten. */
	void (*own)(const CalModel *model, CalDerivatives *d);
	/* M, dtau/dq and dtau/du in parts. */
	void (*inward)(const CalModel *model, CalDerivatives *d);
	/* The same complete. */
	void (*assemble)(CalDerivatives *d);
	/* The first dof with a number in M, dq or du that is not finite, or -1. */
	int (*not_finite)(const CalDerivatives *d);
	/* M = L'D L of the dofs that are not held; the first that is singular, or -1. */
	int (*factor)(CalDerivatives *d, const uint8_t *held);
	/* dq and du := -M^-1 of them; M^-1. */
	void (*solve)(CalDerivatives *d);
	void (*invert)(CalDerivatives *d);
} DerivativeKernels;

const DerivativeKernels *derivative_kernels(CpuIsa isa);

#endif
