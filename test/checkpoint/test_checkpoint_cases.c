// SPDX-License-Identifier: Apache-2.0
/*
 * test_checkpoint_cases.c — checkpoints and what may go wrong with them: memory that is short, bytes that are damaged, cut
 * short or of something else, files that cannot be written. What is refused says why, and nothing has changed then.
 */
#define _POSIX_C_SOURCE 200809L // getpid, access

#include "transition/walker.h"

#include <unistd.h>

#include "support/interpose.h"

/* ---- memory ---------------------------------------------------------------------------------------------------------------- */

static void taking_allocates_nothing_and_says_what_it_needs(void **state) {
	(void)state;
	Run *run = run_create(CAL_METHOD_RK4, 0);
	rig_advance(&run->rig, 0.15);
	const Bytes bytes = take(run->rig.sim);
	size_t used = 0;
	assert_int_equal(cal_checkpoint_take(run->rig.sim, NULL, 0, &used), CAL_ERR_MEMORY);
	assert_int_equal(used, bytes.size);
	assert_int_equal(cal_checkpoint_take(run->rig.sim, bytes.at, bytes.size - 1, &used), CAL_ERR_MEMORY);
	assert_int_equal(cal_checkpoint_take(NULL, bytes.at, bytes.size, &used), CAL_ERR_ARGUMENT);
	if (interpose_active()) {
		interpose_begin(0);
		const CalStatus status = cal_checkpoint_take(run->rig.sim, bytes.at, bytes.size, &used);
		const Interpose seen = interpose_end();
		assert_int_equal(status, CAL_OK);
		assert_int_equal(seen.calls, 0);
	}
	free(bytes.at);
	run_destroy(run);
}

static void check_unchanged(CalSim *sim, Bytes before) {
	const Bytes now = take(sim);
	assert_int_equal(now.size, before.size);
	check_bits("simulations that refused a checkpoint", now.at, before.at, now.size);
	free(now.at);
}

static void a_restore_that_lacks_memory_changes_nothing(void **state) {
	(void)state;
	if (!interpose_active())
		skip();
	Run *whole = run_create(CAL_METHOD_RK4, 0), *other = run_create(CAL_METHOD_RK4, 0);
	rig_advance(&whole->rig, 0.2);
	rig_advance(&other->rig, 0.05);
	const Bytes bytes = take(whole->rig.sim), before = take(other->rig.sim);
	const size_t left = cal_sim_memory_left(other->rig.sim);
	CalStatus status = CAL_ERR_MEMORY;
	int failures = 0;
	for (; status != CAL_OK; failures++) {
		CalError error = {0};
		interpose_begin(failures + 1);
		status = cal_checkpoint_restore(other->rig.sim, bytes.at, bytes.size, &error);
		const Interpose seen = interpose_end();
		if (status == CAL_OK)
			break;
		assert_int_equal(status, CAL_ERR_MEMORY);
		assert_true(error.text[0] != 0 && seen.live == 0);
		assert_int_equal(cal_sim_memory_left(other->rig.sim), left);
		check_unchanged(other->rig.sim, before);
	}
	assert_true(failures > 3);
	rig_advance(&whole->rig, END);
	rig_advance(&other->rig, END);
	check_same(other->rig.sim, whole->rig.sim);
	free(bytes.at);
	free(before.at);
	run_destroy(whole);
	run_destroy(other);
}

/* The groups as they are and as they will be are in memory together: what is enough for changes may not be for that. */
static void a_restore_in_too_small_a_reserve_changes_nothing(void **state) {
	(void)state;
	Run *whole = run_create(CAL_METHOD_RK4, 0);
	rig_advance(&whole->rig, 0.2);
	const Bytes bytes = take(whole->rig.sim);
	const size_t most = whole->rig.sim->topology->memory;
	int refused = 0, done = 0;
	for (room.memory = most / 4; !refused; room.memory -= 16384) {
		Run *other = run_create(CAL_METHOD_RK4, 0);
		if (!other)
			break;
		const Bytes before = take(other->rig.sim);
		CalError error = {0};
		const CalStatus status = cal_checkpoint_restore(other->rig.sim, bytes.at, bytes.size, &error);
		done += status == CAL_OK;
		if (status != CAL_OK) {
			refused++;
			assert_int_equal(status, CAL_ERR_MEMORY);
			assert_non_null(strstr(error.text, "CalSimCapacity.memory"));
			check_unchanged(other->rig.sim, before);
			rig_advance(&other->rig, 0.02);
		}
		free(before.at);
		run_destroy(other);
	}
	room.memory = 0;
	assert_true(refused && done);
	free(bytes.at);
	run_destroy(whole);
}

/* ---- what is refused ------------------------------------------------------------------------------------------------------- */

static void expect_refusal(CalSim *sim, const void *bytes, size_t size, const char *word) {
	CalError error = {0};
	const Bytes before = take(sim);
	assert_int_equal(cal_checkpoint_restore(sim, bytes, size, &error), CAL_ERR_INPUT);
	if (!strstr(error.text, word))
		fail_msg("no \"%s\" in \"%s\"", word, error.text);
	check_unchanged(sim, before);
	free(before.at);
}

