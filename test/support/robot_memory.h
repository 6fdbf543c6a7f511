// SPDX-License-Identifier: Apache-2.0
/*
 * robot_memory.h — memory of readers of robot files: every allocation may fail, and what is taken grows as the file does.
 */
#ifndef TEST_SUPPORT_ROBOT_MEMORY_H
#define TEST_SUPPORT_ROBOT_MEMORY_H

#include "support/failing_allocator.h"
#include "support/robot.h"

/** Reads the file again and again, with the first, second ... allocation failing, until none does. */
static inline void robot_expect_failures(const char *text) {
	long failures = 0;
	for (long k = 1;; k++) {
		FailingAllocator counter = {.fail_at = k};
		const CalAllocator allocator = failing_allocator(&counter);
		CalSetup *setup = NULL;
		CalError error = {0};
		const CalStatus status = cal_model_parse(text, strlen(text), "t.xml", NULL, &allocator, &setup, &error);
		if (status == CAL_OK) {
			assert_true(counter.calls < k);
			cal_setup_destroy(setup);
			assert_int_equal(counter.live, 0);
			break;
		}
		failures++;
		if (status != CAL_ERR_MEMORY || !strstr(error.text, "out of memory"))
			fail_msg("allocation %ld: %s", k, error.text);
		assert_null(setup);
		assert_int_equal(counter.live, 0);
	}
	assert_true(failures > 20);
}

typedef struct Meter {
	size_t bytes;
	long calls;
} Meter;

static inline void *metered_alloc(void *user, size_t size) {
	Meter *meter = user;
	meter->bytes += size;
	meter->calls++;
	return malloc(size);
}

static inline void metered_free(void *user, void *memory) {
	(void)user;
	free(memory);
}

/** What reading text takes, from malloc, which is freed here; -1: any number of bodies. */
static inline Meter robot_meter(char *text, int bodies) {
	Meter meter = {0};
	const CalAllocator allocator = {.alloc = metered_alloc, .free = metered_free, .user = &meter};
	CalSetup *setup = NULL;
	CalError error = {0};
	if (cal_model_parse(text, strlen(text), "t.xml", NULL, &allocator, &setup, &error) != CAL_OK)
		fail_msg("%s", error.text);
	if (bodies >= 0)
		assert_int_equal(cal_desc_body_count(cal_setup_desc(setup)), bodies);
	cal_setup_destroy(setup);
	free(text);
	return meter;
}

/** Lists double, so that a file of sixteen times the size may take somewhat more than sixteen times the memory. */
static inline void robot_expect_linear(Meter small, Meter large) {
	print_message("%zu and %zu bytes in %ld and %ld calls\n", small.bytes, large.bytes, small.calls, large.calls);
	assert_true((double)large.bytes < 16 * 1.5 * (double)small.bytes);
	assert_true((double)large.calls < 16 * 1.5 * (double)small.calls);
}

#endif
