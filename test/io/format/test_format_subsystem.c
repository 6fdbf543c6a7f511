// SPDX-License-Identifier: Apache-2.0
/*
 * test_format_subsystem.c — robot files as subsystems of model files: the same as the robot converted first, with its report
 * and its places.
 */
#define _GNU_SOURCE // mkdtemp, open_memstream

#include <stdbool.h>
#include <unistd.h>

#include "support/robot.h"

static char folder[64];

static const char *path_of(const char *name) {
	static char paths[4][96];
	static int next;
	char *path = paths[next++ % 4];
	snprintf(path, sizeof paths[0], "%s/%s", folder, name);
	return path;
}

static void write_text(const char *name, const char *text) {
	FILE *out = fopen(path_of(name), "w");
	assert_non_null(out);
	fputs(text, out);
	assert_int_equal(fclose(out), 0);
}

static int make_folder(void **state) {
	(void)state;
	snprintf(folder, sizeof folder, "/tmp/test_format_XXXXXX");
	return mkdtemp(folder) ? 0 : -1;
}

static int remove_folder(void **state) {
	(void)state;
	static const char *const names[] = {"host.yaml", "robot.xml", "robot.yaml"};
	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		unlink(path_of(names[i]));
	return rmdir(folder);
}

/* An arm of two links along x, the second one in a frame of its own. */
static const char urdf[] =
	"<robot name='arm'>\n"
	"<link name='base'><inertial><mass value='2'/><inertia ixx='1' iyy='1' izz='1'/></inertial></link>\n"
	"<link name='tip'><inertial><origin xyz='.5 0 0'/><mass value='1'/><inertia ixx='1' iyy='1' izz='1'/></inertial>\n"
	"<collision><geometry><box size='1 1 1'/></geometry></collision></link>\n"
	"<joint name='j' type='continuous'><parent link='base'/><child link='tip'/><origin xyz='1 0 0'/><axis xyz='0 0 1'/>\n"
	"<dynamics damping='.1' friction='.2'/></joint></robot>\n";
static const char mjcf[] =
	"<mujoco><worldbody><body name='base'><inertial pos='0 0 0' mass='2' diaginertia='1 1 1'/><body name='tip' pos='1 0 0'>"
	"<joint name='j' range='-90 90'/><inertial pos='.5 0 0' mass='1' diaginertia='1 1 1'/><site name='end' pos='1 0 0'/>"
	"</body></body></worldbody><actuator><position name='p' joint='j' kp='10'/></actuator><keyframe><key name='home' "
	"qpos='.1' ctrl='.5'/></keyframe></mujoco>";
static const char sdf[] =
	"<sdf version='1.7'><model name='arm'><link name='base'><inertial><mass>2</mass></inertial></link><link name='tip'><pose>"
	"1 0 0 0 0 0</pose><inertial><mass>1</mass></inertial></link><joint name='w' type='fixed'><parent>world</parent><child>"
	"base</child></joint><joint name='j' type='revolute'><parent>base</parent><child>tip</child><axis><xyz>0 0 1</xyz>"
	"</axis></joint><frame name='end' attached_to='tip'><pose>1 0 0 0 0 0</pose></frame></model></sdf>";

#define HOST(file, more)                                                           \
	"calder: 1\nbodies: {cart: {mass: 5, sphere: 0.1, nodes: {top: [0, 0, 1]}}}\n" \
	"joints: {rail: {type: prismatic, to: cart, axis: x}}\n"                       \
	"subsystems: {left: {file: " file ", attach: {to: cart/top" more "}}, right: {file: " file "}}\n"

static CalSetup *read_host(const char *text) {
	CalSetup *setup = NULL;
	CalError error = {0};
	write_text("host.yaml", text);
	if (cal_model_read(path_of("host.yaml"), NULL, NULL, &setup, &error) != CAL_OK)
		fail_msg("%s", error.text);
	return setup;
}

static char *text_of(const CalSetup *setup) {
	char *text = NULL;
	size_t length = 0;
	FILE *out = open_memstream(&text, &length);
	CalError error = {0};
	assert_non_null(out);
	if (cal_model_file_write(setup, out, &error) != CAL_OK)
		fail_msg("%s", error.text);
	assert_int_equal(fclose(out), 0);
	return text;
}

/* The robot as `calder convert` writes it, with its root link as interface node. */
static void convert_robot(void) {
	CalSetup *robot = NULL;
	CalError error = {0};
	if (cal_model_read(path_of("robot.xml"), NULL, NULL, &robot, &error) != CAL_OK)
		fail_msg("%s", error.text);
	assert_int_equal(cal_setup_add_interface_node(robot, "base", &error), CAL_OK);
	char *text = text_of(robot);
	write_text("robot.yaml", text);
	free(text);
	cal_setup_destroy(robot);
}

static void robots_equal_converted_files(void **state) {
	(void)state;
	const char *const robots[] = {urdf, mjcf, sdf};
	for (size_t i = 0; i < 3; i++) {
		write_text("robot.xml", robots[i]);
		convert_robot();
		CalSetup *direct = read_host(HOST("robot.xml", ", joint: {type: revolute, axis: y}")),
				 *converted = read_host(HOST("robot.yaml", ", joint: {type: revolute, axis: y}"));
		assert_int_equal(cal_desc_body_count(cal_setup_desc(direct)), 5);
		char *a = text_of(direct), *b = text_of(converted);
		assert_string_equal(a, b);
		free(a);
		free(b);
		cal_setup_destroy(direct);
		cal_setup_destroy(converted);
	}
}

