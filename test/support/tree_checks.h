// SPDX-License-Identifier: Apache-2.0
/*
 * tree_checks.h — properties that trees of rigid and of flexible bodies have alike.
 */
#ifndef TEST_SUPPORT_TREE_CHECKS_H
#define TEST_SUPPORT_TREE_CHECKS_H

#include "support/random_tree.h"

/** Forward dynamics against the reference. */
void check_forward(uint64_t seed, TreeOptions options, CalSolver solver, double tolerance);
/**
 * Inverse dynamics of its accelerations gives the forces back: the residual of the equations of motion, in which the
 * conditioning of M plays no part.
 */
void check_inverse_of_forward(uint64_t seed, TreeOptions options, CalSolver solver, double tolerance);
/** Forward dynamics by the recursion and by the dense solver. */
void check_solvers_agree(uint64_t seed, TreeOptions options, double tolerance);
/** With all accelerations prescribed, hybrid dynamics returns them and the forces of inverse dynamics. */
void check_all_prescribed(uint64_t seed, TreeOptions options);

/** x[nu] = M^-1 tau by the reference. */
void reference_mass_solve(Fixture *f, double *x);
/** C = J M^-1 J' of nodes of the reference, by its Jacobians: [6 count][6 count], zero before. */
void reference_compliance(Fixture *f, const int *nodes, int count, double *C);

#endif
