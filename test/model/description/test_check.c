// SPDX-License-Identifier: Apache-2.0
/*
 * test_check.c — desc_check_structure: each kind of mistake is found, and its message can be acted on.
 *
 * Each test makes one mistake and expects one finding that names the object, the place and the remedy or
 * likely cause. Valid limits (thin rods and plates, point masses, massless bodies) must pass in silence.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include <calder/model.h>

#include "support/failing_allocator.h"
#include "math/eigen3.h"
#include "model/description/desc.h"
#include "findings.h"

/* ---- findings ------------------------------------------------------------------------------ */

static Findings check(const CalDesc *desc, CalGroupId group) {
	Findings f = {0};
	CalStatus status = desc_check_structure(desc, group, findings_collect, &f);
	assert_int_equal(status, f.errors > 0 ? CAL_ERR_MODEL : CAL_OK);
	assert_int_equal(desc_check_structure(desc, group, NULL, NULL), status);
	return f;
}

static void assert_says(const Findings *f, const char *part) {
	if (!strstr(f->text, part)) {
		print_error("\"%s\"\ndoes not say \"%s\"\n", f->text, part);
	}
	assert_non_null(strstr(f->text, part));
}

/* With these parts in its text, the last of them NULL; ends the description. */
__attribute__((sentinel)) static void assert_one_error(CalDesc *desc, ...) {
	va_list parts;
	Findings f = check(desc, (CalGroupId){0});
	assert_findings(&f, 1, 0);
	va_start(parts, desc);
	for (const char *part; (part = va_arg(parts, const char *));)
		assert_says(&f, part);
	va_end(parts);
	cal_desc_destroy(desc);
}

/* ---- building ------------------------------------------------------------------------------ */

static CalDesc *desc_new(void) {
	CalDesc *desc = NULL;
	assert_int_equal(cal_desc_create(NULL, &desc), CAL_OK);
	return desc;
}

static CalMat3 diagonal(double xx, double yy, double zz) { return (CalMat3){{{xx, 0, 0}, {0, yy, 0}, {0, 0, zz}}}; }

static CalBodyDef body_def(const char *name) {
	CalBodyDef def = cal_body_def();
	def.name = name;
	def.place = "arm.yaml:3:3";
	def.mass = 1;
	def.inertia = diagonal(1, 1, 1);
	return def;
}

static CalNodeId add(CalDesc *desc, const char *name) {
	CalBodyDef def = body_def(name);
	CalBodyId id;
	assert_int_equal(cal_desc_add_body(desc, &def, &id, NULL), CAL_OK);
	return cal_desc_body_node(desc, id);
}

static void attach_def(CalDesc *desc, CalNodeId inboard, CalJointDef def, const char *name, const char *place,
                       CalNodeId outboard) {
	CalError error = {0};
	def.name = name;
	def.place = place;
	CalStatus status = cal_desc_attach(desc, inboard, &def, outboard, NULL, &error);
	if (status != CAL_OK) {
		print_error("%s\n", error.text);
	}
	assert_int_equal(status, CAL_OK);
}

static void attach(CalDesc *desc, CalNodeId inboard, const char *name, const char *place, CalNodeId outboard) {
	attach_def(desc, inboard, cal_joint_def(CAL_JOINT_REVOLUTE), name, place, outboard);
}

static const CalNodeId ground = {0};
static const CalGroupId all = {0};

/** Findings about one body with this definition, held by a free joint. */
static Findings check_body(const CalBodyDef *def) {
	CalDesc *desc = desc_new();
	CalBodyId id;
	assert_int_equal(cal_desc_add_body(desc, def, &id, NULL), CAL_OK);
	attach_def(desc, ground, cal_joint_def(CAL_JOINT_FREE), "base", NULL, cal_desc_body_node(desc, id));
	Findings f = check(desc, all);
	cal_desc_destroy(desc);
	return f;
}

/** Findings about one body with this inertia. */
static Findings check_inertia(CalMat3 inertia) {
	CalBodyDef def = body_def("boom2");
	def.inertia = inertia;
	return check_body(&def);
}