/* By any link and node: here by the tip, so that the robot is passed from there to its base. */
static void robots_are_attached_anywhere(void **state) {
	(void)state;
	const struct {
		const char *robot, *host;
		double x; // of the base
	} cases[] = {{urdf, HOST("robot.xml", ", interface: tip"), -1},
	             {sdf, HOST("robot.xml", ", interface: tip/end"), -2},
	             {mjcf, HOST("robot.xml", ", interface: tip/end"), -2}};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		write_text("robot.xml", cases[i].robot);
		CalSetup *setup = read_host(cases[i].host);
		Robot r = {.setup = setup, .model = model_of(setup, NULL)};
		assert_int_equal(cal_state_create(r.model, &r.state), CAL_OK);
		assert_int_equal(cal_work_create(r.model, &r.work), CAL_OK);
		robot_expect_at(&r, "left/base", (CalVec3){cases[i].x, 0, 1}, (CalVec3){1, 0, 0});
		robot_expect_at(&r, "right/tip", (CalVec3){1, 0, 0}, (CalVec3){1, 0, 0});
		robot_close(&r);
	}
}

/* Lines of the report, of errors and of bodies are those of the robot file. */
static void robots_keep_report_and_places(void **state) {
	(void)state;
	char said[200];
	CalSetup *setup = NULL;
	CalError error = {0};
	write_text("robot.xml", urdf);
	setup = read_host(HOST("robot.xml", ""));
	const CalDesc *desc = cal_setup_desc(setup);
	snprintf(said, sizeof said, "%s:3:1", path_of("robot.xml"));
	assert_string_equal(cal_desc_body(desc, cal_desc_find_body(desc, "left/tip"))->place, said);
	CalImportNote note;
	bool found = false;
	for (int i = 0; cal_setup_import_note(setup, i, &note) == CAL_OK; i++)
		found = found || (strstr(note.element, "collision") && note.line == 4 && strstr(note.file, "robot.xml"));
	assert_true(found);
	cal_setup_destroy(setup);
	write_text("robot.xml", "<robot name='r'>\n<link name='a'><inertial><mass value='-1'/></inertial></link></robot>");
	assert_int_equal(cal_model_read(path_of("host.yaml"), NULL, NULL, &setup, &error), CAL_ERR_INPUT);
	assert_non_null(strstr(error.text, "robot.xml:2:"));
	write_text("robot.xml", "<svg/>");
	assert_int_equal(cal_model_read(path_of("host.yaml"), NULL, NULL, &setup, &error), CAL_ERR_INPUT);
	assert_non_null(strstr(error.text, "<svg>"));
}

/* Options of the outer file count for robots; `set` changes what the converted robot would have. */
static void robots_have_options_and_settings(void **state) {
	(void)state;
	CalSetup *setup = NULL;
	CalError error = {0};
	write_text("robot.xml", urdf);
	write_text("host.yaml",
	           "calder: 1\nbodies: {}\nsubsystems: {r: {file: robot.xml, set: {bodies.tip.mass: 7 kg}}}\n");
	assert_int_equal(
		cal_model_read(path_of("host.yaml"), &(CalReadOptions){.base = CAL_BASE_FREE}, NULL, &setup, &error), CAL_OK);
	const CalDesc *desc = cal_setup_desc(setup);
	assert_true(cal_desc_body(desc, cal_desc_find_body(desc, "r/tip"))->mass == 7);
	CalModel *model = model_of(setup, NULL);
	assert_int_equal(cal_model_u_count(model), 7);
	cal_model_destroy(model);
	cal_setup_destroy(setup);
}

/* Where only model files are read, the message names the remedy. */
static void readers_of_model_files_name_the_remedy(void **state) {
	(void)state;
	CalSetup *setup = NULL;
	CalError error = {0};
	write_text("robot.xml", urdf);
	write_text("host.yaml", "calder: 1\nbodies: {}\nsubsystems: {r: {file: robot.xml}}\n");
	assert_int_equal(cal_model_file_read(path_of("host.yaml"), NULL, &setup, &error), CAL_ERR_UNSUPPORTED);
	assert_non_null(strstr(error.text, "host.yaml:3:"));
	assert_non_null(strstr(error.text, "calder convert"));
}

int main(void) {
	NEEDS_YAML();
	NEEDS_EXPAT();
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(robots_equal_converted_files, make_folder, remove_folder),
		cmocka_unit_test_setup_teardown(robots_are_attached_anywhere, make_folder, remove_folder),
		cmocka_unit_test_setup_teardown(robots_keep_report_and_places, make_folder, remove_folder),
		cmocka_unit_test_setup_teardown(robots_have_options_and_settings, make_folder, remove_folder),
		cmocka_unit_test_setup_teardown(readers_of_model_files_name_the_remedy, make_folder, remove_folder),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
