// SPDX-License-Identifier: Apache-2.0
/*
 * test_results_thread.c — the writer of results: what is put arrives, in order and exactly, in CSV and HDF5 files; a put
 * neither allocates nor loses a record unnoticed; failures name the file.
 */
#define _POSIX_C_SOURCE 200809L // mkfifo, mkdtemp, open

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include <fcntl.h>
#include <math.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <calder/results.h>

#include "support/failing_allocator.h"
#include "record/results_ring.h"
#include "support/interpose.h"

static char folder[] = "calder_results_XXXXXX";

static int make_folder(void **state) {
	(void)state;
	return mkdtemp(folder) ? 0 : -1;
}

static int remove_folder(void **state) {
	(void)state;
	return rmdir(folder); // tests remove their files
}

static void pause_ms(void) { nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL); }

/* A path in the folder; valid until the fourth call after it. */
static const char *path_of(const char *name) {
	static char paths[4][200];
	static int turn;
	char *path = paths[turn++ % 4];
	snprintf(path, sizeof paths[0], "%s/%s", folder, name);
	return path;
}

static const CalResultsColumn columns[] = {{"t", "s"}, {"q:a, \"b\"", "rad"}, {"energy:total", "J"}};

static CalResultsStream stream_to(const char *name, const char *path, int column_count) {
	return (CalResultsStream){
		.name = name, .path = path, .interval = 0.5, .columns = columns, .column_count = column_count};
}

static CalResults *create(const CalResultsOptions *options) {
	CalResults *results = NULL;
	CalError error = {0};
	if (cal_results_create(options, &results, &error) != CAL_OK)
		fail_msg("%s", error.text);
	return results;
}

static void finish(CalResults *results) {
	CalError error = {0};
	if (cal_results_finish(results, &error) != CAL_OK)
		fail_msg("%s", error.text);
}

static char *read_all(const char *path) {
	FILE *in = fopen(path, "r");
	assert_non_null(in);
	char *text = calloc(1, 1 << 22);
	assert_non_null(text);
	assert_true(fread(text, 1, (1 << 22) - 1, in) < (1 << 22) - 1);
	fclose(in);
	return text;
}

/* ---- the ring ---------------------------------------------------------------------------------- */

enum { RING_RECORDS = 200000 };

static void *put_records(void *user) {
	Ring *ring = user;
	for (int i = 0; i < RING_RECORDS; i++) {
		const double row[5] = {i, i + 0.25, i + 0.5, i + 0.75, -i};
		while (!ring_put(ring, i % 3, row, (size_t)(i % 3) + 3))
			sched_yield();
	}
	return NULL;
}

static void the_ring_keeps_order_and_content(void **state) {
	(void)state;
	double numbers[64];
	Ring ring = {.numbers = numbers, .capacity = 64};
	pthread_t producer;
	assert_int_equal(pthread_create(&producer, NULL, put_records, &ring), 0);
	for (int i = 0; i < RING_RECORDS; i++) {
		int stream;
		double row[5] = {0};
		while ((stream = ring_stream(&ring)) < 0)
			sched_yield();
		ring_take(&ring, row, (size_t)stream + 3);
		if (stream != i % 3 || row[0] != i || row[1] != i + 0.25 || row[2] != i + 0.5 ||
		    (stream > 0 && row[3] != i + 0.75) || (stream > 1 && row[4] != -i))
			fail_msg("record %d arrived as stream %d: %g %g %g %g %g", i, stream, row[0], row[1], row[2], row[3],
			         row[4]);
	}
	pthread_join(producer, NULL);
	assert_int_equal(ring_stream(&ring), -1);
}

static void a_full_ring_refuses(void **state) {
	(void)state;
	double numbers[8], row[3] = {1, 2, 3};
	Ring ring = {.numbers = numbers, .capacity = 8};
	assert_true(ring_put(&ring, 0, row, 3));
	assert_true(ring_put(&ring, 1, row, 3));
	assert_false(ring_put(&ring, 2, row, 3));
	assert_int_equal(ring_stream(&ring), 0);
	ring_take(&ring, row, 3);
	assert_true(ring_put(&ring, 2, row, 3));
	assert_int_equal(ring_stream(&ring), 1);
}

