// SPDX-License-Identifier: Apache-2.0
/*
 * quantile.h — values of distributions by their quantile functions: one number in (0, 1) gives one value.
 *
 * Stratified and low-discrepancy designs need exactly this form, and it never rejects a draw.
 */
#ifndef CALDER_MATH_QUANTILE_H
#define CALDER_MATH_QUANTILE_H

/** Of the standard normal distribution, 0 < p < 1; a few units in the last place off. */
double quantile_normal(double p);
/** Of mean and deviation std > 0, within [low, high], low < high; either may be infinite. */
double quantile_truncated(double p, double mean, double std, double low, double high);
double quantile_triangular(double p, double low, double mode, double high);

#endif
