// SPDX-License-Identifier: Apache-2.0
/*
 * test_sdf_rules.c — SDFormat files: names, states, joints with two axes, what Gazebo writes, and what is refused or missing.
 * Each expectation follows from the text of the specification by hand.
 */
#include <calder/loops.h>

#include "support/robot.h"

#define SDF(version, inside) "<sdf version='" version "'>" inside "</sdf>"
#define MODEL(version, inside) SDF(version, "<model name='m'>" inside "</model>")
#define UNIT "<inertial><mass>1</mass><inertia><ixx>1</ixx><iyy>1</iyy><izz>1</izz></inertia></inertial>"
#define LINK(name, inside) "<link name='" name "'>" UNIT inside "</link>"
#define ENDS(parent, child) "<parent>" parent "</parent><child>" child "</child>"
#define JOINT(name, type, ends, inside) "<joint name='" name "' type='" type "'>" ends inside "</joint>"
#define HALF_PI "1.5707963267948966"

static const CalVec3 x = {1, 0, 0}, y = {0, 1, 0};

static Robot partial(const char *text) { return robot_with(text, &(CalReadOptions){.partial = 1}); }

/* S2: an axis in the model frame is that of the start, and turns with the joint afterwards. */
static void axes_of_the_model_move_with_the_joint(void **state) {
	(void)state;
	Robot r = robot_of(MODEL(
		"1.7",
		LINK("a", "") LINK("b", "<pose>1 0 0 " HALF_PI " 0 0</pose>") LINK("c", "<pose>2 0 0 0 0 0</pose>")
			JOINT("w", "fixed", ENDS("world", "a"), "")
				JOINT("j", "revolute", ENDS("a", "b"), "<axis><xyz expressed_in='__model__'>0 1 0</xyz></axis>")
					JOINT("k", "revolute", ENDS("b", "c"), "<axis><xyz expressed_in='__model__'>0 0 1</xyz></axis>")));
	*robot_q(&r, "j", 0) = acos(-1.0) / 2; // about y of the model: c, one along x of b, goes to -z
	robot_expect_at(&r, "c", (CalVec3){1, 0, -1}, (CalVec3){0, 0, -1});
	*robot_q(&r, "k", 0) = acos(-1.0) / 2; // its axis was z and is x now: x of c turns from -z to y
	robot_expect_at(&r, "c", (CalVec3){1, 0, -1}, y);
	robot_close(&r);
}

/* S4: frames of poses before 1.7; S5: the frame of an inertial pose is its own link. */
static void old_frames_of_poses_are_named(void **state) {
	(void)state;
	Robot r = robot_of(MODEL("1.6", LINK("a", "<pose frame='b'>0 0 1 0 0 0</pose>") LINK("b", "")));
	robot_expect_note(&r, CAL_IMPORT_CHANGED, "pose @frame", "1.7");
	robot_expect_at(&r, "a", (CalVec3){0, 0, 1}, x);
	robot_close(&r);
	r = robot_of(MODEL("1.7", "<link name='a'><inertial><pose relative_to='a'>1 0 0 0 0 0</pose></inertial></link>"));
	assert_true(cal_desc_body(cal_setup_desc(r.setup), (CalBodyId){1})->com.x == 1);
	robot_close(&r);
	robot_refuse(MODEL("1.7", LINK("b", "") "<link name='a'><inertial><pose relative_to='b'/></inertial></link>"),
	             "relative to its link");
	r = robot_of(
		MODEL("1.7", LINK("a", "<pose frame='b'>0 0 1 0 0 90</pose>") LINK("b", "<pose degrees='true'>0 0 0 0 0 "
	                                                                            "90</pose>")));
	robot_expect_note(&r, CAL_IMPORT_IGNORED, "pose @frame", "unknown"); // since 1.7 there is none
	robot_expect_note(&r, CAL_IMPORT_ASSUMED, "link \"a\"/pose", "degrees?");
	robot_close(&r);
}

/* S8, S22: a name before 1.8 may hold "::"; "world" and __x__ are reserved; a link and a joint differ since 1.7. */
static void names_are_those_of_the_version(void **state) {
	(void)state;
	Robot r = robot_of(MODEL("1.6", LINK("arm::a", "") LINK("j", "<pose>1 0 0 0 0 0</pose>")
	                                    JOINT("j", "fixed", ENDS("arm::a", "j"), "")));
	assert_int_equal(cal_model_u_count(r.model), 6);
	robot_close(&r);
	robot_refuse(MODEL("1.8", LINK("a::b", "")), "no \"::\"");
	robot_refuse(MODEL("1.7", LINK("__a__", "")), "reserves");
	robot_refuse(MODEL("1.6", LINK("world", "")), "reserves");
	robot_refuse(MODEL("1.7", LINK("a", "") LINK("j", "") JOINT("j", "fixed", ENDS("a", "j"), "")), "names in a model");
}

