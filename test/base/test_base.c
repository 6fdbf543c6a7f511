// SPDX-License-Identifier: Apache-2.0
/*
 * test_base.c — properties of src/base: status texts, error texts, growing arrays, the name index.
 *
 * What matters about them: they never overflow, never lose what they were given, and fail without a trace.
 */
#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/error.h"
#include "support/failing_allocator.h"
#include "base/memory.h"
#include "base/name_index.h"

static void every_status_has_its_text(void **state) {
	(void)state;
#define STATUS_TEST(name, value, text)      \
	assert_int_equal((int)(name), (value)); \
	assert_string_equal(cal_status_text(name), text);
	CAL_STATUS_LIST(STATUS_TEST)
#undef STATUS_TEST
	assert_non_null(cal_status_text((CalStatus)1234));
	assert_string_not_equal(cal_status_text((CalStatus)1234), "");
}

static void version_agrees_with_the_header(void **state) {
	(void)state;
	char text[40];
	snprintf(text, sizeof text, "%d.%d.%d", CAL_VERSION_MAJOR, CAL_VERSION_MINOR, CAL_VERSION_PATCH);
	assert_string_equal(cal_version(), text);
}

static void error_set_overwrites_and_error_add_counts(void **state) {
	(void)state;
	CalError error;
	memset(&error, 0x5a, sizeof error); // the caller need not initialize it
	assert_int_equal(error_set(&error, CAL_ERR_MODEL, "body \"%s\": %d", "a", 3), CAL_ERR_MODEL);
	assert_int_equal(error.status, CAL_ERR_MODEL);
	assert_int_equal(error.count, 1);
	assert_string_equal(error.text, "body \"a\": 3");
	assert_int_equal(error_add(&error, CAL_ERR_INPUT, "another"), CAL_ERR_INPUT);
	assert_int_equal(error.count, 2);
	assert_int_equal(error.status, CAL_ERR_MODEL);
	assert_string_equal(error.text, "body \"a\": 3");
	CalError fresh = {0};
	error_add(&fresh, CAL_ERR_INPUT, "first");
	assert_int_equal(fresh.status, CAL_ERR_INPUT);
	assert_string_equal(fresh.text, "first");
	assert_int_equal(error_set(NULL, CAL_ERR_MEMORY, "nobody listens"), CAL_ERR_MEMORY);
}

static void long_texts_end_in_dots(void **state) {
	(void)state;
	CalError error;
	char text[sizeof error.text + 100];
	memset(text, 'x', sizeof text - 1);
	text[sizeof text - 1] = '\0';
	error_set(&error, CAL_ERR_MODEL, "%s", text);
	assert_int_equal(strlen(error.text), sizeof error.text - 1);
	assert_string_equal(error.text + sizeof error.text - 5, "x...");
}

static void sizes_do_not_wrap(void **state) {
	(void)state;
	size_t out = 7;
	assert_false(size_mul(SIZE_MAX / 2, 3, &out));
	assert_false(size_add(SIZE_MAX, 1, &out));
	assert_int_equal(out, 7);
	assert_true(size_mul(6, 7, &out));
	assert_int_equal(out, 42);
	assert_true(size_mul(SIZE_MAX, 0, &out));
	assert_int_equal(out, 0);
	assert_true(size_add(SIZE_MAX - 1, 1, &out));
	assert_true(out == SIZE_MAX);
}

