// SPDX-License-Identifier: Apache-2.0
/*
 * test_input_limits.c — files that would take memory or time without bound: every reader refuses them, and says which file
 * it was, what the limit is and what to do.
 */
#define _GNU_SOURCE // mkdtemp, truncate

#include <dirent.h>
#include <sys/stat.h>
#include <unistd.h>

#include <calder/calder.h>
#include <calder/results.h>

#include "support/model_file_support.h"

static char folder[] = "limits-XXXXXX";

static int enter(void **state) {
	(void)state;
	return mkdtemp(folder) && chdir(folder) == 0 && mkfifo("pipe", 0600) == 0 && mkfifo("pipe.stl", 0600) == 0 ? 0 : -1;
}

static int leave(void **state) {
	(void)state;
	DIR *all = opendir(".");
	for (const struct dirent *entry; all && (entry = readdir(all));)
		unlink(entry->d_name);
	closedir(all);
	return chdir("..") == 0 ? rmdir(folder) : -1;
}

static void write_file(const char *path, const char *text) {
	FILE *out = fopen(path, "w");
	assert_non_null(out);
	fputs(text, out);
	fclose(out);
}

static void make_sparse(const char *path, off_t size) {
	write_file(path, "");
	assert_int_equal(truncate(path, size), 0);
}

/* ---- the readers ------------------------------------------------------------------------------------------------- */

typedef CalStatus (*ReadFn)(const char *path, CalError *error);

static CalStatus read_model(const char *path, CalError *error) {
	CalSetup *file = NULL;
	const CalStatus status = cal_model_file_read(path, NULL, &file, error);
	cal_setup_destroy(file);
	return status;
}

static CalStatus read_mesh(const char *path, CalError *error) {
	CalMesh *mesh = NULL;
	const CalStatus status = cal_mesh_read(path, (CalVec3){1, 1, 1}, NULL, &mesh, error);
	cal_mesh_destroy(mesh);
	return status;
}

#ifdef CALDER_WITH_HDF5
static CalStatus read_results(const char *path, CalError *error) {
	CalResultsTable table;
	const CalStatus status = cal_results_read(path, NULL, &table, error);
	if (status == CAL_OK)
		cal_results_table_free(&table);
	return status;
}

static CalStatus read_about(const char *path, CalError *error) {
	CalResultsAbout about;
	const CalStatus status = cal_results_about(path, &about, error);
	if (status == CAL_OK)
		cal_results_about_free(&about);
	return status;
}

#endif

static CalStatus read_checkpoint(const char *path, CalError *error) {
	static const char model[] = "calder: 1\nbodies: {a: {mass: 1, inertia: [1, 1, 1]}}\n"
								"joints: {j: {type: free, to: a}}\n";
	CalSetup *file = NULL;
	CalSim *sim = NULL;
	assert_int_equal(cal_model_file_parse(model, strlen(model), "m", NULL, &file, error), CAL_OK);
	const CalSimOptions options = {.method = {.method = CAL_METHOD_RK4, .step = 0.1}};
	assert_int_equal(cal_sim_create(cal_setup_desc(file), &options, &sim, error), CAL_OK);
	const CalStatus status = cal_checkpoint_load(sim, path, error);
	cal_sim_destroy(sim);
	cal_setup_destroy(file);
	return status;
}

static void refuses(ReadFn read, const char *path, const char *what) {
	CalError error = {0};
	const CalStatus status = read(path, &error);
	assert_true(status < 0 && status != CAL_ERR_MEMORY);
	if (!strstr(error.text, path) || !strstr(error.text, what))
		fail_msg("%s: \"%s\" does not say \"%s\"", path, error.text, what);
}

/* ---- tests ------------------------------------------------------------------------------------------------------- */

static void what_has_no_end_is_not_begun(void **state) {
	(void)state;
	const ReadFn readers[] = {
		read_model,
		read_checkpoint,
#ifdef CALDER_WITH_HDF5
		read_results,
		read_about,
#endif
	};
	for (size_t i = 0; i < sizeof readers / sizeof readers[0]; i++) {
		refuses(readers[i], "/dev/zero", "it is a device, which has no end; name a regular file");
		refuses(readers[i], ".", "it is a folder; name a file in it");
		refuses(readers[i], "pipe",
		        i == 0 ? "the file is empty" : "it is a pipe; store what comes out of it in a file first");
	}
	refuses(read_mesh, "pipe.stl", "too few for a binary one"); // nobody writes: it ends at once
	assert_int_equal(symlink("/dev/zero", "zero.stl"), 0);
	refuses(read_mesh, "zero.stl", "it is a device");
}

