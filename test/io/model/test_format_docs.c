// SPDX-License-Identifier: Apache-2.0
/*
 * test_format_docs.c — docs/format.md, docs/sweep.md and docs/calder.schema.json are those that the tables of the readers make.
 */
#include <dirent.h>

#include <calder/campaign.h>

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

/* What a call of the library writes. */
static char *written(CalStatus (*write)(FILE *out, CalError *error)) {
	FILE *stream = tmpfile();
	CalError error = {0};
	assert_non_null(stream);
	assert_int_equal(write(stream, &error), CAL_OK);
	const long length = ftell(stream);
	char *text = calloc(1, (size_t)length + 1);
	assert_non_null(text);
	rewind(stream);
	assert_int_equal(fread(text, 1, (size_t)length, stream), length);
	fclose(stream);
	return text;
}

static int occurrences(const char *text, const char *word) {
	int count = 0;
	for (const char *p = text; (p = strstr(p, word)); p += strlen(word))
		count++;
	return count;
}

/* Every table of a format stands in its page as the library writes it, under a heading with its name, and nothing else does. */
static void page_is_up_to_date(const char *path, const char *marks, CalStatus (*write)(FILE *out, CalError *error)) {
	char *page = read_all(path), *tables = written(write);
	const int count = occurrences(tables, "<!-- fields: ");
	for (char *p = tables; (p = strstr(p, "<!-- fields: "));) {
		char *end = strstr(p, "<!-- end -->\n"), name[64], heading[80];
		assert_non_null(end);
		end[strlen("<!-- end -->")] = 0;
		assert_int_equal(sscanf(p, "<!-- fields: %63s -->", name), 1);
		snprintf(heading, sizeof heading, "\n%s %s\n", marks, name);
		if (!strstr(page, heading))
			fail_msg("%s has no section \"%s\"; ./dev docs makes one", path, name);
		if (!strstr(page, p))
			fail_msg("%s, section \"%s\", is out of date; ./dev docs brings it up to date", path, name);
		p = end + strlen("<!-- end -->") + 1;
	}
	if (occurrences(page, "<!-- fields: ") != count)
		fail_msg("%s has a table that is not of the format", path);
	free(tables);
	free(page);
}

static void the_pages_are_up_to_date(void **state) {
	(void)state;
	page_is_up_to_date(SOURCE_DIR "/docs/format.md", "##", cal_format_write_tables);
	page_is_up_to_date(SOURCE_DIR "/docs/sweep.md", "###", cal_plan_write_tables);
}

static void the_schema_is_up_to_date(void **state) {
	(void)state;
	char *text = read_all(SOURCE_DIR "/docs/calder.schema.json"), *made = written(cal_format_write_schema);
	if (strcmp(text, made) != 0)
		fail_msg("docs/calder.schema.json is out of date; ./dev docs brings it up to date");
	free(made);
	free(text);
}

/* Whether every "$ref" leads somewhere. */
static void check_references(const TreeNode *node, const TreeNode *definitions) {
	static const char start[] = "#/$defs/";
	for (int i = 0; node->kind != TREE_SCALAR && i < node->count; i++) {
		const TreeNode *item = node->items[i];
		if (node->kind == TREE_MAP && strcmp(tree_key(node, i)->text, "$ref") == 0 &&
		    (strncmp(item->text, start, strlen(start)) != 0 || !tree_get(definitions, item->text + strlen(start))))
			fail_msg("the schema refers to %s, which is not there", item->text);
		check_references(item, definitions);
	}
}

static void references_of_the_schemas_lead_somewhere(void **state) {
	(void)state;
	char *texts[] = {written(cal_format_write_schema), written(cal_plan_write_schema)};
	for (int i = 0; i < 2; i++) {
		Tree *tree;
		CalError error;
		if (tree_parse(texts[i], strlen(texts[i]), "schema", NULL, &tree, &error) != CAL_OK)
			fail_msg("%s", error.text);
		const TreeNode *definitions = tree_get(tree_root(tree), "$defs");
		assert_true(definitions && definitions->count > 20);
		check_references(tree_root(tree), definitions);
		tree_destroy(tree);
		free(texts[i]);
	}
}

/* ---- a schema applied to a file ------------------------------------------------------------------------- */

static int accepts(const TreeNode *schema, const TreeNode *value, const TreeNode *definitions);

/* Scalars of a tree are texts: numbers and flags are not distinguished here. */
static int has_type(const TreeNode *type, const TreeNode *value) {
	if (type->kind == TREE_LIST) {
		int any = 0;
		for (int i = 0; i < type->count; i++)
			any |= has_type(type->items[i], value);
		return any;
	}
	if (strcmp(type->text, "object") == 0)
		return value->kind == TREE_MAP;
	if (strcmp(type->text, "array") == 0)
		return value->kind == TREE_LIST;
	return value->kind == TREE_SCALAR && (strcmp(type->text, "null") == 0) == tree_is_null(value);
}

static int accepts_words(const TreeNode *words, const TreeNode *value) {
	for (int i = 0; value->kind == TREE_SCALAR && i < words->count; i++)
		if (strcmp(words->items[i]->text, value->text) == 0)
			return 1;
	return 0;
}

