// SPDX-License-Identifier: Apache-2.0
/*
 * test_mjcf_files.c — MJCF in several files, files that mean harm, and the import report.
 */
#define _GNU_SOURCE // mkdtemp

#include <sys/stat.h>
#include <unistd.h>

#include "mjcf_support.h"

/* ---- files ------------------------------------------------------------------------------------------------------ */

static char folder[64];

static const char *file_path(const char *name) {
	static char path[4][160];
	static int next;
	char *own = path[next++ % 4];
	snprintf(own, sizeof path[0], "%s/%s", folder, name);
	return own;
}

static void write_text(const char *name, const char *text) {
	FILE *out = fopen(file_path(name), "w");
	assert_non_null(out);
	fputs(text, out);
	fclose(out);
}

static int make_folder(void **state) {
	(void)state;
	snprintf(folder, sizeof folder, "/tmp/test_mjcf_XXXXXX");
	return mkdtemp(folder) && mkdir(file_path("sub"), 0700) == 0 ? 0 : -1;
}

static int remove_folder(void **state) {
	(void)state;
	static const char *const names[] = {"main.xml", "one.xml", "two.xml", "one.obj", "sub/deep.xml", "sub/cube.obj"};
	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		unlink(file_path(names[i]));
	rmdir(file_path("sub"));
	return rmdir(folder);
}

static CalStatus read_main(CalSetup **setup, CalError *error) {
	return cal_model_read(file_path("main.xml"), NULL, NULL, setup, error);
}

static void refuse_main(const char *said) {
	CalSetup *setup = NULL;
	CalError error = {0};
	assert_int_not_equal(read_main(&setup, &error), CAL_OK);
	if (!strstr(error.text, said))
		fail_msg("\"%s\" does not hold \"%s\"", error.text, said);
}

/* An include stands for what its file holds, one compiler counts for all, and paths begin at the main file. */
static void includes_are_pasted(void **state) {
	(void)state;
	CalSetup *setup = NULL;
	CalError error = {0};
	write_text("main.xml", "<mujoco><include file='one.xml'/><worldbody><body name='a'><joint name='j' springref='1' "
	                       "stiffness='1'/>" UNIT "<include file='sub/deep.xml'/></body></worldbody></mujoco>");
	write_text("one.xml", "<mujocoinclude><compiler angle='radian'/></mujocoinclude>");
	write_text("sub/deep.xml", "<mujoco><site name='s' pos='1 0 0'/><include file='two.xml'/></mujoco>");
	write_text("two.xml", "<mujoco><body name='b'>" UNIT "</body></mujoco>");
	if (read_main(&setup, &error) != CAL_OK)
		fail_msg("%s", error.text);
	const CalDesc *desc = cal_setup_desc(setup);
	assert_int_not_equal(cal_desc_find_body(desc, "b").value, 0);
	assert_int_not_equal(cal_desc_find_node(desc, "a/s").value, 0);
	expect_near("rest", cal_desc_joint(desc, cal_desc_find_joint(desc, "j"), NULL, NULL)->dof[0].rest, 1);
	assert_int_equal(cal_setup_source_count(setup), 3);
	cal_setup_destroy(setup);
}

/* A message has the file that is wrong. */
static void errors_name_the_included_file(void **state) {
	(void)state;
	write_text("main.xml", "<mujoco><worldbody><include file='one.xml'/></worldbody></mujoco>");
	write_text("one.xml", "<mujoco>\n<body>\n<joint axis='a'/></body></mujoco>");
	refuse_main("one.xml:3:1");
	write_text("one.xml", "<mujoco><body>");
	refuse_main("one.xml:1");
	write_text("one.xml", "<robot/>");
	refuse_main("its root is <robot>");
}

static void includes_do_not_go_round(void **state) {
	(void)state;
	write_text("main.xml", "<mujoco><include file='one.xml'/></mujoco>");
	write_text("one.xml", "<mujoco><include file='one.xml'/></mujoco>");
	refuse_main("included once");
	write_text("one.xml", "<mujoco><include file='main.xml'/></mujoco>");
	refuse_main("included once");
	write_text("main.xml", "<mujoco><include file='none.xml'/></mujoco>");
	refuse_main("no such file");
	write_text("main.xml", "<mujoco><include/></mujoco>");
	refuse_main("file");
	write_text("main.xml", "<mujoco><include file='../../../../../../etc/passwd'/></mujoco>");
	refuse_main("no such file");
}