static void arrays_grow_and_keep_their_elements(void **state) {
	(void)state;
	FailingAllocator counter = {0};
	CalAllocator allocator = failing_allocator(&counter);
	int *array = NULL, capacity = 0;
	for (int count = 0; count < 1000; count++) {
		int *grown = array_reserve(&allocator, array, count, 1, &capacity, sizeof(int));
		assert_non_null(grown);
		array = grown;
		assert_true(capacity > count);
		array[count] = count;
	}
	for (int i = 0; i < 1000; i++) {
		assert_int_equal(array[i], i);
	}
	assert_true(counter.calls < 30); // amortised
	counter.calls = 0;
	counter.fail_at = 1;
	int before = capacity;
	assert_null(array_reserve(&allocator, array, 1000, capacity, &capacity, sizeof(int)));
	assert_int_equal(capacity, before);
	assert_int_equal(array[999], 999);
	assert_null(array_reserve(&allocator, array, 1000, INT_MAX, &capacity, sizeof(int)));
	assert_null(array_reserve(&allocator, array, 1000, INT_MAX - 1000, &capacity, SIZE_MAX / 4));
	memory_free(&allocator, array);
	assert_int_equal(counter.live, 0);
}

static void allocators_default_to_malloc(void **state) {
	(void)state;
	CalAllocator standard = allocator_or_default(NULL), zero = {0};
	char *text = string_copy(&standard, "calder");
	assert_string_equal(text, "calder");
	memory_free(&standard, text);
	assert_true(allocator_or_default(&zero).alloc == standard.alloc);
	assert_true(allocator_is_valid(NULL));
	assert_true(allocator_is_valid(&zero));
	CalAllocator half = {.alloc = failing_alloc};
	assert_false(allocator_is_valid(&half));
}

static void aligned_memory_is_aligned(void **state) {
	(void)state;
	for (size_t size = 0; size < 300; size += 37) {
		void *memory = memory_alloc_aligned(size);
		assert_non_null(memory);
		assert_int_equal((uintptr_t)memory % MEMORY_ALIGNMENT, 0);
		memory_free_aligned(memory);
	}
	assert_null(memory_alloc_aligned(SIZE_MAX));
}

/** All values with this hash are found, also where hashes collide. */
static void name_index_finds_what_was_inserted(void **state) {
	(void)state;
	FailingAllocator counter = {0};
	CalAllocator allocator = failing_allocator(&counter);
	NameIndex index = {0};
	uint32_t cursor = 0;
	assert_int_equal(name_index_next(&index, 1, &cursor), 0);
	for (uint32_t value = 1; value <= 500; value++) {
		assert_true(name_index_reserve(&allocator, &index));
		name_index_insert(&index, value % 7 * 1000, value); // seven crowded hashes
	}
	for (uint32_t k = 0; k < 7; k++) {
		uint32_t found = 0, value;
		cursor = 0;
		while ((value = name_index_next(&index, k * 1000, &cursor)) != 0) {
			assert_int_equal(value % 7, k);
			found++;
		}
		assert_int_equal(found, (500 - k) / 7 + (k > 0));
	}
	counter.calls = 0;
	counter.fail_at = 1;
	while (name_index_reserve(&allocator, &index)) {
		name_index_insert(&index, 3, 9999);
	}
	cursor = 0;
	assert_int_equal(name_index_next(&index, 3, &cursor), 9999);
	name_index_free(&allocator, &index);
	assert_int_equal(counter.live, 0);
}

static void hash_distinguishes_scopes_and_names(void **state) {
	(void)state;
	assert_int_not_equal(name_hash(1, "tip", 3), name_hash(2, "tip", 3));
	assert_int_not_equal(name_hash(1, "tip", 3), name_hash(1, "top", 3));
	assert_int_equal(name_hash(1, "tip/x", 3), name_hash(1, "tip", 3));
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_status_has_its_text),
		cmocka_unit_test(version_agrees_with_the_header),
		cmocka_unit_test(error_set_overwrites_and_error_add_counts),
		cmocka_unit_test(long_texts_end_in_dots),
		cmocka_unit_test(sizes_do_not_wrap),
		cmocka_unit_test(arrays_grow_and_keep_their_elements),
		cmocka_unit_test(allocators_default_to_malloc),
		cmocka_unit_test(aligned_memory_is_aligned),
		cmocka_unit_test(name_index_finds_what_was_inserted),
		cmocka_unit_test(hash_distinguishes_scopes_and_names),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
