// SPDX-License-Identifier: Apache-2.0
/*
 * test_hostile_results.c — result files that somebody crafted: whatever is not what the format says is refused by name,
 * nothing after a table gets into a page, and no other file is read for one.
 */
#define _GNU_SOURCE // mkstemps

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include <calder/replay.h>

#ifdef CALDER_WITH_HDF5

#include "support/hdf5_edits.h"

typedef void (*Edit)(hid_t file);

static CalStatus replay_of(const char *path, CalError *error) {
	FILE *out = fopen("/dev/null", "wb");
	assert_non_null(out);
	const CalStatus status = cal_replay_write(path, NULL, out, error);
	fclose(out);
	return status;
}

/* A sample file after an edit is refused with all of these words; NULL: it is taken. */
static void expect(Edit edit, const char *word, const char *further) {
	char path[] = "hostile-XXXXXX.h5";
	CalError error = {0};
	close(mkstemps(path, 3));
	assert_true(sample_results(path));
	hid_t file = H5Fopen(path, H5F_ACC_RDWR, H5P_DEFAULT);
	assert_true(file >= 0);
	if (edit)
		edit(file);
	H5Fclose(file);
	const CalStatus status = replay_of(path, &error);
	unlink(path);
	if (!word && status != CAL_OK)
		fail_msg("%s", error.text);
	if (word && (status != CAL_ERR_INPUT || !strstr(error.text, word) || !strstr(error.text, further)))
		fail_msg("status %d, no \"%s\" and \"%s\" in \"%s\"", status, word, further, error.text);
}

/* ---- edits ---------------------------------------------------------------------------------------------------- */

enum { MANY = 4096 };

static void replace_model(hid_t file, int rank, const hsize_t *size, hid_t type, const void *values) {
	const char *name = "m.yaml";
	hid_t text = edit_text_type();
	edit_dataset(file, "/model", type, rank, size, H5P_DEFAULT, values);
	edit_attribute(file, "/model", "name", text, 0, NULL, &name);
	H5Tclose(text);
}

static void model_of_many_texts(hid_t file) {
	static const char *texts[MANY];
	const hsize_t size = MANY;
	for (int i = 0; i < MANY; i++)
		texts[i] = "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA";
	hid_t type = edit_text_type();
	replace_model(file, 1, &size, type, texts);
	H5Tclose(type);
}

static void model_of_nothing(hid_t file) {
	hid_t type = edit_text_type();
	replace_model(file, -1, NULL, type, NULL);
	H5Tclose(type);
}

static void model_of_numbers(hid_t file) {
	const int64_t number = 0x4141414141414141;
	replace_model(file, 0, NULL, H5T_NATIVE_INT64, &number);
}

/* The table of the stream "main", with so many of its columns. */
static void replace_table(hid_t file, int columns, const char *const *names, hid_t type, hid_t create) {
	const hsize_t size[] = {5, (hsize_t)columns};
	static const char *units[32];
	for (int i = 0; i < columns; i++)
		units[i] = "1";
	edit_dataset(file, "/streams/main", type, 2, size, create, NULL);
	edit_text_list(file, "/streams/main", "columns", columns, names);
	edit_text_list(file, "/streams/main", "units", columns, units);
}

static const char *const pose_names[] = {"t",           "pose:hub.x",  "pose:hub.y",  "pose:hub.z",
                                         "pose:hub.qw", "pose:hub.qx", "pose:hub.qy", "pose:hub.qz"};

static void pose_cut_short(hid_t file) { replace_table(file, 2, pose_names, H5T_NATIVE_DOUBLE, H5P_DEFAULT); }

static void pose_of_other_columns(hid_t file) {
	static const char *const names[] = {"t",  "pose:hub.x",  "pose:hub.y",  "pose:hub.z",
	                                    "qw", "pose:hub.qx", "pose:hub.qy", "pose:hub.qz"};
	replace_table(file, 8, names, H5T_NATIVE_DOUBLE, H5P_DEFAULT);
}

static void table_of_integers(hid_t file) { replace_table(file, 8, pose_names, H5T_NATIVE_INT, H5P_DEFAULT); }

/* Its numbers are the bytes of some other file. */
static void table_in_another_file(hid_t file) {
	hid_t create = H5Pcreate(H5P_DATASET_CREATE);
	H5Pset_external(create, "/etc/hostname", 0, H5F_UNLIMITED);
	replace_table(file, 8, pose_names, H5T_NATIVE_DOUBLE, create);
	H5Pclose(create);
}

