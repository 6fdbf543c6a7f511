// SPDX-License-Identifier: Apache-2.0
/*
 * test_output.c — output files appear whole or not at all, and have one writer at a time (calder/output.h).
 */
#define _GNU_SOURCE // mkdtemp, symlink

#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include <calder/output.h>

#include "support/failing_allocator.h"

static void put(const char *path, const char *text) {
	FILE *out = fopen(path, "w");
	assert_non_null(out);
	fputs(text, out);
	assert_int_equal(fclose(out), 0);
}

static void assert_holds(const char *path, const char *text) {
	char got[80] = "";
	FILE *in = fopen(path, "r");
	assert_non_null(in);
	assert_non_null(fgets(got, sizeof got, in));
	fclose(in);
	assert_string_equal(got, text);
}

static bool is_there(const char *path) { return access(path, F_OK) == 0; }

static CalOutput *open_output(const char *path) {
	CalOutput *output;
	CalError error = {0};
	if (cal_output_open(path, NULL, &output, &error) != CAL_OK)
		fail_msg("%s", error.text);
	return output;
}

static void the_file_appears_when_it_is_published(void **state) {
	(void)state;
	put("a", "old");
	CalOutput *output = open_output("a");
	assert_string_equal(cal_output_path(output), "a");
	assert_string_equal(cal_output_part(output), "a.part");
	put(cal_output_part(output), "new");
	assert_holds("a", "old");
	assert_int_equal(cal_output_publish(output, NULL), CAL_OK);
	assert_holds("a", "new");
	put(cal_output_part(output), "newer"); // and again
	assert_int_equal(cal_output_publish(output, NULL), CAL_OK);
	assert_holds("a", "newer");
	put(cal_output_part(output), "half");
	cal_output_close(output);
	assert_holds("a", "newer");
	assert_false(is_there("a.part") || is_there("a.lock"));
	cal_output_close(NULL);
}

static void handles_outlive_the_move(void **state) {
	(void)state;
	CalOutput *output = open_output("moved");
	FILE *out = fopen(cal_output_part(output), "w");
	assert_non_null(out);
	fputs("first", out);
	assert_int_equal(cal_output_publish(output, NULL), CAL_OK);
	fputs(" second", out);
	fclose(out);
	assert_holds("moved", "first second");
	cal_output_close(output);
}

static void a_second_writer_is_refused(void **state) {
	(void)state;
	CalOutput *output = open_output("b"), *other;
	CalError error = {0};
	char text[80];
	assert_int_equal(cal_output_open("b", NULL, &other, &error), CAL_ERR_IO);
	snprintf(text, sizeof text, "b: another writer has this file (process %ld)", (long)getpid());
	assert_non_null(strstr(error.text, text));
	assert_null(other);
	cal_output_close(output);
	cal_output_close(open_output("b"));
	assert_int_equal(symlink("b", "to_b"), 0); // by another name
	output = open_output("to_b");
	assert_int_equal(cal_output_open("b", NULL, &other, &error), CAL_ERR_IO);
	put(cal_output_part(output), "through the link");
	assert_int_equal(cal_output_publish(output, NULL), CAL_OK);
	cal_output_close(output);
	assert_holds("b", "through the link");
}

static void a_killed_writer_leaves_the_path_free(void **state) {
	(void)state;
	int ready[2];
	assert_int_equal(pipe(ready), 0);
	const pid_t child = fork();
	if (child == 0) {
		CalOutput *output;
		if (cal_output_open("killed", NULL, &output, NULL) != CAL_OK || write(ready[1], "x", 1) != 1)
			_exit(1);
		for (;;)
			pause();
	}
	char byte;
	assert_int_equal(read(ready[0], &byte, 1), 1);
	CalOutput *output;
	assert_int_equal(cal_output_open("killed", NULL, &output, NULL), CAL_ERR_IO);
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	assert_true(is_there("killed.lock"));
	cal_output_close(open_output("killed"));
	assert_false(is_there("killed.lock"));
	close(ready[0]);
	close(ready[1]);
}

