// SPDX-License-Identifier: Apache-2.0
/*
 * test_urdf.c — URDF files: masses, joints, limits, mimics, versions. Each expectation follows from the specification by hand;
 * the numbers U1 ... are those of docs/urdf.md.
 */
#include <locale.h>

#include <calder/loops.h>

#include "io/urdf/urdf_support.h"

static const double tiny = 1e-14;

static void expect_inertia(const Robot *r, const char *body, const double expected[3][3]) {
	const CalBodyInfo info = body_of(r->model, body);
	for (int i = 0; i < 9; i++)
		if (!(fabs(info.inertia.m[i / 3][i % 3] - expected[i / 3][i % 3]) < tiny))
			fail_msg("inertia %d %d of %s is %.17g, not %g", i / 3, i % 3, body, info.inertia.m[i / 3][i % 3],
			         expected[i / 3][i % 3]);
}

/* ---- links -------------------------------------------------------------------------------------------- */

/* U1: about the center of mass, in the axes of the inertial frame; without <origin> in those of the link. */
static void inertia_turns_with_the_inertial_frame(void **state) {
	(void)state;
	static const double turned[3][3] = {{2, 0, 0}, {0, 1, 0}, {0, 0, 2.5}},
						plain[3][3] = {{1, 0, 0}, {0, 2, 0}, {0, 0, 2.5}};
	Robot r = robot_of(URDF(LINK("a", "<inertial><origin xyz='1 2 3' rpy='0 0 " HALF_PI "'/><mass value='2'/>" INERTIA
	                                  "</inertial>") LINK("b", INERTIAL) JOINT("j", "fixed", "a", "b", "")));
	const CalBodyInfo a = body_of(r.model, "a");
	assert_true(a.mass == 2 && a.com.x == 1 && a.com.y == 2 && a.com.z == 3);
	expect_inertia(&r, "a", turned);
	expect_inertia(&r, "b", plain);
	robot_close(&r);
}

/* U2: products are entries of the tensor, not its negatives. */
static void products_of_inertia_keep_their_sign(void **state) {
	(void)state;
	static const double expected[3][3] = {{3, 0.1, 0.2}, {0.1, 4, 0.3}, {0.2, 0.3, 5}};
	Robot r = robot_of(URDF(LINK("a", "<inertial><mass value='1'/><inertia ixx='3' ixy='.1' ixz='.2' iyy='4' iyz='.3' "
	                                  "izz='5'/></inertial>")));
	expect_inertia(&r, "a", expected);
	robot_close(&r);
}

/* U3: no <inertial> is no mass; where that leaves an acceleration open it is refused, or welded on request. */
static void links_without_inertial_have_no_mass(void **state) {
	(void)state;
#define TIP                                                                            \
	URDF(BODY("a") LINK("b", "") LINK("c", "") JOINT("j", "revolute", "a", "b", LIMIT) \
	         JOINT("k", "fixed", "b", "c", ""))
	const CalReadOptions partial = {.partial = 1};
	robot_refuse(TIP, "joint \"j\" moves link \"b\"");
	Robot r = robot_with(TIP, &partial);
	robot_expect_note(&r, CAL_IMPORT_MISSING, "joint \"j\"", "no inertia");
	robot_expect_note(&r, CAL_IMPORT_ASSUMED, "link \"b\"", "no <inertial>");
	assert_int_equal(joint_of(&r, "j")->type, CAL_JOINT_WELD);
	assert_int_equal(cal_model_u_count(r.model), 0);
	robot_close(&r);
	// in the middle of a chain: a universal joint
	r = robot_of(URDF(LINK("a", "") LINK("b", "") BODY("c") JOINT("j", "continuous", "a", "b", "<axis xyz='1 0 0'/>")
	                      JOINT("k", "continuous", "b", "c", "<axis xyz='0 1 0'/>")));
	assert_int_equal(cal_model_u_count(r.model), 2);
	assert_true(body_of(r.model, "b").mass == 0);
	robot_close(&r);
	// a rotor is inertia enough
	r = robot_of(URDF(BODY("a") LINK("b", "") JOINT(
		"j", "continuous", "a", "b",
		"") "<transmission name='t'><type>transmission_interface/SimpleTransmission</type><joint name='j'/><actuator name='m'>"
	        "<mechanicalReduction>10</mechanicalReduction><drake:rotor_inertia value='1e-4'/></actuator></transmission>"));
	assert_int_equal(cal_model_u_count(r.model), 1);
	robot_close(&r);
}

