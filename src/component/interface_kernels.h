// SPDX-License-Identifier: Apache-2.0
/*
 * interface_kernels.h — the sweeps that branches add to forward dynamics (interface.h), compiled for several widths of
 * registers like those of dynamics/tree/kernels.h: the same bits.
 */
#ifndef CALDER_COMPONENT_INTERFACE_KERNELS_H
#define CALDER_COMPONENT_INTERFACE_KERNELS_H

#include "component/interface.h"

typedef struct InterfaceKernels {
	void (*base_path)(const CalModel *model, const SweepInput *in, const int32_t *links, int count, CalWork *work);
	void (*inward)(const CalModel *model, const uint8_t *prescribed, CalWork *work, Interface *interface);
	void (*join)(const InterfaceColumns *inner, spatial c, const ArticulatedBody *outer,
	             const InterfaceColumns *outer_columns, InterfaceJoin *join, ArticulatedBody *body,
	             const InterfaceColumns *out);
	spatial (*split)(const InterfaceColumns *inner, const InterfaceJoin *join, spatial A0, const double *x, double *F);
	void (*apply)(const CalModel *model, const double *x, const Interface *interface, CalWork *work);
} InterfaceKernels;

const InterfaceKernels *interface_kernels(CpuIsa isa);

#endif
