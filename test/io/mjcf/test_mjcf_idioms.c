// SPDX-License-Identifier: Apache-2.0
/*
 * test_mjcf_idioms.c — what published MJCF files do: primitives fitted to meshes, classes of meshes, activations, mocap bodies
 * of keyframes, tendons without a spring length. Every expectation is computed by hand from MuJoCo's rules.
 */
#define _GNU_SOURCE // mkdtemp

#include <unistd.h>

#include "mjcf_support.h"

/* ---- meshes ---------------------------------------------------------------------------------------------------- */

static char folder[64], main_path[96], mesh_path[96];

/* A box of the sides 1, 2, 4 from the origin. */
static const char box[] =
	"v 0 0 0\nv 1 0 0\nv 1 2 0\nv 0 2 0\nv 0 0 4\nv 1 0 4\nv 1 2 4\nv 0 2 4\nf 1 4 3 2\nf 5 6 7 8\n"
	"f 1 2 6 5\nf 2 3 7 6\nf 3 4 8 7\nf 4 1 5 8\n";

static void write_text(const char *path, const char *text) {
	FILE *out = fopen(path, "w");
	assert_non_null(out);
	fputs(text, out);
	assert_int_equal(fclose(out), 0);
}

static int make_folder(void **state) {
	(void)state;
	snprintf(folder, sizeof folder, "/tmp/test_mjcf_XXXXXX");
	if (!mkdtemp(folder))
		return -1;
	snprintf(main_path, sizeof main_path, "%s/main.xml", folder);
	snprintf(mesh_path, sizeof mesh_path, "%s/box.obj", folder);
	write_text(mesh_path, box);
	return 0;
}

static int remove_folder(void **state) {
	(void)state;
	unlink(main_path);
	unlink(mesh_path);
	return rmdir(folder);
}

static CalSetup *read_text(const char *text, int partial) {
	CalSetup *setup = NULL;
	CalError error = {0};
	write_text(main_path, text);
	if (cal_model_read(main_path, &(CalReadOptions){.partial = partial}, NULL, &setup, &error) != CAL_OK)
		fail_msg("%s", error.text);
	return setup;
}

static CalBodyDef body_def_of(CalSetup *setup) {
	const CalDesc *desc = cal_setup_desc(setup);
	return *cal_desc_body(desc, cal_desc_find_body(desc, "b"));
}

#define FITTED(compiler, mesh, geom)                                                               \
	MJCF("<compiler " compiler "/><asset><mesh file='box.obj' " mesh "/></asset><worldbody><body " \
	     "name='b'><joint/><geom mesh='box' density='1' " geom "/></body></worldbody>")

/* The box with the mass and moments of the mesh is the mesh itself here: half sides 1/2, 1, 2, the longest along z. */
static void primitives_are_fitted_to_meshes(void **state) {
	(void)state;
	const double r = .75, h = 2 - .5 * r, s = .5 * 3.5 / 3;
	const struct {
		const char *text;
		double mass, izz;
	} cases[] = {
		{FITTED("", "", "type='box'"), 8, 8. / 12 * (1 + 4)},
		{FITTED("", "", "type='ellipsoid'"), 4. / 3 * PI, 4. / 15 * PI * (.25 + 1)},
		{FITTED("", "", "type='cylinder'"), PI * r * r * 4, .5 * PI * r * r * 4 * r * r},
		{FITTED("", "", "type='capsule'"), PI * r * r * 2 * h + 4. / 3 * PI * r * r * r,
	     .5 * PI * r * r * 2 * h * r * r + .4 * 4. / 3 * PI * r * r * r * r * r},
		{FITTED("", "", "type='sphere' fitscale='.5'"), 4. / 3 * PI * s * s * s, .4 * 4. / 3 * PI * s * s * s * s * s},
	};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		CalSetup *setup = read_text(cases[i].text, 0);
		const CalBodyDef body = body_def_of(setup);
		expect_near("mass", body.mass, cases[i].mass);
		expect_near("x", body.com.x, .5);
		expect_near("y", body.com.y, 1);
		expect_near("z", body.com.z, 2);
		expect_near("Izz", body.inertia.m[2][2], cases[i].izz);
		cal_setup_destroy(setup);
	}
}

/* The longest side goes along z of the primitive, wherever it is in the mesh: here along x, in a geom that is turned. */
static void fitted_primitives_follow_the_mesh(void **state) {
	(void)state;
	CalSetup *setup =
		read_text(FITTED("", "refquat='.7071067811865476 0 .7071067811865476 0'", "type='cylinder' pos='0 0 1'"), 0);
	const CalBodyDef body = body_def_of(setup);
	// refquat turns back by 90 degrees about y: (x, y, z) becomes (-z, y, x)
	expect_near("x", body.com.x, -2);
	expect_near("z", body.com.z, 1.5);
	expect_near("Ixx", body.inertia.m[0][0], .5 * body.mass * .75 * .75);
	cal_setup_destroy(setup);
}

