// SPDX-License-Identifier: Apache-2.0
/*
 * rng.h — random numbers of the tests: counter-based, so that a seed names a case on every machine.
 *
 * The n-th number of a stream is a hash (SplitMix64) of the seed and n. test_seed() is the base of all
 * streams of a program: a fixed number, or that of the environment variable CALDER_TEST_SEED. A test takes
 * rng_make(test_seed() + case), and a failure prints the sum: CALDER_TEST_SEED=sum repeats it as case 0.
 */
#ifndef TEST_SUPPORT_RNG_H
#define TEST_SUPPORT_RNG_H

#include <calder/base.h>

#include <stdint.h>

typedef struct Rng {
	uint64_t seed, counter;
} Rng;

/** The base seed; prints it at its first use. */
uint64_t test_seed(void);

Rng rng_make(uint64_t seed);
uint64_t rng_next(Rng *r);
double rng_uniform(Rng *r, double low, double high);
int rng_int(Rng *r, int count); // 0 .. count-1
int rng_chance(Rng *r, double probability);
CalVec3 rng_vector(Rng *r, double size); // components in (-size, size)
CalVec3 rng_direction(Rng *r);           // unit
CalQuat rng_quat(Rng *r);                // unit, any rotation
/** Rotation by at most max_angle about any axis. */
CalQuat rng_quat_within(Rng *r, double max_angle);
CalPlacement rng_placement(Rng *r);
/** Mass, center and inertia of a cloud of points: generic and always possible. */
void rng_mass(Rng *r, double scale, double *mass, CalVec3 *com, CalMat3 *inertia);
void rng_fill(Rng *r, double size, int count, double *x);

#endif
