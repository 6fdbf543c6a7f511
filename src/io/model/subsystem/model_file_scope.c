// SPDX-License-Identifier: Apache-2.0
/*
 * model_file_scope.c — names of a subsystem as the file that uses it sees them: boom becomes arm1/boom, everywhere.
 *
 * Where names stand follows from the kinds of the fields (base/field.h). What holds no names is shared by all instances of a
 * file.
 */
#include <stdio.h>
#include <string.h>

#include <calder/expression.h>

#include "device/device_type.h"
#include "io/model/subsystem/model_file_part.h"

/* ---- one name ----------------------------------------------------------------------------------------- */

static const char *prefixed(const Scope *scope, const char *name) {
	return reader_text(scope->r, "%s%s", scope->prefix, name);
}

const char *scope_path(const Scope *scope, const char *path) {
	if (strcmp(path, "ground") == 0)
		return path;
	if (strncmp(path, "ground/", 7) == 0)
		return reader_text(scope->r, "ground/%s%s", scope->prefix, path + 7);
	return prefixed(scope, path);
}

static const char *scope_group(const Scope *scope, const char *name) {
	return strcmp(name, "main") == 0 ? scope->main : prefixed(scope, name);
}

/* ---- formulas ------------------------------------------------------------------------------------------ */

static bool is_letter(char c) {
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || (c >= '0' && c <= '9');
}

/* A function of the simulation that is called: how many of its arguments are names, and whether of nodes. */
typedef struct Call {
	int names, nodes;
	size_t length; // of the word and its parenthesis
} Call;

static Call call_at(const char *p) {
	Call call = {0, 0, 0};
	char word[16];
	size_t length = 0;
	while (is_letter(p[length]))
		length++;
	const size_t space = strspn(p + length, " \t\r\n");
	if (length == 0 || length >= sizeof word || p[length + space] != '(')
		return call;
	snprintf(word, sizeof word, "%.*s", (int)length, p);
	call.names = cal_expression_names(word, &call.nodes);
	call.length = length + space + 1;
	return call;
}

static void append_text(char **out, const char *text, size_t length) {
	memcpy(*out, text, length);
	*out += length;
}

/* Copies one argument, with the prefix where it is a name, and returns what is after it. */
static const char *argument_copy(const Scope *scope, const Call *call, int index, const char *p, char **out) {
	const size_t space = strspn(p, " \t\r\n");
	const char quote = p[space] == '\'' || p[space] == '"' ? p[space] : 0;
	const char *name = p + space + (quote != 0);
	const char *end = quote ? strchr(name, quote) : name + strcspn(name, ",)");
	if (!end)
		end = name + strlen(name);
	const bool ground = (strncmp(name, "ground", 6) == 0) && (name + 6 == end || strchr("/. \t)", name[6]));
	const bool path = call->nodes != 0, is_name = index < call->names;
	if (is_name && path && ground && name[6] == '/')
		name += 7;
	append_text(out, p, (size_t)(name - p));
	if (is_name && (!(path && ground) || name[-1] == '/'))
		append_text(out, scope->prefix, strlen(scope->prefix));
	append_text(out, name, (size_t)(end - name));
	const size_t rest = strcspn(end, ",)");
	append_text(out, end, rest);
	return end + rest;
}

/* What is no formula, or a wrong one, comes back as it is or as wrong: it is checked when it is read. */
static const char *scope_formula(const Scope *scope, const char *text) {
	size_t commas = 2;
	for (const char *p = text; *p; p++)
		commas += *p == ',' || *p == '(';
	char *made = reader_array(scope->r, strlen(text) + commas * (strlen(scope->prefix) + 1) + 1, 1), *out = made;
	for (const char *p = text; made && *p;) {
		const Call call = call_at(p);
		size_t length = call.names ? call.length : 1;
		while (!call.names && is_letter(*p) && is_letter(p[length]))
			length++;
		append_text(&out, p, length);
		p += length;
		for (int index = 0; call.names && *p && (index == 0 || *p == ','); index++) {
			if (index > 0)
				append_text(&out, p++, 1);
			p = argument_copy(scope, &call, index, p, &out);
		}
	}
	return made;
}

/* ---- the tree ------------------------------------------------------------------------------------------ */

/* What a text names: FIELD_OBJECT, FIELD_NODE, FIELD_GROUP, FIELD_FILE, or FIELD_FORMULA, which holds names; FIELD_NAME:
 * nothing that a prefix changes. */