static void bounding_boxes_are_not_fitted(void **state) {
	(void)state;
	CalSetup *setup = NULL;
	CalError error = {0};
	write_text(main_path, FITTED("fitaabb='true'", "", "type='box'"));
	assert_int_equal(cal_model_read(main_path, NULL, NULL, &setup, &error), CAL_ERR_INPUT);
	assert_non_null(strstr(error.text, "fitaabb"));
	setup = read_text(FITTED("fitaabb='true'", "", "type='sphere'"), 1); // as the mesh itself
	expect_near("mass", body_def_of(setup).mass, 8);
	cal_setup_destroy(setup);
}

/* M7: a mesh has a class of its own; that of the geom that uses it does not count. */
static void meshes_have_classes_of_their_own(void **state) {
	(void)state;
	CalSetup *setup = read_text(
		MJCF("<default><default class='g'><geom type='mesh' density='1'/><mesh scale='9 9 9'/></default><default "
	         "class='m'><mesh scale='2 2 2'/></default></default><asset><mesh class='m' file='box.obj'/></asset>"
	         "<worldbody><body name='b'><joint/><geom class='g' mesh='box'/></body></worldbody>"),
		0);
	expect_near("mass", body_def_of(setup).mass, 64);
	cal_setup_destroy(setup);
}

/* M14: the place of a mesh is that of the file, off its center, and stays there through a conversion. */
static void meshes_stay_where_the_file_puts_them(void **state) {
	(void)state;
	CalSetup *setup = read_text(
		MJCF("<asset><mesh file='box.obj'/></asset><worldbody><body name='b'><joint/><geom type='mesh' mesh='box' "
	         "pos='1 2 3' euler='0 0 90'/></body></worldbody>"),
		0);
	const CalVisual *visuals;
	assert_int_equal(cal_setup_visuals(setup, cal_desc_find_body(cal_setup_desc(setup), "b"), &visuals), 1);
	expect_near("x", visuals[0].placement.position.x, 1);
	expect_near("y", visuals[0].placement.position.y, 2);
	expect_near("z", visuals[0].placement.position.z, 3);
	expect_near("turn", visuals[0].placement.orientation.z, sqrt(.5));
	cal_setup_destroy(setup);
}

/* ---- keyframes ------------------------------------------------------------------------------------------------- */

/* M28: poses of mocap bodies, short ones over those of the file; quaternions of any length. */
static void keyframes_place_mocap_bodies(void **state) {
	(void)state;
	Robot r = robot_of(
		MJCF("<worldbody><body name='m' mocap='true' pos='9 9 9'><geom size='.1'/></body><body><joint name='j'/>" UNIT
	         "</body><body name='n' mocap='true' pos='7 8 9'><geom size='.1'/></body></worldbody><keyframe><key "
	         "name='home' qpos='.5' mpos='1 2 3' mquat='0 0 0 2 1 0 0 0'/></keyframe>"));
	robot_expect_at(&r, "m", (CalVec3){1, 2, 3}, (CalVec3){-1, 0, 0});
	robot_expect_at(&r, "n", (CalVec3){7, 8, 9}, (CalVec3){1, 0, 0});
	robot_close(&r);
	robot_refuse(MJCF("<worldbody><body name='m' mocap='true'><geom size='.1'/></body></worldbody><keyframe><key "
	                  "name='home' mpos='1 2 3 4'/></keyframe>"),
	             "mpos");
}

/* Activations start at `act` of the keyframe, one for each actuator that has a state, and stay in their range. */
static void activations_start_at_the_keyframe(void **state) {
	(void)state;
	Robot r = robot_of(MJCF(
		"<worldbody><body><joint name='j' range='-60 60'/>" UNIT "</body></worldbody><actuator><motor name='m' "
		"joint='j'/><general name='f' joint='j' dyntype='filter' dynprm='.1' gainprm='2'/><intvelocity name='i' "
		"joint='j' kp='3' actrange='-1 1'/><general name='c' joint='j' dyntype='integrator' gainprm='1' actrange='-1 "
		"4'/></actuator><keyframe><key name='home' ctrl='0 7 0 0' act='5 -2 6'/></keyframe>"));
	expect_near("filter", output_of(&r, "f", 0), 2 * 5);
	expect_near("integrator", output_of(&r, "i", 0), 3 * -1); // within its range
	expect_near("clamped", output_of(&r, "c", 0), 4);
	robot_close(&r);
}

