// SPDX-License-Identifier: Apache-2.0
/*
 * test_sdf.c — SDFormat files: poses and axes by version, trees and loops, defaults of the format, and what is refused. Each
 * expectation follows from the text of the specification by hand.
 */
#define _GNU_SOURCE // mkdtemp

#include <sys/stat.h>
#include <unistd.h>

#include <calder/loops.h>

#include "support/robot_memory.h"

#define SDF(version, inside) "<sdf version='" version "'>" inside "</sdf>"
#define MODEL(version, inside) SDF(version, "<model name='m'>" inside "</model>")
#define UNIT "<inertial><mass>1</mass><inertia><ixx>1</ixx><iyy>1</iyy><izz>1</izz></inertia></inertial>"
#define LINK(name, inside) "<link name='" name "'>" UNIT inside "</link>"
#define ENDS(parent, child) "<parent>" parent "</parent><child>" child "</child>"
#define HALF_PI "1.5707963267948966"

static const CalVec3 x = {1, 0, 0}, y = {0, 1, 0};

/* S3: links in the model, joints in their child, frames in what they are attached to. */
static void poses_have_their_default_frames(void **state) {
	(void)state;
	Robot r = robot_of(MODEL(
		"1.7", "<pose>0 0 1 0 0 " HALF_PI "</pose>" LINK("a", "<pose>1 0 0 0 0 0</pose>")
				   LINK("b", "<pose>2 0 0 0 0 " HALF_PI
	                         "</pose>") "<frame name='f' attached_to='b'><pose>1 0 0 0 0 0"
										"</pose></frame><joint name='j' type='revolute'><pose>0 1 0 0 0 0</pose>" ENDS(
											"a", "b") "<axis><xyz>0 0 1</xyz></axis></joint>"));
	robot_expect_at(&r, "a", (CalVec3){0, 1, 1}, y);
	robot_expect_at(&r, "b", (CalVec3){0, 2, 1}, (CalVec3){-1, 0, 0});
	robot_expect_at(&r, "b/f", (CalVec3){-1, 2, 1}, (CalVec3){-1, 0, 0});
	// the joint is at (0, 1, 0) in b: at (0, 1, 1) in the world, where a is; half a turn brings b to the other side of it
	*robot_q(&r, "j", 0) = acos(-1.0);
	robot_expect_at(&r, "b", (CalVec3){0, 0, 1}, x);
	robot_close(&r);
}

/* S3, S6, S10: relative_to, empty poses, degrees, quaternions. */
static void poses_are_relative_to_frames(void **state) {
	(void)state;
	Robot r = robot_of(MODEL(
		"1.9",
		LINK("a", "<pose degrees='true'>1 2 3 0 0 90</pose>") LINK("b", "<pose relative_to='a'/>") LINK(
			"c",
			"<pose relative_to='f'>1 0 0 0 0 0</pose>") "<frame name='f'><pose relative_to='b' rotation_format='quat_xyzw'>0 0 1 0 0 1 0</pose></frame>"));
	robot_expect_at(&r, "b", (CalVec3){1, 2, 3}, y);
	robot_expect_at(&r, "c", (CalVec3){1, 1, 4}, (CalVec3){0, -1, 0});
	robot_close(&r);
}

/* The axis of joint "j" in the world: the velocity of nothing but its turn. */
static CalVec3 axis_in_world(const Robot *r, const char *body) {
	const double step = 1e-6;
	const CalPose before = robot_pose(r, body);
	*robot_q(r, "j", 0) += step;
	const CalPose after = robot_pose(r, body);
	double w[3][3] = {{0}};
	for (int i = 0; i < 3; i++)
		for (int k = 0; k < 3; k++)
			for (int n = 0; n < 3; n++)
				w[i][k] += (after.R.m[i][n] - before.R.m[i][n]) / step * before.R.m[k][n];
	return (CalVec3){w[2][1], w[0][2], w[1][0]};
}

