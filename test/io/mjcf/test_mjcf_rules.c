// SPDX-License-Identifier: Apache-2.0
/*
 * test_mjcf_rules.c — MJCF files: what attributes mean, each in the smallest file that distinguishes right from wrong. Every
 * expectation is computed by hand from the rules of the format.
 */
#include "mjcf_support.h"

static const CalVec3 x_axis = {1, 0, 0};

/* ---- angles and orientations ---------------------------------------------------------------------------------- */

/* M1: degrees are for ranges, ref, springref and Euler angles; not for damping, stiffness, controls and keyframes. */
static void degrees_are_for_angles_only(void **state) {
	(void)state;
	Robot r =
		robot_of(MJCF("<worldbody><body><joint name='j' damping='1' stiffness='2' range='-90 90' springref='90'/>" UNIT
	                  "</body></worldbody><actuator><motor name='m' joint='j' ctrlrange='-3 3' gear='2'/></actuator>"
	                  "<keyframe><key name='home' qpos='0.5' ctrl='5'/></keyframe>"));
	const CalDofInfo dof = dof_of(&r, "j", 0);
	expect_near("damping", dof.damping, 1);
	expect_near("stiffness", dof.stiffness, 2);
	expect_near("rest", dof.rest, PI / 2);
	expect_near("lower", limit_of(&r, "j/limit")->lower, -PI / 2);
	expect_near("upper", limit_of(&r, "j/limit")->upper, PI / 2);
	expect_near("q", *robot_q(&r, "j", 0), 0.5);
	expect_near("effort", output_of(&r, "m", 0), 6); // gear x input within its range
	robot_close(&r);
}

/* M1: slides have lengths. */
static void slides_have_no_degrees(void **state) {
	(void)state;
	Robot r =
		robot_of(WORLD("<body name='b'><joint name='j' type='slide' axis='1 0 0' range='-1 1' ref='0.25' springref='3' "
	                   "stiffness='1'/>" UNIT "</body>"));
	expect_near("lower", limit_of(&r, "j/limit")->lower, -1);
	expect_near("rest", dof_of(&r, "j", 0).rest, 3);
	expect_near("q", *robot_q(&r, "j", 0), 0.25);
	robot_expect_at(&r, "b", (CalVec3){0, 0, 0}, x_axis);
	robot_close(&r);
}

/* M2: the last compiler counts for everything, also for defaults before it. */
static void the_last_compiler_counts(void **state) {
	(void)state;
	Robot r = robot_of(
		MJCF("<compiler angle='degree'/><default><joint springref='1' stiffness='1'/></default><worldbody><body>"
	         "<joint name='j'/>" UNIT "</body></worldbody><compiler angle='radian'/>"));
	expect_near("rest", dof_of(&r, "j", 0).rest, 1);
	robot_close(&r);
}

/* M4: small letters are axes that turn, capitals fixed ones: x of the body in the world, by rotation matrices. */
static void euler_angles_follow_their_sequence(void **state) {
	(void)state;
	const double a = 30 * PI / 180, b = 40 * PI / 180, c = 50 * PI / 180;
	const struct {
		const char *text;
		CalVec3 x;
	} cases[] = {
		// Rx Ry Rz e = Rx Ry (cos c, sin c, 0)
		{MJCF("<worldbody><body name='b' euler='30 40 50'>" UNIT "</body></worldbody>"),
	     {cos(b) * cos(c), cos(a) * sin(c) + sin(a) * sin(b) * cos(c), sin(a) * sin(c) - cos(a) * sin(b) * cos(c)}},
		// Rz Ry Rx e = Rz Ry e
		{MJCF("<compiler eulerseq='XYZ'/><worldbody><body name='b' euler='30 40 50'>" UNIT "</body></worldbody>"),
	     {cos(b) * cos(c), cos(b) * sin(c), -sin(b)}},
		// z by 30, then y by 40, then x by 50: Rz(a) Ry(b) Rx(c) e
		{MJCF("<compiler eulerseq='zyx'/><worldbody><body name='b' euler='30 40 50'>" UNIT "</body></worldbody>"),
	     {cos(a) * cos(b), sin(a) * cos(b), -sin(b)}},
	};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		Robot r = robot_of(cases[i].text);
		robot_expect_at(&r, "b", (CalVec3){0, 0, 0}, cases[i].x);
		robot_close(&r);
	}
}

/* M5: the second of xyaxes is made perpendicular; zaxis is the smallest turn; there is one orientation. */
static void axes_give_orientations(void **state) {
	(void)state;
	const double s = sqrt(0.5);
	Robot r =
		robot_of(WORLD("<body name='skew' xyaxes='0 2 0 -1 5 0'>" UNIT "</body><body name='down' zaxis='0 0 -1'>" UNIT
	                   "</body><body name='turn' axisangle='0 0 3 45'>" UNIT
	                   "</body><body name='lean' zaxis='1 0 1'>" UNIT "</body>"));
	robot_expect_at(&r, "skew", (CalVec3){0, 0, 0}, (CalVec3){0, 1, 0});
	robot_expect_at(&r, "turn", (CalVec3){0, 0, 0}, (CalVec3){s, s, 0});
	robot_expect_at(&r, "lean", (CalVec3){0, 0, 0}, (CalVec3){s, 0, -s});
	expect_near("y of skew", robot_pose(&r, "skew").R.m[0][1], -1);
	expect_near("z of down", robot_pose(&r, "down").R.m[2][2], -1);
	robot_close(&r);
	robot_refuse(WORLD("<body quat='1 0 0 0' zaxis='0 0 1'/>"), "one orientation");
}

/* ---- classes --------------------------------------------------------------------------------------------------- */

/* M6: an element's own class replaces childclass; the nearest childclass counts, of frames too; the top class has any name. */
static void classes_replace_each_other(void **state) {
	(void)state;
	Robot r = robot_of(MJCF(
		"<default class='top'><joint damping='1' armature='.1'/><default class='a'><joint damping='2'/><default class='aa'>"
		"<joint armature='.3'/></default></default><default class='b'><joint armature='.2'/></default></default><worldbody>"
		"<body><joint name='plain'/>" UNIT "<body childclass='a'><joint name='child'/>" UNIT "<body><joint name='own' "
		"class='b'/>" UNIT "<frame childclass='aa'><body><joint name='framed'/>" UNIT
		"</body></frame></body></body></body></worldbody>"));
	const struct {
		const char *joint;
		double damping, armature;
	} cases[] = {{"plain", 1, .1}, {"child", 2, .1}, {"own", 1, .2}, {"framed", 2, .3}};
	for (size_t i = 0; i < 4; i++) {
		expect_near(cases[i].joint, dof_of(&r, cases[i].joint, 0).damping, cases[i].damping);
		expect_near(cases[i].joint, dof_of(&r, cases[i].joint, 0).reflected_inertia, cases[i].armature);
	}
	robot_close(&r);
	robot_refuse(WORLD("<body><joint class='nothing'/></body>"), "no such default class");
	robot_refuse(MJCF("<default><default class='a'/><default class='a'/></default>"), "is there already");
	robot_refuse(MJCF("<default><default/></default>"), "class");
}