/* Any byte that is not what it was, and any end that is too early. */
static void damage_is_noticed(void **state) {
	(void)state;
	Run *whole = run_create(CAL_METHOD_DOPRI5, 0), *fresh = run_create(CAL_METHOD_DOPRI5, 0);
	const uint64_t seed = test_seed();
	Rng r = rng_make(seed);
	rig_advance(&whole->rig, 0.15);
	const Bytes bytes = take(whole->rig.sim);
	for (int i = 0; i < 300; i++) {
		const size_t at = (size_t)rng_int(&r, (int)bytes.size);
		const char was = bytes.at[at];
		bytes.at[at] = (char)(was ^ (1 + rng_int(&r, 255)));
		expect_refusal(fresh->rig.sim, bytes.at, bytes.size, "checkpoint");
		bytes.at[at] = was;
		char *cut = test_alloc(1, at + 1); // its own block: reading beyond it would be noticed
		memcpy(cut, bytes.at, at);
		expect_refusal(fresh->rig.sim, cut, at, "checkpoint");
		free(cut);
	}
	restore(fresh->rig.sim, bytes);
	free(bytes.at);
	run_destroy(whole);
	run_destroy(fresh);
}

static void checkpoints_of_something_else_are_refused_with_a_reason(void **state) {
	(void)state;
	Run *run = run_create(CAL_METHOD_RK4, 0), *other;
	rig_advance(&run->rig, 0.05);
	const Bytes bytes = take(run->rig.sim);
	expect_refusal(run->rig.sim, "calder: 1\nbodies: ...", 22, "not a Calder checkpoint");
	expect_refusal(run->rig.sim, bytes.at, bytes.size / 2, "cut short");
	bytes.at[bytes.size / 2] ^= 4;
	expect_refusal(run->rig.sim, bytes.at, bytes.size, "checksum");
	bytes.at[bytes.size / 2] ^= 4;
	bytes.at[12]++;
	expect_refusal(run->rig.sim, bytes.at, bytes.size, "format 5");
	bytes.at[12]--;
	bytes.at[8]++;
	expect_refusal(run->rig.sim, bytes.at, bytes.size, "byte order");
	bytes.at[8]--;

	other = run_create(CAL_METHOD_IMPLICIT, 0);
	expect_refusal(other->rig.sim, bytes.at, bytes.size, "other options");
	run_destroy(other);
	room.loops++;
	other = run_create(CAL_METHOD_RK4, 0);
	room.loops--;
	expect_refusal(other->rig.sim, bytes.at, bytes.size, "room for changes");
	run_destroy(other);
	other = run_create(CAL_METHOD_RK4, 0);
	const CalEventDef event = {.name = "one more", .time = 7};
	rig_ok(cal_sim_add_event(other->rig.sim, &event, NULL, &rig_error));
	expect_refusal(other->rig.sim, bytes.at, bytes.size, "other events");
	const CalSpringDef spring = {.name = "one more", .a = cal_desc_find_node(other->rig.desc, "craft"), .stiffness = 1};
	rig_ok(cal_sim_add_spring(other->rig.sim, &spring, NULL, &rig_error));
	expect_refusal(other->rig.sim, bytes.at, bytes.size, "other devices");
	run_destroy(other);
	Rig flying = flyers();
	expect_refusal(flying.sim, bytes.at, bytes.size, "another model");
	rig_free(&flying);
	free(bytes.at);
	run_destroy(run);
}

/* A flexible body that was added: all of its block is in the bytes, and nothing is read beyond their end. */
static void a_flexible_body_goes_and_comes_back(void **state) {
	(void)state;
	Rig rig = rig_new();
	describe(&rig);
	const CalAllocator allocator = allocator_or_default(NULL);
	DescBody *boom = &rig.desc->bodies[cal_desc_find_body(rig.desc, "boom").value - 1], back = {0};
	Serializer size = serializer_counter();
	walk_body(&size, boom, true);
	char *bytes = test_alloc(2, size.used);
	Serializer write = serializer_writer(bytes, size.used), again = serializer_writer(bytes + size.used, size.used);
	walk_body(&write, boom, true);
	for (size_t end = size.used + 1; end-- > 0;) {
		char *cut = test_alloc(1, end + 1);
		memcpy(cut, bytes, end < size.used ? end : size.used);
		Serializer read = serializer_reader(cut, end);
		back = (DescBody){0};
		read.allocator = allocator;
		walk_body(&read, &back, true);
		assert_int_equal(read.status, end < size.used ? CAL_ERR_INPUT : CAL_OK);
		if (end == size.used)
			walk_body(&again, &back, true);
		free((void *)(uintptr_t)back.def.name);
		free(back.flex);
		free(cut);
	}
	assert_int_equal(again.used, size.used);
	check_bits("bodies", bytes, bytes + size.used, size.used);
	free(bytes);
	rig_free(&rig);
}

static void drive(const void *user, double t, double *value, double *rate, double *acceleration) {
	*rate = *(const double *)user, *value = *rate * t, *acceleration = 0;
}