static FieldKind named_by(FieldKind kind) {
	switch (kind) {
	case FIELD_BODY:
	case FIELD_JOINT:
	case FIELD_LOOP:
	case FIELD_DEVICE:
	case FIELD_EVENT:
	case FIELD_OBJECT:
		return FIELD_OBJECT;
	case FIELD_FORMULA:
	case FIELD_LOAD_VALUE:
	case FIELD_LOAD_VALUES:
	case FIELD_LOAD_LIST:
		return FIELD_FORMULA;
	case FIELD_NODE:
	case FIELD_GROUP:
	case FIELD_FILE:
		return kind;
	default:
		return FIELD_NAME;
	}
}

static const char *scope_text(const Scope *scope, FieldKind kind, const char *text) {
	switch (named_by(kind)) {
	case FIELD_OBJECT:
		return prefixed(scope, text);
	case FIELD_NODE:
		return scope_path(scope, text);
	case FIELD_GROUP:
		return scope_group(scope, text);
	case FIELD_FORMULA:
		return scope_formula(scope, text);
	case FIELD_FILE:
		return text[0] == '/' ? text : reader_text(scope->r, "%s%s", scope->folder, text);
	default:
		return text;
	}
}

static const TreeNode *scope_scalar(const Scope *scope, FieldKind kind, const TreeNode *node) {
	if (node->kind != TREE_SCALAR || tree_is_null(node))
		return node;
	const char *text = scope_text(scope, kind, node->text);
	return text == node->text ? node : text ? make_scalar(scope->r, node, text) : NULL;
}

/* What the names of the items of a field are; FIELD_NAME: their own affair. */
static FieldKind names_of(const Field *field) {
	if ((field->flags & FIELD_LOCAL) || field->kind == FIELD_SHAPES)
		return FIELD_NAME;
	return field->kind == FIELD_BY_GROUP || field->names == FIELD_GROUP ? FIELD_GROUP : FIELD_OBJECT;
}

/* The table of a map that is a value or an item of a field; NULL: there is none. */
static const FieldTable *table_of(const Field *field, const TreeNode *map) {
	const TreeNode *type = NULL;
	const DeviceType *device = NULL;
	switch (field->kind) {
	case FIELD_TABLE:
	case FIELD_LOAD_VALUE:
	case FIELD_LOAD_VALUES:
	case FIELD_LOAD_LIST:
	case FIELD_FUNCTION:
	case FIELD_FUNCTIONS:
		return &table_table;
	case FIELD_SHAPES:
		return &contact_shape_table;
	case FIELD_DEVICES:
		type = tree_get(map, "type");
		device = type && type->kind == TREE_SCALAR ? device_type_find(type->text) : NULL;
		return device ? &device->table : NULL;
	default:
		return field->table;
	}
}

static bool has_names(const FieldTable *table);

/* Whether the value of a field may hold names. */
static bool may_name(const Field *field) {
	switch (field->kind) {
	case FIELD_MAP:
	case FIELD_MAPS:
	case FIELD_LIST:
	case FIELD_TIE:
		return has_names(field->table);
	case FIELD_ITEMS:
		return !(field->flags & FIELD_LOCAL) || has_names(field->table);
	case FIELD_TABLE:
	case FIELD_FUNCTION:
	case FIELD_FUNCTIONS:
	case FIELD_BY_NAME:
	case FIELD_BY_GROUP:
	case FIELD_DEVICES:
	case FIELD_SHAPES:
		return true;
	default:
		return named_by(field->kind) != FIELD_NAME;
	}
}

static bool has_names(const FieldTable *table) {
	bool any = table->brief == FIELD_FILE;
	for (int i = 0; !any && i < table->count; i++)
		any = may_name(&table->fields[i]);
	return any;
}

static const TreeNode *scope_value(const Scope *scope, const Field *field, const TreeNode *value);

/* Keys and values of a map, as pairs, become a map; NULL after reporting. */
static const TreeNode *make_map(Reader *r, const TreeNode *like, const TreeNode *const *pairs) {
	const TreeNode *made = tree_make_map(r->file->tree, like, pairs, like->count, r->error);
	if (!made && r->status == CAL_OK)
		r->status = r->error ? r->error->status : CAL_ERR_MEMORY;
	return made;
}

static const TreeNode *scope_fields(const Scope *scope, const FieldTable *table, const TreeNode *map) {
	const TreeNode **pairs = reader_array(scope->r, 2 * (size_t)map->count, sizeof *pairs);
	for (int i = 0; pairs && i < map->count; i++) {
		const Field *field = field_find(table, tree_key(map, i)->text);
		pairs[2 * i] = tree_key(map, i);
		pairs[2 * i + 1] = field ? scope_value(scope, field, map->items[i]) : map->items[i];
		if (!pairs[2 * i + 1])
			return NULL;
	}
	return pairs ? make_map(scope->r, map, pairs) : NULL;
}