/* M7: defaults of equalities and actuators; all kinds of actuators share one. */
static void kinds_have_defaults_of_their_own(void **state) {
	(void)state;
	Robot r = robot_of(
		MJCF("<default><equality active='false'/><general gear='3'/><default class='p'><position kp='7'/></default>"
	         "</default><worldbody><body name='a'><joint name='j'/>" UNIT "</body><body name='b'><joint name='k'/>" UNIT
	         "</body></worldbody><equality><joint joint1='j' joint2='k'/></equality><actuator><motor name='m' "
	         "joint='j'/><position name='p' class='p' joint='k'/></actuator><keyframe><key name='home' qpos='0 .5' "
	         "ctrl='1 2'/></keyframe>"));
	assert_int_equal(cal_setup_open_loop_count(r.setup), 1);
	expect_near("motor", output_of(&r, "m", 0), 3);
	expect_near("servo", output_of(&r, "p", 0), 3 * 7 * (2 - 3 * .5)); // gear kp (ctrl - gear q)
	robot_close(&r);
}

/* ---- masses ---------------------------------------------------------------------------------------------------- */

#define SPHERE "<geom size='.1' density='3000'/>" // 4 pi kg
#define BOTH(setting)                                                                              \
	MJCF("<compiler inertiafromgeom='" setting "'/><worldbody><body name='b'><joint/>" UNIT SPHERE \
	     "</body></worldbody>")

/* M8 */
static void inertials_beat_geoms_unless_asked(void **state) {
	(void)state;
	Robot r = robot_of(BOTH("auto"));
	expect_mass(&r, "b", 1);
	robot_close(&r);
	r = robot_of(BOTH("true"));
	expect_mass(&r, "b", 4 * PI);
	robot_close(&r);
	r = robot_of(BOTH("false"));
	expect_mass(&r, "b", 1);
	robot_close(&r);
	robot_refuse(MJCF("<compiler inertiafromgeom='false'/><worldbody><body><joint/>" SPHERE "</body></worldbody>"),
	             "no <inertial>");
}

/* M9: geoms of the groups asked for, mass before density, visual ones too, world ones never. */
static void geoms_of_groups_count(void **state) {
	(void)state;
	Robot r = robot_of(
		MJCF("<compiler inertiagrouprange='0 3'/><worldbody><geom size='1'/><body name='b'><joint/>"
	         "<geom type='box' size='.1 .2 .3' mass='2' density='9'/><geom group='3' size='.1' mass='1' contype='0' "
	         "conaffinity='0'/><geom group='4' size='1'/></body></worldbody>"));
	expect_mass(&r, "b", 3);
	// box: m/3 (b^2 + c^2); sphere: 2/5 m r^2
	expect_inertia(&r, "b", (double[]){2. / 3 * .13 + .004, 2. / 3 * .1 + .004, 2. / 3 * .05 + .004, 0, 0, 0});
	robot_close(&r);
}

/* M9: a shell has its density per area: a sphere 4 pi r^2, 2/3 m r^2; a box of sides 2: 24, 6 faces. */
static void shells_have_mass_per_area(void **state) {
	(void)state;
	Robot r = robot_of(WORLD(
		"<body name='s'><joint/><geom size='2' density='1' shellinertia='true'/></body><body name='b' "
		"pos='9 0 0'><joint/><geom type='box' size='1 1 1' density='1' shellinertia='true'/></body><body name='c' "
		"pos='0 9 0'><joint/><geom type='cylinder' size='1 1' density='1' shellinertia='true'/></body><body "
		"name='k' pos='0 0 9'><joint/><geom type='capsule' size='1 1' density='1' shellinertia='true'/></body>"));
	const double s = 16 * PI * 2. / 3 * 4, b = 2 * 4 * (1. / 3 + 1. / 3) + 4 * 4 * (1. / 3 + 1);
	expect_mass(&r, "s", 16 * PI);
	expect_inertia(&r, "s", (double[]){s, s, s, 0, 0, 0});
	expect_mass(&r, "b", 24);
	expect_inertia(&r, "b", (double[]){b, b, b, 0, 0, 0});
	// wall 4 pi, disks 2 pi; about z: 4 pi + pi
	expect_mass(&r, "c", 6 * PI);
	const double c = 4 * PI * (1. / 2 + 1. / 3) + 2 * PI * (1. / 4 + 1);
	expect_inertia(&r, "c", (double[]){c, c, 5 * PI, 0, 0, 0});
	// wall 4 pi and a sphere 4 pi, in halves at +-1: 2/3 + 1 + 2 1/2 about x
	expect_mass(&r, "k", 8 * PI);
	const double k = 4 * PI * (1. / 2 + 1. / 3) + 4 * PI * (2. / 3 + 1 + 1);
	expect_inertia(&r, "k", (double[]){k, k, 4 * PI + 8. / 3 * PI, 0, 0, 0});
	robot_close(&r);
}

/* M10: with an <inertial>, no geom moves it, wherever it stands. */
static void geoms_do_not_move_inertials(void **state) {
	(void)state;
	Robot r = robot_of(
		WORLD("<body name='b'><joint/><frame pos='1 0 0'><geom size='1'/></frame><inertial pos='0 1 0' mass='2' "
	          "diaginertia='1 2 3'/><frame pos='0 0 5'><geom size='1'/></frame></body>"));
	expect_mass(&r, "b", 2);
	expect_near("com", body_info(&r, "b").com.y, 1);
	expect_near("com", body_info(&r, "b").com.z, 0);
	expect_inertia(&r, "b", (double[]){1, 2, 3, 0, 0, 0});
	robot_close(&r);
}

/* M11: fullinertia is xx yy zz xy xz yz; diaginertia is in the axes of the inertial frame: here x' = y, y' = -x. */
static void tensors_have_their_axes(void **state) {
	(void)state;
	Robot r = robot_of(
		WORLD("<body name='f'><joint/><inertial pos='0 0 0' mass='1' fullinertia='3 4 5 .1 .2 .3'/></body><body "
	          "name='d' pos='1 0 0'><joint/><inertial pos='0 0 0' mass='1' diaginertia='1 2 2.5' euler='0 0 "
	          "90'/></body>"));
	expect_inertia(&r, "f", (double[]){3, 4, 5, .1, .2, .3});
	expect_inertia(&r, "d", (double[]){2, 1, 2.5, 0, 0, 0});
	robot_close(&r);
	robot_refuse(WORLD("<body><inertial pos='0 0 0' mass='1' fullinertia='1 1 1 0 0 0' euler='0 0 1'/></body>"),
	             "orientation");
	robot_refuse(WORLD("<body><inertial pos='0 0 0' mass='1' fullinertia='1 1 1 0 0 0' diaginertia='1 1 1'/></body>"),
	             "diaginertia");
	robot_refuse(WORLD("<body><inertial mass='1' diaginertia='1 1 1'/></body>"), "no pos");
}

