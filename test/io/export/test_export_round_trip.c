// SPDX-License-Identifier: Apache-2.0
/*
 * test_export_round_trip.c — what is read, written in another format and read again moves alike.
 *
 * With files as arguments: the same for these, as a partial model where it has to be.
 */
#define _POSIX_C_SOURCE 200809L // open_memstream

#include <stdbool.h>

#include "support/random_tree.h"
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

/* Whether loops are closed by another zero of coordinates. */
static bool has_moved_zero(const Written *w) {
	CalExportNote note;
	for (int i = 0; cal_export_note(w->report, i, &note) == CAL_OK; i++)
		if (strstr(note.text, "its zero is at"))
			return true;
	return false;
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
			expect_same_dynamics_from(name, setup, again, size, 1e-12, has_moved_zero(&w));
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

static void examples_come_back(void **state) {
	(void)state;
	static const struct {
		const char *name;
		int formats; // that hold its equations: URDF has no loops and no gravity but one
	} examples[] = {{"pendulum", 3}, {"double_pendulum", 3}, {"heavy_top", 2},       {"free_flying_arm", 2},
	                {"four_bar", 2}, {"slider_crank", 2},    {"driven_four_bar", 2}, {"stewart", 2},
	                {"bricard", 2},  {"n_four_bar", 2},      {"chain128", 3}};
	for (size_t i = 0; i < sizeof examples / sizeof *examples; i++) {
		char path[400];
		snprintf(path, sizeof path, SOURCE_DIR "/examples/%s.yaml", examples[i].name);
		assert_int_equal(round_trips(path, 0.1), examples[i].formats);
	}
}

/* ---- random trees: any frames at both sides of any joint ------------------------------------------------ */

static CalSetup *random_setup(uint64_t seed, TreeOptions options) {
	char *text = NULL;
	size_t length = 0;
	CalError error = {0};
	CalSetup *setup = NULL;
	Fixture *f = fixture_random(seed, options, CAL_SOLVER_RECURSIVE);
	FILE *out = open_memstream(&text, &length);
	assert_non_null(out);
	if (cal_desc_write(f->desc, out, &error) != CAL_OK)
		fail_msg("%s", error.text);
	fclose(out);
	fixture_destroy(f);
	if (cal_model_file_parse(text, length, "t.yaml", NULL, &setup, &error) != CAL_OK)
		fail_msg("%s", error.text);
	free(text);
	cal_desc_set_gravity(cal_setup_edit_desc(setup), (CalGroupId){0}, (CalVec3){0, 0, -9.81});
	return setup;
}

static void try_trees(CalFormat format, unsigned joints, int springs) {
	enum { TREES = 25 };
	for (uint64_t i = 0; i < TREES; i++) {
		const uint64_t seed = test_seed() + i;
		char name[80];
		CalSetup *setup = random_setup(seed, (TreeOptions){.bodies = 8, .joints = joints, .springs = springs});
		Written w = write_setup(setup, format, 0);
		CalSetup *again = read_again(&w, 0);
		snprintf(name, sizeof name, "seed %llu to %s", (unsigned long long)seed, cal_format_name(format));
		expect_same_dynamics(name, setup, again, 1, 1e-12);
		cal_setup_destroy(again);
		cal_setup_destroy(setup);
		written_free(&w);
	}
}

enum {
	SCALARS = 1 << CAL_JOINT_WELD | 1 << CAL_JOINT_REVOLUTE | 1 << CAL_JOINT_PRISMATIC,
	CHAINS = 1 << CAL_JOINT_UNIVERSAL | 1 << CAL_JOINT_CYLINDRICAL | 1 << CAL_JOINT_PLANAR | 1 << CAL_JOINT_PIN_SLOT,
	TURNS = 1 << CAL_JOINT_SPHERICAL | 1 << CAL_JOINT_FREE,
};

static void random_trees_come_back(void **state) {
	(void)state;
	try_trees(CAL_FORMAT_URDF, SCALARS | CHAINS | 1 << CAL_JOINT_FREE, 0);
	try_trees(CAL_FORMAT_MJCF, SCALARS | CHAINS | TURNS, 0);
	try_trees(CAL_FORMAT_MJCF, SCALARS | CHAINS, 1);
	try_trees(CAL_FORMAT_SDF, SCALARS | CHAINS | TURNS | 1 << CAL_JOINT_SCREW, 0);
}

int main(int argc, char **argv) {
	NEEDS_YAML();
	NEEDS_EXPAT();
	for (int i = 1; i < argc; i++)
		round_trips(argv[i], 0.1);
	const struct CMUnitTest tests[] = {cmocka_unit_test(robot_files_come_back), cmocka_unit_test(examples_come_back),
	                                   cmocka_unit_test(random_trees_come_back)};
	return argc > 1 ? 0 : cmocka_run_group_tests(tests, NULL, NULL);
}