/* ---- CSV --------------------------------------------------------------------------------------- */

static void csv_holds_the_very_numbers(void **state) {
	(void)state;
	const char *path = path_of("a.csv");
	const CalResultsStream stream = stream_to("main", path, 3);
	CalResults *results = create(&(CalResultsOptions){.streams = &stream, .stream_count = 1});
	const double rows[2][3] = {{0, 0.1, -1e-300}, {0.5, 1.0 / 3, NAN}};
	assert_int_equal(cal_results_put(results, 0, rows[0]), CAL_OK);
	assert_int_equal(cal_results_put(results, 0, rows[1]), CAL_OK);
	assert_int_equal(cal_results_put(results, 1, rows[1]), CAL_ERR_ARGUMENT);
	finish(results);
	assert_int_equal(cal_results_put(results, 0, rows[0]), CAL_ERR_ARGUMENT);
	assert_int_equal(cal_results_count(results, 0).written, 2);
	assert_int_equal(cal_results_count(results, 0).dropped, 0);
	cal_results_destroy(results);
	char *text = read_all(path);
	assert_string_equal(text, "t [s],\"q:a, \"\"b\"\" [rad]\",energy:total [J]\n"
	                          "0,0.10000000000000001,-1e-300\n0.5,0.33333333333333331,nan\n");
	free(text);
	unlink(path);
}

/* A pipe whose reader waits is a disk that is as slow as one likes. */
typedef struct Slow {
	const char *path;
	atomic_bool go;
	long lines;
	long missing; // as the last line reports
} Slow;

static void *read_slowly(void *user) {
	Slow *slow = user;
	FILE *in = fopen(slow->path, "r");
	char line[200];
	while (!atomic_load(&slow->go))
		pause_ms();
	while (in && fgets(line, sizeof line, in))
		if (sscanf(line, "# %ld records are missing", &slow->missing) != 1)
			slow->lines++;
	if (in)
		fclose(in);
	return NULL;
}

enum { SLOW_RECORDS = 20000 };

/* Puts records against a reader that starts after `before` of them. */
static CalResultsCount put_against(CalResultsFull when_full, int before, Slow *slow) {
	slow->path = path_of("slow.csv");
	assert_int_equal(mkfifo(slow->path, 0600), 0);
	pthread_t reader;
	assert_int_equal(pthread_create(&reader, NULL, read_slowly, slow), 0);
	const CalResultsStream stream = stream_to("main", slow->path, 3);
	CalResults *results = create(&(CalResultsOptions){
		.streams = &stream, .stream_count = 1, .when_full = when_full, .buffer_bytes = 1024, .flush_s = 0.01});
	for (int i = 0; i < SLOW_RECORDS; i++) {
		if (i == before)
			atomic_store(&slow->go, true);
		assert_int_equal(cal_results_put(results, 0, (double[]){i, 0.1 * i, 1}), CAL_OK);
	}
	atomic_store(&slow->go, true);
	finish(results);
	const CalResultsCount count = cal_results_count(results, 0);
	cal_results_destroy(results);
	pthread_join(reader, NULL);
	unlink(slow->path);
	return count;
}

static void waiting_loses_nothing(void **state) {
	(void)state;
	Slow slow = {0};
	const CalResultsCount count = put_against(CAL_RESULTS_WAIT, 10, &slow);
	assert_int_equal(count.written, SLOW_RECORDS);
	assert_int_equal(count.dropped, 0);
	assert_int_equal(slow.lines, SLOW_RECORDS + 1);
	assert_int_equal(slow.missing, 0);
}

