// SPDX-License-Identifier: Apache-2.0
/*
 * test_results_heap.c — global heaps whose objects do not fit are found before HDF5 follows their lengths.
 */
#define _GNU_SOURCE

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "io/results/results_heap.h"

enum { SIZE = 4096, HEAP = 512, HEAP_SIZE = 1024, FIRST = HEAP + 16, SECOND = FIRST + 16 + 24 };

static void put_number(unsigned char *at, uint64_t number, int count) {
	for (int i = 0; i < count; i++)
		at[i] = (unsigned char)(number >> 8 * i);
}

/* A heap with texts of 20 and 5 bytes, and the free rest. */
static void fill_file(unsigned char bytes[SIZE]) {
	memset(bytes, 0, SIZE);
	memcpy(bytes, "\211HDF\r\n\032\n", 8);
	bytes[8] = 2, bytes[9] = bytes[10] = 8;
	memcpy(bytes + HEAP, "GCOL\1", 5);
	put_number(bytes + HEAP + 8, HEAP_SIZE, 8);
	put_number(bytes + FIRST, 1, 2), put_number(bytes + FIRST + 8, 20, 8);
	put_number(bytes + SECOND, 2, 2), put_number(bytes + SECOND + 8, 5, 8);
	put_number(bytes + SECOND + 24 + 8, HEAP + HEAP_SIZE - (SECOND + 24), 8);
}

static bool is_sound(const unsigned char *bytes, size_t count) {
	FILE *file = tmpfile();
	assert_non_null(file);
	assert_int_equal(fwrite(bytes, 1, count, file), count);
	const bool sound = heaps_are_sound(file);
	fclose(file);
	return sound;
}

static void lengths_are_compared_with_their_heap(void **state) {
	(void)state;
	static const struct {
		int at;
		uint64_t number;
		bool sound;
	} cases[] = {{FIRST + 8, 20, true},
	             {FIRST + 8, 20 | (uint64_t)1 << 20, false},
	             {SECOND + 8, HEAP + HEAP_SIZE - SECOND - 16, true}, // up to the last byte
	             {SECOND + 8, HEAP + HEAP_SIZE - SECOND - 15, false},
	             {SECOND + 8, UINT64_MAX, false},
	             {SECOND + 24 + 8, HEAP_SIZE, false},
	             {HEAP + 8, SIZE - HEAP, true},
	             {HEAP + 8, SIZE - HEAP + 1, false},
	             {HEAP + 8, 15, false},
	             {HEAP + 8, UINT64_MAX, false}};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		unsigned char bytes[SIZE];
		fill_file(bytes);
		put_number(bytes + cases[i].at, cases[i].number, 8);
		assert_int_equal(is_sound(bytes, SIZE), cases[i].sound);
	}
}

static void other_superblocks_are_refused(void **state) {
	(void)state;
	unsigned char bytes[SIZE];
	fill_file(bytes);
	bytes[10] = 4; // lengths of four bytes
	assert_false(is_sound(bytes, SIZE));
	fill_file(bytes);
	bytes[0] = 'x';
	assert_false(is_sound(bytes, SIZE));
	assert_false(is_sound(bytes, 0));
	assert_false(is_sound(bytes, 12));
}

/* A heap across the ends of the blocks that are read, and heaps within heaps, which would cost the square of the file. */
static void every_place_is_looked_at_once(void **state) {
	(void)state;
	enum { LARGE = 3 << 20, PLACE = (1 << 20) - 3 };
	unsigned char *bytes = calloc(LARGE, 1);
	assert_non_null(bytes);
	fill_file(bytes);
	memmove(bytes + PLACE, bytes + HEAP, HEAP_SIZE);
	assert_true(is_sound(bytes, LARGE));
	put_number(bytes + PLACE + 16 + 8, HEAP_SIZE, 8);
	assert_false(is_sound(bytes, LARGE));
	memset(bytes + HEAP, 0, LARGE - HEAP);
	for (int at = HEAP; at + 48 <= LARGE; at += 48) {
		memcpy(bytes + at, "GCOL\1", 5);
		put_number(bytes + at + 8, (uint64_t)(LARGE - at), 8);
		put_number(bytes + at + 16, 1, 2), put_number(bytes + at + 24, 16, 8);
	}
	assert_false(is_sound(bytes, LARGE));
	free(bytes);
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lengths_are_compared_with_their_heap),
		cmocka_unit_test(other_superblocks_are_refused),
		cmocka_unit_test(every_place_is_looked_at_once),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