/* S15: axis turns with the parent, axis2 with the child; they need not be perpendicular, but must differ. */
static void universal_joints_have_two_axes(void **state) {
	(void)state;
#define TWO(type, second)                                                                       \
	MODEL("1.7", LINK("a", "") LINK("b", "") JOINT("w", "fixed", ENDS("world", "a"), "") JOINT( \
					 "j", type, ENDS("a", "b"), "<axis><xyz>1 0 0</xyz></axis><axis2><xyz>" second "</xyz></axis2>"))
	static const char *const types[] = {TWO("universal", "0 1 0"), TWO("revolute2", "0 1 0")};
	for (int i = 0; i < 2; i++) {
		Robot r = robot_of(types[i]);
		*robot_q(&r, "j", 0) = acos(-1.0) / 2;
		*robot_q(&r, "j", 1) = acos(-1.0) / 2;
		// Rx(90) Ry(90): x goes to -z, then to y
		robot_expect_at(&r, "b", (CalVec3){0, 0, 0}, y);
		robot_close(&r);
	}
	Robot r = robot_of(TWO("universal", "0.6 0.8 0"));
	*robot_q(&r, "j", 1) = acos(-1.0);
	// half a turn about (0.6, 0.8, 0): x becomes 2 (a.x) a - x
	robot_expect_at(&r, "b", (CalVec3){0, 0, 0}, (CalVec3){2 * .36 - 1, 2 * .48, 0});
	robot_close(&r);
	robot_refuse(TWO("universal", "1 0 0"), "parallel");
}

/* S16: the start by initial_position; states of worlds and models are missing. */
static void states_are_read_or_missing(void **state) {
	(void)state;
	Robot r = robot_of(MODEL("1.6", LINK("a", "") LINK("b", "") JOINT(
										"j", "revolute", ENDS("a", "b"),
										"<axis><xyz>0 0 1</xyz><initial_position>0.5</initial_position></axis>")));
	assert_true(*robot_q(&r, "j", 0) == 0.5);
	robot_close(&r);
	robot_refuse(MODEL("1.12", LINK("a", "") "<model_state name='m'><joint_state name='j'/></model_state>"), "states");
	robot_refuse(
		SDF("1.12", "<world name='w'><model name='m'>" LINK("a", "") "</model><state world_name='w'/></world>"),
		"states of a world");
}

/* S21: what changes the motion and Calder has not. */
static void what_changes_the_motion_is_missing(void **state) {
	(void)state;
	static const struct {
		const char *text, *element;
	} cases[] = {
		{MODEL("1.10", "<link name='a'><inertial><mass>1</mass><fluid_added_mass><xx>1</xx></fluid_added_mass>"
	                   "</inertial></link>"),
	     "fluid_added_mass"},
		{MODEL("1.7", LINK("a", "<kinematic>1</kinematic>")), "kinematic"},
		{MODEL("1.7", LINK("a", "<velocity_decay><linear>.1</linear></velocity_decay>")), "velocity_decay"},
		{MODEL("1.7", LINK("a", "") "<include><uri>model://nowhere</uri></include>"), "include"},
	};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		robot_refuse(cases[i].text, "--partial");
		Robot r = partial(cases[i].text);
		robot_expect_note(&r, CAL_IMPORT_MISSING, cases[i].element, "");
		robot_close(&r);
	}
	Robot r = robot_of(MODEL("1.7", LINK("a", "<gravity>1</gravity><kinematic>0</kinematic><velocity_decay/>")));
	robot_close(&r);
}

/* S21: a link without weight keeps its mass: the other one of two equal links on a joint falls with half of gravity. */
static void links_without_gravity_are_lifted(void **state) {
	(void)state;
	Robot r = robot_of(
		SDF("1.9", "<world name='w'><gravity>0 0 -10</gravity><model name='m'>" LINK("a", "<gravity>false</gravity>")
	                   LINK("b", "<pose>1 2 0 0 0 0</pose><gravity>1</gravity>")
	                       JOINT("j", "fixed", ENDS("a", "b"), "") "<frame name='gravcomp' attached_to='a'/>"
	                                                               "</model></world>"));
	robot_expect_note(&r, CAL_IMPORT_CHANGED, "gravity", "lifts");
	const char *type, *name;
	const void *def;
	assert_int_equal(cal_setup_device(r.setup, 0, &type, &name, &def), CAL_OK);
	assert_string_equal(type, "applied_load");
	assert_string_equal(name, "a_gravcomp");
	const CalAppliedLoadDef *load = def;
	assert_true(load->force[0].number == 0 && load->force[2].number == 10);
	robot_close(&r);
}