/* U4: a dummy root changes nothing of a floating system. */
static void dummy_root_gives_the_same_system(void **state) {
	(void)state;
	const CalReadOptions is_free = {.base = CAL_BASE_FREE};
	Robot plain = robot_with(PAIR("revolute", LIMIT), &is_free);
	Robot dummy = robot_with(URDF(LINK("base_link", "") BODY("a") BODY("b") JOINT("f", "fixed", "base_link", "a", "")
	                                  JOINT("j", "revolute", "a", "b", LIMIT)),
	                         &is_free);
	double M[2][49];
	assert_int_equal(cal_model_u_count(plain.model), 7);
	assert_int_equal(cal_model_u_count(dummy.model), 7);
	assert_int_equal(cal_mass_matrix(plain.model, &plain.state, plain.work, M[0]), CAL_OK);
	assert_int_equal(cal_mass_matrix(dummy.model, &dummy.state, dummy.work, M[1]), CAL_OK);
	for (int i = 0; i < 49; i++)
		assert_true(fabs(M[0][i] - M[1][i]) < tiny);
	robot_close(&plain);
	robot_close(&dummy);
}

/* ---- joints -------------------------------------------------------------------------------------------- */

/* U5: x unless given, normalized; of joints without axis anything goes. */
static void axes_default_to_x(void **state) {
	(void)state;
	Robot r = robot_of(PAIR("continuous", ""));
	assert_true(joint_of(&r, "j")->axis.x == 1 && joint_of(&r, "j")->axis.z == 0);
	robot_close(&r);
	r = robot_of(PAIR("continuous", "<axis xyz=' 0 0\n +2e0 '/>"));
	assert_true(joint_of(&r, "j")->axis.z == 1);
	robot_expect_note(&r, CAL_IMPORT_ASSUMED, "axis", "length 2");
	robot_close(&r);
	r = robot_of(PAIR("fixed", "<axis xyz='0 0 0'/>"));
	assert_int_equal(joint_of(&r, "j")->type, CAL_JOINT_WELD);
	robot_close(&r);
	robot_refuse(PAIR("revolute", LIMIT "<axis xyz='0 0 0'/>"), "its axis has the length 0");
}

/* The joint frame is that of the child, placed by <origin> in the parent. */
static void origins_place_the_child(void **state) {
	(void)state;
	Robot r = robot_of(PAIR("prismatic", LIMIT "<origin xyz='1 0 0' rpy='0 0 " HALF_PI "'/><axis xyz='1 0 0'/>"));
	*robot_q(&r, "j", 0) = 0.5;
	robot_expect_at(&r, "b", (CalVec3){1, 0.5, 0}, (CalVec3){0, 1, 0});
	robot_close(&r);
	// roll first, about fixed axes: z goes to -y by the roll, then to x by the yaw
	r = robot_of(PAIR("fixed", "<origin rpy='" HALF_PI " 0 " HALF_PI "'/>"));
	const CalPose pose = robot_pose(&r, "b");
	assert_true(fabs(pose.R.m[0][2] - 1) < tiny);
	robot_close(&r);
	r = robot_of(
		URDF_1("1", BODY("a") BODY("b") JOINT("j", "fixed", "a", "b", "<origin xyz='0 0 1' quat_xyzw='0 0 1 1'/>")));
	robot_expect_at(&r, "b", (CalVec3){0, 0, 1}, (CalVec3){0, 1, 0});
	robot_close(&r);
	r = robot_of(PAIR("fixed", "<origin quat_xyzw='0 0 0 1'/>"));
	robot_expect_note(&r, CAL_IMPORT_ASSUMED, "origin", "URDF 1.0 has no quaternions");
	robot_close(&r);
}

