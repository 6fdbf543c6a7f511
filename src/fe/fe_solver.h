// SPDX-License-Identifier: Apache-2.0
/*
 * fe_solver.h — sparse symmetric systems of a finite element model: K + shift M = LDL', and the modes that follow from it.
 *
 * Only the equations that `inside` marks take part; the others are held. Vectors have all equations of the model, and
 * those that are held come back as zero. Everything runs on one thread in a fixed order with arithmetic of our own: the
 * bits do not depend on the machine. Memory is known before the factorization starts (fe_solver_open).
 */
#ifndef CALDER_FE_FE_SOLVER_H
#define CALDER_FE_FE_SOLVER_H

#include "fe/fe_order.h"

typedef struct FeSolver {
	const CalFeModel *fe;
	CalAllocator allocator;
	FeOrder order;
	const struct FeKernels *kernels;
	size_t *panel;  // [front_count + 1] where the panel of a front starts in L: rows of its equations, then of its rows
	double *L;      // rows of a panel are padded to a multiple of four
	double *D;      // [equations] pivots
	double *size;   // [equations] diagonal before the elimination: |K_ii| + |shift M_ii|
	double *scaled; // [block][columns] rows of L times D
	double *x;      // [equations + rows][4] right-hand sides
	int *relative;  // [rows] of a panel in that of another front
} FeSolver;

/** A factor of more bytes than this is refused unless the caller raises the limit. */
#define FE_FACTOR_BYTES 8589934592.0

/**
 * Orders the equations and allocates the factor. CAL_ERR_UNSUPPORTED: it would need more than max_bytes (0:
 * FE_FACTOR_BYTES); CAL_ERR_MEMORY. Nothing is left to free after an error.
 */
CalStatus fe_solver_open(FeSolver *solver, const CalFeModel *fe, const bool *inside, double max_bytes, CalError *error);
void fe_solver_free(FeSolver *solver); // accepts one that was not opened ({0})
/** Factors K + shift M, which must be positive definite; CAL_ERR_INPUT names the equation where it is not. */
CalStatus fe_solver_factor(FeSolver *solver, double shift, CalError *error);
/** x[columns][dof_count] = (K + shift M)^-1 x */
void fe_solver_solve(FeSolver *solver, int columns, double *x);

/**
 * How many modes of K x = value M x are below sigma with the outside held: the negative pivots of K - sigma M
 * (Sylvester's law of inertia). -1: sigma is too close to a mode of some part of the equations for the pivots to be
 * trusted, since none are exchanged; take another. The factor is gone afterwards.
 */
int fe_solver_count_below(FeSolver *solver, double sigma);

/**
 * The `count` lowest modes of K x = value M x with the outside held: values[count], vectors[count][dof_count] with
 * x'Mx = 1. *count shrinks if there are fewer with mass. The solver holds the factor of K + shift M, and another or none
 * afterwards. None is missing: they are counted; CAL_NOT_CONVERGED if the count cannot be met.
 */
CalStatus fe_lowest_modes(FeSolver *solver, double shift, int *count, double *values, double *vectors, CalError *error);

#endif
