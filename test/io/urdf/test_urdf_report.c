// SPDX-License-Identifier: Apache-2.0
/*
 * test_urdf_report.c — what URDF files are refused for, and what of them is in the import report: nothing is dropped without a
 * line that names the element and its place.
 */
#include "io/urdf/urdf_support.h"

/* ---- refused -------------------------------------------------------------------------------------------- */

typedef struct Refused {
	const char *text, *said;
} Refused;

static void refuse_all(const Refused *cases, size_t count) {
	for (size_t i = 0; i < count; i++)
		robot_refuse(cases[i].text, cases[i].said);
}

/* U20: one root, one parent each, names once. */
static void structure_is_a_tree(void **state) {
	(void)state;
	static const Refused cases[] = {
		{URDF(""), "has no <link>"},
		{URDF(BODY("a") BODY("b")), "2 links are the child of no joint, \"a\" (line 1) and \"b\""},
		{URDF(BODY("a") BODY("b") BODY("c") JOINT("j", "fixed", "a", "c", "") JOINT("k", "fixed", "b", "c", "")),
	     "link \"c\" is the child of two joints, \"j\" (line 1) and \"k\""},
		{URDF(BODY("a") BODY("b") JOINT("j", "fixed", "a", "b", "") JOINT("k", "fixed", "b", "a", "")), "form a cycle"},
		{URDF(BODY("r") BODY("a") BODY("b") JOINT("j", "fixed", "a", "b", "") JOINT("k", "fixed", "b", "a", "")),
	     "link \"a\" is not connected to the root \"r\""},
		{URDF(BODY("a") BODY("a")), "link \"a\" is there twice"},
		{URDF(BODY("a") BODY("b") BODY("c") JOINT("j", "fixed", "a", "b", "") JOINT("j", "fixed", "b", "c", "")),
	     "joint \"j\" is there twice"},
		{URDF(BODY("upper") BODY("lower") JOINT("j", "fixed", "uper", "lower", "")), "did you mean \"upper\""},
		{URDF(BODY("a") JOINT("j", "fixed", "a", "a", "")), "to itself"},
		{URDF(BODY("a") "<joint name='j' type='fixed'><parent link='a'/></joint>"), "no <child link"},
		{URDF(BODY("a") BODY("b") "<joint name='j'><parent link='a'/><child link='b'/></joint>"), "has no type"},
		{PAIR("ball", ""), "expected one of fixed, revolute"},
		{URDF("<link/>"), "needs the attribute \"name\""},
		{"<robot version='2.0'>" BODY("a") "</robot>", "expected one of 1.0, 1.1, 1.2"},
	};
	refuse_all(cases, sizeof cases / sizeof *cases);
}

/* U18, U22: numbers are whole words; what is half written is refused or named. */
static void bad_values_are_refused(void **state) {
	(void)state;
	static const Refused cases[] = {
		{PAIR("fixed", "<origin xyz='1,0,0'/>"), "numbers have a point"},
		{PAIR("fixed", "<origin xyz='1 0'/>"), "expected 3 numbers"},
		{PAIR("fixed", "<origin xyz='1 0 0x'/>"), "expected 3 numbers"},
		{PAIR("fixed", "<origin xyz='nan 0 0'/>"), "expected 3 numbers"},
		{PAIR("fixed", "<origin rpy='0 0 0' quat_xyzw='0 0 0 1'/>"), "either rpy or quat_xyzw"},
		{PAIR("fixed", "<origin quat_xyzw='0 0 0 0'/>"), "has the length 0"},
		{URDF(LINK("a", "<inertial><mass value='-1'/></inertial>")), "the mass is -1 kg"},
		{URDF(LINK("a", "<inertial><mass value='0'/>" INERTIA "</inertial>")), "has inertia but no mass"},
		{URDF(LINK("a", INERTIAL INERTIAL)), "two <inertial>"},
		{URDF(LINK("a", INERTIAL "<visual><geometry><box/></geometry></visual>")), "all above zero"},
		{URDF(LINK("a", INERTIAL "<visual><geometry><box size='1 -1 1'/></geometry></visual>")), "below zero"},
		{URDF(LINK("a", INERTIAL "<visual><geometry><sphere/></geometry></visual>")), "needs a radius above zero"},
	};
	refuse_all(cases, sizeof cases / sizeof *cases);
}

/* Orientations of more than a turn are questioned; up to one they are not. */
static void degrees_are_questioned(void **state) {
	(void)state;
	Robot r = robot_of(PAIR("fixed", "<origin rpy='0 0 90'/>"));
	robot_expect_note(&r, CAL_IMPORT_ASSUMED, "origin @rpy", "14.3 turns");
	robot_close(&r);
	r = robot_of(PAIR("fixed", "<origin rpy='6.2832 -3.1416 1.57'/>"));
	CalImportNote note;
	for (int i = 0; cal_setup_import_note(r.setup, i, &note) == CAL_OK; i++)
		assert_null(strstr(note.text, "degrees"));
	robot_close(&r);
}

