// SPDX-License-Identifier: Apache-2.0
/*
 * mass.h — unit wrenches on nodes, for operational-space compliance of trees and of closed loops.
 */
#ifndef CALDER_DYNAMICS_TREE_MASS_H
#define CALDER_DYNAMICS_TREE_MASS_H

#include "model/work.h"

#if CAL_LANES == 1
/* Unit wrench along one of six axes, angular-first. */
spatial unit_wrench(int row);
/* Generalized forces J'e of a unit wrench at a node; needs poses. */
void unit_wrench_force(const CalModel *model, const CalWork *work, int node, int row, double *Q);
CalStatus check_compliance(const CalModel *model, const int *nodes, int count, const double *scratch);
/* The mean of C[n n] and its transpose. */
void make_symmetric(size_t n, double *C);
#endif

#endif
