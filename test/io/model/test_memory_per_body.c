// SPDX-License-Identifier: Apache-2.0
/*
 * test_memory_per_body.c — bytes that a body takes while its model file is read, as a description, and as a compiled model, by
 * an allocator that counts. Limits are some 10 % above what it takes on 64 bits; what libyaml takes does not count.
 */
#define _POSIX_C_SOURCE 200809L // open_memstream

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include <calder/io.h>
#include <calder/model.h>

#include "support/check.h"

/* Blocks begin with their size. */
typedef struct Meter {
	size_t live, most;
} Meter;

static void *metered_alloc(void *user, size_t size) {
	Meter *meter = user;
	max_align_t *block = malloc(sizeof(max_align_t) + size);
	if (!block)
		return NULL;
	*(size_t *)(void *)block = size;
	meter->live += size;
	meter->most = meter->live > meter->most ? meter->live : meter->most;
	return block + 1;
}

static void metered_free(void *user, void *memory) {
	Meter *meter = user;
	max_align_t *block = (max_align_t *)memory - 1;
	meter->live -= *(size_t *)(void *)block;
	free(block);
}

/* A tree in which each body carries three. */
static char *tree_of(int n, size_t *length) {
	char *text = NULL;
	FILE *out = open_memstream(&text, length);
	fputs("calder: 1\nbodies:\n", out);
	for (int i = 0; i < n; i++)
		fprintf(out, "  b%d: {mass: 1, com: [0, 0, -0.5], inertia: [0.1, 0.1, 0.01], nodes: {t: [0, 0, -1]}}\n", i);
	fputs("joints:\n  j0: {type: revolute, axis: x, to: b0}\n", out);
	for (int i = 1; i < n; i++)
		fprintf(out, "  j%d: {type: revolute, axis: x, to: b%d, from: b%d/t}\n", i, i, (i - 1) / 3);
	assert_int_equal(fclose(out), 0);
	return text;
}

typedef struct Bytes {
	size_t reading, description, model;
} Bytes;

static Bytes bytes_of(int n) {
	Meter meter = {0};
	const CalAllocator allocator = {.alloc = metered_alloc, .free = metered_free, .user = &meter};
	size_t length;
	char *text = tree_of(n, &length);
	CalSetup *setup = NULL;
	CalModel *model = NULL;
	CalError error = {0};
	Bytes bytes = {0};
	if (cal_model_parse(text, length, "t.yaml", NULL, &allocator, &setup, &error) != CAL_OK)
		fail_msg("%s", error.text);
	free(text);
	bytes.reading = meter.most;
	cal_model_file_trim(setup);
	bytes.description = meter.live;
	const CalCompileOptions options = {.allocator = allocator};
	if (cal_model_compile(cal_setup_desc(setup), &options, &model, &error) != CAL_OK)
		fail_msg("%s", error.text);
	bytes.model = meter.live - bytes.description;
	cal_model_destroy(model);
	cal_setup_destroy(setup);
	assert_int_equal(meter.live, 0);
	return bytes;
}

static void a_body_takes_few_bytes(void **state) {
	(void)state;
	enum { N = 4096 }; // powers of two: indices of names double
	if (sizeof(void *) != 8)
		skip();
	const Bytes few = bytes_of(N), many = bytes_of(2 * N);
	const size_t reading = (many.reading - few.reading) / N, description = (many.description - few.description) / N,
				 model = (many.model - few.model) / N;
	print_message("bytes per body: reading %zu, description %zu, model %zu\n", reading, description, model);
	assert_in_range(reading, 1, 3300);
	assert_in_range(description, 1, 1430);
	assert_in_range(model, 1, 1800); // 248 of them for inverse dynamics in link axes (decision 0057)
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_body_takes_few_bytes),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