/* U6: the axis of a planar joint is the normal. A floating joint is free. */
static void planar_joints_move_across_their_normal(void **state) {
	(void)state;
	Robot r = robot_of(PAIR("planar", "<axis xyz='0 1 0'/>"));
	assert_int_equal(cal_model_u_count(r.model), 3);
	robot_expect_note(&r, CAL_IMPORT_ASSUMED, "joint \"j\"", "no directions in it");
	*robot_q(&r, "j", 0) = 1;
	*robot_q(&r, "j", 1) = 2;
	const CalPose pose = robot_pose(&r, "b");
	assert_true(fabs(pose.r.y) < tiny && fabs(pose.r.x * pose.r.x + pose.r.z * pose.r.z - 5) < 1e-13);
	robot_close(&r);
	r = robot_of(PAIR("floating", ""));
	assert_int_equal(joint_of(&r, "j")->type, CAL_JOINT_FREE);
	robot_close(&r);
}

/* ---- limits ------------------------------------------------------------------------------------------ */

typedef struct LimitCase {
	const char *text;
	double lower, upper; // equal: it is held there; infinite: none
	const char *said;    // in a note; NULL: anything
} LimitCase;

static void expect_limit(const LimitCase *c) {
	Robot r = robot_of(c->text);
	const CalLimitDef *def = device_of(&r, "limit", "j");
	const bool held = c->lower == c->upper;
	if (held || c->lower == -INFINITY)
		assert_null(def);
	else if (!def || def->lower != c->lower || def->upper != c->upper || !(def->stiffness > 0))
		fail_msg("%s: limits are not %g and %g", c->text, c->lower, c->upper);
	assert_int_equal(cal_model_loop_count(r.model), held);
	if (held)
		assert_true(*robot_q(&r, "j", 0) == c->lower);
	if (c->said)
		robot_expect_note(&r, CAL_IMPORT_ASSUMED, "joint \"j\"", c->said);
	robot_close(&r);
}

/* U7, U8, U10: by type, version and attribute. */
static void limits_follow_type_and_version(void **state) {
	(void)state;
#define LIMITED(minor, type, attributes) \
	URDF_1(minor, BODY("a") BODY("b") JOINT("j", type, "a", "b", "<limit " attributes "/>"))
	static const LimitCase cases[] = {
		{LIMITED("0", "revolute", "lower='-1' upper='2' effort='1' velocity='1'"), -1, 2, NULL},
		{LIMITED("0", "prismatic", "lower='-1' upper='2' effort='1' velocity='1'"), -1, 2, NULL},
		{LIMITED("0", "continuous", "lower='0' upper='0' effort='1' velocity='1'"), -INFINITY, INFINITY, NULL},
		{LIMITED("0", "continuous", "lower='-1' upper='1' effort='1' velocity='1'"), -INFINITY, INFINITY, NULL},
		{LIMITED("0", "revolute", "effort='1' velocity='1'"), -INFINITY, INFINITY, "some programs lock it"},
		{LIMITED("1", "revolute", "effort='1' velocity='1'"), -INFINITY, INFINITY, "some programs lock it"},
		{LIMITED("2", "revolute", "effort='1' velocity='1'"), -INFINITY, INFINITY, "neither lower nor upper"},
		{LIMITED("0", "revolute", "lower='0' upper='0' effort='1' velocity='1'"), -INFINITY, INFINITY, "both 0"},
		{LIMITED("0", "revolute", "lower='.3' upper='.3' effort='1' velocity='1'"), 0.3, 0.3, "held there"},
		{LIMITED("0", "revolute", "lower='-1' effort='1' velocity='1'"), -1, 0, "upper is not given"},
		{LIMITED("0", "revolute", "upper='1' effort='1' velocity='1'"), 0, 1, "lower is not given"},
		{LIMITED("2", "revolute", "lower='-1' effort='1' velocity='1'"), -1, INFINITY, "upper is not given"},
		{LIMITED("0", "revolute", "lower='-1' upper='inf' effort='1' velocity='1'"), -1, INFINITY, NULL},
		{LIMITED("0", "revolute", "lower='-1' upper='1' velocity='1'"), -1, 1, "no effort"},
		{LIMITED("0", "revolute", "lower='-1' upper='1' effort='1'"), -1, 1, "no velocity"},
		{PAIR("revolute", ""), -INFINITY, INFINITY, "neither lower nor upper"},
	};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
		expect_limit(&cases[i]);
	robot_refuse(LIMITED("0", "revolute", "lower='1' upper='-1' effort='1' velocity='1'"), "above upper");
	robot_refuse(LIMITED("0", "revolute", "lower='1' effort='1' velocity='1'"), "above upper");
}

