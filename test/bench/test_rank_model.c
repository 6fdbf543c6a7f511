// SPDX-License-Identifier: Apache-2.0
/*
 * test_rank_model.c — the model of step times on ranks (bench/ranks): a case by hand, constants that a fit finds again, and what
 * must hold of every prediction.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "../../bench/ranks/rank_model.h"
#include "support/check.h"
#include "support/rng.h"

enum { SIZES = 5, MODELS = 3, SAMPLES = SIZES * MODELS };
static const double sizes[SIZES] = {1, 2, 4, 8, 16}, bodies[MODELS] = {256, 1024, 4096};

/* b is 1 + 3 * 0.2 + 45 * 0.001 = 1.645 µs. */
static const RankModel known = {.a = 100e-9,
                                .c = 20e-9,
                                .d = 5e-6,
                                .join = 1e-6,
                                .network = {.latency = 0.2e-6, .per_number = 1e-9, .messages = 3, .numbers = 45}};

static void expect(double value, double wanted, double tolerance) {
	if (!(fabs(value / wanted - 1) <= tolerance))
		fail_msg("%.9g instead of %.9g", value, wanted);
}

static void a_case_by_hand(void **state) {
	(void)state;
	expect(rank_model_interface(&known), 1.645e-6, 1e-12);
	expect(rank_model_time(&known, 1000, 1, RANKS_IN_A_ROW), 100e-6, 1e-12);
	expect(rank_model_time(&known, 1000, 4, RANKS_IN_A_ROW), 30e-6 + 5e-6 + 3 * 1.645e-6, 1e-12);
	expect(rank_model_efficiency(&known, 1000, 4, RANKS_IN_A_ROW), 25 / 39.935, 1e-12);
	expect(rank_model_time(&known, 1e6, 1024, RANKS_IN_PAIRS), 117.1875e-6 + 5e-6 + 20 * 1.645e-6, 1e-12);
	expect(rank_model_best(&known, 1e6), sqrt(0.12 / 1.645e-6), 1e-12); // 270 ranks
	const RankModel cluster = rank_model_on(&known, 1.5e-6, 0.8e-9);
	expect(rank_model_interface(&cluster), 1e-6 + 3 * 1.5e-6 + 45 * 0.8e-9, 1e-12);
}

static void make_samples(RankSample *samples, Rng *noise) {
	for (int i = 0; i < SAMPLES; i++) {
		const double n = bodies[i / SIZES], R = sizes[i % SIZES];
		const double off = noise ? rng_uniform(noise, -0.03, 0.03) : 0;
		samples[i] = (RankSample){n, R, (1 + off) * rank_model_time(&known, n, R, RANKS_IN_A_ROW)};
	}
}

static void a_fit_finds_the_constants(void **state) {
	(void)state;
	RankSample samples[SAMPLES];
	RankModel model;
	make_samples(samples, NULL);
	assert_int_equal(rank_model_fit(samples, SAMPLES, &known.network, &model), 0);
	expect(model.a, known.a, 1e-9);
	expect(model.c, known.c, 1e-9);
	expect(model.d, known.d, 1e-9);
	expect(model.join, known.join, 1e-9);
	assert_true(model.error < 1e-9);
}

/* Times that are off by up to 3 %: a million bodies on a thousand ranks are predicted to a tenth. */
static void predictions_bear_noise(void **state) {
	(void)state;
	for (uint64_t seed = test_seed(); seed < test_seed() + 20; seed++) {
		Rng noise = rng_make(seed);
		RankSample samples[SAMPLES];
		RankModel model;
		make_samples(samples, &noise);
		check_that(seed, rank_model_fit(samples, SAMPLES, &known.network, &model) == 0);
		const double t = rank_model_time(&model, 1e6, 1e3, RANKS_IN_A_ROW);
		check_that(seed, fabs(t / rank_model_time(&known, 1e6, 1e3, RANKS_IN_A_ROW) - 1) < 0.1);
		check_that(seed, model.error < 0.03 && model.a > 0 && model.c >= 0 && model.d >= 0 && model.join >= 0);
	}
}