/* U18: what xacro should have replaced is named as such. */
static void xacro_is_named_with_a_remedy(void **state) {
	(void)state;
	static const Refused cases[] = {
		{PAIR("fixed", "<origin xyz='${x} 0 0'/>"), "unexpanded xacro; run \"xacro FILE > robot.urdf\""},
		{URDF("<xacro:property name='x' value='1'/>" BODY("a")), "unexpanded xacro"},
		{URDF("<xacro:include filename='$(find p)/a.xacro'/>" BODY("a")), "unexpanded xacro"},
		{URDF(LINK("$(arg prefix)a", INERTIAL)), "unexpanded xacro"},
	};
	refuse_all(cases, sizeof cases / sizeof *cases);
	// the namespace alone is harmless, and extensions are not looked into
	Robot r = robot_of(
		"<robot name='r' xmlns:xacro='http://ros.org/wiki/xacro'>" BODY("a") "<gazebo><plugin "
																			 "filename='$(x)'/></gazebo></robot>");
	CalImportNote note;
	for (int i = 0; cal_setup_import_note(r.setup, i, &note) == CAL_OK; i++)
		assert_null(strstr(note.element, "xmlns"));
	robot_close(&r);
}

/* ---- the report ---------------------------------------------------------------------------------------- */

typedef struct Noted {
	const char *text;
	CalImportKind kind;
	const char *element, *said;
} Noted;

/* U15, U16, U19, U22 and everything else that has no effect. */
static void what_is_not_honored_is_named(void **state) {
	(void)state;
#define SEEN(inside) URDF(LINK("a", INERTIAL "<visual>" inside "</visual>"))
	static const Noted cases[] = {
		{URDF(LINK("a", INERTIAL "<collision><geometry><box size='1 1 1'/></geometry></collision>")),
	     CAL_IMPORT_IGNORED, "link \"a\"/collision", "links do not touch"},
		{SEEN("<geometry><mesh filename='package://p/a.dae'/></geometry>"), CAL_IMPORT_IGNORED, "mesh",
	     "was not found"},
		{SEEN("<geometry><box size='0 0 0'/></geometry>"), CAL_IMPORT_IGNORED, "box @size", "no size"},
		{SEEN("<geometry><cylinder radius='0' length='0'/></geometry>"), CAL_IMPORT_IGNORED, "cylinder @radius",
	     "no size"},
		{PAIR("continuous", "<axis xyz='1 0 0'/><axis xyz='0 1 0'/>"), CAL_IMPORT_ASSUMED, "joint \"j\"/axis",
	     "one before it, which counts"},
		{SEEN("<geometry><torus/></geometry>"), CAL_IMPORT_IGNORED, "visual", "no shape that is known"},
		{SEEN("<geometry><box size='1 1 1'/></geometry><material name='none'/>"), CAL_IMPORT_ASSUMED, "material",
	     "no material \"none\""},
		{SEEN("<geometry><box size='1 1 1'/></geometry><material name='m'><texture filename='x.png'/></material>"),
	     CAL_IMPORT_IGNORED, "texture", "not drawn"},
		{URDF(BODY("a") "<material><color rgba='1 0 0 1'/></material>"), CAL_IMPORT_IGNORED, "material",
	     "without a name"},
		{PAIR("continuous", "<limit lower='-1' upper='1' effort='1' velocity='1'/>"), CAL_IMPORT_IGNORED, "limit",
	     "a continuous joint has no limits"},
		{PAIR("revolute", LIMIT), CAL_IMPORT_IGNORED, "joint \"j\"/limit", "effort 1, velocity 1"},
		{URDF_1("2", BODY("a") BODY("b") JOINT("j", "continuous", "a", "b", "<limit jerk='3' acceleration='2'/>")),
	     CAL_IMPORT_IGNORED, "limit", "acceleration 2, jerk 3"},
		{PAIR("revolute", LIMIT "<safety_controller k_velocity='1'/>"), CAL_IMPORT_IGNORED, "safety_controller",
	     "controller"},
		{PAIR("revolute", LIMIT "<calibration rising='0'/>"), CAL_IMPORT_IGNORED, "calibration", "calibration"},
		{URDF(BODY("a") "<gazebo reference='a'><mu1>0.2</mu1></gazebo>"), CAL_IMPORT_IGNORED, "mu1", "Gazebo, about a"},
		{URDF(BODY("a") "<gazebo reference='a'><turnGravityOff>false</turnGravityOff></gazebo>"), CAL_IMPORT_IGNORED,
	     "turnGravityOff", "Gazebo"},
		{URDF(BODY("a") "<mujoco><compiler balanceinertia='true'/></mujoco>"), CAL_IMPORT_IGNORED, "compiler",
	     "MuJoCo"},
		{URDF(BODY("a") "<drake:collision_filter_group name='g'/>"), CAL_IMPORT_IGNORED, "drake:", "Drake"},
		{URDF(BODY("a") "<ros2_control name='c' type='system'/>"), CAL_IMPORT_IGNORED, "ros2_control", "ROS"},
		{URDF(LINK("a", INERTIAL "<contact><stiffness value='1'/></contact>")), CAL_IMPORT_IGNORED,
	     "link \"a\"/contact", "unknown element"},
		{URDF(LINK("a", INERTIAL "<visuel/>")), CAL_IMPORT_IGNORED, "visuel", "unknown element"},
		{URDF("<link name='a' color='red'>" INERTIAL "</link>"), CAL_IMPORT_IGNORED, "link \"a\" @color",
	     "unknown attribute"},
		{URDF(LINK("a", "<inertial/>")), CAL_IMPORT_ASSUMED, "inertial", "mass is not given"},
		{URDF(LINK("a", "<inertial><mass value='1'/></inertial>")), CAL_IMPORT_ASSUMED, "inertial", "a point mass"},
		{URDF(LINK("a", "<inertial><mass value='1'/><inertia ixx='1' iyy='1' izz='1'/></inertial>")),
	     CAL_IMPORT_ASSUMED, "inertia", "ixy ixz iyz"},
		{URDF(LINK("ground", INERTIAL)), CAL_IMPORT_CHANGED, "link \"ground\"", "ground_body"},
	};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		Robot r = robot_of(cases[i].text);
		robot_expect_note(&r, cases[i].kind, cases[i].element, cases[i].said);
		robot_close(&r);
	}
}