/* Many processes replace one file as fast as they can: whoever gets it writes all of it, and readers see nothing else. */
static void readers_see_whole_files_only(void **state) {
	(void)state;
	enum { WRITERS = 3, ROUNDS = 300, SIZE = 1 << 16 };
	pid_t children[WRITERS];
	for (int k = 0; k < WRITERS; k++) {
		children[k] = fork();
		if (children[k] != 0)
			continue;
		char *bytes = malloc(SIZE);
		memset(bytes, 'a' + k, SIZE);
		for (int i = 0; i < ROUNDS; i++) {
			CalOutput *output;
			if (cal_output_open("many", NULL, &output, NULL) != CAL_OK)
				continue;
			const int file = open(cal_output_part(output), O_WRONLY | O_CREAT | O_TRUNC, 0666);
			for (int at = 0; at < SIZE; at += 4096)
				if (write(file, bytes + at, 4096) != 4096)
					_exit(1);
			close(file);
			if (cal_output_publish(output, NULL) != CAL_OK)
				_exit(1);
			cal_output_close(output);
		}
		_exit(0);
	}
	char *got = malloc(SIZE + 1);
	int reads = 0;
	for (int running = WRITERS; running > 0;) {
		FILE *in = fopen("many", "r");
		if (in) {
			assert_int_equal(fread(got, 1, SIZE + 1, in), SIZE);
			assert_int_equal(memcmp(got, got + 1, SIZE - 1), 0);
			fclose(in);
			reads++;
		}
		int status;
		if (waitpid(-1, &status, WNOHANG) > 0) {
			assert_int_equal(status, 0);
			running--;
		}
	}
	free(got);
	assert_true(reads > 0);
	assert_false(is_there("many.part") || is_there("many.lock"));
}

static void what_is_no_file_is_written_directly(void **state) {
	(void)state;
	CalOutput *a = open_output("/dev/null"), *b = open_output("/dev/null");
	assert_string_equal(cal_output_part(a), "/dev/null");
	assert_int_equal(cal_output_publish(a, NULL), CAL_OK);
	cal_output_close(a);
	cal_output_close(b);
	assert_true(is_there("/dev/null"));
	assert_int_equal(mkfifo("pipe", 0666), 0);
	a = open_output("pipe");
	assert_string_equal(cal_output_part(a), "pipe");
	cal_output_close(a);
	assert_true(is_there("pipe"));
}

static void bad_paths_are_refused(void **state) {
	(void)state;
	CalOutput *output;
	CalError error = {0};
	assert_int_equal(cal_output_open("no/such/folder", NULL, &output, &error), CAL_ERR_IO);
	assert_non_null(strstr(error.text, "no/such/folder: cannot be written: No such file or directory"));
	assert_int_equal(cal_output_open(".", NULL, &output, &error), CAL_ERR_IO);
	assert_non_null(strstr(error.text, "Is a directory"));
	assert_int_equal(symlink("round", "round"), 0);
	assert_int_equal(cal_output_open("round", NULL, &output, &error), CAL_ERR_IO);
	assert_int_equal(cal_output_open("", NULL, &output, &error), CAL_ERR_ARGUMENT);
	assert_int_equal(cal_output_open(NULL, NULL, &output, &error), CAL_ERR_ARGUMENT);
	assert_int_equal(cal_output_open("x", NULL, NULL, &error), CAL_ERR_ARGUMENT);
	assert_int_equal(cal_output_publish(NULL, &error), CAL_ERR_ARGUMENT);
	CalOutput *unwritten = open_output("unwritten");
	assert_int_equal(cal_output_publish(unwritten, &error), CAL_ERR_IO);
	cal_output_close(unwritten);
}

static void every_allocation_may_fail(void **state) {
	(void)state;
	assert_int_equal(symlink("target", "link"), 0);
	for (int k = 1;; k++) {
		FailingAllocator failing = {.fail_at = k};
		const CalAllocator allocator = failing_allocator(&failing);
		CalOutput *output;
		CalError error = {0};
		const CalStatus status = cal_output_open("link", &allocator, &output, &error);
		cal_output_close(output);
		assert_int_equal(failing.live, 0);
		assert_false(is_there("target.lock"));
		if (status == CAL_OK)
			break;
		assert_int_equal(status, CAL_ERR_MEMORY);
		assert_non_null(strstr(error.text, "out of memory"));
	}
}

int main(void) {
	char folder[] = "/tmp/calder_output_XXXXXX";
	if (!mkdtemp(folder) || chdir(folder) != 0)
		return 1;
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_file_appears_when_it_is_published),
		cmocka_unit_test(handles_outlive_the_move),
		cmocka_unit_test(a_second_writer_is_refused),
		cmocka_unit_test(a_killed_writer_leaves_the_path_free),
		cmocka_unit_test(readers_see_whole_files_only),
		cmocka_unit_test(what_is_no_file_is_written_directly),
		cmocka_unit_test(bad_paths_are_refused),
		cmocka_unit_test(every_allocation_may_fail),
	};
	const int failed = cmocka_run_group_tests(tests, NULL, NULL);
	char command[80];
	snprintf(command, sizeof command, "rm -rf %s", folder);
	return system(command) != 0 || failed;
}
