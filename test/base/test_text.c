// SPDX-License-Identifier: Apache-2.0
/*
 * test_text.c — texts that are put together in a buffer end with a zero and are cut where it ends; pools hand out texts and
 * aligned memory from one block without overlap.
 */
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "base/memory_pool.h"
#include "base/error.h"
#include "support/check.h"

static void texts_are_cut_at_the_end_of_the_buffer(void **state) {
	(void)state;
	char text[8];
	size_t length = text_append(text, sizeof text, 0, "abc");
	assert_int_equal(length, 3);
	length = text_append_some(text, sizeof text, length, "defgh", 2);
	assert_string_equal(text, "abcde");
	length = text_append_some(text, sizeof text, length, "f", 100);
	length = text_append(text, sizeof text, length, "ghi");
	assert_string_equal(text, "abcdefg");
	assert_int_equal(length, 7);
	assert_int_equal(text_append(text, sizeof text, length, "j"), 7);
	assert_string_equal(text, "abcdefg");
}

static void numbers_are_written_as_printf_does(void **state) {
	(void)state;
	static const int numbers[] = {0, 7, -1, 10, 99, -1234567, INT_MAX, INT_MIN};
	for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
		char text[32], expected[32];
		text_append_int(text, sizeof text, 0, numbers[i]);
		snprintf(expected, sizeof expected, "%d", numbers[i]);
		assert_string_equal(text, expected);
	}
}

/* What a pool gives is zero where nothing was written, aligned, and nobody else's. */
static void pools_give_texts_and_numbers_of_their_own(void **state) {
	(void)state;
	enum { N = 5000 };
	static char *texts[N];
	static double *numbers[N];
	static const char letters[] = "abcdefghijklmnopqrstuvwxyz";
	Pool pool;
	pool_init(&pool, NULL);
	for (int i = 0; i < N; i++) {
		texts[i] = pool_text(&pool, letters, (size_t)i % 27);
		numbers[i] = i % 2 ? pool_array(&pool, (size_t)i % 5 + 1, sizeof(double))
		                   : pool_array_of_words(&pool, (size_t)i % 5 + 1, sizeof(double));
		assert_true(texts[i] && numbers[i]);
		assert_int_equal((uintptr_t)numbers[i] % (i % 2 ? _Alignof(max_align_t) : _Alignof(double)), 0);
		for (int k = 0; k < i % 5 + 1; k++) {
			assert_true(numbers[i][k] == 0);
			numbers[i][k] = i;
		}
	}
	for (int i = 0; i < N; i++) {
		assert_int_equal(strlen(texts[i]), i % 27);
		assert_memory_equal(texts[i], letters, (size_t)i % 27);
		for (int k = 0; k < i % 5 + 1; k++)
			assert_true(numbers[i][k] == i);
	}
	pool_free(&pool);
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(texts_are_cut_at_the_end_of_the_buffer),
		cmocka_unit_test(numbers_are_written_as_printf_does),
		cmocka_unit_test(pools_give_texts_and_numbers_of_their_own),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
