// SPDX-License-Identifier: Apache-2.0
/*
 * sobol.h — Sobol's low-discrepancy sequence in up to 40 dimensions.
 *
 * Direction numbers: S. Joe and F. Y. Kuo, "Constructing Sobol sequences with better two-dimensional projections", SIAM J.
 * Sci. Comput. 30 (2008), table new-joe-kuo-6. Every point is computed from its number alone.
 */
#ifndef CALDER_MATH_SOBOL_H
#define CALDER_MATH_SOBOL_H

#include <stdint.h>

enum { SOBOL_DIMENSIONS = 40 };

/** Coordinate `dimension` (from 0) of point `index` (from 0), times 2^32. Point 0 is the origin. */
uint32_t sobol(int dimension, uint32_t index);

#endif