/* S1: in the model frame up to 1.4; in the joint frame since 1.5, unless asked for otherwise. */
static void axes_stand_in_the_frame_of_their_version(void **state) {
	(void)state;
#define ARM(version, flag, attribute)                                                                            \
	MODEL(version,                                                                                               \
	      LINK("a", "") LINK("b", "<pose>0 0 1 0 0 " HALF_PI "</pose>") "<joint name='j' type='revolute'>" ENDS( \
			  "a", "b") "<axis><xyz" attribute ">1 0 0</xyz>" flag "</axis></joint>")
	static const struct {
		const char *text;
		int in_model;
	} cases[] = {
		{ARM("1.4", "", ""), 1},
		{ARM("1.5", "", ""), 0},
		{ARM("1.6", "<use_parent_model_frame>1</use_parent_model_frame>", ""), 1},
		{ARM("1.6", "<use_parent_model_frame>0</use_parent_model_frame>", ""), 0},
		{ARM("1.7", "", ""), 0},
		{ARM("1.7", "", " expressed_in='__model__'"), 1},
		{ARM("1.7", "", " expressed_in='a'"), 1},
	};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		Robot r = robot_of(cases[i].text);
		const CalVec3 axis = axis_in_world(&r, "b");
		const double along = cases[i].in_model ? axis.x : axis.y;
		if (!(fabs(along - 1) < 1e-6))
			fail_msg("case %zu: axis (%g %g %g)", i, axis.x, axis.y, axis.z);
		robot_close(&r);
	}
}

/* S13: thread_pitch [rad/m] is left-handed, screw_thread_pitch [m/rev] right-handed. */
static void screws_have_two_pitches(void **state) {
	(void)state;
#define SCREW(pitch)                                                                     \
	MODEL("1.10", LINK("a", "") LINK("b", "") "<joint name='w' type='fixed'>" ENDS(      \
					  "world", "a") "</joint>"                                           \
	                                "<joint name='j' type='screw'>" ENDS("a", "b") pitch \
	      "<axis><xyz>0 0 1</xyz></axis></joint>")
	static const char *const texts[] = {SCREW("<thread_pitch>-4</thread_pitch>"),
	                                    SCREW("<screw_thread_pitch>1.5707963267948966</screw_thread_pitch>")};
	for (int i = 0; i < 2; i++) {
		Robot r = robot_of(texts[i]);
		*robot_q(&r, "j", 0) = 2;
		robot_expect_at(&r, "b", (CalVec3){0, 0, 0.5}, (CalVec3){cos(2), sin(2), 0});
		robot_close(&r);
	}
}

/* S17: without <inertial> 1 kg and the identity; free unless tied to the world. */
static void defaults_are_those_of_the_format(void **state) {
	(void)state;
	Robot r = robot_of(MODEL("1.7", "<link name='a'><pose>1 2 3 0 0 0</pose></link>"));
	const CalBodyDef *body = cal_desc_body(cal_setup_desc(r.setup), (CalBodyId){1});
	assert_true(body->mass == 1 && body->inertia.m[0][0] == 1 && body->inertia.m[2][2] == 1);
	assert_int_equal(cal_model_u_count(r.model), 6);
	assert_true(*robot_q(&r, "a_free", 2) == 3);
	assert_true(cal_model_gravity(r.model).z == -9.8);
	robot_expect_note(&r, CAL_IMPORT_ASSUMED, "link \"a\"", "1 kg");
	robot_close(&r);
	r = robot_with(MODEL("1.7", "<link name='a'/>"), &(CalReadOptions){.base = CAL_BASE_FIXED});
	assert_int_equal(cal_model_u_count(r.model), 0);
	robot_close(&r);
}

/* Pose and rotation of <inertial>; products of inertia. */
static void inertia_is_turned_into_the_link(void **state) {
	(void)state;
	Robot r = robot_of(MODEL("1.7", "<link name='a'><inertial><pose>1 0 0 0 0 " HALF_PI
	                                "</pose><mass>2</mass><inertia><ixx>1</ixx><iyy>2</iyy><izz>2.5</izz><ixy>0.5</ixy>"
	                                "</inertia></inertial></link>"));
	const CalBodyDef *body = cal_desc_body(cal_setup_desc(r.setup), (CalBodyId){1});
	assert_true(body->mass == 2 && body->com.x == 1);
	assert_true(fabs(body->inertia.m[0][0] - 2) < 1e-12 && fabs(body->inertia.m[1][1] - 1) < 1e-12);
	assert_true(fabs(body->inertia.m[0][1] + 0.5) < 1e-12 && fabs(body->inertia.m[2][2] - 2.5) < 1e-12);
	robot_close(&r);
}

