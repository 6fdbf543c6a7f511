// SPDX-License-Identifier: Apache-2.0
/*
 * test_format_docs.c — docs/format.md and docs/calder.schema.json name exactly the keys of the reader's tables.
 */
#include "device/device_type.h"
#include "io/model/model_file.h"
#include "support/model_file_support.h"

static char *read_all(const char *path) {
	FILE *stream = fopen(path, "rb");
	if (!stream)
		fail_msg("%s cannot be opened", path);
	char *text = calloc(1, 1 << 20);
	assert_non_null(text);
	const size_t length = fread(text, 1, (1 << 20) - 1, stream);
	assert_true(length > 0 && length < (1 << 20) - 1);
	fclose(stream);
	return text;
}

/* All tables, those of the devices last; NULL: no more. */
static const FieldTable *table_at(int index) {
	if (index < model_file_table_count)
		return model_file_tables[index];
	const DeviceType *type = device_type(index - model_file_table_count);
	return type ? &type->table : NULL;
}

/* The first table of the section "## what": its rows begin with "| `key`". Returns the number of rows. */
static int section_rows(const char *text, const char *what, const FieldTable *table) {
	char heading[64];
	snprintf(heading, sizeof heading, "\n## %s\n", what);
	const char *p = strstr(text, heading);
	if (!p)
		fail_msg("docs/format.md has no section \"## %s\"", what);
	p += strlen(heading);
	const char *end = strstr(p, "\n## ");
	const char *row = strstr(p, "\n| key | value |\n| --- | --- |\n");
	if (!row || (end && row > end))
		fail_msg("section \"%s\" has no table of keys", what);
	row += strlen("\n| key | value |\n| --- | --- |\n");
	int rows = 0;
	for (; strncmp(row, "| `", 3) == 0; row = strchr(row, '\n') + 1, rows++) {
		char key[64];
		assert_int_equal(sscanf(row, "| `%63[^`]` |", key), 1);
		int known = 0;
		for (int i = 0; i < table->count; i++)
			known += strcmp(table->fields[i].name, key) == 0;
		if (known != 1)
			fail_msg("docs/format.md, section \"%s\": the reader has no key \"%s\"", what, key);
		const int required = strstr(row, "**required**") && strstr(row, "**required**") < strchr(row, '\n');
		for (int i = 0; i < table->count; i++) {
			if (strcmp(table->fields[i].name, key) == 0 && required != !!(table->fields[i].flags & FIELD_REQUIRED))
				fail_msg("docs/format.md, \"%s\": whether \"%s\" is required differs from the reader", what, key);
		}
	}
	return rows;
}

static void every_key_is_documented(void **state) {
	(void)state;
	char *text = read_all(SOURCE_DIR "/docs/format.md");
	const FieldTable *table;
	for (int i = 0; (table = table_at(i)); i++)
		if (section_rows(text, table->what, table) != table->count)
			fail_msg("docs/format.md, section \"%s\", does not describe every key of the reader", table->what);
	free(text);
}

static void the_schema_has_the_same_keys(void **state) {
	(void)state;
	Tree *tree;
	CalError error;
	if (tree_read(SOURCE_DIR "/docs/calder.schema.json", NULL, &tree, &error) != CAL_OK)
		fail_msg("%s", error.text);
	const FieldTable *table;
	for (int i = 0; (table = table_at(i)); i++) {
		const TreeNode *def = tree_get(tree_get(tree_root(tree), "$defs"), table->what);
		const TreeNode *properties = tree_get(def, "properties"), *required = tree_get(def, "required");
		if (!properties)
			fail_msg("the schema has no $defs.%s.properties", table->what);
		int required_count = 0;
		for (int k = 0; k < table->count; k++) {
			if (!tree_get(properties, table->fields[k].name))
				fail_msg("the schema lacks %s.%s", table->what, table->fields[k].name);
			required_count += !!(table->fields[k].flags & FIELD_REQUIRED);
		}
		assert_int_equal(properties->count, table->count);
		assert_int_equal(required ? required->count : 0, required_count);
		const TreeNode *closed = tree_get(def, "additionalProperties");
		assert_non_null(closed);
		assert_string_equal(closed->text, "false");
	}
	tree_destroy(tree);
}

static void every_joint_type_and_method_is_documented(void **state) {
	(void)state;
	char *text = read_all(SOURCE_DIR "/docs/format.md"), word[64];
	for (int i = 0; i < CAL_JOINT_TYPE_COUNT; i++) {
		snprintf(word, sizeof word, "\n| `%s` |", cal_joint_type_name((CalJointType)i));
		if (i != CAL_JOINT_USER && !strstr(text, word))
			fail_msg("docs/format.md does not describe the joint type \"%s\"", cal_joint_type_name((CalJointType)i));
	}
	for (int i = 0; i < CAL_METHOD_COUNT; i++) {
		snprintf(word, sizeof word, "`%s`", cal_method_name((CalMethod)i));
		if (!strstr(text, word))
			fail_msg("docs/format.md does not name the method \"%s\"", cal_method_name((CalMethod)i));
	}
	free(text);
}

static void every_boundary_of_a_beam_is_documented(void **state) {
	(void)state;
	char *text = read_all(SOURCE_DIR "/docs/format.md"), word[64];
	for (int i = 0; i < CAL_FLEX_BOUNDARY_COUNT; i++) {
		snprintf(word, sizeof word, "`%s`", cal_flex_boundary_name((CalFlexBoundary)i));
		if (!strstr(strstr(text, "\n## beam\n"), word))
			fail_msg("docs/format.md does not name the boundary %s", word);
	}
	free(text);
}

/* Every YAML block is a file that can be read, or a part of one that only lacks the first line. */
static void the_examples_can_be_read(void **state) {
	(void)state;
	char *text = read_all(SOURCE_DIR "/docs/format.md");
	int count = 0;
	for (char *p = text; (p = strstr(p, "\n```yaml\n")) != NULL; count++) {
		char *start = p + strlen("\n```yaml\n"), *end = strstr(start, "\n```\n"), whole[4000];
		assert_non_null(end);
		*end = 0;
		snprintf(whole, sizeof whole, "%s%s\n", strncmp(start, "calder:", 7) == 0 ? "" : "calder: 1\n", start);
		CalSetup *file = NULL;
		CalError error = {0};
		const char *name = SOURCE_DIR "/examples/docs.yaml"; // for files that are named
		if (cal_model_file_parse(whole, strlen(whole), name, NULL, &file, &error) != CAL_OK)
			fail_msg("%s", error.text);
		cal_setup_destroy(file);
		p = end + 1;
	}
	assert_true(count >= 4);
	free(text);
}

int main(void) {
	NEEDS_YAML();
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_key_is_documented),
		cmocka_unit_test(the_schema_has_the_same_keys),
		cmocka_unit_test(every_joint_type_and_method_is_documented),
		cmocka_unit_test(every_boundary_of_a_beam_is_documented),
		cmocka_unit_test(the_examples_can_be_read),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