/* M3: an attached model has a compiler of its own, an included one has not; names get the prefix, classes stay apart. */
static void attached_models_keep_their_compiler(void **state) {
	(void)state;
	CalSetup *setup = NULL;
	CalError error = {0};
	write_text(
		"main.xml",
		"<mujoco><compiler angle='radian'/><default><joint damping='1'/></default><asset><model name='m' file='one.xml'/></asset>"
		"<worldbody><body name='a'><joint name='j'/>" UNIT
		"<attach model='m' body='b' prefix='l_'/><frame pos='0 1 0'><attach "
		"model='m' body='b' prefix='r_'/></frame></body></worldbody><actuator><motor name='main' joint='l_j'/></actuator></mujoco>");
	write_text(
		"one.xml",
		"<mujoco><default><joint damping='2'/></default><worldbody><body name='b' pos='1 0 0'><joint name='j' "
		"springref='90' stiffness='1'/>" UNIT "</body><body name='c'><joint name='k'/>" UNIT
		"</body></worldbody><actuator><motor name='m' joint='j'/><motor name='n' joint='k'/></actuator></mujoco>");
	if (read_main(&setup, &error) != CAL_OK)
		fail_msg("%s", error.text);
	Robot r = {.setup = setup, .model = model_of(setup, NULL)};
	assert_int_equal(cal_state_create(r.model, &r.state), CAL_OK);
	assert_int_equal(cal_work_create(r.model, &r.work), CAL_OK);
	expect_near("rest", dof_of(&r, "l_j", 0).rest, PI / 2);
	expect_near("damping", dof_of(&r, "r_j", 0).damping, 2);
	expect_near("damping", dof_of(&r, "j", 0).damping, 1);
	robot_expect_at(&r, "r_b", (CalVec3){1, 1, 0}, (CalVec3){1, 0, 0});
	assert_true(cal_model_find_body(r.model, "l_c") < 0);
	assert_non_null(device_of(&r, "l_m"));
	assert_non_null(device_of(&r, "main"));
	robot_expect_note(&r, CAL_IMPORT_IGNORED, "n", "not attached");
	robot_close(&r);
}

static void attachments_do_not_go_round(void **state) {
	(void)state;
	write_text(
		"main.xml",
		"<mujoco><asset><model name='m' file='one.xml'/></asset><worldbody><attach model='m' prefix='a'/></worldbody>"
		"</mujoco>");
	write_text(
		"one.xml",
		"<mujoco><asset><model name='m' file='one.xml'/></asset><worldbody><attach model='m' prefix='a'/></worldbody>"
		"</mujoco>");
	refuse_main("attach itself");
	write_text("one.xml", "<mujoco><worldbody/></mujoco>");
	write_text("main.xml", "<mujoco><worldbody><attach model='m' prefix='a'/></worldbody></mujoco>");
	refuse_main("no such model");
	write_text(
		"main.xml",
		"<mujoco><asset><model name='m' file='one.xml'/></asset><worldbody><attach model='m' body='b' prefix='a'/>"
		"</worldbody></mujoco>");
	refuse_main("no body \"b\"");
}

/* ---- meshes --------------------------------------------------------------------------------------------- */

/* A prism over a polygon in the plane z = 0, of height 1; fan: triangles of its lower side. */
static void write_prism(const char *name, const double (*corners)[2], int count, const int (*fan)[3], int fan_count) {
	FILE *out = fopen(file_path(name), "w");
	assert_non_null(out);
	for (int z = 0; z < 2; z++)
		for (int i = 0; i < count; i++)
			fprintf(out, "v %g %g %d\n", corners[i][0], corners[i][1], z);
	for (int i = 0; i < fan_count; i++) {
		fprintf(out, "f %d %d %d\n", fan[i][0], fan[i][2], fan[i][1]);
		fprintf(out, "f %d %d %d\n", fan[i][0] + count, fan[i][1] + count, fan[i][2] + count);
	}
	for (int i = 0; i < count; i++) {
		const int a = i + 1, b = (i + 1) % count + 1;
		fprintf(out, "f %d %d %d\nf %d %d %d\n", a, b, b + count, a, b + count, a + count);
	}
	fclose(out);
}

static void write_cube(const char *name) {
	static const double corners[4][2] = {{0, 0}, {1, 0}, {1, 1}, {0, 1}};
	static const int fan[2][3] = {{1, 2, 3}, {1, 3, 4}};
	write_prism(name, corners, 4, fan, 2);
}

static const CalBodyDef *mesh_body(const char *text, CalSetup **setup) {
	CalError error = {0};
	write_text("main.xml", text);
	if (read_main(setup, &error) != CAL_OK)
		fail_msg("%s", error.text);
	const CalDesc *desc = cal_setup_desc(*setup);
	return cal_desc_body(desc, cal_desc_find_body(desc, "b"));
}