/** Findings about a joint with this definition. */
static Findings check_joint_def(CalJointDef joint) {
	CalDesc *desc = desc_new();
	attach_def(desc, ground, joint, "elbow", "arm.yaml:20:5", add(desc, "arm"));
	Findings f = check(desc, all);
	cal_desc_destroy(desc);
	return f;
}

/* ---- topology ------------------------------------------------------------------------------ */

static void a_sound_tree_passes_in_silence(void **state) {
	(void)state;
	CalDesc *desc = desc_new();
	CalNodeId a = add(desc, "a"), b = add(desc, "b"), c = add(desc, "c");
	attach(desc, a, "ab", NULL, b); // children may be attached before their parents
	attach(desc, a, "ac", NULL, c);
	attach(desc, ground, "base", NULL, a);
	Findings f = check(desc, all);
	assert_findings(&f, 0, 0);
	cal_desc_destroy(desc);
}

static void cycles_are_named_as_a_chain(void **state) {
	(void)state;
	CalDesc *desc = desc_new();
	CalNodeId a = add(desc, "a"), b = add(desc, "b"), c = add(desc, "c"), d = add(desc, "d");
	attach(desc, a, "ab", "arm.yaml:11:1", b);
	attach(desc, b, "bc", "arm.yaml:12:1", c);
	attach(desc, c, "ca", "arm.yaml:13:1", a);
	attach(desc, c, "cd", "arm.yaml:14:1", d); // child of the cycle, not part of it
	assert_one_error(desc, "arm.yaml:13:1: the attachments form a cycle of 3 bodies: a -> c -> b -> a",
	                 "such as \"ca\", must attach its body to the ground", NULL);
}

static void long_cycles_are_shortened(void **state) {
	(void)state;
	CalDesc *desc = desc_new();
	CalNodeId first = add(desc, "link_of_the_long_chain_0"), last = first;
	char name[64];
	for (int i = 1; i < 200; i++) {
		snprintf(name, sizeof name, "link_of_the_long_chain_%d", i);
		CalNodeId next = add(desc, name);
		attach(desc, last, name, NULL, next);
		last = next;
	}
	attach(desc, last, "closing", NULL, first);
	assert_one_error(desc, "cycle of 200 bodies: link_of_the_long_chain_0 -> link_of_the_long_chain_199 -> ",
	                 " -> ... -> link_of_the_long_chain_0 (each is the child of the next)", "outside the cycle\n",
	                 NULL);
}

static void two_parents_name_both_joints_and_places(void **state) {
	(void)state;
	CalDesc *desc = desc_new();
	CalNodeId a = add(desc, "a"), b = add(desc, "b"), c = add(desc, "c");
	attach(desc, ground, "ja", "arm.yaml:11:1", a);
	attach(desc, ground, "jb", "arm.yaml:12:1", b);
	attach(desc, a, "ac", "arm.yaml:13:1", c);
	attach(desc, b, "bc", "arm.yaml:14:1", c);
	assert_one_error(desc,
	                 "arm.yaml:14:1: body \"c\" has two parents: joint \"bc\" attaches it to \"b\", "
	                 "but joint \"ac\" (arm.yaml:13:1) attaches it to \"a\" already; remove one",
	                 NULL);
}

static void a_body_without_parent_names_the_free_joint(void **state) {
	(void)state;
	CalDesc *desc = desc_new();
	CalNodeId a = add(desc, "a"), b = add(desc, "b");
	attach(desc, a, "ab", NULL, b);
	assert_one_error(desc, "arm.yaml:3:3: body \"a\" is not attached to anything", "free joint", NULL);
}

static void a_joint_within_one_body_is_refused(void **state) {
	(void)state;
	CalDesc *desc = desc_new();
	CalNodeId a = add(desc, "a"), tip;
	CalNodeDef def = cal_node_def();
	def.name = "tip";
	assert_int_equal(cal_desc_add_node(desc, desc_node(desc, a)->body, &def, &tip, NULL), CAL_OK);
	attach(desc, tip, "self", "arm.yaml:12:1", a);
	assert_one_error(desc, "arm.yaml:12:1: joint \"self\": both of its nodes are on body \"a\"", NULL);
}

