// SPDX-License-Identifier: Apache-2.0
/*
 * kepler.h — motion of a point around a point mass, exact to round-off over any time.
 */
#ifndef CALDER_DEVICE_KEPLER_H
#define CALDER_DEVICE_KEPLER_H

#include <stdbool.h>

#include <calder/base.h>

typedef struct OrbitState {
	CalVec3 r, v; // from the center [m], [m/s]
} OrbitState;

/** The state a time `dt` after `start`, ellipses, parabolas and hyperbolas alike. False: it passes through the center. */
bool kepler_state(double mu, OrbitState start, double dt, OrbitState *state);

#endif
