// SPDX-License-Identifier: Apache-2.0
/*
 * system.h — accelerations from system matrices: mass matrix and constraint rows, assembled and factored now and then.
 *
 *   M0 udot = f + G0' lambda,   G0 udot = gamma - 2 damping frequency rate - frequency^2 residual
 * f, gamma, residuals and rates are those of the state; M0 and G0 those of the last update. With an update before every
 * evaluation this is the dense formulation, otherwise that of periodic updates.
 */
#ifndef BENCH_PAPERS_SYSTEM_H
#define BENCH_PAPERS_SYSTEM_H

#include "run.h"

typedef struct System {
	PaperRun *run;
	int n;
	CalSystemForm *form;
	double *memory;
	double *delta; // [n]
	double *udot;  // [n] result
} System;

/** To be released by system_close(), also after a failure. */
CalStatus system_open(PaperRun *run, System *system);
void system_close(System *system);

/** Assembles and factors the matrices at the state of the run. CAL_SINGULAR: not positive definite. */
CalStatus system_update(System *system);
/** udot at the state of the run, with the matrices as they are. */
CalStatus system_accelerate(System *system);
/** Euler-Cromer: `steps` of the paper's size from step number `first` on, an update before every `interval`-th. */
CalStatus system_step(System *system, int64_t first, int64_t steps, int64_t interval);

#endif
