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

/* Errors of expat say what is open or what to do. */
static void errors_have_a_remedy(void **state) {
	(void)state;
	static const struct {
		const char *text, *said;
	} cases[] = {
		{"\n<?xml version='1.0'?><a/>",
	     "t.xml:2:1: error: XML or text declaration not at start of entity; the XML declaration is"},
		{"<r>\n<link>\n</robot>",
	     "t.xml:3:3: error: mismatched tag; the element that is open here is <link> of line 2"},
		{"<r>\n<link>", "t.xml:2:7: error: no element found; the element that is open here is <link> of line 2"},
		{"<r>A & B</r>",
	     "t.xml:1:7: error: not well-formed (invalid token); in text \"&\" and \"<\" are written &amp; and &lt;"},
		{"<r name='\xE4'/>",
	     "t.xml:1:10: error: not well-formed (invalid token); in text \"&\" and \"<\" are written &amp; and &lt;, values stand in quotes, and a file without an encoding is UTF-8"},
		{"<r/><r/>", "t.xml:1:5: error: junk after document element; a file has one root element"},
		{"<r>&nbsp;</r>", "t.xml:1:4: error: undefined entity; XML has &amp; &lt;"},
		{"<r a='1' a='2'/>", "t.xml:1:10: error: duplicate attribute; an element has an attribute once"},
	};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
		refuse(cases[i].text, strlen(cases[i].text), cases[i].said);
}

/* What is longer than a piece of the parser, and what stands across the ends of pieces, has its place and all of its bytes. */
/* <a x='aaa...'/> with so many bytes between the quotes. */
static void refuse_attribute(size_t bytes, const char *said) {
	char *text = malloc(bytes + 16);
	assert_non_null(text);
	memcpy(text, "<a x='", 6);
	memset(text + 6, 'a', bytes);
	memcpy(text + 6 + bytes, "'/>", 3);
	refuse(text, bytes + 9, said);
	free(text);
}

static void long_attributes_are_refused(void **state) {
	(void)state;
	refuse_attribute(XML_MAX_ATTRIBUTE + 1, "t.xml:1:1: error: an attribute has more than 16 MiB");
	refuse_attribute(5 * (size_t)XML_MAX_ATTRIBUTE, "t.xml:1:1: error: a tag or a comment has more than 32 MiB");
}

static void long_documents_are_read_in_pieces(void **state) {
	(void)state;
	enum { ELEMENTS = 20000, LONG = 300000 };
	char *text = malloc((size_t)ELEMENTS * 24 + 2 * LONG + 100);
	size_t n = (size_t)sprintf(text, "<a long='");
	memset(text + n, 'x', LONG);
	n += LONG;
	n += (size_t)sprintf(text + n, "'>");
	memset(text + n, 'y', LONG);
	n += LONG;
	for (int i = 0; i < ELEMENTS; i++)
		n += (size_t)sprintf(text + n, "\n<b i='%d'/>", i);
	sprintf(text + n, "</a>");
	XmlTree *tree = parse(text);
	XmlElement *a = xml_root(tree), *b = xml_child(a, "b");
	assert_int_equal(strlen(xml_get(a, "long")), LONG);
	assert_int_equal(strlen(xml_content(a)), LONG);
	for (int i = 0; i < ELEMENTS; i++, b = xml_again(b)) {
		char number[16];
		sprintf(number, "%d", i);
		assert_string_equal(xml_get(b, "i"), number);
		assert_int_equal(b->line, i + 2);
		assert_int_equal(b->column, 1);
	}
	assert_null(b);
	xml_destroy(tree);
	free(text);
}

/* A name has one of 16 marks; those that share one differ all the same, in edited elements too. */
static void names_that_share_a_mark_differ(void **state) {
	(void)state;
	XmlTree *tree = parse("<a ac='1' qc='2'><bc/><rc/></a>");
	XmlElement *a = xml_root(tree);
	assert_int_equal(xml_mark("ac"), xml_mark("qc"));
	assert_string_equal(xml_peek(a, "qc"), "2");
	assert_null(xml_peek(a, "Ac"));
	assert_int_equal(xml_mark("ac"), xml_mark("Ac"));
	assert_string_equal(xml_child(a, "rc")->name, "rc");
	assert_null(xml_child(a, "Rc"));
	assert_true(xml_set(tree, a, "new", "3"));
	assert_string_equal(xml_peek(a, "new"), "3");
	XmlElement *copy = xml_copy(tree, a);
	assert_string_equal(xml_peek(copy, "new"), "3");
	assert_non_null(xml_child(copy, "rc"));
	assert_true(xml_may_hold(tree, "rc"));
	assert_false(xml_may_hold(tree, "include"));
	assert_true(xml_is_plain(tree));
	xml_destroy(tree);
	tree = parse("<a x='${b}'/>");
	assert_false(xml_is_plain(tree));
	xml_destroy(tree);
}

/* Exporters write names of encodings that expat does not know; ASCII is the same in all of them. */
static void unknown_encodings_are_read_as_ascii(void **state) {
	(void)state;
	static const char *const names[] = {"ascii", "utf8", "windows-1252", "us-ascii", "UTF-8", "ISO-8859-1"};
	char text[100];
	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		snprintf(text, sizeof text, "<?xml version='1.0' encoding='%s'?><a b='c'/>", names[i]);
		XmlTree *tree = parse(text);
		assert_string_equal(xml_get(xml_root(tree), "b"), "c");
		xml_destroy(tree);
	}
	const char *umlaut = "<?xml version='1.0' encoding='windows-1252'?><a b='\xe4'/>";
	refuse(umlaut, strlen(umlaut), "t.xml:1:");
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
		cmocka_unit_test(elements_know_their_places),
		cmocka_unit_test(looking_marks_and_peeking_does_not),
		cmocka_unit_test(trees_are_edited),
		cmocka_unit_test(an_empty_document_replaces_by_nothing),
		cmocka_unit_test(what_could_hurt_is_refused),
		cmocka_unit_test(errors_have_a_remedy),
		cmocka_unit_test(long_attributes_are_refused),
		cmocka_unit_test(the_root_is_found_without_a_parser),
		cmocka_unit_test(long_documents_are_read_in_pieces),
		cmocka_unit_test(names_that_share_a_mark_differ),
		cmocka_unit_test(unknown_encodings_are_read_as_ascii),
	};
#ifndef CALDER_WITH_EXPAT
	return cmocka_run_group_tests(tests + 5, NULL, NULL);
#endif
	return cmocka_run_group_tests(tests, NULL, NULL);
}