/* M12: bounds, then balance, then the total mass, which scales inertia with it and counts static bodies. */
static void masses_are_repaired_in_order(void **state) {
	(void)state;
	Robot r = robot_of(
		MJCF("<compiler boundmass='.5' boundinertia='.02' balanceinertia='true'/><worldbody><body name='b'><joint/>"
	         "<inertial pos='0 0 0' mass='.1' diaginertia='.01 .01 .01'/></body><body name='t' pos='1 0 0'><joint/>"
	         "<inertial pos='0 0 0' mass='1' diaginertia='.02 .02 .11'/></body></worldbody>"));
	expect_mass(&r, "b", .5);
	expect_inertia(&r, "b", (double[]){.02, .02, .02, 0, 0, 0});
	expect_inertia(&r, "t", (double[]){.05, .05, .05, 0, 0, 0});
	robot_expect_note(&r, CAL_IMPORT_CHANGED, "t", "balanceinertia");
	robot_close(&r);
	r = robot_of(
		MJCF("<compiler settotalmass='10'/><worldbody><body name='s'><geom size='.1' mass='3'/></body><body name='f'>"
	         "<freejoint/><inertial pos='0 0 0' mass='1' diaginertia='1 1 1'/></body></worldbody>"));
	expect_mass(&r, "s", 7.5);
	expect_mass(&r, "f", 2.5);
	expect_inertia(&r, "f", (double[]){2.5, 2.5, 2.5, 0, 0, 0});
	robot_close(&r);
}

/* M17: half lengths; the ends of fromto are the centers of a capsule's caps, but the faces of a cylinder; box likewise. */
static void shapes_have_half_lengths(void **state) {
	(void)state;
	Robot r = robot_of(WORLD(
		"<body name='c'><joint/><geom type='cylinder' size='.1' fromto='0 0 0 2 0 0'/></body><body name='k' "
		"pos='0 1 0'><joint/><geom type='capsule' size='.1' fromto='0 0 0 2 0 0'/></body><body name='b' pos='0 2 "
		"0'><joint/><geom type='box' size='.1' fromto='0 0 0 2 0 0'/></body><body name='e' pos='0 3 0'><joint/>"
		"<geom type='ellipsoid' size='.1 .2 .3'/></body><body name='s' pos='0 4 0'><joint/><geom size='.1'/></body>"));
	const double c = 1000 * PI * .01 * 2;
	expect_mass(&r, "c", c);
	expect_inertia(&r, "c", (double[]){c / 2 * .01, c / 12 * (.03 + 4), c / 12 * (.03 + 4), 0, 0, 0});
	expect_near("com", body_info(&r, "c").com.x, 1);
	expect_mass(&r, "k", c + 4000. / 3 * PI * .001);
	expect_mass(&r, "b", 1000 * .04 * 2);
	expect_mass(&r, "e", 4000. / 3 * PI * .006);
	expect_mass(&r, "s", 4000. / 3 * PI * .001);
	robot_close(&r);
	robot_refuse(WORLD("<body><geom type='box' size='1 1'/></body>"), "size");
	r = robot_of(
		WORLD("<body name='c'><joint/><geom type='capsule' size='.1' pos='5 0 0' fromto='0 0 0 2 0 0'/></body>"));
	robot_expect_note(&r, CAL_IMPORT_ASSUMED, "geom @fromto", "as well");
	expect_near("com of the segment", body_info(&r, "c").com.x, 1);
	robot_close(&r);
}

/* ---- joints ---------------------------------------------------------------------------------------------------- */

/* M18 */
static void ranges_limit_as_asked(void **state) {
	(void)state;
	Robot r = robot_of(WORLD("<body><joint name='on' range='-1 1'/>" UNIT
	                         "<body><joint name='off' limited='false' range='-1 1'/>" UNIT
	                         "<body><joint name='none' range='0 0'/>" UNIT "</body></body></body>"));
	assert_non_null(device_of(&r, "on/limit"));
	assert_null(device_of(&r, "off/limit"));
	assert_null(device_of(&r, "none/limit"));
	robot_close(&r);
	robot_refuse(MJCF("<compiler autolimits='false'/><worldbody><body><joint range='-1 1'/></body></worldbody>"),
	             "autolimits");
	robot_refuse(WORLD("<body><joint limited='true'/></body>"), "below the second");
	robot_refuse(WORLD("<body><joint type='ball' range='0 90'/>" UNIT "</body>"), "ball joint");
}

/* M19, M22: pos and axis are in the body that holds the joint; the pose of the file is that at ref. */
static void joints_stand_in_their_body(void **state) {
	(void)state;
	Robot r = robot_of(
		WORLD("<body name='b' pos='.1 0 0' euler='90 0 0'><joint name='j' pos='.12 0 0' axis='0 0 2' ref='-45'/>" UNIT
	          "</body>"));
	expect_near("q", *robot_q(&r, "j", 0), -PI / 4);
	robot_expect_at(&r, "b", (CalVec3){.1, 0, 0}, x_axis);
	// by a right angle about the body's z, which is -y: about the point (.22, 0, 0)
	*robot_q(&r, "j", 0) += PI / 2;
	robot_expect_at(&r, "b", (CalVec3){.22, 0, -.12}, (CalVec3){0, 0, 1});
	robot_close(&r);
}

/* M20: joints of a body act in their order, each about its own point, over massless bodies. */
static void joints_of_a_body_follow_each_other(void **state) {
	(void)state;
	Robot stack = robot_of(
		WORLD("<body name='b' pos='0 0 1'><joint name='z' axis='0 0 1'/><joint name='y' axis='0 1 0' pos='.1 0 "
	          "0'/><joint name='x' type='slide' axis='1 0 0'/><geom type='box' size='.1 .2 .3' pos='.3 0 0'/></body>"));
	Robot chain = robot_of(
		WORLD("<body name='b1' pos='0 0 1'><joint name='z' axis='0 0 1'/><inertial pos='0 0 0' mass='0' "
	          "diaginertia='0 0 0'/><body name='b2'><joint name='y' axis='0 1 0' pos='.1 0 0'/><inertial pos='0 0 0' "
	          "mass='0' diaginertia='0 0 0'/><body name='b'><joint name='x' type='slide' axis='1 0 0'/><geom "
	          "type='box' size='.1 .2 .3' pos='.3 0 0'/></body></body></body>"));
	assert_int_equal(cal_model_u_count(stack.model), 3);
	double M[2][9];
	Robot *robots[2] = {&stack, &chain};
	for (int i = 0; i < 2; i++) {
		*robot_q(robots[i], "z", 0) = .4;
		*robot_q(robots[i], "y", 0) = -.7;
		*robot_q(robots[i], "x", 0) = .2;
		assert_int_equal(cal_mass_matrix(robots[i]->model, &robots[i]->state, robots[i]->work, M[i]), CAL_OK);
	}
	for (int i = 0; i < 9; i++)
		expect_near("M", M[0][i], M[1][i]);
	// b = Rz (p + Ry ((x, 0, 0) - p)), p = (.1, 0, 0)
	const double along = .1 + cos(.7) * .1;
	robot_expect_at(&stack, "b", (CalVec3){cos(.4) * along, sin(.4) * along, 1 + sin(.7) * .1},
	                (CalVec3){cos(.4) * cos(.7), sin(.4) * cos(.7), sin(.7)});
	robot_close(&stack);
	robot_close(&chain);
	stack = robot_of(
		WORLD("<body name='b'><joint type='slide' axis='1 0 0'/><joint type='slide' axis='0 1 0'/><joint type='slide'/>"
	          "<joint type='ball'/>" UNIT "</body>"));
	assert_int_equal(cal_model_u_count(stack.model), 6);
	robot_close(&stack);
	robot_refuse(WORLD("<body><joint type='ball'/><joint/>" UNIT "</body>"), "follow a ball");
	robot_refuse(WORLD("<body><freejoint/><joint/>" UNIT "</body>"), "free joint");
	robot_refuse(WORLD("<body><body><freejoint/>" UNIT "</body></body>"), "world only");
	robot_refuse(WORLD("<joint/>"), "the world cannot have joints");
	robot_refuse(WORLD("<body><joint axis='0 0 0'/>" UNIT "</body>"), "axis");
}

