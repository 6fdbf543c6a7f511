// SPDX-License-Identifier: Apache-2.0
/*
 * dense.h — small dense matrices for identities, and the matrices of the library's spatial operators.
 *
 * Matrices live as long as the fixture they are made for; products and sums make new ones. The matrix of an
 * operator is built column by column from products with unit vectors; all need cal_mass_factor().
 */
#ifndef TEST_SUPPORT_DENSE_H
#define TEST_SUPPORT_DENSE_H

#include "support/random_tree.h"

#include <calder/operators.h>

typedef struct Dense {
	int rows, cols;
	double *x; // row-major
} Dense;

Dense dense(Fixture *f, int rows, int cols);
Dense dense_one(Fixture *f, int n);
Dense mul(Fixture *f, Dense a, Dense b);
Dense transposed(Fixture *f, Dense a);
/** a + s b */
Dense sum(Fixture *f, Dense a, double s, Dense b);
/** a b a' */
Dense congruence(Fixture *f, Dense a, Dense b);
/** Largest entry in magnitude. */
double dense_max(Dense a);

/** |got - want| <= tolerance * max(scale, max|want|) in all entries. */
void check_dense_at(const char *file, int line, const Fixture *f, const char *what, Dense got, Dense want, double scale,
                    double tolerance);
/** (fixture, what, got, want, scale, tolerance) */
#define check_dense(...) check_dense_at(__FILE__, __LINE__, __VA_ARGS__)

typedef CalStatus (*StackedFn)(const CalModel *, const CalWork *, const CalSpatial *, CalSpatial *);
typedef CalStatus (*SpeedsFn)(const CalModel *, const CalWork *, const double *, double *);
typedef CalStatus (*BlockFn)(const CalModel *, const CalWork *, int, double *);

/** Of gather, scatter and the articulated ones: [6 nl][6 nl]. */
Dense operator_stacked(Fixture *f, StackedFn product);
/** Of the innovations: [nu][nu]. */
Dense operator_speeds(Fixture *f, SpeedsFn product);
/** H: [nu][6 nl], and H' as its own function gives it. */
Dense operator_joint(Fixture *f);
Dense operator_joint_transpose(Fixture *f);
/** Block diagonal of 6x6 matrices of the links. */
Dense operator_blocks(Fixture *f, BlockFn get);
/** The factors of M = L D L' with their inverses and transposes, each by its own function: [nu][nu]. */
typedef struct Innovations {
	Dense L, Lt, Li, Lit, D, Dinv;
	double sum_log; // of the diagonal
} Innovations;
Innovations operator_innovations(Fixture *f);
/** The blocks (parent(k), k) of a [6 nl][6 nl] matrix. */
Dense operator_parent_blocks(Fixture *f, Dense a);

#endif
