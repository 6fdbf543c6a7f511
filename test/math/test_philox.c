// SPDX-License-Identifier: Apache-2.0
/*
 * test_philox.c — Philox against the published vectors, and what is made of it: numbers in (0, 1), permutations.
 */
#include <math.h>
#include <string.h>

#include "math/philox.h"
#include "support/check.h"

/* Random123, tests/kat_vectors: counter, key, result. */
static void known_answers(void **state) {
	(void)state;
	static const struct {
		Philox counter;
		uint32_t key[2];
		Philox answer;
	} known[] = {
		{{{0, 0, 0, 0}}, {0, 0}, {{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}}},
		{{{0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff}},
	     {0xffffffff, 0xffffffff},
	     {{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}}},
		{{{0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}},
	     {0xa4093822, 0x299f31d0},
	     {{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}}},
	};
	for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
		const Philox got = philox(known[i].counter, known[i].key[0], known[i].key[1]);
		assert_memory_equal(&got, &known[i].answer, sizeof got);
	}
}

static void draws_fill_the_open_interval(void **state) {
	(void)state;
	enum { COUNT = 100000 };
	double mean = 0, square = 0;
	assert_true(unit_interval(0) > 0 && unit_interval(UINT64_MAX) < 1);
	for (uint64_t k = 0; k < COUNT; k++) {
		const double u = unit_interval(draw(1, k, 2).a);
		mean += u / COUNT;
		square += u * u / COUNT;
	}
	assert_true(fabs(mean - 0.5) < 5 * sqrt(1.0 / 12 / COUNT)); // five deviations
	assert_true(fabs(square - 1.0 / 3) < 5 * sqrt(4.0 / 45 / COUNT));
}

static void seed_number_and_stream_all_matter(void **state) {
	(void)state;
	const Draw base = draw(1, 2, 3);
	const Draw others[] = {draw(2, 2, 3),
	                       draw(1, 3, 3),
	                       draw(1, 2, 4),
	                       draw(UINT64_C(1) << 32 | 1, 2, 3),
	                       draw(1, UINT64_C(1) << 32 | 2, 3),
	                       draw(1, 2, UINT64_C(1) << 32 | 3)};
	for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
		assert_true(others[i].a != base.a && others[i].b != base.b);
}

static void permutations_hit_every_number_once(void **state) {
	(void)state;
	static const uint64_t counts[] = {1, 2, 3, 4, 5, 16, 17, 100, 1000, 4096, 5000};
	static uint8_t hit[5000];
	for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++) {
		memset(hit, 0, sizeof hit);
		for (uint64_t k = 0; k < counts[i]; k++) {
			const uint64_t to = permuted(11, 12, counts[i], k);
			assert_true(to < counts[i]);
			assert_int_equal(hit[to]++, 0);
		}
	}
	assert_true(permuted(1, 2, UINT64_C(1) << 40, 5) < UINT64_C(1) << 40);
}

/* Two of them, and a permutation and the identity, are as little alike as chance has it. */
static void permutations_are_not_alike(void **state) {
	(void)state;
	enum { COUNT = 1000 };
	double with_other = 0, with_itself = 0;
	const double middle = (COUNT - 1) / 2.0, variance = (COUNT * (double)COUNT - 1) / 12;
	for (uint64_t k = 0; k < COUNT; k++) {
		const double a = (double)permuted(1, 2, COUNT, k) - middle, b = (double)permuted(1, 3, COUNT, k) - middle;
		with_other += a * b / variance / COUNT;
		with_itself += a * ((double)k - middle) / variance / COUNT;
	}
	assert_true(fabs(with_other) < 5 / sqrt(COUNT));
	assert_true(fabs(with_itself) < 5 / sqrt(COUNT));
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(known_answers),
		cmocka_unit_test(draws_fill_the_open_interval),
		cmocka_unit_test(seed_number_and_stream_all_matter),
		cmocka_unit_test(permutations_hit_every_number_once),
		cmocka_unit_test(permutations_are_not_alike),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
