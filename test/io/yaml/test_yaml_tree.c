// SPDX-License-Identifier: Apache-2.0
/*
 * test_yaml_tree.c — YAML and JSON come out as a tree with places; what could hurt is refused with its place.
 */
#include "io/yaml/yaml_tree.h"
#include "support/model_file_support.h"

static Tree *parse(const char *text) {
	Tree *tree;
	CalError error;
	if (tree_parse(text, strlen(text), "t.yaml", NULL, &tree, &error) != CAL_OK)
		fail_msg("%s", error.text);
	return tree;
}

static void refuse(const char *text, size_t length, const char *said) {
	Tree *tree;
	CalError error;
	memset(&error, 0x5a, sizeof error);
	assert_int_equal(tree_parse(text, length, "t.yaml", NULL, &tree, &error), CAL_ERR_INPUT);
	assert_null(tree);
	assert_int_equal(error.status, CAL_ERR_INPUT);
	if (strncmp(error.text, said, strlen(said)) != 0)
		fail_msg("\"%s\" does not begin with \"%s\"", error.text, said);
}

static void nodes_know_their_places(void **state) {
	(void)state;
	Tree *tree = parse("# comment\na: 1\nb:\n  - x\n  - {c: \"two\", d: ~}\n");
	const TreeNode *b = tree_get(tree_root(tree), "b");
	assert_int_equal(b->kind, TREE_LIST);
	assert_int_equal(b->count, 2);
	const TreeNode *c = tree_get(b->items[1], "c");
	assert_string_equal(c->text, "two");
	assert_false(c->plain);
	assert_int_equal(c->line, 5);
	assert_int_equal(c->column, 9);
	assert_true(tree_is_null(tree_get(b->items[1], "d")));
	assert_null(tree_get(tree_root(tree), "e"));
	assert_null(tree_get(c, "e"));
	assert_null(tree_get(NULL, "e"));
	tree_destroy(tree);
}

static void json_is_yaml(void **state) {
	(void)state;
	Tree *tree = parse("{\"a\":[1,2.5e-3,\"x\"],\"b\":{\"c\":null,\"d\":[[1,2],[3,4]]}}");
	const TreeNode *d = tree_get(tree_get(tree_root(tree), "b"), "d");
	assert_string_equal(d->items[1]->items[0]->text, "3");
	assert_string_equal(tree_get(tree_root(tree), "a")->items[1]->text, "2.5e-3");
	tree_destroy(tree);
}

static void aliases_share_and_merge_keys_merge(void **state) {
	(void)state;
	Tree *tree = parse("a: &a {x: 1, y: 2}\nb: &b {y: 3, z: 4}\nc: *a\nd: {<<: *a, y: 9}\ne: {<<: [*a, *b], w: 0}\n");
	const TreeNode *root = tree_root(tree);
	assert_ptr_equal(tree_get(root, "a"), tree_get(root, "c"));
	const TreeNode *d = tree_get(root, "d"), *e = tree_get(root, "e");
	assert_int_equal(d->count, 2);
	assert_string_equal(tree_get(d, "x")->text, "1");
	assert_string_equal(tree_get(d, "y")->text, "9");
	assert_int_equal(e->count, 4);
	assert_string_equal(tree_get(e, "y")->text, "2");
	assert_string_equal(tree_get(e, "z")->text, "4");
	assert_string_equal(tree_key(e, 0)->text, "w");
	tree_destroy(tree);
}

static void every_key_of_a_large_map_is_found(void **state) {
	(void)state;
	enum { COUNT = 5000 };
	char *text = malloc(COUNT * 24), *p = text;
	assert_non_null(text);
	for (int i = 0; i < COUNT; i++)
		p += sprintf(p, "k%d: %d\n", (i * 7919) % COUNT, i);
	Tree *tree = parse(text);
	for (int i = 0; i < COUNT; i++) {
		char key[16], value[16];
		snprintf(key, sizeof key, "k%d", (i * 7919) % COUNT);
		snprintf(value, sizeof value, "%d", i);
		const TreeNode *node = tree_get(tree_root(tree), key);
		assert_non_null(node);
		assert_string_equal(node->text, value);
		assert_string_equal(tree_key(tree_root(tree), i)->text, key);
	}
	tree_destroy(tree);
	free(text);
}