#define MESH_BODY(mesh)                               \
	MJCF("<asset><mesh name='m' file='one.obj' " mesh \
	     "/></asset><worldbody><body name='b'><joint/><geom type='mesh' mesh='m' density='2'/></body></worldbody>")

/* M13: an L of three cubes: its volume, that of its hull, its surface. */
static void meshes_have_mass_by_their_mode(void **state) {
	(void)state;
	static const double corners[6][2] = {{0, 0}, {2, 0}, {2, 1}, {1, 1}, {1, 2}, {0, 2}};
	static const int fan[4][3] = {{1, 2, 3}, {1, 3, 4}, {1, 4, 5}, {1, 5, 6}};
	static const struct {
		const char *text;
		double mass;
	} cases[] = {
		{MESH_BODY("inertia='exact'"), 6}, {MESH_BODY("inertia='convex'"), 7}, {MESH_BODY("inertia='shell'"), 28}};
	write_prism("one.obj", corners, 6, fan, 4);
	for (size_t i = 0; i < 3; i++) {
		CalSetup *setup = NULL;
		expect_near("mass", mesh_body(cases[i].text, &setup)->mass, cases[i].mass);
		cal_setup_destroy(setup);
	}
	CalSetup *exact = NULL, *legacy = NULL;
	const double mass = mesh_body(MESH_BODY(""), &legacy)->mass;
	assert_true(mass >= mesh_body(MESH_BODY("inertia='exact'"), &exact)->mass);
	cal_setup_destroy(exact);
	cal_setup_destroy(legacy);
}

/* M15: by -refpos, turned back by refquat, then scaled; a mirrored mesh has positive mass. */
static void meshes_are_placed_before_they_are_scaled(void **state) {
	(void)state;
	CalSetup *setup = NULL;
	write_cube("one.obj");
	const CalBodyDef *body = mesh_body(MESH_BODY("refpos='1 0 0' refquat='1 0 0 1' scale='2 1 1'"), &setup);
	expect_near("mass", body->mass, 4);
	expect_near("x", body->com.x, 1); // (-1/2, 1/2) turned by -90 degrees: (1/2, 1/2)
	expect_near("y", body->com.y, .5);
	expect_near("I", body->inertia.m[2][2], 4. / 12 * (4 + 1));
	cal_setup_destroy(setup);
	body = mesh_body(MESH_BODY("scale='-1 1 1' inertia='exact'"), &setup);
	expect_near("mass", body->mass, 2);
	expect_near("x", body->com.x, -.5);
	cal_setup_destroy(setup);
}

/* M16: a mesh without a name is called like its file; folders begin at the main file. */
static void meshes_are_found_from_the_main_file(void **state) {
	(void)state;
	CalSetup *setup = NULL;
	write_cube("sub/cube.obj");
	write_text("sub/deep.xml", "<mujoco><asset><mesh file='x/cube.obj'/></asset></mujoco>");
	const CalBodyDef *body = mesh_body(
		MJCF(
			"<compiler assetdir='sub' strippath='true'/><include file='sub/deep.xml'/><worldbody><body name='b'><joint/><geom "
			"type='mesh' mesh='cube' mass='3'/></body></worldbody>"),
		&setup);
	expect_near("mass", body->mass, 3);
	const CalVisual *visuals;
	assert_int_equal(cal_setup_visuals(setup, cal_desc_find_body(cal_setup_desc(setup), "b"), &visuals), 1);
	assert_int_equal(visuals[0].kind, CAL_VISUAL_MESH);
	assert_non_null(strstr(visuals[0].file, "sub/cube.obj"));
	cal_setup_destroy(setup);
}

/* ---- harm -------------------------------------------------------------------------------------------------------- */

static void replicas_are_bounded(void **state) {
	(void)state;
	robot_refuse(
		WORLD("<replicate count='1000'><replicate count='1000'><replicate count='1000'><geom size='1'/></replicate>"
	          "</replicate></replicate>"),
		"elements");
	robot_refuse(WORLD("<replicate count='2000000000'/>"), "count");
	robot_refuse(WORLD("<replicate count='-1'/>"), "count");
	robot_refuse(WORLD("<replicate/>"), "count");
}