/* A joint whose limits exclude zero starts at the nearest of them. */
static void joints_start_within_their_limits(void **state) {
	(void)state;
	Robot r = robot_of(PAIR("revolute", "<limit lower='-3' upper='-.5' effort='1' velocity='1'/>"));
	assert_true(*robot_q(&r, "j", 0) == -0.5);
	robot_expect_note(&r, CAL_IMPORT_ASSUMED, "limit", "starts at -0.5 rad");
	robot_close(&r);
}

/* U9: efforts of zero among others. */
static void efforts_of_zero_are_questioned(void **state) {
	(void)state;
#define EFFORTS(first, second)                                                                                        \
	URDF(BODY("a") BODY("b") BODY("c") JOINT("j", "continuous", "a", "b", "<limit effort='" first "' velocity='1'/>") \
	         JOINT("k", "continuous", "b", "c", "<limit effort='" second "' velocity='1'/>"))
	Robot r = robot_of(EFFORTS("5", "0"));
	assert_int_equal(cal_setup_warning_count(r.setup), 1);
	assert_non_null(strstr(cal_setup_warning(r.setup, 0), "t.xml:1:"));
	assert_non_null(strstr(cal_setup_warning(r.setup, 0), "joint \"k\": effort is 0"));
	robot_close(&r);
	r = robot_of(EFFORTS("5", "5"));
	assert_int_equal(cal_setup_warning_count(r.setup), 0);
	robot_close(&r);
}

/* ---- mimics ------------------------------------------------------------------------------------------- */

#define MIMIC(leader, more) "<mimic joint='" leader "' " more "/>"
#define FOUR BODY("a") BODY("b") BODY("c") BODY("d")

/* U11: a chain of three whose leaders come later; accelerations keep the ratios. */
static void mimics_follow_along_chains(void **state) {
	(void)state;
	Robot r = robot_of(URDF(FOUR JOINT("j", "continuous", "a", "b", MIMIC("k", "multiplier='-1' offset='0.25'"))
	                            JOINT("k", "continuous", "b", "c", MIMIC("l", "multiplier='2' offset='0.5'"))
	                                JOINT("l", "continuous", "c", "d", "<axis xyz='0 1 0'/>")));
	double udot[3], g[2];
	assert_int_equal(cal_model_loop_count(r.model), 2);
	assert_true(*robot_q(&r, "l", 0) == 0 && *robot_q(&r, "k", 0) == 0.5 && *robot_q(&r, "j", 0) == -0.25);
	assert_int_equal(cal_loop_residual(r.model, &r.state, r.work, g, NULL), CAL_OK);
	assert_true(fabs(g[0]) < tiny && fabs(g[1]) < tiny);
	const double tau[3] = {1, 2, 3};
	const CalInput input = {.tau = tau};
	assert_int_equal(cal_forward_dynamics(r.model, &r.state, &input, r.work, udot), CAL_OK);
	const double j = udot[body_of(r.model, "b").u], k = udot[body_of(r.model, "c").u],
				 l = udot[body_of(r.model, "d").u];
	assert_true(fabs(l) > 1e-3 && fabs(k - 2 * l) < 1e-13 * fabs(k) && fabs(j + k) < 1e-13 * fabs(k));
	robot_close(&r);
}

