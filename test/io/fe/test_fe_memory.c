// SPDX-License-Identifier: Apache-2.0
/*
 * test_fe_memory.c — finite element import survives the failure of any allocation and leaks nothing.
 *
 * Each call of the caller's allocator fails in turn; the whole way must then end in CAL_ERR_MEMORY with nothing left.
 */
#include "support/fe_support.h"

#include "support/failing_allocator.h"

typedef CalStatus (*Way)(const CalAllocator *allocator, CalError *error);

/* k = 1, 2, ... until the way needs fewer allocations than k. */
static void every_allocation_may_fail(Way way, int at_least) {
	for (int k = 1;; k++) {
		FailingAllocator f = {.fail_at = k};
		const CalAllocator allocator = failing_allocator(&f);
		CalError error = {0};
		const CalStatus status = way(&allocator, &error);
		assert_int_equal(f.live, 0);
		if (f.calls < k) {
			if (status != CAL_OK)
				fail_msg("%s", error.text);
			assert_true(k > at_least);
			return;
		}
		if (status != CAL_ERR_MEMORY)
			fail_msg("allocation %d failed, but the status is %d: %s", k, status, error.text);
		assert_non_null(strstr(error.text, "out of memory"));
	}
}

static CalStatus reduce_fixture(const char *path, const CalFeReduction *how, const CalAllocator *allocator,
                                CalError *error) {
	CalFeModel *fe = NULL;
	CalModal *modal = NULL;
	CalStatus status = cal_fe_read(path, NULL, allocator, &fe, error);
	if (status == CAL_OK)
		status = cal_fe_reduce(fe, how, &modal, error);
	cal_modal_destroy(modal);
	cal_fe_destroy(fe);
	return status;
}

static CalStatus calculix_way(const CalAllocator *allocator, CalError *error) {
	const CalFeReduction how = {.modes = 2, .damping_ratio = 0.01, .geometric = 1, .display_count = 3};
	return reduce_fixture(FIXTURE("rod.inp"), &how, allocator, error);
}

static CalStatus free_way(const CalAllocator *allocator, CalError *error) {
	return reduce_fixture(FIXTURE("cube.inp"), &(CalFeReduction){.modes = 2}, allocator, error);
}

static CalStatus dmig_way(const CalAllocator *allocator, CalError *error) {
	const char *const interfaces[] = {"10", "90"};
	const CalFeReduction how = {.interface_count = 2, .interfaces = interfaces, .modes = 2, .geometric = 1};
	return reduce_fixture(FIXTURE("spun.pch"), &how, allocator, error);
}

static CalStatus internal_way(const CalAllocator *allocator, CalError *error) {
	return reduce_fixture(FIXTURE("incompatible.inp"), &(CalFeReduction){.modes = 2}, allocator, error);
}

static CalStatus op4_way(const CalAllocator *allocator, CalError *error) {
	const char *const interfaces[] = {"10", "50"};
	const CalFeReduction how = {.interface_count = 2, .interfaces = interfaces, .modes = 2};
	return reduce_fixture(FIXTURE("beam_binary.op4"), &how, allocator, error);
}

static CalStatus punch_way(const CalAllocator *allocator, CalError *error) {
	return reduce_fixture(FIXTURE("beam_modes.pch"), &(CalFeReduction){.modes = 2}, allocator, error);
}

static CalStatus modal_way(const char *path, const CalAllocator *allocator, CalError *error) {
	CalModal *modal = NULL;
	CalStatus status = cal_modal_read(path, NULL, allocator, &modal, error);
	if (status == CAL_OK)
		status = cal_modal_write(modal, temp_path("out.SID_FEM"), error);
	cal_modal_destroy(modal);
	return status;
}

static CalStatus sid_way(const CalAllocator *allocator, CalError *error) {
	return modal_way(temp_path("rod.SID_FEM"), allocator, error);
}

static CalStatus file_way(const CalAllocator *allocator, CalError *error) {
	return modal_way(temp_path("rod.json"), allocator, error);
}

static CalStatus add_way(const CalAllocator *allocator, CalError *error) {
	CalModal *modal = modal_of(temp_path("rod.SID_FEM"));
	CalDesc *desc = NULL;
	CalStatus status = cal_desc_create(allocator, &desc);
	if (status != CAL_OK)
		snprintf(error->text, sizeof error->text, "out of memory");
	else
		status = cal_modal_add(modal, desc, "rod", (CalGroupId){0}, 0, NULL, error);
	cal_desc_destroy(desc);
	cal_modal_destroy(modal);
	return status;
}

static void reading_and_reducing(void **state) {
	(void)state;
	every_allocation_may_fail(calculix_way, 30);
	every_allocation_may_fail(free_way, 20);
	every_allocation_may_fail(dmig_way, 20);
	every_allocation_may_fail(internal_way, 30);
	every_allocation_may_fail(op4_way, 20);
	every_allocation_may_fail(punch_way, 20);
}

static void modal_files(void **state) {
	(void)state;
	NEEDS_LIBYAML();
	CalError error = {0};
	const CalFeReduction how = {.modes = -1, .damping_ratio = 0.01, .geometric = 1, .display_count = -1};
	CalModal *modal = reduced(FIXTURE("rod.inp"), &how);
	assert_int_equal(cal_modal_write(modal, temp_path("rod.SID_FEM"), &error), CAL_OK);
	assert_int_equal(cal_modal_write(modal, temp_path("rod.json"), &error), CAL_OK);
	cal_modal_destroy(modal);
	every_allocation_may_fail(sid_way, 5);
	every_allocation_may_fail(file_way, 5);
	every_allocation_may_fail(add_way, 5);
}

static void allocators_need_both_functions(void **state) {
	(void)state;
	FailingAllocator f = {0};
	CalAllocator half = failing_allocator(&f);
	half.free = NULL;
	CalFeModel *fe = NULL;
	CalModal *modal = NULL;
	CalError error = {0};
	assert_int_equal(cal_fe_read(FIXTURE("rod.inp"), NULL, &half, &fe, &error), CAL_ERR_ARGUMENT);
	assert_int_equal(cal_fe_read_dmig(FIXTURE("beam.pch"), NULL, NULL, NULL, &half, &fe, &error), CAL_ERR_ARGUMENT);
	assert_int_equal(cal_fe_read_op4(FIXTURE("beam_binary.op4"), NULL, NULL, NULL, NULL, &half, &fe, &error),
	                 CAL_ERR_ARGUMENT);
	assert_int_equal(cal_modal_read("x.sid", NULL, &half, &modal, &error), CAL_ERR_ARGUMENT);
	assert_int_equal(f.live, 0);
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reading_and_reducing),
		cmocka_unit_test(modal_files),
		cmocka_unit_test(allocators_need_both_functions),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