static void joints_stay_within_a_group(void **state) {
	(void)state;
	CalDesc *desc = desc_new();
	CalGroupDef group = cal_group_def();
	CalGroupId chaser;
	group.name = "chaser";
	assert_int_equal(cal_desc_add_group(desc, &group, &chaser, NULL), CAL_OK);
	CalNodeId a = add(desc, "a");
	CalBodyDef def = body_def("b");
	CalBodyId b;
	def.group = chaser;
	assert_int_equal(cal_desc_add_body(desc, &def, &b, NULL), CAL_OK);
	attach(desc, ground, "base", NULL, a);
	attach(desc, a, "port", "arm.yaml:12:1", cal_desc_body_node(desc, b));
	assert_one_error(desc,
	                 "arm.yaml:12:1: joint \"port\" connects body \"a\" of group \"main\" with body \"b\" of group "
	                 "\"chaser\"; put both",
	                 NULL);
}

static void other_groups_are_left_alone(void **state) {
	(void)state;
	CalDesc *desc = desc_new();
	CalGroupDef group = cal_group_def();
	CalGroupId chaser;
	group.name = "chaser";
	assert_int_equal(cal_desc_add_group(desc, &group, &chaser, NULL), CAL_OK);
	attach(desc, ground, "base", NULL, add(desc, "a"));
	CalBodyDef loose = body_def("loose");
	loose.group = chaser;
	loose.mass = -1;
	assert_int_equal(cal_desc_add_body(desc, &loose, NULL, NULL), CAL_OK);
	Findings f = check(desc, (CalGroupId){1});
	assert_findings(&f, 0, 0);
	f = check(desc, chaser);
	assert_findings(&f, 2, 0);
	f = check(desc, all);
	assert_findings(&f, 2, 0);
	cal_desc_destroy(desc);
}

/* ---- joints -------------------------------------------------------------------------------- */

static void negative_joint_properties_are_refused(void **state) {
	(void)state;
	CalJointDef joint = cal_joint_def(CAL_JOINT_UNIVERSAL);
	joint.dof[0].stiffness = -2;
	joint.dof[1].damping = -3;
	joint.dof[1].rotor_inertia = -4;
	Findings f = check_joint_def(joint);
	assert_findings(&f, 3, 0);
	assert_says(&f, "arm.yaml:20:5: joint \"elbow\": stiffness of degree of freedom 1 is -2; it must not be negative");
	assert_says(&f, "joint \"elbow\": damping of degree of freedom 2 is -3");
	assert_says(&f, "joint \"elbow\": rotor inertia of degree of freedom 2 is -4");
}

static void properties_of_absent_dofs_are_refused(void **state) {
	(void)state;
	CalJointDef joint = cal_joint_def(CAL_JOINT_REVOLUTE);
	joint.dof[2].prescribed = 1;
	Findings f = check_joint_def(joint);
	assert_findings(&f, 1, 0);
	assert_says(&f, "joint \"elbow\": properties are given for degree of freedom 3, but this revolute joint has 1");
	joint = cal_joint_def(CAL_JOINT_FREE);
	joint.dof[5].damping = 1;
	f = check_joint_def(joint);
	assert_findings(&f, 0, 0);
}

static CalJointDef sequence_of(int count, const CalElement *elements) {
	CalJointDef joint = cal_joint_def(CAL_JOINT_SEQUENCE);
	joint.element_count = count;
	memcpy(joint.elements, elements, (size_t)count * sizeof *elements);
	return joint;
}