/* S18: from collision shapes; a mass that is given scales them. */
static void automatic_inertia_follows_collisions(void **state) {
	(void)state;
#define AUTO(inside)                                                                                                \
	MODEL("1.11", "<link name='a'><inertial auto='true'>" inside "</inertial><collision name='c'><pose>1 0 0 0 0 0" \
	              "</pose><geometry><box><size>1 2 3</size></box></geometry></collision></link>")
	static const struct {
		const char *text;
		double mass;
	} cases[] = {{AUTO(""), 6000}, {AUTO("<density>2</density>"), 12}, {AUTO("<mass>3</mass>"), 3}};
	for (int i = 0; i < 3; i++) {
		Robot r = robot_of(cases[i].text);
		const CalBodyDef *body = cal_desc_body(cal_setup_desc(r.setup), (CalBodyId){1});
		assert_true(fabs(body->mass - cases[i].mass) < 1e-9 * body->mass && fabs(body->com.x - 1) < 1e-12);
		assert_true(fabs(body->inertia.m[0][0] - body->mass * 13 / 12) < 1e-9 * body->mass);
		robot_close(&r);
	}
}

/* S20: joints that close loops, by choice of the file or by what acts along them. */
static void loops_are_cut_where_nothing_is_lost(void **state) {
	(void)state;
#define BAR(name, ends, inside) "<joint name='" name "' type='revolute'>" ends "<axis><xyz>0 1 0</xyz>" inside "</axis>"
#define DAMPED "<dynamics><damping>1</damping></dynamics>"
	Robot r = robot_of(
		MODEL("1.7", LINK("a", "") LINK("b", "<pose>1 0 0 0 0 0</pose>") LINK("c", "<pose>1 0 1 0 0 0</pose>")
	                     BAR("ab", ENDS("a", "b"), "") "</joint>" BAR("bc", ENDS("b", "c"), DAMPED) "</joint>" BAR(
							 "ca", ENDS("c", "a"), DAMPED) "</joint>"));
	assert_int_equal(cal_desc_loop_count(cal_setup_desc(r.setup)), 1);
	assert_true(cal_desc_find_loop(cal_setup_desc(r.setup), "ab").value != 0);
	assert_int_equal(cal_setup_import_note_count(r.setup), 2); // gravity, duration
	robot_close(&r);
	r = robot_of(MODEL(
		"1.7", LINK("a", "") LINK("b", "") LINK("c", "") BAR("ab", ENDS("a", "b"), "") "</joint>" BAR(
				   "bc", ENDS("b", "c"), "") "<physics><simbody><must_be_loop_joint>1</must_be_loop_joint></simbody>"
											 "</physics></joint>" BAR("ca", ENDS("c", "a"), "") "</joint>"));
	assert_true(cal_desc_find_loop(cal_setup_desc(r.setup), "bc").value != 0);
	robot_close(&r);
}

/* The tree grows from the world through a joint from child to parent. */
static void joints_are_reversed_where_the_tree_needs_it(void **state) {
	(void)state;
	Robot r = robot_of(MODEL("1.7", LINK("a", "<pose>0 0 1 0 0 0</pose>")
	                                    LINK("b", "<pose>1 0 1 0 0 0</pose>") "<joint name='w' type='fixed'>" ENDS(
											"world", "b") "</joint>" BAR("j", ENDS("a", "b"), "") "</joint>"));
	*robot_q(&r, "j", 0) = acos(-1.0) / 2;
	// b keeps its place; seen from a, b has turned a quarter about y, so a has turned back
	robot_expect_at(&r, "b", (CalVec3){1, 0, 1}, x);
	robot_expect_at(&r, "a", (CalVec3){1, 0, 0}, (CalVec3){0, 0, 1});
	robot_close(&r);
}

/* S7, S8, S9: nested models, names in them, placement frames, canonical links. */
static void models_nest(void **state) {
	(void)state;
	Robot r = robot_of(MODEL(
		"1.8",
		LINK("base", "") "<model name='hand' placement_frame='grip'><pose>5 0 0 0 0 0</pose>" LINK("palm", "")
			LINK("tip", "<pose>0 0 2 0 0 0</pose>") "<frame name='grip' attached_to='tip'><pose>0 0 1 0 0 0"
													"</pose></frame></model><joint name='j' type='fixed'>" ENDS(
														"base", "hand") "</joint>"
																		"<joint name='k' type='fixed'>" ENDS(
																			"hand::palm", "hand::tip") "</joint>"));
	robot_expect_at(&r, "hand/tip/grip", (CalVec3){5, 0, 0}, x);
	robot_expect_at(&r, "hand/palm", (CalVec3){5, 0, -3}, x);
	assert_int_equal(cal_model_u_count(r.model), 6);
	robot_close(&r);
}

