// SPDX-License-Identifier: Apache-2.0
/*
 * state_space_poles.h — eigenvalues as poles and zeros, in their order.
 */
#ifndef CALDER_ANALYSIS_STATE_SPACE_POLES_H
#define CALDER_ANALYSIS_STATE_SPACE_POLES_H

#include <calder/state_space.h>
#include "math/eigen_general.h"

CalPole pole_of(Complex value);
/** By frequency; of a pair, whose frequencies differ by round-off, the upper one first. */
void sort_poles(CalPole *poles, int count);

#endif