static void table_made_of_another(hid_t file) {
	const hsize_t size[] = {5, 8};
	hid_t create = H5Pcreate(H5P_DATASET_CREATE), space = H5Screate_simple(2, size, NULL);
	H5Pset_virtual(create, space, "other.h5", "/streams/main", space);
	replace_table(file, 8, pose_names, H5T_NATIVE_DOUBLE, create);
	H5Sclose(space);
	H5Pclose(create);
}

/* All rows of these columns, of a table with eight. */
static hid_t columns_from(hsize_t first, hsize_t count) {
	const hsize_t size[] = {0, 8}, most[] = {H5S_UNLIMITED, 8};
	const hsize_t start[] = {0, first}, times[] = {H5S_UNLIMITED, 1}, block[] = {1, count};
	hid_t space = H5Screate_simple(2, size, most);
	H5Sselect_hyperslab(space, H5S_SELECT_SET, start, NULL, times, block);
	return space;
}

/* A table in two parts: the first has so many columns, the second begins with that one. */
static void table_in_parts(hid_t file, const char *part, const char *path, hsize_t count, hsize_t second) {
	const hsize_t size[] = {0, 8}, most[] = {H5S_UNLIMITED, 8};
	hid_t create = H5Pcreate(H5P_DATASET_CREATE), space = H5Screate_simple(2, size, most);
	hid_t a = columns_from(0, count), b = columns_from(second, 8 - second);
	H5Pset_virtual(create, a, part, path, a);
	H5Pset_virtual(create, b, part, path, b);
	static const char *const units[] = {"s", "m", "m", "m", "1", "1", "1", "1"};
	H5Ldelete(file, "/streams/main", H5P_DEFAULT);
	H5Dclose(H5Dcreate2(file, "/streams/main", H5T_NATIVE_DOUBLE, space, H5P_DEFAULT, create, H5P_DEFAULT));
	edit_text_list(file, "/streams/main", "columns", 8, pose_names);
	edit_text_list(file, "/streams/main", "units", 8, units);
	H5Sclose(a);
	H5Sclose(b);
	H5Sclose(space);
	H5Pclose(create);
}

static void part_above(hid_t file) { table_in_parts(file, "../part.h5", "/streams/main", 4, 4); }
static void part_anywhere(hid_t file) { table_in_parts(file, "/etc/hostname", "/streams/main", 4, 4); }
static void part_is_the_folder(hid_t file) { table_in_parts(file, "..", "/streams/main", 4, 4); }
static void part_of_another_table(hid_t file) { table_in_parts(file, "hostile-part.h5", "/streams/other", 4, 4); }
static void part_of_a_column_twice(hid_t file) { table_in_parts(file, "hostile-part.h5", "/streams/main", 5, 4); }
static void part_without_a_column(hid_t file) { table_in_parts(file, "hostile-part.h5", "/streams/main", 3, 4); }
static void part_in_parts(hid_t file) {
	char name[64];
	H5Fget_name(file, name, sizeof name);
	table_in_parts(file, name, "/streams/main", 4, 4);
}
static void parts_as_they_should_be(hid_t file) { table_in_parts(file, "hostile-part.h5", "/streams/main", 4, 4); }

static void table_linked_from_another(hid_t file) {
	H5Ldelete(file, "/streams/main", H5P_DEFAULT);
	H5Lcreate_external("other.h5", "/streams/main", file, "/streams/main", H5P_DEFAULT, H5P_DEFAULT);
}

static void streams_linked_within(hid_t file) {
	H5Lmove(file, "/streams", file, "/elsewhere", H5P_DEFAULT, H5P_DEFAULT);
	H5Lcreate_soft("/elsewhere", file, "/streams", H5P_DEFAULT, H5P_DEFAULT);
}

static void one_stream_many_times(hid_t file) {
	static const char *const names[] = {"main", "main", "main"};
	const hsize_t size = 3;
	const int64_t none[3] = {0};
	edit_dataset(file, "/status/dropped", H5T_NATIVE_INT64, 1, &size, H5P_DEFAULT, none);
	edit_text_list(file, "/status/dropped", "streams", 3, names);
}

static void columns_without_units(hid_t file) {
	static const char *const units[] = {"s"};
	edit_text_list(file, "/streams/main", "units", 1, units);
}

static void log_of(hid_t file, double action) {
	const hsize_t size[] = {1, 3};
	static const char *const names[] = {"t", "action", "kinetic_lost"}, *const units[] = {"s", "1", "J"};
	const double row[3] = {0.1, action, 0};
	edit_dataset(file, "/events/log", H5T_NATIVE_DOUBLE, 2, size, H5P_DEFAULT, row);
	edit_text_list(file, "/events/log", "columns", 3, names);
	edit_text_list(file, "/events/log", "units", 3, units);
}