/* One value, or one item: a map by its table, or in short. */
static const TreeNode *scope_entry(const Scope *scope, const Field *field, const TreeNode *value) {
	if (value->kind == TREE_SCALAR)
		return scope_scalar(scope, field->table ? field->table->brief : field->kind, value);
	const FieldTable *table = value->kind == TREE_MAP ? table_of(field, value) : NULL;
	return table && has_names(table) ? scope_fields(scope, table, value) : value;
}

/* One item; of FIELD_BY_GROUP: the joints of a group, by name. */
static const TreeNode *scope_item(const Scope *scope, const Field *field, const TreeNode *value) {
	const Field joints = {.kind = FIELD_BY_NAME, .table = field->table};
	return field->kind == FIELD_BY_GROUP ? scope_value(scope, &joints, value) : scope_entry(scope, field, value);
}

/* Items by name. */
static const TreeNode *scope_items(const Scope *scope, const Field *field, const TreeNode *map) {
	const TreeNode **pairs = reader_array(scope->r, 2 * (size_t)map->count, sizeof *pairs);
	for (int i = 0; pairs && i < map->count; i++) {
		pairs[2 * i] = scope_scalar(scope, names_of(field), tree_key(map, i));
		pairs[2 * i + 1] = scope_item(scope, field, map->items[i]);
		if (!pairs[2 * i] || !pairs[2 * i + 1])
			return NULL;
	}
	return pairs ? make_map(scope->r, map, pairs) : NULL;
}

static const TreeNode *scope_list(const Scope *scope, const Field *field, const TreeNode *list) {
	const TreeNode **items = reader_array(scope->r, (size_t)list->count, sizeof *items);
	for (int i = 0; items && i < list->count; i++) {
		items[i] = scope_entry(scope, field, list->items[i]);
		if (!items[i])
			return NULL;
	}
	return items ? tree_make_list(scope->r->file->tree, list, items, list->count) : NULL;
}

static const TreeNode *scope_value(const Scope *scope, const Field *field, const TreeNode *value) {
	const bool items = field->kind == FIELD_ITEMS || field->kind == FIELD_BY_NAME || field->kind == FIELD_BY_GROUP ||
	                   field->kind == FIELD_DEVICES || field->kind == FIELD_SHAPES;
	if (!may_name(field))
		return value;
	if (value->kind == TREE_LIST)
		return scope_list(scope, field, value);
	return items && value->kind == TREE_MAP ? scope_items(scope, field, value) : scope_entry(scope, field, value);
}

/* A body that names no group goes with the node that carries it. */
static const TreeNode *with_group(const Scope *scope, const TreeNode *body) {
	if (strcmp(scope->main, "main") == 0 || body->kind != TREE_MAP || tree_get(body, "group"))
		return body;
	const TreeNode *group = make_scalar(scope->r, body, "main"); // renamed with the rest
	return group ? map_with(scope->r, body, "group", group) : NULL;
}

/* The field of a section: "bodies", "ground.nodes". */
static const Field *section_field(const char *place) {
	const FieldTable *table = &file_table;
	const Field *field = NULL;
	char word[32];
	for (const char *p = place; table && *p; p += strspn(p, ".")) {
		const size_t length = strcspn(p, ".");
		snprintf(word, sizeof word, "%.*s", (int)length, p);
		field = field_find(table, word);
		table = field ? field->table : NULL;
		p += length;
	}
	return field;
}

static bool rename_list(const Scope *scope, PartSection section, PartList *list) {
	const Field *field = section_field(part_section_name(section));
	const bool named = section != PART_LOADS && section != PART_VISUALS;
	for (int i = 0; i < list->count; i++) {
		PartItem *item = &list->items[i];
		const TreeNode *value = section == PART_BODIES ? with_group(scope, item->value) : item->value;
		if (named)
			item->key = scope_scalar(scope, names_of(field), item->key);
		if (!value || !item->key)
			return false;
		item->value = scope_item(scope, field, value);
		if (!item->value)
			return false;
	}
	return true;
}

bool part_rename(const Scope *scope, Part *part) {
	for (int i = 0; i < PART_SECTION_COUNT; i++) {
		if (!rename_list(scope, (PartSection)i, &part->lists[i]))
			return part_failed(scope->r);
		part->lists[i].index = (NameIndex){0}; // of the names that they had
		part->lists[i].indexed = 0;
	}
	for (int i = 0; i < part->instance_count; i++) {
		CalSetupInstance *instance = &part->instances[i];
		instance->name = prefixed(scope, instance->name);
		instance->joint = instance->joint ? prefixed(scope, instance->joint) : NULL;
		if (!instance->name)
			return false;
	}
	return true;
}
