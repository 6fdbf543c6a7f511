// SPDX-License-Identifier: Apache-2.0
/*
 * test_import_values.c — values of robot files, their errors with places and remedies, and the report of what nobody read.
 */
#include <locale.h>
#include <math.h>

#include "io/import/import.h"
#include "support/model_file_support.h"

typedef struct Case {
	Import im;
	CalError error;
	CalReadOptions options;
} Case;

static void open_case(Case *c, const char *text) {
	*c = (Case){0};
	if (xml_parse(text, strlen(text), "t.urdf", NULL, &c->im.tree, &c->error) != CAL_OK)
		fail_msg("%s", c->error.text);
	assert_int_equal(cal_setup_create(NULL, &c->im.setup), CAL_OK);
	c->im.path = "t.urdf";
	c->im.options = &c->options;
	c->im.desc = cal_setup_edit_desc(c->im.setup);
	c->im.error = &c->error;
	xml_root(c->im.tree)->used = true;
}

static void close_case(Case *c) {
	cal_setup_destroy(c->im.setup);
	xml_destroy(c->im.tree);
}

static void expect_error(const Case *c, const char *said) {
	assert_int_equal(c->im.status, CAL_ERR_INPUT);
	if (!strstr(c->error.text, said))
		fail_msg("\"%s\" does not hold \"%s\"", c->error.text, said);
}

static void numbers_are_whole_words(void **state) {
	(void)state;
	Case c;
	open_case(&c, "<a v=' +1 \n-2.5e-1\t.5 ' i='-inf' n='3' s='true'>7</a>");
	XmlElement *a = xml_root(c.im.tree);
	CalVec3 v = {0};
	double number = 0, bound = 0;
	int n = 0;
	bool given, yes = false;
	assert_true(import_vec3(&c.im, a, "v", &v, &given) && given);
	assert_true(v.x == 1 && v.y == -0.25 && v.z == 0.5);
	assert_true(import_bound(&c.im, a, "i", &bound, NULL) && bound == -INFINITY);
	assert_true(import_integer(&c.im, a, "n", &n, NULL) && n == 3);
	assert_true(import_bool(&c.im, a, "s", &yes, NULL) && yes);
	assert_true(import_number(&c.im, a, NULL, &number, &given) && given && number == 7);
	assert_true(import_number(&c.im, a, "missing", &number, &given) && !given && number == 7);
	close_case(&c);
}

static void bad_values_name_their_place(void **state) {
	(void)state;
	static const struct {
		const char *value, *said;
	} cases[] = {
		{"1,0,0", "blanks between them"},
		{"${x}", "xacro"},
		{"$(arg p)", "xacro"},
		{"nan", "3 numbers"},
		{"1 2", "3 numbers"},
		{"1 2 3 4", "3 numbers"},
		{"1 2 3m", "3 numbers"},
		{"1 2 inf", "3 numbers"},
		{"0x1 2 3", "3 numbers"},
		{"1 2 1e999", "3 numbers"},
	};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		Case c;
		char text[80];
		snprintf(text, sizeof text, "<r>\n <a v=\"%s\"/></r>", cases[i].value);
		open_case(&c, text);
		CalVec3 v = {0};
		assert_false(import_vec3(&c.im, xml_child(xml_root(c.im.tree), "a"), "v", &v, NULL));
		expect_error(&c, "t.urdf:2:2: error: <a v=");
		expect_error(&c, cases[i].said);
		close_case(&c);
	}
}

static void words_are_listed(void **state) {
	(void)state;
	static const char *const words[] = {"fixed", "revolute", NULL};
	Case c;
	open_case(&c, "<j type='revolut'/>");
	int which = 0;
	assert_false(import_word(&c.im, xml_root(c.im.tree), "type", words, &which, NULL));
	expect_error(&c, "one of fixed, revolute");
	assert_null(import_required(&c.im, xml_root(c.im.tree), "name"));
	expect_error(&c, "<j> needs the attribute \"name\"");
	close_case(&c);
}