static void mimics_without_leader_are_named(void **state) {
	(void)state;
	const CalReadOptions partial = {.partial = 1};
	robot_refuse(PAIR("continuous", MIMIC("x", "")), "joint \"j\" follows joint \"x\", which does not exist");
	robot_refuse(PAIR("continuous", MIMIC("j", "")), "follows it again");
	robot_refuse(URDF(BODY("a") BODY("b") BODY("c") JOINT("j", "continuous", "a", "b", MIMIC("k", ""))
	                      JOINT("k", "continuous", "b", "c", MIMIC("j", ""))),
	             "follows it again");
	static const char fixed[] = URDF(BODY("a") BODY("b") BODY("c") JOINT("j", "continuous", "a", "b", MIMIC("k", ""))
	                                     JOINT("k", "fixed", "b", "c", ""));
	robot_refuse(fixed, "joint \"k\" (line 1), which does not have exactly one degree");
	Robot r = robot_with(fixed, &partial);
	robot_expect_note(&r, CAL_IMPORT_MISSING, "joint \"j\"/mimic", "joint \"k\"");
	assert_int_equal(cal_model_loop_count(r.model), 0);
	robot_close(&r);
	// a multiplier of zero holds the joint at its offset
	r = robot_of(URDF(BODY("a") BODY("b") BODY("c") JOINT("j", "continuous", "a", "b", "")
	                      JOINT("k", "continuous", "b", "c", MIMIC("j", "multiplier='0' offset='1'"))));
	assert_true(*robot_q(&r, "k", 0) == 1);
	assert_int_equal(cal_model_loop_count(r.model), 1);
	robot_close(&r);
}

/* ---- fixed joints, the root ------------------------------------------------------------------------------ */

/* U12: names stay, and the whole has the mass, center and inertia of its parts. */
static void fixed_links_keep_their_names_and_masses(void **state) {
	(void)state;
	Robot r = robot_of(URDF(BODY("a") BODY("b") JOINT("j", "fixed", "a", "b", "<origin xyz='2 0 0'/>")));
	CalMomentum m;
	assert_int_equal(cal_momentum(r.model, &r.state, r.work, &m), CAL_OK);
	assert_true(m.mass == 2 && fabs(m.com.x - 1) < tiny);
	robot_expect_at(&r, "b", (CalVec3){2, 0, 0}, (CalVec3){1, 0, 0});
	assert_true(cal_desc_find_joint(cal_setup_desc(r.setup), "j").value != 0);
	robot_close(&r);
}

/* U20: "world" is the ground; otherwise the root is fixed, with a note, or free on request. */
static void root_is_held_as_asked_for(void **state) {
	(void)state;
	const CalReadOptions is_free = {.base = CAL_BASE_FREE}, is_fixed = {.base = CAL_BASE_FIXED};
	Robot r = robot_of(URDF(BODY("a")));
	assert_int_equal(cal_model_u_count(r.model), 0);
	robot_expect_note(&r, CAL_IMPORT_ASSUMED, "link \"a\"", "--base free");
	const int notes = note_count(&r);
	robot_close(&r);
	r = robot_with(URDF(BODY("a")), &is_fixed);
	assert_int_equal(note_count(&r), notes - 1);
	robot_close(&r);
	r = robot_with(URDF(BODY("a")), &is_free);
	assert_int_equal(cal_model_u_count(r.model), 6);
	robot_close(&r);
	r = robot_with(URDF(LINK("world", "") BODY("a") JOINT("j", "floating", "world", "a", "")), &is_free);
	assert_int_equal(cal_model_body_count(r.model), 1);
	assert_int_equal(cal_model_u_count(r.model), 6);
	assert_int_equal(body_of(r.model, "a").parent, -1);
	robot_close(&r);
	// the name of the joint that holds the root differs from those of the file
	r = robot_of(URDF(BODY("a") BODY("b") JOINT("a", "continuous", "a", "b", "")));
	assert_string_equal(body_of(r.model, "b").joint, "a");
	robot_close(&r);
}

/* ---- damping, friction, rotors ---------------------------------------------------------------------------- */

/* U21: damping slows at the rate d/I; friction is a device. */
static void damping_and_friction_act(void **state) {
	(void)state;
	Robot r = robot_of(PAIR("continuous", "<dynamics damping='0.5' friction='0.2'/>"));
	double Q;
	r.state.u[0] = 3;
	assert_int_equal(cal_elastic_forces(r.model, &r.state, r.work, &Q), CAL_OK);
	assert_true(fabs(Q + 1.5) < tiny);
	const CalFrictionDef *friction = device_of(&r, "friction", "j");
	assert_non_null(friction);
	assert_true(friction->coulomb == 0.2);
	robot_close(&r);
	robot_refuse(PAIR("floating", "<dynamics damping='1'/>"), "does not say on which");
	robot_refuse(PAIR("continuous", "<dynamics damping='-1'/>"), "neither is below zero");
}