static void static_models_are_fixed(void **state) {
	(void)state;
	Robot r = robot_of(SDF("1.7", "<world name='w'><gravity>0 0 -1</gravity><model name='ground'><static>true</static>"
	                              "<pose>0 0 5 0 0 0</pose>" LINK("plate", "") "</model><model name='ball'>" LINK(
									  "body", "") "</model></world>"));
	assert_int_equal(cal_model_u_count(r.model), 6);
	robot_expect_at(&r, "ground_plate", (CalVec3){0, 0, 5}, x);
	assert_true(cal_model_gravity(r.model).z == -1);
	robot_close(&r);
}

/* S11, S12: bounds of old versions are none; continuous joints have none. */
static void limits_are_those_that_are_meant(void **state) {
	(void)state;
#define LIMITED(version, type, limit)                                                       \
	MODEL(version, LINK("a", "") LINK("b", "") "<joint name='j' type='" type                \
	                                           "'>" ENDS("a", "b") "<axis><xyz>0 0 1</xyz>" \
	                                                               "<limit>" limit "</limit></axis></joint>")
	static const struct {
		const char *text;
		int devices;
	} cases[] = {
		{LIMITED("1.6", "revolute", "<lower>-1e16</lower><upper>1e16</upper><effort>-1</effort>"), 0},
		{LIMITED("1.10", "revolute", "<lower>-inf</lower><upper>inf</upper>"), 0},
		{LIMITED("1.6", "revolute", "<lower>-1</lower>"), 1},
		{LIMITED("1.6", "continuous", "<lower>-1</lower><upper>1</upper>"), 0},
		{LIMITED("1.6", "prismatic", "<lower>0</lower><upper>0</upper>"), 0},
	};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		Robot r = robot_of(cases[i].text);
		assert_int_equal(cal_setup_device_count(r.setup), cases[i].devices);
		robot_close(&r);
	}
	robot_refuse(LIMITED("1.6", "revolute", "<lower>1</lower><upper>-1</upper>"), "above upper");
}

/* A stop is as hard as what it carries asks for: a rod of 3 kg, 2 m about its end, at 30 Hz. */
static void stops_follow_the_inertia(void **state) {
	(void)state;
	Robot r = robot_of(MODEL(
		"1.7", LINK("a", "") "<link name='b'><inertial><pose>1 0 0 0 0 0</pose><mass>3</mass><inertia><ixx>0"
							 "</ixx><iyy>1</iyy><izz>1</izz></inertia></inertial></link>" BAR(
								 "j", ENDS("a", "b"), "<limit><lower>-1</lower><upper>1</upper></limit>") "</joint>"));
	const void *def;
	assert_int_equal(cal_setup_device(r.setup, 0, NULL, NULL, &def), CAL_OK);
	const CalLimitDef *limit = def;
	const double rate = 2 * acos(-1.0) * 30;
	assert_true(fabs(limit->stiffness - 4 * rate * rate) < 1e-9 * limit->stiffness);
	assert_true(fabs(limit->damping - 1.4 * 4 * rate) < 1e-9 * limit->damping);
	robot_close(&r);
}

/* S14, S19: couplings of coordinates, by the residual of their equation. */
static void joints_are_coupled(void **state) {
	(void)state;
	Robot r =
		robot_of(MODEL("1.11", LINK("a", "") LINK("b", "") LINK("c", "") BAR("lead", ENDS("a", "b"), "") "</joint>" BAR(
								   "follow", ENDS("a", "c"),
								   "<mimic joint='lead'><multiplier>2</multiplier><offset>0.5</offset>"
								   "<reference>0.25</reference></mimic>") "</joint>"));
	double g;
	*robot_q(&r, "lead", 0) = 0.75;
	*robot_q(&r, "follow", 0) = 1.5;
	assert_int_equal(cal_loop_residual(r.model, &r.state, r.work, &g, NULL), CAL_OK);
	assert_true(fabs(g) < 1e-15);
	robot_close(&r);
	r = robot_of(MODEL(
		"1.7",
		LINK("frame", "") LINK("p", "") LINK("q", "") BAR(
			"a", ENDS("frame", "p"),
			"") "</joint>"
				"<joint name='b' type='revolute'>" ENDS(
					"q",
					"frame") "<axis><xyz>0 1 0</xyz></axis></joint>"
							 "<joint name='g' type='gearbox'>" ENDS(
								 "p",
								 "q") "<gearbox_ratio>3</gearbox_ratio><gearbox_reference_body>frame"
									  "</gearbox_reference_body><axis><xyz>0 1 0</xyz></axis><axis2><xyz>0 1 0</xyz></axis2></joint>"));
	*robot_q(&r, "a", 0) =
		0.1; // p turns by 0.1 against the frame, so q must turn by -0.3: the joint q to frame has 0.3
	*robot_q(&r, "b", 0) = 0.3;
	assert_int_equal(cal_loop_residual(r.model, &r.state, r.work, &g, NULL), CAL_OK);
	assert_true(fabs(g) < 1e-15);
	robot_close(&r);
}

