// SPDX-License-Identifier: Apache-2.0
/*
 * test_import_paths.c — meshes that a robot file names: where they are sought, and that nothing outside is read. A folder with
 * two packages, one of which has the beginning of the other's name, stands for a workspace.
 */
#define _XOPEN_SOURCE 700 // mkdtemp, realpath, symlink

#include <sys/stat.h>
#include <unistd.h>

#include "io/urdf/urdf_support.h"

static char top[64]; // the workspace, without links

static const char *at(const char *path) {
	static char full[16][256];
	static int next;
	char *text = full[next++ % 16];
	snprintf(text, sizeof full[0], "%s/%s", top, path);
	return text;
}

static void make_file(const char *path, const char *text) {
	FILE *file = fopen(at(path), "w");
	assert_non_null(file);
	fputs(text, file);
	assert_int_equal(fclose(file), 0);
}

static int make_workspace(void **state) {
	(void)state;
	char made[] = "/tmp/calder-paths-XXXXXX";
	char *real = mkdtemp(made) ? realpath(made, NULL) : NULL;
	if (!real)
		return -1;
	snprintf(top, sizeof top, "%s", real);
	free(real);
	static const char *const folders[] = {
		"ws",          "ws/arm",   "ws/arm/urdf",    "ws/arm/meshes",       "ws/arm/a", "ws/arm/b",
		"ws/arm_tool", "ws/other", "ws/other/share", "ws/other/share/hand", "secret"};
	for (size_t i = 0; i < sizeof folders / sizeof *folders; i++)
		mkdir(at(folders[i]), 0777);
	make_file("ws/arm/package.xml", "<package><name>arm</name></package>");
	make_file("ws/arm/meshes/m.stl", "solid");
	make_file("ws/arm/urdf/near.STL", "solid");
	make_file("ws/arm/a/hip.stl", "solid a");
	make_file("ws/arm/b/hip.stl", "solid b");
	make_file("ws/arm_tool/m.stl", "solid");
	make_file("ws/other/share/hand/h.obj", "o h");
	make_file("secret/m.stl", "solid");
	return symlink(at("secret/m.stl"), at("ws/arm/meshes/link.stl"));
}

static int remove_workspace(void **state) {
	(void)state;
	char command[128];
	snprintf(command, sizeof command, "rm -r '%s'", top);
	return system(command);
}

/* The robot in ws/arm/urdf with one mesh. */
static CalSetup *robot_with_mesh(const char *uri, const char *scale, const CalReadOptions *options) {
	char text[1024];
	CalSetup *setup = NULL;
	CalError error = {0};
	snprintf(
		text, sizeof text,
		"<robot name='r'><link name='a'><visual><geometry><mesh filename='%s'%s/></geometry></visual></link></robot>",
		uri, scale);
	if (cal_model_parse(text, strlen(text), at("ws/arm/urdf/r.urdf"), options, NULL, &setup, &error) != CAL_OK)
		fail_msg("%s", error.text);
	return setup;
}

static const CalVisual *mesh_of(const CalSetup *setup) {
	const CalVisual *v;
	return cal_setup_visuals(setup, (CalBodyId){1}, &v) == 1 ? v : NULL;
}

static void expect_file(const char *uri, const CalReadOptions *options, const char *file) {
	CalSetup *setup = robot_with_mesh(uri, "", options);
	const CalVisual *v = mesh_of(setup);
	char found[512];
	if (!v)
		fail_msg("%s was not found", uri);
	assert_int_equal(cal_setup_locate(setup, v->file, found, sizeof found), 0);
	assert_int_equal(access(found, R_OK), 0);
	assert_string_equal(v->file, file);
	cal_setup_destroy(setup);
}

static void expect_note(const char *uri, const char *scale, const CalReadOptions *options, const char *said) {
	CalSetup *setup = robot_with_mesh(uri, scale, options);
	CalImportNote note;
	bool found = false;
	assert_null(mesh_of(setup));
	for (int i = 0; cal_setup_import_note(setup, i, &note) == CAL_OK; i++)
		found |= strstr(note.element, "mesh") && strstr(note.text, said);
	if (!found)
		fail_msg("%s: no note \"%s\"", uri, said);
	cal_setup_destroy(setup);
}