/* S11, S17: what is left open in <inertial> is named. */
static void numbers_that_are_not_given_are_named(void **state) {
	(void)state;
	Robot r = robot_of(MODEL("1.7", "<link name='a'><inertial><Mass>2</Mass></inertial></link>"));
	robot_expect_note(&r, CAL_IMPORT_ASSUMED, "link \"a\"/inertial", "1 kg, the default");
	robot_expect_note(&r, CAL_IMPORT_ASSUMED, "link \"a\"/inertial", "1 kg m^2");
	robot_close(&r);
}

/* Exporters write parts of other types of joints, and of other ways to give a mass: each is named with its reason. */
static void parts_without_effect_are_named(void **state) {
	(void)state;
	static const char text[] = MODEL(
		"1.11",
		"<link name='a'><inertial><mass>1</mass><density>5</density></inertial></link>" LINK("b", "") LINK("c", "")
			JOINT("f", "fixed", ENDS("a", "b"),
	              "<axis><xyz>0 0 1</xyz></axis><thread_pitch>1</thread_pitch><gearbox_ratio>2</gearbox_ratio>")
				JOINT("j", "revolute", ENDS("b", "c"),
	                  "<axis><xyz>0 0 1</xyz><limit><lower>-1</lower><upper>1</upper><dissipation>2</dissipation>"
	                  "</limit></axis><axis2><xyz>0 0 1</xyz></axis2>"));
	Robot r = robot_of(text);
	robot_expect_note(&r, CAL_IMPORT_IGNORED, "density", "auto");
	robot_expect_note(&r, CAL_IMPORT_IGNORED, "joint \"f\"/axis", "has none");
	robot_expect_note(&r, CAL_IMPORT_IGNORED, "thread_pitch", "has none");
	robot_expect_note(&r, CAL_IMPORT_IGNORED, "gearbox_ratio", "has none");
	robot_expect_note(&r, CAL_IMPORT_IGNORED, "axis2", "has none");
	robot_expect_note(&r, CAL_IMPORT_CHANGED, "dissipation", "stiffness");
	robot_close(&r);
}

/* Worlds of Gazebo: light and ground from its server, pictures, an element that stands there twice. */
static void worlds_of_gazebo_are_read(void **state) {
	(void)state;
	Robot r = robot_of(SDF(
		"1.6", "<world name='w'><gravity>0 0 -9.81</gravity><include><uri>model://sun</uri></include><include><uri>"
			   "https://fuel.gazebosim.org/1.0/OpenRobotics/models/Ground Plane</uri></include><model name='m'>" LINK(
				   "a", "<visual name='v'><cast_shadows>0</cast_shadows><geometry><sphere><radius>1</radius></sphere>"
						"</geometry></visual><pose>0 0 1 0 0 0</pose><pose>0 0 2 0 0 0</pose>") "</model></world>"));
	robot_expect_note(&r, CAL_IMPORT_IGNORED, "include", "ground of Gazebo");
	robot_expect_note(&r, CAL_IMPORT_IGNORED, "cast_shadows", "pictures");
	robot_expect_note(&r, CAL_IMPORT_ASSUMED, "link \"a\"/pose", "one before it");
	robot_expect_at(&r, "m/a", (CalVec3){0, 0, 1}, x);
	robot_close(&r);
	robot_refuse(
		SDF("1.7", "<world name='w'><gravity>0 0 -1e51</gravity><model name='m'>" LINK("a", "") "</model></world>"),
		"gravity (0, 0, -1e+51)");
}

int main(void) {
	NEEDS_EXPAT();
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(axes_of_the_model_move_with_the_joint),
		cmocka_unit_test(old_frames_of_poses_are_named),
		cmocka_unit_test(names_are_those_of_the_version),
		cmocka_unit_test(universal_joints_have_two_axes),
		cmocka_unit_test(states_are_read_or_missing),
		cmocka_unit_test(parts_without_effect_are_named),
		cmocka_unit_test(links_without_gravity_are_lifted),
		cmocka_unit_test(numbers_that_are_not_given_are_named),
		cmocka_unit_test(what_changes_the_motion_is_missing),
		cmocka_unit_test(worlds_of_gazebo_are_read),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