static void bad_files_are_refused(void **state) {
	(void)state;
	static const struct {
		const char *text, *said;
	} cases[] = {
		{"<sdf><model name='m'/></sdf>", "version"},
		{SDF("1.3", "<model name='m'/>"), "older than 1.4"},
		{SDF("1.7", ""), "no link"},
		{MODEL("1.7", ""), "no link"},
		{MODEL("1.7", "<link/>"), "needs the attribute \"name\""},
		{MODEL("1.7", "<link name='a'/><link name='a'/>"), "line 1 has already"},
		{MODEL("1.7", "<link name='a'><pose>1 2 3</pose></link>"), "6 to 7 numbers"},
		{MODEL("1.7", "<link name='a'><pose relative_to='b'/></link>"), "there is no \"b\""},
		{MODEL("1.7", "<link name='a'><pose relative_to='b'/></link><link name='b'><pose relative_to='a'/></link>"),
	     "depends on itself"},
		{MODEL("1.7", "<link name='a'/><frame name='f' attached_to='g'/><frame name='g' attached_to='f'/>"), "itself"},
		{MODEL("1.7", "<link name='a'/><joint name='j' type='fixed'><parent>a</parent></joint>"), "needs a <child>"},
		{MODEL("1.7", "<link name='a'/><joint name='j' type='fixed'><child>a</child></joint>"), "needs a <parent>"},
		{MODEL("1.7", "<link name='a'/><joint name='j' type='fixed'>" ENDS("a", "a") "</joint>"), "to itself"},
		{MODEL("1.7", "<link name='a'/><joint name='j' type='hinge'>" ENDS("world", "a") "</joint>"), "one of fixed"},
		{MODEL("1.7", "<link name='a'/><joint name='j' type='revolute'>" ENDS("world", "a") "</joint>"),
	     "needs <axis>"},
		{MODEL("1.7", "<link name='a'/><joint name='j' type='revolute'>" ENDS(
						  "world", "a") "<axis><xyz>0 0 0</xyz></axis></joint>"),
	     "no direction"},
		{MODEL("1.7", "<link name='a'><kinematic>true</kinematic></link>"), "--partial"},
		{MODEL("1.7", "<include><uri>model://nothing</uri></include>"), "was not found"},
		{SDF("1.7", "<world name='a'/><world name='b'/>"), "several worlds"},
	};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
		robot_refuse(cases[i].text, cases[i].said);
}

static void what_is_not_read_is_in_the_report(void **state) {
	(void)state;
	Robot r =
		robot_of(MODEL("1.7", "<plugin name='p' filename='f'/><link name='a'><sensor name='s'/><colision/></link>"));
	robot_expect_note(&r, CAL_IMPORT_IGNORED, "plugin \"p\"", "program");
	robot_expect_note(&r, CAL_IMPORT_IGNORED, "sensor \"s\"", "program");
	robot_expect_note(&r, CAL_IMPORT_IGNORED, "link \"a\"/colision", "unknown element");
	robot_close(&r);
}

/* ---- included files ---- */

static void write_file(const char *folder, const char *name, const char *text) {
	char path[512];
	snprintf(path, sizeof path, "%s/%s", folder, name);
	FILE *out = fopen(path, "w");
	assert_non_null(out);
	fputs(text, out);
	assert_int_equal(fclose(out), 0);
}

static CalStatus read_file(const char *folder, const char *name, CalSetup **setup, CalError *error) {
	char path[512];
	snprintf(path, sizeof path, "%s/%s", folder, name);
	return cal_model_read(path, NULL, NULL, setup, error);
}

