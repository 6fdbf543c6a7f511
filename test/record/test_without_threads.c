// SPDX-License-Identifier: Apache-2.0
/*
 * test_without_threads.c — the two files that a build without threads (CALDER_THREADS off, as in WebAssembly) compiles otherwise, here
 * as that build has them: results are complete and in order though nobody writes beside the producer, also where the ring is
 * far smaller than the run and where rows might be dropped; a worker pool is the caller alone.
 */
#if !defined(CALDER_WITHOUT_THREADS)
#define CALDER_WITHOUT_THREADS 1
#endif
#include "../../src/base/worker_pool.c"
#include "../../src/record/results.c"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { ROWS = 100000 };

static void put_and_read(CalResultsFull when_full) {
	char path[] = "without_threads_XXXXXX.csv";
	const int file = mkstemps(path, 4);
	assert_true(file >= 0);
	close(file);
	const CalResultsColumn columns[] = {{"t", "s"}, {"x", "m"}};
	const CalResultsStream stream = {.name = "main", .path = path, .columns = columns, .column_count = 2};
	const CalResultsOptions options = {
		.streams = &stream, .stream_count = 1, .when_full = when_full, .buffer_bytes = 64};
	CalResults *results;
	CalError error = {0};
	assert_int_equal(cal_results_create(&options, &results, &error), CAL_OK);
	for (int i = 0; i < ROWS; i++)
		assert_int_equal(cal_results_put(results, 0, (const double[]){i, 0.1 * i}), CAL_OK);
	assert_int_equal(cal_results_finish(results, &error), CAL_OK);
	assert_int_equal(cal_results_count(results, 0).written, ROWS);
	assert_int_equal(cal_results_count(results, 0).dropped, 0);
	cal_results_destroy(results);

	FILE *in = fopen(path, "r");
	assert_non_null(in);
	char line[200];
	int rows = 0;
	while (fgets(line, sizeof line, in)) {
		char *end;
		const double t = strtod(line, &end);
		if (end == line || *end != ',') // a comment, or the names
			continue;
		assert_true(t == rows && strtod(end + 1, NULL) == 0.1 * rows);
		rows++;
	}
	fclose(in);
	unlink(path);
	assert_int_equal(rows, ROWS);
}

static void all_rows_arrive(void **state) {
	(void)state;
	put_and_read(CAL_RESULTS_WAIT);
	put_and_read(CAL_RESULTS_DROP);
}

static int add_worker(void *context, int worker) {
	*(int *)context += worker + 1;
	return 4;
}

static void caller_is_the_pool(void **state) {
	(void)state;
	WorkerPool *pool = NULL;
	assert_int_equal(worker_pool_create(2, true, NULL, &pool), CAL_ERR_UNSUPPORTED);
	assert_int_equal(worker_pool_create(0, true, NULL, &pool), CAL_ERR_ARGUMENT);
	assert_null(pool);
	assert_int_equal(worker_pool_create(1, true, NULL, &pool), CAL_OK);
	int sum = 0;
	assert_int_equal(worker_pool_run(pool, add_worker, &sum), 4);
	assert_int_equal(sum, 1);
	assert_int_equal(worker_pool_workers(pool), 1);
	assert_int_equal(worker_pool_follow_priority(pool), CAL_OK);
	worker_pool_destroy(pool);
	worker_pool_destroy(NULL);
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_rows_arrive),
		cmocka_unit_test(caller_is_the_pool),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