static void sequences_must_be_made_of_elements(void **state) {
	(void)state;
	const CalVec3 x = {1, 0, 0}, y = {0, 1, 0}, z = {0, 0, 1};
	const CalElement ball = {.type = CAL_JOINT_SPHERICAL}, pin = {CAL_JOINT_REVOLUTE, x, 0};
	const CalElement slide_x = {CAL_JOINT_PRISMATIC, x, 0}, slide_y = {CAL_JOINT_PRISMATIC, y, 0};
	const CalElement slide_z = {CAL_JOINT_PRISMATIC, z, 0};
	CalJointDef weld = cal_joint_def(CAL_JOINT_SEQUENCE);
	Findings f = check_joint_def(weld);
	assert_findings(&f, 0, 0);
	f = check_joint_def(sequence_of(4, (CalElement[]){slide_x, slide_y, slide_z, ball}));
	assert_findings(&f, 0, 0);
	f = check_joint_def(sequence_of(2, (CalElement[]){ball, ball}));
	assert_findings(&f, 1, 0);
	assert_says(&f,
	            "joint \"elbow\": the sequence has 6 degrees of freedom and 8 coordinates, more than 6 and 7; split");
	f = check_joint_def(sequence_of(5, (CalElement[]){slide_x, slide_y, slide_z, pin, ball}));
	assert_findings(&f, 1, 0);
	assert_says(&f, "7 degrees of freedom");
	f = check_joint_def(sequence_of(1, (CalElement[]){{CAL_JOINT_PLANAR, z, 0}}));
	assert_findings(&f, 1, 0);
	assert_says(&f, "arm.yaml:20:5: joint \"elbow\": element 1 is of type \"planar\"; a sequence is made of revolute");
	f = check_joint_def(sequence_of(2, (CalElement[]){pin, {CAL_JOINT_REVOLUTE, {-2, 0, 0}, 0}}));
	assert_findings(&f, 1, 0);
	assert_says(&f, "elements 1 and 2 move about or along the same axis");
	f = check_joint_def(sequence_of(3, (CalElement[]){pin, slide_x, pin}));
	assert_findings(&f, 0, 0);
}

static void screws_without_pitch_are_suspicious(void **state) {
	(void)state;
	Findings f = check_joint_def(cal_joint_def(CAL_JOINT_SCREW));
	assert_findings(&f, 0, 1);
	assert_says(&f, "joint \"elbow\": a screw of zero pitch");
}

static void no_pose(const void *data, const double *q, CalPose *X_FJ) {
	(void)data;
	(void)q;
	(void)X_FJ;
}
static void no_columns(const void *data, const double *q, CalSpatial *S) {
	(void)data;
	(void)q;
	(void)S;
}
// NOLINTNEXTLINE(readability-non-const-parameter): the type is that of CalJointOps
static void no_move(const void *data, const double *q, const double *dq, double *out) {
	(void)data;
	(void)q;
	(void)dq;
	(void)out;
}

static Findings check_ops(const CalJointOps *ops) {
	CalJointDef joint = cal_joint_def(CAL_JOINT_USER);
	joint.ops = ops;
	return check_joint_def(joint);
}

static void user_joints_need_their_functions(void **state) {
	(void)state;
	Findings f = check_ops(NULL);
	assert_findings(&f, 1, 0);
	assert_says(&f, "joint \"elbow\": a user joint needs its functions; set ops");
	CalJointOps ops = {.name = "cam", .nq = 1, .nu = 1, .pose = no_pose, .columns = no_columns};
	f = check_ops(&ops);
	assert_findings(&f, 0, 0);
	ops.integrate = no_move;
	f = check_ops(&ops);
	assert_findings(&f, 0, 1);
	assert_says(&f, "only some of integrate, difference and rate");
	ops = (CalJointOps){.nq = 4, .nu = 3, .integrate = no_move};
	f = check_ops(&ops);
	assert_findings(&f, 5, 0);
	assert_says(&f, "has no name");
	assert_says(&f, "lacks the function pose");
	assert_says(&f, "lacks the function columns");
	assert_says(&f, "lacks the function difference, which is required where nq differs from nu");
	assert_says(&f, "lacks the function rate");
	ops = (CalJointOps){.name = "cam", .nq = 8, .nu = 7, .pose = no_pose, .columns = no_columns};
	f = check_ops(&ops);
	assert_findings(&f, 1, 0);
	assert_says(&f, "nu = 7 and nq = 8");
}

/* ---- mass properties ----------------------------------------------------------------------- */