/* M21, M31: <freejoint> has no defaults; armature is on every degree of freedom of its joint. */
static void free_joints_differ_in_defaults(void **state) {
	(void)state;
	Robot r =
		robot_of(MJCF("<default><joint armature='1'/></default><worldbody><body pos='1 2 3'><freejoint name='f'/>" UNIT
	                  "</body><body><joint name='j' type='free'/>" UNIT
	                  "</body><body><joint name='b' type='ball'/>" UNIT "</body></worldbody>"));
	for (int i = 0; i < 6; i++) {
		expect_near("freejoint", dof_of(&r, "f", i).reflected_inertia, 0);
		expect_near("free", dof_of(&r, "j", i).reflected_inertia, 1);
	}
	expect_near("ball", dof_of(&r, "b", 2).reflected_inertia, 1);
	expect_near("x", *robot_q(&r, "f", 0), 1);
	expect_near("z", *robot_q(&r, "f", 2), 3);
	robot_close(&r);
}

/* M22: time constant and damping ratio, with the inertia at qpos0: here 1 + 1 x 2^2 + .5. */
static void springdamper_sees_the_inertia(void **state) {
	(void)state;
	Robot r = robot_of(
		WORLD("<body><joint name='j' springdamper='.1 .5' stiffness='9' damping='9' armature='.5'/><inertial pos='2 0 "
	          "0' mass='1' diaginertia='1 1 1'/></body>"));
	expect_near("stiffness", dof_of(&r, "j", 0).stiffness, 5.5 / (.01 * .25));
	expect_near("damping", dof_of(&r, "j", 0).damping, 2 * 5.5 / .1);
	robot_close(&r);
}

/* M22: the inertia that a joint feels with all others free, 1/(M^-1)_ii: of a slide of 1 + 2 kg under a slide of 2 kg at 60
 * degrees, M = [3, 1; 1, 2] and 1/(M^-1) = 5/2 and 5/3; of a ball the mean of (M^-1)_ii. Not the 3 and 2 of M itself. */
static void springdamper_leaves_other_joints_free(void **state) {
	(void)state;
	Robot r = robot_of(WORLD(
		"<body><joint name='a' type='slide' axis='1 0 0' springdamper='.1 .5'/><inertial pos='0 0 0' mass='1' "
		"diaginertia='1 1 1'/><body><joint name='b' type='slide' axis='1 0 1.7320508075688772' springdamper='.2 1'/><inertial "
		"pos='0 0 0' mass='2' diaginertia='1 1 1'/></body></body><body><joint name='c' type='ball' springdamper='.1 1'/>"
		"<inertial pos='0 0 0' mass='1' diaginertia='1 2 2'/></body>"));
	expect_near("stiffness a", dof_of(&r, "a", 0).stiffness, 2.5 / (.01 * .25));
	expect_near("damping a", dof_of(&r, "a", 0).damping, 2 * 2.5 / .1);
	expect_near("stiffness b", dof_of(&r, "b", 0).stiffness, (5. / 3) / .04);
	expect_near("stiffness c", dof_of(&r, "c", 1).stiffness, 3 / (1 + .5 + .5) / .01);
	robot_close(&r);
}

/* M12: a body without mass gets boundmass, with `pos` of the body for the center of mass: so does MuJoCo. */
static void bounded_masses_are_where_mujoco_puts_them(void **state) {
	(void)state;
	Robot r = robot_of(MJCF("<compiler boundmass='2' boundinertia='.5'/><worldbody><body name='a' pos='1 2 3'><joint "
	                        "name='j'/></body></worldbody>"));
	const CalBodyDef *body = cal_desc_body(cal_setup_desc(r.setup), cal_desc_find_body(cal_setup_desc(r.setup), "a"));
	expect_near("mass", body->mass, 2);
	expect_near("x", body->com.x, 1);
	expect_near("z", body->com.z, 3);
	expect_near("inertia", body->inertia.m[1][1], .5);
	robot_close(&r);
	// in a frame, too, it is the attribute itself
	r = robot_of(
		MJCF("<compiler boundmass='2' boundinertia='.5'/><worldbody><frame pos='10 0 0' euler='0 0 90'><body name='a' "
	         "pos='1 2 3'><joint/></body></frame></worldbody>"));
	const CalDesc *desc = cal_setup_desc(r.setup);
	const CalVec3 com = cal_desc_body(desc, cal_desc_find_body(desc, "a"))->com;
	expect_near("x in a frame", com.x, 1);
	expect_near("y in a frame", com.y, 2);
	robot_close(&r);
}

/* With inertiafromgeom="true", too, an <inertial> counts where no geom of the groups has mass. */
static void inertials_stand_without_geoms(void **state) {
	(void)state;
	Robot r = robot_of(MJCF(
		"<compiler inertiafromgeom='true' inertiagrouprange='0 2'/><worldbody><body name='a'><joint/><inertial "
		"pos='1 0 0' mass='3' diaginertia='1 1 1'/><geom size='.1' group='3'/><geom size='.1' mass='0'/></body><body "
		"name='b' pos='1 0 0'><joint/><inertial pos='1 0 0' mass='3' diaginertia='1 1 1'/><geom size='.1' mass='2'/>"
		"<geom size='.1' mass='.5'/></body></worldbody>"));
	expect_mass(&r, "a", 3);
	expect_inertia(&r, "a", (double[]){1, 1, 1, 0, 0, 0});
	expect_mass(&r, "b", 2.5);
	robot_close(&r);
}

/* Friction of contact is sliding friction; what else a file asks for is named. */
static void rolling_friction_is_named(void **state) {
	(void)state;
	Robot r = robot_of(
		MJCF("<worldbody><geom type='plane' size='1 1 1'/><body name='a' pos='0 0 1'><freejoint/><geom name='g' "
	         "size='.1' condim='6' friction='1 .1 .1'/></body></worldbody>"));
	robot_expect_note(&r, CAL_IMPORT_CHANGED, "geom \"g\"", "condim of 1 geom is above 3");
	robot_close(&r);
}