static void functions_that_were_added_cannot_be_kept(void **state) {
	(void)state;
	Run *run = run_create(CAL_METHOD_RK4, 0);
	const double rate = 0;
	CalLoopDef def = cal_loop_def(CAL_LOOP_COUPLING);
	CalError error = {0};
	rig_advance(&run->rig, 0.02);
	const Bytes bytes = take(run->rig.sim);
	def.name = "held wrist";
	def.term_count = 1;
	def.term[0] = (CalLoopTerm){body_called(run, "tool"), 0, 1};
	CalDofRef wrist;
	CalEvalContext context = context_now(run->rig.sim, true);
	assert_true(cal_context_find_dof_by_name(&context, "tool_joint", 0, &wrist));
	def.drive[0] = (CalDrive){.offset = cal_context_q(&context, wrist), .fn = drive, .user = &rate};
	rig_ok(cal_sim_close_loop(run->rig.sim, (CalNodeId){0}, &def, (CalNodeId){0}, NULL, NULL, &rig_error));
	assert_int_equal(cal_checkpoint_take(run->rig.sim, bytes.at, bytes.size, NULL), CAL_ERR_UNSUPPORTED);
	assert_int_equal(cal_checkpoint_save(run->rig.sim, "never.ckpt", &error), CAL_ERR_UNSUPPORTED);
	assert_non_null(strstr(error.text, "\"held wrist\" was added"));
	restore(run->rig.sim, bytes); // the one from before still serves
	rig_advance(&run->rig, END);
	free(bytes.at);
	run_destroy(run);
}

/* ---- files ------------------------------------------------------------------------------------------------------------------- */

static void files_are_the_old_one_or_the_new_one(void **state) {
	(void)state;
	Run *whole = run_create(CAL_METHOD_DOPRI5, 0), *fresh = run_create(CAL_METHOD_DOPRI5, 0);
	char path[64];
	CalError error = {0};
	snprintf(path, sizeof path, "test_checkpoint_%ld.ckpt", (long)getpid());
	rig_advance(&whole->rig, 0.1);
	rig_ok(cal_checkpoint_save(whole->rig.sim, path, &rig_error));
	rig_advance(&whole->rig, 0.2);
	rig_ok(cal_checkpoint_save(whole->rig.sim, path, &rig_error));
	rig_advance(&whole->rig, END);
	rig_ok(cal_checkpoint_load(fresh->rig.sim, path, &rig_error));
	rig_advance(&fresh->rig, END);
	check_same(fresh->rig.sim, whole->rig.sim);
	char part[80];
	snprintf(part, sizeof part, "%s.part", path);
	assert_int_equal(access(part, F_OK), -1);
	remove(path);
	assert_int_equal(cal_checkpoint_load(fresh->rig.sim, path, &error), CAL_ERR_IO);
	assert_non_null(strstr(error.text, path));
	assert_int_equal(cal_checkpoint_save(fresh->rig.sim, "no/such/folder/x.ckpt", &error), CAL_ERR_IO);
	assert_non_null(strstr(error.text, "no/such/folder/x.ckpt: cannot be written: No such file"));
	assert_int_equal(cal_checkpoint_load(fresh->rig.sim, ".", &error), CAL_ERR_IO);
	assert_int_equal(cal_checkpoint_save(fresh->rig.sim, "", &error), CAL_ERR_ARGUMENT);
	run_destroy(whole);
	run_destroy(fresh);
}

static CalStatus take_within(void *user, CalSim *sim, CalError *error) {
	Bytes *bytes = user;
	assert_int_equal(cal_checkpoint_take(sim, bytes->at, bytes->size, NULL), CAL_ERR_STAGE);
	assert_int_equal(cal_checkpoint_save(sim, "never.ckpt", error), CAL_ERR_STAGE);
	assert_int_equal(cal_checkpoint_restore(sim, bytes->at, bytes->size, error), CAL_ERR_STAGE);
	return CAL_OK;
}

static void an_advance_cannot_be_interrupted_from_within(void **state) {
	(void)state;
	Rig rig = flyers();
	Bytes bytes = take(rig.sim);
	const CalEventDef event = {.name = "now", .time = 0.1, .action = take_within, .user = &bytes};
	rig_ok(cal_sim_add_event(rig.sim, &event, NULL, &rig_error));
	rig_advance(&rig, 0.2);
	assert_int_equal(cal_sim_event_happened(rig.sim, 0, NULL), 1);
	free(bytes.at);
	rig_free(&rig);
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(taking_allocates_nothing_and_says_what_it_needs),
		cmocka_unit_test(a_restore_that_lacks_memory_changes_nothing),
		cmocka_unit_test(a_restore_in_too_small_a_reserve_changes_nothing),
		cmocka_unit_test(damage_is_noticed),
		cmocka_unit_test(checkpoints_of_something_else_are_refused_with_a_reason),
		cmocka_unit_test(a_flexible_body_goes_and_comes_back),
		cmocka_unit_test(functions_that_were_added_cannot_be_kept),
		cmocka_unit_test(files_are_the_old_one_or_the_new_one),
		cmocka_unit_test(an_advance_cannot_be_interrupted_from_within),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
