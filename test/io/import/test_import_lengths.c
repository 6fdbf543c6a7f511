// SPDX-License-Identifier: Apache-2.0
/*
 * test_import_lengths.c — axes and quaternions whose length is not 1: the import report names them with file, line and
 * length, in every format; those that are off by the round-off of six written digits are silent.
 */
#include "support/rng.h"
#include "support/robot.h"

#define MASS "<inertial><mass value='1'/><inertia ixx='1' iyy='1' izz='1' ixy='0' ixz='0' iyz='0'/></inertial>"
#define URDF(inside)                                                                   \
	"<robot name='r' version='1.1'><link name='a'>" MASS "</link><link name='b'>" MASS \
	"</link><joint name='j' type='continuous'><parent link='a'/><child link='b'/>\n" inside "</joint></robot>"
#define SDF_BODY "<inertial><mass>1</mass></inertial>"
#define SDF(pose, axis)                                                                                    \
	"<sdf version='1.9'><model name='m'><link name='a'>" SDF_BODY "</link><link name='b'>\n" pose SDF_BODY \
	"</link><joint name='j' type='revolute'><parent>a</parent><child>b</child><axis>\n" axis               \
	"</axis></joint></model></sdf>"
#define MJCF(inside) "<mujoco>" inside "</mujoco>"
#define UNIT "<inertial pos='0 0 0' mass='1' diaginertia='1 1 1'/>"
#define ARM(body, joint) \
	MJCF("<worldbody><body name='b'\n" body "><joint name='j'\n" joint "/>" UNIT "</body></worldbody>")

static int count_lengths(const Robot *r, const char *length, int line) {
	CalImportNote note;
	int count = 0;
	for (int i = 0; cal_setup_import_note(r->setup, i, &note) == CAL_OK; i++) {
		if (!strstr(note.text, "it has the length "))
			continue;
		count++;
		if (length && (!strstr(note.text, length) || (line && note.line != line) || !note.file[0]))
			fail_msg("line %d: \"%s\" instead of %s in line %d", note.line, note.text, length, line);
	}
	return count;
}

static void lengths_are_named(void **state) {
	(void)state;
	static const struct {
		const char *text, *length;
		int line;
	} cases[] = {
		{URDF("<origin quat_xyzw='0 0 0 0.7'/>"), "length 0.7;", 2},
		{URDF("<axis xyz='0 0 1.3'/>"), "length 1.3;", 2},
		{URDF("<axis xyz='0 0 1.00001'/>"), "length 1.00001;", 2},
		{SDF("<pose rotation_format='quat_xyzw'>0 0 0 0.9 0 0 0.5</pose>", "<xyz>0 0 1</xyz>"), "length 1.0295630", 2},
		{SDF("<pose rotation_format='quat_xyzw'>0 0 0 0 0 0 1.3</pose>", "<xyz>0 0 1</xyz>"), "length 1.3;", 2},
		{SDF("", "<xyz>1 1 0</xyz>"), "length 1.41421356;", 3},
		{ARM("quat='1 0 0 1'", ""), "length 1.41421356;", 1},
		{ARM("quat='0 0 0 0'", ""), "length 0; taken: the default", 1},
		{ARM("axisangle='0 0 2 90'", ""), "length 2;", 1},
		{ARM("zaxis='0 1 1'", ""), "length 1.41421356;", 1},
		{ARM("xyaxes='0 2 0 1 0 0'", ""), "length 2;", 1},
		{ARM("", "axis='0 0 3'"), "length 3;", 2},
		{MJCF("<default>\n<joint axis='0 2 0'/></default><worldbody><body name='b'><joint name='j'/>" UNIT
	          "</body></worldbody>"),
	     "length 2;", 2},
		{MJCF("<asset><mesh name='x' file='x.stl' refquat='2 0 0 0'/></asset><worldbody><body name='b'>" UNIT
	          "</body></worldbody>"),
	     "length 2;", 1},
		{MJCF("<worldbody><body name='b'><freejoint/>" UNIT
	          "</body></worldbody><keyframe>\n<key name='home' qpos='0 0 0 .5 0 "
	          "0 0'/></keyframe>"),
	     "length 0.5;", 2},
		{MJCF(
			 "<worldbody><body name='b' mocap='true'/></worldbody><keyframe>\n<key name='home' mquat='0 3 0 0'/></keyframe>"),
	     "length 3;", 2},
		{MJCF("<worldbody><body name='a'><freejoint/>" UNIT "</body><body name='b'><freejoint/>" UNIT
	          "</body></worldbody><equality>\n<weld body1='a' body2='b' relpose='0 0 0 0 4 0 0'/></equality>"),
	     "length 4;", 2},
	};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		Robot r = robot_with(cases[i].text, &(CalReadOptions){.partial = 1});
		if (count_lengths(&r, cases[i].length, cases[i].line) != 1)
			fail_msg("case %zu: %s is not named once", i, cases[i].length);
		robot_close(&r);
	}
	robot_refuse(SDF("<pose rotation_format='quat_xyzw'>0 0 0 0 0 0 .1</pose>", "<xyz>0 0 1</xyz>"),
	             "has the length 0.1");
}

