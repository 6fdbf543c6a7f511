// SPDX-License-Identifier: Apache-2.0
/*
 * philox.h — random numbers as a function: Philox 4x32-10 (Salmon, Moraes, Dror and Shaw, "Parallel random numbers: as
 * easy as 1, 2, 3", SC11).
 *
 * A generator without state: ten rounds of multiplication and exclusive or turn a counter of 128 bits and a key of 64
 * bits into 128 bits that pass all common tests. Whoever draws names what he draws for by the counter; then neither order
 * nor number of draws matter, and any of them can be made again alone.
 */
#ifndef CALDER_MATH_PHILOX_H
#define CALDER_MATH_PHILOX_H

#include <stdint.h>

typedef struct Philox {
	uint32_t word[4];
} Philox;

/** counter and key by 32-bit words, the lowest first. */
Philox philox(Philox counter, uint32_t key_low, uint32_t key_high);

/** Two numbers of 64 bits for a seed, a case and a stream (whatever distinguishes draws of one case). */
typedef struct Draw {
	uint64_t a, b;
} Draw;
Draw draw(uint64_t seed, uint64_t number, uint64_t stream);

/** In the open interval (0, 1): the middles of 2^52 equal parts. */
double unit_interval(uint64_t bits);

/**
 * A permutation of 0 .. count-1 that is computed and not stored: where `index` goes. Different seeds and streams give
 * permutations that look unrelated. count >= 1.
 */
uint64_t permuted(uint64_t seed, uint64_t stream, uint64_t count, uint64_t index);

#endif