/* U13: the package of the file, folders of roots and of their share, the root itself; whole names. */
static void packages_are_found_by_their_whole_name(void **state) {
	(void)state;
	const char *roots[] = {at("ws"), at("ws/other"), at("ws/arm_tool")};
	const CalReadOptions with = {.roots = roots, .root_count = 3}, tool = {.roots = roots + 2, .root_count = 1};
	char absolute[200];
	expect_file("package://arm/meshes/m.stl", NULL, "../meshes/m.stl");
	expect_file("model://arm/meshes/m.stl", NULL, "../meshes/m.stl");
	expect_file("near.STL", NULL, "near.STL");
	expect_file("../meshes/m.stl", NULL, "../meshes/m.stl");
	snprintf(absolute, sizeof absolute, "%s", at("ws/arm_tool/m.stl"));
	expect_file("package://arm_tool/m.stl", &with, absolute);
	expect_file("package://arm_tool/m.stl", &tool, absolute);
	snprintf(absolute, sizeof absolute, "%s", at("ws/other/share/hand/h.obj"));
	expect_file("package://hand/h.obj", &with, absolute);
	char uri[200];
	snprintf(uri, sizeof uri, "file://%s", at("ws/arm/meshes/m.stl"));
	expect_file(uri, NULL, "../meshes/m.stl");
	expect_note("package://arm_tool/m.stl", "", NULL, "was not found; tried: ");
	expect_note("package://ar/meshes/m.stl", "", &with, "/ws/ar/meshes/m.stl");
}

/* Nothing outside of the folders that were asked for, by .., absolute paths or links. */
static void paths_do_not_escape(void **state) {
	(void)state;
	const char *root = at("secret");
	const CalReadOptions with = {.roots = &root, .root_count = 1};
	char uri[200];
	snprintf(uri, sizeof uri, "file://%s", at("secret/m.stl"));
	expect_note(uri, "", NULL, "outside of the folders that may be read");
	expect_note(uri + 7, "", NULL, "outside of the folders that may be read");
	expect_note("../../../secret/m.stl", "", NULL, "outside of the folders that may be read");
	expect_note("package://arm/../../secret/m.stl", "", NULL, "outside of the folders that may be read");
	expect_note("package://arm/meshes/link.stl", "", NULL, "a link to outside");
	expect_note("../../../../../../../../etc/passwd", "", NULL, "outside");
	expect_note("http://example.com/m.stl", "", NULL, "only package://");
	CalSetup *setup = robot_with_mesh(uri, "", &with);
	assert_non_null(mesh_of(setup));
	cal_setup_destroy(setup);
}

/* U14, U15, U16: path and scale; what cannot be drawn is named. */
static void meshes_are_path_and_scale(void **state) {
	(void)state;
	expect_file("../a/hip.stl", NULL, "../a/hip.stl");
	expect_file("../b/hip.stl", NULL, "../b/hip.stl");
	make_file("ws/arm/meshes/m.dae", "");
	expect_note("../meshes/m.dae", "", NULL, "convert it to STL");
	expect_note("../meshes/m.stl", " scale='1 0 1'", NULL, "flat");
	CalSetup *setup = robot_with_mesh("../meshes/m.stl", " scale='.001 -.001 .002'", NULL);
	const CalVec3 scale = mesh_of(setup)->size;
	assert_true(scale.x == 0.001 && scale.y == -0.001 && scale.z == 0.002);
	cal_setup_destroy(setup);
}

/* Paths that are written elsewhere. */
static void paths_are_relative_to_where_they_are_written(void **state) {
	(void)state;
	const char *roots[] = {at("ws")};
	const CalReadOptions inside = {.paths_from = at("ws/arm")}, outside = {.paths_from = at("secret")},
						 same = {.paths_from = at("ws/arm/meshes"), .roots = roots, .root_count = 1};
	CalSetup *setup = robot_with_mesh("../meshes/m.stl", "", &inside);
	assert_string_equal(mesh_of(setup)->file, "meshes/m.stl");
	cal_setup_destroy(setup);
	setup = robot_with_mesh("../meshes/m.stl", "", &outside);
	assert_string_equal(mesh_of(setup)->file, at("ws/arm/meshes/m.stl"));
	cal_setup_destroy(setup);
	setup = robot_with_mesh("../meshes/m.stl", "", &same);
	assert_string_equal(mesh_of(setup)->file, "m.stl");
	cal_setup_destroy(setup);
}

int main(void) {
	NEEDS_EXPAT();
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(packages_are_found_by_their_whole_name),
		cmocka_unit_test(paths_do_not_escape),
		cmocka_unit_test(meshes_are_path_and_scale),
		cmocka_unit_test(paths_are_relative_to_where_they_are_written),
	};
	return cmocka_run_group_tests(tests, make_workspace, remove_workspace);
}
