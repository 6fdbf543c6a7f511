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

/* ---- thin rods --------------------------------------------------------------------------------------------- */

/*
 * An arm whose links carry rods that spin about themselves, as push rods of legs do: 6 g and 0.12 m, with the inertia
 * 1e-10 kg m^2 about the axis a = (0.6, 0, 0.8), and 7e-6 kg m^2 across it.
 */
static char *arm_with_rods(int links) {
	char *text = NULL;
	size_t length = 0;
	FILE *out = open_memstream(&text, &length);
	assert_non_null(out);
	fputs("<robot name='rods'><link name='world'/>", out);
	for (int i = 0; i < links; i++) {
		fprintf(
			out,
			"<link name='l%d'><inertial><origin xyz='0.0%d 0.11 -0.07'/><mass value='1.3'/><inertia ixx='0.01' iyy='0.02' "
			"izz='0.025' ixy='0' ixz='0' iyz='0'/></inertial></link><joint name='j%d' type='continuous'><origin "
			"xyz='0.3 0.%d 0.1' rpy='0.%d 0.2 -0.3'/><axis xyz='0 1 0'/><parent link='",
			i, i + 1, i, i + 1, i + 1);
		fprintf(out, i ? "l%d" : "world", i - 1);
		fprintf(
			out,
			"'/><child link='l%d'/></joint><link name='r%d'><inertial><origin xyz='-0.036 0 -0.048'/><mass "
			"value='0.006'/><inertia ixx='%.17g' iyy='%.17g' izz='%.17g' ixy='0' ixz='%.17g' iyz='0'/></inertial></link><joint "
			"name='s%d' type='continuous'><origin xyz='0.1 0.2 0.0%d' rpy='0.3 -0.%d 0.7'/><axis xyz='0.6 0 0.8'/><parent "
			"link='l%d'/><child link='r%d'/></joint>",
			i, i, 0.64 * 7e-6 + 0.36e-10, 7e-6, 0.36 * 7e-6 + 0.64e-10, -0.48 * (7e-6 - 1e-10), i, i + 1, i + 1, i, i);
	}
	fputs("</robot>", out);
	fclose(out);
	return text;
}

static CalSetup *setup_from(const char *text) {
	CalSetup *setup = NULL;
	CalError error = {0};
	if (cal_model_parse(text, strlen(text), "rods.xml", NULL, NULL, &setup, &error) != CAL_OK)
		fail_msg("%s", error.text);
	return setup;
}

static void expect_same_bits(const CalSetup *setup, CalFormat format) {
	Written w = write_setup(setup, format, 0);
	CalSetup *again = read_again(&w, 0);
	expect_same_dynamics(cal_format_name(format), setup, again, 0.5, 0);
	cal_setup_destroy(again);
	written_free(&w);
}

/*
 * The inertia of such a rod about its axis is what is left of a sum 1e5 times as large: one unit in the last place of the
 * numbers of a file moves accelerations by up to 4.5e-10 of the largest. So they have to come back to the bit.
 */
static void thin_rods_come_back_to_the_bit(void **state) {
	(void)state;
	char *text = arm_with_rods(4);
	CalSetup *setup = setup_from(text);
	for (int format = CAL_FORMAT_URDF; format < CAL_FORMAT_COUNT; format++)
		expect_same_bits(setup, (CalFormat)format);
	cal_setup_destroy(setup);
	free(text);
}

/* The rods in frames that no angles give to the bit; URDF has nothing else. */
static void quaternions_come_back_to_the_bit(void **state) {
	(void)state;
	static const char mjcf[] =
		"<mujoco><worldbody><body name='a' quat='1 0.2 -0.3 0.4'><inertial pos='0.01 0.11 -0.07' mass='1.3' diaginertia='0.01 "
		"0.02 0.025'/><joint name='j' axis='0.3 1 0.2'/><body name='r' pos='0.1 0.2 0.03' quat='0.3 -0.7 0.1 0.6'><inertial "
		"pos='-0.036 0 -0.048' mass='0.006' fullinertia='4.480036e-6 7e-6 2.520064e-6 0 -3.359952e-6 0'/><joint name='s' "
		"axis='0.6 0 0.8'/></body></body></worldbody></mujoco>";
	CalSetup *setup = setup_from(mjcf);
	expect_same_bits(setup, CAL_FORMAT_MJCF);
	expect_same_bits(setup, CAL_FORMAT_SDF);
	cal_setup_destroy(setup);
}

/* Frames of joints that are turned and moved against both links: SDFormat has places for both. */
static void joint_frames_come_back_to_the_bit(void **state) {
	(void)state;
	static const char *const types[] = {"revolute", "prismatic", "universal", "ball", "fixed"};
	for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
		char text[3000];
		snprintf(
			text, sizeof text,
			"<sdf version='1.11'><model name='m'><link name='a'><pose relative_to='j' rotation_format='quat_xyzw'>0.1 0.2 0.3 "
			"0.3 -0.7 0.1 0.6</pose><inertial><pose>0.01 0.11 -0.07 0 0 0</pose><mass>1.3</mass></inertial></link><joint "
			"name='j' type='revolute'><pose relative_to='__model__'>1 2 3 0.4 0.5 0.6</pose><parent>world</parent><child>a"
			"</child><axis><xyz>0.48 0.6 0.64</xyz></axis></joint><link name='r'><pose relative_to='s' "
			"rotation_format='quat_xyzw'>0.3 0.2 0.1 0.2 0.1 -0.3 0.9</pose><inertial><pose>-0.036 0 -0.048 0 0 0</pose><mass>"
			"0.006</mass><inertia><ixx>4.480036e-6</ixx><iyy>7e-6</iyy><izz>2.520064e-6</izz><ixy>0</ixy><ixz>-3.359952e-6"
			"</ixz><iyz>0</iyz></inertia></inertial></link><joint name='s' type='%s'><pose relative_to='a' "
			"rotation_format='quat_xyzw'>0.1 0.2 0.3 0.1 0.7 0.2 0.6</pose><parent>a</parent><child>r</child>%s%s</joint>"
			"</model></sdf>",
			types[i], i < 3 ? "<axis><xyz>0.6 0 0.8</xyz></axis>" : "",
			i == 2 ? "<axis2><xyz>0 1 0</xyz></axis2>" : "");
		CalSetup *setup = setup_from(text);
		print_message("%s to ", types[i]);
		expect_same_bits(setup, CAL_FORMAT_SDF);
		cal_setup_destroy(setup);
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
	const struct CMUnitTest tests[] = {cmocka_unit_test(robot_files_come_back),
	                                   cmocka_unit_test(examples_come_back),
	                                   cmocka_unit_test(thin_rods_come_back_to_the_bit),
	                                   cmocka_unit_test(quaternions_come_back_to_the_bit),
	                                   cmocka_unit_test(joint_frames_come_back_to_the_bit),
	                                   cmocka_unit_test(random_trees_come_back)};
	return argc > 1 ? 0 : cmocka_run_group_tests(tests, NULL, NULL);
}
