// SPDX-License-Identifier: Apache-2.0
/*
 * sobol.c — see sobol.h.
 *
 * Dimension d > 0 belongs to a primitive polynomial x^s + a_1 x^(s-1) + ... + a_(s-1) x + 1 over the integers modulo 2,
 * whose inner coefficients are the bits of `a`, and to s odd numbers m_i < 2^i. With V_i = m_i 2^(32-i), the rest follow
 * from V_i = V_(i-s) ^ (V_(i-s) >> s) ^ a_1 V_(i-1) ^ ... ^ a_(s-1) V_(i-s+1). A coordinate is the exclusive or of those V
 * that belong to the bits of the point's number in Gray code: the order of Antonov and Saleev, which others use too.
 */
#include "math/sobol.h"

enum { BITS = 32, MAX_DEGREE = 8 };

static const struct {
	uint8_t degree, a, m[MAX_DEGREE];
} rows[SOBOL_DIMENSIONS - 1] = {
	{1, 0, {1}},
	{2, 1, {1, 3}},
	{3, 1, {1, 3, 1}},
	{3, 2, {1, 1, 1}},
	{4, 1, {1, 1, 3, 3}},
	{4, 4, {1, 3, 5, 13}},
	{5, 2, {1, 1, 5, 5, 17}},
	{5, 4, {1, 1, 5, 5, 5}},
	{5, 7, {1, 1, 7, 11, 19}},
	{5, 11, {1, 1, 5, 1, 1}},
	{5, 13, {1, 1, 1, 3, 11}},
	{5, 14, {1, 3, 5, 5, 31}},
	{6, 1, {1, 3, 3, 9, 7, 49}},
	{6, 13, {1, 1, 1, 15, 21, 21}},
	{6, 16, {1, 3, 1, 13, 27, 49}},
	{6, 19, {1, 1, 1, 15, 7, 5}},
	{6, 22, {1, 3, 1, 15, 13, 25}},
	{6, 25, {1, 1, 5, 5, 19, 61}},
	{7, 1, {1, 3, 7, 11, 23, 15, 103}},
	{7, 4, {1, 3, 7, 13, 13, 15, 69}},
	{7, 7, {1, 1, 3, 13, 7, 35, 63}},
	{7, 8, {1, 3, 5, 9, 1, 25, 53}},
	{7, 14, {1, 3, 1, 13, 9, 35, 107}},
	{7, 19, {1, 3, 1, 5, 27, 61, 31}},
	{7, 21, {1, 1, 5, 11, 19, 41, 61}},
	{7, 28, {1, 3, 5, 3, 3, 13, 69}},
	{7, 31, {1, 1, 7, 13, 1, 19, 1}},
	{7, 32, {1, 3, 7, 5, 13, 19, 59}},
	{7, 37, {1, 1, 3, 9, 25, 29, 41}},
	{7, 41, {1, 3, 5, 13, 23, 1, 55}},
	{7, 42, {1, 3, 7, 3, 13, 59, 17}},
	{7, 50, {1, 3, 1, 3, 5, 53, 69}},
	{7, 55, {1, 1, 5, 5, 23, 33, 13}},
	{7, 56, {1, 1, 7, 7, 1, 61, 123}},
	{7, 59, {1, 1, 7, 9, 13, 61, 49}},
	{7, 62, {1, 3, 3, 5, 3, 55, 33}},
	{8, 14, {1, 3, 1, 15, 31, 13, 49, 245}},
	{8, 21, {1, 3, 5, 15, 31, 59, 63, 97}},
	{8, 22, {1, 3, 1, 11, 11, 11, 77, 249}},
};

static void directions(int dimension, uint32_t v[BITS]) {
	const int s = dimension ? rows[dimension - 1].degree : BITS;
	for (int i = 0; i < s; i++)
		v[i] = (dimension ? (uint32_t)rows[dimension - 1].m[i] : 1u) << (BITS - 1 - i);
	for (int i = s; i < BITS; i++) {
		v[i] = v[i - s] ^ v[i - s] >> s;
		for (int k = 1; k < s; k++)
			if (rows[dimension - 1].a >> (s - 1 - k) & 1)
				v[i] ^= v[i - k];
	}
}

uint32_t sobol(int dimension, uint32_t index) {
	uint32_t v[BITS] = {0}, x = 0;
	const uint32_t gray = index ^ index >> 1;
	directions(dimension, v);
	for (int i = 0; i < BITS; i++)
		if (gray >> i & 1)
			x ^= v[i];
	return x;
}
