// SPDX-License-Identifier: Apache-2.0
/*
 * test_export_round_trip.c — what is read, written in another format and read again moves alike.
 *
 * With files as arguments: the same for these, as a partial model where it has to be.
 */
#define _POSIX_C_SOURCE 200809L // open_memstream

#include <stdbool.h>

#include "support/round_trip.h"

static CalSetup *setup_of(const char *path) {
	CalSetup *setup = NULL;
	CalError error = {0};
	if (cal_model_read(path, &(CalReadOptions){.partial = 1}, NULL, &setup, &error) != CAL_OK)
		fail_msg("%s", error.text);
	return setup;
}

/* Whether only devices and loads are missing, which the comparison does not count. */
static bool has_same_equations(const Written *w) {
	CalExportNote note;
	for (int i = 0; cal_export_note(w->report, i, &note) == CAL_OK; i++)
		if (note.kind == CAL_IMPORT_MISSING && strncmp(note.element, "device", 6) != 0 &&
		    strncmp(note.element, "load", 4) != 0) {
			print_message("    %s: %s\n", note.element, note.text);
			return false;
		}
	return true;
}

/* Each format that holds the equations of the model; returns in how many that is. */
static int round_trips(const char *path, double size) {
	int whole = 0;
	CalSetup *setup = setup_of(path);
	for (int format = CAL_FORMAT_URDF; format < CAL_FORMAT_COUNT; format++) {
		char name[300];
		const char *base = strrchr(path, '/');
		snprintf(name, sizeof name, "%s to %s", base ? base + 1 : path, cal_format_name((CalFormat)format));
		Written w = write_setup(setup, (CalFormat)format, 1);
		CalSetup *again = read_again(&w, 0);
		if (has_same_equations(&w)) {
			expect_same_dynamics(name, setup, again, size, 1e-12);
			whole++;
		} else {
			print_message("%s: something is missing\n", name);
		}
		cal_setup_destroy(again);
		written_free(&w);
	}
	cal_setup_destroy(setup);
	return whole;
}

static void robot_files_come_back(void **state) {
	(void)state;
	assert_int_equal(round_trips(SOURCE_DIR "/test/data/models/arm/arm.urdf", 1), 2);
	assert_int_equal(round_trips(SOURCE_DIR "/test/data/models/hand/hand.urdf", 1), 3);
	assert_int_equal(round_trips(SOURCE_DIR "/test/data/models/walker/walker.urdf", 1), 3);
	assert_int_equal(round_trips(SOURCE_DIR "/test/data/models/leg/leg.xml", 1), 1);
	assert_int_equal(round_trips(SOURCE_DIR "/test/data/models/gantry/gantry.xml", 1), 2);
}

int main(int argc, char **argv) {
	NEEDS_YAML();
	NEEDS_EXPAT();
	for (int i = 1; i < argc; i++)
		round_trips(argv[i], 0.1);
	const struct CMUnitTest tests[] = {cmocka_unit_test(robot_files_come_back)};
	return argc > 1 ? 0 : cmocka_run_group_tests(tests, NULL, NULL);
}
