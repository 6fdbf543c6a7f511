// SPDX-License-Identifier: Apache-2.0
/*
 * run.h — motions of a RefModel with loops, integrated to high order with the reference's own accelerations.
 *
 * Extrapolated modified midpoint rule (Gragg, Bulirsch, Stoer) of order 2 columns with equal steps. Rotations
 * advance in the local exponential chart of each step, so that the order holds for them too. Constraints are
 * held by their accelerations alone, or by projection after every step.
 */
#ifndef TEST_REFERENCE_RUN_H
#define TEST_REFERENCE_RUN_H

#include "reference/reference.h"

/* What acts at (t, q, u); *input is zeroed before. */
typedef void (*RefInputFn)(void *user, double t, const double *q, const double *u, CalInput *input);

typedef struct RefRun {
	RefInputFn input; // NULL: nothing acts
	void *user;
	int columns;      // 0: 6
	int project;      // nonzero: positions and velocities are projected after every step
	RefWeight weight; //
} RefRun;

/** Advances q and u from t0 to t1 in `steps` equal steps; nonzero: the mass matrix became singular. */
int ref_run(const RefModel *m, const RefRun *run, double t0, double t1, int steps, double *q, double *u);

#endif
