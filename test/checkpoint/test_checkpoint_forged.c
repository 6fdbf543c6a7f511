// SPDX-License-Identifier: Apache-2.0
/*
 * test_checkpoint_forged.c — checkpoints whose bytes were changed and whose checksum is right all the same: each is refused
 * with a reason and changes nothing, or is one that a run can resume from. No byte of a checkpoint may lead outside memory.
 */
#include "transition/walker.h"

#include <float.h>

enum { HEADER = 104, GENERATION_AT = 80, CHECKSUM_AT = HEADER - 8 };

static void seal(Bytes bytes) {
	const uint64_t hash = serializer_hash(serializer_hash(SERIALIZER_HASH_START, bytes.at, CHECKSUM_AT),
	                                      bytes.at + HEADER, bytes.size - HEADER);
	memcpy(bytes.at + CHECKSUM_AT, &hash, sizeof hash);
}

static void check_unchanged(CalSim *sim, Bytes before) {
	const Bytes now = take(sim);
	assert_int_equal(now.size, before.size);
	check_bits("simulations that refused a checkpoint", now.at, before.at, now.size);
	free(now.at);
}

/* Restores what may be forged and runs on a little; true: it was taken. */
static bool try_forged(CalSim *sim, Bytes bytes) {
	CalError error = {0};
	CalSimBalance balance;
	const CalStatus status = cal_checkpoint_restore(sim, bytes.at, bytes.size, &error);
	if (status != CAL_OK) {
		assert_true(status == CAL_ERR_INPUT || status == CAL_ERR_MEMORY);
		assert_true(strlen(error.text) > 20);
		return false;
	}
	for (int i = 0; i < 3 && cal_sim_step(sim, cal_sim_time(sim) + 0.01, &error) == CAL_OK; i++)
		continue;
	cal_sim_balance(sim, &balance);
	free(take(sim).at);
	return true;
}

/* One to three fields get another value: a byte, a small or large integer, a special number. */
static void forge(Rng *r, Bytes bytes) {
	static const double numbers[] = {0, -1, (double)NAN, (double)INFINITY, DBL_MAX, DBL_MIN, 1e9, -0.5};
	for (int i = 1 + rng_int(r, 3); i > 0; i--) {
		const size_t at = HEADER + (size_t)rng_int(r, (int)bytes.size - HEADER - 8);
		const int32_t integer = (int32_t)((uint32_t)(rng_int(r, 256) - 128) << rng_int(r, 25));
		switch (rng_int(r, 3)) {
		case 0:
			bytes.at[at] = (char)rng_int(r, 256);
			break;
		case 1:
			memcpy(bytes.at + at, &integer, sizeof integer);
			break;
		default:
			memcpy(bytes.at + at, &numbers[rng_int(r, 8)], sizeof *numbers);
		}
	}
	seal(bytes);
}

static void forge_many(CalMethod method, double t, uint64_t seed, int count) {
	Run *whole = run_create(method, 0), *fresh = run_create(method, 0);
	Rng r = rng_make(test_seed() + seed);
	int taken = 0;
	rig_advance(&whole->rig, t);
	const Bytes good = take(whole->rig.sim);
	Bytes forged = {test_alloc(1, good.size), good.size};
	for (int i = 0; i < count; i++) {
		const Bytes before = take(fresh->rig.sim);
		memcpy(forged.at, good.at, good.size);
		forge(&r, forged);
		const bool was_taken = try_forged(fresh->rig.sim, forged);
		taken += was_taken;
		if (!was_taken)
			check_unchanged(fresh->rig.sim, before);
		free(before.at);
		if (was_taken && i % 8 == 0)
			restore(fresh->rig.sim, good); // whatever it was taken to, the good one still serves
	}
	assert_true(taken > 0 && taken < count);
	restore(fresh->rig.sim, good);
	rig_advance(&fresh->rig, END);
	rig_advance(&whole->rig, END);
	check_same(fresh->rig.sim, whole->rig.sim);
	free(forged.at);
	free(good.at);
	run_destroy(whole);
	run_destroy(fresh);
}

