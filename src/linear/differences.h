// SPDX-License-Identifier: Apache-2.0
/*
 * differences.h — columns of derivatives by positions and speeds, in the tangent space.
 *
 * Central differences of fourth order with the steps h and 2h,
 *   f' = (8 (f(h) - f(-h)) - (f(2h) - f(-2h))) / 12h,
 * h = 2e-4 in units of the coordinate: the error of the formula, h^4/30 f^(5), and that of round-off, 2e-16 f / h, are
 * both about 1e-12 of the forces that are differenced.
 */
#ifndef CALDER_LINEAR_DIFFERENCES_H
#define CALDER_LINEAR_DIFFERENCES_H

#include <stdbool.h>

#include <calder/model.h>

#define DIFFERENCE_STEP 2e-4

/** force[nu] at a state. */
typedef CalStatus (*DifferenceFn)(void *user, const CalState *state, double *force);

typedef struct Difference {
	const CalModel *model;
	const CalState *about;
	CalState *at; // scratch
	int dof;      // position or speed that is varied
	double step;  // h
	bool speed;   //
} Difference;

/** column[nu] of f' ; scratch[nu]. */
CalStatus difference_column(const Difference *d, DifferenceFn force, void *user, double *column, double *scratch);

/** scale[nu]: what counts like 1 rad of each coordinate. M[nu nu]: the mass matrix, of which the diagonal is read. */
void difference_scales(const CalModel *model, const double *M, double *scale);

#endif