static void nonsense_is_refused_with_its_place(void **state) {
	(void)state;
	static const struct {
		const char *text, *said;
	} cases[] = {
		{WORLD("<body name='a'/><body name='a'/>"), "names are unique"},
		{WORLD("<body pos='1 2'/>"), "3 numbers"},
		{WORLD("<body pos='1 2 nan'/>"), "pos"},
		{WORLD("<body><joint type='weld'/></body>"), "one of"},
		{MJCF("<compiler coordinate='global'/>"), "local"},
		{MJCF("<compiler eulerseq='xyw'/>"), "xyzXYZ"},
		{MJCF("<option timestep='0'/>"), "timestep"},
		{MJCF("<option density='1.2'/>"), "--partial"},
		{MJCF("<worldbody><body><joint name='j'/>" UNIT "</body></worldbody><actuator><muscle joint='j'/></actuator>"),
	     "--partial"},
		{MJCF("<worldbody><body><joint name='j'/>" UNIT "</body></worldbody><actuator><motor/></actuator>"), "act on"},
		{MJCF("<equality><connect body1='x' anchor='0 0 0'/></equality>"), "no such body"},
		{MJCF("<equality><connect/></equality>"), "body1"},
		{MJCF("<tendon><fixed/></tendon>"), "no joints"},
		{WORLD("<flexcomp name='f'/>"), "--partial"},
		{MJCF("<deformable><skin/><flex/></deformable>"), "--partial"},
		{WORLD("<body><geom type='mesh' mesh='m'/></body>"), "mesh"},
		{MJCF(""), "t.xml:1:1: error: <mujoco> has no <body>"},
		{MJCF("<Worldbody><body/></Worldbody>"), "has no <body> in a <worldbody>"},
		{WORLD("<body name='world'>" UNIT "</body>"), "the name of the world itself"},
		{WORLD("<body><geom size='1' mass='-1'/></body>"), "must not be negative"},
		{WORLD("<body><geom size='1' density='-1'/></body>"), "must not be negative"},
		{WORLD("<body><inertial pos='0 0 0' mass='-1'/></body>"), "must not be negative"},
		{MJCF("<worldbody><body><joint name='j'/>" UNIT
	          "</body></worldbody><equality><joint joint1='j' joint2='j'/></equality>"),
	     "the same joint"},
	};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
		robot_refuse(cases[i].text, cases[i].said);
}

/* ---- the report ------------------------------------------------------------------------------------------------- */

/* Every attribute and element that has no effect is in the report, once with the number of places. */
static void nothing_is_dropped_silently(void **state) {
	(void)state;
	Robot r = robot_with(
		MJCF("<option iterations='3'/><visual><global/></visual><custom/><worldbody><light/><light/><body name='b' "
	         "bogus='1'><joint/>" UNIT
	         "<site rgba='1 0 0 1'/><site rgba='1 0 0 1'/><strange/></body></worldbody><sensor>"
	         "<clock/></sensor><actuator><muscle name='m' site='none'/></actuator>"),
		&(CalReadOptions){.partial = 1});
	robot_expect_note(&r, CAL_IMPORT_IGNORED, "option @iterations", "solver");
	robot_expect_note(&r, CAL_IMPORT_IGNORED, "visual", "pictures");
	robot_expect_note(&r, CAL_IMPORT_IGNORED, "custom", "user");
	robot_expect_note(&r, CAL_IMPORT_IGNORED, "light", "pictures");
	robot_expect_note(&r, CAL_IMPORT_IGNORED, "site @rgba", "pictures");
	robot_expect_note(&r, CAL_IMPORT_IGNORED, "sensor", "signals");
	robot_expect_note(&r, CAL_IMPORT_IGNORED, "@bogus", "unknown");
	robot_expect_note(&r, CAL_IMPORT_IGNORED, "strange", "unknown");
	robot_expect_note(&r, CAL_IMPORT_MISSING, "muscle", "kind");
	robot_close(&r);
}

int main(void) {
	NEEDS_EXPAT();
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(includes_are_pasted, make_folder, remove_folder),
		cmocka_unit_test_setup_teardown(errors_name_the_included_file, make_folder, remove_folder),
		cmocka_unit_test_setup_teardown(includes_do_not_go_round, make_folder, remove_folder),
		cmocka_unit_test_setup_teardown(attached_models_keep_their_compiler, make_folder, remove_folder),
		cmocka_unit_test_setup_teardown(attachments_do_not_go_round, make_folder, remove_folder),
		cmocka_unit_test_setup_teardown(meshes_have_mass_by_their_mode, make_folder, remove_folder),
		cmocka_unit_test_setup_teardown(meshes_are_placed_before_they_are_scaled, make_folder, remove_folder),
		cmocka_unit_test_setup_teardown(meshes_are_found_from_the_main_file, make_folder, remove_folder),
		cmocka_unit_test(replicas_are_bounded),
		cmocka_unit_test(nonsense_is_refused_with_its_place),
		cmocka_unit_test(nothing_is_dropped_silently),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
