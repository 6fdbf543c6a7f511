// SPDX-License-Identifier: Apache-2.0
/*
 * test_xml_tree.c — XML comes out as a tree with places that knows what was looked at; what could hurt is refused with its
 * place.
 */
#include "io/xml/xml_tree.h"
#include "support/model_file_support.h"

static XmlTree *parse(const char *text) {
	XmlTree *tree;
	CalError error;
	if (xml_parse(text, strlen(text), "t.xml", NULL, &tree, &error) != CAL_OK)
		fail_msg("%s", error.text);
	return tree;
}

static void refuse(const char *text, size_t length, const char *said) {
	XmlTree *tree;
	CalError error;
	memset(&error, 0x5a, sizeof error);
	assert_int_equal(xml_parse(text, length, "t.xml", NULL, &tree, &error), CAL_ERR_INPUT);
	assert_null(tree);
	if (strncmp(error.text, said, strlen(said)) != 0)
		fail_msg("\"%s\" does not begin with \"%s\"", error.text, said);
}

static void elements_know_their_places(void **state) {
	(void)state;
	XmlTree *tree =
		parse("<?xml version=\"1.0\"?>\n<!-- c -->\n<a x=\"1\">\n  one <b/> two\n  <b y='&lt;'> z </b>\n</a>\n");
	XmlElement *a = xml_root(tree), *b = xml_child(a, "b"), *c = xml_again(b);
	assert_string_equal(a->name, "a");
	assert_int_equal(a->line, 3);
	assert_string_equal(xml_content(a), "one  two");
	assert_int_equal(b->line, 4);
	assert_int_equal(b->column, 7);
	assert_string_equal(xml_get(c, "y"), "<");
	assert_string_equal(xml_content(c), "z");
	assert_null(xml_again(c));
	assert_null(xml_get(c, "x"));
	assert_null(xml_child(NULL, "b"));
	xml_destroy(tree);
}

static void looking_marks_and_peeking_does_not(void **state) {
	(void)state;
	XmlTree *tree = parse("<a><b x='1' y='2'><c/></b><d/></a>");
	XmlElement *b = xml_child(xml_root(tree), "b"), *d = b->next;
	assert_string_equal(xml_peek(b, "x"), "1");
	assert_false(b->attributes[0].used);
	xml_get(b, "y");
	assert_false(b->attributes[0].used);
	assert_true(b->attributes[1].used);
	assert_true(b->used);
	assert_false(b->first->used);
	assert_false(d->used);
	xml_use_all(b);
	assert_true(b->first->used && b->attributes[0].used);
	xml_destroy(tree);
}

/* Names of the children, one letter each. */
static void expect_children(const XmlElement *parent, const char *names) {
	char found[32] = "";
	size_t n = 0;
	for (const XmlElement *child = parent->first; child && n + 1 < sizeof found; child = child->next) {
		assert_ptr_equal(child->parent, parent);
		assert_true(child->next || parent->last == child);
		found[n++] = child->name[0];
	}
	assert_string_equal(found, names);
}

static void trees_are_edited(void **state) {
	(void)state;
	XmlTree *tree = parse("<r><a/><i/><z x='1'><y/></z></r>"), *other = parse("<q><b/><c/></q>");
	XmlElement *root = xml_root(tree);
	assert_int_equal(xml_replace(tree, xml_child(root, "i"), other), CAL_OK);
	expect_children(root, "abcz");
	XmlElement *copy = xml_copy(tree, xml_child(root, "z"));
	xml_insert(root, NULL, copy);
	expect_children(root, "zabcz");
	expect_children(copy, "y");
	assert_true(xml_set(tree, copy, "x", "2"));
	assert_true(xml_set(tree, copy, "w", "3"));
	assert_string_equal(xml_get(copy, "x"), "2");
	assert_string_equal(xml_get(copy, "w"), "3");
	assert_string_equal(xml_get(root->last, "x"), "1");
	xml_remove(root->last);
	xml_remove(xml_child(root, "a"));
	expect_children(root, "zbc");
	xml_remove(copy);
	expect_children(root, "bc");
	xml_insert(root, root->last, copy);
	expect_children(root, "bcz");
	xml_destroy(tree);
}

static void an_empty_document_replaces_by_nothing(void **state) {
	(void)state;
	XmlTree *tree = parse("<r><i/></r>"), *other = parse("<q/>");
	assert_int_equal(xml_replace(tree, xml_child(xml_root(tree), "i"), other), CAL_OK);
	expect_children(xml_root(tree), "");
	assert_null(xml_root(tree)->last);
	xml_destroy(tree);
}

static void what_could_hurt_is_refused(void **state) {
	(void)state;
	static const char bomb[] = "<!DOCTYPE l [<!ENTITY a \"x\"><!ENTITY b \"&a;&a;\">]><l>&b;</l>";
	refuse(bomb, sizeof bomb - 1, "t.xml:1:");
	refuse("", 0, "t.xml:1:1: error: no element found");
	refuse("<a>\n<b></a>", 11, "t.xml:2:");
	refuse("<a x='1' x='2'/>", 16, "t.xml:1:");
	char deep[3 * 1100 + 1] = "";
	for (int i = 0; i < 1100; i++)
		memcpy(deep + 3 * i, "<a>", 4);
	refuse(deep, strlen(deep), "t.xml:1:3073: error: elements are nested more than 1024 deep");
	refuse("<a>\0</a>", 8, "t.xml:1:4");
}

static void the_root_is_found_without_a_parser(void **state) {
	(void)state;
	static const struct {
		const char *text;
		int is_xml;
		const char *root;
	} cases[] = {
		{"<robot name='a'>", 1, "robot"},
		{"\xEF\xBB\xBF  <?xml version='1.0'?>\n<!-- <mujoco> -->\n<sdf version='1.6'>", 1, "sdf"},
		{"<!DOCTYPE x><mujoco>", 1, "mujoco"},
		{"calder: 1\n", 0, ""},
		{"", 0, ""},
		{"<", 1, ""},
		{"<!--", 1, ""},
		{"<?", 1, ""},
	};
	char root[16];
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		assert_int_equal(xml_find_root(cases[i].text, strlen(cases[i].text), root, sizeof root), cases[i].is_xml);
		assert_string_equal(root, cases[i].root);
	}
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(elements_know_their_places), cmocka_unit_test(looking_marks_and_peeking_does_not),
		cmocka_unit_test(trees_are_edited),           cmocka_unit_test(an_empty_document_replaces_by_nothing),
		cmocka_unit_test(what_could_hurt_is_refused), cmocka_unit_test(the_root_is_found_without_a_parser),
	};
#ifndef CALDER_WITH_EXPAT
	return cmocka_run_group_tests(tests + 5, NULL, NULL);
#endif
	return cmocka_run_group_tests(tests, NULL, NULL);
}