static void the_locale_has_no_say(void **state) {
	(void)state;
	setlocale(LC_ALL, "de_DE.UTF-8"); // where it is installed
	Case c;
	open_case(&c, "<a v='1.57'/>");
	double v = 0;
	assert_true(import_number(&c.im, xml_root(c.im.tree), "v", &v, NULL) && v == 1.57);
	setlocale(LC_ALL, "C");
	close_case(&c);
}

static void what_nobody_read_is_reported(void **state) {
	(void)state;
	Case c;
	open_case(&c,
	          "<robot><joint name='j' safety='1' Damping='1'>\n<limit/>\n<x><y/></x>words</joint><gazebo/></robot>");
	XmlElement *root = xml_root(c.im.tree), *joint = xml_child(root, "joint");
	xml_get(joint, "name");
	assert_true(import_note(&c.im, CAL_IMPORT_ASSUMED, xml_child(joint, "limit"), "effort", "taken as %d", 0));
	assert_true(import_ignore(&c.im, root->last, "an extension"));
	assert_true(import_report_unused(&c.im, root));
	static const struct {
		CalImportKind kind;
		int line;
		const char *element, *text;
	} expected[] = {
		{CAL_IMPORT_ASSUMED, 2, "joint \"j\"/limit @effort", "taken as 0"},
		{CAL_IMPORT_IGNORED, 3, "gazebo", "an extension"},
		{CAL_IMPORT_IGNORED, 1, "joint \"j\" @safety", "unknown attribute; it was left out"},
		{CAL_IMPORT_IGNORED, 1, "joint \"j\" @Damping",
	     "unknown attribute; it was left out; upper and lower case letters differ"},
		{CAL_IMPORT_IGNORED, 1, "joint \"j\"", "text in an element that has none; it was left out"},
		{CAL_IMPORT_IGNORED, 3, "joint \"j\"/x", "unknown element; it was left out with all inside"},
	};
	assert_int_equal(cal_setup_import_note_count(c.im.setup), 6);
	for (int i = 0; i < 6; i++) {
		CalImportNote note;
		assert_int_equal(cal_setup_import_note(c.im.setup, i, &note), CAL_OK);
		assert_int_equal(note.kind, expected[i].kind);
		assert_int_equal(note.line, expected[i].line);
		assert_string_equal(note.element, expected[i].element);
		assert_string_equal(note.text, expected[i].text);
	}
	close_case(&c);
}

static void what_is_missing_stops_unless_a_part_will_do(void **state) {
	(void)state;
	Case c;
	open_case(&c, "<mujoco><tendon/></mujoco>");
	assert_false(import_missing(&c.im, xml_root(c.im.tree)->first, "there are no tendons"));
	expect_error(&c, "--partial");
	c.options.partial = 1;
	assert_true(import_missing(&c.im, xml_root(c.im.tree)->first, "there are no tendons"));
	assert_int_equal(cal_setup_import_note_count(c.im.setup), 1);
	close_case(&c);
}

static void free_names_are_found(void **state) {
	(void)state;
	Case c;
	open_case(&c, "<robot/>");
	for (int i = 0; i < 3; i++) {
		static const char *const expected[] = {"arm", "arm_2", "arm_3"};
		const char *name = import_body_name(&c.im, "arm");
		assert_string_equal(name, expected[i]);
		assert_int_equal(cal_desc_add_body(c.im.desc, &(CalBodyDef){.name = name, .mass = 1}, NULL, NULL), CAL_OK);
	}
	assert_string_equal(import_joint_name(&c.im, "arm"), "arm");
	close_case(&c);
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(numbers_are_whole_words),
		cmocka_unit_test(bad_values_name_their_place),
		cmocka_unit_test(words_are_listed),
		cmocka_unit_test(the_locale_has_no_say),
		cmocka_unit_test(what_nobody_read_is_reported),
		cmocka_unit_test(what_is_missing_stops_unless_a_part_will_do),
		cmocka_unit_test(free_names_are_found),
	};
#ifndef CALDER_WITH_EXPAT
	return 0;
#endif
	return cmocka_run_group_tests(tests, NULL, NULL);
}