/* The rotor counts with the square of the reduction; text that is no number is named. */
static void rotors_count_with_the_square_of_the_reduction(void **state) {
	(void)state;
#define TRANSMISSION(inside)                                                                                                   \
	"<transmission name='t'><type>transmission_interface/SimpleTransmission</type><joint name='j'/><actuator name='m'>" inside \
	"</actuator></transmission>"
	double M;
	Robot r = robot_of(URDF(BODY("a") BODY("b") JOINT("j", "continuous", "a", "b", "") TRANSMISSION(
		"<mechanicalReduction>-50</mechanicalReduction><rotorInertia>2e-3</rotorInertia>")));
	assert_int_equal(cal_mass_matrix(r.model, &r.state, r.work, &M), CAL_OK);
	assert_true(fabs(M - (1 + 2500 * 2e-3)) < 1e-13);
	robot_close(&r);
	r = robot_of(URDF(BODY("a") BODY("b") JOINT("j", "continuous", "a", "b", "")
	                      TRANSMISSION("<mechanicalReduction>50</mechanicalReduction>")));
	robot_expect_note(&r, CAL_IMPORT_ASSUMED, "transmission \"t\"", "a motor with the gear 50");
	robot_close(&r);
	r = robot_of(
		URDF(BODY("a") BODY("b") JOINT("j", "continuous", "a", "b", "<limit effort='0' velocity='1'/>")
	             TRANSMISSION("") "<transmission name='u'><joint name='k'/><actuator name='m'/></transmission>"));
	robot_expect_note(&r, CAL_IMPORT_ASSUMED, "limit", "taken: no bound");
	robot_expect_note(&r, CAL_IMPORT_IGNORED, "transmission \"u\"", "there is no joint \"k\"");
	robot_close(&r);
	r = robot_of(URDF(BODY("a") BODY("b") JOINT("j", "continuous", "a", "b", "")
	                      TRANSMISSION("<mechanicalReduction>n/a</mechanicalReduction>")));
	robot_expect_note(&r, CAL_IMPORT_ASSUMED, "mechanicalReduction", "\"n/a\" is not a number");
	robot_close(&r);
}

/* ---- text -------------------------------------------------------------------------------------------------- */

/* U17: a point is a point. */
static void locale_has_no_say(void **state) {
	(void)state;
	if (!setlocale(LC_ALL, "de_DE.UTF-8") && !setlocale(LC_ALL, "fr_FR.UTF-8"))
		print_message("no locale with a decimal comma is installed\n");
	Robot r = robot_of(PAIR("fixed", "<origin xyz='1.57 0 0'/>"));
	setlocale(LC_ALL, "C");
	robot_expect_at(&r, "b", (CalVec3){1.57, 0, 0}, (CalVec3){1, 0, 0});
	robot_close(&r);
}

int main(void) {
	NEEDS_EXPAT();
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(inertia_turns_with_the_inertial_frame),
		cmocka_unit_test(products_of_inertia_keep_their_sign),
		cmocka_unit_test(links_without_inertial_have_no_mass),
		cmocka_unit_test(dummy_root_gives_the_same_system),
		cmocka_unit_test(axes_default_to_x),
		cmocka_unit_test(origins_place_the_child),
		cmocka_unit_test(planar_joints_move_across_their_normal),
		cmocka_unit_test(limits_follow_type_and_version),
		cmocka_unit_test(joints_start_within_their_limits),
		cmocka_unit_test(efforts_of_zero_are_questioned),
		cmocka_unit_test(mimics_follow_along_chains),
		cmocka_unit_test(mimics_without_leader_are_named),
		cmocka_unit_test(fixed_links_keep_their_names_and_masses),
		cmocka_unit_test(root_is_held_as_asked_for),
		cmocka_unit_test(damping_and_friction_act),
		cmocka_unit_test(rotors_count_with_the_square_of_the_reduction),
		cmocka_unit_test(locale_has_no_say),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
