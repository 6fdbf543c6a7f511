// SPDX-License-Identifier: Apache-2.0
/*
 * philox.c — see philox.h.
 *
 * The permutation is a Feistel network over the smallest even number of bits that holds count, with Philox as its round
 * function; results beyond count go through it again until they are within (cycle walking). On average four passes at
 * most are needed, since the network is at most four times as large as count.
 */
#include "math/philox.h"

static void multiply(uint32_t a, uint32_t b, uint32_t *high, uint32_t *low) {
	const uint64_t product = (uint64_t)a * b;
	*high = (uint32_t)(product >> 32);
	*low = (uint32_t)product;
}

Philox philox(Philox counter, uint32_t key_low, uint32_t key_high) {
	uint32_t *x = counter.word;
	for (int round = 0; round < 10; round++) {
		uint32_t high0, low0, high1, low1;
		multiply(0xD2511F53u, x[0], &high0, &low0);
		multiply(0xCD9E8D57u, x[2], &high1, &low1);
		x[0] = high1 ^ x[1] ^ key_low;
		x[1] = low1;
		x[2] = high0 ^ x[3] ^ key_high;
		x[3] = low0;
		key_low += 0x9E3779B9u;  // golden ratio
		key_high += 0xBB67AE85u; // sqrt(3) - 1
	}
	return counter;
}

Draw draw(uint64_t seed, uint64_t number, uint64_t stream) {
	const Philox counter = {{(uint32_t)number, (uint32_t)(number >> 32), (uint32_t)stream, (uint32_t)(stream >> 32)}};
	const Philox x = philox(counter, (uint32_t)seed, (uint32_t)(seed >> 32));
	return (Draw){x.word[0] | (uint64_t)x.word[1] << 32, x.word[2] | (uint64_t)x.word[3] << 32};
}

double unit_interval(uint64_t bits) { return ((double)(bits >> 12) + 0.5) * 0x1p-52; }

uint64_t permuted(uint64_t seed, uint64_t stream, uint64_t count, uint64_t index) {
	enum { ROUNDS = 6 };
	int half = 1;
	while (half < 32 && (UINT64_C(1) << 2 * half) < count)
		half++;
	const uint64_t mask = (UINT64_C(1) << half) - 1;
	do {
		uint64_t left = index >> half, right = index & mask;
		for (uint64_t round = 1; round <= ROUNDS; round++) {
			const uint64_t next = left ^ (draw(seed, right, stream ^ round << 56).a & mask);
			left = right;
			right = next;
		}
		index = left << half | right;
	} while (index >= count);
	return index;
}