/* The rotation is that of the direction: a quarter about z. */
static void directions_count(void **state) {
	(void)state;
	static const char *const texts[] = {
		URDF("<origin quat_xyzw='0 0 .8 .8'/><axis xyz='0 0 5'/>"),
		SDF("<pose rotation_format='quat_xyzw'>0 0 0 0 0 .8 .8</pose>", "<xyz>0 0 5</xyz>"),
		ARM("quat='.8 0 0 .8'", "axis='0 0 5'")};
	for (int i = 0; i < 3; i++) {
		Robot r = robot_of(texts[i]);
		*robot_q(&r, "j", 0) = acos(-1.0) / 2;
		robot_expect_at(&r, "b", (CalVec3){0, 0, 0}, (CalVec3){-1, 0, 0});
		robot_close(&r);
	}
}

/* Random quaternions and axes as "%g" writes them. */
static void six_digits_are_silent(void **state) {
	(void)state;
	Rng rng = rng_make(test_seed());
	for (int k = 0; k < 300; k++) {
		char text[2000];
		double v[4], axis[3], n = 0, m = 0;
		for (int i = 0; i < 4; i++)
			v[i] = rng_uniform(&rng, -1, 1), n += v[i] * v[i];
		for (int i = 0; i < 3; i++)
			axis[i] = rng_uniform(&rng, -1, 1), m += axis[i] * axis[i];
		n = sqrt(n), m = sqrt(m);
		if (k % 3 == 0)
			snprintf(text, sizeof text, URDF("<origin quat_xyzw='%g %g %g %g'/><axis xyz='%g %g %g'/>"), v[0] / n,
			         v[1] / n, v[2] / n, v[3] / n, axis[0] / m, axis[1] / m, axis[2] / m);
		else if (k % 3 == 1)
			snprintf(text, sizeof text,
			         SDF("<pose rotation_format='quat_xyzw'>0 0 0 %g %g %g %g</pose>", "<xyz>%g %g %g</xyz>"), v[0] / n,
			         v[1] / n, v[2] / n, v[3] / n, axis[0] / m, axis[1] / m, axis[2] / m);
		else
			snprintf(text, sizeof text, ARM("quat='%g %g %g %g'", "axis='%g %g %g'"), v[0] / n, v[1] / n, v[2] / n,
			         v[3] / n, axis[0] / m, axis[1] / m, axis[2] / m);
		Robot r = robot_of(text);
		if (count_lengths(&r, NULL, 0) != 0)
			fail_msg("%s", text);
		robot_close(&r);
	}
}

int main(void) {
	NEEDS_EXPAT();
	const struct CMUnitTest tests[] = {cmocka_unit_test(lengths_are_named), cmocka_unit_test(directions_count),
	                                   cmocka_unit_test(six_digits_are_silent)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