static void action_without_number(hid_t file) { log_of(file, (double)NAN); }
static void action_beyond_any_integer(hid_t file) { log_of(file, 1e300); }
static void action_of_nobody(hid_t file) { log_of(file, 2); }
static void action_before_the_first(hid_t file) { log_of(file, -1); }

static void doubts_of_texts(hid_t file) {
	static const char *const texts[] = {"none", "at", "all"};
	const hsize_t size = 3;
	hid_t type = edit_text_type();
	edit_dataset(file, "/doubts", type, 1, &size, H5P_DEFAULT, texts);
	H5Tclose(type);
}

static void layout_of_the_future(hid_t file) {
	const int version = 2;
	edit_attribute(file, "/", "format_version", H5T_NATIVE_INT, 0, NULL, &version);
}

static void title_of_many_texts(hid_t file) {
	static const char *const titles[] = {"a", "b"};
	edit_text_list(file, "/", "title", 2, titles);
}

/* ---- tests ------------------------------------------------------------------------------------------------------ */

static void a_good_file_is_shown(void **state) {
	(void)state;
	expect(NULL, NULL, NULL);
}

static void texts_are_one_text(void **state) {
	(void)state;
	expect(model_of_many_texts, "not a Calder result file", "/model");
	expect(model_of_nothing, "not a Calder result file", "/model");
	expect(model_of_numbers, "not a Calder result file", "/model");
	expect(title_of_many_texts, "not a Calder result file", "title");
}

static void poses_have_all_their_columns(void **state) {
	(void)state;
	expect(pose_cut_short, "holds no poses", "");
	expect(pose_of_other_columns, "holds no poses", "");
}

static void tables_are_numbers_of_this_file(void **state) {
	(void)state;
	expect(table_of_integers, "stream \"main\"", "cannot be read");
	expect(table_in_another_file, "stream \"main\"", "cannot be read");
	expect(table_made_of_another, "stream \"main\"", "cannot be read");
	expect(table_linked_from_another, "stream \"main\"", "cannot be read");
	expect(streams_linked_within, "stream \"main\"", "cannot be read");
	expect(columns_without_units, "stream \"main\"", "cannot be read");
}

/* A good result file is beside the crafted ones: what is refused is how they name it. */
static void parts_are_tables_beside_the_file(void **state) {
	(void)state;
	assert_true(sample_results("hostile-part.h5"));
	expect(part_above, "stream \"main\" cannot be read", "not files beside it");
	expect(part_anywhere, "stream \"main\" cannot be read", "not files beside it");
	expect(part_is_the_folder, "stream \"main\" cannot be read", "not files beside it");
	expect(part_of_another_table, "stream \"main\" cannot be read", "not files beside it");
	expect(part_of_a_column_twice, "stream \"main\" cannot be read", "hold each column once");
	expect(part_without_a_column, "stream \"main\" cannot be read", "hold each column once");
	expect(part_in_parts, "stream \"main\"", "cannot be read");
	expect(parts_as_they_should_be, NULL, NULL);
	unlink("hostile-part.h5");
}

static void streams_are_listed_once(void **state) {
	(void)state;
	expect(one_stream_many_times, "not a Calder result file", "/status");
}

static void actions_are_those_of_the_file(void **state) {
	(void)state;
	expect(action_without_number, "row 0 of events/log", "nan");
	expect(action_beyond_any_integer, "row 0 of events/log", "1e+300");
	expect(action_of_nobody, "row 0 of events/log", "has 2");
	expect(action_before_the_first, "row 0 of events/log", "-1");
}

static void doubts_are_records(void **state) {
	(void)state;
	expect(doubts_of_texts, "not a Calder result file", "/doubts");
}

static void another_layout_is_refused(void **state) {
	(void)state;
	expect(layout_of_the_future, "not a Calder result file", "format");
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_good_file_is_shown),
		cmocka_unit_test(texts_are_one_text),
		cmocka_unit_test(poses_have_all_their_columns),
		cmocka_unit_test(tables_are_numbers_of_this_file),
		cmocka_unit_test(streams_are_listed_once),
		cmocka_unit_test(actions_are_those_of_the_file),
		cmocka_unit_test(doubts_are_records),
		cmocka_unit_test(another_layout_is_refused),
		cmocka_unit_test(parts_are_tables_beside_the_file),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

#else

int main(void) { return 0; }

#endif