/* A default class of muscles makes its general actuators muscles. */
static void default_muscles_are_inherited(void **state) {
	(void)state;
	Robot r = robot_with(MJCF("<default><default class='m'><muscle/></default></default><worldbody><body><joint "
	                          "name='j'/>" UNIT "</body></worldbody><actuator><general name='g' class='m' joint='j'/>"
	                          "<motor name='n' class='m' joint='j'/></actuator>"),
	                     &(CalReadOptions){.partial = 1});
	robot_expect_note(&r, CAL_IMPORT_IGNORED, "muscle", "no actuator of this kind");
	robot_expect_note(&r, CAL_IMPORT_MISSING, "general \"g\"", "no actuator of this kind");
	assert_int_equal(cal_setup_device_count(r.setup), 1);
	robot_close(&r);
}

/* M34: polynomials, the quadratic term of damping against the motion. */
static void springs_and_dampers_may_be_polynomials(void **state) {
	(void)state;
	Robot r =
		robot_of(WORLD("<body><joint name='j' damping='1 .1 .01' stiffness='3 .2 .02' springref='0'/>" UNIT "</body>"));
	*robot_q(&r, "j", 0) = 2;
	r.state.u[0] = -3;
	expect_near("damping", dof_of(&r, "j", 0).damping, 1);
	expect_near("damper", output_of(&r, "j_damping", 0), .1 * 9 + .01 * 27);
	expect_near("spring", output_of(&r, "j_spring", 0), -.2 * 4 - .02 * 8);
	robot_close(&r);
}

/* ---- equalities, tendons, actuators --------------------------------------------------------------------------- */

/* M23, M26: the point on the second body is found at qpos0, with refs; several sections are one. */
static void connect_ties_what_meets_at_qpos0(void **state) {
	(void)state;
	Robot r = robot_of(
		MJCF("<worldbody><body name='a'><joint name='j' ref='30'/>" UNIT "<site name='s' pos='1 0 0'/></body><body "
	         "name='b' pos='2 1 0' euler='0 0 90'><joint name='k' ref='-10'/>" UNIT "</body></worldbody><equality>"
	         "<connect body1='a' body2='b' anchor='1 0 0'/></equality><equality><weld name='w' body1='b' active="
	         "'false'/></equality>"));
	const CalDesc *desc = cal_setup_desc(r.setup);
	const CalLoopDef *loop = cal_desc_loop(desc, cal_desc_find_loop(desc, "a_b"), NULL, NULL);
	assert_int_equal(loop->type, CAL_LOOP_SPHERICAL);
	expect_near("a", loop->a.position.x, 1);
	expect_near("b", loop->b.position.x, -1); // (1, 0) - (2, 1) = (-1, -1), in axes (0, 1), (-1, 0)
	expect_near("b", loop->b.position.y, 1);
	assert_int_equal(cal_setup_open_loop_count(r.setup), 1);
	robot_expect_note(&r, CAL_IMPORT_CHANGED, "equality", "rigid");
	robot_close(&r);
}

/* Of spheres the distance of the centers; of other geoms it is missing. */
static void distances_of_spheres_are_rods(void **state) {
	(void)state;
#define SPHERES(type, distance)                                                                                               \
	MJCF(                                                                                                                     \
		"<worldbody><geom name='g' size='.1' pos='0 0 1'/><body name='a' pos='0 0 .2'><freejoint/><geom name='h' type='" type \
		"' size='.2 .2 .2' pos='0 0 .1' mass='1'/></body></worldbody><equality><distance geom1='g' geom2='h' "                \
		"distance='" distance "'/></equality>")
	Robot r = robot_of(SPHERES("sphere", ".4"));
	const CalDesc *desc = cal_setup_desc(r.setup);
	const CalLoopDef *loop = cal_desc_loop(desc, cal_desc_find_loop(desc, "ground_a"), NULL, NULL);
	assert_int_equal(loop->type, CAL_LOOP_DISTANCE);
	expect_near("length", loop->length, .1 + .4 + .2);
	expect_near("a", loop->a.position.z, 1);
	expect_near("b", loop->b.position.z, .1);
	robot_expect_note(&r, CAL_IMPORT_CHANGED, "equality", "rigid");
	robot_close(&r);
	robot_refuse(SPHERES("box", ".4"), "--partial");
	robot_refuse(SPHERES("sphere", "-.4"), "apart");
	robot_refuse(MJCF("<worldbody><body name='a'><freejoint/><geom name='h' size='.2'/></body></worldbody><equality>"
	                  "<distance geom1='h'/></equality>"),
	             "geom2");
#undef SPHERES
}

/* M24: y - y0 = a0 + a1 (x - x0) about qpos0; without joint2 y = y0 + a0; other polynomials are missing. */
static void joint_equalities_are_about_qpos0(void **state) {
	(void)state;
	Robot r = robot_of(MJCF(
		"<compiler angle='radian'/><worldbody><body><joint name='y' ref='.3'/>" UNIT "</body><body><joint name='x' "
		"ref='.2'/>" UNIT "</body><body><joint name='z' ref='.1'/>" UNIT "</body></worldbody><equality><joint "
		"joint1='y' joint2='x' polycoef='.5 2'/><joint joint1='z' polycoef='.7 9'/></equality>"));
	const CalDesc *desc = cal_setup_desc(r.setup);
	const CalLoopDef *two = cal_desc_loop(desc, (CalLoopId){1}, NULL, NULL),
					 *one = cal_desc_loop(desc, (CalLoopId){2}, NULL, NULL);
	assert_int_equal(two->term_count, 2);
	expect_near("factor", two->term[0].factor, 1);
	expect_near("factor", two->term[1].factor, -2);
	expect_near("offset", two->drive[0].offset, .3 + .5 - 2 * .2);
	assert_int_equal(one->term_count, 1);
	expect_near("offset", one->drive[0].offset, .1 + .7);
	robot_close(&r);
	robot_refuse(MJCF("<worldbody><body><joint name='y'/>" UNIT
	                  "</body></worldbody><equality><joint joint1='y' polycoef='0 1 1'/>"
	                  "</equality>"),
	             "--partial");
	robot_refuse(MJCF("<worldbody><body><joint name='knee'/>" UNIT
	                  "</body></worldbody><equality><joint joint1='kne'/></equality>"),
	             "did you mean \"knee\"");
}