static void possible_bodies_pass_in_silence(void **state) {
	(void)state;
	const double third = 1.0 / 3, c = cos(0.7), s = sin(0.7);
	const CalMat3 rod_askew = {{{s * s, -c * s, 0}, {-c * s, c * c, 0}, {0, 0, 1}}};
	const CalMat3 possible[] = {
		diagonal(1, 1, 2),               // plate
		diagonal(third, third, 2.0 / 3), // plate, to rounding
		diagonal(0, 1, 1),               // rod
		rod_askew,                       // rod in no axis' direction
		diagonal(0, 0, 0),               // point mass
		diagonal(2e-30, 3e-30, 4e-30),   // scale does not matter
		diagonal(2e30, 3e30, 4e30),
	};
	for (size_t i = 0; i < sizeof possible / sizeof possible[0]; i++) {
		Findings f = check_inertia(possible[i]);
		assert_findings(&f, 0, 0);
	}
	CalBodyDef massless = cal_body_def();
	massless.name = "frame";
	Findings f = check_body(&massless);
	assert_findings(&f, 0, 0);
}

static void impossible_masses_are_refused(void **state) {
	(void)state;
	CalBodyDef def = body_def("boom2");
	def.mass = -0.5;
	Findings f = check_body(&def);
	assert_findings(&f, 1, 0);
	assert_says(&f, "arm.yaml:3:3: body \"boom2\": mass is -0.5 kg; it must not be negative");
	def.mass = 0;
	f = check_body(&def);
	assert_findings(&f, 1, 0);
	assert_says(&f, "body \"boom2\": mass is zero but inertia is not; give the mass, or remove the inertia");
}

static void asymmetry_is_measured(void **state) {
	(void)state;
	Findings f = check_inertia((CalMat3){{{2, 0.1, 0}, {0.2, 2, 0}, {0, 0, 2}}});
	assert_findings(&f, 1, 0);
	assert_says(&f,
	            "arm.yaml:3:3: body \"boom2\": inertia is not symmetric: xy is 0.1 but yx is 0.2, 5% of the largest "
	            "element apart; a slip between row and column?");
}

static void negative_moments_are_listed(void **state) {
	(void)state;
	Findings f = check_inertia(diagonal(1, -2, 3));
	assert_findings(&f, 1, 0);
	assert_says(&f,
	            "arm.yaml:3:3: body \"boom2\": inertia is not positive: its principal moments are -2, 1 and 3 kg m^2");
	assert_says(&f, "check the numbers and their signs");
}

static void triangle_violations_are_measured(void **state) {
	(void)state;
	Findings f = check_inertia(diagonal(1, 1, 2.24));
	assert_findings(&f, 1, 0);
	assert_says(&f,
	            "arm.yaml:3:3: body \"boom2\": inertia violates the triangle inequality by 12% (principal moments 1, 1 "
	            "and 2.24 kg m^2)");
	assert_says(&f, "second moments");
	f = check_inertia(diagonal(0, 0, 1));
	assert_findings(&f, 1, 0);
	assert_says(&f, "only one of its principal moments, 1 kg m^2, is not zero");
}

/** I = sum m (r.r 1 - r r') of a few points about their center of mass. */
static CalMat3 points_inertia(int count, const double (*r)[3], const double *m) {
	CalMat3 I = {0};
	for (int k = 0; k < count; k++) {
		for (int i = 0; i < 3; i++) {
			for (int j = 0; j < 3; j++) {
				double square = i == j ? r[k][0] * r[k][0] + r[k][1] * r[k][1] + r[k][2] * r[k][2] : 0;
				I.m[i][j] += m[k] * (square - r[k][i] * r[k][j]);
			}
		}
	}
	return I;
}

/** A slender boom along (1, 1, 1) with a little width. */
static CalMat3 boom_inertia(void) {
	static const double r[6][3] = {{1, 1, 1},      {-1, -1, -1},   {0.1, -0.1, 0},
	                               {-0.1, 0.1, 0}, {0, 0.1, -0.1}, {0, -0.1, 0.1}};
	static const double m[6] = {1, 1, 1, 1, 1, 1};
	return points_inertia(6, r, m);
}