static int accepts_map(const TreeNode *schema, const TreeNode *map, const TreeNode *definitions) {
	const TreeNode *properties = tree_get(schema, "properties"), *others = tree_get(schema, "additionalProperties");
	const TreeNode *required = tree_get(schema, "required");
	for (int i = 0; required && i < required->count; i++)
		if (!tree_get(map, required->items[i]->text))
			return 0;
	for (int i = 0; map->kind == TREE_MAP && (properties || others) && i < map->count; i++) {
		const TreeNode *property = properties ? tree_get(properties, tree_key(map, i)->text) : NULL;
		if (!accepts(property ? property : others, map->items[i], definitions))
			return 0;
	}
	return 1;
}

static int accepts_one(const TreeNode *forms, const TreeNode *value, const TreeNode *definitions) {
	int any = 0;
	for (int i = 0; i < forms->count; i++)
		any |= accepts(forms->items[i], value, definitions);
	return any;
}

static int accepts(const TreeNode *schema, const TreeNode *value, const TreeNode *definitions) {
	if (!schema || schema->kind == TREE_SCALAR)
		return schema && strcmp(schema->text, "true") == 0;
	const TreeNode *reference = tree_get(schema, "$ref"), *forms = tree_get(schema, "anyOf");
	const TreeNode *type = tree_get(schema, "type"), *words = tree_get(schema, "enum"),
				   *word = tree_get(schema, "const");
	const TreeNode *items = tree_get(schema, "items");
	forms = forms ? forms : tree_get(schema, "oneOf");
	if ((reference && !accepts(tree_get(definitions, reference->text + strlen("#/$defs/")), value, definitions)) ||
	    (forms && !accepts_one(forms, value, definitions)) || (type && !has_type(type, value)) ||
	    (words && !accepts_words(words, value)) ||
	    (word && (value->kind != TREE_SCALAR || strcmp(word->text, value->text) != 0)))
		return 0;
	for (int i = 0; items && value->kind == TREE_LIST && i < value->count; i++)
		if (!accepts(items, value->items[i], definitions))
			return 0;
	return accepts_map(schema, value, definitions);
}

static void the_schema_accepts_the_examples(void **state) {
	(void)state;
	char *text = written(cal_format_write_schema), path[600];
	Tree *schema, *file;
	CalError error;
	int count = 0;
	assert_int_equal(tree_parse(text, strlen(text), "schema", NULL, &schema, &error), CAL_OK);
	const TreeNode *definitions = tree_get(tree_root(schema), "$defs");
	DIR *folder = opendir(SOURCE_DIR "/examples");
	assert_non_null(folder);
	for (const struct dirent *entry; (entry = readdir(folder));) {
		snprintf(path, sizeof path, "%s/examples/%s", SOURCE_DIR, entry->d_name);
		if (!strstr(entry->d_name, ".yaml"))
			continue;
		if (tree_read(path, NULL, &file, &error) != CAL_OK)
			fail_msg("%s", error.text);
		if (!accepts(tree_root(schema), tree_root(file), definitions))
			fail_msg("the schema refuses %s", path);
		tree_destroy(file);
		count++;
	}
	closedir(folder);
	assert_true(count > 20);
	static const char wrong[] = "calder: 1\nbodies: {arm: {mass: 1, mas: 2}}\n";
	assert_int_equal(tree_parse(wrong, strlen(wrong), "wrong", NULL, &file, &error), CAL_OK);
	assert_false(accepts(tree_root(schema), tree_root(file), definitions));
	tree_destroy(file);
	tree_destroy(schema);
	free(text);
}

/* All tables, those of the devices last; NULL: no more. */
static const FieldTable *table_at(int index) {
	if (index < model_file_table_count)
		return model_file_tables[index];
	const DeviceType *type = device_type(index - model_file_table_count);
	return type ? &type->table : NULL;
}

/* A name that is not read as the kind says it is would be documented wrongly, and get no prefix in a subsystem. */
static void every_field_is_documented(void **state) {
	(void)state;
	const FieldTable *table;
	for (int i = 0; (table = table_at(i)); i++) {
		assert_true(table->doc && table->doc[0]);
		for (int k = 0; k < table->count; k++) {
			const Field *field = &table->fields[k];
			if (!field->doc || !field->doc[0])
				fail_msg("%s.%s has no documentation", table->what, field->name);
			if (field_find(table, field->name) != field)
				fail_msg("%s.%s is listed twice", table->what, field->name);
			if (field->kind == FIELD_CHOICE && !field_word(field, 0))
				fail_msg("%s.%s is a choice without words", table->what, field->name);
			if ((field->kind == FIELD_MAP || field->kind == FIELD_MAPS || field->kind == FIELD_LIST ||
			     field->kind == FIELD_ITEMS || field->kind == FIELD_BY_NAME || field->kind == FIELD_BY_GROUP) &&
			    !field->table)
				fail_msg("%s.%s has no table", table->what, field->name);
		}
	}
}

static void every_method_is_documented(void **state) {
	(void)state;
	char *text = read_all(SOURCE_DIR "/docs/format.md"), word[64];
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
		cmocka_unit_test(every_field_is_documented),
		cmocka_unit_test(the_pages_are_up_to_date),
		cmocka_unit_test(the_schema_is_up_to_date),
		cmocka_unit_test(references_of_the_schemas_lead_somewhere),
		cmocka_unit_test(the_schema_accepts_the_examples),
		cmocka_unit_test(every_method_is_documented),
		cmocka_unit_test(every_boundary_of_a_beam_is_documented),
		cmocka_unit_test(the_examples_can_be_read),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