/* By the name of a file and of a folder, with a name and pose of its own and the axis of its own version. */
static void files_are_included(void **state) {
	(void)state;
	char folder[] = "sdf_include_XXXXXX", hand[64];
	assert_non_null(mkdtemp(folder));
	snprintf(hand, sizeof hand, "%s/hand", folder);
	assert_int_equal(mkdir(hand, 0700), 0);
	write_file(hand, "model.config", "<model><sdf version='1.5'>old.sdf</sdf><sdf version='1.6'>new.sdf</sdf></model>");
	write_file(hand, "new.sdf", SDF("1.4", "<model name='hand'><pose>9 9 9 0 0 0</pose>" LINK("palm", "") "</model>"));
	write_file(folder, "arm.sdf",
	           MODEL("1.7",
	                 LINK("base", "") "<include><uri>hand</uri><name>left</name><pose>1 0 0 0 0 0</pose></include>"
	                                  "<include><uri>hand/new.sdf</uri></include>"));
	write_file(folder, "self.sdf", MODEL("1.7", "<include><uri>self.sdf</uri></include>"));
	write_file(folder, "out.sdf", MODEL("1.7", "<include><uri>../../passwd.sdf</uri></include>"));
	CalSetup *setup = NULL;
	CalError error = {0};
	if (read_file(folder, "arm.sdf", &setup, &error) != CAL_OK)
		fail_msg("%s", error.text);
	Robot r = {.setup = setup, .model = model_of(setup, NULL)};
	assert_int_equal(cal_state_create(r.model, &r.state), CAL_OK);
	assert_int_equal(cal_setup_apply_state(setup, r.model, &r.state, &error), CAL_OK);
	assert_int_equal(cal_work_create(r.model, &r.work), CAL_OK);
	robot_expect_at(&r, "left/palm", x, x);
	robot_expect_at(&r, "hand/palm", (CalVec3){9, 9, 9}, x);
	assert_int_equal(cal_setup_source_count(setup), 1); // once
	robot_close(&r);
	assert_int_equal(read_file(folder, "self.sdf", &setup, &error), CAL_ERR_INPUT);
	assert_non_null(strstr(error.text, "include each other"));
	assert_int_equal(read_file(folder, "out.sdf", &setup, &error), CAL_ERR_INPUT);
	assert_non_null(strstr(error.text, "was not found"));
	char command[128];
	snprintf(command, sizeof command, "rm -r %s", folder);
	assert_int_equal(system(command), 0);
}

static Robot read_robot(const char *folder, const char *name) {
	Robot r = {0};
	CalError error = {0};
	if (read_file(folder, name, &r.setup, &error) != CAL_OK)
		fail_msg("%s", error.text);
	r.model = model_of(r.setup, NULL);
	assert_int_equal(cal_state_create(r.model, &r.state), CAL_OK);
	assert_int_equal(cal_setup_apply_state(r.setup, r.model, &r.state, &error), CAL_OK);
	assert_int_equal(cal_work_create(r.model, &r.work), CAL_OK);
	return r;
}

static void expect_refused(const char *folder, const char *name, const char *said) {
	CalSetup *setup = NULL;
	CalError error = {0};
	assert_int_equal(read_file(folder, name, &setup, &error), CAL_ERR_INPUT);
	if (!strstr(error.text, said))
		fail_msg("\"%s\" does not hold \"%s\"", error.text, said);
}

#define TOOL(inside)                                                                                            \
	MODEL("1.9", "<pose>9 9 9 0 0 0</pose>" LINK("base", "")                                                    \
	                 LINK("grip", "<pose>0 1 0 0 0 " HALF_PI "</pose>") "<frame name='tip' attached_to='grip'>" \
	                                                                    "<pose>1 0 0 0 0 0</pose></frame>" inside)