static void dropped_records_are_counted_and_reported_in_the_file(void **state) {
	(void)state;
	Slow slow = {0};
	const CalResultsCount count = put_against(CAL_RESULTS_DROP, SLOW_RECORDS, &slow);
	assert_true(count.dropped > 0); // a pipe takes 64 KiB, the buffer 32 records
	assert_int_equal(count.written + count.dropped, SLOW_RECORDS);
	assert_int_equal(slow.lines, count.written + 1);
	assert_int_equal(slow.missing, count.dropped);
}

static void a_put_does_not_allocate(void **state) {
	(void)state;
	if (!interpose_active())
		skip();
	const char *path = path_of("a.csv");
	const CalResultsStream stream = stream_to("main", path, 3);
	CalResults *results = create(&(CalResultsOptions){.streams = &stream, .stream_count = 1, .buffer_bytes = 4096});
	interpose_begin(0);
	for (int i = 0; i < 10000; i++)
		cal_results_put(results, 0, (double[]){i, 0, 0});
	assert_int_equal(interpose_end().calls, 0);
	finish(results);
	assert_int_equal(cal_results_count(results, 0).written, 10000);
	cal_results_destroy(results);
	unlink(path);
}

/* ---- failures ---------------------------------------------------------------------------------- */

static void refused(const CalResultsStream *streams, int count, CalStatus expected, const char *words) {
	CalResults *results;
	CalError error = {0};
	const CalResultsOptions options = {.streams = streams, .stream_count = count};
	assert_int_equal(cal_results_create(&options, &results, &error), expected);
	assert_null(results);
	if (!strstr(error.text, words))
		fail_msg("\"%s\" lacks \"%s\"", error.text, words);
}

static void wrong_options_are_refused(void **state) {
	(void)state;
	const char *path = path_of("a.csv"), *nowhere = path_of("none/a.csv");
	CalResultsStream s[2] = {stream_to("main", path, 3), stream_to("fast", path, 3)};
	refused(s, 2, CAL_ERR_ARGUMENT, "\"main\" and \"fast\" cannot share a CSV file");
	refused(s, 0, CAL_ERR_ARGUMENT, "streams");
	s[0].name = "a/b";
	refused(s, 1, CAL_ERR_ARGUMENT, "\"a/b\"");
	s[0] = stream_to("main", nowhere, 3);
	refused(s, 1, CAL_ERR_IO, "none/a.csv: cannot be written: No such file");
	s[0] = stream_to("main", "/dev/full", 3);
	refused(s, 1, CAL_ERR_IO, "/dev/full: cannot be written: No space left");
	assert_int_equal(access(path, F_OK), -1);
	assert_int_equal(cal_results_create(NULL, NULL, NULL), CAL_ERR_ARGUMENT);
	cal_results_destroy(NULL);
}

/* The reader goes away: the writer fails, and puts say so instead of waiting without end. */
static void a_failure_ends_waiting(void **state) {
	(void)state;
	const char *path = path_of("broken.csv");
	assert_int_equal(mkfifo(path, 0600), 0);
	const int reader = open(path, O_RDONLY | O_NONBLOCK);
	const CalResultsStream stream = stream_to("main", path, 3);
	CalResults *results = create(&(CalResultsOptions){.streams = &stream, .stream_count = 1, .buffer_bytes = 1024});
	close(reader);
	CalStatus status = CAL_OK;
	for (int i = 0; i < 1000000 && status == CAL_OK; i++)
		status = cal_results_put(results, 0, (double[]){i, 0, 0});
	assert_int_equal(status, CAL_ERR_IO);
	CalError error = {0};
	assert_int_equal(cal_results_finish(results, &error), CAL_ERR_IO);
	assert_non_null(strstr(error.text, "broken.csv: cannot be written: Broken pipe"));
	cal_results_destroy(results);
	unlink(path);
}