/* Fixed tendons: springs by their length, actuators by their coefficients, equalities as couplings. */
static void fixed_tendons_are_sums_of_joints(void **state) {
	(void)state;
	Robot r = robot_of(MJCF(
		"<worldbody><body><joint name='a'/>" UNIT "</body><body><joint name='b'/>" UNIT "</body></worldbody><tendon>"
		"<fixed name='t' stiffness='10' springlength='.1'><joint joint='a' coef='2'/><joint joint='b' coef='-1'/>"
		"</fixed></tendon><actuator><motor name='m' tendon='t' gear='3'/></actuator><equality><tendon tendon1='t' "
		"polycoef='.5'/></equality><keyframe><key name='home' qpos='.3 .2' ctrl='1'/></keyframe>"));
	const double force = -10 * (2 * .3 - .2 - .1);
	expect_near("on a", output_of(&r, "t_a", 0), 2 * force);
	expect_near("on b", output_of(&r, "t_b", 0), -force);
	expect_near("motor on a", output_of(&r, "m_a", 0), 6);
	expect_near("motor on b", output_of(&r, "m_b", 0), -3);
	const CalLoopDef *loop = cal_desc_loop(cal_setup_desc(r.setup), (CalLoopId){1}, NULL, NULL);
	assert_int_equal(loop->term_count, 2);
	expect_near("offset", loop->drive[0].offset, .5);
	robot_close(&r);
}

/* Servos: gain and bias with the gear on both sides, limits of force, damping ratio; wrenches on sites. */
static void actuators_are_loads(void **state) {
	(void)state;
	Robot r = robot_of(MJCF(
		"<worldbody><body name='p'><joint name='j' armature='3'/>" UNIT "<site name='s'/></body></worldbody><actuator>"
		"<position name='p' joint='j' kp='10' kv='2' gear='3'/><velocity name='v' joint='j' kv='5'/><general "
		"name='g' joint='j' gainprm='2' biastype='affine' biasprm='1 -3 -4'/><position name='f' joint='j' kp='1000' "
		"forcerange='-5 5'/><position name='d' joint='j' kp='100' dampratio='.5'/><motor name='s' site='s' gear='1 2 "
		"3 4 5 6'/><damper name='b' joint='j' kv='2' ctrlrange='0 9'/></actuator><keyframe><key name='home' qpos='.2' "
		"qvel='.7' ctrl='1 2 3 4 .2 2 4'/></keyframe>"));
	expect_near("position", output_of(&r, "p", 0), 3 * (10 * (1 - 3 * .2) - 2 * 3 * .7));
	expect_near("velocity", output_of(&r, "v", 0), 5 * (2 - .7));
	expect_near("general", output_of(&r, "g", 0), 2 * 3 + 1 - 3 * .2 - 4 * .7);
	expect_near("force range", output_of(&r, "f", 0), 5);
	expect_near("damping ratio", output_of(&r, "d", 0), -.5 * 2 * sqrt(100 * 4) * .7);
	expect_near("fx", output_of(&r, "s", 4), 2);
	expect_near("mz", output_of(&r, "s", 3), 12);
	expect_near("damper", output_of(&r, "b", 0), -2 * 4 * .7);
	robot_close(&r);
}

/* Of several things, as in MuJoCo, the last one of its list: here the site. */
static void actuators_act_on_one_thing(void **state) {
	(void)state;
	Robot r =
		robot_of(MJCF("<worldbody><body name='p'><joint name='j'/>" UNIT "<site name='s'/></body></worldbody><actuator>"
	                  "<motor name='a' joint='j' site='s' gear='0 0 2'/><motor name='b' joint='j' refsite='s'/>"
	                  "</actuator><keyframe><key name='home' ctrl='3 5'/></keyframe>"));
	robot_expect_note(&r, CAL_IMPORT_IGNORED, "motor \"a\" @joint", "its site");
	robot_expect_note(&r, CAL_IMPORT_IGNORED, "motor \"b\" @refsite", "beside a site");
	expect_near("fz of the first", output_of(&r, "a", 6), 6);
	expect_near("second", output_of(&r, "b", 0), 5);
	robot_close(&r);
}

/* MuJoCo limits the effort that a joint feels of all actuators, also of forces at sites. */
static void forces_at_sites_are_not_limited_by_joints(void **state) {
	(void)state;
	Robot r =
		robot_of(MJCF("<worldbody><body><joint name='j' actuatorfrcrange='-1 1'/>" UNIT "<body><joint name='k'/>" UNIT
	                  "<site name='s'/></body></body></worldbody><actuator><motor name='a' site='s'/></actuator>"));
	robot_expect_note(&r, CAL_IMPORT_CHANGED, "motor \"a\" @site", "joint \"j\"");
	robot_close(&r);
}

/* Belts and glue, of MuJoCo 3.11. */
static void surfaces_that_act_are_missing(void **state) {
	(void)state;
	static const struct {
		const char *text, *element;
	} cases[] = {
		{WORLD("<body><freejoint/><geom name='g' size='.1' surfacevel='0 0 0 1'/></body>"), "geom \"g\" @surfacevel"},
		{WORLD("<body><freejoint/><geom name='g' size='.1' adhesion='2'/></body>"), "geom \"g\" @adhesion"},
		{MJCF(
			 "<default><geom adhesion='2'/></default><worldbody><body><freejoint/><geom size='.1'/></body></worldbody>"),
	     "geom @adhesion"},
		{MJCF("<worldbody><geom name='f' type='plane' size='1 1 1'/><body><freejoint/><geom name='g' size='.1'/></body>"
	          "</worldbody><contact><pair name='p' geom1='f' geom2='g' adhesion='1'/></contact>"),
	     "pair \"p\" @adhesion"},
	};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		robot_refuse(cases[i].text, "--partial");
		Robot r = robot_with(cases[i].text, &(CalReadOptions){.partial = 1});
		robot_expect_note(&r, CAL_IMPORT_MISSING, cases[i].element, "Calder has no");
		robot_close(&r);
	}
	Robot r = robot_of(WORLD("<body><freejoint/><geom size='.1' surfacevel='0 0 0' adhesion='0'/></body>"));
	robot_close(&r);
}

/* Steps and methods that a run does not have are named; RK4 is as in the file. */
static void steps_of_other_methods_are_named(void **state) {
	(void)state;
#define OPTION(attributes) MJCF("<option " attributes "/><worldbody><body><freejoint/>" UNIT "</body></worldbody>")
	Robot r = robot_of(OPTION("timestep='.01' integrator='implicitfast'"));
	robot_expect_note(&r, CAL_IMPORT_CHANGED, "option @timestep", "RK4");
	robot_expect_note(&r, CAL_IMPORT_CHANGED, "option @integrator", "default method");
	robot_close(&r);
	r = robot_of(OPTION("timestep='.01' integrator='RK4'"));
	assert_int_equal(cal_setup_run(r.setup).method.method, CAL_METHOD_RK4);
	expect_near("step", cal_setup_run(r.setup).method.step, .01);
	for (int i = 0; i < cal_setup_import_note_count(r.setup); i++) {
		CalImportNote note;
		assert_int_equal(cal_setup_import_note(r.setup, i, &note), CAL_OK);
		assert_null(strstr(note.element, "@timestep"));
	}
	robot_close(&r);
	robot_refuse(OPTION("gravity='0 0 -1e51'"), "1:9: error: gravity (0, 0, -1e+51) m/s^2 is more");
#undef OPTION
}