/* Messages that overlap cost no more than the fit leaves for them. */
static void messages_are_no_more_than_an_interface(void **state) {
	(void)state;
	RankSample samples[SAMPLES];
	RankModel model;
	RankNetwork slow = known.network;
	slow.latency = 1e-6;
	make_samples(samples, NULL);
	assert_int_equal(rank_model_fit(samples, SAMPLES, &slow, &model), 0);
	expect(rank_model_interface(&model), 1.645e-6, 1e-9);
	assert_true(model.join == 0 && model.network.latency < slow.latency);
}

static void predictions_are_monotonic(void **state) {
	(void)state;
	const RankModel slow = rank_model_on(&known, 2 * known.network.latency, known.network.per_number);
	for (double n = 1e3; n <= 1e7; n *= 10) {
		const double best = rank_model_best(&known, n), least = rank_model_time(&known, n, best, RANKS_IN_A_ROW);
		expect(rank_model_best(&known, 4 * n), 2 * best, 1e-12);
		for (double R = 2; R < 4096; R *= 2) {
			const double t = rank_model_time(&known, n, R, RANKS_IN_A_ROW);
			const double next = rank_model_time(&known, n, 2 * R, RANKS_IN_A_ROW);
			assert_true(t >= least && (2 * R > best || next < t) && (R < best || next > t));
			assert_true(rank_model_time(&slow, n, R, RANKS_IN_A_ROW) > t);
			assert_true(rank_model_time(&known, 2 * n, R, RANKS_IN_A_ROW) > t);
			assert_true(rank_model_efficiency(&known, n, 2 * R, RANKS_IN_A_ROW) <
			            rank_model_efficiency(&known, n, R, RANKS_IN_A_ROW));
			assert_true(R < 8 || rank_model_time(&known, n, R, RANKS_IN_PAIRS) < t);
		}
		assert_true(rank_model_best(&slow, n) < best);
	}
}

/* Two ranks do not distinguish what an interface costs from what is paid once: it is composed of its parts. */
static void interfaces_of_two_ranks_are_composed(void **state) {
	(void)state;
	RankSample samples[SAMPLES], few[SAMPLES];
	RankModel model;
	int count = 0, ones = 0;
	make_samples(samples, NULL);
	for (int i = 0; i < SAMPLES; i++)
		if (samples[i].ranks <= 2)
			few[count++] = samples[i];
	assert_int_equal(rank_model_fit(few, count, &known.network, &model), 0);
	assert_true(model.composed);
	expect(model.a, known.a, 1e-9);
	expect(model.join, RANK_JOIN_BODIES * 100e-9, 1e-9);
	expect(rank_model_interface(&model), 0.645e-6 + RANK_JOIN_BODIES * 100e-9, 1e-9);
	for (int i = 0; i < count; i++)
		expect(rank_model_time(&model, few[i].bodies, few[i].ranks, RANKS_IN_A_ROW), few[i].seconds, 1e-9);
	for (int i = 0; i < SAMPLES; i++)
		if (samples[i].ranks == 1)
			few[ones++] = samples[i];
	assert_int_equal(rank_model_fit(few, ones, &known.network, &model), 1);
}

static void too_little_is_refused(void **state) {
	(void)state;
	RankSample samples[SAMPLES];
	RankModel model;
	make_samples(samples, NULL);
	assert_int_equal(rank_model_fit(samples, 3, &known.network, &model), 1);
	assert_int_equal(rank_model_fit(samples + 1, 4, &known.network, &model), 1); // none on one rank
	assert_int_equal(rank_model_fit(samples, 0, &known.network, &model), 1);
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_case_by_hand),
		cmocka_unit_test(a_fit_finds_the_constants),
		cmocka_unit_test(predictions_bear_noise),
		cmocka_unit_test(messages_are_no_more_than_an_interface),
		cmocka_unit_test(predictions_are_monotonic),
		cmocka_unit_test(interfaces_of_two_ranks_are_composed),
		cmocka_unit_test(too_little_is_refused),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