static void negated_products_are_recognised(void **state) {
	(void)state;
	CalMat3 I = boom_inertia();
	Findings f = check_inertia(I);
	assert_findings(&f, 0, 0);
	for (int i = 0; i < 3; i++) {
		for (int j = 0; j < 3; j++) {
			I.m[i][j] *= i == j ? 1 : -1;
		}
	}
	f = check_inertia(I);
	assert_findings(&f, 1, 0);
	assert_says(&f, "are the products of inertia negated?");
}

static void slipped_orders_are_recognised(void **state) {
	(void)state;
	const double xx = 5, yy = 6, zz = 7, xy = 0.1, xz = -0.2, yz = 0.3;
	Findings f = check_inertia((CalMat3){{{xx, xy, xz}, {xy, yy, yz}, {xz, yz, zz}}});
	assert_findings(&f, 0, 0);
	// numbers written row by row, read diagonal first
	f = check_inertia((CalMat3){{{xx, yy, yz}, {yy, xy, zz}, {yz, zz, xz}}});
	assert_findings(&f, 1, 0);
	assert_says(&f, "were six numbers in the order xx, xy, xz, yy, yz, zz read as xx, yy, zz, xy, xz, yz?");
	// numbers written diagonal first, read row by row
	f = check_inertia((CalMat3){{{xx, yy, zz}, {yy, xy, xz}, {zz, xz, yz}}});
	assert_findings(&f, 1, 0);
	assert_says(&f, "were six numbers in the order xx, yy, zz, xy, xz, yz read as xx, xy, xz, yy, yz, zz?");
}

static void a_second_parallel_axis_shift_is_recognised(void **state) {
	(void)state;
	CalBodyDef def = body_def("boom2");
	def.mass = 2;
	def.com = (CalVec3){0, 0, 0.5};
	def.inertia = diagonal(0.3 - 2 * 0.25, 0.4 - 2 * 0.25, 0.5); // about the origin of a body at (0, 0, 0.5), once more
	Findings f = check_body(&def);
	assert_findings(&f, 1, 0);
	assert_says(&f, "about the center of mass: was the parallel-axis term subtracted once too often?");
}

static void rounded_digits_are_forgiven_and_reported(void **state) {
	(void)state;
	Findings f = check_inertia(diagonal(0.0833, 0.0833, 0.167)); // plate of side 1, three digits
	assert_findings(&f, 0, 1);
	assert_says(&f, "violates the triangle inequality by 0.24%");
	assert_says(&f, "rounded digits explain it");
	f = check_inertia(diagonal(0.0833, 0.0833, 0.169));
	assert_findings(&f, 1, 0);
	f = check_inertia(diagonal(0.08333, 0.08333, 0.167)); // digits enough to know better
	assert_findings(&f, 1, 0);
	f = check_inertia(diagonal(0.0833333, 0.0833333, 0.1671)); // seven decimals: not rounding
	assert_findings(&f, 1, 0);
	f = check_inertia(diagonal(1, 1, 3)); // few digits are no excuse for a wrong body
	assert_findings(&f, 1, 0);
}

static void mixed_units_are_suspicious(void **state) {
	(void)state;
	CalDesc *desc = desc_new();
	CalBodyDef def = body_def("rod"); // a uniform rod of 1 m, 1 kg, head at one end; inertia in kg mm^2
	CalBodyId rod;
	def.com = (CalVec3){0.5, 0, 0};
	def.inertia = diagonal(0, 1e6 / 12, 1e6 / 12);
	assert_int_equal(cal_desc_add_body(desc, &def, &rod, NULL), CAL_OK);
	CalNodeDef tip = cal_node_def();
	tip.name = "tip";
	tip.placement.position.x = 1;
	assert_int_equal(cal_desc_add_node(desc, rod, &tip, NULL, NULL), CAL_OK);
	attach(desc, ground, "base", NULL, cal_desc_body_node(desc, rod));
	Findings f = check(desc, all);
	assert_findings(&f, 0, 1);
	assert_says(&f, "arm.yaml:3:3: body \"rod\": its radius of gyration, 289 m, is far larger");
	assert_says(&f, "in millimeters?");
	cal_desc_destroy(desc);
	def.com.x = 500; // lengths in mm, inertia in kg m^2
	def.inertia = diagonal(0, 1.0 / 12, 1.0 / 12);
	f = check_body(&def);
	assert_findings(&f, 0, 1);
	assert_says(&f, "far smaller");
	def.com.x = 0.5;
	f = check_body(&def);
	assert_findings(&f, 0, 0);
}