/* M32: the sum of all actuators on a joint is limited. */
static void joints_limit_the_sum_of_actuators(void **state) {
	(void)state;
	Robot r = robot_of(MJCF(
		"<worldbody><body><joint name='j' actuatorfrcrange='-5 5'/>" UNIT "</body></worldbody><actuator><motor "
		"name='a' joint='j'/><motor name='b' joint='j'/></actuator><keyframe><key name='home' ctrl='4 3'/></keyframe>"));
	expect_near("sum", output_of(&r, "j_actuators", 0), 5);
	assert_null(device_of(&r, "a"));
	robot_close(&r);
}

/* ---- frames and replicas --------------------------------------------------------------------------------------- */

/* M27: frames place joints too. */
static void frames_place_what_is_inside(void **state) {
	(void)state;
	Robot r = robot_of(
		WORLD("<frame pos='1 0 0' euler='0 0 90'><frame pos='1 0 0'><body name='b' pos='0 1 0'><frame euler='0 90 0'>"
	          "<joint name='j' axis='0 0 1' pos='0 0 1'/></frame>" UNIT "</body></frame></frame>"));
	// at (1, 0) + Rz90 (1, 1) = (0, 1), x along y; the joint is about the body's x at (1, 0, 0) in it
	robot_expect_at(&r, "b", (CalVec3){0, 1, 0}, (CalVec3){0, 1, 0});
	*robot_q(&r, "j", 0) = PI / 2;
	robot_expect_at(&r, "b", (CalVec3){0, 1, 0}, (CalVec3){0, 1, 0});
	expect_near("y of b", robot_pose(&r, "b").R.m[2][1], 1);
	robot_close(&r);
}

/* M27: numbers of as many digits as the count, inner ones first; each replica is placed in the one before it. */
static void replicas_are_numbered_and_placed(void **state) {
	(void)state;
	Robot r = robot_of(
		MJCF("<worldbody><replicate count='4' offset='1 0 0' euler='0 0 90'><body name='b'><joint name='j'/>" UNIT
	         "<replicate count='2' sep='-' offset='0 0 1'><site name='s'/></replicate></body></replicate></worldbody>"
	         "<actuator><motor name='m' joint='j'/></actuator>"));
	robot_expect_at(&r, "b0", (CalVec3){0, 0, 0}, x_axis);
	robot_expect_at(&r, "b1", (CalVec3){1, 0, 0}, (CalVec3){0, 1, 0});
	robot_expect_at(&r, "b2", (CalVec3){1, 1, 0}, (CalVec3){-1, 0, 0});
	robot_expect_at(&r, "b3", (CalVec3){0, 1, 0}, (CalVec3){0, -1, 0});
	robot_expect_at(&r, "b3/s-13", (CalVec3){0, 1, 1}, (CalVec3){0, -1, 0});
	assert_non_null(device_of(&r, "m2"));
	assert_int_equal(cal_setup_device_count(r.setup), 4);
	robot_close(&r);
	r = robot_of(WORLD("<replicate count='10'><body name='b'>" UNIT "</body></replicate>"));
	assert_true(cal_model_find_body(r.model, "b07") >= 0);
	robot_close(&r);
}

/* ---- states, mocap, weight ------------------------------------------------------------------------------------- */

/* M28: "home" is the start; short vectors keep the rest; other keyframes are named. */
static void home_is_the_start(void **state) {
	(void)state;
	Robot r = robot_of(
		MJCF("<worldbody><body pos='0 0 1'><freejoint name='f'/>" UNIT "</body><body><joint name='j' ref='90'/>" UNIT
	         "</body></worldbody><keyframe><key name='other' qpos='9'/><key name='home' qpos='1 2 3 0 2 0 0' qvel='4'/>"
	         "</keyframe>"));
	const double q[7] = {1, 2, 3, 0, 1, 0, 0};
	for (int i = 0; i < 7; i++)
		expect_near("f", *robot_q(&r, "f", i), q[i]);
	expect_near("j", *robot_q(&r, "j", 0), PI / 2);
	expect_near("speed", r.state.u[0], 4);
	robot_expect_note(&r, CAL_IMPORT_IGNORED, "other", "home");
	robot_close(&r);
	robot_refuse(
		MJCF("<worldbody><body><joint/>" UNIT "</body></worldbody><keyframe><key name='home' qpos='1 2'/></keyframe>"),
		"qpos");
}

/* M29: a mocap body rests until it is moved, whatever is welded to it. */
static void mocap_bodies_are_prescribed(void **state) {
	(void)state;
	Robot r = robot_of(WORLD("<body name='m' mocap='true' pos='1 2 3'><geom size='.1'/></body>"));
	for (int i = 0; i < 6; i++)
		assert_true(dof_of(&r, "m", i).prescribed);
	robot_expect_at(&r, "m", (CalVec3){1, 2, 3}, x_axis);
	robot_close(&r);
	robot_refuse(WORLD("<body><body mocap='true'/></body>"), "child of the world");
}

/* M30: a force against the weight at the center of mass. */
static void gravcomp_is_a_force(void **state) {
	(void)state;
	Robot r = robot_of(MJCF(
		"<option gravity='0 0 -10'/><worldbody><body name='b' gravcomp='.5'><joint name='j' axis='0 1 0'/><inertial "
		"pos='2 0 0' mass='3' diaginertia='1 1 1'/></body></worldbody>"));
	expect_near("fz", output_of(&r, "b_gravcomp", 6), 15);
	expect_near("at", robot_pose(&r, "b/gravcomp").r.x, 2);
	robot_close(&r);
}

/* M35: bodies without joints keep place and mass, and their sites. */
static void static_bodies_stay(void **state) {
	(void)state;
	Robot r = robot_of(
		WORLD("<site name='w' pos='5 0 0'/><body name='base' pos='1 0 0'>" UNIT "<site name='s' pos='0 1 0'/><body "
	          "name='arm' pos='0 0 1'><joint name='j'/>" UNIT "<body name='tip' pos='0 2 0'><site name='head'/></body>"
	          "</body></body>"));
	robot_expect_at(&r, "base/s", (CalVec3){1, 1, 0}, x_axis);
	robot_expect_at(&r, "ground/w", (CalVec3){5, 0, 0}, x_axis);
	expect_mass(&r, "base", 1);
	*robot_q(&r, "j", 0) = PI / 2;
	robot_expect_at(&r, "tip/head_2", (CalVec3){-1, 0, 1}, (CalVec3){0, 1, 0});
	robot_expect_note(&r, CAL_IMPORT_CHANGED, "head", "head_2");
	robot_close(&r);
}

/* ---- contact ---------------------------------------------------------------------------------------------------- */

static bool shapes_touch(const CalContactDef *def, const char *a, const char *b) {
	const CalShapeDef *x = NULL, *y = NULL;
	for (int i = 0; def && i < def->shape_count; i++) {
		x = strcmp(def->shapes[i].name, a) == 0 ? &def->shapes[i] : x;
		y = strcmp(def->shapes[i].name, b) == 0 ? &def->shapes[i] : y;
	}
	return x && y && (x->layers & y->mask) && (y->layers & x->mask);
}

