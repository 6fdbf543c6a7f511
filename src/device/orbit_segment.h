// SPDX-License-Identifier: Apache-2.0
/*
 * orbit_segment.h — a piece of a free fall around a planet that is not quite a point mass, as a function of time.
 */
#ifndef CALDER_DEVICE_ORBIT_SEGMENT_H
#define CALDER_DEVICE_ORBIT_SEGMENT_H

#include "device/kepler.h"

enum { SEGMENT_NODES = 12 };

/** Numbers alone: it is in the discrete states of a device. */
typedef struct OrbitSegment {
	double epoch, length;            // from epoch on for this time; length 0: a Kepler orbit for all times [s]
	OrbitState start;                // at the epoch
	CalVec3 rate[SEGMENT_NODES + 1]; // Chebyshev coefficients of the deviation from Kepler's orbit: of its rate,
	CalVec3 off[SEGMENT_NODES + 2];  // and of itself
} OrbitSegment;

/** The acceleration at a place beside that of the point mass. */
typedef CalVec3 PerturbationFn(const void *user, CalVec3 r);

/** The segment that begins with segment->start at segment->epoch. False: it passes through the center. */
bool orbit_segment_solve(double mu, PerturbationFn *perturbation, const void *user, OrbitSegment *segment);
/** The state at time t; beyond the segment's end the deviation is that of its end. */
bool orbit_segment_state(double mu, const OrbitSegment *segment, double t, OrbitState *state);
/** A length that is safe anywhere on the orbit: 0.4 rad where it is nearest to the center, but not nearer than `least`. */
double orbit_segment_length(double mu, OrbitState state, double least);
/** g(R + x) - g(R) of the point mass, without cancellation: Encke's form. */
CalVec3 point_mass_beside(double mu, CalVec3 R, CalVec3 x);

#endif