/* The input of an integrated servo is a speed: the range that it inherits is that of its activation. */
static void integrated_servos_inherit_the_range_of_activation(void **state) {
	(void)state;
	Robot r = robot_of(
		MJCF("<compiler angle='radian'/><worldbody><body><joint name='j' range='-.5 .5'/>" UNIT
	         "</body></worldbody><actuator>"
	         "<intvelocity name='i' joint='j' kp='10' inheritrange='1'/></actuator><keyframe><key name='home' ctrl='3' "
	         "act='2'/></keyframe>"));
	expect_near("effort", output_of(&r, "i", 0), 10 * .5);
	robot_close(&r);
}

/* ---- tendons --------------------------------------------------------------------------------------------------- */

/* Without springlength a tendon is at rest where every joint is at its springref, not at ref; -1 means that, not -0.1. */
static void tendons_rest_at_springref(void **state) {
	(void)state;
#define TENDON(springlength)                                                                                     \
	MJCF("<compiler angle='radian'/><worldbody><body><joint name='a' ref='.4' springref='.1'/>" UNIT             \
	     "</body></worldbody><tendon><fixed name='t' stiffness='10'" springlength "><joint joint='a' coef='2'/>" \
	     "</fixed></tendon>")
	Robot r = robot_of(TENDON(""));
	expect_near("measured", output_of(&r, "t_a", 0), -2 * 10 * 2 * (.4 - .1));
	robot_close(&r);
	r = robot_of(TENDON(" springlength='-.1 .5'"));
	expect_near("above", output_of(&r, "t_a", 0), -2 * 10 * (.8 - .5));
	*robot_q(&r, "a", 0) = .1;
	expect_near("within", output_of(&r, "t_a", 0), 0);
	robot_close(&r);
}

/* A straight tendon likewise: the arm of length 1 is turned by 90 degrees at springref, and slides by 1. */
static void straight_tendons_rest_at_springref(void **state) {
	(void)state;
	Robot r = robot_of(MJCF(
		"<worldbody><site name='w'/><body pos='1 0 0'><joint name='h' springref='90' stiffness='1' pos='0 0 2'/><joint "
		"name='s' type='slide' axis='1 0 0' ref='1' springref='2'/>" UNIT
		"<site name='t' pos='1 0 0'/></body></worldbody>"
		"<tendon><spatial name='l' stiffness='5'><site site='w'/><site site='t'/></spatial></tendon>"));
	const CalSpringDef *spring = device_of(&r, "l");
	assert_non_null(spring);
	expect_near("length", spring->length, sqrt(1 + 4)); // (1, 0) + turned (1 + 1, 0)
	robot_close(&r);
}

/* ---- what differs is named ------------------------------------------------------------------------------------- */

static void differences_are_named(void **state) {
	(void)state;
	Robot r = robot_of(MJCF(
		"<worldbody><site name='w'/><geom name='f' type='plane' size='1 1 1'/><body name='b' pos='1 0 1' gravcomp='1'>"
		"<joint name='j' axis='0 1 0' actuatorgravcomp='true' actuatorfrcrange='-1 1'/>" UNIT "<site name='s'/><geom "
		"name='g' size='.1' contype='0' conaffinity='0'/></body></worldbody><tendon><spatial stiffness='1' damping='1' "
		"springlength='0 2'><site site='w'/><site site='s'/></spatial></tendon><contact><pair geom1='f' geom2='g' "
		"margin='.1' gap='.1'/></contact>"));
	robot_expect_note(&r, CAL_IMPORT_CHANGED, "@actuatorgravcomp", "not limited");
	robot_expect_note(&r, CAL_IMPORT_CHANGED, "spatial @damping", "slack");
	robot_expect_note(&r, CAL_IMPORT_CHANGED, "pair @margin", "two geoms");
	robot_expect_note(&r, CAL_IMPORT_IGNORED, "pair @gap", "solver");
	robot_close(&r);
}

int main(void) {
	NEEDS_EXPAT();
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(primitives_are_fitted_to_meshes, make_folder, remove_folder),
		cmocka_unit_test_setup_teardown(fitted_primitives_follow_the_mesh, make_folder, remove_folder),
		cmocka_unit_test_setup_teardown(bounding_boxes_are_not_fitted, make_folder, remove_folder),
		cmocka_unit_test_setup_teardown(meshes_have_classes_of_their_own, make_folder, remove_folder),
		cmocka_unit_test_setup_teardown(meshes_stay_where_the_file_puts_them, make_folder, remove_folder),
		cmocka_unit_test(keyframes_place_mocap_bodies),
		cmocka_unit_test(activations_start_at_the_keyframe),
		cmocka_unit_test(integrated_servos_inherit_the_range_of_activation),
		cmocka_unit_test(tendons_rest_at_springref),
		cmocka_unit_test(straight_tendons_rest_at_springref),
		cmocka_unit_test(differences_are_named),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