static void forged_bytes_lead_nowhere_before_changes(void **state) {
	(void)state;
	forge_many(CAL_METHOD_RK4, 0.01, 1, 600);
}

static void forged_bytes_lead_nowhere_after_changes(void **state) {
	(void)state;
	forge_many(CAL_METHOD_RK4, 0.3, 2, 600);
}

static void forged_bytes_lead_nowhere_with_an_adaptive_step(void **state) {
	(void)state;
	forge_many(CAL_METHOD_DOPRI5, 0.2, 3, 300);
}

/* ---- one by one ------------------------------------------------------------------------------------------------ */

static void expect_refusal(CalSim *sim, Bytes bytes, const char *word) {
	CalError error = {0};
	const Bytes before = take(sim);
	seal(bytes);
	assert_int_equal(cal_checkpoint_restore(sim, bytes.at, bytes.size, &error), CAL_ERR_INPUT);
	if (!strstr(error.text, word))
		fail_msg("no \"%s\" in \"%s\"", word, error.text);
	check_unchanged(sim, before);
	free(before.at);
}

/* A simulation that was never prepared for changes cannot have gone through one. */
static void changes_need_a_topology(void **state) {
	(void)state;
	Rig rig = flyers();
	rig_advance(&rig, 0.1);
	const Bytes bytes = take(rig.sim);
	for (int64_t generation = -1; generation <= 1; generation += 2) {
		memcpy(bytes.at + GENERATION_AT, &generation, sizeof generation);
		expect_refusal(rig.sim, bytes, "damaged");
	}
	free(bytes.at);
	rig_free(&rig);
}

/* Where the bytes of a number stand in a checkpoint, after the header. */
static size_t find_bytes(Bytes bytes, const void *what, size_t size) {
	for (size_t at = HEADER; at + size <= bytes.size; at++) {
		if (memcmp(bytes.at + at, what, size) == 0)
			return at;
	}
	fail_msg("a value is not in the checkpoint");
	return 0;
}

static void states_are_numbers(void **state) {
	(void)state;
	static const double wrong[] = {(double)NAN, (double)INFINITY};
	Rig rig = flyers();
	rig_advance(&rig, 0.1);
	for (int i = 0; i < 2; i++) {
		const Bytes bytes = take(rig.sim);
		const size_t at = find_bytes(bytes, cal_sim_state(rig.sim, 0)->u, sizeof(double));
		memcpy(bytes.at + at, &wrong[i], sizeof(double));
		expect_refusal(rig.sim, bytes, "its states are none of a run");
		free(bytes.at);
	}
	rig_free(&rig);
}

/* The record of a joint of the description: a run cannot have changed its axis. */
static void joints_of_the_model_stay(void **state) {
	(void)state;
	Run *run = run_create(CAL_METHOD_RK4, 0);
	rig_advance(&run->rig, 0.3);
	const Bytes bytes = take(run->rig.sim);
	const CalJointDef *def = &run->rig.sim->topology->joints[0].def;
	const int32_t type = (int32_t)def->type; // the axis follows it
	char head[sizeof type + sizeof def->axis];
	memcpy(head, &type, sizeof type);
	memcpy(head + sizeof type, &def->axis, sizeof def->axis);
	const size_t at = find_bytes(bytes, head, sizeof head);
	memcpy(bytes.at + at + sizeof type, &(CalVec3){0.1, 0.2, 0.3}, sizeof def->axis);
	expect_refusal(run->rig.sim, bytes, "is not that of the model");
	free(bytes.at);
	run_destroy(run);
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(changes_need_a_topology),
		cmocka_unit_test(states_are_numbers),
		cmocka_unit_test(joints_of_the_model_stay),
		cmocka_unit_test(forged_bytes_lead_nowhere_before_changes),
		cmocka_unit_test(forged_bytes_lead_nowhere_after_changes),
		cmocka_unit_test(forged_bytes_lead_nowhere_with_an_adaptive_step),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
