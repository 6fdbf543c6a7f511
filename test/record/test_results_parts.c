// SPDX-License-Identifier: Apache-2.0
/*
 * test_results_parts.c — streams whose columns are in several files: the joined one reads as if it held them all, as far as
 * all parts have come; parts that are missing or of another run are named.
 */
#define _POSIX_C_SOURCE 200809L // mkdtemp

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include <calder/results.h>

#ifdef CALDER_WITH_HDF5

enum { WIDTH = 6, PARTS = 3, ROWS = 1000 };

static char folder[] = "calder_parts_XXXXXX";
static const char *const files[PARTS] = {"run.rank0.h5", "run.rank1.h5", "run.rank3.h5"};
static const CalResultsColumn columns[WIDTH] = {{"t", "s"},   {"a", "m"},   {"b", "m"},
                                                {"c", "rad"}, {"d", "rad"}, {"energy", "J"}};
static const int part_of[WIDTH] = {0, 1, 2, 1, 1, 0}; // neither in order nor together

static const char *path_of(const char *name) {
	static char paths[4][200];
	static int turn;
	char *path = paths[turn++ % 4];
	snprintf(path, sizeof paths[0], "%s/%s", folder, name);
	return path;
}

static double value_at(int row, int column) { return column == 0 ? 0.1 * row : row + 0.01 * column; }

static CalResultsStream joined_stream(void) {
	return (CalResultsStream){.name = "main",
	                          .path = path_of("run.h5"),
	                          .columns = columns,
	                          .column_count = WIDTH,
	                          .parts = files,
	                          .part_count = PARTS,
	                          .part_of = part_of};
}

/* late: of the time of every record. */
static void write_part(int part, int rows, double late) {
	CalResultsColumn own[WIDTH] = {columns[0]};
	int at[WIDTH] = {0}, count = 1;
	for (int i = 1; i < WIDTH; i++) {
		if (part_of[i] == part) {
			at[count] = i;
			own[count++] = columns[i];
		}
	}
	const CalResultsStream stream = {
		.name = "main", .path = path_of(files[part]), .columns = own, .column_count = count};
	const CalResultsOptions options = {.streams = &stream, .stream_count = 1};
	CalResults *results;
	assert_int_equal(cal_results_create(&options, &results, NULL), CAL_OK);
	for (int row = 0; row < rows; row++) {
		double values[WIDTH];
		for (int i = 0; i < count; i++)
			values[i] = value_at(row, at[i]) + (i == 0 ? late : 0);
		assert_int_equal(cal_results_put(results, 0, values), CAL_OK);
	}
	assert_int_equal(cal_results_finish(results, NULL), CAL_OK);
	cal_results_destroy(results);
}

static void write_joined(void) {
	const CalResultsStream stream = joined_stream();
	const CalResultsOptions options = {.streams = &stream, .stream_count = 1, .title = "parts"};
	const double row[WIDTH] = {0};
	CalResults *results;
	assert_int_equal(cal_results_create(&options, &results, NULL), CAL_OK);
	assert_int_equal(cal_results_put(results, 0, row), CAL_ERR_ARGUMENT); // into a part
	assert_int_equal(cal_results_finish(results, NULL), CAL_OK);
	cal_results_destroy(results);
}

static int make_files(void **state) {
	(void)state;
	if (!mkdtemp(folder))
		return -1;
	write_joined();
	for (int part = 0; part < PARTS; part++)
		write_part(part, ROWS, 0);
	return 0;
}

static int remove_files(void **state) {
	(void)state;
	for (int part = 0; part < PARTS; part++)
		unlink(path_of(files[part]));
	unlink(path_of("run.h5"));
	return rmdir(folder);
}