static void eigenvalues_are_accurate_where_they_meet(void **state) {
	(void)state;
	const double c = cos(0.3), s = sin(0.3); // diag(1, 1 + 1e-9, 2) turned about z and x
	const double a = c * c + s * s * (1 + 1e-9), b = s * s + c * c * (1 + 1e-9), o = c * s * -1e-9;
	CalMat3 m = {{{a, o, 0}, {o, b, 0}, {0, 0, 2}}};
	double p[3];
	eigen3_values(&m, p);
	assert_true(fabs(p[0] - 1) < 1e-15 && fabs(p[1] - (1 + 1e-9)) < 1e-15 && p[2] == 2);
	m = (CalMat3){{{2, -1, 0}, {-1, 2, -1}, {0, -1, 2}}}; // 2 - sqrt(2), 2, 2 + sqrt(2)
	eigen3_values(&m, p);
	assert_true(fabs(p[0] - (2 - sqrt(2))) < 1e-15 && fabs(p[1] - 2) < 2e-15 && fabs(p[2] - (2 + sqrt(2))) < 2e-15);
}

static void running_out_of_memory_is_a_status(void **state) {
	(void)state;
	FailingAllocator counter = {0};
	CalAllocator allocator = failing_allocator(&counter);
	CalDesc *desc;
	assert_int_equal(cal_desc_create(&allocator, &desc), CAL_OK);
	attach(desc, ground, "base", NULL, add(desc, "a"));
	long live = counter.live;
	counter.calls = 0;
	counter.fail_at = 1;
	assert_int_equal(desc_check_structure(desc, all, NULL, NULL), CAL_ERR_MEMORY);
	assert_int_equal(counter.live, live);
	CalModel *model;
	CalError error = {0};
	counter.calls = 0;
	assert_int_equal(cal_model_compile(desc, NULL, &model, &error), CAL_ERR_MEMORY);
	assert_string_equal(error.text, "cal_model_compile: out of memory");
	counter.fail_at = 0;
	assert_int_equal(desc_check_structure(desc, all, NULL, NULL), CAL_OK);
	assert_int_equal(counter.live, live);
	cal_desc_destroy(desc);
	assert_int_equal(counter.live, 0);
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_sound_tree_passes_in_silence),
		cmocka_unit_test(cycles_are_named_as_a_chain),
		cmocka_unit_test(long_cycles_are_shortened),
		cmocka_unit_test(two_parents_name_both_joints_and_places),
		cmocka_unit_test(a_body_without_parent_names_the_free_joint),
		cmocka_unit_test(a_joint_within_one_body_is_refused),
		cmocka_unit_test(joints_stay_within_a_group),
		cmocka_unit_test(other_groups_are_left_alone),
		cmocka_unit_test(negative_joint_properties_are_refused),
		cmocka_unit_test(properties_of_absent_dofs_are_refused),
		cmocka_unit_test(sequences_must_be_made_of_elements),
		cmocka_unit_test(screws_without_pitch_are_suspicious),
		cmocka_unit_test(user_joints_need_their_functions),
		cmocka_unit_test(possible_bodies_pass_in_silence),
		cmocka_unit_test(impossible_masses_are_refused),
		cmocka_unit_test(asymmetry_is_measured),
		cmocka_unit_test(negative_moments_are_listed),
		cmocka_unit_test(triangle_violations_are_measured),
		cmocka_unit_test(negated_products_are_recognised),
		cmocka_unit_test(slipped_orders_are_recognised),
		cmocka_unit_test(a_second_parallel_axis_shift_is_recognised),
		cmocka_unit_test(rounded_digits_are_forgiven_and_reported),
		cmocka_unit_test(mixed_units_are_suspicious),
		cmocka_unit_test(eigenvalues_are_accurate_where_they_meet),
		cmocka_unit_test(running_out_of_memory_is_a_status),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