static void every_allocation_may_fail(void **state) {
	(void)state;
	const char *path = path_of("a.csv");
	const CalResultsStream stream = stream_to("main", path, 3);
	for (int k = 1;; k++) {
		FailingAllocator failing = {.fail_at = k};
		CalResultsOptions options = {.streams = &stream, .stream_count = 1, .allocator = failing_allocator(&failing)};
		CalResults *results;
		CalError error = {0};
		const CalStatus status = cal_results_create(&options, &results, &error);
		cal_results_destroy(results);
		assert_int_equal(failing.live, 0);
		if (status == CAL_OK)
			break;
		assert_int_equal(status, CAL_ERR_MEMORY);
		assert_non_null(strstr(error.text, "out of memory"));
	}
	unlink(path);
}

/* ---- HDF5 -------------------------------------------------------------------------------------- */

static void hdf5_is_known_by_its_ending(void **state) {
	(void)state;
	assert_true(cal_results_is_hdf5("a.h5") && cal_results_is_hdf5("x/a.b.hdf5"));
	assert_false(cal_results_is_hdf5("a.csv") || cal_results_is_hdf5("a.h5.csv") || cal_results_is_hdf5(".h5") ||
	             cal_results_is_hdf5("-") || cal_results_is_hdf5(NULL));
}

#ifdef CALDER_WITH_HDF5

static CalResultsTable table_of(const char *path, const char *stream) {
	CalResultsTable table;
	CalError error = {0};
	if (cal_results_read(path, stream, &table, &error) != CAL_OK)
		fail_msg("%s", error.text);
	return table;
}

/* Two streams in one file, and a third in another: more records than a chunk holds. */
static void hdf5_holds_streams_of_their_own(void **state) {
	(void)state;
	const char *path = path_of("a.h5"), *csv = path_of("b.csv");
	const CalResultsStream streams[3] = {stream_to("slow", path, 2), stream_to("other", csv, 1),
	                                     stream_to("fast", path, 3)};
	CalResults *results = create(&(CalResultsOptions){
		.streams = streams, .stream_count = 3, .seeds = (uint64_t[]){7, UINT64_MAX}, .seed_count = 2, .flush_s = 1e-3});
	enum { COUNT = 30000 };
	for (int i = 0; i < COUNT; i++) {
		assert_int_equal(cal_results_put(results, 2, (double[]){1e-3 * i, sin(i), i}), CAL_OK);
		if (i % 10 == 0)
			assert_int_equal(cal_results_put(results, 0, (double[]){1e-3 * i, -i}), CAL_OK);
	}
	finish(results);
	cal_results_destroy(results);

	CalResultsTable table = table_of(path, "fast");
	assert_int_equal(table.row_count, COUNT);
	assert_int_equal(table.column_count, 3);
	assert_true(table.closed);
	assert_int_equal(table.dropped, 0);
	for (int i = 0; i < 3; i++) {
		assert_string_equal(table.columns[i].name, columns[i].name);
		assert_string_equal(table.columns[i].unit, columns[i].unit);
	}
	for (int i = 0; i < COUNT; i++)
		assert_true(table.rows[3 * i] == 1e-3 * i && table.rows[3 * i + 1] == sin(i) && table.rows[3 * i + 2] == i);
	cal_results_table_free(&table);
	table = table_of(path, NULL);
	assert_string_equal(table.name, "slow");
	assert_int_equal(table.row_count, COUNT / 10);
	assert_true(table.rows[2 * (COUNT / 10 - 1) + 1] == -(COUNT - 10));
	cal_results_table_free(&table);
	CalError error = {0};
	assert_int_equal(cal_results_read(path, "fats", &table, &error), CAL_ERR_ARGUMENT);
	assert_non_null(strstr(error.text, "no stream \"fats\"; the file has slow, fast"));
	unlink(path);
	unlink(csv);
}

