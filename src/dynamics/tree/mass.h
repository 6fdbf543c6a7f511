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
/* Q += J'f, the generalized forces of a wrench at a node, world axes; needs poses. */
void wrench_force(const CalModel *model, const CalWork *work, int node, spatial f, double *Q);
/*
 * C[6 count][6 count] = J M^-1 J' of a tree, exactly symmetric, from what factor_inward() left: each unit wrench is carried from
 * its node to the root once, as forces are in the inward sweep. held as there. columns[nu 6 count] scratch.
 */
void compliance_columns(const CalModel *model, const uint8_t *held, CalWork *work, const int *nodes, int count,
                        double *columns, double *C);
/* The same, the mean of both triangles, without memory of the caller's: each unit wrench goes to the root, and outward to all nodes. */
void compliance_tree(const CalModel *model, const uint8_t *held, CalWork *work, const int *nodes, int count, double *C);
CalStatus check_compliance(const CalModel *model, const int *nodes, int count, const double *scratch);
/* The mean of C[n n] and its transpose. */
void make_symmetric(size_t n, double *C);
#endif

#endif