/* S9: what a merged model holds is posed on the frame of that model, and has its names in the model around it. */
static void models_are_merged(void **state) {
	(void)state;
	char folder[] = "sdf_merge_XXXXXX", command[128];
	assert_non_null(mkdtemp(folder));
	write_file(folder, "tool.sdf",
	           TOOL("<joint name='j' type='revolute'>" ENDS(
				   "base", "grip") "<axis><xyz expressed_in='__model__'>1 0 0</xyz></axis></joint>"));
	write_file(
		folder, "merge.sdf",
		MODEL(
			"1.9",
			LINK(
				"arm",
				"<pose>5 0 0 0 0 0</pose>") "<include merge='true'><uri>tool.sdf</uri><pose "
											"relative_to='arm'>1 0 0 0 0 " HALF_PI "</pose></include>"
											"<joint name='w' type='fixed'>" ENDS("arm", "base") "</joint>" LINK(
												"after",
												"<pose relative_to='tip'/>") "<joint name='a' type='fixed'>" ENDS("tip",
	                                                                                                              "after") "</joint>"
																														   "<frame name='f' attached_to='_merged__m__model__'/>"));
	Robot r = read_robot(folder, "merge.sdf");
	robot_expect_at(&r, "base", (CalVec3){6, 0, 0}, (CalVec3){0, 1, 0});
	robot_expect_at(&r, "grip", (CalVec3){5, 0, 0}, (CalVec3){-1, 0, 0});
	robot_expect_at(&r, "after", (CalVec3){4, 0, 0}, (CalVec3){-1, 0, 0});
	robot_expect_at(&r, "base/f", (CalVec3){6, 0, 0}, (CalVec3){0, 1, 0});
	*robot_q(&r, "j", 0) = acos(-1.0); // about y of the world, through grip
	robot_expect_at(&r, "after", (CalVec3){6, 0, 0}, x);
	robot_close(&r);

	write_file(
		folder, "placed.sdf",
		MODEL("1.9",
	          LINK("arm", "") "<include merge='1'><uri>tool.sdf</uri><placement_frame>tip</placement_frame><pose>0 0 "
	                          "0 0 0 0</pose></include>"));
	r = read_robot(folder, "placed.sdf");
	robot_expect_at(&r, "grip", (CalVec3){-1, 0, 0}, x);
	robot_expect_at(&r, "base", (CalVec3){-2, 0, 0}, (CalVec3){0, -1, 0});
	robot_close(&r);

	write_file(folder, "twice.sdf",
	           MODEL("1.9", LINK("base", "") "<include merge='true'><uri>tool.sdf</uri></include>"));
	expect_refused(folder, "twice.sdf", "names in a model differ");
	write_file(folder, "out.sdf", TOOL("<joint name='j' type='fixed'>" ENDS("grip", "arm") "</joint>"));
	write_file(folder, "leaks.sdf", MODEL("1.9", LINK("arm", "") "<include merge='true'><uri>out.sdf</uri></include>"));
	expect_refused(folder, "leaks.sdf", "there is no \"arm\"");
	write_file(folder, "world.sdf",
	           SDF("1.9", "<world name='w'><include merge='true'><uri>tool.sdf</uri></include></world>"));
	expect_refused(folder, "world.sdf", "not into a world");
	snprintf(command, sizeof command, "rm -r %s", folder);
	assert_int_equal(system(command), 0);
}

/* A file of 16 MiB that is included so often that it would take a minute, in a file that would take an hour. */
static void included_files_are_bounded_together(void **state) {
	(void)state;
	enum { COMMENT = 1 << 24, TIMES = 100 };
	char folder[] = "sdf_many_XXXXXX", command[128], *text = malloc(COMMENT + 1000);
	assert_non_null(mkdtemp(folder));
	assert_non_null(text);
	int used = sprintf(text, "<sdf version='1.9'><!--");
	memset(text + used, 'x', COMMENT);
	sprintf(text + used + COMMENT, "--><model name='m'>" LINK("a", "") "</model></sdf>");
	write_file(folder, "large.sdf", text);
	used = sprintf(text, "<sdf version='1.9'><model name='m'>");
	for (int i = 0; i < TIMES; i++)
		used += sprintf(text + used, "<include><name>i%d</name><uri>large.sdf</uri></include>", i);
	sprintf(text + used, "</model></sdf>");
	write_file(folder, "many.sdf", text);
	expect_refused(folder, "many.sdf", "have more than 536870912 bytes; include fewer or smaller ones");
	free(text);
	snprintf(command, sizeof command, "rm -r %s", folder);
	assert_int_equal(system(command), 0);
}

/* The mesh of an included model by the name of its own package, closed: the corner of a cube, 1/6 m^3. */
static void meshes_of_included_models_are_found(void **state) {
	(void)state;
#define CORNER "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 2 3 4\nf 1 4 3\n"
#define MESH(kind, name)                                                \
	"<" kind " name='" kind "'><geometry><mesh><uri>model://hand/" name \
	"</uri><scale>1 1 2</scale></mesh></geometry></" kind ">"
	char folder[] = "sdf_mesh_XXXXXX", hand[64], command[128];
	assert_non_null(mkdtemp(folder));
	snprintf(hand, sizeof hand, "%s/hand", folder);
	assert_int_equal(mkdir(hand, 0700), 0);
	write_file(hand, "model.config", "<model><sdf version='1.11'>hand.sdf</sdf></model>");
	write_file(hand, "corner.obj", CORNER);
	write_file(hand, "open.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 3 2\n");
#define AUTO_MESH(name)                                                                                           \
	MODEL("1.11", "<link name='a'><inertial auto='true'><density>12</density></inertial>" MESH("collision", name) \
	                  MESH("visual", "corner.obj") "</link>")
	write_file(hand, "hand.sdf", AUTO_MESH("corner.obj"));
	write_file(folder, "arm.sdf", MODEL("1.11", "<include><uri>hand</uri></include>"));
	Robot r = read_robot(folder, "arm.sdf");
	const CalBodyDef *body = cal_desc_body(cal_setup_desc(r.setup), (CalBodyId){1});
	assert_true(fabs(body->mass - 4) < 1e-12 && fabs(body->com.z - 0.5) < 1e-12 && fabs(body->com.x - 0.25) < 1e-12);
	assert_true(fabs(body->inertia.m[2][2] - 4 * 3.0 / 40) < 1e-12); // m/40 (3 a^2 + 3 b^2) of a corner
	const CalVisual *visuals = NULL;
	assert_int_equal(cal_setup_visuals(r.setup, (CalBodyId){1}, &visuals), 1);
	robot_close(&r);
	write_file(hand, "hand.sdf", AUTO_MESH("open.obj"));
	expect_refused(folder, "arm.sdf", "open.obj");
	write_file(hand, "hand.sdf", AUTO_MESH("none.obj"));
	expect_refused(folder, "arm.sdf", "none.obj");
	snprintf(command, sizeof command, "rm -r %s", folder);
	assert_int_equal(system(command), 0);
}

