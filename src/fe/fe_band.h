// SPDX-License-Identifier: Apache-2.0
/*
 * fe_band.h — sparse symmetric systems of a finite element model: reordered to a narrow band, factored by LAPACK.
 *
 * Only the equations that `inside` marks take part; the others are held. Vectors have all equations of the model, and
 * those that are held come back as zero. LAPACK runs on one thread, so that results do not depend on their number.
 */
#ifndef CALDER_FE_FE_BAND_H
#define CALDER_FE_FE_BAND_H

#include "fe/fe_model.h"

typedef struct FeBand {
	const CalFeModel *fe;
	CalAllocator allocator;
	int n;         // equations inside
	int width;     // below the diagonal
	int *equation; // [n] of the model, in the order of the band
	double *L;     // [n][width + 1] columns of the factor
	double *work;  // [n]
} FeBand;

/** Factors K + shift M. CAL_ERR_INPUT: singular; CAL_ERR_UNSUPPORTED: too large, or no LAPACK. */
CalStatus fe_band_factor(FeBand *band, const CalFeModel *fe, const bool *inside, double shift, CalError *error);
/** x[columns][dof_count] = (K + shift M)^-1 x */
void fe_band_solve(FeBand *band, int columns, double *x);
void fe_band_free(FeBand *band);

/**
 * How many modes of K x = value M x are below sigma with the outside held: the negative pivots of K - sigma M
 * (Sylvester's law of inertia). Of band only the order of the equations is used. *count = -1: sigma is too close to a
 * mode of some part of the equations for the pivots to be trusted; take another.
 */
CalStatus fe_band_count_below(const FeBand *band, double sigma, int *count, CalError *error);

/**
 * The `count` lowest modes of K x = value M x with the outside held: values[count], vectors[count][dof_count] with
 * x'Mx = 1. *count shrinks if there are fewer with mass. band holds K + shift M. None is missing: they are counted;
 * CAL_NOT_CONVERGED if the count cannot be met.
 */
CalStatus fe_lowest_modes(FeBand *band, const bool *inside, double shift, int *count, double *values, double *vectors,
                          CalError *error);

#endif