static void bad_documents_are_refused_with_their_place(void **state) {
	(void)state;
	static const struct {
		const char *text, *said;
	} rows[] = {
		{"", "t.yaml: error: the file is empty"},
		{"# nothing\n", "t.yaml: error: the file is empty"},
		{"a: 1\nb: 2\na: 3\n", "t.yaml:3:1: error: the key \"a\" is given twice (first in line 1)"},
		{"a: [1, 2\nb: 3", "t.yaml:2:2: error: not valid YAML"},
		{"a: *x", "t.yaml:1:4: error: *x names no anchor"},
		{"a: &x [1, *x]", "t.yaml:1:11: error: *x stands inside what it names"},
		{"a: !!str 3", "t.yaml:1:4: error: the tag tag:yaml.org,2002:str"},
		{"a: !foo {b: 1}", "t.yaml:1:4: error: the tag !foo"},
		{"a: 1\n---\nb: 2\n", "t.yaml:2:1: error: a second document"},
		{"[1, 2]: 3", "t.yaml:1:1: error: a key must be a name"},
		{"a: \"x\\0y\"", "t.yaml:1:4: error: a zero byte"},
		{"a: {<<: 3}", "t.yaml:1:9: error: \"<<\" merges a map"},
		{"\tx: 1", "t.yaml:1:1: error: not valid YAML: a tab at the beginning of the line; indent with spaces"},
		{"a:\n\tx: 1", "t.yaml:2:1: error: not valid YAML: a tab"},
		{"a:\n  - 1\n\t- 2", "t.yaml:3:1: error: not valid YAML: a tab"},
		{"a: \xff", "t.yaml: error: byte 3"},
	};
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
		refuse(rows[i].text, strlen(rows[i].text), rows[i].said);
}

static void deep_nesting_is_refused(void **state) {
	(void)state;
	char text[100000];
	memset(text, '[', sizeof text);
	refuse(text, sizeof text, "t.yaml:1:65: error: lists and maps are nested too deeply");
}

/* Ten levels of ten aliases each stand for 10^10 items in 500 bytes. */
static void alias_bombs_are_refused(void **state) {
	(void)state;
	char text[2000];
	char *p = text + sprintf(text, "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n");
	for (int i = 1; i < 10; i++) {
		p += sprintf(p, "a%d: &a%d [", i, i);
		for (int k = 0; k < 10; k++)
			p += sprintf(p, "%s*a%d", k ? ", " : "", i - 1);
		p += sprintf(p, "]\n");
	}
	refuse(text, (size_t)(p - text), "t.yaml:8:5: error: with its aliases written out");
}

static void merge_bombs_are_refused(void **state) {
	(void)state;
	enum { KEYS = 2000, COPIES = 100 };
	char *text = malloc(KEYS * 16 + COPIES * 8 + 64), *p = text;
	assert_non_null(text);
	p += sprintf(p, "a: &a {");
	for (int i = 0; i < KEYS; i++)
		p += sprintf(p, "%sk%d: 0", i ? ", " : "", i);
	p += sprintf(p, "}\nb: {<<: [");
	for (int i = 0; i < COPIES; i++)
		p += sprintf(p, "%s*a", i ? ", " : "");
	p += sprintf(p, "]}\n");
	refuse(text, (size_t)(p - text), "t.yaml:2:5: error: \"<<\" merges more than");
	free(text);
}

static void missing_files_and_folders_are_reported(void **state) {
	(void)state;
	Tree *tree;
	CalError error;
	assert_int_equal(tree_read("no/such/file.yaml", NULL, &tree, &error), CAL_ERR_IO);
	assert_non_null(strstr(error.text, "no/such/file.yaml: error: the file could not be opened"));
	assert_int_equal(tree_read(TEST_DATA_DIR, NULL, &tree, &error), CAL_ERR_IO);
	assert_non_null(strstr(error.text, "could not be read"));
	assert_int_equal(tree_read("no/such/file.yaml", NULL, &tree, NULL), CAL_ERR_IO);
}

int main(void) {
	NEEDS_YAML();
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nodes_know_their_places),
		cmocka_unit_test(json_is_yaml),
		cmocka_unit_test(aliases_share_and_merge_keys_merge),
		cmocka_unit_test(every_key_of_a_large_map_is_found),
		cmocka_unit_test(bad_documents_are_refused_with_their_place),
		cmocka_unit_test(deep_nesting_is_refused),
		cmocka_unit_test(alias_bombs_are_refused),
		cmocka_unit_test(merge_bombs_are_refused),
		cmocka_unit_test(missing_files_and_folders_are_reported),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