static void hdf5_can_be_read_while_it_is_written(void **state) {
	(void)state;
	const char *path = path_of("live.h5");
	const CalResultsStream stream = stream_to("main", path, 3);
	CalResults *results = create(&(CalResultsOptions){.streams = &stream, .stream_count = 1, .flush_s = 1e-3});
	size_t seen = 0;
	for (int i = 0; seen < 100 && i < 1000000; i++) {
		cal_results_put(results, 0, (double[]){i, 2 * i, 3 * i});
		pause_ms();
		if (i % 50 != 49)
			continue;
		CalResultsTable table = table_of(path, "main");
		assert_false(table.closed);
		seen = table.row_count;
		for (size_t k = 0; k < seen; k++)
			assert_true(table.rows[3 * k] == (double)k && table.rows[3 * k + 2] == 3 * (double)k);
		cal_results_table_free(&table);
	}
	assert_true(seen >= 100);
	cal_results_destroy(results);
	unlink(path);
}

static void hdf5_failures_name_the_file(void **state) {
	(void)state;
	const char *nowhere = path_of("none/a.h5"), *path = path_of("text.h5");
	CalResultsStream s[2] = {stream_to("main", nowhere, 3), stream_to("main", nowhere, 3)};
	refused(s, 1, CAL_ERR_IO, "none/a.h5: cannot be written: No such file");
	refused(s, 2, CAL_ERR_ARGUMENT, "two streams are called \"main\"");
	CalResultsTable table;
	CalError error = {0};
	assert_int_equal(cal_results_read(nowhere, NULL, &table, &error), CAL_ERR_IO);
	assert_non_null(strstr(error.text, "none/a.h5: cannot be read"));
	FILE *out = fopen(path, "w");
	assert_non_null(out);
	fputs("not an HDF5 file\n", out);
	fclose(out);
	assert_int_equal(cal_results_read(path, NULL, &table, &error), CAL_ERR_IO);
	unlink(path);
}

static void every_allocation_of_hdf5_may_fail(void **state) {
	(void)state;
	const char *path = path_of("a.h5");
	const CalResultsStream stream = stream_to("main", path, 3);
	for (int k = 1;; k++) {
		FailingAllocator failing = {.fail_at = k};
		CalResultsOptions options = {.streams = &stream, .stream_count = 1, .allocator = failing_allocator(&failing)};
		CalResults *results;
		const CalStatus status = cal_results_create(&options, &results, NULL);
		cal_results_destroy(results);
		assert_int_equal(failing.live, 0);
		if (status == CAL_OK)
			break;
		assert_true(status < 0);
	}
	unlink(path);
}

#else

static void without_hdf5_the_build_says_so(void **state) {
	(void)state;
	const CalResultsStream stream = stream_to("main", "a.h5", 3);
	refused(&stream, 1, CAL_ERR_UNSUPPORTED, "CALDER_WITH_HDF5");
	CalResultsTable table;
	CalError error = {0};
	assert_int_equal(cal_results_read("a.h5", NULL, &table, &error), CAL_ERR_UNSUPPORTED);
	assert_non_null(strstr(error.text, "libhdf5-dev"));
}

#endif

int main(void) {
	signal(SIGPIPE, SIG_IGN);
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_ring_keeps_order_and_content),
		cmocka_unit_test(a_full_ring_refuses),
		cmocka_unit_test(csv_holds_the_very_numbers),
		cmocka_unit_test(waiting_loses_nothing),
		cmocka_unit_test(dropped_records_are_counted_and_reported_in_the_file),
		cmocka_unit_test(a_put_does_not_allocate),
		cmocka_unit_test(wrong_options_are_refused),
		cmocka_unit_test(a_failure_ends_waiting),
		cmocka_unit_test(every_allocation_may_fail),
		cmocka_unit_test(hdf5_is_known_by_its_ending),
#ifdef CALDER_WITH_HDF5
		cmocka_unit_test(hdf5_holds_streams_of_their_own),
		cmocka_unit_test(hdf5_can_be_read_while_it_is_written),
		cmocka_unit_test(hdf5_failures_name_the_file),
		cmocka_unit_test(every_allocation_of_hdf5_may_fail),
#else
		cmocka_unit_test(without_hdf5_the_build_says_so),
#endif
	};
	return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