static void expect_rows(size_t rows) {
	CalResultsTable table;
	CalError error = {0};
	if (cal_results_read(path_of("run.h5"), NULL, &table, &error) != CAL_OK)
		fail_msg("%s", error.text);
	assert_int_equal(table.row_count, rows);
	assert_int_equal(table.column_count, WIDTH);
	assert_string_equal(table.name, "main");
	assert_true(table.closed);
	for (int i = 0; i < WIDTH; i++) {
		assert_string_equal(table.columns[i].name, columns[i].name);
		assert_string_equal(table.columns[i].unit, columns[i].unit);
		for (size_t row = 0; row < rows; row++)
			assert_true(table.rows[row * WIDTH + (size_t)i] == value_at((int)row, i));
	}
	cal_results_table_free(&table);
}

static void expect_refusal(CalStatus wanted, const char *word, const char *further) {
	CalResultsTable table;
	CalError error = {0};
	assert_int_equal(cal_results_read(path_of("run.h5"), "main", &table, &error), wanted);
	if (!strstr(error.text, word) || !strstr(error.text, further))
		fail_msg("no \"%s\" and \"%s\" in \"%s\"", word, further, error.text);
	assert_null(table.rows);
}

static void joined_file_reads_as_one(void **state) {
	(void)state;
	CalResultsAbout about;
	expect_rows(ROWS);
	assert_int_equal(cal_results_about(path_of("run.h5"), &about, NULL), CAL_OK);
	assert_string_equal(about.title, "parts");
	assert_int_equal(about.stream_count, 1);
	cal_results_about_free(&about);
}

static void records_end_with_the_shortest_part(void **state) {
	(void)state;
	write_part(2, ROWS / 3, 0);
	expect_rows(ROWS / 3);
	write_part(0, 0, 0);
	expect_rows(0);
	write_part(0, ROWS, 0);
	write_part(2, ROWS, 0);
	expect_rows(ROWS);
}

static void wrong_parts_are_named(void **state) {
	(void)state;
	char away[200];
	snprintf(away, sizeof away, "%s.away", path_of(files[1]));
	assert_int_equal(rename(path_of(files[1]), away), 0);
	expect_refusal(CAL_ERR_IO, files[1], "cannot be read");
	assert_int_equal(rename(path_of(files[2]), path_of(files[1])), 0); // its columns are others
	expect_refusal(CAL_ERR_INPUT, files[1], "put the files of one run together");
	assert_int_equal(rename(away, path_of(files[1])), 0);
	write_part(2, ROWS, 1e-9); // another run
	expect_refusal(CAL_ERR_INPUT, files[2], "times are others");
	write_part(2, ROWS, 0);
	expect_rows(ROWS);
}

static void refuse_stream(CalResultsStream stream) {
	const CalResultsOptions options = {.streams = &stream, .stream_count = 1};
	CalResults *results;
	CalError error = {0};
	assert_int_equal(cal_results_create(&options, &results, &error), CAL_ERR_ARGUMENT);
	assert_non_null(strstr(error.text, "stream \"main\": parts are files"));
}

static void wrong_options_are_refused(void **state) {
	(void)state;
	static const char *const elsewhere[PARTS] = {"run.rank0.h5", "a/run.h5", "run.rank3.h5"};
	static const int beyond[WIDTH] = {0, 1, 2, 3, 1, 0}, late[WIDTH] = {1, 1, 2, 1, 1, 0};
	CalResultsStream stream = joined_stream();
	stream.parts = elsewhere;
	refuse_stream(stream);
	stream = joined_stream();
	stream.part_of = beyond;
	refuse_stream(stream);
	stream.part_of = late;
	refuse_stream(stream);
	stream.part_of = NULL;
	refuse_stream(stream);
	stream = joined_stream();
	stream.path = path_of("run.csv");
	refuse_stream(stream);
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(joined_file_reads_as_one),
		cmocka_unit_test(records_end_with_the_shortest_part),
		cmocka_unit_test(wrong_parts_are_named),
		cmocka_unit_test(wrong_options_are_refused),
	};
	return cmocka_run_group_tests(tests, make_files, remove_files);
}

#else

int main(void) { return 0; }

#endif
