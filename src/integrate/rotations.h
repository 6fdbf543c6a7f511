// SPDX-License-Identifier: Apache-2.0
/*
 * rotations.h — where a model's quaternions have their three speeds, and how fast they turn.
 *
 * Displacements delta of a quaternion are rotation vectors: a chart that ends at a full turn. Schemes with
 * large steps hold delta within it. Joints of the user's own are not listed: their charts are not known.
 */
#ifndef CALDER_INTEGRATE_ROTATIONS_H
#define CALDER_INTEGRATE_ROTATIONS_H

#include <calder/model.h>

/** Writes the index of the first of three speeds of each quaternion (room for nu / 3); returns their number. */
int rotations_find(const CalModel *model, int *rotations);

/** The largest length among the three-vectors of x[nu] at these places: of u a rate, of delta an angle. */
double rotations_largest(const int *rotations, int count, const double *x);

#endif
