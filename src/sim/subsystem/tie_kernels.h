// SPDX-License-Identifier: Apache-2.0
/*
 * tie_kernels.h — the matrices of a level of ties (subsystem.h), compiled for several widths of registers like the sweeps of
 * dynamics/tree/kernels.h: the same bits.
 */
#ifndef CALDER_SIM_SUBSYSTEM_TIE_KERNELS_H
#define CALDER_SIM_SUBSYSTEM_TIE_KERNELS_H

#include <stdbool.h>

#include "base/cpu.h"
#include "math/real.h"

struct TieLevel;

/* H = D'K D, R = D'K E and Lambda = E'K E, without their known columns. */
void LANED(tie_fill)(struct TieLevel *level);
/* H = U'D U, R = U'^-1 R, Lambda -= R'D^-1 R. false: a pivot is nothing beside its diagonal. */
bool LANED(tie_eliminate)(struct TieLevel *level);
/* With the forces on the edges known (edge_force): the multipliers, and what they do on the nodes, added to `force`. */
void LANED(tie_resolve)(struct TieLevel *level);

typedef struct TieKernels {
	void (*fill)(struct TieLevel *level);
	bool (*eliminate)(struct TieLevel *level);
	void (*resolve)(struct TieLevel *level);
} TieKernels;

const TieKernels *tie_kernels(CpuIsa isa);

#endif