/* A machine with a loop, a nested model, a coupling, a frame, limits, friction and a visual. */
static void every_allocation_may_fail(void **state) {
	(void)state;
	robot_expect_failures(MODEL(
		"1.11",
		LINK("a",
	         "<visual name='v'><geometry><box><size>1 1 1</size></box></geometry></visual><sensor name='s'/>") LINK("b",
	                                                                                                                "")
			LINK("c", "<gravity>0</gravity>") "<model name='n'>" LINK("d", "") "</model><frame name='f' attached_to='n::d'/>" BAR("ab", ENDS("a", "b"), "<limit><lower>-1</lower></limit><dynamics><friction>1</friction></dynamics>") "</joint>" BAR(
				"bc", ENDS("b", "c"),
				"<mimic joint='ab'><multiplier>2</multiplier></mimic>") "</joint>" BAR("ca", ENDS("c", "a"),
	                                                                                   "") "</joint><joint name='cd' type='ball'>" ENDS("c",
	                                                                                                                                    "n::d") "</joint>"));
}

/* Every frame refers to the one before it: no recursion, and time in proportion. */
static void long_chains_of_frames_are_resolved(void **state) {
	(void)state;
	enum { FRAMES = 20000, MOST = FRAMES * 80 + 200 };
	char *text = malloc(MOST);
	int used = snprintf(text, MOST, "<sdf version='1.7'><model name='m'><link name='a'/>");
	for (int i = FRAMES; i > 0; i--)
		used += snprintf(text + used, (size_t)(MOST - used),
		                 "<frame name='f%d' attached_to='%s%d'><pose>0 0 1 0 0 0</pose></frame>", i,
		                 i > 1 ? "f" : "a' x='", i - 1);
	snprintf(text + used, (size_t)(MOST - used), "</model></sdf>");
	Robot r = robot_of(text);
	robot_expect_at(&r, "a/f20000", (CalVec3){0, 0, FRAMES}, x);
	robot_close(&r);
	free(text);
}

int main(void) {
	NEEDS_EXPAT();
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(poses_have_their_default_frames),
		cmocka_unit_test(poses_are_relative_to_frames),
		cmocka_unit_test(axes_stand_in_the_frame_of_their_version),
		cmocka_unit_test(screws_have_two_pitches),
		cmocka_unit_test(defaults_are_those_of_the_format),
		cmocka_unit_test(inertia_is_turned_into_the_link),
		cmocka_unit_test(automatic_inertia_follows_collisions),
		cmocka_unit_test(loops_are_cut_where_nothing_is_lost),
		cmocka_unit_test(joints_are_reversed_where_the_tree_needs_it),
		cmocka_unit_test(models_nest),
		cmocka_unit_test(static_models_are_fixed),
		cmocka_unit_test(limits_are_those_that_are_meant),
		cmocka_unit_test(stops_follow_the_inertia),
		cmocka_unit_test(joints_are_coupled),
		cmocka_unit_test(bad_files_are_refused),
		cmocka_unit_test(what_is_not_read_is_in_the_report),
		cmocka_unit_test(files_are_included),
		cmocka_unit_test(included_files_are_bounded_together),
		cmocka_unit_test(models_are_merged),
		cmocka_unit_test(meshes_of_included_models_are_found),
		cmocka_unit_test(every_allocation_may_fail),
		cmocka_unit_test(long_chains_of_frames_are_resolved),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