static void large_files_are_refused_by_their_size(void **state) {
	(void)state;
	make_sparse("large.yaml", (off_t)1 << 40);
	refuses(read_model, "large.yaml", "has 1099511627776 bytes, and at most 67108864 are read; split the model");
	make_sparse("large.stl", (off_t)1 << 40);
	refuses(read_mesh, "large.stl", "at most 2147483648 are read; use a coarser mesh");
	make_sparse("large.cp", (off_t)1 << 40);
	refuses(read_checkpoint, "large.cp", "is it a checkpoint?");
	make_sparse("holes.cp", (off_t)1 << 32); // within the limit, but nothing is there
	refuses(read_checkpoint, "holes.cp", "the file claims 4294967296 bytes, but has only");
}

/* A file that names others in the same way: by them nothing can be smuggled in either. */
static void files_that_files_name_are_bounded_too(void **state) {
	(void)state;
	write_file("zero.yaml", "calder: 1\nbodies: {a: {mass: 1, inertia: [1, 1, 1]}}\njoints: {j: {type: free, to: a}}\n"
	                        "subsystems: {s: {file: /dev/zero}}\n");
	refuses(read_model, "zero.yaml", "subsystem \"s\": /dev/zero: the file could not be read: it is a device");
}

/* A repository that was cloned without its large files. */
static void pointers_of_git_lfs_are_named(void **state) {
	(void)state;
	static const char pointer[] = "version https://git-lfs.github.com/spec/v1\noid sha256:0123\nsize 12\n";
	write_file("pointer.stl", pointer);
	refuses(read_mesh, "pointer.stl", "run \"git lfs pull\" in its repository");
	write_file("pointer.yaml", pointer);
	refuses(read_model, "pointer.yaml", "run \"git lfs pull\" in its repository");
}

/* Nine levels of ten instances each: 10^9 bodies in a few hundred bytes. */
static void subsystems_multiply_within_limits(void **state) {
	(void)state;
	enum { LEVELS = 9 };
	write_file("l0.yaml", "calder: 1\nbodies: {b: {mass: 1, inertia: [1, 1, 1]}}\njoints: {j: {type: free, to: b}}\n"
	                      "interface: [b]\n");
	for (int level = 1; level <= LEVELS; level++) {
		char path[32], text[2000] = "calder: 1\nbodies: {b: {mass: 1, inertia: [1, 1, 1]}}\n"
									"joints: {j: {type: free, to: b}}\ninterface: [b]\nsubsystems:\n";
		for (int i = 0; i < 10; i++)
			snprintf(text + strlen(text), sizeof text - strlen(text),
			         "  s%d: {file: l%d.yaml, attach: {to: b, joint: weld}}\n", i, level - 1);
		snprintf(path, sizeof path, "l%d.yaml", level);
		write_file(path, text);
	}
	CalError error = {0};
	CalSetup *file = NULL;
	assert_int_equal(cal_model_file_read("l2.yaml", NULL, &file, &error), CAL_OK); // that many are fine
	assert_int_equal(cal_desc_body_count(cal_setup_desc(file)), 111);
	cal_setup_destroy(file);
	assert_int_equal(cal_model_file_read("l9.yaml", NULL, &file, &error), CAL_ERR_INPUT);
	assert_non_null(strstr(error.text, "yaml:"));
	assert_non_null(strstr(error.text, "has more than 4194304 items; use fewer instances"));
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_has_no_end_is_not_begun),
		cmocka_unit_test(large_files_are_refused_by_their_size),
		cmocka_unit_test(files_that_files_name_are_bounded_too),
		cmocka_unit_test(pointers_of_git_lfs_are_named),
		cmocka_unit_test(subsystems_multiply_within_limits),
	};
	return cmocka_run_group_tests(tests, enter, leave);
}