/* U19, U20: what changes the motion is refused, and named in a partial model. */
static void what_changes_the_motion_is_missing(void **state) {
	(void)state;
	const CalReadOptions partial = {.partial = 1};
	static const Noted cases[] = {
		{URDF(BODY("a") "<gazebo reference='a'><turnGravityOff>true</turnGravityOff></gazebo>"), CAL_IMPORT_MISSING,
	     "turnGravityOff", "changes the motion"},
		{URDF(BODY("a") "<gazebo reference='a'><gravity>0</gravity></gazebo>"), CAL_IMPORT_MISSING, "gravity",
	     "changes the motion"},
		{URDF(BODY("a") "<gazebo reference='a'><dampingFactor>.1</dampingFactor></gazebo>"), CAL_IMPORT_MISSING,
	     "dampingFactor", "changes the motion"},
		{URDF(BODY("a") "<gazebo><joint name='l' type='revolute'/></gazebo>"), CAL_IMPORT_MISSING, "joint \"l\"",
	     "changes the motion"},
		{URDF(BODY("a") "<drake:ball_constraint/>"), CAL_IMPORT_MISSING, "drake:ball_constraint", "changes the motion"},
		{URDF(BODY("a") "<loop_joint name='l'/>"), CAL_IMPORT_MISSING, "loop_joint", "trees only"},
	};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		robot_refuse(cases[i].text, cases[i].said);
		Robot r = robot_with(cases[i].text, &partial);
		robot_expect_note(&r, cases[i].kind, cases[i].element, cases[i].said);
		robot_close(&r);
	}
}

/* Places are those of the elements. */
static void notes_know_their_places(void **state) {
	(void)state;
	Robot r = robot_of("<robot name='r'>\n" BODY("a") "\n  <self_filter/>\n</robot>");
	CalImportNote note;
	bool found = false;
	for (int i = 0; cal_setup_import_note(r.setup, i, &note) == CAL_OK; i++)
		found |= strcmp(note.element, "self_filter") == 0 && note.line == 3 && note.column == 3 &&
		         strcmp(note.file, "t.xml") == 0;
	assert_true(found);
	assert_string_equal(cal_setup_format(r.setup), "urdf");
	robot_close(&r);
}

/* ---- visuals -------------------------------------------------------------------------------------------- */

static void shapes_have_their_places_and_colors(void **state) {
	(void)state;
	Robot r = robot_of(
		URDF_1("1", "<material name='red'><color rgba='1 0 0 1'/></material>" LINK(
						"a", INERTIAL
						"<visual><origin xyz='1 2 3'/><geometry><box size='1 2 3'/></geometry><material "
						"name='red'/></visual><visual><geometry><capsule radius='.5' "
						"length='2'/></geometry><material name=''><color rgba='0 1 0.5 1'/></material></visual>")));
	const CalVisual *v;
	assert_int_equal(cal_setup_visuals(r.setup, body_of(r.model, "a").id, &v), 2);
	assert_int_equal(v[0].kind, CAL_VISUAL_BOX);
	assert_int_equal(v[0].color, 0xff0000);
	assert_true(v[0].size.z == 3 && v[0].placement.position.y == 2);
	assert_int_equal(v[1].kind, CAL_VISUAL_CAPSULE);
	assert_int_equal(v[1].color, 0x00ff80);
	assert_true(v[1].size.x == 0.5 && v[1].size.z == 2);
	robot_close(&r);
}

int main(void) {
	NEEDS_EXPAT();
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(structure_is_a_tree),          cmocka_unit_test(bad_values_are_refused),
		cmocka_unit_test(degrees_are_questioned),       cmocka_unit_test(xacro_is_named_with_a_remedy),
		cmocka_unit_test(what_is_not_honored_is_named), cmocka_unit_test(what_changes_the_motion_is_missing),
		cmocka_unit_test(notes_know_their_places),      cmocka_unit_test(shapes_have_their_places_and_colors),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
