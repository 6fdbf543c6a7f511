// SPDX-License-Identifier: Apache-2.0
/*
 * test_cursor.c — counting and placing agree, arrays are aligned and apart, and what cannot be allocated is refused.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "base/cursor.h"
#include "base/memory.h"

typedef struct Arrays {
	double *numbers;
	char *text;
	int *indices;
} Arrays;

static void layout_arrays(Arrays *a, Cursor *cursor) {
	CURSOR_ARRAY(cursor, a->numbers, 3);
	CURSOR_ARRAY(cursor, a->text, 5);
	CURSOR_ARRAY(cursor, a->indices, 7);
}

static size_t expected_size(size_t align) {
	const size_t text = (3 * sizeof(double) + align - 1) / align * align;
	return (text + 5 + align - 1) / align * align + 7 * sizeof(int);
}

static void places_what_it_counted(void **state) {
	(void)state;
	const CalAllocator allocator = allocator_or_default(NULL);
	for (size_t align = 4; align <= 256; align *= 2) {
		Arrays a;
		Cursor cursor = {.align = align};
		layout_arrays(&a, &cursor);
		assert_null(a.numbers);
		assert_int_equal(cursor.used, expected_size(align));
		void *memory = cursor_alloc(&cursor, &allocator);
		assert_non_null(memory);
		cursor_clear(&cursor);
		layout_arrays(&a, &cursor);
		assert_int_equal(cursor.used, cursor.size);
		assert_int_equal((uintptr_t)a.numbers % align, 0);
		assert_int_equal((uintptr_t)a.text % align, 0);
		assert_int_equal((uintptr_t)a.indices % align, 0);
		memset(a.numbers, 1, 3 * sizeof(double)); // a sanitizer sees what is outside
		memset(a.text, 2, 5);
		memset(a.indices, 3, 7 * sizeof(int));
		assert_int_equal(((char *)a.numbers)[3 * sizeof(double) - 1], 1);
		assert_int_equal(a.text[4], 2);
		memory_free(&allocator, memory);
	}
}

static void aligns_to_lines_by_default(void **state) {
	(void)state;
	Arrays a;
	Cursor cursor = {0};
	layout_arrays(&a, &cursor);
	assert_int_equal(cursor.used, expected_size(MEMORY_ALIGNMENT));
	assert_int_equal(cursor_size(&cursor), 3 * MEMORY_ALIGNMENT);
}

static void object_at_start_is_what_is_released(void **state) {
	(void)state;
	const CalAllocator allocator = allocator_or_default(NULL);
	Arrays a;
	Cursor cursor = {.align = sizeof(double)};
	layout_arrays(&a, &cursor);
	void *memory = cursor_alloc_at_start(&cursor, &allocator);
	assert_non_null(memory);
	layout_arrays(&a, &cursor);
	assert_ptr_equal(a.numbers, memory);
	memory_free(&allocator, a.numbers);
}

static void refuses_sums_that_overflow(void **state) {
	(void)state;
	const CalAllocator allocator = allocator_or_default(NULL);
	const size_t counts[] = {SIZE_MAX, SIZE_MAX / sizeof(double), SIZE_MAX / sizeof(double) + 1, (size_t)-1};
	for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
		double *array;
		Cursor cursor = {0};
		CURSOR_ARRAY(&cursor, array, 1);
		CURSOR_ARRAY(&cursor, array, counts[i]);
		CURSOR_ARRAY(&cursor, array, 1); // and does not start again
		assert_int_equal(cursor.used, SIZE_MAX);
		assert_int_equal(cursor_size(&cursor), SIZE_MAX);
		Cursor copy = cursor;
		assert_null(cursor_alloc(&copy, &allocator));
		assert_null(cursor_alloc_at_start(&cursor, &allocator));
	}
}

static void gives_nothing_outside_the_block(void **state) {
	(void)state;
	_Alignas(MEMORY_ALIGNMENT) char memory[3 * MEMORY_ALIGNMENT];
	Arrays a;
	Cursor cursor = cursor_over(memory, 2 * MEMORY_ALIGNMENT + 7 * sizeof(int) - 1);
	layout_arrays(&a, &cursor);
	assert_ptr_equal(a.numbers, memory);
	assert_ptr_equal(a.text, memory + MEMORY_ALIGNMENT);
	assert_null(a.indices);
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(places_what_it_counted),
		cmocka_unit_test(aligns_to_lines_by_default),
		cmocka_unit_test(object_at_start_is_what_is_released),
		cmocka_unit_test(refuses_sums_that_overflow),
		cmocka_unit_test(gives_nothing_outside_the_block),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