/* M33: parent and child do not touch, unless the parent is fixed; bits of either side suffice; exclude names bodies. */
static void pairs_touch_by_the_rules(void **state) {
	(void)state;
	Robot r = robot_of(MJCF(
		"<worldbody><geom name='floor' type='plane' pos='0 0 -9'/><body name='base'><geom name='base' size='.1'/><body "
		"name='a' pos='1 0 0'><joint/><geom name='a' size='.1'/><body name='pad'><geom name='pad' size='.1'/></body>"
		"<body name='b' pos='1 0 0'><joint/><geom name='b' size='.1' contype='0' conaffinity='1'/></body></body><body "
		"name='c' pos='0 1 0'><joint/><geom name='c' size='.1' contype='2' conaffinity='2'/><geom name='d' size='.1' "
		"contype='0' conaffinity='0' mass='0'/></body><body name='e' pos='0 5 0'><joint/><geom name='e' size='.1'/>"
		"</body></body></worldbody><contact><exclude body1='e' body2='a'/></contact>"));
	const CalContactDef *def = device_of(&r, "contact");
	assert_non_null(def);
	assert_true(shapes_touch(def, "floor", "a"));
	assert_true(shapes_touch(def, "base", "a")); // base is fixed to the world
	assert_false(shapes_touch(def, "floor", "base"));
	assert_false(shapes_touch(def, "a", "b"));   // parent and child
	assert_false(shapes_touch(def, "pad", "b")); // the pad is welded to the parent
	assert_false(shapes_touch(def, "a", "pad"));
	assert_true(shapes_touch(def, "b", "e"));   // contype of one meets conaffinity of the other
	assert_false(shapes_touch(def, "a", "c"));  // no common bits
	assert_false(shapes_touch(def, "a", "e"));  // excluded
	assert_true(shapes_touch(def, "pad", "e")); // but the pad is another body
	assert_false(shapes_touch(def, "d", "floor"));
	robot_close(&r);
}

/* In how many contact devices two shapes may touch. */
static int touching_devices(const Robot *r, const char *a, const char *b, int *devices) {
	const char *type;
	const void *def;
	int count = 0;
	*devices = 0;
	for (int i = 0; cal_setup_device(r->setup, i, &type, NULL, &def) == CAL_OK; i++)
		if (strcmp(type, "contact") == 0) {
			count += shapes_touch(def, a, b);
			(*devices)++;
		}
	return count;
}

/* `walls` bodies that are fixed to the world, and a tree of `links` in which each carries two. */
static void append_links(char **at, int i, int links) {
	*at += sprintf(*at, "<body name='%d' pos='0 0 %d'><joint/><geom name='%d' size='.1'/>", i, i, i);
	for (int child = 2 * i + 1; child <= 2 * i + 2 && child < links; child++)
		append_links(at, child, links);
	*at += sprintf(*at, "</body>");
}

static void expect_tree_touches(int walls, int links, int devices) {
	enum { LARGEST = 100 };
	static char text[100 * LARGEST];
	char *at = text + sprintf(text, "<mujoco><worldbody>");
	assert_true(walls + links <= LARGEST);
	for (int i = 0; i < walls; i++)
		at += sprintf(at, "<body pos='9 0 %d'><geom name='w%d' size='.1'/></body>", i, i);
	append_links(&at, 0, links);
	sprintf(at, "</worldbody></mujoco>");
	Robot r = robot_of(text);
	for (int i = 0; i < walls + links; i++)
		for (int k = 0; k < i; k++) {
			char a[16], b[16];
			int found;
			const bool fixed = i < walls && k < walls, kin = k >= walls && (i - walls - 1) / 2 == k - walls;
			snprintf(a, sizeof a, i < walls ? "w%d" : "%d", i < walls ? i : i - walls);
			snprintf(b, sizeof b, k < walls ? "w%d" : "%d", k < walls ? k : k - walls);
			assert_int_equal(touching_devices(&r, a, b, &found), fixed || kin ? 0 : 1);
			assert_int_equal(found, devices);
		}
	robot_close(&r);
}

/* Layers have 32 bits: more bodies share them, and many that refuse each other are spread over devices. */
static void pairs_of_many_bodies_touch_once(void **state) {
	(void)state;
	expect_tree_touches(1, 31, 1);
	expect_tree_touches(0, 100, 1);
	expect_tree_touches(2, 60, 1);
	expect_tree_touches(20, 30, 6);
}

int main(void) {
	NEEDS_EXPAT();
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(degrees_are_for_angles_only),
		cmocka_unit_test(slides_have_no_degrees),
		cmocka_unit_test(the_last_compiler_counts),
		cmocka_unit_test(euler_angles_follow_their_sequence),
		cmocka_unit_test(axes_give_orientations),
		cmocka_unit_test(classes_replace_each_other),
		cmocka_unit_test(kinds_have_defaults_of_their_own),
		cmocka_unit_test(inertials_beat_geoms_unless_asked),
		cmocka_unit_test(geoms_of_groups_count),
		cmocka_unit_test(shells_have_mass_per_area),
		cmocka_unit_test(geoms_do_not_move_inertials),
		cmocka_unit_test(tensors_have_their_axes),
		cmocka_unit_test(masses_are_repaired_in_order),
		cmocka_unit_test(shapes_have_half_lengths),
		cmocka_unit_test(ranges_limit_as_asked),
		cmocka_unit_test(joints_stand_in_their_body),
		cmocka_unit_test(joints_of_a_body_follow_each_other),
		cmocka_unit_test(free_joints_differ_in_defaults),
		cmocka_unit_test(springdamper_sees_the_inertia),
		cmocka_unit_test(springdamper_leaves_other_joints_free),
		cmocka_unit_test(bounded_masses_are_where_mujoco_puts_them),
		cmocka_unit_test(inertials_stand_without_geoms),
		cmocka_unit_test(default_muscles_are_inherited),
		cmocka_unit_test(rolling_friction_is_named),
		cmocka_unit_test(springs_and_dampers_may_be_polynomials),
		cmocka_unit_test(connect_ties_what_meets_at_qpos0),
		cmocka_unit_test(distances_of_spheres_are_rods),
		cmocka_unit_test(joint_equalities_are_about_qpos0),
		cmocka_unit_test(fixed_tendons_are_sums_of_joints),
		cmocka_unit_test(actuators_are_loads),
		cmocka_unit_test(actuators_act_on_one_thing),
		cmocka_unit_test(forces_at_sites_are_not_limited_by_joints),
		cmocka_unit_test(surfaces_that_act_are_missing),
		cmocka_unit_test(steps_of_other_methods_are_named),
		cmocka_unit_test(joints_limit_the_sum_of_actuators),
		cmocka_unit_test(frames_place_what_is_inside),
		cmocka_unit_test(replicas_are_numbered_and_placed),
		cmocka_unit_test(home_is_the_start),
		cmocka_unit_test(mocap_bodies_are_prescribed),
		cmocka_unit_test(gravcomp_is_a_force),
		cmocka_unit_test(static_bodies_stay),
		cmocka_unit_test(pairs_touch_by_the_rules),
		cmocka_unit_test(pairs_of_many_bodies_touch_once),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
